"""The games as environments for machine learning: a PettingZoo environment per game, and batches of positions in numpy.

`env` plays one match by any game's own rules. `PositionBatch` plays thousands of matches of a line game together, for
playouts and for training; if numba is installed, its random playouts are compiled. Both need the extra `learn`.

Actions are the names of moves, numbered in order: cells, or columns in games with gravity. An observation is the board
in planes, from the view of the side to move: its own marks, the other side's marks, the cells that a legal move marks,
and those that the next move empties. In games where a side may choose its mark, the first two are X and O.
"""

from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from typing import Any

try:
    import numpy as np
    from gymnasium import spaces
    from pettingzoo import AECEnv
    from pettingzoo.utils import wrappers
except ImportError as missing:
    raise ImportError("ttt_net.environments needs the extra: pip install 'ttt_net[learn]'") from missing

from ttt_net.games import Game, find_game
from ttt_net.games.line import LineGame
from ttt_net.games.notation import draw_diagram, read_start

__all__ = ["Environment", "PositionBatch", "env"]

PLANES = 4
"""The planes of an observation per layer of the board."""
AGENTS = ("player_0", "player_1")
NOBODY = -1
"""The value instead of a side: nobody has won, or not yet."""


class Actions:
    """The actions of a game: the names of its moves, in order of first occurrence."""

    def __init__(self, game: Game[Any]) -> None:
        numbers: dict[str, int] = {}
        for name in game.move_names:
            numbers.setdefault(name, len(numbers))
        self.names: tuple[str, ...] = tuple(numbers)
        """The name of each action."""
        self.of_move: Sequence[int] = [numbers[name] for name in game.move_names]
        """The action of each move."""


def board_shape(game: Game[Any]) -> tuple[int, int, int]:
    """Return layers, height and width of a game's board; a board without rows and columns is one row."""
    layers, height, width = (1, *game.shape)[-3:]
    cells = len(game.board(game.initial))
    return (layers, height, width) if layers * height * width == cells else (1, 1, cells)


