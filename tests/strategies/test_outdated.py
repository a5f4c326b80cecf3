"""What was compiled of older sources is not used again."""

import os
import time
from pathlib import Path

import pytest

from ttt_net.strategies.compiled.outdated import forget_outdated, keep_apart

OLD, YOUNG = "ttt_net-0123456789abcdef", "ttt_net-fedcba9876543210"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "kernel.py").write_text("from inlined import step")
    (tmp_path / "inlined.py").write_text("def step(): return 1")
    return tmp_path


def compiled(folder: Path) -> list[Path]:
    """Leave behind what numba would."""
    kept = [folder / "__pycache__" / name for name in ("kernel.search-1.nbi", "kernel.search-1.1.nbc")]
    for path in kept:
        path.write_bytes(b"machine code")
    return kept


def test_code_stays_while_all_sources_stay(folder: Path) -> None:
    forget_outdated(folder)
    kept = compiled(folder)
    forget_outdated(folder)
    assert all(path.exists() for path in kept)


def test_a_change_of_any_source_ends_the_code_of_all(folder: Path) -> None:
    forget_outdated(folder)
    kept = compiled(folder)
    (folder / "inlined.py").write_text("def step(): return 2")
    forget_outdated(folder)
    assert not any(path.exists() for path in kept)


def test_code_of_unknown_sources_is_not_trusted(folder: Path) -> None:
    (folder / "__pycache__").mkdir()
    kept = compiled(folder)
    forget_outdated(folder)
    assert not any(path.exists() for path in kept)


@pytest.mark.parametrize("word", ["NUMBA_CACHE_DIR", "CACHE_DIRECTORY"])
def test_in_a_place_that_is_given_each_state_of_the_sources_has_a_folder_of_its_own(folder: Path, word: str) -> None:
    places = []
    for step in ("1", "2", "1"):
        (folder / "inlined.py").write_text(f"def step(): return {step}")
        environment = {word: str(folder / "cache")}
        keep_apart(folder, environment)
        places.append(environment["NUMBA_CACHE_DIR"])
        keep_apart(folder, environment)
        assert environment["NUMBA_CACHE_DIR"] == places[-1], "a process that we start keeps it where we do"
    first, second, third = places
    assert first == third != second
    assert {Path(place).parent for place in places} == {folder / "cache"}


def test_a_folder_of_code_that_was_not_used_for_a_month_is_deleted_and_nothing_else(folder: Path) -> None:
    cache = folder / "cache"
    old, young, strange = (cache / name for name in (OLD, YOUNG, "ttt_net-notes"))
    for place, days in ((old, 31), (young, 29), (strange, 99)):
        (place / "sub").mkdir(parents=True)
        (place / "sub" / "kernel.nbc").touch()
        os.utime(place, (time.time() - days * 86_400,) * 2)
    environment = {"NUMBA_CACHE_DIR": str(cache)}
    keep_apart(folder, environment)
    ours = Path(environment["NUMBA_CACHE_DIR"])
    assert set(cache.iterdir()) == {young, strange, ours}
    os.utime(ours, (0, 0))
    keep_apart(folder, environment)
    assert ours.stat().st_mtime > time.time() - 86_400, "who uses it says so"


def test_without_a_place_it_is_beside_the_sources_or_in_the_users_own_cache(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment: dict[str, str] = {}
    keep_apart(folder, environment)
    assert environment == {}
    assert (folder / "__pycache__" / "sources.sha256").exists()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setattr("os.access", lambda path, mode: False)  # the tests may be run by root, who may write anywhere
    keep_apart(folder, environment)
    assert Path(environment["NUMBA_CACHE_DIR"]).parent == folder / ".cache"


def test_a_folder_that_cannot_be_written_is_left_alone(folder: Path) -> None:
    (folder / "__pycache__").write_text("a file where the folder should be")
    forget_outdated(folder)
    assert (folder / "__pycache__").is_file()
