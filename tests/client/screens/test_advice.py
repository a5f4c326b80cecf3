"""The coach at a board: the lesson of a match, hints, warnings, and playing on from a position."""

from dataclasses import replace as changed

import pytest
from msgspec.structs import replace

from tests.client.samples import ANN, BEN, played, position_after, snapshot, welcome
from ttt_net.client.act import act, command_for
from ttt_net.client.display import AnyCommand, Command, Display
from ttt_net.client.drawing.draw import draw
from ttt_net.client.drawing.glyphs import ASCII
from ttt_net.client.screens import replay_screen
from ttt_net.client.screens.advice import ANALYSE, HINT, TRY_AGAIN, WARN, bad_cells, due_requests, good_cells
from ttt_net.client.update import update
from ttt_net.client.words import notice
from ttt_net.client.world import World
from ttt_net.messages import (
    AnalysedMove,
    AnalyseRequest,
    AnalysisReply,
    ChallengeRequest,
    Ended,
    ExplanationInfo,
    HintReply,
    HintRequest,
    InviteRequest,
    ListedPlayer,
    MatchLesson,
    PlayerInfo,
    PlayerList,
    Refused,
    ReplayReply,
    ReplayRequest,
    Request,
    SeekRequest,
    Snapshot,
    ThreatRow,
)
from ttt_net.sdk.received import Answered

MIA = PlayerInfo("Mia", "alphabeta", 1)
LOST = [8, 0, 5, 1, 3, 2]
"""Ann has two in the right column and does not see the upper row: O wins with c3."""
LESSON = MatchLesson(5, 0, ["c3"], "Move 5: you could have won at once with c3. What follows: c3.")
SEEK = SeekRequest(0, ["tictactoe"])


def coached(match: Snapshot, *, has_lobby: bool = True) -> Display:
    """Return a display of a match on a server with a coach."""
    display = update(Display(World(address="here"), has_lobby=has_lobby), welcome(features=["analyse", "hint"]), 0)
    return update(display, match, 0)


def done(display: Display, command: AnyCommand) -> tuple[Display, tuple[Request, ...]]:
    return act(display, command, SEEK)


def picture(display: Display) -> str:
    return draw(display, (80, 24), 0, ASCII).plain


def over(opponent: PlayerInfo = MIA) -> Display:
    """Return a match that Ann has lost, with its lesson."""
    display = coached(snapshot(moves=LOST, opponent=opponent))
    return update(display, AnalysisReply("m1", [], exact=False, lesson=LESSON, partial=True), 0)


def test_after_a_match_its_lesson_is_asked_for_by_itself_and_a_refusal_of_that_is_no_news() -> None:
    display = coached(snapshot(moves=LOST[:-1], opponent=MIA))
    assert due_requests(display, played("tictactoe", LOST[:-1])) == ()
    ended = Ended("m1", 8, 0, winner=1, reason="line")
    display = update(update(display, played("tictactoe", LOST), 0), ended, 0)
    assert due_requests(display, ended) == (AnalyseRequest(0, match="m1", brief=True),)
    refused = Answered(AnalyseRequest(4, match="m1", brief=True), Refused(4, "too_fast", "too many inquiries"))
    assert notice(update(display, refused, 0)) == ""
    called_off = Ended("m1", 8, 0, winner=None, reason="abort")
    assert due_requests(display, called_off) == ()
    bare = update(update(Display(World(address="here")), welcome(features=["analyse"]), 0), snapshot(moves=LOST), 0)
    assert due_requests(bare, ended) == (), "an older server"


def test_the_lesson_is_one_sentence_to_its_player_and_names_the_other_where_it_is_theirs() -> None:
    assert "Move 5: you could have won at once with c3. v shows it." in picture(over())
    others = changed(over(), world=over().world.with_match(snapshot(moves=LOST, you=1, opponent=ANN)))
    assert "Move 5: Ann chose a2. c3 was better. v shows it." in picture(others)
    shared = changed(over(), world=changed(over().world, is_shared=True))
    assert "Move 5: Ann chose a2. c3 was better. v shows it." in picture(shared), "neither of two is you"


def test_a_replay_opens_at_the_lesson_with_the_better_cell_marked() -> None:
    display, requests = done(over(), replay_screen.STEP_THROUGH.command)
    assert display.page.ply == 4
    assert requests == (ReplayRequest(0, match="m1", ply=0),)
    display = update(display, told(), 0)
    page = picture(display)
    assert "Move 5: you could have won at once with c3." in page
    assert "+   .   +" in page
    assert "Move 4 of 6: b3." in page
    display, _ = done(display, Command.RIGHT)
    assert "+   .   +" not in picture(display)


