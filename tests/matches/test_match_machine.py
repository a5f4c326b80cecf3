"""A match beside the simplest model of one: a board, whose turn, what is left on the clocks, who is away."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from ttt_net import messages as wire
from ttt_net.clock import TimeControl, grace_ms
from ttt_net.errors import Code, Refusal
from ttt_net.games import Reason
from ttt_net.matches.match import Match
from ttt_net.matches.referee import Command, decide, flag_fall, forsaken

SECOND = 1_000
LINES = [{0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {0, 3, 6}, {1, 4, 7}, {2, 5, 8}, {0, 4, 8}, {2, 4, 6}]
SIDES = st.integers(0, 1)


CLOCKS = [
    None,
    TimeControl(initial_ms=60 * SECOND),
    TimeControl(initial_ms=60 * SECOND, increment_ms=2 * SECOND),
    TimeControl(initial_ms=30 * SECOND, per_move=True),
]
LONG_GRACES, SHORT_GRACES = (60_000, 30_000, 15_000, 7_500, 5_000), (15_000, 7_500, 5_000)
"""The graces of the first absences of a player without a clock: after a lost link, and after leaving on purpose."""
FREED_AFTER_MS = 2_000


def literal_grace_ms(time: TimeControl | None, number: int, *, on_purpose: bool) -> int:
    """Return the grace of an absence by literal numbers: of the first two clocks, 10 s and 5 s."""
    graces: tuple[int, ...] = (10_000, 5_000) if time else LONG_GRACES
    if on_purpose:
        graces = (5_000,) if time else SHORT_GRACES
    return graces[min(number, len(graces) - 1)]


@dataclass
class Gone:
    """An absence, as the model has it."""

    grace_ms: int
    on_purpose: bool
    is_replaced: bool
    counted_ms: int = 0
    lasted_ms: int = 0


class Play(RuleBasedStateMachine):
    """Tic-tac-toe between a person and a person or bot, beside a ledger that knows no `Clock` and no `Absences`.

    The ledger charges each millisecond of play to one side or to nobody: to the side to move if both have moved, the
    match is live and not adjourned, and a player is here.
    """

    @initialize(
        time=st.sampled_from(CLOCKS),
        is_rated=st.booleans(),
        has_bot=st.booleans(),
        opening=st.sampled_from([0, 2, 3, 4, 5]),
    )
    def start(self, time: TimeControl | None, is_rated: bool, has_bot: bool, opening: int) -> None:
        players = (wire.PlayerInfo("Ann"), wire.PlayerInfo("Bob", "random" if has_bot else None))
        self.match = Match(wire.Started("m", 1, 0, "tictactoe", players, time, rated=is_rated))
        self.time, self.is_rated, self.has_bot, self.now_ms = time, is_rated, has_bot, 0
        self.moves: list[int] = []
        self.offers: set[tuple[int, str]] = set()
        self.away: dict[int, Gone] = {}
        self.absences = [0, 0]
        self.is_over = self.is_adjourned = False
        self.left = [time.initial_ms if time else 0] * 2
        self.quota = [500, 500]
        self.spent_ms = 0
        """How long the clock has run since it was started last."""
        self.written = tuple(self.left)
        """The clock as the last event has it."""
        for ply, cell in enumerate([0, 1, 4, 2, 3][:opening]):
            told = self.ask(ply % 2, wire.PlayRequest(1, "m", ply, cell))
            assert isinstance(told, list)
            self.press(ply % 2 if ply >= 2 else None, 0)
            self.moves.append(cell)
        self.note_clock()

    def cells(self, side: int) -> set[int]:
        return set(self.moves[side::2])

    def charged(self) -> int | None:
        """Return the side whose time runs, by the law of clocks."""
        runs = self.time and len(self.moves) >= 2 and not self.is_over and not self.is_adjourned and len(self.away) < 2
        return len(self.moves) % 2 if runs else None

    def pass_time(self, later_ms: int) -> None:
        self.now_ms += later_ms
        side = self.charged()
        if side is not None:
            self.left[side] = max(0, self.left[side] - later_ms)
            self.spent_ms += later_ms
        for gone in self.away.values():
            gone.lasted_ms += later_ms
            if len(self.away) == 1:
                gone.counted_ms += later_ms

    def ask(self, side: int, command: Command, lag_ms: int = 0) -> list[wire.MatchEvent] | Code:
        """Decide and apply as a room does."""
        try:
            events = decide(self.match, side, command, self.now_ms, lag_ms)
        except Refusal as refusal:
            return refusal.code
        self.apply(events)
        return events

    def apply(self, events: list[wire.MatchEvent]) -> None:
        for event in events:
            self.match.evolve(event)
        if len(self.away) < 2:
            self.match.run_clock(self.now_ms)

    def note_clock(self) -> None:
        """Remember the clock as the newest event has it, for a restart."""
        told = (getattr(event, "clock", None) for event in reversed(self.match.events))
        newest: wire.ClockInfo | None = next((clock for clock in told if clock is not None), None)
        if newest is not None:
            assert list(newest.remaining_ms) == self.left
            self.written = tuple(self.left)

    def falls(self) -> bool:
        """Let the flag fall, or a seat be freed, when it is due; return whether the match is over."""
        charged, events = self.charged(), flag_fall(self.match, self.now_ms)
        if charged is not None and self.left[charged] == 0:
            self.ends(events, Reason.TIME, 1 - charged)
        else:
            assert events == []
        waits = self.has_bot and 0 in self.away and 1 not in self.away and not self.is_adjourned and not self.is_over
        events = forsaken(self.match, self.now_ms)
        if waits and self.away[0].counted_ms >= self.away[0].grace_ms + FREED_AFTER_MS:
            if len(self.moves) < 2:
                self.ends(events, Reason.ABORT, None)
            else:
                self.ends(events, Reason.ABANDON, 1 if self.is_rated else None)
        else:
            assert events == []
        return self.is_over

    def ends(self, events: list[wire.MatchEvent] | Code, reason: Reason, winner: int | None) -> None:
        """Check and apply the one event that ends the match otherwise than on the board."""
        if self.is_rated and len(self.moves) < 4:
            reason, winner = Reason.ABORT, None
        assert not isinstance(events, str)
        (event,) = events
        assert isinstance(event, wire.Ended)
        assert (event.reason, event.winner) == (reason, winner)
        if not self.match.is_over:
            self.apply(events)
        self.is_over = True
        self.offers.clear()
        self.note_clock()

    @rule(later_ms=st.sampled_from([1, 400, 3 * SECOND, 61 * SECOND]))
    def time_passes(self, later_ms: int) -> None:
        self.pass_time(later_ms)

    @rule(side=SIDES, to_ms=st.integers(-1, 1), is_freed=st.booleans())
    def time_passes_to_the_end_of_a_grace(self, side: int, to_ms: int, is_freed: bool) -> None:
        """Look just before, at and just after the moment at which a claim or the freeing of a seat is due."""
        gone = self.away.get(side)
        if gone is not None:
            due_ms = gone.grace_ms - gone.counted_ms + FREED_AFTER_MS * is_freed
            self.pass_time(max(0, due_ms + to_ms))

    @rule(to_ms=st.integers(-1, 1))
    def time_passes_to_the_fall_of_a_flag(self, to_ms: int) -> None:
        side = self.charged()
        if side is not None:
            self.pass_time(max(0, self.left[side] + to_ms))

    @rule(
        pick=st.integers(0, 30),
        later_ms=st.sampled_from([100, 5_000]),
        lag_ms=st.sampled_from([0, 300, 5_000]),
    )
    def play(self, pick: int, later_ms: int, lag_ms: int) -> None:
        """Play a free cell most of the time, one that cannot be played now and then, and now and then too late."""
        side = len(self.moves) % 2
        if side in self.away:
            return
        self.pass_time(later_ms)
        is_over = self.falls()
        free = sorted(set(range(9)) - set(self.moves))
        cell = free[pick % len(free)] if free and pick < 26 else pick % 10
        ply = max(0, len(self.moves) - (pick in (24, 25)))
        charged = self.charged()
        told = self.ask(side, wire.PlayRequest(1, "m", ply, cell), lag_ms)
        if is_over:
            assert told == Code.MATCH_OVER
        elif ply != len(self.moves):
            assert told == Code.STALE_PLY
        elif self.is_adjourned and 1 - side in self.away:
            assert told == Code.ADJOURNED
        elif cell == 9 or cell in self.moves:
            assert told in (Code.ILLEGAL_MOVE, Code.CELL_TAKEN)
        else:
            assert isinstance(told, list)
            self.press(side if charged == side else None, lag_ms)
            self.moves.append(cell)
            self.offers.clear()
            self.is_adjourned = False
            self.is_over = any(line <= self.cells(side) for line in LINES) or len(self.moves) == 9
            assert [type(event) for event in told] == [wire.Played, wire.Ended][: 1 + self.is_over]
            self.note_clock()

    def press(self, charged: int | None, lag_ms: int) -> None:
        """Give the side that moved its refund and its increment."""
        if self.time is not None and charged is not None:
            refund_ms = min(lag_ms, self.quota[charged], self.spent_ms)
            self.quota[charged] = min(1_000, self.quota[charged] - refund_ms + 300)
            self.left[charged] += refund_ms + self.time.increment_ms
            if self.time.per_move:
                self.left[charged] = self.time.initial_ms
        self.spent_ms = 0

    @rule(side=SIDES)
    def play_out_of_turn(self, side: int) -> None:
        if side in self.away or self.falls():
            return
        if len(self.moves) % 2 != side and self.moves[-1:] != [8]:
            assert self.ask(side, wire.PlayRequest(1, "m", len(self.moves), 8)) == Code.NOT_YOUR_TURN

    @precondition(lambda self: self.moves)
    @rule()
    def play_the_last_move_again(self) -> None:
        self.falls()
        ply = len(self.moves) - 1
        if ply % 2 not in self.away:
            assert self.ask(ply % 2, wire.PlayRequest(1, "m", ply, self.moves[ply])) == []

    @rule(side=SIDES, kind=st.sampled_from(["draw", "takeback"]))
    def offer(self, side: int, kind: wire.OfferKind) -> None:
        if side in self.away:
            return
        is_over = self.falls()
        is_accepted = (1 - side, kind) in self.offers
        told = self.ask(side, wire.OfferRequest(1, "m", kind))
        if is_over:
            assert told == Code.MATCH_OVER
        elif not isinstance(told, list) or not told:
            assert told in ([], Code.TURNED_DOWN, Code.NO_MOVE, Code.ADJOURNED)
        elif is_accepted:
            self.agree(told, 1 - side, kind)
        else:
            assert isinstance(told[0], wire.Offered)
            self.offers.add((side, kind))

    @rule(side=SIDES, kind=st.sampled_from(["draw", "takeback"]))
    def accept(self, side: int, kind: wire.OfferKind) -> None:
        """Accept an offer by its number, twice."""
        number = self.match.offers.get((1 - side, kind))
        if side in self.away or number is None or self.falls():
            return
        told = self.ask(side, wire.AgreeRequest(1, "m", number))
        if told == Code.ADJOURNED:
            return
        assert isinstance(told, list)
        self.agree(told, 1 - side, kind)
        is_aborted = self.is_over and self.is_rated and len(self.moves) < 4
        assert self.ask(side, wire.AgreeRequest(1, "m", number)) == (Code.STALE_OFFER if is_aborted else [])

    @rule(side=SIDES, back=st.integers(0, 4), is_repeated=st.booleans())
    def answer_by_number(self, side: int, back: int, is_repeated: bool) -> None:
        """Accept the offer that was event `seq - back`, perhaps twice: only one that stands changes anything."""
        number = self.match.seq - back
        is_standing = any(seq == number and offer[0] != side for offer, seq in self.match.offers.items())
        if side in self.away or is_standing:
            return
        self.falls()
        for _ in range(1 + is_repeated):
            assert self.ask(side, wire.AgreeRequest(1, "m", number)) in ([], Code.STALE_OFFER, Code.NO_OFFER)

    def agree(self, told: list[wire.MatchEvent], asker: int, kind: wire.OfferKind) -> None:
        """Carry out in the model that an offer was accepted."""
        if kind == "draw":
            self.ends(told, Reason.AGREEMENT, None)
            return
        (event,) = told
        assert isinstance(event, wire.Tookback)
        assert event.ply % 2 == asker, "the player who asked moves again"
        del self.moves[event.ply :]
        self.offers.clear()
        self.is_adjourned = False
        if self.time is not None and self.time.per_move:
            self.left = [self.time.initial_ms] * 2
        self.spent_ms = 0
        self.note_clock()

    @rule(side=SIDES, is_on_purpose=st.booleans(), is_replaced=st.booleans())
    def go(self, side: int, is_on_purpose: bool, is_replaced: bool) -> None:
        self.falls()
        if side in self.away:
            return
        on_purpose = is_on_purpose and not is_replaced
        grace_ms = literal_grace_ms(self.time, self.absences[side], on_purpose=on_purpose)
        self.away[side] = Gone(grace_ms, on_purpose, is_replaced)
        self.absences[side] += 1
        self.match.absences.went(side, self.now_ms, on_purpose=on_purpose, is_replaced=is_replaced)
        if len(self.away) == 2:
            self.match.halt_clock(self.now_ms)
            self.spent_ms = 0

    @rule(side=SIDES)
    def come_back(self, side: int) -> None:
        self.falls()
        gone = self.away.pop(side, None)
        if gone is None:
            return
        if gone.is_replaced and gone.lasted_ms <= 5 * SECOND:
            self.absences[side] -= 1
        self.match.absences.returned(side, self.now_ms)
        if not self.away and self.is_adjourned:
            self.is_adjourned = False
            self.match.take_up()
        self.match.run_clock(self.now_ms)

    @rule(first=SIDES, later_ms=st.sampled_from([0, 400, 9 * SECOND]), apart_ms=st.sampled_from([1, 70 * SECOND]))
    def both_go_and_one_returns(self, first: int, later_ms: int, apart_ms: int) -> None:
        self.go(first, False, False)
        self.pass_time(later_ms)
        self.go(1 - first, False, False)
        self.pass_time(apart_ms)
        self.come_back(first)

    @precondition(lambda self: not self.is_rated and not self.is_over)
    @rule(side=SIDES, later_ms=st.sampled_from([1, 70 * SECOND]))
    def adjourn(self, side: int, later_ms: int) -> None:
        self.come_back(1 - side)
        self.go(side, False, False)
        gone = self.away.get(side)
        if gone is not None and not self.is_over:
            self.pass_time(max(0, gone.grace_ms - gone.counted_ms))
            self.claim(1 - side, "adjourn")
            self.pass_time(later_ms)

    @precondition(lambda self: not self.is_over and len(self.moves) >= 2)
    @rule(side=SIDES, later_ms=st.sampled_from([0, 400]))
    def take_back(self, side: int, later_ms: int) -> None:
        for each in (0, 1):
            self.come_back(each)
        self.offer(side, "takeback")
        self.pass_time(later_ms)
        self.accept(1 - side, "takeback")

    @precondition(lambda self: self.has_bot and not self.is_over)
    @rule(to_ms=st.integers(-1, 1))
    def leave_a_bot_waiting(self, to_ms: int) -> None:
        for side in (0, 1):
            self.come_back(side)
        self.go(0, False, False)
        self.time_passes_to_the_end_of_a_grace(0, to_ms, True)
        self.falls()

    @rule(picks=st.lists(st.integers(0, 8), min_size=2, max_size=4))
    def play_over_a_slow_link(self, picks: list[int]) -> None:
        for side in (0, 1):
            self.come_back(side)
        for pick in picks:
            self.play(pick, 5 * SECOND, 5 * SECOND)

    @rule(side=SIDES, to_ms=st.integers(0, 1))
    def change_devices(self, side: int, to_ms: int) -> None:
        if side not in self.away:
            self.go(side, False, True)
            self.pass_time(5 * SECOND + to_ms)
            self.come_back(side)

    @rule()
    def restart(self) -> None:
        """Read the match from its events: both players are away, and the clock is as the last event has it."""
        self.falls()
        self.match = Match.from_events(self.match.events)
        self.left, self.spent_ms, self.absences = list(self.written), 0, [1, 1]
        self.is_adjourned = self.match.is_adjourned
        for side in (0, 1):
            self.away[side] = Gone(literal_grace_ms(self.time, 0, on_purpose=False), False, False)
            self.match.absences.went(side, self.now_ms, on_purpose=False)

    @rule(side=SIDES, kind=st.sampled_from(["win", "draw", "adjourn"]))
    def claim(self, side: int, kind: wire.ClaimKind) -> None:
        if side in self.away:
            return
        is_over = self.falls()
        gone = self.away.get(1 - side)
        told = self.ask(side, wire.ClaimRequest(1, "m", kind))
        if is_over:
            assert told == Code.MATCH_OVER
        elif self.is_adjourned:
            assert told == ([] if kind == "adjourn" else Code.ADJOURNED)
        elif gone is None or gone.counted_ms < gone.grace_ms:
            assert told == Code.OPPONENT_HERE
        elif kind == "adjourn" and self.is_rated:
            assert told == Code.ONLY_CASUAL
        elif kind == "adjourn":
            self.is_adjourned, self.spent_ms = True, 0
            self.offers.clear()
            self.note_clock()
        else:
            self.ends(told, Reason.ABANDON, side if kind == "win" else None)

    @rule(side=SIDES, is_abort=st.booleans(), doubt=st.integers(0, 9))
    def give_up(self, side: int, is_abort: bool, doubt: int) -> None:
        if doubt or side in self.away:
            return
        is_over = self.falls()
        told = self.ask(side, wire.AbortRequest(1, "m") if is_abort else wire.ResignRequest(1, "m"))
        if is_over:
            assert told == Code.MATCH_OVER
        elif is_abort and len(self.moves) >= (4 if self.is_rated else 2):
            assert told == Code.TOO_LATE
        else:
            self.ends(told, Reason.ABORT if is_abort else Reason.RESIGN, None if is_abort else 1 - side)

    @invariant()
    def the_match_is_as_the_model_says(self) -> None:
        if not hasattr(self, "match"):
            return
        assert [move for _, move in self.match.moves] == self.moves
        assert self.match.is_over == self.is_over
        assert self.match.is_adjourned == self.is_adjourned or self.is_over
        assert [event.seq for event in self.match.events] == list(range(1, self.match.seq + 1))

    @invariant()
    def the_clock_is_as_the_ledger_says(self) -> None:
        if not hasattr(self, "match") or self.match.clock is None:
            return
        present = (0 not in self.away, 1 not in self.away)
        assert list(self.match.clock.read(self.now_ms)) == self.left
        assert self.match.clock.running == self.charged()
        told = self.match.snapshot(0, present, self.now_ms).clock
        assert told is not None
        assert (list(told.remaining_ms), told.running) == (self.left, self.charged())

    @invariant()
    def absences_are_told_as_the_model_has_them(self) -> None:
        if not hasattr(self, "match"):
            return
        for side in (0, 1):
            gone, told = self.away.get(side), self.match.away(side, self.now_ms)
            left_ms = None if gone is None else max(0, gone.grace_ms - gone.counted_ms)
            expected = gone and wire.AwayInfo(side, gone.on_purpose, left_ms or 0)
            assert told == expected
        is_gone_for_long = any(gone.counted_ms >= gone.grace_ms for gone in self.away.values())
        assert self.match.is_abandoned(self.now_ms) == (len(self.away) == 2 or is_gone_for_long)

    @invariant()
    def its_facts_are_the_match(self) -> None:
        if hasattr(self, "match"):
            again = Match.from_events(self.match.events)
            assert (again.state, again.outcome, again.offers) == (
                self.match.state,
                self.match.outcome,
                self.match.offers,
            )


Play.TestCase.settings = settings(max_examples=120, stateful_step_count=40, deadline=None)
TestPlay = Play.TestCase


GRACE_MS = grace_ms(None, on_purpose=False, earlier=0)
SHORT_MS = grace_ms(None, on_purpose=True, earlier=0)
Situation = Callable[[Match], int]


def is_here(match: Match) -> int:
    return 10 * GRACE_MS


def dropped(match: Match) -> int:
    match.absences.went(1, 0, on_purpose=False)
    return GRACE_MS - 1


def left(match: Match) -> int:
    match.absences.went(1, 0, on_purpose=True)
    return SHORT_MS - 1


def dropped_for_long(match: Match) -> int:
    return dropped(match) + 1


def left_for_long(match: Match) -> int:
    return left(match) + 1


def returned(match: Match) -> int:
    match.absences.went(1, 0, on_purpose=False)
    match.absences.returned(1, 0)
    return 10 * GRACE_MS


def adjourned(match: Match) -> int:
    now_ms = dropped_for_long(match)
    for event in decide(match, 0, wire.ClaimRequest(1, "m", "adjourn"), now_ms):
        match.evolve(event)
    return now_ms


HERE = dict.fromkeys(("win", "draw", "adjourn"), "opponent_here")
AWAY = {"win": "0 abandon", "draw": "None abandon", "adjourn": "adjourned"}
TABLE: dict[Situation, dict[str, str]] = {
    is_here: HERE,
    dropped: HERE,
    left: HERE,
    dropped_for_long: AWAY,
    left_for_long: AWAY,
    returned: HERE,
    adjourned: {"win": Code.ADJOURNED, "draw": Code.ADJOURNED, "adjourn": "nothing"},
}
"""The table of docs/protocol.md: what `claim` leads to, by what the other player did. To keep waiting is no claim."""


@pytest.mark.parametrize("is_rated", [False, True])
@pytest.mark.parametrize("kind", ["win", "draw", "adjourn"])
@pytest.mark.parametrize("situation", TABLE, ids=lambda situation: situation.__name__)
def test_claims_follow_the_table(situation: Situation, kind: wire.ClaimKind, is_rated: bool) -> None:
    players = (wire.PlayerInfo("Ann"), wire.PlayerInfo("Bob"))
    match = Match(wire.Started("m", 1, 0, "tictactoe", players, rated=is_rated and situation is not adjourned))
    for ply, move in enumerate([0, 1, 4, 2]):  # after them, a rated match may end with a result
        for event in decide(match, ply % 2, wire.PlayRequest(1, "m", ply, move), 0):
            match.evolve(event)
    now_ms = situation(match)
    expected = TABLE[situation][kind]
    if situation is not adjourned and expected == "adjourned" and is_rated:
        expected = "only_casual"
    assert outcome(match, kind, now_ms) == expected


def outcome(match: Match, kind: wire.ClaimKind, now_ms: int) -> str:
    """Return in words what a claim leads to."""
    try:
        events = decide(match, 0, wire.ClaimRequest(1, "m", kind), now_ms)
    except Refusal as refusal:
        return refusal.code
    said = [f"{event.winner} {event.reason}" if isinstance(event, wire.Ended) else "adjourned" for event in events]
    return said[0] if said else "nothing"
