"""Match records as text and back."""

import dataclasses
import datetime
import random
import re
import string
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.games.plays import game_names, random_play, seeds
from ttt_net.errors import Code, Refusal
from ttt_net.games import find_game
from ttt_net.games.game import Outcome, Reason
from ttt_net.games.records import (
    MAX_CLOCK_MS,
    MAX_RECORD_LENGTH,
    Record,
    RecordedMove,
    RecordedPlayer,
    TimeLimit,
    read_record,
    read_records,
    write_record,
)

RECORD = """\
Game: tictactoe
Event: Friday evening
Date: 2026-11-21
First: Ann
Second: Perfect
Second-bot: minimax
Time: 180+2.5
Result: 1-0
Reason: line

1. b2 [2:58.100] {the centre}
2. b3 [3:00]
3. a1
4. c3 [1:02:03]
5. a2
6. c1
7. c2
"""

ANN, BOB = RecordedPlayer("Ann"), RecordedPlayer("Bob")

texts = (
    st.text(st.characters(exclude_categories=["C", "Zl", "Zp"]), min_size=1, max_size=20)
    .map(str.strip)
    .filter(lambda text: text != "" and text.isprintable())
)
comments = texts.map(lambda text: " ".join(re.sub(r"[{}]", "", text).split()))
clocks = st.none() | st.integers(0, MAX_CLOCK_MS)
players = st.builds(RecordedPlayer, texts, st.none() | texts)
limits = st.builds(TimeLimit, st.integers(0, MAX_CLOCK_MS), st.integers(0, MAX_CLOCK_MS)) | st.builds(
    TimeLimit, st.integers(0, MAX_CLOCK_MS), st.just(0), st.just(True)
)
unfinished = st.none() | st.builds(
    Outcome, st.sampled_from([0, 1]), st.sampled_from([Reason.RESIGN, Reason.TIME, Reason.ABANDON])
) | st.builds(Outcome, st.none(), st.sampled_from([Reason.ABORT, Reason.AGREEMENT]))  # fmt: skip


@st.composite
def records(draw: st.DrawFn) -> Record:
    game = find_game(draw(game_names))
    moves, state = random_play(game, random.Random(draw(seeds)), longest=30)
    return Record(
        game=game.name,
        players=(draw(players), draw(players)),
        moves=tuple(RecordedMove(move, draw(clocks), draw(st.just("") | comments)) for move in moves),
        outcome=game.outcome(state) or draw(unfinished),
        event=draw(st.none() | texts),
        date=draw(st.none() | st.dates()),
        time=draw(st.none() | limits),
    )


@given(records())
def test_a_written_record_reads_as_the_same_record(record: Record) -> None:
    text = write_record(record)
    assert read_record(text) == record
    assert read_record(text.replace("\n", "\r\n")) == record


@settings(max_examples=25)
@given(st.lists(records(), max_size=3))
def test_many_records_in_one_text_read_as_the_same_records(many: list[Record]) -> None:
    assert read_records("\n".join(map(write_record, many))) == many


def test_the_example_reads_and_is_written_as_it_was() -> None:
    record = read_record(RECORD)
    assert record.players == (RecordedPlayer("Ann"), RecordedPlayer("Perfect", bot="minimax"))
    assert record.date == datetime.date(2026, 11, 21)
    assert record.time == TimeLimit(180_000, 2_500)
    assert record.outcome == Outcome(0, Reason.LINE)
    assert record.moves[0] == RecordedMove(4, 178_100, "the centre")
    assert record.moves[3].clock_ms == 3_723_000
    assert write_record(record) == RECORD


def test_loose_notation_reads_as_the_same_record() -> None:
    text = """
    second : Bob
    FIRST: Ann
    game: TicTacToe

    1. B2 b3
    2,0 {a} {corner} 4. 3 [5] A2 [ 1:05 ] { out   of time }
    """
    record = read_record(text)
    assert record.players == (ANN, BOB)
    assert [made.move for made in record.moves] == [4, 1, 6, 2, 3]
    assert record.moves[2].comment == "a corner"
    assert record.moves[3].clock_ms == 5_000
    assert record.moves[4] == RecordedMove(3, 65_000, "out of time")
    assert record.outcome is None


def test_a_record_without_a_result_gets_it_from_its_moves() -> None:
    text = "Game: tictactoe\nFirst: Ann\nSecond: Bob\n\nb2 b3 a1 c3 a2 c1 c2"
    assert read_record(text).outcome == Outcome(0, Reason.LINE)


def test_a_swap_is_recorded_and_the_sides_stay_with_the_players() -> None:
    text = "Game: mnk:3x3,3+swap\nFirst: Ann\nSecond: Bob\n\nb2 swap b3 a1 c3 c1 a3"
    record = read_record(text)
    assert find_game(record.game).marks(list(record.positions())[-1]) == ("O", "X")
    assert record.outcome == Outcome(0, Reason.LINE)  # Ann, who plays O since the swap


