import pytest
import yaml

from simsched.core import Batch, InputError, Origin, Provenance
from simsched.hardware import (
    CURVES,
    Linear,
    Power,
    Random,
    Roofline,
    Table,
    ValidRange,
    curve_from_mapping,
    curve_to_mapping,
    load_curve,
    save_curve,
)

COMMON = {
    "valid": ValidRange(count=(1, 64), longest=(8, 400.5)),
    "provenance": Provenance(origin=Origin.FITTED, source="isolated_curves.csv, stage vocoder"),
}
CURVES_OF_ALL_KINDS = [
    Linear(by="total", a_ms=20, b_ms=0.1 + 0.2, **COMMON),
    Power(by="count", c_ms=1e-9, d_ms=1 / 3, p=1.04, **COMMON),
    Roofline(by="padded", floor_ms=13.3, a_ms=0.0, b_ms=0.0757, **COMMON),
    Table(counts=(1, 4), lengths=(8, 24.5, 48), ms_grid=((13, 14.5, None), (14, 18, 28)), **COMMON),
    Random(dist="hyperexponential", mean_ms=10, scv=4.0, **COMMON),
    Random(dist="exponential", mean_ms=10),
]


def write(tmp_path, text):
    path = tmp_path / "voc.yaml"
    path.write_text(text)
    return path


def test_every_kind_is_here():
    assert {CURVES.name_of(type(curve)) for curve in CURVES_OF_ALL_KINDS} >= {
        "linear",
        "power",
        "roofline",
        "table",
        "random",
    }


@pytest.mark.parametrize("curve", CURVES_OF_ALL_KINDS, ids=lambda curve: type(curve).__name__)
def test_round_trip_is_exact(tmp_path, curve):
    save_curve(curve, tmp_path / "curve.yaml", {"rmse_ms": 2.1, "notes": ["4 samples"]})
    assert load_curve(tmp_path / "curve.yaml") == curve
    assert curve_from_mapping(curve_to_mapping(curve)) == curve


def test_extra_is_kept_for_the_reader_and_ignored(tmp_path):
    path = tmp_path / "curve.yaml"
    save_curve(CURVES_OF_ALL_KINDS[0], path, {"anything": {"free": [1, 2]}})
    assert yaml.safe_load(path.read_text())["fit"] == {"anything": {"free": [1, 2]}}
    assert load_curve(path) == CURVES_OF_ALL_KINDS[0]


def test_a_file_by_hand(tmp_path):
    path = write(tmp_path, "kind: roofline\nby: padded\nfloor_ms: 13\nb_ms: 0.1\nvalid: {count: [1, 8]}\n")
    curve = load_curve(path)
    assert curve.ms(Batch.of([200, 5])) == 40
    assert curve.valid == ValidRange(count=(1, 8))
    assert curve.provenance.origin is Origin.PRIOR


def test_nothing_half_written_is_left(tmp_path):
    with pytest.raises(InputError, match=r"no/curve\.yaml: cannot be written: No such file or directory"):
        save_curve(CURVES_OF_ALL_KINDS[0], tmp_path / "no" / "curve.yaml")
    save_curve(CURVES_OF_ALL_KINDS[0], tmp_path / "curve.yaml")
    assert [path.name for path in tmp_path.iterdir()] == ["curve.yaml"]


LINEAR = "kind: linear\na_ms: 1\n"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", "got None, must be {kind: …} with its fields (simsched list curves) or a cost object"),
        ("- 1", "got [1], must be {kind: …} with its fields (simsched list curves) or a cost object"),
        ("a: b: c", "is no YAML in line 1: mapping values are not allowed here"),
        ("a_ms: 1", "kind: got None, must name a kind: linear, power, random, roofline, table"),
        ("kind: linaer", "kind: cost 'linaer' is unknown; did you mean 'linear'?"),
        ("kind: linear", "a_ms: is missing, cost 'linear' needs it"),
        ("kind: linear\na_ms: fast", "a_ms: got 'fast', must be a number"),
        (
            "kind: linear\na_ms: 1e-3",
            "a_ms: got '1e-3', must be a number (YAML reads it as text: "
            "write it without quotes, with a point and a sign: 1.0e-3, 1.0e+3)",
        ),
        ("kind: linear\na_ms: true", "a_ms: got True, must be a number"),
        ("kind: linear\na_ms: .inf", "a_ms: got inf, must be a finite number"),
        ("kind: linear\na_ms: -1", "a_ms: got -1, must be a finite number, at least 0"),
        (LINEAR + "c_ms: 1", "c_ms: field 'c_ms' is unknown; did you mean"),
        (LINEAR + "by: paded", "by: value 'paded' is unknown; did you mean 'padded'?"),
        (LINEAR + "valid: 3", "valid: got 3, must be a mapping with some of: count, longest"),
        (LINEAR + "valid: {counts: [1, 2]}", "valid.counts: field 'counts' is unknown; did you mean 'count'?"),
        (LINEAR + "valid: {count: [8, 1]}", "valid.count: got [8, 1], must be [least, largest], both at least 0"),
        (LINEAR + "valid: {count: [1, 1.5]}", "valid.count[1]: got 1.5, must be a whole number"),
        (LINEAR + "provenance: {origin: GUESS}", "provenance.origin: origin 'GUESS' is unknown"),
        (LINEAR + "provenance: {source: 3}", "provenance.source: got 3, must be text"),
        ("kind: table\ncounts: 3", "counts: got 3, must be a list, in brackets"),
        ("kind: table\ncounts: [1, x]", "counts[1]: got 'x', must be a number"),
        (
            "kind: table\ncounts: [1, 2]\nlengths: [1, 2]\nms_grid: [[1, 2], [3, x]]",
            "ms_grid[1][1]: got 'x', must be a",
        ),
        ("kind: random\ndist: normal\nmean_ms: 3", "dist: value 'normal' is unknown"),
    ],
)
def test_bad_file_is_one_line_with_file_and_field(tmp_path, text, line):
    path = write(tmp_path, text)
    with pytest.raises(InputError) as error:
        load_curve(path)
    assert str(error.value).startswith(f"{path}: {line}")
    assert "\n" not in str(error.value)


def test_missing_file(tmp_path):
    with pytest.raises(InputError, match=r"none\.yaml: no such file$"):
        load_curve(tmp_path / "none.yaml")
