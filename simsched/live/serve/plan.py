"""From a scenario to what is started: for each stage its model, process, GPU and scheduler. Needs no SGLang Omni."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simsched.core import InputError, unknown
from simsched.engine import Model, StageSpec
from simsched.live.serve.knobs import StockKnobs, largest_batch, stock_knobs
from simsched.policies.admission import Everybody
from simsched.scenario import LiveStage, Scenario, Stage, build, scenario_of, to_values

DEFAULT_PROCESS = "server"
DEFAULT_FRAMES = 4


@dataclass(frozen=True, kw_only=True)
class PlannedStage:
    """One stage as it is started.

    Attributes:
        name: of the stage.
        live: its model and options.
        spec: as the simulator builds it: policy, cost, scale, memory.
        process: OS process that it runs in.
        gpu: ordinal of its GPU; None: the CPU.
        next: the stage after it; None: it answers the client.
        frames: codec frames of a word.
        stock: knobs of SGLang Omni's own scheduler; None: the policy adapter decides.
        room: bytes that activations of a batch may take; None: nobody counts.
    """

    name: str
    live: LiveStage
    spec: StageSpec
    process: str
    gpu: int | None
    next: str | None
    frames: int
    stock: StockKnobs | None
    room: int | None

    @property
    def max_batch(self) -> int:
        """Its largest batch as far as the policy says; the adapter's fallback, and what is warmed up."""
        return self.stock.max_batch_size if self.stock is not None else largest_batch(self.spec.policy)

    @property
    def scheduler(self) -> str:
        """What decides its batches, in words."""
        return "policy adapter" if self.stock is None else self.stock.words()


@dataclass(frozen=True, kw_only=True)
class ServePlan:
    """What is started.

    Attributes:
        scenario: where it comes from.
        stages: in pipeline order.
        model_name: what a client asks for.
        tiny: models of two small layers, for a CPU.
        gpu: whether stages run on GPUs.
        decisions: folder for the adapters' logs; None: none are kept.
    """

    scenario: Scenario
    stages: tuple[PlannedStage, ...]
    model_name: str
    tiny: bool
    gpu: bool
    decisions: Path | None = None

    def stage(self, name: str) -> PlannedStage:
        """The stage of this name.

        Raises:
            InputError: there is none.
        """
        named = {stage.name: stage for stage in self.stages}
        if name not in named:
            raise unknown("stage", name, named)
        return named[name]

    @property
    def needs_torch(self) -> bool:
        """Whether any stage runs a real model."""
        return any(stage.live.model != "sleep" for stage in self.stages)


def plan_server(
    scenario: Scenario, *, gpu: bool = False, tiny: bool = False, decisions: str | Path | None = None
) -> ServePlan:
    """Plan a server for a scenario.

    Args:
        scenario: with a `live` section that names every stage's model; a chain of stages, each with one server.
        gpu: run the models on the GPUs that the stages name, numbered as `gpus` lists them.
        tiny: small models.
        decisions: folder for the adapters' logs.

    Raises:
        InputError: what a live server does not have, with its field.
    """
    live = scenario.live
    if live is None:
        example = "{stages: {NAME: {model: encoder}}}, or model: sleep where there is no GPU"
        raise InputError(f"is missing: say what each stage runs, such as {example}", "live")
    model = build(scenario)
    if not isinstance(scenario.admission, Everybody):
        raise InputError("is not served live: leave it out, SGLang Omni lets everybody in", "admission")
    frames, before, planned = _frames(scenario), set[str](), []
    for spec in model.stages:
        if spec.name not in live.stages:
            raise InputError(
                f"is missing for stage {spec.name}: name what it runs, such as {{model: sleep}}", "live.stages"
            )
        try:
            _check_stage(scenario.stages[spec.name], spec)
        except InputError as error:
            raise error.within(f"stages.{spec.name}") from error
        _check_place(spec.name, live.stages[spec.name].model, before, last=not spec.next)
        before.add(live.stages[spec.name].model)
        planned.append(_planned(scenario, model, spec, live.stages[spec.name], frames=frames, gpu=gpu))
    return ServePlan(
        scenario=scenario,
        stages=tuple(planned),
        model_name=live.model_name,
        tiny=tiny,
        gpu=gpu,
        decisions=None if decisions is None else Path(decisions).resolve(),
    )


