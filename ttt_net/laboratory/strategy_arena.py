"""`arena`: strategies or engines play a round robin on both sides, in one process or several.

The results come as records, a cross table and an SVG picture. `hold` holds the arena on a server instead, with
clocks and watchers; the players are bots in other processes.
"""

import argparse
import asyncio
import json
import os
import random
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from itertools import pairwise
from math import exp, log, log10, sqrt
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple
from xml.sax.saxutils import escape

from rich.console import Console
from rich.progress import track
from rich.table import Table

from ttt_net.client.address import read_address
from ttt_net.clock import TIME_FORM, TimeControl, time_of
from ttt_net.command_line import beside_us
from ttt_net.commands.searching import add_limits, limit_of, load_engine, new_table, positive, show_table
from ttt_net.engines.external import ENGINE, ExternalEngine, as_word, find_player, settings_of
from ttt_net.engines.settings import EngineSettings, read_engines
from ttt_net.errors import ConfigurationError, EngineError, Refusal
from ttt_net.games import Game, Move, Outcome, Reason, find_game
from ttt_net.games.notation import read_move, write_move
from ttt_net.games.records import MAX_TEXT_LENGTH, Record, RecordedMove, RecordedPlayer, write_record
from ttt_net.messages import AttendRequest, DirectRequest, OrganiseRequest, TournamentReply
from ttt_net.sdk.client import Client, DisconnectedError, connect
from ttt_net.strategies import NAMES
from ttt_net.strategies.strategy import Effort, Limit, Strategy
from ttt_net.text import clean, counted


class Result(NamedTuple):
    """One game of the arena: the numbers of the players of sides 0 and 1, its value for side 0, and its moves.

    A game is forfeited if the engine to move sends no move. It says nothing about strength, so no score counts it.
    """

    first: int
    second: int
    utility: int
    moves: tuple[Move, ...]
    is_forfeited: bool = False


@dataclass(slots=True)
class Entrant:
    """A strategy with its listed name, the milliseconds of each of its moves, and the reasons of forfeited games."""

    name: str
    strategy: Strategy
    move_ms: list[float] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


def play(
    game: Game[Any], entrants: tuple[Entrant, Entrant], limit: Limit, opening: Sequence[Move] = ()
) -> tuple[int, tuple[Move, ...], bool]:
    """Play one game from an opening; return its value for side 0, all its moves, and whether it was forfeited.

    An external engine that sends no move forfeits the game.
    """
    state, moves = game.initial, list(opening)
    for move in opening:
        state = game.result(state, move)
    while not game.is_terminal(state):
        side = game.to_move(state)
        entrant = entrants[side]
        watch = Effort(limit)
        try:
            move = entrant.strategy(game, state, limit).move
        except EngineError as error:
            entrant.faults.append(str(error))
            return (1 if side else -1), tuple(moves), True
        entrant.move_ms.append(watch.counts().ms)
        moves.append(move)
        state = game.result(state, moves[-1])
    return game.utility(state, 0), tuple(moves), False


def random_opening(game: Game[Any], plies: int, rng: random.Random) -> tuple[Move, ...]:
    """Return up to this many random moves from the start, none of which ends the game.

    With different openings, two deterministic entrants play different games.
    """
    state, moves = game.initial, []
    for _ in range(plies):
        after = {move: game.result(state, move) for move in game.actions(state)}
        quiet = [move for move in after if not game.is_terminal(after[move])]
        if not quiet:
            break
        moves.append(rng.choice(quiet))
        state = after[moves[-1]]
    return tuple(moves)


class ArenaGame(NamedTuple):
    """A game to play: the numbers of the players of sides 0 and 1, and its opening moves."""

    first: int
    second: int
    opening: tuple[Move, ...]


def round_robin(
    game: Game[Any],
    entrants: int,
    *,
    rounds: int,
    seed: int,
    opening_plies: int = 0,
    openings: Sequence[tuple[Move, ...]] = (),
    is_ladder: bool = False,
) -> Iterator[ArenaGame]:
    """Yield the games in which each pair of entrants meets `rounds` times on both sides.

    On a ladder, each meets only its neighbours in the list. Both games of a pairing share an opening: the next of the
    list, if given, or else random moves.
    """
    rng, meeting = random.Random(seed), 0
    for _ in range(rounds):
        for first in range(entrants):
            for second in range(first + 1, min(entrants, first + 2) if is_ladder else entrants):
                drawn = random_opening(game, opening_plies, rng)
                opening = openings[meeting % len(openings)] if openings else drawn
                meeting += 1
                yield ArenaGame(first, second, opening)
                yield ArenaGame(second, first, opening)


