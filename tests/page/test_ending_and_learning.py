"""After a match, and learning: another game, replays, lessons, hints, puzzles."""

from datetime import date, timedelta

import pytest

from tests.page.place import PHONE, Place, Visitor, in_turn, wait_for
from ttt_net.games import find_game
from ttt_net.games.notation import read_start
from ttt_net.games.puzzles import puzzle_of

DAY = date(2023, 1, 3)
"""One that has come, whatever the date is today."""


def finish(first: Visitor, second: Visitor) -> None:
    """Let the first player win at tic-tac-toe."""
    for turn, cell in enumerate((0, 3, 1, 4, 2)):
        (first, second)[turn % 2].play(cell)


def test_the_end_is_one_sheet_with_the_rating_and_one_dominant_way_on(place: Place) -> None:
    visitors = [place.visitor(**PHONE).come(name) for name in ("Ann", "Bob")]
    for visitor in visitors:
        visitor.choose("connect4", "3+2")
        visitor.page.get_by_label("Rated").check()
        visitor.press("Find an opponent")
    for visitor in visitors:
        visitor.page.locator("main.match").wait_for()
    first, second = in_turn(*visitors)
    for turn, cell in enumerate((0, 1, 0, 1, 0, 1, 0)):
        (first, second)[turn % 2].play(cell)
    first.until("You won: you completed a line.")
    sheet = first.page.locator(".deck.victory")
    sheet.get_by_text("(+").wait_for()
    second.page.locator(".deck.defeat").get_by_text("(−").wait_for()
    assert sheet.locator("button.primary").all_inner_texts() == ["Rematch"]
    second.page.get_by_role("button", name="Where did I go wrong?").wait_for()
    first.sees(".above.strike .over", 1)


def test_the_rematch_may_be_another_game(place: Place) -> None:
    first, second = place.pair()
    finish(first, second)
    first.press("Another game")
    first.page.get_by_role("dialog", name="Another game").get_by_role("radio", name="Qubic").click()
    second.page.locator(".challenge", has_text="challenges you: Qubic").wait_for()
    second.press("Accept")
    for visitor in (first, second):
        visitor.page.locator(".layer").nth(3).wait_for()


def test_a_replay_goes_by_arrow_keys_and_by_itself(place: Place) -> None:
    first, second = place.pair()
    finish(first, second)
    first.until("You won")
    first.page.locator("h1").click()
    first.page.evaluate("document.activeElement.blur()")
    first.page.keyboard.press("ArrowLeft")
    first.until("Move 4 of 5")
    first.page.keyboard.press("Home")
    first.until("Move 0 of 5")
    first.page.evaluate(  # before, or a move may have gone by when it is looked for
        """() => { window.told = []; new MutationObserver(() => told.push(document.querySelector(".status").innerText))
            .observe(document.body, { childList: true, subtree: true, characterData: true }) }"""
    )
    first.press("Play all moves")
    first.until("You won")
    told = " ".join(first.page.evaluate("told"))
    assert all(f"Move {number} of 5" in told for number in (1, 2, 3, 4)), told
    first.page.get_by_role("button", name="Play all moves").wait_for()


