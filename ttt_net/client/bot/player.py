"""Play as a bot: seek, play, accept rematches, and answer draw offers by what the engine sees.

It hears and says what a person's client does; only its moves come from an engine in another process. It plays several
matches at once, one for each of its places; the engine thinks about one at a time, and the shorter the more wait.
"""

import asyncio
import math
import time
from collections.abc import Callable
from dataclasses import replace

from ttt_net.client.bot.bot_log import BotLog
from ttt_net.client.bot.engine_process import EngineProcess, Question
from ttt_net.client.bot.plan import BotPlan, budget_ms, is_drawable
from ttt_net.client.mailbox import Event, Stop, TerminalEvent, WorldEvent
from ttt_net.client.world import World, update_world
from ttt_net.errors import Code, Refusal
from ttt_net.messages import (
    AbortRequest,
    Adjourned,
    AgreeRequest,
    AnswerRequest,
    Challenged,
    ChallengeOver,
    ChatRequest,
    ClaimRequest,
    DeclineRequest,
    Ended,
    MatchEvent,
    Offered,
    OfferInfo,
    PlayRequest,
    Refused,
    Request,
    ResignRequest,
    ResumeRequest,
    SeekRequest,
    Snapshot,
    Tookback,
    UnseekRequest,
    Welcome,
)
from ttt_net.sdk.client_connection import ClientConnection
from ttt_net.sdk.received import Answered, Farewell, Parting

AGAIN_MS = 2000
"""When to ask again, if a refusal says that later is better, but not when."""
APOLOGY = "Sorry, my engine cannot go on. You win."
"""The chat message of a bot that has no move, before it resigns."""
WARMING = (
    "Warming up: the engine is being compiled, once, which takes 10 to 30 s; until then moves are found without it."
)
_MARGIN_S = 0.01
_ABORTABLE_PLIES = 2
"""With fewer moves a match can be broken off as if it had not been."""
_FATAL = (Code.UNKNOWN_GAME, Code.BAD_MESSAGE)
"""Refusals of a seek that would come again."""


def _now_ms() -> int:
    return time.monotonic_ns() // 1_000_000


class ThinkQueue:
    """The names of matches that wait for the engine, each once; the one with the least time left comes first."""

    def __init__(self) -> None:
        self._names: dict[str, None] = {}
        self._is_waiting = asyncio.Event()

    def __len__(self) -> int:
        return len(self._names)

    def add(self, name: str) -> None:
        """Add a match, if it is not waiting already."""
        self._names[name] = None
        self._is_waiting.set()

    async def next(self, left_ms: Callable[[str], float]) -> str:
        """Wait for a match and take it off; of several, the one with the least time left, then the one added first."""
        await self._is_waiting.wait()
        name = min(self._names, key=left_ms)
        del self._names[name]
        if not self._names:
            self._is_waiting.clear()
        return name


