"""The director over whole tournaments: what people ask, what is due, and a state rebuilt from its facts at any time."""

import random
from collections.abc import Callable

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ttt_net.clock import TimeControl
from ttt_net.errors import Code, Refusal
from ttt_net.tournaments import director
from ttt_net.tournaments.schedules import Entrant
from ttt_net.tournaments.swiss import matched
from ttt_net.tournaments.tournament import AnyFact, Closed, Terms, Tournament, TournamentKind, points_of

MINUTE = TimeControl(60_000)


def terms(kind: TournamentKind = "swiss", **others: object) -> Terms:
    return msgspec.structs.replace(Terms("Friday", kind, "connect4", MINUTE), **others)


class Evening:
    """A tournament with its facts as JSON, as a journal has them, and the ends of its matches."""

    def __init__(self, its_terms: Terms, players: int, seed: int = 0) -> None:
        self.rng = random.Random(seed)
        self.opened = director.opened(its_terms, 7, 0)
        self.now = Tournament("ABCDEF", self.opened)
        self.facts: list[bytes] = [msgspec.json.encode(self.opened)]
        self.ends: list[tuple[str, int | None, str]] = []
        self.count = 0
        for player in range(1, players + 1):
            self.write(director.enter(self.now, 100 + player, 0))

    def write(self, facts: list[AnyFact]) -> None:
        for fact in facts:
            self.facts.append(msgspec.json.encode(fact))
            self.now.evolve(fact)

    def new_match(self) -> str:
        self.count += 1
        return f"m{self.count}"

    def end(self, match: str, winner: int | None, reason: str = "line") -> None:
        self.ends.append((match, winner, reason))
        self.now.settle(match, winner, reason)
        self.write(director.absent(self.now, match, winner, reason, 0))

    def rebuilt(self) -> Tournament:
        """Return the tournament from its facts alone, with all results, some of which come twice."""
        facts = [msgspec.json.decode(each, type=AnyFact) for each in self.facts]
        found = Tournament.from_facts("ABCDEF", facts, {match: end for match, *end in self.ends})  # type: ignore[misc]
        for match, winner, reason in self.ends:
            assert not found.settle(match, winner, reason), "a result counts once"
        return found

    def next_round(self) -> None:
        paired = director.pairing(self.now, matched)
        self.write([director.round_of(self.now, paired, self.new_match, 0)])

    def play(self, result: Callable[[], tuple[int | None, str]]) -> None:
        """Play all that is due until nothing is, or the tournament is over."""
        for _ in range(500):
            match director.due(self.now, 0, rested_ms=3_600_000):
                case "begin":
                    self.write(director.start(self.now, 0))
                case "pair":
                    self.next_round()
                case "replay":
                    self.write([director.replay_of(self.now, self.new_match, 0)])
                case "close":
                    self.write(director.closed(self.now, 0))
                case None if self.now.open_boards():
                    board = self.rng.choice(self.now.open_boards())
                    self.end(board.matches[-1], *result())
                case None:
                    return
            assert_sound(self)
        raise AssertionError("the tournament does not end")


def assert_sound(evening: Evening) -> None:
    now, again = evening.now, evening.rebuilt()
    assert again.rounds == now.rounds, "the state follows from facts and results"
    assert again.entrants == now.entrants
    assert again.closed == now.closed
    for boards in now.rounds:
        seats = [each for board in boards.values() for each in (board.first, board.second) if each is not None]
        assert len(seats) == len(set(seats)), "nobody is in a round twice"
    assert now.standings() == again.standings()
    if now.terms.kind == "swiss" and now.terms.legs == 1:
        assert {row.entrant: row.score for row in now.standings()} == counted_anew(evening)


