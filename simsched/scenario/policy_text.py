"""Policies as one writes them on a command line: drain:max_batch=8, or several for one stage."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields, is_dataclass, replace
from typing import Any

import yaml

from simsched.core import InputError, Policy, unknown
from simsched.policies import POLICIES
from simsched.scenario.kinds import PLAIN
from simsched.scenario.spec import Scenario

_BATCH = ("max_batch", "batch")  # the same number under two names
_OUTSIDE = r"(?![^\[{]*[\]}])"  # not within brackets


def policy_of(name: str, settings: Iterable[str] = (), *, like: Policy | None = None) -> Policy:
    """The policy of a name and fields.

    Args:
        name: registered, or module:Name.
        settings: field=value, the value in YAML.
        like: another policy; a field that must be given and is not is taken from it, if it has one of that name.

    Raises:
        InputError: an unknown name or field, or a value that does not fit.

    >>> policy_of("static", ["timeout_ms=5"], like=policy_of("drain", ["max_batch=8"]))
    Static(batch=8, timeout_ms=5)
    """
    given = dict(_setting(one) for one in settings)
    values = {"kind": name, **_taken(POLICIES[name], given, like), **given}
    try:
        made: Policy = PLAIN.read(Policy, values)
    except InputError as error:
        raise error.within(name) from error
    return made


def with_policies(scenario: Scenario, text: str) -> list[Scenario]:
    """The scenario once for each policy of a stage, named as the policy is written.

    Args:
        scenario: its own policy at that stage lends fields that are not said.
        text: STAGE=POLICY,POLICY…; a policy is NAME or NAME:FIELD=VALUE:FIELD=VALUE.

    Raises:
        InputError: `where` is "--policies".

    >>> from simsched.scenario import load
    >>> mm1 = load("examples/mm1.yaml")
    >>> [one.name for one in with_policies(mm1, "server=drain,static:batch=2:timeout_ms=5")]
    ['drain', 'static:batch=2:timeout_ms=5']
    """
    stage, equals, listed = text.partition("=")
    labels = [label.strip() for label in re.split(f",{_OUTSIDE}", listed)]
    if not equals or not all(labels):
        raise InputError(
            f"got {text!r}, must be STAGE=POLICY,POLICY such as vocoder=drain,static:batch=8", "--policies"
        )
    if stage not in scenario.stages:
        raise unknown("stage", stage, scenario.stages, "--policies")
    made = []
    for label in labels:
        try:
            policy = _written(label, scenario.stages[stage].policy)
        except InputError as error:
            raise error.within("--policies") from error
        made.append(replace(scenario.with_policy(stage, policy), name=label))
    return made


def _written(label: str, like: Policy) -> Policy:
    name, *rest = re.split(f":{_OUTSIDE}", label)
    if rest and "=" not in rest[0]:  # module:Name
        name = f"{name}:{rest.pop(0)}"
    return policy_of(name, rest, like=like)


def _setting(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise InputError(f"got {text!r}, must be field=value such as max_batch=8")
    try:
        return name.strip(), yaml.safe_load(value)
    except yaml.YAMLError as error:
        raise InputError(f"got {value!r}, must be a YAML value", name.strip()) from error


def _taken(cls: type[Policy], given: Mapping[str, Any], like: Policy | None) -> dict[str, Any]:
    """Fields that must be given and are not, from another policy."""
    found: dict[str, Any] = {}
    listed: tuple[Any, ...] = fields(cls) if is_dataclass(cls) else ()
    for field in listed:
        if field.name in given or field.default is not MISSING or field.default_factory is not MISSING:
            continue
        names = _BATCH if field.name in _BATCH else (field.name,)
        known = next((name for name in names if hasattr(like, name)), None)
        if known is not None:
            found[field.name] = getattr(like, known)
    return found
