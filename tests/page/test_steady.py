"""The board never moves, important things stay visible, and nothing is lost or unsaid."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from tests.page.place import PHONE, Place, Visitor, wait_for

LYING: dict[str, Any] = {"viewport": {"width": 740, "height": 360}}
STANDING: dict[str, Any] = PHONE | {"viewport": {"width": 360, "height": 740}}


def box(visitor: Visitor, selector: str) -> dict[str, float]:
    found = visitor.page.locator(selector).first.bounding_box()
    assert found is not None, f"{selector} is not there"
    return dict(found)


def test_nothing_that_happens_moves_the_board(place: Place) -> None:
    first, second = place.pair("tictactoe", "3+2", **STANDING)
    first.play(0)
    second.await_turn()
    before = box(second, ".boards")
    ann, bob = sorted((first, second), key=lambda visitor: visitor.name)
    cleo = place.visitor().come("Cleo")
    cleo.page.get_by_role("button", name="Challenge Bob").click()
    bob.page.locator(".challenge").wait_for()
    first.page.get_by_role("button", name="Offer a draw").click()
    second.page.get_by_text("offers a draw.").wait_for()
    place.administer("drain", "3600")
    second.page.locator(".banner").wait_for()
    assert box(second, ".boards") == before
    place.administer("drain", "--cancel")
    second.press("No")
    first.page.locator(".toast", has_text="declined the draw.").wait_for()
    second.cell(4).tap()
    first.await_turn()
    assert first.page.locator(".cell.last").get_attribute("id") == "cell-4"
    assert ann.page.locator(".challenge").count() == 0


def test_what_has_just_come_under_the_finger_takes_no_taps(place: Place) -> None:
    first, _ = place.pair()
    first.play(0)
    shielded = """() => new Promise(resolve => {
        const deck = document.querySelector(".deck");
        new MutationObserver(() => "settling" in deck.dataset && resolve(getComputedStyle(deck).pointerEvents))
            .observe(deck, {attributes: true});
        [...deck.querySelectorAll("button")].find(each => /Resign|Abort/.test(each.textContent)).click();
    })"""
    assert first.page.evaluate(shielded) == "none"


def test_a_link_that_cannot_be_copied_is_shown_to_be_copied_by_hand(place: Place) -> None:
    ann = place.visitor()
    ann.page.add_init_script(
        "Object.defineProperty(navigator, 'clipboard', {value: undefined}); document.execCommand = () => window.copies"
    )
    ann.come("Ann")
    ann.press("Invite a friend")
    ann.press("Copy the link")
    shown = ann.page.get_by_label("Copy this link:")
    assert shown.input_value().startswith(f"{place.url}/j#")
    assert ann.page.evaluate("document.activeElement.selectionEnd") > 10
    ann.page.evaluate("window.copies = true")
    ann.press("Copy the link")
    ann.page.locator(".toast", has_text="The link is copied.").wait_for()


def test_an_open_invitation_is_there_after_loading_the_page_again(place: Place) -> None:
    ann = place.visitor().come("Ann")
    ann.press("Invite a friend")
    code = ann.page.locator(".code").inner_text()
    ann.page.reload()
    ann.page.locator(".code", has_text=code).wait_for()
    ann.press("Back")
    ann.page.reload()
    ann.page.get_by_role("button", name="Invite a friend").wait_for()


@pytest.mark.parametrize("game", ["connect4", "qubic", "ultimate"])
def test_on_a_phone_that_lies_on_its_side_all_that_matters_is_in_sight(place: Place, game: str) -> None:
    first, _ = place.pair(game, "3+2", **LYING)
    for size in ((740, 360), (640, 360)):  # the second is a window of 1280 by 720 at 200 %
        first.page.set_viewport_size({"width": size[0], "height": size[1]})
        for selector in (".boards", ".status", ".deck button", ".seat >> nth=0", ".seat >> nth=1"):
            found = box(first, selector)
            assert found["y"] >= 0, selector
            assert found["y"] + found["height"] <= size[1], selector
            assert found["x"] + found["width"] <= size[0], selector


def test_layers_side_by_side_stand_in_one_row_and_the_end_of_a_match_is_in_sight(place: Place) -> None:
    first, second = place.pair("tictactoe3d", viewport={"width": 1280, "height": 800})
    first.page.get_by_role("button", name="Settings").click()
    first.page.get_by_label("Layers of a cube side by side").check()
    first.press("Close")
    rows = first.page.evaluate(
        "[...document.querySelectorAll('.layer')].map(each => Math.round(each.getBoundingClientRect().y))"
    )
    assert len(rows) == 3
    assert len(set(rows)) == 1
    first.page.set_viewport_size({"width": 360, "height": 740})
    win_at = (0, 9, 1, 10, 2)
    for turn, cell in enumerate(win_at):
        (first, second)[turn % 2].play(cell)
    rematch = box(first, "button:text('Rematch')")
    assert rematch["y"] + rematch["height"] <= 740


@pytest.mark.parametrize("screen", [STANDING, LYING], ids=["standing", "lying"])
def test_the_end_of_a_rated_match_on_a_phone_is_whole_and_has_its_rematch_in_sight(
    place: Place, screen: dict[str, Any]
) -> None:
    first, second = place.pair("qubic", "3+2", **screen)
    for turn, cell in enumerate((0, 1, 21, 2, 42, 3, 63)):
        (first, second)[turn % 2].play(cell)
    second.page.locator(".deck.defeat .gain").wait_for()
    rows = [box(second, f".deck .{each}") for each in ("head", "how", "actions .large")]
    for upper, lower in pairwise(rows):
        assert upper["y"] + upper["height"] <= lower["y"] + 1
    assert rows[-1]["y"] + rows[-1]["height"] <= screen["viewport"]["height"]
    if screen is LYING:
        deck, own = box(second, ".deck"), box(second, ".field + .seat")
        assert deck["y"] + deck["height"] <= own["y"] + 1


def test_the_first_screen_of_a_phone_has_a_board_all_games_and_the_name(place: Place) -> None:
    ann = place.visitor(**STANDING)
    ann.page.goto(place.url)
    for selector in (".games .option", ".boards", "#name"):
        part = box(ann, selector)
        assert part["y"] + part["height"] <= 740, selector
    ann.page.locator(".beckons #cell-4.ghost").wait_for()
    ann.page.get_by_role("radio", name="Gomoku").check()
    ann.page.locator(".boards.stones.stony").wait_for()


def test_being_offline_is_told_at_once_and_a_tap_out_of_turn_is_answered(place: Place) -> None:
    place.expect_broken_links()
    first, second = place.pair()
    second.cell(4).click()
    second.page.locator(".toast", has_text="It is not your turn.").wait_for()
    assert first.page.locator(".columns").inner_text().split() == ["a", "b", "c"]
    assert first.page.locator(".rows").inner_text().split() == ["3", "2", "1"]
    assert "Your turn" in first.page.title()
    told = first.page.evaluate(  # in one go: the link is back within moments
        """() => new Promise((told) => {
            const look = () => {
                const banner = document.querySelector(".banner")
                if (banner) told(banner.textContent)
            }
            new MutationObserver(look).observe(document.body, { childList: true, subtree: true })
            dispatchEvent(new Event("offline"))
            look()
        })"""
    )
    assert "this device is offline" in told
    first.page.locator(".banner").wait_for(state="detached")


def test_an_address_that_leads_nowhere_leads_to_the_lobby(place: Place) -> None:
    place.expect("404")
    ann = place.visitor().come("Ann")
    answer = ann.page.goto(f"{place.url}/nowhere")
    assert answer.status == 404
    ann.press("To the lobby")
    ann.page.locator("main.lobby").wait_for()


def test_two_windows_play_each_under_its_own_name(place: Place) -> None:
    ann = place.visitor().come("Ann")
    other = ann.page.context.new_page()
    other.goto(place.url)
    other.locator("main.lobby").wait_for()
    ann.press("Play here under another name")
    ann.page.get_by_label("Choose a name").fill("Bob")
    ann.press("Play")
    ann.page.get_by_role("button", name="Challenge Ann").click()
    other.get_by_role("button", name="Accept", exact=True).click()
    for page in (ann.page, other):
        page.locator("main.match").wait_for()
    ann.page.reload()
    ann.page.locator("main.match").wait_for()
    assert "Bob" in ann.page.locator(".seat[aria-label*=you]").inner_text()
    other.reload()
    other.locator(".seat[aria-label*=you]", has_text="Ann").wait_for()


def test_filters_and_pages_have_addresses_and_titles(place: Place) -> None:
    first, _ = place.pair()
    name = first.page.evaluate("localStorage.getItem('ttt_net.token') && document.title")
    assert "Tic-tac-toe" in name
    first.page.goto(f"{place.url}/#player=Ann&game=qubic")
    chosen = first.page.get_by_role("combobox", name="Game")
    chosen.wait_for()
    assert chosen.input_value() == "qubic"
    chosen.select_option("gomoku")
    first.page.wait_for_url("**/#player=Ann&game=gomoku")
    wait_for(lambda: first.page.title().startswith(("Ann", "● ")), first)
    first.page.go_back()
    first.page.wait_for_url("**/#player=Ann&game=qubic")
    first.page.goto(f"{place.url}/#leaders=qubic&speed=blitz")
    first.page.get_by_role("heading", name="Leaderboard").wait_for()
    wait_for(lambda: "Leaderboard, Qubic" in first.page.title(), first)


def test_an_invitation_is_a_code_that_a_phone_scans(place: Place) -> None:
    ann = place.visitor().come("Ann")
    ann.press("Invite a friend")
    address = ann.page.get_by_label("Address").input_value()
    drawn = ann.page.locator(".qr path").get_attribute("d") or ""
    dark = {tuple(map(int, place.split("h")[0].split())) for place in drawn.split("M")[1:]}
    size = max(x for x, _ in dark) + 1
    assert address.encode() in {read_code(dark, size, mask) for mask in range(8)}


MASKS: tuple[Callable[[int, int], bool], ...] = (
    lambda x, y: (x + y) % 2 == 0,
    lambda x, y: y % 2 == 0,
    lambda x, y: x % 3 == 0,
    lambda x, y: (x + y) % 3 == 0,
    lambda x, y: (y // 2 + x // 3) % 2 == 0,
    lambda x, y: x * y % 2 + x * y % 3 == 0,
    lambda x, y: (x * y % 2 + x * y % 3) % 2 == 0,
    lambda x, y: ((x + y) % 2 + x * y % 3) % 2 == 0,
)


def read_code(dark: set[tuple[int, ...]], size: int, mask: int) -> bytes:
    """Return the bytes in a QR code of version 2 to 5 and one block (ISO/IEC 18004), if it has that mask."""
    bits = ""
    columns = [x for x in range(size - 1, 0, -2) if x > 6] + [5, 3, 1]
    for turn, right in enumerate(columns):
        for y in range(size) if turn % 2 else reversed(range(size)):
            for x in (right, right - 1):
                is_finder = (x < 9 and (y < 9 or y >= size - 8)) or (x >= size - 8 and y < 9)
                is_alignment = abs(x - (size - 7)) <= 2 and abs(y - (size - 7)) <= 2
                if not (is_finder or is_alignment or 6 in (x, y)):
                    bits += str(int(((x, y) in dark) != MASKS[mask](x, y)))
    length = int(bits[4:12], 2) if bits.startswith("0100") else 0
    return bytes(int(bits[12 + 8 * n : 20 + 8 * n], 2) for n in range(min(length, len(bits) // 8 - 2)))
