"""Pente keeps the laws of ttt_net's games."""

from ttt_pente import games

from ttt_net.testing import check_game


def test_pente_keeps_the_laws() -> None:
    for game in games:
        check_game(game)
