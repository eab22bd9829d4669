"""A phase from begin to end: server reached, profile and samples started, requests sent, everything written."""

import asyncio
import contextlib
import signal
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from simsched.core import NS_PER_MS, NS_PER_S, InputError
from simsched.live.load.asked import Asked, Loaded, describe
from simsched.live.load.clock import SteadyClock
from simsched.live.load.endpoint import PATHS
from simsched.live.load.exchange import Exchange
from simsched.live.load.folder import REFUSED, PhaseFolder
from simsched.live.load.gpu import GpuSampler, is_here
from simsched.live.load.lengths import mark_lengths
from simsched.live.load.plan import Plan, plan_of
from simsched.live.load.profile import EventProfile
from simsched.live.load.session import Session
from simsched.scenario import Scenario

INTERRUPTED = "interrupted"
LATE_MS = 10.0
"""A sender whose 99th percentile is later than this loads less evenly than it says."""
Progress = Callable[[float], None]


def load_phase(scenario: Scenario, asked: Asked, progress: Progress = lambda _: None) -> Loaded:
    """Send the requests of a scenario's workload to a server and write what became of them.

    Args:
        scenario: its workload and seed say what is sent; a stage's `scale` that answers are as long as sizes ask.
        asked: where to, and how.
        progress: called with the share of the requests that are over.

    Raises:
        InputError: no server answers, the folder holds something, aiohttp is missing, or the workload cannot be drawn.
    """
    try:
        import aiohttp  # noqa: F401  # asked for here, so that all that is said of a missing one is one line
    except ImportError:
        raise InputError('needs aiohttp: pip install "simsched[live]"', "live load") from None
    plan = plan_of(scenario.workload, scenario.seed, asked.warmup)
    return asyncio.run(_load(scenario, asked, plan, progress))


async def _load(scenario: Scenario, asked: Asked, plan: Plan, progress: Progress) -> Loaded:
    from simsched.live.load.http import connected

    async with connected(asked.url, asked.endpoint) as first:
        named = asked.endpoint.model or next(iter(await first.models()), "default")
    endpoint = replace(asked.endpoint, model=named)
    told = describe(scenario, replace(asked, endpoint=endpoint), plan)
    folder = PhaseFolder(asked.out)
    folder.begin(told)
    clock = SteadyClock()
    async with connected(asked.url, endpoint) as transport:
        profile = None if asked.events is None else _profile(asked.events, told["phase"]["name"], transport)
        over = _Over(folder, clock, plan.count, progress)
        session = Session(
            plan,
            transport=transport,
            clock=clock,
            timeout_s=asked.timeout_s,
            keeps_pieces=endpoint.stream,
            settled=over.settled,
        )
        with _sampled(asked, folder) as gpu_warnings, _stopped_by_signals(session):
            async with _profiled(profile):
                await session.run()
    return _finish(scenario, folder, session, _Told(told, profile, clock, gpu_warnings))


@dataclass
class _Over:
    """Takes each request that is over: its row, the clock, the progress."""

    folder: PhaseFolder
    clock: SteadyClock
    count: int
    progress: Progress
    number: int = 0

    def settled(self, exchange: Exchange) -> None:
        self.folder.add(exchange)
        self.clock.check()
        self.number += 1
        if self.number % max(1, self.count // 200) == 0:
            self.progress(min(1.0, self.number / self.count))


@dataclass
class _Told:
    """What phase.json will say, and who has something to add to it."""

    phase: dict[str, Any]
    profile: EventProfile | None
    clock: SteadyClock
    gpu_warnings: list[str]

    def warnings(self) -> list[str]:
        """A line for each odd thing around the sending that a reader of the phase must know."""
        profile = self.profile.warnings if self.profile else []
        return [*profile, *filter(None, [self.clock.warning])]


def _profile(events: Path, name: str, transport: Any) -> EventProfile:
    """A run of the profile that no other phase in this folder has."""
    run_id = f"{name}-{datetime.now(UTC):%H%M%S%f}"
    return EventProfile(poster=transport, run_id=run_id, event_dir=events.resolve() / run_id)


@contextlib.asynccontextmanager
async def _profiled(profile: EventProfile | None) -> AsyncIterator[None]:
    if profile is not None:
        await profile.start()
    try:
        yield
    finally:
        if profile is not None:
            await profile.stop()


@contextlib.contextmanager
def _sampled(asked: Asked, folder: PhaseFolder) -> Iterator[list[str]]:
    """GPU samples around the phase; yields the warnings that there will be."""
    if not (is_here(asked.url) if asked.gpu_samples is None else asked.gpu_samples):
        yield []
        return
    with GpuSampler(folder.path) as sampler:
        yield sampler.warnings


@contextlib.contextmanager
def _stopped_by_signals(session: Session) -> Iterator[None]:
    """An interrupt ends the sending, not the writing; a second one is as ever."""
    loop = asyncio.get_running_loop()

    def stop() -> None:
        for one in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(one)
        session.stop(INTERRUPTED)

    with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):  # a system or thread without signals
        for one in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(one, stop)
    try:
        yield
    finally:
        with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
            for one in (signal.SIGINT, signal.SIGTERM):
                loop.remove_signal_handler(one)


