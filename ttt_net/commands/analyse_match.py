"""`analyse --match`: a recorded match move by move, with its lesson, its turning points and a chart."""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import track
from rich.table import Table

from ttt_net.commands.analyse_view import in_words, mark_of
from ttt_net.commands.searching import load_engine_for_review
from ttt_net.commands.source import chosen, load_each
from ttt_net.errors import ConfigurationError, Refusal
from ttt_net.games import Game, Side, find_game
from ttt_net.games.record import Record, first_position
from ttt_net.server.settings.configuration import DEFAULT_DATA
from ttt_net.strategies import Limit
from ttt_net.strategies.lessons.explanation import named
from ttt_net.strategies.review import Lesson, Reviewed, glance, lesson_of, review, winner_of
from ttt_net.text import counted

CHART = {1: "O ······● X", 0: "O ···●··· X", -1: "O ●······ X", None: "O ······· X"}
"""Who wins from here on, for X: right is X, left is O, the middle a draw."""


def show_match(args: argparse.Namespace, limit: Limit) -> None:
    """Print the match's moves with their grades, and the lesson: first what can be seen without a search."""
    record = one_record(args)
    game, console = find_game(record.game), Console()
    moves, start = [made.move for made in record.moves], first_position(game, record.start)
    winner = winner_in(game, record)
    first = lesson_of(list(glance(game, moves, start)), winner, is_searched=False)
    if args.json:
        print(json.dumps(first.as_json(game)), flush=True)
    elif sys.stderr.isatty():
        Console(stderr=True).print(first.in_words(game), markup=False)
    load_engine_for_review(game, len(moves))
    found = review(game, moves, limit, start, Limit(ms=args.match_time))
    if args.json:
        reviewed = []
        for each in found:
            reviewed.append(each)
            print(json.dumps(as_json(game, each)), flush=True)
        print(json.dumps(lesson_of(reviewed, winner).as_json(game)), flush=True)
        return
    progress = track(
        found, "analysing", len(record.moves), console=Console(stderr=True), disable=not sys.stderr.isatty()
    )
    reviewed = list(progress)
    show_table(console, game, record, reviewed)
    for sentence in summary(game, reviewed, lesson_of(reviewed, winner)):
        console.print(sentence, markup=False)


def one_record(args: argparse.Namespace) -> Record:
    """Return the match that the options name; says of the others which cannot be read."""
    each = load_each(args.match, args.data or DEFAULT_DATA)
    bad = [refusal for refusal in each if isinstance(refusal, Refusal)]
    good: list[Record] = [record for record in each if isinstance(record, Record)]
    if args.number is not None and 1 <= args.number <= len(each):
        found = each[args.number - 1]
        if isinstance(found, Refusal):
            raise ConfigurationError(f"{args.match}: {found}")
        record: Record = found
    elif bad and not good:
        raise ConfigurationError(f"{args.match}: {bad[0]}")
    else:
        record = chosen(good, args.number, args.match)
    for refusal in bad:
        print(f"left out: {refusal}", file=sys.stderr)
    return record


def winner_in(game: Game[Any], record: Record) -> Side | None:
    """Return who has won a match, by its rules or by what its record says; None for nobody."""
    if record.outcome is not None:
        return record.outcome.winner
    state = first_position(game, record.start)
    for made in record.moves:
        state = game.result(state, made.move)
    return winner_of(game, state)


def show_table(console: Console, game: Game[Any], record: Record, reviewed: Sequence[Reviewed]) -> None:
    """Print a row for each move."""
    state = first_position(game, record.start)
    names = " – ".join(escape(player.name) for player in record.players)
    table = Table("move", "by", "played", "value", title=f"{game.title}: {names}")
    table.add_column("grade", no_wrap=True)
    table.add_column("best was")
    table.add_column("who wins", no_wrap=True)
    for each in reviewed:
        by, state = mark_of(game, state, each.side), game.result(state, each.move)
        played = f"{game.move_names[each.move]}{each.sign}"
        cells = (str(each.ply), by, played, in_words(each.was), str(each.grade))
        stands = chart(each.was.result, mark_of(game, state, each.side))
        table.add_row(*cells, better(game, each), stands, style="bold" if each.sign.startswith("?") else "")
    console.print(table)


def as_json(game: Game[Any], each: Reviewed) -> dict[str, object]:
    """Return a move as JSON holds it; values are from the view of who made it, null where they are not known."""
    return {
        "type": "move",
        "ply": each.ply,
        "side": each.side,
        "move": each.move,
        "name": game.move_names[each.move],
        "value": each.was.result,
        "plies": each.was.plies,
        "estimate": None if each.was.result is not None else each.was.value,
        "best": [game.move_names[move] for move in each.best],
        "grade": each.grade,
        "sign": each.sign,
        "lost": each.lost,
        "text": each.mistake.reason if each.mistake else "",
        "why": each.mistake.why.as_json() if each.mistake else None,
    }


def chart(result: int | None, mark: str) -> str:
    """Return where the game stands after a move, by its result for who made it and has that mark now."""
    return CHART[result if result is None or mark == "X" else -result]


def better(game: Game[Any], each: Reviewed) -> str:
    """Return the best moves with what they were worth, if the move that was made was none of them."""
    is_worse = each.move not in each.best and (each.sign or each.could.result is not None)
    return f"{named(game, each.best)} ({in_words(each.could)})" if is_worse else ""


def summary(game: Game[Any], reviewed: Sequence[Reviewed], lesson: Lesson) -> Iterator[str]:
    """Yield in sentences the lesson, where else the match turned, and how much of it is not known."""
    if lesson.ply is not None:
        yield lesson.in_words(game)
    for each in reviewed:
        if each.lost and each.ply != lesson.ply:
            what = "won" if each.could.result == 1 else "held the draw"
            yield f"Move {each.ply} ({game.move_names[each.move]}): {each.grade}; {named(game, each.best)} {what}."
    unknown = sum(each.lost is None for each in reviewed)
    if unknown:
        moves = counted(len(reviewed), "move")
        yield f"{unknown} of {moves} could not be judged for certain; --match-time gives more time."
    elif lesson.ply is None:
        yield "No move gave anything away."
