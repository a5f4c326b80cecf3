"""Define the state that a client knows (server, connection, matches, lobby), and update it after an event.

This module knows no screen and no rules of play: legal moves are the ones listed by the server.
"""

from collections.abc import Container, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from types import MappingProxyType
from typing import TypeVar, assert_never

from msgspec import structs

from ttt_net import messages
from ttt_net.client.address import server_at
from ttt_net.client.mailbox import ReachableAt, WorldEvent
from ttt_net.errors import Code
from ttt_net.sdk.received import (
    BROKE,
    NO_ANSWER,
    NOT_LISTENING,
    Answered,
    Back,
    Farewell,
    Lost,
    Retrying,
    Tally,
    follow,
)
from ttt_net.sdk.trust import Trust

Reply = TypeVar("Reply", bound=messages.ServerMessage)


class LinkState(Enum):
    """The state of the connection to the server."""

    CONNECTING = "connecting"
    ONLINE = "online"
    LOST = "lost"


MADE = "*"
"""In place of a code: that of the tournament that we have just made."""


@dataclass(frozen=True, slots=True)
class PendingChallenge:
    """A challenge, and when it arrived."""

    challenge: messages.Challenged
    heard_at_ms: int

    def left_ms(self, now_ms: int) -> int:
        """Return the time left to answer it."""
        return max(0, self.challenge.expires_in_ms - (now_ms - self.heard_at_ms))


@dataclass(frozen=True, slots=True)
class LobbyState:
    """The part of the lobby that concerns us: challenges, an invitation, and the bots that the server suggests."""

    is_subscribed: bool = False
    challenges: tuple[PendingChallenge, ...] = ()
    suggestion: messages.Suggestion | None = None
    invitation: messages.InvitationReply | None = None
    invited_at_ms: int = 0


