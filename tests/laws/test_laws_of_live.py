"""A live stage's policy decides as the simulator's: any policy, any arrivals, aborts and service times."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws.drawn_policies import policies

from simsched.core import Batch, ns_from_ms
from simsched.hardware import Linear
from simsched.live.policy import DecisionLog, Desk, Told, check_decisions, plain_spec, replay_decisions
from simsched.policies import POLICIES
from simsched.scenario import build, run_scenario, scenario_of

US = 1_000
NAMES = [name for name, _ in POLICIES.items()]
REQUESTS = st.lists(
    st.tuples(st.integers(1, 3_000), st.sampled_from([1.0, 2.0, 5.0]), st.sampled_from(["1", "2", "5"]), st.booleans()),
    min_size=1,
    max_size=25,
)


class Live:
    """A live stage on a clock of its own: arrivals, ends, aborts and holds in order of time, as an adapter has them."""

    def __init__(self, desk, cost):
        self.desk, self.cost, self.batches = desk, cost, []

    def play(self, arrivals, aborted=()):
        """Arrivals are (at_ns, Told); who aborts does so half a microsecond after it enters, if it still waits."""
        desk, busy_until, wake, left = self.desk, None, None, list(arrivals)
        aborts = sorted((left[number][0] + 500, number) for number in aborted)
        while True:
            times = [at_ns for at_ns, _ in left[:1] + aborts[:1]]
            times += [at_ns for at_ns in (busy_until, wake if busy_until is None else None) if at_ns is not None]
            if not times:
                return
            now = min(times)
            while left and left[0][0] == now:
                desk.enter(left.pop(0)[1], now)
            while aborts and aborts[0][0] == now:
                desk.leave(aborts.pop(0)[1])
            if busy_until == now:
                desk.freed(now)
                busy_until = None
            wake = None
            if busy_until is None and desk.queue:
                answer = desk.decide(now)
                wake = answer.until
                assert not answer.error
                if answer.batch:
                    self.batches.append((now, [request.id for request in answer.batch]))
                    busy_until = now + self.cost(answer.batch)


def arrivals_of(drawn):
    times = itertools.accumulate(gap * US for gap, *_ in drawn)
    return [(at_ns, Told(size, cls=cls)) for at_ns, (_, size, cls, _) in zip(times, drawn, strict=True)]


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data(), drawn=REQUESTS, us=st.lists(st.integers(1, 5_000), min_size=30, max_size=30))
def test_every_logged_decision_is_taken_again_by_the_simulator(name, data, drawn, us, tmp_path_factory):
    policy = data.draw(policies(name))
    file = tmp_path_factory.mktemp("live") / "decisions.jsonl"
    log = DecisionLog(file, stage="s", fallback=8, zero_epoch_ns=0)
    services = iter(us)
    stage = Live(Desk(plain_spec("s", policy), log=log), lambda _: next(services) * US)
    stage.play(arrivals_of(drawn), [number for number, (*_, aborts) in enumerate(drawn) if aborts])
    log.close()
    for judge in (check_decisions, replay_decisions):
        found = judge(file, policy)
        assert found.ok, [str(one) for one in found.differences]
        assert found.errors == 0


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data(), drawn=REQUESTS)
def test_a_live_stage_forms_the_batches_of_a_simulation(name, data, drawn):
    policy = data.draw(policies(name))
    cost = Linear(by="count", a_ms=0.7501, b_ms=0.1003)
    arrivals = arrivals_of(drawn)
    scenario = scenario_of(
        {
            "name": "one",
            "gpus": {"gpu0": {}},
            "stages": {"s": {"gpu": "gpu0", "policy": policy, "cost": cost}},
            "workload": {
                "arrivals": {"kind": "listed", "due_s": [at_ns / 1e9 for at_ns, _ in arrivals]},
                "sizes": {"kind": "listed", "values": [told.size for _, told in arrivals]},
                "requests": len(arrivals),
            },
        }
    )
    run = run_scenario(scenario)
    simulated: dict[int, list[int]] = {}
    for number, request in run.visits_of("s")[["batch", "request"]].itertuples(index=False):
        if number >= 0:
            simulated.setdefault(number, []).append(request)
    starts = dict(zip(run.batches_of("s")["batch"], run.batches_of("s")["start_ns"], strict=True))
    (spec,) = build(scenario).stages
    stage = Live(Desk(spec), lambda batch: ns_from_ms(cost.ms(Batch.of([request.size for request in batch]))))
    stage.play([(at_ns, told._replace(cls="")) for at_ns, told in arrivals])
    assert [(now, sorted(batch)) for now, batch in stage.batches] == [
        (starts[number], sorted(batch)) for number, batch in sorted(simulated.items(), key=lambda item: starts[item[0]])
    ]
