"""`puzzles`: find and grade positions in which, provably, exactly one move wins or exactly one does not lose.

`studies_made` plays the matches for guessing moves: strong bots, in matches in which much depends on single moves.
"""

import argparse
import datetime
import json
import random
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple, TypeGuard

from rich.console import Console

from ttt_net.commands.analyse import show_position
from ttt_net.commands.searching import load_engine, positive
from ttt_net.errors import ConfigurationError
from ttt_net.games import Game, Move, Side, find_game
from ttt_net.games.line import LineGame, LineState
from ttt_net.games.notation import write_position
from ttt_net.games.puzzles import FIRST_DAY
from ttt_net.strategies import find_strategy
from ttt_net.strategies.alphabeta import Search, deepening
from ttt_net.strategies.analysis import Analysis, Kept, analyse
from ttt_net.strategies.engine import is_compiled, is_connect4, is_installed, is_large, is_provable, is_small
from ttt_net.strategies.explanation import (
    Explanation,
    ExplanationKind,
    end_of_play,
    in_moves,
    names_of,
    winning_end,
)
from ttt_net.strategies.heuristic import is_line_game
from ttt_net.strategies.hints import hint
from ttt_net.strategies.review import Reviewed, review, winner_of
from ttt_net.strategies.sight import look
from ttt_net.strategies.strategy import Limit, S, Stopped
from ttt_net.strategies.tactics import Tactics

CARELESS = 0.35
"""The probability of a random move in the generated matches."""
LATEST = 0.9
"""The maximal part of the board that is filled."""
MOST_PLIES = 80
"""The last ply of a position, for games in which marks disappear and for large boards."""
EARLIEST = {"connect4": 14, "ultimate": 50}
"""The minimal number of marks for fast proofs, by game; 2 in others."""
NODES, PLAIN_NODES = 400_000, 20_000
"""The maximal number of nodes for proving all moves of a position, in compiled code and in plain Python."""
EASY_SHARE = 0.2
"""The part of the easiest puzzles to keep, because they are the most frequent."""
MOST_TRIED = 3_000
"""The number of positions without a puzzle after which the search gives up."""


class Puzzle(NamedTuple):
    """A position with one solution, which wins if `is_win`, and otherwise is the only move that does not lose.

    `plies` is the number of plies until the win is complete, or until the loss after the best other move. `grade` is
    from 1, seen at a glance, to 5.
    """

    game: Game[Any]
    state: Any
    solution: Move
    is_win: bool
    plies: int
    grade: int
    why: Explanation
    line: tuple[Move, ...] = ()
    """The play to the end after the solution, if it wins."""

    def as_json(self) -> dict[str, object]:
        """Return the puzzle as a JSON object."""
        game, state = self.game, self.state
        return {
            "game": game.name,
            "position": write_position(game, state),
            "to_move": game.marks(state)[game.to_move(state)],
            "solution": game.move_names[self.solution],
            "kind": "win" if self.is_win else "save",
            "plies": self.plies,
            "grade": self.grade,
            "why": self.why.in_words(),
            "explanation": self.why.as_json(),
            "line": [game.move_names[move] for move in self.line],
        }


def puzzles(games: Sequence[Game[Any]], seed: int) -> Iterator[Puzzle]:
    """Yield different puzzles, alternating between the games. Raises `ConfigurationError` if a game has no more."""
    rng = random.Random(seed)
    kept = {game.name: Kept(line_plies=0) for game in games}
    seen = set[tuple[str, Any]]()
    for game in games:
        require_puzzles(game)
    while True:
        for game in games:
            found = _next(game, rng, kept[game.name], seen)
            seen.add((game.name, found.state))
            yield found


def require_puzzles(game: Game[Any]) -> None:
    """Raise `ConfigurationError` if the engine that proves puzzles of a game is missing."""
    if (is_compiled(game) or is_large(game)) and not is_installed():
        raise ConfigurationError(f"puzzles of {game.name} are proved by the engine; install ttt_net[engine]")


def _next(game: Game[Any], rng: random.Random, kept: Kept, seen: set[tuple[str, Any]]) -> Puzzle:
    tried = 0
    while tried < MOST_TRIED:
        for state in _positions(game, rng):
            tried += 1
            if (game.name, state) in seen:
                continue
            found = puzzle_by_threats(game, state) if is_won_by_threats(game) else puzzle_in(game, state, kept)
            if found is not None and (found.grade > 1 or rng.random() < EASY_SHARE):
                return found
    raise ConfigurationError(f"no more puzzles of {game.name} were found in {MOST_TRIED:,} positions")


