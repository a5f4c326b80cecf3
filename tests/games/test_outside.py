"""Games of other packages: three examples keep the laws and agree with other programs; faulty ones hurt nobody."""

import logging
import random
import re
import signal
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.metadata import EntryPoint
from typing import Any

import pytest
from msgspec import structs

from tests.games.added import ENTRIES, faulty, late, raises
from ttt_net import messages as wire
from ttt_net.errors import Code, Refusal
from ttt_net.games import Game, Outcome, catalogue, find_game, game_name, outside
from ttt_net.games.game import Annotations, Counter, Face, Note, RulePage
from ttt_net.games.notation import draw_diagram
from ttt_net.games.outside import OutsideGame
from ttt_net.games.records import read_record, write_record
from ttt_net.games.rules import find_rules, is_always_casual
from ttt_net.matches.description import describe_game, describe_position, describe_rules
from ttt_net.matches.match import Match, match_data, record_of, write_text
from ttt_net.matches.referee import decide
from ttt_net.testing import check_game, count_plays

BUILT_IN = [*catalogue.NAMES, "connect4+swap", "gomoku+swap", "mnk:5x4,4"]


@pytest.mark.parametrize("name", BUILT_IN)
def test_each_game_of_this_package_keeps_the_laws(name: str) -> None:
    check_game(find_game(name), plays=5)


@pytest.mark.usefixtures("examples")
@pytest.mark.parametrize("name", ["hex", "hex11", "pente", "othello", "hex+swap", "pente+swap"])
def test_each_example_keeps_the_laws(name: str) -> None:
    game = find_game(name)
    assert isinstance(game, OutsideGame)
    check_game(game.inner, plays=3)


@pytest.mark.usefixtures("examples")
def test_games_of_other_packages_are_found_listed_and_casual() -> None:
    assert catalogue.names() == (*catalogue.NAMES, "hex", "hex11", "othello", "pente", "pente19")
    assert game_name("hex") == "hex"
    assert find_game("hex+swap").name == "hex+swap"
    assert all(map(is_always_casual, ("hex", "hex+swap", "othello")))
    with pytest.raises(Refusal, match="did you mean othello"):
        find_game("othelo")
    with pytest.raises(Refusal, match="unknown game"):
        find_game("othello+swap")  # black has no advantage that is known


@pytest.mark.usefixtures("examples")
def test_a_game_of_another_package_explains_itself() -> None:
    rules = describe_rules("hex")
    assert rules.goal.startswith("Connect your two edges")
    assert rules.example is not None
    assert rules.example.rows
    info = describe_game("hex")
    assert info.geometry == wire.GeometryInfo(
        [(0, y, y, 7) for y in range(7)], "hexagon", 2, {"top": "X", "bottom": "X", "left": "O", "right": "O"}
    )
    assert info.endings == {"connection": "{winner} connected both edges"}


@pytest.mark.parametrize("name", ["faulty", "faulty+swap"])
def test_a_game_without_a_page_is_explained_by_its_rule(name: str, install: Callable[..., None]) -> None:
    class Entry:
        name, value = "plain", "plain_package:games"

        def load(self) -> Game[Any]:
            return faulty(face=Face(may_swap=True))

    install(Entry())
    rules = describe_rules(name)
    assert rules.goal == "Three in a row, sometimes."
    assert ("take it over" in rules.special) == name.endswith("+swap")
    assert (len(rules.tips), rules.example) == (1 if name.endswith("+swap") else 0, None)


@pytest.mark.usefixtures("examples")
def test_a_diagram_names_rows_as_the_moves_do() -> None:
    hex_game, othello = find_game("hex"), find_game("othello")
    rows = draw_diagram(hex_game, hex_game.advance(hex_game.initial, hex_game.move_names.index("a1")))
    assert [row.split()[0] for row in rows[:-1]] == list("1234567")
    assert rows[0].split()[1] == "X"
    assert [row.split()[0] for row in draw_diagram(othello, othello.initial)[:-1]] == list("87654321")


@pytest.mark.usefixtures("examples")
def test_a_match_by_other_rules_is_played_taken_back_recorded_and_read() -> None:
    match = Match(wire.Started("m", 1, 0, "pente", (wire.PlayerInfo("Ann"), wire.PlayerInfo("Bob"))))
    for ply, name in enumerate(["g7", "h7", "a1", "i7", "j7"]):  # j7 encloses h7 and i7
        play(match, ply, name)
    assert match.position().counters == [
        wire.CounterInfo("pairs", 1, 5, 0),
        wire.CounterInfo("pairs", 0, 5, 1),
    ]
    assert "O" not in match.position().board
    decide_and_apply(match, 0, wire.OfferRequest(1, "m", "takeback"))
    decide_and_apply(match, 1, wire.OfferRequest(1, "m", "takeback"))
    assert match.position().board.count("O") == 2
    for name in ["a2", "m1", "a3", "m3", "a4", "m5", "a5"]:
        play(match, len(match.moves), name)
    assert match.outcome == Outcome(0, "line")
    record = record_of(match.events)
    assert read_record(write_record(record)) == record


