"""Memory of GPUs and incidents, of the whole Run."""

from typing import Any

import numpy as np
import pandas as pd

from simsched.analysis.memory import INCIDENTS, Held, held_on, memory_gpus, monitored
from simsched.analysis.memory_shape import memory_shape
from simsched.analysis.refusals import Refusals
from simsched.analysis.stage import Window
from simsched.core import NS_PER_S
from simsched.run import Run

MONITORS = {"100ms": 100.0, "1s": 1000.0}
"""Name → ms between two looks of a monitor."""


def gpu_memory(run: Run, window: Window, refusals: Refusals) -> dict[str, dict[str, Any]]:
    """GPU → memory_peak_bytes (all kinds together), memory_peak_by_kind (each at its own time), and `memory`.

    A GPU on which no stage says what it holds is there with None, and an empty `memory`. See `Metrics.gpus`.
    """
    found: dict[str, dict[str, Any]] = {}
    for gpu in memory_gpus(run):
        held = held_on(run, gpu)
        if not held.counted:
            why = f"no stage says what it holds of {gpu}: give it memory"
            peak = refusals.refuse(f"gpus.{gpu}.memory_peak_bytes", why)
            found[gpu] = {"memory_peak_bytes": peak, "memory_peak_by_kind": {}, "memory": {}}
            continue
        found[gpu] = {
            "memory_peak_bytes": held.peak().bytes,
            "memory_peak_by_kind": {kind: held.peak(kind).bytes for kind in held.kinds},
            "memory": {
                **_capacity(held, refusals),
                **_peak(held),
                **_means(held, window, refusals),
                "seen": _seen(held),
                "shape": _shape(held),
            },
        }
    return found


def _capacity(held: Held, refusals: Refusals) -> dict[str, float | None]:
    if held.capacity_bytes is None:
        why = f"the size of {held.gpu} is not known"
        names = ("capacity_bytes", "peak_share")
        return {name: refusals.refuse(f"gpus.{held.gpu}.memory.{name}", why) for name in names}
    return {
        "capacity_bytes": held.capacity_bytes,
        "peak_share": held.peak().bytes / held.capacity_bytes if held.capacity_bytes else 0.0,
    }


def _peak(held: Held) -> dict[str, Any]:
    return {
        "peak_at_s": held.peak().at_s or 0.0,
        "held_at_peak": dict(held.peak().held),
        "peak_at_s_by_kind": {kind: held.peak(kind).at_s or 0.0 for kind in held.kinds},
    }


def _means(held: Held, window: Window, refusals: Refusals) -> dict[str, Any]:
    if window.length_ns <= 0:
        return {
            "mean_bytes": refusals.refuse(f"gpus.{held.gpu}.memory.mean_bytes", window.why_empty),
            "mean_by_kind": {
                kind: refusals.refuse(f"gpus.{held.gpu}.memory.mean_by_kind.{kind}", window.why_empty)
                for kind in held.kinds
            },
        }
    by_kind = {kind: held.mean_bytes(*window, kind) for kind in held.kinds}
    return {"mean_bytes": held.mean_bytes(*window), "mean_by_kind": by_kind}


def _seen(held: Held) -> dict[str, dict[str, float]]:
    found = {}
    for name, every_ms in MONITORS.items():
        one = monitored(held, every_ms)
        found[name] = {"peak_bytes": one.seen_bytes, "missed_share": one.missed_share, "chance": one.chance}
    return found


def _shape(held: Held) -> dict[str, Any]:
    shape = memory_shape(held)
    return {
        "word": shape.word,
        "swing_bytes": shape.swing_bytes,
        "spike_share": shape.spike_share,
        "rise_s": shape.rise_s,
        "advice": shape.advice,
    }


def incident_counts(run: Run) -> dict[str, int]:
    """Kind → how many incidents, most frequent first."""
    kinds = run.incidents["kind"].cat
    counts = np.bincount(kinds.codes.to_numpy(), minlength=len(kinds.categories))
    order = np.argsort(-counts, kind="stable")
    return {str(kinds.categories[code]): int(counts[code]) for code in order if counts[code]}


def memory_incidents(run: Run) -> pd.DataFrame:
    """Incidents that memory is the cause of, by kind and stage, the most frequent first.

    Returns:
        Columns kind, stage ("" if it concerns none), count, first_s and last_s (time of the first and last one).
    """
    table = run.incidents[run.incidents["kind"].isin(INCIDENTS)]
    groups = table.groupby(["kind", "stage"], observed=True)["time_ns"]
    found = groups.agg(count="count", first_s="min", last_s="max").reset_index()
    found[["first_s", "last_s"]] /= NS_PER_S
    return found.sort_values("count", ascending=False, kind="stable", ignore_index=True)
