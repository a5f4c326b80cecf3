"""What is compiled by numba (the extra `engine`); imported only through `ttt_net.strategies.engine`."""

from pathlib import Path

from ttt_net.strategies.compiled.outdated import forget_outdated

forget_outdated(Path(__file__).parent)
