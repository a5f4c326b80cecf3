"""Matches in a server's journal are replayed and exported by their id, also while the server holds it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ttt_net import messages as wire
from ttt_net.__main__ import main
from ttt_net.client.saved_matches import keep_record
from ttt_net.commands import export
from ttt_net.server.journal import JOURNAL_FILE, Journal, LocalLedger
from ttt_net.server.players import Player


@pytest.fixture
async def data(tmp_path: Path) -> Path:
    """A folder with two matches in it: abcdefgh was resigned after one move, abcdefgh-2 goes on."""
    ledger = LocalLedger(tmp_path / JOURNAL_FILE)
    journal = Journal(ledger)
    answers: list[object] = []
    players = (wire.PlayerInfo("Ann"), wire.PlayerInfo("Bob"))
    heard = answers.append
    for number, name in enumerate(("Ann", "Bob")):
        journal.register(name, f"token{number}", None, 0, heard, heard)
    for match in ("abcdefgh", "abcdefgh-2"):
        started = wire.Started(match=match, seq=1, at_ms=0, game="tictactoe", players=players)
        journal.append(
            [started, wire.Played(match=match, seq=2, at_ms=1, side=0, ply=1, move=4)],
            answers.append,
            answers.append,
            (1, 2),
        )
    journal.append([wire.Ended(match="abcdefgh", seq=3, at_ms=2, winner=0, reason="resign")], heard, heard)
    ledger.stop()
    await ledger.run()
    assert answers == [Player(1, "Ann"), Player(2, "Bob", ()), None, None, None]
    ledger.close()
    return tmp_path


@pytest.fixture
def held(data: Path) -> Iterator[Path]:
    """The same folder, with a server's database open on it."""
    ledger = LocalLedger(data / JOURNAL_FILE)
    yield data
    ledger.close()


def test_a_match_is_replayed_by_its_id_while_a_server_holds_the_journal(
    held: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["replay", "abcdefgh-2", "--data", str(held), "--at", "1"]) == 0
    assert "X" in capsys.readouterr().out


def test_finished_matches_are_exported_all_together(held: Path, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "--all", "--data", str(held)]) == 0
    exported = capsys.readouterr().out
    assert exported.count("Game: tictactoe") == 1
    assert "Event: abcdefgh\n" in exported
    assert "Reason: resign" in exported


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a machine on which nothing was played yet, at the keyboard or on its server."""
    monkeypatch.setenv("TTT_NET_HOME", str(tmp_path / "client"))
    monkeypatch.setattr(export, "DEFAULT_DATA", tmp_path / "server")
    return tmp_path


LOCAL_MATCH = "Game: connect4\nEvent: atthekey\nDate: 2026-11-23\nFirst: Mia\nSecond: Leo\nResult: *\n\n1. d\n"


def test_matches_of_this_keyboard_are_exported_where_there_is_no_server(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    keep_record(LOCAL_MATCH)
    assert main(["export", "--all", "--data", str(home / "server")]) == 0
    assert capsys.readouterr().out.count("Game: ") == 1


def test_matches_of_the_server_and_of_this_keyboard_are_exported_together(
    held: Path, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    keep_record(LOCAL_MATCH)
    assert main(["export", "--all", "--data", str(held)]) == 0
    exported = capsys.readouterr().out
    assert exported.index("Event: abcdefgh\n") < exported.index("Event: atthekey\n")


def test_a_machine_without_a_finished_match_says_so(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "--all", "--data", str(home / "server")]) == 2
    assert capsys.readouterr().err.startswith("ttt_net: no match has ended on this machine yet: there is none in ")


def test_a_folder_that_was_named_must_have_a_journal(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keep_record(LOCAL_MATCH)
    assert main(["export", "--all", "--data", str(home / "elsewhere")]) == 2
    assert "cannot read the journal" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["replay", "zzzzzzzz"], "there is no file and no match zzzzzzzz"),
        (["export", "zzzzzzzz"], "there is no file and no match zzzzzzzz"),
        (["export"], "name files or matches to export, or --all"),
    ],
)
def test_missing_files_are_reported_in_one_line_with_exit_2(
    arguments: list[str], sentence: str, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*arguments, "--data", str(data)]) == 2
    assert capsys.readouterr().err.startswith(f"ttt_net: {sentence}")


def test_a_folder_without_a_journal_is_one_line_and_exit_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", "abcdefgh", "--data", str(tmp_path)]) == 2
    assert "cannot read the journal" in capsys.readouterr().err
