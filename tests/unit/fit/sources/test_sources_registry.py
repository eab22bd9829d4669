"""Every source knows its own files and no other's; kinds are not mixed; a new source is one class."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from sources_shared import DATA, GRID, LIVE, ROOT, line_of

from simsched.fit import inspect_profile, read_profiles
from simsched.fit.sources import SOURCES, Inspection, Reading, describe_sources, source_of
from simsched.fit.sources.base import FALLBACK, head_of

OWN = {
    "grid": [GRID],
    "kineto": sorted((DATA / "kineto").glob("*.json.gz")),
    "layers": sorted((ROOT / "calibration" / "layers").glob("*.csv.gz")),
    "nvidia_smi": sorted(LIVE.glob("*nvidia-smi*")),
    "sglang": [*sorted(LIVE.glob("*/events_*")), *sorted(path for path in LIVE.iterdir() if path.is_dir())],
}


@pytest.mark.parametrize("name", list(SOURCES))
def test_a_file_has_one_source(name):
    assert len(OWN[name]) > 0
    for path in OWN[name]:
        head = head_of(path)
        claims = {other for other, source in SOURCES.items() if source().claims(path, head)}
        assert claims - {FALLBACK} == {name} - {FALLBACK}
        assert source_of(path) == name


def test_a_name_says_nothing(tmp_path):
    path = tmp_path / "trace.csv"
    path.write_bytes(OWN["kineto"][0].read_bytes())
    assert source_of(path) == "kineto"


@pytest.mark.parametrize("name", list(SOURCES))
def test_inspection_is_lines_and_plain_values(name):
    inspection = inspect_profile(OWN[name][0])
    assert inspection.kind == name
    assert all(line and "\n" not in line for line in inspection.lines())
    assert inspection.to_mapping()["path"] == str(OWN[name][0])


def test_kinds_are_not_mixed():
    trace = DATA / "kineto" / "h200_code2wav.json.gz"
    assert line_of(read_profiles, [GRID, trace], stage="vocoder") == (
        f"{trace}: kind is kineto, that of {GRID} is grid: fit them apart"
    )
    assert line_of(read_profiles, []) == "paths: got no profile, must be at least one file"


def test_descriptions_are_one_line_each():
    assert list(describe_sources()) == sorted(OWN)
    assert all(text.endswith(".") and "\n" not in text for text in describe_sources().values())


def test_a_new_source_is_one_class(tmp_path, monkeypatch):
    monkeypatch.setattr(SOURCES, "_items", dict(SOURCES._items))

    @SOURCES.register("words")
    @dataclass(frozen=True, kw_only=True)
    class Words:
        """A test."""

        def claims(self, path, head):
            return head.startswith(b"words")

        def group(self, path):
            return path

        def inspect(self, path, asked):
            return Inspection(kind="words", format="words", path=path)

        def read(self, paths, asked):
            three = np.array([1.0, 2, 3])
            table = pd.DataFrame({"count": three, "longest": three, "total": three, "ms": three})
            return Reading(kind="words", path=paths[0], table=table)

    path = tmp_path / "x"
    path.write_text("words, many")
    assert read_profiles([path]).ms.tolist() == [1, 2, 3]
    assert inspect_profile(path).lines() == ["x: words", "GPU: not named"]
