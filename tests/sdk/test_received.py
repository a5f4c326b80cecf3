"""A position that does not fit its game is refused before anything is drawn of it."""

from typing import Any

import pytest
from msgspec.structs import replace

from tests.client.samples import played, snapshot
from ttt_net.errors import Code, Refusal
from ttt_net.messages import (
    Adjourned,
    AwayInfo,
    ClockInfo,
    CounterInfo,
    Declined,
    Ended,
    GeometryInfo,
    MatchEvent,
    NoteInfo,
    Offered,
    OfferInfo,
    OutcomeInfo,
    Played,
    PlayerInfo,
    PlayerRenamed,
    Presence,
    Rematched,
    Snapshot,
    Started,
    TargetInfo,
    Tookback,
)
from ttt_net.sdk.received import (
    MAX_ANNOTATIONS,
    MAX_CELLS,
    MAX_MOVES,
    Tally,
    check_event,
    check_snapshot,
    follow,
)

NOTE = NoteInfo("win", [0])
SOUND = {
    "vanishing": snapshot("vanishing", [0, 2, 4, 7, 3, 5]),
    "ultimate": snapshot("ultimate", [0]),
    "swap": snapshot("connect4+swap", [38]),
    "misere": snapshot("misere", [0, 3, 1, 4, 2]),
}


@pytest.mark.parametrize("sound", SOUND.values(), ids=SOUND)
def test_snapshots_of_our_own_server_pass_the_checks(sound: Snapshot) -> None:
    check_snapshot(sound)


@pytest.mark.parametrize(
    ("which", "lie", "reason"),
    [
        ("vanishing", {"vanishing": 9}, "a vanishing mark outside the board"),
        ("vanishing", {"vanishing": -1}, "a vanishing mark outside the board"),
        ("ultimate", {"target": TargetInfo(0, "none")}, "a target that is no small board"),
        ("ultimate", {"target": TargetInfo(10, "none")}, "a target that is no small board"),
        ("vanishing", {"target": TargetInfo(1, "top left")}, "a target that is no small board"),
        ("swap", {"takeover": -1}, "a takeover that is no legal move"),
        ("swap", {"takeover": 38}, "a takeover that is no legal move"),
        ("misere", {"line_by": 2}, "a line of side 2"),
        ("misere", {"line_by": -1}, "a line of side -1"),
        ("misere", {"line": [9]}, "a line outside the board"),
        ("misere", {"line": [-1]}, "a line outside the board"),
        ("misere", {"legal": [9]}, "a legal move that does not exist"),
        ("misere", {"legal": [-1]}, "a legal move that does not exist"),
        ("misere", {"board": "." * 8}, "a board of 8 cells instead of 9"),
        ("misere", {"to_move": 2}, "side 2 to move"),
        ("misere", {"notes": [NoteInfo("a note", [0, 9])]}, "a note outside the board"),
        ("misere", {"notes": [NoteInfo("a note", [-1])]}, "a note outside the board"),
        ("misere", {"notes": [NOTE] * 65}, "too many notes and counters"),
        ("misere", {"counters": [CounterInfo("taken", 1, side=0)] * 65}, "too many notes and counters"),
        (
            "misere",
            {"notes": [NoteInfo("n", [0])] * 60, "counters": [CounterInfo("c", 1, side=0)] * 5},
            "too many notes and counters",
        ),
        ("misere", {"counters": [CounterInfo("taken", 1, side=2)]}, "a counter of nobody"),
        ("swap", {"target": TargetInfo(1, "top left")}, "a target that is no small board"),
    ],
)
def test_inconsistent_input_is_rejected(which: str, lie: dict[str, Any], reason: str) -> None:
    lying = replace(SOUND[which], position=replace(SOUND[which].position, **lie))
    with pytest.raises(Refusal, match=reason) as refused:
        check_snapshot(lying)
    assert refused.value.code is Code.BAD_MESSAGE


GAME = SOUND["misere"].game
RUN = (0, 0, 0, 9)