def _positions(game: Game[Any], rng: random.Random) -> Iterator[Any]:
    """Yield the positions of a carelessly played match, each with a probability of one third."""
    moves_of, state, marks = _player(game, rng), game.initial, 0
    latest = min(MOST_PLIES, len(game.move_cells) * LATEST)
    while not game.is_terminal(state) and marks < latest:
        if marks >= EARLIEST.get(game.name, 2) and len(game.actions(state)) > 2 and rng.random() < 1 / 3:
            yield state
        careful, careless = moves_of(state)
        state, marks = game.result(state, rng.choice(careless if rng.random() < CARELESS else careful)), marks + 1


def _player(game: Game[Any], rng: random.Random) -> Callable[[Any], tuple[Sequence[Move], Sequence[Move]]]:
    """Return a function from a position to the moves of a careful player and of a careless one."""
    tactics = Tactics(rng)
    search = deepening(game, Limit(), rng).search if is_large(game) else None

    def moves_of(state: Any) -> tuple[Sequence[Move], Sequence[Move]]:  # noqa: ANN401 - any game's state
        moves = list(game.actions(state))
        if search is not None:  # people place marks near others
            likely = search.ordered(state)[:LIKELY]
            return likely[:1], likely
        if tactics.objection(game) is None:
            return [tactics(game, state).move], moves
        sight = look(game, state)
        best = max(map(sight.value, moves))
        return [move for move in moves if sight.value(move) == best], moves

    return moves_of


LIKELY = 8
"""The number of moves on a large board from which a careless player chooses."""


def puzzle_in(game: Game[Any], state: Any, kept: Kept | None = None) -> Puzzle | None:  # noqa: ANN401 - any game's state
    """Return the puzzle of a position, or None if it is not provably one.

    A position with a threat that must be blocked in one cell is not a puzzle if blocking also happens to win.
    """
    is_plain = not is_line_game(game) or is_small(game)
    found = analyse(game, state, Limit(nodes=PLAIN_NODES if is_plain else NODES), kept)
    results = {move: verdict.result for move, verdict in found.moves.items()}
    if None in results.values():
        return None
    winning = [move for move, result in results.items() if result == 1]
    solutions = winning or [move for move, result in results.items() if result == 0]
    if len(solutions) != 1:
        return None
    move, is_win = solutions[0], bool(winning)
    if is_win and found.moves[move].plies != 1 and look(game, state).threats:
        return None
    line = winning_line(game, state, move) if is_win else ()
    if is_win and not line:
        return None
    plies = len(line) if is_win else max(verdict.plies or 0 for other, verdict in found.moves.items() if other != move)
    why = _why(game, state, move, plies, line)
    return Puzzle(game, state, move, is_win, plies, _grade(plies if is_win else plies - 1), why, line[1:])


def winning_line(game: Game[Any], state: Any, move: Move) -> tuple[Move, ...]:  # noqa: ANN401 - any game's state
    """Return the best play from a move that wins, to the end; empty if it is not proved that it ends there."""
    won = analyse(game, state, Limit(nodes=(100 if is_connect4(game) else 10) * NODES)).moves[move]
    return won.line if won.exact and len(won.line) == won.plies else ()


def is_won_by_threats(game: Game[Any]) -> TypeGuard[LineGame]:
    """Tell whether puzzles of a game are wins by threats, because its moves cannot all be judged by a solver."""
    return (is_compiled(game) or is_large(game)) and not is_connect4(game) and not is_provable(game)


def puzzle_by_threats(game: LineGame, state: LineState) -> Puzzle | None:
    """Return the puzzle of a position in which one move wins by threats and every other move loses to threats.

    The position is one in which the other side threatens to win, so every move is proved, one way or the other.
    """
    sight = look(game, state)
    if sight.wins or not (sight.threats or sight.their_double_threats):
        return None
    search = deepening(game, Limit(nodes=NODES * 10), random.Random(0)).search
    try:
        with search.running():
            line = search.forced_win(state)
            if line is None or len(line) < 3:
                return None
            for move in game.actions(state):
                is_lost = sight.value(move) < 0 or (move != line[0] and _loses(game, state, move, search))
                if is_lost == (move == line[0]):
                    return None
    except Stopped:
        return None
    proved = Explanation(ExplanationKind.ONLY_WIN, names_of(game, line[:1]), plies=len(line), is_bound=True)
    why = winning_end(game, state, line[0], line[1:], is_shown=True) or proved
    return Puzzle(game, state, line[0], True, len(line), _grade(len(line)), why, line[1:])


