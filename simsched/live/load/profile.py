"""The server's event profile around a phase: started, stopped, its files gathered."""

import asyncio
import gzip
import json
import shutil
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

START_WAIT_S, STOP_WAIT_S = 0.2, 0.3
"""SGLang Omni replies before its processes have opened (closed) their files."""
_OK = 200


class Poster(Protocol):
    """What can POST to the server."""

    async def post(self, path: str, body: dict[str, str]) -> int:
        """Status of the answer; 0 for none."""
        ...


@dataclass(kw_only=True)
class EventProfile:
    """One run of the server's profile, in a folder of its own.

    Attributes:
        poster: the way to the server.
        run_id: its name.
        event_dir: where the server writes; this host must see it too.
        warnings: what did not work.
    """

    poster: Poster
    run_id: str
    event_dir: Path
    warnings: list[str] = field(default_factory=list)
    started: bool = False

    async def start(self) -> None:
        """Start it; without it the phase goes on, and says so."""
        status = await self.poster.post(
            "/start_request_profile", {"run_id": self.run_id, "event_dir": str(self.event_dir)}
        )
        self.started = status == _OK
        if not self.started:
            self.warnings.append(f"event profile not started ({_said(status)}): there are no events")
            return
        await asyncio.sleep(START_WAIT_S)

    async def stop(self) -> None:
        """Stop it, if it was started."""
        if not self.started:
            return
        status = await self.poster.post("/stop_request_profile", {"run_id": self.run_id})
        if status != _OK:
            self.warnings.append(f"event profile not stopped ({_said(status)}): its files may be cut")
        await asyncio.sleep(STOP_WAIT_S)

    def collect(self, folder: Path, stages: Collection[str]) -> bool:
        """Copy its files into the phase's folder, packed; says what is missing. False if a stage's are.

        Args:
            folder: of the phase.
            stages: names that must have events.
        """
        if not self.started:
            return False
        files = sorted(self.event_dir.glob("events_*.jsonl"))
        seen = set().union(*map(_stages_of, files))
        silent = [f"stage {stage!r}" for stage in stages if stage not in seen]
        coordinator = any(path.name.startswith("events_coordinator_") for path in files)
        missing = [*silent, *([] if coordinator else ["the coordinator"])]
        for path in files:
            with path.open("rb") as plain, gzip.open(folder / f"{path.name}.gz", "wb") as packed:
                shutil.copyfileobj(plain, packed)
        if missing:
            self.warnings.append(f"no events of {', '.join(missing)} in {self.event_dir}: is it on this host?")
        return not silent


def _said(status: int) -> str:
    return f"HTTP {status}" if status else "no answer"


def _stages_of(path: Path) -> set[str]:
    """Names of the stages in an event file; a line that is cut names none."""
    found = set()
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            found.add(str(json.loads(line)["stage"]))
        except (ValueError, KeyError, TypeError):
            continue
    return found
