"""Play as a bot: seek, play, accept challenges and rematches, and answer offers, across reconnects and restarts.

    from ttt_net import sdk

    def choose(turn):
        return turn.legal[0]

    sdk.play(choose, "ws://localhost:8765", name="my-bot", games=["connect4"])

`Bot` is the loop of every bot: of `play`, of the client's bots, and of a server's house bots. They differ in how they
choose moves. A bot plays one match in each of its places. It thinks about one match at a time, and for a shorter time
while others wait.
"""

import asyncio
import math
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, cast

from msgspec.structs import replace

from ttt_net import messages
from ttt_net.errors import Code, Refusal
from ttt_net.sdk.received import (
    Answered,
    Back,
    ConnectionEvent,
    Farewell,
    Garbled,
    Lost,
    Parting,
    Retrying,
    Stop,
    Tally,
    follow,
)

AGAIN_MS = 2000
"""The wait before a retry if a refusal names no time."""
APOLOGY = "Sorry, my engine cannot go on. You win."
"""The chat message of a bot that has no move, before it resigns."""
MAX_EVENTS = 256
"""The capacity of a bot's queue of events; when it is full, the connection is not read."""
MOST_SOUGHT = 16
"""The games that a seek can name."""
_MARGIN_S = 0.01
_ABORTABLE_PLIES = 2
"""Matches with fewer moves can be aborted."""
_FATAL = (Code.UNKNOWN_GAME, Code.BAD_MESSAGE, Code.ALWAYS_CASUAL)
"""Refusals of a seek that would be repeated."""
_LEAST_MS = 20
_SHARE = 25
"""One move may take the time left divided by this."""
_UNDRAWN_PART, _UNDRAWN_PLIES = 3, 20
"""A bot accepts a draw once one in three cells is taken, or this ply is reached."""


class TurnClock(NamedTuple):
    """The time left to both sides when the server sent it, in milliseconds."""

    mine_ms: int
    theirs_ms: int


@dataclass(frozen=True, slots=True)
class BotGame:
    """A game as a bot sees it."""

    name: str
    title: str
    width: int
    height: int
    layers: int
    """1, except in cubes."""
    has_gravity: bool
    """Whether marks fall, so that a move is a column."""
    move_names: Sequence[str]
    """The name of every move by its number: `b2`, or in games with gravity the column, `4`."""


@dataclass(frozen=True, slots=True)
class BotMatch:
    """A match of ours."""

    id: str
    game: BotGame
    side: int
    """Our side: 0 moves first, 1 second."""
    opponent: str
    """The opponent's name."""
    is_against_bot: bool
    is_rated: bool
    level: int | None
    """Our level in this match, which the opponent may have requested; None without one."""
    moves: Sequence[int]
    """All moves so far, by number."""
    start: str | None
    """The starting position, if it is not the usual one."""


@dataclass(frozen=True, slots=True)
class BotPosition:
    """The board when it is our turn."""

    ply: int
    """The number of moves made."""
    rows: Sequence[str]
    """The rows from the top, one character per cell: `X`, `O` or `.`. A cube lists the rows of its layers in turn."""
    width: int
    height: int
    mark: str
    """Our mark."""
    legal: Sequence[int]
    """The numbers of the legal moves."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A position in which a bot is to move, and everything it may need to choose."""

    game: BotGame
    match: BotMatch
    position: BotPosition
    clock: TurnClock | None
    """The time left, or None in a match without a clock."""
    ms: int
    """The recommended maximal thinking time, in milliseconds, so that the clock lasts."""

    @property
    def legal(self) -> Sequence[int]:
        """The numbers of the legal moves; there is at least one."""
        return self.position.legal

    @property
    def names(self) -> list[str]:
        """The names of the legal moves, in the order of `legal`."""
        return [self.game.move_names[move] for move in self.legal]

    @property
    def columns(self) -> list[int]:
        """In a game with gravity, the columns with room, from 1 at the left; empty in other games."""
        return [int(name) for name in self.names if name.isdigit()] if self.game.has_gravity else []

    def move_named(self, name: str | int) -> int:
        """Return the number of a legal move by its name or column. Raises `ValueError` if there is none."""
        named = dict(zip((each.lower() for each in self.names), self.legal, strict=True))
        try:
            return named[str(name).lower()]
        except KeyError:
            raise ValueError(f"{name!r} is no legal move; legal are {', '.join(self.names[:20])}") from None