@pytest.mark.usefixtures("examples")
def test_a_reason_of_the_game_is_recorded_and_read() -> None:
    match = Match(wire.Started("m", 1, 0, "hex", (wire.PlayerInfo("Ann"), wire.PlayerInfo("Bob"))))
    for ply, name in enumerate(find_rules("hex").example.split()):
        play(match, ply, name)
    assert match.outcome == Outcome(0, "connection")
    assert match.position().notes == [wire.NoteInfo("win", [3 + 7 * y for y in range(7)])]
    written = write_record(record_of(match.events))
    assert "Result: 1-0\nReason: connection\n" in written
    assert read_record(written).outcome == Outcome(0, "connection")
    with pytest.raises(Refusal, match=r"reasons are line, draw, .*agreement, .*connection"):
        read_record(written.replace("connection", "luck"))


@pytest.mark.usefixtures("examples")
@pytest.mark.parametrize("name", ["othello", "hex"])
def test_random_plays_agree_with_openspiel(name: str) -> None:
    pyspiel: Any = pytest.importorskip("pyspiel", reason="open-spiel is not installed: pip install open-spiel")
    game = find_game(name)
    theirs = pyspiel.load_game(name, {"board_size": 7} if name == "hex" else {})
    rng = random.Random(29)
    for _ in range(10):
        state, their_state = game.initial, theirs.new_initial_state()
        while not their_state.is_terminal():
            assert list(game.actions(state)) == their_state.legal_actions()
            move = rng.choice(their_state.legal_actions())
            state = game.result(state, move)
            their_state.apply_action(move)
        assert [game.utility(state, side) for side in (0, 1)] == their_state.returns()


@pytest.mark.usefixtures("examples")
def test_plays_are_counted_as_by_others() -> None:
    ttt_hex, ttt_pente = import_module("ttt_hex"), import_module("ttt_pente")

    assert [count_plays(find_game("othello"), plies) for plies in range(1, 6)] == [4, 12, 56, 244, 1396]
    assert sum(1 for _ in plays(ttt_hex.HexGame("tiny", 2))) == 24  # OpenSpiel counts as many
    # An independent program in C counts 25, 600, 13,800 and 303,600 plays of Pente on 5x5, with 112 captures.
    assert [count_plays(ttt_pente.PenteGame("small", 5), plies) for plies in range(1, 4)] == [25, 600, 13_800]


def plays(game: Game[Any]) -> Iterator[Any]:
    """Yield the end of each play of a small game."""
    pending = [game.initial]
    while pending:
        state = pending.pop()
        if game.is_terminal(state):
            yield state
        pending += [game.result(state, move) for move in game.actions(state)]


def play(match: Match, ply: int, name: str) -> list[wire.MatchEvent]:
    move = match.game.move_names.index(name)
    return decide_and_apply(match, ply % 2, wire.PlayRequest(1, "m", ply, move))


def decide_and_apply(match: Match, side: int, request: Any) -> list[wire.MatchEvent]:
    events = decide(match, side, request, 0)
    for event in events:
        match.evolve(event)
    return events


# Faulty games.


