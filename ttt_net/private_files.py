"""Small private files that survive a power cut: each is replaced whole, and is on disk when the call returns."""

import os
import tempfile
from pathlib import Path


def write_private(path: Path, content: str | bytes, mode: int = 0o600) -> None:
    """Replace the whole file, by default readable only by its owner; create its folder if needed.

    After a power cut the file is either the old or the new one. Raises `OSError` if that fails.
    """
    data = content.encode() if isinstance(content, str) else content
    if path.is_file() and path.read_bytes() == data and path.stat().st_mode & 0o777 == mode:
        return  # a server that starts again on a full disk has nothing new to write
    make_private_folder(path.parent)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=".new-")  # created with mode 0600
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if mode != 0o600:
            Path(temporary).chmod(mode)
        Path(temporary).replace(path)
    except OSError:
        Path(temporary).unlink(missing_ok=True)
        raise
    sync(path.parent)


def make_private_folder(folder: Path) -> None:
    """Create the folder, and missing parents, with mode 0700; each survives a power cut."""
    if folder.is_dir():
        return
    make_private_folder(folder.parent)
    folder.mkdir(mode=0o700, exist_ok=True)
    sync(folder.parent)


def sync(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on disk; some systems cannot do so for folders."""
    if os.name != "posix" and path.is_dir():
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
