"""Bots beside a naive model of a server: what a bot says, and when, in any sequence of events; on simulated time."""

import asyncio
import math
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from msgspec.structs import replace

from tests.client.samples import ANN, played, position_after, snapshot, welcome
from tests.simulation.loop import SimulatedLoop
from ttt_net.clock import TimeControl
from ttt_net.errors import Code
from ttt_net.messages import (
    AddedGame,
    Adjourned,
    AgreeRequest,
    AnswerRequest,
    AnyServerMessage,
    AttendRequest,
    AwayInfo,
    Challenged,
    ChallengeOver,
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
    ResumeRequest,
    SeekRequest,
    Snapshot,
    Tookback,
    TournamentReply,
    UnseekRequest,
)
from ttt_net.sdk.bots import MOST_SOUGHT, Bot, BotPlan, Thought, Turn, budget_ms, is_drawable
from ttt_net.sdk.received import Answered, ConnectionEvent, Farewell, Parting, Tally

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
        assert not table.is_over
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
        table.is_over = True
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
                self.tell(table.snapshot())

    def pass_time(self, seconds: float) -> None:
        """Let what is due happen."""
        assert self.loop.run_until(self.loop.time() + seconds, MAX_STEPS) < MAX_STEPS
        assert self.loop.errors == []

    def settle(self) -> None:
        """Check what holds once nothing goes wrong any more."""
        self.is_kind = True
        for table in self.live:
            if table.left_at_s is not None:
                self.come_back(table)
        self.pass_time(10)
        assert self.bot.tally == self.tally
        if self.task.done():
            assert self.plan.games is not None
            assert self.tally.games >= self.plan.games
            assert all(table.is_adjourned for table in self.live), "it leaves nobody in the middle of a match"
            return
        assert [table.name for table in self.live if table.is_ours] == []
        assert not self.challenges
        assert not any(table.offers for table in self.live)
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
    """A bot of a tournament, and all that it says."""

    def __init__(self) -> None:
        self.loop = SimulatedLoop()
        self.said: list[Request] = []
        self._inbox: asyncio.Queue[Any] = asyncio.Queue()
        self.bot = Bot(self, self.think, BotPlan(SeekRequest(0), None, 100, tournament="abc"), lambda text: None)
        self.task = self.loop.create_task(self.bot.play(self._inbox))

    async def run(self) -> None:
        """Stay."""
        await asyncio.get_running_loop().create_future()

    def say(self, request: Request) -> None:
        """Keep a request."""
        self.said.append(request)

    async def think(self, turn: Turn) -> Thought:
        """Choose the first move."""
        return Thought(turn.legal[0])

    def after(self, *events: ConnectionEvent) -> list[Request]:
        """Return what the bot says within three seconds of these events."""
        self.said.clear()
        for event in events:
            self._inbox.put_nowait(event)
        self.loop.run_until(self.loop.time() + 3, MAX_STEPS)
        return list(self.said)


def test_a_bot_of_a_tournament_enters_it_seeks_nobody_and_ends_with_it() -> None:
    desk = Desk()
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


def test_a_bot_ends_if_its_tournament_refuses_it() -> None:
    desk = Desk()
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
