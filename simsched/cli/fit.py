"""simsched fit: a cost curve from measured batches."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from simsched.cli.common import show

if TYPE_CHECKING:
    from simsched.fit import PeakFit, StageFit

EXAMPLES = """Examples:

simsched fit calibration/h200-sglang-omni/isolated_curves.csv --stage vocoder --out vocoder.yaml

simsched fit grid.csv --form power --p 1.3 --by count --out curve.yaml --plot curve.png

simsched fit grid.csv --stage encoder --report fit.html

simsched fit --inspect grid.csv

In a scenario: cost: {file: vocoder.yaml}
"""

Form = Literal["best", "linear", "power", "roofline", "table"]
By = Literal["best", "count", "total", "padded"]
Time = Literal["auto", "wall", "device"]


def fit(
    profiles: Annotated[
        list[Path],
        typer.Argument(
            metavar="PROFILE…", help="Measured batches: a grid (batch, length, ms) or a profile.", show_default=False
        ),
    ],
    out: Annotated[Path | None, typer.Option(metavar="CURVE", help="The curve file to write.")] = None,
    stage: Annotated[str | None, typer.Option(help="The stage, where there are several.")] = None,
    form: Annotated[Form, typer.Option(help="Best is chosen by the error on sizes left out.")] = "best",
    by: Annotated[By, typer.Option(help="What the time grows with; best is chosen with the form.")] = "best",
    p: Annotated[float | None, typer.Option("--p", metavar="P", help="Fix the exponent of a power.")] = None,
    robust: Annotated[bool, typer.Option(help="Let outliers count less; the curve then follows the bulk.")] = False,
    match: Annotated[str | None, typer.Option(metavar="REGEX", help="Which ranges of a trace are batches.")] = None,
    time: Annotated[Time, typer.Option(help="Which time of a trace is fitted.")] = "auto",
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a picture (png, svg, pdf).")] = None,
    report: Annotated[Path | None, typer.Option(metavar="FILE", help="Write an HTML page.")] = None,
    inspect: Annotated[bool, typer.Option("--inspect", help="Say what is in the profiles; fit nothing.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Fit a cost curve to measured batch times and write it for `cost: {file: …}`."""
    if inspect:
        _inspect(profiles, match, as_json=as_json)
        return
    from simsched.core import InputError
    from simsched.fit import fit_stage, read_profiles
    from simsched.report.fitted import to_plain

    if out is None and plot is None and report is None and not as_json:
        raise InputError("got none of --out, --plot, --report, --json: nothing would be left of the fit", "--out")
    if p is not None and form not in ("best", "power"):
        raise InputError(f"got {p:g} with --form {form}: only a power has an exponent", "--p")
    _check_places(out, plot, report)
    samples = read_profiles(profiles, stage=stage, match=match, time=time)
    found = fit_stage(samples, form=form, by=None if by == "best" else by, p=p, outliers=robust)
    written = _write(found, out, plot, report)
    if as_json:
        print(json.dumps(to_plain(found) | {"written": [str(file) for file in written]}, indent=2, ensure_ascii=False))
        return
    for line in _lines(found):
        show(line)
    for file in written:
        show(f"written: {file}")


def _inspect(profiles: Sequence[Path], match: str | None, *, as_json: bool) -> None:
    """What each profile holds."""
    from simsched.fit import inspect_profile

    found = [inspect_profile(path, match=match) for path in profiles]
    if as_json:
        print(json.dumps([one.to_mapping() for one in found], indent=2, ensure_ascii=False))
        return
    for one in found:
        for line in one.lines():
            show(line)


def _check_places(out: Path | None, plot: Path | None, report: Path | None) -> None:
    """Refuse places that cannot be written before the work is done.

    Raises:
        InputError: one of them.
    """
    from simsched.core import InputError
    from simsched.report.files import check_file

    for path, example in ((out, "curve.yaml"), (plot, "curve.png"), (report, "fit.html")):
        if path is not None:
            check_file(path, example)
    if plot is not None and plot.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise InputError("must end in .png, .svg or .pdf", str(plot))
    named = [path for path in (out, plot, report) if path is not None]
    if len({path.resolve() for path in named}) < len(named):
        raise InputError("is named twice: give each file a name of its own", str(named[-1]))


def _write(found: "StageFit", out: Path | None, plot: Path | None, report: Path | None) -> list[Path]:
    """Write what was asked for: page and picture are made in memory first, then all files are put in place."""
    from simsched.hardware import save_curve
    from simsched.report.figures.fit import picture
    from simsched.report.files import whole_file
    from simsched.report.page.fit import render_fit

    made = []
    if plot is not None:
        made.append((plot, picture(found, plot.suffix.lstrip(".").lower())))
    if report is not None:
        made.append((report, render_fit(found).encode("utf-8")))
    if out is not None:
        save_curve(found.fit.curve, out, extra=found.summary())
    for path, content in made:
        with whole_file(path) as file:
            file.write(content)
    return [path for path in (out, plot, report) if path is not None]


def _lines(found: "StageFit") -> Iterator[str]:
    """What a person should know, the verdict first."""
    from simsched.report.fitted import parameter_rows

    fit, error = found.fit, found.fit.relative_error
    yield found.reason
    yield f"{found.candidate}, valid for {fit.curve.valid}; {fit.n} batches"
    for name, value, interval in parameter_rows(fit):
        if name in fit.undetermined:
            yield f"{name}: undetermined ({interval})"
        else:
            yield f"{name}: {value}, " + (f"95 % {interval}" if name in fit.intervals else interval)
    yield f"error on its own samples: median {error.p50:.1%}, P90 {error.p90:.1%}, worst {error.worst:.1%}"
    if found.memory is not None:
        yield from _memory_lines(found.memory)
    for note in fit.notes:
        yield f"! {note}"


def _memory_lines(memory: "PeakFit") -> Iterator[str]:
    (base_low, base_high), (low, high) = memory.intervals["base"], memory.intervals["per_unit"]
    activation, error = memory.activation, memory.relative_error
    yield f"memory by {activation.by}: base {activation.base:,} B, 95 % {base_low:,.0f} … {base_high:,.0f}"
    yield f"memory per unit: {activation.per_unit:,} B, 95 % {low:,.0f} … {high:,.0f}"
    yield f"error of the memory: median {error.p50:.1%}, worst {error.worst:.1%}"
