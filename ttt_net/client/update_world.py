"""Return the world after an event: the link, the matches, and the lobby. Knows no screen."""

from dataclasses import replace
from types import MappingProxyType
from typing import assert_never

from msgspec import structs

from ttt_net.client.events import ReachableAt, WorldEvent
from ttt_net.client.finding.address import server_at
from ttt_net.client.world import LinkState, LobbyState, PendingChallenge, World
from ttt_net.errors import Code
from ttt_net.messages import (
    AnswerRequest,
    ChallengeAccepted,
    Challenged,
    ChallengeOver,
    InvitationReply,
    LiveList,
    MatchEvent,
    Notice,
    PlayerList,
    Presence,
    Rated,
    Refused,
    Renamed,
    Request,
    ResumeRequest,
    SeekList,
    SeekRequest,
    ServerMessage,
    Snapshot,
    Suggestion,
    Watching,
    WatchRequest,
    Welcome,
)
from ttt_net.sdk.events import Answered, Back, Farewell, Lost, Retrying
from ttt_net.sdk.matches import follow

LobbyEvent = Suggestion | Challenged | ChallengeAccepted | ChallengeOver | InvitationReply

MAX_CHALLENGES = 20
"""Challenges that are kept; of more, the oldest are forgotten."""


def update_world(world: World, event: WorldEvent, now_ms: int) -> World:
    """Return the world after the event; `now_ms` is the local time. Matches that end stay until they are forgotten."""
    match event:
        case Welcome():
            return _welcomed(world, event)
        case Lost():
            world = replace(world, link=LinkState.LOST, trouble=event.reason, frozen_at_ms=now_ms)
            return replace(world, latency_ms=None, restart_at_ms=None)
        case Retrying():
            trouble = event.reason if world.link is LinkState.CONNECTING else world.trouble
            return replace(world, attempt=event.attempt, trouble=trouble)
        case Snapshot():
            return _with_snapshot(world, event, now_ms)
        case Presence():
            return _with_presence(world, event, now_ms)
        case Watching():
            match = world.matches.get(event.match)
            return world if match is None else world.with_match(structs.replace(match, watchers=event.watchers))
        case Rated():
            return replace(world, rated=event)
        case Notice(restart_in_ms=in_ms):
            return replace(world, restart_at_ms=now_ms + in_ms if in_ms is not None else None)
        case Renamed():
            return replace(world, you=event.you)
        case Answered(request, Refused() as refusal):
            return _refused(world, request, refusal)
        case Answered(AnswerRequest(challenge=number, accept=False)):
            return replace(world, lobby=_without_challenge(world.lobby, number))
        case ReachableAt(address):
            return replace(world, reachable=address)
        case Back(url) if url:
            return replace(world, address=server_at(url), reachable="", is_secure=url.startswith("wss:"))
        case Farewell():
            return replace(world, farewell=event)
        case _ if isinstance(event, MatchEvent):
            return _with_event(world, event, now_ms)
        case Suggestion() | Challenged() | ChallengeAccepted() | ChallengeOver() | InvitationReply():
            return replace(world, lobby=_update_lobby(world.lobby, event, now_ms))
        case ServerMessage():
            return world.with_reply(event)
        case _:
            return world


def _welcomed(world: World, welcome: Welcome) -> World:
    """Take a new link: the lists of the lobby are told again, and challenges have ended with the old one."""
    lobby = replace(world.lobby, is_subscribed=False, challenges=(), suggestion=None)
    return replace(
        world.without_replies((SeekList, PlayerList, LiveList)),
        link=LinkState.ONLINE,
        trouble="",
        attempt=0,
        you=welcome.you,
        server=welcome.server,
        unfinished=tuple(welcome.matches),
        frozen_at_ms=None,
        lobby=lobby,
        features=tuple(welcome.features),
        may_write=welcome.chat,
        restart_at_ms=None,
    )


