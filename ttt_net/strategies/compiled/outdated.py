"""Compiled code that an older version of the sources has left on the disk.

numba keeps what it has compiled of a function for as long as the function's own file stays the same. But kernels take
in functions of other files, and after an update that has changed only those it would go on with the old ones.
"""

from contextlib import suppress
from hashlib import sha256
from pathlib import Path

_STAMP = "sources.sha256"


def forget_outdated(folder: Path) -> None:
    """Delete what is kept below a folder of sources if it is not known to have been compiled of them as they are now.

    Where nothing can be written numba keeps nothing there either.
    """
    sources = sha256(b"\0".join(path.read_bytes() for path in sorted(folder.glob("*.py")))).hexdigest()
    kept = folder / "__pycache__"
    stamp = kept / _STAMP
    with suppress(OSError):
        if stamp.exists() and stamp.read_text() == sources:
            return
        for path in (*kept.glob("*.nbi"), *kept.glob("*.nbc")):
            path.unlink(missing_ok=True)
        kept.mkdir(exist_ok=True)
        stamp.write_text(sources)
