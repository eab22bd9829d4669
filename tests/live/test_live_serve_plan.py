"""What a scenario's server would be: models, processes, GPUs, schedulers; and what a live server does not have."""

from pathlib import Path

import pytest

from simsched.core import InputError
from simsched.live.serve import plan_server, read_plan, write_plan
from simsched.live.serve.knobs import largest_batch, stock_knobs
from simsched.policies import CostCapped, Drain, MaxWait, SglangSimple, ShortestFirst, SizeCost
from simsched.scenario import load

LIVE = Path(__file__).parents[2] / "examples" / "live.yaml"
REAL = (
    "live.stages.encoder.model=encoder",
    "live.stages.vocoder={model: vocoder, stream: high, copies: asynchronous}",
)


def planned(*sets, **options):
    return plan_server(load(LIVE, sets), **options)


def test_a_chain_of_stages_is_planned_in_order():
    plan = planned(*REAL, gpu=True)
    told = [(s.name, s.live.model, s.process, s.gpu, s.next, s.frames, s.max_batch) for s in plan.stages]
    assert told == [
        ("encoder", "encoder", "server", 0, "vocoder", 4, 32),
        ("vocoder", "vocoder", "server", 0, None, 4, 8),
    ]
    assert [stage.scheduler for stage in plan.stages] == ["SimpleScheduler, up to 32", "policy adapter"]
    assert plan.needs_torch
    assert not planned().needs_torch


def test_a_process_a_stage_where_the_scenario_says_so():
    plan = planned("stages.encoder.process=one", "stages.vocoder.process=two")
    assert [stage.process for stage in plan.stages] == ["one", "two"]


def test_without_a_gpu_every_stage_runs_on_the_cpu():
    assert [stage.gpu for stage in planned(*REAL).stages] == [None, None]


def test_frames_of_a_word_come_from_the_section_or_the_vocoders_scale():
    assert planned("live.frames_per_word=5").stage("encoder").frames == 5
    assert planned(*REAL, "stages.vocoder.scale=3").stage("encoder").frames == 3


def test_room_is_what_the_weights_leave():
    plan = planned("gpus.gpu0={memory: 1000, margin: 0.1}", "stages.vocoder.memory={weights: 300}")
    assert plan.stage("vocoder").room == 600


def test_a_plan_is_read_as_it_was_written(tmp_path):
    plan = planned(*REAL, gpu=True, tiny=True, decisions=tmp_path / "there")
    write_plan(plan, tmp_path / "plan.json")
    assert read_plan(tmp_path / "plan.json") == plan


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        (Drain(max_batch=32), "SimpleScheduler, up to 32"),
        (MaxWait(max_batch=8, max_wait_ms=2.5), "SimpleScheduler, up to 8, waits 2.5 ms"),
        (
            SglangSimple(max_batch_size=4, max_batch_wait_ms=5, batch_wait_when_idle=False),
            "SimpleScheduler, up to 4, waits 5 ms (not alone)",
        ),
        (
            SglangSimple(max_batch_size=8, max_batch_cost=70, request_cost=SizeCost(base=2)),
            "SimpleScheduler, up to 8, cost up to 70",
        ),
    ],
)
def test_what_simple_scheduler_does_is_left_to_it(policy, words):
    knobs = stock_knobs(policy)
    assert knobs is not None
    assert knobs.words() == words


@pytest.mark.parametrize(
    "policy",
    [
        ShortestFirst(max_batch=8),
        CostCapped(max_batch=8, max_cost=60),
        SglangSimple(max_batch_size=8, max_batch_cost=70.5, request_cost=SizeCost()),
        SglangSimple(max_batch_size=8, max_batch_cost=70, request_cost=SizeCost(per_unit=0.5)),
    ],
)
def test_everything_else_is_the_adapters(policy):
    assert stock_knobs(policy) is None
    assert largest_batch(policy) == 8


def test_the_adapter_can_be_asked_for():
    plan = planned("live.stages.encoder.adapter=true")
    assert plan.stage("encoder").scheduler == "policy adapter"


@pytest.mark.parametrize(
    ("sets", "line"),
    [
        (["live=null"], "live: is missing: say what each stage runs, such as {stages: {NAME: {model: encoder}}}"),
        (["live.stages={encoder: {model: sleep}}"], "live.stages: is missing for stage vocoder: name what it runs"),
        (["live.stages.vocoder.model=vocoder"], "live.stages.vocoder.model: got vocoder, which reads codes"),
        ([REAL[0], "live.stages.vocoder.model=unified"], "got unified, which reads words: it must be the first stage"),
        (["pipeline=[vocoder, encoder]", *REAL], "it needs a stage with the encoder before it"),
        (["stages.vocoder.servers=2"], "stages.vocoder.servers: got 2, a live stage has 1"),
        (["stages.vocoder.replicas=2"], "stages.vocoder.replicas: got 2, a live stage has 1"),
        (["stages.vocoder.queue={limit: 3}"], "stages.vocoder.queue.limit: is not served live"),
        (["admission={kind: in_flight, max_in_flight: 3}"], "admission: is not served live"),
        ([*REAL, "stages.vocoder.scale=1.5"], "stages.vocoder.scale: got 1.5, must be a whole number of frames a word"),
        ([*REAL, "live.frames_per_word=5"], "stages.vocoder.scale: got 4, must be live.frames_per_word, 5"),
    ],
)
def test_what_a_live_server_does_not_have_is_refused_in_one_line(sets, line):
    with pytest.raises(InputError) as caught:
        planned(*sets)
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_gpu_must_be_named():
    sets = [*REAL, "stages.encoder.gpu=null", "stages.encoder.process=p"]
    program = "stages.encoder.program=[{work: cpu, ms: 1}]"
    with pytest.raises(InputError, match=r"stages.encoder.gpu: is missing: --gpu needs to know"):
        plan_server(load(LIVE, [*sets, "stages.encoder.cost=null", program]), gpu=True)


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("live.stages.encoder.model=whisper", "live.stages.encoder.model: value 'whisper' is unknown"),
        ("live.stages.encoder.stream=low", "live.stages.encoder.stream: value 'low' is unknown"),
        ("live.stages={enc: {model: sleep}}", "live.stages: stage 'enc' is unknown; did you mean 'encoder'?"),
        ("live.frames_per_word=0", "live.frames_per_word: got 0, must be at least 1"),
        ("live.stages.encoder.weights=''", "live.stages.encoder.weights: is empty"),
    ],
)
def test_a_wrong_section_is_refused_when_the_file_is_read(setting, words):
    with pytest.raises(InputError) as caught:
        load(LIVE, [setting])
    assert words in str(caught.value)
