"""Pages that are made of the code when the site is built, so that they cannot go stale; a hook of mkdocs.

A line `<!-- generate: NAME -->` in a page is replaced by what the function NAME of `PARTS` writes.
"""

import inspect
import re
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import typer

from simsched.cli.main import app
from simsched.core import Origin, Provenance, Registry
from simsched.hardware import Activation, StageMemory, ValidRange
from simsched.scenario import Gpu, Link, Live, LiveStage, Process, Queue, Scenario, Stage, Warmup, WorkloadSpec
from simsched.scenario.kinds import KINDS
from simsched.scenario.program import __doc__ as program_words
from simsched.workload import Retry

SECTIONS: Mapping[str, tuple[str, type]] = {
    "scenario": ("The file", Scenario),
    "stage": ("stages.NAME", Stage),
    "queue": ("stages.NAME.queue", Queue),
    "memory": ("stages.NAME.memory", StageMemory),
    "activation": ("stages.NAME.memory.activation", Activation),
    "gpu": ("gpus.NAME", Gpu),
    "process": ("processes.NAME", Process),
    "link": ("links.NAME", Link),
    "workload": ("workload", WorkloadSpec),
    "retry": ("workload.retry", Retry),
    "warmup": ("workload.warmup", Warmup),
    "valid": ("valid, in any cost", ValidRange),
    "live": ("live", Live),
    "livestage": ("live.stages.NAME", LiveStage),
    "provenance": ("provenance, in the file and in any cost", Provenance),
}
UNITS = {"_ms": "ms", "_s": "s", "_rps": "requests/s", "_ns": "ns"}
IN_BYTES = {"memory", "bandwidth", "base", "per_unit", "weights", "resident", "resident_base"}


def scenario_reference() -> str:
    """Every group of a scenario file with its fields, and the kinds of every registry with theirs."""
    parts = [f"## `{title}` {{ #{anchor} }}\n\n{_group(cls)}" for anchor, (title, cls) in SECTIONS.items()]
    operations = inspect.cleandoc(program_words or "").split("\n\n")[1]
    parts.append(f"## `stages.NAME.program` {{ #program }}\n\nA list of operations:\n\n```text\n{operations}\n```\n")
    for base, registry in KINDS.items():
        parts.append(f"## {registry.plural} {{ #{registry.plural} }}\n\n{_kinds(base, registry)}")
    return "\n".join(parts)


def cli_reference() -> str:
    """Every command with its arguments, options, defaults and examples, from the command itself."""
    commands: Mapping[str, Any] = getattr(typer.main.get_command(app), "commands")  # noqa: B009  # mypy knows no group
    return "\n".join(part for name, command in commands.items() for part in _commands(name, command))


PARTS: Mapping[str, Callable[[], str]] = {"scenario": scenario_reference, "cli": cli_reference}


def on_page_markdown(markdown: str, **_: object) -> str:
    """Mkdocs' event: the page with its generated parts."""
    return re.sub(r"<!-- generate: (\w+) -->", lambda found: PARTS[found.group(1)](), markdown)


def _group(cls: type) -> str:
    return f"{_summary(cls)}\n\n{_table(cls, set())}"


def _kinds(base: type, registry: Registry[Any]) -> str:
    """The kinds of a registry; fields that every kind has come once, at the top."""
    common = {field.name for field in fields(base)} if is_dataclass(base) else set()
    parts = [f"`kind` is one of these, or `module:Name` of a frozen dataclass of your own{_contract(base)}.\n"]
    if common:
        parts.append(f"Fields of every kind:\n\n{_table(base, set())}")
    for name, cls in registry.items():
        own = _table(cls, common)
        parts.append(f"### `kind: {name}` {{ #{registry.plural}-{name} }}\n\n{_about(cls)}\n\n{own}")
    return "\n".join(parts)


def _contract(base: type) -> str:
    methods = [name for name, item in vars(base).items() if inspect.isfunction(item) and not name.startswith("_")]
    return f" with {' and '.join(f'`{name}`' for name in methods)}" if methods else ""


def _table(cls: Any, left_out: set[str]) -> str:
    """One row a field."""
    hints, words = get_type_hints(cls), described(cls)
    rows = []
    for field in fields(cls):
        if not field.init or field.name in left_out:
            continue
        cells = (
            f"`{field.name}`",
            _type(hints[field.name]),
            _default(field),
            _unit(field.name, hints[field.name]),
            words.get(field.name, ""),
        )
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    if not rows:
        return "No fields of its own.\n"
    return "| field | value | default | unit | meaning |\n|---|---|---|---|---|\n" + "\n".join(rows) + "\n"