def test_who_has_learnt_a_game_plays_it_by_one_tap(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    place.stop()
    monkeypatch.setenv("TTT_NET_HOUSE_BOTS", "yes")
    place.start()
    ann = place.visitor().prefer("misere").come("Ann")
    ann.press("How to play")
    ann.press("Try it")
    ann.page.locator("#lesson-cell-3").click()
    ann.press("Next")
    ann.page.get_by_text("You know the game.").wait_for()
    ann.page.get_by_role("dialog").get_by_role("button", name="Play the computer").click()
    ann.page.locator("main.match h1", has_text="Misère tic-tac-toe").wait_for()


def test_the_puzzle_of_a_day_is_answered_and_remembered(place: Place) -> None:
    ann = place.visitor().come("Ann")
    ann.page.get_by_role("button", name="Puzzle of the day").click()
    ann.page.locator(".puzzle .cell.free").first.wait_for()
    puzzle = puzzle_of(DAY)
    game = find_game(puzzle.game)
    state = read_start(game, puzzle.position)
    wrong = next(move for move in game.actions(state) if move != puzzle.solution)
    ann.page.goto(f"{place.url}/#puzzle={DAY.isoformat()}")
    ann.page.get_by_text("Jan 3, 2023").wait_for()
    verdict = ann.page.locator(".verdict")
    for move, said in ((wrong, "is not the move. Try another."), (puzzle.solution, "Correct: ")):
        ann.cell(game.move_cells[move]).dispatch_event("click")
        verdict.filter(has_text=said).wait_for()
    ann.page.get_by_text("Solved").wait_for()
    ann.page.reload()
    ann.page.get_by_text("Solved").wait_for()
    ann.press("Previous puzzle")
    ann.page.wait_for_url(f"**/#puzzle={DAY - timedelta(days=1)}")
    ann.page.get_by_text("Jan 2, 2023").wait_for()
    ann.press("Show the solution")
    ann.page.locator(".verdict", has_text="A good move").wait_for()


def test_a_bot_is_met_by_a_tap_with_hints_and_plays_on_from_a_position(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.stop()
    monkeypatch.setenv("TTT_NET_HOUSE_BOTS", "yes")
    place.start()
    ann = place.visitor()
    ann.page.goto(place.url)
    ann.cell(4).click()
    ann.page.locator("main.match").wait_for()
    ann.await_turn()
    assert ann.page.locator(".chat").count() == 0, "nobody would hear it"
    ann.press("Hint")
    ann.page.locator(".coached").first.wait_for()
    ann.page.locator(".cell.hint").first.wait_for()
    assert ann.cell(4).locator(".mark-X").count() == 1, "who comes for the first time begins, at the cell they tapped"
    ann.press("Resign")
    ann.press("Yes, resign")
    ann.page.get_by_role("slider", name="Move").fill("1")
    match = ann.page.url
    ann.press("Play on from here")
    ann.page.wait_for_url(lambda url: url not in (match, place.url))
    ann.await_turn()
    assert ann.cell(4).locator(".mark-X").count() == 1, "a bot plays on from the position that was shown"


LISTEN = """
    window.felt = [];
    window.Notification = class {
        static permission = "granted";
        static requestPermission = async () => "granted";
        constructor(title) { window.felt.push(title); }
        close() {}
    };
    navigator.vibrate = () => window.felt.push("vibration");
    navigator.setAppBadge = async count => window.felt.push(`badge ${count}`);
    const Real = window.AudioContext;
    window.AudioContext = class extends Real { constructor() { super(); window.felt.push("sound"); } };
    localStorage.setItem("ttt_net.settings", JSON.stringify({ isLoud: true, tells: true }));
"""


def test_our_turn_is_heard_and_felt_and_told_where_the_page_is_not_looked_at(place: Place) -> None:
    ann, bob = place.visitor(), place.visitor().come("Bob")
    ann.page.add_init_script(LISTEN)
    ann.come("Ann").seek()
    bob.seek()
    for visitor in (ann, bob):
        visitor.page.locator("main.match").wait_for()
    if in_turn(ann, bob)[0] is ann:
        ann.play(4)
    bob.await_turn()
    ann.page.evaluate("Object.defineProperty(document, 'hidden', { value: true })")
    bob.play(0)
    ann.await_turn()
    wait_for(lambda: {"Your turn against Bob", "vibration", "badge 1", "sound"} <= set(ann.page.evaluate("felt")), ann)
    wait_for(lambda: ann.page.title().startswith("● Your turn"), ann)
    ann.page.locator("link[rel=icon][href*=icon-turn]").wait_for(state="attached")
    ann.play(8)
    bob.await_turn()
    ann.page.locator("link[rel=icon][href$='/icon.svg']").wait_for(state="attached")
