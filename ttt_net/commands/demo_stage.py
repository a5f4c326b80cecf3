"""Show the match of the demo: pictures that move where they may, and the server killed in the middle of it.

Where the pictures go is somebody else's matter: to a terminal, or into the film that stands in the README.
"""

from collections.abc import Callable, Iterable, Iterator
from queue import SimpleQueue
from threading import Thread

from msgspec import structs
from rich.text import Text

from ttt_net import messages as wire
from ttt_net.client import labels, words
from ttt_net.client.display import Display
from ttt_net.client.drawing.board import draw_board
from ttt_net.client.drawing.glyphs import Glyphs
from ttt_net.client.update import update
from ttt_net.client.world import World
from ttt_net.errors import Refusal

KILLED_AT_PLY = 6
"""The server is killed once so many moves are made; a shorter match of another game is played without that."""
FRAME_S = 0.03
"""How long a falling mark is seen in each row."""
PAUSE_S = 1.2
"""How long a sentence stays that has to be read."""
FLASHES = 3
FLASH_S = 0.25
SIZE = (60, 30)
"""The columns and rows that a board has at most."""


class DemoStage:
    """Draws a match as it is heard; `show` is given each picture, and for how many seconds it stays at least."""

    def __init__(self, show: Callable[[Text, float], None], glyphs: Glyphs, rows: int, *, is_moving: bool) -> None:
        self._show = show
        self._glyphs = glyphs
        self._rows = min(rows, SIZE[1])
        self._is_moving = is_moving
        self._display = Display()

    def play(self, lines: Iterable[str], kill: Callable[[], None], restart: Callable[[], None]) -> wire.Snapshot | None:
        """Show the match that a bot's lines of JSON tell of, and kill the server in the middle; return its end."""
        is_killed, kept = False, -1
        for line in _read_ahead(lines, kill):
            heard = _heard(line)
            if heard is None:
                continue
            before = self._display.match
            if isinstance(heard, wire.Played) and before is not None and heard.seq <= before.seq:
                continue
            self._display = update(self._display, heard, 0)
            match = self._display.match
            if match is None or not isinstance(heard, wire.Snapshot | wire.Played | wire.Ended):
                continue
            if isinstance(heard, wire.Played) and before is not None:
                self._drop(before, match)
            if isinstance(heard, wire.Snapshot) and kept >= 0:
                is_whole = len(match.moves) >= kept
                lost = "nothing is lost" if is_whole else "moves are missing; please report this"
                self._draw(match, f"The server is back: all {len(match.moves)} moves are there, {lost}.", PAUSE_S)
            elif not isinstance(heard, wire.Ended):
                self._draw(match, _last_move(match))
            if _is_moment(heard) and not is_killed:
                is_killed, kept = True, len(match.moves)
                self._draw(match, "The plug is pulled: the server is killed in mid-match (kill -9) ...", PAUSE_S)
                restart()
            if isinstance(heard, wire.Ended):
                self._flash(match)
                return match
        return self._display.match

    def _drop(self, before: wire.Snapshot, after: wire.Snapshot) -> None:
        """Let the last mark fall through its column, where marks fall and pictures move."""
        width = after.game.shape[-1]
        cell = after.game.move_cells[after.last] if after.last is not None else -1
        if not self._is_moving or not after.game.gravity or len(after.game.shape) != 2 or cell < 0:
            return
        mark, board = after.position.board[cell], before.position.board
        for place in range(cell % width, cell, width):
            falling = structs.replace(before.position, board=board[:place] + mark + board[place + 1 :], line=[])
            self._draw(structs.replace(before, position=falling, last=None), _last_move(after), FRAME_S)

    def _flash(self, match: wire.Snapshot) -> None:
        """Let the completed line come and go, where pictures move."""
        plain = structs.replace(match, position=structs.replace(match.position, line=[]), last=None)
        for _ in range(FLASHES if self._is_moving and match.position.line else 0):
            self._draw(plain, result_of(match), FLASH_S)
            self._draw(match, result_of(match), FLASH_S)

    def _draw(self, match: wire.Snapshot, sentence: str, seconds: float = 0.0) -> None:
        match = structs.replace(match, you=None, position=structs.replace(match.position, legal=[]))
        watched = Display(World(matches={match.match: match}), shown=match.match, cursor=-1)
        board = draw_board(watched, SIZE[0], self._rows, self._glyphs) or []
        picture = Text("\n").join([Text(words.pairing(match)), Text(sentence, style="bold"), *board, Text()])
        self._show(picture, seconds)


def result_of(match: wire.Snapshot) -> str:
    """Return how the match ended, as who looks on is told."""
    return words.result(structs.replace(match, you=None))


def _last_move(match: wire.Snapshot) -> str:
    if match.last is None:
        return "The first position."
    return f"Move {len(match.moves)}: {labels.move_name(match, match.last)}"


def _read_ahead(lines: Iterable[str], kill: Callable[[], None]) -> Iterator[str]:
    """Yield the lines, and kill the server as the first is read after which it is to be: pictures may be late by then.

    On a busy machine the bots would else have played to the end of the match before half of it is drawn.
    """
    read: SimpleQueue[str | None] = SimpleQueue()

    def read_all() -> None:
        is_killed = False
        try:
            for line in lines:
                if not is_killed and _is_moment(_heard(line)):
                    is_killed = True
                    kill()
                read.put(line)
        except ValueError:
            pass  # they are closed: the demo is over, and the bot has not ended yet
        finally:
            read.put(None)

    Thread(target=read_all, daemon=True).start()
    while (line := read.get()) is not None:
        yield line


def _is_moment(heard: wire.AnyServerMessage | None) -> bool:
    """Tell whether the server may be killed after what was heard: after enough moves, in a match that goes on."""
    if not isinstance(heard, wire.Played) or heard.position is None:
        return False
    return heard.ply >= KILLED_AT_PLY and heard.position.to_move is not None


def _heard(line: str) -> wire.AnyServerMessage | None:
    try:
        return wire.decode_server_message(line)
    except Refusal:
        return None  # the summary at the end is no message
