"""Memory (C4, C7, C12–C16, L3, L8, L11): a part a question.

    python experiments/memory/run.py               # all parts; rewrites results.md, results/*.csv and memory.png
    python experiments/memory/run.py --part tiers  # prints one

`--small` runs few requests and writes nothing.
"""

import argparse
import re
from collections.abc import Callable
from types import ModuleType

import pandas as pd
from memory_questions import concurrency, fragmentation, kv, retries, stages, sweep, tiers
from memory_questions.world import FOLDER, Row, flat, markdown

from simsched.core import InputError
from simsched.report.figures.style import blank, paper

PARTS: dict[str, ModuleType] = {
    "concurrency": concurrency,
    "retries": retries,
    "fragmentation": fragmentation,
    "tiers": tiers,
    "stages": stages,
    "kv": kv,
    "sweep": sweep,
}

Tables = dict[str, list[Row]]


def text_of(tables: Tables) -> list[str]:
    """Each table under its title."""
    return [line for title, rows in tables.items() for line in (f"## {title}", "", *markdown(rows), "")]


def write(found: dict[str, Tables]) -> None:
    """The tables as text and as CSV, and the figure."""
    lines = ["<!-- written by run.py -->", *(line for tables in found.values() for line in text_of(tables))]
    (FOLDER / "results.md").write_text("\n".join(lines), encoding="utf-8")
    (FOLDER / "results").mkdir(exist_ok=True)
    for part, tables in found.items():
        for place, rows in enumerate(tables.values()):
            name = f"{part}-{place + 1}" if len(tables) > 1 else part
            pd.DataFrame(flat(rows)).to_csv(FOLDER / "results" / f"{name}.csv", index=False, float_format="%.6g")
    draw(found)


def draw(found: dict[str, Tables]) -> None:
    """A panel a part that has one."""
    drawn = [part for part in found if hasattr(PARTS[part], "draw")]
    with paper():
        figure = blank(2, 7.2)
        panels = figure.subplots(3, 2).ravel()
        for axes, part in zip(panels, drawn, strict=False):
            painter: Callable[..., None] = PARTS[part].draw
            painter(axes, found[part])
            axes.tick_params(labelsize=5)
            for label in (axes.xaxis.label, axes.yaxis.label):
                label.set_fontsize(6)
        figure.savefig(FOLDER / "memory.png")


def main() -> None:
    parser = argparse.ArgumentParser(description="what memory does to a service")
    parser.add_argument("--part", help="only this one: " + ", ".join(PARTS))
    parser.add_argument("--small", action="store_true", help="few requests, writes nothing")
    options = parser.parse_args()
    if options.part is not None and options.part not in PARTS:
        raise SystemExit(InputError(f"got {options.part!r}, must be one of {', '.join(PARTS)}", "--part"))
    chosen = [options.part] if options.part else list(PARTS)
    found = {part: PARTS[part].rows(options.small) for part in chosen}
    if not options.small and options.part is None:
        write(found)
    print(re.sub(r"\n+$", "", "\n".join(line for tables in found.values() for line in text_of(tables))))


if __name__ == "__main__":
    main()
