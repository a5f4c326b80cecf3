"""Start a client, find out who it is, and say in one sentence how it ended.

Exit codes: 0 fine, 1 a fault of ours, 2 started wrongly, 3 the network, 4 refused by the server.
"""

import asyncio
import errno
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from ttt_net.client.command_line.inquiry import Inquiry
from ttt_net.client.command_line.local import against_computer
from ttt_net.client.command_line.options import DEFAULT_GAME, Options, parse
from ttt_net.client.drawing.glyphs import encodable
from ttt_net.client.finding.servers import servers_used
from ttt_net.client.signals import raised
from ttt_net.client.user_io import complain, glyphs_of, is_on_screen, may_ask, tell
from ttt_net.errors import Code, ConfigurationError
from ttt_net.private_files import write_private
from ttt_net.programs import SERVE
from ttt_net.sdk import identity
from ttt_net.sdk.events import Farewell, Parting
from ttt_net.sdk.trust import trust_of

if TYPE_CHECKING:  # the list of servers does not wait for what is needed once one is chosen
    from ttt_net.client.finding.server_list import Place
    from ttt_net.client.sessions import Ending, Session

OK, FAULT, USAGE, NETWORK, REFUSED = range(5)
_BACK = -1
"""No exit code: the person goes back to where a server is chosen."""
CRASH_FILE = "crash.txt"
_RENAME = (Code.NAME_TAKEN, Code.BAD_NAME)


class Served(NamedTuple):
    """A server of our own: its address, and where its journal is, if that outlives it."""

    url: str
    journal: str | None = None


Serve = Callable[[Options], AbstractContextManager[Served]]
"""Runs a server of our own for as long as the context lasts."""


def main(argv: Sequence[str] | None, serve: Serve) -> int:
    """Run a client; return its exit code. No traceback ever reaches the user."""
    try:
        options = parse(argv)
        if options.inquiry is not None:
            return _inquire(options, options.inquiry)
        if options.bot is not None:
            _check_bot(options.bot, options.level)
        while (code := _play(options, serve)) == _BACK:
            pass
        return code
    except ConfigurationError as error:
        complain(str(error))
        return USAGE
    except (KeyboardInterrupt, EOFError):
        return OK
    except Exception as error:  # noqa: BLE001 - the last door: what is wrong with us is written down, not thrown at people
        if _is_left_by_reader(error):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return OK
        complain(f"a fault in the client; your match is safe on the server{_written_down(traceback.format_exc())}")
        return FAULT


def _is_left_by_reader(error: BaseException) -> bool:
    """Tell whether the reader of our lines has enough of them, or has closed the terminal."""
    if isinstance(error, BaseExceptionGroup):
        return all(map(_is_left_by_reader, error.exceptions))
    is_hung_up = isinstance(error, OSError) and error.errno == errno.EIO and error.filename is None
    return is_hung_up or isinstance(error, BrokenPipeError)


def _play(options: Options, serve: Serve) -> int:
    """Go where the options or the person say, and play there."""
    if not (options.is_address_given or options.local or options.is_hosting):
        place = _place_for(options)
        if place is None:
            return OK
        options = _going_to(place, options)
    if options.local is not None:
        return _play_locally(options, serve)
    if options.is_hosting:
        with serve(options) as served:
            return _run(replace(options, url=served.url, journal=served.journal, is_address_given=True))
    return _run(options)


def _check_bot(name: str, level: int | None) -> None:
    from ttt_net.client.bot.engine_worker import playable_games  # only here: people do not wait for strategies

    playable_games(name, level)  # an unknown one is refused before a word of where it would go


def _written_down(text: str) -> str:
    try:
        path = identity.home() / CRASH_FILE
        write_private(path, text)
    except OSError:
        return ""
    return f"; please send us {path}"


def _inquire(options: Options, inquiry: Inquiry) -> int:
    from ttt_net.client.inquiry.inquire import inquire  # only here: who plays does not wait for tables

    if not options.is_address_given:
        used = servers_used()
        options = replace(options, url=used[0].url if used else options.url, is_address_given=True)
    options = _with_pin(options)
    answer = inquire(options, inquiry)
    pinned = _with_new_pin(options, answer.farewell)
    if pinned is not None:
        options, answer = pinned, inquire(pinned, inquiry)
    for line in answer.lines:
        print(encodable(line, sys.stdout.encoding))
    return _parted(options, answer.farewell)