def described(cls: type) -> dict[str, str]:
    """Field → what the class's docstring, or that of a base, says under Attributes."""
    found: dict[str, str] = {}
    for one in reversed(cls.__mro__):
        text = inspect.cleandoc(one.__doc__ or "")
        found.update(_attributes(text))
    return found


def _attributes(text: str) -> Iterator[tuple[str, str]]:
    _, _, section = text.partition("Attributes:\n")
    section = re.split(r"\n(?=\S)", section)[0]
    for name, words in re.findall(r"^ {4}(\w+): (.*?)(?=^ {4}\w|\Z)", section, flags=re.M | re.S):
        yield name, " ".join(words.split())


def _about(cls: type) -> str:
    """The docstring without its Attributes and examples."""
    text = inspect.cleandoc(cls.__doc__ or "").split("\nAttributes:")[0]
    return text.split("\n>>>")[0].strip()


def _summary(cls: type) -> str:
    return _about(cls).split("\n\n")[0].replace("\n", " ")


def _type(hint: Any) -> str:
    """A type in a reader's words."""
    links = {cls: f"[{anchor}](#{anchor})" for anchor, (_, cls) in SECTIONS.items()}
    links |= {base: f"one of the [{kinds.plural}](#{kinds.plural})" for base, kinds in KINDS.items()}
    words = links | {int: "whole number", float: "number", str: "text", bool: "true or false"}
    if hint in words:
        return words[hint]
    if isinstance(hint, type) and issubclass(hint, Enum):
        return ", ".join(f"`{name}`" for name in hint.__members__)
    return _compound(get_origin(hint), get_args(hint))


def _compound(origin: Any, inner: tuple[Any, ...]) -> str:
    if origin in (Union, types.UnionType):
        return " or ".join(dict.fromkeys(_type(option) for option in inner if option is not type(None)))
    if origin is Literal:
        return ", ".join(f"`{option}`" for option in inner)
    if origin is tuple and inner[-1] is not Ellipsis:
        return f"[{', '.join(map(_type, inner))}]"
    if origin is tuple:
        return "list" if inner[0] is Any else f"list of {_type(inner[0])}"
    return f"names, each with a {_type(inner[1])}"


def _default(field: Any) -> str:
    if field.default is not MISSING:
        value = field.default
    elif field.default_factory is not MISSING:
        value = field.default_factory()
    else:
        return "**required**"
    if value is None or value == {}:
        return "none"
    if isinstance(value, Origin):
        return f"`{value.name}`"
    if is_dataclass(value):
        known = next((kinds.name_of(type(value)) for base, kinds in KINDS.items() if isinstance(value, base)), None)
        return f"`{{kind: {known}}}`" if known else "its defaults"
    return '""' if value == "" else f"`{list(value) if isinstance(value, tuple) else value}`"


def _unit(name: str, hint: Any) -> str:
    if name in IN_BYTES and hint != StageMemory | None:
        return "bytes/s" if name == "bandwidth" else "bytes"
    return next((unit for suffix, unit in UNITS.items() if name.endswith(suffix)), "")


def _commands(name: str, command: Any) -> Iterator[str]:
    """A command, or each of a group of commands."""
    within = getattr(command, "commands", None)
    if within is None:
        yield _command(name, command)
        return
    for inner, one in within.items():
        yield _command(f"{name} {inner}", one)


def _command(name: str, command: Any) -> str:
    """One command: what it does, a row an argument or option, its examples."""
    rows = []
    for parameter in command.params:
        words = f"`{parameter.metavar or parameter.name}`"
        if parameter.param_type_name == "option":
            words = ", ".join(f"`{option}`" for option in parameter.opts)
            words += f" {parameter.metavar}" if parameter.metavar else ""
        default = parameter.default
        shown = "" if default is None or default is False or callable(default) else f"`{default}`"
        rows.append(f"| {words} | {'**required**' if parameter.required else shown} | {parameter.help or ''} |")
    table = "| | default | meaning |\n|---|---|---|\n" + "\n".join(rows)
    examples = [line for line in (command.epilog or "").splitlines() if line.startswith("simsched ")]
    shown = "\n".join(f"$ {line}" for line in examples)
    help_text = " ".join((command.help or "").split())
    return f"## simsched {name}\n\n{help_text}\n\n{table}\n\n```console\n{shown}\n```\n"
