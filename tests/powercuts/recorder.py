"""A recorded run of the real server: what it did to its files, in order, and what its clients were told meanwhile."""

import os
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent.parent
_SOURCE = Path(__file__).with_name("recorder.c")
_HEAD = struct.Struct("<cQQI")
_PACKING = """
from ttt_net.bootstrap import enter
from ttt_net.server import serving
from ttt_net.server import maintenance

maintenance.PACKED_AFTER_MS = maintenance.REST_MS = 0
serving._TICK_S = 0.05
enter("ttt_net.server.start")
"""
"""Starts a server that packs matches as soon as they are over."""


class Record(NamedTuple):
    """One call of the server; see recorder.c."""

    kind: str
    file: int
    """The number of its file; numbers are given again after files are gone."""
    offset: int
    """Where bytes were written, or the size after a truncation."""
    data: bytes
    """The written bytes, or names relative to the recorded folder."""
    end: int
    """The size of the log after it."""

    @property
    def names(self) -> list[str]:
        """The names in it."""
        return self.data.decode().split("\0")


def build_recorder(folder: Path) -> Path:
    """Compile the library that is loaded before all others, and return it."""
    library = folder / "recorder.so"
    flags = ("-Wall", "-Wextra", "-Werror", "-O1", "-shared", "-fPIC")
    command = ["cc", *flags, "-o", str(library), str(_SOURCE), "-ldl"]
    subprocess.run(command, check=True)
    return library


def read_log(log: Path) -> Iterator[Record]:
    """Return what was recorded."""
    data, at = log.read_bytes(), 0
    while at < len(data):
        kind, file, offset, size = _HEAD.unpack_from(data, at)
        at += _HEAD.size + size
        yield Record(kind.decode(), file, offset, data[at - size : at], at)


@contextmanager
def recorded_server(folder: Path, library: Path, log: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run a server inside the block, whose folder is to be made in `folder`; yield the process and its address."""
    recording = {"LD_PRELOAD": str(library), "RECORDED_FOLDER": str(folder), "RECORDED_LOG": str(log)}
    with server(folder / "data", os.environ | recording) as running:
        yield running


@contextmanager
def server(data: Path, environment: dict[str, str] | None = None) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run a server on a folder inside the block; yield the process and its address. At the end it is killed."""
    limits = ["--no-house-bots", "--rate", "1000000"]
    for each in ("matches", "registrations", "codes", "challenges"):
        limits += [f"--limits-{each}", "1000000/s"]
    command = [sys.executable, "-c", _PACKING, "--host", "127.0.0.1", "--port", "0", "--data", str(data), *limits]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line.startswith("listening on ws://"), line
            yield process, line.removeprefix("listening on ").strip()
        finally:
            process.kill()
