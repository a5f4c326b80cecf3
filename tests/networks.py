"""Two machines on a cable, made of network namespaces that a test makes itself and takes away again."""

import itertools
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.patience import PATIENCE_S

ROOT = Path(__file__).parent.parent
_number = itertools.count()


class Machine:
    """A network namespace, with an address of its own on the cable."""

    def __init__(self, name: str, address: str, link: str) -> None:
        self.name = name
        self.address = address
        self.link = link

    def command(self, *words: str) -> list[str]:
        """Return the command that runs another in this namespace."""
        return ["ip", "netns", "exec", self.name, *words]

    def ip(self, *words: str) -> None:
        """Configure the namespace."""
        _run("ip", "-n", self.name, *words)

    @contextmanager
    def server(self, folder: Path, *more: str) -> Iterator["subprocess.Popen[str]"]:
        """Run a server here inside the block, from the moment at which it listens."""
        words = [sys.executable, str(ROOT / "server.py"), "--data", str(folder), *more]
        with subprocess.Popen(self.command(*words), stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            assert process.stdout.readline().startswith("listening on ")
            try:
                yield process
            finally:
                process.terminate()
                process.communicate(timeout=PATIENCE_S)


def _run(*words: str) -> None:
    subprocess.run(words, check=True, capture_output=True, text=True, timeout=PATIENCE_S)


@pytest.fixture
def two_machines() -> Iterator[tuple[Machine, Machine]]:
    """Two machines on one network."""
    with _machines("a", "b") as (one, other):
        _join(one, other)
        yield one, other


@pytest.fixture
def two_networks() -> Iterator[tuple[Machine, Machine]]:
    """Two machines on networks of their own with a router between them, past which no multicast goes."""
    with _machines("a", "b", "r") as (one, other, router):
        for number, machine in enumerate((one, other), start=1):
            near = Machine(router.name, f"10.77.0.{64 * number}", f"r{number}{machine.link}"[:15])
            machine.address = f"10.77.0.{64 * number + 1}"
            _join(machine, near, prefix=26)
            machine.ip("route", "add", "default", "via", near.address)
        _run(*router.command("sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward"))
        yield one, other


@contextmanager
def _machines(*sides: str) -> Iterator[tuple[Machine, ...]]:
    if os.geteuid() != 0 or shutil.which("ip") is None:
        pytest.skip("needs root, and `ip` of iproute2, to make network namespaces")
    mark = f"{os.getpid()}x{next(_number)}"
    with ExitStack() as undo:
        machines = []
        for number, side in enumerate(sides, start=1):
            machine = Machine(f"ttt-{mark}-{side}", f"10.77.0.{number}", f"t{side}{mark}"[:15])
            _run("ip", "netns", "add", machine.name)
            undo.callback(_run, "ip", "netns", "del", machine.name)
            machine.ip("link", "set", "lo", "up")
            machines.append(machine)
        yield tuple(machines)


def _join(one: Machine, other: Machine, prefix: int = 24) -> None:
    """Lay a cable between two machines, and give each its address."""
    veth = ("type", "veth", "peer", "name", other.link, "netns", other.name)
    _run("ip", "link", "add", one.link, "netns", one.name, *veth)
    for machine in (one, other):
        machine.ip("addr", "add", f"{machine.address}/{prefix}", "dev", machine.link)
        machine.ip("link", "set", machine.link, "up")
