"""One small scenario a mechanism. Each docstring is its timeline as computed by hand (times in ms) before it was run.

"0–4 [0, 1]" is a batch of requests 0 and 1 that starts at 0 and ends at 4. All goldens were compared with these lines.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

from laws.models import Drawn, one_stage

from simsched.core import Policy
from simsched.hardware import Activation, Linear, StageMemory
from simsched.policies import Drain, MaxWait, Static
from simsched.scenario import Gpu, Process, Queue, Stage
from simsched.workload import Closed, FixedThink

ONE = Drain(max_batch=1)


def stage(ms: float, policy: Policy = ONE, after: tuple[str, ...] = (), per_request: float = 0, **fields) -> Stage:
    """A stage of `ms` and `per_request` for each request of a batch."""
    cost = None if "program" in fields else Linear(a_ms=ms, b_ms=per_request)
    return Stage(policy=policy, gpu="g0", cost=cost, next=after, **fields)


def scenario(stages: Mapping[str, Stage], at_ms: list[int], **fields) -> Drawn:
    """Requests of size 1 at these times."""
    return Drawn(replace(one_stage(ONE, at_ms).scenario, stages=stages, **fields), seed=0)


def two_stage_drain() -> Drawn:
    """Encoder 2 + 1·b, vocoder 3, both up to 2; sent at 0, 0, 0, 4.

    Encoder 0–4 [0, 1] (2 + 2). At 4 request 3 comes as the server is freed: both are seen, so 4–8 [2, 3].
    Vocoder 4–7 [0, 1] and 8–11 [2, 3]; it is free from 7 to 8.
    """
    two = Drain(max_batch=2)
    return scenario({"enc": stage(2, two, ("voc",), 1), "voc": stage(3, two)}, [0, 0, 0, 4])


def max_wait_timer() -> Drawn:
    """Up to 3, timer of 5, 4 a batch; sent at 0, 2, 6, 7, 20, 30, 31, 32.

    Timer from 0: 5–9 [0, 1]. Then from 9, when the server is freed, though 2 came at 6: 14–18 [2, 3].
    Timer from 20: 25–29 [4]. Full at 32, before its timer (35): 32–36 [5, 6, 7].
    """
    return scenario({"s": stage(4, MaxWait(max_batch=3, max_wait_ms=5))}, [0, 2, 6, 7, 20, 30, 31, 32])


def static_timeout() -> Drawn:
    """Batches of 3, timeout of 5, 8 a batch; sent at 0, 2, 6, 7, 20, 30, 31, 32.

    Request 0 has waited 5 at 5: 5–13 [0, 1]. Request 2 has waited 7 behind it, so it goes at once: 13–21 [2, 3].
    Request 4 (20) has waited 5 at 25: 25–33 [4]. At 33 three wait: 33–41 [5, 6, 7].
    """
    return scenario({"s": stage(8, Static(batch=3, timeout_ms=5))}, [0, 2, 6, 7, 20, 30, 31, 32])


def fan_in() -> Drawn:
    """a (1) sends to b (2) and c (5); d (1) waits for both; one at a time; sent at 0, 0.

    a 0–1 [0], 1–2 [1]. b 1–3 [0], 3–5 [1]. c 1–6 [0], 6–11 [1]. d 6–7 [0], 11–12 [1]: the slower branch decides.
    """
    stages = {
        "a": stage(1, after=("b", "c")),
        "b": stage(2, after=("d",)),
        "c": stage(5, after=("d",)),
        "d": stage(1),
    }
    return scenario(stages, [0, 0])


def blocking_after_service() -> Drawn:
    """a (1), then b (4) with one waiting place; one at a time; five sent at 0.

    a 0–1 [0], 1–2 [1], 2–3 [2]. b 1–5 [0]; 1 waits there since 2, so 2 stays on a's server from 3 to 5, when b takes 1.
    a 5–6 [3], blocked to 9; 9–10 [4], blocked to 13. b 5–9 [1], 9–13 [2], 13–17 [3], 17–21 [4].
    """
    return scenario({"a": stage(1, after=("b",)), "b": stage(4, queue=Queue(limit=1))}, [0] * 5)


def refusal() -> Drawn:
    """2 a request, one waiting place and a free server; four sent at 0: two find a place, 0–2 [0], 2–4 [1]."""
    return scenario({"s": stage(2, queue=Queue(limit=1))}, [0] * 4)


def memory_cut() -> Drawn:
    """10 bytes, 2 of weights, 3 a request in a batch; up to 4, 2 a batch; five sent at 0.

    8 bytes are free, so 2 fit: of 4 wanted 0–2 [0, 1], of 3 wanted 2–4 [2, 3], then 4–6 [4] uncut.
    """
    memory = StageMemory(weights=2, activation=Activation(per_unit=3, by="count"))
    return scenario({"s": stage(2, Drain(max_batch=4), memory=memory)}, [0] * 5, gpus={"g0": Gpu(memory=10)})


def program_per_request() -> Drawn:
    """Each request: 1 on the interpreter, then 3 put on the GPU's stream; then wait for the stream, and 1 more.

    Three at 0: the host works 0–1, 1–2, 2–3, the stream 1–4, 4–7, 7–10; synced at 10, and 1 more: 0–11 [0, 1, 2].
    One at 5 waits: host 11–12, stream 12–15, host 15–16: 11–16 [3].
    """
    per_request = {"each": "request", "of": ({"work": "interpreter", "ms": 1}, {"enqueue": "gpu", "ms": 3})}
    program = (per_request, {"sync": "gpu"}, {"work": "interpreter", "ms": 1})
    here = stage(0, Drain(max_batch=3), program=program, process="p")
    return scenario({"s": here}, [0, 0, 0, 5], processes={"p": Process()})


def event_loop() -> Drawn:
    """a (2) and b (3), up to 8, one process; a hand-off takes 2 of its loop, an answer 1; three sent at 0.

    a 0–2 [0, 1, 2]. Loop: hand-offs 2–4, 4–6, 6–8. b 4–7 [0]; 1 is there since 6: 7–10 [1]; 2 since 8: 10–13 [2].
    The answer of 0 (at 7) waits for the third hand-off: loop 8–9. The others find it idle: 10–11 and 13–14.
    """
    many = Drain(max_batch=8)
    stages = {"a": stage(2, many, ("b",), process="p"), "b": stage(3, many, process="p")}
    return scenario(stages, [0] * 3, processes={"p": Process(handoff=Linear(a_ms=2), response=Linear(a_ms=1))})


def processor_sharing() -> Drawn:
    """enc (4) and voc (6), each with a stream of its own on a GPU that they share; sent at 0, 4.

    enc 0–4 [0] alone. From 4 on both run at half speed: enc 4–12 [1] (4·2), by when voc has 4 of its 6 for request 0;
    the other 2 alone: voc 4–14 [0]. voc 14–20 [1] alone.
    """
    gpus = {"g0": Gpu(sharing="processor_sharing")}
    return scenario({"enc": stage(4, after=("voc",)), "voc": stage(6)}, [0, 4], gpus=gpus)


def fifo_gpu() -> Drawn:
    """The same on a GPU that works off one batch after another.

    enc 0–4 [0]. At 4 enc asks first (it stands first in the pipeline): enc 4–8 [1]; voc behind it, done at 8 + 6:
    4–14 [0]. voc 14–20 [1].
    """
    return replace(
        processor_sharing(), scenario=replace(processor_sharing().scenario, gpus={"g0": Gpu(sharing="fifo")})
    )


def closed_loop() -> Drawn:
    """Two users who start at 0 and 2 and think 3 after each answer; 2 a request, one at a time; five requests.

    0–2 [0] and its user sends 2 at 5; 2–4 [1], 3 sent at 7; 5–7 [2], 4 sent at 10; 7–9 [3]; 10–12 [4].
    """
    drawn = scenario({"s": stage(2)}, [0] * 5)
    arrivals = Closed(users=2, think=FixedThink(ms=3), ramp_ms=4)
    workload = replace(drawn.scenario.workload, arrivals=arrivals)
    return replace(drawn, scenario=replace(drawn.scenario, workload=workload))


TIMELINES: dict[str, Callable[[], Drawn]] = {
    make.__name__: make
    for make in (
        two_stage_drain,
        max_wait_timer,
        static_timeout,
        fan_in,
        blocking_after_service,
        refusal,
        memory_cut,
        program_per_request,
        event_loop,
        processor_sharing,
        fifo_gpu,
        closed_loop,
    )
}
