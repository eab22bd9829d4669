"""An SGLang Omni server as a process group: started, waited for, watched, stopped as a whole."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from simsched.core import InputError
from simsched.live.serve.plan import ServePlan, write_plan
from simsched.live.serve.stubs import VARIABLE

CHILD = "simsched.live.serve.child"
START_S = 600.0
STOP_S = 20.0
_POLL_S = 0.2
_TAIL = 20
_SAID = 3
_MISSING = re.compile(r"No module named '(\w+)")


class ServerDied(InputError):
    """The server ended by itself.

    Args:
        problem: one line.
        log: its log file.

    Attributes:
        tail: the last lines of its log.
    """

    def __init__(self, problem: str, log: Path) -> None:
        self.tail = _last_lines(log, _TAIL)
        words = [line.strip() for line in self.tail if line.strip(" ~^|")]
        ends = " | ".join(words[-_SAID:])
        missing = _MISSING.search(ends)
        hint = f" (--stubs {missing[1]} stands in for what these stages do not use)" if missing else ""
        super().__init__(f"{problem}; its log {log} ends: {ends or 'empty'}{hint}", "server")


class Server:
    """A server of a plan; a context manager that starts it, waits until it is healthy, and stops it.

    Args:
        plan: what to start.
        host: address to listen on.
        port: to listen on; 0: a free one.
        log: file for what the server prints; default: in a folder of its own that is kept.
        events: folder for the events of all requests, recorded from the start; None: a client may start a profile.
        stubs: names of modules to stand in for, with commas between them.
        timeout_s: how long it may take to be healthy.

    Attributes:
        url: where it is.
        log: its log file.
    """

    def __init__(
        self,
        plan: ServePlan,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        log: str | Path | None = None,
        events: str | Path | None = None,
        stubs: str = "",
        timeout_s: float = START_S,
    ) -> None:
        self._plan = plan
        self._host = host
        self.port = _bindable(host, port)
        reached = "127.0.0.1" if host in ("", "0.0.0.0", "::") else host
        self.url = f"http://{reached}:{self.port}"
        self._folder = Path(tempfile.mkdtemp(prefix="simsched-live-"))
        self.log = self._folder / "server.log" if log is None else Path(log)
        self._events = events
        self._stubs = stubs
        self._timeout_s = timeout_s
        self._process: subprocess.Popen[bytes] | None = None
        self._out: IO[bytes] | None = None

    def __enter__(self) -> "Server":
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Start it and wait until it is healthy.

        Raises:
            ServerDied: it ended before that.
            InputError: it took too long, or a checkpoint's folder is not there.
        """
        _check_weights(self._plan)
        plan_file = self._folder / "plan.json"
        write_plan(self._plan, plan_file)
        self._out = self.log.open("wb")
        environment = os.environ | {"SGLANG_OMNI_STRICT_PORT": "1", "HF_HUB_OFFLINE": "1", VARIABLE: self._stubs}
        command = [sys.executable, "-m", CHILD, str(plan_file), self._host, str(self.port)]
        self._process = subprocess.Popen(
            command, stdout=self._out, stderr=subprocess.STDOUT, env=environment, start_new_session=True
        )
        self._await_health()
        if self._events is not None:
            folder = Path(self._events).resolve()
            self._post("/start_request_profile", {"run_id": folder.name, "event_dir": str(folder)})

    def _await_health(self) -> None:
        until = time.monotonic() + self._timeout_s
        while not self.healthy():
            self.check()
            if time.monotonic() > until:
                raise InputError(f"is not healthy after {self._timeout_s:g} s; its log is {self.log}", "server")
            time.sleep(_POLL_S)

    def healthy(self) -> bool:
        """Whether it says of itself that it can serve."""
        try:
            with urllib.request.urlopen(f"{self.url}/health", timeout=5) as reply:
                return bool(reply.status == 200)
        except (urllib.error.URLError, OSError):
            return False

    def check(self) -> None:
        """Refuse to go on with a server that has ended.

        Raises:
            ServerDied: it has.
        """
        code = None if self._process is None else self._process.poll()
        if code is not None:
            raise ServerDied(f"ended by itself with status {code}", self.log)

    def wait(self) -> None:
        """Until it ends by itself.

        Raises:
            ServerDied: it did.
        """
        while True:
            self.check()
            time.sleep(_POLL_S)

    def stop(self) -> None:
        """End all its processes: asked first, killed after 20 s; the log stays."""
        process, self._process = self._process, None
        if process is not None:
            if process.poll() is None:
                process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(STOP_S)
            _kill_group(process.pid)
            process.wait()
        if self._out is not None:
            self._out.close()
            self._out = None
        (self._folder / "plan.json").unlink(missing_ok=True)

    def _post(self, path: str, body: dict[str, Any]) -> None:
        request = urllib.request.Request(
            self.url + path, json.dumps(body).encode(), {"Content-Type": "application/json"}, method="POST"
        )
        try:
            with urllib.request.urlopen(request, timeout=30):
                pass
        except (urllib.error.URLError, OSError) as error:
            raise InputError(f"{path} failed: {error}", self.url) from error


def _check_weights(plan: ServePlan) -> None:
    """Refuse a folder of weights that is not there before torch is loaded for it."""
    for stage in plan.stages:
        if stage.live.weights != "random" and not Path(stage.live.weights).is_dir():
            problem = f"got {stage.live.weights}, which is no folder here: name a checkpoint's, or random"
            raise InputError(problem, f"live.stages.{stage.name}.weights")


def _kill_group(group: int) -> None:
    """End what is left of a process group."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def _bindable(host: str, port: int) -> int:
    """The port, or a free one for 0.

    Raises:
        InputError: somebody listens there, or it cannot be listened on.
    """
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
            return int(probe.getsockname()[1])
    except OSError as error:
        raise InputError(f"cannot listen on {host}:{port}: {error.strerror or error}", "--port") from error


def _last_lines(path: Path, count: int) -> list[str]:
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()[-count:]
    except OSError:
        return []
