"""Memory, small: each part runs, and what its README says stands in its results."""

import pandas as pd
import pytest
from memory_questions import concurrency, fragmentation, retries, stages, sweep, tiers
from memory_questions.world import Found, cell, flat, interval, markdown
from script_files import ROOT, script

FOLDER = ROOT / "experiments" / "memory"
RUN = script(FOLDER / "run.py")


@pytest.mark.parametrize("part", [part for part in RUN.PARTS if part not in ("sweep", "fragmentation")])
def test_a_part_runs_small_and_prints_its_tables(part, capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["run.py", "--small", "--part", part])
    RUN.main()
    written = (FOLDER / "results.md").read_text(encoding="utf-8")
    titles = [line for line in capsys.readouterr().out.splitlines() if line.startswith("## ")]
    assert titles
    assert all(title in written for title in titles)


def test_an_unknown_part_is_said_in_one_line(monkeypatch):
    monkeypatch.setattr("sys.argv", ["run.py", "--part", "cache"])
    with pytest.raises(SystemExit, match="--part: got 'cache', must be one of concurrency, retries"):
        RUN.main()


def test_retries_beyond_memory_waste_time_and_a_batch_that_shrinks_does_not(monkeypatch):
    monkeypatch.setattr(retries, "CASES", [case for case in retries.CASES if case[0] == 2 and case[1] in {"8", "12"}])
    fits, *tries, shrinks = retries.rows(small=True)[retries.TITLE]
    assert fits["wasted, %"].mean == shrinks["wasted, %"].mean == 0
    assert all(row["wasted, %"].mean > 5 for row in tries)


def test_only_a_caching_allocator_refuses_where_bytes_are_enough(monkeypatch):
    monkeypatch.setattr(fragmentation, "WAYS", {"shrink": fragmentation.WAYS["shrink"]})
    refused = {row["allocator"]: row["refused, %"].mean for row in fragmentation.rows(small=True)[fragmentation.TITLE]}
    assert refused["caching"] > 0
    assert refused["exact"] == refused["paged, 2 MiB"] == refused["pool, 16 MiB"] == 0


def test_linear_growth_cannot_give_both_ratios_of_c12():
    """M = F + a·N with M(64) = 1.2·M(32) has F = 128·a, and so 4/3 from 64 to 128."""
    held = {users: [{"peak, GiB": 128.0 + users}] for users in concurrency.USERS}
    row = concurrency.row("linear", "", held)
    assert row["32→64 (1.20)"].mean == pytest.approx(1.2)
    assert row["64→128 (2.00)"].mean == pytest.approx(4 / 3)


def test_measured_copies_are_read_where_they_are(tmp_path, monkeypatch):
    file = tmp_path / "copies.csv"
    rows = [
        f"{size},{direction},{pinned},{0.01 + size / (25e6 if pinned else 10e6)}"
        for size in (1000, 50_000_000)
        for direction in ("d2h", "h2d")
        for pinned in (0, 1)
    ]
    file.write_text("\n".join(["bytes,direction,pinned,ms", *rows]), encoding="utf-8")
    monkeypatch.setattr(tiers, "COPIES", file)
    rate, latency_ms, source = tiers.bandwidths()[True]
    assert (rate, latency_ms, source) == (pytest.approx(25e9, rel=1e-6), pytest.approx(0.01, rel=1e-6), "MEASURED")
    assert tiers.bandwidths()[False][0] == pytest.approx(10e9, rel=1e-6)


def test_one_long_request_takes_the_memory_of_a_batch_of_long_ones():
    short, long, capped = (row["GiB"] for row in stages.long_one())
    assert long == pytest.approx(short * 100 / 6)
    assert capped == pytest.approx(long / 4)


def test_a_distance_is_nothing_at_the_published_point():
    assert sweep.distance(1.15, 2.60) == 0
    assert sweep.distance(1.15 * 1.1, 2.60) == pytest.approx(sweep.distance(1.15, 2.60 / 1.1))


def test_figures_become_cells_and_columns():
    assert interval([2.0]) == Found(2.0, 2.0, 2.0)
    assert [
        cell(one) for one in (Found(1.0, 0.9, 1.1), Found(1.0, 1.0, 1.0), interval([1.0, float("nan")]), None, 3)
    ] == [
        *("1.00 ±0.100", "1.00", "–", "–", "3"),
    ]
    rows = [{"x": 1, "y": Found(1.0, 0.5, 1.5)}]
    assert markdown(rows)[-1] == "| 1 | 1.00 ±0.500 |"
    assert flat(rows) == [{"x": 1, "y": 1.0, "y: low": 0.5, "y: high": 1.5}]


def test_the_readme_says_what_was_written():
    written = (FOLDER / "results.md").read_text(encoding="utf-8")
    told = (FOLDER / "README.md").read_text(encoding="utf-8").split("\n## ", 1)[1]  # after the table of verdicts
    rows = [line for line in told.splitlines() if line.startswith("| ")]
    assert rows
    assert [row for row in rows if row not in written] == []
    for file in (FOLDER / "results").glob("*.csv"):
        assert len(pd.read_csv(file))
