"""Players who know only the protocol, and record what several servers promised them.

Each is at one node at a time, plays random moves on a small board with anyone who seeks, and goes to the next node when
its own does not answer. `Account` holds what was acknowledged and what was heard, by anybody; at the end every
acknowledged move has to be in the match, once, whichever node is asked.
"""

import asyncio
import json
import random
import time
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException

GAME = "mnk:5x4,4"
ANSWER_S = 2.0
"""After so long without an answer a player tries the next node."""
OPEN_S = 2.0
CLOSE_S = 0.1
"""How long the closing handshake is waited for: a node that stands still takes part in none."""
THINK_S = 0.02
LONGEST_WAIT_S = 0.5

Message = dict[str, Any]


@dataclass
class Account:
    """Everything that the players received, together."""

    moves: dict[tuple[str, int], int] = field(default_factory=dict)
    """The move that was acknowledged, by match and ply."""
    events: dict[tuple[str, int], str] = field(default_factory=dict)
    """Received events, by match and number."""
    wrong: list[str] = field(default_factory=list)
    """Events that differ between two players, are doubled, or violate the protocol."""
    ended: set[str] = field(default_factory=set)
    open: set[str] = field(default_factory=set)
    """Matches that were begun and not ended, as far as is known."""
    unheard: set[str] = field(default_factory=set)
    """Matches that their players came back to and are in no more: they ended while nobody of them heard it."""
    pauses_s: list[tuple[float, float]] = field(default_factory=list)
    """When a move was acknowledged at last, and how long its player had tried."""
    comings: int = 0
    """How often somebody came (back) to a node."""
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def acknowledge(self, match: str, ply: int, move: int, tried_s: float) -> None:
        """Record an `ok`."""
        before = self.moves.setdefault((match, ply), move)
        if before != move:
            self.wrong.append(f"{match}: two moves were acknowledged at ply {ply}: {before} and {move}")
        self.pauses_s.append((time.monotonic(), tried_s))
        self.changed.set()

    async def come_to(self, moves: int) -> None:
        """Wait until a total number of moves is acknowledged."""
        while len(self.moves) < moves:
            self.changed.clear()
            await self.changed.wait()

    def hear(self, event: Message) -> None:
        """Record an event, and compare it with what others received under its number."""
        match, seq = event["match"], event["seq"]
        kept = {name: event[name] for name in ("type", "side", "ply", "move", "winner", "reason") if name in event}
        text = json.dumps(kept, sort_keys=True)
        before = self.events.setdefault((match, seq), text)
        if before != text:
            self.wrong.append(f"{match}: event {seq} was told as {before} and as {text}")
        if event["type"] == "ended":
            self.finish(match)

    def begin(self, match: str) -> None:
        """Record the start of a match."""
        if match not in self.ended:
            self.open.add(match)
            self.unheard.discard(match)

    def lose_sight(self, match: str) -> None:
        """Record that a player left a match whose end nobody may have received."""
        if match in self.open:
            self.open.discard(match)
            self.unheard.add(match)
            self.changed.set()

    def finish(self, match: str) -> None:
        """Record the end of a match."""
        self.ended.add(match)
        self.open.discard(match)
        self.unheard.discard(match)
        self.changed.set()

    def longest_pause_s(self) -> float:
        """Return the longest time until a player's move was acknowledged."""
        return max((tried_s for _, tried_s in self.pauses_s), default=0.0)


