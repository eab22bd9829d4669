"""Every wrong field is one line: where, what was got, what to change."""

import pytest
from scenario_cases import GONE, STAGE, graph, refusal, two

NAN, INF = float("nan"), float("inf")
UNITS = "B, kB, MB, GB, TB, KB, KiB, MiB, GiB, TiB"
STAGE_FIELDS = (
    "cancelled, cost, gpu, gpus, memory, next, noise, policy, process, program, queue, replicas, routing, scale, "
    "servers, wait_for"
)


def case(path, value, line):
    return pytest.param({path: value}, line, id=f"{path}={'gone' if value is GONE else value}"[:50])


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        case(
            "stages.enc.polcy",
            1,
            f"stages.enc.polcy: field 'polcy' is unknown; did you mean 'policy'? (known: {STAGE_FIELDS})",
        ),
        case("workload", GONE, "workload: is missing, scenario needs it"),
        case("stages", {}, "stages: is empty: name at least one stage"),
        case("stages", None, "stages: got None, must be a mapping of names"),
        case("name", 3, "name: got 3, must be text"),
        case("seed", -1, "seed: got -1, must be at least 0"),
        case("gpus", {"gpu 0": {}}, "gpus: got 'gpu 0', must be letters, digits, - or _"),
        # GPUs and links
        case(
            "gpus.gpu0.memory",
            "10 GiBB",
            f"gpus.gpu0.memory: got '10 GiBB': unit 'GiBB' is unknown, use one of {UNITS}",
        ),
        case("gpus.gpu0.memory", -3, "gpus.gpu0.memory: got -3, must be a finite number of bytes, at least 0"),
        case("gpus.gpu0.memory", NAN, "gpus.gpu0.memory: got nan, must be a finite number"),
        case("gpus.gpu0.memory", INF, "gpus.gpu0.memory: got inf, must be a finite number"),
        case("gpus.gpu0.margin", 1, "gpus.gpu0.margin: got 1, must be at least 0 and below 1 (0.1 leaves 10 % free)"),
        case(
            "gpus.gpu0.sharing",
            "fif",
            "gpus.gpu0.sharing: value 'fif' is unknown; did you mean 'fifo'? "
            "(known: fifo, processor_sharing, uncontended)",
        ),
        case("links.pcie.bandwidth", 0, "links.pcie.bandwidth: got 0, must be above 0"),
        case("links.pcie.latency_ms", -1, "links.pcie.latency_ms: got -1, must be a finite number, at least 0"),
        # tenants and deadlines
        case("workload.tenants", [1], "workload.tenants: got [1], must be a mapping of names"),
        case("workload.tenants", {"a": -1}, "workload.tenants.a: got -1, must be a finite number, at least 0"),
        case(
            "workload.deadline_ms", "soon", "workload.deadline_ms: got 'soon', must be a number or a mapping of names"
        ),
        case("workload.deadline_ms", {"long": 5}, "workload.deadline_ms.long: class 'long' is unknown (known: )"),
        # clients
        case("workload.timeout_ms", -1, "workload.timeout_ms: got -1, must be a finite number above 0"),
        case("workload.retry", {"attempts": 1}, "workload.retry.attempts: got 1, must be at least 2: the first counts"),
        case("workload.retry", {}, "workload.retry.attempts: is missing, retry needs it"),
        case(
            "workload.patience",
            {"kind": "exponental", "mean_ms": 3},
            "workload.patience.kind: think 'exponental' is unknown; did you mean 'exponential'? (simsched list thinks)",
        ),
        case(
            "stages.enc.cancelled",
            "late",
            "stages.enc.cancelled: value 'late' is unknown (known: at_once, taken)",
        ),
        # replicas
        case("stages.enc.replicas", 0, "stages.enc.replicas: got 0, must be at least 1"),
        case("stages.enc.gpus", ["gpu0"], "stages.enc.gpus: stands beside gpu: say one of them"),
        case(
            "stages.enc.routing",
            {"kind": "by_length", "edges": [3]},
            "stages.enc.routing.edges: got 1 edges, 1 replicas need 0",
        ),
        case(
            "stages.enc.routing",
            {"kind": "by_length", "edges": [3, 3]},
            "stages.enc.routing.edges: got [3, 3], must rise",
        ),
        case(
            "stages.enc.routing",
            {"kind": "round_robbin"},
            "stages.enc.routing.kind: routing 'round_robbin' is unknown; did you mean 'round_robin'? "
            "(simsched list routing)",
        ),
        case(
            "admission",
            {"kind": "in_fligt"},
            "admission.kind: admission 'in_fligt' is unknown; did you mean 'in_flight'? (simsched list admission)",
        ),
        # stages
        case("stages.enc.cost", GONE, "stages.enc.cost: got neither, must have either cost or program"),
        case(
            "stages.enc.program",
            [{"work": "gpu", "ms": 3}],
            "stages.enc.cost: got both, must have either cost or program",
        ),
        case("stages.enc.cost.a_ms", -1, "stages.enc.cost.a_ms: got -1, must be a finite number, at least 0"),
        case("stages.enc.cost.a_ms", NAN, "stages.enc.cost.a_ms: got nan, must be a finite number"),
        case(
            "stages.enc.cost.a_ms",
            "1e-3",
            "stages.enc.cost.a_ms: got '1e-3', must be a number "
            "(YAML reads it as text: write it without quotes, with a point and a sign: 1.0e-3, 1.0e+3)",
        ),
        case(
            "stages.enc.cost.kind",
            "linaer",
            "stages.enc.cost.kind: cost 'linaer' is unknown; did you mean 'linear'? (simsched list curves)",
        ),
        case("stages.enc.gpu", GONE, "stages.enc.gpu: uses 'gpu', but this stage names no gpu"),
        case(
            "stages.enc.gpu",
            "gpu1",
            "stages.enc.gpu: gpu 'gpu1' is unknown; did you mean 'gpu0'? (known: gpu0)",
        ),
        case(
            "stages.enc.process",
            "man",
            "stages.enc.process: process 'man' is unknown; did you mean 'main'? (known: main)",
        ),
        case("stages.enc.scale", 0, "stages.enc.scale: got 0, must be a finite number above 0"),
        case("stages.enc.servers", 0, "stages.enc.servers: got 0, must be at least 1"),
        case("stages.enc.servers", True, "stages.enc.servers: got True, must be a number"),
        case("stages.enc.queue", {"limit": -1}, "stages.enc.queue.limit: got -1, must be at least 0"),
        # policies
        case(
            "stages.enc.policy.kind",
            "drian",
            "stages.enc.policy.kind: policy 'drian' is unknown; did you mean 'drain'? (simsched list policies)",
        ),
        case(
            "stages.enc.policy",
            "drain",
            "stages.enc.policy: got 'drain', "
            "must be {kind: …} with its fields (simsched list policies) "
            "or a policy object with decide(now, waiting, stage)",
        ),
        case("stages.enc.policy", GONE, "stages.enc.policy: is missing, stage needs it"),
        case("stages.enc.policy.max_batch", 0, "stages.enc.policy.max_batch: got 0, must be at least 1"),
        case("stages.enc.policy.max_batch", 1.5, "stages.enc.policy.max_batch: got 1.5, must be a whole number"),
        case(
            "stages.enc.policy",
            {"kind": "static", "batch": 2},
            "stages.enc.policy.timeout_ms: is missing, policy 'static' needs it",
        ),
        # memory
        case(
            "stages.enc.memory",
            {"weights": "11 GiB"},
            "gpus.gpu0.memory: weights need 11.0 GiB, gpu0 has 10.0 GiB after its margin: "
            "choose smaller models or add a GPU",
        ),
        case(
            "stages.enc.memory",
            {"weights": "9 GiB", "activation": {"per_unit": "1 GiB"}},
            "stages.enc.memory: one request of size 6 needs 6.0 GiB, its GPU has 1.0 GiB beside the weights: "
            "shorten the requests or choose a larger GPU",
        ),
        case(
            "stages.enc.memory",
            {"activation": {"base": -1}},
            "stages.enc.memory.activation.base: got -1, must be a finite number of bytes, at least 0",
        ),
        case(
            "stages.enc",
            {**STAGE, "gpu": None, "memory": {"weights": "1 GiB"}},
            "stages.enc.memory: needs a gpu that holds it",
        ),
        case(
            "stages.enc.cost",
            {"file": "a.yaml", "a_ms": 1},
            "stages.enc.cost.a_ms: stands beside file: a curve comes either from a file or from fields: ['a_ms']",
        ),
        # workload
        case("workload.requests", 0, "workload.requests: got 0, must be a whole number from 1 to 100,000,000"),
        case(
            "workload.requests",
            GONE,
            "workload.requests: is missing: say how many requests, or take a trace",
        ),
        case(
            "workload.warmup",
            {"requests": 10},
            "workload.warmup.requests: got 10, must be below the number of requests (10): nothing would be measured",
        ),
        case("workload.warmup", {"requests": -1}, "workload.warmup.requests: got -1, must be at least 0"),
        case(
            "workload.warmup",
            {"rule": "mser5", "requests": 3},
            "workload.warmup.rule: got requests and rule, must be one of them",
        ),
        case("workload.arrivals.users", 0, "workload.arrivals.users: got 0, must be at least 1"),
        case(
            "workload.arrivals",
            {"kind": "poisson", "rate_rps": 0},
            "workload.arrivals.rate_rps: got 0, must be a finite number, at least 0.001",
        ),
        case(
            "workload.arrivals",
            {"kind": "poison", "rate_rps": 3},
            "workload.arrivals.kind: arrivals 'poison' is unknown; did you mean 'poisson'? (simsched list arrivals)",
        ),
        case(
            "workload.arrivals.think",
            {"kind": "fixed", "ms": -1},
            "workload.arrivals.think.ms: got -1, must be a finite number, at least 0",
        ),
        case("workload.sizes.value", -6, "workload.sizes.value: got -6, must be a finite number above 0"),
        case(
            "workload.sizes",
            {"kind": "lognormal", "high": 99.5},
            "workload.sizes.high: got 99.5, must be a whole number",
        ),
        case("workload.client_ms", -1, "workload.client_ms: got -1, must be a finite number, at least 0"),
        # pipeline
        case("pipeline", "enc", "pipeline: got 'enc', must be a list, in brackets"),
        case("pipeline", [], "pipeline: is empty: name the stages in order"),
        case("pipeline", GONE, "pipeline: is missing: name the stages in order, or say next of each stage"),
        case("pipeline", ["enc"], "stages.voc: 'voc' is not in the pipeline: add it there, or remove it"),
        case(
            "pipeline",
            ["enc", "vok"],
            "pipeline[1]: stage 'vok' is unknown; did you mean 'voc'? (known: enc, voc)",
        ),
        case(
            "pipeline",
            ["enc", "voc", "enc"],
            "pipeline[2]: 'enc' stands twice: a request passes each stage once",
        ),
        case("stages.enc.next", ["voc"], "stages.enc.next: stands beside pipeline: say one of them"),
        case(
            "stages.enc.wait_for",
            ["voc"],
            "stages.enc.wait_for: got ['voc'], but no stage names it in next: a stage waits for all that send to it",
        ),
    ],
)
def test_a_wrong_field(changes, line):
    assert refusal(two(changes)) == line


@pytest.mark.parametrize(
    ("next_of", "line"),
    [
        (
            {"a": ["b"], "b": ["a"]},
            "pipeline: a → b → a is a cycle: a request passes each stage once",
        ),
        ({"a": ["c"], "b": ["c"], "c": []}, "pipeline: has 2 first stages (a, b), must have one"),
        (
            {"enc": ["vok"], "voc": []},
            "stages.enc.next[0]: stage 'vok' is unknown; did you mean 'voc'? (known: enc, voc)",
        ),
    ],
    ids=["cycle", "two first stages", "unknown next"],
)
def test_a_wrong_graph(next_of, line):
    assert refusal(graph(**next_of)) == line
