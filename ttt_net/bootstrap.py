"""Start the scripts and the verbs with this Python if it has the packages they need, otherwise with the one in .venv.

This module runs before any package is known to be installed, so it uses only the standard library of Python 3.9 and
later.
"""

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import NoReturn

OLDEST = (3, 11)
INTERRUPTED = 130
"""The exit code of a program that Ctrl-C ended, by the convention of shells."""


@contextmanager
def quick_to_end() -> Iterator[None]:
    """End the process immediately on Ctrl-C inside the block, which loads modules.

    The import system releases its locks in callbacks that must not raise: an interrupt in one is printed and lost.
    """
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:  # background jobs ignore SIGINT
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def enter(module: str) -> None:
    """Run `main` of the module and exit with its result, or with 130 if interrupted while loading."""
    try:
        try:
            if sys.version_info < OLDEST:
                raise ImportError("this is Python {}.{}".format(*sys.version_info))
            with quick_to_end():
                main = import_module(module).main
        except ImportError as missing:
            go_elsewhere(missing, Path(sys.argv[0]).name, sys.argv)
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


def go_elsewhere(missing: ImportError, program: str, arguments: Sequence[str]) -> NoReturn:
    """Run the same program with the Python that `make install` set up. Without one, print a message and exit with 2."""
    installed = Path(__file__).resolve().parent.parent / ".venv" / "bin" / "python"
    if installed.exists() and Path(sys.prefix).resolve() != installed.parent.parent:
        os.execv(installed, [str(installed), *arguments])  # noqa: S606 - the same program, with its packages
    print(f"{program}: {missing}; `make install-player` gets what is needed, for Python 3.11 or later", file=sys.stderr)
    sys.exit(2)
