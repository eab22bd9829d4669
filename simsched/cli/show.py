"""simsched show: the resolved scenario and what arithmetic says of it."""

from simsched.cli.common import Json, Overrides, ScenarioFile
from simsched.cli.common import show as print_out

EXAMPLES = """Examples:

simsched show examples/speech.yaml

simsched show examples/speech.yaml --set "workload.arrivals={kind: poisson, rate_rps: 300}"
"""


def show(scenario: ScenarioFile, overrides: Overrides = None, as_json: Json = False) -> None:
    """Print a scenario with every default filled in, and the capacity, bottleneck and load to expect."""
    from dataclasses import asdict

    from simsched.report import check_table, to_json
    from simsched.scenario import load, sources, to_values, to_yaml
    from simsched.studies import check

    loaded = load(scenario, overrides or ())
    found = check(loaded)
    known = {name: {"origin": said.origin.name, "source": said.source} for name, said in sources(loaded).items()}
    if as_json:
        print(to_json({"scenario": to_values(loaded), "check": asdict(found), "provenance": known}), end="")
        return
    print(to_yaml(to_values(loaded)))
    print_out(check_table(found))
    for name, said in known.items():
        print_out(f"{name}: {said['origin']}, {said['source']}")
