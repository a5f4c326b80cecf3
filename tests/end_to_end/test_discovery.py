"""A server and a client on two machines: network namespaces joined by a cable."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pexpect
import pytest

from tests.client.conftest import CLIENT
from tests.client.real_terminal import Terminal, end
from tests.networks import ROOT, Machine, two_machines, two_networks
from tests.patience import PATIENCE_S
from ttt_net.client.server_search import MAX_ANNOUNCED

__all__ = ["two_machines", "two_networks"]


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


@pytest.fixture
def sit_down(tmp_path: Path) -> Iterator[Callable[..., Terminal]]:
    """Start clients, each in a terminal of its own on one of the machines."""
    clients: list[Terminal] = []

    def sat_down(machine: Machine, *more: str) -> Terminal:
        home = {"TTT_NET_HOME": str(tmp_path / machine.name), "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
        clients.append(Terminal(more, {**os.environ, **home}, command=machine.command(*CLIENT)))
        return clients[-1]

    yield sat_down
    for client in clients:
        end(client.child)


def test_a_friend_on_another_machine_is_asked_where_to_go_and_plays(
    two_machines: tuple[Machine, Machine], tmp_path: Path, sit_down: Callable[..., Terminal]
) -> None:
    here, there = two_machines
    with here.server(tmp_path / "data", "--name", "Friday"):
        friend = sit_down(there, "--plain", "--name", "Ben").child
        friend.expect(r"1\. Friday, 10\.77\.0\.1:8765, 0 players, 0 matches")
        friend.expect("or Enter for 1: ")
        friend.sendline("")
        friend.expect("Looking for a person")
        host = sit_down(here, "--plain", "--name", "Ann").child
        host.expect(r"1\. Friday, on this machine")
        host.sendline("1")
        host.expect("Your turn|is to move")
        friend.expect("Your turn|is to move")


def test_without_multicast_the_client_gives_advice_and_a_typed_address_works(
    two_networks: tuple[Machine, Machine], tmp_path: Path, sit_down: Callable[..., Terminal]
) -> None:
    here, there = two_networks
    with here.server(tmp_path / "data"):
        friend = sit_down(there, "--plain", "--name", "Ben").child
        friend.expect("help explains why")
        friend.expect("or Enter for 1: ")
        friend.sendline("help")
        friend.expect("firewall, a VPN")
        friend.expect("or Enter for 1: ")
        friend.sendline("nonsense:")
        friend.expect("is no address")
        friend.sendline(here.address)
        friend.expect("Looking for a person")
        friend.sendline("quit")
        friend.expect(pexpect.EOF)
        again = sit_down(there, "--plain", "--name", "Ben").child
        again.expect("or Enter for 1: ")
        again.sendeof()
        again.expect(pexpect.EOF)
        again.close()
        assert again.exitstatus == 0


def test_on_the_screen_enter_joins_the_one_server_that_was_found(
    two_machines: tuple[Machine, Machine], tmp_path: Path, sit_down: Callable[..., Terminal]
) -> None:
    here, there = two_machines
    friend = sit_down(there, "--name", "Ben")
    friend.shows("No server here yet")
    with here.server(tmp_path / "data", "--name", "Friday"):
        lines = friend.comes_to(lambda picture: here.address in picture, "the server").split("\n")
        assert any(line.startswith("> Friday") and here.address in line for line in lines), lines
        friend.press("\r")
        friend.shows("p play")
        friend.press("\x03")
        assert friend.ends() == 0
        again = sit_down(there, "--name", "Ben")
        assert "Used before" not in again.shows("On this network")
        again.press("q")
        assert again.ends() == 0


def test_on_the_screen_an_address_can_be_typed(
    two_networks: tuple[Machine, Machine], tmp_path: Path, sit_down: Callable[..., Terminal]
) -> None:
    here, there = two_networks
    with here.server(tmp_path / "data", "--port", "7001"):
        friend = sit_down(there, "--name", "Ben")
        friend.shows("Type an address or a code")
        friend.press("nowhere:\r")
        friend.shows("'nowhere:' is no address")
        friend.press("\x7f" * 8 + f"{here.address}:7001\r")
        friend.shows("p play")


def test_liars_on_the_network_are_bounded_cleaned_and_cannot_end_the_search(
    two_machines: tuple[Machine, Machine], tmp_path: Path, sit_down: Callable[..., Terminal]
) -> None:
    here, there = two_machines
    command = here.command(sys.executable, "-m", "tests.end_to_end.liars")
    with looking(there) as looker, here.server(tmp_path / "one", "--name", "Honest"):
        assert sighted(looker)["announcement"]["name"] == "Honest"
        pipe = subprocess.PIPE
        with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, cwd=ROOT) as liars:
            assert liars.stdout is not None
            assert liars.stdout.readline() == "lying\n"
            lie = sighted(looker)["announcement"]
            assert (lie["players"], lie["matches"], lie["version"]) == (0, 0, "")
            assert lie["name"].isprintable()
            assert len(lie["name"]) <= 40
            assert lie["addresses"]
            assert not {"224.0.0.1", "127.0.0.1"} & set(lie["addresses"])
            for _ in range(10):  # who is slow finds few within the two seconds that it looks
                client = sit_down(there, "--plain", "--name", "Ben").child
                client.expect("Start a server here")
                found = client.before.decode()
                assert "\x1b" not in found
                assert len(found.splitlines()) < 2 * MAX_ANNOUNCED
                if found.count("does not answer") > 1:
                    break
            else:
                raise AssertionError(found)
            liars.kill()
        assert looker.poll() is None