def _loses(game: LineGame, state: LineState, move: Move, search: Search[LineState]) -> bool:
    """Tell whether the other side has a win by threats after a move."""
    after = game.result(state, move)
    return not game.is_terminal(after) and search.forced_win(after) is not None


def _grade(plies: int) -> int:
    """Return the difficulty of a win in this many plies."""
    return sum(plies > most for most in (1, 3, 5, 9)) + 1


_SEEN_WINS = (ExplanationKind.WIN_NOW, ExplanationKind.TWO_THREATS)
_SEEN_SAVES = (ExplanationKind.MUST_BLOCK, ExplanationKind.SHOULD_BLOCK, ExplanationKind.SHOULD_PLAY)


def _why(game: Game[Any], state: Any, move: Move, plies: int, line: tuple[Move, ...]) -> Explanation:  # noqa: ANN401
    """Return why a move is the solution: as can be seen on the board, by how its play ends, or else as it is proved."""
    seen = hint(game, state)
    if seen is not None and seen.moves == (move,) and seen.why.kind in (_SEEN_WINS if line else _SEEN_SAVES):
        return seen.why
    names = names_of(game, (move,))
    if not line:
        theirs = win_that_only_stops(game, state, move)
        if theirs is None:
            return Explanation(loss_of_others(game, state, move) or ExplanationKind.ONLY_DRAW, names)
        return Explanation(ExplanationKind.MUST_BLOCK, names, names_of(game, (theirs,)))
    proved = Explanation(ExplanationKind.ONLY_WIN, names, plies=plies)
    return winning_end(game, state, move, line[1:], is_shown=True) or proved


SAVES = {
    ExplanationKind.TO_TWO_THREATS: ExplanationKind.SAVE_TWO_THREATS,
    ExplanationKind.TO_VANISHED: ExplanationKind.SAVE_VANISH,
    ExplanationKind.TO_OWN_LINE: ExplanationKind.SAVE_OWN_LINE,
    ExplanationKind.TO_NO_SAFE_MOVE: ExplanationKind.SAVE_NO_SAFE_MOVE,
}
"""Names for saves, by the one end of best play after all other moves."""
_NO_SAFE_MOVE = (ExplanationKind.TO_STACK, ExplanationKind.TO_ZUGZWANG, ExplanationKind.TO_SENT)
"""Other ends in which no move is safe."""


def loss_of_others(game: Game[S], state: S, move: Move) -> ExplanationKind | None:
    """Return the kind of save of a move after which alone the match is not lost, by how the others lose.

    None if they do not all lose in the same way.
    """
    kinds = set[ExplanationKind | None]()
    for other, found in _other_moves(game, state, move):
        line = max((found.moves[best].line for best in found.best), key=len)
        end = end_of_play(game, game.result(state, other), line, game.to_move(state), is_shown=True)
        is_helpless = found.verdict.plies == 1 or (end is not None and end.kind in _NO_SAFE_MOVE)
        kinds.add(ExplanationKind.TO_NO_SAFE_MOVE if is_helpless else end and end.kind)
    kind = kinds.pop() if len(kinds) == 1 else None
    return None if kind is None else SAVES.get(kind)


def _other_moves(game: Game[S], state: S, move: Move) -> Iterator[tuple[Move, Analysis]]:
    """Yield all other moves than this one after which play goes on, with the analysis of the position after each."""
    kept, limit = Kept(), Limit(nodes=PLAIN_NODES if not is_line_game(game) or is_small(game) else 10 * NODES)
    for other in game.actions(state):
        after = game.result(state, other)
        if other != move and not game.is_terminal(after):  # a finished line of misère loses without a reply
            yield other, analyse(game, after, limit, kept)


def win_that_only_stops(game: Game[S], state: S, move: Move) -> Move | None:
    """Return the move with which the other side wins after every other move than this one; None if there is none.

    A move that takes its cell loses too. If there are several, the one that this move takes is preferred.
    """
    common = set(game.actions(state))
    for other, found in _other_moves(game, state, move):
        common &= {other, *(reply for reply, verdict in found.moves.items() if verdict.result == 1)}
    return move if move in common else min(common, default=None)


