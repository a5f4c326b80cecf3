"""Transcripts of the referee: `>>` what was asked by whom, `<<` the events or the refusal that followed."""

import datetime
import random
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ttt_net import messages as wire
from ttt_net.clock import TimeControl, grace_ms
from ttt_net.errors import Code, Refusal
from ttt_net.games import Reason, Side, find_game
from ttt_net.games.catalogue import names
from ttt_net.games.notation import write_position
from ttt_net.games.outside import GameFault
from ttt_net.games.records import TimeLimit, read_record, write_record
from ttt_net.matches.description import describe_position
from ttt_net.matches.match import CHANGE_MS, Absences, FirstMoves, Match, record_of
from ttt_net.matches.referee import (
    MAX_OFFERS,
    MAX_TAKEBACKS,
    RATED_PLIES,
    Command,
    decide,
    flag_fall,
    forsaken,
    forsaken_at_ms,
    no_show,
    rematch,
)

SECOND = 1_000
BLITZ = TimeControl(initial_ms=180 * SECOND, increment_ms=2 * SECOND)


def start(game: str = "tictactoe", time: TimeControl | None = None) -> Match:
    players = (wire.PlayerInfo("Ann"), wire.PlayerInfo("Bob"))
    return Match(wire.Started(match="m", seq=1, at_ms=0, game=game, players=players, time=time))


def command(words: str, match: Match) -> Command:
    verb, *rest = words.split()
    if verb == "play":
        return wire.PlayRequest(1, "m", int(rest[1]) if rest[1:] else len(match.moves), int(rest[0]))
    if verb == "agree":
        return wire.AgreeRequest(1, "m", int(rest[0]))
    if verb in {"offer", "decline"} and rest[1:]:
        number = int(rest[1])
        if verb == "offer":
            return wire.OfferRequest(1, "m", rest[0], ply=number)  # type: ignore[arg-type]
        return wire.DeclineRequest(1, "m", rest[0], offer=number)  # type: ignore[arg-type]
    if verb in {"offer", "decline", "claim"}:
        makers: dict[str, Any] = {
            "offer": wire.OfferRequest,
            "decline": wire.DeclineRequest,
            "claim": wire.ClaimRequest,
        }
        made: Command = makers[verb](1, "m", rest[0])
        return made
    return wire.ResignRequest(1, "m") if verb == "resign" else wire.AbortRequest(1, "m")


def written(event: wire.MatchEvent) -> str:
    match event:
        case wire.Played():
            return f"{event.seq} {'XO'[event.side]} played {event.move}"
        case wire.Ended():
            winner = "nobody" if event.winner is None else "XO"[event.winner]
            return f"{event.seq} {winner} won: {event.reason}"
        case wire.Offered() | wire.Declined():
            return f"{event.seq} {'XO'[event.side]} {type(event).__name__.lower()} {event.kind}"
        case wire.Tookback():
            return f"{event.seq} {'XO'[event.side]} took back to ply {event.ply}"
        case wire.Adjourned():
            return f"{event.seq} {'XO'[event.side]} adjourned"
        case wire.Rematched():
            return f"{event.seq} rematched in {event.next}"
    return f"{event.seq} started"


def heard(match: Match, line: str) -> Iterator[str]:
    """Carry out one `>>` line, such as `X play 4`, `- resign` (a stranger) or `5s` (time passes)."""
    who, words = line.split(maxsplit=1)
    side = {"X": 0, "O": 1, "-": None}[who]
    now_ms = 0
    if found := re.match(r"at (\d+)s (.*)", words):
        now_ms, words = int(found[1]) * SECOND, found[2]
    try:
        events = flag_fall(match, now_ms) if words == "flag" else decide(match, side, command(words, match), now_ms)
    except Refusal as refusal:
        yield f"refused {refusal.code}"
        return
    if not events:
        yield "ok"
    for event in events:
        match.evolve(event)
        yield written(event)


def follows(match: Match, transcript: str) -> None:
    """Check a transcript: each `>>` line is followed by exactly the `<<` lines that it leads to."""
    lines = [line.strip() for line in transcript.strip().splitlines()]
    actual: list[str] = []
    for line in lines:
        if line.startswith(">>"):
            actual.append(line)
            actual += [f"<< {each}" for each in heard(match, line[2:])]
    assert actual == lines


def test_a_whole_match_is_played_and_won() -> None:
    match = start()
    follows(
        match,
        """
        >> X play 4
        << 2 X played 4
        >> O play 0
        << 3 O played 0
        >> X play 2
        << 4 X played 2
        >> O play 1
        << 5 O played 1
        >> X play 6
        << 6 X played 6
        << 7 X won: line
        """,
    )
    assert match.position().line == [2, 4, 6]
    assert match.position().to_move is None
    assert match.position().legal == []


def test_refusals_change_nothing_and_give_a_reason() -> None:
    match = start()
    follows(match, ">> X play 4\n<< 2 X played 4")
    before = msgspec.to_builtins(match.snapshot(0, (True, True), 0))
    follows(
        match,
        """
        >> X play 0
        << refused not_your_turn
        >> O play 0 0
        << refused stale_ply
        >> O play 0 9
        << refused stale_ply
        >> O play 4
        << refused cell_taken
        >> O play 9
        << refused illegal_move
        >> - play 0
        << refused not_seated
        >> - resign
        << refused not_seated
        >> O decline draw
        << refused no_offer
        >> X offer rematch
        << refused match_not_over
        """,
    )
    assert msgspec.to_builtins(match.snapshot(0, (True, True), 0)) == before


def test_repeating_a_move_is_no_error_and_no_event() -> None:
    follows(
        start(),
        """
        >> X play 4
        << 2 X played 4
        >> X play 4 0
        << ok
        >> O play 0
        << 3 O played 0
        >> X play 4 0
        << ok
        >> X play 5 0
        << refused stale_ply
        >> O play 4 0
        << refused stale_ply
        """,
    )


def test_the_winning_move_again_is_still_ok_after_the_end() -> None:
    match = start("mnk:3x1,1")
    follows(match, ">> X play 0\n<< 2 X played 0\n<< 3 X won: line\n>> X play 0 0\n<< ok")
    follows(match, ">> O play 1\n<< refused match_over\n>> X resign\n<< refused match_over")


def test_a_full_board_is_a_draw() -> None:
    match = start("mnk:2x1,2")
    follows(match, ">> X play 0\n<< 2 X played 0\n>> O play 1\n<< 3 O played 1\n<< 4 nobody won: draw")


def test_resigning_gives_the_match_to_the_other() -> None:
    follows(start(), ">> O resign\n<< 2 X won: resign\n>> O resign\n<< refused match_over")


def test_a_match_can_be_aborted_until_both_have_moved() -> None:
    follows(start(), ">> X play 0\n<< 2 X played 0\n>> O abort\n<< 3 nobody won: abort")
    follows(
        start(),
        """
        >> X play 0
        << 2 X played 0
        >> O play 1
        << 3 O played 1
        >> X abort
        << refused too_late
        """,
    )


