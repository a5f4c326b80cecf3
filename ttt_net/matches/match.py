"""The state of one match, which *is* its list of events. Knows no socket and no disk.

The laws:

- Events are numbered from 1 without a gap, and the first is `Started`. Only the `referee` makes them.
- `evolve` applies a journaled event; it never refuses.

::

    live --- Played, Tookback, Adjourned --- Ended (line, draw, resign, time, abandon, abort, agreement)
    over --- Offered(rematch) from both --- Rematched

Absences are not events: they end by themselves, and `Absences` counts them. A finished match is kept as a `Record`, by
`record_of`. `match_data` returns it as one flat value for other programs, which the HTTP API sends and `export` writes;
a match of a game that is not installed only has the numbers of its moves.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

from msgspec import Meta, Struct
from msgspec.structs import replace as restruct

from ttt_net import messages as wire
from ttt_net.clock import SIDES, Clock, TimeControl, grace_ms
from ttt_net.errors import Code, Refusal
from ttt_net.games import Game, Outcome, Side, find_game
from ttt_net.games.game import reason_of
from ttt_net.games.notation import read_start, write_move, write_position
from ttt_net.games.records import Record, RecordedMove, RecordedPlayer, TimeLimit, record_text, result_of
from ttt_net.matches.description import (
    MARKS,
    day_of,
    describe_clock,
    describe_game,
    describe_marks,
    describe_position,
)

_MOVING = wire.Played | wire.Tookback
"""The events that change the position."""
OPENING_PLIES = 2
"""Until both players have moved once, no clock runs and either may abort."""
CHANGE_MS = 5_000
"""A player who resumes on another connection within this time has changed devices, and was not absent."""


@dataclass(frozen=True, slots=True)
class FirstMoves:
    """The time for each player's first move in a tournament match, which the clock does not include."""

    budget_ms: int
    since_ms: int


def find_game_of(started: wire.Started) -> Game[Any]:
    """Return the game of a match. Raises `Refusal` if it is unknown or its rules have another version here."""
    game = find_game(started.game)
    if game.face.version != started.rules:
        sentence = f"the match has version {started.rules} of the rules of {game.name}; here is {game.face.version}"
        raise Refusal(Code.UNKNOWN_GAME, sentence)
    return game


