"""The sentences of the pages besides a live match: the lobby and what lies on it, a replay, a chat."""

from collections.abc import Sequence
from functools import lru_cache

from ttt_net.client.display import Display
from ttt_net.client.pages import SPEEDS, TIMES, Kind, Purpose
from ttt_net.client.words import (
    MAX_CODE,
    MAX_SENTENCE_CELLS,
    clock_name,
    full_label,
    label_of,
    mark_of,
    move_name,
    name_of,
    result,
)
from ttt_net.client.world import LinkState
from ttt_net.clock import TimeControl
from ttt_net.errors import Refusal
from ttt_net.messages import (
    MAX_NAME_CELLS,
    AnalysedMove,
    Challenged,
    Chatted,
    Opponents,
    Phrase,
    PlayerInfo,
    SeekRequest,
    Snapshot,
)
from ttt_net.text import clean

MAX_GAMES = 2


def game_name(name: str) -> str:
    """Return a game's name as it may be shown, whoever sent it."""
    return clean(name, 40) or "?"


@lru_cache(maxsize=256)
def title_and_rule(name: str) -> tuple[str, str]:
    """Return the title and the rule of a game, or its name alone if only a newer server knows it."""
    from ttt_net.games import find_game  # the first picture does not wait for the rules

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


def large_code(code: str) -> list[str]:
    """Return an invitation code to be read out from across the room."""
    letters = clean(code, MAX_CODE)
    rule = "+---" * len(letters) + "+"
    return [rule, "".join(f"| {letter} " for letter in letters) + "|", rule]


def join_link(display: Display, code: str) -> str:
    """Return where a friend's browser accepts an invitation."""
    return f"{_site(display)}/j/{clean(code, MAX_CODE)}"


def match_link(display: Display, match: Snapshot) -> str:
    """Return where browsers see a match; the link to a private one has its code."""
    code = f"#{clean(match.code, MAX_CODE)}" if match.code else ""
    return f"{_site(display)}/m/{clean(match.match, 32)}{code}"


def _site(display: Display) -> str:
    return f"{'https' if display.world.is_secure else 'http'}://{display.world.reachable or display.world.address}"


def terms(game: str, time: TimeControl | None, *, is_rated: bool) -> str:
    """Return what is to be played, and how: `connect4, 3+2, rated`."""
    parts = [title_of(game) if game else "any game"]
    if time is not None:
        parts.append(clock_name(time))
    return ", ".join([*parts, *["rated"] * is_rated])


def challenged(challenge: Challenged) -> str:
    """Return that we are challenged."""
    wanted = terms(challenge.game, challenge.time, is_rated=challenge.rated)
    return f"{label_of(challenge.by)} challenges you: {wanted}."


def challenge_over(challenge: Challenged, reason: str) -> str:
    """Return what became of a challenge of ours that led to no match."""
    return f"{label_of(challenge.to)} {_DECLINED.get(reason, 'declined')}."


_DECLINED = {
    "later": "would rather play later",
    "another_game": "would rather play another game",
    "another_time": "would rather play with another clock",
    "no_bots": "plays no bots at the moment",
    "expired": "did not answer in time",
    "gone": "has gone",
}


def step(display: Display, match: Snapshot) -> str:
    """Return where a replay is: which move, and how it ended if it is the last."""
    replayed = display.replay
    last = len(replayed.positions) - 1 if replayed is not None else 0
    ply = len(match.moves)
    name = f": {move_name(match, match.moves[-1])}" if match.moves else ""
    end = f"  {result(match)}" if ply == last else ""
    return f"Move {ply} of {last}{name}.{end}"


_TITLES = {
    Kind.LOBBY: "Lobby",
    Kind.GAMES: "Choose a game",
    Kind.INVITATION: "Invitation",
}


def title_of_page(display: Display) -> str:
    """Return what a page besides a match is called."""
    page = display.page
    if page.kind is Kind.GAMES and page.purpose is Purpose.CHALLENGE:
        return f"Challenge {clean(page.about, MAX_NAME_CELLS)}"
    if page.kind is Kind.GAMES and page.purpose is Purpose.INVITE:
        return "Invite a friend"
    if page.kind is Kind.PROFILE:
        told = display.world.lobby.profile
        return full_label(told.player) if told is not None else "Profile"
    if page.kind is Kind.HISTORY:
        history = display.world.lobby.history
        return f"Matches of {name_of(history.player)}" if history is not None else "Matches"
    if page.kind is Kind.LEADERS:
        return f"The best at {title_of(page.about)}, {SPEEDS[page.time]}"
    if not display.has_lobby:
        return "ttt_net"
    return _TITLES.get(page.kind, "")


