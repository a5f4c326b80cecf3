"""The puzzle of the day: shown as a board, answered by a move, remembered on this machine."""

import datetime
import re
from dataclasses import replace as changed
from itertools import pairwise

import pytest
from msgspec import structs

from tests.client.samples import ANN, BOT, PROFILE, played, snapshot, welcome
from ttt_net.client.act import act, command_for
from ttt_net.client.client_controller import ClientController
from ttt_net.client.display import AnyCommand, Choose, Command, Display, Open, Overlay, Page, Point, Quick, Type
from ttt_net.client.drawing.draw import draw
from ttt_net.client.drawing.glyphs import ASCII
from ttt_net.client.remembered import (
    MAX_DAYS,
    MAX_MISTAKES,
    Achievements,
    KeptMistake,
    load_achievements,
    save_achievements,
)
from ttt_net.client.update import update
from ttt_net.client.words import LADDER, next_step, notice
from ttt_net.client.world import World
from ttt_net.errors import Refusal
from ttt_net.games.catalogue import NAMES
from ttt_net.games.puzzles import FIRST_DAY, puzzle_count, puzzle_of
from ttt_net.games.rules import ELO
from ttt_net.matches.description import describe_game, describe_puzzle
from ttt_net.messages import (
    LEARNED,
    AnalysisReply,
    Ended,
    HintReply,
    LearnRequest,
    MatchLesson,
    MistakeList,
    MistakesRequest,
    Ok,
    OwnMistake,
    OwnPuzzle,
    PlayerInfo,
    PuzzleReply,
    PuzzleRequest,
    Refused,
    Request,
    RulesRequest,
    SeekRequest,
)
from ttt_net.sdk import identity
from ttt_net.sdk.received import Answered
from ttt_net.sdk.trust import Trust

NOW = datetime.date(2027, 4, 15)
SEEK = SeekRequest(0, ["tictactoe"])
TOLD = describe_puzzle(PuzzleRequest(0), NOW)
"""Tic-tac-toe, O to move; b2, which is move 4, is the only one that does not lose."""


def done(display: Display, command: AnyCommand) -> tuple[Display, tuple[Request, ...]]:
    return act(display, command, SEEK)


def open_puzzle() -> Display:
    display = update(Display(World(address="here")), welcome(features=["puzzle"]), 0)
    assert command_for("z", display) == Open(Page("puzzle"))
    display, requests = done(display, Open(Page("puzzle")))
    assert requests == (PuzzleRequest(0),)
    return update(display, TOLD, 0)


def picture(display: Display) -> str:
    return draw(display, (80, 24), 0, ASCII).plain


def test_the_puzzle_is_a_board_with_a_question_for_the_side_to_move() -> None:
    page = picture(open_puzzle())
    assert "Puzzle of 2027-04-15: Tic-tac-toe, middling" in page
    assert "> O Ann (you)" in page
    assert "You are O. Which is the only move that does not lose?" in page


def test_the_question_mark_shows_the_rules_of_its_game_and_then_the_keys() -> None:
    display, requests = done(changed(open_puzzle(), has_lobby=False), Command.HELP)
    assert (display.page.screen, requests) == ("rules", (RulesRequest(0, game="tictactoe"),))
    display, _ = done(display, Command.HELP)
    assert (display.page.screen, display.overlay) == ("puzzle", Overlay.HELP)
    assert "Show the solution." in picture(display)


@pytest.mark.parametrize("command", [Quick(5), Point(4)])
def test_a_move_is_an_answer(command: AnyCommand) -> None:
    assert command_for("5", open_puzzle()) == Quick(5)
    _, requests = done(open_puzzle(), command)
    assert requests == (PuzzleRequest(0, "2027-04-15", 4),)


def test_a_move_is_typed_or_pointed_at_with_the_cursor() -> None:
    display = open_puzzle()
    assert command_for("b", display) == Type("b")
    for letter in "b2":
        display, _ = done(display, Type(letter))
    display, requests = done(display, Command.PLACE)
    assert requests == (PuzzleRequest(0, "2027-04-15", 4),)
    assert display.typed == ""
    display, _ = done(display, Command.RIGHT)
    assert done(display, Command.PLACE)[1] == ()
    assert notice(done(display, Command.PLACE)[0]) == "c2 is taken."