class Match:
    """A live or finished match: the rules, the events so far, the clock, the offers and the outcome."""

    def __init__(self, started: wire.Started) -> None:
        """Begin with the first event.

        Raises `Refusal` if the game is unknown, its rules have another version here, or the start is impossible.
        """
        self.id = started.match
        self.players = started.players
        self.previous = started.previous
        self.is_private = started.private
        self.is_rated = started.rated
        self.score = started.score
        self.code = started.code
        self.time = started.time
        self.game: Game[Any] = find_game_of(started)
        self.start = started.start
        self.tournament = started.tournament
        self.first_moves: FirstMoves | None = None
        """When the first moves are due, in matches that enforce it."""
        self.state: Any = self.game.initial if started.start is None else read_start(self.game, started.start)
        self.clock = None if started.time is None else Clock.fresh(started.time)
        self.outcome: Outcome | None = None
        self.fault: str | None = None
        """How the rules of the game failed, if that ended the match."""
        self.is_adjourned = False
        self.next: str | None = None
        self.offers: dict[tuple[Side, wire.OfferKind], int] = {}
        """The open offers: the number of the event that made each, by side and kind."""
        self.turned_down: set[tuple[Side, wire.OfferKind]] = set()
        self.events: list[wire.MatchEvent] = [started]
        self.seq = 1
        """The number of the newest event."""
        self.moves: list[tuple[Side, int]] = []
        self._before: list[Any] = []
        """The position before each move, for taking it back."""
        self._foreseen: tuple[int, Any] | None = None
        """The move just decided in this position, and the position after it."""
        self._drawn = -2, ""
        """For a game that only adds marks, the last described board, after its number of moves."""
        self.takebacks = 0
        self.offered = [0, 0]
        """The number of draws and take-backs offered by each side."""
        self.absences = Absences(started.time)

    @classmethod
    def from_events(cls, events: Iterable[wire.MatchEvent]) -> "Match":
        """Return the match with these events, with its clock stopped as of the last one."""
        first, *rest = events
        assert isinstance(first, wire.Started), "the first event of a match is Started"
        match = cls(first)
        for event in rest:
            if isinstance(event, wire.Played):
                match.take_up()  # no event records when the players returned, but a player who moves is charged
                match.run_clock(event.at_ms)
            match.evolve(event)
        if match.clock:
            match.clock = restruct(match.clock, running=None)
        return match

    @property
    def is_over(self) -> bool:
        """Whether the match has ended."""
        return self.outcome is not None

    @property
    def to_move(self) -> Side | None:
        """The side whose turn it is, or None when the match is over."""
        return None if self.is_over else self.game.to_move(self.state)

    def next_at_ms(self, wall_ms: int) -> int:
        """Return the time of the next event: the time of day, but never before the previous event."""
        return max(wall_ms, self.events[-1].at_ms)

    def evolve(self, event: wire.MatchEvent) -> None:
        """Apply the next journaled event."""
        assert event.seq == self.seq + 1, f"event {event.seq} after {self.seq}"
        match event:
            case wire.Played():
                after = self.after(event.move)
                self._before.append(self.state)
                self.state = after
                self.moves.append((event.side, event.move))
                if self.clock and event.clock:
                    remaining_ms, running = event.clock.remaining_ms, event.clock.running
                    self.clock = self.clock.moved(event.side, event.refunded_ms, remaining_ms, running, event.at_ms)
                self._moved_on()
            case wire.Tookback():
                self.state = self._before[event.ply]
                del self._before[event.ply :], self.moves[event.ply :]
                self._drawn = -2, ""
                self.takebacks += 1
                self._set_clock(event.clock, event.at_ms)
                self._moved_on()
            case wire.Adjourned():
                self.is_adjourned = True
                self._set_clock(event.clock, event.at_ms)
                self.offers.clear()
            case wire.Ended():
                self.outcome, self.fault = Outcome(event.winner, reason_of(event.reason)), event.fault
                self._set_clock(event.clock, event.at_ms)
                self.offers.clear()
            case wire.Offered():
                self.offers[event.side, event.kind] = event.seq
                self.offered[event.side] += event.kind != "rematch"
            case wire.Declined():
                for offer in [offer for offer in self.offers if offer[1] == event.kind]:
                    del self.offers[offer]
                    self.turned_down.add(offer)
            case wire.Rematched():
                self.next = event.next
                self.offers.clear()
            case wire.Started():
                raise AssertionError("a match starts once")
        self.events.append(event)
        self.seq = event.seq

    def after(self, move: int) -> Any:  # noqa: ANN401 - of any game
        """Return the position after a move; deciding and then applying a move computes it only once."""
        if self._foreseen is None or self._foreseen[0] != move:
            self._foreseen = move, self.game.advance(self.state, move)
        return self._foreseen[1]

    def _moved_on(self) -> None:
        self._foreseen = None
        self.is_adjourned = False
        self.offers.clear()
        self.turned_down.clear()

    def rename(self, side: Side, name: str) -> None:
        """Set the name of the player of `side`: a name belongs to the player, not to the match."""
        infos = list(self.players)
        infos[side] = restruct(infos[side], name=name)
        self.players = (infos[0], infos[1])
        assert isinstance(self.events[0], wire.Started)
        self.events[0] = restruct(self.events[0], players=self.players)

    def halt_clock(self, now_ms: int) -> None:
        """Stop the clock, for example while both players are away."""
        if self.clock:
            self.clock = self.clock.stopped(now_ms)

    def run_clock(self, now_ms: int) -> None:
        """Start the clock of the side to move, if both players have moved and the match is live."""
        if self.clock and self.clock.running is None and self._is_timed:
            self.clock = self.clock.started(self.game.to_move(self.state), now_ms)

    def take_up(self) -> None:
        """End an adjournment because both players are connected."""
        self.is_adjourned = False

    def count_from(self, now_ms: int) -> None:
        """Start the running clock now, when its player is notified, instead of at the decision."""
        if self.clock and self.clock.running is not None:
            self.clock = restruct(self.clock, since_ms=now_ms)
        if self.first_moves is not None:
            self.first_moves = replace(self.first_moves, since_ms=now_ms)

    @property
    def first_move_due_ms(self) -> int | None:
        """The deadline of the first move of the side to move; None without one."""
        if self.first_moves is None or self.is_over or len(self.moves) >= OPENING_PLIES:
            return None
        return self.first_moves.since_ms + self.first_moves.budget_ms

    def told(self, event: wire.MatchEvent) -> wire.MatchEvent:
        """Return the newest event as sent to clients: a move includes the position after it."""
        return restruct(event, position=self.position()) if isinstance(event, _MOVING) else event

    def tail(self, after_seq: int) -> list[wire.MatchEvent]:
        """Return the events after number `after_seq` as they were sent."""
        if after_seq >= self.seq:
            return []
        first, *rest = self.events
        assert isinstance(first, wire.Started), "the first event of a match is Started"
        past = Match(first)
        told: list[wire.MatchEvent] = []
        for event in rest:
            past.evolve(event)
            if event.seq > after_seq:
                told.append(past.told(event))
        return told

    def position(self) -> wire.Position:
        """Return the current position, for clients without rules."""
        game, state, ply = self.game, self.state, len(self.moves)
        is_over = self.outcome is not None or game.is_terminal(state)
        if is_over or not game.only_adds_marks:
            return describe_position(game, ply, state, is_over=is_over)
        drawn_ply, board = self._drawn
        if drawn_ply == ply - 1:
            side, cell = self.moves[-1]
            board = board[:cell] + MARKS[side] + board[cell + 1 :]
        elif drawn_ply != ply:
            board = game.board(state)
        self._drawn = ply, board
        return describe_marks(game, ply, state, board)

    def positions(self, ply: int, count: int, *, has_legal: bool = False) -> list[wire.Position]:
        """Return up to `count` positions of the match from `ply` on, without or with legal moves; may be none."""
        end = len(self.moves)
        states = enumerate(self._before[ply : ply + count])
        found = [describe_position(self.game, ply + number, state, is_over=False) for number, state in states]
        found += [self.position()] * (ply <= end < ply + count)
        return found if has_legal else [restruct(each, legal=[], takeover=None) for each in found]

    def starts(self, ply: int, count: int) -> list[str]:
        """Return up to `count` positions from `ply` on as starts of new matches; empty where none can begin."""
        game, states = self.game, [*self._before, self.state][ply : ply + count]
        texts = ("" if game.is_terminal(state) else write_position(game, state) for state in states)
        return [text if len(text) <= wire.MAX_POSITION_LENGTH else "" for text in texts]

    def snapshot(self, you: Side | None, present: tuple[bool, bool], now_ms: int, watchers: int = 0) -> wire.Snapshot:
        """Return the whole match as `you` may see it (None: a watcher)."""
        return wire.Snapshot(
            match=self.id,
            seq=self.seq,
            game=describe_game(self.game.name),
            players=self.players,
            present=present,
            moves=[move for _, move in self.moves],
            position=self.position(),
            offers=[wire.OfferInfo(side, kind, seq) for (side, kind), seq in sorted(self.offers.items())],
            you=you,
            last=self.moves[-1][1] if self.moves else None,
            time=self.time,
            clock=describe_clock(self.clock, now_ms),
            outcome=self.outcome and wire.OutcomeInfo(self.outcome.winner, str(self.outcome.reason), self.fault),
            adjourned=self.is_adjourned,
            private=self.is_private,
            watchers=watchers,
            away=next((away for side in SIDES if side != you and (away := self.away(side, now_ms))), None),
            previous=self.previous,
            next=self.next,
            rated=self.is_rated,
            score=self.score,
            code=None if you is None else self.code,
            start=self.start,
            tournament=self.tournament,
        )

    def away(self, side: Side, now_ms: int) -> wire.AwayInfo | None:
        """Return how the player of `side` left, and the rest of their grace; None if they are connected."""
        absence = self.absences.of(side)
        if absence is None:
            return None
        return wire.AwayInfo(side, absence.on_purpose, absence.left_ms(now_ms))

    def is_abandoned(self, now_ms: int) -> bool:
        """Tell whether the match is abandoned: both players are away, or one for longer than their grace."""
        if not self.absences:
            return False
        absences = [self.absences.of(side) for side in SIDES]
        return all(absences) or any(absence is not None and not absence.left_ms(now_ms) for absence in absences)

    @property
    def _is_timed(self) -> bool:
        return not self.is_over and not self.is_adjourned and len(self.moves) >= OPENING_PLIES

    def _set_clock(self, info: wire.ClockInfo | None, now_ms: int) -> None:
        if self.clock and info:
            self.clock = restruct(self.clock, remaining_ms=info.remaining_ms, running=info.running, since_ms=now_ms)


