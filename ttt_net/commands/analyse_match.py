"""`analyse --match`: a recorded match move by move, with its turning points and a chart."""

import argparse
import json
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ttt_net.commands.analyse_view import in_words, written
from ttt_net.commands.loading import load_engine
from ttt_net.commands.source import load_records
from ttt_net.errors import ConfigurationError
from ttt_net.games import Game, find_game
from ttt_net.games.record import Record, first_position
from ttt_net.server.settings.configuration import DEFAULT_DATA
from ttt_net.strategies import Limit
from ttt_net.strategies.review import Reviewed, review

STATES = {1: "a won game", 0: "a drawn game", -1: "a lost game"}
CHART = {1: "O ·········● X", 0: "O ····●····· X", -1: "O ●········· X", None: "O ·········· X"}
"""Who wins from here on, for X: right is X, left is O, the middle a draw."""


def show_match(args: argparse.Namespace, limit: Limit) -> None:
    """Print the table of the match's moves, and in words where it turned."""
    record = chosen(load_records(args.match, args.data or DEFAULT_DATA), args)
    game, console = find_game(record.game), Console()
    load_engine(game)
    found = review(game, [made.move for made in record.moves], limit, first_position(game, record.start))
    if args.json:
        for each in found:
            print(json.dumps(as_json(game, each)), flush=True)
        return
    reviewed = list(found)
    names = " – ".join(escape(player.name) for player in record.players)
    table = Table("move", "by", "played", "value", "best was", "who wins", title=f"{game.title}: {names}")
    for each in reviewed:
        better = written(game, each.best) if each.lost else ""
        style = "bold" if each.lost else ""
        cells = (str(each.ply), "XO"[each.side], game.move_names[each.move], in_words(each.was), better, chart(each))
        table.add_row(*cells, style=style)
    console.print(table)
    turns = [sentence(game, each) for each in reviewed if each.lost]
    for turn in turns or ["No move gave away anything."]:
        console.print(turn)


def as_json(game: Game[Any], each: Reviewed) -> dict[str, object]:
    """Return a move as JSON holds it; values are from the view of who made it, null where they are not known."""
    return {
        "ply": each.ply,
        "side": each.side,
        "move": each.move,
        "name": game.move_names[each.move],
        "value": each.was.result,
        "estimate": None if each.was.result is not None else each.was.value,
        "best": [game.move_names[move] for move in each.best],
        "lost": each.lost,
    }


def chosen(records: list[Record], args: argparse.Namespace) -> Record:
    """Return the record that --number chooses, or the only one."""
    if args.number is None and len(records) > 1:
        raise ConfigurationError(f"{args.match} holds {len(records)} records; choose one with --number")
    number = args.number or 1
    if number > len(records):
        raise ConfigurationError(f"--number {number}: {args.match} holds {len(records)}")
    return records[number - 1]


def chart(each: Reviewed) -> str:
    """Return where the game stands after a move."""
    result = each.was.result
    return CHART[result if result is None or each.side == 0 else -result]


def sentence(game: Game[Any], each: Reviewed) -> str:
    """Return a turning point in words: `move 4 (a3) lost a drawn game; b2 held`."""
    assert each.could.result is not None
    name, best = game.move_names[each.move], written(game, each.best)
    if each.was.result == 0:
        return f"Move {each.ply} ({name}) let {STATES[each.could.result]} be drawn; {best} won."
    held = "won" if each.could.result == 1 else "held"
    return f"Move {each.ply} ({name}) lost {STATES[each.could.result]}; {best} {held}."
