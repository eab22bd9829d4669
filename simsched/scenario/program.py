"""Programs in a scenario file: a list of operations.

- {work: interpreter, ms: 38}                 wait for time on a resource (cpu: one that is never shared)
- {enqueue: gpu, cost: {kind: linear, …}}     put time on the GPU's stream and go on
  (with scale: 4 the cost's unit is a quarter of the stage's: frames of a stage that counts words)
- {sync: gpu}                                 wait until what is on the stream now is done
- {move: pcie, base: 0, per_unit: 2 MB}       wait for bytes on a link
- {slices: 10, of: […]}                       in 10 rounds, each with a tenth of every time
- {each: request, of: […]}                    for each member in turn, as a batch of one
- {mark: end}                                 a moment that a live stage reports; what follows it is not in its service
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from simsched.core import InputError, checked_bytes, shown, unknown
from simsched.hardware import Curve, Each, Linear, Mark, Op, Operation, Program, Slices, Work
from simsched.scenario.spec import Link

ReadCurve = Callable[[object], Curve]
_WORDS = ("work", "enqueue", "sync", "move", "slices", "each", "mark")
_FIELDS = {
    "work": ("ms", "cost", "scale"),
    "enqueue": ("ms", "cost", "scale"),
    "sync": (),
    "move": ("base", "per_unit"),
    "slices": ("of",),
    "each": ("of",),
    "mark": (),
}


def read_program(ops: Sequence[object], curve: ReadCurve, links: Mapping[str, Link]) -> Program:
    """The program of a list of operations.

    Args:
        ops: plain values as above.
        curve: reads a cost.
        links: for `move`.

    Raises:
        InputError: `where` is the place in the list.
    """
    if not isinstance(ops, (list, tuple)) or not ops:
        raise InputError(f"got {shown(ops)}, must be a list of operations: {', '.join(_WORDS)}")
    made = []
    for place, op in enumerate(ops):
        try:
            made.append(_read_op(op, curve, links))
        except InputError as error:
            raise error.within(f"[{place}]") from error
    return Program.of(made)


def _read_op(op: object, curve: ReadCurve, links: Mapping[str, Link]) -> Operation:
    word = next((word for word in _WORDS if isinstance(op, Mapping) and word in op), None)
    if not isinstance(op, Mapping) or word is None:
        raise InputError(f"got {shown(op)}, must be one of: {', '.join(f'{{{word}: …}}' for word in _WORDS)}")
    for name in op:
        if name != word and name not in _FIELDS[word]:
            raise unknown(f"field of {word}", str(name), _FIELDS[word], str(name))
    if word in ("slices", "each"):
        return _nested(word, op, curve, links)
    if word == "move":
        return _move(op, links)
    if word == "mark":
        return Mark(name=str(op[word]))
    if word == "sync":
        return Work(op=Op.SYNC, on=str(op[word]))
    scale = op.get("scale", 1.0)
    if isinstance(scale, bool) or not isinstance(scale, (int, float)):
        raise InputError(f"got {shown(scale)}, must be a number", "scale")
    return Work(op=word, on=str(op[word]), cost=_cost(op, curve), scale=scale)


def _nested(word: str, op: Mapping[str, Any], curve: ReadCurve, links: Mapping[str, Link]) -> Slices | Each:
    try:
        ops = read_program(op.get("of", ()), curve, links)
    except InputError as error:
        raise error.within("of") from error
    if word == "slices":
        if not isinstance(op[word], int) or isinstance(op[word], bool):
            raise InputError(f"got {shown(op[word])}, must be a whole number of rounds", word)
        return Slices(rounds=op[word], ops=ops)
    if op[word] != "request":
        raise InputError(f"got {shown(op[word])}, must be request", word)
    return Each(ops=ops)


def _cost(op: Mapping[str, Any], curve: ReadCurve) -> Curve:
    if ("ms" in op) == ("cost" in op):
        raise InputError("must have either ms (fixed) or cost (by batch)")
    if "ms" in op:
        ms = op["ms"]
        if isinstance(ms, bool) or not isinstance(ms, (int, float)):
            raise InputError(f"got {shown(ms)}, must be a number of milliseconds", "ms")
        try:
            return Linear(a_ms=ms)
        except InputError as error:
            raise InputError(error.problem, "ms") from error
    try:
        return curve(op["cost"])
    except InputError as error:
        raise error.within("cost") from error


def _move(op: Mapping[str, Any], links: Mapping[str, Link]) -> Work:
    name = str(op["move"])
    if name not in links:
        raise unknown("link", name, links, "move")
    link = links[name]
    ms_per_byte = 1000 / checked_bytes(link.bandwidth, "bandwidth")
    base = checked_bytes(op.get("base", 0), "base")
    unit = checked_bytes(op.get("per_unit", 0), "per_unit")
    return Work(
        op=Op.WORK, on=name, cost=Linear(by="total", a_ms=link.latency_ms + base * ms_per_byte, b_ms=unit * ms_per_byte)
    )
