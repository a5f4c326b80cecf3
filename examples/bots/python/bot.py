"""my-bot: python bot.py ws://HOST:8765 plays on that server until Ctrl-C."""

import random
import sys

from ttt_net import sdk

NAME = "my-bot"
GAMES: list[str] = []  # such as ["connect4", "gomoku"]; none are all games


def choose(turn: sdk.Turn) -> int:
    """Return one of the legal moves. Your idea belongs here."""
    return random.choice(turn.legal)


if __name__ == "__main__":
    sdk.play(choose, *sys.argv[1:2], name=NAME, games=GAMES)