class Bot:
    """One bot; `play` it with the mailbox that the connection fills. `world` then has the tally."""

    def __init__(
        self,
        connection: ClientConnection,
        engine: EngineProcess,
        plan: BotPlan,
        write: Callable[[str], None],
        *,
        now_ms: Callable[[], int] = _now_ms,
    ) -> None:
        self.world = World(address=connection.url.removeprefix("ws://"))
        self._connection = connection
        self._engine = engine
        self._plan = plan
        self._write = write
        self._now_ms = now_ms
        self._log = BotLog(plan.hint)
        self.queue = ThinkQueue()
        """The matches that wait for the engine."""
        self.asked: dict[str, int] = {}
        """By match, the ply at which the engine is to choose our move, or has chosen it."""
        self._unseen: set[str] = set()
        """The unfinished matches that the server has named, and has not shown yet."""
        self._accepting = 0
        """Challenges that we have accepted, and of which nothing is known yet."""
        self._kept: str | None = None
        """The match that is kept when it has ended, so that a rematch can be accepted, until another one begins."""
        self._wins: set[str] = set()
        self._answered_offers: dict[str, int] = {}
        """By match, the number of the newest offer that was answered."""
        self._away_since_ms: dict[str, int] = {}

    @property
    def _is_done(self) -> bool:
        has_played = self._plan.games is not None and self.world.tally.games >= self._plan.games
        return has_played or self.world.farewell is not None

    async def play(self, mailbox: asyncio.Queue[Event]) -> None:
        """Play until the games are played, the server says farewell, or the system says stop."""
        try:
            if self._plan.has_own_engine:
                await self._engine.start()
                if self._engine.is_warming:
                    self._write(WARMING)
            async with asyncio.TaskGroup() as group:
                tasks = (group.create_task(self._connection.run()), group.create_task(self._think_all()))
                while not self._is_done:
                    event = await mailbox.get()
                    if isinstance(event, Stop):
                        break
                    if not isinstance(event, TerminalEvent):
                        self._hear(event)
                for task in tasks:
                    task.cancel()
        finally:
            if self._plan.has_own_engine:
                await self._engine.stop()

    def _hear(self, event: WorldEvent) -> None:
        before = self.world
        self.world = update_world(self.world, event, self._now_ms())
        self._forget_ended(event, before)
        if said := self._log.line_of(event, before, self.world, self._now_ms()):
            self._write(said)
        match event:
            case Welcome():
                self._unseen = set(event.matches)
                self._accepting = 0
            case Snapshot():
                self._unseen.discard(event.match)
                if event.match not in before.matches and event.outcome is None:
                    self._accepting = max(0, self._accepting - 1)
                for offer in event.offers:
                    self._answer_offer(event.match, offer)
            case Challenged() if self.world.you is not None and event.by.name != self.world.you.name:
                self._answer_challenge(event)
            case ChallengeOver():
                self._accepting = 0
            case Offered():
                self._answer_offer(event.match, OfferInfo(event.side, event.kind, event.seq))
            case Tookback():
                self.asked.pop(event.match, None)
            case Answered(request, Refused() as refusal):
                self._refused(request, refusal)
            case Farewell():
                return
            case _:
                pass
        self._watch_absences()
        if isinstance(event, Ended | Welcome | Snapshot | Adjourned | ChallengeOver):
            self._seek()
        self._find_jobs()

    def _forget_ended(self, event: WorldEvent, before: World) -> None:
        kept = before.matches.get(self._kept) if self._kept is not None else None
        if isinstance(event, Snapshot) and (kept is None or kept.outcome is not None):
            self._kept = event.match
        if isinstance(event, Snapshot | MatchEvent):
            self.world = self.world.without_ended(but=self._kept)

    def _watch_absences(self) -> None:
        """Note who is away from a match, and look at it again when their grace is over."""
        live = {name: match for name, match in self.world.matches.items() if match.outcome is None}
        away = {name for name, match in live.items() if not match.present[1 - (match.you or 0)]}
        self._away_since_ms = {name: since for name, since in self._away_since_ms.items() if name in away}
        for name in away - self._away_since_ms.keys():
            self._away_since_ms[name] = self._now_ms()
            gone = live[name].away
            if gone is not None:
                loop = asyncio.get_running_loop()
                loop.call_later(gone.claim_in_ms / 1000 + _MARGIN_S, self._end_abandoned, name)

    def _end_abandoned(self, name: str) -> None:
        """Claim a match whose opponent has not come back within their grace: a rated one is won, a casual one drawn."""
        match = self.world.matches.get(name)
        if match is not None and match.outcome is None and name in self._away_since_ms and not match.adjourned:
            self._say(ClaimRequest(0, match=name, kind="win" if match.rated else "draw"))

    def _seek(self) -> None:
        """Look for an opponent while a place is free."""
        if self.world.seeking is not None or self._free_places <= 0:
            return
        self.world = replace(self.world, seeking=self._plan.seek)
        self._say(self._plan.seek)

    @property
    def _free_places(self) -> int:
        """How many matches more we may begin now; an adjourned one takes no place."""
        if self._is_done or self.world.you is None:
            return 0
        live = {name for name, match in self.world.matches.items() if match.outcome is None and not match.adjourned}
        busy = len(live | self._unseen) + self._accepting
        free = self._plan.places - busy
        return free if self._plan.games is None else min(free, self._plan.games - self.world.tally.games - busy)

    def _answer_challenge(self, challenged: Challenged) -> None:
        """Accept whom we would play, if there is a place for them."""
        reason = self._plan.objection(challenged) or (None if self._free_places > 0 else "later")
        if reason is None:
            self._accepting += 1
            self._say(AnswerRequest(0, challenge=challenged.challenge, accept=True))
        else:
            self._say(AnswerRequest(0, challenge=challenged.challenge, accept=False, reason=reason))

    def _find_jobs(self) -> None:
        """Let the engine think about every match that waits for our move and is not thought about yet."""
        self.asked = {name: ply for name, ply in self.asked.items() if name in self.world.matches}
        self._answered_offers = {name: seq for name, seq in self._answered_offers.items() if name in self.world.matches}
        for name, match in self.world.matches.items():
            ply = match.position.ply
            is_waiting = match.adjourned and not match.present[1 - (match.you or 0)]
            is_ours = match.position.to_move == match.you and match.outcome is None and not is_waiting
            if is_ours and self.asked.get(name) != ply:
                self.asked[name] = ply
                self.queue.add(name)

    async def _think_all(self) -> None:
        while True:
            name = await self.queue.next(self._left_ms)
            match = self.world.matches.get(name)
            if match is None or match.outcome is not None or match.position.to_move != match.you:
                continue
            level = match.players[match.you or 0].level if self._plan.any_level else None
            question = Question(match.game.name, match.moves, self.budget_ms(match), match.start, level)
            thought = await self._engine.think(question)
            await asyncio.sleep(self._plan.pace_s)
            if not self._still_stands(name, question):
                continue
            if thought.move is None:
                self._leave(name, match.position.ply, thought.objection)
                continue
            (self._wins.add if thought.is_winning else self._wins.discard)(name)
            self._say(PlayRequest(0, match=name, ply=match.position.ply, move=thought.move))

    def _leave(self, name: str, ply: int, reason: str) -> None:
        """End a match that cannot be played on, with a word to who looks after us and one to who plays us."""
        self._write(f"Leaving the match: {reason}.")
        if ply < _ABORTABLE_PLIES:
            self._say(AbortRequest(0, match=name))
            return
        self._say(ChatRequest(0, match=name, text=APOLOGY))
        self._say(ResignRequest(0, match=name))

    def _still_stands(self, name: str, question: Question) -> bool:
        """Tell whether the match waits for our move where the question was asked."""
        match = self.world.matches.get(name)
        return match is not None and match.outcome is None and match.moves == question.moves

    def budget_ms(self, match: Snapshot) -> int:
        """Return how long one move may take, so that the clock lasts for many more, and nobody waits for too long."""
        return budget_ms(match, match.you or 0, self._plan.move_ms // (1 + len(self.queue)))

    def _left_ms(self, name: str) -> float:
        """Return how urgent a match is: what our clock there says."""
        match = self.world.matches.get(name)
        return math.inf if match is None or match.clock is None else match.clock.remaining_ms[match.you or 0]

    def _answer_offer(self, name: str, offer: OfferInfo) -> None:
        """Accept or decline an offer of the opponent, once; a rematch that there is no place for stays open."""
        match = self.world.matches.get(name)
        if match is None or offer.side == match.you or self._answered_offers.get(name, 0) >= offer.seq:
            return
        match offer.kind:
            case "draw":
                accepts = is_drawable(match.position.ply, len(match.position.board)) and name not in self._wins
            case "takeback":
                accepts = match.players[offer.side].bot is None  # people may slip, bots may not
            case "rematch":
                accepts = self._free_places > 0
                if not accepts:
                    return
                if self.world.seeking is not None and self._free_places == 1:
                    self.world = replace(self.world, seeking=None)
                    self._say(UnseekRequest(0))
        self._answered_offers[name] = offer.seq
        answer = AgreeRequest(0, name, offer.seq) if accepts else DeclineRequest(0, name, offer.kind, offer.seq)
        self._say(answer)

    def _refused(self, request: Request, refusal: Refused) -> None:
        """Do what a refusal leaves to be done; most need nothing, for the next events say how things stand."""
        loop = asyncio.get_running_loop()
        wait_s = (refusal.retry_after_ms or AGAIN_MS) / 1000
        match request:
            case SeekRequest() if refusal.code in _FATAL:
                self.world = replace(self.world, farewell=Farewell(Parting.REJECTED, refusal.message, refusal.code))
            case SeekRequest():
                if refusal.code == Code.TOO_MANY_MATCHES:
                    self._claim_oldest()
                loop.call_later(wait_s, self._seek)
            case ResumeRequest():
                self._unseen.discard(request.match)
                self._seek()
            case AgreeRequest():
                self._seek()
            case AnswerRequest():
                self._accepting = max(0, self._accepting - request.accept)
                self._seek()
            case ClaimRequest() if refusal.retry_after_ms is not None:  # the server's clock is behind ours
                loop.call_later(refusal.retry_after_ms / 1000 + _MARGIN_S, self._end_abandoned, request.match)
            case PlayRequest() if refusal.code == Code.ADJOURNED:
                self.asked.pop(request.match, None)
            case PlayRequest() if refusal.code == Code.STORAGE:
                loop.call_later(wait_s, self._play_again, request)
            case _:
                pass

    def _claim_oldest(self) -> None:
        """Make room by claiming the match whose opponent has been away the longest."""
        away = [name for name in self._away_since_ms if name in self.world.matches]
        if away:
            self._end_abandoned(min(away, key=lambda name: self._away_since_ms[name]))

    def _play_again(self, play: PlayRequest) -> None:
        if self.asked.get(play.match) == play.ply:
            self._say(play)

    def _say(self, request: Request) -> None:
        try:
            self._connection.say(request)
        except Refusal as refusal:
            self._write(f"{refusal}.")
