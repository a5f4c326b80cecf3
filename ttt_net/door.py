"""How `server.py` and `client.py` come in: with any Python that finds what is needed, or else with the one in .venv.

Runs before anything else is known to be there, so it needs nothing but the standard library of any Python 3.
"""

import os
import sys
from importlib import import_module
from pathlib import Path

OLDEST = (3, 11)


def enter(module: str) -> None:
    """Run `main` of the module and exit with what it returns."""
    program = Path(sys.argv[0]).name
    try:
        if sys.version_info < OLDEST:
            raise ImportError("this is Python {}.{}".format(*sys.version_info))
        main = import_module(module).main
    except ImportError as missing:
        installed = Path(__file__).resolve().parent.parent / ".venv" / "bin" / "python"
        if installed.exists() and Path(sys.prefix).resolve() != installed.parent.parent:
            os.execv(installed, [str(installed), *sys.argv])  # noqa: S606 - the same program, by the Python that `make install` made
        print(f"{program}: {missing}; `make install` gets what is needed, for Python 3.11 or later", file=sys.stderr)
        sys.exit(2)
    sys.exit(main())