def play_all(
    game: Game[Any], entrants: Sequence[Entrant], limit: Limit, pairings: Iterable[ArenaGame]
) -> Iterator[Result]:
    """Play the games one by one, and yield each result."""
    for first, second, opening in pairings:
        yield Result(first, second, *play(game, (entrants[first], entrants[second]), limit, opening))


class Score(NamedTuple):
    """The results of one entrant."""

    won: int = 0
    drawn: int = 0
    lost: int = 0

    @property
    def games(self) -> int:
        """The number of games."""
        return self.won + self.drawn + self.lost

    @property
    def points(self) -> float:
        """A point for a win and half a point for a draw."""
        return self.won + self.drawn / 2

    def plus(self, utility: int) -> "Score":
        """Return the score with one more game of this value."""
        return Score(self.won + (utility > 0), self.drawn + (utility == 0), self.lost + (utility < 0))


class Standing(NamedTuple):
    """An entrant's scores against each opponent and in total, and the Elo difference with its standard error.

    The difference is relative to the mean of its opponents; it is None if all points were won or all were lost.
    """

    name: str
    against: tuple[Score, ...]
    total: Score
    elo: float | None
    elo_error: float | None
    median_ms: float
    worst_ms: float


def standings(entrants: Sequence[Entrant], results: Sequence[Result]) -> list[Standing]:
    """Return the standings in the order of the entrants; forfeited games do not count."""
    scores = [[Score() for _ in entrants] for _ in entrants]
    for first, second, utility, _, is_forfeited in results:
        if is_forfeited:
            continue
        scores[first][second] = scores[first][second].plus(utility)
        scores[second][first] = scores[second][first].plus(-utility)
    table = []
    for entrant, against in zip(entrants, scores, strict=True):
        total = Score(*(sum(column) for column in zip(*against, strict=True)))
        times = entrant.move_ms or [0.0]
        table.append(Standing(entrant.name, tuple(against), total, *elo(total), median(times), max(times)))
    return table


def elo(score: Score) -> tuple[float | None, float | None]:
    """Return the Elo difference of a score, and its standard error.

    A share p of the points means a difference of -400 log10(1/p - 1); the error of p carries over by the slope.
    """
    if not 0 < score.points < score.games:
        return None, None
    share = score.points / score.games
    variance = (score.won + score.drawn / 4) / score.games - share**2
    slope = 400 / (log(10) * share * (1 - share))
    return -400 * log10(1 / share - 1), slope * sqrt(variance / score.games)


def elo_interval(score: Score) -> tuple[float | None, float | None]:
    """Return the 95 % confidence interval of the Elo difference; None for an unbounded end.

    It is Wilson's interval of the share of points, with a draw as half a win. It is valid for few games too, and if all
    were won or all were lost.
    """
    if not score.games:
        return None, None
    z, games, share = 1.96, score.games, score.points / score.games
    middle = (share + z * z / (2 * games)) / (1 + z * z / games)
    reach = z * sqrt(share * (1 - share) / games + z * z / (4 * games * games)) / (1 + z * z / games)
    low, high = middle - reach, middle + reach
    return (
        None if not score.points else -400 * log10(1 / low - 1),
        None if score.points == games else -400 * log10(1 / high - 1),
    )


SPRT_BOUND = log(0.95 / 0.05)
"""The log-likelihood ratio that decides a test, with an error probability of 5 %."""


def sprt(score: Score, elo0: float, elo1: float) -> float:
    """Return the log-likelihood ratio of the difference being `elo1` rather than `elo0`.

    At `SPRT_BOUND` the former is accepted, at minus that the latter. (Wald, "Sequential analysis", 1947; with the
    variance of the games played, as is usual for engines. A win, a draw and a loss are added, half of each, so that a
    run of wins has a variance, too.)
    """
    won, drawn, lost = score.won + 0.5, score.drawn + 0.5, score.lost + 0.5
    games = won + drawn + lost
    mean = (won + drawn / 2) / games
    variance = (won + drawn / 4) / games - mean * mean
    low, high = (1 / (1 + exp(-each * log(10) / 400)) for each in (elo0, elo1))
    return games * (high - low) * (2 * mean - low - high) / (2 * variance)


class PlayerWord(NamedTuple):
    """A serializable player: a name, a specification and a level."""

    name: str
    word: str
    level: int | None


class PlayedGame(NamedTuple):
    """A game from another process: its result, and by side the times of moves and the reason of a forfeit."""

    result: Result
    move_ms: tuple[list[float], list[float]]
    faults: tuple[list[str], list[str]]


