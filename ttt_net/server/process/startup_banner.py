"""Print the banner of a server that listens: one line for scripts, then for people how friends come to it."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, TextIO

from ttt_net.networks import is_private
from ttt_net.programs import PLAY
from ttt_net.server.settings.addresses import display, local_addresses
from ttt_net.server.settings.configuration import DEFAULT_PORT

_MOST_ADDRESSES = 3
_QR_MARGIN = 2
_HALVES = {(False, False): " ", (True, False): "▀", (False, True): "▄", (True, True): "█"}
"""Two cells of the code one above the other, by which of them are dark, as one character."""
_BLACK_ON_WHITE, _RESET = "\x1b[30;107m", "\x1b[0m"


class ServerAddress(NamedTuple):
    """Where a server listens: `host` is None for every address of the machine."""

    name: str
    host: str | None
    port: int
    data: Path
    scheme: str = "ws"
    fingerprint: str | None = None
    """That of a certificate that nobody vouches for; clients are told it."""
    public_url: str = ""
    """Where friends reach it, if that is elsewhere: ws:// or wss://, without a path."""


def greet(where: ServerAddress, out: TextIO | None = None) -> None:
    """Print it all, with a QR code of the web address if there is a terminal that is tall enough for it.

    Characters that the encoding lacks are escaped. A program without any output prints nothing.
    """
    out = out or sys.stdout
    if not out:
        return
    lines = greeting(where)
    encoding = out.encoding or "utf-8"
    try:
        print("\n".join(lines).encode(encoding, "backslashreplace").decode(encoding), file=out, flush=True)
    except BrokenPipeError:  # who read it has read enough; what is left unwritten must not fail again at the end
        os.dup2(os.open(os.devnull, os.O_WRONLY), out.fileno())
    if out.isatty() and os.environ.get("TERM", "") not in ("", "dumb"):
        size = os.get_terminal_size(out.fileno())
        code = qr_lines(web_address(where), out.encoding, has_color="NO_COLOR" not in os.environ)
        if code and len(lines) + len(code) < size.lines and max(map(len, code)) < size.columns:
            print("\n".join(code), file=out, flush=True)


def greeting(where: ServerAddress) -> list[str]:
    """Return the lines, the first of them for scripts."""
    at_home = display("127.0.0.1", where.port)
    suffix = "" if where.port == DEFAULT_PORT and where.scheme == "ws" else f" {_typed(where, at_home)}"
    lines = [
        f"listening on {where.scheme}://{display(where.host or '127.0.0.1', where.port)}",
        f"{where.name}; matches are kept in {_from_home(where.data)}",
    ]
    if where.public_url:
        lines.append(f"join with: {PLAY} {where.public_url}")
    elif where.host is None:
        lines.append(f"play from this machine:  {PLAY}{suffix}")
        lines += [f"friends on this network: {PLAY} {_typed(where, each)}" for each in _others(where)]
    else:
        lines.append(f"join with: {PLAY} {_typed(where, display(where.host, where.port))}")
    lines.append(f"in a web browser:        {web_address(where)}")
    if where.fingerprint:
        lines.append(f"self-signed certificate, SHA-256 fingerprint: {where.fingerprint}")
    lines.append("Ctrl-C stops the server; unfinished matches go on when it is back")
    return lines


def _from_home(folder: Path) -> str:
    """Return the folder as people type it: from their home on, so that the line fits a terminal."""
    try:
        return f"~/{folder.relative_to(Path.home()).as_posix()}"
    except (ValueError, RuntimeError):  # it is elsewhere, or nobody knows where home is
        return str(folder)


def _typed(where: ServerAddress, address: str) -> str:
    """Return the address as it is typed after what starts a client."""
    if where.scheme == "ws":
        is_fine = is_private(address.rpartition(":")[0])
        return address if is_fine else f"{address} --insecure"  # else the friend's client would refuse it
    trust = f" --tls-fingerprint {where.fingerprint}" if where.fingerprint else ""
    return f"{where.scheme}://{address}{trust}"


def _others(where: ServerAddress) -> list[str]:
    return [display(address, where.port) for address in local_addresses()[:_MOST_ADDRESSES]]


def web_address(where: ServerAddress) -> str:
    """Return the address to open in a browser: by preference one that other machines can reach."""
    if where.public_url:
        return f"http{where.public_url.removeprefix('ws')}/"
    scheme = "https" if where.scheme == "wss" else "http"
    host = display(where.host, where.port) if where.host is not None else next(iter(_others(where)), None)
    return f"{scheme}://{host or display('127.0.0.1', where.port)}/"


def qr_lines(text: str, encoding: str | None, *, has_color: bool) -> list[str]:
    """Return a QR code of the text as lines of half blocks; none where they or the colours cannot be shown.

    A code must be dark on light, whatever the colours of the terminal are, so it needs them to be set.
    """
    if not has_color:
        return []
    try:
        "".join(_HALVES.values()).encode(encoding or "ascii")
    except UnicodeEncodeError:
        return []
    import segno  # only here: a server without a terminal needs none

    matrix = segno.make(text, error="l", micro=False).matrix_iter(border=_QR_MARGIN)
    rows: list[Sequence[bool]] = [[bool(cell) for cell in row] for row in matrix]
    if len(rows) % 2:
        rows.append([False] * len(rows[0]))
    return [
        _BLACK_ON_WHITE + "".join(_HALVES[pair] for pair in zip(upper, lower, strict=True)) + _RESET
        for upper, lower in zip(rows[::2], rows[1::2], strict=True)
    ]
