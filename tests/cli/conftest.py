"""What tests of live phases share."""

import pytest
from cli_command import here
from live_phases import QUIET, SCENARIO


@pytest.fixture
def scenario(tmp_path):
    file = tmp_path / "small.yaml"
    file.write_text(SCENARIO, encoding="utf-8")
    return file


@pytest.fixture
def loaded(capsys, tmp_path, scenario):
    """Loads a fake server; the result, and the folder."""

    def run(server, *options):
        out = tmp_path / "phase"
        with server.running():
            return here(capsys, "live", "load", server.url, scenario, "--out", out, *QUIET, *options), out

    return run