def _with_snapshot(world: World, snapshot: Snapshot, now_ms: int) -> World:
    """Take a match of ours, or the one that was asked for; any other is ignored."""
    if snapshot.you is None and snapshot.match != world.watching:
        return world
    before = world.matches.get(snapshot.match)
    world = _counted(world, before, snapshot)
    if before is None and snapshot.you is not None and snapshot.outcome is None:
        lobby = replace(without_accepted(world.lobby, snapshot), is_subscribed=False)
        world = replace(world, seeking=None, lobby=lobby)
    heard_at_ms, away_at_ms = ({**known, snapshot.match: now_ms} for known in (world.heard_at_ms, world.away_at_ms))
    world = replace(world, heard_at_ms=MappingProxyType(heard_at_ms), away_at_ms=MappingProxyType(away_at_ms))
    return world.with_match(snapshot)


def without_accepted(lobby: LobbyState, match: Snapshot) -> LobbyState:
    """Return the lobby without the invitation that has led to a match of ours."""
    invitation = lobby.invitation
    if invitation is not None and match.private and match.code in (None, invitation.code):
        invitation = None  # while another match is played its code stays good
    return replace(lobby, invitation=invitation)


def _with_event(world: World, event: MatchEvent, now_ms: int) -> World:
    """Take an event of a match that is known; one that is in its snapshot already changes nothing."""
    before = world.matches.get(event.match)
    if before is None or event.seq <= before.seq:
        return world
    after = follow(before, event)
    if world.is_shared and after.position.to_move is not None:
        after = structs.replace(after, you=after.position.to_move)
    world = _counted(world, before, after)
    if after.clock is not before.clock:
        world = replace(world, heard_at_ms=MappingProxyType({**world.heard_at_ms, event.match: now_ms}))
    return world.with_match(after)


def _counted(world: World, before: Snapshot | None, after: Snapshot) -> World:
    """Count the result when this is the moment in which a match of ours ended; of two who share it, the first's."""
    is_end = before is not None and before.outcome is None and after.outcome is not None
    if not is_end or after.outcome is None or after.outcome.reason == "abort" or after.you is None:
        return world
    tally, winner = world.tally, after.outcome.winner
    ours = 0 if world.is_shared else after.you
    if winner is None:
        tally = replace(tally, drawn=tally.drawn + 1)
    elif winner == ours:
        tally = replace(tally, won=tally.won + 1)
    else:
        tally = replace(tally, lost=tally.lost + 1)
    return replace(world, tally=tally)


def _with_presence(world: World, event: Presence, now_ms: int) -> World:
    match = world.matches.get(event.match)
    if match is None or event.side not in (0, 1):
        return world
    first, second = match.present
    present = (event.online, second) if event.side == 0 else (first, event.online)
    away = match.away if event.side == match.you else event.away
    world = replace(world, away_at_ms=MappingProxyType({**world.away_at_ms, event.match: now_ms}))
    return world.with_match(structs.replace(match, present=present, away=away))


def _refused(world: World, request: Request, refusal: Refused) -> World:
    """Take back what was only asked for."""
    match request:
        case SeekRequest() if refusal.code != Code.NOT_SEEKING:  # one that was cancelled, by a newer one perhaps
            return replace(world, seeking=None)
        case WatchRequest(match=name) if name == world.watching:
            return replace(world, watching=None) if world.has_seat(name) else world.without_match(name)
        case ResumeRequest(match=name) if refusal.code == Code.UNKNOWN_MATCH:
            return world.without_match(name)
        case _:
            return world


def _update_lobby(lobby: LobbyState, event: LobbyEvent, now_ms: int) -> LobbyState:
    """Return what goes on between us and others after an event."""
    match event:
        case Suggestion():
            return replace(lobby, suggestion=event)
        case Challenged():
            others = [each for each in lobby.challenges if not _replaces(event, each.challenge)]
            return replace(lobby, challenges=(*others, PendingChallenge(event, now_ms))[-MAX_CHALLENGES:])
        case ChallengeAccepted() | ChallengeOver():
            return _without_challenge(lobby, event.challenge)
        case InvitationReply():
            return replace(lobby, invitation=event, invited_at_ms=now_ms)
        case _:
            assert_never(event)


def _replaces(event: Challenged, earlier: Challenged) -> bool:
    """Tell whether it takes the place of an earlier one: there is one at most from one player to another."""
    return (event.by.name, event.to.name) == (earlier.by.name, earlier.to.name)


def _without_challenge(lobby: LobbyState, number: int) -> LobbyState:
    return replace(lobby, challenges=tuple(each for each in lobby.challenges if each.challenge.challenge != number))
