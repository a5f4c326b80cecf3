import datetime

from ttt_net import messages as wire
from ttt_net.clock import TimeControl
from ttt_net.games.records import read_record, write_record
from ttt_net.matches.match import Match, record_of
from ttt_net.matches.referee import decide

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


def test_the_facts_of_a_match_become_a_record_that_reads_back() -> None:
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