@pytest.mark.parametrize("game", ["vanishing", "wild", "gomoku", "qubic", "ultimate", "misere"])
def test_puzzles_of_every_game_are_shown_and_answered(game: str) -> None:
    days = (FIRST_DAY + datetime.timedelta(days=number) for number in range(puzzle_count()))
    day = next(day for day in days if puzzle_of(day).game == game)
    display = update(open_puzzle(), describe_puzzle(PuzzleRequest(0), day), 0)
    assert re.search(r"You are \w+\. Which .*\?", picture(display))
    solution = puzzle_of(day).solution
    display = update(display, describe_puzzle(PuzzleRequest(0, move=solution), day), 0)
    assert "Right!" in picture(display)


def test_where_a_cell_takes_either_mark_the_mark_of_an_answer_is_chosen() -> None:
    days = (FIRST_DAY + datetime.timedelta(days=number) for number in range(puzzle_count()))
    day = next(day for day in days if puzzle_of(day).game == "wild")
    display = update(open_puzzle(), describe_puzzle(PuzzleRequest(0), day), 0)
    told = display.world.reply(PuzzleReply)
    assert told is not None
    cell = told.game.move_cells[told.position.legal[0]]
    both = [move for move in told.position.legal if told.game.move_cells[move] == cell]
    display, requests = done(display, Point(cell))
    assert requests == ()
    assert "Choose 1: " in picture(display)
    assert command_for("2", display) == Choose(1)
    assert done(display, Choose(1))[1] == (PuzzleRequest(0, day.isoformat(), both[1]),)


def test_a_wrong_answer_may_be_followed_by_another_and_a_right_one_counts_for_the_day() -> None:
    display = update(open_puzzle(), describe_puzzle(PuzzleRequest(0, move=2), NOW), 0)
    assert "After that they can win. Try another move." in picture(display)
    assert display.achieved.solved == ()
    display = update(display, describe_puzzle(PuzzleRequest(0, move=4), NOW), 0)
    assert display.achieved.solved == ("2027-04-15",)
    page = picture(display)
    assert "Right! b2 holds the draw; after every other move they reach two threats at once." in page
    assert "(  | |  )" in page, "the move is on the board"
    display, requests = done(display, Quick(1))
    assert requests == ()
    assert notice(display) == "That is all for today; the next puzzle comes tomorrow."
    display, _ = done(display, Command.BACK)
    assert display.page.screen == "lobby"


def test_forfeits_are_reported_and_do_not_count() -> None:
    display = open_puzzle()
    command = command_for("s", display)
    assert command is not None
    _, requests = done(display, command)
    assert requests == (PuzzleRequest(0, "2027-04-15", reveal=True),)
    display = update(display, describe_puzzle(PuzzleRequest(0, reveal=True), NOW), 0)
    assert "The solution: b2 holds the draw" in picture(display)
    assert display.achieved.solved == ()


def test_a_streak_is_of_days_in_a_row_and_is_not_broken_by_a_day_that_is_not_over() -> None:
    achieved = Achievements(("2027-04-10", "2027-04-12", "2027-04-13", "2027-04-14"))
    assert [achieved.streak(f"2027-04-{day}") for day in (10, 11, 14, 15, 16)] == [1, 1, 3, 3, 0]
    assert achieved.with_solved("2027-04-15").streak("2027-04-15") == 4
    assert achieved.streak("no day") == 0
    page = picture(update(open_puzzle_with(achieved), TOLD, 0))
    assert "You have solved the puzzles of 3 days in a row." in page


def open_puzzle_with(achieved: Achievements) -> Display:
    return done(Display(World(address="here"), achieved=achieved), Open(Page("puzzle")))[0]