def record_of(events: Iterable[wire.MatchEvent]) -> Record:
    """Return the record of the match with these events, without moves that were taken back.

    It replays nothing, because the referee decided these events. Raises `Refusal` if its game is unknown.
    """
    started, *rest = events
    assert isinstance(started, wire.Started), "the first event of a match is Started"
    moves: list[RecordedMove] = []
    outcome: Outcome | None = None
    for event in rest:
        if isinstance(event, wire.Played):
            moves.append(RecordedMove(event.move, event.clock.remaining_ms[event.side] if event.clock else None))
        elif isinstance(event, wire.Tookback):
            del moves[event.ply :]
        elif isinstance(event, wire.Ended):
            outcome = Outcome(event.winner, reason_of(event.reason))
    first, second = (RecordedPlayer(player.name, player.bot) for player in started.players)
    return Record(
        game=find_game(started.game).name,
        players=(first, second),
        moves=tuple(moves),
        outcome=outcome,
        event=started.match,
        date=day_of(started.at_ms),
        time=time_limit(started.time),
        start=started.start,
    )


def time_limit(time: TimeControl | None) -> TimeLimit | None:
    """Return a time control in the form of records."""
    if time is None:
        return None
    return TimeLimit(time.initial_ms, 0 if time.per_move else time.increment_ms, per_move=time.per_move)


