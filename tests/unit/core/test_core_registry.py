from collections import OrderedDict
from dataclasses import dataclass

import pytest

from simsched.core import InputError, Registry


@dataclass(frozen=True)
class Quince:
    """Known by its module only."""


QUINCE = f"{__name__}:Quince"


@pytest.fixture
def fruits():
    registry: Registry[object] = Registry("fruit", "fruits")

    @registry.register("pear")
    class Pear:
        pass

    registry.register("apple")(OrderedDict)
    return registry


def test_registering_returns_the_class_unchanged(fruits):
    class Plum:
        pass

    assert fruits.register("plum")(Plum) is Plum
    assert fruits["plum"] is Plum


def test_names_are_listed_sorted(fruits):
    assert list(fruits) == ["apple", "pear"]
    assert [name for name, _ in fruits.items()] == ["apple", "pear"]


def test_a_name_is_taken_once(fruits):
    with pytest.raises(ValueError, match=r"^fruit 'apple' is already OrderedDict$"):
        fruits.register("apple")(dict)
    assert fruits["apple"] is OrderedDict


def test_an_unknown_name_is_answered_with_the_nearest(fruits):
    with pytest.raises(InputError) as error:
        fruits["peer"]
    assert str(error.value) == "fruit 'peer' is unknown; did you mean 'pear'? (simsched list fruits)"


def test_a_class_that_is_not_registered_is_named_by_its_module(fruits):
    assert fruits[QUINCE].__name__ == "Quince"
    assert fruits.name_of(OrderedDict) == "apple"
    assert fruits.name_of(fruits[QUINCE]) == QUINCE


@pytest.mark.parametrize(
    ("path", "why"),
    [
        (
            "no_such_module:Plum",
            "No module named 'no_such_module'; it must lie in this folder or on PYTHONPATH",
        ),
        ("collections:Plum", "module 'collections' has no attribute 'Plum'"),
    ],
)
def test_what_cannot_be_imported_says_why(fruits, path, why):
    with pytest.raises(InputError) as error:
        fruits[path]
    assert str(error.value) == f"fruit {path!r} cannot be imported: {why}"


@pytest.mark.parametrize("path", [":", ":Plum", "..garden:Plum"])
def test_a_path_without_a_module_is_refused(fruits, path):
    with pytest.raises(InputError, match=f"fruit '{path}' cannot be imported"):
        fruits[path]


@pytest.mark.parametrize("path", ["math:pi", "collections:Counter"])
def test_what_is_no_dataclass_is_refused(fruits, path):
    with pytest.raises(InputError) as error:
        fruits[path]
    assert str(error.value) == f"fruit {path!r} is no dataclass: it must be one, frozen, with its fields typed"
