"""The tree of errors. Each is one line that says where, what was got, and what to change.

SimschedError
├── InputError      a file, field or option that a user can correct
├── PolicyError     a policy decided something that is not allowed
├── Unstable        a formula was asked beyond its capacity
└── NotEnoughData   a sample too small for the statistic; `needed` says how large
"""

import traceback
from collections.abc import Iterable
from difflib import get_close_matches


class SimschedError(Exception):
    """Base of all errors of simsched; its text is one line for a user."""


class InputError(SimschedError):
    """A file, field or option is wrong.

    Args:
        problem: what was got and what to change.
        where: the file and field, such as "slow.yaml: stages.encoder.policy.max_batch".
    """

    def __init__(self, problem: str, where: str = "") -> None:
        self.problem = problem
        self.where = where
        super().__init__(problem, where)

    def __str__(self) -> str:
        return f"{self.where}: {self.problem}" if self.where else self.problem

    def within(self, where: str) -> "InputError":
        """The same error seen from one level further out."""
        joint = "" if not self.where else ("" if self.where.startswith("[") else ".")
        return InputError(self.problem, f"{where}{joint}{self.where}")

    def in_file(self, path: object) -> "InputError":
        """The same error with the file's name in front; seen from outside it has no field of its own yet."""
        return InputError(f"{path}: {self}")


def unknown(what: str, got: str, known: Iterable[str], where: str = "", hint: str = "") -> InputError:
    """An error for a name that is not known, naming the nearest known one.

    >>> str(unknown("policy", "drian", ["drain", "static"]))
    "policy 'drian' is unknown; did you mean 'drain'? (known: drain, static)"
    """
    names = sorted(known)
    if not names:
        return InputError(f"{what} {got!r} is unknown: there is none", where)
    near = get_close_matches(got, names, n=1)
    guess = f"; did you mean {near[0]!r}?" if near else ""
    listed = hint or f"known: {', '.join(names)}"
    return InputError(f"{what} {got!r} is unknown{guess} ({listed})", where)


class PolicyError(SimschedError):
    """A policy broke its contract: not a decision, not waiting, twice in a batch, or a Hold in the past."""


class Unstable(SimschedError):
    """The offered load reaches or passes the capacity, so the quantity asked for is infinite."""


class NotEnoughData(SimschedError):
    """A sample is too small for the statistic.

    Args:
        problem: one line.
        needed: the number of observations that would do.
    """

    def __init__(self, problem: str, needed: int) -> None:
        self.problem = problem
        self.needed = needed
        super().__init__(problem, needed)

    def __str__(self) -> str:
        return self.problem


def raised(error: BaseException) -> str:
    """A foreign error in one line: its kind, its words, and the line of code that raised it.

    >>> try:
    ...     1 // 0
    ... except ZeroDivisionError as error:
    ...     raised(error).split(" (")[0]
    'ZeroDivisionError: integer division or modulo by zero'
    """
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({frames[-1].filename}:{frames[-1].lineno})" if frames else ""
    words = " ".join(str(error).split())
    return f"{type(error).__name__}{f': {words}' if words else ''}{where}"


class SimschedWarning(UserWarning):
    """Something a user should know about a result that was still computed."""
