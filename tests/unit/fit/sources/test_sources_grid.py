"""Plain tables: units, parquet, GPUs, optional columns (the other lines: test_fit_samples.py)."""

import gzip
import io

import pandas as pd
import pytest
from sources_shared import GRID, line_of

from simsched.fit import inspect_profile, read_profiles, read_samples

GOOD = "batch,length,ms\n1,8,13\n2,8,14\n4,8,20\n"


def write(tmp_path, text, name="grid.csv"):
    path = tmp_path / name
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("column", "scale"),
    [("latency_ms", 1), ("time_ms", 1), ("median_ms", 1), ("us", 1e-3), ("latency_us", 1e-3), ("s", 1e3)],
)
def test_units_are_in_the_name(tmp_path, column, scale):
    samples = read_samples(write(tmp_path, GOOD.replace("ms", column)))
    assert samples.ms == pytest.approx([13 * scale, 14 * scale, 20 * scale])
    assert samples.of_medians == (column == "median_ms")


@pytest.mark.parametrize("column", ["time", "latency", "duration", "elapsed", "median", "mean"])
def test_a_time_without_a_unit_is_refused(tmp_path, column):
    path = write(tmp_path, GOOD.replace("ms", column))
    line = f"column {column} names no unit: call it {column}_ms, {column}_us or {column}_s"
    assert line_of(read_samples, path) == f"{path}: {line}"
    assert inspect_profile(path).lines()[-1] == f"cannot be fitted: {line}"


def test_parquet_is_the_same_as_csv(tmp_path):
    path = tmp_path / "grid.parquet"
    pd.read_csv(GRID).to_parquet(path)
    for stage in ("encoder", "vocoder"):
        text, binary = read_samples(GRID, stage=stage), read_samples(path, stage=stage)
        for name in ("count", "longest", "total", "ms", "peak_bytes"):
            assert getattr(text, name).tolist() == getattr(binary, name).tolist()
    assert inspect_profile(path).format == "table of 190 rows, parquet"
    path.write_bytes(path.read_bytes()[:-100])
    assert line_of(read_samples, path).startswith(f"{path}: is not parquet: ")


def test_optional_columns(tmp_path):
    text = "batch,length,total,ms,device_ms,host_ms,block,first,gpu\n"
    text += "1,8,8,13,5,9,a,true,A100\n2,8,12,14,6,9,a,True,A100\n4,8,20,15,7,9,b,0,A100\n"
    samples = read_profiles([write(tmp_path, text)])
    assert samples.total.tolist() == [8, 12, 20]
    assert samples.device_ms.tolist() == [5, 6, 7]
    assert samples.host_ms.tolist() == [9, 9, 9]
    assert samples.block.tolist() == [0, 0, 1]
    assert samples.first.tolist() == [True, True, False]
    assert read_profiles([write(tmp_path, text)], time="device").ms.tolist() == [5, 6, 7]
    only = write(tmp_path, "batch,length,device_ms\n1,8,1\n2,8,2\n3,8,3\n")
    assert read_profiles([only]).ms.tolist() == [1, 2, 3]


def test_many_files_are_blocks_and_their_own_blocks_are_kept_apart(tmp_path):
    one = write(tmp_path, GOOD, "one.csv")
    two = write(tmp_path, "batch,length,ms,block\n1,8,13,1\n1,8,13,2\n", "two.csv")
    samples = read_profiles([one, two, write(tmp_path, GOOD, "three.csv")])
    assert samples.block.tolist() == [0, 0, 0, 1, 2, 3, 3, 3]
    assert samples.source == "one.csv, two.csv, three.csv"
    assert read_profiles([one, one]).n == 3  # a file that is named twice is one


def test_few_sizes_in_each_of_many_files_do(tmp_path):
    lines = GOOD.splitlines()
    paths = [write(tmp_path, f"{lines[0]}\n{line}\n", f"{line[0]}.csv") for line in lines[1:]]
    assert read_profiles(paths).count.tolist() == [1, 2, 4]
    assert line_of(read_profiles, paths[:2]) == "got 2 distinct sizes, a fit needs at least 3: measure more"
    assert inspect_profile(paths[0]).lines()[-1] == (
        "cannot be fitted: 1 distinct size, a fit needs at least 3: give more files or measure more"
    )


