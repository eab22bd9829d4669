"""The page of a fit: picture, forms that were tried, parameters, what is left, where all of it comes from."""

from pathlib import Path
from typing import Any

import numpy as np

from simsched.fit import PeakFit, StageFit
from simsched.report.files import check_file, whole_file
from simsched.report.fitted import Drawn, drawn, parameter_rows
from simsched.report.page.charts import ALL, NEUTRAL, Figure, figure
from simsched.report.page.inlined import page_text
from simsched.report.words import percent, signed_percent

_COLD, _FAR = "#2563eb", "#dc2626"
_MOST_POINTS = 5000  # of a chart; more are thinned evenly, those marked are kept


def write_fit_page(found: StageFit, out: Path, title: str = "", unit: str = "") -> None:
    """Write the page, whole or not at all.

    Args:
        found: what was fitted.
        out: the file.
        title: "" takes the source of the samples.
        unit: of the sizes.

    Raises:
        InputError: the file cannot be written.
    """
    check_file(out, "fit.html")
    text = render_fit(found, title, unit)
    with whole_file(out) as file:
        file.write(text.encode("utf-8"))


def render_fit(found: StageFit, title: str = "", unit: str = "") -> str:
    """The page as text."""
    numbers, fit = drawn(found, unit), found.fit
    shown = _thinned(found)
    figures = {
        "times": _times(found, numbers, shown),
        "residuals": _residuals(found, numbers, shown),
        "noise": _noise(fit.curve.noise or ()),
    }
    return page_text(
        "fit.html.j2",
        data={name: {"figure": chart, "batches": []} for name, chart in figures.items()},
        styles=["page.css"],
        scripts=["plot.js", "page.js"],
        title=title or f"Cost curve: {found.samples.source}",
        cards=_cards(found),
        reason=found.reason,
        notes=fit.notes,
        parameters=[["parameter", "value", "95 % interval"], *map(list, parameter_rows(fit))],
        scores=_scores(found),
        memory=_memory(found.memory),
        noise=_noise_rows(fit.curve.noise or ()),
        of_medians=found.samples.of_medians,
        provenance=f"{fit.curve.provenance.origin.name}, {fit.curve.provenance.source}",
        thinned=found.samples.n - int(shown.sum()),
    )


def _cards(found: StageFit) -> list[tuple[str, str]]:
    fit, error = found.fit, found.fit.relative_error
    cards = [
        ("form", str(found.candidate)),
        ("valid for", str(fit.curve.valid)),
        ("batches (left out)", f"{fit.n:,} ({int(found.cold.sum())})"),
        ("error on its own: median", percent(error.p50)),
        ("P90, worst", f"{percent(error.p90)}, {percent(error.worst)}"),
    ]
    chosen = next((score for score in found.scores if score.candidate == found.candidate), None)
    return [*cards, ("error on sizes left out", percent(chosen.error))] if chosen else cards


def _scores(found: StageFit) -> list[list[str]]:
    if not found.scores:
        return []
    rows = [
        [str(one.candidate), percent(one.error), percent(one.p90), "✓" if one.candidate == found.candidate else ""]
        for one in sorted(found.scores, key=lambda score: score.error)
    ]
    return [["form", "mean error", "P90", "chosen"], *rows]


def _memory(memory: PeakFit | None) -> list[list[str]]:
    if memory is None:
        return []
    rows = [["parameter", "bytes", "95 % interval"]]
    for name in ("base", "per_unit"):
        low, high = memory.intervals[name]
        value = int(getattr(memory.activation, name))
        words = name if name == "base" else f"per unit of {memory.activation.by} size"
        rows.append([words, f"{value:,}", f"{low:,.0f} … {high:,.0f}"])
    error = memory.relative_error
    count, longest = memory.worst_at
    rows.append(
        ["error: median, worst", f"{percent(error.p50)}, {percent(error.worst)}", f"worst at {count} × {longest:g}"]
    )
    return rows


def _noise_rows(noise: tuple[float, ...]) -> list[list[str]]:
    if not noise:
        return []
    shares = (0.05, 0.25, 0.5, 0.75, 0.95)
    places = (np.arange(len(noise)) + 0.5) / len(noise)
    values = np.interp(shares, places, noise).tolist()
    deviation = float(np.std(noise))
    return [
        ["", *(f"P{share * 100:g}" for share in shares), "standard deviation"],
        ["measured / curve − 1", *(signed_percent(value - 1) for value in values), percent(deviation)],
    ]


