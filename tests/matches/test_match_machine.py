"""A match beside the simplest model of one: a board, whose turn, what is left on the clocks, who is away."""

from collections.abc import Callable

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from ttt_net import messages as wire
from ttt_net.clock import LAG_QUOTA_MAX_MS, TimeControl, grace_ms
from ttt_net.errors import Code, Refusal
from ttt_net.matches.match import Match
from ttt_net.matches.referee import Command, decide, flag_fall

SECOND = 1_000
BLITZ = TimeControl(initial_ms=60 * SECOND, increment_ms=2 * SECOND)
LINES = [{0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {0, 3, 6}, {1, 4, 7}, {2, 5, 8}, {0, 4, 8}, {2, 4, 6}]
SIDES = st.integers(0, 1)


class Play(RuleBasedStateMachine):
    """Tic-tac-toe, with whatever two players and their links may do."""

    @initialize(time=st.sampled_from([None, BLITZ]), is_rated=st.booleans())
    def start(self, time: TimeControl | None, is_rated: bool) -> None:
        players = (wire.PlayerInfo("Ann"), wire.PlayerInfo("Bob"))
        self.match = Match(wire.Started("m", 1, 0, "tictactoe", players, time, rated=is_rated))
        self.time, self.is_rated, self.now_ms = time, is_rated, 0
        self.moves: list[int] = []
        self.offers: set[tuple[int, str]] = set()
        self.away: dict[int, int] = {}
        self.absences = [0, 0]
        self.is_over = self.is_adjourned = False

    def cells(self, side: int) -> set[int]:
        return set(self.moves[side::2])

    def ask(self, side: int, command: Command, lag_ms: int = 0) -> list[wire.MatchEvent] | Code:
        """Decide and apply as a table does; check that a refusal changes nothing and that no clock gains."""
        self.fall()
        before = self.left()
        try:
            events = decide(self.match, side, command, self.now_ms, lag_ms)
        except Refusal as refusal:
            assert self.left() == before
            return refusal.code
        self.apply(events, before)
        return events

    def fall(self) -> None:
        flag = flag_fall(self.match, self.now_ms)
        if flag:
            side = self.match.clock.running if self.match.clock else None
            assert side is not None
            assert self.left()[side] == 0
            self.apply(flag, self.left())
            self.is_over = True

    def apply(self, events: list[wire.MatchEvent], before: tuple[int, int]) -> None:
        for event in events:
            self.match.evolve(event)
            gain_ms = [0, 0]
            if isinstance(event, wire.Played) and self.time:
                assert 0 <= event.refunded_ms <= LAG_QUOTA_MAX_MS
                gain_ms[event.side] = self.time.increment_ms + event.refunded_ms
            for side, left_ms in enumerate(self.left()):
                assert 0 <= left_ms <= before[side] + gain_ms[side]
            before = self.left()
        if self.match.clock and not self.match.is_over and len(self.away) < 2:
            self.match.run_clock(self.now_ms)

    def left(self) -> tuple[int, int]:
        return self.match.clock.read(self.now_ms) if self.match.clock else (0, 0)

    @rule(later_ms=st.sampled_from([1, 400, 3 * SECOND, 61 * SECOND]))
    def time_passes(self, later_ms: int) -> None:
        before = self.left()
        self.now_ms += later_ms
        spent = [earlier - now for earlier, now in zip(before, self.left(), strict=True)]
        assert all(0 <= each <= later_ms for each in spent)
        assert len(self.moves) >= 2 or not any(spent), "nobody is charged before both have moved"
        assert len(self.away) < 2 or not any(spent), "time stands still when both are gone"

    @rule(pick=st.integers(0, 30), later_ms=st.integers(0, 5 * SECOND), lag_ms=st.sampled_from([0, 300, 5_000]))
    def play(self, pick: int, later_ms: int, lag_ms: int) -> None:
        """Play a free cell most of the time, one that cannot be played now and then, and now and then too late."""
        if len(self.moves) % 2 in self.away:
            return
        self.time_passes(later_ms)
        free = sorted(set(range(9)) - set(self.moves))
        cell = free[pick % len(free)] if free and pick < 26 else pick % 10
        ply = max(0, len(self.moves) - (pick in (24, 25)))
        side = len(self.moves) % 2
        self.fall()
        told = self.ask(side, wire.PlayRequest(1, "m", ply, cell), lag_ms)
        if self.is_over:
            assert told == Code.MATCH_OVER
        elif ply != len(self.moves):
            assert told == Code.STALE_PLY
        elif self.is_adjourned and 1 - side in self.away:
            assert told == Code.ADJOURNED
        elif cell == 9 or cell in self.moves:
            assert told in (Code.ILLEGAL_MOVE, Code.CELL_TAKEN)
        else:
            self.moves.append(cell)
            self.offers.clear()
            self.is_adjourned = False
            self.is_over = any(line <= self.cells(side) for line in LINES) or len(self.moves) == 9
            assert isinstance(told, list)
            assert [type(event) for event in told] == [wire.Played, wire.Ended][: 1 + self.is_over]

    @rule(side=SIDES)
    def play_out_of_turn(self, side: int) -> None:
        if side in self.away:
            return
        self.fall()
        if not self.is_over and len(self.moves) % 2 != side and self.moves[-1:] != [8]:
            assert self.ask(side, wire.PlayRequest(1, "m", len(self.moves), 8)) == Code.NOT_YOUR_TURN

    @precondition(lambda self: self.moves)
    @rule()
    def play_the_last_move_again(self) -> None:
        self.fall()
        ply = len(self.moves) - 1
        if ply % 2 in self.away:
            return
        assert self.ask(ply % 2, wire.PlayRequest(1, "m", ply, self.moves[ply])) == []

    @rule(side=SIDES, kind=st.sampled_from(["draw", "takeback"]))
    def offer(self, side: int, kind: wire.OfferKind) -> None:
        if side in self.away:
            return
        self.fall()
        is_accepted = (1 - side, kind) in self.offers
        told = self.ask(side, wire.OfferRequest(1, "m", kind))
        if self.is_over:
            assert told == Code.MATCH_OVER
        elif not isinstance(told, list) or not told:
            assert told in ([], Code.TURNED_DOWN, Code.NO_MOVE, Code.ADJOURNED)
        elif not is_accepted:
            assert isinstance(told[0], wire.Offered)
            self.offers.add((side, kind))
        elif kind == "draw":
            assert isinstance(told[0], wire.Ended)
            self.is_over = True
        else:
            event = told[0]
            assert isinstance(event, wire.Tookback)
            assert event.ply % 2 == 1 - side, "who asked is to move again"
            del self.moves[event.ply :]
            self.offers.clear()
            self.is_adjourned = False

    @rule(side=SIDES, back=st.integers(0, 4), is_repeated=st.booleans())
    def answer_by_number(self, side: int, back: int, is_repeated: bool) -> None:
        """Accept the offer that was event `seq - back`, perhaps twice: only one that stands changes anything."""
        if side in self.away:
            return
        self.fall()
        number = self.match.seq - back
        standing = [offer for offer, seq in self.match.offers.items() if seq == number and offer[0] != side]
        told = self.ask(side, wire.AgreeRequest(1, "m", number))
        if not standing:
            assert told in ([], Code.NO_OFFER, Code.STALE_OFFER)
            return
        if told == Code.ADJOURNED:
            return
        assert isinstance(told, list)
        event = told[0]
        if isinstance(event, wire.Tookback):
            del self.moves[event.ply :]
            self.is_adjourned = False
        else:
            assert isinstance(event, wire.Ended)
            self.is_over = True
        self.offers.clear()
        if is_repeated:
            assert self.ask(side, wire.AgreeRequest(1, "m", number)) == []

    @rule(side=SIDES, is_on_purpose=st.booleans())
    def go(self, side: int, is_on_purpose: bool) -> None:
        self.fall()
        if side not in self.away:
            grace = grace_ms(self.time, on_purpose=is_on_purpose, earlier=self.absences[side])
            self.away[side] = self.now_ms + grace
            self.absences[side] += 1
            self.match.absences.went(side, self.now_ms, on_purpose=is_on_purpose)
            if len(self.away) == 2:
                self.match.halt_clock(self.now_ms)

    @rule(side=SIDES)
    def come_back(self, side: int) -> None:
        self.fall()
        if self.away.pop(side, None) is not None:
            self.match.absences.returned(side, self.now_ms)
            self.match.run_clock(self.now_ms)

    @rule(side=SIDES, kind=st.sampled_from(["win", "draw", "adjourn"]))
    def claim(self, side: int, kind: wire.ClaimKind) -> None:
        if side in self.away:
            return
        self.fall()
        told = self.ask(side, wire.ClaimRequest(1, "m", kind))
        if self.is_over:
            assert told == Code.MATCH_OVER
        elif self.is_adjourned:
            assert told == ([] if kind == "adjourn" else Code.ADJOURNED)
        elif self.away.get(1 - side, self.now_ms + 1) > self.now_ms:
            assert told == Code.OPPONENT_HERE
        elif kind == "adjourn" and self.is_rated:
            assert told == Code.ONLY_CASUAL
        else:
            assert isinstance(told, list)
            self.is_adjourned = kind == "adjourn"
            self.is_over = not self.is_adjourned
            if isinstance(told[0], wire.Ended):
                assert told[0].winner == (side if kind == "win" else None)
            self.offers.clear()

    @rule(
        side=SIDES,
        command=st.sampled_from([wire.ResignRequest(1, "m"), wire.AbortRequest(1, "m")]),
        doubt=st.integers(0, 9),
    )
    def give_up(self, side: int, command: Command, doubt: int) -> None:
        if doubt or side in self.away:
            return
        self.fall()
        told = self.ask(side, command)
        if self.is_over:
            assert told == Code.MATCH_OVER
        elif isinstance(command, wire.AbortRequest) and len(self.moves) >= 2:
            assert told == Code.TOO_LATE
        else:
            self.is_over = True

    @invariant()
    def the_match_is_as_the_model_says(self) -> None:
        if not hasattr(self, "match"):
            return
        assert [move for _, move in self.match.moves] == self.moves
        assert self.match.is_over == self.is_over
        assert self.match.is_adjourned == self.is_adjourned or self.is_over
        assert [event.seq for event in self.match.events] == list(range(1, self.match.seq + 1))

    @invariant()
    def its_facts_are_the_match(self) -> None:
        if hasattr(self, "match"):
            again = Match.from_events(self.match.events)
            assert self.is_over or set(self.match.offers) == self.offers
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
def test_what_may_be_claimed_is_as_the_table_says(situation: Situation, kind: wire.ClaimKind, is_rated: bool) -> None:
    players = (wire.PlayerInfo("Ann"), wire.PlayerInfo("Bob"))
    match = Match(wire.Started("m", 1, 0, "tictactoe", players, rated=is_rated and situation is not adjourned))
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
