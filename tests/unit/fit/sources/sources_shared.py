"""Where the fixtures stand, and the one line of an error."""

from pathlib import Path

import pytest

from simsched.core import InputError

ROOT = Path(__file__).parents[4]
DATA = ROOT / "tests" / "data"
LIVE = ROOT / "calibration" / "h200-sglang-omni" / "live"
H200 = DATA / "kineto" / "h200_code2wav.json.gz"
ALEXNET = DATA / "kineto" / "a100_40gb_alexnet.json.gz"
CPU_ONLY = DATA / "kineto" / "cpu_only_rank34.json.gz"
LARGE = DATA / "kineto" / "a100_sxm4_80gb_training_rank0.json.gz"
ON_GPU = ("kernel", "gpu_memcpy", "gpu_memset")
"""Categories of a trace's events on a GPU."""
GRID = ROOT / "calibration" / "h200-sglang-omni" / "isolated_curves.csv"


def line_of(call, *args, **options):
    """The error of the call, which must be one line."""
    with pytest.raises(InputError) as error:
        call(*args, **options)
    line = str(error.value)
    assert "\n" not in line
    return line


def of(cats, events):
    """The events of these categories."""
    return [one for one in events if one.get("cat") in cats]
