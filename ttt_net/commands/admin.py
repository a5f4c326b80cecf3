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
        """Return the server's answer. Raises `ConfigurationError` if it says no."""
        try:
            self._connection.send(protocol.encode(question).decode())
            patience_s = _BACKUP_S if isinstance(question, protocol.Backup) else _TIMEOUT_S
            answer: protocol.AnyAdminReply = protocol.decode_admin_reply(self._connection.recv(timeout=patience_s))
        except (OSError, WebSocketException, msgspec.MsgspecError) as error:
            raise ConfigurationError(f"the server did not answer: {error or 'it took too long'}") from None
        if isinstance(answer, protocol.Failed):
            raise ConfigurationError(answer.text)
        return answer


def _read_address(folder: Path, address: str | None, token_file: Path | None) -> tuple[str, str]:
    """Return the address of the server, and the token for it; those of the folder where none are given."""
    try:
        address = address or (folder / ADDRESS_FILE).read_text(encoding="utf-8").strip()
        return address, (token_file or folder / TOKEN_FILE).read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        raise ConfigurationError(
            f"no server runs in {folder}, or it has no admin listener; name its folder with --data"
        ) from None
    except OSError as error:
        raise ConfigurationError(f"cannot read {error.filename}: {error.strerror}; be the user who runs it") from None


@contextmanager
def reached(folder: Path, at: str | None = None, token_file: Path | None = None) -> Iterator[AdminConnection]:
    """Connect to the server whose data are in the folder, or the one at an address, as the host or a moderator.

    Raises `ConfigurationError` if that cannot be.
    """
    address, token = _read_address(folder, at, token_file)
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
    parser.add_argument("--at", metavar="ADDRESS", help="the admin listener, 127.0.0.1:8766; else as --data has it")
    parser.add_argument("--token-file", metavar="FILE", type=Path, help="a moderator's token; else the host's")
    acts = parser.add_subparsers(dest="act", metavar="ACT", required=True)
    acts.add_parser("stats", help="print the server's figures")
    acts.add_parser("players", help="list who is connected")
    acts.add_parser("matches", help="list what is played")
    acts.add_parser("top", help="show figures and matches until Ctrl-C; in a pipe, a line every second")
    kick = acts.add_parser("kick", help="close a player's connection")
    kick.add_argument("name")
    kick.add_argument("reason", nargs="?", default="", help="what they are told")
    ban = acts.add_parser("ban", help="keep a player, an address, an IPv6 /64 or a network out")
    mute = acts.add_parser("mute", help="let nobody hear what a player writes, or all of an address or network")
    for each in (ban, mute):
        each.add_argument("whom", help="a name, 192.0.2.7, 2001:db8::7, 192.0.2.0/24, or name:NAME")
        each.add_argument("reason", nargs="?", default="", help="what they are told")
        _add_stretch(each)
    acts.add_parser("unban", help="let them in again").add_argument("whom", help="as listed by bans; #7 for a number")
    acts.add_parser("unmute", help="let them be heard again").add_argument("whom", help="as for unban")
    acts.add_parser("bans", help="list who is banned or muted")
    _add_reports(acts.add_parser("reports", help="list what players report of others; show or close a report"))
    moderators = acts.add_parser("moderators", help="list who moderates; add or remove a moderator")
    of_them = moderators.add_subparsers(dest="step", metavar="STEP")
    of_them.add_parser("add", help="let somebody moderate, and print their token, once").add_argument("name")
    of_them.add_parser("remove", help="let them moderate no more").add_argument("name")
    acts.add_parser("backup", help="have the server copy its journal").add_argument("file", type=Path)
    audit = acts.add_parser("audit", help="list what admins did")
    audit.add_argument("last", nargs="?", type=int, default=50, help="how many acts (default %(default)s)")
    announce = acts.add_parser("announce", help="show a line to everybody")
    announce.add_argument("text")
    drain = acts.add_parser("drain", help="count down for all to see, begin no more matches, then end the server")
    drain.add_argument("seconds", nargs="?", type=int, default=60, help="how long (default %(default)s)")
    drain.add_argument("--cancel", action="store_true", help="call it off")


def _add_stretch(parser: argparse.ArgumentParser) -> None:
    """Add how long a ban or mute lasts, and of what it is."""
    parser.add_argument("--for", dest="for_s", metavar="TIME", type=_stretch, help="90m, 12h, 7d; else for good")
    parser.add_argument(
        "--with-address", action="store_true", help="of the address that the player comes from, too, and of all there"
    )


def _add_reports(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--all", action="store_true", help="list those that are closed, too")
    steps = parser.add_subparsers(dest="step", metavar="STEP")
    steps.add_parser("show", help="show a report with the last lines of chat").add_argument("number", type=int)
    close = steps.add_parser("close", help="close a report, and do something about the player first")
    close.add_argument("number", type=int)
    close.add_argument("text", nargs="?", default="", help="what you found, for those who look at it later")
    acts = close.add_mutually_exclusive_group()
    for act in ("kick", "mute", "ban"):
        acts.add_argument(f"--{act}", dest="then", action="store_const", const=act, help=f"{act} the player first")
    close.add_argument("--reason", default="", help="what the player is told; else what they were reported for")
    _add_stretch(close)


def _report_request(args: argparse.Namespace) -> protocol.AnyAdminRequest:
    if args.step == "show":
        return protocol.ShowReport(args.number)
    if args.step == "close":
        return protocol.SettleReport(args.number, args.text, args.then, args.reason, args.for_s, args.with_address)
    return protocol.ListReports(args.all)


def _moderator_request(args: argparse.Namespace) -> protocol.AnyAdminRequest:
    if args.step == "add":
        return protocol.AddModerator(args.name)
    return protocol.RemoveModerator(args.name) if args.step == "remove" else protocol.ListModerators()


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
    "ban": lambda args: protocol.Ban(args.whom, args.reason, args.for_s, args.with_address),
    "unban": lambda args: protocol.Unban(args.whom),
    "mute": lambda args: protocol.MutePlayer(args.whom, args.reason, args.for_s, args.with_address),
    "unmute": lambda args: protocol.Unmute(args.whom),
    "reports": _report_request,
    "moderators": _moderator_request,
    "bans": lambda args: protocol.Bans(),
    "backup": lambda args: protocol.Backup(str(args.file.absolute())),
    "audit": lambda args: protocol.Audit(args.last),
    "announce": lambda args: protocol.Announce(args.text),
    "drain": lambda args: protocol.Drain(None if args.cancel else args.seconds),
}


def run(args: argparse.Namespace) -> int:
    """Ask, and print the answer."""
    connecting = reached(args.data, args.at, args.token_file)
    if args.act == "top":
        from ttt_net.commands.admin_top import watch

        with connecting as connection:
            return watch(connection.ask, sys.stdout)
    with connecting as connection:
        answer = connection.ask(QUESTIONS[args.act](args))
    print(msgspec.json.encode(answer).decode() if args.json else as_text(answer))
    return 0
