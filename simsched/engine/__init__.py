"""What is true now: the clock, stages, who runs, who holds memory. One way in: a Model; one way out: a Run."""

from simsched.engine.ledger import beside_fixed
from simsched.engine.model import GpuSpec, HostSpec, LinkSpec, Model, ProcessSpec, StageSpec, Transfer
from simsched.engine.simulate import simulate

__all__ = [
    "GpuSpec",
    "HostSpec",
    "LinkSpec",
    "Model",
    "ProcessSpec",
    "StageSpec",
    "Transfer",
    "beside_fixed",
    "simulate",
]