def _thinned(found: StageFit) -> np.ndarray:
    """Which samples are drawn, shape (n,)."""
    keep = found.cold | found.outlier
    keep[:: max(1, -(-found.samples.n // _MOST_POINTS))] = True
    return keep


def _times(found: StageFit, numbers: Drawn, shown: np.ndarray) -> Figure:
    data = []
    if numbers.line is not None:
        x, ms = numbers.line
        inside = (x >= numbers.inside[0]) & (x <= numbers.inside[1])
        if numbers.band is not None:
            outline = np.concatenate([ms[inside] * numbers.band[0], (ms[inside] * numbers.band[1])[::-1]])
            around = np.concatenate([x[inside], x[inside][::-1]])
            band = {"fill": "toself", "line": {"width": 0}, "fillcolor": "rgba(100,116,139,0.25)", "hoverinfo": "skip"}
            data.append(_trace("90 % of the batches", around, outline, mode="lines", **band))
        dots = {"color": ALL, "width": 1, "dash": "dot"}
        data.append(_trace("outside what was measured", x, ms, mode="lines", line=dots, hoverinfo="skip"))
        data.append(_trace("curve", x[inside], ms[inside], mode="lines", line={"color": ALL, "width": 2}))
    data += _marks(found, shown, numbers.x, numbers.ms, "%{y:.4g} ms")
    return figure(
        data,
        height=420,
        xaxis={"title": {"text": numbers.size}, "type": "log"},
        yaxis={"title": {"text": "ms a batch"}, "type": "log"},
    )


def _residuals(found: StageFit, numbers: Drawn, shown: np.ndarray) -> Figure:
    return figure(
        _marks(found, shown, numbers.x, numbers.residuals, "%{y:+.1%}"),
        xaxis={"title": {"text": numbers.size}, "type": "log"},
        yaxis={"title": {"text": "curve / measured − 1"}, "tickformat": ".0%"},
    )


def _marks(found: StageFit, shown: np.ndarray, x: np.ndarray, y: np.ndarray, value: str) -> list[dict[str, Any]]:
    samples = found.samples
    plain = shown & ~found.cold & ~found.outlier
    colour = {"color": np.log2(samples.count[plain]).round(3).tolist(), "colorscale": "Viridis", "size": 6}
    ticks = np.unique(np.round(np.log2(samples.count[plain])))
    words = [f"{2**tick:g}" for tick in ticks.tolist()]
    bar = {"title": {"text": "requests"}, "tickvals": ticks.tolist(), "ticktext": words, "thickness": 12}
    groups = [
        ("batches", plain, colour | {"colorbar": bar}),
        ("cold first call, left out", shown & found.cold, {"color": _COLD, "symbol": "x", "size": 8}),
        ("outlier", shown & found.outlier, {"color": _FAR, "symbol": "circle-open", "size": 10}),
    ]
    data = []
    for name, rows, marker in groups:
        if rows.any():
            about = np.column_stack([samples.count[rows], samples.longest[rows]]).tolist()
            hover = "%{customdata[0]} requests, longest %{customdata[1]}: " + value + "<extra></extra>"
            marks = {"marker": marker, "customdata": about, "hovertemplate": hover}
            data.append(_trace(name, x[rows], y[rows], mode="markers", **marks))
    return data


def _noise(noise: tuple[float, ...]) -> Figure:
    places = (np.arange(len(noise)) + 0.5) / max(len(noise), 1)
    line = {"color": NEUTRAL, "width": 2}
    return figure(
        [
            _trace(
                "share", np.array(noise) - 1, places, mode="lines+markers", line=line, marker={"color": ALL, "size": 5}
            )
        ],
        showlegend=False,
        xaxis={"title": {"text": "measured / curve − 1"}, "tickformat": "+.0%"},
        yaxis={"title": {"text": "share of batches below"}, "tickformat": ".0%", "range": [0, 1]},
    )


def _trace(name: str, x: np.ndarray, y: np.ndarray, **more: Any) -> dict[str, Any]:
    rounded = {"x": _short(x), "y": _short(y)}
    return {"type": "scatter", "name": name, **rounded, **more}


def _short(values: np.ndarray) -> list[float]:
    return [float(text) for text in map("{:.6g}".format, values.tolist())]
