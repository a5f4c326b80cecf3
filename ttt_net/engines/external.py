"""An external engine as a strategy, `(game, state, limit) -> choice`, which plays wherever built-in ones do.

`EngineProgram` runs the program as a child process, and exchanges lines within bounds of length, number and time.
Between questions a signal stops it and its children, so that it uses no processor time; systems without such signals
rely on it to wait. Its standard error is kept for the log, and for the error message if it fails.

A dialect gives the lines a meaning: ours for every game, or that of Gomocup and Piskvork for five in a row. The answers
are validated: only legal moves are returned, and a bounded number of other lines is ignored. An engine that crashes,
hangs or sends nonsense is restarted and asked again. If that fails too, `EngineError` gives the reason, and its side
resigns.

Sources: docs/engines.md for our dialect; "Gomoku AI protocol" (Petr Laštovička, plastovicka.github.io/protocl2en.htm).
"""

import contextlib
import json
import os
import queue
import random
import re
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import IO, Any, NamedTuple, Protocol, TypeVar

import msgspec

from ttt_net.command_line import without_us
from ttt_net.engines.settings import EngineSettings, opening_of, plays
from ttt_net.errors import ConfigurationError, EngineError, Refusal
from ttt_net.games import Game, Move
from ttt_net.games.game import EMPTY
from ttt_net.games.notation import read_move, write_move, write_position
from ttt_net.games.swap import SwapGame
from ttt_net.strategies import Choice, Counts, Limit, Strategy, find_strategy
from ttt_net.strategies.heuristic import is_line_game
from ttt_net.strategies.level import Levelled
from ttt_net.strategies.strategy import DECIDED, ONE_SECOND, WIN, S, beneath, is_first, may_swap, require_playable
from ttt_net.text import clean

MAX_LINE_BYTES = 4096
"""The maximal length of a line; longer ones are cut."""
MAX_QUEUED_LINES = 256
"""The maximal number of unread lines of output; beyond that, the pipe fills up and the program waits."""
MAX_LINES_PER_ANSWER = 10_000
"""An engine that sends more lines than this before an answer counts as broken."""
MAX_LOG_BYTES = 4 << 20
"""At this size a log is rotated; the previous one is kept beside it."""
_LAUNCH = Path(__file__).with_name("launch.py")
_SHOWN_ERROR_CELLS = 160
_LEAVE_S = 1.0
"""How long the program may take to exit by itself."""
_IS_POSIX = os.name == "posix"


class EngineLog:
    """Logs the dialogue with an engine, with times; foreign text is sanitized."""

    def __init__(self, path: str | None) -> None:
        self._path = None if path is None else Path(path)
        self._lock = threading.Lock()

    def write(self, sign: str, text: str) -> None:
        """Add a line: `>` for sent lines, `<` for received lines, `!` for standard error, `#` for changes of state."""
        if self._path is None:
            return
        now = time.time()
        stamp = f"{time.strftime('%Y-%m-%d %H:%M:%S', time.gmtime(now))}.{int(now * 1000) % 1000:03d}"
        with self._lock, contextlib.suppress(OSError):  # a full disk must not lose the match
            if self._path.exists() and self._path.stat().st_size > MAX_LOG_BYTES:
                self._path.replace(self._path.with_name(f"{self._path.name}.1"))
            with self._path.open("a", encoding="utf-8") as file:
                file.write(f"{stamp} {sign} {clean(text, MAX_LINE_BYTES)}\n")


