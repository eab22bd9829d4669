"""simsched live serve: what would be started, and what is said where it cannot be."""

import socket
from importlib.util import find_spec

import pytest
from cli_command import ROOT, complains, here, simsched

LIVE = ROOT / "examples" / "live.yaml"
INSTALLED = find_spec("sglang_omni") is not None


def test_a_dry_run_shows_each_stage_and_starts_nothing():
    done = simsched("live", "serve", LIVE, "--dry-run")
    assert (done.status, done.err) == (0, "")
    rows = [line for line in done.out.splitlines() if "│" in line]
    for row, words in zip(rows, (["encoder", "SimpleScheduler, up to 32"], ["vocoder", "shortest_first"]), strict=True):
        assert all(word in row for word in words), row


def test_help_shows_the_examples():
    done = simsched("live", "serve", "--help")
    assert done.status == 0
    assert "simsched live serve examples/live.yaml --dry-run" in done.out
    assert simsched("live", "--help").out.count("serve")


def test_options_and_settings_reach_the_plan(capsys):
    sets = ["--set", "live.stages.encoder.model=encoder", "--set", "live.stages.vocoder={model: vocoder, stream: high}"]
    out = here(capsys, "live", "serve", LIVE, "--dry-run", "--gpu", "--tiny", *sets).out
    assert "served as code2wav (tiny models)" in out
    assert out.count("GPU 0") == 2
    assert "high" in out


def test_a_scenario_without_the_section_is_refused(capsys):
    complains(here(capsys, "live", "serve", ROOT / "examples" / "speech.yaml"), "live: is missing: say what each stage")


def test_an_unknown_model_is_refused(capsys):
    done = here(capsys, "live", "serve", LIVE, "--dry-run", "--set", "live.stages.encoder.model=bert")
    complains(done, "live.stages.encoder.model: value 'bert' is unknown", "known: encoder, sleep, unified, vocoder")


@pytest.mark.skipif(INSTALLED, reason="SGLang Omni is installed")
def test_without_sglang_omni_one_line_says_what_to_install(capsys):
    done = here(capsys, "live", "serve", LIVE)
    assert done.status == 2
    assert done.err.splitlines() == [
        "simsched: SGLang Omni: is not installed: install sglang-omni==0.1.9 (tested) in this environment"
    ]


@pytest.mark.skipif(not INSTALLED, reason="SGLang Omni is not installed")
def test_a_port_that_is_taken_is_refused(capsys):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        done = here(capsys, "live", "serve", LIVE, "--port", other.getsockname()[1])
    assert done.status == 2
    assert "Address already in use" in done.err
    assert len(done.err.splitlines()) == 1
