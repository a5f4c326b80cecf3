"""`analyse --match`: a recorded match move by move, with its turning points and a chart."""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import track
from rich.table import Table

from ttt_net.commands.analyse_view import in_words, mark_of, named
from ttt_net.commands.loading import load_engine
from ttt_net.commands.source import chosen, load_records
from ttt_net.games import Game, find_game
from ttt_net.games.record import first_position
from ttt_net.server.settings.configuration import DEFAULT_DATA
from ttt_net.strategies import Limit
from ttt_net.strategies.review import Reviewed, review
from ttt_net.text import counted

CHART = {1: "O ······● X", 0: "O ···●··· X", -1: "O ●······ X", None: "O ······· X"}
"""Who wins from here on, for X: right is X, left is O, the middle a draw."""


def show_match(args: argparse.Namespace, limit: Limit) -> None:
    """Print the table of the match's moves, and in words where it turned."""
    record = chosen(load_records(args.match, args.data or DEFAULT_DATA), args.number, args.match)
    game, console = find_game(record.game), Console()
    load_engine(game)
    found = review(game, [made.move for made in record.moves], limit, first_position(game, record.start))
    if args.json:
        for each in found:
            print(json.dumps(as_json(game, each)), flush=True)
        return
    progress = track(
        found, "analysing", len(record.moves), console=Console(stderr=True), disable=not sys.stderr.isatty()
    )
    reviewed, state = list(progress), first_position(game, record.start)
    names = " – ".join(escape(player.name) for player in record.players)
    table = Table("move", "by", "played", "value", title=f"{game.title}: {names}")
    table.add_column("grade", no_wrap=True)
    table.add_column("best was")
    table.add_column("who wins", no_wrap=True)
    for each in reviewed:
        by, state = mark_of(game, state, each.side), game.result(state, each.move)
        cells = (str(each.ply), by, game.move_names[each.move], in_words(each.was), each.grade or "")
        stands = chart(each.was.result, mark_of(game, state, each.side))
        table.add_row(*cells, better(game, each), stands, style="bold" if each.lost else "")
    console.print(table)
    for sentence in summary(game, reviewed):
        console.print(sentence)


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
        "grade": each.grade,
        "lost": each.lost,
    }


def chart(result: int | None, mark: str) -> str:
    """Return where the game stands after a move, by its result for who made it and has that mark now."""
    return CHART[result if result is None or mark == "X" else -result]


def better(game: Game[Any], each: Reviewed) -> str:
    """Return the best moves with what they were worth, if the move that was made was none of them."""
    is_known = each.grade is not None and each.move not in each.best
    return f"{named(game, each.best)} ({in_words(each.could)})" if is_known else ""


def summary(game: Game[Any], reviewed: Sequence[Reviewed]) -> Iterator[str]:
    """Yield in sentences where the match turned, and how much of it is not known."""
    turns = [each for each in reviewed if each.lost]
    for each in turns:
        what = "won" if each.could.result == 1 else "held the draw"
        yield f"Move {each.ply} ({game.move_names[each.move]}): {each.grade}; {named(game, each.best)} {what}."
    unknown = sum(each.lost is None for each in reviewed)
    if unknown:
        moves = counted(len(reviewed), "move")
        yield f"{unknown} of {moves} could not be judged for certain; --move-time gives more time."
    elif not turns:
        yield "No move gave anything away."
