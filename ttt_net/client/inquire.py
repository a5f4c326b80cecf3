"""Ask a server one question and leave: a profile, a history, all of one's data; rename or forget a player.

If a client is playing under this identity, the question is asked as a guest, so that the client keeps its connection.
The server forgets the guest after the answer. Unfinished matches are not resumed.
"""

import asyncio
import io
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime

import msgspec
from msgspec.structs import replace
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ttt_net import messages
from ttt_net.client.options import Inquiry, Options
from ttt_net.errors import Code, ConfigurationError, Refusal
from ttt_net.names import checked_name
from ttt_net.sdk import identity
from ttt_net.sdk.client import Client, DisconnectedError, Reply, connect
from ttt_net.sdk.client_connection import ReconnectLimits
from ttt_net.sdk.received import Farewell, Parting
from ttt_net.text import clean, date_of, name_key

PIPE_WIDTH = 500
"""The width in a pipe, where no table is cut."""
_LEFT, _RIGHT = "left", "right"


Told = (
    messages.ProfileReply
    | messages.HistoryReply
    | messages.LeaderboardReply
    | messages.TournamentReply
    | messages.TournamentList
)
"""The replies that are printed as lines."""


def lines_of(told: Told, options: Options, inquiry: Inquiry) -> list[str]:
    """Return a server's reply in lines that fit the terminal, if stdout is one."""
    if options.is_json:
        return [msgspec.json.encode(told).decode()]
    is_terminal = sys.stdout.isatty()
    output = io.StringIO()
    console = Console(
        file=output,
        width=Console().width if is_terminal else PIPE_WIDTH,
        force_terminal=is_terminal,
        highlight=False,
        no_color=None if is_terminal else True,
    )
    match told:
        case messages.ProfileReply():
            _print_profile(console, told)
        case messages.HistoryReply():
            _print_history(console, told, options, inquiry)
        case messages.LeaderboardReply():
            _print_leaders(console, told, options, inquiry)
        case messages.TournamentList():
            _print_tournaments(console, told)
        case messages.TournamentReply():
            _print_tournament(console, told, options, inquiry)
    return [line.rstrip() for line in output.getvalue().splitlines()]


def _print_profile(console: Console, told: messages.ProfileReply) -> None:
    since = date_of(told.since_ms)
    presence = "here now" if told.online else "not here now"
    _say(console, f"{_name(told.player)}: known since {since}, {presence}", "bold")
    _say(console, f"won {told.won}, drawn {told.drawn}, lost {told.lost}")
    if told.against is not None:
        against = told.against
        _say(console, f"against you: won {against.lost}, drawn {against.drawn}, lost {against.won}")
    if told.live:
        _say(console, f"plays: {', '.join(clean(match, 32) for match in told.live)}")
    if told.ratings:
        rows = [
            (clean(each.game, 40), each.speed, *_figures(each.rating, each.deviation, each.games, each.provisional))
            for each in told.ratings
        ]
        _say(console, "")
        _table(console, ("game", "speed", "rating>", ">", "matches>"), rows)
    if told.tournaments:
        _say(console, "")
        _table(
            console,
            ("tournament", "kind", "game", "place>", "players>", "code"),
            [
                (
                    clean(each.name, 40),
                    clean(each.kind, 20).replace("_", " "),
                    clean(each.game, 40),
                    f"{each.place}" if each.over else f"{each.place} so far",
                    f"{each.players}",
                    clean(each.tournament, 16),
                )
                for each in told.tournaments
            ],
        )


def _print_history(console: Console, told: messages.HistoryReply, options: Options, inquiry: Inquiry) -> None:
    _say(console, f"finished matches of {_name(told.player)}, page {inquiry.page}", "bold")
    rows = [
        (
            date_of(each.at_ms, "%Y-%m-%d %H:%M"),
            clean(each.game, 40),
            _name(each.players[0]),
            _name(each.players[1]),
            _result(each),
            clean(each.reason, 20),
            str(each.plies),
            "rated" if each.rated else "private" if each.private else "",
            clean(each.match, 32),
        )
        for each in told.matches
    ]
    if rows:
        columns = ("ended (UTC)", "game", "first", "second", "result", "by", "moves>", "", "match")
        _table(console, columns, rows)
    else:
        _say(console, "none")
    if told.before is not None:
        _say_next(console, options, inquiry)


