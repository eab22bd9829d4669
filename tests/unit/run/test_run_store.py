"""A Run on disk: what is saved comes back, and nothing else is taken for it."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simsched.core import InputError
from simsched.run import TABLES, Recorder, Run, load, save
from simsched.run.recorder import FAILED

STAGES = ["vocoder", "encoder", "spare"]


def small(seed: int = 1) -> Run:
    recorder = Recorder(STAGES, np.array([6.0, 60.0]), np.array([1, 0], np.int8), ["short", "long", "huge"])
    recorder.arrival[:] = [0, 5]
    stage = recorder.stages[0]
    stage.enter([0, 1], 6)
    stage.finish(stage.begin([1, 0], 0, 7), 20)
    recorder.done(0, 21)
    recorder.lost(1, FAILED)
    recorder.incident(9, "error", 1, "encoder", "HTTP 500 → gave up")
    recorder.memory(7, "gpu0", "weights", 2**40)
    return recorder.finish({"seed": seed, "note": "µs", "rate": np.float64(1.5)})


@st.composite
def runs(draw: st.DrawFn) -> Run:
    """Any Run that a Recorder can make of few requests."""
    n = draw(st.integers(0, 6))
    sizes = np.array(draw(st.lists(st.floats(0, 1e6), min_size=n, max_size=n)))
    recorder = Recorder(draw(st.permutations(STAGES)), sizes)
    times = st.integers(0, 2**62)
    for request in range(n):
        recorder.arrival[request] = draw(times)
        if draw(st.booleans()):
            recorder.done(request, draw(times))
        for log in recorder.stages:
            if draw(st.booleans()):
                log.enter([request], draw(times))
                batch = log.begin([request], draw(st.integers(0, 3)), draw(times))
                if draw(st.booleans()):
                    log.finish(batch, draw(times))
    for _ in range(draw(st.integers(0, 3))):
        recorder.incident(draw(times), draw(st.text(max_size=5)), draw(st.integers(-1, n)), "", draw(st.text()))
        recorder.memory(draw(times), draw(st.sampled_from(["gpu1", "gpu0"])), "kv", draw(times))
    plain = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
    return recorder.finish(draw(st.dictionaries(st.text(), plain | st.lists(plain), max_size=3)))


def assert_same(got: Run, wanted: Run) -> None:
    assert got.meta == dict(wanted.meta)
    for name in TABLES:
        table = getattr(wanted, name)
        if "detail" in table:
            table = table.astype({"detail": "str"})
        pd.testing.assert_frame_equal(getattr(got, name), table)


def contents(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(directory.iterdir())}


def test_a_saved_run_comes_back(tmp_path: Path) -> None:
    save(small(), tmp_path / "deep" / "run")
    assert_same(load(tmp_path / "deep" / "run"), small())
    assert load(tmp_path / "deep" / "run").stages == STAGES
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["run"]
    assert set(contents(tmp_path / "deep" / "run")) == {"meta.json", *(f"{name}.parquet" for name in TABLES)}


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(run=runs())
def test_any_run_comes_back_and_the_same_run_gives_the_same_bytes(tmp_path: Path, run: Run) -> None:
    save(run, tmp_path / "a")
    back = load(tmp_path / "a")
    assert_same(back, run)
    save(back, tmp_path / "b")
    assert contents(tmp_path / "a") == contents(tmp_path / "b")


def test_the_order_of_categories_is_kept_also_of_those_without_rows(tmp_path: Path) -> None:
    save(small(), tmp_path / "run")
    back = load(tmp_path / "run")
    assert back.visits["stage"].cat.categories.tolist() == STAGES
    assert back.requests["cls"].cat.categories.tolist() == ["short", "long", "huge"]


def test_a_run_is_replaced(tmp_path: Path) -> None:
    save(small(1), tmp_path / "run")
    save(small(2), tmp_path / "run")
    assert load(tmp_path / "run").meta["seed"] == 2
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_what_is_no_run_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    (tmp_path / "empty").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "meta.json").write_text('{"mine": 1}')
    save(small(), tmp_path / "more")
    (tmp_path / "more" / "notes.txt").write_text("mine")
    for name, problem in {"file": "no Run", "empty": "no Run", "other": "no Run", "more": "notes.txt"}.items():
        with pytest.raises(InputError, match=rf"{name}: .*{problem}.*choose another name"):
            save(small(), tmp_path / name)
    assert (tmp_path / "file").read_text() == "mine"
    assert (tmp_path / "more" / "notes.txt").read_text() == "mine"


def test_nothing_half_written_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save(small(1), tmp_path / "run")
    written: list[object] = []

    def interrupted(table: pd.DataFrame, path: Path, **_: object) -> None:
        written.append(path)
        if len(written) == 3:
            raise KeyboardInterrupt
        Path(path).write_bytes(b"half")

    monkeypatch.setattr(pd.DataFrame, "to_parquet", interrupted)
    with pytest.raises(KeyboardInterrupt):
        save(small(2), tmp_path / "run")
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
    assert load(tmp_path / "run").meta["seed"] == 1


def test_an_old_run_comes_back_if_the_new_one_cannot_take_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(small(1), tmp_path / "run")
    rename = Path.rename

    def refuses(path: Path, target: Path) -> Path:
        if ".new-" in path.name:
            raise PermissionError(13, "Permission denied")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", refuses)
    with pytest.raises(InputError, match="run: cannot be written: Permission denied"):
        save(small(2), tmp_path / "run")
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
    assert load(tmp_path / "run").meta["seed"] == 1


@pytest.mark.parametrize("value", [float("nan"), object(), {1, 2}, "\ud800"])
def test_meta_that_json_cannot_hold_is_refused(tmp_path: Path, value: object) -> None:
    run = Recorder(["a"], np.zeros(0)).finish({"bad": value})
    with pytest.raises(InputError, match="meta cannot be written as JSON"):
        save(run, tmp_path / "run")
    assert list(tmp_path.iterdir()) == []


def edited(table: str, change: Callable[[pd.DataFrame], pd.DataFrame]) -> Callable[[Path], object]:
    def edit(directory: Path) -> None:
        path = directory / f"{table}.parquet"
        change(pd.read_parquet(path)).to_parquet(path, index=False)

    return edit


def meta_with(**fields: object) -> Callable[[Path], object]:
    def edit(directory: Path) -> None:
        content = json.loads((directory / "meta.json").read_text()) | fields
        (directory / "meta.json").write_text(json.dumps(content))

    return edit


DAMAGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "gone": (shutil.rmtree, r"run: is not a directory"),
    "no table": (lambda d: (d / "visits.parquet").unlink(), r"visits\.parquet: is missing"),
    "no meta": (lambda d: (d / "meta.json").unlink(), r"meta\.json: cannot be read: No such file"),
    "cut": (lambda d: (d / "batches.parquet").write_bytes(b"PAR1cut"), r"batches\.parquet: is damaged"),
    "empty": (lambda d: (d / "batches.parquet").write_bytes(b""), r"batches\.parquet: is damaged"),
    "no column": (edited("visits", lambda t: t.drop(columns="enter_ns")), r"visits\.parquet: has no column enter_ns"),
    "more": (edited("requests", lambda t: t.assign(x=1, a=2)), r"requests\.parquet: has an unknown column a, x"),
    "float": (edited("visits", lambda t: t.astype({"enter_ns": float})), r"enter_ns: got float64, must be int64"),
    "int": (edited("requests", lambda t: t.astype({"size": int})), r"size: got int64, must be float64"),
    "no text": (edited("incidents", lambda t: t.assign(detail=1.5)), r"detail: got float64, must be text"),
    "no name": (edited("visits", lambda t: t.assign(stage=7)), r"stage: got int64, must be names"),
    "null": (edited("memory", lambda t: t.assign(gpu=pd.Series([None], dtype="str"))), r"gpu: has a row without"),
    "stage": (edited("visits", lambda t: t.assign(stage="x")), r"stage: 'x' is not among the names in meta\.json"),
    "status": (edited("requests", lambda t: t.assign(status="lost")), r"'lost' is not among .*\(done, refused,"),
    "no json": (lambda d: (d / "meta.json").write_text("{"), r"meta\.json: is not JSON"),
    "binary": (lambda d: (d / "meta.json").write_bytes(b"\xff\xfe"), r"meta\.json: is not JSON"),
    "list": (lambda d: (d / "meta.json").write_text("[]"), r"meta\.json: is not of a Run"),
    "older": (meta_with(simsched_run=1), r"simsched_run: got 1, this simsched reads 2"),
    "stages": (meta_with(meta={"stages": "a"}), r"meta\.stages: must hold the names"),
    "categories": (meta_with(categories={"requests": {"cls": [1]}}), r"categories\.requests\.cls: must hold a list"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_one_line_that_names_the_file(tmp_path: Path, damage: str) -> None:
    break_it, message = DAMAGES[damage]
    save(small(), tmp_path / "run")
    break_it(tmp_path / "run")
    with pytest.raises(InputError, match=message) as caught:
        load(tmp_path / "run")
    assert "\n" not in str(caught.value)
    assert str(tmp_path / "run") in str(caught.value)


def test_names_may_be_plain_text_in_parquet(tmp_path: Path) -> None:
    save(small(), tmp_path / "run")
    edited("visits", lambda table: table.astype({"stage": "str"}))(tmp_path / "run")
    assert_same(load(tmp_path / "run"), small())


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(table=st.sampled_from(sorted(TABLES)), place=st.floats(0, 1, exclude_max=True), mask=st.integers(1, 255))
def test_a_flipped_byte_is_refused_or_harmless(tmp_path: Path, table: str, place: float, mask: int) -> None:
    if not (tmp_path / "run").exists():
        save(small(), tmp_path / "run")
    path = tmp_path / "run" / f"{table}.parquet"
    whole = path.read_bytes()
    damaged = bytearray(whole)
    damaged[int(place * len(whole))] ^= mask
    path.write_bytes(damaged)
    try:
        got = load(tmp_path / "run")
    except InputError:
        return
    finally:
        path.write_bytes(whole)
    assert_same(got, small())
