import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from ttt_net.messages import MAX_NAME_CELLS
from ttt_net.sdk import identity
from ttt_net.text import clean

SERVER = "localhost:8765"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    monkeypatch.setenv(identity.HOME_VARIABLE, str(folder))
    return folder


def taken(name: str, server: str = SERVER) -> identity.Identity:
    mine = identity.take(server, name)
    assert mine is not None
    return mine


def test_a_token_is_kept_for_a_server_and_a_name() -> None:
    mine = taken("Ann")
    assert mine.token() is None
    mine.keep_token("secret")
    assert mine.token() == "secret"
    mine.release()
    for other in (taken("Ben"), taken("Ann", "elsewhere:8765")):
        assert other.token() is None
        other.release()
    again = taken("ann")
    assert again.token() == "secret", "a name means the same player in any case of letters, as on the server"
    again.release()


def test_our_own_server_is_identified_by_its_journal_at_any_port() -> None:
    def hosted(server: str, journal: str = "/data") -> identity.Identity:
        mine = identity.take(server, "Ann", journal)
        assert mine is not None
        mine.release()
        return mine

    hosted("localhost:8765").keep_token("secret")
    assert identity.is_known("localhost:9000", "Ann", "/data")
    assert hosted("localhost:9000").token() == "secret"
    guest = taken("Ann", "localhost:9000")
    assert guest.token() == "secret", "and without --host it is the same server"
    guest.release()
    hosted("localhost:9000", "/other").keep_token("another")
    assert hosted("localhost:9000").token() == "secret", "the journal says more than the port"
    hosted("localhost:9000").drop_token()
    assert hosted("localhost:9000").token() is None


def test_a_server_of_our_own_that_ran_elsewhere_without_us_knows_our_name() -> None:
    mine = taken("Ann", "127.0.0.1:9000")
    mine.keep_token("secret")
    mine.release()
    ours = identity.take("localhost:8765", "ann", "/data")
    assert ours is not None
    assert ours.token() == "secret"
    ours.drop_token()
    assert ours.token() is None
    ours.release()
    assert not identity.is_known("127.0.0.1:9000", "Ann"), "what is dropped is dropped everywhere"


def test_the_names_of_this_machine_are_one_server() -> None:
    mine = identity.take(SERVER, "Ann", "/data")
    assert mine is not None
    mine.keep_token("secret")
    assert identity.take("127.0.0.1:8765", "Ann") is None, "she is playing already"
    mine.release()
    for server in ("127.0.0.1:8765", "::1:8765", SERVER):
        again = taken("Ann", server)
        assert again.token() == "secret"
        again.release()
    for other in ("127.0.0.1:9000", "192.168.1.20:8765"):
        assert not identity.is_known(other, "Ann")


def test_a_token_that_was_kept_under_another_name_of_this_machine_is_still_ours(home: Path) -> None:
    mine = taken("Ann", "127.0.0.1:8765")
    mine.keep_token("secret")
    newer = next(path for path in home.glob("*.json") if json.loads(path.read_text())["server"] == SERVER)
    newer.unlink()
    assert mine.token() == "secret"
    mine.release()
    assert identity.is_known(SERVER, "Ann"), "and from then on under all of them"


def test_nobody_else_can_read_what_is_kept(home: Path) -> None:
    mine = taken("Ann")
    mine.keep_token("secret")
    identity.remember_name("Ann")
    mine.release()
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    files = list(home.iterdir())
    assert len(files) == 3
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}


def test_a_file_is_replaced_whole_and_leaves_nothing_behind(home: Path) -> None:
    mine = taken("Ann")
    mine.keep_token("first")
    mine.keep_token("second")
    mine.release()
    tokens = [json.loads(file.read_text())["token"] for file in home.glob("*.json")]
    assert tokens == ["second"]
    assert not list(home.glob(".new-*"))


@pytest.mark.parametrize("text", ["", "{", "[]", '{"token": 5}', '{"token": ""}', json.dumps({"token": "x" * 500})])
def test_a_spoilt_file_counts_as_none(home: Path, text: str) -> None:
    mine = taken("Ann")
    mine.keep_token("secret")
    next(home.glob("*.json")).write_text(text)
    assert mine.token() is None
    mine.release()


def test_an_identity_in_use_is_not_given_again() -> None:
    mine = taken("Ann")
    assert identity.take(SERVER, "Ann") is None
    assert identity.take(SERVER, "ANN") is None
    second = identity.take_numbered(SERVER, "Ann")
    third = identity.take_numbered(SERVER, "Ann", frozenset({"Ann-3"}))
    assert (second.name, third.name) == ("Ann-2", "Ann-4")
    for each in (mine, second, third):
        each.release()
    taken("Ann").release()


def test_an_identity_is_free_again_when_its_process_was_killed() -> None:
    take = f"mine = identity.take({SERVER!r}, 'Ann')"
    program = f"from ttt_net.sdk import identity; {take}; print('taken', flush=True); input()"
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=os.environ.copy()
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"taken\n"
        assert identity.take(SERVER, "Ann") is None
        process.kill()
    taken("Ann").release()


def test_the_typed_name_is_remembered_and_cleaned(home: Path) -> None:
    assert identity.remembered_name() is None
    identity.remember_name("Ann")
    assert identity.remembered_name() == "Ann"
    (home / "name").write_text("A\x1b[2Jnn\n")
    assert identity.remembered_name() == "A[2Jnn"


def test_numbered_names_are_names(home: Path) -> None:
    wide = "名" * 10
    names = identity.numbered(wide)
    for name in [next(names) for _ in range(30)]:
        assert clean(name, MAX_NAME_CELLS) == name
    assert not home.exists()


def test_without_a_writable_folder_playing_still_works(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv(identity.HOME_VARIABLE, str(tmp_path / "file"))
    mine = taken("Ann")
    mine.keep_token("secret")
    assert mine.token() is None
    identity.remember_name("Ann")
    assert identity.remembered_name() is None
    mine.release()
