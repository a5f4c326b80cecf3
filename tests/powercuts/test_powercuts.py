"""The real server is recorded while players play, and the power is cut at hundreds of points: nothing is lost."""

import random
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.powercuts.cuts import Finding, Run, cut, record_run
from tests.powercuts.disk import SECTORS, Disk
from tests.powercuts.recorder import Record, build_recorder
from ttt_net.errors import ConfigurationError, StorageError
from ttt_net.server.journal import JOURNAL_FILE

MOVES = 600

needs_compiler = pytest.mark.skipif(
    sys.platform != "linux" or shutil.which("cc") is None, reason="the recorder is a C library for Linux"
)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("powercuts")
    return record_run(folder, build_recorder(folder), MOVES)


@pytest.fixture(autouse=True)
def journals_that_were_being_made_are_no_news(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    caplog.set_level("ERROR")
    yield
    caplog.clear()


@needs_compiler
@pytest.mark.parametrize("cuts", [80, pytest.param(400, marks=pytest.mark.long)], ids="{} cuts".format)
def test_no_cut_of_the_power_loses_what_was_acknowledged(run: Run, tmp_path: Path, cuts: int) -> None:
    database = next(each.file for each in run.records if each.kind == "C" and each.names[0].endswith(JOURNAL_FILE))
    first = run.acknowledged[0].by
    assert any(each.kind == "W" and each.file == database and each.end > first for each in run.records), (
        "the log was merged"
    )
    found = cut(run, cuts, seed=1, folder=tmp_path, start_every=cuts // 4)
    assert (found.cuts, found.lost, found.started) == (cuts, 0, 4)
    assert found.checks > cuts * len(run.acknowledged) / 4
    assert found.packed > cuts


def loses(run: Run, folder: Path, **plant: object) -> bool:
    """Tell whether cuts find something wrong: lost moves, or a journal that is not whole."""
    try:
        found: Finding = cut(run, 40, seed=2, folder=folder, **plant)  # type: ignore[arg-type]
    except (AssertionError, ConfigurationError, StorageError):  # a journal that is not whole
        return True
    return found.lost > 0


@needs_compiler
def test_a_disk_that_says_it_is_done_and_is_not_is_found(run: Run, tmp_path: Path) -> None:
    lying = [each for each in run.records if each.kind != "S" or each.end < run.acknowledged[0].by]
    assert loses(run._replace(records=lying), tmp_path)


@needs_compiler
def test_a_folder_whose_names_are_never_synchronized_is_found(run: Run, tmp_path: Path) -> None:
    assert loses(run._replace(records=[each for each in run.records if each.kind != "D"]), tmp_path)


@needs_compiler
def test_a_journal_that_goes_back_in_time_is_found(run: Run, tmp_path: Path) -> None:
    def roll_back(data: Path) -> None:
        log = data / f"{JOURNAL_FILE}-wal"
        if log.exists():
            log.write_bytes(log.read_bytes()[: log.stat().st_size // 2])

    assert loses(run, tmp_path, plant=roll_back)


def record(kind: str, data: bytes = b"", offset: int = 0, file: int = 7) -> Record:
    return Record(kind, file, offset, data, 0)


def outcomes(folder: Path, *records: Record) -> set[bytes | None]:
    """Return what the file `f` may be after a cut; None: gone."""
    disk, found = Disk(), set[bytes | None]()
    for each in records:
        disk.apply(each)
    for seed in range(300):
        left = folder / str(seed)
        left.mkdir()
        disk.after_cut(random.Random(seed), left)
        found.add((left / "f").read_bytes() if (left / "f").exists() else None)
        shutil.rmtree(left)
    return found


MADE = (record("C", b"f"), record("D", b""))


def test_synchronized_data_stays_and_other_data_may_be_lost(tmp_path: Path) -> None:
    safe = (*MADE, record("W", b"ab"), record("S"))
    assert outcomes(tmp_path, *safe) == {b"ab"}
    assert outcomes(tmp_path, *safe, record("W", b"cd", 2)) == {b"ab", b"abcd"}
    assert outcomes(tmp_path, *safe, record("T", offset=1)) == {b"ab", b"a"}


def test_later_writes_may_be_there_without_earlier_ones(tmp_path: Path) -> None:
    found = outcomes(tmp_path, *MADE, record("W", b"a"), record("W", b"b", 1))
    assert found == {b"", b"a", b"\0b", b"ab"}


def test_a_write_may_be_torn_at_every_sector(tmp_path: Path) -> None:
    small, large = SECTORS
    found = outcomes(tmp_path, *MADE, record("W", b"x" * 2 * large))
    assert b"\0" * small + b"x" * small in {each[: 2 * small] for each in found if each}
    assert b"x" * large in found


def test_a_name_is_lost_until_its_folder_is_synchronized(tmp_path: Path) -> None:
    made = (record("C", b"f"), record("W", b"a"), record("S"))
    assert outcomes(tmp_path, *made) == {None, b"a"}
    assert outcomes(tmp_path, *made, record("D", b"")) == {b"a"}
    assert outcomes(tmp_path, *made, record("D", b""), record("U", b"f")) == {None, b"a"}
    moved = (record("C", b"g", file=8), record("W", b"b", file=8), record("S", file=8), record("R", b"g\0f"))
    assert outcomes(tmp_path, *made, record("D", b""), *moved) == {b"a", b"b"}
