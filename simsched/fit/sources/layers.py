"""Timings of single layers (Vidur) and kernels (aiconfigurator), composed into the batches of a whole stage."""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from simsched.core import InputError
from simsched.fit.samples import FloatArray, Samples
from simsched.fit.sources.base import SOURCES, Asked, Inspection, Reading, header_of, refuse, span_of
from simsched.fit.sources.grid import read_csv

_ATTENTION = ("batch_size", "isl", "num_heads", "head_dim", "latency_ms")
_GEMM = ("m", "n", "k", "latency_ms")
_LAYER = ("num_tokens", "n_head", "n_kv_head", "n_embd", "num_tensor_parallel_workers", "emb_ms", "add_ms")
_OPTIONAL = ("num_key_value_heads", "step")
_GPU = re.compile(r"(?<![a-z0-9])(?:[abhlvt]\d{1,3}s?|gh200|gb\d{3})(?![0-9])")
_UNFIT = "holds times of single layers or kernels, no batches of a stage: compose them with compose_layers"


def compose_layers(
    mlp: str | os.PathLike[str],
    attention: str | os.PathLike[str],
    *,
    layers: int,
    length: int | Sequence[int],
    counts: Sequence[int],
    adds: int = 2,
    embedding: bool = False,
    head_dim: int | None = None,
    gpu: str | None = None,
) -> Samples:
    """Batches of a prefill: layers × (dense operations at N·L tokens + attention of N × L), for each N and L.

    Times between the tables' token counts, batch sizes and lengths are interpolated in straight lines; repeated rows
    are averaged first. What a server adds (launch gaps, host time, copies) is not in it.

    Args:
        mlp: Vidur's layer CSV: <operation>_ms by num_tokens, one model, one tensor-parallel worker.
        attention: aiconfigurator's context or encoder attention table of the same GPU.
        layers: how many the model has, at least 1.
        length: tokens of each member, one or several.
        counts: batch sizes.
        adds: how often the operation `add` (the residual) runs in a layer; 2 in Llama.
        embedding: whether the embedding, once a batch, counts too.
        head_dim: of the attention rows to use; None is n_embd / n_head of the model.
        gpu: of `mlp`, such as "A100"; None takes it from the file's name.

    Returns:
        A sample for each pair of length and count, in that order.

    Raises:
        InputError: one line: a file is unreadable or no such table, its GPUs or models are mixed, the attention table
            lacks the model's heads, or tokens, batch or length lie beyond a table.
    """
    if layers < 1:
        raise InputError(f"got {layers}, must be at least 1", "layers")
    lengths = [length] if isinstance(length, int) else list(length)
    dense, kernels = _dense(Path(mlp)), _attention(Path(attention))
    _check_gpu(Path(mlp), gpu, Path(attention), kernels)
    kernels = _of_heads(Path(attention), kernels, dense, head_dim)
    per_token = _layer_ms(dense, adds)
    count = np.tile(np.asarray(counts, dtype=np.float64), len(lengths))
    longest = np.repeat(np.asarray(lengths, dtype=np.float64), len(counts))
    ms = layers * _at(Path(mlp), "tokens", per_token, count * longest)
    ms += layers * np.concatenate([_attention_ms(Path(attention), kernels, one, counts) for one in lengths])
    if embedding:
        ms += _at(Path(mlp), "tokens", dense.groupby("num_tokens")["emb_ms"].mean(), count * longest)
    names = f"{os.path.basename(mlp)} + {os.path.basename(attention)}, {layers} layers"
    return Samples(count=count, longest=longest, total=count * longest, ms=ms, of_medians=True, source=names)


@SOURCES.register("layers")
@dataclass(frozen=True, kw_only=True)
class Layers:
    """Vidur's layer CSV or aiconfigurator's kernel table: single operations, for `compose_layers`."""

    def claims(self, path: Path, head: bytes) -> bool:
        """A header with the columns of one of them."""
        return bool(_kind(header_of(head)))

    def group(self, path: Path) -> Path:
        """Each file stands alone."""
        return path

    def inspect(self, path: Path, asked: Asked) -> Inspection:
        """Which table it is, and the range of its sizes."""
        table = read_csv(path)
        kind = _kind(list(table.columns))
        sizes = {"Vidur layer timings": ("num_tokens",), "attention kernel timings": ("batch_size", "isl")}
        names = (*sizes.get(kind, ("m", "n", "k")), "n_head", "num_heads", "head_dim")
        sized = {name: pd.to_numeric(table[name], errors="coerce") for name in names if name in table}
        ranges = {name: (float(values.min()), float(values.max())) for name, values in sized.items()}
        named = sorted(map(str, table["device"].unique())) if "device" in table else [_gpu_of_name(path)]
        return Inspection(
            kind="layers",
            format=f"{kind}, {len(table):,} rows",
            path=path,
            gpus=tuple(name for name in named if name),
            clock="none: a row is one operation",
            columns=tuple(map(str, table.columns)),
            missing=("batches of a stage",),
            facts=tuple(f"{name} {span_of(pair)}" for name, pair in ranges.items()),
            unfit=(_UNFIT,),
        )

    def read(self, paths: Sequence[Path], asked: Asked) -> Reading:
        """Refused: single operations are no batches."""
        refuse(paths[0], _UNFIT)


def _kind(names: Sequence[str]) -> str:
    """Which table has these columns; "" for none."""
    known = {"Vidur layer timings": _LAYER, "attention kernel timings": _ATTENTION, "matrix product timings": _GEMM}
    return next((kind for kind, needed in known.items() if set(needed) <= set(names)), "")