def _print_leaders(console: Console, told: messages.LeaderboardReply, options: Options, inquiry: Inquiry) -> None:
    whom = "" if inquiry.has_bots else ", people only"
    _say(
        console,
        f"ratings at {clean(told.game, 40)}, {told.speed}{whom}: page {told.page} of {told.pages}",
        style="bold",
    )
    rows = [
        (
            str(each.rank),
            _name(each.player),
            *_figures(each.player.rating or 0, each.deviation, each.games, each.player.provisional),
        )
        for each in told.leaders
    ]
    if rows:
        _table(console, ("rank>", "player", "rating>", ">", "matches>"), rows)
        if any(each.player.provisional for each in told.leaders):
            _say(console, "? provisional: too few matches yet, or too long ago")
    else:
        _say(console, "nobody")
    if told.you is not None:
        _say(console, f"you are number {told.you}")
    if told.page < told.pages:
        _say_next(console, options, inquiry)


def _print_tournaments(console: Console, told: messages.TournamentList) -> None:
    rows = [
        (
            clean(each.tournament, 16),
            clean(each.name, 40),
            each.kind.replace("_", " "),
            clean(each.game, 40),
            each.state,
            "-" if each.kind in messages.WITHOUT_ROUNDS else f"{each.round}/{each.rounds}",
            str(each.players),
        )
        for each in told.tournaments
    ]
    if rows:
        _table(console, ("code", "name", "kind", "game", "state", "round>", "players>"), rows)
    else:
        _say(console, "no tournaments")


def _print_tournament(console: Console, told: messages.TournamentReply, options: Options, inquiry: Inquiry) -> None:
    number = "" if told.kind in messages.WITHOUT_ROUNDS else f", round {told.round} of {told.rounds}"
    kind, state = told.kind.replace("_", " "), f"{told.state}{number}"
    _say(console, f"{clean(told.name, 40)}: {kind}, {clean(told.game, 40)}; {state}", "bold")
    if told.boards:
        boards = [
            (
                str(each.board),
                clean(each.first, 20),
                clean(each.second or "", 20),
                "bye" if each.second is None else f"{each.result or 'plays'}{' by forfeit' if each.forfeit else ''}",
                clean(each.match or "", 32),
            )
            for each in told.boards
        ]
        _table(console, ("board>", "first", "second", "result", "match"), boards)
        _say(console, "")
    rows = [
        (
            str(each.place),
            clean(each.player, 20),
            f"{each.score / 2:g}",
            *map("{:g}".format, each.breaks),
            "left" * each.gone,
        )
        for each in told.standings
    ]
    breaks = (f"{clean(each, 20).replace('_', ' ')}>" for each in told.tie_breaks)
    _table(console, ("place>", "player", "points>", *breaks, ""), rows)
    waiting = [f"{clean(each.first, 20)} and {clean(each.second or '', 20)}" for each in told.boards if not each.result]
    if told.waiting:
        _say(console, f"next: {', '.join(clean(each, 20) for each in told.waiting)}")
    if waiting and told.open_boards:
        _say(console, f"not finished: {', '.join(waiting)}")
    if told.page < told.pages:
        _say_next(console, options, inquiry)


def _say_next(console: Console, options: Options, inquiry: Inquiry) -> None:
    about = f" {inquiry.about}" if inquiry.about else ""
    speed = f" --speed {inquiry.speed}" if inquiry.speed != "untimed" else ""
    people = "" if inquiry.has_bots else " --people"
    _say(console, f"more: {options.command} --{inquiry.kind}{about}{speed}{people} --page {inquiry.page + 1}", "dim")


