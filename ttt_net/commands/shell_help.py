"""`completion` and `man`: generate completion scripts for shells, and the manual page, from the parsers."""

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ttt_net.__main__ import PROGRAMS, VERBS, make_parser
from ttt_net.client import options as client
from ttt_net.client.named import DEEDS
from ttt_net.games.catalogue import NAMES as GAMES
from ttt_net.server.settings import sources as server
from ttt_net.strategies import NAMES as STRATEGIES

_OF_GAMES = ("game", "leaderboard", "names")
_OF_STRATEGIES = ("bot", "x", "o", "strategy", "strategies")
_FILES = ("FILE", "FOLDER", "PATH", "FILE|ID")
"""The help's names for values that are paths."""


@dataclass(frozen=True, slots=True)
class OptionUsage:
    """One option: its form, its argument, and its purpose."""

    flags: tuple[str, ...]
    value: str
    """The name of its value in help; empty if it takes none."""
    help: str
    values: tuple[str, ...] = ()
    """The values to choose from, if known."""
    is_file: bool = False


@dataclass(frozen=True, slots=True)
class VerbUsage:
    """One verb, or a word after one: `path` is what users type after `ttt_net`."""

    path: tuple[str, ...]
    help: str
    arguments: tuple[OptionUsage, ...]
    """Positional arguments; `flags` holds their name."""
    options: tuple[OptionUsage, ...]
    verbs: tuple[str, ...] = ()
    """The words that may follow."""

    @property
    def words(self) -> tuple[str, ...]:
        """The words, other than options, that users may type here."""
        return (*self.verbs, *(value for each in self.arguments for value in each.values))


def verb_usages() -> list[VerbUsage]:
    """Return the whole command with its verbs, then each verb, and the words after it."""
    parsers = {"serve": server.make_parser(is_whole=True), "play": client.make_parser()}
    found = [_usage((), "", make_parser(None))]
    for verb, (_, what) in PROGRAMS.items():
        found += _with_below((verb,), what, parsers[verb])
    for verb, (_, what) in VERBS.items():
        found += _with_below((verb,), what, _below(make_parser(verb))[verb][1])
    return found


def _with_below(path: tuple[str, ...], what: str, parser: argparse.ArgumentParser) -> Iterator[VerbUsage]:
    yield _usage(path, what, parser)
    for word, (help_of_word, below) in _below(parser).items():
        yield from _with_below((*path, word), help_of_word, below)


def _below(parser: argparse.ArgumentParser) -> dict[str, tuple[str, argparse.ArgumentParser]]:
    """Return the parsers of the words that may follow, each with its help."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            helps = {choice.dest: choice.help or "" for choice in action._choices_actions}
            return {word: (helps.get(word, ""), below) for word, below in action.choices.items()}
    return {}


def _usage(path: tuple[str, ...], what: str, parser: argparse.ArgumentParser) -> VerbUsage:
    actions = [
        action
        for action in parser._actions
        if not isinstance(action, argparse._SubParsersAction) and action.help != argparse.SUPPRESS
    ]
    options = tuple(_option(action) for action in actions if action.option_strings)
    arguments = tuple(_option(action) for action in actions if not action.option_strings)
    if path == ("play",):
        arguments = (OptionUsage(("ADDRESS",), "", arguments[0].help, (*GAMES, *DEEDS)),)
    return VerbUsage(path, what, arguments, options, tuple(_below(parser)))


def _option(action: argparse.Action) -> OptionUsage:
    metavar = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
    choices = tuple(str(choice) for choice in action.choices or ())
    if choices and action.metavar is None:
        metavar = "|".join(choices)
    values = choices or (GAMES if action.dest in _OF_GAMES else STRATEGIES if action.dest in _OF_STRATEGIES else ())
    is_file = not values and (action.type is Path or metavar in _FILES)
    flags = tuple(action.option_strings) or (metavar,)
    return OptionUsage(flags, "" if action.nargs == 0 else metavar, _help(action), tuple(values), is_file=is_file)


def _help(action: argparse.Action) -> str:
    """Return the printed help, without defaults that are folders on this machine."""
    text = action.help or ""
    if isinstance(action.default, Path):
        text = text.replace(" (default %(default)s)", "")
    return " ".join((text % {**vars(action), "prog": "ttt_net"}).split())


_INSTALL = {
    "bash": "~/.local/share/bash-completion/completions/ttt_net",
    "zsh": "a folder of $fpath, as _ttt_net",
    "fish": "~/.config/fish/completions/ttt_net.fish",
}
"""Where each shell looks for the script."""


def add_completion_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's options."""
    places = "; ".join(f"{shell}: {place}" for shell, place in _INSTALL.items())
    parser.add_argument("shell", choices=tuple(SCRIPTS), help=f"which shell; keep what is printed in {places}")


