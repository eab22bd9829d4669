"""The tables of a Run: their columns, units, and the value for what did not happen."""

from collections.abc import Sequence
from typing import Any

import numpy.typing as npt
import pandas as pd

NEVER = -1
"""In a time or batch column: it did not happen."""

REQUESTS = {
    "request": "int64",  # its number, in order of sending; the row
    "cls": "category",  # class, such as "short"
    "tenant": "category",  # whose it is; "" where nobody tells them apart
    "size": "float64",  # true size in the workload's unit
    "arrival_ns": "int64",  # client's send; in an open loop the time it was due
    "deadline_ns": "int64",  # when its client wants it; NEVER if whenever
    "end_ns": "int64",  # client has the last byte; NEVER if it has no answer
    "status": "category",  # one of STATUS
}
VISITS = {
    "request": "int64",
    "stage": "category",
    "enter_ns": "int64",  # into the stage's queue
    "start_ns": "int64",  # of its batch
    "end_ns": "int64",  # of its batch
    "batch": "int64",  # row in `batches`
}
BATCHES = {
    "batch": "int64",
    "stage": "category",
    "server": "int64",
    "start_ns": "int64",
    "end_ns": "int64",
    "release_ns": "int64",  # server free again; later than end_ns if a full queue blocked it
    "count": "int64",  # requests
    "total": "float64",  # sum of sizes, in the workload's unit
    "longest": "float64",
}
MEMORY = {
    "time_ns": "int64",
    "gpu": "category",  # or "host"
    "kind": "category",  # context, weights, static (reserved, unused), kv, resident, handoff, activation, cached
    "bytes": "int64",  # held from now on
}
INCIDENTS = {
    "time_ns": "int64",
    "kind": "category",  # refused, timeout, cancelled, retried, unfinished, error; memory_wait, batch_cut, crash …
    "request": "int64",  # NEVER if it concerns none
    "stage": "category",
    "detail": "str",
}
CHUNKS = {
    "request": "int64",
    "chunk": "int64",  # its number within the answer, from 0
    "time_ns": "int64",  # client has it
    "bytes": "int64",  # of content
}
TABLES = {
    "requests": REQUESTS,
    "visits": VISITS,
    "batches": BATCHES,
    "memory": MEMORY,
    "incidents": INCIDENTS,
}
OPTIONAL = {"chunks": CHUNKS}
"""Tables that a Run has only where answers come in pieces."""
STATUS = ("done", "refused", "failed", "unfinished", "timeout")


def category(codes: npt.NDArray[Any], names: Sequence[str]) -> "pd.Categorical[str]":
    """A column of names, kept as small integers into `names`."""
    return pd.Categorical.from_codes(codes, categories=pd.Index(list(names), dtype="str"))
