"""Memory in a scenario: what is refused before the run, each in one exact line, and what is built of the rest."""

import pytest
from scenario_cases import GONE, refusal, two

from simsched.engine import Transfer
from simsched.scenario import build, scenario_of

KV = {"per_token": 1}
HOST = {"host": {"memory": "1 GiB"}, "links": {"pcie": {"bandwidth": "20 GB", "latency_ms": 0.5, "pageable": "6 GB"}}}
LARGE = {"base": 1, "host_above": "2 MiB", "link": "pcie"}


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"gpus.gpu0.static": 1.5}, "gpus.gpu0.static: got 1.5, must be at least 0 and at most 1"),
        (
            {"gpus.gpu0": {"memory": "9 GiB", "margin": 0.2, "static": 0.9}},
            "gpus.gpu0.static: got 0.9, must be at least 0 and at most 0.8 beside the margin",
        ),
        ({"gpus.gpu0": {"static": 0.5}}, "gpus.gpu0.static: needs the GPU's memory: say memory: 80 GiB"),
        ({"gpus.gpu0": {"context": 1}}, "gpus.gpu0.context: needs the GPU's memory: say memory: 80 GiB"),
        (
            {"gpus.gpu0.static": 0.1, "stages.enc.memory": {"weights": "2 GiB"}},
            "gpus.gpu0.static: got 0.1, a reserve of 1.0 GiB, the weights alone need 2.0 GiB",
        ),
        (
            {"gpus.gpu0.context": "6 GiB", "stages.enc.memory": {"weights": "5 GiB"}},
            "gpus.gpu0.memory: context and weights need 11.0 GiB, gpu0 has 10.0 GiB after its margin: "
            "reserve less or add a GPU",
        ),
        (
            {"gpus.gpu0.allocator": {"kind": "paged", "page": 0}},
            "gpus.gpu0.allocator.page: got 0, must be above 0",
        ),
        (
            {"stages.enc.memory": {"kv": {}}},
            "stages.enc.memory.kv.per_token: got neither, must be per_token or shape",
        ),
        (
            {"stages.enc.memory": {"kv": {**KV, "page_size": 0}}},
            "stages.enc.memory.kv.page_size: got 0, must be at least 1 token",
        ),
        (
            {"stages.enc.memory": {"activation": {"pieces": 0}}},
            "stages.enc.memory.activation.pieces: got 0, must be at least 1",
        ),
        (
            {"stages.enc.memory": {"handoff": {"host_above": 1}}},
            "stages.enc.memory.handoff.link: is missing: say from which size on (host_above) and over which link",
        ),
        (
            {"stages.enc.memory": {"handoff": LARGE}, "links": HOST["links"]},
            "stages.enc.memory.handoff.host_above: needs the host's memory: say host: {memory: …}",
        ),
        (
            {"stages.enc.memory": {"handoff": {**LARGE, "link": "pci"}}, **HOST},
            "stages.enc.memory.handoff.link: link 'pci' is unknown; did you mean 'pcie'? (known: pcie)",
        ),
        (
            {"stages.voc.memory": {"handoff": {"base": 1}}},
            "stages.voc.memory.handoff: stands at a last stage: nothing reads what it hands on",
        ),
        (
            {
                "stages.enc.memory": {"handoff": {**LARGE, "pinned": False}},
                "host": HOST["host"],
                "links": {"pcie": {"bandwidth": 1}},
            },
            "stages.enc.memory.handoff.pinned: got false, but links.pcie.pageable says no bandwidth for it",
        ),
        ({"links": {"pcie": {"bandwidth": 1, "pageable": 0}}}, "links.pcie.pageable: got 0, must be above 0"),
        ({"host": {"memory": -1}}, "host.memory: got -1, must be a finite number of bytes, at least 0"),
        (
            {"stages.enc.memory": {"when_full": {"kind": "retry", "backoff_ms": 0}}},
            "stages.enc.memory.when_full.backoff_ms: got 0 beside attempt_ms 0: it would try for ever at one instant",
        ),
        (
            {"stages.enc.memory": {"when_full": {"kind": "crash", "downtime_ms": -1}}},
            "stages.enc.memory.when_full.downtime_ms: got -1, must be a finite number, at least 0",
        ),
    ],
)
def test_it_is_refused_in_one_line(changes, line):
    assert refusal(two(changes)) == line


@pytest.mark.parametrize(("pinned", "bytes_per_s"), [(True, 20e9), (False, 6e9)])
def test_a_transfer_goes_at_the_bandwidth_of_its_memory(pinned, bytes_per_s):
    model = build(scenario_of(two({"stages.enc.memory": {"handoff": {**LARGE, "pinned": pinned}}, **HOST})))
    transfer = model.stages[0].transfer
    assert transfer == Transfer(link="pcie", bytes_per_s=bytes_per_s, latency_ms=0.5)
    assert transfer.ns(round(bytes_per_s / 1000)) == 1_500_000


def test_each_process_on_a_gpu_has_a_context():
    values = two({"gpus.gpu0.context": 7, "processes": GONE})
    model = build(scenario_of(values))
    assert model.fixed_on(model.gpus[0])["context"] == 7  # stages without a process share one
    for name in ("enc", "voc"):
        values["stages"][name]["process"] = name
    model = build(scenario_of(values))
    assert model.fixed_on(model.gpus[0])["context"] == 14
