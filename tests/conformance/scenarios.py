"""Scenarios that every client has to stand: a table of scripted servers, as JSON for authors of other clients.

`python -m tests.conformance.scenarios` writes docs/conformance.json; a test compares the two. The steps are documented
in docs/protocol.md ("Test a client").
"""

import json
from pathlib import Path
from typing import Any

import msgspec

from tests.client.samples import ANN, BEN, played, snapshot
from ttt_net import messages as wire
from ttt_net.messages import OfferInfo, SeekInfo

TARGET = Path(__file__).parent.parent.parent / "docs" / "conformance.json"
SHORT_MS, LONG_MS = 60, 60_000
"""Waits that a refusal asks for: one that clients wait by themselves, and one that they tell their player."""
QUIET_MS = 160
Step = dict[str, Any]


def says(message: Any, **more: Any) -> Step:
    """Return the step in which the server sends a message; `more` overrides its fields."""
    return {"says": {**msgspec.to_builtins(message), **more}}


def hears(kind: str, label: str | None = None, /, **fields: Any) -> Step:
    """Return the step in which the client sends a request with at least these fields."""
    return {"hears": {"type": kind} | fields, "as": label or kind}


def does(action: str, **what: Any) -> Step:
    """Return the step in which the player acts."""
    return {"does": action, **what}


def granted(kind: str, label: str | None = None, /, **fields: Any) -> list[Step]:
    """Return the steps of a request that is answered `ok`."""
    return [hears(kind, label, **fields), {"says": {"type": "ok", "id": f"${label or kind}"}}]


def refused(name: str, code: str, retry_after_ms: int | None = None) -> Step:
    """Return the step in which the server refuses a request."""
    wait = {} if retry_after_ms is None else {"retry_after_ms": retry_after_ms}
    return {"says": {"type": "refused", "id": f"${name}", "code": code, "message": f"{code}, says the test", **wait}}


def entered(*matches: str, seek: SeekInfo | None = None, is_new: bool = False) -> list[Step]:
    """Return the steps of a connection up to the `welcome`; a known player says their token."""
    who = {"name": "Ann"} if is_new else {"token": "a-token-of-the-test-a-token-of-the-test"}
    welcome = wire.Welcome(1, "the test", ANN, list(matches), seek=seek)
    token = {"token": "a-token-of-the-test-a-token-of-the-test"} if is_new else {}
    return [{"accepts": True}, *granted("hello", **who), says(welcome, **token)]


def one_legal(shown: wire.Snapshot | wire.Played, cell: int) -> Any:
    """Return it with one legal move alone, so that a bot has no choice."""
    assert shown.position is not None
    position = msgspec.structs.replace(shown.position, legal=[cell])
    return msgspec.structs.replace(shown, position=position)


def knows(**facts: Any) -> Step:
    """Return what the client must know of match m1 by then."""
    return {"knows": facts}


def begun() -> list[Step]:
    """Return the steps up to a match in which it is our turn, and the one legal move is 4."""
    shown = one_legal(snapshot(opponent=BEN), 4)
    return [*entered(is_new=True), does("seek"), *granted("seek"), says(shown), knows(ply=0)]


def after_two(offers: list[OfferInfo] | None = None, *, seq: int = 3, you: int = 0) -> wire.Snapshot:
    """Return a match after two moves; for side 1 it is the opponent's turn."""
    shown = snapshot(moves=[4, 0], opponent=BEN, offers=offers, you=you)
    return msgspec.structs.replace(shown, seq=seq)


def watching_turn() -> list[Step]:
    """Return the steps up to a match after two moves, in which it is the turn of the opponent."""
    shown = after_two(you=1)
    return [*entered(is_new=True), does("seek"), *granted("seek"), says(shown), knows(ply=2)]


def offered(seq: int, kind: wire.OfferKind, side: int) -> Step:
    """Return the event of an offer."""
    return says(wire.Offered("m1", seq, 0, side, kind))


LOST: Step = {"loses": True}
QUIET: Step = {"quiet_ms": QUIET_MS}


