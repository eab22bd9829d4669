"""The client without a network, in virtual time: it sends as the simulator's client does, and loses nobody."""

import asyncio
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from virtual_time import EPOCH_NS, VirtualClock, run_virtually

from simsched.core import NS_PER_MS
from simsched.live.load import plan_of
from simsched.live.load.exchange import Exchange
from simsched.live.load.plan import Planned
from simsched.live.load.session import GONE_FAILURES, LEAD_NS, Broken, Session, Unreachable
from simsched.run import NEVER
from simsched.scenario import WorkloadSpec, run_scenario, scenario_of
from simsched.workload import Closed, Deterministic, ExponentialThink, FixedThink, Poisson, Retry, Uniform


@dataclass
class FakeTransport:
    """Answers each request after `service_ms` of its own, whatever the others do; odd ones by their number."""

    service_ms: float = 10
    status: dict[int, int] = field(default_factory=dict)
    broken: frozenset[int] = frozenset()
    away: frozenset[int] = frozenset()
    inside: int = 0
    most: int = 0
    asked: list[int] = field(default_factory=list)

    async def ask(self, planned: Planned, exchange: Exchange) -> None:
        self.asked.append(planned.number)
        self.inside += 1
        self.most = max(self.most, self.inside)
        try:
            if planned.number in self.away:
                raise Unreachable("refused")
            await asyncio.sleep(self.service_ms / 1000)
            if planned.number in self.broken:
                raise Broken("cut")
            exchange.status = self.status.get(planned.number, 200)
            exchange.heard(100)
        finally:
            self.inside -= 1


def workload(arrivals, **fields):
    return WorkloadSpec(**{"arrivals": arrivals, "sizes": Uniform(), "requests": 40, **fields})


def sent(work, transport=None, *, warmup=0, seed=3, timeout_s=300.0, stop_at_s=None):
    """The session of a workload, run to its end or stopped."""

    async def go():
        session = Session(
            plan_of(work, seed, warmup),
            transport=transport or FakeTransport(),
            clock=VirtualClock(),
            timeout_s=timeout_s,
        )
        if stop_at_s is not None:
            asyncio.get_running_loop().call_later(stop_at_s, session.stop, "interrupted")
        await session.run()
        return session

    return run_virtually(go())


def simulated(work, seed=3):
    """The same workload, each request served on its own for 10 ms."""
    scenario = scenario_of(
        {
            "name": "s",
            "gpus": {"gpu0": {}},
            "stages": {
                "a": {
                    "policy": {"kind": "drain", "max_batch": 1},
                    "cost": {"kind": "linear", "a_ms": 10, "b_ms": 0},
                    "servers": 1000,
                    "gpu": "gpu0",
                }
            },
            "pipeline": ["a"],
            "workload": {"arrivals": {"kind": "closed", "users": 1}, "sizes": {"kind": "uniform"}, "requests": 1},
        }
    )
    return run_scenario(replace(scenario, workload=work), seed=seed)


CLIENTS = {
    "users": workload(Closed(users=7)),
    "users who think": workload(Closed(users=5, think=ExponentialThink(mean_ms=13), ramp_ms=20)),
    "poisson": workload(Poisson(rate_rps=150)),
    "deterministic": workload(Deterministic(rate_rps=90)),
    "impatient": workload(Poisson(rate_rps=150), patience=ExponentialThink(mean_ms=15)),
    "impatient users": workload(Closed(users=5, think=FixedThink(ms=3)), patience=ExponentialThink(mean_ms=15)),
    "again": workload(Closed(users=3), patience=ExponentialThink(mean_ms=8), retry=Retry(attempts=3, backoff_ms=2)),
    "again, open": workload(
        Poisson(rate_rps=150), patience=ExponentialThink(mean_ms=8), retry=Retry(attempts=3, backoff_ms=2)
    ),
}


@pytest.mark.parametrize("name", CLIENTS)
def test_the_client_sends_and_gives_up_when_the_simulated_one_does(name):
    work = CLIENTS[name]
    session, run = sent(work), simulated(work)
    offset = EPOCH_NS if work.arrivals.closed else EPOCH_NS + LEAD_NS
    mine = sorted((one.planned.number, one.sent_ns - offset, one.outcome) for one in session.exchanges)
    table = run.requests.sort_values("request")
    theirs = list(zip(table["request"], table["arrival_ns"], table["status"], strict=True))
    assert [row[0] for row in mine] == [row[0] for row in theirs]
    assert [row[2] for row in mine] == [row[2] for row in theirs]
    assert np.allclose([row[1] for row in mine], [row[1] for row in theirs], rtol=0, atol=50)  # ns


