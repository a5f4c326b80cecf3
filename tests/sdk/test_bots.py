"""Bots beside a naive model of a server: what a bot says, and when, in any sequence of events; on simulated time."""

import asyncio
import dataclasses
import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from msgspec.structs import replace

from tests.client.samples import ANN, played, position_after, snapshot, welcome
from tests.simulation.loop import SimulatedLoop
from ttt_net.clock import TimeControl
from ttt_net.errors import Code, Refusal
from ttt_net.messages import (
    AbortRequest,
    AddedGame,
    Adjourned,
    AgreeRequest,
    AnswerRequest,
    AnyServerMessage,
    AttendRequest,
    AwayInfo,
    Challenged,
    ChallengeOver,
    ChatRequest,
    ClaimRequest,
    ClockInfo,
    Declined,
    DeclineRequest,
    Ended,
    EnterRequest,
    Offered,
    OfferInfo,
    Ok,
    Opponents,
    OutcomeInfo,
    PlayerInfo,
    PlayRequest,
    Presence,
    Refused,
    Rematched,
    Request,
    ResignRequest,
    ResumeRequest,
    SeekRequest,
    Snapshot,
    Tookback,
    TournamentReply,
    UnseekRequest,
)
from ttt_net.sdk.bots import APOLOGY, MOST_SOUGHT, Bot, BotPlan, Thought, Turn, budget_ms, is_drawable
from ttt_net.sdk.received import Answered, ConnectionEvent, Farewell, Parting, Stop, Tally

GAME, CELLS = "mnk:5x5,5", 25
DRAWABLE = 8
"""From this ply on a bot agrees to a draw on 25 cells."""
MAX, ZED = PlayerInfo("max", "sdk"), PlayerInfo("zed", "sdk")
ACTS = ("begin", *["move"] * 3, "offer", "leave", "end", "adjourn", "challenge", "over", "link")
MAX_STEPS = 10_000


@dataclass(eq=False)
class Table:
    """A match as the server knows it."""

    name: str
    you: int
    opponent: PlayerInfo
    is_rated: bool
    moves: list[int] = field(default_factory=list)
    seq: int = 1
    is_adjourned: bool = False
    left_at_s: float | None = None
    """When the opponent left; None while they are here."""
    claimed: int = 0
    """Claims since then."""
    grace_ms: int = 0
    is_over: bool = False
    over_at_s: float | None = None
    may_play: bool = True
    """Whether the bot has not moved at this ply, since it was last its turn."""
    is_winning: bool = False
    offers: dict[int, str] = field(default_factory=dict)
    """By number, the open offers of the opponent that the bot has not answered."""

    @property
    def is_ours(self) -> bool:
        """Whether the bot is to move, and may."""
        is_waiting = self.is_adjourned and self.left_at_s is not None
        return not self.is_over and len(self.moves) % 2 == self.you and not is_waiting

    def next(self) -> int:
        """Return the number of the next event."""
        self.seq += 1
        return self.seq

    def snapshot(self) -> Snapshot:
        """Return the match as the bot sees it."""
        is_here = self.left_at_s is None
        present = (is_here, True) if self.you else (True, is_here)
        players = (self.opponent, MAX) if self.you else (MAX, self.opponent)
        shown = snapshot(GAME, list(self.moves), you=self.you, match=self.name, present=present)
        offers = [OfferInfo(1 - self.you, kind, seq) for seq, kind in self.offers.items()]  # type: ignore[arg-type]
        away = None if is_here else AwayInfo(1 - self.you, on_purpose=False, claim_in_ms=self.grace_ms)
        return replace(
            shown,
            seq=self.seq,
            players=players,
            rated=self.is_rated,
            offers=offers,
            adjourned=self.is_adjourned,
            away=away,
        )


