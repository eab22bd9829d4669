"""Figures of several Runs: differences of a comparison, errors of predictions."""

from collections.abc import Mapping, Sequence
from typing import Any

from simsched.analysis import worst_error
from simsched.report.page.charts import NEUTRAL, Figure, colours, figure, label


def differences_figure(differences: Sequence[Mapping[str, Any]]) -> Figure:
    """Each scenario's paired difference from the first, relative, with its 95 % interval; 0 is no difference."""
    known = [gap for gap in differences if gap["mean"] is not None and gap["relative"]]
    names = list(dict.fromkeys(gap["name"] for gap in known))
    data = []
    for name, colour in colours(names).items():
        here = [gap for gap in known if gap["name"] == name]
        scale = [gap["relative"] / gap["mean"] for gap in here]
        data.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": label(name),
                "y": [gap["metric"] for gap in here],
                "x": [gap["relative"] for gap in here],
                "error_x": {
                    "type": "data",
                    "symmetric": False,
                    "array": [(gap["high"] - gap["mean"]) * s for gap, s in zip(here, scale, strict=True)],
                    "arrayminus": [(gap["mean"] - gap["low"]) * s for gap, s in zip(here, scale, strict=True)],
                },
                "marker": {"color": colour, "size": 9},
                "hovertemplate": "%{y}: %{x:+.1%}<extra>" + label(name) + "</extra>",
            }
        )
    base = label(str(known[0]["baseline"])) if known else ""
    return figure(
        data,
        xaxis={
            "title": {"text": f"relative to {base}, paired, 95 % intervals"},
            "tickformat": "+.0%",
            "zerolinewidth": 2,
        },
        yaxis={"autorange": "reversed"},
        height=320,
    )


def errors_figure(predictions: Mapping[str, Any]) -> Figure:
    """Relative error of each prediction by phase, worst first; the band is ±10 %."""
    order = sorted(predictions, key=lambda phase: -worst_error(predictions[phase]["errors"]))
    data = []
    for name, colour in colours(["throughput", "mean", "p50", "p90", "p99"]).items():
        data.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": name,
                "y": [label(phase) for phase in order],
                "x": [predictions[phase]["errors"].get(name) for phase in order],
                "marker": {"color": colour, "size": 9},
                "hovertemplate": "%{y}: %{x:+.1%}<extra>" + name + "</extra>",
            }
        )
    band = {"type": "rect", "xref": "x", "yref": "paper", "x0": -0.1, "x1": 0.1, "y0": 0, "y1": 1, "fillcolor": NEUTRAL}
    return figure(
        data,
        xaxis={"title": {"text": "(predicted − measured) / measured"}, "tickformat": "+.0%", "zerolinewidth": 2},
        yaxis={"autorange": "reversed", "type": "category"},
        shapes=[{**band, "opacity": 0.18, "line": {"width": 0}, "layer": "below"}],
        height=130 + 28 * len(order),
    )


def by_stage(predictions: Mapping[str, Any]) -> list[list[str]]:
    """Rows phase, stage, then measured → predicted mean wait, mean service and mean batch."""
    rows = []
    for phase, found in predictions.items():
        measured, predicted = found["measured"]["stages"], found["predicted"]["stages"]
        both = [stage for stage in measured if stage in predicted]
        rows += [[phase, stage, *_pairs(measured[stage], predicted[stage])] for stage in both]
    return rows


def _pairs(measured: Mapping[str, Any], predicted: Mapping[str, Any]) -> list[str]:
    def pair(one: float | None, other: float | None, unit: float = 1) -> str:
        if one is None or other is None:
            return "–"
        return f"{one * unit:.3g} → {other * unit:.3g}"

    return [
        pair(measured["wait_s"]["mean"], predicted["wait_s"]["mean"], 1000),
        pair(measured["service_s"]["mean"], predicted["service_s"]["mean"], 1000),
        pair(measured["batch_mean"], predicted["batch_mean"]),
    ]