_NO_MATCHES: Mapping[str, messages.Snapshot] = MappingProxyType({})
_NO_REPLIES: Mapping[type[messages.ServerMessage], messages.ServerMessage] = MappingProxyType({})
_NEVER: Mapping[str, int] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class World:
    """The known state of the connection, our matches and the lobby.

    Times are local, in milliseconds, by the clock that `update_world` is given.
    """

    address: str = ""
    """The server's address, as typed or detected."""
    reachable: str = ""
    """The address that others on the network type, once it has been looked up."""
    trust: Trust = field(default_factory=Trust)
    """How we trust the server; invitations tell friends."""
    is_secure: bool = False
    """Whether the connection is encrypted."""
    is_hosting: bool = False
    """Whether the server is our own; invitations tell friends."""
    server_goes_on: bool = True
    """Whether the server keeps running when we leave; our own may end with us."""
    missed: tuple[str, ...] = ()
    """Our matches that ended while this player was away, as far as known."""
    guests: int = 0
    """The number of guests on our own server when we were about to leave."""
    is_shared: bool = False
    """Whether two people share this keyboard: then our side is the one to move, and sentences avoid "you"."""
    link: LinkState = LinkState.CONNECTING
    trouble: str = ""
    """Why the connection dropped or failed."""
    attempt: int = 0
    """The number of the current attempt to connect; 0 before the first has failed."""
    frozen_at_ms: int | None = None
    """Until when the clocks ran, if the connection dropped."""
    latency_ms: int | None = None
    """The round trip to the server, if known."""
    you: messages.PlayerInfo | None = None
    """Our player, after the server's welcome."""
    server: str = ""
    """The server's name for itself."""
    features: tuple[str, ...] = ()
    """The optional features of this server."""
    added_games: tuple[messages.AddedGame, ...] = ()
    """The games that other packages add to this server."""
    may_write: bool = True
    """Whether the server allows chat beyond phrases."""
    restart_at_ms: int | None = None
    """When the server restarts, if announced."""
    unfinished: tuple[str, ...] = ()
    """The matches that were ours when we connected."""
    matches: Mapping[str, messages.Snapshot] = field(default_factory=lambda: _NO_MATCHES)
    """The latest snapshots of our matches and of the watched one; finished ones stay until they are forgotten."""
    heard_at_ms: Mapping[str, int] = field(default_factory=lambda: _NEVER)
    """When each match's clock was read."""
    away_at_ms: Mapping[str, int] = field(default_factory=lambda: _NEVER)
    """When the opponent's absence was reported, by match."""
    watching: str | None = None
    """The match that we watch or have requested to watch."""
    watch_code: str | None = None
    """The code in the request to watch it."""
    entered: str = ""
    """The code of the tournament that we play in; empty if there is none."""
    joined: str = ""
    """The last code that was typed and taken; it may be of a tournament. `MADE`: we have made one."""
    tournament_at_ms: int = 0
    """When the newest state of a tournament arrived, for its countdown."""
    seeking: messages.SeekRequest | None = None
    """Our open or requested seek."""
    lobby: LobbyState = field(default_factory=LobbyState)
    replies: Mapping[type[messages.ServerMessage], messages.ServerMessage] = field(default_factory=lambda: _NO_REPLIES)
    """The latest message of each type that screens show unchanged: lists of the lobby, and replies."""
    rated: messages.Rated | None = None
    """The change of ratings by the end of the last match."""
    tally: Tally = field(default_factory=Tally)
    farewell: Farewell | None = None
    """The last event of the connection, once it has arrived."""

    def reply(self, kind: type[Reply]) -> Reply | None:
        """Return the latest message of a type; None if none arrived since its screen opened."""
        found = self.replies.get(kind)
        return found if isinstance(found, kind) else None

    def with_reply(self, reply: messages.ServerMessage) -> "World":
        """Return the world with a message as the latest of its type."""
        return replace(self, replies=MappingProxyType({**self.replies, type(reply): reply}))

    def without_replies(self, kinds: Container[type[messages.ServerMessage]]) -> "World":
        """Return the world without messages of these types."""
        kept = {kind: reply for kind, reply in self.replies.items() if kind not in kinds}
        return replace(self, replies=MappingProxyType(kept))

    @property
    def challenge(self) -> messages.Challenged | None:
        """The oldest challenge that waits for our answer."""
        challenges = (each.challenge for each in self.lobby.challenges)
        return next((each for each in challenges if self.you is None or each.by.name != self.you.name), None)

    def has_seat(self, name: str) -> bool:
        """Tell whether we play a match."""
        match = self.matches.get(name)
        return match is not None and match.you is not None

    @property
    def has_unfinished_match(self) -> bool:
        """Whether a match of ours is live or adjourned."""
        return any(self.has_seat(name) and match.outcome is None for name, match in self.matches.items())

    def left_ms(self, name: str, side: int, now_ms: int) -> int | None:
        """Return the time left to `side` on the clock of a known match, or None without a clock."""
        match = self.matches[name]
        if match.clock is None:
            return None
        until_ms = now_ms if self.frozen_at_ms is None else self.frozen_at_ms
        is_running = match.clock.running == side and match.outcome is None
        spent_ms = max(0, until_ms - self.heard_at_ms.get(name, until_ms)) if is_running else 0
        return max(0, match.clock.remaining_ms[side] - spent_ms)

    def lost_for_ms(self, now_ms: int) -> int | None:
        """Return how long ago the connection dropped, or None while connected."""
        if self.link is not LinkState.LOST or self.frozen_at_ms is None:
            return None
        return max(0, now_ms - self.frozen_at_ms)

    def restart_in_ms(self, now_ms: int) -> int | None:
        """Return the time until the server restarts, or None if no restart is announced."""
        return max(0, self.restart_at_ms - now_ms) if self.restart_at_ms is not None else None

    def with_match(self, snapshot: messages.Snapshot) -> "World":
        """Return the world with the latest snapshot of a match."""
        return replace(self, matches=MappingProxyType({**self.matches, snapshot.match: snapshot}))

    def without_match(self, name: str) -> "World":
        """Return the world without a match that is no longer received."""
        matches = {other: match for other, match in self.matches.items() if other != name}
        watching = None if self.watching == name else self.watching
        return replace(self, matches=MappingProxyType(matches), watching=watching)

    def without_ended(self, *but: str | None) -> "World":
        """Return the world without finished matches; `but` names those to keep."""
        matches = {name: match for name, match in self.matches.items() if name in but or match.outcome is None}
        if len(matches) == len(self.matches):
            return self
        heard_at_ms, away_at_ms = (
            MappingProxyType({name: at_ms for name, at_ms in known.items() if name in matches})
            for known in (self.heard_at_ms, self.away_at_ms)
        )
        return replace(self, matches=MappingProxyType(matches), heard_at_ms=heard_at_ms, away_at_ms=away_at_ms)


