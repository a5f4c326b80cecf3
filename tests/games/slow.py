"""The rules once more, as slowly and as plainly as can be: coordinates in a dict, every line walked anew.

It shares no code with ttt_net. A play is followed by the names of its moves; `Slow.legal`, `Slow.board`,
`Slow.line` and `Slow.ending` are what the package must agree with at every step.
"""

from collections.abc import Callable
from itertools import product

Place = tuple[int, int, int]
"""Column from the left, row from below, layer, each from 1."""

LETTERS = "abcdefghijklmnopqrs"
STEPS = (-1, 0, 1)


class Slow:
    """A play of a line game: `size` is (width, height, layers), `rules` any of gravity, misere, wild, vanishing."""

    def __init__(self, size: tuple[int, int, int], k: int, *rules: str) -> None:
        self.size, self.k, self.rules = size, k, rules
        self.marks: dict[Place, str] = {}
        self.past: list[Place] = []
        self.seen: list[tuple[object, ...]] = []
        self.is_swapped = False
        self.plies = 0

    def player(self) -> int:
        return self.plies % 2

    def symbol(self) -> str:
        return "XO"[len(self.past) % 2]

    def places(self) -> list[Place]:
        """All places in the order of cells: layer by layer, rows from the top."""
        width, height, layers = self.size
        return [(x, y, z) for z in range(1, layers + 1) for y in range(height, 0, -1) for x in range(1, width + 1)]

    def name(self, place: Place) -> str:
        x, y, z = place
        flat = self.size[2] == 1
        if "gravity" in self.rules:
            return str(x) if flat else f"{LETTERS[x - 1]}{y}"
        return f"{LETTERS[x - 1]}{y}" if flat else f"{z}:{LETTERS[x - 1]}{y}"

    def is_supported(self, place: Place) -> bool:
        x, y, z = place
        if "gravity" not in self.rules:
            return True
        return y == 1 or (x, y - 1, z) in self.marks if self.size[2] == 1 else z == 1 or (x, y, z - 1) in self.marks

    def open_places(self) -> list[Place]:
        return [place for place in self.places() if place not in self.marks and self.is_supported(place)]

    def legal(self) -> list[str]:
        if self.ending() is not None:
            return []
        names = [self.name(place) for place in self.open_places()]
        if "wild" in self.rules:
            names = [symbol + name for name in names for symbol in "XO"]
        return [*names, "swap"] if "swap" in self.rules and self.plies == 1 else names

    def play(self, name: str) -> None:
        self.plies += 1
        if name == "swap":
            self.is_swapped = True
            return
        symbol = self.symbol()
        if "wild" in self.rules:
            symbol, name = name[0], name[1:]
        place = next(place for place in self.open_places() if self.name(place) == name)
        self.marks[place] = symbol
        self.past.append(place)
        if "vanishing" in self.rules and len(self.past) > 6:
            del self.marks[self.past[-7]]
        self.seen.append((len(self.past) % 2, *self.past[-6:]))

    def board(self) -> str:
        return "".join(self.marks.get(place, ".") for place in self.places())

    def line(self) -> list[int]:
        """The numbers of all cells in a row of k or more like marks."""
        found = set()
        for start, step in product(self.marks, product(STEPS, STEPS, STEPS)):
            if step == (0, 0, 0):
                continue
            run = [start]
            while self.marks.get(ahead := _next(run[-1], step)) == self.marks[start]:
                run.append(ahead)
            if len(run) >= self.k:
                found.update(run)
        return [number for number, place in enumerate(self.places()) if place in found]

    def ending(self) -> tuple[int | None, str] | None:
        """The winner (None: nobody) and the reason, or None during play."""
        if self.line():
            maker = (self.plies + 1) % 2
            return (1 - maker if "misere" in self.rules else maker), "line"
        if "vanishing" in self.rules:
            repeated = len(self.past) >= 6 and self.seen.count(self.seen[-1]) >= 3
            return (None, "draw") if repeated or len(self.past) >= 200 else None
        return None if self.open_places() else (None, "draw")


def _next(place: Place, step: Place) -> Place:
    return place[0] + step[0], place[1] + step[1], place[2] + step[2]


