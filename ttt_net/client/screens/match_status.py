"""Tell what matters at a match beside its board: its title, what waits for us, and whom we could play next."""

from ttt_net.client import labels, words
from ttt_net.client.display import Display
from ttt_net.client.screens.coaching import hint_told, lesson_told
from ttt_net.client.screens.lobby_offers import free_bots, waiting_people
from ttt_net.client.screens.screen import default_prompt
from ttt_net.messages import PlayerInfo, SeekRequest, Snapshot
from ttt_net.text import clean

_YES = {"rematch": "r", "draw": "d", "takeback": "t"}
"""The key that makes or accepts each kind of offer."""
_NO = "x"
_CLAIM, _NEW, _REPLAY = "c", "n", "v"


def title(display: Display) -> str:
    """Return the title of the game."""
    return clean(display.match.game.title, 40) if display.match is not None else ""


def rule(display: Display) -> str:
    """Return the rule of the game in one sentence."""
    return clean(display.match.game.rule, 120) if display.match is not None else ""


def prompt(display: Display, now_ms: int) -> str:
    """Return what waits for us, and the newest notice; if there is neither, whom we could play next."""
    match = display.match
    if match is None:
        return default_prompt(display, now_ms)
    due = waiting(display, match, now_ms)  # first: what is said must not hide it
    said = " ".join(filter(None, [due, default_prompt(display, now_ms)]))
    taught = _taught(display, match)
    if match.outcome is not None and not due:  # what else is said at the end hides no lesson
        said = " ".join(filter(None, [said, taught]))
    return said or taught or _next_opponent(display, match)


def _taught(display: Display, match: Snapshot) -> str:
    """Return what a coach says of the position on the board, or of a match that is over."""
    back = f"{pressed(_YES['takeback'], display)} asks to take it back."
    return hint_told(display, match, back) or lesson_told(display, match, f"{_REPLAY} shows it.")


def _next_opponent(display: Display, match: Snapshot) -> str:
    """Return what can be said, at a board where we do not play, of whom we could play next."""
    if display.is_live:
        return ""
    if display.world.seeking is not None:
        return _looking(display.world.seeking, has_bots=free_bots(display, display.world.seeking) != [])
    people = waiting_people(display) if match.outcome is not None else []
    return _somebody_waits(people[0].by) if people else ""


def _looking(seek: SeekRequest, *, has_bots: bool) -> str:
    """Return whom we look for, and how to play a bot instead if one is free."""
    return f"Looking for {words.WELCOME_TO[seek.opponents]}{'; b plays a bot.' if has_bots else ' ...'}"


def _somebody_waits(player: PlayerInfo) -> str:
    """Return that there is a person in the lobby to be played."""
    return f"Esc: {labels.name_of(player)} waits for an opponent."


def waiting(display: Display, match: Snapshot, now_ms: int) -> str:
    """Return what waits for us at the match that is shown, with the key for it: an offer, another match, a claim."""

    def answer(kind: str) -> str:
        return f"press {pressed(_YES[kind], display)} to accept, {pressed(_NO, display)} to decline"

    offers = words.offers(match, answer)
    other = words.elsewhere(display.elsewhere, pressed(_NEW, display))
    return (
        offers
        or other
        or words.absence(display.world, match, display.claim_in_ms(now_ms), f"press {pressed(_CLAIM, display)}")
    )


def pressed(key: str, display: Display) -> str:
    """Return the key as it is to be pressed now: in upper case where moves begin with its letter."""
    return key.upper() if key in beginnings(display) else key


def may_name_move(display: Display) -> bool:
    """Tell whether a move may be written: elsewhere every key after the first would be lost in it."""
    return display.match is not None and display.match.outcome is None and not display.is_watched


def beginnings(display: Display) -> set[str]:
    """Return the letters that our moves in the shown match begin with, while it goes on."""
    if display.match is None or not may_name_move(display):
        return set()
    return {name[:1].lower() for name in display.match.game.move_names}