LobbyEvent = (
    messages.Suggestion
    | messages.Challenged
    | messages.ChallengeAccepted
    | messages.ChallengeOver
    | messages.InvitationReply
)

MAX_CHALLENGES = 20
"""The maximal number of challenges to keep; the oldest are dropped first."""
MAX_ADDED_GAMES = 100
"""The maximal number of games of other packages to list."""


def update_world(world: World, event: WorldEvent, now_ms: int) -> World:
    """Return the world after the event; `now_ms` is the local time. Finished matches stay until they are forgotten."""
    match event:
        case messages.Welcome():
            return _welcomed(world, event)
        case Lost():
            world = replace(world, link=LinkState.LOST, trouble=event.reason, frozen_at_ms=now_ms)
            return replace(world, latency_ms=None, restart_at_ms=None)
        case Retrying():
            says_nothing_new = event.reason in ("", BROKE, NOT_LISTENING, NO_ANSWER) and world.link is LinkState.LOST
            return replace(world, attempt=event.attempt, trouble=world.trouble if says_nothing_new else event.reason)
        case messages.Snapshot():
            return _with_snapshot(world, event, now_ms)
        case messages.Presence():
            return _with_presence(world, event, now_ms)
        case messages.PlayerRenamed():
            match = world.matches.get(event.match)
            return world if match is None else world.with_match(follow(match, event))
        case messages.Watching():
            match = world.matches.get(event.match)
            return world if match is None else world.with_match(structs.replace(match, watchers=event.watchers))
        case messages.Rated():
            return replace(world, rated=event)
        case messages.Notice(restart_in_ms=in_ms):
            return replace(world, restart_at_ms=now_ms + in_ms if in_ms is not None else None)
        case messages.Renamed():
            return replace(world, you=event.you)
        case Answered(request, messages.Refused() as refusal):
            return _refused(world, request, refusal)
        case Answered(messages.EnterRequest(tournament=code), messages.Ok()):
            return replace(world, entered=code.strip().upper())
        case Answered(messages.OrganiseRequest(), messages.Ok()):
            return replace(world, joined=MADE)
        case Answered(messages.JoinRequest(code=code), messages.Ok()):
            return replace(world, joined=code.strip().upper())
        case Answered(messages.WithdrawRequest(tournament=code), messages.Ok()):
            return replace(world, entered="" if code.strip().upper() == world.entered else world.entered)
        case messages.TournamentReply():
            if event.tournament == world.joined:
                world = replace(world, entered=event.tournament)
            if world.joined in (event.tournament, MADE):
                world = replace(world, joined="")
            return replace(world.with_reply(event), tournament_at_ms=now_ms)
        case Answered(messages.AnswerRequest(challenge=number, accept=False)):
            return replace(world, lobby=_without_challenge(world.lobby, number))
        case ReachableAt(address):
            return replace(world, reachable=address)
        case Back(url) if url:
            return replace(world, address=server_at(url), reachable="", is_secure=url.startswith("wss:"))
        case Farewell():
            return replace(world, farewell=event)
        case _ if isinstance(event, messages.MatchEvent):
            return _with_event(world, event, now_ms)
        case (
            messages.Suggestion()
            | messages.Challenged()
            | messages.ChallengeAccepted()
            | messages.ChallengeOver()
            | messages.InvitationReply()
        ):
            return replace(world, lobby=_update_lobby(world.lobby, event, now_ms))
        case messages.ServerMessage():
            return world.with_reply(event)
        case _:
            return world


def _welcomed(world: World, welcome: messages.Welcome) -> World:
    """Apply a new connection: the lists of the lobby will be sent again, and challenges ended with the old one."""
    lobby = replace(world.lobby, is_subscribed=False, challenges=(), suggestion=None)
    return replace(
        world.without_replies((messages.SeekList, messages.PlayerList, messages.LiveList, messages.TournamentList)),
        link=LinkState.ONLINE,
        trouble="",
        attempt=0,
        you=welcome.you,
        server=welcome.server,
        unfinished=tuple(welcome.matches),
        frozen_at_ms=None,
        lobby=lobby,
        features=tuple(welcome.features),
        added_games=tuple(welcome.games[:MAX_ADDED_GAMES]),
        may_write=welcome.chat,
        restart_at_ms=None,
    )


