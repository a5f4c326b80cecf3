"""`replay`: show the positions of a recorded match, step through it, guess its moves, or record a film of it."""

import argparse
import asyncio
import io
import json
import re
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from prompt_toolkit.input import create_input
from prompt_toolkit.keys import Keys
from rich.console import Console
from rich.live import Live
from rich.text import Text

from ttt_net.client.screens.guess_screen import Guess, judge, told, total
from ttt_net.commands.analyse import as_json
from ttt_net.commands.recorded_matches import add_data, chosen, load_records
from ttt_net.commands.searching import load_engine_for_review
from ttt_net.errors import ConfigurationError, Refusal
from ttt_net.games import find_game
from ttt_net.games.game import EMPTY, Game, Move
from ttt_net.games.notation import draw_diagram, read_move
from ttt_net.games.records import Record, result_of, write_clock
from ttt_net.matches.analyses import JudgedMove, described
from ttt_net.strategies import Limit
from ttt_net.strategies.review import review
from ttt_net.text import counted

_FORWARD = (Keys.Right, Keys.Down, Keys.Enter, Keys.ControlJ, " ", "l", "j")
_BACK = (Keys.Left, Keys.Up, Keys.Backspace, "h", "k")
_FIRST = (Keys.Home, "g")
_LAST = (Keys.End, "G")
_QUIT = ("q", Keys.Escape, Keys.ControlC, Keys.ControlD)
_STYLES = {"X": "bold blue", "O": "bold yellow", EMPTY: "dim"}
_STEP_S, _HOLD_S = 0.8, 3.0
"""How long a film shows each position, and the last one."""
_ANEW = "\x1b[H\x1b[2J"
"""The control sequence that clears the screen and moves to its upper left corner."""
_LEAST = (40, 8)
"""The minimal columns and rows of a film."""
GUESS_MS = 20_000
"""How long the engine may think about a whole match whose moves are guessed."""
_HELP = "→ or Enter: next   ←: back   Home, End   q: quit"


def add_replay_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument(
        "source", metavar="FILE|ID", help="a file of records, the id of a match on this machine's server, or local"
    )
    parser.add_argument("--at", type=int, metavar="PLY", help="print the position after that many moves, and stop")
    parser.add_argument("--cast", action="store_true", help="print it as an asciicast, a film for terminals, and stop")
    parser.add_argument(
        "--guess",
        nargs="?",
        const="winner",
        choices=("winner", "first", "second"),
        help="guess the moves of a side before they are shown (default: the winner's)",
    )
    parser.add_argument("--number", type=int, metavar="N", help="which record of the file, counted from 1")
    add_data(parser)


def run_replay(args: argparse.Namespace) -> int:
    """Show the match: the position at `--at`, a film, by keys in a terminal, or every position."""
    record = chosen(load_records(args.source, args.data), args.number, args.source)
    plies = len(record.moves)
    if args.at is not None and not 0 <= args.at <= plies:
        raise ConfigurationError(f"--at {args.at}: the match has the plies 0 to {plies}")
    if args.guess is not None:
        guess_moves(record, args.guess)
        return 0
    if args.cast:
        shown = range(plies + 1) if args.at is None else (args.at,)
        title = f"{find_game(record.game).title}: {' - '.join(player.name for player in record.players)}"
        sys.stdout.writelines(f"{line}\n" for line in asciicast(title, [draw_position(record, ply) for ply in shown]))
        return 0
    console = Console(highlight=False)
    if args.at is None and sys.stdin.isatty() and console.is_terminal:
        _step_through(record, console)
        return 0
    for ply in range(plies + 1) if args.at is None else (args.at,):
        console.print(draw_position(record, ply), soft_wrap=True)
    return 0


def guess_moves(record: Record, whose: str) -> None:
    """Ask for each move of a side before it is shown, and print what the engine says of the guess, and the total."""
    game, winner = find_game(record.game), record.outcome and record.outcome.winner
    side, moves = {"first": 0, "second": 1}.get(whose, winner or 0), [made.move for made in record.moves]
    player, console, found = record.players[side].name, Console(highlight=False), list[Guess]()
    states = list(record.positions())
    load_engine_for_review(game, len(moves))
    judged = review(game, moves, Limit(), states[0], Limit(ms=GUESS_MS))
    for ply, (state, each) in enumerate(zip(states, judged, strict=False)):
        if game.to_move(state) != side:
            continue
        console.print(draw_position(record, ply), soft_wrap=True)
        try:
            guess = _asked_move(game, state, f"Which move did {player} play? Enter shows it: ")
        except EOFError:
            break
        known = described(msgspec.convert(as_json(game, each), JudgedMove))
        found.append(judge(each.move, guess, game.move_names, known))
        names = "" if guess is None else game.move_names[guess], game.move_names[each.move]
        console.print(told(found[-1], *names, player, known), markup=False)
        console.print()
    if found:
        console.print(total(found, player), markup=False)