class Environment(AECEnv):  # type: ignore[misc] # PettingZoo has no types that mypy could check
    """One match of a game as a PettingZoo AEC environment. `env` adds the usual checks of actions."""

    def __init__(self, game: str, render_mode: str | None = None) -> None:
        """Begin a match of the named game. Raises `Refusal` if it does not exist."""
        super().__init__()
        self.game: Game[Any] = find_game(game)
        self.render_mode = render_mode
        self.metadata = {"name": f"ttt_net_{game}", "render_modes": ["ansi", "human"], "is_parallelizable": False}
        self.possible_agents = list(AGENTS)
        self.agents: list[str] = []
        actions = Actions(self.game)
        self.names = actions.names
        """The name of each action."""
        self._action_of = actions.of_move
        self._shape = board_shape(self.game)
        layers, height, width = self._shape
        board = spaces.Box(0, 1, (height, width, PLANES * layers), np.int8)
        mask = spaces.Box(0, 1, (len(self.names),), np.int8)
        self._observation_spaces = {
            agent: spaces.Dict({"observation": board, "action_mask": mask}) for agent in self.possible_agents
        }
        self._action_spaces = {agent: spaces.Discrete(len(self.names)) for agent in self.possible_agents}
        self.position: Any = self.game.initial
        """The position in the game's own type."""

    def observation_space(self, agent: str) -> Any:  # noqa: ANN401 - gymnasium's type
        """Return the space of an agent's observations."""
        return self._observation_spaces[agent]

    def action_space(self, agent: str) -> Any:  # noqa: ANN401
        """Return the space of an agent's actions."""
        return self._action_spaces[agent]

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Begin a new match; `options["start"]` is a starting position in the notation of match records.

        The games are deterministic, so `seed` has no effect. Raises `Refusal` if the position is not a legal start.
        """
        start = (options or {}).get("start")
        self.position = self.game.initial if start is None else read_start(self.game, start)
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self.agent_selection = AGENTS[self.game.to_move(self.position)]

    def legal(self) -> dict[int, int]:
        """Return the legal moves of the position by their actions."""
        return {self._action_of[move]: move for move in self.game.actions(self.position)}

    def observe(self, agent: str) -> dict[str, Any]:
        """Return the board from an agent's view, and its legal actions: none if it is not its turn."""
        side, state, game = AGENTS.index(agent), self.position, self.game
        board = np.array(list(game.board(state)))
        own, other = game.marks(state)[side], game.marks(state)[1 - side]
        if len(own) > 1:  # either side may place either mark
            own, other = own[0], own[1]
        is_over = game.is_terminal(state)
        legal = {} if is_over or game.to_move(state) != side else self.legal()
        cells = [cell for move in legal.values() if (cell := game.move_cells[move]) >= 0]
        leaving = None if is_over else game.special(state).vanishing
        planes = np.zeros((PLANES, board.size), np.int8)
        planes[0], planes[1] = board == own, board == other
        planes[2, cells] = 1
        if leaving is not None:
            planes[3, leaving] = 1
        mask = np.zeros(len(self.names), np.int8)
        mask[list(legal)] = 1
        return {"observation": _in_rows(planes[None], self._shape)[0], "action_mask": mask}

    def step(self, action: int | None) -> None:
        """Make a move. Raises `Refusal` if it is illegal; `env` ends the match then, as PettingZoo's games do."""
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        game = self.game
        move = self.legal().get(-1 if action is None else int(action))
        if move is None:
            raise game.refuse(self.position, -1, taken=False)
        self.position = game.result(self.position, move)
        self._cumulative_rewards[agent] = 0
        is_over = game.is_terminal(self.position)
        for side, each in enumerate(AGENTS):
            self.rewards[each] = game.utility(self.position, side) if is_over else 0
            self.terminations[each] = is_over
        self.agent_selection = AGENTS[1 - AGENTS.index(agent) if is_over else game.to_move(self.position)]
        self._accumulate_rewards()
        if self.render_mode == "human":
            self.render()

    def render(self) -> str | None:
        """Return the board as text; print it if the mode is `human`."""
        text = "\n".join(draw_diagram(self.game, self.position))
        if self.render_mode == "human":
            print(text)
            return None
        return text

    def close(self) -> None:
        """Do nothing: there is nothing to close."""

    def __str__(self) -> str:
        return str(self.metadata["name"])


def env(game: str = "tictactoe", render_mode: str | None = None) -> Any:  # noqa: ANN401 - PettingZoo's type
    """Return the environment of a game with the usual checks: an illegal move loses, and order is enforced.

    Raises `Refusal` if the game does not exist.
    """
    checked = wrappers.TerminateIllegalWrapper(Environment(game, render_mode), illegal_reward=-1)
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(checked))


def _in_rows(planes: Any, shape: tuple[int, int, int]) -> Any:  # noqa: ANN401 - arrays
    """Return planes of cells, (n, planes, cells), as (n, height, width, planes of all layers)."""
    layers, height, width = shape
    whole = planes.reshape(len(planes), planes.shape[1] * layers, height, width)
    return np.ascontiguousarray(np.moveaxis(whole, 1, -1))


class _Tables:
    """The tables of a batch: the lines of a game and its stacks of cells."""

    def __init__(self, game: LineGame) -> None:
        self.size = game.size
        bits = [[cell for cell in range(game.size) if line >> cell & 1] for line in game.lines]
        through: list[list[list[int]]] = [[] for _ in range(game.size)]
        for line in bits:
            for cell in line:
                through[cell].append(line)
        most = max(map(len, through), default=0)
        length = len(bits[0]) if bits else 1
        self.lines = np.full((game.size, max(1, most), length), game.size, np.int32)
        """The lines through each cell, padded with lines of the cell beyond the board, which stays empty."""
        for cell, lines in enumerate(through):
            if lines:
                self.lines[cell, : len(lines)] = lines
        actions = Actions(game)
        self.names = actions.names
        stacks: list[list[int]] = [[] for _ in actions.names]
        for cell, action in enumerate(actions.of_move):
            stacks[action].append(cell)
        if game.fall > 0:  # row 0 is at the top
            stacks = [stack[::-1] for stack in stacks]
        self.stacks = np.array(stacks, np.int32)
        """The cells of each action, from the bottom up; a single one without gravity."""


