"""The histogram below the table: rows that hold every request once, and marks that stand where they belong."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_runs import rendered, scenario

from simsched.report.histogram import ROWS, WIDTH, bar, histogram_lines, row_edges, run_histogram
from simsched.studies import replicate


def shares(lines):
    return [float(line.split(" %")[0].split()[-1]) for line in lines]


def row_of(lines, mark):
    (row,) = [row for row, line in enumerate(lines) if mark in line]
    return row


def test_a_run_is_shown_with_its_quantiles():
    study = replicate(scenario(workload={"requests": 500}))
    text = rendered(run_histogram(study.run, study.metrics[0].latency_s))
    head, *lines = text.splitlines()
    assert head == "latency, s: 460 requests"
    assert 7 <= len(lines) <= ROWS + 1
    assert sum(shares(lines)) == pytest.approx(100, abs=0.5)
    p50, p99 = (study.metrics[0].latency_s[name] for name in ("p50", "p99"))
    for mark, value in (("P50", p50), ("P99", p99)):
        low, high = (float(edge) for edge in lines[row_of(lines, mark)].split("█")[0].split("▏")[0].split("…")[:2])
        assert low <= value <= high


def test_several_replications_are_named():
    study = replicate(scenario())
    text = rendered(run_histogram(study.run, study.metrics[0].latency_s, 3))
    assert text.startswith("latency, s of the first of 3 replications: 360 requests\n")
    assert "P50" in text
    assert "P99" not in text  # 360 requests do not carry it


def test_what_is_beyond_p99_is_one_row():
    values = np.concatenate([np.linspace(0.1, 1.0, 990), np.full(10, 50.0)])
    lines = histogram_lines(values, {"P50": 0.55, "P99": 1.0})
    assert len(lines) <= ROWS + 1
    assert lines[-1].startswith(" 1.") or lines[-1].startswith("1.")
    assert "… 50.0" in lines[-1]
    assert shares(lines)[-1] == 1.0
    assert row_of(lines, "P99") == len(lines) - 2


def test_values_on_an_edge_fall_into_the_row_that_begins_there():
    lines = histogram_lines(np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]), {})
    assert len(lines) == 9
    assert shares(lines) == [11.1] * 9
    assert lines[2].startswith("0.3 … 0.4")


@pytest.mark.parametrize("value", [0.0, 3.0, 1e-9, 1e12])
def test_one_value_is_one_row(value):
    (line,) = histogram_lines(np.full(5, value), {"P50": value, "P99": value})
    assert line.endswith("100.0 %  P50, P99")


def test_bars_never_vanish_and_never_exceed_their_width():
    assert [len(bar(share)) for share in (0.0, 1e-12, 0.5, 1.0)] == [0, 1, WIDTH // 2, WIDTH]
    assert bar(0.5 + 1 / WIDTH / 8).endswith("▏")


@given(
    values=st.lists(st.floats(0, 1e6), min_size=1, max_size=60).map(lambda found: np.array(found).round(9)),
    level=st.floats(0.5, 1) | st.none(),
)
def test_every_value_is_counted_once(values, level):
    p99 = None if level is None else float(np.quantile(values, level, method="inverted_cdf"))
    marks = {"P50": float(np.median(values)), **({} if p99 is None else {"P99": p99})}
    lines = histogram_lines(values, marks)
    assert 1 <= len(lines) <= ROWS + 1
    edges, decimals = row_edges(values, p99)
    assert edges[0] <= values.min() or edges[0] == pytest.approx(values.min(), abs=1e-9)
    assert edges[-1] >= values.max() * (1 - 1e-6) - 10.0**-decimals
    assert (np.diff(edges) > 0).all() or len(edges) == 2
    assert sum(shares(lines)) == pytest.approx(100, abs=0.06 * len(lines))
    assert sum("P50" in line for line in lines) == 1
