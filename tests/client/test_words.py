"""Sentences about matches, players, links and times."""

import pytest
from msgspec import structs

from tests.client.pressing import seen
from tests.client.samples import BEN, BOT, knowing, snapshot
from ttt_net.client import words
from ttt_net.client.display import Display
from ttt_net.client.update import update
from ttt_net.client.world import World
from ttt_net.clock import TimeControl
from ttt_net.games import catalogue
from ttt_net.matches.match import OPENING_PLIES
from ttt_net.matches.referee import RATED_PLIES
from ttt_net.messages import (
    Ended,
    NoteInfo,
    OutcomeInfo,
    PieceInfo,
    PlayerInfo,
    Presence,
    Restarting,
    SeekRequest,
)
from ttt_net.sdk.received import Tally


def test_matches_are_too_short_for_the_client_and_the_server_alike() -> None:
    """The client does not load the referee, which it would need for these two numbers alone."""
    assert (words.OPENING_PLIES, words.RATED_PLIES) == (OPENING_PLIES, RATED_PLIES)


def test_a_rename_and_a_deletion_are_said_in_different_words() -> None:
    assert words.renamed(BEN, PlayerInfo("Benny")) == "Ben is now called Benny."
    assert words.renamed(BEN, PlayerInfo("deleted")) == "Ben has deleted their name and ratings here."


def test_a_seek_names_its_games_whole_and_looks_for_no_other_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue, "outside", lambda: pytest.fail("that takes up to 130 ms"))
    seek = SeekRequest(0, ["tictactoe", "vanishing", "connect4"], TimeControl(180_000, 2_000), rated=True)
    named = "Tic-tac-toe, Vanishing tic-tac-toe, Connect Four"
    assert words.sought(seek) == f"Looking for an opponent: {named}, 3+2, rated ..."
    assert words.sought(SeekRequest(0, [], opponents="people")) == "Looking for a person: any game ..."


def test_the_score_of_a_series_counts_the_match_that_is_over() -> None:
    match = structs.replace(snapshot(), score=(1.0, 0.5))
    assert words.series(match) == "Score X 1 : 0.5 O"
    assert words.series(structs.replace(match, outcome=OutcomeInfo(1, "resign"))) == "Score X 1 : 1.5 O"
    assert words.series(structs.replace(match, outcome=OutcomeInfo(None, "draw"))) == "Score X 1.5 : 1 O"


def test_where_both_place_either_mark_the_score_uses_names() -> None:
    match = structs.replace(snapshot("wild", opponent=BEN), score=(1.0, 0.0))
    assert words.series(match) == "Score Ann 1 : 0 Ben"


def test_in_games_with_pieces_a_turn_names_no_mark_to_place() -> None:
    match = snapshot(opponent=BEN)
    disc = structs.replace(match.game, pieces=[PieceInfo("X", "black", "disc"), PieceInfo("O", "white", "disc")])
    assert words.status(seen(match)) == "Your turn: place X."
    assert words.status(seen(structs.replace(match, game=disc))) == "Your turn."
    passing = structs.replace(match.position, notes=[NoteInfo("pass", text="You cannot move")])
    assert words.status(seen(structs.replace(match, game=disc, position=passing))) == "Your turn; You cannot move."


def test_presence_is_shown_in_words() -> None:
    display = seen(snapshot(opponent=BEN), Presence("m1", side=1, online=False))
    assert display.match is not None
    assert words.absence(display.world, display.match, None, "c") == "Ben is away."
    assert update(display, Presence("m1", side=5, online=False), 0) == display
    assert update(display, Presence("unknown", side=0, online=False), 0) == display


@pytest.mark.parametrize(
    ("winner", "reason", "sentence"),
    [
        (0, "line", "You won: you completed a line."),
        (1, "line", "You lost: Ben completed a line."),
        (0, "resign", "You won: Ben resigned."),
        (1, "resign", "You lost: you resigned."),
        (0, "time", "You won: Ben's time ran out."),
        (1, "time", "You lost: your time ran out."),
        (1, "abandon", "You lost: you left the match."),
        (1, "forfeit", "You lost: you did not move in time."),
        (None, "forfeit", "Nobody won: neither player appeared."),
        (1, "a reason of tomorrow", "You lost."),
        (None, "draw", "A draw."),
        (None, "agreement", "A draw, by agreement."),
        (None, "abort", "The match was called off; it does not count."),
    ],
)
def test_the_result_is_said_in_words(winner: int | None, reason: str, sentence: str) -> None:
    display = seen(snapshot(opponent=BEN), Ended("m1", 2, 0, winner=winner, reason=reason))
    assert display.match is not None
    assert words.result(display.match) == sentence


