"""`man`: the manual page of `ttt_net`, with every verb and every option."""

import argparse
from collections.abc import Iterator, Sequence

from ttt_net.commands.command_tree import OptionUsage, VerbUsage, verb_usages

_DESCRIPTION = """\
ttt_net plays tic-tac-toe and its family (Connect Four, gomoku, three dimensions, ultimate and more), over a network
or at one keyboard, with people and bots. Without an address, play opens a start menu: servers that are found, the
computer, two at one keyboard, rules."""
_EXAMPLES = {
    "ttt_net play": "the start menu",
    "ttt_net play host": "a server for your network, and a seat at it",
    "ttt_net play 192.168.1.20 connect4": "join that server, for Connect Four",
    "ttt_net play local --o computer --level 4": "against the computer",
    "ttt_net serve --port 9000": "a server alone",
    "ttt_net completion bash": "completion for your shell",
}
_FILES = {
    "~/.local/share/ttt_net/client": "what the client keeps; TTT_NET_HOME names another folder",
    "~/.local/share/ttt_net": "what a server keeps; --data names another folder",
}
_VARIABLES = {
    "TTT_NET_HOME": "the folder of the client",
    "TTT_NET_MOTION": "off: nothing on the screen moves",
    "TTT_NET_RULES": "off: no page of rules comes by itself",
    "TTT_NET_PORT": "the port of a server; each of its settings has such a variable",
    "NO_COLOR": "no colours",
}
_STATUS = {
    "0": "fine",
    "1": "a fault of ours",
    "2": "started wrongly",
    "3": "the network",
    "4": "refused by the server",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's options: it has none."""


def run(args: argparse.Namespace) -> int:
    """Print the page; return the exit status."""
    print(manual(verb_usages()))
    return 0


def manual(usages: Sequence[VerbUsage]) -> str:
    """Return the page as `man` reads it."""
    lines = [
        '.TH TTT_NET 1 "" "ttt_net" "User Commands"',
        ".SH NAME",
        r"ttt_net \- tic\-tac\-toe and its family, over a network",
        ".SH SYNOPSIS",
        r".B ttt_net",
        r".I VERB",
        r"[\fIOPTION\fR ...]",
        ".SH DESCRIPTION",
        _escaped(_DESCRIPTION),
        ".SH VERBS",
    ]
    for usage in usages:
        if usage.path:
            lines += _verb(usage)
    for heading, rows in (
        ("EXAMPLES", _EXAMPLES),
        ("FILES", _FILES),
        ("ENVIRONMENT", _VARIABLES),
        ("EXIT STATUS OF PLAY", _STATUS),
    ):
        lines += [f".SH {heading}", *(line for term, text in rows.items() for line in _term(term, text))]
    return "\n".join(lines)


def _verb(usage: VerbUsage) -> Iterator[str]:
    typed = " ".join(["ttt_net", *usage.path])
    rest = " ".join([*(each.flags[0] for each in usage.arguments), *["[OPTION ...]"] * bool(usage.options)])
    yield f".SS {_escaped(f'{typed} {rest}'.strip())}"
    yield _escaped(f"{usage.help[:1].upper()}{usage.help[1:]}.")
    for each in (*usage.arguments, *usage.options):
        yield from _term(_written(each), each.help)


def _written(option: OptionUsage) -> str:
    is_flag = option.flags[0].startswith("-")
    return ", ".join(option.flags) + f" {option.value}" * bool(option.value and is_flag)


def _term(term: str, text: str) -> Iterator[str]:
    yield ".TP"
    yield f".B {_escaped(term)}"
    yield _escaped(text or "as it says")


def _escaped(text: str) -> str:
    """Return the text so that nothing in it is a command of the page."""
    lines = text.replace("\\", r"\e").replace("-", r"\-").split("\n")
    return "\n".join(f"\\&{line}" if line.startswith((".", "'")) else line for line in lines)
