"""The way to a server over HTTP. The one module that needs aiohttp, imported only once a phase is to be sent."""

import errno
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import aiohttp

from simsched.core import InputError
from simsched.live.load.answers import EventReader, answer_id, wav_header
from simsched.live.load.endpoint import Endpoint
from simsched.live.load.exchange import OK, Exchange
from simsched.live.load.plan import Planned
from simsched.live.load.session import Broken, Unreachable
from simsched.run import NEVER

KEEP_ALIVE_S = 2.0
"""Connections are kept less long than a server keeps them (uvicorn: 5 s), so that none is found closed."""
_HEAD_BYTES = 4096
_OURS = (errno.EMFILE, errno.ENFILE)  # too many open files here is not a server that is gone


class HttpTransport:
    """An OpenAI-style server.

    Args:
        session: of aiohttp.
        url: of the server, such as "http://127.0.0.1:8000".
        endpoint: the form of requests.
    """

    def __init__(self, session: aiohttp.ClientSession, url: str, endpoint: Endpoint) -> None:
        self._session = session
        self._url = url.rstrip("/").removesuffix("/v1")  # many are told with it
        self._endpoint = endpoint

    async def ask(self, planned: Planned, exchange: Exchange) -> None:
        """Send a request and take in its answer (see `Transport`)."""
        try:
            async with self._session.post(
                self._url + self._endpoint.path, json=self._endpoint.body(planned)
            ) as response:
                exchange.status = response.status
                exchange.request_id = response.headers.get("X-Request-Id", "")
                if response.status == OK:
                    await _content(response, exchange)
                else:
                    exchange.error = f"HTTP {response.status}: {_complaint(await response.read())}"
        except aiohttp.ClientConnectorError as error:
            if error.os_error.errno in _OURS:
                raise Broken(f"the client has no more sockets: {_reason(error)}") from error
            raise Unreachable(_reason(error)) from error
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise Broken(_reason(error)) from error

    async def post(self, path: str, body: Mapping[str, Any]) -> int:
        """The status of a POST that is no request of the phase; 0 if there is no answer."""
        try:
            timeout = aiohttp.ClientTimeout(total=10)
            async with self._session.post(self._url + path, json=body, timeout=timeout) as response:
                await response.read()
                return response.status
        except (aiohttp.ClientError, TimeoutError, OSError):
            return 0

    async def models(self) -> list[str]:
        """Names of the server's models, none if it does not list them.

        Raises:
            InputError: no server answers there.
        """
        timeout = aiohttp.ClientTimeout(total=10)
        try:
            async with self._session.get(f"{self._url}/v1/models", timeout=timeout) as response:
                return _model_names(await response.read())
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
            raise InputError(
                f"no server answers ({_reason(error)}): start it, or correct the URL", self._url
            ) from error


@asynccontextmanager
async def connected(url: str, endpoint: Endpoint) -> AsyncIterator[HttpTransport]:
    """A transport that may have any number of connections at once; closed at the end."""
    connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=KEEP_ALIVE_S)
    async with aiohttp.ClientSession(connector=connector, timeout=aiohttp.ClientTimeout(total=None)) as session:
        yield HttpTransport(session, url, endpoint)


async def _content(response: aiohttp.ClientResponse, exchange: Exchange) -> None:
    if response.content_type == "text/event-stream":
        await _events(response, exchange)
    elif response.content_type == "application/json":
        await _json(response, exchange)
    else:
        await _sound(response, exchange)


async def _events(response: aiohttp.ClientResponse, exchange: Exchange) -> None:
    """A stream of events; one that stops before it says so is broken."""
    reader = EventReader()
    async for piece in response.content.iter_any():
        for event in reader.feed(piece):
            if event.error:
                raise Broken(f"the server says within the stream: {event.error}")
            if event.bytes:
                exchange.heard(event.bytes)
            exchange.request_id = exchange.request_id or event.id
    if not reader.ended:
        raise Broken("the stream stopped before its end")


async def _json(response: aiohttp.ClientResponse, exchange: Exchange) -> None:
    """A chat that comes at once."""
    whole = await response.read()
    exchange.heard(len(whole))
    content = json.loads(whole)
    if isinstance(content, Mapping) and not exchange.request_id:
        exchange.request_id = answer_id(content)


async def _sound(response: aiohttp.ClientResponse, exchange: Exchange) -> None:
    """Sound, whole or piece by piece: a piece is a chunk of HTTP where the server sends such."""
    chunked = response.headers.get("Transfer-Encoding", "").lower() == "chunked"
    head, waiting = b"", 0
    async for piece, ends in response.content.iter_chunks():
        head += piece[: _HEAD_BYTES - len(head)]
        waiting += len(piece)
        if waiting and (ends or not chunked):
            exchange.heard(waiting)
            waiting = 0
    if waiting:
        exchange.heard(waiting)
    _sampled(exchange, head, response.headers)


def _sampled(exchange: Exchange, head: bytes, headers: Mapping[str, str]) -> None:
    """How long the sound is, by the header of a WAV or those of HTTP."""
    wav = wav_header(head)
    if wav is not None:
        exchange.audio_s = (exchange.bytes - wav.header_bytes) / wav.bytes_per_s
        exchange.stated_bytes = NEVER if wav.data_bytes is None else wav.header_bytes + wav.data_bytes
        return
    told = [headers.get(name, "") for name in ("X-Sample-Rate", "X-Channels", "X-Bit-Depth")]
    if all(text.isdigit() and int(text) for text in told):
        rate, channels, bits = map(int, told)
        exchange.audio_s = exchange.bytes * 8 / (rate * channels * bits)


def _model_names(body: bytes) -> list[str]:
    try:
        listed = json.loads(body)["data"]
        return [str(one["id"]) for one in listed]
    except (ValueError, KeyError, TypeError):
        return []


def _complaint(body: bytes) -> str:
    return " ".join(body.decode("utf-8", "replace").split())[:200] or "no words"


def _reason(error: BaseException) -> str:
    """One line, also for errors without words."""
    return " ".join(str(error).split())[:200] or type(error).__name__
