"""One refereed play, as a state machine: a request and a time go in, facts come out. Knows no socket and no disk.

The laws:

- `decide` changes nothing; it returns the facts that a request leads to, or raises `Refusal`.
- `evolve` applies a fact that has been written down; it never refuses. A match *is* its list of facts.
- Facts are numbered from 1 without a gap, and the first is `Started`.
- The same move again (same side, ply and move) leads to no new fact and is no error.

::

    live --- Played, Tookback, Adjourned --- Ended (line, draw, resign, time, abandon, abort, agreement)
    over --- Offered(rematch) from both --- Rematched

Who is away, and since when, is of the moment and no fact: see `absence`.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from msgspec.structs import replace as restruct

from ttt_net import messages as wire
from ttt_net.absence import Absences
from ttt_net.clock import SIDES, Clock
from ttt_net.description import describe_game, describe_position
from ttt_net.errors import Code, Refusal
from ttt_net.games import Game, Outcome, Reason, Side, find_game
from ttt_net.games.notation import read_start

Command = wire.Play | wire.Resign | wire.Abort | wire.Offer | wire.Decline | wire.Claim
"""What can be asked of a match."""

_MOVING = wire.Played | wire.Tookback
"""The facts that change the position."""
OPENING_PLIES = 2
"""Until both have moved once, nobody is charged time and either may abort."""
MAX_TAKEBACKS = 50
"""Take-backs of one match: two who agree to them without end would let it grow without end."""


class Match:
    """A live or finished play: the rules, the facts so far, the clock, the offers and the outcome."""

    def __init__(self, started: wire.Started) -> None:
        """Begin with the first fact; an unknown game or an impossible start raises `Refusal`."""
        self.id = started.match
        self.players = started.players
        self.previous = started.previous
        self.is_private = started.private
        self.is_rated = started.rated
        self.score = started.score
        self.code = started.code
        self.time = started.time
        self.game: Game[Any] = find_game(started.game)
        self.start = started.start
        self.state: Any = self.game.initial if started.start is None else read_start(self.game, started.start)
        self.clock = None if started.time is None else Clock.fresh(started.time)
        self.outcome: Outcome | None = None
        self.is_adjourned = False
        self.next: str | None = None
        self.offers: set[tuple[Side, wire.OfferKind]] = set()
        self._turned_down: set[tuple[Side, wire.OfferKind]] = set()
        self.facts: list[wire.Fact] = [started]
        self.moves: list[tuple[Side, int]] = []
        self._before: list[Any] = []
        """The position before each move, for taking it back."""
        self._foreseen: tuple[int, Any] | None = None
        """A move that was decided in this position, and the position after it."""
        self._takebacks = 0
        self.absences = Absences(started.time)

    @classmethod
    def from_facts(cls, facts: Iterable[wire.Fact]) -> "Match":
        """Return the match that these facts are, with its clock halted as the last of them left it."""
        first, *rest = facts
        assert isinstance(first, wire.Started), "the first fact of a match is Started"
        match = cls(first)
        for fact in rest:
            match.evolve(fact)
        if match.clock:
            match.clock = replace(match.clock, running=None)
        return match

    @property
    def seq(self) -> int:
        """The number of the newest fact."""
        return len(self.facts)

    @property
    def is_over(self) -> bool:
        """Whether the match has ended."""
        return self.outcome is not None

    @property
    def to_move(self) -> Side | None:
        """The side whose turn it is, or None when the match is over."""
        return None if self.is_over else self.game.to_move(self.state)

    def decide(self, side: Side | None, command: Command, now_ms: int, lag_ms: int = 0) -> list[wire.Fact]:
        """Return the facts that `command` of `side` (None: somebody who is not seated) leads to; may be none.

        `lag_ms` is what the command spent on the network. Raises `Refusal`; in every case nothing has changed yet.
        """
        if side is None:
            raise Refusal(Code.NOT_SEATED, f"you are not a player of match {self.id}; nothing was changed")
        match command:
            case wire.Play():
                return self._play(side, command, now_ms, lag_ms)
            case wire.Resign():
                self._must_be_live()
                return [self._ended(1, Outcome(1 - side, Reason.RESIGN), now_ms, self.clock)]
            case wire.Abort():
                return self._abort(now_ms)
            case wire.Offer():
                return self._offer(side, command.kind, now_ms)
            case wire.Decline():
                return self._decline(side, command.kind, now_ms)
            case wire.Claim():
                return self._claim(side, command.kind, now_ms)

    def flag(self, now_ms: int) -> list[wire.Fact]:
        """Return the end of the match if the running side has used up its time, else nothing."""
        if self.is_over or self.clock is None or self.clock.running is None:
            return []
        side = self.clock.running
        if self.clock.left_ms(side, now_ms) > 0:
            return []
        return [self._ended(1, Outcome(1 - side, Reason.TIME), now_ms, self.clock)]

    def evolve(self, fact: wire.Fact) -> None:
        """Apply a fact that has been written down: the next one, by its number."""
        assert fact.seq == self.seq + 1, f"fact {fact.seq} after {self.seq}"
        match fact:
            case wire.Played():
                after = self._after(fact.move)
                self._before.append(self.state)
                self.state = after
                self.moves.append((fact.side, fact.move))
                if self.clock:
                    self.clock = self.clock.pressed(fact.side, fact.at_ms, fact.refunded_ms)
                self._moved_on(fact)
            case wire.Tookback():
                self.state = self._before[fact.ply]
                del self._before[fact.ply :], self.moves[fact.ply :]
                self._takebacks += 1
                self._moved_on(fact)
            case wire.Adjourned():
                self.is_adjourned = True
                self._set_clock(fact.clock, fact.at_ms)
                self.offers.clear()
            case wire.Ended():
                self.outcome = Outcome(fact.winner, Reason(fact.reason))
                self._set_clock(fact.clock, fact.at_ms)
                self.offers.clear()
            case wire.Offered():
                self.offers.add((fact.side, fact.kind))
            case wire.Declined():
                for offer in [offer for offer in self.offers if offer[1] == fact.kind]:
                    self.offers.remove(offer)
                    self._turned_down.add(offer)
            case wire.Rematched():
                self.next = fact.next
                self.offers.clear()
            case wire.Started():
                raise AssertionError("a match starts once")
        self.facts.append(fact)

    def _after(self, move: int) -> Any:  # noqa: ANN401 - of any game
        """Return the position after a move in this one; a move is decided, and then applied, at the cost of once."""
        if self._foreseen is None or self._foreseen[0] != move:
            self._foreseen = move, self.game.result(self.state, move)
        return self._foreseen[1]

    def _moved_on(self, fact: _MOVING) -> None:
        self._foreseen = None
        if fact.clock:
            self._set_clock(fact.clock, fact.at_ms)
        self.is_adjourned = False
        self.offers.clear()
        self._turned_down.clear()

    def rename(self, side: Side, name: str) -> None:
        """Let the player of `side` be called `name`: a name belongs to the player, not to the match."""
        infos = list(self.players)
        infos[side] = restruct(infos[side], name=name)
        self.players = (infos[0], infos[1])
        assert isinstance(self.facts[0], wire.Started)
        self.facts[0] = restruct(self.facts[0], players=self.players)

    def halt_clock(self, now_ms: int) -> None:
        """Let time stand still, as while both players are away."""
        if self.clock:
            self.clock = self.clock.stopped(now_ms)

    def run_clock(self, now_ms: int) -> None:
        """Let the time of the side to move run again, if it is charged at all by now."""
        if self.clock and self.clock.running is None and self._is_timed(len(self.moves)):
            self.clock = self.clock.started(self.game.to_move(self.state), now_ms)

    def told(self, fact: wire.Fact) -> wire.Fact:
        """Return the newest fact as it is told: a move carries the position that came of it."""
        return restruct(fact, position=self.position()) if isinstance(fact, _MOVING) else fact

    def tail(self, after_seq: int) -> list[wire.Fact]:
        """Return the facts after number `after_seq`, as they were told."""
        if after_seq >= self.seq:
            return []
        past = Match(self.facts[0]) if isinstance(self.facts[0], wire.Started) else self
        told: list[wire.Fact] = []
        for fact in self.facts[1:]:
            past.evolve(fact)
            if fact.seq > after_seq:
                told.append(past.told(fact))
        return told

    def position(self) -> wire.Position:
        """Return where the match stands, for a reader that knows no rules."""
        is_over = self.is_over or self.game.is_terminal(self.state)
        return describe_position(self.game, len(self.moves), self.state, is_over=is_over)

    def positions(self, ply: int, count: int) -> list[wire.Position]:
        """Return up to `count` positions of the match from `ply` on, without their legal moves; may be none."""
        end = len(self.moves)
        before = [
            restruct(describe_position(self.game, ply + number, state, is_over=False), legal=[])
            for number, state in enumerate(self._before[ply : ply + count])
        ]
        return [*before, restruct(self.position(), legal=[])] if ply <= end < ply + count else before

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
            offers=[wire.OfferInfo(side, kind) for side, kind in sorted(self.offers)],
            you=you,
            last=self.moves[-1][1] if self.moves else None,
            time=self.time,
            clock=_clock_info(self.clock, now_ms),
            outcome=self.outcome and wire.OutcomeInfo(self.outcome.winner, self.outcome.reason.value),
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
        )

    def rematch(self, now_ms: int) -> wire.Started:
        """Return the first fact of the next match of this series: the same game, the sides swapped."""
        first, second = self.players
        return wire.Started(
            match=self._next_id(),
            seq=1,
            at_ms=now_ms,
            game=self.game.name,
            players=(second, first),
            time=self.time,
            previous=self.id,
            private=self.is_private,
            rated=self.is_rated,
            score=self._score_after(),
            code=self.code,
            start=self.start,
        )

    def _score_after(self) -> tuple[float, float]:
        """Return the score of the series, this match included, as the next match begins with it: sides swapped."""
        first, second = self.score
        if self.outcome is None or self.outcome.reason is Reason.ABORT:
            return second, first
        won = 0.5 if self.outcome.winner is None else 1.0 - self.outcome.winner
        return second + 1 - won, first + won

    def _play(self, side: Side, command: wire.Play, now_ms: int, lag_ms: int) -> list[wire.Fact]:
        if command.ply < len(self.moves) and self.moves[command.ply] == (side, command.move):
            return []
        self._must_be_live()
        if command.ply != len(self.moves):
            raise Refusal(Code.STALE_PLY, f"that move was meant for ply {command.ply}; now it is {len(self.moves)}")
        if side != self.game.to_move(self.state):
            raise Refusal(Code.NOT_YOUR_TURN, f"it is {self.players[1 - side].name}'s turn")
        self._must_not_wait_for(1 - side)
        after = self._after(command.move)
        outcome = self.game.outcome(after)
        refund_ms = self.clock.refund_ms(side, now_ms, lag_ms) if self.clock else 0
        clock = self.clock and self.clock.pressed(side, now_ms, refund_ms)
        if clock and outcome is None and len(self.moves) + 1 >= OPENING_PLIES:
            clock = clock.started(self.game.to_move(after), now_ms)
        played = wire.Played(
            match=self.id,
            seq=self.seq + 1,
            at_ms=now_ms,
            side=side,
            ply=len(self.moves) + 1,
            move=command.move,
            refunded_ms=refund_ms,
            clock=_clock_info(clock, now_ms),
        )
        return [played] if outcome is None else [played, self._ended(2, outcome, now_ms, clock)]

    def _abort(self, now_ms: int) -> list[wire.Fact]:
        self._must_be_live()
        if len(self.moves) >= OPENING_PLIES:
            raise Refusal(Code.TOO_LATE, "both players have moved; you can resign or offer a draw")
        return [self._ended(1, Outcome(None, Reason.ABORT), now_ms, self.clock)]

    def _offer(self, side: Side, kind: wire.OfferKind, now_ms: int) -> list[wire.Fact]:
        if kind != "rematch":
            self._must_be_live()
        elif not self.is_over:
            raise Refusal(Code.MATCH_NOT_OVER, "a rematch can be offered once the match has ended")
        elif self.next is not None:
            return []
        if (side, kind) in self.offers:
            return []
        if kind == "takeback":
            self._must_not_wait_for(1 - side)
        if (1 - side, kind) in self.offers:
            return [self._agreed(1 - side, kind, now_ms)]
        if (side, kind) in self._turned_down:
            raise Refusal(Code.TURNED_DOWN, f"your offer of a {kind} was turned down or taken back")
        if kind == "takeback":
            self._ply_before_last_move(side)
            if self._takebacks >= MAX_TAKEBACKS:
                sentence = f"a match has at most {MAX_TAKEBACKS} take-backs, and this one has had them"
                raise Refusal(Code.TOO_MANY_TAKEBACKS, sentence)
        return [wire.Offered(match=self.id, seq=self.seq + 1, at_ms=now_ms, side=side, kind=kind)]

    def _agreed(self, side: Side, kind: wire.OfferKind, now_ms: int) -> wire.Fact:
        """Return the fact that follows when both want what `side` has offered."""
        if kind == "draw":
            return self._ended(1, Outcome(None, Reason.AGREEMENT), now_ms, self.clock)
        if kind == "rematch":
            return wire.Rematched(match=self.id, seq=self.seq + 1, at_ms=now_ms, next=self._next_id())
        ply = self._ply_before_last_move(side)
        clock = self.clock and self.clock.stopped(now_ms)
        if clock and clock.time.per_move:
            clock = Clock.fresh(clock.time)  # the next move has all its time, as every move has
        if clock and ply >= OPENING_PLIES:
            clock = clock.started(side, now_ms)
        return wire.Tookback(
            match=self.id,
            seq=self.seq + 1,
            at_ms=now_ms,
            side=side,
            ply=ply,
            clock=_clock_info(clock, now_ms),
        )

    def away(self, side: Side, now_ms: int) -> wire.AwayInfo | None:
        """Return how the player of `side` went, and how long his grace lasts; None if he is here."""
        absence = self.absences.of(side)
        if absence is None:
            return None
        return wire.AwayInfo(side, absence.on_purpose, max(0, absence.claim_at_ms - now_ms))

    def _ply_before_last_move(self, side: Side) -> int:
        for ply in reversed(range(len(self.moves))):
            if self.moves[ply][0] == side:
                return ply
        raise Refusal(Code.NO_MOVE, "you have not moved yet, so there is nothing to take back")

    def _claim(self, side: Side, kind: wire.ClaimKind, now_ms: int) -> list[wire.Fact]:
        self._must_be_live()
        if self.is_adjourned:
            if kind == "adjourn":
                return []
            raise Refusal(Code.ADJOURNED, "the match is adjourned; it goes on when your opponent is back")
        absence = self.absences.of(1 - side)
        if absence is None:
            raise Refusal(Code.OPPONENT_HERE, "your opponent is here; there is nothing to claim")
        if absence.claim_at_ms > now_ms:
            raise Refusal(Code.OPPONENT_HERE, "your opponent may still come back", absence.claim_at_ms - now_ms)
        if kind == "adjourn":
            if self.is_rated:
                raise Refusal(Code.ONLY_CASUAL, "a rated match is not adjourned; claim the win or a draw, or wait")
            clock = _clock_info(self.clock and self.clock.stopped(now_ms), now_ms)
            return [wire.Adjourned(match=self.id, seq=self.seq + 1, at_ms=now_ms, side=side, clock=clock)]
        winner = side if kind == "win" else None
        return [self._ended(1, Outcome(winner, Reason.ABANDON), now_ms, self.clock)]

    def _is_timed(self, ply: int) -> bool:
        return not self.is_over and not self.is_adjourned and ply >= OPENING_PLIES

    def _decline(self, side: Side, kind: wire.OfferKind, now_ms: int) -> list[wire.Fact]:
        if not any(offered == kind for _, offered in self.offers):
            raise Refusal(Code.NO_OFFER, f"there is no offer of a {kind} to decline")
        return [wire.Declined(match=self.id, seq=self.seq + 1, at_ms=now_ms, side=side, kind=kind)]

    def _must_not_wait_for(self, side: Side) -> None:
        if self.is_adjourned and self.absences.of(side):
            raise Refusal(Code.ADJOURNED, "the match is adjourned until your opponent is back")

    def _must_be_live(self) -> None:
        if self.outcome is not None:
            raise Refusal(Code.MATCH_OVER, f"match {self.id} has ended ({self.outcome.reason})")

    def _ended(self, after: int, outcome: Outcome, now_ms: int, clock: Clock | None) -> wire.Ended:
        return wire.Ended(
            match=self.id,
            seq=self.seq + after,
            at_ms=now_ms,
            winner=outcome.winner,
            reason=outcome.reason.value,
            clock=_clock_info(clock and clock.stopped(now_ms), now_ms),
        )

    def _set_clock(self, info: wire.ClockInfo | None, now_ms: int) -> None:
        if self.clock and info:
            self.clock = replace(self.clock, remaining_ms=info.remaining_ms, running=info.running, since_ms=now_ms)

    def _next_id(self) -> str:
        series, _, number = self.id.partition("-")
        return f"{series}-{int(number or 1) + 1}"


def _clock_info(clock: Clock | None, now_ms: int) -> wire.ClockInfo | None:
    return None if clock is None else wire.ClockInfo(clock.read(now_ms), clock.running)
