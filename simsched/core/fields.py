"""Fields of frozen specs that a file writes as text."""

from simsched.core.errors import InputError
from simsched.core.units import parse_bytes


def checked_bytes(value: object, name: str) -> int:
    """Bytes of a field.

    Raises:
        InputError: an unknown unit, negative, or not finite.
    """
    try:
        return parse_bytes(value)  # type: ignore[arg-type]
    except ValueError as error:
        raise InputError(str(error), name) from error


def keep_bytes(spec: object, *names: str) -> None:
    """Read these fields of a frozen spec as bytes, and store them as whole numbers.

    Raises:
        InputError: as `checked_bytes`.
    """
    for name in names:
        object.__setattr__(spec, name, checked_bytes(getattr(spec, name), name))
