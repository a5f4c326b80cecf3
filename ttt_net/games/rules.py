"""Explain each game to people who have never played it: one page of rules for each, as data.

The terminal, the web page and docs/games.md show these pages.
"""

from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

from ttt_net.games.catalogue import SWAP, find_game
from ttt_net.games.game import Game, Move, RulePage
from ttt_net.games.geometry import cells_of
from ttt_net.games.notation import draw_diagram, read_move

_PAGES = {
    "tictactoe": RulePage(
        goal="Get three of your marks in a row: across, down or diagonally.",
        special="A full board without such a line is a draw, and two players who look ahead always get there.",
        tips=(
            "Begin in the centre: four of the eight lines run through it.",
            "Threaten two lines at once: your opponent can block only one of them.",
        ),
        example="b2 b3 a1 c3 a2 c1 c2",
        caption="X has the three cells of the middle row, a2, b2 and c2, and has won.",
    ),
    "misere": RulePage(
        goal="Do not get three in a row: the player who does has lost.",
        special="The line is the loser's. All else is as in tic-tac-toe: a full board without a line is a draw.",
        tips=(
            "If you begin, take the centre, and then always the cell opposite to your opponent's: so you never lose.",
            "Count the cells that are still safe for you, and leave your opponent fewer.",
        ),
        example="b3 c3 a2 c1 b1 c2",
        caption="O has completed column c and has lost: X has won.",
    ),
    "wild": RulePage(
        goal="Complete three equal marks in a row, be they X or O.",
        special="With each move you choose anew which mark you place. No mark belongs to anybody: a line counts for "
        "the player who completes it. A move is a mark and a cell, such as Xb2.",
        tips=(
            "Never leave two equal marks in a line whose third cell is empty: your opponent completes it.",
            "After an X in the centre, another X loses at once: the cell opposite completes the line.",
        ),
        example="Xb2 Oa1 Oc3 Xb1 Oa3 Xb3",
        caption="The second player has completed column b with a third X, at b3, and has won.",
    ),
    "vanishing": RulePage(
        goal="Get three of your marks in a row: across, down or diagonally.",
        special="You never have more than three marks. Your fourth takes away your oldest, whose cell is free again "
        "from the next move on. A position that stands for the third time is a draw, and so is a match of 200 moves.",
        tips=(
            "Before you move, look which of your marks vanishes with it: it is shown on the board.",
            "Two in a line threaten nothing if one of them is about to vanish.",
        ),
        example="a3 c3 b2 b1 a2 a1 c2",
        caption="X has a2, b2 and c2 and has won. X's fourth mark, c2, has taken away the first, a3.",
    ),
    "gomoku": RulePage(
        goal="Get five or more of your marks in a row: across, down or diagonally.",
        special="No move is forbidden, and more than five count, too. To begin is a great advantage; gomoku+swap makes "
        "up for it.",
        tips=(
            "Block a row of three that is open at both ends: four with two open ends cannot be stopped.",
            "Look for a move that makes two threats at once.",
        ),
        example="h8 h9 i8 i9 j8 j9 g8 k8 f8",
        caption="X has the five cells f8 to j8 in a row and has won.",
    ),
    "connect4": RulePage(
        goal="Get four of your marks in a row: across, up or diagonally.",
        special="A mark falls to the lowest empty cell of its column. A move is the number of the column.",
        tips=(
            "Begin in the middle: more lines run through the middle column than through any other.",
            "Before you drop a mark, look at the cell above it: you open it to your opponent.",
        ),
        example="4 4 3 3 5 5 6",
        caption="X has the cells of columns 3 to 6 at the bottom and has won. Before the last move X could win at 2 "
        "and at 6: nobody can block both.",
    ),
    "tictactoe3d": RulePage(
        goal="Get three of your marks in a row in a cube of 3×3×3, in any direction.",
        special="Lines run across, up and diagonally, also from layer to layer. A full cube always has a line, so "
        "there is no draw. A move is layer and cell, such as 2:b2.",
        tips=(
            "The centre of the cube, 2:b2, is on 13 of the 49 lines.",
            "Look along the layers too: the same cell in all three layers is a line.",
        ),
        example="2:b2 1:a1 1:b2 3:b2 1:a3 2:a2 3:c1",
        caption="X has a line from corner to corner through the centre, 1:a3, 2:b2 and 3:c1, and has won.",
    ),
    "qubic": RulePage(
        goal="Get four of your marks in a row in a cube of 4×4×4, in any direction.",
        special="Lines run across, up and diagonally, also from layer to layer: 76 in all. A move is layer and cell, "
        "such as 1:a1.",
        tips=(
            "The eight corners and the eight cells in the middle are on seven lines each, all others on four.",
            "Keep making threes that must be blocked until one move makes two of them.",
        ),
        example="1:a1 1:b1 2:b2 1:c1 3:c3 1:d2 4:d4",
        caption="X has a line from corner to corner, 1:a1, 2:b2, 3:c3 and 4:d4, and has won.",
    ),
    "scorefour": RulePage(
        goal="Get four of your marks in a row in a cube of 4×4×4, in any direction.",
        special="Marks are stacked like beads on 4×4 pegs, layer 1 at the bottom. A move is a peg, such as b3.",
        tips=(
            "Four on one peg are a line, too: put a mark on top of the third.",
            "Before you stack a mark, look at the cell above it: you open it to your opponent.",
        ),
        example="a1 b1 a1 b2 a1 b3 a1",
        caption="X has all four cells on peg a1, one in each layer, and has won.",
    ),
    "ultimate": RulePage(
        goal="Win three small boards in a row. A small board is won by three of your marks in a row.",
        special="Your cell chooses the board of your opponent's move: a top right cell sends them to the top right "
        "board. If that board is won or full, they choose. If nobody gets three, it is a draw. The move 5:b2 is cell "
        "b2 of board 5; boards are numbered row by row.",
        tips=(
            "Look where your move sends your opponent before you look what it wins.",
            "Send nobody to a closed board without need: they may then play where they like.",
        ),
        example="1:b2 5:b3 2:c1 9:c3 3:c3 3:b3 2:a3 1:a3 1:c3 3:a3 1:a1 7:c3 3:b2 5:c3 3:a1 7:a3 2:b2",
        caption="X has won boards 1, 2 and 3, which are in a row, and with them the game.",
    ),
}
"""The pages of the named games."""

