"""A server and a client on two machines: network namespaces joined by a cable."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.networks import PATIENCE_S, ROOT, Machine, two_machines

__all__ = ["two_machines"]


@contextmanager
def looking(machine: Machine) -> Iterator["subprocess.Popen[str]"]:
    command = machine.command(sys.executable, "-m", "tests.end_to_end.look")
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        try:
            yield process
        finally:
            process.kill()


def sighted(looker: "subprocess.Popen[str]") -> dict[str, Any]:
    assert looker.stdout is not None
    sighting = json.loads(looker.stdout.readline())
    assert isinstance(sighting, dict)
    return sighting


def test_a_server_is_found_with_its_name_and_address_and_says_goodbye(
    two_machines: tuple[Machine, Machine], tmp_path: Path
) -> None:
    here, there = two_machines
    with looking(there) as looker:
        with here.server(tmp_path, "--name", "Friday evening"):
            found = sighted(looker)
            assert (found["kind"], found["host"], found["does_answer"]) == ("Found", here.address, True)
            assert found["announcement"]["name"] == "Friday evening"
            assert (found["announcement"]["port"], found["is_here"]) == (8765, False)
        gone = sighted(looker)
        assert (gone["kind"], gone["key"]) == ("Gone", found["key"])


def test_a_quiet_server_is_not_found(two_machines: tuple[Machine, Machine], tmp_path: Path) -> None:
    here, there = two_machines
    with looking(there) as looker, here.server(tmp_path / "quiet", "--no-announce", "--port", "7001"):
        with here.server(tmp_path / "loud", "--port", "7002"):
            assert sighted(looker)["announcement"]["port"] == 7002
        assert sighted(looker)["kind"] == "Gone"  # and nothing else has come in between


def test_a_machine_without_a_network_serves_on_and_says_why_nobody_finds_it(
    two_machines: tuple[Machine, Machine], tmp_path: Path
) -> None:
    here, _ = two_machines
    for link in ("lo", here.link):
        here.ip("addr", "flush", "dev", link)
    words = [sys.executable, str(ROOT / "server.py"), "--data", str(tmp_path)]
    with subprocess.Popen(here.command(*words), stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        assert "cannot announce this server on the local network" in server.stderr.readline()
        assert server.poll() is None
        server.terminate()
        assert server.wait(PATIENCE_S) == 0
