"""Allocators: who may take bytes of a GPU and how much that really takes, by name (`ALLOCATORS`)."""

from simsched.hardware.allocators.base import ALLOCATORS, Allocator, AllocatorSpec
from simsched.hardware.allocators.caching import Caching, CachingAllocator
from simsched.hardware.allocators.exact import Exact
from simsched.hardware.allocators.paged import Paged
from simsched.hardware.allocators.pool import Pool

__all__ = [
    "ALLOCATORS",
    "Allocator",
    "AllocatorSpec",
    "Caching",
    "CachingAllocator",
    "Exact",
    "Paged",
    "Pool",
]
