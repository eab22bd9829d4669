"""Predicted memory against measured: peaks of batches left out of a fit, and nvidia-smi during the live phases.

    python experiments/memory-check/check.py     # rewrites grid.csv, live.csv, results.md and check.png; 10 s

`--small` leaves fewer shapes out and looks at two servers; it writes nothing.
"""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
import yaml
from matplotlib.axes import Axes

from simsched.fit import Samples, fit_peak_bytes, read_samples
from simsched.fit.sources.nvidia_smi import read_gpu_samples
from simsched.hardware import Activation
from simsched.report.figures.style import GREY, INK, blank, legend, log_axis, paper
from simsched.run import Run, read_phase

HERE = Path(__file__).parent
H200 = HERE.parent.parent / "calibration" / "h200-sglang-omni"
STAGES = ("encoder", "vocoder")
SCALE = {"encoder": 1, "vocoder": 4}  # a word is a token, and four codec frames
WEIGHTS = 2 * (450_000_000 + 216_000_000)  # bytes: parameters in bf16
SERVERS = ("mix8", "e32v8", "uni16", "w4", "split")  # in the order in which they ran
IDLE_S = 0.4  # no server was asked anything so early; w4 was, in a phase that is not shipped, before its first one here
SMALL_SHARE = 0.25  # "beyond": larger sizes are predicted from those up to this share of the largest
MIB = 2**20

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


# Batches alone ---------------------------------------------------------------------------------------------------
def bytes_of(activation: Activation, samples: Samples) -> FloatArray:
    """Predicted peak of each sample."""
    return int(activation.base) + int(activation.per_unit) * samples.x(activation.by)


def held_out(stage: str, every: int = 1) -> pd.DataFrame:
    """Each shape of the grid (or every `every`-th) predicted by a fit that has not seen it."""
    samples = read_samples(H200 / "isolated_curves.csv", stage=stage)
    rows = []
    for shape in range(0, int(samples.shapes.max()) + 1, every):
        out = samples.shapes == shape
        predicted = bytes_of(fit_peak_bytes(samples.take(~out)).activation, samples)[out]
        for place, one in zip(np.flatnonzero(out), predicted, strict=True):
            rows.append((stage, int(samples.count[place]), int(samples.longest[place]), samples.peak_bytes[place], one))
    table = pd.DataFrame(rows, columns=["stage", "count", "longest", "measured_bytes", "predicted_bytes"])
    return table.assign(error=table["predicted_bytes"] / table["measured_bytes"] - 1)


def beyond(stage: str) -> pd.DataFrame:
    """The largest sizes predicted by a fit of the smaller ones."""
    samples = read_samples(H200 / "isolated_curves.csv", stage=stage)
    small = samples.x("padded") <= SMALL_SHARE * samples.x("padded").max()
    predicted = bytes_of(fit_peak_bytes(samples.take(small)).activation, samples)[~small]
    return pd.DataFrame({"error": predicted / samples.peak_bytes[~small] - 1})


def error_row(name: str, errors: pd.Series) -> str:
    """A row of a table: how many, median, 90 % and worst absolute error, and the range."""
    size = errors.abs()
    cells = [f"{value:.1%}" for value in (size.median(), size.quantile(0.9), size.max())]
    return f"| {name} | {len(errors)} | {' | '.join(cells)} | {errors.min():+.1%} … {errors.max():+.1%} |"


# Servers ---------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, kw_only=True)
class Server:
    """One server: what nvidia-smi saw of it, and what arithmetic says it should hold at least.

    Attributes:
        name: such as "e32v8".
        time_s: of the samples, since the first.
        used: bytes in use, a sample.
        peak: bytes of activations at most so far, a sample; 0 before the first batch.
        phases: name → first and last second of its batches.
    """

    name: str
    time_s: FloatArray
    used: FloatArray
    peak: FloatArray
    phases: Mapping[str, tuple[float, float]]

    @property
    def idle(self) -> float:
        """Bytes in use in the first IDLE_S seconds, before any batch: the one constant taken from the samples."""
        return float(np.median(self.used[self.time_s < IDLE_S]))

    @property
    def predicted(self) -> FloatArray:
        """Bytes that a caching allocator cannot be below: idle and the largest activations so far."""
        return self.idle + self.peak

    def rows(self) -> list[dict[str, object]]:
        """A row a phase: in use and predicted at its end, MiB."""
        found = []
        for phase, (begin, end) in self.phases.items():
            inside = (self.time_s >= begin) & (self.time_s <= end + 0.2)
            used, predicted = float(self.used[inside].max()), float(self.predicted[inside].max())
            grown, expected = used - self.idle, predicted - self.idle
            found.append(
                {
                    "phase": phase,
                    "idle_mib": round(self.idle / MIB),
                    "measured_mib": round(used / MIB),
                    "predicted_mib": round(predicted / MIB),
                    "error": round(predicted / used - 1, 4),
                    "grown_mib": round(grown / MIB),
                    "activations_mib": round(expected / MIB),
                    "grown_over_activations": round(grown / expected, 3),
                }
            )
        return found


