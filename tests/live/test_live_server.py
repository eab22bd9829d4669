"""The server as a process group: waited for, watched, stopped whole; a stand-in takes SGLang Omni's place."""

import os
import socket
import time
from pathlib import Path

import pytest

from simsched.core import InputError
from simsched.live.serve import Server, ServerDied, plan_server
from simsched.live.serve import server as module
from simsched.scenario import load

HERE = Path(__file__).parent
PLAN = plan_server(load(HERE.parents[1] / "examples" / "live.yaml"))


@pytest.fixture(autouse=True)
def stand_in(monkeypatch):
    monkeypatch.setattr(module, "CHILD", "fake_child")
    monkeypatch.setenv("PYTHONPATH", str(HERE))
    return monkeypatch


def alive(pid):
    """Whether a process runs; one that nobody has waited for yet does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def below(server):
    """The process that the stand-in started."""
    return next(int(line.split()[1]) for line in server.log.read_text().splitlines() if line.startswith("below"))


def gone(pid):
    for _ in range(200):
        if not alive(pid):
            return True
        time.sleep(0.02)
    return False


def test_it_is_healthy_inside_and_gone_outside(tmp_path):
    with Server(PLAN, log=tmp_path / "log", events=tmp_path / "first") as server:
        assert server.healthy()
        assert server.url == f"http://127.0.0.1:{server.port}"
        child = below(server)
        assert alive(child)
    assert gone(child)
    assert not server.healthy()
    assert f'profile /start_request_profile {{"run_id": "first", "event_dir": "{tmp_path}/first"}}' in (
        server.log.read_text()
    )


def test_one_that_does_not_listen_is_killed(tmp_path, stand_in):
    stand_in.setenv("FAKE_CHILD", "deaf")
    stand_in.setattr(module, "STOP_S", 0.2)
    with Server(PLAN, log=tmp_path / "log") as server:
        child = below(server)
    assert gone(child)
    assert not server.healthy()


def test_one_that_dies_while_it_starts_says_its_last_words(tmp_path, stand_in):
    stand_in.setenv("FAKE_CHILD", "dies")
    with pytest.raises(ServerDied) as caught, Server(PLAN, log=tmp_path / "log"):
        pass
    assert str(caught.value) == (
        f"server: ended by itself with status 3; its log {tmp_path}/log ends: "
        "first words | Traceback (most recent call last): | ValueError: no such layer"
    )
    assert caught.value.tail[-1] == "ValueError: no such layer"


def test_one_that_lacks_a_module_says_how_to_do_without(tmp_path):
    (tmp_path / "log").write_text("x\nModuleNotFoundError: No module named 'av.audio'\n")
    assert str(ServerDied("ended", tmp_path / "log")).endswith(
        "(--stubs av stands in for what these stages do not use)"
    )


def test_a_checkpoint_that_is_not_there_is_refused(tmp_path):
    sets = ["live.stages.encoder={model: encoder, weights: /no/such/folder}"]
    plan = plan_server(load(HERE.parents[1] / "examples" / "live.yaml", sets))
    words = r"live.stages.encoder.weights: got /no/such/folder, which is no folder here"
    with pytest.raises(InputError, match=words), Server(plan, log=tmp_path / "log"):
        pass


def test_one_that_dies_later_is_noticed(tmp_path):
    with Server(PLAN, log=tmp_path / "log") as server:
        os.kill(server._process.pid, 9)
        with pytest.raises(ServerDied, match="ended by itself with status -9"):
            server.wait()


def test_one_that_is_never_healthy_is_given_up(tmp_path, stand_in):
    stand_in.setattr(Server, "healthy", lambda self: False)
    with (
        pytest.raises(InputError, match=r"is not healthy after 0.3 s; its log is"),
        Server(PLAN, log=tmp_path / "log", timeout_s=0.3),
    ):
        pass


def test_a_port_that_is_taken_is_refused_before_anything_starts():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(InputError, match=rf"--port: cannot listen on 127.0.0.1:{port}: Address already in use"):
            Server(PLAN, port=port)
