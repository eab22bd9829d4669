"""The batch sweeps of calibration/published, by the names that its reference fits have."""

from functools import cache
from pathlib import Path

import pandas as pd

from simsched.fit import Samples

FOLDER = Path(__file__).parent
REFERENCE = pd.read_csv(FOLDER / "reference_fits.csv").set_index("curve")
COMPOSED = "vidur "  # sums of layer times, which are no sweep of a file here
_LLM = {"Llama2-70B": "llama2-70b", "prefill": "prompt_time", "decode": "token_time"}


def sweeps() -> list[str]:
    """Names of the reference fits whose sweep is here."""
    return [name for name in REFERENCE.index if not name.startswith(COMPOSED)]


def sweep(name: str) -> Samples:
    """The measured points of a reference fit: batch and ms."""
    rows = _llm(name) if name.endswith("(splitwise)") else _table(name)
    count = rows["batch"].to_numpy(dtype=float)
    ms = rows["latency_ms"].to_numpy(dtype=float)
    return Samples(count=count, longest=count * 0 + 1, total=count, ms=ms, source=name)


def _table(name: str) -> pd.DataFrame:
    plain, _, most = name.partition(" N<=")
    tables = [_encoders(), _vocoders()]
    rows = pd.concat([table[table["curve"] == plain] for table in tables]).sort_values("batch")
    return rows[rows["batch"] <= int(most)] if most else rows


@cache
def _encoders() -> pd.DataFrame:
    table = pd.read_csv(FOLDER / "encoder_batch_latency.csv.gz")
    curve = table["gpu"] + " " + table["model"] + " " + table["seq_or_res"]
    return table.assign(curve=curve + " " + table["precision"] + " " + table["engine"])


@cache
def _vocoders() -> pd.DataFrame:
    table = pd.read_csv(FOLDER / "vocoder_batch_latency.csv.gz")
    page = table["source"].str.extract(r"/(HiFiGAN|FastPitch|[^/]+\.md)(?:/README\.md)?$")[0]
    tag = page.fillna(table["source"].str.split("/").str[-1])
    relative = table["stat"].fillna("").str.startswith("RELATIVE")
    gpu = table["gpu"].fillna("").where(~relative, "")
    units = relative.map({True: " (relative units)", False: ""})
    words = gpu + " " + table["model"] + units + " " + table["precision"].fillna("") + " " + table["engine"].fillna("")
    return table.assign(curve=words.str.split().str.join(" ") + " [" + tag + "]")


def _llm(name: str) -> pd.DataFrame:
    """The medians of the repeats at 512 tokens in and 128 out, of the name's GPU, model and phase."""
    gpu, model, parallel, phase = name.replace(",", "").split()[:4]
    table = pd.read_csv(FOLDER / "perf_model.csv.gz")
    rows = table[(table["hardware"] == gpu) & (table["model"] == _LLM[model])]
    rows = rows[(rows["tensor_parallel"] == int(parallel[2:])) & (rows["prompt_size"] == 512)]
    rows = rows[rows["token_size"] == 128]
    medians = rows.groupby("batch_size")[_LLM[phase]].median().reset_index()
    return medians.rename(columns={"batch_size": "batch", _LLM[phase]: "latency_ms"})