def _with_snapshot(world: World, snapshot: messages.Snapshot, now_ms: int) -> World:
    """Store a match of ours, or the requested one; ignore others."""
    if snapshot.you is None and snapshot.match != world.watching:
        return world
    before = world.matches.get(snapshot.match)
    world = _counted(world, before, snapshot)
    if before is None and snapshot.you is not None and snapshot.outcome is None:
        lobby = replace(without_accepted(world.lobby, snapshot), is_subscribed=False)
        entered = snapshot.tournament.tournament if snapshot.tournament is not None else world.entered
        world = replace(world, seeking=None, lobby=lobby, entered=entered)
    heard_at_ms, away_at_ms = ({**known, snapshot.match: now_ms} for known in (world.heard_at_ms, world.away_at_ms))
    world = replace(world, heard_at_ms=MappingProxyType(heard_at_ms), away_at_ms=MappingProxyType(away_at_ms))
    return world.with_match(snapshot)


def without_accepted(lobby: LobbyState, match: messages.Snapshot) -> LobbyState:
    """Return the lobby without the invitation that started a match of ours."""
    invitation = lobby.invitation
    if invitation is not None and match.private and match.code in (None, invitation.code):
        invitation = None  # during another match, its code stays valid
    return replace(lobby, invitation=invitation)


def _with_event(world: World, event: messages.MatchEvent, now_ms: int) -> World:
    """Apply an event of a known match; ignore one that the snapshot already includes."""
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


def _counted(world: World, before: messages.Snapshot | None, after: messages.Snapshot) -> World:
    """Count the result when a match of ours ends; for two people at one keyboard, that of the first."""
    tally = world.tally.counting(before, after, 0 if world.is_shared else None)
    return world if tally is world.tally else replace(world, tally=tally)


def _with_presence(world: World, event: messages.Presence, now_ms: int) -> World:
    match = world.matches.get(event.match)
    if match is None or event.side not in (0, 1):
        return world
    world = replace(world, away_at_ms=MappingProxyType({**world.away_at_ms, event.match: now_ms}))
    return world.with_match(follow(match, event))


def _refused(world: World, request: messages.Request, refusal: messages.Refused) -> World:
    """Undo what was requested but rejected."""
    match request:
        case messages.SeekRequest() if refusal.code != Code.NOT_SEEKING:  # it was cancelled, perhaps by a newer one
            return replace(world, seeking=None)
        case messages.WatchRequest(match=name) if name == world.watching:
            return replace(world, watching=None) if world.has_seat(name) else world.without_match(name)
        case messages.ResumeRequest(match=name) if refusal.code == Code.UNKNOWN_MATCH:
            return world.without_match(name)
        case _:
            return world


def _update_lobby(lobby: LobbyState, event: LobbyEvent, now_ms: int) -> LobbyState:
    """Return the state of the lobby after an event."""
    match event:
        case messages.Suggestion():
            return replace(lobby, suggestion=event)
        case messages.Challenged():
            others = [each for each in lobby.challenges if not _replaces(event, each.challenge)]
            return replace(lobby, challenges=(*others, PendingChallenge(event, now_ms))[-MAX_CHALLENGES:])
        case messages.ChallengeAccepted() | messages.ChallengeOver():
            return _without_challenge(lobby, event.challenge)
        case messages.InvitationReply():
            return replace(lobby, invitation=event, invited_at_ms=now_ms)
        case _:
            assert_never(event)


def _replaces(event: messages.Challenged, earlier: messages.Challenged) -> bool:
    """Tell whether a challenge replaces an earlier one: each player has at most one open challenge to another."""
    return (event.by.name, event.to.name) == (earlier.by.name, earlier.to.name)


def _without_challenge(lobby: LobbyState, number: int) -> LobbyState:
    return replace(lobby, challenges=tuple(each for each in lobby.challenges if each.challenge.challenge != number))
