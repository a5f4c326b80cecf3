"""The ways to run a client, put together: on a screen, line by line, or as a bot.

What a first picture does not need is imported after it, so that a person never looks at nothing.
"""

import asyncio
import shlex
import shutil
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ttt_net.client import json_lines
from ttt_net.client.command_line.options import DEFAULT_GAME, Options
from ttt_net.client.display import Display
from ttt_net.client.drawing.glyphs import encodable
from ttt_net.client.events import MAX_QUEUED_EVENTS, Event
from ttt_net.client.signals import delivered
from ttt_net.client.user_io import glyphs_of
from ttt_net.errors import Refusal
from ttt_net.messages import InviteRequest, JoinRequest, Opponents, SeekRequest, Welcome
from ttt_net.sdk.events import Farewell
from ttt_net.sdk.identity import Identity, remembered_name
from ttt_net.sdk.matches import Tally

if TYPE_CHECKING:
    from ttt_net.client.lines.line_renderer import LineRenderer
    from ttt_net.sdk.connection import ClientConnection

_FIRST_MS = 5_000
_LATER_MS = 600_000
"""How long a server may be away: before it was ever there, and afterwards where nobody can look on and decide."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How a session ended: the server's farewell if there was one, the last sentence, what was won and lost."""

    farewell: Farewell | None
    sentence: str = ""
    tally: Tally = field(default_factory=Tally)
    is_going_back: bool = False
    """Whether the person wants to go somewhere else."""


Session = Callable[[Options, Identity], Ending]


def screen_session(options: Options, mine: Identity) -> Ending:
    """Let a person play on the full screen."""
    return asyncio.run(_play_on_screen(options, mine))


def plain_session(options: Options, mine: Identity) -> Ending:
    """Let a person or a program play line by line."""
    return asyncio.run(_play_plainly(options, mine))


def bot_session(options: Options, mine: Identity) -> Ending:
    """Let a strategy play."""
    return asyncio.run(_play_as_bot(options, mine))


async def _play_on_screen(options: Options, mine: Identity) -> Ending:
    from ttt_net.client.terminal.screen import TerminalScreen

    mailbox: asyncio.Queue[Event] = asyncio.Queue(MAX_QUEUED_EVENTS)
    with delivered(mailbox):
        screen = TerminalScreen(glyphs_of(options), is_quiet=options.is_quiet)
        with screen.opened():
            screen.greet(f"Connecting to {options.server} ...")
            from ttt_net.client.client_controller import ClientController
            from ttt_net.client.rules_seen import is_first_match_of
            from ttt_net.client.terminal.loop import play_on_screen

            connection = _connection(options, mine, mailbox, first_ms=_FIRST_MS, later_ms=None)
            seek, address, opening = _seek(options), _address(options), _opening(options)
            controller = ClientController(
                connection,
                seek,
                address,
                opening,
                has_lobby=True,
                is_hosting=options.is_hosting,
                is_first_match_of=is_first_match_of,
            )
            controller.display = replace(controller.display, has_server_picker=options.has_server_picker)
            await play_on_screen(controller, screen, mailbox)
    return _ending(controller.display, options)


async def _play_plainly(options: Options, mine: Identity) -> Ending:
    from ttt_net.client.client_controller import ClientController
    from ttt_net.client.lines.line_client import LineClient
    from ttt_net.client.lines.standard_input import reading_lines
    from ttt_net.client.rules_seen import is_first_match_of

    mailbox: asyncio.Queue[Event] = asyncio.Queue(MAX_QUEUED_EVENTS)
    with delivered(mailbox):
        connection = _connection(options, mine, mailbox, first_ms=_FIRST_MS, later_ms=_LATER_MS)
        seek, address, opening = _seek(options), _address(options), _opening(options)
        is_typed, write = sys.stdin.isatty(), writer_of(options)
        is_first = is_first_match_of if is_typed and sys.stdout.isatty() and not options.is_json else None
        controller = ClientController(
            connection, seek, address, opening, has_lobby=True, is_in_lines=True, is_first_match_of=is_first
        )
        with reading_lines(mailbox) as is_ahead:
            await LineClient(controller, line_renderer_of(options), write, is_typed=is_typed, is_ahead=is_ahead).play(
                mailbox
            )
    return _ending(controller.display, options)


