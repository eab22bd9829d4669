"""experiments/live-smoke: what was said beforehand is unchanged, and the comparison is what stands there."""

import pytest
from script_files import script

from simsched.live.check import read_foretold
from simsched.run import read_phase

EXPERIMENT = "experiments/live-smoke/compare.py"


def test_the_comparison_is_the_one_that_stands_there():
    module = script(EXPERIMENT)
    assert module.report() == (module.HERE / "results.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(("folder", "sha256"), [(".", "e7e3289b"), ("again", "6d44ed10")])
def test_every_phase_was_said_beforehand_and_is_complete(folder, sha256):
    here = script(EXPERIMENT).HERE / folder
    told, digest = read_foretold(here)
    assert digest.startswith(sha256)
    assert {one.name for one in told} == {path.name for path in (here / "phases").iterdir()}
    for one in told:
        run = read_phase(here / "phases" / one.name)
        assert set(run.requests["status"]) == {"done"}
        assert run.stages == ["encoder", "vocoder"]
