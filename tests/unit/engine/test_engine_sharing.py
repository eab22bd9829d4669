"""How stages disturb each other on a GPU, by its discipline and by their processes."""

import numpy as np
import pytest
from engine_cases import MS, batches, chain, run, stage, work

from simsched.core import InputError, stream
from simsched.engine import GpuSpec, ProcessSpec
from simsched.hardware import Op, Program, Random, Slices, Work
from simsched.policies import Drain, ShortestFirst


def two_stages(sharing, b_gpu="g", gpus=("g",), **processes):
    pair = chain(stage("a", 10, process=processes.get("a")), stage("b", 10, gpu=b_gpu, process=processes.get("b")))
    specs = [GpuSpec(name=name, sharing=sharing) for name in gpus]
    named = [ProcessSpec(name=name) for name in sorted(set(processes.values()))]
    result = run(*pair, at=[0, 0], gpus=specs, processes=named)
    return batches(result, "a")[1], batches(result, "b")[0]  # both start at 10


def test_uncontended_stages_do_not_notice_each_other():
    assert two_stages("uncontended") == (([1], 10, 20), ([0], 10, 20))


def test_a_fifo_gpu_works_off_one_batch_after_another():
    assert two_stages("fifo") == (([1], 10, 20), ([0], 10, 30))


def test_processes_share_a_time_slicing_gpu():
    assert two_stages("processor_sharing", a="p", b="q") == (([1], 10, 30), ([0], 10, 30))


def test_one_process_has_one_stream_on_a_time_slicing_gpu():
    assert two_stages("processor_sharing", a="p", b="p") == (([1], 10, 20), ([0], 10, 30))


def test_without_a_process_each_batch_is_a_user_of_a_time_slicing_gpu():
    def two_servers(**fields):
        processes = [ProcessSpec(name="p")] if fields else []
        gpus = [GpuSpec(name="g", sharing="processor_sharing")]
        return batches(run(stage(ms=10, servers=2, **fields), at=[0, 0], gpus=gpus, processes=processes))

    assert two_servers() == [([0], 0, 20), ([1], 0, 20)]
    assert two_servers(process="p") == [([0], 0, 10), ([1], 0, 20)]  # one stream, one behind the other


@pytest.mark.parametrize("sharing", ["uncontended", "fifo", "processor_sharing"])
def test_gpus_do_not_notice_each_other(sharing):
    assert two_stages(sharing, b_gpu="h", gpus=("g", "h")) == (([1], 10, 20), ([0], 10, 20))


def test_a_resource_that_is_not_there_is_named():
    with pytest.raises(InputError) as error:
        run(stage("enc", program=Program.of([work(1, "interpreter")])), at=[0])
    assert str(error.value) == "stages.enc.program: uses interpreter; known here: cpu, g, gpu"


def random(mean_ms=10):
    return Random(dist="exponential", mean_ms=mean_ms)


def expected_ms(n, seed=0, mean_ms=10):
    return np.rint(random(mean_ms).draw_ms(stream(seed, "service:a"), n) * MS) / MS


def services(result):
    visits = result.visits.sort_values("request")
    return ((visits["end_ns"] - visits["start_ns"]) / MS).to_numpy()


def test_a_random_cost_is_drawn_for_each_request():
    result = run(stage(cost=random()), at=[0] * 50)
    np.testing.assert_allclose(services(result), expected_ms(50))


def test_another_policy_meets_the_same_service_times():
    first = run(stage(cost=random()), at=[0] * 50)
    sizes = list(range(50, 0, -1))
    other = run(stage(cost=random(), policy=ShortestFirst(max_batch=1)), at=[0] * 50, sizes=sizes)
    np.testing.assert_array_equal(services(first), services(other))
    assert first.visits["request"].tolist() != other.visits["request"].tolist()


def test_another_stage_or_seed_has_other_service_times():
    def pair(seed):
        result = run(*chain(stage("a", cost=random()), stage("b", cost=random())), at=[0] * 20, seed=seed)
        return [set((result.visits_of(name)["end_ns"] - result.visits_of(name)["start_ns"]).tolist()) for name in "ab"]

    (a, b), (other, _) = pair(0), pair(1)
    assert not a & b
    assert not a & other


def test_a_batch_takes_the_draw_of_its_first():
    result = run(stage(cost=random(), policy=Drain(max_batch=2)), at=[0, 0])
    assert services(result).tolist() == [expected_ms(2)[0]] * 2


MIXED = {
    "two": Program.of([Work(op=Op.WORK, on="gpu", cost=random()), work(1)]),
    "slices": Program.of([Slices(rounds=2, ops=Program.of([Work(op=Op.WORK, on="gpu", cost=random())]))]),
    "enqueue": Program.of([Work(op=Op.ENQUEUE, on="gpu", cost=random())]),
    "scaled": Program.of([Work(op=Op.WORK, on="gpu", cost=random(), scale=4)]),
}
ALONE = "program: a random cost must be the stage's whole cost, not scaled, not a part of a program"


def refused(program):
    with pytest.raises(InputError) as error:
        run(stage("a", program=program), at=[0])
    return str(error.value)


@pytest.mark.parametrize("program", MIXED.values(), ids=MIXED)
def test_a_random_cost_must_stand_alone(program):
    assert refused(program).removeprefix("stages.a.") == ALONE


@pytest.mark.parametrize("program", MIXED.values(), ids=MIXED)
def test_a_random_cost_in_a_program_is_named_with_its_stage(program):
    assert refused(program) == f"stages.a.{ALONE}"
