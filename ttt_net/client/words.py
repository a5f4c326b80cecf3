"""Format names, marks, moves, clocks and times consistently, and write the sentences that describe a display.

Every renderer uses these words. Text from peers is cleaned here again: servers clean it too, but not every server is
honest.
"""

import re
import textwrap
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache

from ttt_net.client.display import Display
from ttt_net.client.world import LinkState, World
from ttt_net.clock import TimeControl, grace_ms
from ttt_net.command_line import PLAY
from ttt_net.errors import Closing, Refusal
from ttt_net.games import find_game
from ttt_net.games.rules import ELO, find_rules
from ttt_net.messages import (
    MAX_NAME_CELLS,
    Challenged,
    Chatted,
    InvitationReply,
    Opponents,
    PlayerInfo,
    PlayerList,
    Sanctioned,
    SeekRequest,
    Snapshot,
)
from ttt_net.networks import is_address, is_loopback, is_private
from ttt_net.text import clean, counted

MAX_MARKS = 4
MAX_CODE = 12
MAX_GAMES = 2
"""The maximal number of sought games to name."""
_RESTART_MS = 20_000
"""A restart takes no longer than this; then something else is wrong."""
_LATENCIES = ((100, "good"), (300, "fair"))
_ORIGIN = re.compile(r"^(?:[XO]|[a-z]+[0-9]+)(?=[a-z])")
"""The mark, or the cell from which a piece moves, at the beginning of the name of a move."""
TENTHS_BELOW_MS = 10_000
"""A clock shows tenths of a second below this."""
RATED_OR_CASUAL = "rated or casual"
"""The kind of a seek that accepts rated and casual matches."""


def name_of(player: PlayerInfo) -> str:
    """Return the cleaned name."""
    return clean(player.name, MAX_NAME_CELLS) or "?"


def label_of(player: PlayerInfo) -> str:
    """Return the name with its bot mark."""
    return f"{name_of(player)} [bot]" if player.bot is not None else name_of(player)


def full_label(player: PlayerInfo) -> str:
    """Return the name with the bot mark, the level of a bot, and the rating."""
    label = name_of(player)
    if player.bot is not None:
        label += f" [bot, level {player.level}]" if player.level is not None else " [bot]"
    number = rating(player.rating, is_provisional=player.provisional)
    return f"{label} {number}".rstrip()


def rating(number: int | None, *, is_provisional: bool) -> str:
    """Return a rating in digits, with a question mark while it is provisional."""
    return "" if number is None else f"{number}{'?' * is_provisional}"


def opponent_of(match: Snapshot) -> PlayerInfo:
    """Return the player on the other side."""
    return match.players[1 - (match.you or 0)]


def mark_of(match: Snapshot, side: int) -> str:
    """Return the mark of a side as one visible character, or the marks that it may choose from: `X/O`."""
    return "/".join(clean(match.position.marks[side], MAX_MARKS).replace(" ", "")) or "?"


def move_name(match: Snapshot, move: int) -> str:
    """Return the name of a move."""
    return clean(match.game.move_names[move], 12) or "?"


def cell_name(match: Snapshot, cell: int) -> str:
    """Return the name of a move in a cell, without its mark or the cell that it comes from."""
    game = match.game
    names = (name for place, name in zip(game.move_cells, game.move_names, strict=True) if place == cell)
    return clean(_ORIGIN.sub("", next(names, "")), 12) or "?"


def game_name(name: str) -> str:
    """Return the cleaned name of a game."""
    return clean(name, 40) or "?"


@lru_cache(maxsize=256)
def title_and_rule(name: str) -> tuple[str, str]:
    """Return the title and the rule of a game, or only its name if this client does not know it."""
    try:
        game = find_game(name)
    except Refusal:
        return game_name(name), ""
    return game.title, game.rule


def title_of(name: str) -> str:
    """Return the title of a game."""
    return title_and_rule(name)[0]


LADDER = (1, 3, 5, 6, 8)
"""The levels of the house bots, from Mia to Sophia."""
_FURTHER = {
    6: "Look for your opponent's best answer before you move.",
    8: "Compare two moves, and look at both to the end.",
}
"""The advice for steps of the ladder at which the tips of a game are known."""