BEGINNING = "Game: tictactoe\nFirst: Ann\nSecond: Bob\n\n1. b2\n2. a2\n3. a3\n"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "0 records, and one was expected"),
        (BEGINNING + "\n" + BEGINNING, "2 records, and one was expected"),
        (BEGINNING + "4. b2", "move 4: cell b2 is taken"),
        (BEGINNING + "4. d4", "move 4: there is no cell 'd4'"),
        (BEGINNING + "5. c1", "line 8: number 5 before move 4"),
        (BEGINNING + "4. c1 [soon]", "move 4: clock 'soon' does not look like 2:58.100"),
        (BEGINNING + "4. c1 [999:59:59]", "move 4: 3599999000 ms is out of range"),
        (BEGINNING + "4. c1 {fine", "line 8: '{fine' is not closed or not opened"),
        (BEGINNING + "4. c1 fine}", "move 5: there is no cell 'fine'"),
        (BEGINNING + "4. c1 {\x1b[31m}", "move 4: comment '\\x1b[31m' cannot be kept"),
        (BEGINNING + "c1 b3 b1 c3 a1", "move 8: move a1 is not possible here; legal: nothing, the game is over"),
        (BEGINNING.replace("a3", "a3 {" + "x" * 501 + "}"), "move 3: comment"),
        (BEGINNING.replace("1. b2", "[3:00] b2"), "line 5: a clock before the first move"),
        (BEGINNING.replace("1. b2", "{so} b2"), "line 5: a comment before the first move"),
        (BEGINNING.replace("First: Ann\n", ""), "there is no tag First"),
        ("b2 a2 a3", "there is no tag Game; a record begins with lines such as 'Game: tictactoe'"),
        (BEGINNING.replace("Ann", "\u202eAnn"), "name '\\u202eAnn' cannot be kept"),
        (BEGINNING.replace("Ann", "A" * 81), "cannot be kept; 1 to 80 printable characters"),
        (BEGINNING.replace("First", "White"), "line 2: unknown tag 'White'; tags are Game, Event"),
        (BEGINNING.replace("tictactoe", "chess"), "unknown game 'chess'"),
        ("Date: yesterday\n" + BEGINNING, "date 'yesterday' does not look like 2026-11-21"),
        ("Time: 180\n" + BEGINNING, "time '180' does not look like 180+2 or 10/move, in seconds"),
        ("Result: 2-0\nReason: line\n" + BEGINNING, "result '2-0'; results are 1-0, 0-1, 1/2-1/2, - and *"),
        ("Result: 1-0\n" + BEGINNING, "reason None; reasons are line, draw"),
        ("Result: 1-0\nReason: luck\n" + BEGINNING, "reason 'luck'; reasons are line, draw"),
        ("Result: 1-0\nReason: line\n" + BEGINNING, "reason line, but the moves do not end the game"),
        ("Result: 1/2-1/2\nReason: draw\n" + BEGINNING, "reason draw, but the moves do not end the game"),
        ("Result: 1-0\nReason: abort\n" + BEGINNING, "result 1-0 does not go with reason abort"),
        ("Result: 1/2-1/2\nReason: abort\n" + BEGINNING, "result 1/2-1/2 does not go with reason abort"),
        ("Result: 1/2-1/2\nReason: time\n" + BEGINNING, "result 1/2-1/2 does not go with reason time"),
        (RECORD.replace("1-0", "0-1"), "the moves end the game (1-0, line); the record says 0-1, line"),
        (RECORD.replace("1-0", "*").replace("Reason: line\n", ""), "the record says none"),
        (BEGINNING + "x " * MAX_RECORD_LENGTH, "a record of more than 200000 characters"),
    ],
)
def test_a_text_that_is_no_record_is_refused_with_place_and_reason(text: str, reason: str) -> None:
    with pytest.raises(Refusal) as refused:
        read_record(text)
    assert reason in str(refused.value)
    assert refused.value.code in (Code.BAD_NOTATION, Code.UNKNOWN_GAME)


def test_the_record_with_the_mistake_is_named_among_many() -> None:
    with pytest.raises(Refusal, match="record 2: move 4: cell b2 is taken"):
        read_records(BEGINNING + BEGINNING + "4. b2\n" + BEGINNING)


@pytest.mark.parametrize(
    "changed",
    [
        {"event": ""}, {"event": "two\nlines"}, {"event": " x"}, {"players": (RecordedPlayer(""), BOB)},
        {"players": (RecordedPlayer("Ann", bot="\t"), BOB)}, {"time": TimeLimit(-1, 0)},
        {"time": TimeLimit(0, MAX_CLOCK_MS + 1)}, {"moves": (RecordedMove(9),)}, {"moves": (RecordedMove(-1),)},
        {"moves": (RecordedMove(4, comment="}"),)}, {"moves": (RecordedMove(4, comment="a  b"),)},
        {"moves": (RecordedMove(4, clock_ms=-1),)}, {"outcome": Outcome(0, Reason.LINE)},
        {"outcome": Outcome(None, Reason.RESIGN)}, {"outcome": Outcome(0, Reason.AGREEMENT)}, {"game": "chess"},
    ],
)  # fmt: skip
def test_a_record_that_could_not_be_read_back_cannot_be_made(changed: dict[str, Any]) -> None:
    record = Record(game="tictactoe", players=(ANN, BOB))
    with pytest.raises(Refusal):
        dataclasses.replace(record, **changed)


@given(st.text(st.sampled_from(string.printable + "é☃\u202e"), max_size=200), st.integers(0, len(RECORD)))
def test_any_text_is_a_record_or_a_refusal(text: str, cut: int) -> None:
    for mangled in (text, RECORD[:cut] + text + RECORD[cut:]):
        try:
            found = read_records(mangled)
        except Refusal:
            continue
        assert read_records("\n".join(map(write_record, found))) == found