def _asked_move(game: Game[Any], state: Any, question: str) -> Move | None:  # noqa: ANN401 - any game's position
    """Ask until the answer is a legal move, or empty: None, to be shown it. Raises `EOFError` if the input ends."""
    while True:
        try:
            typed = input(question).strip()
            return read_move(game, state, typed) if typed else None
        except Refusal as refusal:
            print(f"{refusal}.")


def draw_position(record: Record, ply: int) -> Text:
    """Return the match after `ply` moves: the players, the move, the board, and the result at the end."""
    game = find_game(record.game)
    state = list(record.positions())[ply]
    marks = game.marks(state)
    names = (f"{player.name}{' (bot)' if player.bot else ''}" for player in record.players)
    players = " - ".join(name if name == mark else f"{name} ({mark})" for name, mark in zip(names, marks, strict=True))
    lines = [Text(f"{game.title}: {players}"), Text(_last_move(record, game, ply)), *draw_board(game, state)]
    if ply == len(record.moves):
        reason = f", {record.outcome.reason}" if record.outcome else ""
        lines.append(Text(f"{result_of(record.outcome)}{reason}", style="bold"))
    return Text("\n").join((*lines, Text("")))


def _last_move(record: Record, game: Game[Any], ply: int) -> str:
    if ply == 0:
        return f"before the first of {counted(len(record.moves), 'move')}"
    made = record.moves[ply - 1]
    clock = f" [{write_clock(made.clock_ms)}]" if made.clock_ms is not None else ""
    comment = f" {made.comment}" if made.comment else ""
    return f"move {ply} of {len(record.moves)}: {game.move_names[made.move]}{clock}{comment}"


def _step_through(record: Record, console: Console) -> None:
    asyncio.run(_follow_keys(record, console))


async def _follow_keys(record: Record, console: Console) -> None:
    keys: asyncio.Queue[Any] = asyncio.Queue(maxsize=256)
    terminal = create_input()

    def read_keys() -> None:
        for press in (*terminal.read_keys(), *terminal.flush_keys()):
            if not keys.full():
                keys.put_nowait(press.key)
        if terminal.closed and not keys.full():
            keys.put_nowait(Keys.ControlD)

    ply, last = 0, len(record.moves)
    with (
        terminal.raw_mode(),
        terminal.attach(read_keys),
        Live(console=console, auto_refresh=False, screen=True) as live,
    ):
        while True:
            live.update(Text("\n").join((draw_position(record, ply), Text(_HELP, style="dim"))), refresh=True)
            key = await keys.get()
            if key in _QUIT:
                return
            ply = _next_ply(key, ply, last)


def _next_ply(key: Any, ply: int, last: int) -> int:  # noqa: ANN401 - Keys or a character
    if key in _FORWARD:
        return min(ply + 1, last)
    if key in _BACK:
        return max(ply - 1, 0)
    return 0 if key in _FIRST else last if key in _LAST else ply


def draw_board(game: Game[Any], state: Any) -> list[Text]:  # noqa: ANN401 - each game has its own positions
    """Return the rows of the board as `draw_diagram` draws them, in colour."""
    return [_coloured(row) for row in draw_diagram(game, state)]


def _coloured(row: str) -> Text:
    text = Text(row)
    for found in re.finditer(r"[\[ ]([XO.])[\] ]?", row):
        text.stylize(_STYLES[found[1]], *found.span())
    return text


def asciicast(title: str, pictures: Sequence[Text]) -> Iterator[str]:
    """Yield the lines of an asciicast, version 2, a format of terminal recordings.

    The header has the size of the largest picture; each picture follows with its time in seconds.
    """
    width = max(_LEAST[0], *(line.cell_len for picture in pictures for line in picture.split()))
    height = max(_LEAST[1], *(len(picture.split()) + 1 for picture in pictures))
    yield json.dumps({"version": 2, "width": width, "height": height, "title": title}, ensure_ascii=False)
    for number, picture in enumerate(pictures):
        drawn = _as_terminal(picture, width).replace("\n", "\r\n")
        yield json.dumps([round(number * _STEP_S, 3), "o", _ANEW + drawn], ensure_ascii=False)
    yield json.dumps([round((len(pictures) - 1) * _STEP_S + _HOLD_S, 3), "o", ""])


def _as_terminal(picture: Text, width: int) -> str:
    """Return the text with its colours as control sequences."""
    console = Console(file=io.StringIO(), force_terminal=True, color_system="standard", width=width, no_color=False)
    with console.capture() as captured:
        console.print(picture, soft_wrap=True, end="", highlight=False)
    return captured.get()
