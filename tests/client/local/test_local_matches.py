"""Matches at one keyboard without a clock, a screen or a process: requests in, what is told out."""

import random

import pytest

from ttt_net.client.local.local_matches import LocalMatches, Seating, demonstration
from ttt_net.clock import TimeControl
from ttt_net.errors import Refusal
from ttt_net.games.catalogue import NAMES
from ttt_net.messages import (
    AnalyseRequest,
    AnyServerMessage,
    ChatRequest,
    Declined,
    Ended,
    HintRequest,
    InviteRequest,
    Offered,
    OfferKind,
    OfferRequest,
    Played,
    PlayerInfo,
    PlayRequest,
    PuzzleReply,
    PuzzleRequest,
    RecordReply,
    RecordRequest,
    ReplayReply,
    ReplayRequest,
    ResignRequest,
    SeekRequest,
    Snapshot,
    Tookback,
)

ANN, BEN, BOT = PlayerInfo("Ann"), PlayerInfo("Ben"), PlayerInfo("random", "random")


class Keyboard:
    """Matches that have begun, their requests at a time that goes on by itself."""

    def __init__(self, *players: PlayerInfo, time: TimeControl | None = None) -> None:
        first, second = players
        self.now_ms = 0
        ids = iter("abcdef")
        self.matches = LocalMatches(Seating("tictactoe", (first, second), time), lambda: next(ids), lambda: 1_000_000)
        (begun,) = self.matches.begin(0)
        assert isinstance(begun, Snapshot)
        self.begun = begun

    @property
    def id(self) -> str:
        assert self.matches.match is not None
        return self.matches.match.id

    def play(self, *cells: int) -> list[AnyServerMessage]:
        told: list[AnyServerMessage] = []
        for cell in cells:
            assert self.matches.match is not None
            play = PlayRequest(0, self.id, len(self.matches.match.moves), cell)
            told += self.matches.request(play, self.now_ms)
        return told

    def offer(self, kind: OfferKind) -> list[AnyServerMessage]:
        return self.matches.request(OfferRequest(0, self.id, kind), self.now_ms)


def test_of_two_people_the_one_to_move_moves_and_the_score_goes_on_in_a_rematch() -> None:
    keyboard = Keyboard(ANN, BEN)
    assert (keyboard.begun.you, keyboard.matches.you) == (0, 0)
    told = keyboard.play(4, 0, 8, 1, 7, 2)
    assert [event.side for event in told if isinstance(event, Played)] == [0, 1, 0, 1, 0, 1]
    assert isinstance(told[-1], Ended)
    assert told[-1].winner == 1
    (again,) = keyboard.offer("rematch")
    assert isinstance(again, Snapshot)
    assert (again.players, again.score) == ((ANN, BEN), (0, 1))
    keyboard.matches.request(ResignRequest(0, keyboard.id), 0)
    (third,) = keyboard.matches.request(SeekRequest(0), 0)
    assert isinstance(third, Snapshot)
    assert third.score == (0, 2)


def test_the_last_mover_takes_the_move_back_and_the_other_agrees() -> None:
    keyboard = Keyboard(ANN, BEN)
    keyboard.play(4, 0)
    offered, back = keyboard.offer("takeback")
    assert isinstance(offered, Offered)
    assert isinstance(back, Tookback)
    assert (offered.side, back.ply, keyboard.matches.you) == (1, 1, 1)
    offered, ended = keyboard.offer("draw")
    assert isinstance(ended, Ended)
    assert (ended.winner, ended.reason) == (None, "agreement")


def test_a_strategy_agrees_to_a_draw_but_at_the_beginning_or_where_it_wins() -> None:
    keyboard = Keyboard(ANN, BOT)
    assert isinstance(keyboard.offer("draw")[-1], Declined)
    keyboard.play(4)
    assert isinstance(keyboard.matches.play(1, 0, 0)[-1], Played)
    keyboard.matches.has_seen_win[1] = True
    assert isinstance(keyboard.offer("draw")[-1], Declined)
    keyboard.play(8)
    keyboard.matches.play(1, 2, 0)
    assert isinstance(keyboard.offer("takeback")[-1], Tookback), "people may slip"
    keyboard.matches.has_seen_win[1] = False
    assert isinstance(keyboard.offer("draw")[-1], Declined), "two moves are no match"
    keyboard.play(8)
    keyboard.matches.play(1, 2, 0)
    assert isinstance(keyboard.offer("draw")[-1], Ended)


def test_people_cannot_move_for_a_strategy() -> None:
    keyboard = Keyboard(ANN, BOT)
    keyboard.play(4)
    with pytest.raises(Refusal, match="turn"):
        keyboard.play(0)


