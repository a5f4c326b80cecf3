"""Start a client, find out who it is, and say in one sentence how it ended.

Exit codes: 0 fine, 1 a fault of ours, 2 started wrongly, 3 the network, 4 refused by the server.
"""

import errno
import os
import random
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import assert_never

from ttt_net.client import modes
from ttt_net.client.finding.address import Alone, Go, Host, LookOn, Place, Served, Together, servers_used
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
    identity_for,
    is_on_screen,
    may_ask,
    report,
    signals_raised,
    tell,
    write_text,
)
from ttt_net.errors import Code, ConfigurationError
from ttt_net.private_files import write_private
from ttt_net.sdk import identity
from ttt_net.sdk.identity import Identity
from ttt_net.sdk.received import Farewell, Parting
from ttt_net.sdk.trust import trust_of

Serve = Callable[[Options], AbstractContextManager[Served]]
"""Runs a server of our own, for everybody, for as long as the context lasts."""
CRASH_FILE = "crash.txt"
_RENAME = (Code.NAME_TAKEN, Code.BAD_NAME)


def main(argv: Sequence[str] | None, serve: Serve) -> int:
    """Run a client; return its exit code. No traceback ever reaches the user."""
    try:
        options = parse(argv)
        if options.inquiry is not None:
            return _inquire(options, options.inquiry)
        if options.engines is not None:
            return _seat(options, options.engines)
        if options.bot is not None:
            modes.check_strategy(options.bot, options.level)  # before a word of where it would go
        while (code := _play(options, serve)) is None:
            pass
        return code
    except ConfigurationError as error:
        complain(str(error))
        return USAGE
    except (KeyboardInterrupt, EOFError):
        return OK
    except Exception as error:  # noqa: BLE001 - a fault of ours is written down, not thrown at people
        if _is_left_by_reader(error):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return OK
        complain(f"a fault in the client; a match on a server is safe there{_written_down(traceback.format_exc())}")
        return FAULT


def _is_left_by_reader(error: BaseException) -> bool:
    """Tell whether the reader of our lines has enough of them, or has closed the terminal."""
    if isinstance(error, BaseExceptionGroup):
        return all(map(_is_left_by_reader, error.exceptions))
    is_hung_up = isinstance(error, OSError) and error.errno == errno.EIO and error.filename is None
    return is_hung_up or isinstance(error, BrokenPipeError)


def _play(options: Options, serve: Serve) -> int | None:
    """Go where the options or the person say, and play there; None if they go back to where a server is chosen."""
    if not (options.is_address_given or options.local or options.is_hosting):
        place = _place_for(options)
        if place is None:
            return OK
        options = _going_to(place, options)
    if options.local is not None:
        return _reported(options, modes.play_locally(options))
    if options.is_hosting:
        with serve(options) as served:
            return _run(replace(options, url=served.url, served=served, is_address_given=True))
    return _run(options)


def _reported(options: Options, ending: Ending) -> int | None:
    """Say how it ended, and return the exit code; None if the person goes back to where a server is chosen.

    A server of our own that is to go on keeps us until it ends, or until Ctrl-C.
    """
    if ending.is_going_back:
        return None
    code = report(options, ending)
    if ending.is_serving_on and options.served is not None:
        tell("Your server goes on without you; Ctrl-C ends it.")
        with signals_raised():
            options.served.wait()
    return code


def _seat(options: Options, engines: EngineOptions) -> int:
    if not options.is_address_given:
        complain(f"no address was given; joining {options.server}")
    return report(options, modes.seat_engines(modes.with_pin(options), engines))


def _written_down(text: str) -> str:
    try:
        path = identity.home() / CRASH_FILE
        write_private(path, text)
    except OSError:
        return ""
    return f"; please send us {path}"


def _inquire(options: Options, inquiry: Inquiry) -> int:
    if options.local is not None:
        for line in modes.local_history(options, inquiry):
            write_text(line)
        return OK
    if not options.is_address_given:
        used = servers_used()
        options = replace(options, url=used[0].url if used else options.url, is_address_given=True)
    options = modes.with_pin(options)
    lines, farewell = modes.inquire(options, inquiry)
    pinned = _with_new_pin(options, farewell)
    if pinned is not None:
        options, (lines, farewell) = pinned, modes.inquire(pinned, inquiry)
    for line in lines:
        write_text(line)
    return complain_of(options, farewell)


def _run(options: Options) -> int | None:
    """Play on a server under a name that is free there."""
    play, options = _mode_of(options), modes.with_pin(options)
    name = first_name(options)
    taken: set[str] = set()
    while True:
        mine = identity_for(options, name, frozenset(taken))
        try:
            ending = play(options, mine)
        finally:
            mine.release()
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
            complain(f"on {options.server}, {mine.name} is the name of somebody else; trying another")


def _mode_of(options: Options) -> Callable[[Options, Identity], Ending]:
    if options.bot is not None:
        return modes.play_as_bot
    return modes.play_on_screen if is_on_screen(options) else modes.play_in_lines


def _with_new_pin(options: Options, farewell: Farewell | None) -> Options | None:
    if farewell is None or farewell.why is not Parting.DISTRUSTED or not may_ask(options):
        return None
    return modes.with_new_pin(options, farewell.sentence.partition(";")[0], ask_anew, tell)


def _place_for(options: Options) -> Place | None:
    """Return where to go, or None if the person leaves; nobody who cannot be asked is kept waiting."""
    if options.bot is None and is_on_screen(options):
        return modes.choose_on_screen(options)
    if may_ask(options):
        return modes.choose_by_lines(options)
    complain(f"no address was given; joining {options.server}")
    return Go(options.url)


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
