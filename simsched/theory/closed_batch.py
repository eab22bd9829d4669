"""Closed loops of batch stages: upper bounds of the throughput, for any policy and any law of the think time.

Two demands differ here: capacity counts min τ(b)/b, while a request alone pays τ(1).
Units: milliseconds, requests per millisecond.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from scipy.optimize import brentq

from simsched.theory.given import need_at_least_0, need_count, need_positive
from simsched.theory.stages import BatchStage, need_stages


def throughput_bound_batch(
    users: int, stages: Sequence[BatchStage], *, think_ms: float, one_gpu: bool = False
) -> float:
    """Upper bound of the throughput of a closed loop of batch stages, requests per millisecond.

    X ≤ min(1/Dmax, C/(D1+Z)), Dmax = max over stages of min τ(b)/b / servers, D1 = Σ τ(1): a batch of any size
    lasts at least τ(1), so τ must not fall with the batch.

    Args:
        users: concurrency C.
        stages: the stages that each request visits once.
        think_ms: mean think time Z, milliseconds.
        one_gpu: stages take turns on one GPU, so their demands add up.

    >>> first = BatchStage(batch_ms=lambda b: 5 + 0.5 * b, max_batch=16)
    >>> second = BatchStage(batch_ms=lambda b: 8 + 0.3 * b, max_batch=8)
    >>> round(throughput_bound_batch(16, [first, second], think_ms=50), 6)
    0.250784
    >>> round(throughput_bound_batch(64, [first, second], think_ms=50), 6)
    0.769231
    """
    alone_ms = _alone_ms(users, stages, think_ms)
    demands = [stage.demand_ms(users) for stage in stages]
    cycle_ms = alone_ms + think_ms
    return min(1 / (sum(demands) if one_gpu else max(demands)), users / cycle_ms)


def knee_batch(users: int, stages: Sequence[BatchStage], *, think_ms: float) -> float:
    """Concurrency (D1+Z)/Dmax where both upper bounds of a closed loop of batch stages meet.

    Args:
        users: concurrency up to which batches may grow, for Dmax.
        stages: the stages.
        think_ms: mean think time, milliseconds.

    >>> first = BatchStage(batch_ms=lambda b: 5 + 0.5 * b, max_batch=16)
    >>> second = BatchStage(batch_ms=lambda b: 8 + 0.3 * b, max_batch=8)
    >>> round(knee_batch(64, [first, second], think_ms=50), 6)
    49.076923
    """
    alone_ms = _alone_ms(users, stages, think_ms)
    return (alone_ms + think_ms) / max(stage.demand_ms(users) for stage in stages)


@dataclass(frozen=True, kw_only=True)
class LinearStage:
    """A batch stage with one server and a linear batch time, τ(b) = setup + per·b.

    Attributes:
        setup_ms: milliseconds of a batch, whatever its size.
        per_request_ms: milliseconds each request adds.
        max_batch: largest batch.
    """

    setup_ms: float
    per_request_ms: float
    max_batch: int

    def __post_init__(self) -> None:
        need_at_least_0(setup_ms=self.setup_ms)
        need_positive(per_request_ms=self.per_request_ms)

    @property
    def batch_stage(self) -> BatchStage:
        """The same as a general batch stage."""
        return BatchStage(batch_ms=lambda b: self.setup_ms + self.per_request_ms * b, max_batch=self.max_batch)


def throughput_bound_linear(users: int, stages: Sequence[LinearStage], *, think_ms: float) -> float:
    """A sharper upper bound for linear batch times, requests per millisecond.

    The root of X·(Z + Σ setup/(1 − per·X)) = C, since a mean batch is at least X times its time; never
    above `throughput_bound_batch`.

    Args:
        users: concurrency C.
        stages: the stages that each request visits once.
        think_ms: mean think time Z, milliseconds.

    >>> first = LinearStage(setup_ms=5, per_request_ms=0.5, max_batch=16)
    >>> second = LinearStage(setup_ms=8, per_request_ms=0.3, max_batch=8)
    >>> round(throughput_bound_linear(16, [first, second], think_ms=50), 6)
    0.248623
    """
    plain = throughput_bound_batch(users, [stage.batch_stage for stage in stages], think_ms=think_ms)

    def users_at(throughput: float) -> float:
        sojourns = sum(stage.setup_ms / (1 - stage.per_request_ms * throughput) for stage in stages)
        return throughput * (think_ms + sojourns)

    steepest = max(stage.per_request_ms for stage in stages)
    high = min(plain, (1 - 1e-12) / steepest)
    if users_at(high) <= users:
        return plain
    return float(brentq(lambda throughput: users_at(throughput) - users, 0, high, xtol=1e-15))


def throughput_in_turn(batches: Sequence[int], stages: Sequence[BatchStage]) -> float:
    """Requests per millisecond of one GPU whose stages take turns, each with its own fixed batch: 1/Σ τ(b)/b.

    >>> encoder = BatchStage(batch_ms=lambda b: 4 + 0.1 * b, max_batch=64)
    >>> vocoder = BatchStage(batch_ms=lambda b: 6 + 0.2 * b**1.3, max_batch=64)
    >>> round(throughput_in_turn([64, 35], [encoder, vocoder]), 6)
    1.092863
    """
    need_stages(stages)
    if len(batches) != len(stages):
        raise ValueError(f"batches: got {len(batches)} for {len(stages)} stages, must be one for each")
    for batch in batches:
        need_count(batch=batch)
    return 1 / sum(stage.batch_ms(batch) / batch for batch, stage in zip(batches, stages, strict=True))


def _alone_ms(users: int, stages: Sequence[BatchStage], think_ms: float) -> float:
    """D1, after a check of all arguments."""
    need_count(users=users)
    need_at_least_0(think_ms=think_ms)
    need_stages(stages)
    return sum(stage.alone_ms for stage in stages)
