"""Remember the progress of the person here in files: puzzles solved, levels beaten, rules seen, unfinished matches.

A disk that refuses means only that it is forgotten. `TTT_NET_RULES=off` lets no page of rules come by itself.
"""

import datetime
import json
import os
import re
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from ttt_net.private_files import write_private
from ttt_net.sdk import identity

FILE = "achievements.json"
FILE_OF_RULES = "rules_seen.json"
FILE_OF_UNFINISHED = "unfinished.json"
RULES_VARIABLE = "TTT_NET_RULES"
MAX_DAYS = 1_000
"""Days with a solved puzzle that are remembered, the newest."""
_MAX_GAMES = 200
_MAX_PLAYERS, _MAX_UNFINISHED = 50, 20
_MAX_FAMILIES = 100
_MAX_NAME = 40
_LEVELS = range(1, 9)
_NONE: Mapping[str, int] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Achievements:
    """Puzzles that were solved, as days in order, and for each game the highest level of a bot that was beaten."""

    solved: tuple[str, ...] = ()
    beaten: Mapping[str, int] = field(default_factory=lambda: _NONE)

    def with_solved(self, day: str) -> "Achievements":
        """Return them with the puzzle of a day."""
        return replace(self, solved=tuple(sorted({*self.solved, day}))[-MAX_DAYS:])

    def with_beaten(self, game: str, level: int) -> "Achievements":
        """Return them with a win at a game against a bot of that level."""
        best = max(level, self.beaten.get(game, 0))
        return replace(self, beaten=MappingProxyType({**self.beaten, game: best}))

    def streak(self, today: str) -> int:
        """Return on how many days in a row puzzles were solved, up to today, or to yesterday while today's is open."""
        try:
            day = datetime.date.fromisoformat(today)
        except ValueError:
            return 0
        one = datetime.timedelta(days=1)
        solved, count = set(self.solved), 0
        if today not in solved:
            day -= one
        while day.isoformat() in solved:
            day, count = day - one, count + 1
        return count


def load_achievements() -> Achievements:
    """Return the achievements that were kept; none where they cannot be read."""
    try:
        kept = json.loads((identity.home() / FILE).read_text(encoding="utf-8"))
        solved = tuple(str(day)[:10] for day in kept["solved"])[-MAX_DAYS:]
        beaten = {str(game)[:_MAX_NAME]: level for game, level in kept["beaten"].items() if level in _LEVELS}
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return Achievements()
    return Achievements(solved, MappingProxyType(beaten))


def save_achievements(achieved: Achievements) -> None:
    """Write them down, if the disk lets us."""
    beaten = dict(list(achieved.beaten.items())[-_MAX_GAMES:])
    with suppress(OSError):
        write_private(identity.home() / FILE, json.dumps({"solved": achieved.solved, "beaten": beaten}))


def is_first_match_of(game: str) -> bool:
    """Tell whether the rules of the game have not been shown here before, and remember that they are now."""
    if os.environ.get(RULES_VARIABLE) == "off":
        return False
    family, seen = game_family(game)[:_MAX_NAME], _families_seen()
    if family in seen:
        return False
    with suppress(OSError):
        write_private(identity.home() / FILE_OF_RULES, json.dumps([*seen, family][-_MAX_FAMILIES:]))
    return True


def game_family(name: str) -> str:
    """Return what games have in common that share a page of rules: their name without the size."""
    return re.sub(r":[^+]*", "", name)


def _families_seen() -> list[str]:
    try:
        kept = json.loads((identity.home() / FILE_OF_RULES).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return []
    return [each for each in kept if isinstance(each, str)] if isinstance(kept, list) else []


def load_unfinished(server: str, name: str) -> tuple[str, ...]:
    """Return the matches that a player had not finished on a server when they were last there."""
    return tuple(_unfinished().get(f"{server} {name}", ()))


def save_unfinished(server: str, name: str, matches: Collection[str]) -> None:
    """Write down the unfinished matches of a player on a server."""
    others = {player: ids for player, ids in _unfinished().items() if player != f"{server} {name}"}
    kept = {**others, f"{server} {name}": sorted(matches)[:_MAX_UNFINISHED]} if matches else others
    with suppress(OSError):
        write_private(identity.home() / FILE_OF_UNFINISHED, json.dumps(dict(list(kept.items())[-_MAX_PLAYERS:])))


def _unfinished() -> dict[str, list[str]]:
    try:
        kept = json.loads((identity.home() / FILE_OF_UNFINISHED).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    players = kept.items() if isinstance(kept, dict) else ()
    return {player: [str(each)[:32] for each in ids] for player, ids in players if isinstance(ids, list)}
