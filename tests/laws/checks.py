"""Laws of any simulated Run, each a function of what was drawn and its Run; `LAWS` lists them."""

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import groupby, pairwise

import numpy as np
from laws.checks_of_resources import RESOURCE_LAWS, memory_within_capacity
from laws.drawn_policies import WORK_CONSERVING
from laws.models import Drawn

from simsched.analysis import little
from simsched.core import NS_PER_MS
from simsched.hardware import Reject
from simsched.policies import BATCH_FIELDS, POLICIES
from simsched.policies.admission import Everybody, InFlight
from simsched.run import NEVER, STATUS, Run, step

Law = Callable[[Drawn, Run], None]
FOR_EVER = 1 << 62


def stages_before(drawn: Drawn, name: str) -> list[str]:
    """Stages that send to this one."""
    return [other for other, stage in drawn.scenario.stages.items() if name in (stage.next or ())]


def visit_times(run: Run) -> dict[tuple[int, str], tuple[int, int, int]]:
    """Enter, start and end by request and stage."""
    seen = run.visits
    keys = zip(seen["request"], seen["stage"], strict=True)
    return dict(zip(keys, zip(seen["enter_ns"], seen["start_ns"], seen["end_ns"], strict=True), strict=True))


def conserved(drawn: Drawn, run: Run) -> None:
    """Sent = done + refused + failed + unfinished; a stage is visited at most once, by the done every stage."""
    status = dict(zip(run.requests["request"], run.requests["status"], strict=True))
    count = Counter(status.values())
    assert sum(count[name] for name in STATUS) == len(run.requests)
    load = drawn.scenario.workload
    attempts = 1 if load.retry is None else load.retry.attempts
    assert load.count() <= len(run.requests) <= attempts * load.count() or count["unfinished"]
    seen = visit_times(run)
    assert len(seen) == len(run.visits), "a stage was visited twice"
    assert {request for request, _ in seen} <= set(status)
    for request, fate in status.items():
        complete = [name for name in run.stages if NEVER not in seen.get((request, name), (NEVER,))]
        if fate == "done":
            assert complete == run.stages
        elif fate not in ("timeout", "failed"):  # whatever was computed for it
            assert len(complete) < len(run.stages)
        if fate == "refused" and not _may_reject(drawn):
            assert not any((request, name) in seen for name in run.stages)


def _may_reject(drawn: Drawn) -> bool:
    """Whether a stage may refuse requests that are in the service already."""
    return any(isinstance(one.memory.when_full, Reject) for one in drawn.scenario.stages.values() if one.memory)


def in_order(drawn: Drawn, run: Run) -> None:
    """Enter ≤ start ≤ end; a stage is entered after the ends of all before it; the answer comes after the last."""
    seen = visit_times(run)
    sent = dict(zip(run.requests["request"], run.requests["arrival_ns"], strict=True))
    answered = dict(zip(run.requests["request"], run.requests["end_ns"], strict=True))
    way_ns = drawn.scenario.workload.client_ms * NS_PER_MS // 2
    for (request, name), (enter, start, end) in seen.items():
        assert enter != NEVER
        assert start == NEVER or enter <= start
        assert end == NEVER or (start != NEVER and start <= end)
        for before in stages_before(drawn, name):
            assert NEVER != seen[request, before][2] <= enter
        if not stages_before(drawn, name):
            assert enter >= sent[request] + way_ns
        if answered[request] != NEVER:
            assert answered[request] >= end + way_ns


def batches_agree_with_visits(drawn: Drawn, run: Run) -> None:
    """A batch starts and ends for all its members at once; its count, total and longest are theirs."""
    size = dict(zip(run.requests["request"], run.requests["size"], strict=True))
    members: dict[int, list[tuple[int, ...]]] = {}
    for row in run.visits.itertuples():
        if row.batch != NEVER:
            members.setdefault(row.batch, []).append((row.request, row.stage, row.start_ns, row.end_ns))
    assert sorted(members) == list(range(len(run.batches)))
    for row in run.batches.itertuples():
        mine = members[row.batch]
        assert {one[1:] for one in mine} == {(row.stage, row.start_ns, row.end_ns)}
        own = [size[one[0]] for one in mine]
        assert (row.count, row.total, row.longest) == (len(own), sum(own), max(own))


def one_batch_a_server(drawn: Drawn, run: Run) -> None:
    """A server starts a batch only after it has released the one before."""
    for name, stage in drawn.scenario.stages.items():
        rows = run.batches_of(name)
        assert set(rows["server"]) <= set(range(stage.servers * stage.replicas))
        for _, mine in rows.groupby("server"):
            spans = sorted(zip(mine["start_ns"], mine["release_ns"].replace(NEVER, FOR_EVER), strict=True))
            for (_, release), (start, _) in pairwise(spans):
                assert release <= start, f"{name} runs two batches on one server at {start} ns"


