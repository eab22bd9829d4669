"""simsched list: what a scenario may name."""

import inspect
from dataclasses import MISSING, fields
from typing import Annotated, Any

import typer

from simsched.cli.common import Json, show

EXAMPLES = """Examples:

simsched list

simsched list policies

simsched list curves --json
"""


def list_(
    what: Annotated[str | None, typer.Argument(metavar="[WHAT]", help="policies, curves, arrivals …")] = None,
    as_json: Json = False,
) -> None:
    """List the kinds that a scenario may name, and the profiles that fit reads; without WHAT, what can be listed."""
    from rich.table import Table

    from simsched.core import unknown
    from simsched.fit.sources import SOURCES
    from simsched.report import to_json
    from simsched.scenario.kinds import KINDS

    registries = {registry.plural: registry for registry in (*KINDS.values(), SOURCES)}
    if what is not None and what not in registries:
        raise unknown("list", what, registries, hint=f"one of {', '.join(registries)}")
    if what is None:
        rows = {plural: {"kinds": list(registry)} for plural, registry in registries.items()}
        lines = [(plural, ", ".join(row["kinds"]), "") for plural, row in rows.items()]
    else:
        items = registries[what].items()
        rows = {name: {"about": _about(cls), "fields": _fields(cls)} for name, cls in items}  # type: ignore[dict-item]
        lines = [(name, _about(cls), ", ".join(_fields(cls))) for name, cls in items]
    if as_json:
        print(to_json(rows), end="")
        return
    table = Table(show_header=what is not None)
    for column in (what or "", "about", "fields"):
        table.add_column(column)
    for line in lines:
        table.add_row(*line)
    show(table)


def _about(cls: type) -> str:
    return (inspect.getdoc(cls) or "").split("\n\n")[0].replace("\n", " ")


def _fields(cls: Any) -> list[str]:
    """Names, with the default where there is one (… for one that is made); those that every curve has are left out."""
    common = {"valid", "provenance"}
    return [_field(field) for field in fields(cls) if field.init and field.name not in common]


def _field(field: Any) -> str:
    if field.default_factory is not MISSING:
        return f"{field.name}=…"
    return str(field.name) if field.default is MISSING else f"{field.name}={field.default}"
