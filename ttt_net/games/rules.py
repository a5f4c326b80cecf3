"""Explain each game to people: a page of rules for those who have never played it, and its known value, as data.

The terminal, the web page and docs/games.md show the pages. A value is the result with best play, with its source.
Games that one machine can solve are never rated. The levels of our bots are worth different points in each game.
"""

import re
from collections.abc import Collection
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any, NamedTuple

from ttt_net.games.catalogue import SWAP, find_game
from ttt_net.games.game import Game, Move, RulePage
from ttt_net.games.geometry import cells_of
from ttt_net.games.notation import draw_diagram, read_move

_PAGES = {
    "tictactoe": RulePage(
        goal="Get three of your marks in a row: across, down or diagonally.",
        special="If the board fills up without a line, it is a draw, as always between two careful players.",
        tips=(
            "Start in the centre: four of the eight lines go through it.",
            "Threaten two lines at once: your opponent can block only one of them.",
        ),
        example="b2 b3 a1 c3 a2 c1 c2",
        caption="X has three in a row, a2, b2 and c2, and wins.",
    ),
    "misere": RulePage(
        goal="Avoid three in a row: the player who completes a line loses.",
        special="Everything else is as in tic-tac-toe: a full board without a line is a draw.",
        tips=(
            "If you go first, take the centre, then always the cell opposite your opponent's: you cannot lose.",
            "Count the cells that are still safe for you, and leave your opponent fewer.",
        ),
        example="b3 c3 a2 c1 b1 c2",
        caption="O has completed column c and loses: X wins.",
    ),
    "wild": RulePage(
        goal="Complete three equal marks in a row, X or O.",
        special="On every move you choose which mark to place. Marks belong to nobody: a line counts for the player "
        "who completes it. A move is a mark and a cell, such as Xb2.",
        tips=(
            "Never leave two equal marks in a line with an empty third cell: your opponent will complete it.",
            "After an X in the centre, another X loses at once: the cell opposite completes the line.",
        ),
        example="Xb2 Oa1 Oc3 Xb1 Oa3 Xb3",
        caption="The second player completes column b with a third X, at b3, and wins.",
    ),
    "vanishing": RulePage(
        goal="Get three of your marks in a row: across, down or diagonally.",
        special="You never have more than three marks: your fourth removes your oldest, and its cell is free from the "
        "next move on. The match is a draw when a position occurs for the third time, or after 200 moves.",
        tips=(
            "Before you move, check which of your marks will vanish: the board shows it.",
            "Two in a line are no threat if one of them is about to vanish.",
        ),
        example="a3 c3 b2 b1 a2 a1 c2",
        caption="X has a2, b2 and c2, and wins. X's fourth mark, c2, has removed the first, a3.",
    ),
    "gomoku": RulePage(
        goal="Get five or more of your marks in a row: across, down or diagonally.",
        special="No move is forbidden, and more than five in a row also win. Going first is a great advantage; "
        "gomoku+swap evens it out.",
        tips=(
            "Block a row of three that is open at both ends: an open four cannot be stopped.",
            "Look for a move that makes two threats at once.",
        ),
        example="h8 h9 i8 i9 j8 j9 g8 k8 f8",
        caption="X has five in a row, f8 to j8, and wins.",
    ),
    "connect4": RulePage(
        goal="Get four of your marks in a row: across, up or diagonally.",
        special="Marks fall to the lowest empty cell of a column. A move is the number of a column.",
        tips=(
            "Start in the middle: more lines go through the middle column than through any other.",
            "Before you drop a mark, look at the cell above it: your opponent can take it next.",
        ),
        example="4 4 3 3 5 5 6",
        caption="X has four in a row at the bottom, in columns 3 to 6, and wins. Before that, X threatened both 2 "
        "and 6, and O could block only one.",
    ),
    "tictactoe3d": RulePage(
        goal="Get three of your marks in a row in a cube of 3×3×3, in any direction.",
        special="Lines run across, up and diagonally, also from layer to layer. A full cube always has a line, so "
        "there is no draw. A move is layer and cell, such as 2:b2.",
        tips=(
            "The centre of the cube, 2:b2, is on 13 of the 49 lines.",
            "Look through the layers, too: the same cell in all three is a line.",
        ),
        example="2:b2 1:a1 1:b2 3:b2 1:a3 2:a2 3:c1",
        caption="X has a line from corner to corner through the centre, 1:a3, 2:b2 and 3:c1, and wins.",
    ),
    "qubic": RulePage(
        goal="Get four of your marks in a row in a cube of 4×4×4, in any direction.",
        special="Lines run across, up and diagonally, also from layer to layer: 76 in all. A move is layer and cell, "
        "such as 1:a1.",
        tips=(
            "The eight corners and the eight cells in the middle are on seven lines each, all others on four.",
            "Keep making threes that must be blocked, until one move makes two at once.",
        ),
        example="1:a1 1:b1 2:b2 1:c1 3:c3 1:d2 4:d4",
        caption="X has a line from corner to corner, 1:a1, 2:b2, 3:c3 and 4:d4, and wins.",
    ),
    "scorefour": RulePage(
        goal="Get four of your marks in a row in a cube of 4×4×4, in any direction.",
        special="Marks stack like beads on 4×4 pegs, with layer 1 at the bottom. A move is a peg, such as b3.",
        tips=(
            "Four on one peg also win: to block, put your mark on top of their third.",
            "Before you place a mark, look at the cell above it: your opponent can take it next.",
        ),
        example="a1 b1 a1 b2 a1 b3 a1",
        caption="X has all four cells of peg a1, one in each layer, and wins.",
    ),
    "ultimate": RulePage(
        goal="Win three small boards in a row. A small board is won by three of your marks in a row.",
        special="Your cell decides where your opponent plays next: a top right cell sends them to the top right "
        "board. If that board is won or full, they may play anywhere. If nobody gets three, it is a draw. The move "
        "5:b2 is cell b2 of board 5; boards are numbered row by row.",
        tips=(
            "Look at where your move sends your opponent before you look at what it wins.",
            "Avoid sending your opponent to a finished board: they may then play anywhere.",
        ),
        example="1:b2 5:b3 2:c1 9:c3 3:c3 3:b3 2:a3 1:a3 1:c3 3:a3 1:a1 7:c3 3:b2 5:c3 3:a1 7:a3 2:b2",
        caption="X has won boards 1, 2 and 3, three in a row, and wins the game.",
    ),
}
"""The pages of the named games."""

