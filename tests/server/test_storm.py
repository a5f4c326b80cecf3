"""Many clients send anything at any time, and connect and disconnect; all invariants of the server hold."""

import asyncio
import random
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.server.peer import Message, Peer
from tests.server.running import Server, running
from ttt_net.matches.match import Match
from ttt_net.messages import PlayerInfo
from ttt_net.server.journal import JOURNAL_FILE, read_match
from ttt_net.server.settings.configuration import Limits, Rate

FAST = Limits(messages=Rate(1_000_000), max_live_matches=3)
NAMES = ["Ann", "Bob", "Carl", "Dora", "Eve"]
STEPS = 250


class Guest:
    """A player who says things at random, mostly such as might be sensible."""

    def __init__(self, name: str, server: Server, rng: random.Random) -> None:
        self.name = name
        self._server = server
        self._rng = rng
        self._peer: Peer | None = None
        self._token = ""
        self.seen: dict[str, Message] = {}
        self._numbers = [0]
        self._codes = ["abcdef"]

    async def step(self, guests: "list[Guest]") -> None:
        """Come, go, or say a few things at once and hear exactly one answer to each."""
        if self._peer is None:
            self._peer = await self._server.connect()
            welcome = await self._peer.hello(**({"token": self._token} if self._token else {"name": self.name}))
            self._token = self._peer.token or self._token
            for match in welcome["matches"]:
                self.seen[match] = await self._peer.resume(match)
            return
        if self._rng.random() < 0.03:
            await (self._peer.close() if self._rng.random() < 0.5 else self._cut())
            self._peer = None
            return
        requests = [self.anything(guests) for _ in range(self._rng.randrange(1, 5))]
        asked = [await self._peer.say(**request) for request in requests]
        answers = [await self._peer.answer(request) for request in asked]
        assert all(answer["type"] == "ok" or answer["code"] != "bad_message" for answer in answers), answers
        await self._peer.ok("ping")
        self.learn(set(asked))

    async def _cut(self) -> None:
        assert self._peer is not None
        self._peer.abort()

    def learn(self, asked: set[int]) -> None:
        """Remember what was told, and check that no request was answered twice."""
        assert self._peer is not None
        for message in self._peer.heard:
            assert message["type"] not in ("ok", "refused") or message["id"] not in asked, "answered twice"
            if message["type"] == "snapshot":
                names = [player["name"] for player in message["players"]]
                assert message.get("you") == (names.index(self.name) if self.name in names else None)
                self.seen[message["match"]] = message
            elif message["type"] == "played":
                seen = self.seen[message["match"]]
                seen["moves"].append(message["move"])
                seen["position"] = message["position"]
            elif message["type"] == "challenged":
                self._numbers.append(message["challenge"])
            elif message["type"] == "invitation":
                self._codes.append(message["code"])
        self._peer.heard.clear()

    def anything(self, guests: "list[Guest]") -> dict[str, Any]:
        """Return a request that may or may not make sense now."""
        rng = self._rng
        known = rng.choice(guests).seen if rng.random() < 0.2 else self.seen
        match = rng.choice([*list(known)[-3:], "nobody"]) if known else "nobody"
        ply = len(known[match]["moves"]) if match in known else 0
        legal = (known[match]["position"]["legal"] if match in known else None) or range(9)
        time = rng.choice([None, {"initial_ms": 1_000, "increment_ms": 0}, {"initial_ms": 5_000, "per_move": True}])
        game = rng.choice(["tictactoe", "connect4", "mnk:2x2,2"])
        kind = rng.choice(["draw", "takeback", "rematch"])
        return rng.choice(
            [
                {"type": "seek", "games": [], "time": rng.choice([None, None, time])},
                {"type": "seek", "games": [game]},
                {"type": "unseek"},
                {"type": "challenge", "name": rng.choice(NAMES), "game": game, "time": time},
                {"type": "answer", "challenge": rng.choice(self._numbers[-3:]), "accept": rng.random() < 0.7},
                {"type": "invite", "game": game},
                {"type": "join", "code": rng.choice([code for guest in guests for code in guest._codes[-1:]])},
                {"type": rng.choice(["watch", "unwatch"]), "match": match},
                {"type": "resume", "match": match, "seq": rng.randrange(9)},
                {"type": rng.choice(["who", "matches", "ping"])},
                {"type": rng.choice(["resign", "abort"]), "match": match},
                {"type": "offer", "match": match, "kind": kind},
                {"type": "offer", "match": match, "kind": "rematch"},
                {"type": "decline", "match": match, "kind": kind},
                {"type": "claim", "match": match, "kind": rng.choice(["win", "draw", "adjourn"])},
                *[
                    {"type": "play", "match": match, "ply": max(0, ply + late), "move": rng.choice(legal)}
                    for late in (-1, 1, *[0] * 12)
                ],
            ]
        )


def check_journal(file: Path) -> int:
    """Check that every match in the journal can be rebuilt, event by event; return how many events there are."""
    count = 0
    with closing(sqlite3.connect(file)) as connection:
        names = dict(connection.execute("SELECT id, name FROM players").fetchall())
        for match, first, second, is_over in connection.execute("SELECT id, first, second, is_over FROM matches"):
            record = read_match(connection, match)
            events = record.events
            assert [event.seq for event in events] == list(range(1, len(events) + 1))
            rebuilt = Match.from_events(events)
            assert tuple(player.name for player in rebuilt.players) == (names[first], names[second])
            assert all(isinstance(player, PlayerInfo) for player in rebuilt.players)
            assert rebuilt.is_over == bool(is_over)
            count += len(events)
    return count


@pytest.mark.parametrize("seed", range(3))
async def test_any_request_is_answered_once_and_the_journal_stays_valid(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    async with running(tmp_path, FAST, seed) as server:
        guests = [Guest(name, server, rng) for name in NAMES]
        for _ in range(STEPS):
            await rng.choice(guests).step(guests)
        for guest in guests:
            if guest._peer:
                guest._peer.abort()
        await server.until_empty()
        assert (server.sessions, server.rooms) == ({}, {})
    assert check_journal(tmp_path / JOURNAL_FILE) > 30


async def test_all_at_once_it_holds_as_well(tmp_path: Path) -> None:
    async def live(guest: Guest) -> None:
        for _ in range(60):
            await guest.step(guests)

    async with running(tmp_path, FAST) as server:
        guests = [Guest(name, server, random.Random(name)) for name in NAMES]
        async with asyncio.TaskGroup() as tasks:
            for guest in guests:
                tasks.create_task(live(guest))
        for guest in guests:
            if guest._peer:
                guest._peer.abort()
        await server.until_empty()
        assert (server.sessions, server.rooms) == ({}, {})
    assert check_journal(tmp_path / JOURNAL_FILE) > 20