def test_a_draw_is_offered_and_agreed_with_the_same_verb() -> None:
    follows(start(), ">> X offer draw\n<< 2 X offered draw\n>> O offer draw\n<< 3 nobody won: agreement")


def test_a_draw_offer_lapses_with_the_next_move() -> None:
    follows(
        start(),
        """
        >> O offer draw
        << 2 O offered draw
        >> O offer draw
        << ok
        >> X play 0
        << 3 X played 0
        >> X decline draw
        << refused no_offer
        >> O offer draw
        << 4 O offered draw
        """,
    )


def test_a_declined_draw_can_be_offered_again_after_a_move_and_not_before() -> None:
    follows(
        start(),
        """
        >> X offer draw
        << 2 X offered draw
        >> O decline draw
        << 3 O declined draw
        >> X offer draw
        << refused turned_down
        >> O offer draw
        << 4 O offered draw
        >> O decline draw
        << 5 O declined draw
        >> O offer draw
        << refused turned_down
        >> X play 0
        << 6 X played 0
        >> X offer draw
        << 7 X offered draw
        """,
    )


def test_a_move_is_taken_back_when_both_agree() -> None:
    match = start()
    follows(
        match,
        """
        >> X offer takeback
        << refused no_move
        >> X play 4
        << 2 X played 4
        >> O play 0
        << 3 O played 0
        >> X play 8
        << 4 X played 8
        >> O offer takeback
        << 5 O offered takeback
        >> X offer takeback
        << 6 O took back to ply 1
        >> O play 2
        << 7 O played 2
        >> O offer takeback
        << 8 O offered takeback
        >> X decline takeback
        << 9 X declined takeback
        >> O offer takeback
        << refused turned_down
        """,
    )
    assert match.position().board == "..O.X...."
    assert Match.from_events(match.events).position() == match.position()
    assert [type(event) for event in match.tail(5)] == [wire.Tookback, wire.Played, wire.Offered, wire.Declined]
    assert match.tail(5)[0].position.board == "....X...."  # type: ignore[union-attr]


def test_an_offer_is_accepted_by_its_number_and_accepting_it_again_changes_nothing() -> None:
    match = start()
    follows(
        match,
        """
        >> X play 4
        << 2 X played 4
        >> O play 0
        << 3 O played 0
        >> X play 8
        << 4 X played 8
        >> O offer takeback 3
        << 5 O offered takeback
        >> O agree 5
        << refused no_offer
        >> X agree 4
        << refused no_offer
        >> X agree 99
        << refused no_offer
        >> X decline draw 5
        << refused no_offer
        >> X agree 5
        << 6 O took back to ply 1
        >> X agree 5
        << ok
        >> O offer draw 1
        << 7 O offered draw
        >> X agree 7
        << 8 nobody won: agreement
        >> X agree 7
        << ok
        >> X agree 5
        << ok
        >> X offer rematch 1
        << 9 X offered rematch
        >> O agree 9
        << 10 rematched in m-2
        >> O agree 9
        << ok
        >> X offer rematch 1
        << ok
        """,
    )


def test_an_acceptance_that_crosses_a_move_is_refused_and_is_no_offer() -> None:
    match = start()
    follows(
        match,
        """
        >> X play 4
        << 2 X played 4
        >> X offer draw 1
        << 3 X offered draw
        >> O play 0
        << 4 O played 0
        >> X offer draw 2
        << 5 X offered draw
        >> X play 8
        << 6 X played 8
        >> O agree 5
        << refused stale_offer
        >> O agree 3
        << refused stale_offer
        >> O decline draw 5
        << refused stale_offer
        """,
    )
    assert match.offers == {}


def test_a_resent_takeback_that_was_granted_is_not_granted_twice() -> None:
    match = start()
    follows(
        match,
        """
        >> X play 4
        << 2 X played 4
        >> O play 0
        << 3 O played 0
        >> X play 8
        << 4 X played 8
        >> O offer takeback 3
        << 5 O offered takeback
        >> O offer takeback 3
        << ok
        >> X agree 5
        << 6 O took back to ply 1
        >> O offer takeback 3
        << refused stale_offer
        """,
    )
    assert match.offers == {}


def test_an_offer_that_crosses_a_move_is_refused() -> None:
    follows(
        start(),
        """
        >> X play 4
        << 2 X played 4
        >> X offer draw 0
        << refused stale_offer
        >> X offer takeback 2
        << refused stale_offer
        """,
    )


def test_draw_offers_that_cross_are_an_agreement_and_takebacks_that_cross_are_not() -> None:
    follows(
        start(),
        """
        >> X play 4
        << 2 X played 4
        >> O play 0
        << 3 O played 0
        >> X offer takeback 2
        << 4 X offered takeback
        >> O offer takeback 2
        << refused stale_offer
        >> O decline takeback 4
        << 5 O declined takeback
        >> O decline takeback 4
        << ok
        >> X decline takeback 4
        << refused stale_offer
        >> X offer draw 2
        << 6 X offered draw
        >> O offer draw 2
        << 7 nobody won: agreement
        """,
    )


def test_an_offer_of_one_kind_is_not_accepted_by_the_agreement_on_another() -> None:
    follows(
        start(),
        """
        >> X play 4
        << 2 X played 4
        >> O play 0
        << 3 O played 0
        >> X offer draw 2
        << 4 X offered draw
        >> X offer takeback 2
        << 5 X offered takeback
        >> O decline takeback 5
        << 6 O declined takeback
        >> O agree 5
        << refused stale_offer
        >> O agree 4
        << 7 nobody won: agreement
        >> O agree 5
        << refused stale_offer
        """,
    )


def test_the_takebacks_of_a_match_have_an_end() -> None:
    match = start()
    once = """
        >> X play 4
        << {0} X played 4
        >> X offer takeback
        << {1} X offered takeback
        >> O offer takeback
        << {2} X took back to ply 0
        """
    for number in range(MAX_TAKEBACKS):
        follows(match, once.format(*(2 + 3 * number + each for each in range(3))))
    match = Match.from_events(match.events)
    follows(
        match,
        """
        >> X play 4
        << 152 X played 4
        >> X offer takeback
        << refused too_many_takebacks
        >> O play 0
        << 153 O played 0
        >> O offer takeback
        << refused too_many_takebacks
        """,
    )