def _dense(path: Path) -> pd.DataFrame:
    table = _table(path, _LAYER, "no layer table of Vidur")
    for name in ("n_head", "n_kv_head", "n_embd", "num_tensor_parallel_workers"):
        if table[name].nunique() > 1:
            refuse(path, f"mixes several {name}: keep the rows of one model and one degree of parallelism")
    return table


def _attention(path: Path) -> pd.DataFrame:
    table = _table(path, _ATTENTION, "no attention table of aiconfigurator")
    if "step" in table:
        table = table[table["step"] == 0]
        if table.empty:
            refuse(path, "has no rows at step 0: it times decoding; give the table of context attention")
    return table


def _table(path: Path, needed: Sequence[str], what: str) -> pd.DataFrame:
    table = read_csv(path)
    missing = [name for name in needed if name not in table]
    if missing:
        refuse(path, f"is {what}: it lacks column {', '.join(missing)}")
    times = [str(name) for name in table.columns if str(name).endswith("_ms")]
    sizes = [name for name in (*needed, *_OPTIONAL) if name in table and name not in times]
    for name in (*sizes, *times):
        may_be_0 = name.endswith("_std_ms") or name == "step"
        values = pd.to_numeric(table[name], errors="coerce").to_numpy(dtype=np.float64)
        wrong = np.flatnonzero(~(np.isfinite(values) & (values >= 0 if may_be_0 else values > 0)))
        if wrong.size:
            got = table[name].tolist()[int(wrong[0])]
            bound = "at least 0" if may_be_0 else "more than 0"
            refuse(path, f"{name} in data row {int(wrong[0]) + 1}: got {got!r}, must be a number, {bound}")
        table[name] = values
    return table


def _layer_ms(dense: pd.DataFrame, adds: int) -> "pd.Series[float]":
    """Milliseconds of one layer's dense operations by token count."""
    names = [name for name in dense if str(name).endswith("_ms") and not str(name).endswith("_std_ms")]
    once = dense[[name for name in names if name not in ("emb_ms", "add_ms")]].sum(axis=1) + adds * dense["add_ms"]
    return once.groupby(dense["num_tokens"]).mean()


def _of_heads(path: Path, kernels: pd.DataFrame, dense: pd.DataFrame, head_dim: int | None) -> pd.DataFrame:
    model = dense.iloc[0]
    dim = int(model["n_embd"] // model["n_head"]) if head_dim is None else head_dim
    wanted = {"num_heads": int(model["n_head"]), "num_key_value_heads": int(model["n_kv_head"]), "head_dim": dim}
    for name, value in wanted.items():
        if name in kernels:
            kept = kernels[kernels[name] == value]
            if kept.empty:
                has = ", ".join(f"{one:g}" for one in sorted(kernels[name].unique()))
                hint = "; name one of these (head_dim)" if name == "head_dim" else ""
                refuse(path, f"has no {name} {value}: it has {has}{hint}")
            kernels = kept
    return kernels


def _attention_ms(path: Path, kernels: pd.DataFrame, length: int, counts: Sequence[int]) -> FloatArray:
    """Milliseconds of one layer's attention for each count, shape (len(counts),)."""
    known = np.sort(kernels["isl"].unique())
    _check_range(path, "lengths", known, np.array([length]))
    around = {int(known[known <= length].max()), int(known[known >= length].min())}
    of_isl = {
        isl: _at(path, f"batches at length {isl}", rows.groupby("batch_size")["latency_ms"].mean(), np.asarray(counts))
        for isl in sorted(around)
        if len(rows := kernels[kernels["isl"] == isl])
    }
    low, high = min(of_isl), max(of_isl)
    share = 0.0 if low == high else (length - low) / (high - low)
    return np.asarray((1 - share) * of_isl[low] + share * of_isl[high])


def _at(path: Path, what: str, known: "pd.Series[float]", wanted: npt.NDArray[np.generic]) -> FloatArray:
    """The series at these places, in straight lines between its own."""
    places = known.index.to_numpy(dtype=np.float64)
    _check_range(path, what, places, wanted)
    return np.asarray(np.interp(wanted.astype(np.float64), places, known.to_numpy(dtype=np.float64)))


def _check_range(path: Path, what: str, known: npt.NDArray[np.generic], wanted: npt.NDArray[np.generic]) -> None:
    low, high = float(np.min(known)), float(np.max(known))
    outside = [value for value in wanted.astype(np.float64).tolist() if not low <= value <= high]
    if outside:
        refuse(path, f"has {what} of {low:g}–{high:g}, asked for {max(outside, key=abs):g}: nothing is extrapolated")


def _check_gpu(mlp: Path, gpu: str | None, attention: Path, kernels: pd.DataFrame) -> None:
    devices = sorted(map(str, kernels["device"].unique())) if "device" in kernels else []
    if len(devices) > 1:
        refuse(attention, f"has rows of several GPUs, keep one: {', '.join(devices)}")
    mine = gpu or _gpu_of_name(mlp)
    if not mine:
        refuse(mlp, "names no GPU: say which it is of (gpu)")
    theirs = devices[0] if devices else _gpu_of_name(attention)
    if mine.lower() not in theirs.lower():
        refuse(attention, f"is of {theirs or 'no named GPU'}, {mlp.name} of {mine}: a stage runs on one GPU")


def _gpu_of_name(path: Path) -> str:
    hit = _GPU.search(path.name.lower())
    return hit[0].upper() if hit is not None else ""