def _frames(scenario: Scenario) -> int:
    """Codec frames of a word: as the section says, as the vocoder's scale says, or 4."""
    assert scenario.live is not None
    scales = {n: scenario.stages[n].scale for n, told in scenario.live.stages.items() if told.model == "vocoder"}
    said = scenario.live.frames_per_word
    for name, scale in scales.items():
        if scale != int(scale) or (said is not None and said != scale):
            must = "a whole number of frames a word" if said is None else f"live.frames_per_word, {said}"
            raise InputError(f"got {scale:g}, must be {must}", f"stages.{name}.scale")
    return int(said or next(iter(scales.values()), DEFAULT_FRAMES))


def _check_stage(stage: Stage, spec: StageSpec) -> None:
    """Refuse what a live stage does not have."""
    for field, got, most in (("servers", stage.servers, 1), ("replicas", stage.replicas, 1)):
        if got > most:
            raise InputError(f"got {got}, a live stage has 1", field)
    if spec.queue_limit is not None:
        raise InputError("is not served live: a live stage's queue has no limit", "queue.limit")
    if len(spec.next) > 1 or len(spec.wait_for) > 1:
        field, names = ("next", spec.next) if len(spec.next) > 1 else ("wait_for", spec.wait_for)
        raise InputError(f"got {', '.join(names)}, a live server is a chain of stages", field)


def _check_place(stage: str, model: str, before: set[str], *, last: bool) -> None:
    """Refuse a model that could not be given what it reads, or whose result is no answer."""
    where = f"live.stages.{stage}.model"
    if model == "vocoder" and "encoder" not in before:
        raise InputError("got vocoder, which reads codes: it needs a stage with the encoder before it", where)
    if model in ("encoder", "unified") and before:
        raise InputError(f"got {model}, which reads words: it must be the first stage", where)
    if model == "encoder" and last:
        raise InputError("got encoder, which gives no audio: it cannot be the last stage", where)


def _planned(
    scenario: Scenario, model: Model, spec: StageSpec, live: LiveStage, *, frames: int, gpu: bool
) -> PlannedStage:
    needs_gpu = gpu and live.model != "sleep"
    if needs_gpu and spec.gpu is None:
        raise InputError("is missing: --gpu needs to know which of the gpus it runs on", f"stages.{spec.name}.gpu")
    capacities = {known.name: known.capacity for known in model.gpus}
    capacity = None if spec.gpu is None else capacities[spec.gpu]
    stock = None if live.adapter else stock_knobs(spec.policy)
    return PlannedStage(
        name=spec.name,
        live=live,
        spec=spec,
        process=spec.process or DEFAULT_PROCESS,
        gpu=list(scenario.gpus).index(str(spec.gpu)) if needs_gpu else None,
        next=spec.next[0] if spec.next else None,
        frames=frames,
        stock=stock,
        room=None if capacity is None else capacity - model.weights_on(str(spec.gpu)),
    )


def write_plan(plan: ServePlan, path: str | Path) -> None:
    """The plan as a file that the server's processes read."""
    values: Mapping[str, Any] = {
        "scenario": to_values(plan.scenario),
        "gpu": plan.gpu,
        "tiny": plan.tiny,
        "decisions": None if plan.decisions is None else str(plan.decisions),
    }
    Path(path).write_text(json.dumps(values), encoding="utf-8")


def read_plan(path: str | Path) -> ServePlan:
    """The plan in a file that `write_plan` wrote."""
    values = json.loads(Path(path).read_text(encoding="utf-8"))
    told = {name: values[name] for name in ("gpu", "tiny", "decisions")}
    return plan_server(scenario_of(values["scenario"]), **told)
