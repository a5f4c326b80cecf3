"""Judge the moves of a position by what a beginner can see: immediate wins, single threats, double threats.

All of it is exact as far as it goes: a move has a value here if it wins at once, if the other side wins at the next
move, or (in games of lines) if one side makes two threats of which only one can be answered. Other moves have none.
It takes milliseconds in plain Python on any board, so it precedes any search.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from ttt_net.games import Game, Move, Side
from ttt_net.games.geometry import list_cells
from ttt_net.games.line import LineGame, LineState
from ttt_net.strategies.heuristic import completing_cells, is_line_game
from ttt_net.strategies.strategy import WIN, S, beneath, is_first, may_swap

WIN_IN_1, WIN_IN_3 = WIN - 1, WIN - 3
LOSS_IN_2, LOSS_IN_4 = 2 - WIN, 4 - WIN

MOST_REPLIES = 8_000
"""Pairs of a move and a reply that are looked at in games that are not won by lines; beyond, replies are not."""


class DoubleThreat(NamedTuple):
    """A move after which a side threatens to win in several cells, or in one that opens another; none can be stopped.

    `line` is the play: the move, the best answer, the move that wins.
    """

    move: Move
    cells: tuple[Move, ...]
    line: tuple[Move, ...]


@dataclass(frozen=True, slots=True)
class Sight:
    """The features one can see in a position; `side` is to move and the other side is "they"."""

    side: Side
    wins: tuple[Move, ...]
    """Moves that win immediately."""
    threats: tuple[Move, ...]
    """Moves that would win immediately for the other side, if it were to move."""
    values: dict[Move, int]
    """The value of each move that is decided within four plies, as far as searched."""
    double_threats: tuple[DoubleThreat, ...] = ()
    """The double threats of the side to move."""
    their_double_threats: tuple[DoubleThreat, ...] = ()
    """Those that the other side would have, if it were to move."""
    replies: dict[Move, tuple[Move, ...]] = field(default_factory=dict)
    """The play by which the other side wins after a move, for the moves that lose."""

    def value(self, move: Move) -> int:
        """Return the value of a move, 0 for one that is not decided."""
        return self.values.get(move, 0)


def look(game: Game[S], state: S) -> Sight:
    """Return the visible features of an unfinished position."""
    if is_first(state) or may_swap(state):
        return Sight(game.to_move(state), (), (), {})
    inner, position = beneath(game, state)
    if is_line_game(inner):
        assert isinstance(position, LineState)
        return _LinePosition(inner, position).sight(game.to_move(state))
    return _look_by_rules(inner, position)


def is_fork(game: LineGame, state: LineState, move: Move, reply: Move) -> bool:
    """Tell whether after `reply` its maker can make two threats at once in ways that no single mark stops.

    That is so after two open rows of three in five in a row. It is not if it was so before, or if who moved can win at
    once. It is looked for on flat boards without gravity, where rows have names that people know.
    """
    if len(game.shape) != 2 or game.gravity or game.k < 5:
        return False
    after = game.result(state, move)
    if game.is_terminal(after) or reply not in game.actions(after) or look(game, after).double_threats:
        return False
    after = game.result(after, reply)
    if game.is_terminal(after):
        return False
    position = _LinePosition(game, after)
    own, other = position.own, position.other
    if completing_cells(game.lines, own, other) & position.playable(own | other):
        return False
    threats = tuple(position.double_threats(other, own))
    if not threats or completing_cells(game.lines, other, own) & position.playable(own | other):
        return False
    around = 0
    for threat in threats:
        around |= 1 << threat.move
        for cell in threat.cells:
            around |= 1 << cell
    return all(any(position.double_threats(other, own | 1 << cell)) for cell in list_cells(around & ~(own | other)))


def makes_two_rows(game: LineGame, state: LineState, move: Move) -> bool:
    """Tell whether a move makes two open rows at once, or one and a four that can be completed in one cell.

    An open row, three marks for five in a row, becomes two threats to win by one mark more. It is looked for on flat
    boards without gravity. Whether the other side has a better answer is not looked at.
    """
    if len(game.shape) != 2 or game.gravity or game.k < 5:
        return False
    own, other = (state.second, state.first) if state.ply & 1 else (state.first, state.second)
    after, by_step = own | 1 << move, dict[int, list[int]]()
    for line in game.lines_through[move]:
        first, second, *_ = list_cells(line)
        by_step.setdefault(second - first, []).append(line)
    fours = threes = 0
    for lines in map(tuple, by_step.values()):
        cells = {cell for line in lines if not line & other for cell in list_cells(line & ~after)}
        if completing_cells(lines, after, other):
            fours += 1
        elif any(completing_cells(lines, after | 1 << cell, other).bit_count() > 1 for cell in cells):
            threes += 1
    return threes > 0 and (fours == 1 or (fours == 0 and threes > 1))


def _look_by_rules(game: Game[S], state: S) -> Sight:
    """Look one move and one reply ahead in any game."""
    side, values, replies = game.to_move(state), dict[Move, int](), dict[Move, tuple[Move, ...]]()
    answers = dict[Move, int]()
    moves = game.actions(state)
    for move in moves:
        child = game.result(state, move)
        if game.is_terminal(child):
            utility = game.utility(child, side)
            if utility:
                values[move] = utility * (WIN - 1)
            continue
        after = game.actions(child)
        if game.to_move(child) == side or len(after) * len(moves) > MOST_REPLIES:
            continue
        winning = tuple(reply for reply in after if _wins(game, child, reply))
        if winning:
            values[move], replies[move] = LOSS_IN_2, winning
            for reply in winning:
                answers[reply] = answers.get(reply, 0) + 1
    wins = tuple(move for move, value in values.items() if value == WIN_IN_1)
    # A reply that wins after most moves was there before: a threat. One that wins after a few was given by these.
    threats = tuple(reply for reply, count in sorted(answers.items()) if 2 * count > len(moves))
    return Sight(side, wins, threats, values, replies=replies)


def _wins(game: Game[S], state: S, move: Move) -> bool:
    child = game.result(state, move)
    return game.is_terminal(child) and game.utility(child, game.to_move(state)) > 0


class _LinePosition:
    """A position of a line game, as bitboards of the side to move (`own`) and of the other side."""

    def __init__(self, game: LineGame, state: LineState) -> None:
        self.game = game
        self.own, self.other = (state.second, state.first) if state.ply & 1 else (state.first, state.second)

    def sight(self, side: Side) -> Sight:
        game, own, other = self.game, self.own, self.other
        playable = self.playable(own | other)
        wins = completing_cells(game.lines, own, other) & playable
        threats = completing_cells(game.lines, other, own) & playable
        ours = () if wins else tuple(self.double_threats(own, other))
        theirs = None if threats else tuple(self.double_threats(other, own))
        values, replies = dict[Move, int](), dict[Move, tuple[Move, ...]]()
        values |= {each.move: WIN_IN_3 for each in ours}
        values |= dict.fromkeys(list_cells(wins), WIN_IN_1)
        for move in list_cells(playable & ~wins):
            value, line = self.refutation(move, threats, theirs)
            if value:
                values[move], replies[move] = value, line
        return Sight(side, list_cells(wins), list_cells(threats), values, ours, theirs or (), replies)

    def refutation(
        self, move: Move, threats: int, theirs: tuple[DoubleThreat, ...] | None
    ) -> tuple[int, tuple[Move, ...]]:
        """Return a move's value, 0 if it is not seen to lose, and by which play the other side wins after it.

        `theirs` are the double threats that the other side has now, or None if it has a threat, too.
        """
        game, own, other = self.game, self.own | 1 << move, self.other
        left = threats & ~(1 << move)
        if game.gravity:  # the cell above has become playable
            left = completing_cells(game.lines, other, own) & self.playable(own | other)
        if left:
            return LOSS_IN_2, list_cells(left)
        forces = completing_cells(game.lines_through[move], own, other) & self.playable(own | other)
        if not game.gravity and not forces and theirs is not None:
            # Our mark can only remove their threats: those that it does not touch remain.
            if not theirs:
                return 0, ()
            for each in theirs:
                if not self.touches(move, each):
                    return LOSS_IN_4, each.line
        for each in self.double_threats(other, own):
            return LOSS_IN_4, each.line
        return 0, ()

    def touches(self, move: Move, threat: DoubleThreat) -> bool:
        """Tell whether a cell lies in a line of a double threat."""
        return any(line >> threat.move & 1 for line in self.game.lines_through[move])

    def playable(self, taken: int) -> int:
        """Return the cells that can be marked."""
        game = self.game
        empty = game.full & ~taken
        if not game.gravity:
            return empty
        below = taken >> game.fall if game.fall > 0 else taken << -game.fall
        return empty & (below | _floor(game))

    def double_threats(self, own: int, other: int) -> Iterator[DoubleThreat]:
        """Yield the moves of `own`, to move and without a win at once, by which it makes two threats at once."""
        game, taken = self.game, own | other
        playable = self.playable(taken)
        forced = completing_cells(game.lines, other, own) & playable
        candidates = 0
        for line in game.lines:
            missing = line & ~own
            rest = missing & (missing - 1)
            if not line & other and not rest & (rest - 1):
                candidates |= missing
        candidates &= playable & (forced or playable)
        if forced & (forced - 1):
            return
        lines = game.lines_through
        for move in list_cells(candidates):
            after = own | 1 << move
            reachable = self.playable(taken | 1 << move)
            cells = completing_cells(game.lines if game.gravity else lines[move], after, other) & reachable
            if not cells or (game.gravity and completing_cells(game.lines, other, after) & reachable):
                continue
            answer = list_cells(cells)[0]
            left = cells & ~(1 << answer)
            if game.gravity and not left:  # the answer may open the cell above it
                both = taken | 1 << move | 1 << answer
                left = completing_cells(game.lines, after, other | 1 << answer) & self.playable(both)
            if left:
                yield DoubleThreat(move, list_cells(cells), (move, answer, list_cells(left)[0]))


def _floor(game: LineGame) -> int:
    height, width = game.shape[-2:]
    return game.full ^ (game.full >> width) if game.fall > 0 else (1 << height * width) - 1
