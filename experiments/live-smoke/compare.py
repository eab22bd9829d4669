"""What was said beforehand beside what was recorded, the decisions taken again, the batches formed again.

python experiments/live-smoke/compare.py            # prints results.md, from the recorded phases
python experiments/live-smoke/compare.py --write    # and writes it
"""

import argparse
from collections.abc import Mapping
from pathlib import Path

from simsched.live.check import judge, medians, read_foretold
from simsched.live.policy import check_decisions, replay_decisions
from simsched.live.serve import plan_server
from simsched.report.words import number, signed_percent
from simsched.run import Run, read_phase
from simsched.scenario import load
from simsched.studies import agreement, predict

HERE = Path(__file__).parent
SCENARIOS = {
    "stock-c64": "stock.yaml",
    "stock-c16": "stock-c16.yaml",
    "adapter-c64": "adapter.yaml",
    "bucketed-c64": "bucketed.yaml",
    "priority-c64": "priority.yaml",
}
SITTINGS = {
    "The first sitting": (HERE, {"adapter-c64": "server-1", "bucketed-c64": "server-2"}),
    "Once more, an hour later": (HERE / "again", {"bucketed-c64": "server-1"}),
}
"""Folder, and where the decision logs of its phases are."""
SHORT = {"throughput_rps": "throughput, req/s", "latency_s.mean": "mean, s"}


def predictions(folder: Path) -> list[str]:
    told, digest = read_foretold(folder)
    judged = [one for each in told for one in judge(each, folder / "phases" / each.name)[0]]
    ranges = {each.name: each.ranges for each in told}
    lines = [
        f"Predictions of sha256 {digest}.",
        "",
        "| phase | number | predicted | 95 % | measured | error | inside |",
    ]
    lines.append("|---|---|---|---|---|---|---|")
    for one in judged:
        if one.predicted is None or one.measured is None or one.error is None:
            continue
        low, high = ranges[one.phase][one.metric]
        name = SHORT.get(one.metric, f"{one.metric.removeprefix('latency_s.')}, s")
        numbers = f"{number(one.predicted)} | {number(low)} … {number(high)} | {number(one.measured)}"
        inside = "yes" if one.inside else "no"
        lines.append(f"| {one.phase} | {name} | {numbers} | {signed_percent(one.error)} | {inside} |")
    middle = {
        SHORT.get(path, path.removeprefix("latency_s.")).removesuffix(", s").removesuffix(", req/s"): error
        for path, error in medians(judged).items()
    }
    told_middle = ", ".join(f"{name} {100 * error:.1f} %" for name, error in middle.items())
    return [*lines, "", f"Median of the absolute errors: {told_middle}."]


def decisions(folder: Path, logs: Mapping[str, str]) -> list[str]:
    lines = [
        "| phase | stage | decisions | taken again by the policy | by the simulated stage |",
        "|---|---|---|---|---|",
    ]
    for phase, server in logs.items():
        plan = plan_server(load(HERE / SCENARIOS[phase]))
        for log in sorted((folder / server).glob("decisions_*")):
            stage = plan.stage(log.name.split("_")[1])
            asked, replayed = (
                judge(log, stage.spec.policy, spec=stage.spec, room=stage.room)
                for judge in (check_decisions, replay_decisions)
            )
            again = f"{asked.agree} | {'all' if replayed.ok else replayed.agree}"
            lines.append(f"| {phase} | {stage.name} | {asked.decisions} | {again} |")
    return lines


def batches(folder: Path) -> list[str]:
    lines = ["| phase | stage | batches | formed again | by its own clock |", "|---|---|---|---|---|"]
    for phase in [name for name in SCENARIOS if (folder / "phases" / name).is_dir()]:
        found = agreement(read_phase(folder / "phases" / phase), load(HERE / SCENARIOS[phase]), durations=True)
        lines += [f"| {phase} | {one.stage} | {one.batches} | {one.agree} | {one.agree_by_clock} |" for one in found]
    return lines


def services(folder: Path) -> list[str]:
    """Batches by their longest member, recorded and simulated on the same requests."""
    heads = "phase | stage | longest, words | batches | of requests | mean ms"
    lines = [f"| {heads} | simulated batches | of requests | mean ms |"]
    lines.append("|---" * 9 + "|")
    for phase in [name for name in SCENARIOS if (folder / "phases" / name).is_dir()]:
        found = predict(load(HERE / SCENARIOS[phase]), folder / "phases" / phase)
        for stage in found.recorded.stages:
            for longest in (6, 60):
                cells = [cell for run in (found.recorded, found.run) for cell in _of(run, stage, longest)]
                lines.append(f"| {phase} | {stage} | {longest} | {' | '.join(cells)} |")
    return lines


def _of(run: Run, stage: str, longest: float) -> tuple[str, str, str]:
    batches = run.batches_of(stage)
    here = batches[batches["longest"] == longest]
    ms = (here["end_ns"] - here["start_ns"]) / 1e6
    return str(len(here)), f"{here['count'].mean():.2f}", f"{ms.mean():.1f}"


def report() -> str:
    parts = []
    for title, (folder, logs) in SITTINGS.items():
        parts += [[f"## {title}"], predictions(folder), decisions(folder, logs), batches(folder), services(folder)]
    return "<!-- written by compare.py -->\n" + "\n\n".join("\n".join(part) for part in parts) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description="predicted beforehand beside recorded")
    parser.add_argument("--write", action="store_true")
    if parser.parse_args().write:
        (HERE / "results.md").write_text(report(), encoding="utf-8")
    print(report(), end="")


if __name__ == "__main__":
    main()