FAULTS: dict[str, tuple[str, Callable[[Game[Any], Any], Any]]] = {
    "raises in board": ("board", raises),
    "raises in outcome": ("outcome", raises),
    "raises in actions": ("actions", raises),
    "raises in look": ("annotations", raises),
    "a board of 5 MB": ("board", lambda _good, _state: "X" * 5_000_000),
    "a board of other marks": ("board", lambda _good, _state: "?" * 9),
    "a board that is no text": ("board", lambda _good, _state: 7),
    "moves that do not exist": ("actions", lambda _good, _state: (3, 99)),
    "moves in disorder": ("actions", lambda _good, _state: (8, 3)),
    "over without an outcome": ("actions", lambda _good, _state: ()),
    "a winner who does not play": ("outcome", lambda _good, _state: Outcome(2, "line")),
    "a reason without a sentence": ("outcome", lambda _good, _state: Outcome(0, "luck")),
    "a side that does not exist": ("to_move", lambda _good, _state: 7),
    "the same side again": ("to_move", lambda _good, _state: 0),
    "too many notes": ("annotations", lambda _good, _state: Annotations(notes=(Note("win"),) * 17)),
    "too many cells in notes": ("annotations", lambda _good, _state: Annotations(notes=(Note("win", (1,) * 19),))),
    "too much text": ("annotations", lambda _good, _state: Annotations(notes=(Note("x", text="y" * 81),))),
    "control characters": ("annotations", lambda _good, _state: Annotations(notes=(Note("x", text="\x1b[2J"),))),
    "a number that is none": ("annotations", lambda _good, _state: Annotations(counters=(Counter("pairs", 1.5),))),  # type: ignore[arg-type]
    "endless details": ("details", lambda _good, _state: "after " + "9" * 10_000),
    "positions that cannot be kept": ("annotations", lambda _good, state: hash([state])),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_an_error_in_the_rules_ends_its_match_and_nothing_else(
    fault: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    part, answer = FAULTS[fault]
    monkeypatch.setattr(
        "ttt_net.games.outside.outside_games",
        lambda _taken: {"faulty": OutsideGame(faulty(**{part: late(answer, part)}))},
    )
    match = Match(wire.Started("m", 1, 0, "faulty", (wire.PlayerInfo("Ann"), wire.PlayerInfo("Bob")), rated=False))
    play(match, 0, "a1")
    play(match, 1, "b2")
    with caplog.at_level(logging.CRITICAL):
        (ended,) = play(match, 2, "c3")
    assert isinstance(ended, wire.Ended)
    assert (ended.winner, ended.reason) == (None, "abort")
    assert ended.fault is not None
    assert ended.fault.startswith("the rules of faulty failed: ")
    assert len(match.moves) == 2
    describe_position(match.game, 2, match.state, is_over=True)


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        ({"name": "Not A Name"}, "small letters"),
        ({"shape": (40, 40)}, "shape"),
        ({"move_names": ("a",)}, "as many cells as names"),
        ({"move_cells": (99,) * 9}, "outside the board"),
        ({"title": "\x1b[2J"}, "printable"),
        ({"face": Face(endings={"time": "{winner} won"})}, "reasons"),
        ({"face": Face(endings={"luck": "x" * 81})}, "printable"),
        ({"face": None}, "face"),
        ({"face": Face(page=RulePage("Win.", "Nothing.", (), "b2 b2"))}, "the example of its page .* cell b2 is taken"),
        ({"board": raises}, "division by zero"),
    ],
)
def test_a_package_with_a_game_out_of_bounds_is_ignored(
    parts: dict[str, Any],
    sentence: str,
    install: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Entry:
        name, value = "faulty", "faulty_package:games"

        def load(self) -> Game[Any]:
            return faulty(**parts)

    install(Entry())
    assert dict(catalogue.outside()) == {}
    assert "the games of faulty_package:games are left out" in caplog.text
    assert re.search(sentence, caplog.text)


def test_a_broken_package_does_not_hide_other_games(
    install: Callable[..., None], caplog: pytest.LogCaptureFixture
) -> None:
    install(EntryPoint("broken", "no_such_module:games", outside.GROUP), *ENTRIES)
    assert find_game("othello").name == "othello"
    assert "the games of no_such_module:games are left out" in caplog.text


def test_a_name_that_is_taken_is_left_out(install: Callable[..., None], caplog: pytest.LogCaptureFixture) -> None:
    install(EntryPoint("twice", "ttt_hex:games", outside.GROUP), *ENTRIES)
    assert [name for name in catalogue.names() if name == "hex"] == ["hex"]
    assert "hex of ttt_hex:games is left out: its name is taken" in caplog.text


def test_a_game_that_blocks_is_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    def forever(_good: Game[Any], _state: Any) -> Any:
        while True:
            time.monotonic()

    game = OutsideGame(faulty(annotations=late(forever, "annotations")))
    monkeypatch.setattr(outside, "MOST_S", 0.05)
    state = game.advance(game.advance(game.initial, 0), 1)
    with pytest.raises(Refusal, match=r"more than") as refused:
        game.advance(state, 2)
    assert refused.value.code is Code.GAME_FAULT


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs alarms")
def test_a_pause_of_the_whole_process_during_a_move_is_no_fault_of_the_game() -> None:
    def pause(good: Game[Any], state: Any) -> Any:
        signal.raise_signal(signal.SIGALRM)  # after a pause, one alarm is overdue
        return good.annotations(state)

    game = OutsideGame(faulty(annotations=late(pause, "annotations")))
    state = game.advance(game.advance(game.initial, 0), 1)
    assert game.to_move(game.advance(state, 2)) == 1


def test_a_repeatedly_slow_game_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    game = OutsideGame(faulty())
    monkeypatch.setattr(outside, "SLOW_S", -1.0)
    state = game.advance(game.advance(game.initial, 0), 1)
    with pytest.raises(Refusal, match="moves take longer"):
        game.advance(state, 2)


@pytest.mark.usefixtures("examples")
def test_a_match_by_another_version_of_the_rules_shows_as_moves_and_is_not_continued() -> None:
    players = wire.PlayerInfo("Ann"), wire.PlayerInfo("Ben")
    started = wire.Started("m", 1, 0, "hex+swap", players)
    assert Match(started).game.name == "hex+swap"
    newer = structs.replace(started, rules=2)
    with pytest.raises(Refusal, match=r"the match has version 2 of the rules of hex\+swap; here is 1") as refused:
        Match(newer)
    assert refused.value.code is Code.UNKNOWN_GAME
    rest: list[wire.MatchEvent] = [
        wire.Played("m", 2, 5, 0, 1, 24),
        wire.Played("m", 3, 9, 1, 2, 25),
        wire.Ended("m", 4, 9, 0, "resign"),
    ]
    assert match_data([started, *rest]).written == ["d4", "e4"]
    data = match_data([newer, *rest])
    assert (data.written, data.moves) == (None, [24, 25])
    assert "1. 24\n2. 25\n" in write_text(data)