class Player:
    """One player, who switches between nodes."""

    def __init__(self, account: Account, urls: list[str], rng: random.Random) -> None:
        self.account, self.urls, self.rng = account, urls, rng
        self.is_last = False
        """Whether no match is to be begun any more."""
        self.token = "".join(rng.choice("0123456789abcdef") for _ in range(40))
        self.name = "p" + "".join(rng.choice("bcdfghjklmnpqrstvwxz") for _ in range(11))
        self.is_known = False
        self._turn = rng.randrange(len(urls))
        self._heard: dict[str, int] = {}
        self._seated: set[str] = set()
        """The matches that we are in, as we last heard."""
        self._trying: dict[tuple[str, int], tuple[int, float]] = {}
        """Moves that were not acknowledged yet: which, and since when they are tried."""
        self._number = 0

    async def play(self) -> None:
        """Play until cancelled."""
        wait_s = 0.02
        while True:
            try:
                async with connect(
                    self.urls[self._turn % len(self.urls)], open_timeout=OPEN_S, close_timeout=CLOSE_S,
                    compression=None, ping_interval=None,
                ) as connection:  # fmt: skip
                    await self._converse(connection)
                    wait_s = 0.02
            except (OSError, TimeoutError, WebSocketException):
                pass
            self._turn += 1
            await asyncio.sleep(wait_s * self.rng.random())
            wait_s = min(2 * wait_s, LONGEST_WAIT_S)

    async def _converse(self, connection: ClientConnection) -> None:
        self._answers: dict[int, Message] = {}
        self._playing: dict[str, Message] = {}
        self._asked: dict[int, tuple[str, int, int]] = {}
        self._seek_id = 0
        self._resuming: dict[int, str] = {}
        self.account.comings += 1
        hello: Message = {"protocols": [1], "token": self.token}
        if not self.is_known:
            hello["name"] = self.name
        await self._say(connection, "hello", **hello)
        asked_s: float | None = time.monotonic()
        ping = 0
        while True:
            try:
                async with asyncio.timeout(ANSWER_S):
                    message = json.loads(await connection.recv())
            except TimeoutError:
                if asked_s is not None or self._asked or self._resuming:
                    raise
                asked_s = time.monotonic()  # an opponent thinks, or the node stands still
                ping = await self._say(connection, "ping")
                continue
            kind = message["type"]
            if kind == "welcome":
                asked_s, self.is_known = None, True
                for match in self._seated.difference(message["matches"]):
                    self.account.lose_sight(match)
                self._seated.intersection_update(message["matches"])
                for match in message["matches"]:
                    self.account.begin(match)
                    await self._ask_for(connection, match)
                await self._seek(connection, bool(message["matches"]))
            elif kind == "snapshot" and message.get("you") is not None:
                await self._resume(connection, message)
            elif "seq" in message and "match" in message:
                await self._follow(connection, message)
            elif kind == "ok" and message["id"] == ping:
                asked_s = None
            elif kind == "ok" and message["id"] in self._asked:
                match, ply, move = self._asked.pop(message["id"])
                tried = self._trying.pop((match, ply), None)
                self.account.acknowledge(match, ply, move, time.monotonic() - tried[1] if tried else 0.0)
            elif kind == "refused":
                await self._refused(connection, message)

    async def _say(self, connection: ClientConnection, kind: str, **fields: object) -> int:
        self._number += 1
        await connection.send(json.dumps({"type": kind, "id": self._number, **fields}))
        return self._number

    async def _ask_for(self, connection: ClientConnection, match: str) -> None:
        """Ask for a match as it stands now, with what was missed of it."""
        self._resuming[await self._say(connection, "resume", match=match, seq=self._heard.get(match, 0))] = match

    async def _seek(self, connection: ClientConnection, is_playing: bool) -> None:
        if not is_playing and not self.is_last:
            self._seek_id = await self._say(connection, "seek", games=[GAME])

    async def _resume(self, connection: ClientConnection, snapshot: Message) -> None:
        match = snapshot["match"]
        self._resuming = {number: each for number, each in self._resuming.items() if each != match}
        self._heard[match] = snapshot["seq"]
        for ply, move in enumerate(snapshot["moves"]):
            acknowledged = self.account.moves.get((match, ply))
            if acknowledged is not None and acknowledged != move:
                self.account.wrong.append(f"{match}: {acknowledged} was acknowledged at ply {ply}, {move} stands there")
        for side_ply in [key for key in self._trying if key[0] == match and key[1] < len(snapshot["moves"])]:
            move, since_s = self._trying.pop(side_ply)
            if snapshot["moves"][side_ply[1]] != move:
                self.account.wrong.append(f"{match}: we tried {move} at ply {side_ply[1]}, another move stands there")
            self.account.acknowledge(match, side_ply[1], snapshot["moves"][side_ply[1]], time.monotonic() - since_s)
        if snapshot.get("outcome") is not None:
            self.account.finish(match)
            self._playing.pop(match, None)
            await self._seek(connection, bool(self._playing))
            return
        self.account.begin(match)
        self._seated.add(match)
        self._playing[match] = snapshot
        await self._move(connection, match, snapshot["position"])

    async def _follow(self, connection: ClientConnection, event: Message) -> None:
        match, seq = event["match"], event["seq"]
        self.account.hear(event)
        heard = self._heard.get(match, 0)
        if match in self._playing and seq != heard + 1:
            self.account.wrong.append(f"{match}: event {seq} came after {heard}")
        self._heard[match] = max(heard, seq)
        if event["type"] == "ended":
            self._playing.pop(match, None)
            for key in [key for key in self._trying if key[0] == match]:
                del self._trying[key]
            await self._seek(connection, bool(self._playing))
        elif event["type"] == "played" and match in self._playing:
            await self._move(connection, match, event["position"])

    async def _move(self, connection: ClientConnection, match: str, position: Message) -> None:
        if position["to_move"] != self._playing[match]["you"] or not position["legal"]:
            return
        ply = position["ply"]
        move, _ = self._trying.setdefault((match, ply), (self.rng.choice(position["legal"]), time.monotonic()))
        await asyncio.sleep(THINK_S * self.rng.random())
        number = await self._say(connection, "play", match=match, ply=ply, move=move)
        self._asked[number] = (match, ply, move)

    async def _refused(self, connection: ClientConnection, refusal: Message) -> None:
        asked = self._asked.pop(refusal["id"], None)
        wait_s = refusal.get("retry_after_ms", 200) / 1_000
        await asyncio.sleep(min(wait_s, LONGEST_WAIT_S))
        if asked is not None:  # what stands now, says a snapshot; then the move is tried again
            if refusal["code"] not in {"storage", "restarting", "stale_ply", "not_your_turn", "game_over", "too_fast"}:
                self.account.wrong.append(f"{asked[0]}: a move was refused: {refusal['code']}, {refusal['message']}")
            if refusal["code"] in {"not_your_turn", "game_over", "stale_ply"}:
                self._trying.pop((asked[0], asked[1]), None)
            await self._ask_for(connection, asked[0])
        elif refusal["id"] in self._resuming:
            await self._ask_for(connection, self._resuming.pop(refusal["id"]))
        elif refusal["code"] in {"name_taken", "bad_token", "unknown_token"}:
            raise AssertionError(f"a player is not known any more: {refusal}")
        elif not self.is_known:
            raise TimeoutError  # the hello was refused: elsewhere
        elif refusal["id"] == self._seek_id:
            await self._seek(connection, bool(self._playing))


