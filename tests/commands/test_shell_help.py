"""Completions and the manual page have every verb and option, and the shells can read them."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.patience import PATIENCE_S
from ttt_net.__main__ import PROGRAMS, VERBS, main
from ttt_net.client.options import make_parser
from ttt_net.commands.shell_help import SCRIPTS, manual, verb_usages
from ttt_net.games.catalogue import NAMES as GAMES
from ttt_net.strategies import NAMES as STRATEGIES

USAGES = verb_usages()


@pytest.fixture(name="scripts", scope="module")
def _scripts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("completion")
    for shell, write in SCRIPTS.items():
        (folder / shell).write_text(write(USAGES), encoding="utf-8")
    return {shell: folder / shell for shell in SCRIPTS}


def said_by(*command: str) -> list[str]:
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=True)
    assert done.stderr == ""
    return done.stdout.splitlines()


def test_all_verbs_and_all_options_of_the_parsers_are_known() -> None:
    by_path = {usage.path: usage for usage in USAGES}
    assert {path[0] for path in by_path if len(path) == 1} == {*PROGRAMS, *VERBS}
    assert {"kick", "drain", "moderators"} <= set(by_path[("admin",)].verbs)
    assert ("admin", "moderators", "add") in by_path
    flags = {flag for option in by_path[("play",)].options for flag in option.flags}
    assert flags == {flag for action in make_parser()._actions for flag in action.option_strings}
    assert {"--port", "--no-house-bots"} <= {flag for option in by_path[("serve",)].options for flag in option.flags}


@pytest.mark.parametrize("shell", SCRIPTS)
def test_every_verb_option_game_and_strategy_is_in_the_script(shell: str) -> None:
    script = SCRIPTS[shell](USAGES)
    for usage in USAGES:
        for word in usage.words:
            assert re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", script), word
        for flag in (flag for option in usage.options for flag in option.flags):
            shown = f"-l {flag[2:]} " if shell == "fish" and flag.startswith("--") else flag
            assert shown in script, flag


def test_every_verb_and_option_is_on_the_manual_page() -> None:
    page = manual(USAGES).replace(r"\-", "-")
    for usage in USAGES:
        if usage.path:
            assert f".SS {' '.join(['ttt_net', *usage.path])}" in page
        for option in usage.options:
            assert f".B {', '.join(option.flags)}" in page
    assert not re.search(r"^\.(?!TH|SH|SS|TP|B|I)", page, flags=re.MULTILINE)
    assert "%" not in re.sub(r"\d+ ?%", "", page)


BASH = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _ttt_net; printf "%s\\n" "${COMPREPLY[@]}"'
ZSH = """
compdef() { }; _describe() { print -l -- "${(@)found%%:*}" }; compadd() { shift; print -l -- "$@" }; _files() { }
source "$1"; shift; words=("$@"); CURRENT=$#; _ttt_net
"""


def completed(shell: str, script: Path, words: list[str]) -> list[str]:
    """Return what the shell offers for the last of the words."""
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed here")
    if shell == "bash":
        return said_by("bash", "--norc", "-c", BASH, "bash", str(script), *words)
    if shell == "zsh":
        offered = said_by("zsh", "-f", "-c", ZSH, "zsh", str(script), *words)
        return [each for each in offered if each.startswith(words[-1])]
    typed = " ".join(words)
    return [line.split("\t")[0] for line in said_by("fish", "-N", "-c", f"source {script}; complete -C '{typed}'")]


@pytest.mark.parametrize("shell", SCRIPTS)
@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        (["pl"], {"play"}),
        (["admin", "ki"], {"kick"}),
        (["admin", "moderators", "r"], {"remove"}),
        (["play", "--game", "c"], {"connect4"}),
        (["play", "--o", ""], set(STRATEGIES)),
        (["play", "--scre"], {"--screen-reader"}),
        (["play", "--plain", "q"], {"qubic"}),
        (["help"], set()),
        (["completion", "z"], {"zsh"}),
        (["serve", "--no-house"], {"--no-house-bots"}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_shell_completes_verbs_options_and_values(
    shell: str, scripts: dict[str, Path], typed: list[str], offered: set[str]
) -> None:
    assert {each for each in completed(shell, scripts[shell], ["ttt_net", *typed]) if each} == offered


def test_the_verbs_print_a_script_and_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "bash"]) == 0
    assert capsys.readouterr().out == f"{SCRIPTS['bash'](USAGES)}\n"
    assert main(["man"]) == 0
    assert capsys.readouterr().out == f"{manual(USAGES)}\n"
    assert main(["completion", "tcsh"]) == 2
    assert "there is no tcsh; there are: bash, zsh, fish" in capsys.readouterr().err
    assert set(GAMES) <= set(next(usage for usage in USAGES if usage.path == ("play",)).words)