PLAY: dict[str, Any] = {"match": "m1", "ply": 0, "move": 4}
SCENARIOS: dict[str, tuple[str, list[Step]]] = {
    "the answer to a move is lost": (
        "The client resumes, and may send the move again: it is made once.",
        [
            *begun(),
            does("play", move=4),
            hears("play", **PLAY),
            LOST,
            *entered("m1"),
            *granted("resume", match="m1"),
            {"may": {"type": "play", **PLAY}},
            says(snapshot(moves=[4], opponent=BEN)),
            knows(ply=1, over=False),
            QUIET,
        ],
    ),
    "a move is lost": (
        "The client resumes and sends the same move again, and no other.",
        [
            *begun(),
            does("play", move=4),
            hears("play", **PLAY),
            LOST,
            *entered("m1"),
            *granted("resume", match="m1"),
            says(one_legal(snapshot(opponent=BEN), 4)),
            *granted("play", "again", **PLAY),
            says(played("tictactoe", [4])),
            knows(ply=1, over=False),
        ],
    ),
    "a move is refused because the match has moved on": (
        "A take-back crosses a move: the client shows the newest position and repeats nothing by itself.",
        [
            *begun(),
            does("play", move=4),
            hears("play", **PLAY),
            refused("play", "stale_ply"),
            says(wire.Played("m1", 2, 0, 0, 1, 8, position=played("tictactoe", [8]).position)),
            knows(ply=1, over=False),
            QUIET,
        ],
    ),
    "an acceptance crosses a move": (
        "It is refused and is no offer of one's own. The offer is gone.",
        [
            *watching_turn(),
            offered(4, "draw", 0),
            knows(ply=2, offers=1),
            does("agree", kind="draw"),
            hears("agree", match="m1", offer=4),
            says(wire.Played("m1", 5, 0, 0, 3, 8, position=played("tictactoe", [4, 0, 8]).position)),
            refused("agree", "stale_offer"),
            knows(ply=3, offers=0, over=False),
            {"told": "stale_offer"},
            QUIET,
        ],
    ),
    "an offer goes stale before it is answered": (
        "The opponent offers a draw and then moves. The client shows no offer any more, and plays on.",
        [
            *begun(),
            does("play", move=4),
            *granted("play", **PLAY),
            says(played("tictactoe", [4])),
            {"may": {"type": "agree", "offer": 3}, "refused": "stale_offer"},
            {"may": {"type": "decline", "offer": 3}, "refused": "stale_offer"},
            offered(3, "draw", 1),
            says(one_legal(played("tictactoe", [4, 0]), 8), seq=4),
            knows(ply=2, offers=0),
            does("play", move=8),
            *granted("play", "next", match="m1", ply=2, move=8),
            says(played("tictactoe", [4, 0, 8]), seq=5),
            knows(ply=3, offers=0, over=False),
        ],
    ),
    "an offer is declined by its number": (
        "`decline` names the offer, so that it cannot hit a later one.",
        [
            *watching_turn(),
            offered(4, "takeback", 0),
            knows(offers=1),
            does("decline", kind="takeback"),
            *granted("decline", match="m1", offer=4),
            says(wire.Declined("m1", 5, 0, 1, "takeback")),
            knows(ply=2, offers=0),
        ],
    ),
    "an offer that was granted is sent again": (
        "The answer to a take-back is lost. Sent again, it names the same ply and is refused: it is no second one.",
        [
            *watching_turn(),
            does("offer", kind="takeback"),
            hears("offer", match="m1", kind="takeback", ply=2),
            LOST,
            *entered("m1"),
            *granted("resume", match="m1"),
            {"may": {"type": "offer", "kind": "takeback", "ply": 2}, "refused": "stale_offer"},
            {"may": {"type": "play"}},
            says(msgspec.structs.replace(snapshot(moves=[4], opponent=BEN, you=1), seq=5)),
            knows(ply=1, offers=0),
            QUIET,
        ],
    ),
    "a mute is refused": (
        "The player is told, and sees what the opponent writes next, as the server sends it.",
        [
            *watching_turn(),
            does("mute", name="Ben"),
            hears("mute", name="Ben", on=True),
            refused("mute", "too_fast", LONG_MS),
            {"told": "too_fast"},
            says(wire.Chatted("m1", "players", BEN, "Your move")),
            knows(ply=2, chat=1),
            QUIET,
        ],
    ),
    "an offer waits in the snapshot": (
        "An offer that was made while the client was away is shown, and can be accepted by its number.",
        [
            *watching_turn(),
            LOST,
            *entered("m1"),
            *granted("resume", match="m1"),
            says(after_two([OfferInfo(0, "draw", 4)], seq=4, you=1)),
            knows(ply=2, offers=1),
            does("agree", kind="draw"),
            *granted("agree", match="m1", offer=4),
            says(wire.Ended("m1", 5, 0, None, "agreement")),
            knows(over=True),
        ],
    ),
    "events are missing": (
        "The client closes the gap with `resume` before it shows anything later.",
        [
            *begun(),
            does("play", move=4),
            *granted("play", **PLAY),
            says(played("tictactoe", [4, 0])),
            *granted("resume", match="m1", seq=1),
            says(played("tictactoe", [4])),
            says(played("tictactoe", [4, 0])),
            says(after_two()),
            {"may": {"type": "play", "ply": 2}},
            knows(ply=2, over=False),
        ],
    ),
    "an event comes twice": (
        "A repeat changes nothing.",
        [
            *begun(),
            does("play", move=4),
            *granted("play", **PLAY),
            says(played("tictactoe", [4])),
            says(played("tictactoe", [4])),
            knows(ply=1, over=False),
            QUIET,
        ],
    ),
    "the server restarts": (
        "The client comes back after 1012, resumes its match and goes on.",
        [
            *begun(),
            says(wire.Restarting(50)),
            {"closes": 1012},
            *entered("m1"),
            *granted("resume", match="m1"),
            says(one_legal(snapshot(opponent=BEN), 4)),
            knows(ply=0),
            does("play", move=4),
            *granted("play", **PLAY),
            says(played("tictactoe", [4])),
            knows(ply=1),
        ],
    ),
    "a move is refused because the server restarts": (
        "Nothing was changed: the client sends the move on the next connection.",
        [
            *begun(),
            does("play", move=4),
            hears("play", **PLAY),
            refused("play", "restarting", SHORT_MS),
            {"closes": 1012},
            *entered("m1"),
            *granted("resume", match="m1"),
            says(one_legal(snapshot(opponent=BEN), 4)),
            *granted("play", "again", **PLAY),
            says(played("tictactoe", [4])),
            knows(ply=1),
        ],
    ),
    "the session is replaced": (
        "After 4001 the client does not come back by itself: two would replace one another for ever.",
        [*begun(), {"may": {"type": "play"}}, {"closes": 4001}, QUIET],
    ),
    "a search is refused for a moment": (
        "The client waits as `retry_after_ms` says and repeats the same search.",
        [
            *entered(is_new=True),
            does("seek"),
            hears("seek"),
            refused("seek", "too_fast", SHORT_MS),
            *granted("seek", "again"),
            says(snapshot(opponent=BEN)),
            knows(ply=0),
        ],
    ),
    "a search that was put off is cancelled": (
        "A search that the player has cancelled is not repeated.",
        [
            *entered(is_new=True),
            does("seek"),
            hears("seek"),
            refused("seek", "too_fast", SHORT_MS),
            {"may": {"type": "unseek"}, "refused": "not_seeking"},
            does("unseek"),
            QUIET,
        ],
    ),
    "a refusal asks for a long wait": (
        "The player is told. The client does not repeat the request behind their back.",
        [
            *entered(is_new=True),
            does("challenge", name="Ben"),
            hears("challenge", name="Ben"),
            refused("challenge", "too_fast", LONG_MS),
            {"told": "too_fast"},
            QUIET,
        ],
    ),
    "a challenge is refused because the server restarts": (
        "The player is told; a challenge is not kept for later.",
        [
            *entered(is_new=True),
            does("challenge", name="Ben"),
            hears("challenge", name="Ben"),
            refused("challenge", "restarting", SHORT_MS),
            {"told": "restarting"},
            {"closes": 1012},
            *entered(),
            QUIET,
        ],
    ),
    "the answer to a challenge is lost": (
        "Nobody knows whether it was made. The player is told so, and the client does not challenge twice.",
        [
            *entered(is_new=True),
            does("challenge", name="Ben"),
            hears("challenge", name="Ben"),
            LOST,
            {"told": "unknown_outcome"},
            *entered(),
            QUIET,
        ],
    ),
    "a search does not survive the connection": (
        "The `welcome` says that no search stands, so the client searches again.",
        [*entered(is_new=True), does("seek"), *granted("seek"), LOST, *entered(), *granted("seek", "again")],
    ),
    "a search survives the connection": (
        "The `welcome` says that the search stands, so the client does not search again.",
        [
            *entered(is_new=True),
            does("seek"),
            *granted("seek"),
            LOST,
            *entered(seek=SeekInfo(7, ANN, ["tictactoe"])),
            QUIET,
        ],
    ),
    "a search leads to a match while the connection is lost": (
        "The client resumes the match that `welcome` names and does not search again.",
        [
            *entered(is_new=True),
            does("seek"),
            *granted("seek"),
            LOST,
            *entered("m1"),
            *granted("resume", match="m1", seq=0),
            {"may": {"type": "play"}},
            says(snapshot(opponent=BEN)),
            knows(ply=0),
            QUIET,
        ],
    ),
    "the server cannot let anyone in for a moment": (
        "The client says `hello` again when the refusal says so, or connects again.",
        [
            {"accepts": True},
            hears("hello"),
            refused("hello", "storage", SHORT_MS),
            *granted("hello", "again"),
            says(wire.Welcome(1, "the test", ANN, [])),
        ],
    ),
    "the server says something new": (
        "Unknown types and fields of a newer server are ignored.",
        [
            *begun(),
            {"says": {"type": "novelty", "match": "m1", "seq": 2}},
            does("play", move=4),
            *granted("play", **PLAY),
            says(played("tictactoe", [4]), shine="bright"),
            knows(ply=1),
        ],
    ),
}
"""Each scenario with what it is about. A test runs each over every client of this repository that can act in it."""


def published() -> str:
    """Return the table as the JSON that is published."""
    table = [{"name": name, "about": about, "steps": steps} for name, (about, steps) in SCENARIOS.items()]
    return json.dumps({"scenarios": table}, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    TARGET.write_text(published(), encoding="utf-8")
