import pytest

from simsched.core import InputError, NotEnoughData, PolicyError, SimschedError, Unstable, unknown


def test_an_error_is_its_place_and_its_problem():
    assert str(InputError("got 0, must be at least 1")) == "got 0, must be at least 1"
    assert str(InputError("got 0, must be at least 1", "max_batch")) == "max_batch: got 0, must be at least 1"


def test_places_join_from_the_inside_out():
    error = InputError("is bad", "a_ms").within("cost").within("[2]").within("program").within("stages.enc")
    assert error.where == "stages.enc.program[2].cost.a_ms"
    assert error.problem == "is bad"


def test_an_error_without_a_place_gets_the_outer_one():
    assert InputError("is bad").within("seed").where == "seed"


def test_the_file_stands_in_front():
    assert str(InputError("is bad", "seed").in_file("slow.yaml")) == "slow.yaml: seed: is bad"
    assert str(InputError("is no YAML").in_file("slow.yaml")) == "slow.yaml: is no YAML"


def test_an_error_is_not_changed_by_looking_from_further_out():
    inner = InputError("is bad", "a_ms")
    inner.within("cost").in_file("x.yaml")
    assert str(inner) == "a_ms: is bad"


def test_an_unknown_name_is_answered_with_the_nearest():
    error = unknown("policy", "statik", ["static", "drain"], "policy.kind")
    assert str(error) == "policy.kind: policy 'statik' is unknown; did you mean 'static'? (known: drain, static)"


def test_a_hint_takes_the_place_of_the_list():
    error = unknown("policy", "statik", ["static", "drain"], hint="simsched list policies")
    assert str(error) == "policy 'statik' is unknown; did you mean 'static'? (simsched list policies)"


def test_without_a_near_name_the_known_ones_follow():
    assert str(unknown("gpu", "x", ["gpu0"])) == "gpu 'x' is unknown (known: gpu0)"


def test_where_nothing_is_known_no_empty_list_is_shown():
    assert str(unknown("gpu", "x", [])) == "gpu 'x' is unknown: there is none"


def test_a_sample_too_small_says_how_many_would_do():
    error = NotEnoughData("P99 needs 368 requests, the run has 100", needed=368)
    assert error.needed == 368
    assert str(error) == "P99 needs 368 requests, the run has 100"


@pytest.mark.parametrize("kind", [InputError, PolicyError, Unstable, NotEnoughData])
def test_one_base_catches_all(kind):
    assert issubclass(kind, SimschedError)
