"""Othello keeps the laws of ttt_net's games, and has as many plays as published."""

from ttt_othello import games

from ttt_net.testing import check_game, count_plays


def test_othello_keeps_the_laws() -> None:
    check_game(games)


def test_othello_has_as_many_plays_as_published() -> None:  # Aart Bik, aartbik.com: perft for Reversi
    assert [count_plays(games, plies) for plies in range(1, 7)] == [4, 12, 56, 244, 1396, 8200]
