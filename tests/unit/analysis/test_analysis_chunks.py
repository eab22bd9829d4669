"""First pieces and gaps of streamed answers."""

import numpy as np
import pytest

from simsched.analysis import WarmupCount, chunk_numbers
from simsched.run import Recorder

MS = 1_000_000


def streamed(pieces, *, failed=()):
    """A Run whose request i was sent at 100·i ms and answered by the last of its pieces (ms after)."""
    recorder = Recorder([], np.ones(len(pieces)))
    for number, times in enumerate(pieces):
        sent = 100 * MS * number
        recorder.arrival[number] = sent
        recorder.chunks(number, [(sent + round(ms * MS), 10) for ms in times])
        if number in failed:
            recorder.lost(number, 2)
        else:
            recorder.done(number, sent + round((times[-1] if times else 1) * MS))
    return recorder.finish({})


def test_the_first_piece_counts_from_the_arrival_and_gaps_stay_within_an_answer():
    found = chunk_numbers(streamed([[10, 15, 40], [20], [30, 31]]))
    assert (found["requests"], found["chunks"]) == (3, 6)
    assert found["first_s"]["mean"] == pytest.approx(0.020)
    assert found["gap_s"]["mean"] == pytest.approx((0.005 + 0.025 + 0.001) / 3)


def test_the_warm_up_and_what_is_not_done_are_left_out():
    run = streamed([[90], [10, 12], [70, 80], [20]], failed={2})
    found = chunk_numbers(run, WarmupCount(1))
    assert (found["requests"], found["chunks"]) == (2, 3)
    assert found["first_s"]["mean"] == pytest.approx(0.015)


def test_a_quantile_that_the_sample_cannot_carry_is_none_with_its_reason():
    found = chunk_numbers(streamed([[1]] * 40))
    assert found["first_s"]["p99"] is None
    assert "P99 needs 368 requests" in found["refused"]["first_s.p99"]
    assert found["gap_s"]["mean"] is None


def test_without_pieces_there_are_no_numbers():
    recorder = Recorder(["a"], np.ones(1))
    recorder.arrival[0] = 0
    recorder.done(0, 5)
    assert chunk_numbers(recorder.finish({})) == {}