def counted_anew(evening: Evening) -> dict[Entrant, int]:
    """Count the scores of a Swiss from facts and results in another way."""
    scores = dict.fromkeys(evening.now.entrants, 0)
    ended = {match: (winner, reason) for match, winner, reason in evening.ends}
    seats: dict[str, tuple[Entrant, Entrant]] = {}
    aborted: dict[tuple[int, int], int] = {}
    for fact in (msgspec.json.decode(each) for each in evening.facts):
        for board in fact.get("boards", ()):
            match = board.get("match")
            if match is None:
                scores[board["first"]] += 2
                continue
            seats[match] = (board["first"], board["second"])
            if match in ended:
                key = fact["round"], board["board"]
                is_aborted = ended[match][1] == "abort"
                aborted[key] = aborted.get(key, 0) + is_aborted
                if is_aborted and aborted[key] <= 2:
                    continue
                points = (1, 1) if is_aborted else points_of(*ended[match])
                for entrant, each in zip(seats[match], points, strict=True):
                    scores[entrant] += each
    return scores


def by_lot(rng: random.Random) -> Callable[[], tuple[int | None, str]]:
    ends = [(0, "line"), (1, "line"), (None, "draw"), (0, "forfeit"), (1, "time"), (None, "abort"), (None, "forfeit")]
    return lambda: rng.choices(ends, (8, 8, 4, 1, 4, 1, 1))[0]


@given(
    kind=st.sampled_from(["swiss", "round_robin", "knockout"]),
    players=st.integers(2, 13),
    rounds=st.integers(1, 7),
    legs=st.integers(1, 2),
    seed=st.integers(0, 10_000),
)
@settings(max_examples=60, deadline=None)
def test_any_evening_ends_with_every_result_counted_once(
    kind: TournamentKind, players: int, rounds: int, legs: int, seed: int
) -> None:
    rounds = min(rounds, 2) if kind == "round_robin" else rounds
    evening = Evening(terms(kind, rounds=rounds, legs=legs), players, seed)
    evening.write(director.start(evening.now, 0))
    evening.play(by_lot(evening.rng))
    assert evening.now.closed in ("finished", "nobody")
    assert {row.entrant for row in evening.now.standings()} == set(evening.now.entrants)


def swiss_of(players: int, **others: object) -> Evening:
    evening = Evening(terms("swiss", **others), players)
    evening.write(director.start(evening.now, 0))
    return evening


def refused(code: Code, ask: Callable[[], object]) -> None:
    with pytest.raises(Refusal) as refusal:
        ask()
    assert refusal.value.code is code


def test_entering_twice_is_entering_once() -> None:
    evening = swiss_of(4)
    assert director.enter(evening.now, 101, 0) == []
    assert len(evening.now.entrants) == 4


def test_a_late_comer_of_a_swiss_has_no_points_for_what_they_missed_and_plays_the_next_round() -> None:
    evening = swiss_of(4)
    evening.next_round()
    evening.write(director.enter(evening.now, 200, 0))
    for board in evening.now.open_boards():
        evening.end(board.matches[-1], 0)
    assert evening.now.standings()[-1].score == 0
    evening.next_round()
    assert 5 in {each for board in evening.now.rounds[1].values() for each in (board.first, board.second)}


@pytest.mark.parametrize("kind", ["round_robin", "knockout"])
def test_other_kinds_take_nobody_after_the_start(kind: TournamentKind) -> None:
    evening = Evening(terms(kind, rounds=1), 4)
    evening.write(director.start(evening.now, 0))
    refused(Code.TOO_LATE, lambda: director.enter(evening.now, 200, 0))


def test_a_leaver_is_paired_no_more_and_may_come_back() -> None:
    evening = swiss_of(5)
    evening.write(director.leave(evening.now, 103, 0))
    evening.next_round()
    assert len(evening.now.rounds[0]) == 2
    evening.write(director.enter(evening.now, 103, 0))
    assert evening.now.present == [1, 2, 3, 4, 5]


def test_removed_players_return_only_through_the_organiser() -> None:
    evening = swiss_of(4)
    evening.write(director.remove(evening.now, 102, 0))
    refused(Code.NOT_WELCOME, lambda: director.enter(evening.now, 102, 0))
    evening.write(director.add(evening.now, 102, 0))
    assert evening.now.present == [1, 2, 3, 4]


