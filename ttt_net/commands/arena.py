"""`arena`: strategies play a round robin, and a cross table shows who is how much stronger."""

import argparse
import json
import sys
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.progress import track
from rich.table import Table

from ttt_net.commands.figures import new_table, show_table
from ttt_net.commands.limits import add_limits, limit_of, positive
from ttt_net.commands.loading import load_engine
from ttt_net.errors import ConfigurationError
from ttt_net.games import Game, find_game
from ttt_net.games.notation import write_move
from ttt_net.strategies import NAMES, find_strategy
from ttt_net.strategies.arena import Entrant, Result, Score, Standing, round_robin, standings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's options."""
    parser.add_argument(
        "strategies",
        nargs="+",
        metavar="STRATEGY",
        help=f"two or more of {', '.join(NAMES)}; NAME:LEVEL for a level from 1 to 8",
    )
    parser.add_argument("--game", default="tictactoe", help="what they play (default %(default)s)")
    parser.add_argument(
        "--rounds", type=positive, default=10, metavar="N", help="games of each pair on each side (default %(default)s)"
    )
    parser.add_argument(
        "--opening", type=int, choices=range(9), default=0, metavar="PLIES", help="random moves to start from, 0 to 8"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object a line, one for each strategy")
    parser.add_argument("--moves", action="store_true", help="print each game as it ends, for `analyse --moves`")
    add_limits(parser, move_time=100)


def run(args: argparse.Namespace) -> int:
    """Play the round robin and print its table; return the exit status."""
    game, seed = find_game(args.game), 0 if args.seed is None else args.seed
    if len(args.strategies) < 2:
        raise ConfigurationError("an arena needs two strategies or more")
    entrants = [entrant(text, seed + number) for number, text in enumerate(args.strategies)]
    for each in entrants:
        if objection := each.strategy.objection(game):
            raise ConfigurationError(objection)
    load_engine(game)
    games = round_robin(game, entrants, limit_of(args), rounds=args.rounds, opening_plies=args.opening, seed=seed)
    total = len(entrants) * (len(entrants) - 1) * args.rounds
    results = []
    for result in track(games, "playing", total, console=Console(stderr=True), disable=not sys.stderr.isatty()):
        results.append(result)
        if args.moves:
            print(
                game_as_json(game, result, entrants) if args.json else game_as_text(game, result, entrants), flush=True
            )
    table = standings(entrants, results)
    if args.json:
        for standing in table:
            print(json.dumps(as_json(standing, entrants)))
    else:
        show_table(Console(), cross_table(f"{game.title}, {total} games", table))
    return 0


def entrant(text: str, seed: int) -> Entrant:
    """Return the entrant that `NAME` or `NAME:LEVEL` stands for."""
    name, colon, level = text.partition(":")
    if colon and not (level.isascii() and level.isdigit()):
        raise ConfigurationError(f"{text!r} is not NAME or NAME:LEVEL")
    return Entrant(text, find_strategy(name, seed=seed, level=int(level) if colon else None))


def game_as_text(game: Game[Any], result: Result, entrants: Sequence[Entrant]) -> str:
    """Return a game on one line: who played whom, who won, and the moves."""
    first, second = entrants[result.first].name, entrants[result.second].name
    ending = ("1/2", "1-0", "0-1")[result.utility]
    return f"{first} - {second} {ending} {' '.join(write_move(game, move) for move in result.moves)}"


def game_as_json(game: Game[Any], result: Result, entrants: Sequence[Entrant]) -> str:
    """Return a game as an object of JSON; `value` is 1 if the first won, 0 for a draw, -1 if the second won."""
    players = [entrants[result.first].name, entrants[result.second].name]
    moves = [write_move(game, move) for move in result.moves]
    return json.dumps({"players": players, "value": result.utility, "moves": moves})


def as_json(standing: Standing, entrants: Sequence[Entrant]) -> dict[str, object]:
    """Return a standing as JSON holds it."""
    return {
        "strategy": standing.name,
        **standing.total._asdict(),
        "elo": standing.elo,
        "elo_error": standing.elo_error,
        "median_ms": standing.median_ms,
        "worst_ms": standing.worst_ms,
        "against": [
            {"strategy": other.name, **score._asdict()}
            for other, score in zip(entrants, standing.against, strict=True)
            if score.games
        ],
    }


def cross_table(title: str, table: Sequence[Standing]) -> Table:
    """Return the cross table: a row for each strategy, with its wins, draws and losses against each other one."""
    caption = "won-drawn-lost; Elo against the mean of the others, with its standard error"
    view = new_table("strategy", title=title, caption=caption)
    for number in range(1, len(table) + 1):
        view.add_column(str(number), justify="center")
    for column in ("total", "points", "Elo", "median\nms", "worst\nms"):
        view.add_column(column, justify="right")
    for number, row in enumerate(table, 1):
        elo = "" if row.elo is None else f"{row.elo:+.0f} ± {row.elo_error:.0f}"
        points = f"{row.total.points / max(row.total.games, 1):.1%}"
        cells = [written(score) for score in (*row.against, row.total)]
        view.add_row(f"{number} {row.name}", *cells, points, elo, f"{row.median_ms:.1f}", f"{row.worst_ms:.1f}")
    return view


def written(score: Score) -> str:
    """Return a score as the cross table shows it."""
    return "-".join(map(str, score)) if score.games else "·"