def _play_locally(options: Options, serve: Serve) -> int:
    with raised(), ExitStack() as server, ExitStack() as terminal:
        screen = None
        if is_on_screen(options):
            from ttt_net.client.terminal.screen import TerminalScreen

            screen = terminal.enter_context(TerminalScreen(glyphs_of(options), is_quiet=options.is_quiet).opened())
            screen.greet("Setting up the board ...")
        from ttt_net.client.local.session import (  # after the first picture, as is the server
            check_strategies,
            local_session,
        )

        check_strategies(options)
        ending = local_session(replace(options, url=server.enter_context(serve(options)).url), screen)
    return _report(options, ending)


def _run(options: Options) -> int:
    from ttt_net.client.naming import another_name, first_name, identity_for

    session, options = _session_for(options), _with_pin(options)
    name = first_name(options)
    taken: set[str] = set()
    while True:
        mine = identity_for(options, name, frozenset(taken))
        try:
            ending = session(options, mine)
        finally:
            mine.release()
        farewell = ending.farewell
        if farewell is None or farewell.code not in _RENAME:
            pinned = _with_new_pin(options, farewell)
            if pinned is not None:
                options = pinned
                continue
            return _report(options, ending)
        taken.add(mine.name)
        if may_ask(options):
            print(f"{farewell.sentence[:1].upper()}{farewell.sentence[1:]}.")
            name = another_name(name, taken)
            taken.discard(name)
        elif farewell.code == Code.BAD_NAME:
            return _report(options, ending)
        elif not options.is_json:
            complain(f"on {options.server}, {mine.name} is the name of somebody else; trying another")


def _with_new_pin(options: Options, farewell: Farewell | None) -> Options | None:
    if farewell is None or farewell.why is not Parting.DISTRUSTED or not may_ask(options):
        return None
    from ttt_net.client.certificate_question import with_new_pin  # hardly anybody needs it
    from ttt_net.client.lines.standard_input import ask_anew

    return with_new_pin(options, farewell.sentence.partition(";")[0], ask_anew, tell)


def _with_pin(options: Options) -> Options:
    if not options.url.startswith("wss:"):
        return options
    from ttt_net.client.certificate_question import with_pin

    return with_pin(options)


def _going_to(place: "Place", options: Options) -> Options:
    from ttt_net.client.finding.server_list import Alone, Go, Host

    match place:
        case Go(url, code):
            trust = trust_of(url, options.trust.fingerprint, is_insecure=options.trust.is_insecure)
            options = replace(options, url=url, trust=trust, is_address_given=True, join=code or options.join)
            return replace(options, has_server_picker=is_on_screen(options))
        case Alone(level):
            local = against_computer(options.game or DEFAULT_GAME)
            return replace(options, local=local, level=level, has_server_picker=is_on_screen(options))
        case Host():
            return replace(options, is_hosting=True)


def _place_for(options: Options) -> "Place | None":
    """Return where to go, or None if the person leaves; nobody who cannot be asked is kept waiting."""
    if options.bot is None and is_on_screen(options):
        from ttt_net.client.finding.choose_server import choose_on_screen
        from ttt_net.client.terminal.screen import TerminalScreen

        return asyncio.run(choose_on_screen(TerminalScreen(glyphs_of(options))))
    from ttt_net.client.finding.choose_server import choose_by_lines
    from ttt_net.client.finding.server_list import Go

    if may_ask(options):
        from ttt_net.client.sessions import writer_of

        return choose_by_lines(input, writer_of(options))
    complain(f"no address was given; joining {options.server}")
    return Go(options.url)


def _session_for(options: Options) -> "Session":
    from ttt_net.client.sessions import bot_session, plain_session, screen_session

    if options.bot is not None:
        return bot_session
    return screen_session if is_on_screen(options) else plain_session


def _report(options: Options, ending: "Ending") -> int:
    """Say how it ended, people's words to where people look, and return the exit code."""
    if ending.is_going_back:
        return _BACK
    if options.is_json:
        from ttt_net.client.sessions import summarise

        summarise(ending.tally)
    if ending.sentence and not options.is_json:
        print(ending.sentence)
    return _parted(options, ending.farewell)


def _parted(options: Options, farewell: Farewell | None) -> int:
    """Complain of what kept us from what we came for, if anything did, and return the exit code."""
    if farewell is None or farewell.why is Parting.DONE:
        return OK
    if farewell.why is Parting.UNREACHABLE:
        complain(
            f"cannot reach {options.url}: {farewell.sentence}. Check the address and the firewall, "
            f"or start a server with: {SERVE}"
        )
        return NETWORK
    if farewell.why is Parting.DISTRUSTED:
        complain(f"{options.url}: {farewell.sentence}")
        return NETWORK
    complain(farewell.sentence)
    return REFUSED
