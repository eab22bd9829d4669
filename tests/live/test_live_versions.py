"""What is said of what is installed beside simsched."""

import sys
from importlib.metadata import PackageNotFoundError
from types import ModuleType

import pytest

from simsched.core import InputError
from simsched.live.serve import TESTED, check_installed, versions


class Scheduler:
    """A scheduler with all that is needed."""

    enqueue = abort = start_serial = run_batch = emit_error = consume_if_aborted = is_aborted = stop = None


@pytest.fixture
def installed(monkeypatch):
    """SGLang Omni of a version, made of empty modules."""

    def install(version="0.1.9", scheduler=Scheduler):
        for name, items in versions._NEEDED.items():
            made = ModuleType(name)
            for item in items:
                setattr(made, item, scheduler)
            monkeypatch.setitem(sys.modules, name, made)
        monkeypatch.setattr(versions, "version", lambda _: version)
        return monkeypatch

    return install


def test_a_tested_version_needs_no_word(installed):
    installed(TESTED[-1])
    assert check_installed(torch=False) == ""


def test_another_version_gets_a_warning(installed):
    installed("0.2.0")
    assert check_installed(torch=False) == "SGLang Omni 0.2.0 is installed, simsched live was tested with 0.1.9"


def test_none_is_refused(monkeypatch):
    def missing(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr(versions, "version", missing)
    with pytest.raises(InputError, match=r"SGLang Omni: is not installed: install sglang-omni==0.1.9 \(tested\)"):
        check_installed(torch=False)


def test_a_version_without_what_is_needed_is_refused(installed):
    monkeypatch = installed("0.1.3")
    monkeypatch.delattr(sys.modules["sglang_omni.config"], "FactoryArgs")
    with pytest.raises(
        InputError, match=r"SGLang Omni 0.1.3: sglang_omni.config has no FactoryArgs; tested with 0.1.9"
    ):
        check_installed(torch=False)
    installed("0.1.3", scheduler=type("Older", (), {"enqueue": None}))
    with pytest.raises(InputError, match=r"SGLang Omni 0.1.3: SimpleScheduler has no abort; tested with 0.1.9"):
        check_installed(torch=False)


def test_a_real_model_needs_torch(installed):
    installed().setattr(versions, "find_spec", lambda name: None)
    with pytest.raises(
        InputError, match=r"torch: is not installed: the live models need it; model: sleep does without"
    ):
        check_installed(torch=True)
    assert check_installed(torch=False) == ""


def test_a_gpu_that_is_not_there_is_refused(installed):
    monkeypatch = installed()
    monkeypatch.setattr(versions, "find_spec", lambda _: True)
    monkeypatch.setattr(versions, "_sees_a_gpu", lambda: False)
    with pytest.raises(InputError, match=r"--gpu: torch sees no GPU here: leave --gpu out"):
        check_installed(torch=True, gpu=True)
    assert check_installed(torch=True) == ""
