"""A starting server: returning clients need not retry again and again."""

import asyncio
import gc
import resource
import signal
import socket
import sys
import weakref
from pathlib import Path

import pytest

from tests.end_to_end.process import ROOT, send
from tests.patience import PATIENCE_S
from tests.ports import reserved
from tests.server.peer import Peer, RawPeer
from ttt_net.errors import ConfigurationError, SilentLogError
from ttt_net.server.serving import allow_many_files
from ttt_net.server.start import AGAIN, main

SLOW = """
import sys
from ttt_net.server.start import main

class Slow:
    def find_spec(self, name, path=None, target=None):
        if name == "ttt_net.server.serving":
            print("loading", flush=True)
            sys.stdin.readline()

sys.meta_path.insert(0, Slow())
sys.exit(main(sys.argv[1:]))
"""
"""A server that takes its time to load what serves."""


async def test_connections_during_loading_wait_in_the_queue_and_are_served(tmp_path: Path) -> None:
    with reserved() as port:
        await come_early(tmp_path, port)


async def come_early(folder: Path, port: int) -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", SLOW, "--host", "127.0.0.1", "--port", str(port), "--no-announce"),
        *("--data", str(folder)),
        cwd=ROOT,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        async with asyncio.timeout(PATIENCE_S):
            assert await process.stdout.readline() == b"loading\n"
            early = await RawPeer.connect(port)
            await early.send(b"GET /healthz HTTP/1.1\r\n\r\n")
            process.stdin.write(b"go on\n")
            assert await early.status() == 200
            early.close()
            ann = await Peer.connect(f"ws://127.0.0.1:{port}")
            await ann.hello(name="Ann")
            await ann.close()
    finally:
        send(process, signal.SIGTERM)
        await process.communicate()
    assert process.returncode == 0


class Served:
    """Stands in for serving, once per outcome: whether to serve again, or an exception to raise."""

    def __init__(self, *outcomes: bool | ConfigurationError) -> None:
        self.outcomes, self.ports = list(outcomes), list[int]()

    def __call__(self, _: object, __: object, listening: socket.socket, ___: object) -> bool:
        self.ports.append(listening.getsockname()[1])
        outcome = self.outcomes.pop(0)
        if isinstance(outcome, ConfigurationError):
            raise outcome
        return outcome


def start(served: Served, folder: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """Start a server, and return its exit code."""
    monkeypatch.setattr("ttt_net.server.serving.serve", served)
    monkeypatch.setattr("ttt_net.server.start.set_up", lambda *_: None)  # those of the tests stay as they are
    # An address of its own: no other test takes the port there while the server begins anew.
    return main(["--host", "127.0.0.83", "--port", "0", "--data", str(folder)])


def test_a_node_that_is_to_begin_anew_does_so_on_its_port_until_its_log_answers_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = Served(True, SilentLogError("nothing comes"), True, False)
    assert start(served, tmp_path, monkeypatch) == 0
    assert served.outcomes == []
    assert served.ports == served.ports[:1] * 4


def test_a_restarted_node_keeps_nothing_of_its_predecessor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Room:
        """Part of a server, in a cycle, as its parts are."""

        def __init__(self) -> None:
            self.room = self

    left: list[weakref.ref[Room]] = []

    def serve(*_: object) -> bool:
        assert [room() for room in left] == [None] * len(left)
        left.append(weakref.ref(Room()))
        return len(left) < 3

    monkeypatch.setattr("ttt_net.server.serving.serve", serve)
    monkeypatch.setattr("ttt_net.server.start.set_up", lambda *_: None)
    gc.disable()
    try:
        assert main(["--host", "127.0.0.1", "--port", "0", "--data", str(tmp_path)]) == 0
    finally:
        gc.enable()
    assert len(left) == 3


def test_errors_of_a_restarting_node_end_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    served = Served(True, ConfigurationError("the snapshot is of a newer release"))
    assert start(served, tmp_path, monkeypatch) == 2
    assert "newer release" in capsys.readouterr().err


@pytest.mark.parametrize("outcome", [True, SilentLogError("nothing comes")])
@pytest.mark.parametrize("variable", ["NOTIFY_SOCKET", "INVOCATION_ID"])
def test_a_service_manager_is_asked_to_restart_a_node(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str, outcome: bool | ConfigurationError
) -> None:
    monkeypatch.setenv(variable, "/nowhere")
    assert start(Served(outcome), tmp_path, monkeypatch) == AGAIN


def test_a_log_that_does_not_answer_at_the_first_start_is_no_fault_of_the_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert start(Served(SilentLogError("nothing comes")), tmp_path, monkeypatch) == AGAIN
    assert capsys.readouterr().err.endswith(": nothing comes\n")


def test_where_the_limit_of_files_is_endless_but_not_to_be_had_fewer_are_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """So it is on macOS: setrlimit(2) there."""
    asked = []

    def setrlimit(_: int, limits: tuple[int, int]) -> None:
        if limits[0] > 10_240:
            raise ValueError("current limit exceeds maximum limit")
        asked.append(limits)

    monkeypatch.setattr(resource, "getrlimit", lambda _: (256, 2**63 - 1))
    monkeypatch.setattr(resource, "setrlimit", setrlimit)
    allow_many_files()
    assert asked == [(10_240, 2**63 - 1)]
