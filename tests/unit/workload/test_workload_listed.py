"""Due times and sizes written out in the scenario."""

import pytest

from simsched.core import InputError, stream
from simsched.workload import ListedArrivals, ListedSizes, Workload

GENERATOR = stream(0, "unused")


def refusal(call):
    with pytest.raises(InputError) as error:
        call()
    return str(error.value)


def test_requests_come_as_listed():
    workload = Workload(arrivals=ListedArrivals(due_s=(0.5, 0.5, 2)), sizes=ListedSizes(values=(6, 60, 7, 8)))
    load = workload.draw(0)
    assert load.due_ns.tolist() == [500_000_000, 500_000_000, 2_000_000_000]
    assert load.sizes.tolist() == [6, 60, 7]  # the shorter list says how many


def test_a_list_that_is_too_short_says_how_long_it_is():
    arrivals, sizes = ListedArrivals(due_s=(0, 1)), ListedSizes(values=(6, 60))
    assert refusal(lambda: arrivals.due_ns(3, GENERATOR)) == "due_s: has 2 due times, the workload asks for 3 requests"
    assert refusal(lambda: sizes.draw(3, GENERATOR)) == "values: has 2 sizes, the workload asks for 3 requests"


def test_facts_of_listed_sizes():
    sizes = ListedSizes(values=(6, 60, 9))
    assert (sizes.mean(), sizes.largest(), sizes.available()) == (25, 60, 3)


@pytest.mark.parametrize(
    ("make", "line"),
    [
        (lambda: ListedArrivals(due_s=(1, 0.5)), "due_s[1]: got 0.5 after 1, must be finite and rise from 0"),
        (lambda: ListedArrivals(due_s=(-1,)), "due_s[0]: got -1 after 0.0, must be finite and rise from 0"),
        (
            lambda: ListedArrivals(due_s=(0, float("nan"))),
            "due_s[1]: got nan after 0, must be finite and rise from 0",
        ),
        (lambda: ListedSizes(values=()), "values: is empty, must list at least one size"),
        (lambda: ListedSizes(values=(6, 0)), "values[1]: got 0, must be a finite number above 0"),
    ],
)
def test_bad_places_are_named(make, line):
    assert refusal(make) == line


def test_an_empty_list_of_times_is_refused():
    assert refusal(lambda: ListedArrivals(due_s=())) == "due_s: is empty, must list at least one due time"
