"""The memory of a model, wired: a ledger for each GPU and the host, and each stage's account with its GPU."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from simsched.engine.holding import Holding
from simsched.engine.kernel import Kernel
from simsched.engine.ledger import Ledger
from simsched.engine.model import GpuSpec, Model, StageSpec
from simsched.engine.parcels import Parcels
from simsched.engine.stages.gated import GatedStage
from simsched.engine.stages.intake import Lose
from simsched.engine.stages.scarce import Scarce
from simsched.hardware import CrashProcess, StageMemory
from simsched.run import Recorder
from simsched.run.recorder import FAILED
from simsched.run.schema import NEVER

HOST = "host"
"""Name of the host's memory beside those of GPUs."""


class Accounts:
    """All ledgers, and which stages draw on them.

    Args:
        model: whose GPUs.
        kernel: the clock.
        recorder: for each change.
        sizes: true size of each request.

    Raises:
        InputError: weights and reserves that do not fit on their GPU.
    """

    def __init__(self, model: Model, *, kernel: Kernel, recorder: Recorder, sizes: Sequence[float]) -> None:
        self._kernel = kernel
        self._recorder = recorder
        self._sizes = sizes
        self._parcels = Parcels()
        self._host = None
        self._stages: list[tuple[GatedStage, int]] = []
        handing_on = {spec.name for spec in model.stages if spec.memory and spec.memory.handoff}
        self._sources = {
            spec.name: tuple(source for source in spec.wait_for if source in handing_on) for spec in model.stages
        }
        self._joins = [spec.name for spec in model.stages if len(spec.wait_for) > 1 and self._sources[spec.name]]
        self._uncounted = Ledger("", 2**62, kernel=kernel, recorder=Recorder(["-"], np.zeros(0)))
        self._neighbours: dict[str, list[Holding]] = {}
        self.ledgers = {gpu.name: self._ledger(model, gpu) for gpu in model.gpus if gpu.capacity is not None}
        if model.host is not None:
            released = partial(self._released, HOST)
            self._host = Ledger(HOST, model.host.memory, kernel=kernel, recorder=recorder, on_release=released)

    def _ledger(self, model: Model, gpu: GpuSpec) -> Ledger:
        assert gpu.capacity is not None
        return Ledger(
            gpu.name,
            gpu.capacity,
            kernel=self._kernel,
            recorder=self._recorder,
            fixed=model.fixed_on(gpu),
            allocator=gpu.allocator,
            on_release=partial(self._released, gpu.name),
        )

    def holding(self, spec: StageSpec) -> Holding | None:
        """The account of a stage or of one of its replicas; None where nobody counts.

        A stage that reads what others hand on has one in any case: somebody must say that it is read.
        """
        ledger = self.ledgers.get(spec.gpu or "")
        memory = spec.memory if ledger is not None else None
        sources = self._sources[spec.name]
        if memory is None and not sources:
            return None
        return Holding(
            spec,
            memory or StageMemory(),
            ledger=ledger or self._uncounted,
            host=self._host,
            parcels=self._parcels,
            sources=sources,
            neighbours=self._neighbours.setdefault(spec.gpu or "", []),
            kernel=self._kernel,
            recorder=self._recorder,
            sizes=self._sizes,
        )

    def attend(self, stage: GatedStage, replica: int, lose: Lose) -> None:
        """Let a stage start its batches by its account, and hear of released bytes and crashes."""
        self._stages.append((stage, replica))
        stage.lose = lose
        if stage.holding is None:
            return
        stage.scarce = Scarce(
            stage,
            stage.holding,
            lose=lose,
            crash=partial(self._crash, stage, replica, lose),
            kernel=self._kernel,
            recorder=self._recorder,
        )
        if isinstance(stage.holding.memory.when_full, CrashProcess):
            for other in self._of_process(stage, replica):
                other.watched()

    def forget(self, number: int) -> None:
        """Nobody waits for this request: what lies before a stage that still waits for its other parts is not read."""
        for name in self._joins:
            accounts = [s.holding for s, _ in self._stages if s.name == name and s.holding is not None]
            if all(one.awaits(number) for one in accounts):
                self._parcels.read(number, self._sources[name])

    def _released(self, place: str) -> None:
        for stage, _ in self._stages:
            if place in (HOST, stage.spec.gpu):
                stage.memory_released()

    def _of_process(self, stage: GatedStage, replica: int) -> list[GatedStage]:
        """The stages of the same copy of a process; one without a process is alone."""
        process = stage.spec.process
        if process is None:
            return [stage]
        return [other for other, number in self._stages if other.spec.process == process and number == replica]

    def _crash(self, stage: GatedStage, replica: int, lose: Lose, downtime_ns: int) -> None:
        """All stages of its process die, and start again later."""
        for other in self._of_process(stage, replica):
            lose(other.crash(), other.name, "error", f"its process crashed at {stage.name}", FAILED)
        self._kernel.after(downtime_ns, self._restart, (stage, replica))

    def _restart(self, crashed: tuple[GatedStage, int]) -> None:
        stage, replica = crashed
        self._recorder.incident(self._kernel.now, "restarted", NEVER, stage.name, stage.spec.process or "")
        for other in self._of_process(stage, replica):
            other.restart()
