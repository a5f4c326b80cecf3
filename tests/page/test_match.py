"""Whole matches in real browsers."""

from tests.page.place import Place


def test_two_browsers_play_a_whole_match_and_a_rematch(place: Place) -> None:
    first, second = place.pair()
    for turn, cell in enumerate((0, 3, 1, 4, 2)):
        (first, second)[turn % 2].play(cell)
    first.until("You won: you completed a line.")
    second.until("You lost")
    assert first.page.locator(".cell.won").count() == 3
    assert first.page.locator("line.winning").count() == 1
    first.press("Rematch")
    second.press("Accept")
    second.play(4)
    first.await_turn()
    assert first.cell(4).get_attribute("aria-label") == "row 2 column 2, X, last move"
