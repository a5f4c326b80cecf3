"""Write one thing the same way wherever it stands: a player, a mark, a move, a game, a clock, a time.

Text from peers is cleaned here once more: the server does so on the way in, and not every server is honest.
"""

from collections.abc import Sequence
from functools import lru_cache

from ttt_net.clock import TimeControl
from ttt_net.errors import Refusal
from ttt_net.games import find_game
from ttt_net.messages import MAX_NAME_CELLS, PlayerInfo, Snapshot
from ttt_net.text import clean

MAX_MARKS = 4
MAX_CODE = 12
MAX_GAMES = 2
"""Of the games that are sought, so many are named."""
_LATENCIES = ((100, "good"), (300, "fair"))
TENTHS_BELOW_MS = 10_000
"""A clock shows tenths of a second below this."""
RATED_OR_CASUAL = "rated or casual"
"""The kind of a seek that accepts both."""


def name_of(player: PlayerInfo) -> str:
    """Return the name as it may be shown."""
    return clean(player.name, MAX_NAME_CELLS) or "?"


def label_of(player: PlayerInfo) -> str:
    """Return the name with its bot mark."""
    return f"{name_of(player)} [bot]" if player.bot is not None else name_of(player)


def full_label(player: PlayerInfo) -> str:
    """Return the name with all that is known of its owner: that it is a bot and of which level, and the rating."""
    label = name_of(player)
    if player.bot is not None:
        label += f" [bot, level {player.level}]" if player.level is not None else " [bot]"
    number = rating(player.rating, is_provisional=player.provisional)
    return f"{label} {number}".rstrip()


def rating(number: int | None, *, is_provisional: bool) -> str:
    """Return a rating as it is written, with a question mark as long as little stands behind it."""
    return "" if number is None else f"{number}{'?' * is_provisional}"


def opponent_of(match: Snapshot) -> PlayerInfo:
    """Return who sits on the other side."""
    return match.players[1 - (match.you or 0)]


def mark_of(match: Snapshot, side: int) -> str:
    """Return the mark of a side, one visible character, or those that it may choose from: `X/O`."""
    return "/".join(clean(match.position.marks[side], MAX_MARKS).replace(" ", "")) or "?"


def move_name(match: Snapshot, move: int) -> str:
    """Return how a move is written."""
    return clean(match.game.move_names[move], 12) or "?"


def cell_name(match: Snapshot, cell: int) -> str:
    """Return how a move in a cell is written, without the mark where a move says that too."""
    game = match.game
    names = (name for place, name in zip(game.move_cells, game.move_names, strict=True) if place == cell)
    return clean(next(names, ""), 12) or "?"


def game_name(name: str) -> str:
    """Return a game's name as it may be shown."""
    return clean(name, 40) or "?"


@lru_cache(maxsize=256)
def title_and_rule(name: str) -> tuple[str, str]:
    """Return the title and the rule of a game, or its name alone if only a newer server knows it."""
    try:
        game = find_game(name)
    except Refusal:
        return game_name(name), ""
    return game.title, game.rule


def title_of(name: str) -> str:
    """Return what people call a game."""
    return title_and_rule(name)[0]


def some_games(names: Sequence[str]) -> str:
    """Return the first games of a list, and how many more there are."""
    shown = ", ".join(map(title_of, names[:MAX_GAMES])) or "any game"
    return shown if len(names) <= MAX_GAMES else f"{shown} and {len(names) - MAX_GAMES} more"


def terms(game: str, time: TimeControl | None, *, is_rated: bool) -> str:
    """Return the game, the clock and the kind in words: `connect4, 3+2, rated`."""
    parts = [title_of(game) if game else "any game"]
    if time is not None:
        parts.append(clock_name(time))
    return ", ".join([*parts, *["rated"] * is_rated])


def clock_name(time: TimeControl) -> str:
    """Return a time control as it is typed: minutes and seconds, `3+2`."""
    return f"{time.initial_ms / 60_000:g}+{time.increment_ms / 1000:g}"


def clock_face(left_ms: int) -> str:
    """Return the time left as m:ss, with tenths in the last ten seconds."""
    if left_ms < TENTHS_BELOW_MS:
        return f"0:{left_ms // 1000:02}.{left_ms % 1000 // 100}"
    minutes, seconds = divmod(left_ms // 1000, 60)
    return f"{minutes}:{seconds:02}" if minutes < 60 else f"{minutes // 60}:{minutes % 60:02}:{seconds:02}"


def duration(ms: int) -> str:
    """Return how long something has taken or will take: `4 s`, `2 min`, `3 h`, `5 d`."""
    seconds = max(0, ms) // 1000
    for unit, size in (("d", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size or (unit != "min" and seconds >= size):
            return f"{seconds // size} {unit}"
    return f"{seconds} s"


def latency(latency_ms: int | None) -> str:
    """Return the way to the server and back as a number and a word; nothing as long as it is not known."""
    if latency_ms is None:
        return ""
    word = next((word for limit_ms, word in _LATENCIES if latency_ms < limit_ms), "slow")
    return f"{latency_ms} ms, {word}"