def next_step(game: str, level: int) -> str:
    """Return the next step of the ladder of a game after a beaten level, and what to learn for it; empty at its top.

    It says how much stronger the next level is in that game, if that has been measured.
    """
    step = next((each for each in LADDER if each > level), None)
    if step is None:
        return ""
    tips: tuple[str, ...] = ()
    with suppress(Refusal):
        tips = find_rules(game).tips
    of_game = tips[LADDER.index(step) - 1 :][:1]
    elo = ELO.get(game)
    by = f", about {elo[step - 1] - elo[level - 1]} points stronger" if elo else ""
    return f"Next: level {step}{by}. {of_game[0] if of_game else _FURTHER.get(step, '')}".rstrip()


def some_games(names: Sequence[str]) -> str:
    """Return the first games of a list, and the number of others."""
    shown = ", ".join(map(title_of, names[:MAX_GAMES])) or "any game"
    return shown if len(names) <= MAX_GAMES else f"{shown} and {len(names) - MAX_GAMES} more"


def terms(game: str, time: TimeControl | None, *, is_rated: bool) -> str:
    """Return the game, the clock and the kind in words: `Connect Four, 3+2, rated`."""
    return _terms([title_of(game) if game else "any game"], time, is_rated=is_rated)


def _terms(titles: Sequence[str], time: TimeControl | None, *, is_rated: bool) -> str:
    clock = [clock_name(time)] if time is not None else []
    return ", ".join([*titles, *clock, *["rated"] * is_rated])


def clock_name(time: TimeControl) -> str:
    """Return a time control as players type it: minutes and seconds, `3+2`."""
    return f"{time.initial_ms / 60_000:g}+{time.increment_ms / 1000:g}"


