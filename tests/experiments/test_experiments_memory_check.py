"""The memory check: its arithmetic by hand, its small mode, and a README that says what was written."""

import numpy as np
import pandas as pd
import pytest
from script_files import ROOT, script

FOLDER = ROOT / "experiments" / "memory-check"
CHECK = script(FOLDER / "check.py")
MIB = 2**20


def test_the_largest_sum_so_far_by_hand():
    batches = np.array([[0, 4, 5], [6, 9, 3], [3, 5, 4]])  # from, to (ns), bytes
    times = np.array([-1, 0, 2, 3, 4, 9]) / 1e9
    assert CHECK.highest_so_far(batches, times).tolist() == [0, 5, 5, 9, 9, 9]


def test_a_batch_that_ends_when_the_next_starts_does_not_add_to_it():
    assert CHECK.highest_so_far(np.array([[0, 5, 7], [5, 9, 8]]), np.array([9e-9])).tolist() == [8]


@pytest.fixture(scope="module")
def split():
    return CHECK.server_of("split")


def test_a_server_holds_at_least_what_is_predicted_once_it_is_busy(split):
    (row,) = split.rows()
    assert row["idle_mib"] == 5099
    assert row["predicted_mib"] == row["idle_mib"] + row["activations_mib"]
    # 8 requests of 60 words at 2.457 MB a frame, and up to 32 of them in the encoder
    assert 8 * 240 * 2457027 <= row["activations_mib"] * MIB <= 8 * 240 * 2457027 + 32 * 60 * 27293 + MIB
    assert row["measured_mib"] > row["predicted_mib"]
    assert (np.diff(split.predicted) >= 0).all()
    assert (np.diff(split.used) > -4 * MIB).all(), "what is in use never falls"


def test_a_line_left_out_meets_the_grid():
    errors = CHECK.held_out("vocoder", every=8)["error"].abs()
    assert errors.median() < 0.01


def test_the_small_mode_prints_all_tables_and_writes_nothing(capsys, monkeypatch):
    before = {path: path.stat().st_mtime_ns for path in FOLDER.iterdir() if path.is_file()}
    monkeypatch.setattr("sys.argv", ["check.py", "--small"])
    CHECK.main()
    out = capsys.readouterr().out
    assert "| vocoder, each shape left out |" in out
    assert "| w4-v4w_p40 |" in out
    assert {path: path.stat().st_mtime_ns for path in FOLDER.iterdir() if path.is_file()} == before


def test_the_readme_says_what_was_written():
    written = (FOLDER / "results.md").read_text(encoding="utf-8")
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    rows = [line for line in readme.splitlines() if line.startswith("| ")]
    assert len(rows) > 15
    assert all(row in written for row in rows)
    live = pd.read_csv(FOLDER / "live.csv")
    busy = live[live["phase"] != "e32v8-c1"]
    assert (busy["error"].max(), busy["error"].min()) == (-0.0843, -0.3799)
    assert (busy["grown_over_activations"].min().round(1), busy["grown_over_activations"].max().round(1)) == (1.3, 2.0)