def no_batch_too_large(drawn: Drawn, run: Run) -> None:
    """No batch is larger than its policy's limit."""
    for name, stage in drawn.scenario.stages.items():
        limit = next((getattr(stage.policy, field) for field in BATCH_FIELDS if hasattr(stage.policy, field)), None)
        assert limit is None or run.batches_of(name)["count"].max() <= limit or not len(run.batches_of(name))


def _waits(run: Run, name: str) -> tuple[np.ndarray, np.ndarray]:
    """When each visit entered the queue and left it: its start, or where its client gave up when it was dropped."""
    visits = run.visits_of(name)
    dropped = run.incidents[(run.incidents["kind"] == "cancelled") & (run.incidents["stage"] == name)]
    gone = dict(zip(dropped["request"], dropped["time_ns"], strict=True))
    start = visits["start_ns"].to_numpy()
    until = [gone.get(request, NEVER) for request in visits["request"]]
    return visits["enter_ns"].to_numpy(), np.where(start == NEVER, np.array(until, np.int64), start)


def _idle_beside_waiting(drawn: Drawn, run: Run, name: str) -> Iterator[tuple[int, int]]:
    """Spans of positive time in which a server is free and a request waits."""
    batches = run.batches_of(name)
    changes: Counter[int] = Counter()
    waits: Counter[int] = Counter()
    for enter, start in zip(*(column.tolist() for column in _waits(run, name)), strict=True):
        waits[enter] += 1
        waits[FOR_EVER if start == NEVER else start] -= 1
    for start, release in zip(batches["start_ns"], batches["release_ns"], strict=True):
        changes[start] += 1
        changes[FOR_EVER if release == NEVER else release] -= 1
    waiting = busy = 0
    for now, then in pairwise(sorted({*changes, *waits, FOR_EVER})):
        waiting, busy = waiting + waits[now], busy + changes[now]
        if waiting and busy < drawn.scenario.stages[name].servers:
            yield now, then


def work_conserving(drawn: Drawn, run: Run) -> None:
    """Policies that never wait for more leave no server free beside waiting work (unless for memory)."""
    for name, stage in drawn.scenario.stages.items():
        greedy = isinstance(stage.policy, tuple(POLICIES[kind] for kind in WORK_CONSERVING))
        if greedy and stage.memory is None and stage.replicas == 1:
            assert list(_idle_beside_waiting(drawn, run, name)) == []


def _settled(drawn: Drawn, run: Run, name: str) -> dict[int, tuple[int, int]]:
    """Number waiting and number of servers taken, once each instant at which one of them changed has settled."""
    batches = run.batches_of(name)
    queue, running = (
        dict(zip(*(column.tolist() for column in step(ups, downs)), strict=True))
        for ups, downs in (
            _waits(run, name),
            (batches["start_ns"].to_numpy(), batches["release_ns"].to_numpy()),
        )
    )
    waiting, busy, found = 0, 0, {}
    for now in sorted({*queue, *running}):
        waiting, busy = queue.get(now, waiting), running.get(now, busy)
        found[now] = (waiting, busy)
    return found


def places_kept(drawn: Drawn, run: Run) -> None:
    """Once an instant has settled no more wait than the queue has places and the stage free servers."""
    for name, stage in drawn.scenario.stages.items():
        if stage.queue.limit is not None:
            for now, (waiting, busy) in _settled(drawn, run, name).items():
                places = stage.queue.limit + stage.servers
                assert waiting <= stage.replicas * places - busy, f"{name} at {now} ns"


def refused_for_want_of_a_place(drawn: Drawn, run: Run) -> None:
    """Who is refused for a place would find none once the instant has settled, whatever ended in it."""
    entry = run.stages[0]
    stage = drawn.scenario.stages[entry]
    if stage.queue.limit is None or stage.replicas > 1 or (stage.memory and drawn.scenario.gpus[stage.gpu].memory):
        return
    settled = _settled(drawn, run, entry)
    refused = (run.incidents["kind"] == "refused") & (run.incidents["stage"] == entry)
    for now in run.incidents.loc[refused, "time_ns"]:
        waiting, busy = settled[max(time for time in settled if time <= now)]
        assert waiting >= stage.queue.limit + stage.servers - busy, f"refused at {now} ns beside a free place"


