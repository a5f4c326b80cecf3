"""Code compiled from other sources is not used."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ttt_net.strategies.compiled import use_versioned_cache


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "kernel.py").write_text("from inlined import step")
    (tmp_path / "inlined.py").write_text("def step(): return 1")
    return tmp_path


def place_for(folder: Path, environment: dict[str, str]) -> Path:
    use_versioned_cache(folder, environment)
    return Path(environment["NUMBA_CACHE_DIR"])


@pytest.mark.parametrize("word", ["NUMBA_CACHE_DIR", "CACHE_DIRECTORY", None])
def test_each_state_of_the_sources_has_a_folder_of_its_own(folder: Path, word: str | None) -> None:
    places = []
    for step in ("1", "2", "1"):
        (folder / "inlined.py").write_text(f"def step(): return {step}")
        places.append(place_for(folder, {word: str(folder / "cache")} if word else {}))
    first, second, third = places
    assert first == third != second
    assert {place.parent for place in places} == {folder / ("cache" if word else "__pycache__")}


def test_a_process_that_we_start_uses_the_same_place_by_its_own_version(folder: Path) -> None:
    environment = {"NUMBA_CACHE_DIR": str(folder / "cache")}
    ours = place_for(folder, environment)
    assert place_for(folder, environment) == ours
    (folder / "inlined.py").write_text("def step(): return 2")
    newer = place_for(folder, environment)
    assert newer.parent == ours.parent
    assert newer != ours


def test_the_cache_is_in_the_users_own_folder_if_the_sources_are_read_only(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(folder))
    (folder / "__pycache__").write_text("a file where the folder should be")
    assert place_for(folder, {}).parent == folder / ".cache"
    (folder / "__pycache__").unlink()
    monkeypatch.setattr("os.access", lambda path, mode: False)  # the tests may be run by root, who may write anywhere
    assert place_for(folder, {}).parent == folder / ".cache"


def test_numba_uses_the_same_cache_if_it_was_loaded_before(tmp_path: Path) -> None:
    pytest.importorskip("numba")
    program = "import numba, ttt_net.strategies.compiled; print(numba.config.CACHE_DIR)"
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    found = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert Path(found.stdout.strip()).parent == tmp_path
    assert Path(found.stdout.strip()).name.startswith("ttt_net-")
