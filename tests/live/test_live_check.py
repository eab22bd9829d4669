"""live check: said before it ran, hashed, run, and held against each other; what fails is said and the rest stays."""

import json
from dataclasses import replace

import pandas as pd
import pytest

from simsched.core import InputError
from simsched.live.check import Calibration, Sitting, check_live, foretell, judge, read_foretold, write_foretold
from simsched.live.check import sitting as module
from simsched.live.load import plan_of
from simsched.live.serve import ServerDied
from simsched.scenario import scenario_of

pytest.importorskip("aiohttp")
from live.fake_server import FakeServer

VALUES = {
    "name": "two",
    "stages": {
        "server": {
            "gpu": "g",
            "policy": {"kind": "drain", "max_batch": 1},
            "cost": {"kind": "linear", "a_ms": 2},
            "servers": 1,
        }
    },
    "gpus": {"g": {}},
    "pipeline": ["server"],
    "workload": {"arrivals": {"kind": "closed", "users": 2}, "sizes": {"kind": "short80"}, "requests": 40},
    "live": {"stages": {"server": {"model": "sleep"}}},
}
THREE = {**VALUES, "name": "three", "workload": {**VALUES["workload"], "arrivals": {"kind": "closed", "users": 3}}}
OTHER = {
    **VALUES,
    "name": "other",
    "stages": {"server": {**VALUES["stages"]["server"], "policy": {"kind": "shortest_first", "max_batch": 1}}},
}


@pytest.fixture
def servers(monkeypatch):
    """Servers that are started, instead of SGLang Omni's; a name in `dying` ends at once."""
    started = []

    class Fake:
        dying = ()

        def __init__(self, plan, *, log, stubs):
            self.plan, self.log = plan, log
            started.append(plan.scenario.name)

        def __enter__(self):
            if self.plan.scenario.name in Fake.dying:
                self.log.write_text("no such layer\n")
                raise ServerDied("ended by itself with status 3", self.log)
            self._context = FakeServer(events=True).running()
            self.url = self._context.__enter__().url
            return self

        def __exit__(self, *error):
            self._context.__exit__(*error)

        def check(self):
            pass

    monkeypatch.setattr(module, "Server", Fake)
    Fake.started = started
    return Fake


def sitting(out, **fields):
    return Sitting(out=out, warmup=10, replications=2, calibration_users=0, **fields)


def test_predictions_stand_with_their_hash_before_the_first_phase(servers, tmp_path, monkeypatch):
    real, seen = module.load_phase, []

    def loaded(scenario, asked):
        seen.append(read_foretold(tmp_path / "out")[1])
        return real(scenario, asked)

    monkeypatch.setattr(module, "load_phase", loaded)
    found = check_live([VALUES, THREE], sitting(tmp_path / "out"))
    assert servers.started == ["two"]  # three differs only in its load
    assert seen == [found.sha256] * 2
    assert [one.name for one in found.predictions] == ["two", "three"]
    assert not found.failed
    assert {one.phase for one in found.judged} == {"two", "three"}
    one = next(one for one in found.judged if one.metric == "throughput_rps")
    assert one.error == pytest.approx((one.predicted - one.measured) / one.measured)


def test_what_is_predicted_is_what_is_sent(servers, tmp_path):
    found = check_live([VALUES], sitting(tmp_path / "out"))
    scenario = scenario_of(VALUES)
    sent = pd.read_csv(found.phases[0] / "client.csv.gz")["words"].tolist()
    assert sorted(sent) == sorted(plan_of(scenario.workload, scenario.seed, 10).load.sizes)
    assert found.predictions[0] == foretell(scenario, warmup=10, replications=2)


def test_another_policy_needs_another_server(servers, tmp_path):
    check_live([VALUES, OTHER], sitting(tmp_path / "out"))
    assert servers.started == ["two", "other"]


@pytest.mark.parametrize("dying", ["two", "other"])
def test_a_server_that_dies_costs_its_own_phases_only(servers, tmp_path, dying):
    servers.dying = (dying,)
    found = check_live([VALUES, OTHER], sitting(tmp_path / "out"))
    assert list(found.failed) == [dying]
    assert "ended by itself with status 3; its log" in found.failed[dying]
    assert len(read_foretold(tmp_path / "out")[0]) == 2
    assert {one.phase for one in found.judged} == {"two", "other"} - {dying}


def test_predictions_that_were_changed_are_refused(tmp_path):
    told = foretell(scenario_of(VALUES), warmup=0, replications=1)
    assert told.ranges == {}
    digest = write_foretold([told], {}, tmp_path)
    assert read_foretold(tmp_path) == ([told], digest)
    with pytest.raises(InputError, match="is there already, and predictions are not replaced"):
        write_foretold([told], {}, tmp_path)
    path = tmp_path / "predictions.json"
    path.write_text(path.read_text().replace("two", "too"))
    with pytest.raises(InputError, match=r"is not what predictions\.sha256 says: it was changed"):
        read_foretold(tmp_path)


def test_a_phase_without_numbers_says_why(tmp_path):
    told = foretell(scenario_of(VALUES), warmup=0, replications=1)
    judged, why = judge(told, tmp_path / "nowhere")
    assert judged == []
    assert "is not a directory" in why


def test_two_of_one_name_and_a_full_folder_are_refused(servers, tmp_path):
    with pytest.raises(InputError, match="two scenarios are named 'two'"):
        check_live([VALUES, VALUES], sitting(tmp_path / "out"))
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "a").touch()
    with pytest.raises(InputError, match="is there and not an empty folder"):
        check_live([VALUES], sitting(tmp_path / "full"))
    assert servers.started == []


def test_the_hosts_factor_is_on_host_work_only():
    values = {
        "parameters": {"host_ms": 2, "gpu_ms": 3, "rounds": 4},
        "stages": {"a": {"program": [{"work": "cpu", "ms": "$host_ms"}, {"work": "gpu", "ms": "$gpu_ms"}]}},
    }
    slow = Calibration(factor=1.5, told=True)
    assert slow.scaled(values) == {"host_ms": 3.0, "gpu_ms": 3, "rounds": 4}
    assert Calibration().scaled({"stages": {}}) is None


def test_a_phase_that_calibrates_comes_first_and_is_told(servers, tmp_path):
    program = [{"work": "cpu", "ms": "$host_ms"}, {"work": "gpu", "ms": 1}]
    stage = {name: item for name, item in VALUES["stages"]["server"].items() if name != "cost"}
    values = {**VALUES, "parameters": {"host_ms": 1.0}, "stages": {"server": {**stage, "program": program}}}
    lines = []
    asked = replace(sitting(tmp_path / "out"), calibration_users=2, calibration_requests=30)
    found = check_live([values], asked, lines.append)
    assert found.calibration.phase.endswith("calibration")
    assert [line.split(":")[0] for line in lines[:3]] == ["server 0", "calibrated", lines[2].split(":")[0]]
    assert lines[2].startswith("predictions written before the runs")
    told = json.loads((tmp_path / "out" / "predictions.json").read_text())["calibration"]
    assert told["factor"] == found.calibration.factor
