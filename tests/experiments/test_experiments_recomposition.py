"""C9, small: the iteration-level model against what a hand computes, and the claims of its README."""

import numpy as np
import pytest
from script_files import ROOT, script

FOLDER = ROOT / "experiments" / "c9-recomposition"


RUN = script(FOLDER / "run.py")


def test_a_static_batch_is_held_by_its_longest():
    lengths = np.array([1] * 15 + [9] + [2] * 16)
    assert RUN.static(lengths, cost=0.5) == pytest.approx(32 / (9 + 0.5 + 2 + 0.5))


def test_without_a_cost_no_slot_of_continuous_batching_is_ever_empty():
    lengths = np.full(1600, 4)
    assert RUN.continuous(lengths, cost=0.0) == pytest.approx(16 / 4, rel=0.02)


@pytest.mark.parametrize("kind", ["fixed", "geometric"])
@pytest.mark.parametrize("mean", [3, 30])
@pytest.mark.parametrize("cost", [0.1, 1.0])
def test_the_simulated_ratio_is_the_hands(kind, mean, cost):
    each = [RUN.rates(kind, mean, cost, 4000, replication) for replication in range(4)]
    by_hand = RUN.expected(kind, mean, cost)
    assert np.mean([one.static for one in each]) == pytest.approx(by_hand.static, rel=0.03)
    assert np.mean([one.continuous for one in each]) == pytest.approx(by_hand.continuous, rel=0.03)


def test_the_spread_of_lengths_decides():
    assert RUN.expected("fixed", 3, 0.5).continuous < 0.8 * RUN.expected("fixed", 3, 0.5).static
    assert RUN.expected("geometric", 3, 2.8).continuous > RUN.expected("geometric", 3, 2.8).static
    assert RUN.expected("geometric", 3, 3.0).continuous < RUN.expected("geometric", 3, 3.0).static


def test_the_small_mode_prints_every_row(capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["run.py", "--small"])
    RUN.main()
    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("| ")]
    assert len(rows) == 1 + len(RUN.LENGTHS) * len(RUN.MEANS) * len(RUN.COSTS)
    committed = (FOLDER / "results.md").read_text(encoding="utf-8")
    assert rows[0] in committed
