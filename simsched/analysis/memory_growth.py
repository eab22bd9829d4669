"""Memory against concurrency over several Runs: whether it grows in step, faster, or not at all (field report C12)."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from simsched.analysis.metrics import metrics
from simsched.core import InputError
from simsched.run import Run


def memory_against_concurrency(runs: Mapping[str, Run], gpu: str) -> pd.DataFrame:
    """Peak and mean of a GPU's memory by the number in system, the least first, with the growth from row to row.

    Args:
        runs: name → Run, such as one a number of users; the GPU must be counted in each.
        gpu: its name.

    Returns:
        Columns run (name), in_system_mean (time average in the window of `Metrics`), peak_bytes and mean_bytes of all
        kinds, and in_system_factor, peak_factor and mean_factor: each over the row before, NaN in the first. Memory
        that grows in step with the number has factors that are equal.

    Raises:
        InputError: a Run that does not count this GPU's memory, or in which all requests arrived at one instant.
        NotEnoughData: a Run in which no measured request is done.
    """
    rows = []
    for name, run in runs.items():
        found = metrics(run)
        held = found.gpus.get(gpu, {})
        if not held.get("memory_peak_bytes"):
            raise InputError(f"does not count the memory of {gpu!r}: give its stages memory", f"runs[{name!r}]")
        row = {"run": name, "in_system_mean": found.in_system_mean, "peak_bytes": held["memory_peak_bytes"]}
        rows.append({**row, "mean_bytes": held["memory"]["mean_bytes"]})
        if found.in_system_mean is None:
            raise InputError(f"has no time average: {found.refused['in_system_mean']}", f"runs[{name!r}]")
    table = pd.DataFrame(rows, columns=["run", "in_system_mean", "peak_bytes", "mean_bytes"])
    table = table.sort_values("in_system_mean", kind="stable", ignore_index=True)
    for short in ("in_system", "peak", "mean"):
        column = {"in_system": "in_system_mean"}.get(short, f"{short}_bytes")
        values = table[column].to_numpy(np.float64)
        table[f"{short}_factor"] = np.append(np.nan, values[1:] / values[:-1])[: len(values)]
    return table
