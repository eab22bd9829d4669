import pytest
from hypothesis import given
from hypothesis import strategies as st
from policy_cases import MS, waiting

from simsched.core import Admission, Admit, InputError, Refuse, Request, StaticLoad, StaticSystem
from simsched.policies.admission import ADMISSIONS, DeadlineAware, Everybody, InFlight, TokenBucket

ONE = Request(9, 0, 0, 6)


def due(ms):
    return ONE._replace(deadline_ns=ms * MS)


def test_in_flight_counts():
    policy = InFlight(max_in_flight=3)
    assert policy.admit(0, ONE, StaticSystem(in_flight=2)) == Admit()
    assert policy.admit(0, ONE, StaticSystem(in_flight=3)) == Refuse("3 in flight")
    assert Everybody().admit(0, ONE, StaticSystem(in_flight=3)) == Admit()


@given(
    gaps=st.lists(st.integers(0, 40), min_size=1, max_size=40),
    burst=st.integers(1, 4),
    rate=st.sampled_from([50, 100, 1000]),
)
def test_a_bucket_lets_in_no_more_than_its_tokens_and_all_that_it_can(gaps, burst, rate):
    """Against the bucket as it is drawn in books: tokens that drip in, one taken by each."""
    policy, memory, now, tokens = TokenBucket(rate_rps=rate, burst=burst), None, 0, float(burst)
    for gap in gaps:
        now, tokens = now + gap * MS, min(burst, tokens + gap * rate / 1000)
        decision = policy.admit(now, ONE, StaticSystem(memory=memory))
        memory = decision.memory
        assert isinstance(decision, Admit) == (tokens > 1 - 1e-9)
        tokens -= isinstance(decision, Admit)


def test_deadline_aware_adds_up_the_stages():
    first = StaticLoad(name="a", waiting=waiting(6, 6, 6), ms_per_request=10, free_in_ms=5)
    second = StaticLoad(name="b", ms_per_request=7)
    system = StaticSystem(stages=[first, second])
    assert isinstance(DeadlineAware().admit(0, due(52), system), Admit)
    assert DeadlineAware().admit(0, due(51), system) == Refuse("52 ms to go, 51 ms left")
    assert isinstance(DeadlineAware(margin=2).admit(0, due(52), system), Refuse)
    assert DeadlineAware().admit(0, ONE, system) == Admit()


def test_deadline_aware_knows_batches_servers_and_replicas():
    def system(**fields):
        return StaticSystem(stages=[StaticLoad(waiting=waiting(6, 6, 6), ms_per_request=10, **fields)])

    assert DeadlineAware(batch=2).admit(0, due(0), system()).reason.startswith("40 ms")
    assert DeadlineAware().admit(0, due(0), system(servers=2)).reason.startswith("25 ms")
    two = StaticSystem(stages=[*system().stages, StaticLoad(ms_per_request=10)])
    assert DeadlineAware().admit(0, due(0), two).reason.startswith("10 ms")


@pytest.mark.parametrize("name", list(ADMISSIONS))
def test_an_admission_is_frozen_and_documented(name):
    needed = {"in_flight": {"max_in_flight": 3}, "token_bucket": {"rate_rps": 5}}
    made = ADMISSIONS[name](**needed.get(name, {}))
    assert isinstance(made, Admission)
    assert hash(made) == hash(ADMISSIONS[name](**needed.get(name, {})))
    assert ADMISSIONS[name].__doc__


@pytest.mark.parametrize(
    ("make", "line"),
    [
        (lambda: InFlight(max_in_flight=0), "max_in_flight: got 0, must be at least 1"),
        (lambda: TokenBucket(rate_rps=0), "rate_rps: got 0, must be a finite number above 0"),
        (lambda: TokenBucket(rate_rps=1, burst=0), "burst: got 0, must be at least 1"),
        (lambda: DeadlineAware(batch=0), "batch: got 0, must be at least 1"),
        (lambda: DeadlineAware(margin=0), "margin: got 0, must be a finite number above 0"),
    ],
)
def test_bad_fields(make, line):
    with pytest.raises(InputError) as error:
        make()
    assert str(error.value) == line
