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

ROOT = Path(__file__).parent.parent
PATIENCE_S = 20
"""How long a test waits for what must come; only a hang takes that long."""
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
    """Two namespaces joined by a pair of virtual interfaces, with a network of documentation addresses."""
    if os.geteuid() != 0 or shutil.which("ip") is None:
        pytest.skip("needs root, and `ip` of iproute2, to make network namespaces")
    mark = f"{os.getpid()}x{next(_number)}"
    machines = tuple(
        Machine(f"ttt-{mark}-{side}", f"198.51.100.{number}", f"t{side}{mark}"[:15])
        for number, side in enumerate("ab", start=1)
    )
    with ExitStack() as undo:
        for machine in machines:
            _run("ip", "netns", "add", machine.name)
            undo.callback(_run, "ip", "netns", "del", machine.name)
        one, other = machines
        veth = ("type", "veth", "peer", "name", other.link, "netns", other.name)
        _run("ip", "link", "add", one.link, "netns", one.name, *veth)
        for machine in machines:
            machine.ip("addr", "add", f"{machine.address}/24", "dev", machine.link)
            machine.ip("link", "set", "lo", "up")
            machine.ip("link", "set", machine.link, "up")
        yield one, other
