"""`new-bot` writes projects that work: each is made, tried and run as its README says, where the language is installed.

.ci/run installs all four, and fails if one of these tests is skipped.
"""

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.patience import PATIENCE_S
from ttt_net.__main__ import main
from ttt_net.command_line import beside_us
from ttt_net.commands.new_bot import NAME, PROJECTS, TRIALS

TOOLS = {"python": "python3", "node": "npm", "go": "go", "c": "cc"}
GO_LIBRARY = Path("/usr/share/gocode/src/github.com/gorilla/websocket")
"""The WebSocket library as Debian has it: these tests fetch nothing."""


def project(folder: Path, language: str) -> Path:
    """Return a new project of a bot named Zoe."""
    if shutil.which(TOOLS[language]) is None:
        pytest.skip(f"{TOOLS[language]} is not installed here")
    run(folder, [sys.executable, "-m", "ttt_net", "new-bot", "Zoe", "--language", language])
    if language == "go":
        if not GO_LIBRARY.is_dir():
            pytest.skip("golang-github-gorilla-websocket-dev is not installed here")
        run(folder / "Zoe", ["go", "mod", "edit", f"-replace=github.com/gorilla/websocket={GO_LIBRARY}"])
    return folder / "Zoe"


def environment(folder: Path) -> dict[str, str]:
    at_home = {"TTT_NET_HOME": str(folder / "home"), "PYTHON": sys.executable, "GOFLAGS": "-mod=mod", "GOPROXY": "off"}
    return beside_us({**os.environ, **at_home})


def run(folder: Path, command: Sequence[str]) -> str:
    done = subprocess.run(
        command, cwd=folder, env=environment(folder), capture_output=True, text=True, timeout=2 * PATIENCE_S,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.mark.parametrize(
    "language", [each if each == "python" else pytest.param(each, marks=pytest.mark.long) for each in TRIALS]
)
def test_a_new_bot_passes_its_own_tests_which_play_a_whole_match(language: str, tmp_path: Path) -> None:
    bot = project(tmp_path, language)
    assert not [path for path in bot.iterdir() if NAME in path.read_text(encoding="utf-8")]
    if language == "python":
        assert "1 passed" in run(bot, [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"])
    else:
        run(bot, {"node": ["npm", "test"], "go": ["go", "test"], "c": ["make", "test"]}[language])


def test_the_command_to_try_a_bot_names_the_python_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "executable", str(tmp_path / ".venv" / "bin" / "python"))
    assert main(["new-bot", "Zoe"]) == 0
    assert "  ../.venv/bin/python -m pytest\n" in capsys.readouterr().out


@pytest.mark.long
def test_a_new_bot_is_tested_without_the_settings_of_a_project_around_it(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --no-such-option\n")
    assert "1 passed" in run(project(tmp_path, "python"), [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"])


def test_every_language_has_a_project_with_a_readme() -> None:
    assert {path.name for path in PROJECTS.iterdir()} == set(TRIALS) == set(TOOLS)
    for language, trial in TRIALS.items():
        readme = (PROJECTS / language / "README.md").read_text(encoding="utf-8")
        assert trial[-1].rpartition("} ")[2] in readme


def test_a_project_never_overwrites_anything_and_has_the_name_of_a_player(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["new-bot", "Zoe"]) == 0
    python = shlex.quote(sys.executable)
    assert capsys.readouterr().out.splitlines() == [
        "Zoe/ has a bot, its tests and a README. Try it:",
        "  cd Zoe",
        f"  {python} -m pip install -r requirements.txt",
        f"  {python} -m pytest",
    ]
    for arguments, why in (
        (["Zoe"], "there is something named Zoe here already; nothing was written"),
        (["../evil"], "a name is 2 to 20 letters"),
        (["admin"], "a name is 2 to 20 letters"),
        (["Zoé"], "Zoé: the name of a project has letters a to z, digits, _ and -"),
        (["Zoe2", "--language", "cobol"], "there is no cobol; there are: python, node, go, c"),
    ):
        assert main(["new-bot", *arguments]) == 2
        assert why in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["Zoe"]


def test_a_sandbox_returns_the_exit_code_of_its_command_and_ends_with_it(
    capfd: pytest.CaptureFixture[str],
) -> None:
    program = "import sys; print(sys.argv[1]); sys.exit(7)"
    assert main(["sandbox", sys.executable, "-c", program]) == 7
    assert capfd.readouterr().out.startswith("ws://127.0.0.1:")
    assert main(["sandbox", "no-such-command"]) == 2
    assert "cannot run no-such-command: No such file" in capfd.readouterr().err
    assert main(["sandbox"]) == 2
    assert "sandbox needs a command" in capfd.readouterr().err
