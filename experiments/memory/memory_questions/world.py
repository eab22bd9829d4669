"""The scenario that all questions change, and how their figures get intervals and become tables."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from simsched.analysis import metrics
from simsched.report.words import number
from simsched.run import Run
from simsched.scenario import Scenario, load, run_scenario
from simsched.stats import mean_interval

FOLDER = Path(__file__).parent.parent
GIB = 2**30


class Found(NamedTuple):
    """A figure: mean over replications, and its 95 % t-interval."""

    mean: float
    low: float
    high: float


Figures = dict[str, float]
Row = dict[str, Any]  # text, a plain number, or Found
Look = Callable[[Run, Mapping[str, Any]], Figures]


def world(*changes: str, batches: tuple[int, int] | None = None, requests: int | None = None) -> Scenario:
    """The scenario with these fields replaced.

    Args:
        changes: such as "gpus.gpu0.margin=0.1".
        batches: largest batch of the encoder and of the vocoder.
        requests: how many; a tenth of them is warm-up.
    """
    fields = list(changes)
    if batches is not None:
        fields += [
            f"stages.{name}.policy.max_batch={most}" for name, most in zip(("encoder", "vocoder"), batches, strict=True)
        ]
    if requests is not None:
        fields += [f"workload.requests={requests}", f"workload.warmup.requests={requests // 10}"]
    return load(FOLDER / "world.yaml", fields)


def times_and_memory(run: Run, found: Mapping[str, Any]) -> Figures:
    """What every question looks at: throughput, latency and its spread, peak memory, what failed."""
    del run
    latency = found["latency_s"]
    return {
        "req/s": found["throughput_rps"],
        "mean, s": latency["mean"],
        "P99, s": np.nan if latency["p99"] is None else latency["p99"],  # too few were done to say
        "peak, GiB": found["gpus"]["gpu0"]["memory_peak_bytes"] / GIB,
    }


def each(scenario: Scenario, replications: int, look: Look = times_and_memory) -> list[Figures]:
    """Figures of each replication; replication r has the same requests in all scenarios of one workload."""
    found = []
    for one in range(replications):
        run = run_scenario(scenario, replication=one)
        found.append(look(run, metrics(run).to_dict()))
    return found


def over(figures: Sequence[Figures], base: Sequence[Figures], name: str) -> Found:
    """A figure relative to another scenario's on the same requests."""
    return interval([one[name] / other[name] for one, other in zip(figures, base, strict=True)])


def summed(figures: Sequence[Figures], *names: str) -> dict[str, Found]:
    """Mean and interval of these figures, or of all."""
    return {name: interval([one[name] for one in figures]) for name in names or figures[0]}


def interval(values: Sequence[float]) -> Found:
    """Mean and 95 % t-interval; no width for one value, nothing where one is missing."""
    if len(values) == 1 or np.isnan(values).any():
        values = [float(np.sum(values))] if len(values) > 1 else values
        return Found(values[0], values[0], values[0])
    found = mean_interval(values)
    return Found(found.mean, found.low, found.high)


def lost_server_s(run: Run, *, attempt_ms: float, backoff_ms: float, factor: float = 2.0) -> float:
    """Seconds that servers spent in failed attempts and in the pauses after them."""
    told = run.incidents
    lost_ms = 0.0
    for kind, detail in zip(told["kind"].astype(str), told["detail"].astype(str), strict=True):
        if kind == "alloc_retry":
            failure = int(re.search(r"failure (\d+)", detail).group(1))  # type: ignore[union-attr]
            lost_ms += attempt_ms + backoff_ms * factor ** (failure - 1)
        elif kind == "alloc_failed":
            lost_ms += attempt_ms
    return lost_ms / 1e3


def cell(value: Any) -> str:
    """A figure as text: mean ± half its interval; plain numbers to four digits."""
    if isinstance(value, Found):
        if np.isnan(value.mean):
            return "–"
        half = (value.high - value.low) / 2
        return f"{number(value.mean)} ±{number(half)}" if half > 1e-6 * abs(value.mean) else number(value.mean)
    if isinstance(value, float):
        return "–" if np.isnan(value) else number(value)
    return "–" if value is None else str(value)


def markdown(rows: Sequence[Row]) -> list[str]:
    """A table with a line a row."""
    names = list(rows[0])
    lines = [f"| {' | '.join(names)} |", "|---" * len(names) + "|"]
    return lines + [f"| {' | '.join(cell(row[name]) for name in names)} |" for row in rows]


def flat(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Rows for a CSV file: a figure is three columns."""
    wide = []
    for row in rows:
        line: dict[str, Any] = {}
        for name, value in row.items():
            if isinstance(value, Found):
                line |= {name: value.mean, f"{name}: low": value.low, f"{name}: high": value.high}
            else:
                line[name] = value
        wide.append(line)
    return wide
