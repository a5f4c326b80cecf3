"""The content of a disk after a power cut: a model of files whose unsynchronized writes may be lost, torn, or there.

Only a sync is believed: a file keeps what it had at its last `fsync`, and of each later write any sectors may be on the
disk or not, in any order. Names are kept by the sync of their folder; of later changes some first part is there, in
order, as journals of file systems have it.
"""

import random
from dataclasses import dataclass, field
from pathlib import Path
from pathlib import PurePosixPath as Name

from tests.powercuts.recorder import Record

SECTORS = (512, 4_096)


@dataclass
class _File:
    """Bytes that are safe, and the writes and truncations (without data) since."""

    safe: bytearray = field(default_factory=bytearray)
    pending: list[tuple[int, bytes | None]] = field(default_factory=list)

    def sync(self) -> None:
        for offset, data in self.pending:
            _write(self.safe, offset, data)
        self.pending.clear()

    def after_cut(self, rng: random.Random) -> bytes:
        content = bytearray(self.safe)
        share = rng.choice([0.0, 0.5, 1.0, rng.random()])
        sector = rng.choice(SECTORS)
        for offset, data in self.pending:
            if data is None:
                if rng.random() < share:
                    _write(content, offset, None)
                continue
            at = offset
            while at < offset + len(data):
                end = min(offset + len(data), (at // sector + 1) * sector)
                if rng.random() < share:
                    _write(content, at, data[at - offset : end - offset])
                at = end
        return bytes(content)


def _write(content: bytearray, offset: int, data: bytes | None) -> None:
    """Write bytes at the offset, after zeros if the file is shorter; None cuts or extends the file to it."""
    size = offset + len(data or b"")
    content.extend(bytes(max(0, size - len(content))))
    if data is None:
        del content[offset:]
    else:
        content[offset:size] = data


class Disk:
    """The files of one folder, as the records so far have made them."""

    def __init__(self) -> None:
        self._files: dict[int, _File] = {}
        """By the numbers that the records have."""
        self._names: dict[str, _File | None] = {}
        """Names that are safe; None: a folder."""
        self._changes: list[tuple[str, Record, _File | None]] = []
        """Changes of names since, each with the folder whose sync makes it safe."""

    def apply(self, record: Record) -> None:
        """Do what was recorded."""
        match record.kind:
            case "W":
                self._file(record).pending.append((record.offset, record.data))
            case "T":
                self._file(record).pending.append((record.offset, None))
            case "S":
                self._file(record).sync()
            case "D":
                folder = record.names[0] or "."
                kept = [each for each in self._changes if each[0] != folder]
                for _, change, file in (each for each in self._changes if each[0] == folder):
                    _rename(self._names, change, file)
                self._changes = kept
            case "C":
                self._files[record.file] = file = _File()
                self._change(record, file)
            case "O":
                self._file(record)
            case "M" | "U" | "R" | "L":
                self._change(record, None)
            case _:
                raise AssertionError(f"unknown record {record.kind}")

    def _file(self, record: Record) -> _File:
        return self._files.setdefault(record.file, _File())

    def _change(self, record: Record, file: _File | None) -> None:
        self._changes.append((str(Name(record.names[-1]).parent), record, file))

    def after_cut(self, rng: random.Random, folder: Path) -> None:
        """Write what is left after a power cut into an empty folder."""
        names = dict(self._names)
        for _, change, file in self._changes[: rng.choice([0, len(self._changes), rng.randint(0, len(self._changes))])]:
            _rename(names, change, file)
        for name, kept in sorted(names.items()):
            path = folder / name
            if not path.parent.is_dir():
                continue  # its folder was lost
            if kept is None:
                path.mkdir(mode=0o700)
            else:
                path.touch(mode=0o600)
                path.write_bytes(kept.after_cut(rng))


def _rename(names: dict[str, _File | None], change: Record, file: _File | None) -> None:
    first, *others = change.names
    if change.kind in "CM":
        names[first] = file
    elif change.kind == "U":
        names.pop(first, None)
    elif first in names:
        names[others[0]] = names.pop(first) if change.kind == "R" else names[first]