class EngineProgram:
    """One run of an engine; `stop` ends it in any case."""

    def __init__(self, settings: EngineSettings, log: EngineLog) -> None:
        """Start the program. Raises `EngineError` if the system fails to."""
        self._log = log
        self._lines: queue.Queue[str | None] = queue.Queue(MAX_QUEUED_LINES)
        self._last_error = ""
        self._has_ended = False
        command = [sys.executable, "-I", "-S", str(_LAUNCH), str(settings.memory_mb), str(settings.cpus)]
        try:
            self._process = subprocess.Popen(  # noqa: S603 - the user's command, without a shell
                [*command, *settings.words] if _IS_POSIX else settings.words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=settings.directory,
                env=without_us(os.environ),
                bufsize=0,
                start_new_session=_IS_POSIX,
            )
        except OSError as error:
            raise EngineError(f"cannot start: {error.strerror}") from None
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        log.write("#", f"started: {settings.command}")
        self._readers = [
            threading.Thread(target=self._read, args=(stream, is_error), daemon=True)
            for stream, is_error in ((self._process.stdout, False), (self._process.stderr, True))
        ]
        for reader in self._readers:
            reader.start()

    def say(self, line: str) -> None:
        """Send one line. Raises `EngineError` if the program has ended.

        This never blocks long: everything sent before an answer fits into a pipe, and a program that does not answer is
        stopped.
        """
        assert self._process.stdin is not None
        self._log.write(">", line)
        try:
            self._process.stdin.write(line.encode() + b"\r\n")
        except OSError:
            raise self._gone() from None

    def hear(self, deadline_s: float) -> str | None:
        """Return the next nonempty line, or None if the monotonic clock reaches `deadline_s` first.

        Raises `EngineError` if the program has ended.
        """
        try:
            line = self._lines.get(timeout=max(0.0, deadline_s - time.monotonic()))
        except queue.Empty:
            return None
        if line is None:
            self._lines.put(None)  # also for the next question
            raise self._gone()
        return line

    def rest(self) -> None:
        """Suspend the program and its children until `wake`."""
        self._signal("SIGSTOP")

    def wake(self) -> None:
        """Resume the program and its children."""
        self._signal("SIGCONT")

    def stop(self, farewell: str = "") -> None:
        """End the program: with a last line, or else by force."""
        if self._has_ended:
            return
        self._has_ended = True
        assert self._process.stdin is not None
        self.wake()
        with contextlib.suppress(OSError):
            self._process.stdin.write(farewell.encode() + b"\r\n")
        self._process.stdin.close()
        if farewell:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_LEAVE_S)
        self._signal("SIGKILL")  # including the processes that it started
        self._process.kill()
        self._process.wait()
        self._log.write("#", f"ended with {self._process.returncode}")
        for reader in self._readers:
            self._drain()
            reader.join(_LEAVE_S)  # a thread whose pipe another process still holds is abandoned

    def _drain(self) -> None:
        with contextlib.suppress(queue.Empty):
            while True:
                self._lines.get_nowait()

    def _signal(self, name: str) -> None:
        if _IS_POSIX:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, getattr(signal, name))

    def _gone(self) -> EngineError:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_LEAVE_S)
        self._readers[1].join(_LEAVE_S)
        code = self._process.poll()
        how = "closed its output" if code is None else f"ended with {code}" if code >= 0 else _killed_by(-code)
        return EngineError(f"{how}: {self._last_error}" if self._last_error else how)

    def _read(self, stream: IO[bytes], is_error: bool) -> None:
        """Split the output into lines; overlong lines are cut, and empty ones are skipped."""
        rest = b""
        with stream:
            while chunk := stream.read(65536):
                *lines, rest = (rest + chunk.replace(b"\r", b"\n")).split(b"\n")
                rest = rest[:MAX_LINE_BYTES]
                for line in lines:
                    self._take(line, is_error)
        self._take(rest, is_error)
        if not is_error:
            self._put(None)

    def _take(self, line: bytes, is_error: bool) -> None:
        text = line[:MAX_LINE_BYTES].decode("utf-8", "replace").strip()
        if not text:
            return
        self._log.write("!" if is_error else "<", text)
        if is_error:
            self._last_error = clean(text, _SHOWN_ERROR_CELLS)
        else:
            self._put(text)

    def _put(self, text: str | None) -> None:
        while not self._has_ended:
            try:
                self._lines.put(text, timeout=_LEAVE_S)
                return
            except queue.Full:
                continue


def _killed_by(number: int) -> str:
    try:
        return f"was killed by {signal.Signals(number).name}"
    except ValueError:
        return f"was killed by signal {number}"


VERSION = "tti 1"
"""The first line sent to an engine that speaks our dialect."""
_SHOWN_CELLS = 60
_UNTIMED_MS = 1000
"""The thinking time of an engine if the match has no limit."""
_NO_LIMIT = 2_147_483_647
"""Piskvork's value for unlimited time."""

T = TypeVar("T")


class Told(NamedTuple):
    """A legal move, and the engine's evaluation, if it gives one."""

    move: Move
    value: int | None = None


class Dialect(Protocol):
    """The protocol with one running program."""

    farewell: str
    """The last line sent to the engine."""

    def greet(self) -> None:
        """Wait until the program is ready. Raises `EngineError` if it fails to start."""

    def objection(self, game: Game[Any]) -> str | None:
        """Return why the program cannot play a game, or None if it can."""

    def ask(self, game: Game[S], state: S, limit: Limit) -> Told:
        """Return the program's move. Raises `EngineError` if it sends none."""


