"""Every recorded batch of every phase, asked of the model of the scheduler that formed it.

    python experiments/replay/replay.py      # prints the table and rewrites it in README.md

One row a phase and stage, and one line for each kind of difference.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from simsched.policies import SglangSimple
from simsched.run import read_phase
from simsched.studies import Replay, replay_batches

HERE = Path(__file__).parent
LIVE = HERE.parent.parent / "calibration" / "h200-sglang-omni" / "live"
MARK = "<!-- table -->\n"


def policies_of(server: str) -> Mapping[str, SglangSimple]:
    """Stage → its scheduler, from what phase.json says of the server, such as "stage-wise encoder=32 vocoder=8 wait=0".

    The unified server runs both steps in one stage, recorded as "vocoder".
    """
    wait_ms = float(re.findall(r"wait=(\d+)", server)[0])
    sizes = dict(re.findall(r"(encoder|vocoder|batch)=(\d+)", server))
    stages = {"vocoder": sizes["batch"]} if "batch" in sizes else sizes
    return {stage: SglangSimple(max_batch_size=int(most), max_batch_wait_ms=wait_ms) for stage, most in stages.items()}


def replays() -> Iterator[tuple[str, Replay]]:
    """Phase and replay of each of its stages."""
    for path in sorted(LIVE.glob("*/phase.json")):
        run = read_phase(path.parent)
        for stage, policy in policies_of(run.meta["source"]["server"]).items():
            yield path.parent.name, replay_batches(run, stage, policy)


def table(found: list[tuple[str, Replay]]) -> str:
    """The table, and what the differences are."""
    lines = ["| phase | stage | batches | agree | share | by its own clock |", "|---|---|---|---|---|---|"]
    lines += [
        f"| {phase} | {one.stage} | {one.batches} | {one.agree} | {one.share:.1%} | {one.share_by_clock:.1%} |"
        for phase, one in found
    ]
    total, agree = sum(one.batches for _, one in found), sum(one.agree for _, one in found)
    kinds = Counter(difference.why for _, one in found for difference in one.differences)
    lines += ["", f"Together {agree:,} of {total:,} batches ({agree / total:.1%}). The {total - agree} others:", ""]
    lines += [f"- {count} *{why}*" for why, count in kinds.most_common()]
    return "\n".join(lines) + "\n"


def main() -> None:
    text = table(list(replays()))
    print(text)
    before, _, after = (HERE / "README.md").read_text(encoding="utf-8").split(MARK)
    (HERE / "README.md").write_text(f"{before}{MARK}{text}{MARK}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
