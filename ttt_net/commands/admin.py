"""`admin`: look after a server that runs on this machine; asks it over the listener that its data folder names."""

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from websockets.exceptions import InvalidStatus, WebSocketException
from websockets.sync.client import ClientConnection, connect, unix_connect

from ttt_net.commands.source import add_data
from ttt_net.errors import ConfigurationError
from ttt_net.server.admin import protocol
from ttt_net.server.admin.listener import ADDRESS_FILE, TOKEN_FILE
from ttt_net.server.shutdown import spoken
from ttt_net.text import clean, counted

_TIMEOUT_S = 10.0
_BACKUP_S = 600.0
MAX_ANSWER_BYTES = 1_048_576


class Line:
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
def reached(folder: Path) -> Iterator[Line]:
    """Connect to the server whose data are in the folder; `ConfigurationError` says why that cannot be."""
    address, token = _read_address(folder)
    try:
        connection = _connect(address, {"Authorization": f"Bearer {token}"})
    except InvalidStatus as error:
        raise ConfigurationError(f"the server at {address} said {error.response.status_code}; is it another?") from None
    except (OSError, WebSocketException) as error:
        raise ConfigurationError(f"no server answers at {address}: {error}") from None
    with connection:
        yield Line(connection)


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

        with reached(args.data) as line:
            return watch(line, sys.stdout)
    with reached(args.data) as line:
        answer = line.ask(QUESTIONS[args.act](args))
    print(msgspec.json.encode(answer).decode() if args.json else as_text(answer))
    return 0


def as_text(answer: protocol.AnyAdminReply) -> str:
    """Return the answer for people."""
    match answer:
        case protocol.Report():
            return _report(answer)
        case protocol.PlayerRows():
            rows = [
                (
                    each.name,
                    each.bot or "",
                    each.address,
                    f"{each.connected_s:.0f}",
                    str(each.lag_ms),
                    " ".join(each.matches),
                )
                for each in answer.players
            ]
            return columns(("name", "bot", "address", "seconds", "lag ms", "matches"), rows)
        case protocol.MatchRows():
            lines = [
                (each.match, each.game, " - ".join(each.players), str(each.ply), str(each.watchers), _private(each))
                for each in answer.matches
            ]
            return columns(("match", "game", "players", "ply", "watchers", ""), lines)
        case protocol.SanctionRows():
            sanctions = [
                (each.act, each.whom, moment(each.since_ms), moment(each.until_ms), each.reason)
                for each in answer.sanctions
            ]
            return columns(("act", "whom", "since", "until", "reason"), sanctions)
        case protocol.AuditRows():
            return columns(("when", "act", "what"), [(moment(each.at_ms), each.act, each.what) for each in answer.acts])
        case protocol.Done(text) | protocol.Failed(text):
            return text


def moment(at_ms: int | None) -> str:
    """Return a moment as date and time, UTC; of an end that never comes, that."""
    if at_ms is None:
        return "for good"
    return f"{datetime.fromtimestamp(at_ms / 1000, UTC):%Y-%m-%d %H:%M:%S}"


def _private(row: protocol.MatchRow) -> str:
    return "private" if row.is_private else ""


def _report(report: protocol.Report) -> str:
    refusals = sum(report.refusals.values())
    rows = [
        ("server", f"{clean(report.name, 60)}, ttt_net {report.version}, up {spoken(report.up_s)}"),
        ("state", state(report)),
        ("connections", f"{report.connections:,}: {who_is_here(report)}"),
        ("matches", f"{report.live:,} live of {report.tables:,} in memory; {report.matches:,} begun"),
        ("moves", f"{report.moves:,}; {times(report.move_s)}"),
        ("commits", f"{sum(report.commit_s.counts):,}; {times(report.commit_s)}; {report.failures:,} failed"),
        ("loop lag", times(report.lag_s)),
        ("waiting", waiting(report)),
        ("requests", f"{report.requests:,}, {refusals:,} refused{_by_reason(report.refusals)}"),
        ("faults", f"{report.faults:,}"),
        ("ended", f"{counted(sum(report.endings.values()), 'connection')}{_by_reason(report.endings)}"),
    ]
    return "\n".join(f"{name:<12} {text}" for name, text in rows)


def who_is_here(report: protocol.Report) -> str:
    """Return how many people and bots are connected."""
    return f"{counted(report.people, 'person', 'people')}, {counted(report.bots, 'bot')}"


def waiting(report: protocol.Report) -> str:
    """Return what waits for clients and for the disk."""
    return f"{counted(report.queue_bytes, 'byte')} for clients, {counted(report.jobs, 'job')} for the disk"


def state(report: protocol.Report) -> str:
    """Return in words whether all is well."""
    if report.restart_in_s is not None:
        return f"restarts in {spoken(report.restart_in_s)}"
    return report.unready or "ready"


def times(timing: protocol.Timing, before: protocol.Timing | None = None) -> str:
    """Return half and 99 % of the values, as bounds, those since `before`."""
    added = timing.since(before)
    half, most = added.quantile(0.5), added.quantile(0.99)
    return "none yet" if half is None or most is None else f"half within {_ms(half)}, 99 % within {_ms(most)}"


def _ms(seconds: float) -> str:
    return "more than 5 s" if seconds == float("inf") else f"{seconds * 1000:g} ms"


def _by_reason(counts: dict[str, int]) -> str:
    most = sorted(counts.items(), key=lambda item: -item[1])[:6]
    return f" ({', '.join(f'{reason} {count:,}' for reason, count in most)})" if most else ""


def columns(headings: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Return a table as lines, its columns as wide as they need to be."""
    table = [headings, *(tuple(clean(cell, 60) for cell in row) for row in rows)]
    widths = [max(map(len, cells)) for cells in zip(*table, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in table)
    return "\n".join(line.rstrip() for line in lines)