def test_a_player_who_did_not_appear_is_paired_no_more() -> None:
    evening = swiss_of(4)
    evening.next_round()
    board = evening.now.open_boards()[0]
    evening.end(board.matches[-1], 1, "forfeit")
    assert evening.now.entrants[board.first].why == "absent"
    assert not evening.now.entrants[board.first].is_here


def test_nobody_scores_if_neither_appeared_and_the_tournament_ends_by_itself() -> None:
    evening = swiss_of(2)
    evening.next_round()
    evening.end(evening.now.open_boards()[0].matches[-1], None, "forfeit")
    assert [row.score for row in evening.now.standings()] == [0, 0]
    assert director.due(evening.now, 0, 0) == "close"
    assert director.closed(evening.now, 0) == [Closed(0, "nobody")]


def test_a_result_counts_once_however_often_it_is_told() -> None:
    evening = swiss_of(2)
    evening.next_round()
    match = evening.now.open_boards()[0].matches[-1]
    assert evening.now.settle(match, 0, "line")
    assert not evening.now.settle(match, 1, "line")
    assert [row.score for row in evening.now.standings()] == [2, 0]


def test_a_match_that_a_fault_ended_begins_anew_and_is_a_draw_at_the_third_time() -> None:
    evening = swiss_of(2)
    evening.next_round()
    for _ in range(2):
        evening.end(evening.now.open_boards()[0].matches[-1], None, "abort")
        assert director.due(evening.now, 0, 0) == "replay"
        evening.write([director.replay_of(evening.now, evening.new_match, 0)])
    evening.end(evening.now.open_boards()[0].matches[-1], None, "abort")
    assert [row.score for row in evening.now.standings()] == [1, 1]


def test_a_drawn_board_of_a_knockout_is_played_again_with_sides_swapped_and_then_the_second_goes_through() -> None:
    evening = Evening(terms("knockout"), 2)
    evening.write(director.start(evening.now, 0))
    evening.next_round()
    seats = []
    for _ in range(3):
        board = evening.now.open_boards()[0]
        seats.append((board.first, board.second))
        evening.end(board.matches[-1], None, "draw")
        if director.due(evening.now, 0, 0) == "replay":
            evening.write([director.replay_of(evening.now, evening.new_match, 0)])
    assert seats == [(1, 2), (2, 1), (1, 2)]
    assert evening.now.rounds[0][1].winner == 2
    assert [(row.place, row.entrant) for row in evening.now.standings()] == [(1, 2), (2, 1)]


def test_a_pairing_of_two_legs_swaps_the_sides_and_their_sum_decides() -> None:
    evening = swiss_of(2, legs=2)
    evening.next_round()
    board = evening.now.open_boards()[0]
    first, second = board.first, board.second
    evening.end(board.matches[-1], 0)
    assert director.due(evening.now, 0, 0) == "replay"
    evening.write([director.replay_of(evening.now, evening.new_match, 0)])
    assert (board.first, board.second, board.sums) == (second, first, (0, 2))
    evening.end(board.matches[-1], None, "draw")
    assert (board.points, board.sums) == ((0, 2), (1, 3))
    assert {row.entrant: row.score for row in evening.now.standings()} == {first: 2, second: 0}
    assert evening.rebuilt().rounds == evening.now.rounds


def test_a_forfeit_of_the_first_leg_loses_the_pairing_and_one_of_the_second_a_leg() -> None:
    evening = swiss_of(4, legs=2)
    evening.next_round()
    one, other = evening.now.open_boards()
    evening.end(one.matches[-1], 0, "forfeit")
    assert one.points == (2, 0)
    assert not one.is_played
    evening.end(other.matches[-1], 1)
    evening.write([director.replay_of(evening.now, evening.new_match, 0)])
    evening.end(other.matches[-1], 1, "forfeit")
    assert (other.points, other.is_played) == ((1, 1), True)
    refused(Code.BAD_TOURNAMENT, lambda: director.opened(terms("arena", legs=2), None, 0))


