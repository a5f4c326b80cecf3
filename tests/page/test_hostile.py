"""Text from strangers, and from a server that is not honest, stays text."""

from tests.page.place import Place, Stage, wait_for

BAIT = "<img src=x onerror=window.caught=1>"
GAME = {
    "name": BAIT,
    "title": BAIT,
    "rule": BAIT,
    "shape": [1, 2],
    "gravity": False,
    "move_cells": [0, 1],
    "move_names": [BAIT, BAIT],
}
PLAYER = {"name": BAIT, "bot": BAIT}
MATCH = {
    "match": "k3V9pCD5",
    "game": BAIT,
    "players": [PLAYER, PLAYER],
    "ply": 0,
    "watchers": 0,
}
SNAPSHOT = {
    "type": "snapshot",
    "match": "k3V9pCD5",
    "seq": 1,
    "game": GAME,
    "players": [PLAYER, PLAYER],
    "present": [True, True],
    "moves": [0],
    "last": 0,
    "position": {"ply": 1, "board": "<.", "to_move": 0, "legal": [1], "line": [], "marks": [BAIT, "<"]},
    "offers": [{"side": 1, "kind": BAIT}],
    "you": 0,
}
HEARD = [
    {"type": "seeks", "count": 1, "seeks": [{"seek": 1, "by": PLAYER, "games": [BAIT]}]},
    {"type": "players", "online": 1, "players": [{"name": BAIT, "bot": BAIT, "free": 1}, {"name": BAIT + "2"}]},
    {"type": "live", "count": 1, "matches": [MATCH]},
    {"type": "challenged", "challenge": 1, "by": PLAYER, "to": PLAYER, "game": BAIT, "expires_in_ms": 9},
    {"type": "notice", "text": BAIT},
]


def test_markup_in_a_name_is_shown_as_it_was_written(site: Place) -> None:
    for messages, shown in ((HEARD, "main.lobby"), ([SNAPSHOT], "main.match")):
        visitor = Stage(site.visitor(), *messages, name=BAIT).open()
        visitor.page.locator(shown).wait_for()
        visitor.page.get_by_text(BAIT).first.wait_for()
        assert visitor.page.locator("img").count() == 0
        assert visitor.page.evaluate("window.caught") is None


def test_the_browser_itself_would_not_make_markup_of_text(site: Place) -> None:
    site.expect("TrustedHTML")
    visitor = site.visitor().come("Trusting")
    script = "() => { try { document.body.innerHTML = '<b>'; return 'made' } catch (error) { return error.name } }"
    assert visitor.page.evaluate(script) == "TypeError"
    wait_for(lambda: any("TrustedHTML" in line for line in site.complaints), visitor)
