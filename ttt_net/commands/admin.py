"""`admin`: look after a server that runs on this machine; asks it over the listener that its data folder names."""

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
from websockets.exceptions import InvalidStatus, WebSocketException
from websockets.sync.client import ClientConnection, connect, unix_connect

from ttt_net.commands.admin_view import as_text
from ttt_net.commands.source import add_data
from ttt_net.errors import ConfigurationError
from ttt_net.server.admin import protocol
from ttt_net.server.admin.listener import ADDRESS_FILE, TOKEN_FILE

_TIMEOUT_S = 10.0
_BACKUP_S = 600.0
MAX_ANSWER_BYTES = 1_048_576


class AdminConnection:
    """A connection to a server's admin listener."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection

    def ask(self, question: protocol.AnyAdminRequest) -> protocol.AnyAdminReply:
        """Return the server's answer; one that says no raises `ConfigurationError`."""
        try:
            self._connection.send(protocol.encode(question).decode())
            patience_s = _BACKUP_S if isinstance(question, protocol.Backup) else _TIMEOUT_S
            answer: protocol.AnyAdminReply = protocol.decode_admin_reply(self._connection.recv(timeout=patience_s))
        except (OSError, WebSocketException, msgspec.MsgspecError) as error:
            raise ConfigurationError(f"the server did not answer: {error or 'it took too long'}") from None
        if isinstance(answer, protocol.Failed):
            raise ConfigurationError(answer.text)
        return answer


def _read_address(folder: Path) -> tuple[str, str]:
    """Return the address of the server whose data are in the folder, and the token for it."""
    try:
        address = (folder / ADDRESS_FILE).read_text(encoding="utf-8").strip()
        return address, (folder / TOKEN_FILE).read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        raise ConfigurationError(
            f"no server runs in {folder}, or it has no admin listener; name its folder with --data"
        ) from None
    except OSError as error:
        raise ConfigurationError(f"cannot read {error.filename}: {error.strerror}; be the user who runs it") from None


@contextmanager
def reached(folder: Path) -> Iterator[AdminConnection]:
    """Connect to the server whose data are in the folder; `ConfigurationError` says why that cannot be."""
    address, token = _read_address(folder)
    try:
        connection = _connect(address, {"Authorization": f"Bearer {token}"})
    except InvalidStatus as error:
        raise ConfigurationError(f"the server at {address} said {error.response.status_code}; is it another?") from None
    except (OSError, WebSocketException) as error:
        raise ConfigurationError(f"no server answers at {address}: {error}") from None
    with connection:
        yield AdminConnection(connection)


def _connect(address: str, headers: dict[str, str]) -> ClientConnection:
    if "/" in address:
        return unix_connect(
            address, "ws://admin/", additional_headers=headers, open_timeout=_TIMEOUT_S, max_size=MAX_ANSWER_BYTES
        )
    return connect(
        f"ws://{address}/",
        additional_headers=headers,
        open_timeout=_TIMEOUT_S,
        max_size=MAX_ANSWER_BYTES,
        proxy=None,
    )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    add_data(parser)
    parser.add_argument("--json", action="store_true", help="print the answer as one JSON object")
    acts = parser.add_subparsers(dest="act", metavar="ACT", required=True)
    acts.add_parser("stats", help="print the server's figures")
    acts.add_parser("players", help="list who is connected")
    acts.add_parser("matches", help="list what is played")
    acts.add_parser("top", help="show figures and matches until Ctrl-C; in a pipe, a line every second")
    kick = acts.add_parser("kick", help="close a player's connection")
    kick.add_argument("name")
    kick.add_argument("reason", nargs="?", default="", help="what they are told")
    ban = acts.add_parser("ban", help="keep a player, an address, an IPv6 /64 or a network out")
    ban.add_argument("whom", help="a name, 192.0.2.7, 2001:db8::7, 192.0.2.0/24, or name:NAME")
    acts.add_parser("unban", help="let them in again").add_argument("whom")
    mute = acts.add_parser("mute", help="let nobody hear what a player writes")
    mute.add_argument("name")
    acts.add_parser("unmute", help="let them be heard again").add_argument("name")
    for each in (ban, mute):
        each.add_argument("reason", nargs="?", default="", help="what they are told")
        each.add_argument("--for", dest="for_s", metavar="TIME", type=_stretch, help="90m, 12h, 7d; else for good")
    acts.add_parser("bans", help="list who is banned or muted")
    acts.add_parser("backup", help="have the server copy its journal").add_argument("file", type=Path)
    audit = acts.add_parser("audit", help="list what admins did")
    audit.add_argument("last", nargs="?", type=int, default=50, help="how many acts (default %(default)s)")
    announce = acts.add_parser("announce", help="show a line to everybody")
    announce.add_argument("text")
    drain = acts.add_parser("drain", help="count down for all to see, begin no more matches, then end the server")
    drain.add_argument("seconds", nargs="?", type=int, default=60, help="how long (default %(default)s)")
    drain.add_argument("--cancel", action="store_true", help="call it off")


def _stretch(text: str) -> int:
    """Return the seconds that a stretch of time such as `90m` has."""
    unit = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}.get(text[-1:])
    if unit is None or not text[:-1].isdecimal() or not int(text[:-1]):
        raise argparse.ArgumentTypeError(f"{text!r} is no time such as 90s, 30m, 12h, 7d")
    return int(text[:-1]) * unit


QUESTIONS: dict[str, Callable[[argparse.Namespace], protocol.AnyAdminRequest]] = {
    "stats": lambda args: protocol.Stats(),
    "players": lambda args: protocol.ListPlayers(),
    "matches": lambda args: protocol.ListMatches(),
    "kick": lambda args: protocol.Kick(args.name, args.reason),
    "ban": lambda args: protocol.Ban(args.whom, args.reason, args.for_s),
    "unban": lambda args: protocol.Unban(args.whom),
    "mute": lambda args: protocol.MutePlayer(args.name, args.reason, args.for_s),
    "unmute": lambda args: protocol.Unmute(args.name),
    "bans": lambda args: protocol.Bans(),
    "backup": lambda args: protocol.Backup(str(args.file.absolute())),
    "audit": lambda args: protocol.Audit(args.last),
    "announce": lambda args: protocol.Announce(args.text),
    "drain": lambda args: protocol.Drain(None if args.cancel else args.seconds),
}


def run(args: argparse.Namespace) -> int:
    """Ask, and print the answer."""
    if args.act == "top":
        from ttt_net.commands.admin_top import watch

        with reached(args.data) as connection:
            return watch(connection.ask, sys.stdout)
    with reached(args.data) as connection:
        answer = connection.ask(QUESTIONS[args.act](args))
    print(msgspec.json.encode(answer).decode() if args.json else as_text(answer))
    return 0