WEEK = (2, 2, 3, 3, 4, 4, 5)
"""The grades of the puzzles of the day from Monday to Sunday."""
_SHORT = "connect4 vanishing qubic connect4 mnk:5x5,4 misere connect4 scorefour connect4 vanishing connect4 qubic"
_LONG = "connect4 qubic vanishing connect4 mnk:5x5,4 vanishing connect4 qubic connect4 mnk:5x5,4 connect4 vanishing"
ROTA = {
    2: "connect4 tictactoe vanishing connect4 mnk:5x5,4 misere connect4 wild scorefour connect4 qubic",
    3: "connect4 vanishing qubic connect4 mnk:5x5,4 tictactoe connect4 scorefour connect4 wild misere",
    4: f"{_SHORT} gomoku {_SHORT} ultimate",
    5: f"{_LONG} gomoku {_LONG} ultimate",
}
"""The games of each grade, in turn."""


def daily_puzzles(first: datetime.date, days: int, seed: int) -> Iterator[Puzzle]:
    """Yield the puzzle of each day, harder from Monday to Sunday, each of another game than the day before.

    A game that has no more puzzles of a grade is passed over.
    """
    turns = {grade: deque(names.split()) for grade, names in ROTA.items()}
    games = {name: find_game(name) for names in turns.values() for name in names}
    streams = {name: puzzles([game], seed) for name, game in games.items()}
    kept = {(name, grade): deque[Puzzle]() for name in games for grade in range(1, 6)}
    before = ""
    for day in range(days):
        grade = WEEK[(first + datetime.timedelta(days=day)).weekday()]
        names = turns[grade]
        if names[0] == before and len(set(names)) > 1:
            names.rotate(-1)
        while not (found := _of_grade(grade, streams[names[0]], kept, names[0])):
            empty = names[0]
            turns[grade] = names = deque(name for name in names if name != empty)
            if not names:
                raise ConfigurationError(f"no game has more puzzles of grade {grade}")
        before = names[0]
        names.rotate(-1)
        yield found


MOST_OF_OTHER_GRADES = 80
"""The number of puzzles of other grades after which a game is said to have no more of a grade."""


def _of_grade(
    grade: int, stream: Iterator[Puzzle], kept: dict[tuple[str, int], deque[Puzzle]], name: str
) -> Puzzle | None:
    """Return the next puzzle of a game with this grade, and keep those of other grades; None if there is no more."""
    wanted = kept[name, grade]
    for _ in range(MOST_OF_OTHER_GRADES):
        if wanted:
            return wanted.popleft()
        try:
            found = next(stream)
        except (ConfigurationError, StopIteration):
            return None
        kept[name, found.grade].append(found)
    return None


GAMES = ("connect4", "tictactoe", "vanishing")
"""The games of puzzles, in turn, if none is named."""
GRADES = ("", "at a glance", "easy", "middling", "hard", "very hard")


def add_puzzles_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's options."""
    parser.add_argument("--count", type=positive, default=1, metavar="N", help="how many (default %(default)s)")
    parser.add_argument("--seed", type=int, metavar="S", help="what they follow from (default: the date of today)")
    parser.add_argument("--game", action="append", metavar="GAME", help=f"of which game (default: {', '.join(GAMES)})")
    parser.add_argument("--days", action="store_true", help="puzzles of the day: of all games, harder towards Sunday")
    parser.add_argument("--matches", action="store_true", help="matches of strong bots for guessing moves, as JSON")
    parser.add_argument("--solution", action="store_true", help="tell the solutions, too")
    parser.add_argument("--json", action="store_true", help="one JSON object a line, with the solution")


def run_puzzles(args: argparse.Namespace) -> int:
    """Print the puzzles; return the exit status."""
    rotas = [STUDY_ROTA] if args.matches else ROTA.values() if args.days else [" ".join(args.game or GAMES)]
    names = dict.fromkeys(name for rota in rotas for name in rota.split())
    games = [find_game(name) for name in names]
    for game in games:
        require_puzzles(game)
    for game in games:
        load_engine(game)
    seed = int(f"{datetime.datetime.now(tz=datetime.UTC):%Y%m%d}") if args.seed is None else args.seed
    if args.matches:
        for study in islice(studies_made(seed, STUDY_ROTA), args.count):
            print(json.dumps(study.as_json()), flush=True)
        return 0
    console = Console(highlight=False)
    made = daily_puzzles(FIRST_DAY, args.count, seed) if args.days else puzzles(games, seed)
    for number, puzzle in enumerate(islice(made, args.count), 1):
        if args.json:
            print(json.dumps(puzzle.as_json()), flush=True)
        else:
            show_puzzle(console, number, puzzle, tells_solution=args.solution)
    return 0