def game_of(info: messages.GameInfo) -> BotGame:
    """Convert a game of the protocol for a bot."""
    *layers, height, width = info.shape
    return BotGame(
        info.name, info.title, width, height, math.prod(layers), info.gravity, move_names=tuple(info.move_names)
    )


def _side_of(match: messages.Snapshot) -> int:
    """Return our side in a match of ours."""
    return match.you or 0


def turn_of(match: messages.Snapshot, ms: int) -> Turn:
    """Return the turn in a snapshot of our match."""
    side, game = _side_of(match), game_of(match.game)
    board, width = match.position.board, game.width
    opponent = match.players[1 - side]
    clock = None
    if match.clock is not None:
        clock = TurnClock(match.clock.remaining_ms[side], match.clock.remaining_ms[1 - side])
    return Turn(
        game,
        BotMatch(
            match.match, game, side, opponent.name, opponent.bot is not None, match.rated, match.players[side].level,
            tuple(match.moves), match.start,
        ),
        BotPosition(
            match.position.ply,
            tuple(board[at : at + width] for at in range(0, len(board), width)),
            width,
            game.height,
            match.position.marks[side],
            tuple(match.position.legal),
        ),
        clock,
        ms,
    )  # fmt: skip


class Thought(NamedTuple):
    """The chosen move, or why there is none; and whether we are winning or clearly ahead."""

    move: int | None
    is_winning: bool = False
    objection: str = ""


Think = Callable[[Turn], Awaitable[Thought]]
"""Chooses a move. It is called for one turn at a time."""


@dataclass(frozen=True, slots=True)
class BotPlan:
    """The plan of a bot: its seek, the number of games (None: without end), and its time to think."""

    seek: messages.SeekRequest
    games: int | None
    move_ms: int
    places: int = 1
    """The number of simultaneous matches."""
    pace_s: float = 0.0
    """The minimal time per move, so that people can follow."""
    ladder_s: float | None = None
    """How many seconds after the start of a rated match with a bot to seek the next one; None: never."""
    tournament: str | None = None
    """The code of a tournament; the bot plays only in it, and ends with it."""
    knows: Callable[[str], bool] = lambda game: True
    """Tells whether the bot can play a game, by name."""
    known: Sequence[str] = ()
    """The games to seek if a server has games that the bot cannot play."""
    objects: Callable[[messages.Challenged], messages.DeclineReason | None] = lambda challenged: None
    """Returns why to decline a challenge that fits our games and opponents, or None."""

    def objection(self, challenged: messages.Challenged) -> messages.DeclineReason | None:
        """Return why this bot declines a challenge, regardless of free places."""
        if self.tournament is not None:
            return "later"
        games, opponents = self.seek.games, self.seek.opponents
        if (games and challenged.game not in games) or not self.knows(challenged.game):
            return "another_game"
        if opponents != "any" and (opponents == "bots") != (challenged.by.bot is not None):
            return "no_bots" if opponents == "people" else "generic"
        return self.objects(challenged)

    def games_at(self, welcome: messages.Welcome) -> list[str]:
        """Return the games to name in a seek for any game if the server has games that the bot cannot play."""
        added = [game.name for game in welcome.games]
        playable = [name for name in added if self.knows(name)]
        return [] if len(playable) == len(added) else [*self.known, *playable][:MOST_SOUGHT]


