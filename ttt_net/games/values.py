"""Known values of games with best play, who found them, and the games that are therefore never rated."""

import re
from collections.abc import Collection
from typing import NamedTuple

from ttt_net.games.catalogue import SWAP

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
