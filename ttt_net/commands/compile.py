"""`compile`: compile the engine now, so that nobody's first move waits for it."""

import argparse
import sys

from ttt_net.errors import ConfigurationError
from ttt_net.strategies.engine import compile_all, is_cold, is_installed
from ttt_net.strategies.strategy import Effort, Limit


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's options: it has none."""


def run(args: argparse.Namespace) -> int:
    """Compile the kernels that are not compiled yet; return the exit status."""
    if not is_installed():
        raise ConfigurationError("there is nothing to compile: numba is not installed (the extra engine)")
    if is_cold():
        print("compiling the engine, which takes half a minute, once ...", file=sys.stderr, flush=True)
    watch = Effort(Limit())
    names = list(compile_all())
    print(f"the engine is ready: {', '.join(names)} in {watch.counts().ms / 1000:.1f} s")
    return 0
