"""The batches of a stretch of a Run: who ran when, with whom, and who waited for it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from simsched.core import NotEnoughData
from simsched.report.page.charts import Figure, colours, figure, label
from simsched.report.stretch import slowest
from simsched.run import NEVER, Run

IntArray = npt.NDArray[np.int64]
MOST_BATCHES = 1200


@dataclass(frozen=True, eq=False)
class Gantt:
    """A figure, the batches behind it for the page's script, and which stretch it shows.

    Attributes:
        figure: bars, one row a stage and server.
        batches: one entry a bar, in the order of the traces.
        note: what is shown and what is not.
    """

    figure: Figure
    batches: list[dict[str, Any]]
    note: str


def gantt(run: Run) -> Gantt:
    """At most MOST_BATCHES batches around the slowest measured request, so that the worst case is in the picture.

    Raises:
        NotEnoughData: no request is done.
    """
    centre = slowest(run)
    if centre is None:
        raise NotEnoughData("no request is done: there is no slowest one to show the batches around", needed=1)
    arrival, end = centre.arrival_ns, centre.end_ns
    table = run.batches[run.batches["end_ns"] != NEVER].sort_values(["start_ns", "batch"], kind="stable")
    total = len(table)
    if total > MOST_BATCHES:
        middle = int(np.searchsorted(table["start_ns"].to_numpy(), (arrival + end) // 2))
        first = min(max(0, middle - MOST_BATCHES // 2), total - MOST_BATCHES)
        table = table.iloc[first : first + MOST_BATCHES]
    entries = batch_entries(run, table["batch"].to_numpy())
    shown = f"{len(table):,} of {total:,} batches" if total > len(table) else f"All {total:,} batches"
    note = f"{shown}; yellow is the stretch of the slowest request ({centre.request:,}, {(end - arrival) / 1e9:.3f} s)"
    return Gantt(_figure(run, entries, arrival, end), entries, note)


def batch_entries(run: Run, shown: IntArray) -> list[dict[str, Any]]:
    """What is shown of these batches: one entry each, by stage and start, seconds.

    Args:
        run: any Run.
        shown: their numbers.
    """
    visits = run.visits[run.visits["batch"].isin(shown)]
    batch, request, enter = (visits[name].to_numpy() for name in ("batch", "request", "enter_ns"))
    order = np.argsort(batch, kind="stable")
    begin, end_of = (np.searchsorted(batch[order], shown, side) for side in ("left", "right"))
    members = {int(n): order[b:e] for n, b, e in zip(shown, begin, end_of, strict=True)}
    table = run.batches.iloc[shown]
    several = {stage: run.batches_of(stage)["server"].nunique() > 1 for stage in run.stages}
    columns = (table[name].tolist() for name in ("batch", "stage", "server", "start_ns", "end_ns", "count", "longest"))
    found = []
    for number, stage, server, start, end, count, longest in zip(*columns, strict=True):
        rows = members[number]
        found.append(
            {
                "id": number,
                "stage": stage,
                "row": f"{stage} {server}" if several[stage] else stage,
                "start": round(start / 1e9, 6),
                "end": round(end / 1e9, 6),
                "count": count,
                "longest": longest,
                "waited": round((start - int(enter[rows].min())) / 1e9, 6),
                "members": request[rows].tolist(),
            }
        )
    return sorted(found, key=lambda entry: (run.stages.index(entry["stage"]), entry["start"]))


def _figure(run: Run, entries: list[dict[str, Any]], arrival: int, end: int) -> Figure:
    data = []
    for stage, colour in colours(run.stages).items():
        here = [entry for entry in entries if entry["stage"] == stage]
        if not here:
            continue
        largest = max(entry["count"] for entry in here)
        data.append(
            {
                "type": "bar",
                "orientation": "h",
                "name": label(stage),
                "y": [label(entry["row"]) for entry in here],
                "base": [entry["start"] for entry in here],
                "x": [round(entry["end"] - entry["start"], 6) for entry in here],
                "customdata": [[entry["id"], entry["count"], entry["waited"]] for entry in here],
                "marker": {
                    "color": colour,
                    "opacity": [round(0.35 + 0.65 * entry["count"] / largest, 3) for entry in here],
                    "line": {"color": "white", "width": 0.5},
                },
                "hovertemplate": "batch %{customdata[0]}: %{customdata[1]} requests, %{x:.4f} s, "
                "its oldest waited %{customdata[2]:.4f} s<extra>%{y}</extra>",
            }
        )
    rows = list(dict.fromkeys(entry["row"] for entry in entries))
    margin = max((end - arrival) * 0.25, 1)
    return figure(
        data,
        barmode="overlay",
        bargap=0.25,
        xaxis={"title": {"text": "time, s"}, "range": [(arrival - margin) / 1e9, (end + margin) / 1e9]},
        yaxis={"autorange": "reversed", "type": "category", "categoryarray": [label(row) for row in rows]},
        shapes=[
            {
                "type": "rect",
                "xref": "x",
                "yref": "paper",
                "x0": arrival / 1e9,
                "x1": end / 1e9,
                "y0": 0,
                "y1": 1,
                "fillcolor": "#fde68a",
                "opacity": 0.35,
                "line": {"width": 0},
                "layer": "below",
            }
        ],
        height=150 + 60 * len(rows),
        showlegend=False,
    )