def test_where_marks_fall_the_better_cell_is_the_one_that_a_mark_would_come_to_lie_in() -> None:
    moves = [38, 31, 24, 17]
    lesson = MatchLesson(5, 0, ["4"], "Move 5: you had to play 4.")
    ended = replace(snapshot("connect4", [*moves, 35], opponent=MIA), outcome=snapshot(moves=LOST).outcome)
    display = update(coached(ended), AnalysisReply("m1", [], exact=False, lesson=lesson), 0)
    display, _ = done(display, replay_screen.STEP_THROUGH.command)
    positions = [position_after("connect4", [*moves, 35][:ply]) for ply in range(6)]
    page = picture(update(display, ReplayReply("m1", 0, positions, 5), 0)).splitlines()
    (row,) = (number for number, line in enumerate(page) if "+" in line and "|" in line and "+-" not in line)
    assert "X" not in page[row].partition("|")[0]
    assert sum("O" in line or "X" in line for line in page[row + 1 :] if "|" in line) >= 4, "it lies on the others"


def told() -> ReplayReply:
    positions = [position_after("tictactoe", LOST[:ply]) for ply in range(7)]
    return ReplayReply("m1", 0, positions, 6, [*(f"start {ply}" for ply in range(6)), ""])


def test_from_a_replay_one_plays_on_against_the_bot_of_the_match_with_the_same_side() -> None:
    display, _ = done(over(), replay_screen.STEP_THROUGH.command)
    assert notice(done(display, TRY_AGAIN)[0]) == "That position has not arrived yet."
    display = update(display, told(), 0)
    assert command_for("t", display) == TRY_AGAIN
    after, requests = done(display, TRY_AGAIN)
    assert requests == (ChallengeRequest(0, "Mia", "tictactoe", level=1, start="start 4", side=0),)
    assert after.page.screen == "match"
    assert notice(after) == "Mia plays on with you from there."
    display, _ = done(display, Command.LAST)
    assert done(display, TRY_AGAIN)[1] == ()
    assert notice(done(display, TRY_AGAIN)[0]) == "The match is over there; go back a move first."


def test_after_a_match_between_people_a_free_bot_plays_on() -> None:
    display = update(done(over(BEN), replay_screen.STEP_THROUGH.command)[0], told(), 0)
    assert notice(done(display, TRY_AGAIN)[0]) == "No bot is free now; look into the lobby again."
    display = update(display, PlayerList(2, [ListedPlayer("Tom", "alphabeta", 0, [], 3, 2, 2, any_level=True)]), 0)
    _, requests = done(display, TRY_AGAIN)
    assert requests == (ChallengeRequest(0, "Tom", "tictactoe", level=3, start="start 4", side=0),)


def test_at_one_keyboard_the_computer_is_invited_again() -> None:
    display = coached(snapshot(moves=LOST, opponent=MIA), has_lobby=False)
    display = update(done(display, replay_screen.STEP_THROUGH.command)[0], told(), 0)
    display, _ = done(display, Command.RIGHT)
    assert done(display, TRY_AGAIN)[1] == (InviteRequest(0, "tictactoe", None, 0, "start 1"),)


def test_a_hint_is_asked_for_by_a_key_and_shown_on_the_board() -> None:
    display = coached(snapshot(moves=LOST[:4], opponent=MIA))
    assert "G hint  w warnings" in picture(display) or "g hint  w warnings" in picture(display)
    assert command_for("g", display) == HINT
    display, requests = done(display, HINT)
    assert requests == (HintRequest(0, match="m1"),)
    display = update(display, HintReply("m1", 4, "move", [2], "You can win at once with c3."), 0)
    assert "You can win at once with c3." in picture(display)
    assert "+" in picture(display).replace("+-", "").replace("-+", "")
    display = update(display, played("tictactoe", LOST[:5]), 0)
    assert "at once" not in picture(display), "it was for the position before"


def test_the_marks_that_a_hint_names_are_lit_as_a_threat() -> None:
    match = snapshot(moves=LOST[:4], opponent=MIA)
    row = ThreatRow(2, run=True, cells=[0, 1])
    why = ExplanationInfo("must_block", ["c3"], theirs=["c3"], row=row)
    display = update(coached(match), HintReply("m1", 4, "move", [2], "You have to play c3.", why), 0)
    assert good_cells(display, match) == {2}
    assert bad_cells(display, match) == {0, 1}