def test_achievements_are_stored_in_a_file_and_a_broken_file_is_empty(
    tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(identity.HOME_VARIABLE, str(tmp_path))
    assert load_achievements() == Achievements()
    achieved = Achievements().with_solved("2026-11-22").with_beaten("connect4", 3).with_beaten("connect4", 2)
    save_achievements(achieved)
    assert load_achievements() == achieved
    assert achieved.beaten == {"connect4": 3}
    path = identity.home() / "achievements.json"
    for broken in ("", "[]", '{"solved": 3, "beaten": {}}', '{"solved": [], "beaten": {"x": 99}}', "[" * 100_000):
        path.write_text(broken)
        assert load_achievements() == Achievements()
    many = Achievements(tuple(f"{day:04}" for day in range(2 * MAX_DAYS)))
    assert len(many.with_solved("2026-11-22").solved) == MAX_DAYS


def test_the_first_win_against_a_level_is_a_record_and_announced_once() -> None:
    moves = [8, 0, 5, 1, 2]
    bot = PlayerInfo("Tom", "alphabeta", 3)
    won = Ended("m1", 7, 0, winner=0, reason="line")

    def after(display: Display, opponent: PlayerInfo = bot) -> Display:
        display = update(display, snapshot(moves=moves[:-1], opponent=opponent), 0)
        return update(update(display, played("tictactoe", moves), 0), won, 0)

    fresh = update(Display(World(address="here")), welcome(), 0)
    display = after(fresh)
    assert notice(display) == (
        "Your best yet: level 3 beaten at Tic-tac-toe! Next: level 5, about 90 points stronger. "
        "Threaten two lines at once: your opponent can block only one of them."
    )
    assert display.achieved.beaten == {"tictactoe": 3}
    again = after(Display(World(address="here"), achieved=display.achieved))
    assert notice(again) == ""
    assert after(fresh, BOT).achieved.beaten == {}, "a bot of no level"
    hinted = update(fresh, HintReply("m1", 2, "move", [5], "Try c2."), 0)
    assert after(hinted).achieved.beaten == {}, "not with a hint"


def test_the_ladder_has_something_to_learn_on_each_step_of_each_game() -> None:
    for game in NAMES:
        steps = [next_step(game, level) for level in LADDER[:-1]]
        by = [ELO[game][level - 1] - ELO[game][before - 1] for before, level in pairwise(LADDER)]
        assert [text.partition(".")[0] for text in steps] == [
            f"Next: level {level}, about {points} points stronger" for level, points in zip(LADDER[1:], by, strict=True)
        ]
        assert len({text.partition(". ")[2] for text in steps}) == 4
    assert next_step("tictactoe", 8) == ""
    assert next_step("a game of another package", 1) == "Next: level 3."


def test_our_own_profile_shows_solved_puzzles() -> None:
    achieved = Achievements(("2026-11-21", "2026-11-22"), {"connect4": 5})
    display = done(Display(World(address="here"), achieved=achieved), Open(Page("profile")))[0]
    own = PROFILE.__class__(ANN, 1_760_000_000_000, True, 1, 0, 0, [], None, [])
    page = picture(update(display, own, 0))
    assert "Puzzles: 2 days solved, 2 in a row up to 2026-11-22." in page
    assert "Levels beaten: Connect Four 5." in page
    assert "Puzzles" not in picture(update(display, PROFILE, 0))


def test_the_solution_of_the_sample_is_as_the_tests_say() -> None:
    assert describe_puzzle(PuzzleRequest(0, reveal=True), NOW).solution == 4
    with pytest.raises(Refusal):
        describe_puzzle(PuzzleRequest(0, move=1), NOW)


def test_the_lobby_has_a_row_for_it_where_the_server_has_one() -> None:
    display = update(Display(World(address="here")), welcome(features=["puzzle"]), 0)
    assert "> Puzzle of the day  press z" in picture(display)
    assert "Enter open" in picture(display)
    assert done(display, Command.PLACE)[0].page.screen == "puzzle"
    display = changed(display, achieved=Achievements(("2026-11-21", "2026-11-22")))
    assert "Puzzle of the day  press z  2 days in a row up to 2026-11-22" in picture(display)
    assert "Puzzle" not in picture(update(Display(World(address="here")), welcome(), 0))


LOST = [8, 0, 5, 1, 3, 2]
LESSON = MatchLesson(5, 0, ["c3"], "Move 5: you could have won at once with c3. What follows: c3.")
OWN = OwnPuzzle("tictactoe", [2], [8, 0, 5, 1])


def after_a_loss(game: str = "tictactoe", lesson: MatchLesson = LESSON, moves: list[int] = LOST) -> Display:
    display = update(Display(World(address="here")), welcome(features=["puzzle", "hint"]), 0)
    display = update(display, snapshot(game, moves=moves), 0)
    return update(display, AnalysisReply("m1", [], exact=False, lesson=lesson, partial=True), 0)


def test_the_mistake_of_a_lesson_is_kept_once_and_that_of_the_other_side_is_not() -> None:
    display = after_a_loss()
    assert [(each.puzzle, each.due, each.times) for each in display.achieved.mistakes] == [(OWN, "", 0)]
    assert display.achieved.mistakes[0].text == "Move 5: you could have won at once with c3."
    again = update(display, AnalysisReply("m1", [], exact=False, lesson=LESSON, partial=True), 0)
    assert again.achieved == display.achieved
    assert after_a_loss(lesson=MatchLesson(4, 1, ["b2"], "Move 4: ...")).achieved.mistakes == ()


def test_a_better_column_is_right_wherever_its_mark_lands() -> None:
    lesson = MatchLesson(3, 0, ["5"], "Move 3: ...")
    display = after_a_loss("connect4", lesson, [38, 31, 24, 37])
    (kept,) = display.achieved.mistakes
    reply = describe_puzzle(PuzzleRequest(0, own=kept.puzzle, move=39), NOW)
    assert (reply.right, reply.solution) == (True, 39)
    assert describe_puzzle(PuzzleRequest(0, own=kept.puzzle, reveal=True), NOW).solution == 39
    assert describe_puzzle(PuzzleRequest(0, own=kept.puzzle, move=40), NOW).right is False


def test_a_mistake_is_asked_as_a_puzzle_and_returns_after_1_3_7_and_21_days() -> None:
    display, _ = done(changed(after_a_loss(), shown=None), Open(Page("puzzle")))
    display = update(display, TOLD, 0)
    assert "Tab: 1 mistake of yours to learn from." in picture(display)
    command = command_for("c-i", display)
    assert command is not None
    _, (asked,) = done(display, command)
    assert asked == PuzzleRequest(0, own=OWN)
    day, returns = NOW, []
    for _ in range(5):
        display = update(display, describe_puzzle(PuzzleRequest(0, own=OWN), day), 0)
        page = picture(display)
        assert "A mistake of yours: Tic-tac-toe" in page
        assert "You are X. You went wrong here: what is better?" in page
        _, (answer,) = done(display, Quick(3))
        assert answer == PuzzleRequest(0, day.isoformat(), 2, own=OWN)
        display = update(display, describe_puzzle(answer, day), 0)
        kept = [each for each in display.achieved.mistakes if each.times < LEARNED]
        due = [datetime.date.fromisoformat(each.due) for each in kept]
        returns += [(each - day).days for each in due]
        if due:
            assert f"It returns on {due[0]}." in picture(display)
            assert display.achieved.due_mistakes(day.isoformat()) == ()
            day = due[0]
    assert returns == [1, 3, 7, 21]
    assert "Right! You have learned it." in picture(display)
    assert display.achieved.solved == (), "the puzzle of the day is another one"
    lesson = AnalysisReply("m1", [], exact=False, lesson=LESSON, partial=True)
    again = update(update(display, snapshot(moves=LOST), 0), lesson, 0)
    assert [(each.due, each.times) for each in again.achieved.mistakes] == [("2027-05-19", 0)]


def test_a_mistake_that_is_made_again_begins_anew_the_next_day() -> None:
    display, _ = done(changed(after_a_loss(), shown=None), Open(Page("puzzle")))
    display = update(display, describe_puzzle(PuzzleRequest(0, own=OWN, move=2), NOW), 0)
    tomorrow = NOW + datetime.timedelta(days=1)
    display = update(display, describe_puzzle(PuzzleRequest(0, own=OWN, move=4), tomorrow), 0)
    assert "That is not it. Try another move." in picture(display)
    display = update(display, describe_puzzle(PuzzleRequest(0, own=OWN, move=2), tomorrow), 0)
    (kept,) = display.achieved.mistakes
    assert (kept.times, kept.due) == (0, (tomorrow + datetime.timedelta(days=1)).isoformat())


def test_mistakes_are_stored_and_broken_ones_are_left_out(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(identity.HOME_VARIABLE, str(tmp_path))
    achieved = after_a_loss().achieved
    save_achievements(achieved)
    assert load_achievements() == achieved
    path = identity.home() / "achievements.json"
    path.write_text('{"solved": ["2026-11-22"], "beaten": {}, "mistakes": [{"puzzle": 3}]}')
    assert load_achievements() == Achievements(("2026-11-22",))
    many = Achievements()
    for number in range(MAX_MISTAKES + 5):
        many = many.with_mistake(OwnPuzzle("gomoku", [1], [number]), "")
    assert len(many.mistakes) == MAX_MISTAKES


def test_a_mistake_whose_position_cannot_be_reached_is_refused() -> None:
    for own in (OwnPuzzle("tictactoe", [2], [4, 4]), OwnPuzzle("tictactoe", [8], [0, 3, 1, 4, 2]), OwnPuzzle("x", [1])):
        with pytest.raises(Refusal):
            describe_puzzle(PuzzleRequest(0, own=own), NOW)


def test_a_solved_win_is_played_to_its_end_move_by_move() -> None:
    days = (FIRST_DAY + datetime.timedelta(days=number) for number in range(puzzle_count()))
    day = next(day for day in days if puzzle_of(day).plies == 5 and puzzle_of(day).game == "connect4")
    found = puzzle_of(day)
    display = update(open_puzzle(), describe_puzzle(PuzzleRequest(0, move=found.solution), day), 0)
    assert "Right arrow: play on." in picture(display)
    shown = []
    for ply in range(2, 6):
        _, (asked,) = done(display, Command.RIGHT)
        assert asked == PuzzleRequest(0, day.isoformat(), ply=ply)
        assert isinstance(asked, PuzzleRequest)
        display = update(display, describe_puzzle(asked, day), 0)
        shown.append(picture(display))
    names = describe_game("connect4").move_names
    assert f"Their answer: {names[found.line[0]]}. Right arrow: play on." in shown[0]
    assert f"Your move 2 of 3: {names[found.line[1]]}. Right arrow: play on." in shown[1]
    assert f"Your move 3 of 3: {names[found.line[3]]}. You have won." in shown[3]
    assert len(set(shown)) == 4
    assert done(display, Command.RIGHT)[1] == ()


def test_a_puzzle_is_followed_no_further_than_its_end() -> None:
    reply = describe_puzzle(PuzzleRequest(0, ply=99), NOW)
    assert (reply.ply, reply.last, reply.solution) == (1, 4, 4), "a puzzle that only saves has no play"


def test_a_shown_solution_can_be_played_on_and_nothing_else_is_asked() -> None:
    display = update(Display(World(address="here")), welcome(features=["puzzle"]), 0)
    display, _ = done(display, Open(Page("puzzle")))
    win = describe_puzzle(PuzzleRequest(0, reveal=True), NOW)
    solved = picture(update(display, structs.replace(win, kind="win", plies=3), 0))
    assert ": which?" not in solved
    assert "Right arrow: play on." in solved
    assert solved.rstrip().split("\n")[-1].startswith("right play on  Esc back  q leave")
    assert "[" not in solved, "there is no cursor"


# With an account, on a server that keeps mistakes.

ACCOUNT = "here Ann"
TODAY = NOW.isoformat()


class Server:
    """A connection to a server that takes mistakes, or refuses them with a code."""

    url, trust, latency_ms, is_asking = "ws://here", Trust(), None, False

    def __init__(self) -> None:
        self.asked: list[Request] = []

    async def run(self) -> None:
        """Run nothing."""

    def say(self, request: Request) -> None:
        self.asked.append(request)

    def news(self) -> list[Request]:
        """Return what was asked since the last call, except for the lists of the lobby."""
        asked, self.asked = self.asked, []
        return [each for each in asked if isinstance(each, LearnRequest | MistakesRequest | PuzzleRequest)]


def at_server(
    achieved: Achievements, account: str = ACCOUNT, features: tuple[str, ...] = ("puzzle", "hint", "mistakes")
) -> tuple[ClientController, Server, list[Achievements]]:
    """Return a controller that has just connected, its connection, and the achievements that were stored."""
    server, stored = Server(), list[Achievements]()
    controller = ClientController(
        server, SEEK, "here", has_lobby=True, is_seeking=False, keep_achievements=stored.append
    )
    controller.display = changed(controller.display, achieved=achieved, account=account)
    controller.hear(welcome(features=list(features)), 0)
    return controller, server, stored


def press_tab(controller: ClientController) -> None:
    command = command_for("c-i", controller.display)
    assert command is not None
    controller.do(command)


def accepted(request: Request) -> Answered:
    return Answered(request, Ok(1))


def refused(request: Request, code: str) -> Answered:
    return Answered(request, Refused(1, code, "no"))


def learn(puzzle: OwnPuzzle, text: str = "", due: str = "", times: int = 0) -> LearnRequest:
    return LearnRequest(0, OwnMistake(puzzle, text, due, times))


SECOND = OwnPuzzle("tictactoe", [4], [0])


def test_mistakes_of_this_machine_go_to_the_account_one_by_one_and_stay_here() -> None:
    achieved = Achievements().with_mistake(OWN, "why").with_mistake(SECOND, "")
    controller, server, stored = at_server(achieved)
    assert server.news() == [learn(OWN, "why")]
    controller.hear(accepted(learn(OWN, "why")), 0)
    assert server.news() == [learn(SECOND)]
    controller.hear(welcome(features=["puzzle", "mistakes"]), 0)
    assert server.news() == [learn(SECOND)], "its answer may have been lost"
    controller.hear(accepted(learn(SECOND)), 0)
    assert server.news() == []
    assert [(each.puzzle, each.account, each.is_sent) for each in stored[-1].mistakes] == [
        (OWN, ACCOUNT, True),
        (SECOND, ACCOUNT, True),
    ]
    for account in (ACCOUNT, "here Bob", ""):
        assert at_server(stored[-1], account)[1].news() == []


@pytest.mark.parametrize(("account", "features"), [("", ("puzzle", "mistakes")), (ACCOUNT, ("puzzle",))])
def test_guests_and_older_servers_leave_mistakes_on_this_machine(account: str, features: tuple[str, ...]) -> None:
    achieved = Achievements().with_mistake(OWN, "why")
    controller, server, _ = at_server(achieved, account, features)
    controller.do(Open(Page("puzzle")))
    controller.hear(TOLD, 0)
    assert server.news() == [PuzzleRequest(0)]
    assert "Tab: 1 mistake of yours to learn from." in picture(controller.display)
    press_tab(controller)
    controller.hear(describe_puzzle(PuzzleRequest(0, own=OWN, move=2), NOW), 0)
    assert server.news() == [PuzzleRequest(0, own=OWN)]
    (kept,) = controller.display.achieved.mistakes
    assert (kept.times, kept.account) == (1, "")


def test_a_rejected_mistake_is_passed_over_and_a_busy_server_is_asked_again_later() -> None:
    achieved = Achievements().with_mistake(OWN, "").with_mistake(SECOND, "")
    controller, server, _ = at_server(achieved)
    controller.hear(refused(learn(OWN), "unknown_game"), 0)
    assert server.news() == [learn(OWN), learn(SECOND)]
    assert notice(controller.display) == ""
    controller.hear(refused(learn(SECOND), "too_fast"), 0)
    controller.hear(TOLD, 0)
    assert server.news() == [MistakesRequest(0)]
    controller.hear(welcome(features=["mistakes"]), 0)
    assert server.news() == [learn(OWN)]


def test_a_mistake_of_another_device_is_asked_and_its_answer_goes_to_the_server() -> None:
    controller, server, stored = at_server(Achievements())
    controller.do(Open(Page("puzzle")))
    controller.hear(TOLD, 0)
    assert server.news() == [PuzzleRequest(0), MistakesRequest(0)]
    there = OwnMistake(OWN, "why", TODAY, 2)
    controller.hear(MistakeList(TODAY, [there], 1, 1), 0)
    assert "Tab: 1 mistake of yours to learn from." in picture(controller.display)
    press_tab(controller)
    controller.hear(describe_puzzle(PuzzleRequest(0, own=OWN), NOW), 0)
    answer = PuzzleRequest(0, TODAY, 2, own=OWN)
    controller.do(Quick(3))
    assert server.news() == [PuzzleRequest(0, own=OWN), answer]
    controller.hear(describe_puzzle(answer, NOW), 0)
    assert "Right! why It returns on 2027-04-22." in picture(controller.display)
    assert server.news() == [learn(OWN, "why", "2027-04-22", 3)]
    assert stored[-1].mistakes == (KeptMistake(OWN, "why", "2027-04-22", 3, ACCOUNT),)
    press_tab(controller)
    assert server.news() == []
    assert notice(controller.display).startswith("No mistake of yours is due today.")


def test_the_server_decides_which_of_the_known_mistakes_are_due() -> None:
    sent = Achievements().with_mistake(OWN, "").with_sent(OwnMistake(OWN), ACCOUNT)
    third = OwnPuzzle("tictactoe", [8], [4])
    both = sent.with_mistake(third, "", ACCOUNT).with_mistake(SECOND, "", "here Bob")
    there = MistakeList(TODAY, [], 0, 1)
    assert [each.puzzle for each in both.due_mistakes(TODAY)] == [OWN, third, SECOND]
    assert [each.puzzle for each in both.due_mistakes(TODAY, ACCOUNT)] == [OWN, third]
    assert [each.puzzle for each in both.due_mistakes(TODAY, ACCOUNT, there)] == [third]
    after = both.with_answer(OwnMistake(OWN), TODAY, ACCOUNT, is_right=True)
    old = structs.replace(there, mistakes=[OwnMistake(OWN, "", "2027-04-01", 1)])
    assert [each.puzzle for each in after.due_mistakes(TODAY, ACCOUNT, old)] == [third]


def test_more_mistakes_are_asked_for_once_the_listed_ones_are_answered() -> None:
    controller, server, _ = at_server(Achievements())
    controller.do(Open(Page("puzzle")))
    controller.hear(TOLD, 0)
    controller.hear(MistakeList(TODAY, [OwnMistake(OWN)], 21, 1), 0)
    server.news()
    controller.hear(describe_puzzle(PuzzleRequest(0, TODAY, 2, own=OWN), NOW), 0)
    assert server.news() == [MistakesRequest(0), learn(OWN, "", "2027-04-16", 1)]


def test_progress_made_while_a_state_is_on_its_way_is_sent_after_it() -> None:
    controller, server, _ = at_server(Achievements().with_mistake(OWN, ""))
    assert server.news() == [learn(OWN)]
    controller.hear(describe_puzzle(PuzzleRequest(0, TODAY, 2, own=OWN), NOW), 0)
    assert server.news() == []
    controller.hear(accepted(learn(OWN)), 0)
    assert server.news() == [learn(OWN, "", "2027-04-16", 1)]


def test_two_players_of_one_machine_keep_the_same_mistake_apart() -> None:
    both = Achievements().with_mistake(OWN, "a", ACCOUNT).with_mistake(OWN, "b", "here Bob")
    bob = both.mistake(OWN, "here Bob")
    assert bob is not None
    after = both.with_answer(bob, TODAY, "here Bob", is_right=True)
    assert [(each.account, each.times) for each in after.mistakes] == [(ACCOUNT, 0), ("here Bob", 1)]
    assert after.with_sent(OwnMistake(SECOND), ACCOUNT) is after


def test_learned_mistakes_make_room_first() -> None:
    many = Achievements()
    for number in range(MAX_MISTAKES):
        many = many.with_mistake(OwnPuzzle("gomoku", [1], [number]), "")
    learned = changed(
        many, mistakes=(*many.mistakes[:9], structs.replace(many.mistakes[9], times=LEARNED), *many.mistakes[10:])
    )
    assert [each.puzzle.moves for each in learned.with_mistake(OWN, "").mistakes[8:10]] == [[8], [10]]
    assert learned.with_mistake(OWN, "").with_mistake(SECOND, "").mistakes[0].puzzle.moves == [1]
