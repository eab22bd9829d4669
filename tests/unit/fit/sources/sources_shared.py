"""Where the fixtures stand, and the one line of an error."""

from pathlib import Path

import pytest

from simsched.core import InputError

ROOT = Path(__file__).parents[4]
DATA = ROOT / "tests" / "data"
LIVE = ROOT / "calibration" / "h200-sglang-omni" / "live"
GRID = ROOT / "calibration" / "h200-sglang-omni" / "isolated_curves.csv"


def line_of(call, *args, **options):
    """The error of the call, which must be one line."""
    with pytest.raises(InputError) as error:
        call(*args, **options)
    line = str(error.value)
    assert "\n" not in line
    return line
