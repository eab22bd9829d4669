"""The whole way: unmodified SGLang Omni over HTTP, stages of a scenario, events and decisions read and checked.

Needs SGLang Omni's runtime (sglang 0.5.22 without kernels, torch, fastapi …), so it is run by `pytest -m live`.
"""

import json
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path

import pytest

from simsched.core import InputError
from simsched.live.policy import check_decisions, replay_decisions
from simsched.live.serve import Server, check_installed, plan_server
from simsched.run.sglang_events import gather
from simsched.scenario import load

pytestmark = [pytest.mark.live, pytest.mark.slow]
LIVE = Path(__file__).parents[2] / "examples" / "live.yaml"
OPTIONAL = ("av", "IPython", "librosa", "torchaudio", "triton")
STUBS = ",".join(name for name in OPTIONAL if find_spec(name) is None)
REAL = ("live.stages.encoder.model=encoder", "live.stages.vocoder={model: vocoder, stream: high, copies: asynchronous}")
SPLIT = ("stages.encoder.process=one", "stages.vocoder.process=two")


def speak(url, words):
    body = {"model": "code2wav", "input": "w " * words, "response_format": "wav"}
    body["stage_params"] = {"simsched": {"class": "long" if words > 6 else "short"}}
    sent = urllib.request.Request(
        f"{url}/v1/audio/speech", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(sent, timeout=120) as reply:
        return reply.status, len(reply.read())


@pytest.mark.parametrize(
    ("sets", "part"),
    [
        ((), "vocoder"),
        (
            (
                *SPLIT,
                "live.stages.encoder.adapter=true",
                "stages.vocoder.policy={kind: max_wait, max_batch: 4, max_wait_ms: 5}",
            ),
            "vocoder",
        ),
        ((*REAL, *SPLIT), "code2wav_batch"),
    ],
    ids=["one process", "two processes", "real models"],
)
def test_requests_are_answered_and_every_decision_is_the_simulators(sets, part, tmp_path):
    plan = plan_server(load(LIVE, sets), tiny=True, decisions=tmp_path / "first")
    try:
        check_installed(torch=plan.needs_torch)
    except InputError as error:
        pytest.skip(str(error))
    with Server(plan, log=tmp_path / "log", events=tmp_path / "first", stubs=STUBS) as server:
        with ThreadPoolExecutor(8) as users:
            answers = list(users.map(lambda number: speak(server.url, 60 if number % 5 == 0 else 6), range(40)))
        time.sleep(0.3)  # the server writes its last events after the answer
    assert {status for status, _ in answers} == {200}
    long = [length for number, (_, length) in enumerate(answers) if number % 5 == 0]
    short = [length for number, (_, length) in enumerate(answers) if number % 5]
    assert min(long) > 8 * max(short)  # 60 words and 6
    events = gather(sorted((tmp_path / "first").glob("events_*.jsonl")))
    for name in ("encoder", "vocoder"):
        assert sum(len(batch.ids) for batch in events.stages[name].batches) == 40
    assert {name for batch in events.stages["vocoder"].batches for name in batch.parts} == {part}
    logs = sorted((tmp_path / "first").glob("decisions_*.jsonl"))
    assert {log.name.split("_")[1] for log in logs} == {stage.name for stage in plan.stages if stage.stock is None}
    for log in logs:
        stage = plan.stage(log.name.split("_")[1])
        for judge in (check_decisions, replay_decisions):
            found = judge(log, stage.spec.policy, spec=stage.spec, room=stage.room)
            assert found.ok, [str(one) for one in found.differences]
