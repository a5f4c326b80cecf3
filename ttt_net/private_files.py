"""Small private files that survive a power cut: each is replaced whole, and is on disk when the call returns."""

import os
import tempfile
from pathlib import Path


def write_private(path: Path, content: str | bytes, mode: int = 0o600) -> None:
    """Replace the file whole, by default readable by its owner only; create its folder if needed.

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
    """Make the folder, and those above it, with mode 0700 where there are none; each stays after a power cut."""
    if folder.is_dir():
        return
    make_private_folder(folder.parent)
    folder.mkdir(mode=0o700, exist_ok=True)
    sync(folder.parent)


def sync(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk; a folder only where a system can be asked that."""
    if os.name != "posix" and path.is_dir():
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
