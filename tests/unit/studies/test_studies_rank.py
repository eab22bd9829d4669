"""Ranking: the order, what is called real, what is refused."""

import pytest

from simsched.core import InputError
from simsched.scenario import policy_of, scenario_of, with_policies
from simsched.studies import compare, rank


def base(requests=400):
    return scenario_of(
        {
            "name": "base",
            "gpus": {"g": {}},
            "stages": {
                "a": {
                    "gpu": "g",
                    "policy": {"kind": "drain", "max_batch": 8},
                    "cost": {"kind": "linear", "by": "padded", "a_ms": 5.0, "b_ms": 0.1},
                }
            },
            "workload": {
                "arrivals": {"kind": "poisson", "rate_rps": 60.0},
                "sizes": {"kind": "short80"},
                "requests": requests,
            },
        }
    )


@pytest.fixture(scope="module")
def comparison():
    text = "a=drain,bucketed:edges=[20],static:timeout_ms=200,max_wait:max_wait_ms=0"
    return compare(with_policies(base(), text), 5)


def test_the_order_is_that_of_the_means_and_equals_are_not_told_apart(comparison):
    found = rank(comparison)
    names = [place.name for place in found.places]
    assert [place.mean for place in found.places] == sorted(place.mean for place in found.places)
    assert names[-1] == "static:timeout_ms=200"
    assert "static:timeout_ms=200" in found.behind("drain", real=True)
    assert "max_wait:max_wait_ms=0" in found.level_with("drain")  # decides the same
    assert "drain" in found.level_with("max_wait:max_wait_ms=0")
    assert len(found.pairs) == 6


def test_what_is_real_has_an_interval_on_one_side_of_0(comparison):
    for pair in rank(comparison).pairs:
        if pair.real:
            assert pair.high < 0
            assert str(pair) == f"{pair.better} before {pair.worse}: real"
        else:
            assert str(pair).endswith(": not told apart")
        assert pair.low <= pair.difference <= pair.high <= max(0, pair.high)


def test_throughput_is_better_when_larger(comparison):
    places = rank(comparison, "throughput_rps").places
    assert [place.mean for place in places] == sorted((place.mean for place in places), reverse=True)


def test_a_refused_metric_refuses_the_ranking(comparison):
    found = rank(comparison, "latency_s.p999")
    assert found.places == ()
    assert "needs 3,688" in found.refused


def test_bad_input(comparison):
    with pytest.raises(InputError, match="unknown"):
        rank(comparison, "latency_s.p98")
    one = compare(with_policies(base(100), "a=drain,static:timeout_ms=1"), 1)
    with pytest.raises(InputError) as error:
        rank(one)
    assert str(error.value) == "replications: got 1, must be at least 2 to rank"


def test_missing_fields_are_lent_by_the_scenarios_own_policy():
    own = policy_of("max_wait", ["max_batch=6", "max_wait_ms=3"])
    assert policy_of("static", ["timeout_ms=1"], like=own).batch == 6
    assert policy_of("drain", ["max_batch=2"], like=own).max_batch == 2
    with pytest.raises(InputError) as error:
        policy_of("drain")
    assert str(error.value) == "drain.max_batch: is missing, policy 'drain' needs it"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("drain", "--policies: got 'drain', must be STAGE=POLICY,POLICY such as vocoder=drain,static:batch=8"),
        ("a=drain,", "--policies: got 'a=drain,', must be STAGE=POLICY,POLICY such as vocoder=drain,static:batch=8"),
        ("b=drain", "--policies: stage 'b' is unknown (known: a)"),
        ("a=drain:max_batch=0", "--policies.drain.max_batch: got 0, must be at least 1"),
        ("a=static", "--policies.static.timeout_ms: is missing, policy 'static' needs it"),
        ("a=drain:max_batch=8:7", "--policies: got '7', must be field=value such as max_batch=8"),
    ],
)
def test_wrong_texts_are_one_line(text, line):
    with pytest.raises(InputError) as error:
        with_policies(base(), text)
    assert str(error.value) == line


def test_lists_and_module_names_can_be_written():
    made = with_policies(base(), "a=bucketed:edges=[10, 20]:max_batch=3,simsched.policies:Drain:max_batch=2")
    assert [one.name for one in made] == ["bucketed:edges=[10, 20]:max_batch=3", "simsched.policies:Drain:max_batch=2"]
    assert made[0].stages["a"].policy.edges == (10, 20)
    assert made[1].stages["a"].policy.max_batch == 2
