"""`completion`: what a shell needs to complete verbs, options, games and strategies of `ttt_net`."""

import argparse
from collections.abc import Callable, Iterator, Sequence

from ttt_net.commands.command_tree import OptionUsage, VerbUsage, verb_usages

_INSTALL = {
    "bash": "~/.local/share/bash-completion/completions/ttt_net",
    "zsh": "a folder of $fpath, as _ttt_net",
    "fish": "~/.config/fish/completions/ttt_net.fish",
}
"""Where each shell looks for it."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's options."""
    places = "; ".join(f"{shell}: {place}" for shell, place in _INSTALL.items())
    parser.add_argument("shell", choices=tuple(SCRIPTS), help=f"which shell; keep what is printed in {places}")


def run(args: argparse.Namespace) -> int:
    """Print the script of a shell; return the exit status."""
    print(SCRIPTS[args.shell](verb_usages()))
    return 0


def bash_script(usages: Sequence[VerbUsage]) -> str:
    """Return what bash reads."""
    by_value = [
        *(
            f"    {_at(usage, flag)}) words={_quoted(' '.join(option.values))} ;;"
            for usage, option, flag in _valued(usages)
        ),
        *(f'    {"|".join(each)}) COMPREPLY=($(compgen -f -- "$current")); return ;;' for each in _files(usages)),
        *(f"    {'|'.join(each)}) return ;;" for each in _unknown(usages)),
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
    """Return what zsh reads."""
    by_value = [
        *(
            f"    {_at(usage, flag)}) compadd -- {' '.join(option.values)}; return ;;"
            for usage, option, flag in _valued(usages)
        ),
        *(f"    {'|'.join(each)}) _files; return ;;" for each in _files(usages)),
        *(f"    {'|'.join(each)}) return ;;" for each in _unknown(usages)),
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
    """Return what fish reads."""
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
"""What writes the script of each shell."""


def _head(shell: str) -> str:
    return f"# Completion of ttt_net, written by `ttt_net completion {shell}`."


def _quoted(text: str) -> str:
    """Return the text in quotes that keep all of it as it is."""
    return "'" + text.replace("'", "'\\''") + "'"


def _place(usage: VerbUsage) -> str:
    return _quoted("".join(f" {word}" for word in usage.path))


def _at(usage: VerbUsage, flag: str) -> str:
    """Return how the shells see that the last word is the option of a verb."""
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
    """Return the options whose values are known."""
    return [each for each in _options(usages) if each[1].values]


def _files(usages: Sequence[VerbUsage]) -> list[list[str]]:
    """Return where a path is typed; all of it as one list, or none."""
    return _one([_at(usage, flag) for usage, option, flag in _options(usages) if option.is_file])


def _unknown(usages: Sequence[VerbUsage]) -> list[list[str]]:
    """Return where something is typed that only the person knows."""
    return _one([_at(u, flag) for u, option, flag in _options(usages) if not option.is_file and not option.values])


def _one(places: list[str]) -> list[list[str]]:
    return [places] if places else []


def _described(usage: VerbUsage, usages: Sequence[VerbUsage]) -> Iterator[str]:
    """Return each word and option with its help, as zsh tells them beside one another."""
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