async def _play_as_bot(options: Options, mine: Identity) -> Ending:
    from ttt_net.client.bot.bot_log import score
    from ttt_net.client.bot.engine_process import EngineProcess
    from ttt_net.client.bot.engine_worker import playable_games, require
    from ttt_net.client.bot.plan import BotPlan
    from ttt_net.client.bot.player import Bot

    assert options.bot is not None
    if options.game is not None:
        with suppress(Refusal):  # a game that only the server knows is refused there
            require(options.bot, options.level, options.game)
    is_endless = options.games is None
    opponents: Opponents = options.opponents or ("people" if is_endless else "any")
    playable = playable_games(options.bot, options.level)
    games = [options.game] if options.game else playable
    write = writer_of(options)
    hint = "It plays people only; --opponents any lets it play bots, too."
    mailbox: asyncio.Queue[Event] = asyncio.Queue(MAX_QUEUED_EVENTS)
    with delivered(mailbox):
        patience_ms = None if is_endless else _LATER_MS
        first_ms = None if is_endless else _FIRST_MS
        connection = _connection(options, mine, mailbox, first_ms=first_ms, later_ms=patience_ms)
        plan = BotPlan(SeekRequest(0, games, options.time, opponents), options.games, options.move_ms, options.places)
        plan = replace(plan, pace_s=options.pace_ms / 1000)
        plan = replace(plan, hint=hint if is_endless and options.opponents is None else "")
        bot = Bot(connection, EngineProcess(options.bot, options.seed, options.level, games), plan, write)
        await bot.play(mailbox)
    tally = bot.world.tally
    sentence = f"Played {tally.games} game{'s' * (tally.games != 1)}: {score(tally)}."
    return Ending(bot.world.farewell, sentence, tally=tally)


def _connection(
    options: Options, mine: Identity, mailbox: asyncio.Queue[Event], *, first_ms: int | None, later_ms: int | None
) -> "ClientConnection":
    from ttt_net.sdk.connection import ClientConnection, ReconnectLimits
    from ttt_net.sdk.session import BotProfile, ClientSession

    bot = BotProfile(options.bot, options.level, options.places, options.reserve) if options.bot is not None else None
    talk = ClientSession(mine.name, mine.token(), bot)
    limits, tap = ReconnectLimits(first_ms, later_ms), tap_of(options)
    joined = (lambda welcome: _remember(options, welcome)) if options.bot is None else None
    deliver = json_lines.delivering(json_writer_of(options), mailbox.put)
    return ClientConnection(options.url, talk, deliver, limits, mine.keep_token, tap, options.trust, joined)


def _remember(options: Options, welcome: Welcome) -> None:
    """Put a server first that a person has joined, for who asks from elsewhere meanwhile, and the fingerprint given."""
    from ttt_net.client.finding.servers import remember_server

    remember_server(options.url, welcome.server)
    if options.trust.fingerprint is not None:
        from ttt_net.sdk.certificate_pinning import replace_pin

        replace_pin(options.server, options.trust.fingerprint)


def _seek(options: Options) -> SeekRequest:
    """Return what is sought at first: where nothing else was said, a person; bots are offered."""
    return SeekRequest(0, [options.game or DEFAULT_GAME], options.time, options.opponents or "people")


def _address(options: Options) -> str:
    """Return the address that is shown: of a server that we run ourselves, the one that friends can use."""
    from ttt_net.client.finding.discovery import shareable

    return shareable(options.server) if options.is_hosting else options.server


def _opening(options: Options) -> JoinRequest | InviteRequest | None:
    """Return what is asked for first, where it is not just anybody to play with."""
    if options.join is not None:
        return JoinRequest(0, options.join)
    return InviteRequest(0, options.game or DEFAULT_GAME, options.time) if options.is_inviting else None


def tap_of(options: Options) -> Callable[[str], None] | None:
    """Return what takes every frame that is heard, where they are to be written."""
    write = json_writer_of(options)
    return None if write is None else json_lines.tap(write)


def json_writer_of(options: Options) -> Callable[[str], None] | None:
    """Return what writes lines of JSON, where these were asked for."""
    return _print if options.is_json else None


def line_renderer_of(options: Options) -> "LineRenderer":
    """Return how matches are told line by line."""
    from ttt_net.client.lines.line_renderer import BoardRenderer
    from ttt_net.client.lines.screen_reader import ScreenReader

    return ScreenReader() if options.is_spoken else BoardRenderer(glyphs_of(options), columns_of_terminal)


def columns_of_terminal() -> int | None:
    """Return how wide the terminal is by now that lines are written to; None where they go elsewhere."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def writer_of(options: Options) -> Callable[[str], None]:
    """Return what writes sentences for people; among JSON lines there is no place for them."""
    return (lambda text: None) if options.is_json else _print_for_people


def _print_for_people(text: str) -> None:
    """Print sentences; where a terminal would break a line within a word, it ends before the word."""
    columns = columns_of_terminal()
    if columns is not None:
        from ttt_net.client.drawing.draw_list import wrapped  # a pipe needs no drawing

        text = "\n".join(part for line in text.split("\n") for part in wrapped(line, columns))
    _print(text)


def _print(text: str) -> None:
    print(encodable(text, sys.stdout.encoding), flush=True)


def summarise(tally: Tally) -> None:
    """Print the last line of JSON."""
    _print(json_lines.summary_line(tally))


def _ending(display: Display, options: Options) -> Ending:
    from ttt_net.client import words

    command = options.command
    if display.world.you is not None and display.world.you.name != remembered_name():
        command += f" --name {shlex.quote(words.name_of(display.world.you))}"
    return Ending(
        display.world.farewell, words.parting(display.world, command), display.world.tally, display.is_going_back
    )
