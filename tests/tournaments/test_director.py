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
from ttt_net.tournaments.matching import matched
from ttt_net.tournaments.schedules import Entrant
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
    if now.terms.kind == "swiss":
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
    seed=st.integers(0, 10_000),
)
@settings(max_examples=60, deadline=None)
def test_any_evening_ends_with_every_result_counted_once(
    kind: TournamentKind, players: int, rounds: int, seed: int
) -> None:
    evening = Evening(terms(kind, rounds=min(rounds, 2) if kind == "round_robin" else rounds), players, seed)
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
