"""One sitting at a machine: calibrate, say beforehand, run, compare. What is there when something fails stays."""

import gzip
import json
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from simsched.core import InputError
from simsched.live.check.calibrate import Calibration, calibration, can_calibrate
from simsched.live.check.foretold import Foretold, foretell, write_foretold
from simsched.live.check.verdict import Judged, decisions_of, judge
from simsched.live.load import Asked, Endpoint, load_phase
from simsched.live.policy import DecisionCheck
from simsched.live.serve import ServePlan, Server, plan_server
from simsched.scenario import Scenario, Warmup, scenario_of, to_values
from simsched.workload import Closed

Say = Callable[[str], None]
Told = tuple[Scenario, Mapping[str, Any]]
"""A scenario, and the plain values that it was read from."""
_NOT_THE_SERVER = ("name", "notes", "seed", "workload", "provenance")


@dataclass(frozen=True, kw_only=True)
class Sitting:
    """How a sitting is done.

    Attributes:
        out: a new or empty folder: predictions, phases, logs.
        gpu: run the models on the GPUs that stages name.
        tiny: small models.
        stubs: modules to stand in for, with commas between them.
        warmup: requests before each phase, left out.
        replications: of other draws, for the ranges of predictions.
        calibration_users: of the short phase that calibrates; 0: none.
        calibration_requests: of that phase, after its warm-up.
        timeout_s: gives up on any answer after so long.
    """

    out: Path
    gpu: bool = False
    tiny: bool = False
    stubs: str = ""
    warmup: int = 200
    replications: int = 10
    calibration_users: int = 8
    calibration_requests: int = 200
    timeout_s: float = 300.0


@dataclass(kw_only=True)
class Checked:
    """What came of a sitting; filled as it goes.

    Attributes:
        calibration: of the host.
        predictions: what was said beforehand.
        sha256: of the file that says it.
        judged: predicted beside measured, of the phases that ran.
        decisions: phase → stage → its logs, asked again.
        failed: phase → why it has no numbers.
        phases: folders that were recorded.
    """

    calibration: Calibration = field(default_factory=Calibration)
    predictions: list[Foretold] = field(default_factory=list)
    sha256: str = ""
    judged: list[Judged] = field(default_factory=list)
    decisions: dict[str, dict[str, list[DecisionCheck]]] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    phases: list[Path] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class _Served:
    """A server and the scenarios that it serves, one after another."""

    number: int
    plan: ServePlan
    scenarios: tuple[Told, ...]
    folder: Path


def check_live(values: Sequence[Mapping[str, Any]], sitting: Sitting, say: Say = lambda _: None) -> Checked:
    """Serve each scenario, load it, and hold what was predicted beforehand against it.

    Scenarios that differ only in their workload share a server. The first one's is calibrated: a short closed-loop
    phase on it gives a factor on host times, if its programs have parameters of host work. Then all predictions are
    made and written with their hash; only then the phases run.

    Args:
        values: plain values of each scenario file; each with a name of its own and a `live` section.
        sitting: how.
        say: called with a line for each thing that is done.

    Raises:
        InputError: a scenario that cannot be served, two of one name, or a folder that holds something.
    """
    _check_out(sitting.out)
    scenarios = [(scenario_of(one), one) for one in values]
    _check_names([scenario.name for scenario, _ in scenarios])
    course = _Course(scenarios, sitting, say)
    for served in _servers(scenarios, sitting):
        course.serve(served)
    return course.checked


def _check_out(out: Path) -> None:
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InputError("is there and not an empty folder: name a new one", str(out))
    out.mkdir(parents=True, exist_ok=True)


def _check_names(names: Sequence[str]) -> None:
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"two scenarios are named {twice!r}: give each a name of its own", "name")


def _servers(scenarios: Sequence[Told], sitting: Sitting) -> list[_Served]:
    """Scenarios by what has to be started, in the order in which each is first named."""
    groups: dict[str, list[Told]] = {}
    for scenario, values in scenarios:
        server = {name: item for name, item in to_values(scenario).items() if name not in _NOT_THE_SERVER}
        groups.setdefault(json.dumps(server, sort_keys=True, default=str), []).append((scenario, values))
    found = []
    for number, group in enumerate(groups.values()):
        folder = sitting.out / f"server-{number}"
        plan = plan_server(group[0][0], gpu=sitting.gpu, tiny=sitting.tiny, decisions=folder)
        found.append(_Served(number=number, plan=plan, scenarios=tuple(group), folder=folder))
    return found


