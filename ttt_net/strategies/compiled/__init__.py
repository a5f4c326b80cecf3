"""What is compiled by numba (the extra `engine`); imported only through `ttt_net.strategies.engine`."""

import os
from pathlib import Path

from ttt_net.strategies.compiled.outdated import keep_apart

keep_apart(Path(__file__).parent, os.environ)