@pytest.mark.parametrize(
    ("lie", "reason"),
    [
        ({"shape": [9]}, "shape"),
        ({"shape": [9, 0]}, "shape"),
        ({"shape": [-3, -3]}, "shape"),
        ({"shape": [1, 1, 3, 3]}, "shape"),
        ({"shape": [64, 65]}, "shape"),
        ({"move_names": list(GAME.move_names[:-1])}, "moves without names"),
        ({"move_cells": [*GAME.move_cells[:-1], 9]}, "a move outside the board"),
        ({"move_cells": [*GAME.move_cells[:-1], -2]}, "a move outside the board"),
        ({"block": [3]}, "blocks"),
        ({"block": [2, 3]}, "blocks"),
        ({"block": [0, 3]}, "blocks"),
        ({"block": [3, 3, 3]}, "blocks"),
        ({"geometry": GeometryInfo([], step=1)}, "a geometry of another board"),
        ({"geometry": GeometryInfo([(0, 0, 0, 8)], step=1)}, "a geometry of another board"),
        ({"geometry": GeometryInfo([RUN, (0, 0, 0, 0)], step=1)}, "a geometry of another board"),
        ({"geometry": GeometryInfo([RUN], step=3)}, "a geometry of another board"),
        ({"geometry": GeometryInfo([RUN], step=0)}, "a geometry of another board"),
        ({"geometry": GeometryInfo([(-1, 0, 0, 9)], step=1)}, "a geometry of another board"),
        ({"geometry": GeometryInfo([(MAX_CELLS + 1, 0, 0, 9)], step=1)}, "a geometry of another board"),
    ],
)
def test_a_game_with_inconsistent_numbers_is_rejected(lie: dict[str, Any], reason: str) -> None:
    with pytest.raises(Refusal, match=reason):
        check_snapshot(replace(SOUND["misere"], game=replace(GAME, **lie)))


@pytest.mark.parametrize(
    "truth",
    [
        {"move_cells": [*GAME.move_cells[:-1], -1]},
        {"block": [1, 3]},
        {"geometry": GeometryInfo([(0, 0, MAX_CELLS, 5), (0, 0, 0, 4)], step=2)},
        {"geometry": GeometryInfo([(0, 0, 0, 1), (0, 0, 0, 8)], step=1)},
        {"geometry": GeometryInfo([RUN], step=1)},
        {"shape": [1, 9]},
        {"shape": [1, 1, 9]},
        {"move_cells": [*GAME.move_cells] + [-1] * (MAX_MOVES - 9), "move_names": ["a1"] * MAX_MOVES},
    ],
)
def test_a_game_whose_numbers_just_fit_is_sound(truth: dict[str, Any]) -> None:
    check_snapshot(replace(SOUND["misere"], game=replace(GAME, **truth)))


def test_a_board_may_have_so_many_cells_and_no_more() -> None:
    for rows, is_sound in ((64, True), (65, False)):
        board = "." * rows * 64
        large = replace(
            SOUND["misere"],
            game=replace(GAME, shape=[rows, 64]),
            position=replace(SOUND["misere"].position, board=board),
        )
        if is_sound:
            check_snapshot(large)
        else:
            with pytest.raises(Refusal, match="shape"):
                check_snapshot(large)


@pytest.mark.parametrize(
    ("which", "truth"),
    [
        ("ultimate", {"target": TargetInfo(1, "top left")}),
        ("ultimate", {"target": TargetInfo(9, "bottom right")}),
        ("misere", {"notes": [NOTE] * MAX_ANNOTATIONS}),
        ("misere", {"notes": [NOTE] * 60, "counters": [CounterInfo("taken", 1)] * (MAX_ANNOTATIONS - 60)}),
    ],
)
def test_a_position_whose_numbers_just_fit_is_sound(which: str, truth: dict[str, Any]) -> None:
    check_snapshot(replace(SOUND[which], position=replace(SOUND[which].position, **truth)))


@pytest.mark.parametrize(
    "truth",
    [
        {"last": None},
        {"away": AwayInfo(1, on_purpose=True, claim_in_ms=0)},
        {"offers": [OfferInfo(0, "draw", 1), OfferInfo(1, "draw", 2)]},
        {"clock": ClockInfo((0, 0), None)},
        {"clock": ClockInfo((0, 0), 1)},
    ],
)
def test_a_match_whose_numbers_just_fit_is_sound(truth: dict[str, Any]) -> None:
    check_snapshot(replace(SOUND["vanishing"], **truth))


