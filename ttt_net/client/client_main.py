"""Start a client in the chosen mode, identify its player, and say in one sentence how it ended.

Exit codes: 0 success, 1 internal error, 2 wrong options, 3 network failure, 4 rejected by the server.

Only the modules of the chosen mode are loaded, so that the start does not wait for other modes or strategies. The full
screen shows a first sentence before anything else is loaded.
"""

import errno
import os
import random
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, assert_never

from ttt_net.client.address import Alone, Go, Host, LookOn, Place, Served, Together, servers_used
from ttt_net.client.options import EngineOptions, Inquiry, Options, against_computer, looking_on, parse, two_here
from ttt_net.client.user_io import (
    FAULT,
    OK,
    USAGE,
    Ending,
    another_name,
    ask_anew,
    complain,
    complain_of,
    first_name,
    guest_identity,
    identity_for,
    is_on_screen,
    may_ask,
    report,
    signals_raised,
    tell,
    write_text,
    writer_of,
)
from ttt_net.errors import Code, ConfigurationError
from ttt_net.messages import AnyServerMessage, Request, Snapshot
from ttt_net.private_files import write_private
from ttt_net.sdk import identity
from ttt_net.sdk.identity import Identity
from ttt_net.sdk.received import Farewell, Parting
from ttt_net.sdk.trust import pinned_fingerprint, trust_of


class _Later:
    """A module that is imported when one of its names is first used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> object:
        """Return the module's attribute."""
        found: object = getattr(import_module(self._name), name)
        return found


if TYPE_CHECKING:
    from ttt_net.client import inquire, online_play, remembered, saved_matches, server_link
    from ttt_net.client.bot import seats
    from ttt_net.client.lines import line_client
    from ttt_net.client.local import local_connection, local_matches, seated_strategies
    from ttt_net.client.terminal import canvas, keyboard, loop
else:
    seats, inquire = _Later("ttt_net.client.bot.seats"), _Later("ttt_net.client.inquire")
    online_play = _Later("ttt_net.client.online_play")
    remembered, saved_matches = _Later("ttt_net.client.remembered"), _Later("ttt_net.client.saved_matches")
    server_link = _Later("ttt_net.client.server_link")
    line_client = _Later("ttt_net.client.lines.line_client")
    local_connection = _Later("ttt_net.client.local.local_connection")
    local_matches = _Later("ttt_net.client.local.local_matches")
    seated_strategies = _Later("ttt_net.client.local.seated_strategies")
    canvas, loop = _Later("ttt_net.client.terminal.canvas"), _Later("ttt_net.client.terminal.loop")
    keyboard = _Later("ttt_net.client.terminal.keyboard")

Serve = Callable[[Options], AbstractContextManager[Served]]
"""Runs our own server inside the context, open to everybody."""
CRASH_FILE = "crash.txt"
_RENAME = (Code.NAME_TAKEN, Code.BAD_NAME)


def main(argv: Sequence[str] | None, serve: Serve) -> int:
    """Run a client; return its exit code. The user never sees a traceback."""
    try:
        options = parse(argv)
        if options.inquiry is not None:
            return _inquire(options, options.inquiry)
        if options.engines is not None:
            return _seat(options, options.engines)
        if options.bot is not None:
            seats.check(options.bot, options.level)  # before saying where it would connect
        before: Place | None = None
        while not isinstance(left := _play(options, serve, before), int):
            before = left
        return left
    except ConfigurationError as error:
        complain(str(error))
        return USAGE
    except (KeyboardInterrupt, EOFError):
        return OK
    except Exception as error:  # noqa: BLE001 - an internal error goes to the log, not to the user
        if _is_left_by_reader(error):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return OK
        complain(f"a fault in the client; a match on a server is safe there{_written_down(traceback.format_exc())}")
        return FAULT


def _is_left_by_reader(error: BaseException) -> bool:
    """Tell whether the reader of our output has closed the pipe or the terminal."""
    if isinstance(error, BaseExceptionGroup):
        return all(map(_is_left_by_reader, error.exceptions))
    is_hung_up = isinstance(error, OSError) and error.errno == errno.EIO and error.filename is None
    return is_hung_up or isinstance(error, BrokenPipeError)


