"""Small models and what came of them, in milliseconds: the vocabulary of the hand-computed timelines."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from simsched.core import Dispatch
from simsched.engine import GpuSpec, Model, StageSpec, simulate
from simsched.hardware import Linear, Op, Program, Work
from simsched.policies import Drain
from simsched.run import Run
from simsched.workload import Closed, ListedArrivals, ListedSizes, Workload

MS = 1_000_000


@dataclass(frozen=True)
class Asks:
    """A policy that is a function of (now in ms, waiting, stage)."""

    answer: Callable[..., Any]

    def decide(self, now, waiting, stage):
        return self.answer(now / MS, waiting, stage)


def spying(log, answer=lambda now, waiting, stage: Dispatch(waiting[:])):
    """A policy that notes when it is asked and who waits: [(ms, ids), …]."""

    def noted(now, waiting, stage):
        log.append((now, [request.id for request in waiting]))
        return answer(now, waiting, stage)

    return Asks(noted)


def work(ms, on="gpu", op=Op.WORK):
    """An operation of fixed length."""
    return Work(op=op, on=on, cost=Linear(a_ms=ms))


def stage(name="a", ms=10.0, *, most=1, cost=None, program=None, gpu="g", **fields):
    """A stage whose batches take `ms`, Drain(most) if no policy is given."""
    fields.setdefault("policy", Drain(max_batch=most))
    if program is None:
        program = Program.of([Work(op=Op.WORK, on="gpu", cost=cost or Linear(a_ms=ms))])
    return StageSpec(name=name, program=program, gpu=gpu, **fields)


def chain(*stages):
    """The stages one after another."""
    names = [spec.name for spec in stages]
    befores, afters = [(), *zip(names[:-1])], [*zip(names[1:]), ()]
    return [
        StageSpec(**{**spec.__dict__, "wait_for": before, "next": after})
        for spec, before, after in zip(stages, befores, afters, strict=True)
    ]


def run(*stages, at=None, users=None, requests=None, sizes=None, think=None, ramp_ms=0.0, **given) -> Run:
    """Simulate: requests due `at` these ms, or so many closed-loop users.

    Args:
        given: gpus, processes, links, admission, seed, progress, and what else a workload has (client_ms, tenants …).
    """
    if at is None:
        arrivals = Closed(users=users, think=think, ramp_ms=ramp_ms)
    else:
        arrivals, requests = ListedArrivals(due_s=tuple(ms / 1000 for ms in at)), len(at)
    if sizes is None or isinstance(sizes, (list, tuple)):
        sizes = ListedSizes(values=tuple(sizes or [6.0] * requests))
    model = Model(
        stages=tuple(stages),
        gpus=tuple(given.get("gpus", [GpuSpec(name="g")])),
        processes=tuple(given.get("processes", ())),
        links=tuple(given.get("links", ())),
        frontend=given.get("frontend"),
        admission=given.get("admission"),
        host=given.get("host"),
        workload=Workload(
            arrivals=arrivals,
            sizes=sizes,
            requests=requests,
            **{field.name: given[field.name] for field in fields(Workload) if field.name in given},
        ),
    )
    return simulate(model, seed=given.get("seed", 0), progress=given.get("progress"))


def batches(run: Run, stage="a"):
    """[(ids, start, end), …] in order of start, ms."""
    visits = run.visits_of(stage)
    rows = run.batches_of(stage)
    members = {number: group["request"].tolist() for number, group in visits.groupby("batch")}
    return [
        (members[number], start / MS, end / MS)
        for number, start, end in zip(rows["batch"], rows["start_ns"], rows["end_ns"], strict=True)
    ]


def enters(run: Run, stage="a"):
    """{id: when it entered the queue, ms}."""
    visits = run.visits_of(stage)
    return dict(zip(visits["request"].tolist(), (visits["enter_ns"] / MS).tolist(), strict=True))


def releases(run: Run, stage="a"):
    """When the server of each batch was free again, ms."""
    return (run.batches_of(stage)["release_ns"] / MS).tolist()


def arrivals(run: Run):
    """When each request was sent, ms."""
    return (run.requests["arrival_ns"] / MS).tolist()


def ends(run: Run):
    """When each client had its answer, ms; None if it never had."""
    return [None if ns < 0 else ns / MS for ns in run.requests["end_ns"].tolist()]


def incidents(run: Run):
    """[(ms, kind, request, stage, detail), …]."""
    rows = run.incidents.astype({"kind": object, "stage": object})
    return [(at / MS, *rest) for at, *rest in np.asarray(rows, dtype=object).tolist()]


def held(run: Run, kind):
    """[(ms, bytes), …] of one kind of memory."""
    rows = run.memory[run.memory["kind"] == kind]
    return list(zip((rows["time_ns"] / MS).tolist(), rows["bytes"].tolist(), strict=True))
