"""A Run: what happened to each request and each batch, simulated or live, as typed tables."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import pandas as pd

from simsched.run.gauges import gauges


@dataclass(frozen=True, eq=False)
class Run:
    """Tables of one simulated or recorded run; columns and units are in `simsched.run.schema`.

    Nothing that takes a Run knows where it came from.

    Attributes:
        requests: one row a request.
        visits: one row a request and stage.
        batches: one row a batch.
        memory: changes of the bytes held, by GPU and kind.
        incidents: refusals and other events that must be counted.
        meta: stages, seed, warm-up, versions, where it came from, warnings.
        chunks: one row a piece of an answer, where answers came in pieces and somebody looked; else None.
    """

    requests: pd.DataFrame
    visits: pd.DataFrame
    batches: pd.DataFrame
    memory: pd.DataFrame
    incidents: pd.DataFrame
    meta: Mapping[str, Any] = field(default_factory=dict)
    chunks: pd.DataFrame | None = None

    @property
    def stages(self) -> list[str]:
        """Names of the stages in pipeline order."""
        return list(self.meta["stages"])

    @cached_property
    def gauges(self) -> pd.DataFrame:
        """Step functions derived from the other tables: in system, queue and busy by stage, memory by kind.

        Columns: gauge (category), time_ns, value (from that time on). One row an instant of change.
        """
        return gauges(self.requests, self.visits, self.batches, self.memory, self.incidents)

    def visits_of(self, stage: str) -> pd.DataFrame:
        """Rows of `visits` of one stage."""
        return self.visits[self.visits["stage"] == stage]

    def batches_of(self, stage: str) -> pd.DataFrame:
        """Rows of `batches` of one stage."""
        return self.batches[self.batches["stage"] == stage]
