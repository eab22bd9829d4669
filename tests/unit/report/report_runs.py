"""Small studies to be shown, and a console that remembers."""

import io
from dataclasses import replace
from typing import Any

from rich.console import Console

from simsched.scenario import Scenario, scenario_of


def scenario(name: str = "small", batch: int = 8, **parts: Any) -> Scenario:
    """One stage of 5 + 0.5 b milliseconds, 150 req/s, 400 random sizes."""
    values = {
        "name": name,
        "gpus": {"gpu0": {"memory": "24 GiB"}},
        "stages": {
            "server": {
                "gpu": "gpu0",
                "policy": {"kind": "drain", "max_batch": batch},
                "cost": {"kind": "linear", "a_ms": 5, "b_ms": 0.5},
                "memory": {"weights": "1 GiB", "activation": {"base": "1 MiB"}},
                **parts.pop("stage", {}),
            }
        },
        "workload": {
            "arrivals": {"kind": "poisson", "rate_rps": 150},
            "sizes": {"kind": "exponential", "mean_size": 6},
            "requests": 400,
            "warmup": {"requests": 40},
            **parts.pop("workload", {}),
        },
    }
    return replace(scenario_of(values), **parts)


def rendered(what: Any, width: int = 160) -> str:
    """What a reader would see."""
    console = Console(width=width, record=True, file=io.StringIO())
    console.print(what, highlight=False)
    return console.export_text()


def cells(text: str) -> dict[str, list[str]]:
    """Cells of each row by its first one, the heads not among them."""
    rows = [[cell.strip() for cell in line.strip().strip("│").split("│")] for line in text.splitlines() if "│" in line]
    return {row[0]: row[1:] for row in rows}