def blocked_in_order(drawn: Drawn, run: Run) -> None:
    """Who ended earlier at the stage before enters no later: nobody passes those who are blocked."""
    for name in run.stages:
        before = stages_before(drawn, name)
        if len(before) == 1 and drawn.scenario.stages[name].replicas == 1:
            ends = run.visits_of(before[0]).set_index("request")["end_ns"]
            seen = sorted((int(ends[row.request]), row.enter_ns) for row in run.visits_of(name).itertuples())
            latest = -1
            for _, same in groupby(seen, key=lambda pair: pair[0]):
                enters = [enter for _, enter in same]
                assert latest <= min(enters), f"at {name}"
                latest = max(enters)


def refused_only_if_bounded(drawn: Drawn, run: Run) -> None:
    """A request is refused by an admission or a bounded entry only, and each refusal is counted."""
    refused = run.requests.loc[run.requests["status"] == "refused", "request"]
    counted = run.incidents.loc[run.incidents["kind"] == "refused"]
    assert set(refused) <= set(counted["request"])
    heard = set(run.requests.loc[run.requests["status"] != "timeout", "request"])  # gave up before the refusal came
    assert sorted(heard & set(counted["request"])) == sorted(refused)
    assert not counted["request"].duplicated().any()
    entry = next(name for name in run.stages if not stages_before(drawn, name))
    stage = drawn.scenario.stages[entry]
    bounded = stage.queue.limit is not None or stage.memory is not None
    guarded = not isinstance(drawn.scenario.admission, Everybody)
    assert set(counted["stage"]) <= ({entry} if bounded else set()) | ({""} if guarded else set())


def never_more_in_flight(drawn: Drawn, run: Run) -> None:
    """With `in_flight`, at most so many are in the service; the clients' ways are not in it."""
    if not isinstance(drawn.scenario.admission, InFlight) or drawn.scenario.processes:
        return
    way_ns = drawn.scenario.workload.client_ms * NS_PER_MS // 2
    inside = run.requests[run.requests["status"] != "refused"]
    gone = inside["end_ns"].where(inside["end_ns"] == NEVER, inside["end_ns"] - way_ns)
    _, level = step((inside["arrival_ns"] + way_ns).to_numpy(np.int64), gone.to_numpy(np.int64))
    assert not len(level) or level.max() <= drawn.scenario.admission.max_in_flight


def littles_law(drawn: Drawn, run: Run) -> None:
    """∫N dt = stays + edge in integers, for the system, each stage and each queue, over all and within."""
    last = int(run.requests["end_ns"].max())
    for name in (None, *run.stages):
        for part in ("sojourn", "wait"):
            for window in ({}, {"begin_ns": last // 3, "end_ns": max(last // 2, last // 3)}):
                left, right = little(run, name, part=part, **window).sides
                assert left == right, f"{name} {part} {window}"


def stays_add_up(drawn: Drawn, run: Run) -> None:
    """In a chain a latency is its stages' sojourns and what lies between; nothing lies between where nothing can."""
    scenario = drawn.scenario
    if any(len(stage.next or ()) > 1 for stage in scenario.stages.values()):
        return
    bare = not scenario.processes and all(
        stage.queue.limit is None and stage.memory is None for stage in scenario.stages.values()
    )
    way_ns = scenario.workload.client_ms * NS_PER_MS
    seen = visit_times(run)
    for row in run.requests[run.requests["status"] == "done"].itertuples():
        sojourns = sum(seen[row.request, name][2] - seen[row.request, name][0] for name in run.stages)
        between = row.end_ns - row.arrival_ns - way_ns - sojourns
        assert between >= 0
        assert between == 0 or not bare


def lost_are_counted(drawn: Drawn, run: Run) -> None:
    """Each request that failed or was refused has one incident that says so."""
    told = run.incidents[run.incidents["kind"].isin(["error", "too_large", "refused"])]
    count = Counter(told["request"])
    for request, fate in zip(run.requests["request"], run.requests["status"], strict=True):
        assert fate not in ("failed", "refused") or count[request] == 1, f"{request} {fate}"
        assert fate != "done" or not count[request]


LAWS: tuple[Law, ...] = (
    conserved,
    in_order,
    batches_agree_with_visits,
    one_batch_a_server,
    no_batch_too_large,
    work_conserving,
    places_kept,
    refused_only_if_bounded,
    never_more_in_flight,
    refused_for_want_of_a_place,
    blocked_in_order,
    littles_law,
    stays_add_up,
    *RESOURCE_LAWS,
)


SCARCE_LAWS: tuple[Law, ...] = (
    conserved,
    in_order,
    batches_agree_with_visits,
    one_batch_a_server,
    no_batch_too_large,
    never_more_in_flight,
    littles_law,
    memory_within_capacity,
    lost_are_counted,
)
"""What holds whatever happens to those for whom memory is short; places and costs are other matters there."""


def check_all(drawn: Drawn, run: Run) -> None:
    """Every law."""
    for law in LAWS:
        law(drawn, run)
