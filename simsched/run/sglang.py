"""A recorded phase of a live SGLang Omni server as a Run: the client's table joined with the runtime's events."""

import json
import math
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from simsched.core import InputError, SimschedWarning
from simsched.run.run import Run
from simsched.run.sglang_adopt import adopt_ids
from simsched.run.sglang_client import LiveRequest, read_client
from simsched.run.sglang_events import Events, gather
from simsched.run.sglang_join import WORDS, Joined, Phase

CHUNKS = ("chunks.csv", "chunks.csv.gz")
WARMUP_REQUESTS = 64
"""What the live client sends first and does not count, where phase.json does not say `warm`."""


def read_phase(directory: str | Path) -> Run:
    """The Run of one phase: `phase.json`, `client.csv` and `events_*.jsonl` (the last two plain or .gz).

    A phase that says "events": false has requests and no stages. One that says "complete": false, or that has
    warnings of its own, is read all the same, and its Run says so.

    Args:
        directory: of the phase. phase.json holds {"server": text, "phase": {"name", "conc" or "rate" (per second),
            "n" (requests after the warm-up), "warm" (before it, default 64), "mix"}}, and if it was written by
            `simsched live load` "complete", "why", "warnings", "events".

    Returns:
        A Run as of `read_events`, with meta "mix", "warmup_requests" and "concurrency" or "rate_rps" besides.

    Raises:
        InputError: one line that names the file and line that is missing, damaged or inconsistent.
    """
    directory = Path(directory)
    if not directory.is_dir():
        raise InputError("is not a directory with phase.json, client.csv and events_*.jsonl", str(directory))
    content = read_phase_file(directory / "phase.json")
    tables = [path for path in (directory / "client.csv", directory / "client.csv.gz") if path.exists()]
    if len(tables) != 1:
        raise InputError("needs one of client.csv and client.csv.gz", str(directory))
    paths = event_files(directory) if content.get("events", True) else []
    return read_events(paths, tables[0], content)


def event_files(directory: Path) -> list[Path]:
    """The event files of a phase's folder, sorted by name.

    Raises:
        InputError: there are none, or one is there both plain and as .gz.
    """
    paths = sorted(path for path in directory.glob("events_*") if path.name.endswith((".jsonl", ".jsonl.gz")))
    stems = Counter(path.name.removesuffix(".gz") for path in paths)
    if not paths or max(stems.values()) > 1:
        raise InputError("needs events_*.jsonl, each plain or as .gz but not both", str(directory))
    return paths


def read_events(
    paths: Sequence[str | Path], client: str | Path | None = None, phase: Mapping[str, Any] | None = None
) -> Run:
    """The Run of profile events, with the client's table or without.

    A visit enters at `stage_dispatch`. A batch lasts from the first of its `*_start` events to the last of its
    `*_end` events; where a stage brackets several calls a batch, meta["parts"][stage][name] has each one's
    milliseconds, in order of the batches. The server is the rank of its process within the stage, 0 for one.
    Times count from the earliest in the phase, meta["epoch_ns"]. What was odd but usable is an incident, counted
    in meta["warnings"] (a list of lines), and one SimschedWarning.

    Args:
        paths: event files of one phase.
        client: its `client.csv` or .gz, with `chunks.csv` or .gz beside it where answers came in pieces. Without it a
            request lasts from its admission to its last terminal response, and its size is the mean of its first
            batch (from `sum_len`; 0 if it has none).
        phase: content of phase.json.

    Raises:
        InputError: one line that names the file and line that is missing, damaged or inconsistent.
    """
    if not paths and client is None:
        raise InputError("no event files", "paths")
    told = {} if phase is None else _checked(phase, "phase")["phase"]
    events = gather(map(Path, paths))
    where = Path(paths[0] if paths or client is None else client).parent
    warmup = 0 if phase is None else told.get("warm", WARMUP_REQUESTS)
    joined = Joined(events, _listed(client, events), Phase(str(where), warmup, told.get("mix", "")))
    notes = [*_own_notes(phase or {}), *_notes(joined, told, bool(paths))]
    if notes:
        warnings.warn(f"{joined.phase.where}: {'; '.join(notes)}", SimschedWarning, stacklevel=2)
    return joined.run({**_described(phase or {}, told), "warmup_requests": joined.warmup, "warnings": notes})


def _listed(client: str | Path | None, events: Events) -> list[LiveRequest] | None:
    """The client's rows, with the server's ids of those that never heard them."""
    if client is None:
        return None
    chunks = [path for path in (Path(client).with_name(name) for name in CHUNKS) if path.exists()]
    return adopt_ids(read_client(Path(client), chunks[0] if chunks else None), events)


def _own_notes(phase: Mapping[str, Any]) -> list[str]:
    """What a phase says of itself: that it is not complete, and what was odd while it ran."""
    partial = [] if phase.get("complete", True) else [f"the phase is not complete: {phase.get('why', '')}"]
    return [*partial, *map(str, phase.get("warnings", ()))]


def _described(phase: Mapping[str, Any], told: Mapping[str, Any]) -> dict[str, Any]:
    """What phase.json says, in the words of a Run's meta."""
    names = {"mix": "mix", "conc": "concurrency", "rate": "rate_rps", "arrivals": "arrivals"}
    source = {
        "kind": "sglang-omni" if phase.get("events", True) else "client",
        "server": phase.get("server", ""),
        "phase": told.get("name", ""),
    }
    return {"source": source, **{name: told[key] for key, name in names.items() if key in told}}


def read_phase_file(path: Path) -> Mapping[str, Any]:
    """Content of phase.json.

    Raises:
        InputError: it cannot be read, is no JSON, or does not hold what `read_phase` needs.
    """
    try:
        return _checked(json.loads(path.read_text(encoding="utf-8")), str(path))
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", str(path)) from error
    except ValueError as error:
        raise InputError(f"is not JSON: {error}", str(path)) from error


def _checked(content: Any, where: str) -> Mapping[str, Any]:
    """The content of phase.json, if all that is used of it is of its kind."""
    if not isinstance(content, Mapping) or not isinstance(content.get("phase"), Mapping):
        raise InputError('must hold {"server": text, "phase": {…}}', where)
    for name, least in (("conc", 1), ("rate", 0), ("n", 0), ("warm", 0)):
        value = content["phase"].get(name, least)
        number = isinstance(value, int if name != "rate" else (int, float)) and not isinstance(value, bool)
        if not number or not least <= value < math.inf:
            raise InputError(f"got {value!r}, must be a number, at least {least}", f"{where}: phase.{name}")
    if not isinstance(content["phase"].get("mix", ""), str):
        raise InputError(f"got {content['phase']['mix']!r}, must be a name", f"{where}: phase.mix")
    return content


def _notes(joined: Joined, told: Mapping[str, Any], with_events: bool) -> list[str]:
    """One line for each kind of odd thing, with its count."""
    counts = Counter(one.kind for _, one in joined.incidents)
    notes = [f"{counts[kind]:,} {words}" for kind, words in WORDS.items() if counts[kind]]
    if with_events and not joined.events.entries:
        notes.append("no request_admission: is events_coordinator_*.jsonl missing?")
    sent = sum(request.attempt == 1 for request in joined.requests)
    meant = told["n"] + told.get("warm", WARMUP_REQUESTS) if "n" in told else sent
    if meant != sent:
        notes.append(f"{sent:,} requests, phase.json says {meant:,} with the warm-up")
    return notes