class _Course:
    """A sitting as it goes, server by server."""

    def __init__(self, scenarios: Sequence[Told], sitting: Sitting, say: Say) -> None:
        self.checked = Checked()
        self._scenarios = scenarios
        self._sitting = sitting
        self._say = say

    def serve(self, served: _Served) -> None:
        """One server with all its phases; the first one is calibrated, and all is said, before any phase."""
        names = ", ".join(scenario.name for scenario, _ in served.scenarios)
        self._say(f"server {served.number}: starting, for {names}")
        served.folder.mkdir(exist_ok=True)
        try:
            with Server(served.plan, log=served.folder / "server.log", stubs=self._sitting.stubs) as server:
                if not self.checked.predictions:
                    self._calibrate(served, server)
                    self._foretell()
                for scenario, _ in served.scenarios:
                    server.check()
                    self._run(scenario, served, server)
        except InputError as error:
            self._fail(served, str(error))
        if not self.checked.predictions:  # the first server did not even start: say what can be said without it
            self._foretell()
        self._ask_again(served)

    def _calibrate(self, served: _Served, server: Server) -> None:
        (scenario, values), users = served.scenarios[0], self._sitting.calibration_users
        if not users or not can_calibrate(values):
            why = "its programs have no parameters of host work" if users else "not asked for"
            self.checked.calibration = Calibration(why=f"not calibrated: {why}")
            self._say(self.checked.calibration.why)
            return
        workload = replace(
            scenario.workload,
            arrivals=Closed(users=users),
            requests=self._sitting.calibration_requests,
            warmup=Warmup(),
        )
        phase = self._sitting.out / "calibration"
        why = self._loaded(replace(scenario, workload=workload), phase, served, server)
        found = Calibration(phase=phase.name, why=why) if why else calibration(values, phase)
        self.checked.calibration = found
        self._say(f"calibrated: {found.why}")

    def _foretell(self) -> None:
        checked, sitting = self.checked, self._sitting
        for _, values in self._scenarios:
            scenario = scenario_of(values, checked.calibration.scaled(values))
            checked.predictions.append(foretell(scenario, warmup=sitting.warmup, replications=sitting.replications))
        calibrated = {"factor": checked.calibration.factor, "why": checked.calibration.why}
        checked.sha256 = write_foretold(checked.predictions, calibrated, sitting.out)
        self._say(f"predictions written before the runs, sha256 {checked.sha256}")

    def _run(self, scenario: Scenario, served: _Served, server: Server) -> None:
        phase = self._sitting.out / "phases" / scenario.name
        phase.parent.mkdir(exist_ok=True)
        self._say(f"phase {scenario.name}: running")
        why = self._loaded(scenario, phase, served, server)
        self.checked.phases.append(phase)
        told = next(one for one in self.checked.predictions if one.name == scenario.name)
        judged, reason = judge(told, phase)
        self.checked.judged += judged
        if why or reason:
            self.checked.failed[scenario.name] = why or reason
            self._say(f"phase {scenario.name}: {why or reason}")

    def _loaded(self, scenario: Scenario, phase: Path, served: _Served, server: Server) -> str:
        """Load a phase; why it is not complete, or ""."""
        with tempfile.TemporaryDirectory(prefix="simsched-events-") as events:
            asked = Asked(
                url=server.url,
                out=phase,
                server=f"SGLang Omni, {served.plan.scenario.name}",
                endpoint=Endpoint(model=served.plan.model_name),
                warmup=self._sitting.warmup,
                timeout_s=self._sitting.timeout_s,
                events=Path(events),
            )
            loaded = load_phase(scenario, asked)
        return loaded.why or loaded.failing

    def _fail(self, served: _Served, why: str) -> None:
        """What was still to run on this server has no numbers."""
        ran = {phase.name for phase in self.checked.phases}
        for scenario, _ in served.scenarios:
            if scenario.name not in ran:
                self.checked.failed[scenario.name] = why
        self._say(f"server {served.number}: {why}")

    def _ask_again(self, served: _Served) -> None:
        """Every decision of its adapters, asked of the simulator's policies; the logs are kept compressed."""
        try:
            found = decisions_of(served.plan, served.folder)
        except InputError as error:
            self.checked.failed[f"decisions of server {served.number}"] = str(error)
            return
        if found:
            self.checked.decisions[f"server {served.number}"] = found
        for log in served.folder.glob("decisions_*.jsonl"):
            with log.open("rb") as plain, gzip.open(f"{log}.gz", "wb") as packed:
                shutil.copyfileobj(plain, packed)
            log.unlink()