@pytest.mark.parametrize(
    ("lie", "reason"),
    [
        ({"moves": [9]}, "a move that the game does not have"),
        ({"moves": [-1]}, "a move that the game does not have"),
        ({"last": 9}, "a last move that does not exist"),
        ({"last": -1}, "a last move that does not exist"),
        ({"you": 2}, "side 2"),
        ({"you": -1}, "side -1"),
        ({"offers": [OfferInfo(0, "draw", 1), OfferInfo(2, "draw", 2)]}, "an offer from nobody"),
        ({"offers": [OfferInfo(-1, "draw", 1)]}, "an offer from nobody"),
        ({"outcome": OutcomeInfo(2, "line")}, "a winner who does not play"),
        ({"away": AwayInfo(2, on_purpose=False, claim_in_ms=0)}, "somebody away who does not play"),
        ({"clock": ClockInfo((0, 0), 2)}, "a clock that runs for nobody"),
    ],
)
def test_a_match_with_inconsistent_numbers_is_rejected(lie: dict[str, Any], reason: str) -> None:
    with pytest.raises(Refusal, match=reason):
        check_snapshot(replace(SOUND["vanishing"], **lie))


def test_a_move_is_one_of_the_game_by_one_of_the_players_and_leads_to_its_own_position() -> None:
    sound = played("tictactoe", [4])
    game = snapshot().game
    last = replace(sound, seq=MAX_MOVES)
    for truth in (sound, replace(sound, move=8), replace(sound, move=0, side=1), replace(sound, position=None), last):
        check_event(game, truth)
    elsewhere = replace(snapshot("connect4").position, ply=1)
    lies = (
        {"seq": MAX_MOVES + 1},
        {"move": 9},
        {"move": -1},
        {"side": 2},
        {"ply": 2},
        {"clock": ClockInfo((0, 0), 2)},
        {"position": elsewhere},
    )
    for lie in lies:
        with pytest.raises(Refusal):
            check_event(game, replace(sound, **lie))
    check_event(game, Tookback("m1", 4, 0, side=1, ply=1, position=sound.position))
    with pytest.raises(Refusal):
        check_event(game, Tookback("m1", 4, 0, side=2, ply=1))


def test_offers_pauses_and_ends_name_only_the_two_players() -> None:
    game, stopped, lie = snapshot().game, ClockInfo((0, 0), None), ClockInfo((0, 0), 2)
    truths: tuple[MatchEvent, ...] = (
        Offered("m1", 4, 0, 0, "draw"),
        Offered("m1", 4, 0, 1, "draw"),
        Adjourned("m1", 4, 0, 0, stopped),
        *(Ended("m1", 4, 0, winner, "line", stopped) for winner in (0, 1, None)),
    )
    for truth in truths:
        check_event(game, truth)
    lies: tuple[MatchEvent, ...] = (
        Offered("m1", 4, 0, 2, "draw"),
        Adjourned("m1", 4, 0, 0, lie),
        Ended("m1", 4, 0, 2, "line", stopped),
        Ended("m1", 4, 0, 0, "line", lie),
    )
    for each in lies:
        with pytest.raises(Refusal):
            check_event(game, each)


@pytest.mark.parametrize("you", [0, 1])
def test_a_tally_counts_a_match_when_it_ends_and_never_one_that_was_aborted(you: int) -> None:
    live, tally = snapshot(you=you), Tally(5, 6, 7)
    for winner, counted in ((you, Tally(6, 6, 7)), (None, Tally(5, 7, 7)), (1 - you, Tally(5, 6, 8))):
        ended = replace(live, outcome=OutcomeInfo(winner, "line"))
        assert tally.counting(live, ended) == counted
        assert counted.games == 19
        for before, after in (
            *((ended, ended), (None, ended), (live, live), (ended, live)),
            (live, replace(ended, you=None)),
        ):
            assert tally.counting(before, after) == tally
    assert tally.counting(live, replace(live, outcome=OutcomeInfo(None, "abort"))) == tally
    watched = replace(live, outcome=OutcomeInfo(1 - you, "line"))
    assert tally.counting(live, watched, side=1 - you) == Tally(6, 6, 7)