@dataclass(frozen=True, slots=True)
class Absence:
    """A player's absence, and the rest of their grace."""

    on_purpose: bool
    grace_ms: int
    """The rest of the grace when the absence last began to count, or stopped counting; below 0 after its end."""
    counts_since_ms: int | None
    """Since when the absence counts; None while the other player is away too."""
    went_ms: int
    is_replaced: bool
    """Whether the player's own new connection replaced the one that ended."""

    def left_ms(self, now_ms: int) -> int:
        """Return the rest of the grace; the other player can claim the match once it is 0."""
        return max(0, self.rest_ms(now_ms))

    def rest_ms(self, now_ms: int) -> int:
        """Return the rest of the grace, below 0 by the time that has passed since its end."""
        spent_ms = 0 if self.counts_since_ms is None else max(0, now_ms - self.counts_since_ms)
        return self.grace_ms - spent_ms

    @property
    def claim_at_ms(self) -> int | None:
        """When the grace ends; None while both players are away."""
        return None if self.counts_since_ms is None else self.counts_since_ms + self.grace_ms


class Absences:
    """The absences of both players of a match, and the grace of each.

    An absence counts only while the other player is connected. While both are away, no time passes.
    """

    def __init__(self, time: TimeControl | None) -> None:
        self._time = time
        self._away: dict[int, Absence] = {}
        self._counts = [0, 0]

    def expect(self, side: int, abandoned: int) -> None:
        """Reduce the grace of the player of `side` by the number of matches that they recently abandoned."""
        self._counts[side] += abandoned

    def __bool__(self) -> bool:
        return bool(self._away)

    def of(self, side: int) -> Absence | None:
        """Return the absence of `side`, or None if they are connected."""
        return self._away.get(side)

    def went(self, side: int, now_ms: int, *, on_purpose: bool, is_replaced: bool = False) -> None:
        """Begin the absence of `side`.

        `is_replaced`: the player's own new connection replaced this one. If they resume on it within `CHANGE_MS`, the
        absence does not count.
        """
        grace = grace_ms(self._time, on_purpose=on_purpose, earlier=self._counts[side])
        self._away[side] = Absence(on_purpose, grace, now_ms, now_ms, is_replaced)
        self._counts[side] += 1
        if len(self._away) == len(SIDES):
            for each, absence in self._away.items():
                self._away[each] = replace(absence, grace_ms=absence.rest_ms(now_ms), counts_since_ms=None)

    def returned(self, side: int, now_ms: int) -> None:
        """End the absence of `side`; if the other player is away, that absence counts from now on."""
        absence = self._away.pop(side, None)
        if absence is None:
            return
        if absence.is_replaced and now_ms - absence.went_ms <= CHANGE_MS:
            self._counts[side] -= 1
        other = self._away.get(1 - side)
        if other is not None:
            self._away[1 - side] = replace(other, counts_since_ms=now_ms)


