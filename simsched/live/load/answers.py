"""What an answer's bytes say: events of a stream, the header of a WAV."""

import json
import struct
from collections.abc import Mapping
from typing import Any, NamedTuple

_UNKNOWN = (0, 0xFFFFFFFF)  # sizes that a streamed WAV states, since its writer does not know them yet
_RIFF = 12


class Event(NamedTuple):
    """One event of a stream.

    Attributes:
        bytes: of content (text, or sound once decoded).
        ends: whether it says that nothing more comes.
        id: of the answer, "" if it does not say.
        error: what the server says went wrong, or "".
    """

    bytes: int = 0
    ends: bool = False
    id: str = ""
    error: str = ""


class EventReader:
    """Server-sent events out of pieces of bytes that may end anywhere.

    >>> reader = EventReader()
    >>> reader.feed(b'data: {"choices": [{"delta": {"content": "hel')
    []
    >>> reader.feed(b'lo"}}]}' + bytes([10, 10]) + b'data: [DONE]' + bytes([10]))
    [Event(bytes=5, ends=False, id='', error=''), Event(bytes=0, ends=True, id='', error='')]
    """

    def __init__(self) -> None:
        self._rest = b""
        self.ended = False

    def feed(self, piece: bytes) -> list[Event]:
        """The events that this piece completes."""
        *lines, self._rest = (self._rest + piece).split(b"\n")
        found = [event_of(line[5:].strip()) for line in lines if line.startswith(b"data:")]
        self.ended = self.ended or any(event.ends for event in found)
        return found


def event_of(data: bytes) -> Event:
    """What one event says: a piece of a chat, a piece of sound (base64), an error, or the end."""
    if data == b"[DONE]":
        return Event(ends=True)
    try:
        content = json.loads(data)
    except ValueError:
        return Event(bytes=len(data))
    if not isinstance(content, Mapping):
        return Event(bytes=len(data))
    if content.get("error"):
        return Event(error=_words(content["error"]))
    if isinstance(content.get("audio"), str):
        return Event(bytes=_decoded(content["audio"]))
    choices = content.get("choices") or [{}]
    first = choices[0] if isinstance(choices[0], Mapping) else {}
    ends = content.get("type") == "speech.audio.done" or bool(first.get("finish_reason"))
    return Event(bytes=_spoken(first.get("delta")), ends=ends, id=answer_id(content))


def answer_id(content: Mapping[str, Any]) -> str:
    """The server's id of a chat, without the prefix that OpenAI's form puts before it."""
    found = content.get("id")
    return found.removeprefix("chatcmpl-") if isinstance(found, str) else ""


def _spoken(delta: object) -> int:
    """Bytes of text and of sound in a piece of a chat."""
    if not isinstance(delta, Mapping):
        return 0
    text, audio = delta.get("content"), delta.get("audio")
    sound = audio.get("data") if isinstance(audio, Mapping) else None
    written = len(text.encode()) if isinstance(text, str) else 0
    return written + (_decoded(sound) if isinstance(sound, str) else 0)


def _decoded(base64: str) -> int:
    return len(base64) * 3 // 4 - base64[-2:].count("=")


def _words(error: object) -> str:
    said = error.get("message") if isinstance(error, Mapping) else error
    return " ".join(str(said).split())[:200]


class Wav(NamedTuple):
    """What the header of a WAV says.

    Attributes:
        header_bytes: before the sound.
        data_bytes: of sound; None if it does not know.
        bytes_per_s: of sound.
    """

    header_bytes: int
    data_bytes: int | None
    bytes_per_s: int


def wav_header(head: bytes) -> Wav | None:
    """The header of a WAV, from its first bytes; None if it is none.

    >>> import io, wave
    >>> with io.BytesIO() as file:
    ...     with wave.open(file, "wb") as sound:
    ...         _ = sound.setparams((1, 2, 24000, 0, "NONE", "")), sound.writeframes(bytes(9600))
    ...     wav_header(file.getvalue()[:64])
    Wav(header_bytes=44, data_bytes=9600, bytes_per_s=48000)
    """
    if head[:4] != b"RIFF" or head[8:_RIFF] != b"WAVE":
        return None
    at, per_s = _RIFF, 0
    while at + 8 <= len(head):
        name, size = struct.unpack_from("<4sI", head, at)
        if name == b"fmt " and at + 20 <= len(head):
            per_s = struct.unpack_from("<I", head, at + 16)[0]
        if name == b"data":
            return Wav(at + 8, None if size in _UNKNOWN else size, per_s) if per_s else None
        at += 8 + size + size % 2
    return None