def test_the_offers_of_each_player_in_a_match_have_an_end() -> None:
    match = start(game="mnk:19x19,19")
    for ply in range(2 + MAX_OFFERS // 2):
        mover = "XO"[ply % 2]
        follows(match, f">> {mover} play {ply}\n<< {match.seq + 1} {mover} played {ply}")
        for kind in ("draw", "takeback") if ply > 1 else ():
            follows(match, f">> X offer {kind}\n<< {match.seq + 1} X offered {kind}")
            follows(match, f">> O decline {kind}\n<< {match.seq + 1} O declined {kind}")
    follows(match, f">> X play 200\n<< {match.seq + 1} X played 200")
    for each in (match, Match.from_events(match.events)):
        follows(each, ">> X offer draw\n<< refused too_many_offers\n>> X offer takeback\n<< refused too_many_offers")
    follows(
        match,
        f"""
        >> O offer draw
        << {match.seq + 1} O offered draw
        >> X offer draw
        << {match.seq + 2} nobody won: agreement
        >> X offer rematch
        << {match.seq + 3} X offered rematch
        """,
    )


def test_a_match_ends_within_1500_events_whatever_its_players_offer() -> None:
    """Both offer, decline and take back whatever they can, at each ply of the longest game."""
    match, now_ms = start(game="mnk:19x19,19"), 0

    def attempt(side: Side, command: Command) -> None:
        nonlocal now_ms
        now_ms += 1
        with suppress(Refusal):
            for event in decide(match, side, command, now_ms):
                match.evolve(event)

    while not match.is_over:
        for side in (0, 1):
            for kind in get_args(wire.OfferKind):
                attempt(side, wire.OfferRequest(1, match.id, kind))
                if kind == "takeback":
                    attempt(1 - side, wire.OfferRequest(1, match.id, kind))
                attempt(1 - side, wire.DeclineRequest(1, match.id, kind))
        assert match.to_move is not None
        attempt(match.to_move, wire.PlayRequest(1, match.id, len(match.moves), match.game.actions(match.state)[0]))
    assert 361 < match.seq < 1_500


def test_nobody_can_claim_against_a_connected_opponent() -> None:
    match = start()
    follows(match, ">> X claim win\n<< refused opponent_here")
    match.absences.went(1, 0, on_purpose=False)
    follows(match, ">> X at 59s claim win\n<< refused opponent_here\n>> O at 99s claim win\n<< refused opponent_here")
    match.absences.returned(1, 99 * SECOND)
    follows(match, ">> X at 99s claim win\n<< refused opponent_here")


@pytest.mark.parametrize("is_rated", [True, False])
@pytest.mark.parametrize("plies", [2, 3, 4])
@pytest.mark.parametrize("end", ["resign", "flag", "claim win", "claim draw", "agreement"])
def test_a_rated_match_is_aborted_until_both_have_moved_twice(end: str, plies: int, *, is_rated: bool) -> None:
    players = (wire.PlayerInfo("Ann"), wire.PlayerInfo("Bob"))
    match = Match(wire.Started("m", 1, 0, "gomoku", players, BLITZ, rated=is_rated))
    for ply in range(plies):
        play(match, wire.PlayRequest(1, "m", ply, ply), side=ply % 2)
    if end == "resign":
        play(match, wire.ResignRequest(1, "m"), side=1)
    elif end == "flag":
        for event in flag_fall(match, 10**9):
            match.evolve(event)
    elif end == "agreement":
        for side in (0, 1):
            play(match, wire.OfferRequest(1, "m", "draw"), side=side)
    else:
        match.absences.went(1, 0, on_purpose=False)
        kind: wire.ClaimKind = "win" if end == "claim win" else "draw"
        play(match, wire.ClaimRequest(1, "m", kind), side=0, at_ms=30 * SECOND)
    assert match.outcome is not None
    assert (match.outcome.reason is Reason.ABORT) == (is_rated and plies < RATED_PLIES)


@pytest.mark.parametrize("plies", [RATED_PLIES - 1, RATED_PLIES])
def test_a_player_may_abort_a_rated_match_until_both_have_moved_twice(plies: int) -> None:
    players = (wire.PlayerInfo("Ann"), wire.PlayerInfo("Bob"))
    match = Match(wire.Started("m", 1, 0, "gomoku", players, rated=True))
    for ply in range(plies):
        play(match, wire.PlayRequest(1, "m", ply, ply), side=ply % 2)
    if plies < RATED_PLIES:
        play(match, wire.AbortRequest(1, "m"), side=0)
        assert match.outcome is not None
        assert match.outcome.reason is Reason.ABORT
    else:
        with pytest.raises(Refusal) as refused:
            play(match, wire.AbortRequest(1, "m"), side=0)
        assert (refused.value.code, match.outcome) == (Code.TOO_LATE, None)


ONE_MOVE, TWO_MOVES = ">> X play 0\n<< 2 X played 0\n", ">> X play 0\n<< 2 X played 0\n>> O play 4\n<< 3 O played 4\n"


@pytest.mark.parametrize(
    ("before", "request_line", "elsewhere", "in_tournament"),
    [
        (ONE_MOVE, "O abort", "3 nobody won: abort", "refused not_in_tournament"),
        (TWO_MOVES, "O offer takeback", "4 O offered takeback", "refused not_in_tournament"),
        (TWO_MOVES, "O offer draw", "4 O offered draw", "4 O offered draw"),
        (ONE_MOVE, "X at 60s claim draw", "3 nobody won: abandon", "refused not_in_tournament"),
        (ONE_MOVE, "X at 60s claim adjourn", "3 X adjourned", "refused not_in_tournament"),
        (ONE_MOVE, "X at 60s claim win", "3 X won: abandon", "3 X won: abandon"),
        (">> O resign\n<< 2 X won: resign\n", "O offer rematch", "3 O offered rematch", "refused not_in_tournament"),
    ],
)
def test_a_match_of_a_tournament_is_played_once_and_to_its_end(
    before: str, request_line: str, elsewhere: str, in_tournament: str
) -> None:
    for match, answer in ((start(), elsewhere), (Match(in_round()), in_tournament)):
        match.absences.went(1, 0, on_purpose=False)
        follows(match, f"{before}>> {request_line}\n<< {answer}")


def in_round(**about: Any) -> wire.Started:
    """Return the start of a match of a tournament."""
    players = (wire.PlayerInfo("Ann"), wire.PlayerInfo("Bob", about.pop("bot", None)))
    place = wire.TournamentPlace("ABCDEFGH", 1, 1)
    return wire.Started("m", 1, 0, "tictactoe", players, tournament=place, **about)


def test_a_rated_match_of_a_tournament_has_a_result_however_short_it_is() -> None:
    follows(Match(in_round(rated=True)), ">> O resign\n<< 2 X won: resign")


def test_no_bot_leaves_a_match_of_a_tournament() -> None:
    match = Match(in_round(bot="random"))
    match.absences.went(0, 0, on_purpose=False)
    assert forsaken_at_ms(match) is None
    assert forsaken(match, 3_600 * SECOND) == []


@pytest.mark.parametrize(
    ("moves", "away", "end"),
    [
        ("", (), "2 O won: forfeit"),
        ("", (0,), "2 O won: forfeit"),
        ("", (1,), "2 nobody won: forfeit"),
        ("", (0, 1), "2 nobody won: forfeit"),
        (ONE_MOVE, (), "3 X won: forfeit"),
        (ONE_MOVE, (0,), "3 X won: forfeit"),
        (ONE_MOVE, (0, 1), "3 X won: forfeit"),
        (TWO_MOVES, (), None),
        (">> X resign\n<< 2 O won: resign", (), None),
    ],
)
def test_an_overdue_first_move_forfeits_a_match_of_a_tournament(
    moves: str, away: tuple[Side, ...], end: str | None
) -> None:
    match = Match(in_round(time=BLITZ))
    match.first_moves = FirstMoves(30 * SECOND, 5 * SECOND)
    follows(match, moves)
    for side in away:
        match.absences.went(side, 0, on_purpose=False)
    for now_ms, is_due in ((35 * SECOND - 1, False), (35 * SECOND, True), (36 * SECOND, True)):
        found = no_show(match, now_ms)
        assert [written(event) for event in found] == ([end] if is_due and end else [])
        assert [event.at_ms for event in found] == [now_ms for _ in found]
        assert [event.at_ms for event in no_show(match, now_ms, 777)] == [777 for _ in found]
    assert match.first_move_due_ms == (35 * SECOND if end else None)


def test_the_second_side_forfeits_the_match_that_it_has_to_begin() -> None:
    match = Match(in_round(start="X../.O./..X"))
    match.first_moves = FirstMoves(30 * SECOND, 0)
    assert [written(event) for event in no_show(match, 30 * SECOND)] == ["2 X won: forfeit"]
    match.absences.went(0, 0, on_purpose=False)
    assert [written(event) for event in no_show(match, 30 * SECOND)] == ["2 nobody won: forfeit"]


def test_the_time_for_a_first_move_begins_when_its_player_is_notified() -> None:
    match = Match(in_round())
    match.count_from(9 * SECOND)
    assert match.first_move_due_ms is None, "this server sets no time for first moves"
    assert no_show(match, 3_600 * SECOND) == []
    match.first_moves = FirstMoves(30 * SECOND, 0)
    match.count_from(9 * SECOND)
    assert match.first_move_due_ms == 39 * SECOND


def play(match: Match, command: Command, *, side: int, at_ms: int = 0) -> None:
    """Decide one command and apply its events."""
    for event in decide(match, side, command, at_ms):
        match.evolve(event)


def test_after_the_grace_a_player_may_win_claim_a_draw_or_keep_waiting() -> None:
    for kind, winner in (("win", "X"), ("draw", "nobody")):
        match = start()
        match.absences.went(1, 0, on_purpose=False)
        follows(
            match, f">> X at 60s claim {kind}\n<< 2 {winner} won: abandon\n>> X at 61s claim win\n<< refused match_over"
        )


def test_an_adjourned_match_waits_for_both_with_its_clock_stopped() -> None:
    match = start(time=BLITZ)
    follows(match, ">> X play 0\n<< 2 X played 0\n>> O play 1\n<< 3 O played 1")
    match.absences.went(0, 0, on_purpose=False)
    follows(
        match,
        """
        >> O at 30s claim adjourn
        << 4 O adjourned
        >> O at 31s claim adjourn
        << ok
        >> O at 31s claim win
        << refused adjourned
        """,
    )
    assert match.clock
    assert match.clock.read(10**9) == (150 * SECOND, 180 * SECOND)
    match = Match.from_events(match.events)
    match.absences.went(1, 0, on_purpose=False)
    match.run_clock(0)
    follows(match, ">> X at 500s flag\n<< ok\n>> X at 500s play 2\n<< refused adjourned")
    match.absences.returned(1, 500 * SECOND)
    follows(match, ">> X at 500s play 2\n<< 5 X played 2\n>> O at 680s flag\n<< 6 X won: time")


def test_a_rematch_swaps_the_sides_and_continues_the_series() -> None:
    match = start()
    follows(
        match,
        """
        >> X resign
        << 2 O won: resign
        >> O offer rematch
        << 3 O offered rematch
        >> X offer rematch
        << 4 rematched in m-2
        >> X offer rematch
        << ok
        """,
    )
    second = Match(rematch(match, now_ms=5))
    assert [player.name for player in second.players] == ["Bob", "Ann"]
    assert (second.id, second.previous, second.game) == ("m-2", "m", match.game)
    assert Match(rematch(second, now_ms=6)).id == "m-3"


def test_nobody_is_charged_before_both_have_moved() -> None:
    match = start(time=BLITZ)
    follows(match, ">> X at 50s play 0\n<< 2 X played 0\n>> O at 100s play 1\n<< 3 O played 1")
    assert match.clock
    assert match.clock.read(100 * SECOND) == (180 * SECOND, 180 * SECOND)
    follows(match, ">> X at 110s play 2\n<< 4 X played 2")
    assert match.clock.read(110 * SECOND) == (172 * SECOND, 180 * SECOND)


def test_a_three_minute_match_is_lost_on_time_in_a_moment() -> None:
    match = start(time=BLITZ)
    follows(
        match,
        """
        >> X at 0s play 0
        << 2 X played 0
        >> O at 0s play 1
        << 3 O played 1
        >> X at 179s flag
        << ok
        >> X at 180s flag
        << 4 O won: time
        >> X at 180s flag
        << ok
        """,
    )
    assert match.snapshot(0, (True, True), 10**9).clock == wire.ClockInfo((0, 180 * SECOND), None)


def test_events_read_again_give_the_same_match_with_its_clock_stopped() -> None:
    match = start(time=BLITZ)
    follows(match, ">> X play 0\n<< 2 X played 0\n>> O play 1\n<< 3 O played 1\n>> X at 7s play 2\n<< 4 X played 2")
    follows(match, ">> O at 9s offer draw\n<< 5 O offered draw")
    again = Match.from_events(wire.decode_event(wire.encode(event)) for event in match.events)
    long_after = 10**9
    assert again.clock
    assert again.clock.read(long_after) == (175 * SECOND, 180 * SECOND)
    assert flag_fall(again, long_after) == []
    again.run_clock(long_after)
    assert flag_fall(again, long_after + 179 * SECOND) == []
    assert [written(event) for event in flag_fall(again, long_after + 180 * SECOND)] == ["6 X won: time"]
    assert again.position() == match.position()
    assert again.offers == match.offers


def test_the_tail_repeats_sent_events_up_to_the_latest() -> None:
    match, told = start("connect4"), []
    for ply, move in enumerate([38, 31, 24]):
        for event in decide(match, ply % 2, wire.PlayRequest(1, "m", ply, move), ply):
            match.evolve(event)
            told.append(match.told(event))
    assert match.tail(1) == told
    assert match.tail(2) == told[1:]
    assert match.tail(4) == match.tail(99) == []


commands = st.builds(
    wire.PlayRequest, st.just(1), st.just("m"), st.integers(0, 9), st.integers(0, 10)
) | st.sampled_from(
    [
        wire.ResignRequest(1, "m"),
        wire.AbortRequest(1, "m"),
        *(
            make(1, "m", kind)
            for make in (wire.OfferRequest, wire.DeclineRequest)
            for kind in ("draw", "takeback", "rematch")
        ),
        *(wire.OfferRequest(1, "m", kind, ply) for kind in ("draw", "takeback", "rematch") for ply in (0, 1, 2, 5)),
        *(wire.DeclineRequest(1, "m", "draw", number) for number in (0, 2, 3, 4, 9)),
        *(wire.AgreeRequest(1, "m", number) for number in (0, 1, 2, 3, 4, 5, 6, 9)),
        *(wire.ClaimRequest(1, "m", kind) for kind in ("win", "draw", "adjourn")),
        "O goes",
        "O comes",
    ]
)


@given(st.lists(st.tuples(st.sampled_from([0, 1, None]), commands, st.integers(0, 100 * SECOND)), max_size=60))
def test_no_sequence_of_commands_breaks_a_match_or_seats_a_stranger(
    steps: list[tuple[int | None, Command | str, int]],
) -> None:
    match, now_ms = start(time=BLITZ), 0
    for side, said, wait_ms in steps:
        now_ms += wait_ms
        if isinstance(said, str):
            if said == "O goes":
                match.absences.went(1, now_ms, on_purpose=bool(wait_ms % 2))
            else:
                match.absences.returned(1, now_ms)
            continue
        before = msgspec.to_builtins(match.snapshot(None, (True, True), now_ms))
        for event in flag_fall(match, now_ms):
            match.evolve(event)
        try:
            events = decide(match, side, said, now_ms)
        except Refusal:
            events = []
        else:
            assert side is not None
        if not events and not match.is_over:
            assert msgspec.to_builtins(match.snapshot(None, (True, True), now_ms)) == before
        for event in events:
            match.evolve(event)
            assert not isinstance(event, wire.Played) or event.side == side
    assert [event.seq for event in match.events] == list(range(1, len(match.events) + 1))
    again = Match.from_events(match.events)
    assert (again.state, again.outcome, again.offers, again.next) == (
        match.state,
        match.outcome,
        match.offers,
        match.next,
    )
    assert sum(isinstance(event, wire.Ended) for event in match.events) == match.is_over


def adjourned() -> Match:
    """A match in which O's clock ran from 0 s on, and which X adjourned at 50 s, after a pause of the server's."""
    match = start(time=TimeControl(initial_ms=300 * SECOND))
    follows(
        match,
        ">> X play 0\n<< 2 X played 0\n>> O play 1\n<< 3 O played 1\n>> X offer takeback\n<< 4 X offered takeback",
    )
    match = Match.from_events(match.events)
    match.absences.went(0, 3_600 * SECOND, on_purpose=False)
    match.run_clock(3_600 * SECOND)
    follows(match, ">> O at 3650s claim adjourn\n<< 5 O adjourned")
    return match


def test_an_adjourned_match_that_is_read_again_has_the_clock_that_it_was_adjourned_with() -> None:
    match = adjourned()
    assert match.clock
    assert match.clock.read(10**9) == (250 * SECOND, 300 * SECOND)
    again = Match.from_events(wire.decode_event(wire.encode(event)) for event in match.events)
    assert again.clock
    assert again.clock.read(10**9) == (250 * SECOND, 300 * SECOND)


def test_a_refund_after_an_adjournment_counts_against_the_quota_of_a_match_that_is_read_again() -> None:
    match = adjourned()
    match.absences.returned(0, 3_651 * SECOND)
    match.take_up()
    match.run_clock(3_651 * SECOND)
    for event in decide(match, 0, wire.PlayRequest(1, "m", 2, 2), 3_653 * SECOND, lag_ms=SECOND):
        match.evolve(event)
    assert match.clock
    again = Match.from_events(match.events)
    assert again.clock
    assert again.clock.lag_quota_ms == match.clock.lag_quota_ms != again.clock.lag_quota_ms[::-1]


def test_no_earlier_offer_resumes_an_adjourned_match() -> None:
    match = adjourned()
    follows(match, ">> O at 3651s offer takeback\n<< refused adjourned")
    match.absences.returned(0, 3_651 * SECOND)
    follows(
        match, ">> O at 3652s offer takeback\n<< 6 O offered takeback\n>> X offer takeback\n<< 7 O took back to ply 1"
    )


def test_with_time_per_move_the_move_after_a_takeback_has_all_of_it() -> None:
    match = start(time=TimeControl(initial_ms=30 * SECOND, per_move=True))
    follows(
        match,
        """
        >> X play 0
        << 2 X played 0
        >> O play 1
        << 3 O played 1
        >> X at 5s play 2
        << 4 X played 2
        >> X at 25s offer takeback
        << 5 X offered takeback
        >> O at 25s offer takeback
        << 6 X took back to ply 2
        >> X at 26s play 3
        << 7 X played 3
        """,
    )
    assert match.clock
    assert match.clock.read(26 * SECOND) == (30 * SECOND, 30 * SECOND)


def test_the_score_of_a_new_series_is_omitted_and_that_of_a_rematch_is_sent() -> None:
    match = start()
    assert b'"score"' not in wire.encode(match.snapshot(None, (True, True), 0))
    match.evolve(decide(match, 0, wire.ResignRequest(1, "m"), 0)[0])
    assert b'"score":[1.0,0.0]' in wire.encode(Match(rematch(match, 0)).snapshot(None, (True, True), 0))


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        ("draw", "your draw offer was declined or taken back; offer again after the next move"),
        ("takeback", "your wish to take a move back was declined or taken back; ask again after the next move"),
    ],
)
def test_an_offer_made_again_too_soon_is_refused_in_words_of_its_own(kind: wire.OfferKind, sentence: str) -> None:
    players = wire.PlayerInfo("Ann"), wire.PlayerInfo("Ben")
    match = Match(wire.Started(match="m", seq=1, at_ms=0, game="tictactoe", players=players))
    asked: tuple[tuple[int, Command], ...] = (
        (0, wire.PlayRequest(1, "m", 0, 4)),
        (1, wire.PlayRequest(1, "m", 1, 0)),
        (0, wire.OfferRequest(1, "m", kind)),
        (1, wire.DeclineRequest(1, "m", kind)),
    )
    for side, request in asked:
        for event in decide(match, side, request, 0):
            match.evolve(event)
    with pytest.raises(Refusal) as refused:
        decide(match, 0, wire.OfferRequest(2, "m", kind), 0)
    assert str(refused.value) == sentence


