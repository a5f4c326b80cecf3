"""Write docs/games.md from docs/games.template.md and the code: `make docs`. A test compares them."""

import re
import textwrap
from pathlib import Path
from typing import Any

from ttt_net.commands.games import size_of
from ttt_net.games import Game, Reason, find_game
from ttt_net.games.catalogue import NAMES, SWAPPABLE
from ttt_net.games.notation import draw_diagram, read_move, write_position
from ttt_net.games.records import read_record, write_record
from ttt_net.games.rules import UNKNOWN, draw_example, find_rules, known_value, play_example

HERE = Path(__file__).parent
SIGNS = {"the first player wins": "+", "the second player wins": "−", "draw": "=", UNKNOWN: ""}
SIDES = range(1, 20)
WIDTH = 124
RECORD = """\
Game: tictactoe
Event: Friday evening
Date: 2026-11-21
First: Ann
Second: Perfect
Second-bot: minimax
Time: 180+2

b2 [2:58.100] {the centre} b3 [3:00] a1 [2:55] c3 [3:02] a2 [2:51] c1 c2 {at last}
"""


def main() -> None:
    """Write the file."""
    for path, content in generated().items():
        path.write_text(content, encoding="utf-8")


def generated() -> dict[Path, str]:
    """Return the content of the generated file."""
    template = (HERE / "games.template.md").read_text(encoding="utf-8")
    return {HERE / "games.md": re.sub(r"\{\{(.*?)\}\}", lambda found: fill(found[1]), template)}


def fill(order: str) -> str:
    """Return what stands for an order such as `board connect4: 4 4 3`."""
    word, _, rest = order.partition(" ")
    if word == "board":
        name, _, moves = rest.rpartition(": ")
        return board(find_game(name), moves.split())
    if word == "rules":
        return rules(rest)
    if word == "value":
        found = known_value(rest)
        return f"Value: {found.value} ({found.source})."
    makers = {"values mnk": mnk_values, "values connect": connect_values, "catalogue": catalogue}
    if order in makers:
        return makers[order]()
    if order == "swappable":
        return ", ".join(f"`{name}`" for name in SWAPPABLE)
    if order == "reasons":
        return ", ".join(f"`{reason}`" for reason in Reason)
    if order == "record":
        return f"```\n{write_record(read_record(RECORD))}```"
    raise ValueError(order)


def board(game: Game[Any], moves: list[str]) -> str:
    """Return the position after the moves, drawn and in its notation."""
    state = game.initial
    for word in moves:
        state = game.result(state, read_move(game, state, word))
    rows = "\n".join(draw_diagram(game, state))
    return f"```\n{rows}\n```\n\nMoves `{' '.join(moves)}`, position `{write_position(game, state)}`."


def rules(name: str) -> str:
    """Return the page of rules of a game, with the end of its example in notation."""
    page, (game, state) = find_rules(name), play_example(name)
    rows = "\n".join(draw_example(name))
    text = textwrap.fill(f"{page.goal} {page.special}", WIDTH)
    moves = f"Moves `{page.example}`, position `{write_position(game, state)}`."
    return f"{text}\n\n```\n{rows}\n```\n\n{page.caption}\n\n{moves}"


def catalogue() -> str:
    """Return the named games as a table."""
    rows = ["| name | size | rule | winning lines | value |", "|---|---|---|---|---|"]
    for game in map(find_game, NAMES):
        rows.append(
            f"| `{game.name}` | {size_of(game)} | {game.rule} | {game.line_count} | {known_value(game.name).value} |"
        )
    return "\n".join(rows)


def mnk_values() -> str:
    """Return the sizes whose value is known, by value and source, as a list."""
    found: dict[str, list[str]] = {}
    for width in SIDES:
        for height in range(1, width + 1):
            for k in range(1, width + 1):
                name = f"mnk:{width}x{height},{k}"
                value, source = known_value(name)
                if value != UNKNOWN:
                    found.setdefault(f"{value} ({source})", []).append(f"`{name}`")
    return "\n".join(f"- {title}: {', '.join(names)}" for title, names in found.items())


def connect_values() -> str:
    """Return the values of four in a row with gravity by height and width, with their source."""
    widths = range(4, 13)
    rows = [f"| | {' | '.join(map(str, widths))} |", "|---" * (len(widths) + 1) + "|"]
    for height in range(4, 14):
        signs = (SIGNS[known_value(f"connect:{width}x{height},4").value] for width in widths)
        rows.append(f"| {height} | {' | '.join(signs)} |")
    return "\n".join(rows) + f"\n\nSource: {known_value('connect:7x6,4').source}."


if __name__ == "__main__":
    main()