async def moves_of(url: str, matches: list[str], token: str) -> dict[str, list[int]]:
    """Ask one node for all moves of some finished matches, as its positions tell them.

    Raises `TimeoutError` if it answers nothing, or does not let anybody in.
    """
    found: dict[str, list[int]] = {}
    async with connect(url, open_timeout=OPEN_S, close_timeout=CLOSE_S, compression=None) as connection:
        number = 0

        async def ask(kind: str, expected: str, **fields: object) -> Message:
            nonlocal number
            number += 1
            await connection.send(json.dumps({"type": kind, "id": number, **fields}))
            while True:
                async with asyncio.timeout(10.0):
                    message: Message = json.loads(await connection.recv())
                if message["type"] == "refused" and message["id"] == number:
                    if message["code"] != "too_fast":
                        return message
                    await asyncio.sleep(message.get("retry_after_ms", 500) / 1_000)
                    return await ask(kind, expected, **fields)
                if message["type"] == expected:
                    return message

        name = "checker" + token.removeprefix("checker of ").rstrip(".")
        if (await ask("hello", "welcome", protocols=[1], token=token, name=name))["type"] != "welcome":
            raise TimeoutError
        for match in matches:
            boards: list[str] = []
            last = 0
            while len(boards) <= last:
                answer = await ask("replay", "replay", match=match, ply=len(boards))
                if answer["type"] == "refused":
                    break
                boards += [position["board"] for position in answer["positions"]]
                last = answer["last"]
            else:
                found[match] = [_marked(before, after) for before, after in pairwise(boards)]
    return found


def _marked(before: str, after: str) -> int:
    """Return the cell that one move marked; -1 if not exactly one was."""
    cells = [cell for cell, (was, mark) in enumerate(zip(before, after, strict=True)) if was != mark]
    return cells[0] if len(cells) == 1 else -1


async def wait_for_end(account: Account, patience_s: float) -> None:
    """Wait until every match that was begun is over, or the patience is."""
    with suppress(TimeoutError):
        async with asyncio.timeout(patience_s):
            while account.open:
                account.changed.clear()
                await account.changed.wait()
