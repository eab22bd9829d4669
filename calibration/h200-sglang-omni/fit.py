"""Fit the curves of this folder from what was measured alone, as a user of simsched would.

    python calibration/h200-sglang-omni/fit.py [--out DIR]

Rewrites curves/*.yaml and a picture of each stage, here or in DIR: from isolated_curves.csv (one host, medians), from
trace.json.gz (the device's time alone) and from rounds.csv.gz (another host, single calls in four rounds).
"""

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np
import yaml

from simsched.fit import (
    Candidate,
    Samples,
    StageFit,
    fit_form,
    fit_stage,
    fit_table,
    predict,
    read_profiles,
    read_samples,
)
from simsched.hardware import save_curve
from simsched.report.figures.fit import write_fit_figure

HERE = Path(__file__).parent
UNITS = {"encoder": "tokens", "vocoder": "codec frames of 80 ms"}
FORMS = (
    Candidate("linear", "count"),
    Candidate("linear", "padded"),
    Candidate("roofline", "padded"),
    Candidate("power", "padded"),
    Candidate("power", "padded", 1.3),
)
HELD_BACK = 0.25  # sizes above this share of the largest padded size are predicted from the smaller ones


def main() -> None:
    parser = argparse.ArgumentParser(description="Fit the curves of the isolated profile.")
    parser.add_argument("--out", type=Path, default=HERE, metavar="DIR", help="write there instead of here")
    rebuild(parser.parse_args().out)


def rebuild(out: Path) -> None:
    """All files, written into `out`."""
    (out / "curves").mkdir(parents=True, exist_ok=True)
    memory = {}
    for stage, unit in UNITS.items():
        samples = read_samples(HERE / "isolated_curves.csv", stage=stage)
        source = f"calibration/{HERE.name}/{samples.source}, alone on one H200"
        samples = replace(samples, source=source, of_medians=True)
        found, table = fit_stage(samples), fit_table(samples)
        save_curve(found.fit.curve, out / f"curves/{stage}.yaml", extra=told(samples, found, unit))
        save_curve(table.curve, out / f"curves/{stage}-table.yaml", extra={"unit": unit, **table.summary()})
        write_fit_figure(found, out / f"{stage}.png", f"{stage} alone on one H200, SGLang Omni 0.1.9", unit)
        memory[stage] = peak(found, unit)
        for kind, other in others(stage).items():
            save_curve(other.fit.curve, out / f"curves/{stage}-{kind}.yaml", extra={"unit": unit, **other.summary()})
        print(f"{stage}: {found.reason}")
    (out / "curves/memory.yaml").write_text(
        yaml.safe_dump(memory, sort_keys=False, default_flow_style=None, width=118, allow_unicode=True)
    )


def others(stage: str) -> dict[str, StageFit]:
    """The device's part by the profiler's trace, and the same stage on another host, whose speed drifted."""
    device = read_profiles([HERE / "trace.json.gz"], stage=stage, time="device")
    rounds = read_profiles([HERE / "rounds.csv.gz"], stage=stage)
    named = {
        "device": replace(device, source=f"calibration/{HERE.name}/{device.source}, GPU time"),
        "rounds": replace(rounds, source=f"calibration/{HERE.name}/{rounds.source}, alone on another H200 host"),
    }
    return {
        "device": fit_stage(named["device"], form="linear", by="padded"),
        "rounds": fit_stage(named["rounds"], form="roofline", by="padded"),
    }


def told(samples: Samples, found: StageFit, unit: str) -> dict[str, object]:
    """What a reader of the curve should know: why this form, what the others are, and how they extrapolate."""
    others = {str(form): parameters(samples, form) for form in FORMS}
    beyond = {str(form): round(error_beyond(samples, form), 3) for form in FORMS}
    share = f"mean_error_above_{HELD_BACK:.0%}_of_the_largest_size_from_the_smaller_ones".replace("%", "_percent")
    summary = {name: value for name, value in found.summary().items() if name != "memory"}
    return {"unit": unit, **summary, "all_forms": others, share: beyond}


def parameters(samples: Samples, form: Candidate) -> dict[str, float]:
    return {name: float(f"{value:.5g}") for name, value in fit_form(samples, form).parameters.items()}


def error_beyond(samples: Samples, form: Candidate) -> float:
    """Mean relative error on the large sizes of a fit of the small ones."""
    small = samples.x("padded") <= HELD_BACK * samples.x("padded").max()
    curve = fit_form(samples.take(small), form, bare=True).curve
    return float(np.mean(np.abs(predict(curve, samples) / samples.ms - 1)[~small]))


def peak(found: StageFit, unit: str) -> dict[str, object]:
    fit = found.memory
    assert fit is not None
    activation = {"base": fit.activation.base, "per_unit": fit.activation.per_unit, "by": fit.activation.by}
    provenance = {"origin": fit.provenance.origin.name, "source": fit.provenance.source}
    return {"activation": activation, "provenance": provenance, "fit": {"unit": unit, **fit.summary()}}


if __name__ == "__main__":
    main()
