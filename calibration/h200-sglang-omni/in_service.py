"""Isolated and in-service times side by side: calibration/h200-sglang-omni/in_service.png.

python calibration/h200-sglang-omni/in_service.py
"""

from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from simsched.core import Batch
from simsched.hardware import load_curve
from simsched.report.figures.style import paper
from simsched.run import read_phase
from simsched.scenario import build, load, scenario_of
from simsched.scenario import load_values as values_of
from simsched.studies.in_service import recording

mpl.use("Agg")
from matplotlib import pyplot as plt

HERE = Path(__file__).parent
PHASES = ("e32v8-c1", "e32v8-c4", "e32v8-c16", "e32v8-c64", "e32v8-p20", "e32v8-p35", "e32v8-p52")
UNITS = {"encoder": "tokens", "vocoder": "codec frames"}


def in_service() -> pd.DataFrame:
    """Service of each recorded batch: stage, padded size in the stage's unit, ms, alone."""
    scenario = scenario_of(values_of(HERE / "mechanism" / "stagewise.yaml"))
    scale = {name: stage.scale for name, stage in scenario.stages.items()}
    rows = []
    for phase in PHASES:
        found = recording(read_phase(HERE / "live" / phase), scenario, phase)
        for item in found.items:
            if item.kind == "service":
                batch = Batch.of(found.batches[item.place].sizes, scale[item.stage])
                rows.append((item.stage, batch.padded, item.ns / 1e6, bool(found.alone[item.place])))
    return pd.DataFrame(rows, columns=["stage", "padded", "ms", "alone"])


def show(axes: Axes, stage: str, live: pd.DataFrame, alone: pd.DataFrame) -> None:
    """One stage: the machine alone, the program alone, and what the server did."""
    spec = next(spec for spec in build(load(HERE / "mechanism" / "stagewise.yaml")).stages if spec.name == stage)
    curve = load_curve(HERE / "curves" / f"{stage}.yaml")
    beside = live[~live["alone"]]
    axes.scatter(
        beside["padded"], beside["ms"], s=4, color="#f59e0b", alpha=0.35, lw=0, label="served, beside the other stage"
    )
    lone = live[live["alone"]]
    axes.scatter(
        lone["padded"], lone["ms"], s=6, color="#2563eb", alpha=0.5, lw=0, label="served, nothing else running"
    )
    axes.scatter(alone["padded"], alone["median_ms"], s=9, color="black", marker="x", lw=0.7, label="isolated, medians")
    sizes = np.geomspace(2, alone["padded"].max(), 200)
    axes.plot(sizes, [curve.ms(Batch(1, size, size)) for size in sizes], color="black", lw=1, label="isolated curve")
    program = [spec.program.isolated_ms(Batch(1, size, size), [size]) for size in sizes]
    axes.plot(sizes, program, color="#2563eb", lw=1.2, ls="--", label="fitted program, one request alone")
    axes.set(xscale="log", yscale="log", title=stage, xlabel=f"requests × longest, {UNITS[stage]}", ylim=(10, 1500))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(lambda value, _: f"{value:,g}")
    axes.grid(visible=True)


def main() -> None:
    live = in_service()
    grid = pd.read_csv(HERE / "isolated_curves.csv")
    grid["padded"] = grid["batch"] * grid["length"]
    with paper():
        figure, both = plt.subplots(1, 2, figsize=(7.0, 3.4), layout="constrained", sharey=True)
        for axes, stage in zip(both, UNITS, strict=True):
            show(axes, stage, live[live["stage"] == stage], grid[grid["stage"] == stage])
        both[0].set_ylabel("ms per batch")
        figure.legend(*both[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, markerscale=2)
        figure.savefig(HERE / "in_service.png", dpi=160, metadata={"Software": None})


if __name__ == "__main__":
    main()
