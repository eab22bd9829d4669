"""A stand-in for a model: sleeps what the stage's cost says of the batch, and passes on what it got. Needs no torch."""

import time
from collections.abc import Callable, Sequence
from typing import Any

from simsched.core import Batch
from simsched.engine import StageSpec
from simsched.live.serve.compute import Computed


class Sleep:
    """Sleeps the predicted time.

    Args:
        spec: the stage; its program says how long, for sizes in words times its `scale`.
        words_of: words of an item.
        sleep: takes seconds.
    """

    def __init__(
        self, spec: StageSpec, words_of: Callable[[Any], float], sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self.event = spec.name
        self._spec = spec
        self._words_of = words_of
        self._sleep = sleep

    def size_of(self, item: Any) -> float:
        """Its words in the stage's unit."""
        return self._words_of(item) * self._spec.scale

    def run(self, items: Sequence[Any]) -> Computed:
        """Sleep; the items as they came."""
        sizes = [self.size_of(item) for item in items]
        self._sleep(self._spec.program.isolated_ms(Batch.of(sizes), sizes) / 1e3)
        return Computed(items)
