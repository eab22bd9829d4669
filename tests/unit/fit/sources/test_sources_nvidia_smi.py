"""Samples that nvidia-smi wrote, real ones and real ones damaged on purpose."""

import gzip

import numpy as np
import pytest
from sources_shared import LIVE, line_of

from simsched.fit import inspect_profile, read_profiles
from simsched.fit.sources import read_gpu_samples

SPLIT = LIVE / "split-nvidia-smi.csv.gz"
TEXT = gzip.decompress(SPLIT.read_bytes()).decode()
UNFIT = "holds samples of a GPU, no batches: give a trace, events or a table of batches"


def test_reads_every_column_in_its_unit():
    samples = read_gpu_samples(SPLIT)
    assert samples.n == len(TEXT.splitlines()) - 1 == 126
    assert samples.time_s[[0, 1, -1]] == pytest.approx([0, 0.104, 12.539])
    assert samples.started == "2026/11/29 15:28:22.571"
    assert samples.used_bytes[0] == 5099 * 2**20
    assert samples.utilisation[-1] == pytest.approx(0.03)
    assert samples.power_w[-1] == pytest.approx(413.88)
    assert samples.sm_clock_mhz.tolist() == [1980] * 126
    assert samples.total_bytes is None
    assert samples.gpu == ""


def test_no_units_in_cells_a_name_and_what_the_driver_does_not_know(tmp_path):
    path = tmp_path / "smi.csv"
    path.write_text(
        "timestamp, name, memory.used [MiB], power.draw [W]\n2026/11/29 15:28:22.571, NVIDIA H200, 5, [N/A]\n"
    )
    samples = read_gpu_samples(path)
    assert samples.gpu == "NVIDIA H200"
    assert samples.used_bytes.tolist() == [5 * 2**20]
    assert np.isnan(samples.power_w).all()
    path.write_text("timestamp, memory.used [MiB]\n2026/11/29 15:28:22.571, [N/A]\n")
    assert not any("memory in use" in line for line in inspect_profile(path).lines())


def test_inspected_and_refused_as_a_profile():
    assert inspect_profile(SPLIT).lines() == [
        "split-nvidia-smi.csv.gz: nvidia-smi samples of a GPU",
        "126 samples, one each 100 ms",
        "memory in use 5.0 GiB–12.1 GiB",
        "SM clock 1980 MHz",
        "GPU: not named",
        "clock: the host's local time from 2026/11/29 15:28:22.571, 12.539 s in all",
        "columns: used_bytes, utilisation, memory_utilisation, power_w, sm_clock_mhz",
        "missing: batches",
        f"cannot be fitted: {UNFIT}",
    ]
    assert line_of(read_profiles, [SPLIT]) == f"{SPLIT}: {UNFIT}"


ROW_1 = "2026/11/29 15:28:22.571, 5099 MiB"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (TEXT.splitlines()[0], "has no samples: give one row a sample"),
        (TEXT.replace("timestamp", "time"), "lacks column timestamp: it has time, memory.used [MiB], "
         "utilization.gpu [%], utilization.memory [%], power.draw [W], clocks.current.sm [MHz]"),
        (TEXT.replace("5099 MiB", "-1 MiB", 1), "memory.used [MiB] in data row 1: got '-1 MiB', must be a number, at "
         "least 0"),
        (TEXT.replace("[MiB]", "[pages]"), "column 'memory.used [pages]' has unit pages, must be one of MiB, KiB, GiB, "
         "%, W, MHz"),
        (TEXT.replace(" [MiB]", ""), "column 'memory.used' has no unit, must be one of MiB, KiB, GiB, %, W, MHz"),
        (TEXT.replace(ROW_1, ROW_1[11:]), "timestamp in data row 1: got '15:28:22.571', must be as 2026/11/29 "
         "15:17:06.463: is it cut?"),
        (TEXT.replace("15:28:22.571", "15:29:22.571"), "timestamp in data row 2 is before the one above: the clock "
         "stepped"),
        ("timestamp, index, memory.used [MiB]\n2026/11/29 15:28:22.571, 0, 1\n2026/11/29 15:28:22.571, 1, 1\n",
         "has samples of 2 GPUs: keep one (nvidia-smi -i 0)"),
    ],
)  # fmt: skip
def test_damaged_file_is_one_line(tmp_path, text, line):
    path = tmp_path / "smi.csv"
    path.write_text(text)
    assert line_of(read_gpu_samples, path) == f"{path}: {line}"


def test_cut_gzip(tmp_path):
    path = tmp_path / "smi.csv.gz"
    path.write_bytes(SPLIT.read_bytes()[:-100])
    assert line_of(read_gpu_samples, path) == f"{path}: is cut or damaged: its gzip does not end; copy it again"
