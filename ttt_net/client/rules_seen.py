"""Remember of which games somebody has seen the rules here, in a file beside the identities.

`TTT_NET_RULES=off` lets no page of rules come by itself.
"""

import json
import os
from contextlib import suppress

from ttt_net.client.screens.rules import game_family
from ttt_net.private_files import write_private
from ttt_net.sdk import identity

FILE = "rules_seen.json"
VARIABLE = "TTT_NET_RULES"
_MAX_GAMES = 100
_MAX_NAME = 40


def is_first_match_of(game: str) -> bool:
    """Tell whether the rules of the game have not been shown here before, and remember that they are now.

    A disk that refuses means only that they are shown again.
    """
    if os.environ.get(VARIABLE) == "off":
        return False
    family, seen = game_family(game)[:_MAX_NAME], _games_seen()
    if family in seen:
        return False
    with suppress(OSError):
        write_private(identity.home() / FILE, json.dumps([*seen, family][-_MAX_GAMES:]))
    return True


def _games_seen() -> list[str]:
    try:
        kept = json.loads((identity.home() / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return []
    return [each for each in kept if isinstance(each, str)] if isinstance(kept, list) else []