def clock_face(left_ms: int) -> str:
    """Return the time left as m:ss, with tenths in the last ten seconds."""
    if left_ms < TENTHS_BELOW_MS:
        return f"0:{left_ms // 1000:02}.{left_ms % 1000 // 100}"
    minutes, seconds = divmod(left_ms // 1000, 60)
    return f"{minutes}:{seconds:02}" if minutes < 60 else f"{minutes // 60}:{minutes % 60:02}:{seconds:02}"


def duration(ms: int) -> str:
    """Return a duration with a rounded unit: `4 s`, `2 min`, `3 h`, `5 d`."""
    seconds = max(0, ms) // 1000
    for unit, size in (("d", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size or (unit != "min" and seconds >= size):
            return f"{seconds // size} {unit}"
    return f"{seconds} s"


def latency(latency_ms: int | None) -> str:
    """Return the latency as a number and a word; empty while it is unknown."""
    if latency_ms is None:
        return ""
    word = next((word for limit_ms, word in _LATENCIES if latency_ms < limit_ms), "slow")
    return f"{latency_ms} ms, {word}"


def company_hint(display: Display, width: int) -> list[str]:
    """Return how to get an opponent when nobody else seeks one, broken between words."""
    seek = display.world.seeking
    if display.world.is_hosting:
        address = display.world.reachable or display.world.address
        whom = (
            "Only this machine can join" if is_loopback(address.rpartition(":")[0]) else "Friends on this network join"
        )
        lines = [f"{whom} with:", f"{PLAY} {typed_address(display)}", f"or in a browser: {_site(display)}/"]
    elif seek is not None and display.world.reply(PlayerList) is not None:  # until then, the players are unknown
        time = f" --time {clock_name(seek.time)}" if seek.time is not None else ""
        bot = f"{PLAY} {typed_address(display)} --bot alphabeta{time}"
        lines = ["No opponent? Seat a bot from another terminal:", bot]
    else:
        return []
    return [part for line in lines for part in textwrap.wrap(line, width, break_on_hyphens=False)]


def typed_address(display: Display) -> str:
    """Return the server as others type it after the client's command, with the option for trusting its certificate."""
    address = display.world.reachable or display.world.address
    if display.world.is_secure:
        fingerprint = display.world.trust.fingerprint
        return f"wss://{address}{f' --tls-fingerprint {fingerprint}' if fingerprint else ''}"
    host = address.rpartition(":")[0]
    is_open = display.world.trust.is_insecure or (is_address(host) and not is_private(host))
    return f"{address} --insecure" if is_open else address


def join_command(display: Display, code: str) -> str:
    """Return the command with which a friend accepts an invitation."""
    return f"{PLAY} {typed_address(display)} --join {clean(code, MAX_CODE)}"


def invitation(display: Display, told: InvitationReply) -> str:
    """Return the code, and the command with it for a friend."""
    return f"Your code is {clean(told.code, MAX_CODE)}. A friend joins with: {join_command(display, told.code)}"


def join_link(display: Display, code: str) -> str:
    """Return the link with which a friend accepts an invitation in a browser."""
    return f"{_site(display)}/j#{clean(code, MAX_CODE)}"


def match_link(display: Display, match: Snapshot) -> str:
    """Return the web link to a match; for a private match, it contains the code."""
    code = f"#{clean(match.code, MAX_CODE)}" if match.code else ""
    return f"{_site(display)}/m/{clean(match.match, 32)}{code}"


def _site(display: Display) -> str:
    return f"{'https' if display.world.is_secure else 'http'}://{display.world.reachable or display.world.address}"


_HOW = {
    "line": "{winner} completed a line",
    "resign": "{loser} resigned",
    "time": "{losers} time ran out",
    "abandon": "{loser} left the match",
    "forfeit": "{loser} did not move in time",
}
FINISH_FIRST = "Finish this match first, or leave it."
"""The reply to a player who seeks an opponent during a match."""
OPENING_PLIES = 2
"""Matches with fewer moves can still be aborted."""
RATED_PLIES = 4
"""A rated match with fewer moves is aborted if it ends in any way other than on the board."""
MAX_SENTENCE_CELLS = 160
MAX_NOTE_CELLS = 80
MAX_NOTICE_CELLS = 400
"""Enough for a complete command to join, with a fingerprint and a long name."""
MAX_ABOUT_CELLS = 60


def pairing(match: Snapshot) -> str:
    """Return who plays whom at which game; at one keyboard, players without names are called by their marks."""
    marks = (mark_of(match, 0), mark_of(match, 1))
    sides = (
        mark if name_of(player) == mark else f"{label_of(player)} ({mark})"
        for player, mark in zip(match.players, marks, strict=True)
    )
    return f"{clean(match.game.title, 30)}: {' against '.join(sides)}."


def result(match: Snapshot, *, is_shared: bool = False) -> str:
    """Return how the match ended from our view; if two people share a keyboard, from a neutral view."""
    outcome = match.outcome
    if outcome is None:
        return ""
    if outcome.fault is not None:
        return f"The match was called off: {clean(outcome.fault, MAX_SENTENCE_CELLS)}. It does not count."
    if outcome.reason == "abort":
        return "The match was called off; it does not count."
    if outcome.winner is None and outcome.reason == "forfeit":
        return "Nobody won: neither player appeared."
    if outcome.winner is None:
        return "A draw, by agreement." if outcome.reason == "agreement" else "A draw."
    if match.you is None or is_shared:
        return _result_of_others(match, outcome.winner, outcome.reason)
    has_won = outcome.winner == match.you
    opponent = name_of(opponent_of(match))
    if outcome.reason == "line" and match.position.line_by == 1 - outcome.winner:
        how = f"{opponent} completed a line and loses" if has_won else "you completed a line and lose"
        return f"{'You won' if has_won else 'You lost'}: {how}."
    winner, loser, losers = ("you", opponent, f"{opponent}'s") if has_won else (opponent, "you", "your")
    how = _how(match, outcome.reason, winner, loser, losers)
    return f"{'You won' if has_won else 'You lost'}{': ' if how else ''}{how}."


def _result_of_others(match: Snapshot, side: int, reason: str) -> str:
    winner, loser = name_of(match.players[side]), name_of(match.players[1 - side])
    how = _how(match, reason, winner, loser, f"{loser}'s")
    if reason == "line" and match.position.line_by == 1 - side:
        how = f"{loser} completed a line and loses"
    return f"{winner} won{': ' if how else ''}{how}."


def _how(match: Snapshot, reason: str, winner: str, loser: str, losers: str) -> str:
    """Return the sentence of a reason, built-in or of the game. Foreign sentences are never used as format strings."""
    sentence = _HOW.get(reason) or clean((match.game.endings or {}).get(reason, ""), MAX_SENTENCE_CELLS)
    return sentence.replace("{winner}", winner).replace("{losers}", losers).replace("{loser}", loser)


def counters(match: Snapshot) -> list[str]:
    """Return the numbers beside the board, a line for each name: `Pairs: X 1 of 5, O 0 of 5`."""
    said: dict[str, list[str]] = {}
    for counter in match.position.counters or ():
        of = "" if counter.side is None else f"{mark_of(match, counter.side)} "
        goal = "" if counter.goal is None else f" of {counter.goal}"
        said.setdefault(clean(counter.name, 20) or "?", []).append(f"{of}{counter.value}{goal}")
    return [f"{name[:1].upper()}{name[1:]}: {', '.join(parts)}" for name, parts in said.items()]


def demands(match: Snapshot, takeover: str) -> str:
    """Return what the position requires of the side to move, as an addition to the prompt.

    `takeover` is the key or word for taking over the first move.
    """
    position = match.position
    if position.to_move is None:
        return ""
    said = ""
    if position.target is not None:
        said += f" in board {position.target.board}, {clean(position.target.name, 20) or '?'}"
    if position.vanishing is not None:
        said += f"; {cell_name(match, position.vanishing)} vanishes"
    if position.takeover is not None:
        said += f", or take over {mark_of(match, 1 - position.to_move)} ({takeover})"
    texts = (clean(note.text, MAX_NOTE_CELLS) for note in position.notes or ())
    return said + "".join(f"; {text}" for text in texts if text)


def _placed(match: Snapshot) -> str:
    """Return what we place: `place X`. Empty in games with pieces, whose moves may turn or take others, or pass."""
    mark = mark_of(match, match.you or 0).replace("/", " or ")
    return "" if match.game.pieces else f"place {mark}"


def status(display: Display, takeover: str = "Tab") -> str:
    """Return the state of the match in one sentence; empty without a match.

    `takeover` is the key or word for taking over the first move.
    """
    match = display.match
    if match is None:
        return ""
    if match.outcome is not None:
        ended = result(match, is_shared=display.world.is_shared)
        return ended if display.world.seeking is None else f"{ended} Waiting for a new opponent ..."
    if match.adjourned:
        return "Adjourned: the match continues when both players are here."
    if display.under_way is not None:
        return f"Your move {move_name(match, display.under_way.move)} is on its way ..."
    if display.is_my_turn:
        placed = _placed(match)
        if display.world.is_shared:
            name = name_of(match.players[match.you or 0])
            # players without names are called by their marks
            what = "" if name == mark_of(match, match.you or 0) else f": {placed}" * bool(placed)
            return f"{name} to move{what}{demands(match, takeover)}."
        return f"Your turn{f': {placed}' * bool(placed)}{demands(match, takeover)}."
    if match.position.to_move is None:
        return ""  # the last move has arrived, and the end is about to follow
    mover = match.players[match.position.to_move]
    if not match.present[match.position.to_move] and display.has_lobby:
        return f"{label_of(mover)} is to move, and away."
    where = "" if match.position.takeover is not None else demands(match, takeover)
    return f"{label_of(mover)} is {'thinking' if mover.bot is not None else f'to move{where}'} ..."


def banner(display: Display, lost_for_ms: int | None = None) -> str:
    """Return the problem of the connection, its duration, and its meaning for the match; empty without problems."""
    since = "" if lost_for_ms is None else f" for {duration(lost_for_ms)}"
    if display.world.link is LinkState.LOST and display.world.trouble == Closing.ENDED.meaning:
        kept = "; your match is kept" if display.is_live else ""
        return f"{_sentence(display.world.trouble)[:-1]}{kept}. Reconnecting{since}."
    if display.world.link is LinkState.LOST:
        safe = "your match is safe" if display.is_live else "please wait"
        why = _sentence(_trouble(display.world, lost_for_ms))
        return f"Reconnecting{since}, try {display.world.attempt}: {safe}. {why}"
    if display.world.link is LinkState.CONNECTING and display.world.attempt > 0:
        why = f". {_sentence(display.world.trouble)}" if display.world.trouble else " ..."
        return f"No answer from {display.world.address}, try {display.world.attempt}{why}"
    return ""


def _trouble(world: World, lost_for_ms: int | None) -> str:
    """Return why there is no connection: after a while, a server that restarts is one that has not come back."""
    if world.trouble != Closing.RESTART.meaning:
        return world.trouble
    is_late = lost_for_ms is not None and lost_for_ms > _RESTART_MS
    return "the server has not come back from its restart" if is_late else "the server is restarting"


def guests_left(world: World) -> str:
    """Return the question before a player leaves their own server while guests are connected."""
    return f"{counted(world.guests, 'other person is', 'other people are')} here; end the server?"


def short_banner(display: Display, lost_for_ms: int | None) -> str:
    """Return the most important part of a banner, for a narrow window; empty without problems."""
    if display.world.link is LinkState.CONNECTING and display.world.attempt > 0 and display.world.trouble:
        return f"{_sentence(display.world.trouble)} Try {display.world.attempt}"
    if display.world.link is not LinkState.LOST:
        return banner(display)
    if display.world.trouble == Closing.ENDED.meaning:
        return _sentence(display.world.trouble)
    safe = "Your match is safe" if display.is_live else "Please wait"
    return f"{safe}: reconnecting, {duration(lost_for_ms or 0)}"


_THEIRS = {"takeback": "asks to take a move back"}
_OURS = {"takeback": "asked to take a move back"}


def offers(match: Snapshot, answer: Callable[[str], str]) -> str:
    """Return the open offers; `answer` gives the key or word for each kind of offer."""
    said = []
    for offer in match.offers:
        opponent = name_of(match.players[offer.side])
        if offer.side == match.you:
            said.append(f"You {_OURS.get(offer.kind, f'offered a {offer.kind}')}.")
        else:
            wish = f"{opponent} {_THEIRS.get(offer.kind, f'offers a {offer.kind}')}"
            said.append(f"{wish}." if match.you is None else f"{wish}: {answer(offer.kind)}.")
    return " ".join(dict.fromkeys(said))


def declined(kind: str) -> str:
    """Return that the opponent declined our offer."""
    return "They do not allow take-backs." if kind == "takeback" else f"Your {kind} offer was declined."


def absence(world: World, match: Snapshot, claim_in_ms: int | None, claim: str) -> str:
    """Return that the opponent is away, and when the match may be claimed; empty if they are connected.

    `claim` is the key or word for claiming. Without a connection, nothing is known about the opponent.
    """
    is_known = world.link is LinkState.ONLINE and match.you is not None and match.outcome is None
    if not is_known or match.you is None or match.present[1 - match.you]:
        return ""
    opponent = name_of(opponent_of(match))
    if match.tournament is not None:
        return f"{opponent} is away; the clock goes on."
    if claim_in_ms is None or match.adjourned:
        return f"{opponent} is away."
    gain = "call off the match" if is_too_short(match) else "claim the win"
    if claim_in_ms > 0:
        return f"{opponent} is away: in {-(-claim_in_ms // 1000)} s, {claim} to {gain}."
    return f"{opponent} is away: {claim} to {gain}."


def is_too_short(match: Snapshot) -> bool:
    """Tell whether the server calls off a rated match that ends now, instead of rating it."""
    return match.rated and match.tournament is None and match.position.ply < RATED_PLIES


def is_called_off(match: Snapshot) -> bool:
    """Tell whether a match that we end now is called off, and not lost, as it is in a tournament."""
    return match.tournament is None and match.position.ply < (RATED_PLIES if match.rated else OPENING_PLIES)


def begun(match: Snapshot) -> str:
    """Return that a match of ours began while another one is shown."""
    return f"Another match has begun, against {label_of(opponent_of(match))}: {clean(match.game.title, 30)}."


def ended(match: Snapshot) -> str:
    """Return how a match of ours ended while another one is shown."""
    return f"The match against {label_of(opponent_of(match))} is over. {result(match)}"


def elsewhere(match: Snapshot | None, key: str) -> str:
    """Return that it is our turn in another match than the shown one; empty if it is not."""
    return "" if match is None else f"It is your turn against {name_of(opponent_of(match))}, too: {key} goes there."


def series(match: Snapshot, *, is_shared: bool = False) -> str:
    """Return the score of the series of rematches, including this match once it is over.

    For two people at one keyboard, and for watchers (`is_shared`), it uses their names.
    """
    points = list(match.score)
    outcome = match.outcome
    if outcome is not None and outcome.reason != "abort":
        for side in (0, 1):
            points[side] += 0.5 if outcome.winner is None else float(outcome.winner == side)
    first, second = map(name_of, match.players) if is_shared else _told_apart(match)
    return f"{'' if is_shared else 'Score '}{first} {points[0]:g} : {points[1]:g} {second}"


def _told_apart(match: Snapshot) -> tuple[str, str]:
    """Return the marks of the two players, or their names if both place either mark."""
    marks = mark_of(match, 0), mark_of(match, 1)
    return marks if marks[0] != marks[1] else (name_of(match.players[0]), name_of(match.players[1]))


def new_ratings(display: Display, match: Snapshot) -> list[str]:
    """Return how the end of the match changed the ratings, by side; empty if it did not."""
    if display.world.rated is None or display.world.rated.match != match.match:
        return []
    said = []
    for called, change in zip(_told_apart(match), display.world.rated.ratings, strict=True):
        number = rating(change.after, is_provisional=change.provisional)
        said.append(f"{called} {number} ({change.after - change.before:+})")
    return said


def facts(display: Display, match: Snapshot) -> list[str]:
    """Return the facts of a match beside its board: the scores, the watchers, the code."""
    said = counters(match)
    is_shared, is_watched = display.world.is_shared, match.you is None
    if any(match.score) or ((is_shared or is_watched) and match.outcome is not None):
        said.append(series(match, is_shared=is_shared or is_watched))
    tally = display.world.tally
    if tally.games > max(1, sum(match.score) + (match.outcome is not None)) and not is_shared and not is_watched:
        counts = ((tally.won, "won"), (tally.lost, "lost"), (tally.drawn, "drawn"))
        said.append(f"In all: {', '.join(f'{count} {how}' for count, how in counts if count)}")
    if match.rated:
        said.append("Rated")
    if match.private and display.has_lobby:
        said.append("A private match")
    if match.code and match.outcome is None and display.has_lobby:
        said.append(f"Code to watch: {clean(match.code, MAX_CODE)}")
    said += new_ratings(display, match)
    if match.watchers and display.has_lobby:
        said.append(f"{match.watchers} watching")
    return said


def notice(display: Display) -> str:
    """Return the latest notice, cleaned."""
    return clean(display.notice, MAX_NOTICE_CELLS)


def _sentence(text: str) -> str:
    return clean(text[:1].upper() + text[1:], MAX_SENTENCE_CELLS) + "."


def restart(world: World, now_ms: int) -> str:
    """Return the time until the server restarts, and what that means; empty if no restart is announced."""
    left_ms = world.restart_in_ms(now_ms)
    if left_ms is None:
        return ""
    safe = "your match is safe" if world.has_unfinished_match else "no match begins until it is back"
    return f"The server restarts in {duration(left_ms)}; {safe}."


def restarting(world: World) -> str:
    """Return that the server is restarting, and what that means."""
    return f"The server is restarting; {'your match is safe' if world.has_unfinished_match else 'please wait'}."


def does_wait(world: World, match: Snapshot) -> bool:
    """Tell whether a match continues unchanged if we leave it now: it is adjourned, or the opponent is away too."""
    return match.adjourned or (match.you is not None and not match.present[1 - match.you]) or not world.server_goes_on


def claim_after_leaving(match: Snapshot) -> str:
    """Return when the opponent can claim a match that we leave unfinished now."""
    grace_s = grace_ms(match.time, on_purpose=True, earlier=0) // 1000
    gain = "call off the match" if is_too_short(match) else "claim the win"
    return f"{name_of(opponent_of(match))} can {gain} in at most {grace_s} s"


def leaving(world: World, match: Snapshot) -> str:
    """Return the question whether to leave a live match, and the consequence of leaving it unfinished."""
    if match.tournament is not None:
        return "Resign and leave? Or w: leave; the clock goes on, and you can come back."
    how = "Call it off" if is_called_off(match) else "Resign"
    if does_wait(world, match):
        return f"{how} and leave? Or w: leave, and the match waits until you are both back."
    return f"{how} and leave? Or w: leave, and {claim_after_leaving(match)}."


def parting(world: World, command: str) -> str:
    """Return the last sentence of a client that leaves: what happens to the match, and how to return."""
    unfinished = [m for name, m in world.matches.items() if world.has_seat(name) and m.outcome is None]
    if not unfinished:
        return ""
    at_risk = next((match for match in unfinished if not does_wait(world, match)), None)
    if any(match.tournament is not None for match in unfinished):
        return f"You left a match of a tournament: its clock goes on. To continue it:\n  {command}"
    meanwhile = f"You left a match: {claim_after_leaving(at_risk)}." if at_risk else "Your match stays as it is."
    return f"{meanwhile} To continue it:\n  {command}"


def missed(match: Snapshot) -> str:
    """Return that a match of ours ended while we were away."""
    return f"While you were away, your match against {label_of(opponent_of(match))} ended."


def challenged(challenge: Challenged) -> str:
    """Return that we are challenged."""
    wanted = terms(challenge.game, challenge.time, is_rated=challenge.rated)
    return f"{label_of(challenge.by)} challenges you: {wanted}."


def challenge_over(challenge: Challenged, reason: str) -> str:
    """Return why a challenge of ours did not start a match."""
    return f"{label_of(challenge.to)} {_DECLINED.get(reason, 'declined')}."


_DECLINED = {
    "later": "would rather play later",
    "another_game": "would rather play another game",
    "another_time": "would rather play with another clock",
    "no_bots": "plays no bots at the moment",
    "expired": "did not answer in time",
    "gone": "has gone",
}
WELCOME_TO: dict[Opponents, str] = {"any": "an opponent", "people": "a person", "bots": "a bot"}


def sought(seek: SeekRequest) -> str:
    """Return our seek in words."""
    titles = [title_of(game) for game in seek.games] or ["any game"]
    wanted = _terms(titles, seek.time, is_rated=seek.rated and not seek.or_casual)
    wanted += f", {RATED_OR_CASUAL}" * (seek.rated and seek.or_casual)
    return f"Looking for {WELCOME_TO[seek.opponents]}: {wanted} ..."


def chatted(told: Chatted) -> str:
    """Return a chat message with its author."""
    return f"{name_of(told.by)}: {clean(told.text, MAX_SENTENCE_CELLS)}"


_DELETED = "deleted"
"""The name that a server shows for deleted players."""


def renamed(earlier: PlayerInfo, player: PlayerInfo) -> str:
    """Return that another player has changed or deleted their name."""
    if player.name == _DELETED:
        return f"{name_of(earlier)} has deleted their name and ratings here."
    return f"{name_of(earlier)} is now called {name_of(player)}."


def sanctioned(told: Sanctioned) -> str:
    """Return the host's decision about us, what it means, until when, and why."""
    if told.lifted:
        return "Others can see your messages again." if told.act == "mute" else "You may come in again."
    ends = "for good" if told.ends_in_ms is None else f"for {duration(told.ends_in_ms + 999)}"
    reason = clean(told.reason, MAX_SENTENCE_CELLS)
    why = f" Why: {reason}." if reason else ""
    if told.act == "ban":
        return f"The host has banned you {ends}: you cannot play on this server.{why}"
    return f"The host has muted you {ends}: nobody sees your messages, but you can keep playing.{why}"