def show_puzzle(console: Console, number: int, puzzle: Puzzle, *, tells_solution: bool) -> None:
    """Print a puzzle as a board and a question."""
    console.print(f"{number}. {puzzle.game.title}, {GRADES[puzzle.grade]}")
    show_position(console, puzzle.game, puzzle.state)
    question = f"Win {in_moves(puzzle.plies)}." if puzzle.is_win else "Find the one move that does not lose."
    console.print(question)
    if tells_solution:
        console.print(f"{puzzle.game.move_names[puzzle.solution]}: {puzzle.why.in_words()}")
    console.print()


STUDY_ROTA = "connect4 vanishing tictactoe connect4 misere mnk:5x5,4 connect4 wild"
"""The games, in turn; the engine judges every move of each."""
PLAYERS = (("Sophia", 8), ("Viktor", 6))
"""The house bots whose strategy plays, with their levels. The moves of the first one are guessed."""
BATCH = 10
"""The number of matches of which the one with the most decisions is kept."""
MOST_BATCHES = 10
"""The number of batches without a match to keep after which a game is said to have no more."""
LEAST_DECISIONS = 2
PLAYING, JUDGING = Limit(nodes=50_000), Limit(nodes=10_000_000)
"""The limits of each move and of each judgement. In nodes, they give the same matches on every machine."""


class StudyMade(NamedTuple):
    """A match, the side whose moves are guessed, and the review of all moves."""

    game: Game[Any]
    side: Side
    moves: tuple[Move, ...]
    reviewed: tuple[Reviewed, ...]
    decisions: int
    """How many guessed moves had at least as many wrong alternatives as right ones."""

    def as_json(self) -> dict[str, object]:
        """Return the study as a JSON object."""
        names, players = self.game.move_names, PLAYERS if self.side == 0 else PLAYERS[::-1]
        return {
            "game": self.game.name,
            "players": [name for name, _ in players],
            "levels": [level for _, level in players],
            "side": self.side,
            "moves": " ".join(names[move] for move in self.moves),
            "values": [each.was.result for each in self.reviewed],
            "keeping": [" ".join(names[move] for move in each.keeping) for each in self.reviewed],
        }


def studies_made(seed: int, rota: str) -> Iterator[StudyMade]:
    """Yield different studies of the games of a rota, in turn; a game that has no more is passed over."""
    rng, names = random.Random(seed), deque(rota.split())
    kept = set[tuple[str, tuple[Move, ...]]]()
    while names:
        game = find_game(names[0])
        found = next((each for _ in range(MOST_BATCHES) if (each := _best_of_batch(game, rng, kept))), None)
        if found is None:
            names = deque(name for name in names if name != game.name)
            continue
        kept.add((game.name, found.moves))
        names.rotate(-1)
        yield found
    raise ConfigurationError("no more matches to study were found")


def _best_of_batch(game: Game[Any], rng: random.Random, kept: set[tuple[str, tuple[Move, ...]]]) -> StudyMade | None:
    """Return the match with the most decisions; None if none is new and has enough of them."""
    made = [_study(game, side, rng) for side in (0, 1) for _ in range(BATCH // 2)]
    new = [each for each in made if each and each.decisions >= LEAST_DECISIONS and (game.name, each.moves) not in kept]
    return max(new, key=lambda each: each.decisions, default=None)


def _study(game: Game[Any], side: Side, rng: random.Random) -> StudyMade | None:
    """Play and review a match; return None unless the guessed side never gave anything away and did not lose."""
    strategies = [find_strategy("alphabeta", seed=rng.randrange(2**32), level=level) for _, level in PLAYERS]
    state, moves, legal = game.initial, list[Move](), list[int]()
    while not game.is_terminal(state):
        mover = game.to_move(state)
        legal.append(len(game.actions(state)))
        moves.append(strategies[0 if mover == side else 1](game, state, PLAYING).move)
        state = game.result(state, moves[-1])
    if winner_of(game, state) == 1 - side:
        return None
    reviewed = tuple(review(game, moves, JUDGING))
    ours = [each for each in reviewed if each.side == side]
    is_sound = all(each.was.result is not None for each in reviewed) and not any(each.lost for each in ours)
    decisions = sum(0 < 2 * len(each.keeping) <= legal[each.ply - 1] for each in ours)
    return StudyMade(game, side, tuple(moves), reviewed, decisions) if is_sound else None
