"""A recorded phase as what a model has to explain: its batches and errands as given, what they took as measured."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from simsched.core import InputError
from simsched.engine import Model, StageSpec
from simsched.engine.forced import Errand, GivenBatch, GivenRequest, Played, Task, play
from simsched.fit.sources.base import overlaps
from simsched.run import Run
from simsched.scenario import Scenario, build

FloatArray = npt.NDArray[np.float64]
Kind = Literal["service", "part", "release", "delivery", "admission"]
END = "end"


class Item(NamedTuple):
    """One measured time.

    Attributes:
        kind: service (start to end of a batch as reported), part (start to a mark within it), release (end to the start
            of the next batch, where one waited), delivery (end of a batch to the next stage's queue or the client,
            mean over members), admission (sent to the entry stage's queue).
        stage: of the scenario.
        mark: of a part, else "".
        ns: nanoseconds.
        place: row among the given batches, or among the given requests for an admission.
    """

    kind: Kind
    stage: str
    mark: str
    ns: int
    place: int


@dataclass(frozen=True, kw_only=True, eq=False)
class Recording:
    """One phase.

    Attributes:
        name: of the phase.
        batches: all of them, each stage's in order of start.
        requests: all of them, as they were sent.
        items: what was measured after the warm-up.
        alone: for each batch, whether no batch of another stage ran meanwhile, shape (batches,).
    """

    name: str
    batches: tuple[GivenBatch, ...]
    requests: tuple[GivenRequest, ...]
    items: tuple[Item, ...]
    alone: npt.NDArray[np.bool_]
    _marks: Mapping[str, Mapping[str, int]] = field(repr=False)

    def predicted_ns(self, scenario: Scenario) -> FloatArray:
        """What the scenario's programs and event loops take for each item, shape (items,).

        nan where the model cannot say: the release and delivery of a batch that it thinks still ran when the next one
        started.
        """
        model = build(scenario)
        played = play(model, self.batches, self.requests)
        client_ns = scenario.workload.client_ms / 2 * 1e6
        return np.array([self._predicted(item, played, client_ns) for item in self.items])

    def _predicted(self, item: Item, played: Played, client_ns: float) -> float:
        if item.kind == "admission":
            return float(played.request_ends_ns[item.place] - self.requests[item.place].at_ns) + client_ns
        given, ends = self.batches[item.place], played.op_ends_ns[item.place]
        marks = self._marks[given.stage]
        end = int(ends[marks.get(END, -1)])
        if item.kind == "service":
            return float(end - given.start_ns)
        if item.kind == "part":
            return float(ends[marks[item.mark]] - given.start_ns)
        if played.settled[item.place]:
            return math.nan
        if item.kind == "release":
            return float(ends[-1] - end)
        answered = given.after[-1][1] == "response" if given.after else False
        return float(np.mean(played.after_ends_ns[item.place] - end)) + (client_ns if answered else 0.0)


def recording(run: Run, scenario: Scenario, name: str) -> Recording:
    """What the scenario has to explain of a recorded run.

    Stages of the two are matched by name, or if each has one stage. A part of a batch that the events bracket (such as
    the encoder's in a unified stage) is compared where the program has a mark of its name.

    Args:
        run: as `read_phase` gives it, one server a stage.
        scenario: the model; only its structure matters here, not its numbers.
        name: of the phase.

    Raises:
        InputError: the stages do not match, a stage has several servers, or a batch never ended.
    """
    model = build(scenario)
    named = _matched(run, scenario, name)
    sizes = run.requests["size"].to_numpy()
    visits = {stage: run.visits_of(stage) for stage in run.stages}
    enters = {stage: _by_request(table, "enter_ns") for stage, table in visits.items()}
    rows = sorted(
        (row for stage in run.stages for row in _rows(run, stage, visits[stage], enters[stage], name)),
        key=lambda row: row.start_ns,
    )
    arrivals = [*[enters[stage] for stage in run.stages[1:]], _by_request(run.requests, "end_ns")]
    # who left a stage is in the next one's queue, or at the client
    arrived = dict(zip(run.stages, arrivals, strict=True))
    first = int(run.meta["warmup_requests"])
    marks = {spec.name: spec.program.marks for spec in model.stages}
    after = {spec.name: _after(model, spec) for spec in model.stages}
    batches: list[GivenBatch] = []
    items: list[Item] = []
    for place, row in enumerate(rows):
        stage = named[row.stage]
        batches.append(GivenBatch(stage, row.start_ns, tuple(sizes[row.members].tolist()), after[stage]))
        if min(row.members) >= first:
            arrived_ns = float(np.mean([arrived[row.stage][member] for member in row.members]))
            items.extend(_items(row, stage, place, marks[stage], arrived_ns))
    requests, admissions = _requests(run, model, enters[run.stages[0]], first)
    return Recording(
        name=name,
        batches=tuple(batches),
        requests=requests,
        items=(*items, *admissions),
        alone=_alone(rows),
        _marks=marks,
    )


class _Row(NamedTuple):
    stage: str
    start_ns: int
    end_ns: int
    members: list[int]
    next_ns: int | None  # start of the stage's next batch, if a member of it waited when this one ended
    parts: dict[str, float]  # ms


def _matched(run: Run, scenario: Scenario, name: str) -> dict[str, str]:
    known = list(scenario.stages)
    if len(known) == len(run.stages) == 1:
        return {run.stages[0]: known[0]}
    if set(known) != set(run.stages):
        raise InputError(f"has stages {', '.join(run.stages)}, the scenario has {', '.join(known)}", name)
    return dict(zip(run.stages, run.stages, strict=True))


def _by_request(table: pd.DataFrame, column: str) -> dict[int, int]:
    return dict(zip(table["request"].tolist(), table[column].tolist(), strict=True))


def _rows(run: Run, stage: str, visits: pd.DataFrame, enters: Mapping[int, int], name: str) -> Iterator[_Row]:
    table = run.batches_of(stage).sort_values("start_ns")
    if table["server"].nunique() > 1:
        raise InputError(f"stage {stage} has {table['server'].nunique()} servers, only one can be fitted", name)
    if (table["end_ns"] < table["start_ns"]).any():
        raise InputError(f"stage {stage} has a batch without an end: is an event file cut off?", name)
    members = {batch: group.tolist() for batch, group in visits.groupby("batch")["request"]}
    parts: dict[str, Any] = run.meta.get("parts", {}).get(stage, {})
    order, starts, ends = (table[column].tolist() for column in ("batch", "start_ns", "end_ns"))
    for place, batch in enumerate(order):
        following = place + 1
        waited = following < len(order) and min(enters[one] for one in members[order[following]]) < ends[place]
        told = {part: times[place] for part, times in parts.items() if len(times) == len(order)}
        upcoming = starts[following] if waited else None
        yield _Row(stage, starts[place], ends[place], members[batch], upcoming, told)


def _after(model: Model, spec: StageSpec) -> Errand:
    """What a member of an ended batch needs: hand-off or response, on its process's loop and the one behind."""
    if spec.next:
        target = next(other for other in model.stages if other.name == spec.next[0])
        return _errand(model, "handoff", spec.process, target.process)
    return _errand(model, "response", spec.process, model.frontend)


def _errand(model: Model, task: Task, *processes: str | None) -> Errand:
    """The task on the loop of each of these processes, each once, in order."""
    loops = {process.name for process in model.processes}
    return tuple((name, task) for name in dict.fromkeys(processes) if name is not None and name in loops)


def _items(row: _Row, stage: str, place: int, marks: Mapping[str, int], arrived_ns: float) -> Iterator[Item]:
    yield Item("service", stage, "", row.end_ns - row.start_ns, place)
    clock = 0.0
    for part, ms in row.parts.items():
        clock += ms * 1e6
        if part in marks:
            yield Item("part", stage, part, round(clock), place)
    if row.next_ns is not None and END in marks:
        yield Item("release", stage, "", row.next_ns - row.end_ns, place)
    yield Item("delivery", stage, "", round(arrived_ns - row.end_ns), place)


def _requests(
    run: Run, model: Model, enters: Mapping[int, int], first: int
) -> tuple[tuple[GivenRequest, ...], list[Item]]:
    errand, entry = _errand(model, "admission", model.frontend, model.entry.process), model.entry.name
    table = run.requests
    requests, items = [], []
    for request, (at_ns, size) in enumerate(zip(table["arrival_ns"].tolist(), table["size"].tolist(), strict=True)):
        requests.append(GivenRequest(at_ns, size, errand))
        if request >= first and request in enters:
            items.append(Item("admission", entry, "", enters[request] - at_ns, request))
    return tuple(requests), items


def _alone(rows: list[_Row]) -> npt.NDArray[np.bool_]:
    """Whether no batch of another stage overlaps, shape (rows,)."""
    starts, ends = np.array([row.start_ns for row in rows]), np.array([row.end_ns for row in rows])
    stages = np.array([row.stage for row in rows])
    found = np.zeros(len(rows), dtype=np.bool_)
    for stage in set(stages.tolist()):
        here = stages == stage
        found[here] = overlaps(starts[here], ends[here], starts[~here], ends[~here]) == 0
    return found