def left_ms(absences: Absences, side: int, now_ms: int) -> int | None:
    absence = absences.of(side)
    return None if absence is None else absence.left_ms(now_ms)


def test_each_absence_shortens_the_next_grace_of_the_same_player_alone() -> None:
    absences = Absences(None)
    absences.went(0, 0, on_purpose=False)
    absences.returned(0, 0)
    assert absences.of(0) is None
    absences.went(0, 0, on_purpose=False)
    assert left_ms(absences, 0, 0) == 30_000
    absences.returned(0, 0)
    absences.went(1, 0, on_purpose=False)
    assert left_ms(absences, 1, 0) == 60_000


def test_a_player_who_abandoned_matches_has_less_grace_from_the_start() -> None:
    absences = Absences(None)
    absences.expect(0, 2)
    for side in (0, 1):
        absences.went(side, 0, on_purpose=False)
    assert [left_ms(absences, side, 0) for side in (0, 1)] == [15_000, 60_000]


def test_absence_does_not_count_while_both_players_are_away() -> None:
    absences = Absences(None)
    absences.went(0, 0, on_purpose=False)
    absences.went(1, 20_000, on_purpose=False)
    both = [absences.of(side) for side in (0, 1)]
    assert [absence and absence.claim_at_ms for absence in both] == [None, None]
    assert [left_ms(absences, side, 10**9) for side in (0, 1)] == [40_000, 60_000]
    absences.returned(1, 10**9)
    assert left_ms(absences, 0, 10**9 + 39_999) == 1
    assert left_ms(absences, 0, 10**9 + 40_000) == 0


