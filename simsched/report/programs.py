"""Fitted programs for people: a file of parameters with what is known of each, and a table."""

from collections.abc import Mapping, Sequence
from typing import Any

import yaml
from rich.table import Table

from simsched.core import short
from simsched.report.words import number
from simsched.studies.in_service import Mood, ProgramFit


def program_fit_values(fit: ProgramFit, source: str) -> dict[str, Any]:
    """Plain values that a scenario extends: `parameters`, their provenance, and under `fit` how well each is known.

    Args:
        fit: what was found.
        source: how, for the provenance.
    """
    known = {name: pair for name, pair in fit.intervals.items() if name not in fit.undetermined}
    notes: dict[str, Any] = {
        "loss": {"before": _plain(fit.loss[0]), "after": _plain(fit.loss[1])},
        "intervals_95": {name: [_plain(low), _plain(up)] for name, (low, up) in known.items()},
    }
    if fit.undetermined:
        notes["undetermined"] = dict(fit.undetermined)
    notes["weakest_directions"] = [{"effect": effect, "of": dict(shares)} for effect, shares in fit.weak]
    notes["without"] = {
        phase: {name: _plain(value) for name, value in found.items() if name in fit.intervals}
        for phase, found in fit.left_out.items()
    }
    return {
        "parameters": {name: _plain(value) for name, value in fit.parameters.items()},
        "provenance": {"origin": "FITTED", "source": source},
        "fit": notes,
    }


def program_fit_yaml(fit: ProgramFit, source: str) -> str:
    """The same as the text of a YAML file."""
    return yaml.safe_dump(program_fit_values(fit, source), sort_keys=False, allow_unicode=True, width=118)


def program_fit_table(fit: ProgramFit) -> Table:
    """A row a parameter: its value and 95 % interval, or why there is none."""
    table = Table(title="parameters and 95 % intervals (a jackknife over phases)", title_justify="left")
    table.add_column("parameter")
    table.add_column("value", justify="right")
    table.add_column("interval", justify="right")
    for name, value in fit.parameters.items():
        if name in fit.undetermined:
            table.add_row(name, "undetermined", fit.undetermined[name])
        elif name in fit.intervals:
            table.add_row(name, number(value), " … ".join(number(bound) for bound in fit.intervals[name]))
        else:
            table.add_row(name, number(value), "fixed")
    return table


def errors_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """A row a phase and kind of time: median error of single batches and its spread.

    Args:
        rows: of `studies.in_service.error_rows`.
    """
    table = Table(title="predicted / measured − 1 of single times: median, and middle half", title_justify="left")
    for name, justify in (("phase", "left"), ("time", "left"), ("n", "right"), ("median", "right"), ("half", "right")):
        table.add_column(name, justify=justify)  # type: ignore[arg-type]
    for row in rows:
        low, up = row["half"]
        table.add_row(row["phase"], row["time"], f"{row['n']:,}", f"{row['median']:+.0%}", f"{low:+.0%} … {up:+.0%}")
    return table


def moods_line(moods: Sequence[Mood]) -> str:
    """How fast the host was in each phase that says so, slowest first, in one line."""
    slowest = sorted((one for one in moods if one.told), key=lambda one: -one.factor)
    told = ", ".join(f"{one.phase} ×{one.factor:.2f}" for one in slowest) or "none differs"
    return f"host times beside the common ones: {told}; the others hardly show them"


def _plain(value: float) -> float:
    """Four digits; a whole number stays one, since a number of slices must be."""
    return int(value) if value == int(value) else short(value)