def status_of_page(display: Display) -> str:
    """Return in one sentence what is the matter on a page besides a match."""
    if not display.has_lobby:
        return "Setting up the board ..."
    if display.page.kind is Kind.GAMES:
        time = TIMES[display.page.time]
        kind = "" if display.page.purpose is Purpose.INVITE else f"   Rated: {'yes' if display.page.is_rated else 'no'}"
        return f"Clock: {clock_name(time) if time is not None else 'none'}{kind}"
    if display.page.kind is Kind.LEADERS:
        told = display.world.lobby.leaders
        return f"Your rank: {told.you}" if told is not None and told.you is not None else ""
    if display.page.kind is Kind.LOBBY and display.is_arriving and display.world.link is LinkState.ONLINE:
        return "One moment ..."
    if display.page.kind is Kind.INVITATION and display.world.lobby.invitation is not None:
        return "Waiting for your friend ..."
    if display.page.kind is Kind.LOBBY and display.world.link is LinkState.ONLINE and display.world.seeking is None:
        return (
            f"Welcome, {name_of(display.world.you)}. p finds you an opponent." if display.world.you is not None else ""
        )
    if display.world.seeking is not None:
        return sought(display.world.seeking)
    return f"Connecting to {display.world.address} ..." if display.world.link is LinkState.CONNECTING else ""


_WELCOME: dict[Opponents, str] = {"any": "an opponent", "people": "a person", "bots": "a bot"}


def sought(seek: SeekRequest) -> str:
    """Return whom we look for, and what to play."""
    wanted = terms(", ".join(map(title_of, seek.games)), seek.time, is_rated=seek.rated)
    return f"Looking for {_WELCOME[seek.opponents]}: {wanted} ..."


def looking(seek: SeekRequest, *, has_bots: bool) -> str:
    """Return whom we look for, and how to play a bot instead if one is free."""
    return f"Looking for {_WELCOME[seek.opponents]}{'; b plays a bot.' if has_bots else ' ...'}"


def somebody_waits(player: PlayerInfo) -> str:
    """Return that there is a person in the lobby to be played."""
    return f"Esc: {name_of(player)} waits for an opponent."


def no_bot(seek: SeekRequest) -> str:
    """Return that no bot can be had for what is sought."""
    return f"No bot is free for {some_games(seek.games)} now."


def verdict(display: Display, match: Snapshot) -> str:
    """Return what an engine says of the move that a replay is at; nothing as long as it has said nothing."""
    analysis, ply = display.world.lobby.analysis, len(match.moves)
    if analysis is None or analysis.match != match.match or not match.moves:
        return ""
    moves = {each.ply: each for each in analysis.moves}
    if (move := moves.get(ply)) is None:
        return ""
    mover, other = mark_of(match, move.side % 2), mark_of(match, 1 - move.side % 2)
    result = {1: f"{mover} wins", 0: "a draw", -1: f"{other} wins"}.get(move.value, "")
    if move.score is not None:
        result = f"about {move.score:+.1f} for {mover}"
    turn = f" {turning_point(move, moves.get(ply - 1))}" if move.turning and move.best else ""
    return f"With best play from here: {result}.{turn}"


def turning_point(move: AnalysedMove, before: AnalysedMove | None) -> str:
    """Return what a move gave away, by what the one before it had left, and which moves did not."""
    best = " or ".join(clean(name, 12) for name in move.best[:4])
    if move.value == 0:
        return f"A missed win; {best} won."
    if before is None or before.score is not None:
        return f"A blunder; {best} was better."
    had = before.value if before.side == move.side else -before.value
    return f"A blunder; {best} {'won' if had > 0 else 'held the draw'}."


PHRASES: tuple[Phrase, ...] = (
    *("hello", "good_luck", "well_played", "good_game"),
    *("thanks", "sorry", "oops", "one_moment"),
)
"""What can be said with one digit, in the order of the digits."""


def phrases() -> list[str]:
    """Return each phrase with its digit."""
    return [f"{number} {phrase_in_words(phrase)}" for number, phrase in enumerate(PHRASES, start=1)]


def phrase_in_words(phrase: Phrase) -> str:
    """Return a phrase as it is typed."""
    return phrase.replace("_", " ")


def phrase_of(text: str) -> Phrase | None:
    """Return the phrase that was typed in full, whatever the case and the marks at its end; None for other words."""
    typed = text.strip(" .!").lower()
    return next((phrase for phrase in PHRASES if phrase_in_words(phrase) == typed), None)


def whom_to_mute(display: Display) -> list[str]:
    """Return whom one can mute, each with the digit for it: everybody, then those who have talked."""
    names = [f"{number}: {clean(name, MAX_NAME_CELLS)}" for number, name in enumerate(display.talkers, start=2)]
    is_muted = [name in display.muted for name in display.talkers]
    said = [f"{name} (muted)" if mute else name for name, mute in zip(names, is_muted, strict=True)]
    return ["Mute", f"1: everybody{' (muted)' * display.is_deaf}", *said]


def chatted(told: Chatted) -> str:
    """Return what somebody said, and who."""
    return f"{name_of(told.by)}: {clean(told.text, MAX_SENTENCE_CELLS)}"