def run_completion(args: argparse.Namespace) -> int:
    """Print the script of a shell; return the exit status."""
    print(SCRIPTS[args.shell](verb_usages()))
    return 0


def bash_script(usages: Sequence[VerbUsage]) -> str:
    """Return the script for bash."""
    by_value = [
        *(
            f"    {_at(usage, flag)}) words={_quoted(' '.join(option.values))} ;;"
            for usage, option, flag in _valued(usages)
        ),
        f'    {_files(usages)}) COMPREPLY=($(compgen -f -- "$current")); return ;;',
        f"    {_unknown(usages)}) return ;;",
    ]
    by_place = [f"      {_place(usage)}) words={_quoted(' '.join(_all_words(usage)))} ;;" for usage in usages]
    return "\n".join(
        [
            _head("bash"),
            "_ttt_net() {",
            '  local word place="" words="" current="${COMP_WORDS[COMP_CWORD]}"',
            '  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do',
            f'    case "$place $word" in {_known(usages)}) place="$place $word" ;; esac',
            "  done",
            '  case "$place ${COMP_WORDS[COMP_CWORD-1]}" in',
            *by_value,
            '    *) case "$place" in',
            *by_place,
            "    esac ;;",
            "  esac",
            '  COMPREPLY=($(compgen -W "$words" -- "$current"))',
            "}",
            "complete -o default -F _ttt_net ttt_net",
        ]
    )


def zsh_script(usages: Sequence[VerbUsage]) -> str:
    """Return the script for zsh."""
    by_value = [
        *(
            f"    {_at(usage, flag)}) compadd -- {' '.join(option.values)}; return ;;"
            for usage, option, flag in _valued(usages)
        ),
        f"    {_files(usages)}) _files; return ;;",
        f"    {_unknown(usages)}) return ;;",
    ]
    return "\n".join(
        [
            "#compdef ttt_net",
            _head("zsh"),
            "_ttt_net() {",
            '  local word place=""',
            "  local -a found",
            '  for word in "${(@)words[2,CURRENT-1]}"; do',
            f'    case "$place $word" in {_known(usages)}) place="$place $word" ;; esac',
            "  done",
            '  case "$place ${words[CURRENT-1]}" in',
            *by_value,
            "  esac",
            '  case "$place" in',
            *(f"    {_place(usage)}) found=({' '.join(_described(usage, usages))}) ;;" for usage in usages),
            "  esac",
            "  _describe ttt_net found || _files",
            "}",
            'if [ "$funcstack[1]" = _ttt_net ]; then _ttt_net "$@"; else compdef _ttt_net ttt_net; fi',
        ]
    )


def fish_script(usages: Sequence[VerbUsage]) -> str:
    """Return the script for fish."""
    known = " ".join(_quoted(" ".join(usage.path)) for usage in usages if usage.path)
    lines = [
        _head("fish"),
        "function __ttt_net_at",
        '    set -l place ""',
        "    for word in (commandline -opc)[2..-1]",
        '        set -l further (string trim "$place $word")',
        f'        contains -- "$further" {known}; and set place "$further"',
        "    end",
        '    test "$place" = "$argv[1]"',
        "end",
        "complete -c ttt_net -f",
    ]
    for usage in usages:
        start = f"complete -c ttt_net -n \"__ttt_net_at '{' '.join(usage.path)}'\""
        helps = {each.path: each.help for each in usages}
        lines += [f"{start} -a {word} -d {_quoted(helps[(*usage.path, word)])}" for word in usage.verbs]
        lines += [f"{start} -a {_quoted(' '.join(each.values))}" for each in usage.arguments if each.values]
        lines += [f"{start} -F" for each in usage.arguments if each.is_file]
        lines += [f"{start} {_fish_option(option)}" for option in usage.options]
    return "\n".join(lines)