def budget_ms(match: messages.Snapshot, side: int, move_ms: int) -> int:
    """Return the thinking time for a move of a side, at most `move_ms`, so that its clock lasts for many more moves."""
    if match.clock is None or match.time is None:
        return max(_LEAST_MS, move_ms)
    left_ms = match.clock.remaining_ms[side]
    if match.time.per_move:
        return max(_LEAST_MS, min(move_ms, left_ms // 2))
    return max(_LEAST_MS, min(move_ms, left_ms // _SHARE + match.time.increment_ms // 2))


def is_drawable(ply: int, cells: int) -> bool:
    """Tell whether enough was played for a bot to accept a draw."""
    return ply >= min(_UNDRAWN_PLIES, cells // _UNDRAWN_PART)


def _now_ms() -> int:
    return time.monotonic_ns() // 1_000_000


class ThinkQueue:
    """The queue of matches that wait for the engine, each once; the one with the least time left comes first."""

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
        """Wait for and remove a match: the one with the least time left, or of equal ones the first added."""
        await self._is_waiting.wait()
        name = min(self._names, key=left_ms)
        del self._names[name]
        if not self._names:
            self._is_waiting.clear()
        return name


class BotInbox(Protocol):
    """The queue that the connection fills."""

    async def get(self) -> object:
        """Wait for the next event of the connection, or `Stop`; a bot ignores everything else."""


class BotLink(Protocol):
    """The part of a `ClientConnection` that a bot uses."""

    async def run(self) -> None:
        """Keep the connection up."""

    def say(self, request: messages.Request) -> None:
        """Send a request. Raises `Refusal` if too many are unanswered."""


class Bot:
    """A bot; run `play` with the queue that its connection fills. Then `tally` and `farewell` hold the result."""

    def __init__(
        self,
        connection: BotLink,
        think: Think,
        plan: BotPlan,
        write: Callable[[str], None],
        *,
        noticed: Callable[[ConnectionEvent], None] = lambda event: None,
        now_ms: Callable[[], int] = _now_ms,
    ) -> None:
        """`write` is called with a line about an error, `noticed` with each event before the bot handles it."""
        self._connection = connection
        self._think = think
        self._plan = plan
        self._write = write
        self._noticed = noticed
        self._now_ms = now_ms
        self.you: messages.PlayerInfo | None = None
        """Our player, after the server's welcome."""
        self.matches: dict[str, messages.Snapshot] = {}
        """Our unfinished matches, and the one whose rematch can still be accepted."""
        self.tally = Tally()
        self.farewell: Farewell | None = None
        """The last event of the connection, once it has arrived."""
        self.queue = ThinkQueue()
        """The matches that wait for the engine."""
        self.asked: dict[str, int] = {}
        """The ply of our requested or chosen move, by match."""
        self._is_over = False
        """Whether the tournament of the plan is over."""
        self._is_seeking = False
        self._unseen: set[str] = set()
        """The unfinished matches that the server has named but not sent yet."""
        self._accepting = 0
        """Challenges that we have accepted, without a result yet."""
        self._kept = ""
        """The finished match that is kept until another one begins, so that a rematch can be accepted."""
        self._wins: set[str] = set()
        self._answered_offers: dict[str, int] = {}
        """The number of the latest answered offer, by match."""
        self._away_since_ms: dict[str, int] = {}
        self._named: list[str] = []
        """The games to seek instead of all, because the server has some that the bot cannot play."""
        self._may_ladder = False
        """Whether the server knows seeks for rated or casual matches."""
        self._ladder_from_ms = now_ms()
        """When to seek the next rated match with a bot."""

    @property
    def _is_done(self) -> bool:
        has_played = self._plan.games is not None and self.tally.games >= self._plan.games
        live = [match for match in self.matches.values() if match.outcome is None]
        is_busy = bool(self._unseen) or not all(match.adjourned for match in live)
        is_playing = bool(self._unseen or live)
        return self.farewell is not None or (has_played and not is_busy) or (self._is_over and not is_playing)

    async def play(self, inbox: BotInbox) -> None:
        """Play until the games are played, the server sends a farewell, or `Stop` is in the inbox."""
        async with asyncio.TaskGroup() as group:
            tasks = (group.create_task(self._connection.run()), group.create_task(self._think_all()))
            while not self._is_done:
                event = await inbox.get()
                if isinstance(event, Stop):
                    break
                if isinstance(event, messages.ServerMessage | Answered | Garbled | Lost | Retrying | Back | Farewell):
                    self._hear(cast(ConnectionEvent, event))
            for task in tasks:
                task.cancel()

    def _hear(self, event: ConnectionEvent) -> None:
        self._noticed(event)
        known = set(self.matches)
        self._note(event)
        match event:
            case messages.Welcome():
                self._may_ladder = "or_casual" in event.features
                self._named = self._plan.games_at(event)
                self._unseen = set(event.matches)
                self._accepting = 0
                if self._plan.tournament is not None:
                    self._say(messages.EnterRequest(0, self._plan.tournament))
                    self._say(messages.AttendRequest(0, self._plan.tournament))
            case messages.Snapshot():
                self._unseen.discard(event.match)
                if event.match not in known and event.outcome is None:
                    self._accepting = max(0, self._accepting - 1)
                    self._note_ladder(event)
                for offer in event.offers:
                    self._answer_offer(event.match, offer)
            case messages.Challenged() if self.you is not None and event.by.name != self.you.name:
                self._answer_challenge(event)
            case messages.ChallengeOver():
                self._accepting = 0
            case messages.Offered():
                self._answer_offer(event.match, messages.OfferInfo(event.side, event.kind, event.seq))
            case messages.Tookback():
                self.asked.pop(event.match, None)
            case Answered(request, messages.Refused() as refusal):
                self._refused(request, refusal)
            case Farewell():
                return
            case _:
                pass
        self._watch_absences()
        if isinstance(
            event, messages.Ended | messages.Welcome | messages.Snapshot | messages.Adjourned | messages.ChallengeOver
        ):
            self._seek()
        self._find_jobs()

    def _note(self, event: ConnectionEvent) -> None:
        """Record what an event says about us, our matches and our seek."""
        match event:
            case messages.Welcome() | messages.Renamed():
                self.you = event.you
            case Farewell():
                self.farewell = event
            case messages.Snapshot() if event.you is not None:
                kept = self.matches.get(self._kept)
                is_new = event.match not in self.matches and event.outcome is None
                if is_new:
                    self._is_seeking = False
                self._keep(event)
                if kept is None or (is_new and kept.outcome is not None):
                    self._kept = event.match
                self._forget_ended()
            case messages.TournamentReply(state="over"):
                self._is_over = True
            case messages.Presence() | messages.PlayerRenamed() if event.match in self.matches:
                self.matches[event.match] = follow(self.matches[event.match], event)
            case Answered(messages.SeekRequest(), messages.Refused(code=code)) if code != Code.NOT_SEEKING:
                self._is_seeking = False
            case Answered(messages.ResumeRequest(match=name), messages.Refused(code=Code.UNKNOWN_MATCH)):
                self.matches.pop(name, None)
            case _ if isinstance(event, messages.MatchEvent) and event.match in self.matches:
                if event.seq > self.matches[event.match].seq:
                    self._keep(follow(self.matches[event.match], event))
                self._forget_ended()
            case _:
                pass

    def _keep(self, match: messages.Snapshot) -> None:
        self.tally = self.tally.counting(self.matches.get(match.match), match)
        self.matches[match.match] = match

    def _forget_ended(self) -> None:
        self.matches = {
            name: match for name, match in self.matches.items() if name == self._kept or match.outcome is None
        }

    def _watch_absences(self) -> None:
        """Record absent opponents, and check their matches again when the grace is over."""
        live = {name: match for name, match in self.matches.items() if match.outcome is None}
        away = {name for name, match in live.items() if not match.present[1 - _side_of(match)]}
        self._away_since_ms = {name: since for name, since in self._away_since_ms.items() if name in away}
        for name in away - self._away_since_ms.keys():
            self._away_since_ms[name] = self._now_ms()
            gone = live[name].away
            if gone is not None:
                self._claim_in(gone.claim_in_ms, name)

    def _claim_in(self, wait_ms: int, name: str) -> None:
        since_ms = self._away_since_ms.get(name)
        asyncio.get_running_loop().call_later(wait_ms / 1000 + _MARGIN_S, self._end_abandoned, name, since_ms)

    def _end_abandoned(self, name: str, since_ms: int | None) -> None:
        """Claim a match whose opponent has been away since then: a win if rated, a draw if casual."""
        if since_ms is None or self._away_since_ms.get(name) != since_ms:
            return
        match = self.matches[name]
        if not match.adjourned:
            kind: messages.ClaimKind = "win" if match.rated or match.tournament is not None else "draw"
            self._say(messages.ClaimRequest(0, match=name, kind=kind))

    def _seek(self) -> None:
        """Look for an opponent while a place is free."""
        if self._is_seeking or self._free_places <= 0 or self._plan.tournament is not None:
            return
        self._is_seeking = True
        self._say(self._wanted)

    @property
    def _wanted(self) -> messages.SeekRequest:
        """The seek that is due now; for a match of the ladder, it also accepts bots, and is rated only against them."""
        seek = self._plan.seek
        if not seek.games:
            seek = replace(seek, games=self._named)
        if self._plan.ladder_s is None or not self._may_ladder or self._now_ms() < self._ladder_from_ms:
            return seek
        return replace(
            seek, rated=True, or_casual=True, opponents="any" if seek.opponents == "people" else seek.opponents
        )

    def _note_ladder(self, match: messages.Snapshot) -> None:
        """Postpone the next match of the ladder if this is one, and renew the open seek."""
        if self._plan.ladder_s is None or not match.rated or match.players[1 - _side_of(match)].bot is None:
            return
        self._ladder_from_ms = self._now_ms() + int(self._plan.ladder_s * 1000)
        asyncio.get_running_loop().call_later(self._plan.ladder_s + _MARGIN_S, self._seek_ladder)

    def _seek_ladder(self) -> None:
        if self._is_seeking and self._free_places > 0:
            self._say(self._wanted)

    @property
    def _free_places(self) -> int:
        """How many more matches we may begin now; an adjourned one occupies no place."""
        if self._is_done:
            return 0
        live = {name for name, match in self.matches.items() if match.outcome is None and not match.adjourned}
        busy = len(live | self._unseen) + self._accepting
        free = self._plan.places - busy
        return free if self._plan.games is None else min(free, self._plan.games - self.tally.games - busy)

    def _answer_challenge(self, challenged: messages.Challenged) -> None:
        """Accept a suitable challenge if a place is free."""
        reason = self._plan.objection(challenged) or (None if self._free_places > 0 else "later")
        if reason is None:
            self._accepting += 1
            self._say(messages.AnswerRequest(0, challenge=challenged.challenge, accept=True))
        else:
            self._say(messages.AnswerRequest(0, challenge=challenged.challenge, accept=False, reason=reason))

    def _find_jobs(self) -> None:
        """Start the engine on every match in which it is our turn, once each."""
        self.asked = {name: ply for name, ply in self.asked.items() if name in self.matches}
        self._wins &= self.matches.keys()
        self._answered_offers = {name: seq for name, seq in self._answered_offers.items() if name in self.matches}
        for name, match in self.matches.items():
            ply = match.position.ply
            is_waiting = match.adjourned and not match.present[1 - _side_of(match)]
            is_ours = match.position.to_move == match.you and match.outcome is None and not is_waiting
            if is_ours and self.asked.get(name) != ply:
                self.asked[name] = ply
                self.queue.add(name)

    async def _think_all(self) -> None:
        while True:
            name = await self.queue.next(self._left_ms)
            match = self.matches.get(name)
            if match is None or match.position.to_move != match.you:
                continue
            thought = await self._think(turn_of(match, self.budget_ms(match)))
            await asyncio.sleep(self._plan.pace_s)
            if not self._still_stands(name, match.moves):
                continue
            if thought.move is None:
                self._leave(name, match.position.ply, thought.objection)
                continue
            (self._wins.add if thought.is_winning else self._wins.discard)(name)
            self._say(messages.PlayRequest(0, match=name, ply=match.position.ply, move=thought.move))

    def _leave(self, name: str, ply: int, reason: str) -> None:
        """End a match that cannot be continued, and send the reason to our operator and our opponent."""
        self._write(f"Leaving the match: {reason}.")
        if ply < _ABORTABLE_PLIES:
            self._say(messages.AbortRequest(0, match=name))
            return
        self._say(messages.ChatRequest(0, match=name, text=APOLOGY))
        self._say(messages.ResignRequest(0, match=name))

    def _still_stands(self, name: str, moves: Sequence[int]) -> bool:
        """Tell whether it is our turn in the match after exactly these moves."""
        match = self.matches.get(name)
        return match is not None and match.outcome is None and match.moves == moves

    def budget_ms(self, match: messages.Snapshot) -> int:
        """Return the thinking time for a move, so that the clock lasts and no opponent waits too long."""
        return budget_ms(match, _side_of(match), self._plan.move_ms // (1 + len(self.queue)))

    def _left_ms(self, name: str) -> float:
        """Return the time on our clock, by which matches are prioritized."""
        match = self.matches.get(name)
        return math.inf if match is None or match.clock is None else match.clock.remaining_ms[_side_of(match)]

    def _answer_offer(self, name: str, offer: messages.OfferInfo) -> None:
        """Accept or decline an offer of the opponent, once; a rematch without a free place stays open."""
        match = self.matches.get(name)
        if match is None or offer.side == match.you or self._answered_offers.get(name, 0) >= offer.seq:
            return
        match offer.kind:
            case "draw":
                accepts = is_drawable(match.position.ply, len(match.position.board)) and name not in self._wins
            case "takeback":
                accepts = match.players[offer.side].bot is None  # only people may take back slips
            case "rematch":
                accepts = self._free_places > 0
                if not accepts:
                    return
                if self._is_seeking and self._free_places == 1:
                    self._is_seeking = False
                    self._say(messages.UnseekRequest(0))
        self._answered_offers[name] = offer.seq
        answer = (
            messages.AgreeRequest(0, name, offer.seq)
            if accepts
            else messages.DeclineRequest(0, name, offer.kind, offer.seq)
        )
        self._say(answer)

    def _refused(self, request: messages.Request, refusal: messages.Refused) -> None:
        """React to a refusal; most need no reaction, because later events bring the current state."""
        loop = asyncio.get_running_loop()
        wait_s = (refusal.retry_after_ms or AGAIN_MS) / 1000
        match request:
            case messages.SeekRequest() if refusal.code in _FATAL:
                self.farewell = Farewell(Parting.REJECTED, refusal.message, refusal.code)
            case messages.SeekRequest():
                if refusal.code == Code.TOO_MANY_MATCHES:
                    self._claim_oldest()
                loop.call_later(wait_s, self._seek)
            case messages.EnterRequest() if refusal.code in (Code.TOO_FAST, Code.RESTARTING, Code.STORAGE):
                loop.call_later(wait_s, self._say, request)
            case messages.EnterRequest() if refusal.code != Code.TOURNAMENT_OVER:
                self.farewell = Farewell(Parting.REJECTED, refusal.message, refusal.code)
            case messages.AttendRequest():
                loop.call_later(wait_s, self._say, request)
            case messages.ResumeRequest():
                self._unseen.discard(request.match)
                self._seek()
            case messages.AgreeRequest():
                self._seek()
            case messages.AnswerRequest():
                self._accepting = max(0, self._accepting - request.accept)
                self._seek()
            case messages.ClaimRequest() if refusal.retry_after_ms is not None:  # the server's clock is behind ours
                self._claim_in(refusal.retry_after_ms, request.match)
            case messages.PlayRequest() if refusal.code == Code.ADJOURNED:
                self.asked.pop(request.match, None)
            case messages.PlayRequest(match=name) if refusal.code == Code.STORAGE and name in self.matches:
                loop.call_later(wait_s, self._play_again, request, self.matches[name].moves)
            case _:
                pass

    def _claim_oldest(self) -> None:
        """Make room by claiming the match whose opponent has been away the longest."""
        away = [name for name in self._away_since_ms if not self.matches[name].adjourned]
        if away:
            oldest = min(away, key=lambda name: self._away_since_ms[name])
            self._end_abandoned(oldest, self._away_since_ms[oldest])

    def _play_again(self, play: messages.PlayRequest, moves: Sequence[int]) -> None:
        if self._still_stands(play.match, moves):
            self._say(play)

    def _say(self, request: messages.Request) -> None:
        try:
            self._connection.say(request)
        except Refusal as refusal:
            self._write(f"{refusal}.")
