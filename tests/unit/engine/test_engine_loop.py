"""Event loops of processes: admission, hand-off and response, one request after another."""

from engine_cases import MS, arrivals, batches, chain, ends, enters, run, stage, work

from simsched.engine import LinkSpec, ProcessSpec
from simsched.hardware import EventLoopCosts, Linear, Op, Program, Work


def fixed(ms):
    return Linear(a_ms=ms)


def process(name, *, interpreter="processor_sharing", **costs):
    loop = EventLoopCosts(**{task: fixed(ms) for task, ms in costs.items()})
    return ProcessSpec(name=name, loop=loop, interpreter=interpreter)


def pair(sender="p", receiver="p"):
    return chain(stage("a", 10, most=8, process=sender), stage("b", 1, most=8, process=receiver))


def test_admissions_come_one_after_another():
    result = run(stage(ms=10, most=8, process="p"), at=[0, 0, 9], processes=[process("p", admission=2)])
    assert enters(result) == {0: 2, 1: 4, 2: 11}
    assert arrivals(result) == [0, 0, 9]


def test_handoffs_within_a_process_pass_its_loop_once():
    result = run(*pair(), at=[0, 0], processes=[process("p", handoff=3)])
    assert enters(result, "b") == {0: 13, 1: 16}


def test_handoffs_between_processes_pass_both_loops():
    two = [process("p", handoff=3), process("q", handoff=3)]
    result = run(*pair("p", "q"), at=[0, 0], processes=two)
    assert enters(result, "b") == {0: 16, 1: 19}  # q's task of 0 runs beside p's task of 1


def test_only_a_loop_that_has_a_cost_takes_time():
    for processes in ([process("p", handoff=3), process("q")], [process("p"), process("q", handoff=3)]):
        assert enters(run(*pair("p", "q"), at=[0, 0], processes=processes), "b") == {0: 13, 1: 16}


def test_responses_are_tasks_of_the_last_process():
    result = run(*pair("p", "q"), at=[0, 0], processes=[process("p"), process("q", response=4)])
    assert ends(result) == [15, 19]


def test_the_server_does_not_wait_for_the_loop():
    result = run(*pair(), at=[0, 5], processes=[process("p", handoff=30)])
    assert batches(result, "a") == [([0], 0, 10), ([1], 10, 20)]
    assert enters(result, "b") == {0: 40, 1: 70}


def test_a_server_before_a_full_queue_waits_for_the_loop():
    a, b = chain(stage("a", 10, process="p"), stage("b", 1, process="p", queue_limit=4))
    result = run(a, b, at=[0, 5], processes=[process("p", handoff=30)])
    assert batches(result, "a") == [([0], 0, 10), ([1], 40, 50)]


def test_a_task_costs_by_the_size_of_its_request():
    loop = EventLoopCosts(admission=Linear(by="total", a_ms=0, b_ms=1))
    result = run(stage(process="p"), at=[0, 0], sizes=[6, 60], processes=[ProcessSpec(name="p", loop=loop)])
    assert enters(result) == {0: 6, 1: 66}


def test_loop_and_threads_share_the_interpreter():
    python = Program.of([work(10, "interpreter")])
    result = run(stage(program=python, process="p"), at=[0, 2], processes=[process("p", admission=2)])
    # 0 is admitted at 2 and runs; the admission of 1 has half of the interpreter until 6; 8 ms are left
    assert enters(result) == {0: 2, 1: 6}
    assert batches(result) == [([0], 2, 14), ([1], 14, 24)]


def test_an_interpreter_without_a_lock_is_not_shared():
    python = Program.of([work(10, "interpreter")])
    free = process("p", admission=2, interpreter="uncontended")
    assert batches(run(stage(program=python, process="p"), at=[0, 2], processes=[free]))[0] == ([0], 2, 12)


def test_threads_of_one_process_slow_each_other():
    python = Program.of([work(10, "interpreter")])
    a, b = chain(stage("a", program=python, process="p"), stage("b", program=python, process="p"))
    result = run(a, b, at=[0, 0], processes=[process("p")])
    assert batches(result, "a") == [([0], 0, 10), ([1], 10, 30)]
    assert batches(result, "b") == [([0], 10, 30), ([1], 30, 40)]
    alone = run(a, type(b)(**{**b.__dict__, "process": "q"}), at=[0, 0], processes=[process("p"), process("q")])
    assert batches(alone, "a") == [([0], 0, 10), ([1], 10, 20)]


def test_launches_run_ahead_of_the_stream():
    launched = Program.of([work(3, "interpreter"), work(5, op=Op.ENQUEUE), Work(op=Op.SYNC, on="gpu")])
    result = run(stage(program=launched, process="p"), at=[0], processes=[process("p")])
    assert batches(result) == [([0], 0, 8)]


def test_a_stream_with_nothing_on_it_is_not_waited_for():
    idle = Program.of([Work(op=Op.SYNC, on="gpu"), work(3, "interpreter"), Work(op=Op.SYNC, on="gpu")])
    assert batches(run(stage(program=idle, process="p"), at=[0], processes=[process("p")])) == [([0], 0, 3)]


def test_moves_queue_on_their_link():
    copy = Program.of([work(4, "pcie")])
    result = run(stage(program=copy, servers=2), at=[0, 0], links=[LinkSpec(name="pcie")])
    assert batches(result) == [([0], 0, 4), ([1], 0, 8)]
    assert result.meta["asked_ns"]["pcie"] == 8 * MS


def test_work_on_a_core_of_its_own_is_never_shared():
    own = Program.of([work(10, "cpu")])
    assert batches(run(stage(program=own, gpu=None, servers=2), at=[0, 0])) == [([0], 0, 10), ([1], 0, 10)]


def test_a_front_end_admits_before_the_entry_and_responds_after_the_last():
    stages = pair("p", "q")
    each = [process("p", admission=2, handoff=1), process("q", response=4), process("web", admission=3, response=5)]
    result = run(*stages, at=[0, 0], processes=each, frontend="web")
    assert enters(result) == {0: 5, 1: 8}  # 3 on the web's loop and 2 on p's; the second waits for the web
    assert ends(result) == [26, 36]  # a ends at 15 and 25, b at 17 and 27; q's task of 4, then the web's of 5


def test_a_front_end_that_is_a_stages_process_does_each_task_once():
    result = run(stage(ms=10, process="p"), at=[0], processes=[process("p", admission=2, response=3)], frontend="p")
    assert (enters(result), ends(result)) == ({0: 2}, [15])
