"""Store the identity of a person or bot on this machine: the name, and a token for each server and name.

Two running clients never share an identity, or the server would disconnect one for the other: a running client locks
its identity, and the next client takes another name. Files are readable by their owner only and are replaced whole. A
token is never printed.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO

from platformdirs import user_data_path

from ttt_net.messages import MAX_NAME_CELLS
from ttt_net.private_files import make_private_folder, write_private
from ttt_net.text import clean, name_key

try:
    import fcntl
except ImportError:  # Windows has no such locks; there, two clients with one name disconnect each other
    fcntl = None  # type: ignore[assignment]

HOME_VARIABLE = "TTT_NET_HOME"
_MAX_NAMES = 1000
_UNSAVED = (
    "Your player cannot be kept: {folder} cannot be written ({why}). After you leave, {name} and the ratings here "
    "are lost to you. Free the disk, or name a folder with TTT_NET_HOME, and start again."
)
_HERE = ("127.0.0.1", "::1")


def home() -> Path:
    """Return the folder of the identities: `TTT_NET_HOME`, or the user's own folder for data."""
    if folder := os.environ.get(HOME_VARIABLE):
        return Path(folder)
    return user_data_path("ttt_net", appauthor=False) / "client"


def numbered(name: str) -> Iterator[str]:
    """Yield the name, then `name-2`, `name-3` and so on, each cut to the longest that a name may be."""
    yield name
    for number in range(2, _MAX_NAMES):
        suffix = f"-{number}"
        yield clean(name, MAX_NAME_CELLS - len(suffix)) + suffix


class Identity:
    """A name on one server, locked for this process until `release`.

    Our own server is also identified by its `journal`, which stays the same when its port changes. A server on this
    machine is identified as "localhost", whichever address is typed. If our own server is unknown, the token is that of
    the name on any server of this machine: the server may have run on another port.
    """

    def __init__(
        self, folder: Path, server: str, name: str, lock: IO[bytes] | None, journal: str | None = None
    ) -> None:
        self.name = name
        known = (journal, _as_here(server), server)
        self._paths = {each: folder / f"{_stem(each, name)}.json" for each in known if each}
        self._folder, self._is_ours = folder, journal is not None
        self._lock = lock
        self.unsaved = ""
        """Why the token could not be written to the disk, if it could not."""

    def token(self) -> str | None:
        """Return the stored token of this name, if there is one."""
        tokens = [_token_in(path) for path in self._paths.values()]
        token = next(filter(None, tokens), None)
        if token is not None and any(kept != token for kept in tokens):
            self.keep_token(token)
        if token is None and self._is_ours:
            return next(filter(None, map(_token_in, self._kept_on_this_machine())), None)
        return token

    def _kept_on_this_machine(self) -> list[Path]:
        """Return the files of this name on servers of this machine, the newest first."""
        found = []
        for path in self._folder.glob("*.json"):
            with suppress(OSError, ValueError):
                kept = json.loads(path.read_text(encoding="utf-8"))
                if isinstance(kept, dict) and self._is_of(str(kept.get("server")), str(kept.get("name"))):
                    found.append((path.stat().st_mtime_ns, path))
        return [path for _, path in sorted(found, reverse=True)]

    def _is_of(self, server: str, name: str) -> bool:
        return _as_here(server).startswith("localhost:") and name_key(name) == name_key(self.name)

    def keep_token(self, token: str) -> None:
        """Store the token. If that fails, `unsaved` says why, and the next start registers a new player."""
        try:
            for server, path in self._paths.items():
                write_private(path, json.dumps({"server": server, "name": self.name, "token": token}))
        except OSError as error:
            self.unsaved = error.strerror or "the disk failed"

    def keeping(self, say: Callable[[str], None]) -> Callable[[str], None]:
        """Return a function that stores a token, and calls `say` with a sentence if the disk fails."""

        def keep(token: str) -> None:
            self.keep_token(token)
            if self.unsaved:
                say(_UNSAVED.format(folder=home(), why=self.unsaved.lower(), name=self.name))

        return keep

    def drop_token(self) -> None:
        """Delete the token, wherever it was stored on this machine."""
        token = self.token()
        elsewhere = [path for path in self._kept_on_this_machine() if _token_in(path) == token]
        with suppress(OSError):
            for path in (*self._paths.values(), *elsewhere):
                path.unlink(missing_ok=True)

    def release(self) -> None:
        """Release the lock, so that another process can have this identity."""
        if self._lock is not None:
            self._lock.close()


def _token_in(path: Path) -> str | None:
    with suppress(OSError, ValueError):
        kept = json.loads(path.read_text(encoding="utf-8"))
        token = kept.get("token") if isinstance(kept, dict) else None
        return token if isinstance(token, str) and 0 < len(token) <= 80 else None
    return None


def is_known(server: str, name: str, journal: str | None = None) -> bool:
    """Tell whether that server gave us a token for that name."""
    return Identity(home(), server, name, None, journal).token() is not None


def take(server: str, name: str, journal: str | None = None) -> Identity | None:
    """Return the identity of a name on a server, or None while another process uses it."""
    folder = home()
    lock: IO[bytes] | None = None
    with suppress(OSError):  # without a writable folder, play without remembering anything
        make_private_folder(folder)
        if fcntl is not None:
            path = folder / f"{_stem(_as_here(server), name)}.lock"
            lock = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "wb")
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                lock.close()
                return None
    return Identity(folder, server, name, lock, journal)


def take_numbered(server: str, name: str, taken: frozenset[str] = frozenset(), journal: str | None = None) -> Identity:
    """Take the first of `name`, `name-2`, ... that is not in `taken` and not used by another process."""
    for candidate in numbered(name):
        identity = take(server, candidate, journal) if candidate not in taken else None
        if identity is not None:
            return identity
    raise AssertionError("a thousand clients of one name on one machine")


def remembered_name() -> str | None:
    """Return the last typed name, or None."""
    with suppress(OSError, ValueError):
        return clean((home() / "name").read_text(encoding="utf-8"), MAX_NAME_CELLS) or None
    return None


def remember_name(name: str) -> None:
    """Store the name for the next start."""
    with suppress(OSError):
        write_private(home() / "name", name)


def _as_here(server: str) -> str:
    """Return the single local name, with port, of a server on this machine; return other servers unchanged."""
    host, _, port = server.rpartition(":")
    return f"localhost:{port}" if host in _HERE else server


def _stem(server: str, name: str) -> str:
    """Return a file name for a server and a name: a digest, since not every character of a name suits a file name."""
    return hashlib.sha256(f"{server}\n{name_key(name)}".encode()).hexdigest()[:32]
