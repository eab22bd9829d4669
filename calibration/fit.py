"""Make the measured batches and the curves of a100/ and h100/ anew from the raw tables that are shipped.

    python calibration/fit.py                      # both, in place (about 20 s)
    python calibration/fit.py a100 --out DIR       # into DIR/a100

FOLDER/stages.yaml says which stages there are and where their batches come from: a published sweep (`published`, a name
that `published/sweeps.py` knows; `less` is taken off, to leave one stage of two), or layer timings put together
(`layers`).
Written: FOLDER/batches.csv, FOLDER/curves/STAGE.yaml, FOLDER/kv.yaml, FOLDER/residuals.png.
"""

import argparse
import itertools
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml
from published.sweeps import sweep  # calibration/published/sweeps.py

from simsched.fit import Samples, StageFit, fit_line, fit_stage, read_samples
from simsched.fit.sources import compose_layers
from simsched.hardware import KvShape, save_curve
from simsched.report.figures.fits import write_fits_figure

HERE = Path(__file__).parent
FOLDERS = ("a100", "h100")
LAYERS = HERE / "layers"
COUNTS = (1, 2, 3, 4, 6, 8, 12, 16, 20, 24, 28, 32, 40, 48, 56, 64)
LEAST_FOR_CHOICE = 5  # sizes; with fewer, leaving one out judges nothing, and a line is taken
ABOUT = "# Made by calibration/fit.py. median_ms: of a batch, a mean or median of repeats, or layers put together.\n"

Stages = Mapping[str, Mapping[str, Any]]


def main() -> None:
    parser = argparse.ArgumentParser(description="Rebuild the curves of calibration/.")
    parser.add_argument("folders", nargs="*", metavar="FOLDER", help=f"of {', '.join(FOLDERS)}; all if none is named")
    parser.add_argument("--out", type=Path, default=HERE, metavar="DIR", help="write into DIR/FOLDER instead")
    asked = parser.parse_args()
    for folder in asked.folders or FOLDERS:
        if folder not in FOLDERS:
            parser.error(f"{folder!r} is unknown, must be one of {', '.join(FOLDERS)}")
        for name, found in rebuild(folder, asked.out / folder).items():
            print(f"{folder}/{name}: {found.candidate}; {found.reason}")


def stages_of(folder: str) -> Stages:
    """What FOLDER/stages.yaml says, by stage."""
    said: Stages = yaml.safe_load((HERE / folder / "stages.yaml").read_text(encoding="utf-8"))
    return said


def rebuild(folder: str, out: Path, *, figure: bool = True) -> dict[str, StageFit]:
    """All files of a folder, written into `out`; the fits by stage."""
    stages = stages_of(folder)
    (out / "curves").mkdir(parents=True, exist_ok=True)
    write_batches(stages, out / "batches.csv")
    fits = {}
    for name, stage in stages.items():
        samples = read_samples(out / "batches.csv", stage=name)
        samples = replace(samples, source=f"calibration/{folder}/{samples.source}")
        fits[name] = found = unrounded(fit_one(samples), stage.get("rounded_ms", 0.0))
        told = {key: stage[key] for key in ("role", "gpu", "precision", "what", "unit")}
        save_curve(found.fit.curve, out / "curves" / f"{name}.yaml", extra={**told, **found.summary()})
    write_kv(stages, out / "kv.yaml")
    if figure:
        write_fits_figure(fits, out / "residuals.png")
    return fits


def fit_one(samples: Samples) -> StageFit:
    """The best form by the error on sizes left out, or a line where there are too few sizes for that."""
    sizes, lengths = int(samples.shapes.max()) + 1, len(set(samples.longest.tolist()))
    by = "count" if lengths == 1 else None
    return fit_stage(samples, form="linear" if sizes < LEAST_FOR_CHOICE else "best", by=by)


def unrounded(found: StageFit, half_ms: float) -> StageFit:
    """The fit of a line with intervals that hold whatever rounding hides: each time may be `half_ms` more or less."""
    if not half_ms:
        return found
    samples, intervals = found.samples, dict(found.fit.intervals)
    for signs in itertools.product((-half_ms, half_ms), repeat=samples.n):
        curve = fit_line(replace(samples, ms=samples.ms + np.array(signs)), bare=True).curve
        for name, (low, high) in intervals.items():
            value = getattr(curve, name)
            intervals[name] = (min(low, value), max(high, value))
    note = f"published times are rounded, here by up to {half_ms:g} ms: intervals hold whatever that hides"
    return replace(found, fit=replace(found.fit, intervals=intervals, notes=(*found.fit.notes, note)))


def write_batches(stages: Stages, path: Path) -> None:
    """One row a batch shape: stage, gpu, batch, length, median_ms."""
    rows = []
    for name, stage in stages.items():
        samples = composed(stage["layers"]) if "layers" in stage else published(stage)
        rows.append(
            pd.DataFrame(
                {
                    "stage": name,
                    "gpu": stage["gpu"],
                    "batch": samples.count.astype(int),
                    "length": samples.longest.astype(int),
                    "median_ms": samples.ms.round(5),
                }
            )
        )
    path.write_text(ABOUT + pd.concat(rows).to_csv(index=False), encoding="utf-8")


def composed(layers: Mapping[str, Any]) -> Samples:
    """Layers × (dense operations + attention), at the counts and lengths of the stage."""
    return compose_layers(
        LAYERS / layers["dense"],
        LAYERS / layers["attention"],
        layers=layers["number"],
        length=layers["lengths"],
        counts=[count for count in COUNTS if count <= layers["most"]],
        head_dim=layers["head_dim"],
    )


def published(stage: Mapping[str, Any]) -> Samples:
    """A published sweep, all members of the stage's length; less another one, interpolated in straight lines."""
    samples = sweep(stage["published"])
    ms = samples.ms
    if "less" in stage:
        other = sweep(stage["less"])
        ms = ms - np.interp(samples.count, other.count, other.ms)
    longest = np.full(samples.n, float(stage["length"]))
    return Samples(count=samples.count, longest=longest, total=samples.count * longest, ms=ms)


def write_kv(stages: Stages, path: Path) -> None:
    """KV bytes a token of the models whose layers are known, and the table that they come from."""
    found = {}
    for name, stage in stages.items():
        if "kv" in stage:
            shape = KvShape(**{key: value for key, value in stage["kv"].items() if key != "source"})
            found[name] = {**stage["kv"], "bytes_per_token": shape.bytes_per_token}
    if found:
        path.write_text(yaml.safe_dump(found, sort_keys=False, default_flow_style=None, width=118), encoding="utf-8")


if __name__ == "__main__":
    main()