def _play(options: Options, serve: Serve, before: Place | None) -> int | Place | None:
    """Play at the place that the options or the person choose; return it if the person returns to the start menu.

    The menu opens at the row of the place `before`.
    """
    if options.is_address_given or options.local or options.is_hosting:
        return _play_there(options, serve)
    place = _place_for(options, before)
    if place is None:
        return OK
    code = _play_there(_going_to(place, options), serve)
    return place if code is None else code


def _play_there(options: Options, serve: Serve) -> int | None:
    """Play at a known place; return None if the person returns to the start menu."""
    if options.local is not None:
        return _reported(options, _play_locally(options))
    if options.is_hosting:
        with serve(options) as served:
            return _run(replace(options, url=served.url, served=served, is_address_given=True))
    return _run(options)


def _reported(options: Options, ending: Ending) -> int | None:
    """Print how the session ended, and return the exit code; None if the person returns to the list of servers.

    If our own server keeps running for its guests, wait until it ends or until Ctrl-C.
    """
    if ending.is_going_back:
        return None
    code = report(options, ending)
    if ending.is_serving_on and options.served is not None:
        tell("Your server keeps running; Ctrl-C ends it.")
        with signals_raised():
            options.served.wait()
    return code


def _seat(options: Options, engines: EngineOptions) -> int:
    if not options.is_address_given:
        complain(f"no address was given; joining {options.server}")
    return report(options, seats.play_engines(_with_pin(options), engines))


def _written_down(text: str) -> str:
    try:
        path = identity.home() / CRASH_FILE
        write_private(path, text)
    except OSError:
        return ""
    return f"; please send us {path}"


def _inquire(options: Options, inquiry: Inquiry) -> int:
    if options.local is not None:
        for line in saved_matches.lines_of(inquiry.about, inquiry.page, is_json=options.is_json):
            write_text(line)
        return OK
    if not options.is_address_given:
        used = servers_used()
        options = replace(options, url=used[0].url if used else options.url, is_address_given=True)
    options = _with_pin(options)
    answer = inquire.inquire(options, inquiry)
    pinned = _with_new_pin(options, answer.farewell)
    if pinned is not None:
        options, answer = pinned, inquire.inquire(pinned, inquiry)
    for line in answer.lines:
        write_text(line)
    return complain_of(options, answer.farewell)


def _run(options: Options) -> int | None:
    """Play on a server under a name that is free there, or as a guest."""
    play, options = _mode_of(options), _with_pin(options)
    name = "" if options.is_guest else first_name(options)
    taken: set[str] = set()
    while True:
        mine = guest_identity(options) if options.is_guest else identity_for(options, name, frozenset(taken))
        try:
            ending = play(options, mine)
        finally:
            mine.release()
        if ending.guest_of:
            options = replace(options, is_guest=True, join=ending.guest_of)
            continue
        farewell = ending.farewell
        if farewell is None or farewell.code not in _RENAME:
            pinned = _with_new_pin(options, farewell)
            if pinned is None:
                return _reported(options, ending)
            options = pinned
            continue
        taken.add(mine.name)
        if may_ask(options):
            print(f"{farewell.sentence[:1].upper()}{farewell.sentence[1:]}.")
            name = another_name(name, taken)
            taken.discard(name)
        elif farewell.code == Code.BAD_NAME:
            return _reported(options, ending)
        elif not options.is_json:
            complain(f"on {options.server}, the name {mine.name} belongs to somebody else; trying another")


def _mode_of(options: Options) -> Callable[[Options, Identity], Ending]:
    if options.bot is not None:
        return seats.play
    return _play_on_screen if is_on_screen(options) else _play_in_lines


def _play_on_screen(options: Options, mine: Identity) -> Ending:
    with _greeted(f"Connecting to {options.server} ...") as drawn:

        def load() -> "server_link.Play":
            return partial(online_play.play, options, mine, _shown(options, drawn), is_on_screen=True)

        return server_link.joined(options, mine, load, later_ms=None)


