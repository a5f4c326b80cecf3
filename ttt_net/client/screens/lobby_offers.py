"""Find what the lobby has to offer: people who wait, free bots, challenges, matches to go on with or to watch."""

import re

from msgspec import structs

from ttt_net.client import labels
from ttt_net.client.commands import Send, Show
from ttt_net.client.display import Display
from ttt_net.client.screens.screen import Row
from ttt_net.messages import (
    Challenged,
    ChallengeRequest,
    JoinRequest,
    ListedPlayer,
    LiveList,
    LiveMatch,
    PlayerList,
    Request,
    SeekInfo,
    SeekList,
    SeekRequest,
    Snapshot,
    WatchRequest,
)

AT_ITS_BEST = 9
"""Where a bot stands that says no level and plays as well as it can: behind all that do."""


MAX_ID = 32
"""The longest id of a match."""


def waiting_people(display: Display) -> list[SeekInfo]:
    """Return what other people seek, who waits the longest first."""
    told = display.world.reply(SeekList)
    seeks = told.seeks if told is not None else []
    ours = display.world.you.name if display.world.you is not None else None
    return [each for each in seeks if each.by.name != ours and each.by.bot is None]


def live_of_others(display: Display) -> list[LiveMatch]:
    """Return the matches that can be watched: ours are not among them, for we have a seat there."""
    told = display.world.reply(LiveList)
    live = told.matches if told is not None else []
    return [each for each in live if not display.world.has_seat(each.match)]


def own_match(match: Snapshot) -> Row:
    """Return the way back to a match of ours, with what waits for us there."""
    if match.outcome is not None:
        state = "it is over"
    elif match.adjourned:
        state = "adjourned"
    else:
        state = "your turn" if match.you == match.position.to_move else "their turn"
    against = labels.label_of(labels.opponent_of(match))
    cells = (labels.title_of(match.game.name), f"against {against}", state)
    return Row(cells, f"own:{match.match}", Show(match.match))


def free_bots(display: Display, seek: SeekRequest) -> list[ListedPlayer]:
    """Return the bots that would play at once what a person seeks here, which is one game; the weakest first.

    Where a level is asked for, one that plays at it as a rule comes before those that play at any. The list of players
    has them as they come and go; of a crowd it is only a part, and the server's suggestion helps.
    """
    players, suggestion, met = display.world.reply(PlayerList), display.world.lobby.suggestion, _just_met(display)
    bots = [each for each in players.players if _plays(each, seek, met)] if players is not None else []
    if suggestion is not None and (players is None or players.online > len(players.players)):
        bots += suggestion.bots
    unique = {bot.name: bot for bot in bots}.values()
    of_other_level = {bot.name: seek.level not in (None, bot.level) for bot in unique}
    return sorted(unique, key=lambda bot: (of_other_level[bot.name], bot.level or AT_ITS_BEST, bot.name))


def _just_met(display: Display) -> tuple[str, str] | None:
    """Return the opponent and the game of our match that is over: a bot may be about to look for the next one."""
    match = display.match
    if match is None or match.you is None or match.outcome is None:
        return None
    return labels.opponent_of(match).name, match.game.name


def _plays(player: ListedPlayer, seek: SeekRequest, met: tuple[str, str] | None) -> bool:
    game = seek.games[0]
    is_of_level = seek.level is None or player.any_level or player.level == seek.level
    if player.bot is None or player.free == 0 or not is_of_level:
        return False
    return (player.name, game) == met if player.seeking is None else not player.seeking or game in player.seeking


def challenge_to(bot: ListedPlayer, seek: SeekRequest) -> ChallengeRequest:
    """Return the challenge of a bot to the game that is sought."""
    level = seek.level if bot.any_level and seek.level != bot.level else None
    # a level that is asked for is never rated, and what is played with bots is played with hints, unless one says more
    rated = seek.rated and not seek.or_casual and level is None
    return ChallengeRequest(0, name=bot.name, game=seek.games[0], time=seek.time, rated=rated, level=level)


def live_match(match: LiveMatch) -> Row:
    """Return a match of others, to look on."""
    first, second = (labels.full_label(structs.replace(each, level=None)) for each in match.players)
    facts = [*["featured"] * match.featured, f"move {match.ply + 1}", *["rated"] * match.rated]
    if match.time is not None:
        facts.append(labels.clock_name(match.time))
    if match.watchers:
        facts.append(f"{match.watchers} watching")
    row = (f"{first} - {second}", labels.title_of(match.game), ", ".join(facts))
    return Row(row, f"live:{match.match}", Send(WatchRequest(0, match=match.match)))


def challenges(display: Display, *, is_ours: bool) -> list[Challenged]:
    """Return the challenges that stand, those that we made or those that wait for our answer; the oldest first."""
    ours = display.world.you.name if display.world.you is not None else None
    standing = (each.challenge for each in display.world.lobby.challenges)
    return [each for each in standing if (each.by.name == ours) is is_ours]


def chosen_bot(display: Display, seek: SeekRequest) -> ListedPlayer | None:
    """Return the chosen bot, or else the one that the server suggests, or the first that plays the games of the seek.

    Where a level is asked for, one that plays at it as a rule comes before one that plays at any.
    """
    bots = free_bots(display, seek)
    chosen = (bot for bot in bots if display.page.row in (f"bot:{bot.name}", f"player:{bot.name}"))
    of_level = (bot for bot in bots if seek.level is not None and bot.level == seek.level)
    return next(chosen, None) or next(of_level, None) or suggested_bot(display, seek) or next(iter(bots), None)


def suggested_bot(display: Display, seek: SeekRequest) -> ListedPlayer | None:
    """Return the first bot of the server's suggestion, the nearest in strength, if it is free still."""
    suggestion = display.world.lobby.suggestion
    names = [bot.name for bot in suggestion.bots] if suggestion is not None else []
    free = {bot.name: bot for bot in free_bots(display, seek)}
    return next((free[name] for name in names if name in free), None)


def no_bot(seek: SeekRequest) -> str:
    """Return that no bot is free for the games that are sought."""
    return f"No bot is free for {labels.some_games(seek.games)} now."


def request_of(text: str) -> Request:
    """Return what a code stands for, or a link to a match: `/j#CODE` and `CODE` join it, `/m/ID#CODE` is to watch."""
    _, is_link, place = text.rpartition("/m/")
    if is_link:
        name, _, code = place.partition("#")
        return WatchRequest(0, match=name[:MAX_ID] or "?", code=code[: labels.MAX_CODE] or None)
    return JoinRequest(0, code=re.split("[/#]", text)[-1].upper()[: labels.MAX_CODE])
