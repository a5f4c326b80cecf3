"""Walk through the whole protocol, by any request and to every code: `python -m tests.hostile.walk [--seconds N]`.

One seed is one walk: strangers say anything, mostly well-formed and about matches, players and codes that there are;
between them others play the situations that lead to each refusal, in an order and with games that the seed draws. Each
request must have exactly one answer, nothing may be a fault, and in the end every code must have been heard.
"""

import argparse
import json
import logging
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast, get_args

import msgspec

from tests.simulation.loop import SimulatedLoop
from ttt_net import messages as wire
from ttt_net.errors import Code, ProtocolError, Refusal
from ttt_net.server.admin import protocol
from ttt_net.server.admin.admin_commands import AdminCommands
from ttt_net.server.hub import Hub
from ttt_net.server.journal import Journal, MemoryLedger
from ttt_net.server.readiness import DiskUsage
from ttt_net.server.services import build_services
from ttt_net.server.settings.configuration import Configuration, Limits, Rate
from ttt_net.server.wire.connection import Connection

UNREACHED: dict[Code, str] = {
    Code.NO_CONNECTION: "clients refuse with it themselves",
    Code.GAME_FAULT: "no built-in game fails; see tests/games/test_outside.py",
    Code.TOO_MANY_BLOCKED: "200 other players are too many for a walk; see the tests of the journal",
    Code.UNKNOWN_OUTCOME: "clients refuse with it themselves, after a lost connection",
}
"""Codes that no walk can reach, each with the reason."""
_START_MS = 1_800_000_000_000
_OFTEN = Rate(1_000_000)
_GAMES = ("tictactoe", "gomoku", "connect4", "misere", "wild", "vanishing", "qubic", "mnk:4x4,3", "mnk:3x3,3+swap")
_REQUESTS: tuple[type[wire.Request], ...] = get_args(wire.AnyRequest)
_STRANGERS = 4
_STEPS_BETWEEN = 25
"""Requests of strangers between two situations."""
_TAKEBACKS = 50
_OFFERS = 100
Message = dict[str, Any]


class Line:
    """A connection of somebody: it writes down what is told."""

    address = "127.0.0.1"
    metered_as = None
    account = None
    has_said_hello = False
    lacks_place = False
    turned_away = None
    lag_ms = unsent_bytes = 0
    opened_s = 0.0
    is_behind = False

    def __init__(self, walk: "Walk") -> None:
        self.walk = walk
        self.session: object = None
        self.is_open = True
        self.left_on_purpose = False
        self.told: list[Message] = []
        self.token = ""

    def hold(self) -> None:
        """Nothing is read from it that could wait."""

    def meter(self) -> int:
        return 0

    def send(self, frames: bytes) -> None:
        while frames:
            size, begin = frames[1], 2
            if size >= 126:
                begin = 4 if size == 126 else 10
                size = int.from_bytes(frames[2:begin])
            self.told.append(json.loads(frames[begin : begin + size]))
            frames = frames[begin + size :]

    def refuse(self, request: int | None, refusal: Refusal) -> None:
        self.send(_framed(wire.encode(wire.refused(request, refusal))))

    def close(self, *_: object) -> None:
        self.is_open = False

    def tick(self, _: float) -> None:
        pass

    evict = abort = close

    # What somebody does with it.

    def ask(self, type: str, **fields: object) -> Message:
        """Say a request; return its one answer."""
        return self.walk.say(self, {"type": type, **fields})

    def ok(self, type: str, **fields: object) -> None:
        answer = self.ask(type, **fields)
        assert answer["type"] == "ok", (type, fields, answer)

    def refused(self, expected: Code, type: str, /, **fields: object) -> None:
        answer = self.ask(type, **fields)
        assert answer.get("code") == expected, (expected, type, fields, answer)

    def heard(self, type: str) -> Message:
        """Return the newest message of that type."""
        return next(each for each in reversed(self.told) if each["type"] == type)

    def leave(self, *, on_purpose: bool = False) -> None:
        self.is_open, self.left_on_purpose = False, on_purpose
        self.walk.hub.closed(cast(Connection, self))
        self.walk.pass_s(0)


def _framed(payload: bytes) -> bytes:
    size = len(payload)
    head = bytes((0x81, size)) if size < 126 else b"\x81\x7e" + size.to_bytes(2)
    return head + payload


