"""What several rooms speak: requests, batches, decisions, units, errors, names, random streams."""

from simsched.core.admission import (
    Admission,
    Admit,
    Refuse,
    StageLoad,
    StaticLoad,
    StaticSystem,
    SystemView,
)
from simsched.core.decision import Dispatch, Hold, Policy, StageView, StaticView
from simsched.core.errors import (
    InputError,
    NotEnoughData,
    PolicyError,
    SimschedError,
    SimschedWarning,
    Unstable,
    raised,
    unknown,
)
from simsched.core.fields import checked_bytes, keep_bytes
from simsched.core.plain import Plain, shown
from simsched.core.provenance import Origin, Provenance, weakest
from simsched.core.registry import Registry
from simsched.core.request import Batch, Request
from simsched.core.routing import Route, Routing, RoutingView, StaticReplicas
from simsched.core.streams import stream
from simsched.core.units import NS_PER_MS, NS_PER_S, format_bytes, ns_from_ms, ns_from_s, parse_bytes, short
from simsched.core.yaml_file import read_yaml

__all__ = [
    "NS_PER_MS",
    "NS_PER_S",
    "Admission",
    "Admit",
    "Batch",
    "Dispatch",
    "Hold",
    "InputError",
    "NotEnoughData",
    "Origin",
    "Plain",
    "Policy",
    "PolicyError",
    "Provenance",
    "Refuse",
    "Registry",
    "Request",
    "Route",
    "Routing",
    "RoutingView",
    "SimschedError",
    "SimschedWarning",
    "StageLoad",
    "StageView",
    "StaticLoad",
    "StaticReplicas",
    "StaticSystem",
    "StaticView",
    "SystemView",
    "Unstable",
    "checked_bytes",
    "format_bytes",
    "keep_bytes",
    "ns_from_ms",
    "ns_from_s",
    "parse_bytes",
    "raised",
    "read_yaml",
    "short",
    "shown",
    "stream",
    "unknown",
    "weakest",
]
