"""Plain values ⇄ frozen dataclasses, on classes of this file: every way of typing a field."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simsched.core import InputError, Plain, Registry, shown


class Colour(Enum):
    RED = 1
    BLUE = 2


class Shape:
    """A base with kinds."""


SHAPES: Registry[Shape] = Registry("shape", "shapes")


@SHAPES.register("circle")
@dataclass(frozen=True, kw_only=True)
class Circle(Shape):
    radius: float

    def __post_init__(self):
        if self.radius <= 0:
            raise InputError(f"got {self.radius}, must be above 0", "radius")


@dataclass(frozen=True, kw_only=True)
class Leaf:
    count: int = 0
    share: float = 0.0
    name: str = ""
    yes: bool = False


@dataclass(frozen=True, kw_only=True)
class BoxSpec:
    leaf: Leaf
    shape: Shape | None = None
    colour: Colour = Colour.RED
    side: Literal["left", "right", 3] = "left"
    pair: tuple[int, float] = (0, 0.0)
    many: tuple[float, ...] = ()
    shapes: tuple[Shape, ...] = ()
    leaves: Mapping[str, Leaf] = field(default_factory=dict)
    limit: int | None = None
    memory: int | float | str | None = None
    anything: Any = None


PLAIN = Plain({Shape: SHAPES})
FULL = {
    "leaf": {"count": 3, "share": 0.5, "name": "x", "yes": True},
    "shape": {"kind": "circle", "radius": 2.0},
    "colour": "BLUE",
    "side": "right",
    "pair": [1, 2.5],
    "many": [1.0, 2.0],
    "shapes": [{"kind": "circle", "radius": 1.0}],
    "leaves": {"a": {"count": 1, "share": 0.0, "name": "", "yes": False}},
    "limit": 4,
    "memory": "3 GiB",
    "anything": {"of": [1, "two"]},
}


def box(**changes):
    return PLAIN.read(BoxSpec, {**FULL, **changes})


def test_every_kind_of_field_is_read():
    assert box() == BoxSpec(
        leaf=Leaf(count=3, share=0.5, name="x", yes=True),
        shape=Circle(radius=2.0),
        colour=Colour.BLUE,
        side="right",
        pair=(1, 2.5),
        many=(1.0, 2.0),
        shapes=(Circle(radius=1.0),),
        leaves={"a": Leaf(count=1)},
        limit=4,
        memory="3 GiB",
        anything={"of": [1, "two"]},
    )


def test_what_was_read_is_written_back():
    assert PLAIN.write(box()) == FULL


def test_defaults_are_written_and_none_is_left_out():
    assert PLAIN.write(PLAIN.read(BoxSpec, {"leaf": {}})) == {
        "leaf": {"count": 0, "share": 0.0, "name": "", "yes": False},
        "colour": "RED",
        "side": "left",
        "pair": [0, 0.0],
        "many": [],
        "shapes": [],
        "leaves": {},
    }


def test_numbers_and_choices_meet_their_type():
    assert box(limit=3.0).limit == 3
    assert type(box(limit=3.0).limit) is int
    assert box(limit=None).limit is None
    assert box(memory=1.5).memory == 1.5
    assert box(side=3).side == 3
    assert box(side="3").side == 3


def test_objects_may_stand_in_place_of_plain_values():
    made = box(shape=Circle(radius=7), leaf=Leaf(count=9), colour=Colour.RED)
    assert (made.shape, made.leaf, made.colour) == (Circle(radius=7), Leaf(count=9), Colour.RED)


def test_a_custom_reader_tries_first():
    def round_one(value):
        return Circle(radius=1) if value == "round" else NotImplemented

    plain = Plain({Shape: SHAPES}, {Shape: round_one})
    assert plain.read(Shape, "round") == Circle(radius=1)
    assert plain.read(Shape, {"kind": "circle", "radius": 2}) == Circle(radius=2)


KNOWN = "leaf, shape, colour, side, pair, many, shapes, leaves, limit, memory, anything"
SORTED = "anything, colour, leaf, leaves, limit, many, memory, pair, shape, shapes, side"


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"colur": 1}, f"colur: field 'colur' is unknown; did you mean 'colour'? (known: {SORTED})"),
        (
            {"leaf": {"cont": 1}},
            "leaf.cont: field 'cont' is unknown; did you mean 'count'? (known: count, name, share, yes)",
        ),
        ({"leaf": 3}, "leaf: got 3, must be a mapping with some of: count, share, name, yes"),
        ({"leaf": {"count": "3"}}, "leaf.count: got '3', must be a number"),
        ({"leaf": {"count": True}}, "leaf.count: got True, must be a number"),
        ({"leaf": {"count": 1.5}}, "leaf.count: got 1.5, must be a whole number"),
        ({"leaf": {"share": float("nan")}}, "leaf.share: got nan, must be a finite number"),
        (
            {"leaf": {"share": "1e-3"}},
            "leaf.share: got '1e-3', must be a number "
            "(YAML reads it as text: write it without quotes, with a point and a sign: 1.0e-3, 1.0e+3)",
        ),
        ({"leaf": {"name": 3}}, "leaf.name: got 3, must be text"),
        ({"leaf": {"yes": 1}}, "leaf.yes: got 1, must be true or false"),
        ({"shape": 3}, "shape: got 3, must be {kind: …} with its fields (simsched list shapes) or a shape object"),
        ({"shape": {"radius": 3}}, "shape.kind: got None, must name a kind: circle"),
        (
            {"shape": {"kind": "cirle"}},
            "shape.kind: shape 'cirle' is unknown; did you mean 'circle'? (simsched list shapes)",
        ),
        ({"shape": {"kind": "circle"}}, "shape.radius: is missing, shape 'circle' needs it"),
        ({"shape": {"kind": "circle", "radius": 0}}, "shape.radius: got 0, must be above 0"),
        ({"shapes": [Circle(radius=1), {"kind": "circle", "radius": -1}]}, "shapes[1].radius: got -1, must be above 0"),
        ({"colour": "BLEU"}, "colour: colour 'BLEU' is unknown; did you mean 'BLUE'? (known: BLUE, RED)"),
        ({"side": "rigth"}, "side: value 'rigth' is unknown; did you mean 'right'? (known: 3, left, right)"),
        ({"pair": [1]}, "pair: got [1], must have 2 items"),
        ({"pair": [1, "x"]}, "pair[1]: got 'x', must be a number"),
        ({"many": 3}, "many: got 3, must be a list, in brackets"),
        ({"many": [1, None]}, "many[1]: got None, must be a number"),
        ({"leaves": [1]}, "leaves: got [1], must be a mapping of names"),
        ({"leaves": {"a": {"count": None}}}, "leaves.a.count: got None, must be a number"),
        ({"limit": float("inf")}, "limit: got inf, must be a finite number"),
    ],
)
def test_an_error_names_the_path_of_its_field(change, line):
    with pytest.raises(InputError) as error:
        box(**change)
    assert str(error.value) == line


def test_the_whole_must_be_a_mapping_with_what_is_needed():
    with pytest.raises(InputError) as error:
        PLAIN.read(BoxSpec, [1])
    assert str(error.value) == f"got [1], must be a mapping with some of: {KNOWN}"
    with pytest.raises(InputError) as error:
        PLAIN.read(BoxSpec, {})
    assert str(error.value) == "leaf: is missing, box needs it"


def test_the_hint_on_exponents_is_for_exponents():
    with pytest.raises(InputError) as error:
        box(limit="ten")
    assert str(error.value) == "limit: got 'ten', must be a number"


@pytest.mark.parametrize("text", ["1.5e3", "1e3"])
def test_the_hint_on_exponents_says_what_yaml_takes(text):
    with pytest.raises(InputError) as error:
        box(leaf={"share": text})
    assert str(error.value) == (
        f"leaf.share: got {text!r}, must be a number "
        "(YAML reads it as text: write it without quotes, with a point and a sign: 1.0e-3, 1.0e+3)"
    )


def test_a_union_says_all_that_it_takes():
    with pytest.raises(InputError) as error:
        box(memory=[1])
    assert str(error.value) == "memory: got [1], must be a number or text"


def test_a_union_says_all_that_it_takes_to_true_as_well():
    with pytest.raises(InputError) as error:
        box(memory=True)
    assert str(error.value) == "memory: got True, must be a number or text"


def test_none_is_written_where_the_field_is_required():
    @dataclass(frozen=True)
    class Timer:
        timeout_ms: float | None

    assert PLAIN.write(Timer(None)) == {"timeout_ms": None}


def test_a_long_value_is_cut_in_an_error():
    assert shown("x" * 100) == "'" + "x" * 56 + "…"
    assert shown([1, 2]) == "[1, 2]"


leaves = st.builds(
    Leaf,
    count=st.integers(),
    share=st.floats(allow_nan=False, allow_infinity=False),
    name=st.text(),
    yes=st.booleans(),
)
boxes = st.builds(
    BoxSpec,
    leaf=leaves,
    shape=st.none() | st.builds(Circle, radius=st.floats(0.1, 9)),
    colour=st.sampled_from(Colour),
    side=st.sampled_from(["left", "right", 3]),
    many=st.lists(st.floats(allow_nan=False, allow_infinity=False)).map(tuple),
    leaves=st.dictionaries(st.text(), leaves, max_size=3),
    limit=st.none() | st.integers(),
    memory=st.none() | st.integers() | st.text(),
)


@given(boxes)
def test_reading_undoes_writing(made):
    assert PLAIN.read(BoxSpec, PLAIN.write(made)) == made
