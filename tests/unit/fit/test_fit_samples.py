import gzip

import numpy as np
import pytest

from simsched.core import InputError
from simsched.fit import Samples, read_samples
from simsched.hardware import ValidRange

GOOD = "stage,batch,length,median_ms,peak_bytes\nvoc,1,8,13,100\nvoc,2,8,14,200\nvoc,2,24,20,600\nenc,1,8,25,50\n"


def write(tmp_path, text):
    path = tmp_path / "profile.csv"
    path.write_text(text)
    return path


def test_reads_one_stage(tmp_path):
    samples = read_samples(write(tmp_path, GOOD), stage="voc")
    assert samples.count.tolist() == [1, 2, 2]
    assert samples.ms.tolist() == [13, 14, 20]
    assert samples.x("padded").tolist() == samples.x("total").tolist() == [8, 16, 48]
    assert samples.peak_bytes.tolist() == [100, 200, 600]
    assert samples.valid == ValidRange(count=(1, 2), longest=(8, 24))
    assert samples.source == "profile.csv, stage voc"


def test_reads_ms_total_and_gzip(tmp_path):
    path = tmp_path / "profile.csv.gz"
    path.write_bytes(gzip.compress(b"batch,length,total,ms\n1,8,8,13\n2,8,12,14\n3,8,20,15\n"))
    samples = read_samples(path)
    assert samples.x("total").tolist() == [8, 12, 20]
    assert samples.x("padded").tolist() == [8, 16, 24]
    assert samples.peak_bytes is None


@pytest.mark.parametrize(
    ("text", "stage", "line"),
    [
        ("", None, "is empty: give a CSV with batch, length and ms"),
        ("batch,length,ms\n", None, "has no rows: give one row a measured batch"),
        ("batch,ms\n1,2\n", None, "lacks column length: it has batch, ms"),
        ("batch,length,p50\n1,2,3\n", None, "lacks column ms or median_ms: it has batch, length, p50"),
        ("batch,length,ms\n1,2,3\n", "voc", "lacks column stage, asked for 'voc': leave the stage out"),
        (GOOD, "vocoder", "has no rows of stage 'vocoder': it has enc, voc"),
        (GOOD, "enc", "got 1 distinct sizes, a fit needs at least 3: measure more"),
        (GOOD.replace(",14,", ",0,"), "voc", "median_ms in data row 2: got 0, must be a number more than 0"),
        (GOOD.replace(",14,", ",-3,"), "voc", "median_ms in data row 2: got -3, must be a number more than 0"),
        (GOOD.replace(",14,", ",fast,"), "voc", "median_ms in data row 2: got 'fast', must be a number more than 0"),
        (GOOD.replace(",14,", ",,"), "voc", "median_ms in data row 2: got nan, must be a number more than 0"),
        ('batch,length,ms\n1,2,3\n"', None, "is not CSV: "),
    ],
)
def test_bad_file_is_one_line(tmp_path, text, stage, line):
    path = write(tmp_path, text)
    with pytest.raises(InputError) as error:
        read_samples(path, stage=stage)
    assert str(error.value).startswith(f"{path}: {line}")
    assert "\n" not in str(error.value)


def test_missing_file(tmp_path):
    with pytest.raises(InputError, match=r"none\.csv: cannot be read: No such file"):
        read_samples(tmp_path / "none.csv")


def test_samples_check_their_own_fields():
    three = np.array([1.0, 2, 3])
    with pytest.raises(InputError, match=r"^longest: got 2 values, must be 3, one a batch$"):
        Samples(count=three, longest=three[:2], total=three, ms=three)
    with pytest.raises(InputError, match=r"^ms\[1\]: got -2, must be a finite number, more than 0$"):
        Samples(count=three, longest=three, total=three, ms=np.array([1.0, -2, 3]))
