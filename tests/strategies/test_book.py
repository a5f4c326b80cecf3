import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.strategies.positions import after_columns
from ttt_net.__main__ import main
from ttt_net.games.line import LineGame, LineState
from ttt_net.strategies import Limit
from ttt_net.strategies.book import SHIPPED, Book, backed_up, key_of, packed, positions, shipped_book
from ttt_net.strategies.connect4 import Connect4Solver
from ttt_net.strategies.strategy import Effort

AFTER_TWO_STONES = {
    1: (1, -2, -1, -2, 1, -1, 2),
    2: (2, 0, -1, 0, 2, 2, 3),
    3: (2, 2, 0, 0, 0, 0, 3),
    4: (4, 2, 2, 1, 2, 2, 4),
}
"""Scores by the columns of the first stone and of the second, found by two programs that share no code."""


def two_stones(connect4: LineGame) -> dict[int, int]:
    return {
        key_of(after_columns(connect4, first, second)): score
        for first, scores in AFTER_TWO_STONES.items()
        for second, score in enumerate(scores, 1)
    }


def mirrored(game: LineGame, state: LineState) -> LineState:
    def turned(cells: int) -> int:
        return sum(1 << n // 7 * 7 + 6 - n % 7 for n in range(game.size) if cells >> n & 1)

    return state._replace(first=turned(state.first), second=turned(state.second))


def sample(connect4: LineGame, seed: int, fewest: int, most: int) -> Iterator[LineState]:
    """Positions after random moves that are not over."""
    rng = random.Random(seed)
    while True:
        state = connect4.initial
        for _ in range(rng.randint(fewest, most)):
            if not connect4.is_terminal(state):
                state = connect4.result(state, rng.choice(connect4.actions(state)))
        if not connect4.is_terminal(state):
            yield state


def test_a_position_and_its_mirror_image_have_one_key_and_others_none_of_it(connect4: LineGame) -> None:
    keys: dict[int, LineState] = {}
    for _, state in zip(range(500), sample(connect4, 1, 0, 8), strict=False):
        image = mirrored(connect4, state)
        assert key_of(state) == key_of(image)
        assert keys.setdefault(key_of(state), state) in (state, image)


def test_there_are_as_many_positions_as_are_known_to_be(connect4: LineGame) -> None:
    levels = positions(connect4, 5)
    both = [{state for found in level.values() for state in (found, mirrored(connect4, found))} for level in levels]
    assert [len(level) for level in both] == [1, 7, 49, 238, 1120, 4263]


def test_scores_survive_packing(connect4: LineGame) -> None:
    scores = {key_of(state): score for score, state in zip(range(-21, 22), sample(connect4, 2, 3, 8), strict=False)}
    book = Book(packed(scores))
    assert len(book) == len(scores)
    for state in sample(connect4, 2, 3, 8):
        if key_of(state) not in scores:
            break
        assert book.score(state) == scores[key_of(state)]
    assert book.score(connect4.initial) is None


def test_scores_are_backed_up_to_the_empty_board(connect4: LineGame) -> None:
    book = Book(packed(backed_up(connect4, positions(connect4, 2), two_stones(connect4))))
    assert book.score(connect4.initial) == 1
    assert [book.score(after_columns(connect4, column)) for column in range(1, 8)] == [2, 1, 0, -1, 0, 1, 2]


def test_an_irrelevant_score_may_be_unknown(connect4: LineGame) -> None:
    scores = two_stones(connect4)
    del scores[key_of(after_columns(connect4, 1, 1))]
    book = Book(packed(backed_up(connect4, positions(connect4, 2), scores)))
    assert book.score(connect4.initial) == 1
    assert book.score(after_columns(connect4, 1, 1)) is None
    assert book.score(after_columns(connect4, 1)) is None  # column 1 might be the best reply
    assert book.score(after_columns(connect4, 2)) == 1


@pytest.mark.parametrize("begin", [[], ["--anew"]])
def test_a_book_is_completed_from_an_earlier_run(
    begin: list[str], connect4: LineGame, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("numba")
    found = "".join(f"{key} {score}\n" for key, score in two_stones(connect4).items())
    (tmp_path / "new.part").write_text(found + "1594323 1")  # the last line was cut off
    assert main(["book", "--plies", "2", "--out", str(tmp_path / "new.book"), *begin]) == 0
    assert Book((tmp_path / "new.book").read_bytes()).score(connect4.initial) == 1
    assert "30 positions" in capsys.readouterr().out


def test_the_first_two_stones_have_their_known_scores(connect4: LineGame) -> None:
    for first, scores in AFTER_TWO_STONES.items():
        for second, score in enumerate(scores, 1):
            assert shipped_book().score(after_columns(connect4, first, second)) == score
            assert shipped_book().score(after_columns(connect4, 8 - first, 8 - second)) == score


def test_the_shipped_book_is_small() -> None:
    assert SHIPPED.stat().st_size < 512 * 1024


@pytest.fixture(scope="module")
def levels(connect4: LineGame) -> list[dict[int, LineState]]:
    return positions(connect4, 8)


def test_the_shipped_book_knows_every_position_of_up_to_eight_stones_and_no_other(
    levels: list[dict[int, LineState]],
) -> None:
    assert set(shipped_book().scores()) == {key for level in levels for key in level}


def test_a_score_in_the_shipped_book_is_that_of_the_best_move(
    connect4: LineGame, levels: list[dict[int, LineState]]
) -> None:
    known = shipped_book().scores()
    for level in levels[:7]:
        for key, state in level.items():
            after = [connect4.result(state, move) for move in connect4.actions(state)]
            if not any(child.has_line for child in after):
                assert known[key] == max(-known[key_of(child)] for child in after)


def test_a_search_confirms_a_sample_of_the_shipped_book(connect4: LineGame, levels: list[dict[int, LineState]]) -> None:
    pytest.importorskip("numba")
    rng, solver = random.Random(20), Connect4Solver()
    for state in rng.sample([*levels[8].values()], 5):
        assert solver.searched_score(state, Effort(Limit())) == shipped_book().score(mirrored(connect4, state))