def test_a_knockout_of_two_legs_goes_on_with_single_matches_after_a_draw() -> None:
    evening = Evening(terms("knockout", legs=2), 2)
    evening.write(director.start(evening.now, 0))
    evening.next_round()
    board = evening.now.rounds[0][1]
    for winner in (0, 0):  # each wins when moving first
        evening.end(board.matches[-1], winner)
        evening.write([director.replay_of(evening.now, evening.new_match, 0)])
    evening.end(board.matches[-1], 1)
    assert board.points == (0, 2)
    assert len(board.matches) == 3


def test_a_knockout_has_a_match_for_third_place_beside_the_final() -> None:
    evening = Evening(terms("knockout"), 8)
    evening.write(director.start(evening.now, 0))
    evening.play(lambda: (0, "line"))
    assert [len(boards) for boards in evening.now.rounds] == [4, 2, 2]
    assert sorted(row.place for row in evening.now.standings()) == [1, 2, 3, 4, 5, 5, 5, 5]


def test_a_round_robin_goes_on_without_a_leaver_whose_few_results_do_not_count() -> None:
    evening = Evening(terms("round_robin", rounds=1), 4)
    evening.write(director.start(evening.now, 0))
    evening.next_round()
    for board in evening.now.open_boards():
        evening.end(board.matches[-1], 0)
    evening.write(director.leave(evening.now, 101, 0))
    evening.play(lambda: (0, "line"))
    rows = {row.entrant: row.score for row in evening.now.standings()}
    assert rows[1] == 0
    assert sum(rows.values()) == 6


def test_a_correction_takes_the_place_of_a_result_and_keeps_a_note() -> None:
    evening = swiss_of(2)
    evening.next_round()
    refused(Code.MATCH_NOT_OVER, lambda: director.correct(evening.now, 1, 1, "0-1", "", 0))
    evening.end(evening.now.open_boards()[0].matches[-1], 0)
    evening.write(director.correct(evening.now, 1, 1, "1/2-1/2", "both thought it was a draw", 0))
    assert [row.score for row in evening.now.standings()] == [1, 1]
    assert director.correct(evening.now, 1, 1, "1/2-1/2", "", 0) == []
    refused(Code.BAD_TOURNAMENT, lambda: director.correct(evening.now, 2, 1, "1-0", "", 0))
    refused(Code.BAD_TOURNAMENT, lambda: director.correct(evening.now, 1, 2, "1-0", "", 0))
    refused(Code.BAD_TOURNAMENT, lambda: director.correct(evening.now, 1, 1, "2-0", "", 0))


def test_a_knockout_is_corrected_until_its_next_round_begins() -> None:
    evening = Evening(terms("knockout"), 4)
    evening.write(director.start(evening.now, 0))
    evening.next_round()
    for board in evening.now.open_boards():
        evening.end(board.matches[-1], 0)
    refused(Code.BAD_TOURNAMENT, lambda: director.correct(evening.now, 1, 1, "1/2-1/2", "", 0))
    evening.write(director.correct(evening.now, 1, 1, "0-1", "typed wrongly", 0))
    evening.next_round()
    refused(Code.TOO_LATE, lambda: director.correct(evening.now, 1, 1, "1-0", "", 0))


def test_no_round_begins_before_all_of_the_last_is_settled_nor_while_paused() -> None:
    evening = swiss_of(4)
    evening.next_round()
    first, second = evening.now.open_boards()
    evening.end(first.matches[-1], 0)
    assert director.due(evening.now, 0, 3_600_000) is None
    refused(Code.MATCH_NOT_OVER, lambda: director.want_round(evening.now, 0))
    evening.end(second.matches[-1], 0)
    assert director.due(evening.now, 0, 14_999) is None
    assert director.due(evening.now, 0, 15_000) == "pair"
    evening.write(director.pause(evening.now, 0))
    assert director.due(evening.now, 0, 3_600_000) is None
    evening.write(director.resume(evening.now, 0))
    assert director.due(evening.now, 0, 15_000) == "pair"
    evening.write(director.pause(evening.now, 0))
    evening.write(director.want_round(evening.now, 0))
    assert director.want_round(evening.now, 0) == []
    assert director.due(evening.now, 0, 0) == "pair"
    evening.next_round()
    assert not evening.now.is_round_wanted


