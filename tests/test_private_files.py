"""Small files after a power cut: unsynced data is assumed to be lost."""

import os
import stat
from pathlib import Path

import pytest

from ttt_net.private_files import make_private_folder, write_private
from ttt_net.server.admin.admin_server import TOKEN_FILE, open_listener
from ttt_net.server.journal import Database
from ttt_net.server.settings.listening import load, self_signed


class Disk:
    """Notes what was on the disk whenever something was synced: sizes of files, names in folders."""

    def __init__(self) -> None:
        self._sizes: dict[int, int] = {}
        self._names: dict[int, frozenset[str]] = {}
        self._fsync = os.fsync

    def sync(self, descriptor: int) -> None:
        """Stand in for `os.fsync`."""
        self._fsync(descriptor)
        found = os.fstat(descriptor)
        if stat.S_ISDIR(found.st_mode):
            self._names[found.st_ino] = frozenset(os.listdir(descriptor))
        else:
            self._sizes[found.st_ino] = found.st_size

    def keeps(self, path: Path) -> bool:
        """Tell whether a file with all that is in it, or a folder, would be there after a power cut."""
        found = path.stat()
        is_named = path.name in self._names.get(path.parent.stat().st_ino, ())
        return is_named and (path.is_dir() or self._sizes.get(found.st_ino) == found.st_size)


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    """Watch what is synced."""
    noted = Disk()
    monkeypatch.setattr(os, "fsync", noted.sync)
    return noted


def test_a_file_is_kept_whole_with_its_folders(tmp_path: Path, disk: Disk) -> None:
    path = tmp_path / "a" / "b" / "file"
    for content in ("first", "second, and longer"):
        write_private(path, content)
        assert all(map(disk.keeps, (path, path.parent, path.parent.parent)))
        assert path.read_text() == content
    assert [each.name for each in path.parent.iterdir()] == ["file"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_file_that_cannot_be_written_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    write_private(path, "first")

    def fail(_: int) -> None:
        raise OSError(5, "no such luck")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="no such luck"):
        write_private(path, "second")
    assert path.read_text() == "first"
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_the_token_of_the_admin_is_kept(tmp_path: Path, disk: Disk) -> None:
    listener = open_listener("127.0.0.1:0", tmp_path)
    assert listener
    listener.listening.close()
    assert disk.keeps(tmp_path / TOKEN_FILE)


def test_the_folder_of_the_journal_is_kept(tmp_path: Path, disk: Disk) -> None:
    folder = tmp_path / "made" / "by --data"
    Database(folder / "journal.sqlite").close()
    assert disk.keeps(folder)
    assert disk.keeps(folder.parent)
    make_private_folder(folder)


def test_a_certificate_of_our_own_is_kept_and_made_anew_where_only_its_key_was(tmp_path: Path, disk: Disk) -> None:
    cert, key = self_signed(tmp_path)
    assert all(map(disk.keeps, (cert, key)))
    before = cert.read_bytes()
    assert self_signed(tmp_path) == (cert, key)
    assert cert.read_bytes() == before
    (tmp_path / "other").mkdir()
    _, other = self_signed(tmp_path / "other")
    other.replace(key)
    load(*self_signed(tmp_path))
    assert cert.read_bytes() != before
    cert.write_bytes(b"")
    load(*self_signed(tmp_path))