@pytest.mark.parametrize(
    ("you", "sentence"),
    [
        (0, "You lost: you completed a line and lose."),
        (1, "You won: Ben completed a line and loses."),
        (None, "Ben won: Ann completed a line and loses."),
    ],
)
def test_in_misere_the_line_belongs_to_the_loser(you: int | None, sentence: str) -> None:
    assert words.result(snapshot("misere", [0, 3, 1, 4, 2], you=you, opponent=BEN)) == sentence


@pytest.mark.parametrize(
    ("game", "moves", "you", "sentence"),
    [
        ("vanishing", [0, 2, 4, 7, 3, 5], 0, "Your turn: place X; a3 vanishes."),
        ("vanishing", [0, 2, 4, 7, 3, 5, 8], 0, "Ben is to move; c3 vanishes ..."),
        ("ultimate", [2], 1, "Your turn: place O in board 3, top right."),
        ("ultimate", [2], 0, "Ben is to move in board 3, top right ..."),
        ("connect4+swap", [38], 1, "Your turn: place O, or take over X (Tab)."),
        ("connect4+swap", [38], 0, "Ben is to move ..."),
        ("tictactoe", [4], 1, "Your turn: place O."),
    ],
)
def test_requirements_of_a_position_are_shown_with_the_side_to_move(
    game: str, moves: list[int], you: int, sentence: str
) -> None:
    assert words.status(seen(snapshot(game, moves, you=you, opponent=BEN))) == sentence


def test_names_are_cleaned_and_bots_marked() -> None:
    assert words.label_of(BOT) == "alphabeta [bot]"
    assert words.label_of(PlayerInfo("\x1b[31mEve\u202e\u200b")) == "[31mEve"
    assert words.label_of(PlayerInfo("\x1b\x07", bot="")) == "? [bot]"


@pytest.mark.parametrize(
    ("ms", "said"), [(None, ""), (12, "12 ms, good"), (250, "250 ms, fair"), (900, "900 ms, slow")]
)
def test_the_way_to_the_server_is_a_number_and_a_word(ms: int | None, said: str) -> None:
    assert words.latency(ms) == said


@pytest.mark.parametrize(
    ("ms", "said"),
    [(-1, "0 s"), (4_900, "4 s"), (119_000, "119 s"), (120_000, "2 min"), (3_600_000, "1 h"), (90_000_000, "1 d")],
)
def test_a_duration_is_short_and_has_a_unit(ms: int, said: str) -> None:
    assert words.duration(ms) == said


def test_only_players_are_told_that_their_match_stays_unchanged() -> None:
    display = knowing(seen(), watching="m9")
    onlooker = update(display, snapshot("gomoku", [112], you=None, match="m9", opponent=BEN), 0)
    for others in (display, onlooker):
        assert words.parting(others.world, "client.py") == ""
        assert words.notice(update(others, Restarting(1_000), 0)) == "The server is restarting; please wait."
    player = seen(snapshot())
    assert words.parting(player.world, "client.py").startswith("You left a match: alphabeta can claim the win")
    assert words.notice(update(player, Restarting(1_000), 0)) == "The server is restarting; your match is safe."


def test_watchers_see_the_score_of_the_watched_series_only() -> None:
    display = Display(World(tally=Tally(won=2, lost=1)))
    match = structs.replace(snapshot(you=None, opponent=BEN), score=(1.0, 0.5))
    assert words.facts(display, match) == ["Ann 1 : 0.5 Ben"]
    assert words.facts(display, snapshot(opponent=BEN)) == ["In all: 2 won, 1 lost"]
    drawn = Display(World(tally=Tally(drawn=1)))
    assert words.facts(drawn, snapshot(opponent=BEN)) == [], "one match is no score"
    rematch = structs.replace(snapshot(opponent=BEN), score=(2.0, 1.0))
    assert words.facts(display, rematch) == ["Score X 2 : 1 O"], "the same score is not named twice"
    over = structs.replace(match, score=(0.0, 0.0), outcome=OutcomeInfo(1, "line"))
    assert words.facts(display, over) == ["Ann 0 : 1 Ben"]