def _finish(scenario: Scenario, folder: PhaseFolder, session: Session, told: _Told) -> Loaded:
    """Everything is over: judge it and write it."""
    exchanges, unsent = session.exchanges, session.unsent()
    speech = told.phase["client"]["endpoint"] == PATHS["speech"]
    wrong = mark_lengths(exchanges, _scale(scenario) if speech else None)
    with_events = told.profile is not None and _collected(told.profile, folder, scenario)
    counts: dict[str, int] = dict(Counter(one.outcome for one in exchanges))
    counts |= {"unsent": len(unsent)} if unsent else {}
    late = lateness_ms(exchanges)
    warnings = [*told.warnings(), *_odd_answers(exchanges, wrong, late)]
    why = session.stopped
    last = {
        **told.phase,
        "events": with_events,
        "complete": not why,
        "why": why,
        "counts": counts,
        "wrong_lengths": wrong,
        "late_ms": late,
        "clock_step_s": told.clock.stepped_ns / NS_PER_S,
        "warnings": warnings,
        "notes": told.gpu_warnings,
    }
    if not folder.end(exchanges, unsent, last):
        why = why or REFUSED
    return Loaded(
        why=why,
        counts=counts,
        attempts=sum(one.planned.attempt > 1 for one in exchanges),
        warnings=(*warnings, *told.gpu_warnings, *folder.warnings),
        late_ms=late,
        span_s=_span_s(exchanges),
        first_error=next((one.error for one in exchanges if one.error and one.outcome != "unfinished"), ""),
    )


def _scale(scenario: Scenario) -> float | None:
    """Frames that a unit of size asks for: the largest `scale` of a stage; None if none says one."""
    scales = [stage.scale for stage in scenario.stages.values() if stage.scale != 1]
    return max(scales) if scales else None


def _odd_answers(exchanges: list[Exchange], wrong: int, late: dict[str, float]) -> Iterator[str]:
    """A line for each odd thing about what was sent and answered."""
    if wrong:
        yield f"{wrong:,} answers are not as long as their sizes ask, or are cut"
    rounded = sum(one.planned.size != one.planned.words for one in exchanges)
    if rounded:
        yield f"{rounded:,} sizes are no whole numbers of words and were rounded"
    if late and late["p99"] > LATE_MS:
        yield f"requests were sent late, 1 % of them by over {late['p99']:.1f} ms: the client is overloaded"


def _collected(profile: EventProfile, folder: PhaseFolder, scenario: Scenario) -> bool:
    try:
        return profile.collect(folder.path, scenario.stages)
    except OSError as error:
        profile.warnings.append(f"events could not be gathered: {error.strerror}")
        return False


def lateness_ms(exchanges: list[Exchange]) -> dict[str, float]:
    """How late requests of an open loop were sent; nothing in a closed one."""
    late = [one.late_ns / NS_PER_MS for one in exchanges if one.due_ns > 0]
    if not late:
        return {}
    p50, p99, most = (round(float(value), 4) for value in np.quantile(late, [0.5, 0.99, 1.0]))
    return {"p50": p50, "p99": p99, "max": most}


def _span_s(exchanges: list[Exchange]) -> float:
    ends = [one.done_ns for one in exchanges if one.done_ns > 0]
    return (max(ends) - min(one.sent_ns for one in exchanges)) / NS_PER_S if ends else 0.0
