"""C15, small: the script runs, and a cap helps the short requests as its README says."""

import json

from script_files import ROOT, script

FOLDER = ROOT / "experiments" / "c15-splitting"


RUN = script(FOLDER / "run.py")


def test_a_cap_of_a_quarter_helps_short_requests_and_a_tiny_one_with_overlap_does_not():
    none, quarter, tiny = (
        RUN.figures(*case, requests=2000, replication=1)["short_p99_s"] for case in ((None, 0.0), (25, 6.25), (6, 6.25))
    )
    assert quarter < none < tiny


def test_the_small_mode_prints_a_row_a_cap_and_overlap(capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["run.py", "--small"])
    RUN.main()
    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("| ")]
    assert len(rows) == 1 + 1 + (len(RUN.CAPS) - 1) * len(RUN.OVERLAPS)


def test_the_readme_says_what_was_written():
    written = (FOLDER / "results.md").read_text(encoding="utf-8")
    rows = [line for line in (FOLDER / "README.md").read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    assert rows
    assert all(row in written for row in rows)
    assert len(json.loads((FOLDER / "results.json").read_text(encoding="utf-8"))) == 9
