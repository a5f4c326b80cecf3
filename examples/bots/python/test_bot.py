"""Tests of my-bot: run them with `python -m pytest`."""

from bot import GAMES, NAME, choose

from ttt_net import sdk


def test_the_bot_plays_a_whole_match_on_a_server_of_its_own() -> None:
    tally = sdk.play(choose, name=NAME, games=GAMES, sandbox=True, matches=1)
    assert tally.games == 1
