"""A recorded phase with its numbers, whole or partial."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simsched.analysis import chunk_numbers, metrics
from simsched.core import InputError, NotEnoughData
from simsched.run import Run, read_phase
from simsched.studies import summarize


@dataclass(frozen=True, kw_only=True, eq=False)
class Recorded:
    """A phase as it was read.

    Attributes:
        run: its tables.
        summary: its numbers, by the estimators of simulated runs.
        chunks: times of the pieces of streamed answers (see `chunk_numbers`); empty where there were none.
    """

    run: Run
    summary: Mapping[str, Any]
    chunks: Mapping[str, Any]

    @property
    def latency_s(self) -> Mapping[str, float | None]:
        """Mean and quantiles, seconds."""
        found: Mapping[str, float | None] = self.summary["latency_s"]
        return found

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {**self.summary, **({"chunks": self.chunks} if self.chunks else {})}


def read_phase_summary(directory: Path) -> Recorded:
    """The Run of a phase's folder and its numbers; the warnings of both are in the summary.

    Raises:
        InputError: the folder is no phase, is damaged, or no measured request is done.
    """
    run = read_phase(directory)
    try:
        found = metrics(run)
        chunks = chunk_numbers(run)
    except NotEnoughData as error:
        raise InputError(str(error), str(directory)) from error
    name = run.meta["source"]["phase"] or directory.name
    return Recorded(run=run, summary=summarize(name, [found], run), chunks=chunks)