class PositionBatch:
    """Positions of a line game, such as tic-tac-toe, Connect Four, Gomoku or Qubic, that are played together.

    `marks` is 0 for an empty cell, 1 for the first side's and 2 for the second's; its last column stays empty.
    """

    def __init__(self, game: str, size: int) -> None:
        """Begin `size` matches of the named game.

        Raises `Refusal` if the game does not exist, `ValueError` if it is not a line game or `size` is not positive.
        """
        found = find_game(game)
        if type(found) is not LineGame:
            raise ValueError(f"{game} is no game of lines; a batch plays those alone")
        if size < 1:
            raise ValueError(f"{size} positions; a batch has one or more")
        self.game: LineGame = found
        self._tables = _Tables(found)
        self._shape = board_shape(found)
        self.marks = np.zeros((size, found.size + 1), np.int8)
        self.plies = np.zeros(size, np.int32)
        """The number of moves made, by position."""
        self.winners = np.full(size, NOBODY, np.int8)
        """The winning side, by position; -1 while the match is open, and in draws."""
        self.is_over = np.zeros(size, np.bool_)

    def __len__(self) -> int:
        return len(self.marks)

    @property
    def names(self) -> tuple[str, ...]:
        """The name of each action."""
        return self._tables.names

    @property
    def sides(self) -> Any:  # noqa: ANN401 - an array
        """The side to move, by position."""
        return self.plies & 1

    def copy(self) -> "PositionBatch":
        """Return a batch of the same positions."""
        other = PositionBatch.__new__(PositionBatch)
        other.game, other._tables, other._shape = self.game, self._tables, self._shape
        other.marks, other.plies = self.marks.copy(), self.plies.copy()
        other.winners, other.is_over = self.winners.copy(), self.is_over.copy()
        return other

    def legal(self) -> Any:  # noqa: ANN401
        """Return which actions are legal, (positions, actions); none in finished positions."""
        top = self._tables.stacks[:, -1]
        return (self.marks[:, top] == 0) & ~self.is_over[:, None]

    def observe(self) -> Any:  # noqa: ANN401
        """Return every board as its side to move sees it: (positions, height, width, planes), as in `Environment`."""
        own = (self.sides + 1).astype(np.int8)[:, None]
        board = self.marks[:, :-1]
        planes = np.zeros((len(self), PLANES, self.game.size), np.int8)
        planes[:, 0], planes[:, 1] = board == own, (board != own) & (board > 0)
        rows, actions = np.nonzero(self.legal())
        planes[rows, 2, self._cells(rows, actions)] = 1
        return _in_rows(planes, self._shape)

    def play(self, actions: Any) -> None:  # noqa: ANN401
        """Make one action in each unfinished position.

        Raises `ValueError` if one is illegal; then no position changes.
        """
        rows = np.flatnonzero(~self.is_over)
        chosen = np.asarray(actions)
        if chosen.shape != (len(self),):
            raise ValueError(f"{len(self)} actions are needed, one for each position; not {chosen.shape}")
        chosen = chosen[rows]
        if not ((chosen >= 0) & (chosen < len(self.names))).all() or not self.legal()[rows, chosen].all():
            raise ValueError("an action is not legal; see `legal`")
        self._make(rows, chosen)

    def _cells(self, rows: Any, actions: Any) -> Any:  # noqa: ANN401
        """Return the cell that each legal action marks: the lowest empty one."""
        stacks = self._tables.stacks[actions]
        heights = (self.marks[rows[:, None], stacks] != 0).sum(axis=1)
        return stacks[np.arange(len(stacks)), heights]

    def _make(self, rows: Any, actions: Any) -> None:  # noqa: ANN401
        cells = self._cells(rows, actions)
        sides = self.plies[rows] & 1
        self.marks[rows, cells] = sides + 1
        self.plies[rows] += 1
        lines = self._tables.lines[cells]
        has_line = (self.marks[rows[:, None, None], lines] == (sides + 1)[:, None, None]).all(axis=2).any(axis=1)
        winners = 1 - sides if self.game.misere else sides
        self.winners[rows[has_line]] = winners[has_line]
        self.is_over[rows] = has_line | (self.plies[rows] == self.game.size)

    def play_out(self, seed: int) -> None:
        """Play every position to its end with random legal moves, reproducible by `seed`."""
        if _play_out is not None:
            tables, game = self._tables, self.game
            _play_out(
                *(self.marks, self.plies, self.winners, self.is_over),
                *(tables.lines, tables.stacks, game.misere, np.uint64(seed)),
            )
        else:
            self.play_out_by_numpy(seed)

    def play_out_by_numpy(self, seed: int) -> None:
        """Do the same without numba, with different random numbers."""
        rng = np.random.default_rng(seed)
        while not self.is_over.all():
            rows = np.flatnonzero(~self.is_over)
            wishes = rng.random((len(rows), len(self.names)), np.float32)
            wishes[~self.legal()[rows]] = -1
            self._make(rows, wishes.argmax(axis=1))


