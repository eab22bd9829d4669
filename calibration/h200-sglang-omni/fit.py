"""Fit the curves of this folder from isolated_curves.csv, as a user of simsched would.

    python calibration/h200-sglang-omni/fit.py

Rewrites curves/*.yaml and residuals.png.
"""

from dataclasses import replace
from pathlib import Path

import matplotlib as mpl
import numpy as np
import yaml
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import PercentFormatter

from simsched.fit import (
    Candidate,
    Choice,
    Fit,
    Samples,
    choose_form,
    fit_form,
    fit_peak_bytes,
    fit_table,
    predict,
    read_samples,
)
from simsched.hardware import save_curve

mpl.use("Agg")
from matplotlib import pyplot as plt

HERE = Path(__file__).parent
UNITS = {"encoder": "tokens", "vocoder": "codec frames of 80 ms"}
# Simplest first. The roofline stands before the power, although both have three parameters: beyond the
# measured sizes a line is the safer guess.
FORMS = (
    Candidate("linear", "count"),
    Candidate("linear", "padded"),
    Candidate("roofline", "padded"),
    Candidate("power", "padded"),
)
HELD_BACK = 0.25  # sizes above this share of the largest padded size are predicted from the smaller ones


def main() -> None:
    (HERE / "curves").mkdir(exist_ok=True)
    choices, memory = {}, {}
    for stage, unit in UNITS.items():
        samples = read_samples(HERE / "isolated_curves.csv", stage=stage)
        samples = replace(samples, source=f"calibration/{HERE.name}/{samples.source}, alone on one H200")
        choice = choose_form(samples, FORMS)
        table = fit_table(samples)
        save_curve(choice.best.curve, HERE / f"curves/{stage}.yaml", extra=told(samples, choice, unit))
        save_curve(table.curve, HERE / f"curves/{stage}-table.yaml", extra={"unit": unit, **table.summary()})
        memory[stage] = peak(samples, unit)
        choices[stage] = (samples, choice.best, table)
        print(f"{stage}: {choice.reason}")
    (HERE / "curves/memory.yaml").write_text(
        yaml.safe_dump(memory, sort_keys=False, default_flow_style=None, width=118)
    )
    plot(choices)


def told(samples: Samples, choice: Choice, unit: str) -> dict[str, object]:
    """What a reader of the curve should know: why this form, what the others are, and how they extrapolate."""
    others = {str(form): parameters(fit_form(samples, form)) for form in FORMS}
    beyond = {str(form): round(error_beyond(samples, form), 3) for form in FORMS}
    share = f"mean_error_above_{HELD_BACK:.0%}_of_the_largest_size_from_the_smaller_ones".replace("%", "_percent")
    return {"unit": unit, **choice.best.summary(), "why": choice.reason, "all_forms": others, share: beyond}


def parameters(fit: Fit) -> dict[str, float]:
    return {name: float(f"{getattr(fit.curve, name):.5g}") for name in fit.intervals}


def error_beyond(samples: Samples, form: Candidate) -> float:
    """Mean relative error on the large sizes of a fit of the small ones."""
    small = samples.x("padded") <= HELD_BACK * samples.x("padded").max()
    curve = fit_form(samples.take(small), form).curve
    return float(np.mean(np.abs(predict(curve, samples) / samples.ms - 1)[~small]))


def peak(samples: Samples, unit: str) -> dict[str, object]:
    fit = fit_peak_bytes(samples)
    activation = {"base": fit.activation.base, "per_unit": fit.activation.per_unit, "by": fit.activation.by}
    provenance = {"origin": fit.provenance.origin.name, "source": fit.provenance.source}
    return {"activation": activation, "provenance": provenance, "fit": {"unit": unit, **fit.summary()}}


def plot(choices: dict[str, tuple[Samples, Fit, Fit]]) -> None:
    figure, axes = plt.subplots(2, 2, figsize=(11, 7), sharex="col", height_ratios=(3, 2), layout="constrained")
    for column, (stage, (samples, best, table)) in enumerate(choices.items()):
        above, below = axes[:, column]
        show_times(above, stage, samples, best)
        show_residuals(below, samples, best, table)
        below.set_xlabel(f"padded size: requests × longest ({UNITS[stage]})")
    axes[0, 0].set_ylabel("ms per batch (median of 4–5)")
    axes[1, 0].set_ylabel("curve / measured − 1")
    figure.suptitle("Stages alone on one H200, SGLang Omni 0.1.9: measured batches and fitted curves")
    figure.savefig(HERE / "residuals.png", dpi=110, metadata={"Software": None})
    plt.close(figure)


def show_times(axes: Axes, stage: str, samples: Samples, best: Fit) -> None:
    x = samples.x("padded")
    axes.scatter(x, samples.ms, c=np.log2(samples.count), cmap="viridis", vmin=0, vmax=6.6, s=20)
    order = np.argsort(x)
    axes.plot(x[order], predict(best.curve, samples)[order], color="black", lw=1.2)
    axes.set(xscale="log", yscale="log", title=stage, ylim=(samples.ms.min() / 1.8, samples.ms.max() * 1.5))
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.yaxis.set_minor_formatter(lambda value, _: f"{value:g}" if str(f"{value:.0e}")[0] in "25" else "")
    shades = plt.get_cmap("viridis")
    handles = [
        Line2D([], [], marker="o", ls="", ms=4.5, color=shades(np.log2(count) / 6.6), label=f"{count}")
        for count in (1, 4, 16, 64)
    ]
    axes.add_artist(axes.legend(handles=handles, title="requests", loc="upper left", fontsize=8, title_fontsize=8))
    values = "  ".join(f"{name} {getattr(best.curve, name):.3g}" for name in best.intervals)
    label = f"{type(best.curve).__name__.lower()}: {values}"
    axes.legend(handles=[Line2D([], [], color="black", lw=1.2, label=label)], loc="lower right", fontsize=8)
    axes.grid(alpha=0.25)


def show_residuals(axes: Axes, samples: Samples, best: Fit, table: Fit) -> None:
    x = samples.x("padded")
    axes.axhspan(-0.1, 0.1, color="black", alpha=0.06, lw=0)
    axes.axhline(0, color="black", lw=0.8)
    axes.scatter(
        x,
        predict(best.curve, samples) / samples.ms - 1,
        c=np.log2(samples.count),
        cmap="viridis",
        vmin=0,
        vmax=6.6,
        s=20,
    )
    axes.scatter(x, predict(table.curve, samples) / samples.ms - 1, marker="x", c="crimson", s=14, lw=0.8)
    axes.set_ylim(-0.65, 0.45)  # room for the legend
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    labels = [
        Line2D([], [], marker="o", ls="", ms=4.5, color="0.4", label="recommended curve"),
        Line2D([], [], marker="x", ls="", ms=4.5, color="crimson", label="monotone table"),
        Patch(color="black", alpha=0.06, lw=0, label="±10 %"),
    ]
    axes.legend(handles=labels, loc="lower left", fontsize=8, ncols=3)
    axes.grid(alpha=0.25)


if __name__ == "__main__":
    main()