def play_in_processes(
    game: str, players: Sequence[PlayerWord], limit: Limit, pairings: Sequence[ArenaGame], seed: int, processes: int
) -> Iterator[PlayedGame]:
    """Yield the games in the order of the pairings."""
    tasks = [
        (game, players[each.first], players[each.second], each, limit, seed + n) for n, each in enumerate(pairings)
    ]
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        try:
            yield from pool.map(_play, tasks)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _play(task: tuple[str, PlayerWord, PlayerWord, ArenaGame, Limit, int]) -> PlayedGame:
    """Play one game with new players, independent of previous games."""
    name, first, second, pairing, limit, seed = task
    sides = tuple(
        Entrant(each.name, find_player(each.word, seed=seed + side, level=each.level))
        for side, each in enumerate((first, second))
    )
    played = play(find_game(name), (sides[0], sides[1]), limit, pairing.opening)
    result = Result(pairing.first, pairing.second, *played)
    return PlayedGame(result, (sides[0].move_ms, sides[1].move_ms), (sides[0].faults, sides[1].faults))


def add_arena_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's options."""
    parser.add_argument(
        "strategies",
        nargs="+",
        metavar="STRATEGY",
        help=f"two or more of {', '.join(NAMES)}; NAME:LEVEL for a level from 1 to 8; "
        "engine:COMMAND, or a name from --engines",
    )
    parser.add_argument(
        "--engines", type=Path, metavar="FILE", help="engines that may be named, as docs/engines.md says"
    )
    parser.add_argument("--game", default="tictactoe", help="what they play (default %(default)s)")
    parser.add_argument(
        "--rounds", type=positive, metavar="N", help="games of each pair on each side (default 10, on a server 1)"
    )
    parser.add_argument(
        "--opening", type=int, choices=range(9), default=0, metavar="PLIES", help="random moves to start from, 0 to 8"
    )
    parser.add_argument("--ladder", action="store_true", help="each meets only its neighbours in the list")
    parser.add_argument("--openings", type=Path, metavar="FILE", help="begin with these, a line of moves each, in turn")
    parser.add_argument("--on", metavar="ADDRESS", help="play as a tournament on this server, with clocks and watchers")
    parser.add_argument("--time", type=_time, metavar="M+S", help=f"the clock --on a server: {TIME_FORM} (default 1+0)")
    parser.add_argument(
        "--processes", type=positive, default=1, metavar="N", help="games at once (default %(default)s)"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object a line, one for each strategy")
    parser.add_argument("--picture", type=Path, metavar="FILE", help="write the cross table as SVG")
    parser.add_argument(
        "--records", type=Path, metavar="FILE", help="write a record of each game, for `analyse --match` and `replay`"
    )
    parser.add_argument("--moves", action="store_true", help="print each game as it ends, for `analyse --moves`")
    parser.add_argument(
        "--sprt",
        type=two_numbers,
        metavar="E0,E1",
        help="stop as soon as it is clear whether the first is E1 Elo or E0 up",
    )
    parser.add_argument(
        "--results", type=Path, metavar="FILE", help="keep each game in this file, and go on with what is in it"
    )
    add_limits(parser, move_time=100)


def two_numbers(text: str) -> tuple[float, float]:
    """Return the two Elo differences that a text holds, the smaller one first."""
    try:
        low, high = map(float, text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not two numbers such as 0,30") from None
    if low >= high:
        raise argparse.ArgumentTypeError(f"{text!r}: the first has to be smaller")
    return low, high


def _time(text: str) -> TimeControl:
    found = time_of(text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no time; write {TIME_FORM}")
    return found


_HERE_ALONE = ("opening", "ladder", "openings", "json", "picture", "records", "moves", "sprt", "results")
"""The options that a server's tournament has not."""


def run_on_server(args: argparse.Namespace, game: Game[Any], engines: Mapping[str, EngineSettings]) -> int:
    """Play as a tournament on a server, and print its standings."""
    wrong = [option for option in _HERE_ALONE if getattr(args, option)]
    if wrong or args.processes > 1:
        option = wrong[0] if wrong else "processes"
        raise ConfigurationError(f"--{option} is for an arena in this process; leave it out, or --on")
    rounds = args.rounds or 1
    if rounds > MAX_ROUNDS:
        raise ConfigurationError(f"--rounds {rounds}: on a server, 1 or {MAX_ROUNDS}")
    entrants_of(args, game, engines)
    players = [player_word(text, engines) for text in args.strategies]
    seats = [ArenaSeat(each.name, _seat_options(each, engines)) for each in players]
    url, _ = read_address(args.on)
    told = hold(args.on, url, seats, game.name, args.time or TimeControl(60_000), rounds)
    for row in told.standings:
        print(f"{row.place:>3}. {clean(row.player, 20):<20} {row.score / 2:g}")
    return 0


def _seat_options(player: PlayerWord, engines: Mapping[str, EngineSettings]) -> tuple[str, ...]:
    """Return the options with which the client starts a player as a bot."""
    if player.name in engines:
        settings = engines[player.name]
        protocol = () if settings.protocol is None else ("--protocol", settings.protocol)
        return ("--engine", settings.command, "--name", player.name, *protocol)
    if player.word.startswith(ENGINE):
        return ("--engine", player.word.removeprefix(ENGINE))
    level = () if player.level is None else ("--level", str(player.level))
    return ("--bot", player.word, *level)


def run_arena(args: argparse.Namespace) -> int:
    """Play the round robin and print its table; return the exit status."""
    game = find_game(args.game)
    if len(args.strategies) < 2:
        raise ConfigurationError("an arena needs two strategies or more")
    if args.sprt and len(args.strategies) != 2:
        raise ConfigurationError("--sprt compares two strategies")
    engines = {each.title: each for each in read_engines(args.engines)} if args.engines else {}
    if args.on is not None:
        return run_on_server(args, game, engines)
    if args.time is not None:
        raise ConfigurationError("--time is the clock of a tournament on a server; add --on ADDRESS")
    entrants = entrants_of(args, game, engines)
    load_engine(game)
    pairings = pairings_of(args, game)
    results = kept_results(args.results, game, entrants)[: len(pairings)]
    if args.records:  # including those of an earlier run
        write_file(args.records, "".join(record_text(game, each, entrants) for each in results))
    for result in games_left(args, game, entrants, engines, pairings, results):
        results.append(result)
        keep(args, game, result, entrants)
        if is_decided(args, results):
            break
    tell(args, game, entrants, results)
    return 0


def entrants_of(args: argparse.Namespace, game: Game[Any], engines: Mapping[str, EngineSettings]) -> list[Entrant]:
    """Return the players.

    Raises `ConfigurationError` if one does not play the game, or if an external engine sends no first move.
    """
    entrants = [entrant(text, seed_of(args) + number, engines) for number, text in enumerate(args.strategies)]
    for each in entrants:
        if objection := each.strategy.objection(game):
            raise ConfigurationError(objection)
        if isinstance(each.strategy, ExternalEngine):
            try:
                each.strategy(game, game.initial, limit_of(args))
            except EngineError as error:
                raise ConfigurationError(f"no game was played: {error}") from None
    return entrants


def seed_of(args: argparse.Namespace) -> int:
    """Return the seed of all random choices."""
    return 0 if args.seed is None else int(args.seed)


def pairings_of(args: argparse.Namespace, game: Game[Any]) -> list[ArenaGame]:
    """Return the games of the round robin in their order."""
    openings = read_openings(game, args.openings) if args.openings else ()
    return list(
        round_robin(
            game,
            len(args.strategies),
            rounds=args.rounds or 10,
            seed=seed_of(args),
            opening_plies=args.opening,
            openings=openings,
            is_ladder=args.ladder,
        )
    )


def games_left(
    args: argparse.Namespace,
    game: Game[Any],
    entrants: Sequence[Entrant],
    engines: Mapping[str, EngineSettings],
    pairings: Sequence[ArenaGame],
    results: Sequence[Result],
) -> Iterator[Result]:
    """Play the games that `results` lacks, and yield their results; show the progress."""
    left = [] if is_decided(args, results) else pairings[len(results) :]
    if args.processes > 1:
        words = [player_word(text, engines) for text in args.strategies]
        seed = seed_of(args) + len(results)
        played = play_in_processes(game.name, words, limit_of(args), left, seed, args.processes)
        games = counted_games(played, entrants)
    else:
        games = play_all(game, entrants, limit_of(args), left)
    yield from track(games, "playing", len(left), console=Console(stderr=True), disable=not sys.stderr.isatty())


def is_decided(args: argparse.Namespace, results: Sequence[Result]) -> bool:
    """Tell whether the sequential test, if requested, is decided."""
    return bool(args.sprt) and abs(sprt(score_of_first(results), *args.sprt)) >= SPRT_BOUND


def keep(args: argparse.Namespace, game: Game[Any], result: Result, entrants: Sequence[Entrant]) -> None:
    """Write a game to the outputs of the options."""
    if args.results:
        write_file(args.results, game_as_json(game, result, entrants) + "\n", "a")
    if args.records:
        write_file(args.records, record_text(game, result, entrants), "a")
    if args.moves:
        told = game_as_json if args.json else game_as_text
        print(told(game, result, entrants), flush=True)


def write_file(path: Path, text: str, mode: str = "w") -> None:
    """Write or add a text to a file. Raises `ConfigurationError` if that is not possible."""
    try:
        with path.open(mode, encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise ConfigurationError(f"cannot write {path}: {error.strerror}") from None


def tell(args: argparse.Namespace, game: Game[Any], entrants: Sequence[Entrant], results: Sequence[Result]) -> None:
    """Print the cross table, the forfeited games with reasons, and the result of a sequential test."""
    table = standings(entrants, results)
    forfeited = sum(result.is_forfeited for result in results)
    title = f"{game.title}, {counted(len(results) - forfeited, 'game')}"
    if forfeited:
        title += f"; {forfeited} forfeited and not counted"
    if args.picture:
        write_file(args.picture, picture(title, table))
    if args.json:
        for standing in table:
            print(json.dumps(as_json(standing, entrants)))
    else:
        show_table(Console(), cross_table(title, table))
        for line in steps(table) if args.ladder else ():
            print(line)
    for each in entrants:
        for fault in dict.fromkeys(each.faults):
            times = counted(each.faults.count(fault), "game")
            print(f"{each.name} forfeited {times}: {fault}", file=sys.stderr)
    if args.sprt:
        print(verdict_of_test(score_of_first(results), args.sprt, as_json=args.json))


def steps(table: Sequence[Standing]) -> Iterator[str]:
    """Yield how many Elo points each player of a ladder is above the one before, with the 95 % confidence interval."""
    for number, (below, above) in enumerate(pairwise(table)):
        score = above.against[number]
        difference, (low, high) = elo(score)[0], elo_interval(score)
        told = ["?" if value is None else f"{value:+.0f}" for value in (difference, low, high)]
        yield f"{above.name} above {below.name}: {told[0]} ({told[1]} to {told[2]})"


def read_openings(game: Game[Any], path: Path) -> list[tuple[Move, ...]]:
    """Return the openings of a file, one line of moves each. Raises `ConfigurationError` if a line is invalid."""
    openings = []
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"{path}: {error}") from None
    for number, line in enumerate(lines, 1):
        state, moves = game.initial, list[Move]()
        try:
            for word in line.partition("#")[0].split():
                moves.append(read_move(game, state, word))
                state = game.result(state, moves[-1])
            if game.is_terminal(state):
                raise ConfigurationError(f"{path}, line {number}: the game is over after these moves")
        except Refusal as refusal:
            raise ConfigurationError(f"{path}, line {number}: {refusal}") from None
        if moves:
            openings.append(tuple(moves))
    if not openings:
        raise ConfigurationError(f"{path}: there is no opening in it")
    return openings


def counted_games(games: Iterable[PlayedGame], entrants: Sequence[Entrant]) -> Iterator[Result]:
    """Yield the results of games from other processes, and add their times and faults to the entrants."""
    for result, move_ms, faults in games:
        for side, number in enumerate((result.first, result.second)):
            entrants[number].move_ms += move_ms[side]
            entrants[number].faults += faults[side]
        yield result


def kept_results(path: Path | None, game: Game[Any], entrants: Sequence[Entrant]) -> list[Result]:
    """Return the games in a file of an interrupted arena. Raises `ConfigurationError` if they are of another arena.

    An incomplete last line is removed from the file, and its game is played again.
    """
    if path is None or not path.exists():
        return []
    numbers = {each.name: number for number, each in enumerate(entrants)}
    results = []
    text = path.read_text(encoding="utf-8")
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        write_file(path, whole)
    for line in whole.splitlines():
        try:
            kept = json.loads(line)
            first, second = (numbers[name] for name in kept["players"])
            state, moves = game.initial, []
            for word in kept["moves"]:
                moves.append(read_move(game, state, word))
                state = game.result(state, moves[-1])
            result = Result(first, second, kept["value"], tuple(moves), kept.get("forfeited", False))
        except (ValueError, KeyError, TypeError, Refusal):
            raise ConfigurationError(f"{path} has games of another arena; name another file") from None
        results.append(result)
    return results


def score_of_first(results: Sequence[Result]) -> Score:
    """Return the score of the first of two strategies, without forfeited games."""
    score = Score()
    for result in results:
        if not result.is_forfeited:
            score = score.plus(result.utility if result.first == 0 else -result.utility)
    return score


def verdict_of_test(score: Score, bounds: tuple[float, float], *, as_json: bool) -> str:
    """Return the result of the sequential test, as a sentence or as JSON."""
    ratio = sprt(score, *bounds)
    accepted = bounds[1] if ratio >= SPRT_BOUND else bounds[0] if ratio <= -SPRT_BOUND else None
    if as_json:
        return json.dumps({"sprt": list(bounds), "llr": round(ratio, 3), "accepted": accepted, "games": score.games})
    found = "not decided" if accepted is None else f"{accepted:+g} Elo accepted"
    return f"SPRT {bounds[0]:+g} or {bounds[1]:+g}: {found} after {score.games} games (LLR {ratio:+.2f})"


def entrant(text: str, seed: int, engines: Mapping[str, EngineSettings]) -> Entrant:
    """Return the entrant for `NAME`, `NAME:LEVEL` or `engine:COMMAND`."""
    name, word, level = player_word(text, engines)
    return Entrant(name, find_player(word, seed=seed, level=level))


def player_word(text: str, engines: Mapping[str, EngineSettings]) -> PlayerWord:
    """Return the player for `NAME`, `NAME:LEVEL` or `engine:COMMAND`. Raises `ConfigurationError` if it is invalid."""
    if text in engines:
        return PlayerWord(text, as_word(engines[text]), engines[text].seat.level)
    if text.startswith(ENGINE):
        return PlayerWord(settings_of(text).title, text, None)
    name, colon, level = text.partition(":")
    if colon and not (level.isascii() and level.isdigit()):
        raise ConfigurationError(f"{text!r} is not NAME or NAME:LEVEL")
    return PlayerWord(text, name, int(level) if colon else None)


def game_as_text(game: Game[Any], result: Result, entrants: Sequence[Entrant]) -> str:
    """Return a game on one line: players, winner and moves."""
    first, second = entrants[result.first].name, entrants[result.second].name
    ending = ("1/2", "1-0", "0-1")[result.utility] + " forfeited" * result.is_forfeited
    return f"{first} - {second} {ending} {' '.join(write_move(game, move) for move in result.moves)}"


def game_as_json(game: Game[Any], result: Result, entrants: Sequence[Entrant]) -> str:
    """Return a game as an object of JSON; `value` is 1 if the first won, 0 for a draw, -1 if the second won.

    `forfeited` is there, and true, if the loser's engine sent no move.
    """
    players = [entrants[result.first].name, entrants[result.second].name]
    moves = [write_move(game, move) for move in result.moves]
    forfeit = {"forfeited": True} if result.is_forfeited else {}
    return json.dumps({"players": players, "value": result.utility, "moves": moves, **forfeit})


def record_text(game: Game[Any], result: Result, entrants: Sequence[Entrant]) -> str:
    """Return a game as a record, with an empty line after it; a forfeited game is recorded as resigned."""
    state = game.initial
    for move in result.moves:
        state = game.result(state, move)
    outcome = game.outcome(state)
    if outcome is None:
        outcome = Outcome(0 if result.utility > 0 else 1, Reason.RESIGN)
    first, second = (entrants[number].name[:MAX_TEXT_LENGTH] for number in (result.first, result.second))
    bots = (entrants[number].strategy.name for number in (result.first, result.second))
    players = tuple(map(RecordedPlayer, (first, second), bots))
    moves = tuple(RecordedMove(move) for move in result.moves)
    return write_record(Record(game.name, (players[0], players[1]), moves, outcome, event="arena")) + "\n"


def as_json(standing: Standing, entrants: Sequence[Entrant]) -> dict[str, object]:
    """Return a standing as JSON."""
    return {
        "strategy": standing.name,
        **standing.total._asdict(),
        "elo": standing.elo,
        "elo_error": standing.elo_error,
        "elo_interval": elo_interval(standing.total),
        "median_ms": standing.median_ms,
        "worst_ms": standing.worst_ms,
        "against": [
            {"strategy": other.name, **score._asdict()}
            for other, score in zip(entrants, standing.against, strict=True)
            if score.games
        ],
    }


def cross_table(title: str, table: Sequence[Standing]) -> Table:
    """Return the cross table: a row for each strategy, with its wins, draws and losses against each other one."""
    caption = "won-drawn-lost; Elo against the mean of the others, with its standard error"
    view = new_table("strategy", title=title, caption=caption)
    for number in range(1, len(table) + 1):
        view.add_column(str(number), justify="center")
    for column in ("total", "points", "Elo", "median\nms", "worst\nms"):
        view.add_column(column, justify="right")
    for number, row in enumerate(table, 1):
        elo = elo_in_words(row)
        points = f"{row.total.points / max(row.total.games, 1):.1%}"
        cells = [written(score) for score in (*row.against, row.total)]
        view.add_row(f"{number} {row.name}", *cells, points, elo, f"{row.median_ms:.1f}", f"{row.worst_ms:.1f}")
    return view


def elo_in_words(row: Standing) -> str:
    """Return an Elo difference with its error, or its bound if all games were won or lost."""
    if row.elo is not None:
        return f"{row.elo:+.0f} ± {row.elo_error:.0f}"
    low, high = elo_interval(row.total)
    return f"> {low:+.0f}" if low is not None else f"< {high:+.0f}" if high is not None else ""


def written(score: Score) -> str:
    """Return a score in the form of the cross table."""
    return "-".join(map(str, score)) if score.games else "·"


_CELL, _NAME_WIDTH, _HEAD, _BAR_WIDTH, _MARGIN = 84, 190, 76, 320, 16
_FONT = "font-family='ui-sans-serif, system-ui, sans-serif' font-size='13'"
_LEAST_ELO = 200.0
"""Half of the minimal width of the Elo scale."""
_MOST_ELO = 1200.0
"""An unbounded interval ends here."""


def picture(title: str, table: Sequence[Standing]) -> str:
    """Return the picture as SVG, legible on light and dark backgrounds, and self-contained."""
    width = _MARGIN * 2 + _NAME_WIDTH + _CELL * len(table) + _BAR_WIDTH
    height = _HEAD + 34 * len(table) + 56
    parts = [
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}' width='{width}' {_FONT}>",
        f"<title>{escape(title)}</title>",
        f"<rect width='{width}' height='{height}' rx='8' fill='#fdfdfb'/>",
        _text(_MARGIN, 28, title, weight="600", size=16),
        *(
            _text(_MARGIN + _NAME_WIDTH + _CELL * (column + 0.5), _HEAD - 10, str(column + 1), anchor="middle")
            for column in range(len(table))
        ),
    ]
    left = _MARGIN + _NAME_WIDTH + _CELL * len(table) + 24
    reach = _reach(table)
    for row, standing in enumerate(table):
        top = _HEAD + 34 * row
        parts.append(_text(_MARGIN, top + 21, f"{row + 1}  {standing.name}"))
        for column, score in enumerate(standing.against):
            parts += _square(_MARGIN + _NAME_WIDTH + _CELL * column, top, score)
        parts += _interval(left, top, standing, reach)
    bottom = _HEAD + 34 * len(table) + 22
    parts += [
        _text(left, bottom, f"-{reach:.0f}", size=11),
        _text(left + (_BAR_WIDTH - 48) / 2, bottom, "0 Elo", anchor="middle", size=11),
        _text(left + _BAR_WIDTH - 48, bottom, f"+{reach:.0f}", anchor="end", size=11),
        _text(
            _MARGIN,
            bottom + 20,
            "won-drawn-lost of the row; Elo against the mean of the others, 19 times out of 20",
            size=11,
        ),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _reach(table: Sequence[Standing]) -> float:
    ends = [abs(end) for standing in table for end in _ends(standing)]
    return min(_MOST_ELO, max([_LEAST_ELO, *ends]))


def _ends(standing: Standing) -> tuple[float, float]:
    low, high = elo_interval(standing.total)
    return (-_MOST_ELO if low is None else low), (_MOST_ELO if high is None else high)


def _text(x: float, y: float, text: str, *, anchor: str = "start", weight: str = "400", size: int = 13) -> str:
    style = f"text-anchor='{anchor}' font-weight='{weight}' font-size='{size}'"
    return f"<text x='{x:.0f}' y='{y:.0f}' fill='#222' {style}>{escape(text)}</text>"


def _square(left: float, top: float, score: Score) -> list[str]:
    """Return the score against one opponent, in green if positive and red if negative, with matching intensity."""
    if not score.games:
        return [f"<rect x='{left:.0f}' y='{top}' width='{_CELL - 4}' height='30' rx='4' fill='#e4e4e0'/>"]
    share = score.points / score.games
    hue, depth = ("#2e8b57", 2 * share - 1) if share >= 0.5 else ("#c0504d", 1 - 2 * share)
    shade = f"fill='{hue}' fill-opacity='{depth * 0.6 + 0.06:.2f}'"
    return [
        f"<rect x='{left:.0f}' y='{top}' width='{_CELL - 4}' height='30' rx='4' {shade}/>",
        _text(left + _CELL / 2 - 2, top + 20, "-".join(map(str, score)), anchor="middle"),
    ]


def _interval(left: float, top: float, standing: Standing, reach: float) -> list[str]:
    """Return the Elo of an entrant as a dot on its interval."""
    if not standing.total.games:
        return []
    wide = _BAR_WIDTH - 48

    def at(elo: float) -> float:
        return left + wide * (min(reach, max(-reach, elo)) + reach) / (2 * reach)

    low, high = map(at, _ends(standing))
    dot = (
        [] if standing.elo is None else [f"<circle cx='{at(standing.elo):.1f}' cy='{top + 15}' r='5' fill='#1f4e79'/>"]
    )
    return [
        f"<line x1='{at(0):.1f}' x2='{at(0):.1f}' y1='{top}' y2='{top + 30}' stroke='#ccc'/>",
        f"<line x1='{low:.1f}' x2='{high:.1f}' y1='{top + 15}' y2='{top + 15}' stroke='#1f4e79' stroke-width='3'/>",
        *dot,
    ]


MAX_ROUNDS = 2
"""The cycles of a round robin on a server."""
_PLAY = (sys.executable, "-m", "ttt_net", "play")
_END_S = 10.0


class ArenaSeat(NamedTuple):
    """A bot as the client starts it: its listed name, and the options that choose it."""

    name: str
    options: tuple[str, ...]


def hold(
    address: str, url: str, seats: Sequence[ArenaSeat], game: str, time: TimeControl, rounds: int
) -> TournamentReply:
    """Make a tournament at the address, seat the bots, and return its final state.

    Raises `ConfigurationError` if the server refuses it, or if a bot leaves early.
    """
    try:
        return asyncio.run(_hold(address, url, seats, game, time, rounds))
    except DisconnectedError as error:
        raise ConfigurationError(f"{address}: {error}") from None
    except Refusal as refusal:
        raise ConfigurationError(f"{address} refuses: {refusal}") from None


async def _hold(
    address: str, url: str, seats: Sequence[ArenaSeat], game: str, time: TimeControl, rounds: int
) -> TournamentReply:
    async with connect(url) as client:
        terms = OrganiseRequest(
            0, f"Arena of {len(seats)}", "round_robin", time, game, rounds, pause_s=0, full=len(seats), legs=2
        )
        told = await client.ask_for(terms, TournamentReply)
        print(f"tournament {told.tournament} on {address}: watch it in a terminal or on the page", file=sys.stderr)
        bots: list[Process] = []
        try:
            for seat in seats:
                words = (*_PLAY, address, *seat.options, "--join", told.tournament)
                bot = await asyncio.create_subprocess_exec(
                    *words, stdin=DEVNULL, stdout=DEVNULL, stderr=PIPE, env=beside_us(os.environ)
                )
                bots.append(bot)
            return await _played(client, told.tournament, seats, bots)
        finally:
            await _end(bots)


async def _played(client: Client, code: str, seats: Sequence[ArenaSeat], bots: Sequence[Process]) -> TournamentReply:
    """Return the tournament once it is over. If a bot leaves before, end it."""
    over = asyncio.ensure_future(_over(client, code))
    ends = [asyncio.ensure_future(_left_early(seat, bot)) for seat, bot in zip(seats, bots, strict=True)]
    try:
        done, _ = await asyncio.wait([over, *ends], return_when=asyncio.FIRST_COMPLETED)
        if over not in done and (failed := [end for end in done if end.result() is not None]):
            await client.ask(DirectRequest(0, code, "end"))
            raise ConfigurationError(str(failed[0].result()))
        return await over
    finally:
        for each in (over, *ends):
            each.cancel()
        await asyncio.gather(over, *ends, return_exceptions=True)


async def _over(client: Client, code: str) -> TournamentReply:
    await client.ask(AttendRequest(0, code))
    async for event in client:
        if isinstance(event, TournamentReply) and event.state == "over":
            return event
    raise AssertionError("the events of a client do not end")


async def _left_early(seat: ArenaSeat, bot: Process) -> str | None:
    """Return why a bot left; None if its tournament was over."""
    _, said = await bot.communicate()
    if bot.returncode == 0:
        return None
    lines = said.decode(errors="replace").strip().splitlines()
    return f"{seat.name} has left: {lines[-1] if lines else f'exit status {bot.returncode}'}"


async def _end(bots: Sequence[Process]) -> None:
    """Wait until the bots have left by themselves; end those that have not."""
    for bot in bots:
        try:
            await asyncio.wait_for(bot.wait(), _END_S)
        except TimeoutError:
            bot.kill()
            await bot.wait()
