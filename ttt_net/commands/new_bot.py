"""`new-bot` and `sandbox`: create a bot project in a language, and run a bot on a server of its own.

The projects are complete and work as they are. They come from `examples/bots` in a clone, or from the installed
package.
"""

import argparse
import asyncio
import os
import shlex
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ttt_net.command_line import VERBS, beside_us
from ttt_net.errors import ConfigurationError
from ttt_net.names import checked_name
from ttt_net.sdk.identity import HOME_VARIABLE
from ttt_net.sdk.playing import sandbox_server
from ttt_net.text import clean

_INSTALLED = Path(__file__).with_name("projects")
PROJECTS = _INSTALLED if _INSTALLED.is_dir() else Path(__file__).parents[2] / "examples" / "bots"
NAME = "my-bot"
"""The name of the bot in all projects."""
TRIALS = {
    "python": ("{python} -m pip install -r requirements.txt", "{python} -m pytest"),
    "node": ("PYTHON={python} npm test",),
    "go": ("go mod tidy", "PYTHON={python} go test"),
    "c": ("PYTHON={python} make test",),
}
"""The commands that try a project, by language; `{python}` is an interpreter that has this package."""


def add_new_bot_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument("name", metavar="NAME", help="the name of the bot, and of the folder to make")
    parser.add_argument("--language", choices=tuple(TRIALS), default="python", help="default %(default)s")


def run_new_bot(args: argparse.Namespace) -> int:
    """Write the project. Raises `ConfigurationError` if the folder exists, and `Refusal` if the name is not allowed."""
    name = checked_name(args.name)
    if not name.isascii() or " " in name:
        raise ConfigurationError(f"{name}: the name of a project has letters a to z, digits, _ and -")
    folder = Path(name)
    try:
        folder.mkdir()
        for source in sorted((PROJECTS / args.language).iterdir()):
            if source.is_file():
                text = source.read_text(encoding="utf-8").replace(NAME, name)
                (folder / source.name).write_text(text, encoding="utf-8")
    except FileExistsError:
        raise ConfigurationError(f"there is something named {name} here already; nothing was written") from None
    except OSError as error:
        raise ConfigurationError(f"cannot write {name}: {clean(error.strerror or str(error), 80)}") from error
    print(f"{name}/ has a bot, its tests and a README. Try it:")
    for command in (f"cd {name}", *TRIALS[args.language]):
        print(f"  {command.format(python=_our_python())}")
    return 0


def _our_python() -> str:
    """Return the interpreter with this package, as a path from the folder of a new project if it is beside that."""
    beside = Path(sys.executable)
    is_below = beside.is_relative_to(Path.cwd())
    return shlex.quote(str(Path("..", beside.relative_to(Path.cwd())) if is_below else beside))


def add_sandbox_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument(
        "program",
        nargs=argparse.REMAINDER,
        metavar="COMMAND",
        help="a command; the address of the server becomes its last word",
    )


def run_sandbox(args: argparse.Namespace) -> int:
    """Run a command with a server of its own, and return its exit code."""
    if not args.program:
        raise ConfigurationError(f"sandbox needs a command: {VERBS} sandbox COMMAND")
    return asyncio.run(_run_beside_server(args.program))


async def _run_beside_server(command: Sequence[str]) -> int:
    with tempfile.TemporaryDirectory(prefix="ttt_net-sandbox-") as folder:
        async with sandbox_server(folder) as url:
            environment = beside_us({**os.environ, HOME_VARIABLE: folder})
            try:
                process = await asyncio.create_subprocess_exec(*command, url, env=environment)
            except OSError as error:
                reason = clean(error.strerror or str(error), 80)
                raise ConfigurationError(f"cannot run {clean(command[0], 80)}: {reason}") from error
            try:
                return await process.wait()
            finally:
                if process.returncode is None:
                    process.terminate()
                    await process.wait()