def test_a_tournament_begins_when_it_is_full_or_at_its_time() -> None:
    full = Evening(terms(full=3), 2)
    assert director.due(full.now, 0, 0) is None
    full.write(director.enter(full.now, 300, 0))
    assert director.due(full.now, 0, 0) == "begin"
    timed = Evening(terms(starts_ms=5_000), 3)
    assert director.due(timed.now, 4_999, 0) is None
    assert director.due(timed.now, 5_000, 0) == "begin"


def test_a_tournament_that_nobody_starts_ends_by_itself() -> None:
    evening = Evening(terms(), 3)
    assert director.due(evening.now, director.STALE_MS - 1, 0) is None
    assert director.due(evening.now, director.STALE_MS, 0) == "close"
    evening.write(director.closed(evening.now, director.STALE_MS))
    assert evening.now.closed == "not_started"
    refused(Code.TOURNAMENT_OVER, lambda: director.enter(evening.now, 300, 0))
    assert director.end(evening.now, 0) == []


def test_a_tournament_has_a_most_of_players() -> None:
    evening = Evening(terms(most=3), 3)
    refused(Code.TOURNAMENT_FULL, lambda: director.enter(evening.now, 300, 0))


def test_a_proposal_that_breaks_a_law_is_no_round() -> None:
    evening = swiss_of(4)
    evening.next_round()
    for board in evening.now.open_boards():
        evening.end(board.matches[-1], 0)
    good = director.propose(evening.now, matched)
    director.check(evening.now, good)
    rematch = [(board.first, board.second or 0) for board in evening.now.rounds[0].values()]
    with pytest.raises(ValueError, match="have met"):
        director.check(evening.now, good._replace(boards=rematch))
    with pytest.raises(ValueError, match="is in the round 0 times"):
        director.check(evening.now, good._replace(boards=good.boards[:1]))


class Hours(Evening):
    """An evening without rounds: time passes, and players come and go between matches."""

    def __init__(self, its_terms: Terms, players: int, seed: int = 0) -> None:
        super().__init__(its_terms, players, seed)
        self.now_ms = 0
        self.away: dict[Entrant, int] = {}
        self.free: dict[Entrant, int] = {}
        self.write(director.start(self.now, 0))

    def seat(self) -> list[AnyFact]:
        """Let all matches begin that begin now."""
        playing = {entrant for board in self.now.open_boards() for entrant in board.entrants}
        self.free = {
            each: self.free.get(each, self.now_ms)
            for each in self.now.present
            if each not in playing and each not in self.away
        }
        presence = {each: director.Availability(True, since) for each, since in self.free.items()}
        presence |= {
            each: director.Availability(False, since) for each, since in self.away.items() if each not in playing
        }
        facts = director.seating(self.now, presence, self.now.standings, self.new_match, self.now_ms, self.now_ms)
        self.write(facts)
        return facts

    def pairs(self) -> list[tuple[Entrant, ...]]:
        return [board.entrants for board in self.now.open_boards()]

    def end_board(self, winner: Entrant | None, reason: str = "line") -> None:
        board = self.now.open_boards()[0]
        self.end(board.matches[-1], None if winner is None else board.entrants.index(winner), reason)

    def later(self, ms: int) -> None:
        self.now_ms += ms


def arena_of(players: int, **others: object) -> Hours:
    return Hours(terms("arena", minutes=30, pause_s=0, **others), players)


def king_of(players: int, **others: object) -> Hours:
    return Hours(terms("king", pause_s=0, **others), players)


