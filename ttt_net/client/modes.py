"""Load the mode that was chosen and nothing of the others: the one place of the client where functions import.

A person who plays does not wait for tables, a program does not wait for a screen, and nobody waits for strategies. On a
screen a first sentence is shown before anything else is loaded. Each module that is loaded here imports at its top.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from ttt_net.client.finding.address import Place
from ttt_net.client.options import EngineOptions, Inquiry, Options
from ttt_net.client.user_io import Ending, is_on_screen, signals_raised, writer_of
from ttt_net.messages import AnyServerMessage, Request
from ttt_net.sdk.identity import Identity
from ttt_net.sdk.received import Farewell
from ttt_net.sdk.trust import pinned_fingerprint

if TYPE_CHECKING:
    from ttt_net.client.local.local_connection import Others
    from ttt_net.client.terminal.canvas import Canvas


def play_on_screen(options: Options, mine: Identity) -> Ending:
    """Let a person play on the full screen."""
    with _greeted(f"Connecting to {options.server} ...") as canvas:
        from ttt_net.client import joining
        from ttt_net.client.terminal import loop

        return joining.play(options, mine, partial(loop.show, options, canvas), is_on_screen=True)


def play_in_lines(options: Options, mine: Identity) -> Ending:
    """Let a person or a program play line by line."""
    from ttt_net.client import joining
    from ttt_net.client.lines import line_client

    return joining.play(options, mine, partial(line_client.tell, options), is_on_screen=False)


def play_as_bot(options: Options, mine: Identity) -> Ending:
    """Let a strategy play."""
    from ttt_net.client import bot_mode

    return bot_mode.play(options, mine)


def seat_engines(options: Options, engines: EngineOptions) -> Ending:
    """Let programs of others play."""
    from ttt_net.client import bot_mode

    return bot_mode.play_engines(options, engines)


def check_strategy(name: str, level: int | None) -> None:
    """Raise `ConfigurationError` for a strategy or a level that there is not."""
    from ttt_net.client import bot_mode

    bot_mode.check(name, level)


def play_locally(options: Options) -> Ending:
    """Let people and strategies play at this keyboard."""
    if not is_on_screen(options):
        strategies = _seated(options)
        from ttt_net.client.lines import line_client
        from ttt_net.client.local import local_session

        return local_session.play(options, strategies, partial(line_client.tell, options), is_on_screen=False)
    with _greeted("Setting up the board ...") as canvas:
        strategies = _seated(options)
        from ttt_net.client.local import local_session
        from ttt_net.client.terminal import loop

        return local_session.play(options, strategies, partial(loop.show, options, canvas), is_on_screen=True)


def _seated(options: Options) -> "Others | None":
    """Return what plays for the strategies at this keyboard; None where only people play."""
    if options.local is None or options.local.is_for_people_alone:
        return None
    from ttt_net.client.local import seated_strategies

    return seated_strategies.seated(options)


def choose_on_screen(options: Options) -> Place | None:
    """Show the start menu, and return where to go; None if the person leaves."""
    with _greeted("Looking for servers on this network ...", row=1) as canvas:
        from ttt_net.client import menu_controller

        menu = menu_controller.StartMenu(options, canvas)
        from ttt_net.client.terminal import loop

        return menu.take(loop.play_on_screen, _answer)


def _answer(request: Request) -> Sequence[AnyServerMessage]:
    """Answer what needs no server."""
    from ttt_net.client.local import local_matches

    return local_matches.answer_without_match(request, time.time_ns() // 1_000_000)


def choose_by_lines(options: Options) -> Place | None:
    """Print the start menu, with numbers, and return where to go; None if the person leaves."""
    from ttt_net.client import progress
    from ttt_net.client.finding import local_choices
    from ttt_net.client.lines import line_client, line_menu

    choices = local_choices.choices_for(options.game)
    solved = progress.load_achievements()
    menu = line_menu.LineMenu(input, writer_of(options), _answer, line_client.renderer_of(options), solved)
    place, chosen = menu.choose(choices)
    if menu.achieved != solved:
        progress.save_achievements(menu.achieved)
    if chosen != choices:
        local_choices.save_choices(chosen)
    return place


def inquire(options: Options, inquiry: Inquiry) -> tuple[list[str], Farewell | None]:
    """Ask a server one thing; return the lines to be printed, or why there are none."""
    from ttt_net.client import inquire

    answer = inquire.inquire(options, inquiry)
    return answer.lines, answer.farewell


def local_history(options: Options, inquiry: Inquiry) -> list[str]:
    """Return a page of the matches that were played at this keyboard, the newest first."""
    from ttt_net.client import records

    return records.lines_of(inquiry.about, inquiry.page, is_json=options.is_json)


def with_pin(options: Options) -> Options:
    """Return the options with the pinned certificate of their server, if it is encrypted and no other was named."""
    if not options.url.startswith("wss:") or options.trust.fingerprint is not None:
        return options
    return replace(options, trust=replace(options.trust, fingerprint=pinned_fingerprint(options.server)))


def with_new_pin(options: Options, why: str, ask: Callable[[str], str], write: Callable[[str], None]) -> Options | None:
    """Return the options with a certificate that the person here accepts; None if they do not."""
    from ttt_net.client import server_link

    return server_link.with_new_pin(options, why, ask, write)


@contextmanager
def _greeted(sentence: str, row: int | None = None) -> Iterator["Canvas"]:
    """Take the terminal inside the block, with a sentence on it while the rest is loaded."""
    from ttt_net.client.terminal.canvas import Canvas

    with signals_raised(), Canvas().opened() as canvas:
        canvas.greet(sentence, row=row)
        yield canvas
