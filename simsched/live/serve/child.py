"""The server's first process: `python -m simsched.live.serve.child PLAN HOST PORT`. Needs SGLang Omni.

SGLang Omni spawns the stages' processes from it; each imports this module first, so stubs are there in all of them.
"""

import sys
from typing import Any

from simsched.live.serve.stubs import install_stubs

install_stubs()

FACTORY = "simsched.live.serve.factories.create_stage"


def pipeline(plan_file: str) -> Any:
    """SGLang Omni's PipelineConfig of a plan."""
    from sglang_omni.config import FactoryArgs, PipelineConfig, PlacementConfig, StageConfig

    from simsched.live.serve.plan import read_plan

    plan = read_plan(plan_file)
    last = plan.stages[-1].name

    class SimschedPipeline(PipelineConfig):  # type: ignore[misc]  # SGLang Omni has no types here
        """A chain of user stages whose last one answers with audio."""

        @classmethod
        def code2wav_stage(cls) -> str:
            """The stage that makes audio: lets the server offer its speech endpoints."""
            return last

    stages = [
        StageConfig(
            name=stage.name,
            process=stage.process,
            factory_path=FACTORY,
            factory=FactoryArgs(plan=plan_file, stage=stage.name),
            gpu=stage.gpu,
            **({"terminal": True} if stage.next is None else {"next": stage.next}),
        )
        for stage in plan.stages
    ]
    free = PlacementConfig(require_memory_fraction_for_colocation=False)  # processes may share a GPU
    return SimschedPipeline(model_path="none", name=plan.model_name, placement=free, stages=stages)


def main(arguments: list[str]) -> None:
    """Serve until told to stop."""
    plan_file, host, port = arguments
    from sglang_omni.serve.launcher import launch_server

    config = pipeline(plan_file)
    launch_server(config, host=host, port=int(port), model_name=config.name, log_level="warning")


if __name__ == "__main__":
    main(sys.argv[1:])