def _make_play_out(marks, plies, winners, is_over, lines, stacks, misere, seed):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202 - compiled
    """Play each position to its end at random; each position has its own stream of numbers from xorshift64*."""
    size, height = marks.shape[1] - 1, stacks.shape[1]
    open_actions = np.empty(len(stacks), np.int32)
    levels = np.empty(len(stacks), np.int32)
    for row in range(len(marks)):
        if is_over[row]:
            continue
        board = marks[row]
        state = seed * np.uint64(0x9E3779B97F4A7C15) ^ np.uint64(row + 1) * np.uint64(0xBF58476D1CE4E5B9)
        state |= np.uint64(1)
        for _ in range(4):
            state ^= state << np.uint64(13)
            state ^= state >> np.uint64(7)
            state ^= state << np.uint64(17)
        count = 0
        for action in range(len(stacks)):
            level = 0
            while level < height and board[stacks[action, level]] != 0:
                level += 1
            levels[action] = level
            if level < height:
                open_actions[count] = action
                count += 1
        ply = plies[row]
        while True:
            state ^= state >> np.uint64(12)
            state ^= state << np.uint64(25)
            state ^= state >> np.uint64(27)
            draw = (state * np.uint64(0x2545F4914F6CDD1D)) >> np.uint64(33)
            place = np.int64((draw * np.uint64(count)) >> np.uint64(31))
            action = open_actions[place]
            cell = stacks[action, levels[action]]
            levels[action] += 1
            if levels[action] == height:
                count -= 1
                open_actions[place] = open_actions[count]
            side = ply & 1
            mark = side + 1
            board[cell] = mark
            ply += 1
            has_line = False
            for line in range(lines.shape[1]):
                is_whole = True
                for part in range(lines.shape[2]):
                    if board[lines[cell, line, part]] != mark:
                        is_whole = False
                        break
                if is_whole:
                    has_line = True
                    break
            if has_line:
                winners[row] = 1 - side if misere else side
            if has_line or ply == size:
                break
        plies[row] = ply
        is_over[row] = True


_play_out: Callable[..., None] | None = None
"""The compiled function; None if numba is not installed."""
if find_spec("numba") is not None:
    from numba import njit

    _play_out = njit(cache=True)(_make_play_out)
