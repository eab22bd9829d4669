"""Scenario files: read, override, resolve, and written back."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from simsched.core import InputError, read_yaml, shown, unknown
from simsched.scenario import fits
from simsched.scenario.build import build
from simsched.scenario.kinds import PLAIN
from simsched.scenario.parameters import filled_in
from simsched.scenario.spec import Scenario

NAMED = {"stages": "stage", "gpus": "gpu", "processes": "process", "links": "link"}


def load(path: str | Path, overrides: Iterable[str] = ()) -> Scenario:
    """The scenario of a YAML file.

    Args:
        path: the file; names of other files in it are relative to it. `extends: other.yaml` starts from another
            scenario: groups are merged name by name, anything with a `kind`, a list or a value replaces.
        overrides: "a.b=c", as of `--set`; c is YAML.

    Raises:
        InputError: one line with file, field, what was got and what to change.
    """
    values = load_values(path, overrides)
    try:
        return scenario_of(values)
    except InputError as error:
        raise error.in_file(path) from error


def load_values(path: str | Path, overrides: Iterable[str] = ()) -> dict[str, Any]:
    """The plain values of a scenario file, with what it extends and the overrides, as `scenario_of` takes them.

    Raises:
        InputError: one line with the file, of what can be seen before the fields are read.
    """
    values = _read_values(Path(path))
    try:
        for override in overrides:
            values = _override(values, override)
    except InputError as error:
        raise error.in_file(path) from error
    return values


def scenario_of(values: Mapping[str, Any], parameters: Mapping[str, float] | None = None) -> Scenario:
    """The scenario of plain values, as in a file.

    Objects may stand in place of `{kind: …}`: a policy of one's own, a curve. A text `$name` stands for the number of
    that name under `parameters`; `max_batch: fits` for what memory holds; `fit` holds notes for readers
    and is left out.

    Args:
        values: as in a file.
        parameters: numbers that replace those under `parameters`.

    Raises:
        InputError: `where` is the path of the field.
    """
    told = filled_in({name: item for name, item in values.items() if name != "fit"}, parameters)
    wanted = fits.asked(told)
    if wanted:
        fields = {stage: ".".join(("stages", stage, "policy", *path)) for stage, path in wanted}
        numbers = fits.derived(build(PLAIN.read(Scenario, fits.put(told, dict.fromkeys(wanted, 1)))), fields)
        told = fits.put(told, {place: numbers[place[0]] for place in wanted})
    scenario: Scenario = PLAIN.read(Scenario, told)
    build(scenario)  # one that cannot be built is refused when it is read
    return scenario


def to_values(scenario: Scenario) -> dict[str, Any]:
    """The scenario as plain values with every default filled in, files with their whole path."""
    values: dict[str, Any] = _resolved(PLAIN.write(scenario), Path.cwd())
    return values


def to_yaml(values: Any) -> str:
    """Plain values as YAML."""
    return yaml.safe_dump(values, sort_keys=False, allow_unicode=True, width=110)


def _read_values(path: Path, below: tuple[Path, ...] = ()) -> dict[str, Any]:
    """The file's values on top of those that it extends."""
    if path.resolve() in below:
        raise InputError("extends itself, by way of the files that it extends", "extends").in_file(below[-1])
    values = read_yaml(path)
    if not isinstance(values, Mapping):
        raise InputError(f"got {shown(values)}, must be a scenario: name, stages, pipeline, workload").in_file(path)
    own = _resolved({name: item for name, item in values.items() if name != "extends"}, path.parent)
    if "extends" not in values:
        return dict(own)
    if not isinstance(values["extends"], str):
        raise InputError(f"got {shown(values['extends'])}, must be a scenario file", "extends").in_file(path)
    merged: dict[str, Any] = _merged(_read_values(path.parent / values["extends"], (*below, path.resolve())), own)
    return merged


def _merged(under: Any, over: Any) -> Any:
    """Groups of names merged, all else replaced; what has a kind is one thing and replaced whole."""
    if not (isinstance(under, Mapping) and isinstance(over, Mapping)) or "kind" in over or "file" in over:
        return over
    return {**under, **{name: _merged(under.get(name), item) for name, item in over.items()}}


def _resolved(values: Any, folder: Path) -> Any:
    """The same with every relative `file` made relative to the scenario's folder."""
    if isinstance(values, Mapping):
        return {
            str(name): str(folder / item) if name == "file" and isinstance(item, str) else _resolved(item, folder)
            for name, item in values.items()
        }
    return [_resolved(item, folder) for item in values] if isinstance(values, list) else values


def _override(values: Mapping[str, Any], override: str) -> dict[str, Any]:
    path, equals, text = override.partition("=")
    if not equals or not path.strip():
        raise InputError(f"got {override!r}, must be path=value such as stages.vocoder.policy.max_batch=16", "--set")
    try:
        value = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise InputError(f"got {text!r}, must be a YAML value", f"--set {path}") from error
    return _put(values, path.strip().split("."), value, path.strip())


def _put(values: Any, names: Sequence[str], value: Any, path: str, group: str = "") -> dict[str, Any]:
    """The values with one leaf replaced; a group that the file leaves out is made, a stage or GPU is not."""
    if not isinstance(values, Mapping):
        raise InputError(f"cannot be set: {shown(values)} has no fields", f"--set {path}")
    first, *rest = names
    if rest and group in NAMED and first not in values:
        raise unknown(NAMED[group], first, map(str, values), f"--set {path}")
    return {
        **values,
        first: _put({} if values.get(first) is None else values[first], rest, value, path, first) if rest else value,
    }
