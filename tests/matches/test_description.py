"""Parts of a position besides its board, for clients that know no rules."""

from ttt_net.games import find_game
from ttt_net.games.notation import read_move
from ttt_net.matches.description import describe_position
from ttt_net.messages import Position, TargetInfo, encode


def after(name: str, words: str, *, is_over: bool = False) -> Position:
    """Return the position after the moves, as a client is told it."""
    game = find_game(name)
    state = game.initial
    for word in words.split():
        state = game.result(state, read_move(game, state, word))
    return describe_position(game, len(words.split()), state, is_over=is_over or game.is_terminal(state))


def test_the_mark_that_vanishes_next_is_told_once_the_side_to_move_has_three() -> None:
    assert after("vanishing", "a3 c3 b2 b1 a2").vanishing is None
    assert after("vanishing", "a3 c3 b2 b1 a2 c2").vanishing == 0, "X's first mark, a3"
    assert after("vanishing", "a3 c3 b2 b1 a2 c2 c1").vanishing == 2, "O's first mark, c3"
    assert after("vanishing", "a3 c3 b2 b1 a2 a1 c2").vanishing is None, "the match is over"
    assert after("vanishing", "a3 c3 b2 b1 a2 c2", is_over=True).vanishing is None, "somebody resigned"


def test_the_board_to_play_in_is_told_by_number_and_name() -> None:
    assert after("ultimate", "").target is None
    assert after("ultimate", "5:c3").target == TargetInfo(3, "top right")
    assert after("ultimate", "5:b2").target == TargetInfo(5, "centre")
    assert after("ultimate", "5:c3", is_over=True).target is None
    free = after("ultimate", "5:a1 7:c1 9:b2 5:b2 5:c1 9:a1 7:a2 4:b2 5:b1 8:b2")
    assert free.target is None, "sent to board 5, which X has won"


def test_the_line_of_misere_is_its_loser_s() -> None:
    ended = after("misere", "b3 c3 a2 c1 b1 c2")
    assert (ended.line_by, ended.line) == (1, [2, 5, 8])
    assert after("tictactoe", "b2 b3 a1 c3 a2 c1 c2").line_by == 0
    assert after("wild", "Xb2 Oa1 Oc3 Xb1 Oa3 Xb3").line_by == 1
    assert after("connect4+swap", "4 swap 1 4 1 4 1 4").line_by == 1, "who swapped plays X"
    assert after("misere", "b3 c3").line_by is None


def test_the_takeover_is_told_to_the_second_player_alone() -> None:
    game = find_game("connect4+swap")
    assert after("connect4+swap", "").takeover is None
    assert after("connect4+swap", "4").takeover == game.move_names.index("swap")
    assert after("connect4+swap", "4 swap").takeover is None
    assert after("connect4+swap", "4 4").takeover is None
    assert after("connect4", "4").takeover is None
    assert after("mnk:1x1,1+swap", "a1").takeover is None


def test_what_says_nothing_is_left_out_of_the_message() -> None:
    assert not {b"line_by", b"vanishing", b"target", b"takeover"} & set(encode(after("connect4", "4")).split(b'"'))
