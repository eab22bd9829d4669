"""The numbers of one Run, by one estimator whether it was simulated or live."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from simsched.analysis.breakdown import shares_of
from simsched.analysis.columns import BoolArray, RequestColumns, request_columns, stage_columns
from simsched.analysis.little import system_little
from simsched.analysis.refusals import Refusals
from simsched.analysis.resources import gpu_memory, incident_counts
from simsched.analysis.stage import Scope, Window, stage_metrics
from simsched.analysis.warmup import Warmup, deleted, warmup_of
from simsched.core import NS_PER_S, NotEnoughData
from simsched.run import NEVER, Run

LATENCY = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p999": 0.999}
BY_CLASS = {"p50": 0.5, "p90": 0.9, "p99": 0.99}


@dataclass(frozen=True, kw_only=True)
class Metrics:
    """Numbers of one Run; a number that the sample cannot carry is None, with the reason under `refused`.

    *Measured* are the requests after the warm-up, by arrival index. Latencies, waits, services and batches are
    those of measured requests that are done. Time averages, utilization and the steady throughput are those of
    the *window*: from the first measured arrival (not in it) to the last arrival, whoever is there then; so
    the drain at the end is left out (design.md 14). Memory peaks and incidents are those of the whole Run.

    Attributes:
        requests: "sent" in the whole Run, "measured", and of those "done", "refused", "failed",
            "unfinished", "timeout" (its client gave up).
        throughput_rps: the client's: measured done requests / (last of their ends − first measured arrival).
        steady_throughput_rps: done requests that ended in the window / its length.
        latency_s: mean, p50, p90, p99, p999, max.
        by_class: class → requests (done), and mean, p50, p90, p99 of their latencies, seconds.
        by_tenant: the same by tenant; empty where nobody tells them apart.
        deadlines: "requests" (measured, with a deadline), how many "met" it, that as a share ("attainment"), and
            "goodput_rps": those that met it, over the time of the throughput; empty where no request has one.
        queue_share: waits at all stages / latencies, sums over sums; above 1 only with fan-out.
        shares: stage → wait, service as shares of the latencies; "other" is the rest, counted once: client,
            hand-offs, responses; below 0 only with fan-out.
        stages: stage → wait_s, service_s, sojourn_s (mean, p50, p90, p99 each); utilization (start to end) and
            blocked (end to release), as shares of servers × window; queue_mean, in_stage_mean; batches,
            batch_mean over batches, batch_mean_by_request over requests.
        in_system_mean: time average of the number in system in the window.
        little_residual: (L − λW)/L in the window: the share of its two edges. Large: window too short.
        gpus: GPU → memory_peak_bytes of all kinds together, memory_peak_by_kind (each at its own time), and `memory`
            (empty where nobody says what is held): capacity_bytes; peak_share of it, peak_at_s, held_at_peak (kind →
            bytes), peak_at_s_by_kind; mean_bytes and mean_by_kind, time averages; seen: "100ms" and "1s" → peak_bytes,
            missed_share, chance of a monitor that looks so often (`monitored`); shape: word, swing_bytes,
            spike_share, rise_s, advice (`memory_shape`).
        incidents: kind → how many.
        warmup: "requests" left out, and the "rule" ("count" or "mser5").
        window_s: length of the window, seconds; 0.0 if all arrived at once.
        refused: path of a number, such as "latency_s.p999" → why it is None.
    """

    requests: Mapping[str, int]
    throughput_rps: float | None
    steady_throughput_rps: float | None
    latency_s: Mapping[str, float | None]
    by_class: Mapping[str, Mapping[str, float | None]]
    by_tenant: Mapping[str, Mapping[str, float | None]]
    deadlines: Mapping[str, float | None]
    queue_share: float | None
    shares: Mapping[str, Any]
    stages: Mapping[str, Mapping[str, Any]]
    in_system_mean: float | None
    little_residual: float | None
    gpus: Mapping[str, Mapping[str, Any]]
    incidents: Mapping[str, int]
    warmup: Mapping[str, Any]
    window_s: float
    refused: Mapping[str, str]

    def to_dict(self) -> dict[str, Any]:
        """Plain dictionaries, numbers and None, ready for JSON."""
        return {part.name: _plain(getattr(self, part.name)) for part in fields(self)}


def metrics(run: Run, warmup: Warmup | None = None) -> Metrics:
    """Compute the numbers of a Run.

    Args:
        run: simulated or live.
        warmup: which requests are left out; what the Run states by default.

    Raises:
        NotEnoughData: no measured request is done, or the warm-up leaves nothing.
    """
    rule = warmup_of(run) if warmup is None else warmup
    requests = request_columns(run)
    first = deleted(requests, rule)
    rows = np.arange(len(requests.arrival)) >= first
    done = rows & requests.done
    counts = _counts(requests, rows, first)
    refusals = Refusals()
    window = Window.of(requests.arrival[rows])
    flow = _in_window(requests, window, refusals)
    stages = stage_columns(run)
    scope = Scope(done, requests.left, window, refusals)
    servers = run.meta.get("servers") or {}
    span_ns = int(requests.end[done].max()) - window.begin_ns
    return Metrics(
        requests=counts,
        throughput_rps=_rate(int(done.sum()), span_ns, refusals, "throughput_rps"),
        latency_s=_latency(requests, done, refusals),
        by_class=_grouped(requests, rows, refusals, "by_class", (requests.cls, requests.class_names)),
        by_tenant=_by_tenant(requests, rows, refusals),
        deadlines=_deadlines(requests, rows, span_ns, refusals),
        stages={name: stage_metrics(name, seen, int(servers.get(name, 1)), scope) for name, seen in stages.items()},
        **_shares(requests, stages, done, refusals),
        steady_throughput_rps=flow["steady_throughput_rps"],
        in_system_mean=flow["in_system_mean"],
        little_residual=flow["little_residual"],
        gpus=gpu_memory(run, window, refusals),
        incidents=incident_counts(run),
        warmup={"requests": first, "rule": rule.to_dict().get("rule", "count")},
        window_s=window.length_ns / NS_PER_S,
        refused=refusals.reasons,
    )


def _counts(requests: RequestColumns, rows: BoolArray, first: int) -> dict[str, int]:
    by_status = requests.counts(rows)
    done = int((rows & requests.done).sum())
    if not done:
        seen = ", ".join(f"{count:,} {status}" for status, count in by_status.items() if count) or "none"
        raise NotEnoughData(
            f"no measured request is done (measured: {seen}; warm-up: {first:,}): run longer, lower the warm-up, "
            "or look at the incidents",
            1,
        )
    return {"sent": len(rows), "measured": int(rows.sum()), **by_status, "done": done}


def _rate(count: int, span_ns: int, refusals: Refusals, path: str) -> float | None:
    if span_ns <= 0:
        return refusals.refuse(path, "the last measured end is not after the first measured arrival")
    return count * NS_PER_S / span_ns


def _latency(requests: RequestColumns, done: BoolArray, refusals: Refusals) -> dict[str, float | None]:
    latency = (requests.end[done] - requests.arrival[done]) / NS_PER_S
    return {**refusals.spread("latency_s", latency, LATENCY), "max": float(latency.max())}


def _grouped(
    requests: RequestColumns,
    rows: BoolArray,
    refusals: Refusals,
    path: str,
    groups: tuple[npt.NDArray[Any], tuple[str, ...]],
) -> dict[str, Mapping[str, float | None]]:
    """Latencies of every group with a measured request; `groups` are the codes of all requests, and their names."""
    codes, names = groups
    found: dict[str, Mapping[str, float | None]] = {}
    seen = np.bincount(codes[rows], minlength=len(names))
    done = rows & requests.done
    latency, group = (requests.end[done] - requests.arrival[done]) / NS_PER_S, codes[done]
    for code in np.flatnonzero(seen):
        name = names[code]
        mine = latency[group == code] if len(names) > 1 else latency
        found[name] = {"requests": len(mine), **refusals.spread(f"{path}.{name}", mine, BY_CLASS)}
    return found


def _by_tenant(requests: RequestColumns, rows: BoolArray, refusals: Refusals) -> dict[str, Any]:
    if requests.tenant_names == ("",):
        return {}
    return _grouped(requests, rows, refusals, "by_tenant", (requests.tenant, requests.tenant_names))


def _deadlines(requests: RequestColumns, rows: BoolArray, span_ns: int, refusals: Refusals) -> dict[str, float | None]:
    """Who is refused, given up or still there has not met its deadline."""
    wanted = rows & (requests.deadline != NEVER)
    if not wanted.any():
        return {}
    met = requests.done & wanted & (requests.end <= requests.deadline)
    return {
        "requests": int(wanted.sum()),
        "met": int(met.sum()),
        "attainment": int(met.sum()) / int(wanted.sum()),
        "goodput_rps": _rate(int(met.sum()), span_ns, refusals, "deadlines.goodput_rps"),
    }


def _shares(requests: RequestColumns, stages: Any, done: BoolArray, refusals: Refusals) -> dict[str, Any]:
    try:
        found = shares_of(requests, stages, done)
    except NotEnoughData as error:
        refusals.refuse("queue_share", str(error))
        refusals.refuse("shares", str(error))
        nothing = {name: {"wait": None, "service": None} for name in stages}
        return {"queue_share": None, "shares": {**nothing, "other": None}}
    return {"queue_share": found.queue, "shares": {**found.stages, "other": found.other}}


def _in_window(requests: RequestColumns, window: Window, refusals: Refusals) -> dict[str, float | None]:
    names = ("steady_throughput_rps", "in_system_mean", "little_residual")
    if window.length_ns <= 0:
        return {name: refusals.refuse(name, window.why_empty) for name in names}
    ended = requests.done & (requests.end > window.begin_ns) & (requests.end <= window.end_ns)
    law = system_little(requests.arrival, requests.left, window.begin_ns, window.end_ns)
    return {
        "steady_throughput_rps": int(ended.sum()) * NS_PER_S / window.length_ns,
        "in_system_mean": law.area / window.length_ns,
        "little_residual": law.residual,
    }


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    return value