def test_a_table_without_lengths_must_be_told_one(tmp_path):
    path = write(tmp_path, "batch,ms\n1,13\n2,14\n4,20\n")
    line = "lacks column length: it has batch, ms; if all had one size, say which (--length)"
    assert line_of(read_samples, path) == f"{path}: {line}"
    assert inspect_profile(path).lines()[-1] == f"cannot be fitted: {line}"
    samples = read_samples(path, length=128)
    assert samples.longest.tolist() == [128] * 3
    assert samples.total.tolist() == [128, 256, 512]


@pytest.mark.parametrize(
    ("text", "options", "line"),
    [
        ("length,ms\n8,1\n", {}, "lacks column batch: it has length, ms"),
        ("batch,length,ms,gpu\n1,8,1,H100\n2,8,1,A100\n", {}, "has rows of several GPUs, keep one in the file: A100, "
         "H100"),
        ("batch,length,ms,first\n1,8,1,maybe\n", {}, "first in data row 1: got 'maybe', must be true or false"),
        ("batch,length,ms,device_ms\n1,8,1,-1\n", {}, "device_ms in data row 1: got -1, must be a number more than 0"),
        ("stage,batch,length,ms\ne,1,8,1\n,2,8,1\n", {}, "stage in data row 2 is empty: name it"),
        ("batch,length,ms\n1,8,1,9\n", {}, "has rows with more fields than its header: is a comma missing there?"),
        (GOOD, {"time": "device"}, "has no column device_ms: leave --time out"),
        (GOOD, {"length": 3}, "has a column length: leave --length out"),
        (GOOD, {"match": "x"}, "is a table, which has no use for --match: leave it out"),
        ("one line of text\n", {}, "is no profile of a known format: grid, kineto, layers, nvidia_smi, sglang"),
        (" \n", {}, "is empty: give a profile with at least one measured batch"),
    ],
)  # fmt: skip
def test_bad_table_is_one_line(tmp_path, text, options, line):
    path = write(tmp_path, text)
    assert line_of(read_profiles, [path], **options) == f"{path}: {line}"


def test_cut_gzip_is_one_line(tmp_path):
    path = tmp_path / "grid.csv.gz"
    path.write_bytes(gzip.compress(GRID.read_bytes())[:-500])
    line = f"{path}: is cut or damaged: its gzip does not end; copy it again"
    assert line_of(read_samples, path) == line_of(read_profiles, [path]) == line


def test_tables_of_two_kinds_of_time_or_gpu_are_not_joined(tmp_path):
    one = write(tmp_path, GOOD, "one.csv")
    medians = write(tmp_path, GOOD.replace("ms", "median_ms"), "two.csv")
    assert line_of(read_profiles, [one, medians]) == (
        f"{medians}: time of a batch is a median, that of {one} is one measurement: fit them apart"
    )
    named = pd.read_csv(io.StringIO(GOOD)).assign(gpu="A100")
    other = write(tmp_path, named.to_csv(index=False), "three.csv")
    assert line_of(read_profiles, [one, other]) == (f"{other}: GPU is A100, that of {one} is not named: fit them apart")


@pytest.mark.parametrize("text", ["batch,length,ms\n", "stage,batch,length,ms\n"])
def test_a_table_without_rows_is_inspected(tmp_path, text):
    assert inspect_profile(write(tmp_path, text)).unfit[0].startswith("has no rows")


def test_inspection_of_the_calibration_grid():
    assert inspect_profile(GRID).lines() == [
        "isolated_curves.csv: table of 190 rows, CSV",
        "stages by the column stage",
        "encoder: 108 batches of 1–64, length 2–500, 108 distinct sizes",
        "vocoder: 82 batches of 1–64, length 8–400, 82 distinct sizes",
        "GPU: not named",
        "clock: none: a row is one batch",
        "columns: stage, batch, length, median_ms, min_ms, max_ms, repeats, peak_bytes",
        "missing: device_ms, block, gpu",
    ]
