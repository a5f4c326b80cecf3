"""The page for everyone: an audit by axe of all screens, in light and dark colours."""

import pytest

from tests.page.build import WEB
from tests.page.place import PHONE, Place, Visitor, in_turn

AXE = WEB / "node_modules" / "axe-core" / "axe.min.js"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
OF_COLOURS = ["color-contrast", "link-in-text-block"]
LOOK = """async ([part, runOnly]) => {
    axe.teardown();  // else it remembers the colours it saw
    return (await axe.run(part, { runOnly, resultTypes: ["violations"] })).violations;
}"""


def faults(visitor: Visitor, where: str, part: str = "html") -> list[str]:
    """Return what axe finds in light colours, and what it finds of the dark ones; only colours differ in them.

    With `part`, look only at what a selector names: at a sheet over a screen that was looked at before.
    """
    if not AXE.exists():
        pytest.skip("needs axe-core: npm ci --prefix ttt_net/web")
    if not visitor.page.evaluate("'axe' in window"):
        visitor.page.evaluate(AXE.read_text(encoding="utf-8"))
    found = []
    for colours, rules in (("light", RULES), ("dark", OF_COLOURS)):
        visitor.page.emulate_media(color_scheme=colours)
        violations = visitor.page.evaluate(LOOK, [part, rules])
        found += [f"{where}, {colours}: {v['id']}: {node['html'][:200]}" for v in violations for node in v["nodes"]]
    return found


def test_axe_finds_nothing_from_the_lobby_to_the_end_of_a_match(place: Place) -> None:
    ann = place.visitor(**PHONE).come("Ann")
    bob = place.visitor(**PHONE).come("Bob")
    bob.page.get_by_role("button", name="Challenge Ann").wait_for()
    bob.page.get_by_role("button", name="Challenge Ann").click()
    ann.page.get_by_text("Bob challenges you").wait_for()
    found = faults(ann, "the lobby with a challenge")
    ann.press("Not now")
    bob.page.locator(".toast").wait_for()
    found += faults(bob, "a challenge declined", ".tray")
    bob.page.get_by_role("button", name="Leaderboard").click()
    bob.page.get_by_role("heading", name="Leaderboard").wait_for()
    found += faults(bob, "the leaderboard")
    bob.page.goto(place.url)
    bob.page.locator("main.lobby").wait_for()
    for visitor in (ann, bob):
        visitor.seek("connect4", "3+2")
    for visitor in (ann, bob):
        visitor.page.locator("main.match").wait_for()
    first, _ = in_turn(ann, bob)
    first.page.locator("summary", has_text="Chat").click()
    first.page.locator(".phrases").first.wait_for()
    found += faults(first, "a match")
    ann.press("Abort")
    bob.until("Aborted")
    found += faults(bob, "the end of a match")
    assert found == []


def test_axe_finds_nothing_on_what_is_opened_over_or_beside_a_screen_but_what_is_planted(site: Place) -> None:
    ann = site.visitor(**PHONE)
    page, found = ann.page, list[str]()

    def look(where: str, part: str = "html") -> None:
        found.extend(faults(ann, where, part))

    page.goto(f"{site.url}/#here=connect4")
    page.locator("#cell-4").wait_for()
    look("two on this device")
    page.goto(site.url)
    page.get_by_label("Choose a name").fill("Ann!")
    page.get_by_text("A name cannot contain").wait_for()
    look("the first screen with a name that may not be")
    ann.come("Axel")
    ann.press("Settings")
    page.get_by_role("dialog", name="Settings").wait_for()
    look("settings", ".sheet")
    ann.press("Close")
    ann.press("How to play")
    page.locator(".example .mark").first.wait_for()
    look("rules", ".sheet")
    ann.press("Try it")
    page.locator(".lesson .cell").first.wait_for()
    look("a lesson", ".sheet")
    ann.press("Close")
    page.get_by_role("button", name="Puzzle of the day").click()
    page.locator(".puzzle .cell").first.wait_for()
    look("the puzzle")
    page.goto(f"{site.url}/#guess=0")
    page.locator(".puzzle", has_text="Viktor – Sophia").wait_for()
    look("a match to guess")
    page.goto(f"{site.url}/#player")
    page.get_by_text("Forget me").first.wait_for()
    look("a profile")
    page.goto(site.url)
    ann.press("Invite a friend")
    page.locator(".qr").wait_for()
    look("an invitation")
    assert found == []
    page.evaluate(PLANT)
    for part in ("html", "[aria-label=planted]"):  # again, it finds the same
        planted = faults(ann, "here", part)
        assert [each.split(": ")[:2] for each in planted] == [
            ["here, light", "button-name"],
            ["here, dark", "color-contrast"],
        ]


PLANT = """() => {
    const planted = Object.assign(document.createElement("section"), { ariaLabel: "planted" });
    const style = "background: #fff; color: light-dark(#000, #eee)";
    const text = Object.assign(document.createElement("p"), { textContent: "hard to read", style });
    planted.append(document.createElement("button"), text);
    document.body.append(planted);
}"""
"""Adds a fault of either kind: a button without a name, and letters that only dark colours make hard to read."""