def test_a_change_of_device_is_no_absence() -> None:
    absences = Absences(None)
    for at_ms in (0, 10_000, 20_000):
        absences.went(0, at_ms, on_purpose=False, is_replaced=True)
        absences.returned(0, at_ms + CHANGE_MS)
    absences.went(0, 30_000, on_purpose=False)
    assert left_ms(absences, 0, 30_000) == 60_000


def test_a_replaced_player_who_stays_away_has_been_absent() -> None:
    absences = Absences(None)
    absences.went(0, 0, on_purpose=False, is_replaced=True)
    absences.returned(0, CHANGE_MS + 1)
    absences.went(0, 10_000, on_purpose=False)
    assert left_ms(absences, 0, 10_000) == 30_000


START_MS = 1_795_254_000_000


def played(*commands: tuple[int, object]) -> Match:
    players = (wire.PlayerInfo("Ann"), wire.PlayerInfo("Bob", "alphabeta"))
    time = TimeControl(initial_ms=60_000, increment_ms=1_000)
    match = Match(wire.Started(match="m", seq=1, at_ms=START_MS, game="tictactoe", players=players, time=time))
    now_ms = START_MS
    for side, command in commands:
        now_ms += 1_000
        if isinstance(command, int):
            command = wire.PlayRequest(1, "m", len(match.moves), command)
        for event in decide(match, side, command, now_ms):  # type: ignore[arg-type]
            match.evolve(event)
    return match


