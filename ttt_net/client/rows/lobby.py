"""The rows of the lobby: own matches first, then challenges, who waits, free bots, players and what is played."""

from collections.abc import Iterable

from ttt_net.client import page_words, words
from ttt_net.client.commands import Open, Send, Show
from ttt_net.client.display import Display
from ttt_net.client.pages import Kind, Page, Purpose
from ttt_net.client.rows.row import Row, section
from ttt_net.messages import (
    AcceptRequest,
    AnswerRequest,
    ChallengeRequest,
    ListedPlayer,
    LiveMatch,
    PlayerInfo,
    SeekInfo,
    SeekRequest,
    Snapshot,
    WatchRequest,
)
from ttt_net.text import clean, counted

_AT_ITS_BEST = 9
"""Where a bot stands that says no level and plays as well as it can: behind all that do."""


def lobby_rows(display: Display, now_ms: int) -> list[Row]:
    """Return all that can be chosen in the lobby."""
    lobby = display.world.lobby
    players = lobby.players.players if lobby.players is not None else []
    ours = display.world.you.name if display.world.you is not None else None
    seek = display.world.seeking
    bots = {each.name: _bot(each, seek) for each in free_bots(display, seek)} if seek is not None else {}
    others = [each for each in _people_first(players) if each.name != ours and each.name not in bots]
    return [
        *section(
            "Your matches", [own_match(match) for match in display.world.matches.values() if match.you is not None]
        ),
        *section("Challenges", [*_challenges(display, ours, now_ms), *_invited(display, now_ms)]),
        *section("Waiting for an opponent", [_seek(each) for each in waiting_people(display)]),
        *section("A bot plays you at once: press b", list(bots.values())),
        *section("Players", [_player(each) for each in others]),
        *section("Being played", [live_match(each) for each in live_of_others(display)]),
    ]


def waiting_people(display: Display) -> list[SeekInfo]:
    """Return what other people seek, who waits the longest first."""
    seeks = display.world.lobby.seeks.seeks if display.world.lobby.seeks is not None else []
    ours = display.world.you.name if display.world.you is not None else None
    return [each for each in seeks if each.by.name != ours and each.by.bot is None]


def live_of_others(display: Display) -> list[LiveMatch]:
    """Return the matches that can be watched: ours are not among them, for we have a seat there."""
    live = display.world.lobby.live.matches if display.world.lobby.live is not None else []
    return [each for each in live if not display.world.has_seat(each.match)]


def own_match(match: Snapshot) -> Row:
    """Return the way back to a match of ours, with what waits for us there."""
    if match.outcome is not None:
        state = "it is over"
    elif match.adjourned:
        state = "adjourned"
    else:
        state = "your turn" if match.you == match.position.to_move else "their turn"
    against = words.label_of(words.opponent_of(match))
    cells = (page_words.title_of(match.game.name), f"against {against}", state)
    return Row(cells, f"own:{match.match}", Show(match.match))


def _challenges(display: Display, ours: str | None, now_ms: int) -> Iterable[Row]:
    for each in display.world.lobby.challenges:
        challenge = each.challenge
        wanted = page_words.terms(challenge.game, challenge.time, is_rated=challenge.rated)
        left = words.duration(each.left_ms(now_ms))
        is_ours = challenge.by.name == ours
        other = words.label_of(challenge.to if is_ours else challenge.by)
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
        wanted = page_words.terms(invitation.game, invitation.time, is_rated=False)
        left = f"code {clean(invitation.code, words.MAX_CODE)}, {words.duration(left_ms)} left"
        yield Row(("you invited a friend", wanted, left), "invitation:", Open(Page(Kind.INVITATION)))


def free_bots(display: Display, seek: SeekRequest) -> list[ListedPlayer]:
    """Return the bots that would play at once what a person seeks here, which is one game; the weakest first.

    The list of players has them as they come and go; of a crowd it is only a part, and the server's suggestion helps.
    """
    players, suggestion = display.world.lobby.players, display.world.lobby.suggestion
    bots = [each for each in players.players if _plays(each, seek)] if players is not None else []
    if suggestion is not None and (players is None or players.online > len(players.players)):
        bots += suggestion.bots
    return sorted({bot.name: bot for bot in bots}.values(), key=lambda bot: (bot.level or _AT_ITS_BEST, bot.name))


def _plays(player: ListedPlayer, seek: SeekRequest) -> bool:
    is_free = player.bot is not None and player.free != 0 and player.seeking is not None
    return is_free and (not player.seeking or seek.games[0] in player.seeking)


def challenge_to(bot: ListedPlayer, seek: SeekRequest) -> ChallengeRequest:
    """Return what asks a bot for what is sought."""
    return ChallengeRequest(0, name=bot.name, game=seek.games[0], time=seek.time, rated=seek.rated)


def _bot(bot: ListedPlayer, seek: SeekRequest) -> Row:
    challenge = challenge_to(bot, seek)
    label = words.full_label(PlayerInfo(bot.name, bot.bot, bot.level))
    wanted = page_words.terms(challenge.game, challenge.time, is_rated=challenge.rated)
    return Row((label, wanted), f"bot:{bot.name}", Send(challenge))


def _seek(seek: SeekInfo) -> Row:
    games = page_words.some_games(seek.games)
    how = words.clock_name(seek.time) if seek.time is not None else "no clock"
    how += ", rated" * seek.rated
    cells, key = (words.full_label(seek.by), games, how), f"seek:{seek.seek}"
    if len(seek.games) == 1:
        return Row(cells, key, Send(AcceptRequest(0, seek=seek.seek)))
    page = Page(Kind.GAMES, about=seek.by.name, purpose=Purpose.CHALLENGE, games=tuple(seek.games))
    return Row(cells, key, Open(page))  # who takes several games is asked for one of them


def _people_first(players: list[ListedPlayer]) -> list[ListedPlayer]:
    return sorted(players, key=lambda each: each.bot is not None)


def _player(player: ListedPlayer) -> Row:
    name = words.full_label(PlayerInfo(player.name, player.bot, player.level))
    doing = []
    if player.seeking is not None:
        doing.append(f"seeks {page_words.some_games(player.seeking)}")
    if player.playing:
        doing.append(f"plays {counted(player.playing, 'match', 'matches')}")
    if player.places is not None and player.free == 0:
        doing.append("no place free")
    games = tuple(player.seeking or ())
    wanted = f"game:{games[0]}" if len(games) == 1 else ""
    games = games if player.bot is not None else ()  # a person may be asked for any game
    page = Page(Kind.GAMES, wanted, about=player.name, purpose=Purpose.CHALLENGE, games=games)
    return Row((name, ", ".join(doing)), f"player:{player.name}", Open(page))


def live_match(match: LiveMatch) -> Row:
    """Return a match of others, to look on."""
    first, second = map(words.full_label, match.players)
    facts = [*["featured"] * match.featured, f"move {match.ply + 1}", *["rated"] * match.rated]
    if match.time is not None:
        facts.append(words.clock_name(match.time))
    if match.watchers:
        facts.append(f"{match.watchers} watching")
    row = (f"{first} - {second}", page_words.title_of(match.game), ", ".join(facts))
    return Row(row, f"live:{match.match}", Send(WatchRequest(0, match=match.match)))
