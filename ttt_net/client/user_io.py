"""Communicate with the person who started the client: ask for a name, print sentences, and report how it ended.

Programs get the received messages instead: one JSON object per line, and a summary at the end.
"""

import json
import os
import shutil
import signal
import sys
import textwrap
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

import ttt_net
from ttt_net.client.address import site_of
from ttt_net.client.drawing.glyphs import Glyphs, encodable, glyphs_for, wrapped
from ttt_net.client.options import Options
from ttt_net.command_line import CLIENT, SERVE
from ttt_net.errors import Code, ConfigurationError, Refusal
from ttt_net.names import RULE, checked_name, fitting_name
from ttt_net.sdk import identity
from ttt_net.sdk.received import Back, ConnectionEvent, Farewell, Lost, Parting, Retrying, Tally
from ttt_net.text import clean

try:
    import termios
except ImportError:  # Windows has none; typed-ahead text is kept there
    termios = None  # type: ignore[assignment]

ENDINGS = ("SIGINT", "SIGTERM", "SIGHUP")
"""The signals that end a program."""


def tell(sentence: str) -> None:
    """Print a sentence; on a terminal, break lines between words."""
    print(_filled(sentence))


def complain(sentence: str) -> None:
    """Write an error to standard error: on one line, or on a terminal, broken between words."""
    line = f"{CLIENT}: {sentence}"
    print(_filled(line) if sys.stderr.isatty() else line, file=sys.stderr)


def _filled(sentence: str) -> str:
    width = shutil.get_terminal_size().columns - 1
    return textwrap.fill(sentence, width, break_long_words=False, break_on_hyphens=False)


def is_on_screen(options: Options) -> bool:
    """Tell whether there is a terminal to draw on, and the options ask for nothing else."""
    has_screen = sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM", "") not in ("", "dumb")
    return has_screen and not (options.is_plain or options.is_json or options.is_spoken)


def may_ask(options: Options) -> bool:
    """Tell whether a person can answer questions here."""
    return options.bot is None and not options.is_json and sys.stdin.isatty() and sys.stdout.isatty()


def glyphs_of(options: Options) -> Glyphs:
    """Return the characters with which the terminal can draw boards."""
    return glyphs_for(sys.stdout.encoding, is_ascii=options.is_ascii, terminal=os.environ.get("TERM", ""))


def columns_of_terminal() -> int | None:
    """Return the current width of the terminal that shows the lines; None if they go elsewhere."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def writer_of(options: Options) -> Callable[[str], None]:
    """Return the function that writes sentences for people; with JSON lines, it writes nothing."""
    return (lambda text: None) if options.is_json else _write_for_people


def json_writer_of(options: Options) -> Callable[[str], None] | None:
    """Return the function that writes lines of JSON, if requested."""
    return write_text if options.is_json else None


def write_text(text: str) -> None:
    """Write text immediately, replacing characters that the output's encoding lacks."""
    print(encodable(text, sys.stdout.encoding), flush=True)


def _write_for_people(text: str) -> None:
    """Print sentences, broken between words."""
    columns = columns_of_terminal()
    if columns is not None:
        text = "\n".join(part for line in text.split("\n") for part in wrapped(line, columns))
    write_text(text)


def ask_anew(question: str) -> str:
    """Return a person's answer to a question; discard text that was typed before it."""
    if termios is not None:
        with suppress(OSError, ValueError, termios.error):
            termios.tcflush(sys.stdin, termios.TCIFLUSH)
    return input(question)


@contextmanager
def signals_raised() -> Iterator[None]:
    """Make the signals that end a program raise `KeyboardInterrupt`, like Ctrl-C, inside the context."""

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for name in ENDINGS if (number := getattr(signal, name, None))}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


_NAMELESS = "player"
"""The name of a client without a name or a person to ask."""
_MAX_TYPED_CELLS = 80


def first_name(options: Options) -> str:
    """Return the name to log in with; ask a person for one if possible, and remember it."""
    if options.name is not None:
        name = _fitting(options, options.name)
    elif options.bot is not None:
        return fitting_name(options.bot) or _NAMELESS
    elif (remembered := identity.remembered_name()) is not None:
        return _fitting(options, remembered)
    elif not may_ask(options):
        return _NAMELESS
    else:
        name = _ask("Your name", None)
    if options.bot is None and identity.remembered_name() is None:
        identity.remember_name(name)
    return name


def _fitting(options: Options, name: str) -> str:
    """Return the name, or the nearest allowed one; a name that already belongs to us on the server is kept."""
    if identity.is_known(options.server, name, options.journal):
        return name
    fitting = fitting_name(name)
    if fitting is None:
        raise ConfigurationError(f"{_fault(name)}; choose another with --name")
    if fitting != name:
        complain(f"{name!r} cannot be a name; you are {fitting}")
    return fitting


def _fault(name: str) -> str:
    """Return why the text cannot be a name, and the rule for names."""
    try:
        checked_name(name)
    except Refusal as refusal:
        return str(refusal)
    raise AssertionError("a name that can be one fits")


def guest_identity(options: Options) -> identity.Identity:
    """Return where to keep the token of a guest: for each tournament another, so that they stay the same guest."""
    name = f"guest of {options.join.upper()}" if options.join is not None else "guest"
    return identity.take_numbered(options.server, name, journal=options.journal)