_BEGIN = "Start in the middle: more lines go through it than through the edges."
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


@lru_cache(maxsize=64)
def find_rules(name: str) -> RulePage:
    """Return the page of rules of the named game. Raises `Refusal` if the game does not exist."""
    game = find_game(name)
    base = game.name.removesuffix(SWAP)
    page = find_game(base).face.page or _PAGES.get(base) or (_page_of_size if "," in base else _page_of_rule)(base)
    if base == game.name:
        return page
    return replace(
        page,
        special=f"{page.special} Instead of answering the first move, the second player may take it over with the move "
        "swap: they play X from then on, and the first player plays O.",
        tips=(
            "Start with a move that is neither too good nor too bad: you may have to play against it.",
            *page.tips[1:],
        ),
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


def _page_of_rule(name: str) -> RulePage:
    """Return the page of a game of another package that has none of its own: its rule in one sentence."""
    rule = find_game(name).rule
    return RulePage(goal=f"{rule[0].upper()}{rule[1:].removesuffix('.')}.", special="", tips=())


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
        special=like.special if game.gravity else "A full board without a line is a draw.",
        tips=(like.tips[1] if game.gravity else _BEGIN, "Look for a move that makes two threats at once."),
        example=" ".join(game.move_names[move] for move in moves),
        caption=f"X has {number} in a row and wins." if moves else "Nobody can win on a board as small as this.",
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


ELO = {
    "tictactoe": (0, 55, 100, 145, 190, 240, 280, 305),
    "misere": (0, 35, 75, 105, 160, 205, 265, 295),
    "wild": (0, 15, 50, 90, 145, 200, 235, 275),
    "vanishing": (0, 65, 170, 240, 380, 430, 590, 730),
    "gomoku": (0, 120, 300, 480, 595, 705, 830, 960),
    "connect4": (0, 90, 180, 270, 355, 450, 540, 630),
    "tictactoe3d": (0, 90, 135, 160, 230, 265, 300, 345),
    "qubic": (0, 115, 245, 345, 415, 605, 800, 975),
    "scorefour": (0, 160, 320, 405, 495, 610, 760, 860),
    "ultimate": (0, 135, 265, 365, 515, 620, 735, 845),
}
"""By game the Elo points of each level of our bots above level 1, from ladders of the arena; see docs/strategies.md."""


FIRST = "the first player wins"
SECOND = "the second player wins"
DRAW = "draw"
UNKNOWN = "not known"


class Value(NamedTuple):
    """The value of a game with best play by both sides, in words, and its source."""

    value: str
    source: str


_SEARCH = "full search in tests/games/test_values.py"
_PROOF = "proof in tests/strategies/test_proof.py"
_UITERWIJK = "Uiterwijk and van den Herik, The advantage of the initiative (2000)"
_HSU = "Hsu et al., Theoretical Computer Science 815 (2020), 79-94"
_TROMP = "John Tromp, homepages.cwi.nl/~tromp/c4/c4.html"

_BY_NAME = {
    "tictactoe": Value(DRAW, _SEARCH),
    "misere": Value(DRAW, _SEARCH),
    "wild": Value(FIRST, _SEARCH),
    "vanishing": Value(FIRST, f"on ply 13 at the latest; {_SEARCH}"),
    "gomoku": Value(FIRST, "Allis, van den Herik and Huntjens, Go-Moku and Threat-Space Search (1993)"),
    "connect4": Value(FIRST, f"in the middle column, on ply 41; Allen and Allis (1988); {_TROMP}"),
    "tictactoe3d": Value(FIRST, _SEARCH),
    "qubic": Value(FIRST, "Patashnik, Qubic: 4×4×4 Tic-Tac-Toe, Mathematics Magazine 53 (1980)"),
    "scorefour": Value(UNKNOWN, "unsolved according to tum-csc.github.io/c43d"),
    "ultimate": Value(UNKNOWN, "for these rules; compare Bertholon et al., arXiv 2006.02353, on a related form"),
}

_MNK = {
    (3, 3, 3): Value(DRAW, _SEARCH),
    (4, 3, 3): Value(FIRST, _SEARCH),
    (5, 3, 3): Value(FIRST, _SEARCH),
    (4, 4, 3): Value(FIRST, _SEARCH),
    (5, 5, 3): Value(FIRST, _SEARCH),
    (4, 4, 4): Value(DRAW, _SEARCH),
    (5, 4, 4): Value(DRAW, _PROOF),
    (6, 4, 4): Value(DRAW, _PROOF),
    (7, 4, 4): Value(DRAW, _PROOF),
    (5, 5, 4): Value(DRAW, _PROOF),
    (6, 5, 4): Value(FIRST, f"{_PROOF}; {_UITERWIJK}"),
    (5, 5, 5): Value(DRAW, _PROOF),
    (6, 5, 5): Value(DRAW, _PROOF),
    (6, 6, 5): Value(DRAW, _PROOF),
    (7, 7, 5): Value(DRAW, _HSU),
    (8, 8, 5): Value(DRAW, _HSU),
}
"""By longer side, shorter side and marks in a row."""

_CONNECT_FOUR = {
    4: "==-=-----",
    5: "====++++",
    6: "==-+--+",
    7: "==+=++",
    8: "==-+-",
    9: "==+=+",
    10: "==-+",
    11: "==+",
    12: "==-",
    13: "==",
}
"""Four in a row with gravity, by height: widths 4 and up; + the first player wins, - the second, = a draw."""
_SIGNS = {"+": FIRST, "-": SECOND, "=": DRAW}

_SIZED = re.compile(r"(mnk|connect):([0-9]+)x([0-9]+),([0-9]+)", re.ASCII)


_FEW_CELLS = 30
_RATEABLE_LINES = range(5, 8)
"""The line lengths with rated matches in games without gravity: shorter lines can be forced, longer ones prevented."""


UNEVEN = frozenset({"tictactoe", "misere", "tictactoe3d", "qubic"})
"""Games in which one side scores over 60 % among equals, so that fair tournaments play each pairing twice.

Measured by 60 matches of alphabeta against itself at each of levels 3 and 5: the first mover scores 62 % in tictactoe,
tictactoe3d and qubic, and 33 % in misere. The other named games are between 49 % and 58 %, connect4 at 55 %.
"""


def is_always_casual(name: str, rated: Collection[str] = ()) -> bool:
    """Tell whether matches of a game, by its canonical name, are never rated because perfect play is easy there.

    These are games that a complete search on one machine solves (also with swap), games on small boards, games with
    lines so short or long that a simple rule decides, and games of other packages, which nobody has analysed, except
    those in `rated`, which the host has named.
    """
    base = name.removesuffix(SWAP)
    if any(search in known_value(base).source for search in (_SEARCH, _PROOF)):
        return True
    sizes = _SIZED.fullmatch(base)
    if sizes is None:
        return base not in _BY_NAME and base not in rated
    width, height, k = map(int, sizes.groups()[1:])
    if width * height <= _FEW_CELLS or k <= 3:
        return True
    return sizes[1] == "mnk" and k not in _RATEABLE_LINES


def never_rated(name: str) -> str:
    """Return the sentence that matches of a game are never rated, and which are."""
    rated = [each for each in _BY_NAME if not is_always_casual(each)]
    return f"{name} is never rated; {', '.join(rated[:-1])} and {rated[-1]} are"


def known_value(name: str) -> Value:
    """Return the known value of the game; None with swap, which nobody has analysed."""
    if name in _BY_NAME:
        return _BY_NAME[name]
    sizes = _SIZED.fullmatch(name)
    unknown = Value(UNKNOWN, "to us")
    if sizes is None:
        return unknown
    width, height, k = map(int, sizes.groups()[1:])
    if sizes[1] == "mnk":
        return _MNK.get((max(width, height), min(width, height), k), unknown)
    signs = _CONNECT_FOUR.get(height, "") if k == 4 else ""
    return Value(_SIGNS[signs[width - 4]], _TROMP) if 0 <= width - 4 < len(signs) else unknown
