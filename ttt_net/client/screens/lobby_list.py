"""Make the rows of the lobby: a crowd is folded, filtered by the typed text, and sorted by strength where asked for."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from ttt_net.client import labels, words
from ttt_net.client.commands import Change, Open, Send
from ttt_net.client.display import Display
from ttt_net.client.pages import Entry, Page, Purpose
from ttt_net.client.screens.lobby_offers import (
    AT_ITS_BEST,
    challenge_to,
    free_bots,
    live_match,
    live_of_others,
    own_match,
    waiting_people,
)
from ttt_net.client.screens.screen import Effect, Row, section
from ttt_net.messages import (
    AcceptRequest,
    AnswerRequest,
    ListedPlayer,
    LiveList,
    LiveMatch,
    PlayerInfo,
    PlayerList,
    SeekInfo,
    SeekRequest,
)
from ttt_net.text import clean, counted

PUZZLE = "puzzle"
"""The key of the row that leads to it, and the name of its screen."""
FOLD = "more"
"""The kind of row that unfolds a section."""
LONG_SECTIONS = frozenset({"seek", "bot", "player", "live"})
"""The kinds of rows of which there may be so many that the rest is folded."""
_BUSY = "busy"
_MOST_ROWS = 10
"""A longer section is folded, so that the next one is in sight."""
_ROWS_OF_FOLDED = 8
_OFFER = "A bot plays you at once: press b"
_OFFER_OF_LEVELS = f"{_OFFER}, or 1-8"
"""With a level that it is to play at; the two fit a window of 40 columns."""


def lobby_rows(display: Display, now_ms: int) -> list[Row]:
    """Return all that can be chosen in the lobby; where a filter is on, the rows that have its words."""
    wanted = filter_of(display).lower().split()
    if not wanted:
        return _sections(display, now_ms)
    whole = display.with_page(replace(display.page, unfolded=LONG_SECTIONS | {_BUSY}))
    rows = [row for row in _sections(whole, now_ms) if row.is_heading or _has(row, wanted)]
    found = [row for row, after in zip(rows, [*rows[1:], None], strict=True) if not _is_bare(row, after)]
    return found or [Row((f"Nothing in the lobby has {clean(filter_of(display), labels.MAX_CODE)}.",))]


def filter_of(display: Display) -> str:
    """Return the words that the rows must have, as they are being typed or have been."""
    return display.typed if display.entry is Entry.FILTER else display.page.filter


def filter_begun(display: Display) -> Effect:
    """Begin to type the filter, or go on with the one that is on."""
    page = replace(display.page, filter="", row="", place=0)
    return replace(display.with_page(page), entry=Entry.FILTER, typed=display.page.filter), ()


def order_changed(display: Display) -> Effect:
    """Put the strongest first, or go back to the usual order."""
    return display.with_page(replace(display.page, is_by_strength=not display.page.is_by_strength, row="", place=0)), ()


def _has(row: Row, wanted: Sequence[str]) -> bool:
    text = " ".join(row.cells).lower()
    return all(word in text for word in wanted)


def _is_bare(row: Row, after: Row | None) -> bool:
    """Tell whether a row is a heading with nothing under it."""
    return row.is_heading and (after is None or after.is_heading)


@dataclass(frozen=True, slots=True)
class _Crowd:
    """How a long section is shown on a page: how much of it, and in which order."""

    page: Page

    def section(self, kind: str, heading: str, rows: Sequence[Row], count: int = 0) -> list[Row]:
        """Return the rows under their heading, the last of a long list folded into one; `count`: how many there are."""
        is_folded = kind not in self.page.unfolded and len(rows) > _MOST_ROWS
        if is_folded and count > len(rows):
            heading += f" ({count})"
        if not is_folded:
            return section(heading, rows)
        rest = f"{len(rows) - _ROWS_OF_FOLDED} more"
        return section(heading, [*rows[:_ROWS_OF_FOLDED], _fold(kind, rest)])

    def busy_bots(self, bots: Sequence[Row]) -> Sequence[Row]:
        """Return the rows of bots that have no time, folded into one if there are several."""
        if len(bots) < 2 or _BUSY in self.page.unfolded:
            return bots
        return [_fold(_BUSY, f"{counted(len(bots), 'bot')} without a free place")]


def _fold(kind: str, text: str) -> Row:
    return Row((text,), f"{FOLD}:{kind}", Change(partial(_unfolded, kind=kind)))


def _unfolded(display: Display, *, kind: str) -> Effect:
    """Show a section whole; the cursor stays where it is, on the first of the rows that come to light."""
    return display.with_page(replace(display.page, unfolded=display.page.unfolded | {kind}, row="")), ()


def _sections(display: Display, now_ms: int) -> list[Row]:
    told, live = display.world.reply(PlayerList), display.world.reply(LiveList)
    players = told.players if told is not None else []
    ours = display.world.you.name if display.world.you is not None else None
    seek, crowd = display.world.seeking, _Crowd(display.page)
    free = free_bots(display, seek) if seek is not None else []
    bots = {each.name: _bot_row(each, seek) for each in _in_order(display, free, _strength_of_bot)} if seek else {}
    waiting = _in_order(display, waiting_people(display), lambda each: each.by.rating or 0)
    named = {ours, *bots, *(each.by.name for each in waiting)}
    others = [each for each in players if each.name not in named]
    offer = _OFFER_OF_LEVELS if any(each.any_level for each in free) else _OFFER
    watched = [live_match(each) for each in _in_order(display, live_of_others(display), _strength_of_match)]
    return [
        *section(
            "Your matches", [own_match(match) for match in display.world.matches.values() if match.you is not None]
        ),
        *section("Challenges", [*_challenges(display, ours, now_ms), *_invited(display, now_ms)]),
        *crowd.section("seek", "Waiting for an opponent", [_seek_row(each) for each in waiting]),
        *crowd.section("bot", offer, list(bots.values())),
        *_others(display, others, told.online if told is not None else 0),
        *crowd.section("live", "Being played", watched, live.count if live else 0),
        *section("By yourself", _puzzle(display)),
    ]


def _others(display: Display, players: Sequence[ListedPlayer], online: int) -> list[Row]:
    """Return the section of those who are here besides: people first, last the bots that have no time."""
    crowd, sorted_players = _Crowd(display.page), _in_order(display, players, _strength)
    busy = [_player_row(each) for each in sorted_players if _is_busy(each)]
    people = [_player_row(each) for each in sorted_players if each.bot is None]
    bots = [_player_row(each) for each in sorted_players if each.bot is not None and not _is_busy(each)]
    listed, folded = crowd.section("player", "Players", [*people, *bots], online), crowd.busy_bots(busy)
    return [*listed, *folded] if listed else section("Players", folded)


_Listed = TypeVar("_Listed")


def _in_order(display: Display, items: Sequence[_Listed], strength: Callable[[_Listed], int]) -> list[_Listed]:
    """Return the items as they are, or the strongest first if that is wanted."""
    if not display.page.is_by_strength:
        return list(items)
    return sorted(items, key=strength, reverse=True)


def _strength(player: ListedPlayer) -> int:
    return player.rating or player.level or 0


def _strength_of_bot(bot: ListedPlayer) -> int:
    return bot.level or AT_ITS_BEST


def _strength_of_match(match: LiveMatch) -> int:
    return sum(player.rating or 0 for player in match.players)


def _is_busy(player: ListedPlayer) -> bool:
    return player.bot is not None and (player.free == 0 or (player.places is None and player.playing > 0))


def _puzzle(display: Display) -> list[Row]:
    """Return the way to the puzzle of the day, where the server has one."""
    if "puzzle" not in display.world.features:
        return []
    solved = display.achieved.solved
    days = display.achieved.streak(solved[-1]) if solved else 0
    in_a_row = [f"{counted(days, 'day')} in a row up to {solved[-1]}"] if solved else []
    return [Row(("Puzzle of the day", "z", *in_a_row), PUZZLE, Open(Page(PUZZLE)))]


def _challenges(display: Display, ours: str | None, now_ms: int) -> Iterable[Row]:
    for each in display.world.lobby.challenges:
        challenge = each.challenge
        wanted = labels.terms(challenge.game, challenge.time, is_rated=challenge.rated)
        left = labels.duration(each.left_ms(now_ms))
        is_ours = challenge.by.name == ours
        other = labels.label_of(challenge.to if is_ours else challenge.by)
        who = f"you challenged {other}" if is_ours else f"{other} challenges you"
        answer = AnswerRequest(0, challenge=challenge.challenge, accept=not is_ours)
        yield Row((who, wanted, f"{left} left"), f"challenge:{challenge.challenge}", Send(answer))


def _invited(display: Display, now_ms: int) -> Iterable[Row]:
    """Yield the invitation that still waits for a friend, so that its code can be looked up again."""
    invitation = display.world.lobby.invitation
    if invitation is None:
        return
    left_ms = invitation.expires_in_ms - max(0, now_ms - display.world.lobby.invited_at_ms)
    if left_ms > 0:
        wanted = labels.terms(invitation.game, invitation.time, is_rated=False)
        left = f"code {clean(invitation.code, labels.MAX_CODE)}, {labels.duration(left_ms)} left"
        yield Row(("you invited a friend", wanted, left), "invitation:", Open(Page("invitation")))


def _bot_row(bot: ListedPlayer, seek: SeekRequest) -> Row:
    challenge = challenge_to(bot, seek)
    label = labels.full_label(PlayerInfo(bot.name, bot.bot, bot.level))
    about = clean(bot.about or "", words.MAX_ABOUT_CELLS)
    cells = [label]
    if not about or seek.time is not None or seek.rated:  # the game alone is the one that is looked for
        cells.append(labels.terms(challenge.game, challenge.time, is_rated=challenge.rated))
    return Row((*cells, *[about] * bool(about)), f"bot:{bot.name}", Send(challenge))


def _seek_row(seek: SeekInfo) -> Row:
    games = labels.some_games(seek.games)
    how = labels.clock_name(seek.time) if seek.time is not None else "no clock"
    how += f", {labels.RATED_OR_CASUAL}" if seek.rated and seek.or_casual else ", rated" * seek.rated
    if seek.min_rating is not None or seek.max_rating is not None:
        how += f", {seek.min_rating or 0} to {seek.max_rating}" if seek.max_rating else f", from {seek.min_rating}"
    cells, key = (labels.full_label(seek.by), games, how), f"seek:{seek.seek}"
    if len(seek.games) == 1:
        return Row(cells, key, Send(AcceptRequest(0, seek=seek.seek)))
    page = Page("games", about=seek.by.name, purpose=Purpose.CHALLENGE, games=tuple(seek.games))
    return Row(cells, key, Open(page))  # who takes several games is asked for one of them


def _player_row(player: ListedPlayer) -> Row:
    name = labels.full_label(PlayerInfo(player.name, player.bot, player.level, player.rating))
    doing = []
    if player.seeking is not None:
        doing.append(f"seeks {labels.some_games(player.seeking)}")
    if player.playing:
        doing.append(f"plays {counted(player.playing, 'match', 'matches')}")
    if player.places is not None and player.free == 0:
        doing.append("no place free")
    games = tuple(player.seeking or ())
    wanted = f"game:{games[0]}" if len(games) == 1 else ""
    games = games if player.bot is not None else ()  # a person may be asked for any game
    page = Page("games", wanted, about=player.name, purpose=Purpose.CHALLENGE, games=games)
    return Row((name, ", ".join(doing)), f"player:{player.name}", Open(page))