def _table(console: Console, columns: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> None:
    """Print rows in columns; columns whose name ends in > hold numbers. Cells that do not fit are cut, not wrapped."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for column in columns:
        justify = _RIGHT if column.endswith(">") else _LEFT
        table.add_column(column.removesuffix(">"), justify=justify, no_wrap=True, overflow="ellipsis")  # type: ignore[arg-type]
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    console.print(table)


def _say(console: Console, sentence: str, style: str = "") -> None:
    console.print(Text(sentence, style=style), no_wrap=True, overflow="ellipsis", crop=True)


def _name(player: messages.PlayerInfo) -> str:
    name = clean(player.name, 20) or "?"
    return name if player.bot is None else f"{name} (bot)"


def _figures(rating: int, deviation: int, games: int, provisional: bool) -> tuple[str, str, str]:
    return f"{rating}{'?' if provisional else ''}", f"±{deviation}", str(games)


def _result(match: messages.FinishedMatch) -> str:
    if match.reason == "abort":
        return "-"
    return {0: "1-0", 1: "0-1", None: "½-½"}.get(match.winner, "?")


ANSWER_S = 10.0
"""How long to wait for an answer, or for the next one if there are several."""
_MOST_PAGES = 100
"""The pages of mistakes that are asked for; a server has ten at most."""
_TRIES = 5
"""How often a question is repeated that came too soon."""
_ONCE = ReconnectLimits(0, 0)
_OF_ONESELF = ("rename", "my_data", "forget")


class OwnMatch(msgspec.Struct, frozen=True):
    """A finished match of a player, with its moves in a text that `replay` and `analyse` read."""

    match: messages.FinishedMatch
    record: str | None
    """None if the server has deleted the match meanwhile."""


class OwnData(msgspec.Struct, frozen=True):
    """All that a server gives a player of themselves."""

    server: str
    at: str
    """When it was asked for (UTC)."""
    profile: messages.ProfileReply
    blocks: messages.BlockList
    mistakes: list[messages.OwnMistake]
    """Those to learn from, and learned ones."""
    matches: list[OwnMatch]
    """The newest first, private ones included."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The lines to print, or the error."""

    lines: list[str] = field(default_factory=list)
    farewell: Farewell | None = None


def inquire(options: Options, inquiry: Inquiry) -> Answer:
    """Ask the server, and return the answer. Raises `ConfigurationError` if the options are wrong."""
    mine = _identity(options, inquiry)
    try:
        return asyncio.run(_inquire(options, inquiry, mine))
    finally:
        if mine is not None:
            mine.release()


def _identity(options: Options, inquiry: Inquiry) -> identity.Identity | None:
    """Return our identity on the server, if we have one that is not in use by a running client."""
    name = options.name or identity.remembered_name()
    mine = None
    if name is not None and identity.is_known(options.server, name):
        mine = identity.take(options.server, name)
        if mine is None and inquiry.kind in _OF_ONESELF:
            raise ConfigurationError(f"{name} is playing on this machine; end that client first")
    if inquiry.kind in _OF_ONESELF:
        if mine is None:
            who = f"{name!r} is nobody" if name else "you are nobody"
            raise ConfigurationError(f"{who} on {options.server} yet; say who with --name, and where with the address")
        _confirm(options, inquiry, mine)
    elif name is None and inquiry.kind not in ("leaderboard", "tournament") and not inquiry.about:
        raise ConfigurationError(f"--{inquiry.kind}: whose? Nobody has played from here yet; add a name")
    return mine


def _confirm(options: Options, inquiry: Inquiry, mine: identity.Identity) -> None:
    """Check a new name, and ask for confirmation before a deletion."""
    if inquiry.kind == "rename":
        try:
            checked_name(inquiry.about)
        except Refusal as refusal:
            raise ConfigurationError(f"--rename: {refusal}") from None
    elif inquiry.kind == "my_data":
        return
    elif sys.stdin.isatty() and sys.stdout.isatty():
        print(f"Your name, token and ratings on {options.server} will be deleted, for good.")
        if name_key(input("Type your name to go on: ").strip()) != name_key(mine.name):
            mine.release()
            raise ConfigurationError("that is not your name; nothing was changed")
    elif options.name is None:
        mine.release()
        raise ConfigurationError(f"to be forgotten, name yourself: --forget --name {mine.name}")


async def _inquire(options: Options, inquiry: Inquiry, mine: identity.Identity | None) -> Answer:
    token = mine.token() if mine is not None else None
    try:
        async with (
            asyncio.timeout(ANSWER_S) as limit,
            connect(options.url, token=token, trust=options.trust, limits=_ONCE, is_visiting=True) as client,
        ):
            try:
                return await _answer(client, options, inquiry, mine, limit)
            finally:
                if mine is None:  # a guest's identity is not kept
                    with suppress(Refusal, DisconnectedError):
                        await client.ask(messages.ForgetRequest(0, client.welcome.you.name))
    except Refusal as refusal:
        return Answer(farewell=Farewell(Parting.REJECTED, str(refusal), refusal.code))
    except TimeoutError:
        return Answer(farewell=Farewell(Parting.UNREACHABLE, "it does not answer"))
    except DisconnectedError as error:
        return Answer(farewell=_explained(error.farewell, options))


def _explained(farewell: Farewell, options: Options) -> Farewell:
    if farewell.code == Code.NO_GUESTS:
        sentence = f"{options.server} answers only players: play there once, then ask with the same --name"
        return Farewell(farewell.why, sentence, farewell.code)
    return farewell


async def _answer(
    client: Client, options: Options, inquiry: Inquiry, mine: identity.Identity | None, limit: asyncio.Timeout
) -> Answer:
    whose = inquiry.about or (None if mine is not None else options.name or identity.remembered_name())
    match inquiry.kind:
        case "profile":
            profile = await client.ask_for(messages.ProfileRequest(0, whose), messages.ProfileReply)
            if mine is None:  # a guest has no past opponents
                profile = replace(profile, against=None)
            return Answer(lines_of(profile, options, inquiry))
        case "history":
            page = await _history(client, whose, inquiry.page)
            return Answer(lines_of(page, options, inquiry))
        case "leaderboard":
            asked = messages.LeaderboardRequest(0, inquiry.about, inquiry.speed, inquiry.has_bots, inquiry.page)
            return Answer(lines_of(await client.ask_for(asked, messages.LeaderboardReply), options, inquiry))
        case "tournament" if not inquiry.about:
            return Answer(
                lines_of(
                    await client.ask_for(messages.TournamentsRequest(0), messages.TournamentList), options, inquiry
                )
            )
        case "tournament":
            attended = messages.AttendRequest(0, inquiry.about[:16], page=inquiry.page)
            return Answer(lines_of(await client.ask_for(attended, messages.TournamentReply), options, inquiry))
        case "rename":
            assert mine is not None
            renamed = await client.ask_for(messages.RenameRequest(0, inquiry.about), messages.Renamed)
            return Answer([_move_token(options, mine, renamed.you.name)])
        case "my_data":
            return Answer([await _own_data(client, options, limit)])
        case "forget":
            assert mine is not None
            await client.ask(messages.ForgetRequest(0, client.welcome.you.name))
            mine.drop_token()
            return Answer([f'You are forgotten on {options.server}; your matches are kept there under "deleted".'])


async def _own_data(client: Client, options: Options, limit: asyncio.Timeout) -> str:
    """Ask for everything about ourselves, page by page and match by match, and return it as JSON."""
    ask = _Patient(client, limit).ask_for
    profile, blocks = (
        await ask(messages.ProfileRequest(0), messages.ProfileReply),
        await ask(messages.BlocksRequest(0), messages.BlockList),
    )
    mistakes: list[messages.OwnMistake] = []
    for number in range(1, _MOST_PAGES if "mistakes" in client.welcome.features else 1):
        found = await ask(messages.MistakesRequest(0, all=True, page=number), messages.MistakeList)
        mistakes += found.mistakes
        if not found.mistakes or len(mistakes) >= found.count:
            break
    matches: list[OwnMatch] = []
    page = await ask(messages.HistoryRequest(0), messages.HistoryReply)
    while True:
        for match in page.matches:
            try:
                record = (await ask(messages.RecordRequest(0, match.match), messages.RecordReply)).text
            except Refusal:
                record = None
            matches.append(OwnMatch(match, record))
        if page.before is None:
            break
        if sys.stderr.isatty():
            print(f"{len(matches)} matches, more are coming ...", file=sys.stderr)
        page = await ask(messages.HistoryRequest(0, before=page.before), messages.HistoryReply)
    at = datetime.now(UTC).isoformat(timespec="seconds")
    text = msgspec.json.encode(OwnData(options.server, at, profile, blocks, mistakes, matches))
    return (text if options.is_json else msgspec.json.format(text)).decode()


@dataclass(frozen=True, slots=True)
class _Patient:
    """Asks many questions: each has its own time limit, and waits as long as the server asks if there are too many."""

    client: Client
    limit: asyncio.Timeout

    async def ask_for(self, request: messages.Request, kind: type[Reply]) -> Reply:
        for _ in range(_TRIES):
            self.limit.reschedule(asyncio.get_running_loop().time() + ANSWER_S)
            try:
                return await self.client.ask_for(request, kind)
            except Refusal as refusal:
                if refusal.code != Code.TOO_FAST:
                    raise
                await asyncio.sleep(min(refusal.retry_after_ms or 1_000, 5_000) / 1000)
        return await self.client.ask_for(request, kind)


async def _history(client: Client, whose: str | None, page: int) -> messages.HistoryReply:
    """Return a page of a history by requesting all pages before it; an empty page beyond the last."""
    before = None
    for _ in range(page - 1):
        told = await client.ask_for(messages.HistoryRequest(0, whose, None, before), messages.HistoryReply)
        before = told.before
        if before is None:
            return messages.HistoryReply(told.player, [], None)
    return await client.ask_for(messages.HistoryRequest(0, whose, None, before), messages.HistoryReply)


def _move_token(options: Options, mine: identity.Identity, name: str) -> str:
    """Keep the token under the new name, which is the remembered one if the old one was."""
    token = mine.token()
    renamed = identity.take(options.server, name)
    if renamed is None or token is None:
        return f"You are {name} now; a client of that name is running, so come back with --name {mine.name}."
    renamed.keep_token(token)
    if name_key(name) != name_key(mine.name):
        mine.drop_token()
    if identity.remembered_name() == mine.name:
        identity.remember_name(name)
    renamed.release()
    return f"You are {name} now."
