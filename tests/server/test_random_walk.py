"""Everybody says anything at any time, over a disk that answers late and sometimes fails; all know the same of it.

The hub, the tables and the journal are real; sockets, the disk's thread and the clock are not. A walk is a seed: the
one that a failure names is walked again in the same way.
"""

import asyncio
import json
import random
from collections.abc import Sequence
from functools import partial
from typing import Any, cast

import pytest

from tests.server.journal.walk import canonical
from ttt_net.errors import Closing, Refusal, StorageError
from ttt_net.server.hub import Hub
from ttt_net.server.journal import Journal, MemoryLedger, read_match
from ttt_net.server.journal.database import Answer, Job
from ttt_net.server.journal.entries import decode_entry, encode_entry
from ttt_net.server.services import build_services
from ttt_net.server.settings.configuration import Configuration
from ttt_net.server.settings.limits import Limits
from ttt_net.server.settings.rate import Rate
from ttt_net.server.wire.connection import Connection

STEPS, LOOK_EVERY = 4_000, 200
MOST_HERE = 6
OFTEN = Rate(1_000_000)
LIMITS = Limits(
    codes=OFTEN, inquiries=OFTEN, matches=OFTEN, renames=OFTEN, chats=OFTEN, challenges=OFTEN, max_live_matches=6
)
GAMES = ["tictactoe", "tictactoe", "mnk:3x3,3+swap", "vanishing"]
TIMES = [None, None, None, {"initial_ms": 1_000}, {"initial_ms": 60_000, "increment_ms": 1_000}]
VERBS = (
    ["play"] * 30 + ["seek"] * 6 + ["resume", "rematch"] * 4 + ["offer", "watch", "join", "answer", "claim"] * 2
    + ["accept", "unseek", "challenge", "invite", "unwatch", "resign", "abort", "decline", "chat", "mute", "rename"]
    + ["forget", "lobby", "matches", "who", "profile", "history", "replay"]
)  # fmt: skip


class LateDisk(MemoryLedger):
    """A ledger in memory whose jobs are done when they are told to be, in their order; some fail."""

    def __init__(self, rng: random.Random, failing: float) -> None:
        super().__init__()
        self.connection = self.database.connection
        self.failing = failing
        self._rng = rng

    def commit(self, jobs: Sequence[Job]) -> list[Answer]:
        """Do each job in a transaction of its own; all are written before the first of them is answered."""
        return [answer for job in jobs for answer in self._commit(job)]

    def _commit(self, job: Job) -> list[Answer]:
        if self._rng.random() < self.failing:
            return [partial(job.failed, StorageError("no space left"))]
        return self.database.commit([job])


class Ear:
    """A connection whose client checks each message against what it has heard before."""

    def __init__(self) -> None:
        self.session: Any = None
        self.is_open = True
        self.is_behind = False
        self.address = "192.0.2.1"
        self.metered_as = None
        self.left_on_purpose = False
        self.lag_ms = 0
        self.asked: dict[int, str] = {}
        self.seqs: dict[str, int] = {}
        self.positions: dict[str, dict[str, Any]] = {}
        self.mine: dict[str, int] = {}
        self.resuming: set[str] = set()
        self.welcome: dict[str, Any] = {}
        self.challenges = [1]
        self.standing: set[int] = set()
        self.codes = ["BCDFGH"]

    def meter(self) -> int:
        return 0

    def tick(self, now_s: float) -> None:
        pass

    def abort(self) -> None:
        self.is_open = False

    def close(self, closing: Closing, reason: str = "") -> None:
        self.is_open = False

    def refuse(self, request: int | None, refusal: Refusal) -> None:
        if self.is_open:
            self.hear({"type": "refused", "id": request})

    def send(self, frames: bytes) -> None:
        while self.is_open and frames:
            start, size = (2, frames[1]) if frames[1] < 126 else (4, int.from_bytes(frames[2:4], "big"))
            self.hear(json.loads(frames[start : start + size]))
            frames = frames[start + size :]

    def hear(self, told: dict[str, Any]) -> None:
        kind, match = told["type"], told.get("match", "")
        if kind in ("ok", "refused"):
            verb = self.asked.pop(told["id"])  # each is answered once
            if kind == "ok" and verb.startswith("resume "):
                self.resuming.add(verb.partition(" ")[2])
        elif kind == "snapshot":
            self.resuming.discard(match)
            self.seqs[match], self.positions[match] = told["seq"], told["position"]
            if told.get("you") is not None:
                self.mine[match] = told["you"]
        elif "seq" in told and match not in self.resuming:
            assert told["seq"] == self.seqs[match] + 1, "facts come without a gap, and after a snapshot"
            self.seqs[match] = told["seq"]
            self.positions[match] = told.get("position", self.positions[match])
        elif kind == "welcome":
            self.welcome = {**self.welcome, **told}
        elif kind == "challenged":
            self.challenges.append(told["challenge"])
            self.standing.add(told["challenge"])
        elif kind in ("challengeover", "challengeaccepted"):
            self.standing.remove(told["challenge"])  # only the two of a challenge hear what becomes of it, and once
        elif kind == "invitation":
            self.codes.append(told["code"])