@given(
    arrivals=st.sampled_from([Closed(users=4), Closed(users=40), Poisson(rate_rps=300)]),
    odd=st.dictionaries(st.integers(0, 49), st.sampled_from(["refused", "failed", "broken", "away"]), max_size=30),
    stop_at_s=st.none() | st.floats(0, 0.2),
    retry=st.sampled_from([None, Retry(attempts=2, backoff_ms=1)]),
)
def test_every_request_is_once_among_the_sent_or_the_unsent(arrivals, odd, stop_at_s, retry):
    def those(kind):
        return frozenset(number for number, what in odd.items() if what == kind)

    status = dict.fromkeys(those("refused"), 503) | dict.fromkeys(those("failed"), 500)
    transport = FakeTransport(status=status, broken=those("broken"), away=those("away"))
    session = sent(workload(arrivals, retry=retry), transport, warmup=10, stop_at_s=stop_at_s)
    firsts = [one.planned.number for one in session.exchanges if one.planned.attempt == 1]
    assert sorted([*firsts, *(planned.number for planned in session.unsent())]) == list(range(50))
    assert len({one.planned.number for one in session.exchanges}) == len(session.exchanges)
    assert {one.outcome for one in session.exchanges} <= {"done", "refused", "failed", "unfinished"}
    wanted = {"refused": "refused", "failed": "failed", "broken": "failed", "away": "failed"}
    for one in session.exchanges:
        if one.outcome != "unfinished" and one.planned.attempt == 1:
            assert one.outcome == wanted.get(odd.get(one.planned.number), "done")
        assert (one.done_ns == NEVER) == (one.outcome == "unfinished")
        assert (one.error == "") == (one.outcome == "done")
    if stop_at_s is None:
        assert session.stopped == ""
        assert all(one.outcome != "unfinished" for one in session.exchanges)
    if arrivals.closed:
        assert transport.most <= arrivals.users


def test_requests_of_a_closed_loop_are_numbered_as_they_are_sent():
    transport = FakeTransport()
    sent(workload(Closed(users=6)), transport)
    assert transport.asked == list(range(40))


def test_latency_counts_from_when_a_request_was_due_and_lateness_is_kept():
    session = sent(workload(Deterministic(rate_rps=100)))
    for place, one in enumerate(session.exchanges, 1):
        assert one.due_ns == EPOCH_NS + LEAD_NS + 10 * NS_PER_MS * place
        assert 0 <= one.late_ns < 50


def test_patience_counts_from_when_a_request_was_due():
    session = sent(workload(Deterministic(rate_rps=100), timeout_ms=4))
    assert {one.outcome for one in session.exchanges} == {"timeout"}
    assert [one.error for one in session.exchanges][:1] == ["gave up after 4 ms"]
    assert all(abs(one.done_ns - one.due_ns - 4 * NS_PER_MS) < 50 for one in session.exchanges)


def test_no_answer_takes_longer_than_the_limit():
    session = sent(workload(Closed(users=1), requests=2), FakeTransport(service_ms=9000), timeout_s=2)
    assert [(one.outcome, one.error) for one in session.exchanges] == [("timeout", "gave up after 2000 ms")] * 2


def test_a_server_that_is_gone_ends_the_phase():
    away = FakeTransport(away=frozenset(range(1000)))
    session = sent(workload(Closed(users=2), requests=1000), away)
    assert session.stopped.startswith(f"the server is gone: {len(session.exchanges)} connections in a row failed: ref")
    assert GONE_FAILURES <= len(session.exchanges) < 100
    assert len(session.exchanges) + len(session.unsent()) == 1000


def test_a_server_that_comes_back_does_not():
    session = sent(workload(Closed(users=8)), FakeTransport(away=frozenset(range(4, 30))))
    assert session.stopped == ""
    assert sum(one.outcome == "failed" for one in session.exchanges) == 26


def test_what_is_under_way_at_a_stop_is_unfinished_and_says_why():
    session = sent(workload(Closed(users=3)), stop_at_s=0.025)
    last = [one for one in session.exchanges if one.outcome == "unfinished"]
    assert [(one.error, one.done_ns) for one in last] == [("interrupted", NEVER)] * 3
    assert len(session.unsent()) == 40 - len(session.exchanges)


def test_an_error_of_the_clients_own_is_not_swallowed():
    class Odd(FakeTransport):
        async def ask(self, planned, exchange):
            raise ZeroDivisionError("odd")

    with pytest.raises(ZeroDivisionError, match="odd"):
        sent(workload(Closed(users=2)), Odd())