class Server:
    """A server as one bot knows it, and a judge of all that the bot says. A seed draws people and faults."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.loop = SimulatedLoop()
        self.is_kind = False
        """Whether nothing is refused any more."""
        games = self.rng.choice([None, None, 3])
        opponents: Opponents = self.rng.choice(["any", "people", "bots"])
        seek = SeekRequest(0, self.rng.choice([[GAME], []]), opponents=opponents)
        self.plan = BotPlan(seek, games, 200, places=self.rng.choice([1, 1, 2, 3]))
        self.tables: dict[str, Table] = {}
        self.kept: Table | None = None
        """The match of which a rematch can be accepted."""
        self.has_seek = False
        self.accepting = 0
        self.unseen: set[str] = set()
        self.challenges: dict[int, Challenged] = {}
        self.tally = Tally()
        self.numbers = 0
        self.to_claim: Table | None = None
        """The match that the bot claims although its grace is not over, since it has too many."""
        self._inbox: asyncio.Queue[Any] = asyncio.Queue()
        now_ms: Callable[[], int] = lambda: round(self.loop.time() * 1000)  # noqa: E731
        self.bot = Bot(self, self.think, self.plan, lambda text: None, now_ms=now_ms)
        self.task = self.loop.create_task(self.bot.play(self._inbox))
        self.tell(welcome(you=MAX))

    # As the connection and the engine of the bot.

    async def run(self) -> None:
        """Stay."""
        await asyncio.get_running_loop().create_future()

    async def think(self, turn: Turn) -> Thought:
        """Choose any legal move, after a while."""
        table = self.tables[turn.match.id]
        assert (turn.match.side, turn.match.opponent) == (table.you, table.opponent.name)
        await asyncio.sleep(0.01 * self.rng.random())
        table.is_winning = self.rng.random() < 0.3
        return Thought(self.rng.choice(list(turn.legal)), table.is_winning)

    def say(self, request: Request) -> None:
        """Take a request, and check that it is one that the bot should make now."""
        if self.task.done():
            return
        match request:
            case SeekRequest():
                assert request == self.plan.seek
                assert not self.has_seek
                assert self.free > 0
                self.has_seek = True
                if self.refuses(request, [Code.TOO_FAST, Code.TOO_MANY_MATCHES]):
                    self.has_seek = False
            case UnseekRequest():
                assert self.has_seek
                assert self.free == 1, "only a rematch takes the place that a seek is for"
                self.has_seek = False
                self.answer(request)
            case PlayRequest(match=name):
                self._played(self.tables[name], request)
            case AnswerRequest():
                self._answered(request)
            case AgreeRequest(match=name, offer=seq):
                self._decided(self.tables[name], seq, request)
            case DeclineRequest(match=name, offer=seq):
                assert seq is not None
                self._decided(self.tables[name], seq, request)
            case ClaimRequest(match=name):
                self._claimed(self.tables[name], request)
            case _:
                raise AssertionError(request)

    # What the bot may say.

    @property
    def free(self) -> int:
        """How many matches the bot may begin now."""
        live = {name for name, table in self.tables.items() if not table.is_over and not table.is_adjourned}
        busy = len(live | self.unseen) + self.accepting
        free = self.plan.places - busy
        return free if self.plan.games is None else min(free, self.plan.games - self.tally.games - busy)

    def _played(self, table: Table, play: PlayRequest) -> None:
        assert not table.is_over
        assert len(table.moves) % 2 == table.you
        assert table.may_play, "a move is made once"
        assert (play.ply, play.move not in table.moves) == (len(table.moves), True)
        table.may_play = False
        if table.is_adjourned and table.left_at_s is not None:  # the bot was thinking
            self.tell(Answered(play, Refused(play.id, Code.ADJOURNED, "it is adjourned")))
            table.may_play = True
        elif self.refuses(play, [Code.STORAGE]):
            table.may_play = True
        else:
            self.answer(play)
            self.move(table, play.move)

    def _answered(self, answer: AnswerRequest) -> None:
        challenged = self.challenges.pop(answer.challenge)
        is_bot = challenged.by.bot is not None
        reason: str | None
        if challenged.game != GAME and self.plan.seek.games:
            reason = "another_game"
        elif self.plan.seek.opponents == "people" and is_bot:
            reason = "no_bots"
        elif self.plan.seek.opponents == "bots" and not is_bot:
            reason = "generic"
        else:
            reason = None if self.free > 0 else "later"
        assert (answer.accept, None if answer.accept else answer.reason) == (reason is None, reason)
        self.accepting += answer.accept
        if self.refuses(answer, [Code.OPPONENT_GONE]):
            self.accepting -= answer.accept
        else:
            self.answer(answer)
            if answer.accept:
                self.begin(challenged.by)

    def _decided(self, table: Table, seq: int, request: AgreeRequest | DeclineRequest) -> None:
        kind = table.offers.pop(seq)
        agrees = isinstance(request, AgreeRequest)
        if kind == "draw":
            assert agrees == (len(table.moves) >= DRAWABLE and not table.is_winning)
        elif kind == "takeback":
            assert agrees == (table.opponent.bot is None)
        else:
            assert agrees
            assert self.free > 0
            assert table is self.kept
        if self.refuses(request, [Code.STALE_OFFER, Code.OPPONENT_GONE]):
            return
        self.answer(request)
        if not agrees:
            self.tell(Declined(table.name, table.next(), 0, table.you, kind))  # type: ignore[arg-type]
        elif kind == "draw":
            self.end(table, None, "agreement")
        elif kind == "takeback":
            ply = max(0, len(table.moves) - self.rng.choice([1, 2]))
            del table.moves[ply:]
            table.offers.clear()
            table.may_play, table.is_adjourned = True, False
            self.tell(Tookback(table.name, table.next(), 0, 1 - table.you, ply, position=self.position(table)))
        else:
            table.next()
            self.tell(Rematched(table.name, table.seq, 0, f"m{self.numbers + 1}"))
            self.begin(table.opponent)

    def _claimed(self, table: Table, claim: ClaimRequest) -> None:
        assert table.left_at_s is not None
        assert not table.is_adjourned
        if table.is_over:  # by another claim of this moment, which the bot has not heard of yet
            assert table.over_at_s == self.loop.time()
            return
        early_ms = table.left_at_s * 1000 + table.grace_ms - self.loop.time() * 1000
        if early_ms > 0:
            assert table is self.to_claim
            self.to_claim = None
            self.tell(Answered(claim, Refused(claim.id, Code.OPPONENT_HERE, "wait", math.ceil(early_ms))))
            return
        assert table.claimed == 0, "a claim is made once, unless it is refused for a while"
        assert claim.kind == ("win" if table.is_rated else "draw")
        if self.refuses(claim, [Code.OPPONENT_HERE]):
            return
        table.claimed += 1
        self.answer(claim)
        self.end(table, table.you if claim.kind == "win" else None, "left")

    # What the server does.

    def tell(self, event: ConnectionEvent | AnyServerMessage) -> None:
        """Send an event."""
        self._inbox.put_nowait(event)

    def answer(self, request: Request) -> None:
        """Grant a request."""
        self.tell(Answered(request, Ok(request.id)))

    def refuses(self, request: Request, codes: list[Code]) -> bool:
        """Refuse one request of six, for one of these reasons; return whether it did."""
        if self.is_kind or self.rng.random() > 0.16:
            return False
        retry_after_ms = 300 if isinstance(request, ClaimRequest) else self.rng.choice([None, 0, 300])
        code = self.rng.choice(codes)
        self.tell(Answered(request, Refused(request.id, code, "no", retry_after_ms)))
        if code == Code.TOO_MANY_MATCHES:
            away = [table for table in self.live if table.left_at_s is not None and not table.is_adjourned]
            self.to_claim = min(away, key=lambda table: table.left_at_s or 0, default=None)
        return True

    def position(self, table: Table) -> Any:
        """Return the position of a match."""
        return position_after(GAME, table.moves)

    def move(self, table: Table, move: int) -> None:
        """Make a move of either side."""
        table.moves.append(move)
        table.offers.clear()
        table.may_play, table.is_adjourned = True, False
        event = replace(played(GAME, table.moves, match=table.name), seq=table.next())
        self.tell(event)
        if (event.position is not None and event.position.to_move is None) or len(table.moves) > 16:
            self.end(table, None, "full")

    def begin(self, opponent: PlayerInfo) -> None:
        """Begin a match."""
        self.numbers += 1
        name = f"m{self.numbers}"
        table = Table(name, self.rng.randrange(2), opponent, self.rng.random() < 0.5)
        self.tables[name] = table
        self.accepting = max(0, self.accepting - 1)
        self.has_seek = False
        if self.kept is None or self.kept.is_over:
            self.kept = table
        self.tell(table.snapshot())

    def end(self, table: Table, winner: int | None, reason: str) -> None:
        """End a match."""
        table.is_over, table.over_at_s = True, self.loop.time()
        table.offers.clear()
        before = replace(table.snapshot(), outcome=None)
        self.tally = self.tally.counting(before, replace(before, outcome=OutcomeInfo(winner, reason)))
        self.tell(Ended(table.name, table.next(), 0, winner, reason))

    def _leave(self, table: Table) -> None:
        table.left_at_s, table.claimed, table.grace_ms = self.loop.time(), 0, self.rng.choice([0, 200, 700])
        away = AwayInfo(1 - table.you, on_purpose=False, claim_in_ms=table.grace_ms)
        self.tell(Presence(table.name, 1 - table.you, online=False, away=away))

    def come_back(self, table: Table) -> None:
        """Bring the opponent of a match back."""
        table.left_at_s = None
        self.tell(Presence(table.name, 1 - table.you, online=True))

    @property
    def live(self) -> list[Table]:
        """The unfinished matches."""
        return [table for table in self.tables.values() if not table.is_over]

    def act(self) -> None:
        """Do something, as players and links do."""
        rng, live = self.rng, self.live
        table = rng.choice(live) if live else None
        what = rng.choice(
            ["begin", "move", "move", "move", "offer", "leave", "end", "adjourn", "challenge", "over", "link"]
        )
        if what == "begin" and self.has_seek:
            opponents = {"any": [ANN, ZED], "people": [ANN], "bots": [ZED]}
            self.begin(rng.choice(opponents[self.plan.seek.opponents]))
        elif what == "challenge":
            self.numbers += 1
            by, game = rng.choice([ANN, ANN, ZED]), rng.choice([GAME, GAME, "qubic"])
            self.challenges[self.numbers] = Challenged(self.numbers, by, MAX, game, 30_000)
            self.tell(self.challenges[self.numbers])
        elif what == "over":
            self.accepting = 0
            self.tell(ChallengeOver(self.numbers, "expired"))
        elif what == "link":
            self.reconnect()
        elif what == "offer" and table is None and self.kept is not None:
            if self.free > 0:
                self.kept.offers[self.kept.next()] = "rematch"
            self.tell(Offered(self.kept.name, self.kept.seq, 0, 1 - self.kept.you, "rematch"))
        elif table is None:
            return
        elif what == "move" and table.left_at_s is None and len(table.moves) % 2 != table.you:
            free = [cell for cell in range(CELLS) if cell not in table.moves]
            self.move(table, rng.choice(free))
        elif what == "offer" and table.left_at_s is None:
            kind: Any = rng.choice(["draw", "takeback"]) if table.moves else "draw"
            if kind not in table.offers.values():
                table.offers[table.next()] = kind
                self.tell(Offered(table.name, table.seq, 0, 1 - table.you, kind))
        elif what == "leave":
            self.come_back(table) if table.left_at_s is not None else self._leave(table)
        elif what == "adjourn" and not table.is_adjourned:
            table.is_adjourned = True
            table.offers.clear()
            self.tell(Adjourned(table.name, table.next(), 0, 1 - table.you))
        elif what == "end":
            self.end(table, rng.choice([0, 1]), rng.choice(["resign", "abort"]))

    def reconnect(self) -> None:
        """Lose the link and come back, with the seek as it was; the unfinished matches are shown one by one.

        Of some, the bot learns that they have ended meanwhile, or that the server does not know them.
        """
        self.accepting = 0
        live = self.live
        self.unseen = {table.name for table in live}
        self.tell(welcome(*(table.name for table in live), you=MAX))
        for table in live:
            self.pass_time(0.001)
            self.unseen.discard(table.name)
            if table.is_over:
                continue
            if self.rng.random() < 0.1:
                table.is_over = True
                before = table.snapshot()
                ended = replace(before, seq=table.next(), outcome=OutcomeInfo(self.rng.randrange(2), "time"))
                self.tally = self.tally.counting(before, ended)
                self.tell(ended)
            elif self.rng.random() < 0.1:
                table.is_over = True
                request = ResumeRequest(0, table.name, 0)
                self.tell(Answered(request, Refused(0, Code.UNKNOWN_MATCH, "no such match")))
                self.kept = None if self.kept is table else self.kept
            else:
                if not table.offers and not table.is_adjourned and table.left_at_s is None:
                    table.offers[table.next()] = "takeback"  # while the bot was away
                self.kept = self.kept or table
                self.tell(table.snapshot())

    def pass_time(self, seconds: float) -> None:
        """Let what is due happen."""
        assert self.loop.run_until(self.loop.time() + seconds, MAX_STEPS) < MAX_STEPS
        assert self.loop.errors == []
        assert self.bot.asked.keys() <= self.bot.matches.keys()
        assert sum(match.outcome is not None for match in self.bot.matches.values()) <= 1

    def settle(self) -> None:
        """Check what holds once nothing goes wrong any more."""
        self.is_kind = True
        self.pass_time(10)
        if not self.task.done():
            waited_for = [table for table in self.live if table.left_at_s is not None and not table.is_adjourned]
            assert waited_for == [], "it claims each match whose opponent stays away"
        for table in self.live:
            if table.left_at_s is not None:
                self.come_back(table)
        self.pass_time(10)
        assert self.bot.tally == self.tally
        if self.task.done():
            self.task.result()
            assert self.plan.games is not None
            assert self.tally.games >= self.plan.games
            assert all(table.is_adjourned for table in self.live), "it leaves nobody in the middle of a match"
            return
        assert [table.name for table in self.live if table.is_ours] == []
        assert not self.challenges
        assert not any(table.offers for table in self.tables.values())
        assert {table.name for table in self.live} <= self.bot.matches.keys()
        assert len(self.bot.matches) <= len(self.live) + 1, "it keeps one match more, for a rematch"
        assert self.has_seek or self.free <= 0, "it seeks while a place is free"


@pytest.mark.parametrize("first", range(0, 60, 10))
def test_a_bot_sends_the_expected_requests_and_no_others(first: int) -> None:
    for seed in range(first, first + 10):
        server = Server(seed)
        for _ in range(60):
            server.pass_time(server.rng.choice([0.001, 0.02, 0.3]))
            if server.task.done():
                break
            server.act()
        server.settle()
        server.task.cancel()
        server.pass_time(1)


@pytest.mark.parametrize(
    ("ply", "cells", "agrees"),
    [(2, 9, False), (3, 9, True), (19, 60, False), (20, 60, True), (19, 400, False), (20, 400, True), (0, 2, True)],
)
def test_a_bot_agrees_to_a_draw_from_a_third_of_the_cells_or_ply_twenty_on(
    ply: int, cells: int, *, agrees: bool
) -> None:
    assert is_drawable(ply, cells) == agrees


FAST, PER_MOVE = TimeControl(60_000, 2_000), TimeControl(5_000, 0, per_move=True)


@pytest.mark.parametrize(
    ("left_ms", "time", "move_ms", "budget"),
    [
        (None, None, 700, 700),
        (None, FAST, 700, 700),
        (10, None, 700, 700),
        (None, None, 5, 20),
        (60_000, FAST, 5_000, 3_400),
        (60_000, FAST, 3_000, 3_000),
        (25, FAST, 5_000, 1_001),
        (10, replace(FAST, increment_ms=0), 5_000, 20),
        (5_000, PER_MOVE, 9_000, 2_500),
        (5_000, PER_MOVE, 2_000, 2_000),
        (30, PER_MOVE, 2_000, 20),
    ],
)
@pytest.mark.parametrize("side", [0, 1])
def test_a_move_takes_a_part_of_the_time_that_is_left(
    left_ms: int | None, time: TimeControl | None, move_ms: int, budget: int, side: int
) -> None:
    clock = None
    if left_ms is not None:
        clock = ClockInfo((left_ms, 999_999) if side == 0 else (999_999, left_ms), side)
    assert budget_ms(replace(snapshot(you=side), clock=clock, time=time), side, move_ms) == budget


class Desk:
    """A bot on simulated time, and all that it says, writes and thinks about."""

    def __init__(self, plan: BotPlan, *, thought: Thought | None = None) -> None:
        self.loop = SimulatedLoop()
        self.said: list[Request] = []
        self.lines: list[str] = []
        self.noticed: list[ConnectionEvent] = []
        self.turns: list[Turn] = []
        self.thought = thought
        """The thought of the bot about each turn; None: the first legal move."""
        self.refusal: Refusal | None = None
        """The error that the connection raises, if any."""
        self._inbox: asyncio.Queue[Any] = asyncio.Queue()
        now_ms: Callable[[], int] = lambda: round(self.loop.time() * 1000)  # noqa: E731
        self.bot = Bot(self, self.think, plan, self.lines.append, noticed=self.noticed.append, now_ms=now_ms)
        self.task = self.loop.create_task(self.bot.play(self._inbox))

    async def run(self) -> None:
        """Stay."""
        await asyncio.get_running_loop().create_future()

    def say(self, request: Request) -> None:
        """Keep a request."""
        if self.refusal is not None:
            raise self.refusal
        self.said.append(request)

    async def think(self, turn: Turn) -> Thought:
        """Choose the first move, or what it was told."""
        self.turns.append(turn)
        return self.thought or Thought(turn.legal[0])

    def after(self, *events: object, seconds: float = 3) -> list[Request]:
        """Return what the bot says within three seconds of these events, or within another time."""
        self.said.clear()
        for event in events:
            self._inbox.put_nowait(event)
        self.loop.run_until(self.loop.time() + seconds, MAX_STEPS)
        assert self.loop.errors == []
        if self.task.done() and not self.task.cancelled():
            self.task.result()
        return list(self.said)


Sit = Callable[..., Desk]


@pytest.fixture
def sit() -> Iterator[Sit]:
    """Make desks, and end their bots after the test."""
    desks: list[Desk] = []

    def one(plan: BotPlan, **settings: Any) -> Desk:
        desks.append(Desk(plan, **settings))
        return desks[-1]

    yield one
    for desk in desks:
        desk.task.cancel()
        desk.after()


SEEK = SeekRequest(0, ["tictactoe"])
PLAN, TOURNAMENT = BotPlan(SEEK, None, 100), BotPlan(SeekRequest(0), None, 100, tournament="abc")


def match_against(opponent: PlayerInfo, *, you: int | None = 0, **changes: Any) -> Snapshot:
    """Return a match of the bot, in which it sits on either side."""
    players = (opponent, MAX) if you else (MAX, opponent)
    return replace(snapshot("tictactoe", you=you), **{"players": players, **changes})


def test_a_bot_of_a_tournament_enters_it_seeks_nobody_and_ends_with_it(sit: Sit) -> None:
    desk = sit(TOURNAMENT)
    enter, attend = desk.after(welcome(you=MAX))
    assert (enter, attend) == (EnterRequest(0, "abc"), AttendRequest(0, "abc"))
    challenged = Challenged(1, ANN, MAX, "tictactoe", 30_000)
    assert desk.after(challenged) == [AnswerRequest(0, challenge=1, accept=False, reason="later")]
    for code in (Code.TOO_FAST, Code.RESTARTING, Code.STORAGE):
        assert desk.after(Answered(enter, Refused(0, code, "no"))) == [enter]
    assert desk.after(Answered(attend, Refused(0, Code.TOO_FAST, "no"))) == [attend]
    assert desk.after(Answered(enter, Refused(0, Code.TOURNAMENT_OVER, "no"))) == []
    assert len(desk.after(snapshot("tictactoe", you=0, opponent=ZED))) == 1, "a move of its match"
    over = TournamentReply("abc", 9, "Cup", "swiss", "tictactoe", FAST, "over", 1, 1, 2, 1, 1, [], [], [], 0)
    assert desk.after(over) == []
    assert not desk.task.done(), "its last match goes on"
    assert desk.after(Ended("m1", 2, 0, 0, "resign")) == []
    assert desk.task.done()


def test_a_bot_ends_if_its_tournament_refuses_it(sit: Sit) -> None:
    desk = sit(TOURNAMENT)
    desk.after(Answered(EnterRequest(0, "abc"), Refused(0, Code.NOT_SEATED, "for guests only")))
    assert desk.task.done()
    assert desk.bot.farewell == Farewell(Parting.REJECTED, "for guests only", Code.NOT_SEATED)


@pytest.mark.parametrize(
    ("added", "knows", "named"),
    [
        ([], [], []),
        (["hex"], ["hex"], []),
        (["hex", "go"], ["hex"], ["a", "b", "hex"]),
        (["hex"], [], ["a", "b"]),
    ],
)
def test_a_bot_names_games_only_where_a_server_has_one_that_it_cannot_play(
    added: list[str], knows: list[str], named: list[str]
) -> None:
    plan = BotPlan(SeekRequest(0), None, 100, knows=lambda game: game in knows, known=("a", "b"))
    games = [AddedGame(name, name, "a rule") for name in added]
    assert plan.games_at(replace(welcome(), games=games)) == named


def test_a_seek_names_as_many_games_as_it_can() -> None:
    plan = BotPlan(SeekRequest(0), None, 100, knows=lambda game: False, known=[f"g{n}" for n in range(MOST_SOUGHT + 1)])
    assert plan.games_at(replace(welcome(), games=[AddedGame("hex", "Hex", "a rule")])) == list(
        plan.known[:MOST_SOUGHT]
    )


@pytest.mark.parametrize(("opponents", "sought"), [("people", "any"), ("any", "any"), ("bots", "bots")])
def test_a_ladder_seeks_rated_matches_with_bots_once_in_its_interval(
    sit: Sit, opponents: Opponents, sought: Opponents
) -> None:
    seek = replace(SEEK, opponents=opponents)
    desk = sit(dataclasses.replace(PLAN, seek=seek, ladder_s=600))
    marked = replace(seek, rated=True, or_casual=True, opponents=sought)
    assert desk.after(welcome(you=MAX)) == [seek], "an older server would refuse the mark"
    assert sit(PLAN).after(welcome(you=MAX, features=["or_casual"])) == [SEEK], "this bot has no ladder"
    assert desk.after(match_against(ZED), Ended("m1", 2, 0, None, "abort"), welcome(you=MAX, features=["or_casual"]))[
        -1:
    ] == [seek]
    assert desk.after(match_against(ANN, match="m2"), Ended("m2", 2, 0, None, "abort")) == [marked]


@pytest.mark.parametrize("you", [0, 1])
@pytest.mark.parametrize(("opponent", "is_rated"), [(ZED, True), (ZED, False), (ANN, True)])
def test_a_rated_match_with_a_bot_postpones_the_next_one_of_the_ladder(
    sit: Sit, opponent: PlayerInfo, you: int, *, is_rated: bool
) -> None:
    desk = sit(dataclasses.replace(PLAN, ladder_s=600))
    marked = replace(SEEK, rated=True, or_casual=True)
    assert desk.after(welcome(you=MAX, features=["or_casual"])) == [marked]
    match, is_rung = match_against(opponent, you=you, rated=is_rated), is_rated and opponent is ZED
    desk.after(match, seconds=1)
    assert desk.after(Ended("m1", 2, 0, None, "abort"), seconds=1) == [SEEK if is_rung else marked]
    assert desk.after(seconds=597.99) == []
    assert desk.after(seconds=0.1) == [marked] * is_rung, "the open seek is made anew"


@pytest.mark.parametrize("is_busy", [True, False])
def test_a_due_match_of_the_ladder_is_not_sought_while_no_seek_is_open(sit: Sit, *, is_busy: bool) -> None:
    desk = sit(dataclasses.replace(PLAN, ladder_s=5))
    desk.after(welcome(you=MAX, features=["or_casual"]), match_against(ZED, rated=True))
    if not is_busy:
        assert desk.after(Adjourned("m1", 2, 0, 1), seconds=0.5) == [SEEK]
        desk.after(Answered(SEEK, Refused(0, Code.TOO_FAST, "no", 60_000)), seconds=0.5)
    assert desk.after(seconds=5) == []


@pytest.mark.parametrize("games", [[], ["tictactoe"]])
def test_a_bot_seeks_the_games_that_it_knows_where_a_server_has_others(sit: Sit, games: list[str]) -> None:
    plan = BotPlan(SeekRequest(0, games), None, 100, knows=lambda game: game != "hex", known=("connect4",))
    added = [AddedGame("hex", "Hex", "a rule")]
    (seek,) = sit(plan).after(replace(welcome(you=MAX), games=added))
    assert seek == SeekRequest(0, games or ["connect4"])
    (seek,) = sit(plan).after(welcome(you=MAX))
    assert seek == SeekRequest(0, games)


@pytest.mark.parametrize("ply", [0, 1, 2])
def test_a_bot_without_a_move_leaves_the_match_and_says_why(sit: Sit, ply: int) -> None:
    desk = sit(PLAN, thought=Thought(None, objection="no idea"))
    desk.after(welcome(you=MAX))
    said = desk.after(match_against(ANN, you=ply % 2, position=snapshot(moves=[0, 1][:ply]).position))
    left: list[Request] = [ChatRequest(0, match="m1", text=APOLOGY), ResignRequest(0, match="m1")]
    assert said == (left if ply == 2 else [AbortRequest(0, match="m1")])
    assert desk.lines == ["Leaving the match: no idea."]
    assert len(desk.after(match_against(ANN, match="m2"))) == 1, "it goes on with the next"


def test_a_bot_moves_no_faster_than_its_pace(sit: Sit) -> None:
    desk = sit(dataclasses.replace(PLAN, pace_s=2))
    desk.after(welcome(you=MAX))
    assert desk.after(match_against(ANN), seconds=1.9) == []
    assert desk.after(seconds=0.2) == [PlayRequest(0, match="m1", ply=0, move=0)]


@pytest.mark.parametrize("change", ["takeback", "over", "unknown", None])
def test_a_move_is_dropped_if_the_match_changes_while_the_bot_thinks(sit: Sit, change: str | None) -> None:
    desk = sit(dataclasses.replace(PLAN, pace_s=2))
    match = match_against(ANN, moves=[0, 1], position=snapshot(moves=[0, 1]).position, seq=3)
    desk.after(welcome(you=MAX), match, seconds=1)
    events: dict[str | None, list[object]] = {
        "takeback": [Tookback("m1", 4, 0, 1, 1, position=snapshot(moves=[0]).position)],
        "over": [Ended("m1", 4, 0, 0, "resign")],
        "unknown": [Answered(ResumeRequest(0, "m1", 0), Refused(0, Code.UNKNOWN_MATCH, "no"))],
        None: [],
    }
    said = desk.after(*events[change])
    assert PlayRequest(0, match="m1", ply=2, move=2) in said or change is not None
    assert not any(isinstance(request, PlayRequest) for request in said) or change is None


def test_a_bot_stops_when_it_is_told_and_ignores_what_is_no_event(sit: Sit) -> None:
    desk = sit(PLAN)
    assert desk.after("something", welcome(you=MAX)) == [SEEK]
    assert desk.noticed == [welcome(you=MAX)]
    desk.after(Stop())
    assert desk.task.done()
    desk.task.result()


def test_a_farewell_ends_a_bot(sit: Sit) -> None:
    desk, farewell = sit(PLAN), Farewell(Parting.GIVEN_UP, "no server")
    desk.after(welcome(you=MAX))
    assert desk.after(farewell) == []
    desk.task.result()
    assert desk.bot.farewell == farewell


def test_a_request_that_cannot_be_made_is_a_line_for_the_operator(sit: Sit) -> None:
    desk = sit(PLAN)
    desk.refusal = Refusal(Code.TOO_FAST, "the server has not answered the last requests yet")
    desk.after(welcome(you=MAX))
    assert desk.lines == ["the server has not answered the last requests yet."]


@pytest.mark.parametrize(("by", "is_answered"), [(ANN, True), (MAX, False)])
def test_only_challenges_of_others_are_answered_and_only_by_a_player(
    sit: Sit, by: PlayerInfo, *, is_answered: bool
) -> None:
    desk = sit(PLAN)
    challenged = Challenged(1, by, MAX, "tictactoe", 30_000)
    assert desk.after(challenged) == []
    desk.after(welcome(you=MAX))
    assert bool(desk.after(challenged)) is is_answered


@pytest.mark.parametrize("you", [0, 1])
def test_the_match_with_the_least_time_on_the_own_clock_comes_first_and_shares_the_time(sit: Sit, you: int) -> None:
    desk = sit(BotPlan(SEEK, None, 3_000, places=5, pace_s=1))
    desk.after(welcome(you=MAX))
    position = snapshot(moves=[0][:you]).position
    first = match_against(ANN, you=you, position=position, match="first")
    others = []
    for name, left_ms in (("untimed", None), ("slow", 50_000), ("fast", 5_000)):
        clock = None if left_ms is None else ClockInfo((left_ms, 9_000) if you == 0 else (9_000, left_ms), you)
        others.append(replace(first, match=name, clock=clock, time=FAST))
    desk.after(first, seconds=0.5)
    desk.after(*others, seconds=10)
    assert [turn.match.id for turn in desk.turns] == ["first", "fast", "slow", "untimed"]
    assert [turn.ms for turn in desk.turns] == [3_000, 1_000, 1_500, 3_000]
    assert [turn.clock for turn in desk.turns] == [None, (5_000, 9_000), (50_000, 9_000), None]


@pytest.mark.parametrize(("changes", "kind"), [({}, "draw"), ({"rated": True}, "win"), ({"tournament": "abc"}, "win")])
@pytest.mark.parametrize("you", [0, 1])
def test_a_bot_claims_once_the_grace_is_over(sit: Sit, changes: dict[str, Any], kind: Any, you: int) -> None:
    desk = sit(PLAN)
    present = (False, True) if you else (True, False)
    desk.after(welcome(you=MAX), match_against(ANN, you=you, **changes))
    away = AwayInfo(1 - you, on_purpose=False, claim_in_ms=5_000)
    assert desk.after(Presence("m1", 1 - you, online=False, away=away), seconds=5) == []
    assert desk.after(seconds=1) == [ClaimRequest(0, match="m1", kind=kind)]
    refused = Refused(0, Code.OPPONENT_HERE, "wait", 700)
    assert desk.after(Answered(desk.said[0], refused), seconds=0.7) == []
    claim = desk.after(seconds=0.1)
    assert claim == [ClaimRequest(0, match="m1", kind=kind)]
    assert desk.after(Answered(claim[0], replace(refused, retry_after_ms=None))) == []
    assert desk.after(match_against(ANN, you=you, present=present, **changes)) == [], "it is the same absence"


@pytest.mark.parametrize("how", ["back", "adjourned", "over", "unknown"])
def test_a_claim_is_not_made_for_a_match_that_does_not_wait_any_more(sit: Sit, how: str) -> None:
    desk = sit(PLAN)
    away = AwayInfo(1, on_purpose=False, claim_in_ms=5_000)
    desk.after(welcome(you=MAX), match_against(ANN))
    desk.after(Presence("m1", 1, online=False, away=away))
    events: dict[str, object] = {
        "back": Presence("m1", 1, online=True),
        "adjourned": Adjourned("m1", 2, 0, 1),
        "over": Ended("m1", 2, 0, 0, "resign"),
        "unknown": Answered(ResumeRequest(0, "m1", 0), Refused(0, Code.UNKNOWN_MATCH, "no")),
    }
    desk.after(events[how])
    assert not any(isinstance(request, ClaimRequest) for request in desk.after(seconds=9))


@pytest.mark.parametrize(("retry_after_ms", "wait_s"), [(500, 0.5), (None, 2.0)])
def test_a_refused_seek_is_made_again_after_the_announced_wait(
    sit: Sit, retry_after_ms: int | None, wait_s: float
) -> None:
    desk = sit(PLAN)
    (seek,) = desk.after(welcome(you=MAX))
    refused = Refused(0, Code.TOO_FAST, "no", retry_after_ms)
    assert desk.after(Answered(seek, refused), seconds=wait_s - 0.1) == []
    assert desk.after(seconds=0.2) == [seek]
    assert desk.after(Answered(seek, Refused(0, Code.NOT_SEEKING, "cancelled"))) == [], "the next one stands"


@pytest.mark.parametrize(("code", "is_claimed"), [(Code.TOO_MANY_MATCHES, True), (Code.TOO_FAST, False)])
def test_a_bot_with_too_many_matches_claims_the_one_that_waits_longest(
    sit: Sit, code: Code, *, is_claimed: bool
) -> None:
    desk = sit(BotPlan(SEEK, None, 100, places=4))
    (seek,) = desk.after(welcome(you=MAX))
    for name in ("over", "adjourned", "older", "newer"):
        desk.after(match_against(ANN, match=name))
        desk.after(Presence(name, 1, online=False))
        if name == "over":
            desk.after(Ended(name, 2, 0, 0, "resign"), Presence(name, 1, online=True), Presence(name, 1, online=False))
        elif name == "adjourned":
            desk.after(Adjourned(name, 2, 0, 1))
    said = desk.after(Answered(seek, Refused(0, code, "no", 60_000)))
    assert said == [ClaimRequest(0, match="older", kind="draw")] * is_claimed


def test_a_move_that_could_not_be_stored_is_made_again_unless_the_match_went_on(sit: Sit) -> None:
    desk = sit(PLAN)
    desk.after(welcome(you=MAX))
    (play,) = desk.after(match_against(ANN))
    refused = Answered(play, Refused(0, Code.STORAGE, "full", 500))
    assert desk.after(refused, seconds=0.4) == []
    assert desk.after(seconds=0.2) == [play]
    assert desk.after(Answered(play, Refused(0, Code.STALE_PLY, "no"))) == [], "any other refusal is left alone"
    desk.after(refused, played("tictactoe", [0]))
    assert desk.said == []
    assert desk.after(Answered(replace(play, match="gone"), refused.answer)) == []


@pytest.mark.parametrize("how", ["waits", "is here", "not adjourned", "over"])
@pytest.mark.parametrize("you", [0, 1])
def test_a_bot_thinks_about_every_match_in_which_it_is_to_move_and_may(sit: Sit, how: str, you: int) -> None:
    desk = sit(PLAN)
    desk.after(welcome(you=MAX))
    match = match_against(ANN, you=you, position=snapshot(moves=[0][:you]).position, adjourned=how != "not adjourned")
    is_away = how in ("waits", "not adjourned")
    match = replace(match, present=(you == 0 or not is_away, you == 1 or not is_away))
    match = replace(match, outcome=OutcomeInfo(you, "resign") if how == "over" else None)
    desk.after(match)
    assert len(desk.turns) == (how in ("is here", "not adjourned"))
    desk.after(Presence("m1", 1 - you, online=True))
    assert len(desk.turns) == (how != "over")


@pytest.mark.parametrize("opponent", [ANN, ZED])
def test_a_turn_shows_the_match_as_it_stands(sit: Sit, opponent: PlayerInfo) -> None:
    desk = sit(PLAN)
    desk.after(welcome(you=MAX), match_against(opponent, you=1))
    move = played("tictactoe", [4])
    desk.after(move, move, Presence("another", 0, online=False))
    (turn,) = desk.turns
    assert (turn.match.moves, turn.position.rows, turn.position.mark) == ((4,), ("...", ".X.", "..."), "O")
    assert (turn.match.opponent, turn.match.is_against_bot) == (opponent.name, opponent is ZED)
    assert desk.after(match_against(opponent, match="watched", you=None)) == []
    assert desk.bot.matches.keys() == {"m1"}


@pytest.mark.parametrize("is_winning", [True, False])
def test_a_bot_that_sees_a_win_declines_a_draw_until_it_sees_it_no_more(sit: Sit, *, is_winning: bool) -> None:
    desk = sit(PLAN, thought=Thought(4, not is_winning))
    desk.after(welcome(you=MAX), match_against(ANN, you=1))
    desk.after(played("tictactoe", [0]))
    desk.thought = Thought(1, is_winning)
    desk.after(played("tictactoe", [0, 4]), played("tictactoe", [0, 4, 8]), played("tictactoe", [0, 4, 8, 1]))
    desk.after(played("tictactoe", [0, 4, 8, 1, 7]))
    (answer,) = desk.after(Offered("m1", 7, 0, 0, "draw"))
    assert isinstance(answer, DeclineRequest if is_winning else AgreeRequest)


def test_a_bot_remembers_a_win_no_longer_than_its_match(sit: Sit) -> None:
    desk = sit(PLAN, thought=Thought(1, is_winning=True))
    desk.after(welcome(you=MAX), match_against(ANN, you=1))
    assert [type(request) for request in desk.after(played("tictactoe", [0]))] == [PlayRequest]
    desk.after(played("tictactoe", [0, 1]), Ended("m1", 4, 0, 1, "resign"))
    desk.after(match_against(ANN, match="m2"), Ended("m2", 2, 0, 1, "resign"), match_against(ANN, match="m3"))
    later = snapshot("tictactoe", [0, 4, 8, 1], you=1)
    desk.after(replace(later, players=(ANN, MAX)))
    (answer,) = desk.after(Offered("m1", later.seq + 1, 0, 0, "draw"))
    assert isinstance(answer, AgreeRequest)


@pytest.mark.parametrize("code", [Code.UNKNOWN_GAME, Code.BAD_MESSAGE, Code.ALWAYS_CASUAL])
def test_a_seek_that_can_never_be_made_ends_the_bot(sit: Sit, code: Code) -> None:
    desk = sit(PLAN)
    (seek,) = desk.after(welcome(you=MAX))
    assert desk.after(Answered(seek, Refused(0, code, "never"))) == []
    assert desk.task.done()
    assert desk.bot.farewell == Farewell(Parting.REJECTED, "never", code)


def test_nothing_is_sought_after_a_farewell(sit: Sit) -> None:
    desk = sit(PLAN)
    (seek,) = desk.after(welcome(you=MAX))
    farewell = Farewell(Parting.GIVEN_UP, "no server")
    assert desk.after(Answered(seek, Refused(0, Code.TOO_FAST, "no", 1_000)), farewell) == []


@pytest.mark.parametrize("is_waiting", [True, False])
def test_a_bot_ends_with_its_games_if_no_other_match_needs_it(sit: Sit, *, is_waiting: bool) -> None:
    desk = sit(dataclasses.replace(PLAN, games=1))
    desk.after(welcome("m1", "m2", you=MAX), match_against(ANN), Ended("m1", 2, 0, 0, "resign"))
    assert not desk.task.done(), "the other match is not shown yet"
    desk.after(match_against(ANN, match="m2", adjourned=is_waiting))
    assert desk.task.done() is is_waiting
    desk.after(Ended("m2", 2, 0, 0, "resign"))
    assert desk.task.done()


def test_a_bot_of_a_tournament_that_is_over_waits_for_matches_that_are_not_shown_yet(sit: Sit) -> None:
    desk = sit(TOURNAMENT)
    over = TournamentReply("abc", 9, "Cup", "swiss", "tictactoe", FAST, "over", 1, 1, 2, 1, 1, [], [], [], 0)
    desk.after(welcome("m1", you=MAX), over)
    assert not desk.task.done()
    desk.after(Answered(ResumeRequest(0, "m1", 0), Refused(0, Code.UNKNOWN_MATCH, "no")))
    assert desk.task.done()


CHALLENGED = Challenged(1, ANN, MAX, "tictactoe", 30_000)
ACCEPTED = AnswerRequest(0, challenge=1, accept=True)
LATER = AnswerRequest(0, challenge=1, accept=False, reason="later")


@pytest.mark.parametrize(
    ("events", "answer"),
    [
        ([], LATER),
        ([welcome("m1", you=MAX), match_against(ANN)], ACCEPTED),
        ([ChallengeOver(1, "gone")], ACCEPTED),
        ([Answered(ACCEPTED, Refused(0, Code.OPPONENT_GONE, "no"))], ACCEPTED),
        ([Answered(LATER, Refused(0, Code.OPPONENT_GONE, "no"))], LATER),
        ([match_against(ANN)], LATER),
        ([match_against(ANN, match="m2", outcome=OutcomeInfo(0, "line"))], LATER),
        ([match_against(ANN, match="m2")], LATER),
        ([match_against(ANN, match="m2"), Ended("m2", 2, 0, 0, "resign")], ACCEPTED),
    ],
)
def test_an_accepted_challenge_takes_a_place_until_its_match_begins(
    sit: Sit, events: list[object], answer: AnswerRequest
) -> None:
    desk = sit(dataclasses.replace(PLAN, places=2))
    desk.after(welcome(you=MAX), match_against(ANN))
    assert desk.after(CHALLENGED) == [ACCEPTED]
    desk.after(*events)
    assert desk.after(CHALLENGED) == [answer]


@pytest.mark.parametrize("is_open", [True, False])
def test_a_bot_seeks_again_when_an_opponent_is_gone_unless_it_does_already(sit: Sit, *, is_open: bool) -> None:
    desk = sit(PLAN)
    (seek,) = desk.after(welcome(you=MAX))
    if not is_open:
        desk.after(Answered(seek, Refused(0, Code.TOO_FAST, "no", 60_000)))
    desk.after(CHALLENGED)
    ended = match_against(ANN, match="m9", outcome=OutcomeInfo(0, "line"))
    assert desk.after(ended, Answered(ACCEPTED, Refused(0, Code.OPPONENT_GONE, "no"))) == [SEEK] * (not is_open)


def test_a_bot_seeks_when_a_match_that_it_should_resume_is_gone(sit: Sit) -> None:
    desk = sit(PLAN)
    assert desk.after(welcome("m1", you=MAX)) == []
    assert desk.after(Answered(ResumeRequest(0, "m1", 0), Refused(0, Code.UNKNOWN_MATCH, "no"))) == [SEEK]


def test_no_due_match_of_the_ladder_is_sought_while_the_last_place_is_promised(sit: Sit) -> None:
    desk = sit(dataclasses.replace(PLAN, places=2, ladder_s=20))
    desk.after(welcome(you=MAX, features=["or_casual"]))
    assert desk.after(match_against(ZED, rated=True))[0] == SEEK
    assert desk.after(CHALLENGED) == [ACCEPTED]
    assert desk.after(seconds=20) == []


def test_no_rematch_is_accepted_or_declined_while_the_last_place_is_promised(sit: Sit) -> None:
    desk = sit(PLAN)
    desk.after(welcome(you=MAX), match_against(ANN), Ended("m1", 2, 0, 0, "resign"))
    assert desk.after(CHALLENGED) == [ACCEPTED]
    assert desk.after(Offered("m1", 3, 0, 1, "rematch")) == []


def test_a_claim_that_is_refused_because_the_opponent_is_back_is_not_repeated(sit: Sit) -> None:
    desk = sit(PLAN)
    desk.after(welcome(you=MAX), match_against(ANN))
    away = AwayInfo(1, on_purpose=False, claim_in_ms=1_000)
    (claim,) = [each for each in desk.after(Presence("m1", 1, online=False, away=away)) if each != SEEK]
    assert desk.after(Presence("m1", 1, online=True), Answered(claim, Refused(0, Code.OPPONENT_HERE, "no", 500))) == []


@pytest.mark.parametrize(
    ("games", "knows", "objection", "reason"),
    [
        (["tictactoe"], True, None, None),
        (["tictactoe"], False, None, "another_game"),
        ([], False, None, "another_game"),
        (["gomoku"], True, None, "another_game"),
        ([], True, "another_time", "another_time"),
    ],
)
def test_a_plan_says_why_it_declines_a_challenge(
    games: list[str], objection: Any, reason: str | None, *, knows: bool
) -> None:
    plan = BotPlan(SeekRequest(0, games), None, 100, knows=lambda game: knows, objects=lambda challenged: objection)
    assert plan.objection(CHALLENGED) == reason


def test_a_rematch_is_accepted_instead_of_a_seek_while_a_place_is_free(sit: Sit) -> None:
    desk = sit(PLAN)
    desk.after(welcome(you=MAX), match_against(ANN))
    assert desk.after(Ended("m1", 2, 0, 0, "resign")) == [SEEK]
    agree = AgreeRequest(0, "m1", 3)
    assert desk.after(Offered("m1", 3, 0, 1, "rematch")) == [UnseekRequest(0), agree]
    assert desk.after(Answered(agree, Refused(0, Code.OPPONENT_GONE, "no"))) == [SEEK]
    assert desk.after(Offered("m1", 3, 0, 1, "rematch"), Offered("m1", 4, 0, 0, "rematch")) == [], "once, nor our own"
    desk.after(match_against(ZED, match="m2"))
    assert desk.after(Offered("m1", 5, 0, 1, "rematch")) == [], "no place is free"