class _Conversation:
    """Reads lines until one is the answer, within a time limit."""

    def __init__(self, program: EngineProgram, settings: EngineSettings) -> None:
        self.program = program
        self.settings = settings

    def answer(self, understand: Callable[[str], T | None], ms: int, what: str) -> T:
        """Return the first result of `understand` that is not None.

        Raises `EngineError` if none arrives within `ms`.
        """
        deadline_s = time.monotonic() + ms / 1000
        for _ in range(MAX_LINES_PER_ANSWER):
            line = self.program.hear(deadline_s)
            if line is None:
                raise EngineError(f"said no {what} within {ms:,} ms")
            understood = understand(line)
            if understood is not None:
                return understood
        raise EngineError(f"said {MAX_LINES_PER_ANSWER:,} lines and no {what}")


class LineDialect:
    """Our dialect: the position, the legal moves and the time in three lines, and `bestmove` as the answer."""

    farewell = "quit"

    def __init__(self, program: EngineProgram, settings: EngineSettings) -> None:
        self._talk = _Conversation(program, settings)
        self._games: list[str] = []
        self._last: str | None = None

    def greet(self) -> None:
        """Wait for `ttiok`; the games are listed before it."""

        def understand(line: str) -> bool | None:
            word, _, rest = line.partition(" ")
            if word == "games":
                self._games = rest.split()[:64]
            if word.upper() in ("UNKNOWN", "ERROR"):
                raise EngineError(f"does not speak {VERSION}; is it a Piskvork brain? Then say --protocol piskvork")
            return True if word == "ttiok" else None

        self._talk.program.say(VERSION)
        self._talk.answer(understand, self._talk.settings.start_ms, "ttiok")

    def objection(self, game: Game[Any]) -> str | None:
        """Return why the program cannot play the game, by its list; `mnk` and `connect` in it mean every size."""
        known = {game.name, game.name.partition(":")[0]}
        return None if not self._games or known & set(self._games) else f"it does not play {game.name}"

    def ask(self, game: Game[S], state: S, limit: Limit) -> Told:
        """Return the move of the program's `bestmove`."""
        say, ms = self._talk.program.say, limit.ms or _UNTIMED_MS
        if game.name != self._last:
            say("newgame")
            self._last = game.name
        say(f"position {game.name} {write_position(game, state)}")
        say("legal " + " ".join(write_move(game, move) for move in game.actions(state)))
        more = "".join(
            f" {word} {number}"
            for word, number in (("depth", limit.depth), ("nodes", limit.nodes))
            if number is not None
        )
        say(f"go {game.marks(state)[game.to_move(state)]} movetime {ms}{more}")

        def understand(line: str) -> Told | None:
            words = line.split()
            if words[0] != "bestmove":
                return None
            name = words[1] if len(words) > 1 else ""
            return Told(_legal(game, state, name), _value_of(words[2:]))

        return self._talk.answer(understand, ms + self._talk.settings.overtime_ms, "bestmove")


def _value_of(words: list[str]) -> int | None:
    """Return the value of `win N`, `loss N`, `draw` or a number after a move; None for anything else."""
    number = words[1] if len(words) > 1 else "0"
    match words[:1]:
        case ["draw"]:
            return 0
        case ["win" | "loss" as word] if re.fullmatch("[0-9]{1,4}", number):
            return (WIN - int(number)) * (1 if word == "win" else -1)
        case [text] if re.fullmatch("[+-]?[0-9]{1,5}", text):
            return max(1 - DECIDED, min(DECIDED - 1, int(text)))
        case _:
            return None


def _legal(game: Game[S], state: S, name: str) -> Move:
    try:
        return read_move(game, state, name)
    except Refusal as refusal:
        raise EngineError(f"chose {clean(name, _SHOWN_CELLS)!r}: {refusal}") from None


_CELL = re.compile(r"([0-9]{1,3})\s*,\s*([0-9]{1,3})", re.ASCII)


_ANNOUNCED_SHARE = 60
"""The per cent of its memory limit that a brain is told; code, stacks and allocators need the rest of the addresses."""


