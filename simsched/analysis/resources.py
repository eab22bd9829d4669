"""Memory of GPUs and incidents, of the whole Run."""

from typing import Any

import numpy as np

from simsched.analysis.series import memory_held
from simsched.run import Run


def gpu_memory(run: Run) -> dict[str, dict[str, Any]]:
    """GPU → memory_peak_bytes (all kinds together) and memory_peak_by_kind (each kind at its own time).

    A GPU on which no stage says what it holds is there with None.
    """
    found = {}
    known = [*run.meta.get("gpus", ()), *map(str, run.memory["gpu"].cat.categories)]
    for gpu in dict.fromkeys(known):
        kinds = run.memory.loc[run.memory["gpu"] == gpu, "kind"].unique()
        found[gpu] = {
            "memory_peak_bytes": _peak(run, gpu) if len(kinds) else None,
            "memory_peak_by_kind": {str(kind): _peak(run, gpu, str(kind)) for kind in kinds},
        }
    return found


def incident_counts(run: Run) -> dict[str, int]:
    """Kind → how many incidents, most frequent first."""
    kinds = run.incidents["kind"].cat
    counts = np.bincount(kinds.codes.to_numpy(), minlength=len(kinds.categories))
    order = np.argsort(-counts, kind="stable")
    return {str(kinds.categories[code]): int(counts[code]) for code in order if counts[code]}


def _peak(run: Run, gpu: str, kind: str | None = None) -> int:
    return int(memory_held(run, gpu, kind)[1].max(initial=0))
