"""Where compiled code is kept, so that what an older version of the sources has left there is not used again.

numba keeps what it has compiled of a function for as long as the function's own file stays the same. But kernels take
in functions of other files, and after an update that has changed only those it would go on with the old ones.
"""

import os
import shutil
from collections.abc import MutableMapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

_STAMP = "sources.sha256"
_PLACE = "NUMBA_CACHE_DIR"
UNUSED_S = 30 * 86_400
"""For how long code is kept that nobody has used: another version may be installed beside this one."""


def keep_apart(folder: Path, environment: MutableMapping[str, str]) -> None:
    """Let numba, which is not loaded yet, keep what it compiles of a folder of sources away from all older code.

    That is beside the sources, or in a folder of their digest: below the place that `NUMBA_CACHE_DIR` or systemd's
    `CACHE_DIRECTORY` names, or below the user's own cache if nothing can be written beside the sources.
    """
    given = environment.get(_PLACE) or environment.get("CACHE_DIRECTORY", "").partition(":")[0]
    beside = folder / "__pycache__"
    if not given and os.access(beside if beside.exists() else folder, os.W_OK):
        forget_outdated(folder)
        return
    name = f"ttt_net-{_digest(folder)[:16]}"
    place = Path(given or Path("~/.cache").expanduser())
    kept = place if place.name == name else place / name  # the same for processes that we start
    environment[_PLACE] = str(kept)
    forget_unused(kept)


def forget_unused(kept: Path) -> None:
    """Note by its date that a folder of code is in use; delete those beside it that have not been for `UNUSED_S`.

    A program that has loaded its code does without the folder, and the next of that version compiles anew.
    """
    with suppress(OSError):
        kept.mkdir(parents=True, exist_ok=True)
        os.utime(kept)
        now_s = kept.stat().st_mtime
        for other in kept.parent.glob("ttt_net-" + 16 * "[0-9a-f]"):
            if now_s - other.stat().st_mtime > UNUSED_S:
                shutil.rmtree(other, ignore_errors=True)


def forget_outdated(folder: Path) -> None:
    """Delete what is kept below a folder of sources if it is not known to have been compiled of them as they are now.

    Where nothing can be written numba keeps nothing there either.
    """
    sources = _digest(folder)
    kept = folder / "__pycache__"
    stamp = kept / _STAMP
    with suppress(OSError):
        if stamp.exists() and stamp.read_text() == sources:
            return
        for path in (*kept.glob("*.nbi"), *kept.glob("*.nbc")):
            path.unlink(missing_ok=True)
        kept.mkdir(exist_ok=True)
        stamp.write_text(sources)


def _digest(folder: Path) -> str:
    return sha256(b"\0".join(path.read_bytes() for path in sorted(folder.glob("*.py")))).hexdigest()
