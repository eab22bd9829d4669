"""C1 and C2 on every stage that calibration/ ships: is p = 1.3, and which batch is best?

    python experiments/c1-c2-exponents/run.py [--out DIR] [--small]

Prints the tables, writes results.json, results.md and exponents.png (about 20 s).
"""

import argparse
import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path

from best_batch import PAIRS, SIMULATED, Best, Pair, pair_of
from exponents import CLAIMED, Exponent, exponent, stages

from simsched.report.figures.forest import Estimate, write_forest

HERE = Path(__file__).parent
GROUPS = {
    "encoder": "encoder (C1: a line)",
    "vocoder": "vocoder (C1: 1.3)",
    "both": "both stages timed together",
    "llm": "LLM on 8 GPUs",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=HERE, metavar="DIR", help="where the results are written")
    parser.add_argument("--small", action="store_true", help="two pairs and few simulated batches, for a test")
    asked = parser.parse_args()
    shipped = {one.name: one for one in stages()}
    exponents = [exponent(stage) for stage in shipped.values()]
    chosen, tried = ((PAIRS[0], PAIRS[-1]), (1, 8, 64, 128, 192)) if asked.small else (PAIRS, SIMULATED)
    pairs = [pair_of(None if first is None else shipped[first], shipped[second], tried) for first, second in chosen]
    text = "\n".join(
        [*table(c1_rows(exponents)), "", *c1_words(exponents), "", *table(c2_rows(pairs)), "", *c2_words(pairs)]
    )
    asked.out.mkdir(parents=True, exist_ok=True)
    (asked.out / "results.md").write_text(f"<!-- written by run.py -->\n{text}\n", encoding="utf-8")
    found = {"C1": {one.stage.name: one.plain() for one in exponents}, "C2": {one.name: one.plain() for one in pairs}}
    (asked.out / "results.json").write_text(
        json.dumps(found, indent=1, allow_nan=False, ensure_ascii=False) + "\n", encoding="utf-8"
    )
    draw(exponents, asked.out / "exponents.png")
    sys.stdout.write(text + "\n")


# C1 --------------------------------------------------------------------------------------------------------------


def c1_rows(exponents: Sequence[Exponent]) -> list[list[str]]:
    """A header and a row a stage."""
    header = ["stage", "role", "GPU", "precision", "points, largest N", "p (95 %)", "a/b", "p, least squares in ms"]
    rows = [[*header, "reference p (95 %)", "verdict"]]
    for one in exponents:
        stage = one.stage
        p = "undetermined" if one.interval is None else f"**{one.p:.3f}** ({one.interval[0]:.3f}–{one.interval[1]:.3f})"
        low_high = "" if one.reference_interval is None else " ({:.2f}–{:.2f})".format(*one.reference_interval)
        reference = "–" if one.reference is None else f"{one.reference:g}{low_high}"
        size = f"{stage.samples.n}, {stage.samples.count.max():g}"
        words = [stage.name, stage.role, stage.gpu, stage.precision, size, p, f"{one.even:.1f}"]
        rows.append(
            [*words, f"{one.absolute:.3f}", reference + ("" if one.agrees in (True, None) else " !"), one.verdict]
        )
    return rows


def c1_words(exponents: Sequence[Exponent]) -> list[str]:
    """How many stages say what, by role; and what the reference says."""
    lines = []
    for role in CLAIMED:
        members = [one for one in exponents if one.stage.role == role]
        known = [one for one in members if not one.verdict.startswith("cannot")]
        counted = [
            f"{sum(one.verdict.startswith(word) for one in known)} {word}"
            for word in ("reproduced", "direction only", "not reproduced")
        ]
        lines.append(f"- {GROUPS[role]}: {len(members)} stages, {len(known)} tell p: {', '.join(counted)}.")
    compared = [one for one in exponents if one.agrees is not None]
    agreeing = sum(bool(one.agrees) for one in compared)
    lines.append(
        f"- Plain least squares meets the reference within its grid step in {agreeing} of {len(compared)} stages."
    )
    apart = [
        one.stage.name
        for one in compared
        if one.interval is not None
        and one.reference is not None
        and not one.interval[0] <= one.reference <= one.interval[1]
    ]
    lines.append(f"- Reference p outside our interval, which weighs relative errors: {', '.join(apart) or 'none'}.")
    return lines