class Walk:
    """One walk, by its seed."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.codes: Counter[str] = Counter()
        self.loop = SimulatedLoop()
        self.free_bytes = 10**12
        self.word_file: Path | None = None
        self._ledger = MemoryLedger(is_instant=True)
        self._names = 0
        self.asked = 0
        """Requests so far."""
        limits = Limits(
            codes=_OFTEN, inquiries=_OFTEN, matches=_OFTEN, renames=_OFTEN, challenges=_OFTEN, chats=Rate(5, 10.0)
        )
        self.hub = Hub(
            build_services(
                Configuration(name="walk", limits=limits),
                Journal(self._ledger),
                self.loop.as_asyncio,
                lambda: _START_MS + int(self.loop.time() * 1_000),
                random.Random(seed),
                engine=("nothing",),
                measure=lambda: DiskUsage(self.free_bytes, 0),
                word_file=lambda: self.word_file,
            )
        )
        self.limits = self.hub.limits
        self.admin = AdminCommands(self.hub, lambda: None, lambda _: 0)
        self.matches = ["nonesuch"]
        self.invitations = ["BCDFGH"]
        self.tournaments = ["BCDFG"]
        self.hub.recall()
        self.strangers: list[Line] = []

    def run(self) -> None:
        """Walk once through all situations, with strangers between them."""
        try:
            self.strangers = [self.player() for _ in range(_STRANGERS)]
            situations = list(SITUATIONS)
            self.rng.shuffle(situations)
            for situation in situations:
                for _ in range(self.rng.randrange(2 * _STEPS_BETWEEN)):
                    self.let_somebody_say_anything()
                situation(self)
            assert self.hub.metrics.faults == 0
            assert not self.loop.errors, self.loop.errors
        finally:
            self._ledger.database.close()

    # What there is.

    def name(self) -> str:
        self._names += 1
        return f"Walker{self._names}"

    def line(self) -> Line:
        line = Line(self)
        self.hub.opened(cast(Connection, line), line.address)
        return line

    def player(self, **who: object) -> Line:
        """Return somebody who has said hello."""
        line = self.line()
        line.ok("hello", protocols=[1], **({"name": self.name()} | who))
        self.pass_s(0)
        line.token = line.heard("welcome").get("token", "")
        return line

    def pair(self, **challenge: object) -> tuple[Line, Line, str]:
        """Return two players, the one who moves first in front, and their match."""
        one, other = self.player(), self.player()
        return self.match(one, other, **challenge)

    def match(self, one: Line, other: Line, **challenge: object) -> tuple[Line, Line, str]:
        one.ok("challenge", name=name_of(other), **({"game": self.rng.choice(_GAMES)} | challenge))
        other.ok("answer", challenge=other.heard("challenged")["challenge"], accept=True)
        self.pass_s(0)
        seen = one.heard("snapshot")
        self.matches.append(seen["match"])
        return (one, other, seen["match"]) if seen["you"] == 0 else (other, one, seen["match"])

    def over(self) -> tuple[Line, Line, str]:
        """Return two players and a match of theirs that has ended."""
        one, other, match = self.pair(game=self.rng.choice(["gomoku", "connect4", "qubic"]))
        play_some(one, other, match, 4)
        one.ok("resign", match=match)
        return one, other, match

    def pass_s(self, seconds: float) -> None:
        """Let time pass, and all happen that is due."""
        self.loop.run_until(self.loop.time() + seconds, 100_000)
        self.hub.tick(self.loop.time())

    def administer(self, request: protocol.AnyAdminRequest) -> None:
        answers: list[protocol.AnyAdminReply] = []
        self.admin.carry_out(request, answers.append)
        assert not isinstance(answers[0], protocol.Failed), answers

    # What is said.

    def say(self, line: Line, request: Message | str) -> Message:
        """Let a request be carried out; return its one answer."""
        self.asked += 1
        text = request if isinstance(request, str) else json.dumps({"id": self.asked, **request})
        before = len(line.told)
        self.hub.received(cast(Connection, line), text)
        self.loop.run_until(self.loop.time(), 100_000)
        answers = [each for each in line.told[before:] if each["type"] in ("ok", "refused")]
        assert len(answers) == 1, (text, line.told[before:])
        if answers[0]["type"] == "refused":
            self.codes[answers[0]["code"]] += 1
        return answers[0]

    def let_somebody_say_anything(self) -> None:
        """Let a stranger say any request, now and then broken, or leave and come back."""
        place = self.rng.randrange(_STRANGERS)
        line = self.strangers[place]
        if not line.is_open or self.rng.random() < 0.02:
            if line.is_open:
                line.leave(on_purpose=self.rng.random() < 0.5)
            self.strangers[place] = self.player()
            return
        if self.rng.random() < 0.1:
            self.pass_s(self.rng.choice([0, 0.1, 5, 40]))
        kind = self.rng.choice(_REQUESTS)
        said: Message = {"type": kind.__struct_config__.tag, "id": self.rng.randrange(100)}
        for each in msgspec.structs.fields(kind):
            if each.name != "id" and (each.required or self.rng.random() < 0.5):
                said[each.name] = self._any_value(each.name)
        if self.rng.random() < 0.05:
            said[self.rng.choice([*said, "strange"])] = self.rng.choice([None, [], {}, "", -1, 2**60, 0.5, True])
        try:
            self.say(line, json.dumps(said))
        except ProtocolError:
            line.leave()

    def _any_value(self, field: str) -> object:
        rng, line = self.rng, self.rng.choice(self.strangers)
        values: dict[str, Callable[[], object]] = {
            "protocols": lambda: [1],
            "match": lambda: rng.choice(self.matches),
            "name": lambda: rng.choice([name_of(line), "nobody here", self.name(), "admin", ""]),
            "code": lambda: rng.choice([*self.invitations, None, "?"]),
            "game": lambda: rng.choice([*_GAMES, "nonesuch"]),
            "games": lambda: rng.sample(_GAMES, rng.randrange(3)),
            "time": lambda: rng.choice([None, {"initial_ms": 5_000, "increment_ms": 100}]),
            "kind": lambda: rng.choice(["draw", "takeback", "rematch", "win", "adjourn", "swiss", "knockout"]),
            "tournament": lambda: rng.choice([*self.tournaments, "?"]),
            "act": lambda: rng.choice(["start", "pause", "next", "add", "remove", "correct", "end"]),
            "result": lambda: rng.choice(["1-0", "0-0", None]),
            "note": lambda: "seen",
            "begin_s": lambda: rng.choice([5, 60]),
            "text": lambda: rng.choice([None, "hello", "\u202e x" * 9]),
            "phrase": lambda: rng.choice([None, "hello", "oops"]),
            "opponents": lambda: rng.choice(["any", "people", "bots"]),
            "speed": lambda: rng.choice(["untimed", "blitz"]),
            "start": lambda: rng.choice([None, "X../.O./...", "...?"]),
            "reason": lambda: rng.choice(["later", "generic"]),
            "client": lambda: None,
            "token": lambda: None,
            "bot": lambda: None,
            "about": lambda: None,
            "before": lambda: None,
            "day": lambda: rng.choice([None, "2026-11-22", "tomorrow"]),
            "side": lambda: rng.choice([0, 1, None]),
            "min_rating": lambda: rng.choice([None, 1_000]),
            "max_rating": lambda: rng.choice([None, 2_000]),
            "level": lambda: rng.choice([None, 3]),
        }
        if field in values:
            return values[field]()
        flags = ("on", "private", "reveal", "accept", "rated", "bots", "any_level", "on_request")
        return rng.random() < 0.5 if field in flags else rng.choice([0, 1, 2, 5])


def name_of(line: Line) -> str:
    """Return the name that somebody has now."""
    return str(cast(Any, line.session).info.name) if line.session else "nobody"


def play_some(one: Line, other: Line, match: str, plies: int) -> None:
    """Make moves that are legal, by turns."""
    for ply in range(plies):
        mover = (one, other)[ply % 2]
        mover.ok("play", match=match, ply=ply, move=legal(mover, match)[0])


def legal(line: Line, match: str) -> list[int]:
    """Return the moves that are legal in a match."""
    told = next(each for each in reversed(line.told) if each.get("match") == match and "position" in each)
    return list(told["position"]["legal"])


# The situations: each leads to one refusal or some.


def strange_words(walk: Walk) -> None:
    line = walk.line()
    for text in ("{", "[]", '{"type":"nonsense","id":1}', '{"type":"ping"}', walk.rng.choice(["", "\ud7ff", "null"])):
        assert walk.say(line, text)["code"] == Code.BAD_MESSAGE
    line.refused(Code.HELLO_FIRST, "ping")
    line.refused(Code.BAD_PROTOCOL, "hello", protocols=[99], name=walk.name())
    line.refused(Code.BAD_NAME, "hello", protocols=[1], name=walk.rng.choice(["admin", "a", "x" * 40, "\u0301"]))
    line.refused(Code.NAME_TAKEN, "hello", protocols=[1], name=name_of(walk.player()))
    line.refused(Code.UNKNOWN_TOKEN, "hello", protocols=[1], token="t" * 43)
    line.ok("hello", protocols=[1], name=walk.name())
    line.refused(Code.HELLO_FIRST, "hello", protocols=[1])


def no_guests(walk: Walk) -> None:
    walk.limits.allow_guests = False
    walk.line().refused(Code.NO_GUESTS, "hello", protocols=[1])
    walk.limits.allow_guests = True


def banned(walk: Walk) -> None:
    line = walk.player()
    walk.administer(protocol.Ban(name_of(line), "rude", walk.rng.choice([None, 60])))
    line.leave()
    walk.line().refused(Code.BANNED, "hello", protocols=[1], token=line.token)


def muted_and_too_fast(walk: Walk) -> None:
    one, other, match = walk.pair()
    for _ in range(5):
        one.ok("chat", match=match, phrase="hello")
    one.refused(Code.TOO_FAST, "chat", match=match, phrase="hello")
    walk.limits.allow_chat = False
    other.refused(Code.CHAT_OFF, "chat", match=match, text="hello")
    walk.limits.allow_chat = True
    walk.administer(protocol.MutePlayer(name_of(other), "rude"))
    other.refused(Code.MUTED, "chat", match=match, text="hello")


def filtered(walk: Walk) -> None:
    one, other, match = walk.pair()
    with tempfile.NamedTemporaryFile("w", encoding="utf-8") as file:
        file.write("scoundrel\n")
        file.flush()
        walk.word_file = Path(file.name)
        walk.pass_s(1)
        walk.rng.choice([one, other]).refused(Code.FILTERED, "chat", match=match, text="You sc0undrel!")
    walk.word_file = None
    walk.pass_s(1)


def restarting(walk: Walk) -> None:
    line = walk.player()
    walk.administer(protocol.Drain(600))
    line.refused(Code.RESTARTING, "seek", games=[walk.rng.choice(_GAMES)])
    walk.administer(protocol.Drain(None))


def storage(walk: Walk) -> None:
    one, _, match = walk.pair()
    walk.free_bytes = 0
    walk.pass_s(1)
    one.refused(Code.STORAGE, "play", match=match, ply=0, move=legal(one, match)[0])
    walk.player().refused(Code.STORAGE, "seek")
    walk.free_bytes = 10**12
    walk.pass_s(1)


def seeks(walk: Walk) -> None:
    one, other = walk.player(), walk.player()
    one.refused(Code.NOT_SEEKING, "unseek")
    one.refused(Code.ALWAYS_CASUAL, "seek", games=["tictactoe"], rated=True)
    one.refused(Code.UNKNOWN_GAME, "seek", games=["nonesuch"])
    one.refused(Code.UNKNOWN_SEEK, "accept", seek=2**50)
    one.ok("lobby", on=True)
    one.ok("seek", games=["mnk:5x6,4"], min_rating=4_000)
    walk.pass_s(3)
    standing = [each for each in one.heard("seeks")["seeks"] if each["by"]["name"] == name_of(one)]
    other.refused(Code.NOT_WELCOME, "accept", seek=standing[0]["seek"])
    one.refused(Code.NOT_YOURSELF, "accept", seek=standing[0]["seek"])
    one.ok("unseek")


def challenges(walk: Walk) -> None:
    one = walk.player()
    one.refused(Code.UNKNOWN_PLAYER, "challenge", name="Absent One")
    one.refused(Code.NOT_YOURSELF, "challenge", name=name_of(one))
    one.refused(Code.UNKNOWN_CHALLENGE, "answer", challenge=2**50, accept=True)
    for _ in range(5):
        one.ok("challenge", name=name_of(walk.player()))
    one.refused(Code.TOO_MANY_CHALLENGES, "challenge", name=name_of(walk.player()))


def blocks(walk: Walk) -> None:
    one, other = walk.player(), walk.player()
    one.ok("block", name=name_of(other), on=True)
    one.refused(Code.BLOCKED, "challenge", name=name_of(other))
    other.refused(Code.NOT_WELCOME, "challenge", name=name_of(one))


def invitations(walk: Walk) -> None:
    one, other = walk.player(), walk.player()
    one.refused(Code.UNKNOWN_CODE, "join", code="BCDFGH")
    one.refused(Code.BAD_NOTATION, "invite", game="tictactoe", start="XXX/XXX/X")
    one.ok("invite", game="tictactoe")
    code = one.heard("invitation")["code"]
    walk.invitations.append(code)
    other.ok("join", code=code)
    walk.pass_s(0)
    match = other.heard("snapshot")["match"]
    walk.player().refused(Code.NOT_PUBLIC, "watch", match=match)
    walk.player().refused(Code.NOT_PUBLIC, "record", match=match)


def too_many_matches(walk: Walk) -> None:
    one, other, _ = walk.pair()
    walk.limits.max_live_matches = 1
    walk.rng.choice([one, other]).refused(Code.TOO_MANY_MATCHES, "seek", games=["gomoku"])
    walk.limits.max_live_matches = 20


def of_others(walk: Walk) -> None:
    one, _, match = walk.pair()
    other = walk.player()
    other.refused(Code.UNKNOWN_MATCH, "watch", match="nonesuch")
    other.refused(Code.NOT_SEATED, "resign", match=match)
    other.refused(Code.NOT_WATCHING, "unwatch", match=match)
    one.refused(Code.NOT_WATCHING, "watch", match=match)
    other.refused(Code.NOT_FINISHED, "record", match=match)
    one.refused(Code.STILL_PLAYING, "forget", name=name_of(one))


def moves(walk: Walk) -> None:
    one, other, match = walk.pair(game="tictactoe")
    other.refused(Code.NOT_YOUR_TURN, "play", match=match, ply=0, move=0)
    one.refused(Code.NO_MOVE, "offer", match=match, kind="takeback")
    one.refused(Code.STALE_PLY, "play", match=match, ply=7, move=0)
    one.refused(Code.ILLEGAL_MOVE, "play", match=match, ply=0, move=9)
    cell = walk.rng.randrange(9)
    one.ok("play", match=match, ply=0, move=cell)
    other.refused(Code.CELL_TAKEN, "play", match=match, ply=1, move=cell)
    other.ok("play", match=match, ply=1, move=legal(other, match)[0])
    one.refused(Code.TOO_LATE, "abort", match=match)
    one.refused(Code.OPPONENT_HERE, "claim", match=match, kind="win")
    one.refused(Code.MATCH_NOT_OVER, "offer", match=match, kind="rematch")
    one.refused(Code.NO_OFFER, "decline", match=match, kind="draw")
    one.ok("offer", match=match, kind="draw")
    one.refused(Code.STALE_OFFER, "offer", match=match, kind="draw", ply=1)
    other.ok("decline", match=match, kind="draw")
    one.refused(Code.TURNED_DOWN, "offer", match=match, kind="draw")
    one.ok("resign", match=match)
    one.refused(Code.MATCH_OVER, "resign", match=match)


def too_many_takebacks(walk: Walk) -> None:
    one, other, match = walk.pair(game="gomoku")
    for _ in range(_TAKEBACKS):
        one.ok("play", match=match, ply=0, move=walk.rng.choice(legal(one, match)))
        one.ok("offer", match=match, kind="takeback")
        other.ok("offer", match=match, kind="takeback")
    one.ok("play", match=match, ply=0, move=0)
    one.refused(Code.TOO_MANY_TAKEBACKS, "offer", match=match, kind="takeback")


def too_many_offers(walk: Walk) -> None:
    one, other, match = walk.pair(game="gomoku")
    play_some(one, other, match, 2)
    for ply in range(2, 2 + _OFFERS // 2):
        for kind in ("draw", "takeback"):
            one.ok("offer", match=match, kind=kind)
            other.ok("decline", match=match, kind=kind)
        mover = (one, other)[ply % 2]
        mover.ok("play", match=match, ply=ply, move=legal(mover, match)[0])
    one.refused(Code.TOO_MANY_OFFERS, "offer", match=match, kind="draw")


def adjourned(walk: Walk) -> None:
    one, other, match = walk.pair(game="gomoku")
    play_some(one, other, match, walk.rng.choice([2, 3, 4]))
    other.leave()
    walk.pass_s(600)
    one.ok("claim", match=match, kind="adjourn")
    one.refused(Code.ADJOURNED, "claim", match=match, kind="win")


def only_casual(walk: Walk) -> None:
    one, other, match = walk.pair(game="gomoku", rated=True)
    play_some(one, other, match, 4)
    other.leave()
    walk.pass_s(600)
    one.refused(Code.ONLY_CASUAL, "claim", match=match, kind="adjourn")
    one.ok("claim", match=match, kind=walk.rng.choice(["win", "draw"]))


def opponent_gone(walk: Walk) -> None:
    one, other, match = walk.over()
    other.ok("offer", match=match, kind="rematch")
    other.leave(on_purpose=True)
    one.refused(Code.OPPONENT_GONE, "offer", match=match, kind="rematch")


def analyses(walk: Walk) -> None:
    for _ in range(7):  # nobody carries them out here, so that they wait
        one, _other, match = walk.over()
        answer = one.ask("analyse", match=match)
    assert answer["code"] == Code.BUSY
    walk.limits.analysis_s = 0
    one.refused(Code.NO_ENGINE, "analyse", match=match)
    walk.limits.analysis_s = 20.0


def lessons(walk: Walk) -> None:
    one, _, match = walk.pair()
    one.refused(Code.NO_HINTS, "hint", match=match)
    one.refused(Code.NO_PUZZLE, "puzzle", day=walk.rng.choice(["yesterday", "2999-01-01"]))


def tournaments(walk: Walk) -> None:
    one, other = walk.player(), walk.player()
    terms = {"name": "Friday", "kind": "swiss", "time": {"initial_ms": 60_000}}
    walk.limits.allow_tournaments = False
    one.refused(Code.NO_TOURNAMENTS, "organise", **terms)
    walk.limits.allow_tournaments = True
    one.refused(Code.BAD_TOURNAMENT, "organise", **terms | {"kind": "round_robin"})
    one.ok("organise", **terms | {"anonymous": True})
    one.refused(Code.GUESTS_ONLY, "enter", tournament=one.heard("tournament")["tournament"])
    walk.limits.tournament_players = 2
    one.ok("organise", **terms)
    walk.limits.tournament_players = 200
    code = one.heard("tournament")["tournament"]
    walk.tournaments.append(code)
    other.refused(Code.NOT_ORGANISER, "direct", tournament=code, act="start")
    other.refused(Code.UNKNOWN_TOURNAMENT, "enter", tournament="?")
    for each in (one, other):
        each.ok("enter", tournament=code)
    walk.player().refused(Code.TOURNAMENT_FULL, "enter", tournament=code)
    one.ok("direct", tournament=code, act="start")
    walk.pass_s(0)
    one.refused(Code.NOT_IN_TOURNAMENT, "abort", match=one.heard("snapshot")["match"])
    one.ok("direct", tournament=code, act="end")
    other.refused(Code.TOURNAMENT_OVER, "withdraw", tournament=code)


SITUATIONS: tuple[Callable[[Walk], None], ...] = (
    strange_words,
    no_guests,
    banned,
    muted_and_too_fast,
    filtered,
    restarting,
    storage,
    seeks,
    challenges,
    blocks,
    invitations,
    too_many_matches,
    of_others,
    moves,
    too_many_takebacks,
    too_many_offers,
    adjourned,
    only_casual,
    opponent_gone,
    analyses,
    lessons,
    tournaments,
)


def main() -> int:
    """Walk for so many seconds; each walk must end well and reach every code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--first", type=int, default=0, metavar="SEED")
    options = parser.parse_args()
    seed, asked, end_s = options.first, 0, time.monotonic() + options.seconds
    while time.monotonic() < end_s:
        walk = Walk(seed)
        try:
            walk.run()
        except BaseException:
            print(f"seed {seed}:")
            raise
        missing = set(Code) - set(walk.codes) - set(UNREACHED)
        if missing:
            print(f"seed {seed} did not reach {', '.join(sorted(missing))}")
            return 1
        seed, asked = seed + 1, asked + walk.asked
    walks, reached = seed - options.first, len(Code) - len(UNREACHED)
    print(f"{walks:,} walks, {asked:,} requests: one answer each, and {reached} of {len(Code)} codes in each walk")
    return 0


if __name__ == "__main__":
    logging.disable()
    sys.exit(main())
