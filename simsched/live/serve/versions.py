"""What has to be installed beside simsched, and with which versions it was tested."""

import importlib
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

from simsched.core import InputError

TESTED = ("0.1.9",)
"""Versions of SGLang Omni that the live tests have passed with."""
_NEEDED: Mapping[str, tuple[str, ...]] = {
    "sglang_omni.scheduling.simple_scheduler": ("SimpleScheduler",),
    "sglang_omni.scheduling.message": ("IncomingMessage",),
    "sglang_omni.profiler.event_recorder": ("emit",),
    "sglang_omni.config": ("FactoryArgs", "PipelineConfig", "PlacementConfig", "StageConfig"),
}
_METHODS = ("enqueue", "abort", "start_serial", "run_batch", "emit_error", "consume_if_aborted", "is_aborted", "stop")


def check_installed(*, torch: bool, gpu: bool = False) -> str:
    """Refuse to start what cannot run.

    Args:
        torch: whether a stage runs a real model.
        gpu: whether it runs on a GPU.

    Returns:
        A warning in one line, "" where there is nothing to say.

    Raises:
        InputError: what to install, or what this version of SGLang Omni lacks.
    """
    try:
        found = version("sglang-omni")
    except PackageNotFoundError:
        problem = f"is not installed: install sglang-omni=={TESTED[-1]} (tested) in this environment"
        raise InputError(problem, "SGLang Omni") from None
    for package in ("torch", "transformers") if torch else ():
        if find_spec(package) is None:
            raise InputError("is not installed: the live models need it; model: sleep does without", package)
    if torch and gpu and not _sees_a_gpu():
        raise InputError("torch sees no GPU here: leave --gpu out (--tiny makes models for a CPU)", "--gpu")
    _check_classes(found)
    tested = ", ".join(TESTED)
    return "" if found in TESTED else f"SGLang Omni {found} is installed, simsched live was tested with {tested}"


def _sees_a_gpu() -> bool:
    return bool(importlib.import_module("torch").cuda.is_available())


def _check_classes(found: str) -> None:
    """Refuse a version without what the stages are built on."""
    must = f"SGLang Omni {found}"
    for module, names in _NEEDED.items():
        try:
            loaded = importlib.import_module(module)
        except ImportError as error:
            raise InputError(f"{module} cannot be imported: {error}; tested with {TESTED[-1]}", must) from error
        missing = [name for name in names if not hasattr(loaded, name)]
        if missing:
            raise InputError(f"{module} has no {missing[0]}; tested with {TESTED[-1]}", must)
    scheduler = importlib.import_module("sglang_omni.scheduling.simple_scheduler").SimpleScheduler
    missing = [name for name in _METHODS if not hasattr(scheduler, name)]
    if missing:
        raise InputError(f"SimpleScheduler has no {missing[0]}; tested with {TESTED[-1]}", must)