def test_the_events_of_a_match_become_a_record_that_can_be_read_back() -> None:
    record = record_of(played((0, 4), (1, 0), (0, 2), (1, 1), (0, 6)).events)
    assert record.date == datetime.date(2026, 11, 21)
    assert [player.bot for player in record.players] == [None, "alphabeta"]
    assert [move.clock_ms for move in record.moves] == [60_000, 60_000, 60_000, 60_000, 60_000]
    assert record.outcome is not None
    assert (record.outcome.winner, record.outcome.reason) == (0, "line")
    assert read_record(write_record(record)) == record


def test_moves_that_were_taken_back_are_not_in_the_record() -> None:
    takeback = wire.OfferRequest(1, "m", "takeback")
    record = record_of(played((0, 4), (1, 0), (1, takeback), (0, takeback), (1, 2)).events)
    assert [move.move for move in record.moves] == [4, 2]
    assert record.outcome is None


def test_a_match_that_was_called_a_draw_because_one_was_gone_can_be_kept() -> None:
    match = played((0, 4))
    match.absences.went(1, START_MS, on_purpose=True)
    for event in decide(match, 0, wire.ClaimRequest(1, "m", "draw"), START_MS + 100_000):
        match.evolve(event)
    record = record_of(match.events)
    assert read_record(write_record(record)) == record


def test_time_beyond_the_grace_still_counts_after_the_waiting_player_was_away_too() -> None:
    absences = Absences(None)
    absences.went(0, 0, on_purpose=False)
    gone = absences.of(0)
    assert gone is not None
    assert gone.claim_at_ms is not None
    late_ms = gone.claim_at_ms + 1_500
    absences.went(1, late_ms, on_purpose=False)
    absences.returned(1, late_ms + 1)
    gone = absences.of(0)
    assert gone is not None
    assert (gone.left_ms(late_ms + 1), gone.claim_at_ms) == (0, late_ms + 1 - 1_500)


def test_a_clock_can_start_when_its_player_is_notified() -> None:
    match = start(time=BLITZ)
    match.count_from(5 * SECOND)
    assert match.clock
    assert match.clock.read(9 * SECOND) == (180 * SECOND, 180 * SECOND), "nobody's time runs yet"
    follows(match, ">> X play 0\n<< 2 X played 0\n>> O play 1\n<< 3 O played 1")
    match.count_from(5 * SECOND)
    assert match.clock.read(9 * SECOND) == (176 * SECOND, 180 * SECOND)
    untimed = start()
    untimed.count_from(5 * SECOND)
    assert untimed.clock is None


def test_a_renamed_player_has_the_name_in_the_match_and_in_its_record() -> None:
    match = start()
    match.rename(1, "Bea")
    follows(match, ">> X play 0\n<< 2 X played 0")
    for each in (match, Match.from_events(match.events)):
        assert [player.name for player in each.players] == ["Ann", "Bea"]
    assert [player.name for player in record_of(match.events).players] == ["Ann", "Bea"]


@pytest.mark.parametrize(("ply", "count"), [(ply, count) for ply in range(6) for count in range(6)])
def test_positions_equal_those_sent_to_clients_one_by_one(ply: int, count: int) -> None:
    match = start("connect4")
    told, starts = [match.position()], [""]
    starts[0] = write_position(match.game, match.state)
    for number, move in enumerate([38, 31, 24]):
        for event in decide(match, number % 2, wire.PlayRequest(1, "m", number, move), 0):
            match.evolve(event)
        told.append(match.position())
        starts.append(write_position(match.game, match.state))
    expected = [msgspec.structs.replace(each, legal=[], takeover=None) for each in told]
    assert match.positions(ply, count) == expected[ply : ply + count]
    assert match.positions(ply, count, has_legal=True) == told[ply : ply + count]
    assert match.starts(ply, count) == starts[ply : ply + count]