class SlowUltimate:
    """A play of ultimate tic-tac-toe: nine small plays of `Slow`, and a tenth for the boards that were won."""

    def __init__(self) -> None:
        self.boards = {number: SmallBoard() for number in range(1, 10)}
        self.next: int | None = None
        self.plies = 0

    def player(self) -> int:
        return self.plies % 2

    def legal(self) -> list[str]:
        if self.ending() is not None:
            return []
        names = []
        for row, inner, column in product(range(3), range(3), range(3)):
            number = row * 3 + column + 1
            board = self.boards[number]
            if not board.is_closed() and self.next in (None, number):
                names += [f"{number}:{LETTERS[x]}{3 - inner}" for x in range(3) if (x, inner) not in board.marks]
        return names

    def play(self, name: str) -> None:
        number, x, y = int(name[0]), LETTERS.index(name[2]), 3 - int(name[3])
        self.boards[number].marks[x, y] = "XO"[self.plies % 2]
        self.plies += 1
        target = y * 3 + x + 1
        self.next = None if self.boards[target].is_closed() else target

    def board(self) -> str:
        return "".join(
            self.boards[row // 3 * 3 + column // 3 + 1].marks.get((column % 3, row % 3), ".")
            for row, column in product(range(9), range(9))
        )

    def won(self) -> list[list[int]]:
        owners = {number: board.winner() for number, board in self.boards.items()}
        return [line for line in TRIPLES if owners[line[0]] and len({owners[number] for number in line}) == 1]

    def line(self) -> list[int]:
        numbers = {number for line in self.won() for number in line}
        return [r * 9 + c for r, c in product(range(9), range(9)) if r // 3 * 3 + c // 3 + 1 in numbers]

    def ending(self) -> tuple[int | None, str] | None:
        if self.won():
            return (self.plies + 1) % 2, "line"
        return (None, "draw") if all(board.is_closed() for board in self.boards.values()) else None


TRIPLES = [[1, 2, 3], [4, 5, 6], [7, 8, 9], [1, 4, 7], [2, 5, 8], [3, 6, 9], [1, 5, 9], [3, 5, 7]]


class SmallBoard:
    """Three by three marks by column and row, both from 0 at the upper left."""

    def __init__(self) -> None:
        self.marks: dict[tuple[int, int], str] = {}

    def winner(self) -> str:
        for line in TRIPLES:
            found = {self.marks.get(((n - 1) % 3, (n - 1) // 3), "") for n in line}
            if len(found) == 1 and found != {""}:
                return found.pop()
        return ""

    def is_closed(self) -> bool:
        return self.winner() != "" or len(self.marks) == 9


def slow_play(name: str) -> Slow | SlowUltimate:
    """A new play of the game of that name."""
    plays: dict[str, Callable[[], Slow | SlowUltimate]] = {
        "tictactoe": lambda: Slow((3, 3, 1), 3),
        "misere": lambda: Slow((3, 3, 1), 3, "misere"),
        "wild": lambda: Slow((3, 3, 1), 3, "wild"),
        "vanishing": lambda: Slow((3, 3, 1), 3, "vanishing"),
        "mnk:5x4,4": lambda: Slow((5, 4, 1), 4),
        "mnk:4x5,3": lambda: Slow((4, 5, 1), 3),
        "mnk:3x4,3+swap": lambda: Slow((3, 4, 1), 3, "swap"),
        "gomoku": lambda: Slow((15, 15, 1), 5),
        "connect4": lambda: Slow((7, 6, 1), 4, "gravity"),
        "connect:4x5,3": lambda: Slow((4, 5, 1), 3, "gravity"),
        "connect4+swap": lambda: Slow((7, 6, 1), 4, "gravity", "swap"),
        "tictactoe3d": lambda: Slow((3, 3, 3), 3),
        "tictactoe3d+swap": lambda: Slow((3, 3, 3), 3, "swap"),
        "qubic": lambda: Slow((4, 4, 4), 4),
        "scorefour": lambda: Slow((4, 4, 4), 4, "gravity"),
        "ultimate": SlowUltimate,
    }
    return plays[name]()


GAMES = (
    "tictactoe", "misere", "wild", "vanishing", "mnk:5x4,4", "mnk:4x5,3", "mnk:3x4,3+swap", "gomoku", "connect4",
    "connect:4x5,3", "connect4+swap", "tictactoe3d", "tictactoe3d+swap", "qubic", "scorefour", "ultimate",
)  # fmt: skip
"""The games that the slow rules know."""
