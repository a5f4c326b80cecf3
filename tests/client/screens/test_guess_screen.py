"""Guess the moves of a finished match, one's own or one of strong bots."""

from dataclasses import replace

from msgspec import structs

from tests.client.pressing import drawn, lobby, pressed, seen
from tests.client.samples import position_after, snapshot, welcome
from ttt_net.client.display import Display, Page
from ttt_net.client.screens.guess_screen import Guess, judge, told, total, verdict
from ttt_net.client.update import update
from ttt_net.games import find_game
from ttt_net.matches.description import describe_position
from ttt_net.messages import (
    AnalysedMove,
    AnalyseRequest,
    AnalysisReply,
    OutcomeInfo,
    PlayerInfo,
    Position,
    ReplayReply,
    ReplayRequest,
    StudyReply,
    StudyRequest,
)

WON = [4, 0, 2, 1, 6]
"""X: b2, c3, a1; O: a3, b3."""
NAMES = find_game("tictactoe").move_names
HERE = welcome(features=["analyse", "study"])


def positions(game: str, moves: list[int]) -> list[Position]:
    """Return the positions of a match with their legal moves."""
    rules = find_game(game)
    states = [rules.initial]
    for move in moves:
        states.append(rules.result(states[-1], move))
    return [describe_position(rules, ply, state, is_over=rules.is_terminal(state)) for ply, state in enumerate(states)]


def study(game: str = "tictactoe", moves: list[int] = WON, side: int = 0) -> StudyReply:
    match = structs.replace(snapshot(game, moves=moves), match="study-3", you=None, outcome=OutcomeInfo(0, "line"))
    match = structs.replace(match, players=(PlayerInfo("Sophia", "alphabeta", 8), PlayerInfo("Viktor", "alphabeta", 6)))
    judged = [AnalysedMove(ply, move, 0, []) for ply, move in enumerate(moves, start=1)]
    judged[2] = structs.replace(judged[2], value=1, keeping=["c3", "a1"])
    return StudyReply(3, 20, 0 if side == 0 else 1, match, positions(game, moves), judged)


def guessing() -> Display:
    """Return the display of somebody who guesses the moves of a match that they have won."""
    display, _ = pressed(lobby(HERE, snapshot(moves=WON[:-1]), snapshot(moves=WON)), "v")
    display, requests = pressed(display, "g")
    assert requests == (ReplayRequest(0, match="m1", legal=True), AnalyseRequest(0, match="m1"))
    return update(display, ReplayReply("m1", 0, positions("tictactoe", WON), 5), 0)


def test_a_move_is_guessed_before_it_is_shown() -> None:
    display = guessing()
    page = drawn(display)
    assert "Move 1 of 5: what did Ann play?" in page
    assert "(" not in page.partition("what did")[2].partition("Enter")[0], "no mark is on the board yet"
    display, requests = pressed(display, "5")
    assert requests == ()
    assert "Move 1 of 5: b2." in drawn(display)
    assert "Yes, b2." in drawn(display)
    display, _ = pressed(display, "right")
    assert "Move 3 of 5: what did Ann play?" in drawn(display)


def test_the_score_beside_the_board_does_not_tell_the_winner_before_the_last_move() -> None:
    display = replace(seen(HERE), pages=(Page("lobby"), Page("guess")))
    display, _ = pressed(update(display, study(), 0), "5")
    page = drawn(display)
    assert "left previous  right next" in page
    assert "Sophia 1 : 0 Viktor" not in page
    assert "Sophia 1 : 0 Viktor" in drawn(pressed(display, "right", "s", "right", "s")[0])


def test_another_move_is_judged_once_the_analysis_is_there() -> None:
    display, _ = pressed(guessing(), "5", "right", "1")
    assert "1 is taken." in drawn(display)
    display, _ = pressed(display, "8")
    assert verdict(display) == "Ann played c3."
    moves = [AnalysedMove(3, 2, 1, ["c3"], keeping=["c3", "a1"])]
    analysed = update(display, AnalysisReply("m1", moves, exact=True), 0)
    assert "b1 gives the win away. Ann played c3." in drawn(analysed)
    assert pressed(analysed, "left")[0].page.ply == 2
    display = pressed(analysed, "right")[0]
    display = pressed(display, "S" if "s" in NAMES else "s")[0]
    assert drawn(display).count("Ann played a1. You found 1 of 3 moves of Ann, 1 worse, 1 shown.") == 1


def test_moves_are_guessed_by_name_and_with_the_cursor() -> None:
    display = guessing()
    for key in ("b", "2", "c-m"):
        display, requests = pressed(display, key)
        assert requests == ()
    assert display.guessing is not None
    assert display.guessing.guesses == {0: 4}
    display, _ = pressed(guessing(), "down", "right", " ")
    assert display.guessing is not None
    assert display.guessing.guesses == {0: 8}, "the cursor begins in the middle"


