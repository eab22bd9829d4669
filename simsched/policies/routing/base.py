"""The registry of routings."""

from simsched.core import Registry, Routing

ROUTINGS: Registry[Routing] = Registry("routing", "routing", " with route(now, request, stage)")