def activations() -> dict[str, Activation]:
    """Stage → the fitted bytes of a batch."""
    found = yaml.safe_load((H200 / "curves" / "memory.yaml").read_text(encoding="utf-8"))
    return {stage: Activation(**found[stage]["activation"]) for stage in STAGES}


def server_of(name: str) -> Server:
    """A server with its samples and all its recorded phases."""
    samples = read_gpu_samples(H200 / "live" / f"{name}-nvidia-smi.csv.gz")
    assert samples.used_bytes is not None
    started = pd.Timestamp(samples.started.replace("/", "-"), tz="UTC").value  # the host's local time was UTC
    runs = {path.parent.name: read_phase(path.parent) for path in (H200 / "live").glob(f"{name}-*/phase.json")}
    ordered = sorted(runs, key=lambda phase: runs[phase].meta["epoch_ns"])
    pools: dict[str, list[IntArray]] = {}
    spans = {}
    for phase in ordered:
        shift = int(runs[phase].meta["epoch_ns"]) - started
        for pool, stages in pools_of(name, runs[phase]).items():
            pools.setdefault(pool, []).append(takes(runs[phase], stages, shift))
        batches = runs[phase].batches
        spans[phase] = tuple(
            float(value + shift) / 1e9 for value in (batches["start_ns"].min(), batches["end_ns"].max())
        )
    peak = sum(highest_so_far(np.concatenate(parts), samples.time_s) for parts in pools.values())
    return Server(name=name, time_s=samples.time_s, used=samples.used_bytes, peak=np.asarray(peak), phases=spans)


def pools_of(server: str, run: Run) -> dict[str, Sequence[str]]:
    """Process → the stages whose batches share its allocator; only "split" has one a stage."""
    return {stage: [stage] for stage in run.stages} if server == "split" else {"all": run.stages}


def takes(run: Run, stages: Sequence[str], shift_ns: int) -> IntArray:
    """A row a batch: when it takes its activations and gives them back (ns of the samples' clock), and the bytes.

    The unified server runs both steps of a batch one after the other, recorded as "vocoder": the vocoder's count.
    """
    fitted, rows = activations(), []
    for stage in stages:
        table = run.batches_of(stage)
        size = table["count"] * table["longest"] * SCALE[stage] * int(fitted[stage].per_unit) + int(fitted[stage].base)
        rows.append(np.column_stack([table["start_ns"] + shift_ns, table["end_ns"] + shift_ns, size.round()]))
    return np.concatenate(rows).astype(np.int64)


def in_order(batches: IntArray) -> IntArray:
    """A row a change: ns, row of the batch, bytes taken (> 0) or given back (< 0, and first at one instant)."""
    start, end, size = batches.T
    number = np.arange(len(batches))
    rows = np.concatenate([np.column_stack([start, number, size]), np.column_stack([end, number, -size])])
    return np.asarray(rows[np.lexsort((rows[:, 2], rows[:, 0]))])


def highest_so_far(batches: IntArray, time_s: FloatArray) -> FloatArray:
    """The largest sum of what was held at once until each time."""
    rows = in_order(batches)
    return at_times(rows[:, 0], np.maximum.accumulate(np.cumsum(rows[:, 2])), time_s)


def at_times(times: IntArray, values: IntArray, time_s: FloatArray) -> FloatArray:
    """A step function (ns, and its value from each on; 0 before) at some seconds."""
    place = np.searchsorted(times, time_s * 1e9, side="right") - 1
    return np.where(place >= 0, values[np.maximum(place, 0)], 0).astype(np.float64)


