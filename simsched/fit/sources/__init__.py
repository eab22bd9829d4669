"""Profiles in, one file a format: what is in a file, and the measured batches of one stage."""

from simsched.fit.sources.base import SOURCES, Asked, Inspection, Reading, Source, StageFound, Time
from simsched.fit.sources.grid import Grid, read_samples
from simsched.fit.sources.kineto import DEFAULT_MATCH, Kineto, read_calls
from simsched.fit.sources.layers import Layers, compose_layers
from simsched.fit.sources.nvidia_smi import GpuSamples, NvidiaSmi, read_gpu_samples
from simsched.fit.sources.profiles import describe_sources, inspect_profile, read_profiles, source_of
from simsched.fit.sources.sglang import Sglang

__all__ = [
    "DEFAULT_MATCH",
    "SOURCES",
    "Asked",
    "GpuSamples",
    "Grid",
    "Inspection",
    "Kineto",
    "Layers",
    "NvidiaSmi",
    "Reading",
    "Sglang",
    "Source",
    "StageFound",
    "Time",
    "compose_layers",
    "describe_sources",
    "inspect_profile",
    "read_calls",
    "read_gpu_samples",
    "read_profiles",
    "read_samples",
    "source_of",
]
