"""Searches compiled by numba (the extra `engine`); imported only through `ttt_net.strategies.engine`."""

import os
import sys
from pathlib import Path

from ttt_net.strategies.compiled.kernel_cache import use_versioned_cache

use_versioned_cache(Path(__file__).parent, os.environ)
if "numba" in sys.modules:  # loaded before us, it has read the environment already
    sys.modules["numba"].config.reload_config()