@given(
    kind=st.sampled_from(["arena", "king"]),
    players=st.integers(2, 9),
    seed=st.integers(0, 10_000),
)
@settings(max_examples=60, deadline=None)
def test_an_evening_without_rounds_ends_at_its_time_and_its_state_follows_from_its_facts(
    kind: TournamentKind, players: int, seed: int
) -> None:
    evening = Hours(terms(kind, minutes=10, pause_s=0), players, seed)
    rng, result = evening.rng, by_lot(evening.rng)
    while director.due(evening.now, evening.now_ms, 0) == "pair":
        match rng.choice(["end", "end", "away", "back", "enter", "leave", "wait"]):
            case "end" if evening.now.open_boards():
                board = rng.choice(evening.now.open_boards())
                evening.end(board.matches[-1], *result())
            case "away":
                evening.away[rng.choice(list(evening.now.entrants))] = evening.now_ms
            case "back":
                evening.away.clear()
            case "enter":
                player = rng.choice([*range(101, 101 + players), 900])
                evening.write(director.enter(evening.now, player, evening.now_ms))
            case "leave":
                evening.write(director.leave(evening.now, 101 + rng.randrange(players), evening.now_ms))
        evening.later(rng.choice([1_000, 10_000, 30_000]))
        evening.seat()
        seats = [each for pair in evening.pairs() for each in pair]
        assert len(seats) == len(set(seats)), "nobody has two matches at a time"
        again = evening.rebuilt()
        assert (again.rounds, again.entrants, again.standings()) == (
            evening.now.rounds,
            evening.now.entrants,
            evening.now.standings(),
        )
        assert set(again.tables.entrants) == set(evening.now.tables.entrants)
    evening.write(director.closed(evening.now, evening.now_ms))
    for board in evening.now.open_boards():
        evening.end(board.matches[-1], 0)
    assert evening.now.closed == "finished"
    assert evening.rebuilt().standings() == evening.now.standings()


def test_a_crowd_in_an_arena_is_paired_at_once_and_again_after_each_match() -> None:
    evening = arena_of(4)
    evening.seat()
    assert sorted(evening.pairs()) == [(1, 2), (3, 4)]
    evening.end_board(1)
    evening.later(14_000)
    assert evening.seat() == [], "two who have just met wait for others"
    evening.end_board(3)
    evening.seat()
    assert {frozenset(pair) for pair in evening.pairs()} == {frozenset((1, 3)), frozenset((2, 4))}


def test_wins_in_a_row_count_double_in_an_arena_and_agreed_draws_nothing() -> None:
    evening = arena_of(2)
    for winner, reason in ((1, "line"), (1, "line"), (1, "line"), (None, "agreement"), (None, "abort")):
        evening.seat()
        evening.end_board(winner, reason)
    assert [(row.entrant, row.score) for row in evening.now.standings()] == [(1, 16), (2, 0)]
    assert evening.now.streaks() == {1: 0, 2: 0}


def test_a_match_that_the_end_of_an_arena_overtakes_does_not_count() -> None:
    evening = arena_of(2)
    evening.seat()
    evening.later(30 * 60_000)
    assert director.due(evening.now, evening.now_ms, 0) == "close"
    evening.write(director.closed(evening.now, evening.now_ms))
    evening.end_board(1)
    assert [row.score for row in evening.now.standings()] == [0, 0]
    assert evening.rebuilt().standings() == evening.now.standings()


def test_a_pause_and_a_server_that_stood_still_lengthen_an_arena() -> None:
    evening = arena_of(2)
    assert evening.now.left_ms(60_000) == 29 * 60_000
    evening.write(director.pause(evening.now, 60_000))
    assert evening.now.left_ms(120_000) == 29 * 60_000
    evening.write(director.resume(evening.now, 120_000))
    assert evening.now.left_ms(120_000) == 29 * 60_000
    evening.write(director.stood_still(evening.now, 180_000))
    assert evening.now.left_ms(180_000) == 29 * 60_000
    evening.write(director.stood_still(evening.now, 180_000 + 3_600_000))
    assert evening.now.left_ms(180_000 + 3_600_000) == 0, "a quarter of an hour at most"


def test_a_late_comer_of_an_arena_plays_at_once() -> None:
    evening = arena_of(2)
    evening.seat()
    evening.write(director.enter(evening.now, 300, evening.now_ms))
    evening.write(director.enter(evening.now, 301, evening.now_ms))
    evening.seat()
    evening.later(15_000)
    evening.seat()
    assert evening.pairs() == [(1, 2), (3, 4)]


