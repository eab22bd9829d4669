"""experiments/live-smoke: what was said beforehand is unchanged, and the comparison is what stands there."""

from script_files import script

from simsched.live.check import read_foretold
from simsched.run import read_phase

EXPERIMENT = "experiments/live-smoke/compare.py"


def test_the_comparison_is_the_one_that_stands_there():
    module = script(EXPERIMENT)
    assert module.report() == (module.HERE / "results.md").read_text(encoding="utf-8")


def test_every_phase_was_said_beforehand_and_is_complete():
    module = script(EXPERIMENT)
    told, digest = read_foretold(module.HERE)
    assert digest.startswith("e7e3289b")
    assert [one.name for one in told] == list(module.SCENARIOS)
    for name in module.SCENARIOS:
        run = read_phase(module.HERE / "phases" / name)
        assert set(run.requests["status"]) == {"done"}
        assert run.stages == ["encoder", "vocoder"]