@pytest.mark.parametrize(
    ("match", "says"),
    [
        (snapshot(moves=LOST[:4], opponent=BEN), "Hints are for matches against a bot."),
        (replace(snapshot(moves=LOST[:4], opponent=MIA), rated=True), "There are no hints in a rated match."),
        (snapshot(moves=LOST[:5], opponent=MIA), "Ask for a hint when it is your turn."),
    ],
)
def test_where_there_is_no_hint_a_sentence_says_why(match: Snapshot, says: str) -> None:
    display, requests = done(coached(match), HINT)
    assert (notice(display), requests) == (says, ())
    assert "warnings" not in picture(coached(match)) or says.startswith("Ask for a hint")


def test_two_people_without_a_server_get_no_message_about_a_servers_hints() -> None:
    display = update(update(Display(), welcome(), 0), snapshot(moves=LOST[:4], opponent=BEN), 0)
    assert notice(done(display, HINT)[0]) == "Hints are for matches against a bot."


def test_warnings_are_switched_on_and_off_and_come_after_every_move() -> None:
    display = coached(snapshot(moves=LOST[:4], opponent=MIA))
    assert command_for("w", display) == WARN
    display, requests = done(display, WARN)
    assert requests == (HintRequest(0, match="m1", kind="warning"),)
    assert "Warnings are on." in picture(display)
    display = update(display, HintReply("m1", 4, "warning", [2], "They threaten to win with c3."), 0)
    assert "They threaten to win with c3." in picture(display), "the threat that stands takes the place of the notice"
    move = played("tictactoe", LOST[:5])
    display = update(display, move, 0)
    assert due_requests(display, move) == requests
    display = update(display, HintReply("m1", 5, "warning", [2], "They can win at once with c3."), 0)
    assert "They can win at once with c3. t asks to take it back." in picture(display)
    assert "!" in picture(display)
    display, requests = done(display, WARN)
    assert requests == ()
    assert due_requests(display, move) == ()
    assert "at once" not in picture(display)


def test_other_notices_at_the_end_of_a_match_do_not_hide_the_lesson() -> None:
    display = changed(over(), notice="The match is over.")
    assert "The match is over. Move 5: you could have won at once with c3. v shows it." in picture(display)


def test_in_a_small_window_a_long_lesson_leaves_the_columns_their_names() -> None:
    moves = [38, 31, 24, 17]
    said = "Move 4: you had to block at column 2, 4 or 6: they had two in one line that is open on both sides."
    ended = replace(snapshot("connect4", moves, opponent=MIA), outcome=snapshot(moves=LOST).outcome)
    lesson = MatchLesson(4, 0, ["2", "4", "6"], said)
    display = update(coached(ended), AnalysisReply("m1", [], exact=False, lesson=lesson), 0)
    page = draw(display, (40, 12), 0, ASCII).plain
    assert " ".join(f"{said} v shows it.".split()) in " ".join(page.split())
    assert "1 2 3 4 5 6 7" in " ".join(page.split())
    assert "lost" in page.splitlines()[0]
    display, _ = done(display, replay_screen.STEP_THROUGH.command)
    positions = [position_after("connect4", moves[:ply]) for ply in range(5)]
    page = draw(update(display, ReplayReply("m1", 0, positions, 4), 0), (40, 12), 0, ASCII).plain
    assert "1 2 3 4 5 6 7" in " ".join(page.split())
    assert "Move 3 of 4" in page.splitlines()[0]


def test_a_request_for_an_analysis_is_answered_in_words_whatever_the_server_can_do() -> None:
    ended = snapshot(moves=LOST, opponent=MIA)
    asked, requests = done(coached(ended), ANALYSE.command)
    assert requests == (AnalyseRequest(0, match="m1"),)
    looking = "An engine looks at every move; this may take half a minute."
    first = update(asked, AnalysisReply("m1", [], exact=False, lesson=LESSON, partial=True), 0)
    assert notice(first) == looking, "the first answer is not the whole one"
    for moves, lesson, exact, said in (
        (
            [AnalysedMove(5, 3, -1, ["c3"])],
            LESSON,
            True,
            "The analysis is done: the replay has a verdict on every move.",
        ),
        ([], LESSON, False, "This server has no engine to judge every move."),
        ([], None, False, "The engine did not finish in time."),
        ([], None, True, "There are too few moves to analyse."),
    ):
        assert notice(update(first, AnalysisReply("m1", moves, exact=exact, lesson=lesson), 0)) == said
    unasked = changed(coached(ended), notice="b2 is taken.")
    lesson_only = AnalysisReply("m1", [], exact=False, lesson=LESSON, partial=True)
    assert notice(update(unasked, lesson_only, 0)) == ""
