from dataclasses import dataclass

import pytest
from policy_cases import answer, waiting

from simsched.core import InputError, StaticView
from simsched.policies import BestThroughput, Drain


@dataclass(frozen=True, kw_only=True)
class Padded(StaticView):
    """10 ms and 1 ms for each padded unit."""

    def ms(self, requests):
        return 10 + len(requests) * max(request.size for request in requests)


def ids(policy, requests):
    return [request.id for request in policy.decide(0, requests, Padded()).requests]


def test_stops_before_a_long_one_that_the_short_ones_would_pay():
    assert ids(BestThroughput(max_batch=8), waiting(6, 6, 6, 60)) == [0, 1, 2]
    assert ids(Drain(max_batch=8), waiting(6, 6, 6, 60)) == [0, 1, 2, 3]


def test_takes_all_where_each_more_is_cheaper():
    assert ids(BestThroughput(max_batch=8), waiting(6, 6, 6, 6)) == [0, 1, 2, 3]
    assert ids(BestThroughput(max_batch=2), waiting(6, 6, 6, 6)) == [0, 1]


def test_of_equals_it_takes_the_most_and_never_holds():
    assert answer(BestThroughput(max_batch=4), waiting(6, 60, 6)) == [0, 1, 2]  # 1 ms each, whatever the number
    assert answer(BestThroughput(max_batch=4), waiting(6)) == [0]


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({"max_batch": 0}, "max_batch: got 0, must be at least 1"),
    ],
)
def test_bad_fields(fields, line):
    with pytest.raises(InputError) as error:
        BestThroughput(**{"max_batch": 4, **fields})
    assert str(error.value) == line