class Walk:
    """A server, whoever is connected to it, and what they know: all of it by one seed."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.now_ms = 1_000_000_000
        self.disk = LateDisk(self.rng, 0.02 if seed % 2 else 0.0)
        journal = Journal(self.disk)
        loop, rng = asyncio.get_running_loop(), random.Random(seed)
        settings = Configuration(name="x", limits=LIMITS)
        self.hub = Hub(build_services(settings, journal, loop, lambda: self.now_ms, rng))
        self.ears: list[Ear] = []
        self.tokens: list[str] = []
        self.names = 0
        self.asked = 0

    def say(self, ear: Ear, type: str, **fields: object) -> None:
        self.asked += 1
        ear.asked[self.asked] = f"{type} {fields.get('match', '')}"
        self.hub.received(cast(Connection, ear), json.dumps({"type": type, "id": self.asked, **fields}))

    def step(self) -> None:
        chance = self.rng.random()
        ear = self.rng.choice(self.ears) if self.ears else None
        if ear is None or (chance < 0.05 and len(self.ears) < MOST_HERE):
            self.come()
        elif chance < 0.3:
            self.disk.deliver(self.rng.randrange(1, 6))
        elif chance < 0.33:
            self.now_ms += self.rng.choice([10, 1_000, 6_000, 70_000])
            self.hub.tick(0)
        elif chance < 0.335 or not ear.is_open or (ear.session is None and chance > 0.9):
            self.go(ear)
        elif ear.session is not None:
            self.ask(ear)

    def come(self) -> None:
        ear = Ear()
        self.ears.append(ear)
        bot = {"bot": "b", "places": self.rng.randrange(1, 4)} if self.rng.random() < 0.2 else {}
        if self.tokens and self.rng.random() < 0.6:
            self.say(ear, "hello", protocols=[1], token=self.rng.choice(self.tokens), **bot)
        else:
            name = {} if self.rng.random() < 0.4 else {"name": self.new_name()}
            self.say(ear, "hello", protocols=[1], **name, **bot)

    def go(self, ear: Ear) -> None:
        ear.left_on_purpose, ear.is_open = self.rng.random() < 0.5, False
        self.ears.remove(ear)
        self.hub.closed(cast(Connection, ear))

    def new_name(self) -> str:
        self.names += 1
        return f"p{self.names}x"

    def ask(self, ear: Ear) -> None:
        """Say something that often makes sense."""
        rng, verb = self.rng, self.rng.choice(VERBS)
        self.tokens += [token for token in [ear.welcome.get("token")] if token and token not in self.tokens]
        known = [*ear.mine, *ear.welcome.get("matches", ())] if rng.random() < 0.9 else [*self.hub.registry.rooms]
        turns = [each for each, side in ear.mine.items() if ear.positions[each]["to_move"] == side]
        if verb == "play" and turns:
            known = turns
        match = rng.choice(known or ["unknown1"]) + ("-2" if rng.random() < 0.03 else "")
        table = self.hub.registry.rooms.get(match)
        name = rng.choice([session.info.name for session in self.hub.services.players.sessions.values()])
        terms = {"time": rng.choice(TIMES), "rated": rng.random() < 0.3}
        position = ear.positions.get(match, {"ply": 0, "legal": []})
        seeks = [seek.number for seek in self.hub.lobby.seeks]
        code = table.match.code if table and table.match else None
        fields: dict[str, dict[str, Any]] = {
            "play": {"match": match, "ply": position["ply"], "move": rng.choice(position["legal"] or [0])},
            "seek": {"games": [rng.choice(GAMES)], "opponents": rng.choice(["any", "any", "people", "bots"]), **terms},
            "accept": {"seek": rng.choice(seeks or [1])},
            "challenge": {"name": name, "game": rng.choice(GAMES), **terms},
            "answer": {"challenge": rng.choice(ear.challenges[-3:]), "accept": rng.random() < 0.8},
            "invite": {"game": rng.choice(GAMES), "time": terms["time"], "side": rng.choice([None, 0, 1])},
            "join": {"code": rng.choice([each.codes[-1] for each in self.ears])},
            "watch": {"match": match, "code": code},
            "resume": {"match": match, "seq": rng.randrange(12)},
            "offer": {"match": match, "kind": rng.choice(["draw", "takeback"])},
            "decline": {"match": match, "kind": rng.choice(["draw", "takeback", "rematch"])},
            "claim": {"match": match, "kind": rng.choice(["win", "draw", "adjourn", "adjourn"])},
            "chat": {"match": match, "text": "hi"},
            "mute": {"name": rng.choice([None, name]), "on": rng.random() < 0.5},
            "rename": {"name": self.new_name()},
            "forget": {"name": ear.session.info.name if rng.random() < 0.3 else "nobody"},
            "lobby": {"on": rng.random() < 0.7},
            "profile": {"name": name},
            "history": {"name": name},
            "rematch": {"match": match, "kind": "rematch"},
            **{each: {} for each in ("unseek", "matches", "who")},
            **{each: {"match": match} for each in ("unwatch", "resign", "abort", "replay")},
        }
        self.say(ear, "offer" if verb == "rematch" else verb, **fields[verb])

    async def look(self) -> None:
        """Let the disk come to rest, and compare what everybody knows with what is on it."""
        failing, self.disk.failing = self.disk.failing, 0.0
        for _ in range(40):
            self.disk.deliver(1_000)
            await asyncio.sleep(0)
        self.disk.failing = failing
        assert self.hub.metrics.faults == 0
        for ear in self.ears:
            assert not (ear.is_open and ear.asked), "every request is answered"
        self.look_at_players()
        self.look_at_offers()
        for match_id, table in self.hub.registry.rooms.items():
            assert table.audience, "a table that nobody hears is let go of"
            if table.match is not None:
                record = read_match(self.disk.connection, match_id)
                assert [player.name for player in table.match.players] == [
                    player.name for player in cast(Any, record.facts[0]).players
                ]
                assert table.match.seq == len(record.facts)
                for session in (*table.audience.players.values(), *dict(table.audience._watchers.values())):
                    ear = cast(Ear, session.connection)
                    assert self.hub.services.players.sessions[session.player] is session
                    assert not ear.is_open or ear.seqs[match_id] == len(record.facts), "whoever hears it, has heard all"

    def look_at_players(self) -> None:
        assert len(self.hub.services.players) == len(self.hub.services.players.sessions)
        assert not self.hub.services.players.starting
        for player, session in self.hub.services.players.sessions.items():
            rows = self.disk.connection.execute(
                "SELECT id FROM matches WHERE NOT is_over AND ? IN (first, second)", (player,)
            )
            assert session.live == {match for (match,) in rows}
            query = "SELECT name, is_guest FROM players WHERE id = ?"
            name, is_guest = self.disk.connection.execute(query, (player,)).fetchone()
            assert (session.info.name, session.is_guest) == (name, bool(is_guest))
            assert self.hub.services.players.find(name) is session
            assert session.rooms <= self.hub.registry.rooms.keys()

    def look_at_offers(self) -> None:
        lobby = self.hub.lobby
        for ear in self.ears:
            if ear.is_open and ear.session is not None:
                player = ear.session.player
                waiting = {each.number for each in lobby._challenges.values() if player in (each.by, each.to)}
                assert waiting <= ear.standing, "who is concerned has heard of it"
        good = {(each.by, each.code) for each in lobby._invitations.values() if each.expires_ms > self.now_ms}
        rows = self.disk.connection.execute("SELECT player, code FROM invitations WHERE expires_ms > ?", (self.now_ms,))
        assert good == set(rows), "a restart changes nothing"


@pytest.mark.parametrize("seed", range(8))
async def test_whatever_is_said_all_know_the_same(seed: int) -> None:
    walk = Walk(seed)
    for number in range(1, STEPS + 1):
        walk.step()
        if number % 20 == 0:
            await asyncio.sleep(0)
        if number % LOOK_EVERY == 0:
            await walk.look()
    for ear in walk.ears[:]:
        walk.go(ear)
    await walk.look()
    assert not walk.hub.registry.rooms
    assert walk.hub.metrics.moves > 0
    replayed = MemoryLedger(is_instant=True)
    for entry in walk.disk.entries:
        replayed.append(decode_entry(encode_entry(entry)), lambda _: None, lambda _: None)
    assert canonical(replayed.database.connection) == canonical(walk.disk.connection), "entries tell it all"
    for database in (replayed.database, walk.disk.database):
        database.close()