@given(st.sampled_from(names()), st.sampled_from([1, 2, 3, 7]), st.randoms(use_true_random=False))
def test_a_match_describes_its_position_like_one_that_was_never_described_before(
    game: str, told_every: int, rng: random.Random
) -> None:
    """Boards of games that only add marks follow from the board before; whatever else happened must not show."""
    match = start(game)
    for number in range(60):
        if match.is_over:
            break
        if match.moves and rng.random() < 0.2:
            last = match.moves[-1][0]
            for side in (last, 1 - last):
                for event in decide(match, side, wire.OfferRequest(1, "m", "takeback"), 0):
                    match.evolve(event)
        else:
            side, moves = match.game.to_move(match.state), match.game.actions(match.state)
            for event in decide(match, side, wire.PlayRequest(1, "m", len(match.moves), rng.choice(moves)), 0):
                match.evolve(event)
        if number % told_every == 0 or match.is_over:
            is_over = match.is_over
            assert match.position() == describe_position(match.game, len(match.moves), match.state, is_over=is_over)
    again = start(game)
    for event in match.events[1:]:
        again.evolve(event)
    assert again.position() == match.position()


class Drawn:
    """A game that counts how often its board is drawn."""

    def __init__(self, game: Any) -> None:
        self._game, self.count = game, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._game, name)

    def board(self, state: object) -> str:
        self.count += 1
        board: str = self._game.board(state)
        return board


def test_a_board_is_drawn_once_and_each_move_marks_it() -> None:
    match = start()
    match.game = drawn = Drawn(match.game)  # type: ignore[assignment]
    for words, draws in (("", 1), ("X0", 1), ("O4", 1), ("", 1), ("OX", 2), ("O3", 2), ("X1 O2", 3), ("X6", 3)):
        for each in words.split():
            if each == "OX":
                for side in (1, 0):
                    play(match, wire.OfferRequest(1, "m", "takeback"), side=side)
            else:
                play(match, wire.PlayRequest(1, "m", len(match.moves), int(each[1])), side="XO".index(each[0]))
        board = match.position().board
        assert (drawn.count, board) == (draws, find_game("tictactoe").board(match.state)), words


def test_no_match_begins_from_a_position_that_is_decided_or_too_long_to_write(monkeypatch: pytest.MonkeyPatch) -> None:
    match = start()
    for number, move in enumerate([0, 3, 1, 4, 2]):
        for event in decide(match, number % 2, wire.PlayRequest(1, "m", number, move), 0):
            match.evolve(event)
    assert match.position().to_move is match.to_move is None
    assert [bool(text) for text in match.starts(0, 9)] == [True] * 5 + [False]
    length = len(match.starts(0, 1)[0])
    monkeypatch.setattr(wire, "MAX_POSITION_LENGTH", length)
    assert all(match.starts(0, 5))
    monkeypatch.setattr(wire, "MAX_POSITION_LENGTH", length - 1)
    assert match.starts(0, 5) == [""] * 5


def test_the_position_after_a_winning_move_is_decided_before_the_end_arrives() -> None:
    match, positions = start(), []
    for number, move in enumerate([0, 3, 1, 4, 2]):
        for event in decide(match, number % 2, wire.PlayRequest(1, "m", number, move), 0):
            match.evolve(event)
            positions.append(match.position())
    assert [position.to_move for position in positions] == [1, 0, 1, 0, None, None]


def test_an_absence_is_shown_to_the_opponent_and_a_code_to_the_players_alone() -> None:
    players = (wire.PlayerInfo("Ann"), wire.PlayerInfo("Bob"))
    match = Match(wire.Started("m", 1, 0, "tictactoe", players, private=True, code="ABCDEF"))
    match.absences.went(1, 0, on_purpose=False)
    shown = [match.snapshot(you, (True, False), 0) for you in (0, 1, None)]
    assert [each.away and each.away.side for each in shown] == [1, None, 1]
    assert [each.code for each in shown] == ["ABCDEF", "ABCDEF", None]


def test_a_return_of_a_player_who_was_not_away_changes_nothing() -> None:
    match = start()
    match.absences.returned(0, 0)
    assert match.away(0, 0) is None


@pytest.mark.parametrize(
    ("time", "limit"),
    [
        (None, None),
        (BLITZ, TimeLimit(180 * SECOND, 2 * SECOND)),
        (TimeControl(30 * SECOND, 5 * SECOND, per_move=True), TimeLimit(30 * SECOND, 0, per_move=True)),
    ],
)
def test_a_record_has_the_time_control_of_its_match(time: TimeControl | None, limit: TimeLimit | None) -> None:
    assert record_of(start(time=time).events).time == limit


@pytest.mark.parametrize("winner", [0, 1, None, "abort"])
def test_the_score_of_a_series_counts_by_player_and_each_match_that_was_not_aborted_once(winner: Any) -> None:
    score = (2.5, 1.0)
    players = (wire.PlayerInfo("Ann"), wire.PlayerInfo("Bob"))
    match = Match(wire.Started("m", 1, 0, "tictactoe", players, score=score))
    if winner == "abort":
        follows(match, ">> X abort\n<< 2 nobody won: abort")
    elif winner is None:
        follows(match, ">> X offer draw\n<< 2 X offered draw\n>> O offer draw\n<< 3 nobody won: agreement")
    else:
        loser = 1 - winner
        follows(match, f">> {'XO'[loser]} resign\n<< 2 {'XO'[winner]} won: resign")
    points = {"abort": (0, 0), None: (0.5, 0.5), 0: (1, 0), 1: (0, 1)}[winner]
    after = dict(zip(["Ann", "Bob"], (score[0] + points[0], score[1] + points[1]), strict=True))
    again = rematch(match, 0)
    assert dict(zip([player.name for player in again.players], again.score, strict=True)) == after


def test_an_end_by_time_or_absence_bears_the_time_of_day() -> None:
    match = start(time=BLITZ)
    follows(match, ">> X play 0\n<< 2 X played 0\n>> O play 1\n<< 3 O played 1")
    assert [event.at_ms for event in flag_fall(match, 180 * SECOND)] == [180 * SECOND]
    assert [event.at_ms for event in flag_fall(match, 180 * SECOND, 777)] == [777]
    players = (wire.PlayerInfo("Ann"), wire.PlayerInfo("Bob", "random"))
    waiting = Match(wire.Started("m", 1, 0, "tictactoe", players))
    waiting.absences.went(0, 0, on_purpose=False)
    assert [event.at_ms for event in forsaken(waiting, 3_600 * SECOND)] == [3_600 * SECOND]
    assert [event.at_ms for event in forsaken(waiting, 3_600 * SECOND, 777)] == [777]


def test_no_event_answers_an_offer_with_number_zero() -> None:
    match = start()
    follows(match, ">> X offer draw\n<< 2 X offered draw\n>> O agree 0\n<< refused no_offer")
    follows(match, ">> O agree 3\n<< refused no_offer\n>> O agree 2\n<< 3 nobody won: agreement")


