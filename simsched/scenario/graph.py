"""The pipeline of a scenario: which stage follows which, checked."""

from collections.abc import Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import NamedTuple

from simsched.core import InputError, unknown
from simsched.scenario.spec import Scenario

Names = tuple[str, ...]


class Graph(NamedTuple):
    """A pipeline without cycles and with one first stage.

    Attributes:
        order: stages, each after those before it; otherwise as in the file.
        next: the stages after each.
        wait_for: the stages before each.
    """

    order: Names
    next: Mapping[str, Names]
    wait_for: Mapping[str, Names]


def read_graph(scenario: Scenario) -> Graph:
    """The pipeline, from `pipeline` or from each stage's `next`.

    Raises:
        InputError: a stage that is not there, twice, or left out; a cycle; not exactly one first stage.
    """
    following = _chained(scenario) if scenario.pipeline is not None else _linked(scenario)
    before = {name: tuple(other for other, after in following.items() if name in after) for name in following}
    order = _in_order(before)
    for name, stage in scenario.stages.items():
        if stage.wait_for is not None and set(stage.wait_for) != set(before[name]):
            raise InputError(
                f"got {list(stage.wait_for)}, but {list(before[name]) or 'no stage'} names it in next: "
                "a stage waits for all that send to it",
                f"stages.{name}.wait_for",
            )
    return Graph(order, following, before)


def _chained(scenario: Scenario) -> dict[str, Names]:
    """The stages in the order of `pipeline`."""
    stages, chain = scenario.stages, scenario.pipeline or ()
    said = next((name for name, stage in stages.items() if stage.next is not None), None)
    if said is not None:
        raise InputError("stands beside pipeline: say one of them", f"stages.{said}.next")
    if not chain:
        raise InputError("is empty: name the stages in order", "pipeline")
    _check_names(chain, stages, "pipeline")
    left = next((name for name in stages if name not in chain), None)
    if left is not None:
        raise InputError(f"{left!r} is not in the pipeline: add it there, or remove it", f"stages.{left}")
    return dict(zip(chain, [(name,) for name in chain[1:]] + [()], strict=True))


def _linked(scenario: Scenario) -> dict[str, Names]:
    """The stages as each says what is next."""
    stages = scenario.stages
    if len(stages) > 1 and all(stage.next is None for stage in stages.values()):
        raise InputError("is missing: name the stages in order, or say next of each stage", "pipeline")
    for name, stage in stages.items():
        _check_names(stage.next or (), stages, f"stages.{name}.next")
    return {name: stage.next or () for name, stage in stages.items()}


def _check_names(names: Sequence[str], stages: Mapping[str, object], where: str) -> None:
    for place, name in enumerate(names):
        if name not in stages:
            raise unknown("stage", name, stages, f"{where}[{place}]")
        if name in names[:place]:
            raise InputError(f"{name!r} stands twice: a request passes each stage once", f"{where}[{place}]")


def _in_order(before: Mapping[str, Names]) -> Names:
    try:
        TopologicalSorter(before).prepare()
    except CycleError as error:
        cycle = " → ".join(error.args[1])
        raise InputError(f"{cycle} is a cycle: a request passes each stage once", "pipeline") from error
    first = [name for name in before if not before[name]]
    if len(first) != 1:
        raise InputError(f"has {len(first)} first stages ({', '.join(first)}), must have one", "pipeline")
    order: list[str] = []
    while len(order) < len(before):
        order.append(next(name for name in before if name not in order and set(before[name]) <= set(order)))
    return tuple(order)