def _play_in_lines(options: Options, mine: Identity) -> Ending:
    def load() -> "server_link.Play":
        return partial(online_play.play, options, mine, partial(line_client.tell, options), is_on_screen=False)

    return server_link.joined(options, mine, load, later_ms=server_link.LATER_MS)


def _shown(options: Options, drawn: "canvas.Canvas") -> "local_connection.Show":
    return partial(loop.show, options, drawn, _load_keyboard)


def _load_keyboard() -> "loop.Reading":
    return keyboard.reading


def _play_locally(options: Options) -> Ending:
    """Play at this keyboard; start the strategies first, if any."""
    if not is_on_screen(options):
        others = _seated(options)
        return local_connection.play(options, others, partial(line_client.tell, options), is_on_screen=False)
    with _greeted("Setting up the board ...") as drawn:
        others = _seated(options)
        return local_connection.play(options, others, _shown(options, drawn), is_on_screen=True)


def _seated(options: Options) -> "local_connection.Others | None":
    """Return the strategies that play at this keyboard; None if only people play."""
    if options.local is None or options.local.is_for_people_alone:
        return None
    return seated_strategies.seated(options)


@contextmanager
def _greeted(sentence: str, row: int | None = None) -> "Iterator[canvas.Canvas]":
    """Take over the terminal inside the block, and show a sentence while the rest is loaded."""
    with signals_raised(), canvas.Canvas().opened() as opened:
        opened.greet(sentence, row=row)
        yield opened


def _with_pin(options: Options) -> Options:
    """Return the options with the pinned certificate of an encrypted server, unless they name another."""
    if not options.url.startswith("wss:") or options.trust.fingerprint is not None:
        return options
    pinned = pinned_fingerprint(options.server)
    return replace(options, trust=replace(options.trust, fingerprint=pinned))


def _with_new_pin(options: Options, farewell: Farewell | None) -> Options | None:
    if farewell is None or farewell.why is not Parting.DISTRUSTED or not may_ask(options):
        return None
    return server_link.with_new_pin(options, farewell.sentence.partition(";")[0], ask_anew, tell)


def _place_for(options: Options, before: Place | None) -> Place | None:
    """Return where to play, or None if the person leaves. Ask only at a terminal; begin at the place `before`."""
    if options.bot is None and is_on_screen(options):
        with _greeted("Looking for servers on this network ...", row=1) as drawn:
            menu = loop.StartMenu(options, drawn, before)
            return menu.take(partial(loop.play_on_screen, _load_keyboard), _answer, _demonstrate)
    if may_ask(options):
        return _chosen_by_lines(options)
    complain(f"no address was given; joining {options.server}")
    return Go(options.url)


def _chosen_by_lines(options: Options) -> Place | None:
    choices = remembered.choices_for(options.game)
    solved = remembered.load_achievements()
    menu = line_client.LineMenu(input, writer_of(options), _answer, line_client.renderer_of(options), solved)
    place, chosen = menu.choose(choices)
    if menu.achieved != solved:
        remembered.save_achievements(menu.achieved)
    if chosen != choices:
        remembered.save_choices(chosen)
    return place


def _answer(request: Request) -> Sequence[AnyServerMessage]:
    """Answer a request of the start menu that needs no server."""
    return local_matches.answer_without_match(request, time.time_ns() // 1_000_000)


def _demonstrate(game: str) -> "Iterator[Snapshot]":
    """Play a match of a game beside the start menu."""
    return local_matches.demonstration(game, random.Random())


def _going_to(place: Place, options: Options) -> Options:
    match place:
        case Go(url, code):
            trust = trust_of(url, options.trust.fingerprint, is_insecure=options.trust.is_insecure)
            options = replace(options, url=url, trust=trust, is_address_given=True, join=code or options.join)
        case Alone():
            options = against_computer(options, place, random.Random())
        case Together():
            options = two_here(options, place)
        case LookOn():
            options = looking_on(options, place)
        case Host():
            return replace(options, is_hosting=True)
        case _:
            assert_never(place)
    return replace(options, has_server_picker=is_on_screen(options))
