import errno
import json
import os
import random
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from platformdirs import user_data_path

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


def test_when_every_number_is_taken_there_is_no_identity() -> None:
    with pytest.raises(AssertionError, match="a thousand clients"):
        identity.take_numbered(SERVER, "Ann", frozenset(identity.numbered("Ann")))


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
    (home / "name").write_text("\x1b\n")
    assert identity.remembered_name() is None


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


def test_identities_are_kept_in_the_users_own_folder_unless_another_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for unset in (None, ""):
        monkeypatch.delenv(identity.HOME_VARIABLE, raising=False)
        if unset is not None:
            monkeypatch.setenv(identity.HOME_VARIABLE, unset)
        assert identity.home() == user_data_path("ttt_net", appauthor=False) / "client"


@pytest.mark.parametrize(
    ("error", "why"),
    [(None, ""), (OSError(errno.ENOSPC, "No space left on device"), "no space left on device"), (OSError(), "failed")],
)
def test_a_token_that_cannot_be_kept_is_told_at_once(
    home: Path, monkeypatch: pytest.MonkeyPatch, error: OSError | None, why: str
) -> None:
    mine, said = taken("Ann"), list[str]()
    if error is not None:

        def fails(*_: object) -> None:
            raise error

        monkeypatch.setattr(identity, "write_private", fails)
    mine.keeping(said.append)("secret")
    mine.release()
    assert len(said) == bool(error)
    for sentence in said:
        assert f"{home} cannot be written (" in sentence
        assert f"{why})" in sentence
        assert "After you leave, Ann and the ratings here are lost to you." in sentence
    assert identity.is_known(SERVER, "Ann") is (error is None)


def test_without_locks_two_clients_have_one_identity(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(identity, "fcntl", None)
    first, second = taken("Ann"), taken("Ann")
    first.keep_token("secret")
    assert second.token() == "secret"
    for each in (first, second):
        each.release()


SERVERS = ("localhost:1", "127.0.0.1:1", "::1:1", "127.0.0.1:2", "far:1", "far:2")
JOURNALS = (None, None, "/a", "/b")
UNREADABLE = ("", "{", "[]", '"text"')
NO_TOKENS = (None, 5, "", "x" * 81)
PRESENT_NS = 10**15
"""Times of files are set to the number of the step that wrote them: what is later was written in this step."""
Key = tuple[str, str]
"""A server or journal, and a name in small letters."""


class Cupboard:
    """A plain table beside the real files: the content that each must have, and when it was written last."""

    def __init__(self, home: Path, seed: int) -> None:
        self._home, self._rng, self._step = home, random.Random(seed), 0
        self._kept: dict[Key, tuple[str, Any, int]] = {}
        """The name as it was typed, the token, and the step in which the file became what it is."""
        self._keys: dict[Path, Key] = {}

    def act(self) -> None:
        """Do something as an identity that is drawn, and the same in the table."""
        self._step += 1
        server, name = self._rng.choice(SERVERS), self._rng.choice(["Ann", "ANN", "Ben"])
        journal = None if "far" in server else self._rng.choice(JOURNALS)
        here = server if "far" in server else f"localhost:{server[-1]}"
        keys = [(each, name.lower()) for each in (journal, here, server) if each]
        mine = identity.take(server, name, journal)
        assert mine is not None
        match self._rng.choice(["look", "look", "keep", "keep", "drop", "spoil"]):
            case "look":
                assert mine.token() == self._token(keys, name, is_ours=journal is not None)
            case "keep":
                new = self._rng.choice(["t", "u", "v" * 80])
                mine.keep_token(new)
                self._keep(keys, name, new)
            case "drop":
                mine.drop_token()
                token = self._token(keys, name, is_ours=journal is not None)
                for key in {*keys, *(near for near in self._near(keys) if self._token_at(near) == token)}:
                    self._kept.pop(key, None)
            case _:
                self._spoil()
        mine.release()

    def compare(self) -> None:
        """Check that the files say what the table says, and that no other was written."""
        found: dict[Key, tuple[str, Any, int]] = {}
        for path in self._home.glob("*.json"):
            written, text = path.stat().st_mtime_ns, path.read_text()
            if written > PRESENT_NS:
                written = self._step
                os.utime(path, ns=(written, written))
            if text in UNREADABLE:
                found[self._keys[path]] = ("", UNREADABLE, written)
                continue
            said = json.loads(text)
            self._keys[path] = said["server"], said["name"].lower()
            found[self._keys[path]] = (said["name"], said["token"], written)
        assert found == self._kept

    def _keep(self, keys: list[Key], name: str, token: str) -> None:
        for key in keys:
            if self._kept.get(key, ())[:2] != (name, token):
                self._kept[key] = name, token, self._step

    def _token(self, keys: list[Key], name: str, *, is_ours: bool) -> str | None:
        """Return the first token of the keys, which all of them have from then on, or the newest on this machine."""
        tokens = [self._token_at(key) for key in keys]
        known = [token for token in tokens if token]
        if known and tokens != known[:1] * len(keys):
            self._keep(keys, name, known[0])
        near = [token for key in self._near(keys) if (token := self._token_at(key))] if is_ours else []
        return next(iter(known + near), None)

    def _token_at(self, key: Key) -> str | None:
        _, token, _ = self._kept.get(key, ("", None, 0))
        return None if token in NO_TOKENS or token is UNREADABLE else token

    def _near(self, keys: list[Key]) -> list[Key]:
        """Return the keys of that name on servers of this machine whose files can be read, the newest first."""
        own = [key for key in self._kept if key[1] == keys[0][1] and "far" not in key[0] and "/" not in key[0]]
        return sorted((key for key in own if self._kept[key][1] is not UNREADABLE), key=lambda key: -self._kept[key][2])

    def _spoil(self) -> None:
        """Let somebody else write into one of the files."""
        for path in self._rng.sample(sorted(self._home.glob("*.json")), min(1, len(self._kept))):
            server, name = self._keys[path]
            token = self._rng.choice([*NO_TOKENS, UNREADABLE])
            text = json.dumps({"server": server, "name": name, "token": token})
            path.write_text(self._rng.choice(UNREADABLE) if token is UNREADABLE else text)
            self._kept[self._keys[path]] = ("" if token is UNREADABLE else name, token, self._step)


@pytest.mark.parametrize("seed", range(3))
def test_tokens_are_kept_found_and_dropped_as_in_a_plain_table(home: Path, seed: int) -> None:
    cupboard = Cupboard(home, seed)
    for _ in range(300):
        cupboard.act()
        cupboard.compare()
