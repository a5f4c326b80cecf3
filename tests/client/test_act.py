"""Any key at any moment: whatever is pressed, clicked and heard, in whatever order, there is a screen."""

import random
from dataclasses import replace

import pytest

from tests.client.samples import (
    BEN,
    BOT,
    CHALLENGED,
    HISTORY,
    LEADERS,
    LIVE,
    PLAYERS,
    PROFILE,
    SEEKS,
    SUGGESTION,
    snapshot,
    welcome,
)
from ttt_net.client.act import act, command_for
from ttt_net.client.display import AnyCommand, Display
from ttt_net.client.drawing.board import target_at
from ttt_net.client.drawing.draw import draw
from ttt_net.client.drawing.glyphs import ASCII, BOXES
from ttt_net.client.mailbox import Key, WorldEvent
from ttt_net.client.update import update
from ttt_net.client.world import World
from ttt_net.games import find_game
from ttt_net.games.catalogue import NAMES
from ttt_net.messages import (
    AwayInfo,
    ChallengeOver,
    Chatted,
    ClockInfo,
    Ended,
    InvitationReply,
    Notice,
    OfferInfo,
    OutcomeInfo,
    PlayerRenamed,
    Presence,
    Refused,
    Rematched,
    SeekRequest,
    Snapshot,
    Watching,
)
from ttt_net.sdk.received import Answered, Back, Lost, Retrying

STEPS = 200
NAMED = ["up", "down", "left", "right", "c-m", "escape", "c-i", "c-h", "pageup", "pagedown", "home", "end"]
LETTERS = "abcdefghijklmnopqrstuvwxyz"
KEYS = [*NAMED, *" ?0123456789+:,", *LETTERS, *LETTERS.upper()]
SIZES = [(80, 24), (40, 16), (24, 8), (120, 40), (64, 16), (60, 20), (30, 9)]
SEEK = SeekRequest(0, ["tictactoe"])
HEARD: tuple[WorldEvent, ...] = (
    *(SEEKS, PLAYERS, LIVE, CHALLENGED, SUGGESTION, PROFILE, HISTORY, LEADERS),
    *(welcome("m1", features=["analyse"]), Lost("gone"), Retrying(3, 10, "gone"), Back(), Notice("a notice " * 20)),
    *(
        InvitationReply("K7QMX2", "connect4", 60_000),
        ChallengeOver(5, "later"),
        Chatted("m1", "players", BEN, "hi " * 20),
    ),
    *(Ended("m1", 99, 0, winner=0, reason="resign"), Rematched("m1", 100, 0, next="m2"), Watching("m1", 3)),
    PlayerRenamed("m1", 1, "Benny"),
    Presence("m1", 1, online=False, away=AwayInfo(1, on_purpose=False, claim_in_ms=5_000)),
)


def any_snapshot(games: dict[str, str], luck: random.Random) -> Snapshot:
    """Return one of the matches, somewhere in its play, of ours or of others."""
    match = luck.choice(list(games))
    game, moves = find_game(games[match]), []
    state = game.initial
    for _ in range(luck.randrange(12)):
        if not game.is_terminal(state):
            moves.append(luck.choice(list(game.actions(state))))
            state = game.result(state, moves[-1])
    return snapshot(
        games[match],
        moves,
        match=match,
        you=luck.choice([0, 1, None]),
        opponent=luck.choice([BEN, BOT]),
        offers=luck.choice([[], [OfferInfo(1, "draw")], [OfferInfo(0, "takeback")]]),
        clock=luck.choice([None, ClockInfo((1_000, 999_999), luck.choice([0, 1, None]))]),
        outcome=luck.choice([None, None, OutcomeInfo(luck.choice([0, 1, None]), luck.choice(["time", "abort"]))]),
        present=(True, luck.random() < 0.7),
    )


def acted(display: Display, command: AnyCommand | Key | None, luck: random.Random) -> Display:
    """Return the display after what a key or a click means, some of the requests being refused."""
    if command is None or isinstance(command, Key):
        return display
    display, requests = act(display, command, SEEK)
    for request in requests:
        if luck.random() < 0.2:
            display = update(
                display, Answered(request, Refused(1, luck.choice(["unknown_match", "not_seated"]), "no")), 0
            )
    return replace(display, is_leaving=False, is_going_back=False)


@pytest.mark.parametrize("seed", range(3))
def test_there_is_always_a_screen(seed: int) -> None:
    luck = random.Random(seed)
    games = {match: luck.choice([*NAMES, "mnk:19x19,5", "connect4+swap"]) for match in ("m1", "m2", "m9")}
    display = update(
        Display(World(address="localhost:8765", guests=seed % 3), has_server_picker=seed % 2 == 0), welcome(), 0
    )
    for step in range(STEPS):
        if luck.random() < 0.2:
            heard = luck.choice([*HEARD, *[None] * 10])
            display = update(display, heard if heard is not None else any_snapshot(games, luck), 50 * step)
        display = acted(display, command_for(luck.choice(KEYS), display), luck)
        size = luck.choice(SIZES)
        page = draw(display, size, 50 * step, luck.choice([BOXES, ASCII]))
        lines = page.split("\n", allow_blank=True)
        assert len(lines) == size[1]
        assert max(line.cell_len for line in lines) <= size[0]
        if luck.random() < 0.2:
            display = acted(display, target_at(page, luck.randrange(size[0]), luck.randrange(size[1])), luck)