CLOCKS = ClockInfo((60_000, 60_000), 0), ClockInfo((50_000, 60_000), 1)
OFFERS = [OfferInfo(0, "draw", 3), OfferInfo(1, "takeback", 4)]
AWAY = AwayInfo(1, on_purpose=False, claim_in_ms=5)
MATCH = replace(
    snapshot("tictactoe", [4, 0], clock=CLOCKS[0], offers=OFFERS, present=(True, False)), away=AWAY, adjourned=True
)
NEXT = snapshot("tictactoe", [4, 0, 8]).position
FIRST = snapshot("tictactoe", [4]).position
START = snapshot("tictactoe").position
GONE: dict[str, Any] = {"offers": [], "adjourned": False}
"""A move or a take-back ends all of this."""


@pytest.mark.parametrize(
    ("event", "changes"),
    [
        (
            Played("m1", 9, 0, side=0, ply=3, move=8, clock=CLOCKS[1], position=NEXT),
            {"seq": 9, "moves": [4, 0, 8], "last": 8, "clock": CLOCKS[1], "position": NEXT, **GONE},
        ),
        (Played("m1", 9, 0, side=0, ply=3, move=8), {"seq": 9, "moves": [4, 0, 8], "last": 8, **GONE}),
        (
            Tookback("m1", 9, 0, side=1, ply=1, clock=CLOCKS[1], position=FIRST),
            {"seq": 9, "moves": [4], "last": 4, "clock": CLOCKS[1], "position": FIRST, **GONE},
        ),
        (
            Tookback("m1", 9, 0, side=1, ply=0, position=START),
            {"seq": 9, "moves": [], "last": None, "position": START, **GONE},
        ),
        (Tookback("m1", 9, 0, side=1, ply=1), {"seq": 9, "moves": [4], "last": 4, **GONE}),
        (Adjourned("m1", 9, 0, side=0), {"seq": 9, "adjourned": True, "offers": []}),
        (Adjourned("m1", 9, 0, side=0, clock=CLOCKS[1]), {"seq": 9, "clock": CLOCKS[1], "offers": []}),
        (
            Offered("m1", 9, 0, side=1, kind="draw"),
            {"seq": 9, "offers": [*OFFERS, OfferInfo(1, "draw", 9)]},
        ),
        (Offered("m1", 9, 0, side=0, kind="draw"), {"seq": 9, "offers": [OFFERS[1], OfferInfo(0, "draw", 9)]}),
        (Declined("m1", 9, 0, side=1, kind="draw"), {"seq": 9, "offers": OFFERS[1:]}),
        (Declined("m1", 9, 0, side=1, kind="takeback"), {"seq": 9, "offers": OFFERS[:1]}),
        (
            Ended("m1", 9, 0, winner=1, reason="time", clock=CLOCKS[1], fault="it hung"),
            {"seq": 9, "outcome": OutcomeInfo(1, "time", "it hung"), "clock": CLOCKS[1], "offers": [], "away": None},
        ),
        (
            Ended("m1", 9, 0, winner=None, reason="agreement"),
            {"seq": 9, "outcome": OutcomeInfo(None, "agreement"), "offers": [], "away": None},
        ),
        (Rematched("m1", 9, 0, next="m2"), {"seq": 9, "next": "m2", "offers": []}),
        (Started("m1", 9, 0, "tictactoe", MATCH.players), {"seq": 9}),
        (Presence("m1", side=0, online=False), {"present": (False, False)}),
        (Presence("m1", side=0, online=False, away=replace(AWAY, side=0)), {"present": (False, False)}),
        (Presence("m1", side=1, online=True), {"present": (True, True), "away": None}),
        (
            Presence("m1", side=1, online=False, away=replace(AWAY, claim_in_ms=9)),
            {"away": replace(AWAY, claim_in_ms=9)},
        ),
        (Presence("m1", side=2, online=True), {}),
        (Presence("m1", side=-1, online=True), {}),
        (PlayerRenamed("m1", side=0, name="Anna"), {"players": (PlayerInfo("Anna"), MATCH.players[1])}),
        (
            PlayerRenamed("m1", side=1, name="Robo"),
            {"players": (MATCH.players[0], replace(MATCH.players[1], name="Robo"))},
        ),
    ],
    ids=lambda each: type(each).__name__ if not isinstance(each, dict) else "",
)
def test_an_event_changes_the_snapshot_in_these_fields_alone(
    event: MatchEvent | Presence | PlayerRenamed, changes: dict[str, Any]
) -> None:
    if isinstance(event, Ended):
        changes = {**changes, "position": replace(MATCH.position, to_move=None, legal=[])}
    assert follow(MATCH, event) == replace(MATCH, **changes)
