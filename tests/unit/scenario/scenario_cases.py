"""A small scenario as plain values, and changes of it by path."""

from copy import deepcopy

import pytest

from simsched.core import InputError
from simsched.scenario import run_scenario, scenario_of

TABLES = ("requests", "visits", "batches", "memory", "incidents")
GONE = object()
STAGE = {"gpu": "gpu0", "policy": {"kind": "drain", "max_batch": 4}, "cost": {"kind": "linear", "a_ms": 10.0}}
TWO = {
    "name": "two",
    "gpus": {"gpu0": {"memory": "10 GiB"}},
    "processes": {"main": {}},
    "links": {"pcie": {"bandwidth": "1 GB"}},
    "stages": {"enc": deepcopy(STAGE), "voc": deepcopy(STAGE)},
    "pipeline": ["enc", "voc"],
    "workload": {
        "arrivals": {"kind": "closed", "users": 2},
        "sizes": {"kind": "fixed", "value": 6.0},
        "requests": 10,
    },
}


def two(changes=None):
    """TWO with leaves replaced, {"stages.enc.gpu": "gpu1"}; GONE removes one."""
    values = deepcopy(TWO)
    for path, value in (changes or {}).items():
        *folders, leaf = path.split(".")
        inner = values
        for name in folders:
            inner = inner.setdefault(name, {})
        if value is GONE:
            del inner[leaf]
        else:
            inner[leaf] = value
    return values


def graph(**next_of):
    """TWO with other stages that say `next`: graph(a=["b"], b=[])."""
    values = two({"pipeline": GONE})
    values["stages"] = {name: {**deepcopy(STAGE), "next": after} for name, after in next_of.items()}
    return values


def program(*ops, **changes):
    """TWO whose enc runs these operations."""
    return two({"stages.enc.cost": GONE, "stages.enc.program": list(ops), **changes})


def refusal(values):
    """The one line that refuses these values."""
    with pytest.raises(InputError) as error:
        scenario_of(values)
    line = str(error.value)
    assert "\n" not in line
    return line


def same_tables(first, second):
    """Whether two scenarios of plain values give the same Run."""
    one, other = run_scenario(scenario_of(first)), run_scenario(scenario_of(second))
    return all(getattr(one, name).equals(getattr(other, name)) for name in TABLES)