_BEGIN = "Begin in the middle: more lines run through it than through the edge."
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


@lru_cache(maxsize=64)
def find_rules(name: str) -> RulePage:
    """Return the page of rules of the named game. Raises `Refusal` if the game does not exist."""
    game = find_game(name)
    base = game.name.removesuffix(SWAP)
    page = find_game(base).face.page or _PAGES.get(base) or _page_of_size(base)
    if base == game.name:
        return page
    return replace(
        page,
        special=f"{page.special} Once, in answer to the first move, the second player may take it over with the move "
        "swap: they are X from then on, and the first player goes on as O.",
        tips=("Begin with a move that is neither too good nor too bad: you may have to play against it.", page.tips[1]),
    )


def play_example(name: str) -> tuple[Game[Any], Any]:
    """Return the game and the position at the end of its example; without an example, the empty board."""
    game = find_game(name)
    state = game.initial
    for word in find_rules(name).example.split():
        state = game.result(state, read_move(game, state, word))
    return game, state


def draw_example(name: str) -> tuple[str, ...]:
    """Return the end of the example as rows of text, at most 76 wide; empty without an example."""
    game, state = play_example(name)
    return draw_diagram(game, state, is_cropped=True) if find_rules(name).example else ()


def _page_of_size(name: str) -> RulePage:
    """Return the page of a game of any size, `mnk:WxH,K` or `connect:WxH,K`."""
    game = find_game(name)
    k = int(name.rpartition(",")[2])
    number = _NUMBERS[k] if k < len(_NUMBERS) else str(k)
    marks = "one of your marks anywhere" if k == 1 else f"{number} or more of your marks in a row"
    like = _PAGES["connect4"] if game.gravity else _PAGES["gomoku"]
    moves = _shortest_win(game, k)
    return RulePage(
        goal=f"Get {marks}{'' if k == 1 else ': across, down or diagonally'}.",
        special=like.special if game.gravity else "A full board without such a line is a draw.",
        tips=(like.tips[1] if game.gravity else _BEGIN, "Look for a move that makes two threats at once."),
        example=" ".join(game.move_names[move] for move in moves),
        caption=f"X has {number} in a row and has won." if moves else "Nobody can win on a board as small as this.",
    )


def _shortest_win(game: Game[Any], k: int) -> list[Move]:
    """Return the moves of a match in which side 0 fills one line while side 1 plays elsewhere; empty without one."""
    for line in _lines_to_show(game, k):
        width = game.shape[-1]
        own = sorted(cells_of(line), key=lambda cell: (-(cell // width), cell % width))
        state, moves = game.initial, list[Move]()
        for cell in own:
            if cell not in game.actions(state):
                break
            moves.append(cell)
            state = game.result(state, cell)
            if game.is_terminal(state):
                return moves
            near = sorted(set(game.actions(state)).difference(own), key=partial(_distance, cell))
            quiet = next((move for move in near if not game.is_terminal(game.result(state, move))), None)
            if quiet is None:
                break
            moves.append(quiet)
            state = game.result(state, quiet)
    return []


def _distance(cell: int, move: Move) -> tuple[int, Move]:
    return abs(move - cell), move


def _lines_to_show(game: Game[Any], k: int) -> list[int]:
    """Return lines that are easy to see: one along the lowest row, then one up the first column."""
    height, width = game.shape[-2:]
    along = [sum(1 << (height - 1) * width + x for x in range(k))] if k <= width else []
    up = [sum(1 << (height - 1 - y) * width for y in range(k))] if k <= height else []
    return along + up