def test_the_winner_stays_at_the_table_and_wins_there_are_points() -> None:
    evening = king_of(4)
    evening.seat()
    assert evening.pairs() == [(2, 1)]
    evening.end_board(2)
    evening.seat()
    assert (evening.pairs(), evening.now.tables.waiting) == ([(3, 2)], (4, 1))
    evening.end_board(2)
    king = evening.now.standings()[0]
    assert (king.entrant, king.score, king.breaks[0]) == (2, 4, 2)


def test_an_absent_player_is_passed_over_after_a_while_and_the_second_time_is_out() -> None:
    evening = king_of(4)
    evening.seat()
    evening.away[3] = evening.now_ms
    evening.end_board(1)
    evening.later(19_000)
    assert evening.seat() == [], "it is the turn of 3"
    evening.later(1_000)
    assert [type(fact).__name__ for fact in evening.seat()] == ["PassedOver"]
    evening.seat()
    assert evening.pairs() == [(4, 1)]
    evening.end_board(4)
    assert [type(fact).__name__ for fact in evening.seat()] == ["EntrantLeft"]
    evening.seat()
    assert evening.pairs() == [(2, 4)]
    evening.write(director.enter(evening.now, 103, evening.now_ms))
    assert evening.now.tables.waiting == (1, 3)


def test_only_tournaments_without_rounds_have_a_length() -> None:
    refused(Code.BAD_TOURNAMENT, lambda: director.opened(terms(minutes=5), None, 0))
    assert director.opened(terms("arena"), None, 0).terms.minutes == director.ARENA_MINUTES
    refused(Code.BAD_TOURNAMENT, lambda: director.want_round(king_of(2).now, 0))


def spare_at_start(evening: Evening) -> None:
    evening.write(director.start(evening.now, 0, SPARE))


SPARE = 99


def test_a_spare_bot_plays_while_the_number_of_players_of_a_swiss_is_odd() -> None:
    evening = Evening(terms(rounds=4, spare="Mia"), 3)
    spare_at_start(evening)
    assert evening.now.present == [1, 2, 3, 4]
    evening.next_round()
    assert not evening.now.offs()
    for board in evening.now.open_boards():
        evening.end(board.matches[-1], 0)
    assert director.seat_spare(evening.now, 0, SPARE) == []
    evening.write(director.enter(evening.now, 105, 0))
    evening.write(director.seat_spare(evening.now, 0, SPARE))
    assert evening.now.present == [1, 2, 3, 5], "four people need no bot"
    evening.next_round()
    for board in evening.now.open_boards():
        evening.end(board.matches[-1], 0)
    evening.write(director.leave(evening.now, 101, 0))
    evening.write(director.seat_spare(evening.now, 0, SPARE))
    assert evening.now.present == [2, 3, 4, 5]
    evening.write(director.remove(evening.now, SPARE, 0))
    assert director.seat_spare(evening.now, 0, SPARE) == [], "the organiser has removed it"
    assert director.seat_spare(evening.now, 0, None) == [], "it is not connected"


def test_a_spare_bot_enters_a_round_robin_only_at_its_start() -> None:
    evening = Evening(terms("round_robin", rounds=1, spare="Mia"), 3)
    spare_at_start(evening)
    assert evening.now.total_rounds == 3
    evening.write(director.leave(evening.now, 101, 0))
    assert director.seat_spare(evening.now, 0, SPARE) == []
    full = Evening(terms(spare="Mia", most=3), 3)
    spare_at_start(full)
    assert full.now.present == [1, 2, 3]
    even = Evening(terms(spare="Mia"), 4)
    spare_at_start(even)
    assert even.now.present == [1, 2, 3, 4]


def test_kinds_without_byes_have_no_spare_bot_and_anonymous_tournaments_neither_chat_nor_ratings() -> None:
    for kind in ("knockout", "arena", "king"):
        with pytest.raises(Refusal, match="only in a Swiss or a round robin"):
            director.opened(terms(kind, spare="Mia"), None, 0)
    with pytest.raises(Refusal, match="cannot be rated"):
        director.opened(terms(anonymous=True, rated=True), None, 0)
    assert not director.opened(terms(anonymous=True), None, 0).terms.chat
    assert director.opened(terms(), None, 0).terms.chat
