"""How the parameters of a scenario are known."""

from simsched.core import Origin, Provenance, weakest
from simsched.scenario.build import build
from simsched.scenario.spec import Scenario


def sources(scenario: Scenario) -> dict[str, Provenance]:
    """Stage or process → how its costs are known; a cost that says nothing takes the scenario's own word."""
    model = build(scenario)
    said = Provenance()
    found: dict[str, Provenance] = {}

    def note(name: str, provenance: Provenance) -> None:
        known = scenario.provenance if provenance == said else provenance
        if name not in found or known.origin < found[name].origin:
            found[name] = known

    for spec in model.stages:
        for leaf in spec.program.leaves():
            if leaf.op != "sync":
                note(spec.name, leaf.cost.provenance)
    for process in model.processes:
        for cost in (process.loop.admission, process.loop.handoff, process.loop.response):
            if cost is not None:
                note(process.name, cost.provenance)
    return found


def origin(scenario: Scenario) -> Origin:
    """The weakest origin of all costs: that of every output."""
    return weakest(provenance.origin for provenance in sources(scenario).values())
