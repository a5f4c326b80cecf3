"""The look of a match and a profile: moves in sight, a win celebrated, ratings as a graph, what was better."""

import itertools
from typing import Any

from tests.page.place import SMALL_PHONE, Place, Visitor, in_turn, wait_for

LOW: dict[str, Any] = {"viewport": {"width": 1280, "height": 640}}
INSIDE = """(last) => {
    const [own, around] = [last.getBoundingClientRect(), last.parentElement.getBoundingClientRect()];
    return own.top >= around.top - 1 && own.bottom <= around.bottom + 1;
}"""

FELT = """
    window.felt = [];
    navigator.vibrate = pattern => window.felt.push(pattern.length);
    localStorage.setItem("ttt_net.settings", JSON.stringify({ isLoud: true }));
"""
"""Has sounds on, and notes of how many parts what is felt consists: five for a win."""

CHEERED = """
    window.cheered = false;
    const look = () => { window.cheered ||= !!document.querySelector(".confetti"); };
    new MutationObserver(look).observe(document, { subtree: true, childList: true });
"""
"""Remembers whether there were scraps of paper, which go by."""


def play(first: Visitor, second: Visitor, cells: tuple[int, ...]) -> None:
    """Play cells by turns, and wait until both have seen each move."""
    for turn, cell in enumerate(cells):
        (first, second)[turn % 2].play(cell)
        for visitor in (first, second):
            visitor.page.locator(".moves-panel summary", has_text=f"({turn + 1})").wait_for()


def test_the_last_move_of_a_long_list_is_in_sight_and_so_is_the_one_that_is_looked_at(place: Place) -> None:
    first, second = place.pair("connect4", **LOW)
    play(first, second, (35, 36, 37, 38, 39, 40, 41, 35, 36, 37, 38, 39, 40, 41))
    last = first.page.locator(".moves li").nth(13)
    wait_for(lambda: bool(last.evaluate(INSIDE)), first)
    assert not first.page.locator(".moves li").first.evaluate(INSIDE)
    second.press("Resign")
    second.press("Yes, resign")
    first.until("You won")
    first.page.get_by_role("slider", name="Move").fill("1")
    wait_for(lambda: bool(first.page.locator(".moves li").first.evaluate(INSIDE)), first)


def test_a_win_is_celebrated_as_it_happens_and_only_by_the_winner(place: Place) -> None:
    first, second = place.pair(reduced_motion="no-preference")
    for visitor in (first, second):
        visitor.page.add_init_script(CHEERED)
        visitor.page.reload()
    for turn, cell in enumerate((0, 3, 1, 4, 2)):
        (first, second)[turn % 2].play(cell)
    wait_for(lambda: bool(first.page.evaluate("cheered")), first)
    second.page.locator(".deck.defeat").wait_for()
    first.page.reload()
    first.page.locator(".deck.victory").wait_for()
    assert not any(visitor.page.evaluate("cheered") for visitor in (first, second))


def test_the_graph_of_ratings_ends_with_the_rating_of_now(place: Place) -> None:
    first, second = place.pair("connect4")
    winner, loser = first, second
    for number in range(2):
        one, other = in_turn(first, second)
        for mover, cell in ((one, 38), (other, 37), (one, 31), (other, 30)):  # it is rated from then on
            mover.play(cell)
        other.page.locator("#cell-30.last").wait_for()
        loser.press("Resign")
        loser.press("Yes, resign")
        winner.until("You won")
        winner.page.locator(".gain").wait_for()
        match = winner.page.url
        if number == 0:
            winner.press("Rematch")
            loser.press("Accept")
            for visitor in (winner, loser):
                visitor.page.wait_for_url(lambda url, match=match: url != match)
    winner.page.goto(f"{place.url}/#player")
    words = winner.page.locator("figcaption").inner_text()
    rating = winner.page.locator("tbody td").nth(2).inner_text().rstrip("?")
    assert words.endswith(f"to {rating}")
    highest, lowest = winner.page.locator(".plot span").all_inner_texts()
    assert (rating, int(lowest) < int(highest)) == (highest, True)


def test_two_on_one_device_are_told_of_no_server_and_the_winner_is_celebrated(place: Place) -> None:
    two = place.visitor(reduced_motion="no-preference")
    two.page.add_init_script(FELT)
    two.page.goto(f"{place.url}/#here=tictactoe")
    for cell in (0, 3, 1, 4, 2):
        two.cell(cell).click()
    two.page.locator(".status .mark-X + .head", has_text="X won.").wait_for()
    two.page.locator(".confetti i").first.wait_for(state="attached")
    wait_for(lambda: two.page.evaluate("felt") == [5], two)
    assert two.page.locator(".link").count() == 0


def test_letters_twice_as_large_hide_nothing_of_the_result(place: Place) -> None:
    first, second = place.pair("connect4", viewport={"width": 1280, "height": 800})
    for turn, cell in enumerate((38, 37, 31, 30, 24, 36, 17)):
        (first, second)[turn % 2].play(cell)
    first.until("You won")
    first.page.locator(".gain").wait_for()
    first.page.evaluate("document.documentElement.style.fontSize = '200%'")
    below = "([above, below]) => above.getBoundingClientRect().bottom <= below.getBoundingClientRect().top"
    parts = [first.page.locator(each).element_handle() for each in (".deck .how", ".deck .actions", ".deck .review")]
    for pair in itertools.pairwise(parts):
        assert first.page.evaluate(below, list(pair))


LEFT_OF_LAST = """name => {
    const x = (at) => {
        const one = document.createRange();
        one.setStart(name.firstChild, at);
        one.setEnd(name.firstChild, at + 1);
        return one.getBoundingClientRect().x;
    };
    return x(0) < x(name.firstChild.length - 1);
}"""
"""Tells whether a text on one line begins on the left."""


def speak(visitor: Visitor, language: str) -> None:
    """Have the page speak another language from now on."""
    visitor.page.evaluate("code => localStorage.setItem('ttt_net.language', code)", language)
    visitor.page.reload()
    visitor.page.locator(f"html[lang={language}]").wait_for()


def test_a_move_in_a_small_board_is_written_from_the_left_in_arabic_too(place: Place) -> None:
    first, second = place.pair("ultimate")
    first.play(40)
    second.play(30)
    speak(first, "ar")
    name = first.page.locator(".moves bdi").nth(1)
    name.wait_for()
    assert name.inner_text() == "5:a3"
    assert name.evaluate(LEFT_OF_LAST)


def test_a_puzzle_and_a_match_at_one_device_fit_a_small_phone_in_long_words(place: Place) -> None:
    ann = place.visitor(**SMALL_PHONE).come("Ann")
    speak(ann, "ru")
    ann.page.goto(f"{place.url}/#puzzle=2023-01-03")  # a day that has come on any machine
    board = ann.page.locator(".puzzle .boards")
    board.wait_for()
    assert board.evaluate("board => board.getBoundingClientRect().bottom <= innerHeight")
    ann.page.goto(f"{place.url}/#here")
    title = ann.page.locator("h1 > span").first
    title.wait_for()
    assert title.evaluate("title => title.getBoundingClientRect().height < 30"), "no word is broken"