def test_escape_leads_back_to_the_match() -> None:
    assert pressed(guessing(), "escape")[0].page.screen == "match"


def test_the_moves_of_strong_bots_are_guessed_from_the_puzzle() -> None:
    display = replace(seen(HERE), pages=(Page("lobby"), Page("puzzle")))
    display, requests = pressed(display, "g")
    assert requests == (StudyRequest(0),)
    assert "One moment ..." in drawn(display)
    display = update(display, study(), 0)
    page = drawn(display)
    assert "Guess the moves" in page
    assert "Move 1 of 5: what did Sophia play?" in page
    display, _ = pressed(display, "1")
    assert "a3 is as good. Sophia played b2." in drawn(display), "no move gives anything away there"
    display, requests = pressed(display, "n")
    assert requests == (StudyRequest(0, 4),)
    assert pressed(display, "escape")[0].page.screen == "puzzle"


def test_the_moves_of_the_second_side_are_guessed_after_the_first_is_shown() -> None:
    display = replace(seen(HERE), pages=(Page("lobby"), Page("guess")))
    display = update(display, study(side=1), 0)
    assert "Move 2 of 5: what did Viktor play?" in drawn(display)
    assert "Move 0 of 5." in drawn(pressed(display, "1", "left", "left", "left")[0])


def test_where_a_cell_takes_either_mark_the_mark_is_chosen() -> None:
    wild = find_game("wild")
    moves = [wild.move_names.index(name) for name in ("Xb2", "Oa1")]
    display = replace(seen(HERE), pages=(Page("lobby"), Page("guess")))
    reply = structs.replace(
        study(), snapshot=structs.replace(study().snapshot, game=snapshot("wild").game, moves=moves)
    )
    display = update(display, structs.replace(reply, positions=positions("wild", moves), moves=[]), 0)
    display, _ = pressed(display, "c-m")
    assert "Choose 1: " in drawn(display)
    display, _ = pressed(display, "1")
    assert display.guessing is not None
    assert wild.move_names[display.guessing.guesses[0] or 0] == "Xb2"


def test_a_server_without_legal_moves_in_replays_offers_no_guessing() -> None:
    display, _ = pressed(lobby(welcome(features=[]), snapshot(moves=WON)), "v")
    assert "guess" not in drawn(display, (140, 30))
    display, requests = pressed(display, "g")
    assert requests == ()
    assert "does not let you guess" in drawn(display)


def test_nonsense_of_a_server_is_left_out() -> None:
    display = replace(seen(HERE), pages=(Page("lobby"), Page("guess")))
    assert update(display, structs.replace(study(), positions=[position_after("tictactoe", [])]), 0).replay is None
    assert update(seen(HERE), study(), 0).replay is None, "nobody asked"


def test_guesses_are_judged_by_the_moves_that_keep_the_result() -> None:
    known = AnalysedMove(1, 4, 0, ["b2"], keeping=["b2", "a3"])
    assert judge(4, 4, NAMES, None) is Guess.SAME
    assert judge(4, 0, NAMES, known) is Guess.KEPT
    assert judge(4, 1, NAMES, known) is Guess.GIVEN_AWAY
    assert judge(4, 1, NAMES, structs.replace(known, keeping=[])) is Guess.KEPT, "all moves are worth the same"
    assert judge(4, 1, NAMES, structs.replace(known, keeping=[], score=0.1)) is Guess.UNKNOWN
    assert judge(4, 1, NAMES, None) is Guess.UNKNOWN
    assert judge(4, None, NAMES, known) is Guess.SHOWN


def test_a_guess_may_be_better_than_the_move_that_was_played() -> None:
    missed, lost = AnalysedMove(1, 0, 0, ["b2"], turning=True), AnalysedMove(1, 0, -1, ["b2"], turning=True)
    assert told(Guess.KEPT, "b2", "a3", "Ann", missed) == "b2 is better. Ann played a3, which gave the win away."
    assert told(Guess.SAME, "a3", "a3", "Ann", lost) == "Yes, a3, although it lost the game."
    assert told(Guess.GIVEN_AWAY, "c1", "a3", "Ann", lost) == "c1 is no better. Ann played a3, which lost the game."
    assert told(Guess.GIVEN_AWAY, "c1", "b2", "Ann", AnalysedMove(1, 4, 0, ["b2"])) == "c1 loses. Ann played b2."
    found = [Guess.SAME, Guess.KEPT, Guess.KEPT, Guess.UNKNOWN]
    assert total(found, "Ann") == "You found 1 of 4 moves of Ann, 2 as good as theirs, 1 not judged."
