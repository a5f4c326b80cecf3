"""The commands and code in docs/strategies.md work."""

import re
import shlex

import pytest

from tests.strategies.sweep import PAGE
from ttt_net.__main__ import main

TEXT = PAGE.read_text(encoding="utf-8")
COMMANDS = re.findall(r"^python -m ttt_net (.*)$", TEXT, flags=re.MULTILINE)

WORKED = re.findall(r"^```console\n\$ python -m ttt_net (.*?)\n(.*?)^```", TEXT, flags=re.MULTILINE | re.DOTALL)


def test_the_example_in_python_prints_a_move(capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", TEXT, flags=re.DOTALL)
    exec(code, {})
    assert re.match("[1-7] ", capsys.readouterr().out)


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_runs(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(shlex.split(command)) == 0
    assert capsys.readouterr().out


@pytest.mark.parametrize(("command", "shown"), WORKED)
def test_each_worked_example_prints_the_shown_text(
    command: str, shown: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(shlex.split(command)) == 0
    pattern = r"(.*\n)*".join(re.escape(part) for part in shown.split("...\n"))
    assert re.fullmatch(pattern, capsys.readouterr().out)


def test_there_are_commands_to_run() -> None:
    assert len(COMMANDS) >= 5
    assert len(WORKED) == 5
