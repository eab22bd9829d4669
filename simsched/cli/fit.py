"""simsched fit: a cost curve from a measured grid."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from simsched.cli.common import show

EXAMPLES = """Examples:

simsched fit calibration/h200-sglang-omni/isolated_curves.csv --stage vocoder --out vocoder.yaml

simsched fit grid.csv --form linear --by padded --out curve.yaml

In a scenario: cost: {file: vocoder.yaml}
"""

Form = Literal["best", "linear", "power", "roofline", "table"]


def fit(
    samples: Annotated[Path, typer.Argument(metavar="CSV", help="Columns batch, length, ms (or median_ms).")],
    out: Annotated[Path, typer.Option(metavar="CURVE", help="The curve file to write.")],
    stage: Annotated[str | None, typer.Option(help="Rows of this stage only, by the column stage.")] = None,
    form: Annotated[Form, typer.Option(help="Best is chosen by the error on measurements held out.")] = "best",
    by: Annotated[Literal["count", "total", "padded"], typer.Option(help="What the time grows with.")] = "padded",
) -> None:
    """Fit a cost curve to measured batch times and write it for `cost: {file: …}`."""
    from simsched.fit import Candidate, choose_form, fit_form, fit_table, read_samples
    from simsched.hardware import save_curve

    read, reason = read_samples(samples, stage=stage), ""
    if form == "best":
        forms = [Candidate(kind, where) for kind in ("linear", "roofline", "power") for where in ("count", "padded")]
        choice = choose_form(read, forms)
        found = choice.best
        reason = choice.reason
    else:
        found = fit_table(read) if form == "table" else fit_form(read, Candidate(form, by))
    save_curve(found.curve, out, extra=found.summary())
    if reason:
        show(reason)
    for name, (low, high) in found.intervals.items():
        show(f"{name}: {getattr(found.curve, name):.5g}, 95 % {low:.5g} … {high:.5g}")
    error = found.relative_error
    show(f"error on its own samples: median {error.p50:.1%}, P90 {error.p90:.1%}, worst {error.worst:.1%}")
    for note in found.notes:
        show(f"! {note}")
    show(f"written: {out}")