def test_a_flag_falls_at_its_time_and_a_take_back_runs_the_clock_on() -> None:
    keyboard = Keyboard(ANN, BEN, time=TimeControl(60_000, 0))
    keyboard.play(4, 0)
    keyboard.now_ms = 10_000
    keyboard.play(8)
    assert keyboard.matches.flag_at_ms == 70_000
    keyboard.now_ms = 30_000
    keyboard.offer("takeback")
    assert keyboard.matches.flag_at_ms == 80_000, "Ann had spent ten seconds"
    assert keyboard.matches.look_at_clock(79_999) == []
    (ended,) = keyboard.matches.look_at_clock(80_000)
    assert isinstance(ended, Ended)
    assert (ended.winner, ended.reason) == (1, "time")


def test_a_match_that_is_over_can_be_stepped_through_and_kept_and_not_before() -> None:
    keyboard = Keyboard(ANN, BEN)
    keyboard.play(4, 0, 8)
    with pytest.raises(Refusal, match="still being played"):
        keyboard.matches.request(RecordRequest(0, keyboard.id), 0)
    with pytest.raises(Refusal, match="finish this match"):
        keyboard.matches.request(SeekRequest(0), 0)
    keyboard.play(1, 7, 2)
    (replay,) = keyboard.matches.request(ReplayRequest(0, keyboard.id, 5), 0)
    assert isinstance(replay, ReplayReply)
    assert [position.ply for position in replay.positions] == [5, 6]
    (record,) = keyboard.matches.request(RecordRequest(0, keyboard.id), 0)
    assert isinstance(record, RecordReply)
    assert "Second: Ben" in record.text


def test_a_coach_is_asked_by_one_person_in_turn_and_about_a_match_that_is_over() -> None:
    keyboard = Keyboard(ANN, BOT)
    hint, analyse = HintRequest(0, keyboard.id), AnalyseRequest(0, keyboard.id)
    assert keyboard.matches.to_coach(hint) is keyboard.matches.match
    with pytest.raises(Refusal, match="still being played"):
        keyboard.matches.to_coach(analyse)
    keyboard.play(4)
    with pytest.raises(Refusal, match="not your turn"):
        keyboard.matches.to_coach(hint)
    assert keyboard.matches.to_coach(HintRequest(0, keyboard.id, "warning")) is keyboard.matches.match
    keyboard.matches.request(ResignRequest(0, keyboard.id), 0)
    assert keyboard.matches.to_coach(analyse) is keyboard.matches.match
    with pytest.raises(Refusal, match="is over"):
        keyboard.matches.to_coach(hint)
    shared = Keyboard(ANN, BEN)
    with pytest.raises(Refusal, match="one person"):
        shared.matches.to_coach(HintRequest(0, shared.id))


def test_requests_that_need_a_server_are_refused() -> None:
    keyboard = Keyboard(ANN, BEN)
    with pytest.raises(Refusal, match="needs a server"):
        keyboard.matches.request(ChatRequest(0, keyboard.id, "hello"), 0)
    with pytest.raises(Refusal, match="no match"):
        keyboard.matches.request(ResignRequest(0, "zzz"), 0)


def test_a_match_is_gone_on_with_from_one_of_its_positions_and_there_is_a_puzzle_without_a_server() -> None:
    ids = iter(("m1", "m2"))
    matches = LocalMatches(Seating("tictactoe", (ANN, BOT)), lambda: next(ids), lambda: 1_795_305_600_000)
    matches.begin(0)
    name = "m1"
    matches.request(PlayRequest(1, name, 0, 4), 0)
    matches.request(ResignRequest(2, name), 0)
    (told,) = matches.request(ReplayRequest(3, name), 0)
    assert isinstance(told, ReplayReply)
    assert told.starts == [".../.../...", ".../.X./..."]
    (begun,) = matches.request(InviteRequest(4, "tictactoe", None, 0, told.starts[1]), 0)
    assert isinstance(begun, Snapshot)
    assert (begun.start, begun.position.to_move) == (".../.X./...", 1)
    (puzzle,) = matches.request(PuzzleRequest(5), 0)
    assert isinstance(puzzle, PuzzleReply)
    assert puzzle.day == "2026-11-22"


@pytest.mark.parametrize("game", NAMES)
def test_every_game_plays_itself_move_by_move_to_its_end(game: str) -> None:
    matches = list(demonstration(game, random.Random(5)))
    assert [len(match.moves) for match in matches] == list(range(len(matches)))
    assert [match.outcome is not None for match in matches] == [*[False] * (len(matches) - 1), True]


def test_a_match_that_plays_itself_takes_wins_and_answers_threats() -> None:
    """Chance alone draws one match of tic-tac-toe in eight."""
    ends = [list(demonstration("tictactoe", random.Random(seed)))[-1].outcome for seed in range(20)]
    assert sum(end is not None and end.winner is None for end in ends) > 5