def draw(exponents: Sequence[Exponent], out: Path) -> None:
    """The forest plot."""
    rows = [
        Estimate(
            f"{one.stage.name} {one.stage.precision}" if one.stage.precision not in one.stage.name else one.stage.name,
            GROUPS[one.stage.role],
            one.p,
            one.interval,
            one.why.replace(" (95 %)", ""),
        )
        for one in exponents
    ]
    write_forest(rows, out, marks={1.0: "a line", 1.3: "C1: 1.3"}, label="p of c + d·N^p, 95 % interval")


# C2 --------------------------------------------------------------------------------------------------------------


def c2_rows(pairs: Sequence[Pair]) -> list[list[str]]:
    """A header and a row a pair."""
    names = ["formula (95 %)", "integer search", "simulated", "within 1 % of the best"]
    rows = [["encoder + vocoder", "largest N measured", "p", *names, *(f"if p = 1.3: {name}" for name in names[:3])]]
    for one in pairs:
        fitted, claimed = one.fitted, one.claimed
        known = one.interval is not None
        interval = f" ({number(one.interval[0])}–{number(one.interval[1])})" if one.interval else " (undetermined)"
        ends = f" ({number(one.simulated[0])}–{number(one.simulated[1])})" if one.simulated else ""
        least, most = one.claimed_interval
        given = f" ({number(least)}–{'∞' if most == math.inf else number(most)})"
        rows.append(
            [
                one.name,
                str(one.measured),
                f"{one.p:.2f}" if known else f"({one.p:.2f})",
                number(fitted.formula) + interval,
                number(fitted.integer),
                number(fitted.simulated) + ends,
                flat(fitted),
                number(claimed.formula) + given,
                number(claimed.integer),
                number(claimed.simulated),
            ]
        )
    return rows


def c2_words(pairs: Sequence[Pair]) -> list[str]:
    """Whether the three ways agree, and where the maximum lies."""
    bests = [best for pair in pairs for best in (pair.fitted, pair.claimed)]
    finite = [best for best in bests if math.inf not in (best.formula, best.simulated)]
    gap = max(abs(best.integer - best.formula) for best in finite)
    equal = sum(best.integer == best.simulated for best in finite)
    rate = max(abs(best.per_s / best.per_s_formula - 1) for best in bests)
    known = [pair for pair in pairs if pair.interval is not None]
    inside = [pair.name for pair in known if pair.interval is not None and pair.interval[1] <= pair.measured]
    return [
        f"- {len(finite)} of {len(bests)} curves have a maximum among the batches simulated. There the integer search "
        f"lies within {gap:.1f} of the formula, and the simulation's best batch is the integer search's in {equal}.",
        f"- Simulated throughput is N/(encoder + vocoder) to {rate:.0e}.",
        f"- The data determine N* in {len(known)} of {len(pairs)} pairs, among those measured in {len(inside)}.",
    ]


def flat(best: Best) -> str:
    return f"{best.flat[0]}–{best.flat[1]}" if best.integer != math.inf else f"from {best.flat[0]}"


def number(value: float) -> str:
    return (
        "rises for ever"
        if value == math.inf
        else f"{value:.0f}"
        if value >= 10 or value == int(value)
        else f"{value:.1f}"
    )


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    header, *cells = rows
    return [f"| {' | '.join(header)} |", "|---" * len(header) + "|", *(f"| {' | '.join(row)} |" for row in cells)]


if __name__ == "__main__":
    main()