def identity_for(options: Options, name: str, taken: frozenset[str]) -> identity.Identity:
    """Return an identity that no other running client uses: ask a person for a name, otherwise number it."""
    if not may_ask(options):
        return identity.take_numbered(options.server, name, taken, options.journal)
    while True:
        mine = identity.take(options.server, name, options.journal)
        if mine is not None:
            return mine
        other = identity.take_numbered(options.server, name, taken | {name}, options.journal)
        other.release()
        name = _ask(f"{name} is playing on this machine already. Another name", other.name)


def another_name(name: str, taken: set[str]) -> str:
    """Ask for another name, and remember it; propose the next free one after `name`."""
    proposed = next(candidate for candidate in identity.numbered(name) if candidate not in taken)
    given = _ask("Another name", proposed)
    identity.remember_name(given)
    return given


def _ask(question: str, default: str | None) -> str:
    """Ask until the answer is a valid name. Enter accepts the default; words typed ahead for a match do not count."""
    ask = ask_anew if default else input
    while True:
        hint = f" [{default}]" if default else ""
        typed = clean(ask(f"{question}{hint}: "), _MAX_TYPED_CELLS) or default
        if not typed:
            continue
        name = fitting_name(typed)
        if name is None:
            tell(f"{_fault(typed)}.")
        else:
            if name != typed:
                tell(f"You are {name}: a name is {RULE}.")
            return name


_VERSION_CLASH = (
    f"{{url}} runs another version of ttt_net, and this one ({ttt_net.__version__}) cannot play there: {{sentence}}. "
    "Install the version that the server runs"
)
OK, FAULT, USAGE, NETWORK, REFUSED = range(5)
"""Exit codes: success, internal error, wrong usage, network failure, rejected by the server."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How a session ended: the server's farewell, if any, the last sentence, wins and losses."""

    farewell: Farewell | None
    sentence: str = ""
    tally: Tally = field(default_factory=Tally)
    is_going_back: bool = False
    """Whether the person wants to choose another place."""
    is_serving_on: bool = False
    """Whether the player's own server should keep running without them."""
    guest_of: str = ""
    """The code of the tournament that the player enters next, as a guest."""


def report(options: Options, ending: Ending) -> int:
    """Print how a session ended, sentences for people to where people look, and return the exit code."""
    if options.is_json:
        write_text(summary_line(ending.tally))
    elif ending.sentence:
        print(ending.sentence)
    return complain_of(options, ending.farewell)


def _advice(options: Options) -> str:
    if options.join:
        return "or use another address of that server, if it has several: the code is good at each"
    return f"or start a server with: {SERVE}"


def complain_of(options: Options, farewell: Farewell | None) -> int:
    """Print the error that ended the session, if any, and return the exit code."""
    if farewell is None or farewell.why is Parting.DONE:
        return OK
    if farewell.why is Parting.UNREACHABLE:
        complain(
            f"cannot reach {options.url}: {farewell.sentence}. Check the address and the firewall, {_advice(options)}"
        )
        return NETWORK
    if farewell.why is Parting.DISTRUSTED:
        complain(f"{options.url}: {farewell.sentence}")
        return NETWORK
    if farewell.code == Code.BAD_PROTOCOL:
        is_bot = options.bot is not None or options.engines is not None
        otherwise = "" if is_bot else f", or play in a browser at {site_of(options.url)}"
        complain(_VERSION_CLASH.format(url=options.url, sentence=farewell.sentence) + otherwise)
        return REFUSED
    complain(farewell.sentence)
    return REFUSED


_DEEPEST = 32


def line_of(frame: str) -> str | None:
    """Return a frame as one line of ASCII, without any token; None if it is not a message."""
    try:
        message = json.loads(frame)
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict) or not isinstance(message.get("type"), str) or _is_deep(message):
        return None
    if message["type"] == "welcome" and "token" in message:
        message["token"] = ""
    return json.dumps(message, separators=(",", ":"))


def line_of_link(event: ConnectionEvent) -> str | None:
    """Return a connection event as a line; None for other events, and for attempts after the first."""
    match event:
        case Lost(reason):
            told = {"type": "lost", "reason": reason}
        case Back():
            told = {"type": "back"}
        case Retrying(attempt=1, reason=reason):
            told = {"type": "retrying", "reason": reason}
        case _:
            return None
    return json.dumps(told, separators=(",", ":"))


def summary_line(tally: Tally) -> str:
    """Return the last line: the number of games, and their results."""
    return json.dumps(
        {"type": "summary", "games": tally.games, "won": tally.won, "drawn": tally.drawn, "lost": tally.lost},
        separators=(",", ":"),
    )


def tap_of(write: Callable[[str], None] | None) -> Callable[[str], None] | None:
    """Return the function that writes each frame as a line, if JSON lines are requested."""
    if write is None:
        return None

    def written(frame: str) -> None:
        line = line_of(frame)
        if line is not None:
            write(line)

    return written


def delivering(
    write: Callable[[str], None] | None, deliver: Callable[[ConnectionEvent], Awaitable[None]]
) -> Callable[[ConnectionEvent], Awaitable[None]]:
    """Return `deliver`, preceded by writing connection events as lines if JSON lines are requested."""

    async def written(event: ConnectionEvent) -> None:
        if write is not None and (line := line_of_link(event)) is not None:
            write(line)
        await deliver(event)

    return written


def _is_deep(value: object, depth: int = 0) -> bool:
    if depth > _DEEPEST:
        return True
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(_is_deep(each, depth + 1) for each in inner)
