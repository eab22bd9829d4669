"""check_policy: silent about sound policies, and each broken one fails its own check and no other."""

import random
import time

import pytest
from broken_policies import _SEEN, BROKEN, AnswersNone, ForgetsTheLong, OneTooMany, Raises, Twice, WaitsForPairs

import simsched as ss
from simsched.core import Dispatch, InputError
from simsched.policies import Drain, FairShare, Static
from simsched.studies.check_policy import CHECKS, COST_AT, check_policy

CASES = [(name, policy) for name, policies in BROKEN.items() for policy in policies]


@pytest.fixture(autouse=True)
def _forgotten():
    """What a broken policy has seen in an earlier test."""
    _SEEN["most"] = 0


def found(policy, name):
    return next(check for check in check_policy(policy).checks if check.name == name)


@pytest.mark.parametrize(("name", "policy"), CASES, ids=[type(policy).__name__ for _, policy in CASES])
def test_a_broken_policy_fails_its_own_check_and_no_other(name, policy):
    report = check_policy(policy)
    assert report.broken == (name,), str(report)
    assert not report.ok
    (broken,) = (check for check in report.checks if check.result == "broken")
    assert broken.problem
    assert broken.view


def test_every_check_has_a_policy_that_breaks_it():
    assert list(BROKEN) == sorted(BROKEN, key=[name for name, *_ in CHECKS].index)
    assert set(BROKEN) == {name for name, *_ in CHECKS}


def test_what_cannot_be_told_is_open():
    (alternates,) = BROKEN["repeats"]
    report = check_policy(alternates)
    open_ = {check.name: check.problem for check in report.checks if check.result == "open"}
    assert set(open_) == {"history", "random", "clock", "identity", "ids", "true_sizes"}
    assert set(open_.values()) == {"mend repeats first"}


def test_the_view_is_the_smallest_that_shows_it():
    three = ", ".join(f"#{place} of size 6 since 0 ms" for place in range(3))
    assert found(AnswersNone(), "answers").view == f"at 0 ms, 1 server free since 0 ms, waiting: {three}"
    assert found(Raises(), "answers").view.count("#") == 2
    assert found(Twice(), "nobody_twice").problem == "dispatched #0, #0: one of them stands twice"
    assert found(OneTooMany(max_batch=4), "own_limits").view.count("#") == 5
    assert found(OneTooMany(max_batch=50), "own_limits").view.endswith("… 51 in all")
    assert found(WaitsForPairs(), "progress").view.startswith("1 requests, sent at 0 ms, of size 60,")
    assert found(ForgetsTheLong(), "progress").problem == "#0 waits for ever: held with an idle server and no timer"


def test_a_static_batch_without_a_timeout_may_wait_for_ever():
    assert check_policy(Static(batch=2, timeout_ms=None)).broken == ("progress",)
    assert check_policy(Static(batch=2, timeout_ms=5)).ok


def test_the_report_reads_as_text():
    text = str(check_policy(OneTooMany()))
    assert text.startswith("policy broken_policies:OneTooMany(max_batch=4)\n")
    assert "  broken  own_limits: It keeps the limits that its fields name" in text
    assert "          dispatched #0, #1, #2, #3, #4: 5 requests, its own limit is 4\n" in text
    assert "µs at 10, " in text
    assert str(check_policy(FairShare(max_batch=2))).startswith("policy fair(max_batch=2, tenants=(), weights=())")


def test_the_cost_of_a_decision_grows_with_what_it_does():
    costs = check_policy(Drain(max_batch=8)).cost_us
    assert list(costs) == list(COST_AT)
    assert all(cost > 0 for cost in costs.values())
    assert check_policy(Raises()).cost_us[10] is not None

    class Breaks:
        def decide(self, now, waiting, stage):
            return Dispatch(waiting[:]) if len(waiting) < 500 else 1 // 0

    assert check_policy(Breaks()).cost_us[1000] is None


def test_it_leaves_the_world_as_it_was():
    random.seed(7)
    expected = random.Random(7).random()
    clock = time.time
    check_policy(Drain(max_batch=2))
    assert random.random() == expected
    assert time.time is clock


def test_it_is_a_name_of_the_package():
    assert ss.check_policy is check_policy


@pytest.mark.parametrize(("policy", "got"), [(Drain, "the class Drain"), (3, "int")])
def test_what_is_no_policy_is_refused(policy, got):
    with pytest.raises(InputError) as error:
        check_policy(policy)
    assert str(error.value) == f"policy: got {got}, must be a policy object with decide(now, waiting, stage)"
