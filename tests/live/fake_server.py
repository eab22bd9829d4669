"""A server over loopback that does what a live one does, and what it should not."""

import asyncio
import io
import json
import threading
import time
import wave
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiohttp import web

RATE, FRAME = 24_000, 1920


def sound(words: int, *, scale: int = 4) -> bytes:
    """A WAV of `scale` frames of 80 ms a word."""
    with io.BytesIO() as file:
        with wave.open(file, "wb") as out:
            out.setparams((1, 2, RATE, 0, "NONE", ""))
            out.writeframes(bytes(2 * FRAME * scale * words))
        return file.getvalue()


@dataclass
class FakeServer:
    """What it does, by the order in which requests come.

    Attributes:
        service_s: of each request.
        refuse: numbers of requests that get a 503.
        break_off: those whose connection is cut in the middle of the answer.
        wrong: those whose answer is half as long.
        stall: those that get no answer.
        fail: those that get a 500.
        dies_at: from this one on every connection is cut, and the port is closed.
        events: whether it has a profile.
        misses: stage of which the profile writes nothing.
        bodies: what was asked.
    """

    service_s: float = 0.001
    refuse: frozenset[int] = frozenset()
    break_off: frozenset[int] = frozenset()
    wrong: frozenset[int] = frozenset()
    stall: frozenset[int] = frozenset()
    fail: frozenset[int] = frozenset()
    dies_at: int | None = None
    events: bool = False
    misses: str = ""
    bodies: list[dict[str, Any]] = field(default_factory=list)
    profiles: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    url: str = ""

    def application(self) -> web.Application:
        application = web.Application()
        application.router.add_get("/v1/models", self._models)
        application.router.add_post("/v1/audio/speech", self._speech)
        application.router.add_post("/v1/chat/completions", self._chat)
        if self.events:
            application.router.add_post("/start_request_profile", self._start)
            application.router.add_post("/stop_request_profile", self._stop)
        return application

    async def _models(self, _: web.Request) -> web.Response:
        return web.json_response({"data": [{"id": "fake"}]})

    async def _odd(self, request: web.Request) -> tuple[int, dict[str, Any], web.Response | None]:
        """The number of a request, its body, and the answer if it is one of the odd ones."""
        body = await request.json()
        number = len(self.bodies)
        self.bodies.append(body)
        if self.dies_at is not None and number >= self.dies_at:
            request.transport.abort()
            self._close()
        if number in self.stall:
            await asyncio.sleep(60)
        await asyncio.sleep(self.service_s)
        if number in self.refuse:
            return number, body, web.json_response({"error": "full"}, status=503)
        if number in self.fail:
            return number, body, web.Response(text="out of\nmemory", status=500)
        return number, body, None

    async def _speech(self, request: web.Request) -> web.StreamResponse:
        number, body, odd = await self._odd(request)
        if odd is not None:
            return odd
        headers = {"X-Request-Id": f"speech-{number}"}
        self._trace(f"speech-{number}", len(body["input"].split()))
        whole = sound(len(body["input"].split()))
        if number in self.wrong:
            whole = sound(len(body["input"].split()), scale=2)
        if body.get("stream"):
            return await self._pieces(request, number, whole[44:], headers)
        if number in self.break_off:
            response = web.StreamResponse(headers={**headers, "Content-Length": str(len(whole))})
            await response.prepare(request)
            await response.write(whole[: len(whole) // 2])
            request.transport.abort()
            return response
        return web.Response(body=whole, content_type="audio/wav", headers=headers)

    async def _pieces(
        self, request: web.Request, number: int, pcm: bytes, headers: dict[str, str]
    ) -> web.StreamResponse:
        told = {"X-Sample-Rate": str(RATE), "X-Channels": "1", "X-Bit-Depth": "16", "Content-Type": "audio/pcm"}
        response = web.StreamResponse(headers={**headers, **told})
        response.enable_chunked_encoding()
        await response.prepare(request)
        for begin in range(0, len(pcm), 2 * FRAME * 4):
            await response.write(pcm[begin : begin + 2 * FRAME * 4])
            await asyncio.sleep(self.service_s)
            if number in self.break_off:
                request.transport.abort()
                break
        return response

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        number, body, odd = await self._odd(request)
        if odd is not None:
            return odd
        id = f"chatcmpl-{number}"
        words = body["messages"][0]["content"].split()
        if not body["stream"]:
            return web.json_response({"id": id, "choices": [{"message": {"content": " ".join(words)}}]})
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for word in words:
            piece = {"id": id, "choices": [{"delta": {"content": word}}]}
            await response.write(f"data: {json.dumps(piece)}\n\n".encode())
            await asyncio.sleep(self.service_s)
        if number in self.wrong:
            await response.write(b'data: {"error": {"message": "the talker is gone"}}\n\n')
        if number not in self.break_off:
            await response.write(b"data: [DONE]\n\n")
        return response

    # profile ----------------------------------------------------------------------------------------------------

    async def _start(self, request: web.Request) -> web.Response:
        self.profiles.append(("start", await request.json()))
        return web.json_response({})

    async def _stop(self, request: web.Request) -> web.Response:
        self.profiles.append(("stop", await request.json()))
        return web.json_response({})

    def _trace(self, id: str, words: int) -> None:
        """What one stage's process and the coordinator would write."""
        if not self.profiles:
            return
        told = self.profiles[-1][1]
        now = time.time_ns()
        folder = Path(told["event_dir"])
        folder.mkdir(parents=True, exist_ok=True)
        size = {"batch_size": 1, "sum_len": words}
        lines = {
            "coordinator": [("request_admission", -3, {"entry_stage": "server"}), ("terminal_response", 3, {})],
            "server": [("stage_dispatch", -2, {}), ("work_start", -1, size), ("work_end", 1, size)],
        }
        for pid, (stage, events) in enumerate(lines.items()):
            if stage == self.misses:
                continue
            with (folder / f"events_{stage}_{pid}.jsonl").open("a") as out:
                for name, offset_us, meta in events:
                    record = {"request_id": id, "stage": stage, "event_name": name, "pid": pid, "metadata": meta}
                    record |= {"timestamp_ns": now + offset_us, "run_id": told["run_id"]}
                    out.write(json.dumps(record) + "\n")

    # over loopback ----------------------------------------------------------------------------------------------

    def _close(self) -> None:
        for site in self._runner.sites:
            asyncio.get_running_loop().create_task(site.stop())

    @contextmanager
    def running(self) -> Iterator["FakeServer"]:
        """It listens on a free port of this host, in a thread of its own."""
        loop = asyncio.new_event_loop()
        self._runner = web.AppRunner(self.application(), shutdown_timeout=0.1, handler_cancellation=True)

        async def begin() -> None:
            await self._runner.setup()
            site = web.TCPSite(self._runner, "127.0.0.1", 0)
            await site.start()
            self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"

        thread = threading.Thread(target=loop.run_forever, daemon=True)
        thread.start()
        asyncio.run_coroutine_threadsafe(begin(), loop).result(10)
        try:
            yield self
        finally:
            asyncio.run_coroutine_threadsafe(self._runner.cleanup(), loop).result(10)
            loop.call_soon_threadsafe(loop.stop)
            thread.join(10)
            loop.close()
