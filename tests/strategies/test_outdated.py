"""What was compiled of older sources is not used again."""

from pathlib import Path

import pytest

from ttt_net.strategies.compiled.outdated import forget_outdated


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


def test_a_folder_that_cannot_be_written_is_left_alone(folder: Path) -> None:
    (folder / "__pycache__").write_text("a file where the folder should be")
    forget_outdated(folder)
    assert (folder / "__pycache__").is_file()