class PiskvorkDialect:
    """The dialect of Gomocup: five or more in a row on a flat board; cells are `x,y` from the upper left, from 0."""

    farewell = "END"

    def __init__(self, program: EngineProgram, settings: EngineSettings) -> None:
        self._talk = _Conversation(program, settings)
        self._shape: tuple[int, ...] | None = None
        self._board = ""
        """The position on the program's board, as `Game.board` writes it."""

    def greet(self) -> None:
        """Do nothing: a brain is ready once it has answered the size of a board."""

    def objection(self, game: Game[Any]) -> str | None:
        """Return that the program plays only five in a row, if the game is another."""
        is_five = is_line_game(game) and len(game.shape) == 2 and game.k == 5 and not game.gravity
        return None if is_five else "a Piskvork brain plays five in a row, on a flat board"

    def ask(self, game: Game[S], state: S, limit: Limit) -> Told:
        """Return the program's cell. Send it one move if it knows the rest, otherwise the whole board."""
        ms, board, width = limit.ms or _UNTIMED_MS, game.board(state), game.shape[1]
        if game.shape != self._shape:
            self._start(game.shape)
        self._talk.program.say(f"INFO timeout_turn {ms}")
        new = [cell for cell, mark in enumerate(board) if mark != self._board[cell]]
        if len(new) == 1 and self._board.strip(EMPTY) and self._board[new[0]] == EMPTY:
            self._talk.program.say(f"TURN {new[0] % width},{new[0] // width}")
        else:
            self._show(game, state)
        self._board = ""  # if anything fails from here on, the program's board is unknown
        move = self._talk.answer(
            lambda line: self._cell(game, state, line), ms + self._talk.settings.overtime_ms, "move"
        )
        self._board = game.board(game.result(state, move))
        return Told(move)

    def _start(self, shape: tuple[int, ...]) -> None:
        height, width = shape
        self._expect_ok(f"START {width}" if width == height else f"RECTSTART {width},{height}")
        self._shape, self._board = shape, EMPTY * (width * height)
        for key, value in (
            ("timeout_match", 0),
            ("max_memory", (self._talk.settings.memory_mb << 20) * _ANNOUNCED_SHARE // 100),
            ("time_left", _NO_LIMIT),
            ("game_type", 1),
            ("rule", 0),
        ):
            self._talk.program.say(f"INFO {key} {value}")

    def _show(self, game: Game[S], state: S) -> None:
        """Send the program the whole board; an empty one begins a match."""
        if self._board.strip(EMPTY) or not self._board:
            self._expect_ok("RESTART")
        board, width = game.board(state), game.shape[1]
        if not board.strip(EMPTY):
            self._talk.program.say("BEGIN")
            return
        own = game.marks(state)[game.to_move(state)]
        self._talk.program.say("BOARD")
        for cell, mark in enumerate(board):
            if mark != EMPTY:
                self._talk.program.say(f"{cell % width},{cell // width},{1 if mark == own else 2}")
        self._talk.program.say("DONE")

    def _expect_ok(self, line: str) -> None:
        def understand(answer: str) -> bool | None:
            if answer.upper().startswith(("ERROR", "UNKNOWN")):
                raise EngineError(f"answers {line} with {clean(answer, _SHOWN_CELLS)}")
            return True if answer.upper().startswith("OK") else None

        self._talk.program.say(line)
        self._talk.answer(understand, self._talk.settings.start_ms, "OK")

    def _cell(self, game: Game[S], state: S, line: str) -> Move | None:
        if line.upper().startswith(("ERROR", "UNKNOWN")):
            raise EngineError(f"says {clean(line, _SHOWN_CELLS)}")
        found = _CELL.fullmatch(line)
        if found is None:
            return None
        x, y = int(found[1]), int(found[2])
        height, width = game.shape
        if x >= width or y >= height or y * width + x not in game.actions(state):
            raise EngineError(f"chose {x},{y}, which is not free")
        return y * width + x


ENGINE = "engine:"
"""The prefix of a command, or of settings as JSON, in place of a strategy's name."""
_STARTS = 2
"""The number of attempts to get one move from an engine."""


class ExternalEngine:
    """An external program; it starts when it is first needed, and ends with this object or this process.

    If the pie rule applies and the program does not support it, `alphabeta` decides whether to take over the move.
    """

    def __init__(self, settings: EngineSettings, rng: random.Random) -> None:
        self.name = settings.title
        self.idea = "a program of somebody else"
        self._settings, self._rng = settings, rng
        self._log = EngineLog(settings.log)
        self._swapper = find_strategy("alphabeta", seed=rng.getrandbits(32))
        self._openings = _openings(settings)
        self._running: tuple[EngineProgram, Dialect] | None = None
        self._end: weakref.finalize[..., Any] | None = None

    def objection(self, game: Game[Any]) -> str | None:
        """Start the program, and return why it cannot play a game.

        Raises `ConfigurationError` if it cannot be started.
        """
        if not plays(self._settings, game):
            return f"{self.name} is not to play {game.name}"
        try:
            reason = self._objection(self._dialect(), game)
        except EngineError as error:
            self.close()
            raise ConfigurationError(f"the engine {self.name}: {error}") from None
        self._rest()
        return None if reason is None else f"{self.name}: {reason}"

    def __call__(self, game: Game[S], state: S, limit: Limit = ONE_SECOND) -> Choice:
        """Return the program's choice, or one of its openings. Raises `EngineError` if it makes none."""
        require_playable(self, game, state)
        begun_s = time.monotonic()
        if moves := self._openings.get((game.name, state)):
            move = self._rng.choice(moves)
            return Choice(move, None, (move,), Counts())
        if is_first(state) or may_swap(state):
            if not self._knows(game):
                return self._swapper(game, state, limit)
            told = self._told(game, state, limit)
        else:
            told = self._told(*beneath(game, state), limit)
        counts = Counts(ms=(time.monotonic() - begun_s) * 1000)
        return Choice(told.move, told.value, (told.move,), counts)

    def close(self) -> None:
        """End the program; a later question restarts it."""
        if self._end is not None:
            self._end()
        self._running = None

    def _told(self, game: Game[S], state: S, limit: Limit) -> Told:
        faults: list[str] = []
        for _ in range(_STARTS):
            try:
                told = self._dialect().ask(game, state, limit)
            except EngineError as error:
                self._log.write("#", str(error))
                self.close()
                faults.append(str(error))
            else:
                self._rest()
                return told
        raise EngineError(f"the engine {self.name} {'; started again, it '.join(faults)}")

    def _knows(self, game: Game[Any]) -> bool:
        """Tell whether the program plays this exact game, including swap; one that fails to start does not."""
        try:
            return self._dialect().objection(game) is None
        except EngineError:
            self.close()
            return False

    def _dialect(self) -> Dialect:
        """Return the dialect of the running engine; start the program if necessary."""
        if self._running is None:
            program = EngineProgram(self._settings, self._log)
            speaks: type[LineDialect | PiskvorkDialect] = (
                PiskvorkDialect if self._settings.speaks == "piskvork" else LineDialect
            )
            self._end = weakref.finalize(self, program.stop, speaks.farewell)
            dialect: Dialect = speaks(program, self._settings)
            self._running = program, dialect
            dialect.greet()
        self._running[0].wake()
        return self._running[1]

    def _rest(self) -> None:
        if self._running is not None:
            self._running[0].rest()

    def _objection(self, dialect: Dialect, game: Game[Any]) -> str | None:
        reason = dialect.objection(game)
        return dialect.objection(game.base) if reason and isinstance(game, SwapGame) else reason


def _openings(settings: EngineSettings) -> dict[tuple[str, Hashable], list[Move]]:
    """Return the moves of all opening lines, by game and position."""
    known: dict[tuple[str, Hashable], list[Move]] = {}
    for line in settings.openings:
        game, moves = opening_of(line)
        state: Any = game.initial
        for move in moves:
            known.setdefault((game.name, state), []).append(move)
            state = game.result(state, move)
    return known


def as_word(settings: EngineSettings) -> str:
    """Return the word that stands for an engine in place of a strategy's name."""
    return ENGINE + json.dumps(msgspec.to_builtins(settings))


def settings_of(word: str) -> EngineSettings:
    """Return the settings in such a word, or those of a bare command."""
    text = word.removeprefix(ENGINE).strip()
    try:
        if text.startswith("{"):
            return msgspec.json.decode(text, type=EngineSettings)
        return msgspec.convert({"command": text}, EngineSettings)
    except msgspec.ValidationError as error:
        raise ConfigurationError(f"engine: {error}") from None


def find_player(name: str, *, seed: int | None = None, level: int | None = None) -> Strategy:
    """Return the strategy with this name, or the engine that `engine:COMMAND` starts.

    Raises `ConfigurationError` if it is neither.
    """
    if not name.startswith(ENGINE):
        return find_strategy(name, seed=seed, level=level)
    rng = random.Random(seed)
    engine = ExternalEngine(settings_of(name), rng)
    return engine if level is None else Levelled(engine, level, rng)