SCRIPTS: dict[str, Callable[[Sequence[VerbUsage]], str]] = {
    "bash": bash_script,
    "zsh": zsh_script,
    "fish": fish_script,
}
"""The function that writes each shell's script."""


def _head(shell: str) -> str:
    return f"# Completion of ttt_net, written by `ttt_net completion {shell}`."


def _quoted(text: str) -> str:
    """Return the text in quotes that escape everything in it."""
    return "'" + text.replace("'", "'\\''") + "'"


def _place(usage: VerbUsage) -> str:
    return _quoted("".join(f" {word}" for word in usage.path))


def _at(usage: VerbUsage, flag: str) -> str:
    """Return the shell pattern for the option of a verb as the last word."""
    return _quoted("".join(f" {word}" for word in usage.path) + f" {flag}")


def _known(usages: Sequence[VerbUsage]) -> str:
    return "|".join(_place(usage) for usage in usages if usage.path)


def _all_words(usage: VerbUsage) -> list[str]:
    return [*usage.words, *(flag for option in usage.options for flag in option.flags)]


def _options(usages: Sequence[VerbUsage]) -> Iterator[tuple[VerbUsage, OptionUsage, str]]:
    for usage in usages:
        for option in usage.options:
            for flag in option.flags:
                if option.value:
                    yield usage, option, flag


def _valued(usages: Sequence[VerbUsage]) -> list[tuple[VerbUsage, OptionUsage, str]]:
    """Return the options with known values."""
    return [each for each in _options(usages) if each[1].values]


def _files(usages: Sequence[VerbUsage]) -> str:
    """Return the shell pattern for the options whose values are paths."""
    return "|".join(_at(usage, flag) for usage, option, flag in _options(usages) if option.is_file)


def _unknown(usages: Sequence[VerbUsage]) -> str:
    """Return the shell pattern for the options with values that cannot be completed."""
    found = _options(usages)
    return "|".join(_at(usage, flag) for usage, option, flag in found if not option.is_file and not option.values)


def _described(usage: VerbUsage, usages: Sequence[VerbUsage]) -> Iterator[str]:
    """Return each word and option with its help, in zsh's form."""
    helps = {each.path: each.help for each in usages}
    for word in usage.words:
        yield _quoted(_with_help(word, helps.get((*usage.path, word), "")))
    for option in usage.options:
        for flag in option.flags:
            yield _quoted(_with_help(flag, option.help))


def _with_help(word: str, text: str) -> str:
    word = word.replace(":", "\\:")
    return f"{word}:{text}" if text else word


def _fish_option(option: OptionUsage) -> str:
    names = " ".join(f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}" for flag in option.flags)
    value = f" -x -a {_quoted(' '.join(option.values))}" if option.values else " -r -F" if option.is_file else " -x"
    return f"{names}{value * bool(option.value)} -d {_quoted(option.help)}"


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
_PATHS = {
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


def add_man_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's options: it has none."""


def run_man(args: argparse.Namespace) -> int:
    """Print the page; return the exit status."""
    print(manual(verb_usages()))
    return 0


def manual(usages: Sequence[VerbUsage]) -> str:
    """Return the page in the format of `man`."""
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
        ("FILES", _PATHS),
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
    """Return the text with everything escaped that would be a command of the page."""
    lines = text.replace("\\", r"\e").replace("-", r"\-").split("\n")
    return "\n".join(f"\\&{line}" if line.startswith((".", "'")) else line for line in lines)
