"""Hypothesis profiles, the option that rewrites goldens, and helpers whose assertions pytest explains."""

import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

sys.path.append(str(Path(__file__).parents[1] / "calibration"))  # its scripts import each other so: published.sweeps
sys.path.append(str(Path(__file__).parents[1] / "experiments" / "memory"))  # and so: memory_questions.tiers

pytest.register_assert_rewrite("laws.checks", "laws.checks_of_resources")

_PATIENT = [HealthCheck.too_slow, HealthCheck.data_too_large]  # the machine may be shared: slowness is no failure
settings.register_profile("dev", max_examples=20, deadline=None, suppress_health_check=_PATIENT)
settings.register_profile("ci", max_examples=25, deadline=None, derandomize=True, suppress_health_check=_PATIENT)
settings.register_profile("deep", max_examples=5000, deadline=None, suppress_health_check=_PATIENT)
settings.load_profile("ci" if os.environ.get("CI") else "dev")  # --hypothesis-profile=deep chooses another


def pytest_addoption(parser):
    parser.addoption(
        "--update-goldens",
        action="store_true",
        help="write tests/replay/goldens anew; review the difference as a change of behaviour",
    )


@pytest.fixture
def update_goldens(request):
    """Whether goldens are to be written instead of compared."""
    return request.config.getoption("--update-goldens")
