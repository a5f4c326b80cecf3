"""Give each version of the compiled sources a cache folder of its own.

numba reuses a compiled function for as long as the function's own file stays the same. But kernels inline functions of
other files: after an update to one of those files alone, numba would keep running outdated code.

Searches compiled by numba (the extra `engine`); imported only through `ttt_net.strategies.engine`.
"""

import os
import sys
from collections.abc import MutableMapping
from hashlib import sha256
from pathlib import Path

CACHE_DIR = "NUMBA_CACHE_DIR"
PREFIX = "ttt_net-"
"""How the name of a folder begins; the digest of the sources follows."""


def use_versioned_cache(folder: Path, environment: MutableMapping[str, str]) -> None:
    """Set where numba caches what it compiles from a folder of sources; call this before numba is loaded.

    The cache is a folder named by the digest of the sources: below `NUMBA_CACHE_DIR` or systemd's `CACHE_DIRECTORY` if
    one is set, otherwise beside the sources, or in the user's own cache if nothing can be written there.
    """
    given = environment.get(CACHE_DIR) or environment.get("CACHE_DIRECTORY", "").partition(":")[0]
    place = Path(given) if given else _place_beside(folder)
    if place.name.startswith(PREFIX):  # set by a process that has started this one, perhaps of another version
        place = place.parent
    environment[CACHE_DIR] = str(place / f"{PREFIX}{_digest(folder)[:16]}")


def _place_beside(folder: Path) -> Path:
    beside = folder / "__pycache__"
    is_usable = beside.is_dir() if beside.exists() else True
    if is_usable and os.access(beside if beside.exists() else folder, os.W_OK):
        return beside
    return Path("~/.cache").expanduser()


def _digest(folder: Path) -> str:
    return sha256(b"\0".join(path.read_bytes() for path in sorted(folder.glob("*.py")))).hexdigest()


use_versioned_cache(Path(__file__).parent, os.environ)
if "numba" in sys.modules:  # loaded before us, it has read the environment already
    sys.modules["numba"].config.reload_config()