def test_a_match_that_is_read_again_stays_adjourned_despite_offers_in_the_meantime() -> None:
    match = adjourned()
    follows(match, ">> O at 3651s offer draw\n<< 6 O offered draw")
    assert Match.from_events(match.events).is_adjourned
    match.absences.returned(0, 3_652 * SECOND)
    follows(match, ">> X at 3652s play 2\n<< 7 X played 2")
    assert not match.is_adjourned
    assert not Match.from_events(match.events).is_adjourned


def test_the_time_of_day_in_a_match_never_goes_back() -> None:
    match = start()
    (played,) = decide(match, 0, wire.PlayRequest(1, "m", 0, 4), 0, at_ms=777)
    assert played.at_ms == 777
    match.evolve(played)
    assert [match.next_at_ms(wall_ms) for wall_ms in (776, 777, 778)] == [777, 777, 778]


def test_a_move_that_was_decided_but_not_written_is_dropped_by_the_next() -> None:
    match = start()
    decide(match, 0, wire.PlayRequest(1, "m", 0, 4), 0)
    follows(match, ">> X play 0\n<< 2 X played 0\n>> O play 4\n<< 3 O played 4")
    assert match.position().board == "X...O...."


def test_a_running_clock_continues_when_somebody_connects() -> None:
    match = start(time=BLITZ)
    follows(match, ">> X play 0\n<< 2 X played 0\n>> O play 1\n<< 3 O played 1")
    match.run_clock(10 * SECOND)
    assert match.clock
    assert match.clock.refund_ms(0, 10 * SECOND, 400) == 400, "the move began 10 s ago"


def test_a_watcher_is_shown_the_last_move_and_how_the_match_ended() -> None:
    match = start()
    follows(match, ">> X play 4\n<< 2 X played 4\n>> O resign\n<< 3 X won: resign")
    shown = match.snapshot(None, (True, True), 0)
    assert (shown.last, shown.outcome) == (4, wire.OutcomeInfo(0, "resign"))
    assert (shown.position.to_move, shown.position.legal) == (None, [])


def test_a_flag_falls_with_the_last_millisecond_and_not_before() -> None:
    match = start(time=BLITZ)
    follows(match, ">> X play 0\n<< 2 X played 0\n>> O play 1\n<< 3 O played 1")
    assert [bool(flag_fall(match, 180 * SECOND + near_ms)) for near_ms in (-1, 0, 1)] == [False, True, True]


def test_the_seat_of_a_bot_is_freed_a_little_after_its_claim_and_never_while_the_match_is_adjourned() -> None:
    match = Match(wire.Started("m", 1, 0, "tictactoe", (wire.PlayerInfo("Ann"), wire.PlayerInfo("Bob", "random"))))
    follows(match, ">> X play 0\n<< 2 X played 0\n>> O play 1\n<< 3 O played 1")
    assert forsaken_at_ms(match) is None
    match.absences.went(0, 0, on_purpose=False)
    assert [written(event) for event in forsaken(match, 3_600 * SECOND)] == ["4 nobody won: abandon"]
    claim_ms = grace_ms(None, on_purpose=False, earlier=0)
    free_ms = forsaken_at_ms(match)
    assert free_ms == claim_ms + 2_000
    assert [bool(forsaken(match, free_ms + near_ms)) for near_ms in (-1, 0, 1)] == [False, True, True]
    for event in decide(match, 1, wire.ClaimRequest(1, "m", "adjourn"), claim_ms):
        match.evolve(event)
    assert forsaken_at_ms(match) is None
    assert forsaken(match, 10 * free_ms) == []


@pytest.mark.parametrize("side", [0, 1])
def test_an_adjourned_match_waits_for_the_opponent_of_the_side_to_move(side: Side) -> None:
    match = start()
    follows(match, ">> X play 0\n<< 2 X played 0\n>> O play 1\n<< 3 O played 1")
    if side:
        follows(match, ">> X play 2\n<< 4 X played 2")
    match.absences.went(1 - side, 0, on_purpose=False)
    for event in decide(match, side, wire.ClaimRequest(1, "m", "adjourn"), 3_600 * SECOND):
        match.evolve(event)
    follows(match, f">> {'XO'[side]} play 4\n<< refused adjourned")


def test_a_match_whose_rules_fail_ends_without_a_result_and_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    match = start()

    def fail(state: object, move: int) -> None:
        raise GameFault("tictactoe", "division by zero")

    monkeypatch.setattr(match, "game", find_game("mnk:3x3,3"))
    monkeypatch.setattr(type(match.game), "result", lambda game, state, move: fail(state, move))
    (ended,) = decide(match, 0, wire.PlayRequest(1, "m", 0, 4), 0)
    assert isinstance(ended, wire.Ended)
    assert (ended.winner, ended.reason) == (None, "abort")
    assert ended.fault is not None
    assert "division by zero" in ended.fault


def test_a_move_says_its_ply_and_no_time_runs_after_the_last_one() -> None:
    match, told = start(time=BLITZ), []
    for number, move in enumerate([0, 3, 1, 4, 2]):
        for event in decide(match, number % 2, wire.PlayRequest(1, "m", number, move), 0):
            match.evolve(event)
            told.append(event)
    *played, _ = told
    assert [event.ply for event in played if isinstance(event, wire.Played)] == [1, 2, 3, 4, 5]
    assert [event.clock and event.clock.running for event in played if isinstance(event, wire.Played)] == [
        None, 0, 1, 0, None,
    ]  # fmt: skip


@pytest.mark.parametrize(("plies", "running"), [(2, None), (3, 0), (4, 1)])
def test_after_a_takeback_the_side_that_moves_again_is_charged_once_both_have_moved(
    plies: int, running: Side | None
) -> None:
    match = start(time=BLITZ)
    for number, move in enumerate([0, 3, 1, 4][:plies]):
        for event in decide(match, number % 2, wire.PlayRequest(1, "m", number, move), 0):
            match.evolve(event)
    asker = (plies - 1) % 2
    (offered,) = decide(match, asker, wire.OfferRequest(1, "m", "takeback"), 0)
    match.evolve(offered)
    (tookback,) = decide(match, 1 - asker, wire.AgreeRequest(1, "m", offered.seq), 0)
    assert isinstance(tookback, wire.Tookback)
    assert tookback.clock is not None
    assert (tookback.ply, tookback.clock.running) == (plies - 1, running)


def test_a_decline_that_crosses_a_move_of_the_same_player_is_stale() -> None:
    follows(
        start(),
        """
        >> X play 0
        << 2 X played 0
        >> X offer draw
        << 3 X offered draw
        >> O play 1
        << 4 O played 1
        >> O decline draw 3
        << refused stale_offer
        """,
    )


def test_a_player_may_move_while_the_opponent_is_away() -> None:
    match = start()
    match.absences.went(1, 0, on_purpose=False)
    follows(match, ">> X play 0\n<< 2 X played 0")