Milliseconds = Annotated[int, Meta(ge=0, le=253_402_300_799_999)]
"""Up to the end of the year 9999, the latest moment that every format of an export can express."""


class MatchData(Struct, frozen=True, omit_defaults=True):
    """A finished match. Times of day are milliseconds since 1970 in UTC.

    `players` are by side, with their ratings at the start. `winner` is a side, null for draws and aborted matches.
    `moves` are the numbers of the protocol, without those that were taken back; `written` are the same for people,
    absent if the game is not installed. `times_ms` are from the start to each move. `clocks_ms` are the time left to
    its player after it, absent without a clock. `start` is the first position, if not the usual one; `previous` is the
    match of which this is the rematch.
    """

    match: str
    game: str
    players: tuple[wire.PlayerInfo, wire.PlayerInfo]
    started_ms: Milliseconds
    ended_ms: Milliseconds
    winner: Annotated[int, Meta(ge=0, le=1)] | None
    reason: str
    moves: list[wire.MoveNumber]
    times_ms: list[Milliseconds]
    written: list[str] | None = None
    clocks_ms: list[Milliseconds] | None = None
    time: TimeControl | None = None
    rated: bool = False
    start: str | None = None
    previous: str | None = None

    @property
    def cursor(self) -> str:
        """The position of the match in the order of all ends; the API continues after it."""
        return f"{self.ended_ms}-{self.match}"


def match_data(events: Iterable[wire.MatchEvent]) -> MatchData:
    """Return the data of the finished match with these events, without replaying it: a referee decided the events."""
    started, *rest = events
    assert isinstance(started, wire.Started), "the first event of a match is Started"
    moves: list[int] = []
    times_ms: list[int] = []
    clocks_ms: list[int | None] = []
    ended: wire.Ended | None = None
    for event in rest:
        if isinstance(event, wire.Played):
            moves.append(event.move)
            times_ms.append(max(0, event.at_ms - started.at_ms))
            clocks_ms.append(None if event.clock is None else event.clock.remaining_ms[event.side])
        elif isinstance(event, wire.Tookback):
            del moves[event.ply :], times_ms[event.ply :], clocks_ms[event.ply :]
        elif isinstance(event, wire.Ended):
            ended = event
    assert ended is not None, "a finished match has an end"
    clocks = [clock_ms for clock_ms in clocks_ms if clock_ms is not None]
    return MatchData(
        match=started.match,
        game=started.game,
        players=started.players,
        started_ms=started.at_ms,
        ended_ms=ended.at_ms,
        winner=ended.winner,
        reason=ended.reason,
        moves=moves,
        times_ms=times_ms,
        written=written_moves(started, moves),
        clocks_ms=clocks if started.time is not None and len(clocks) == len(moves) else None,
        time=started.time,
        rated=started.rated,
        start=started.start,
        previous=started.previous,
    )


def written_moves(started: wire.Started, moves: Sequence[int]) -> list[str] | None:
    """Return moves in notation; None if the game is not installed with these rules, or lacks one of the moves."""
    try:
        game = find_game_of(started)
        return [write_move(game, move) for move in moves]
    except (Refusal, IndexError):
        return None


def write_text(match: MatchData) -> str:
    """Return the match as a record; moves of a game that is not installed appear as numbers."""
    first, second = match.players
    outcome = Outcome(match.winner, reason_of(match.reason))
    names = map(str, match.moves) if match.written is None else match.written
    clocks = [None] * len(match.moves) if match.clocks_ms is None else match.clocks_ms
    return record_text(
        game=match.game,
        event=match.match,
        date=day_of(match.started_ms),
        players=((first.name, first.bot), (second.name, second.bot)),
        time=time_limit(match.time),
        start=match.start,
        result=result_of(outcome),
        reason=match.reason,
        moves=((name, clock_ms, "") for name, clock_ms in zip(names, clocks, strict=True)),
    )