# Results ---------------------------------------------------------------------------------------------------------
def markdown(grid: pd.DataFrame, live: pd.DataFrame) -> str:
    """All tables."""
    lines = ["<!-- written by check.py -->", "| stage, sizes | n | median | 90 % | worst | range |", "|---" * 6 + "|"]
    for stage, group in grid.groupby("stage", sort=False):
        lines.append(error_row(f"{stage}, each shape left out", group["error"]))
        lines.append(
            error_row(f"{stage}, above a quarter of the largest from the smaller", beyond(str(stage))["error"])
        )
    worst = grid.reindex(grid["error"].abs().sort_values(ascending=False, kind="stable").index)
    lines += ["", "| stage | requests × longest | measured, MiB | predicted, MiB | error |", "|---" * 5 + "|"]
    for stage in STAGES:
        for one in worst[worst["stage"] == stage].head(4).itertuples():
            sizes = f"{one.measured_bytes / MIB:,.1f} | {one.predicted_bytes / MIB:,.1f}"
            lines.append(f"| {stage} | {one.count} × {one.longest} | {sizes} | {one.error:+.1%} |")
    heads = "phase | idle | in use | predicted | error | grown since idle | activations | grown / activations"
    lines += ["", f"| {heads} |", "|---" * 8 + "|"]
    for one in live.itertuples():
        cells = [one.phase, one.idle_mib, one.measured_mib, one.predicted_mib, f"{one.error:+.1%}"]
        cells += [one.grown_mib, one.activations_mib, f"{one.grown_over_activations:.2f}"]
        lines.append("| " + " | ".join(f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in cells) + " |")
    size = live["error"].abs()
    lines += ["", f"Median |error| {size.median():.1%}, worst {size.max():.1%}, over {len(live)} phases; all in MiB."]
    return "\n".join(lines) + "\n"


def draw(grid: pd.DataFrame, servers: Sequence[Server], file: Path) -> None:
    """Errors of the grid above, the staircases of the servers below."""
    with paper():
        figure = blank(2, 5.2)
        above, below = figure.subfigures(2, 1, height_ratios=[1, 1.6])
        for axes, (stage, group) in zip(above.subplots(1, 2), grid.groupby("stage", sort=False), strict=True):
            axes.plot(group["count"] * group["longest"], 100 * group["error"], ".", color=INK, ms=3)
            log_axis(axes, "x", 4)
            axes.axhline(0, color=GREY, lw=0.8)
            axes.set(title=f"{stage}: error of a peak left out, %", xlabel="requests × longest")
            axes.set_ylim(-12, 12)
        handles = []
        for axes, one in zip(below.subplots(1, len(servers), sharey=True), servers, strict=True):
            handles = _staircase(axes, one)
        below.supylabel("GiB in use", fontsize=8)
        below.supxlabel("time, s", fontsize=8)
        legend(below, handles, ["nvidia-smi", "idle + largest activations so far", "idle"], 2)  # type: ignore[arg-type]
        figure.savefig(file)


def _staircase(axes: Axes, one: Server) -> list[object]:
    handles = axes.plot(one.time_s, one.used / 2**30, color=INK)
    handles += axes.step(one.time_s, one.predicted / 2**30, where="post", color="C1", ls="--")
    handles.append(axes.axhline(one.idle / 2**30, color=GREY, lw=0.8, ls=":"))
    for begin, end in one.phases.values():
        axes.axvspan(begin, end, color="C0", alpha=0.08, lw=0)
    axes.set_title(one.name)
    axes.set_ylim(0, 21)
    return list(handles)


def main() -> None:
    parser = argparse.ArgumentParser(description="predicted memory against measured")
    parser.add_argument("--small", action="store_true", help="few shapes and servers, for tests; writes nothing")
    small = parser.parse_args().small
    grid = pd.concat([held_out(stage, 8 if small else 1) for stage in STAGES], ignore_index=True)
    servers = [server_of(name) for name in (("w4", "split") if small else SERVERS)]
    live = pd.DataFrame([row for one in servers for row in one.rows()])
    text = markdown(grid, live)
    if not small:
        grid.to_csv(HERE / "grid.csv", index=False, float_format="%.6g")
        live.to_csv(HERE / "live.csv", index=False)
        (HERE / "results.md").write_text(text, encoding="utf-8")
        draw(grid, servers, HERE / "check.png")
    print(text)


if __name__ == "__main__":
    main()
