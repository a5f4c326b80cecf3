"""Find the name to play under: the one that was asked for or is remembered, or the one that a person gives now."""

from ttt_net.client.options import Options
from ttt_net.client.user_io import ask_anew, complain, may_ask, tell
from ttt_net.errors import ConfigurationError, Refusal
from ttt_net.names import RULE, checked_name, fitting_name
from ttt_net.sdk import identity
from ttt_net.text import clean

_NAMELESS = "player"
"""Who a client is that has no name and nobody to ask for one."""
_MAX_TYPED_CELLS = 80


def first_name(options: Options) -> str:
    """Return the name to come in with; who can be asked gives one, which is remembered."""
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
    """Return the name, or the nearest that may be taken; one that belongs to us on that server already stays."""
    if identity.is_known(options.server, name, options.journal):
        return name
    fitting = fitting_name(name)
    if fitting is None:
        raise ConfigurationError(f"{_fault(name)}; choose another with --name")
    if fitting != name:
        complain(f"{name!r} cannot be a name; you are {fitting}")
    return fitting


def _fault(name: str) -> str:
    """Return why that cannot be a name, and what can."""
    try:
        checked_name(name)
    except Refusal as refusal:
        return str(refusal)
    raise AssertionError("a name that can be one fits")


def identity_for(options: Options, name: str, taken: frozenset[str]) -> identity.Identity:
    """Return an identity that no other running client has: a person is asked for a name, all others count up."""
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
    """Ask for another name, and remember it; the next one after `name` that is not taken is proposed."""
    proposed = next(candidate for candidate in identity.numbered(name) if candidate not in taken)
    given = _ask("Another name", proposed)
    identity.remember_name(given)
    return given


def _ask(question: str, default: str | None) -> str:
    """Ask until there is a name; the default is taken with Enter, and no word that was typed before for a match."""
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
