"""A simulated client: the SDK on simulated time, and somebody who presses keys at random, or one of our bots.

From the bytes of its frames to what its player believes, the client is the SDK's: `ClientProtocol`, `ClientSession` and
`follow`. It checks what it receives by itself: one answer to each request, and the events of a match in order, without
a gap.
"""

import random
import string
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from msgspec import structs

from tests.simulation.bot import SimulatedBot
from tests.simulation.network import Link
from tests.simulation.swarm import seek_of
from ttt_net import messages as wire
from ttt_net.errors import Refusal
from ttt_net.sdk.client_connection import delay_ms
from ttt_net.sdk.client_protocol import ClientProtocol, FrameReceived, TokenIssued
from ttt_net.sdk.client_session import BotProfile, ClientSession, Reaction
from ttt_net.sdk.received import Answered, Garbled, Lost, follow

if TYPE_CHECKING:
    from tests.simulation.stage import Stage

_URL = "ws://lobby.example/"
_PATIENCE = 8
"""Requests without an answer after which a person presses no more keys."""


class ObservedSession(ClientSession):
    """The session of the SDK, which shows its peer what it sends and receives."""

    def __init__(self, peer: "Peer", name: str | None, new_token: str) -> None:
        super().__init__(name, peer.token, peer.profile, new_token)
        self._peer = peer

    def opened(self) -> list[wire.Request]:
        """Show what is said first on a link."""
        return self._peer.sent(super().opened())

    def say(self, request: wire.Request) -> list[wire.Request]:
        """Show a request, if it is sent now."""
        return self._peer.sent(super().say(request))

    def due(self, request: wire.Request) -> Reaction:
        """Show a request that is sent again."""
        reaction = super().due(request)
        self._peer.sent(reaction.say)
        return reaction

    def heard(self, message: wire.AnyServerMessage) -> Reaction:
        """Show a message, and what is sent because of it."""
        self._peer.received(message)
        reaction = super().heard(message)
        self._peer.sent(reaction.say)
        return reaction


@dataclass(slots=True)
class Talk:
    """Requests and messages of one link, beside the session's view of them: for the invariants."""

    asked: dict[int, wire.Request] = field(default_factory=dict)
    seqs: dict[str, int] = field(default_factory=dict)
    challenges: set[int] = field(default_factory=set)


class Peer:
    """A client that comes, plays, leaves and comes back."""

    def __init__(self, world: "Stage", number: int, rng: random.Random) -> None:
        self.world: Stage = world
        self.number: int = number
        self.rng: random.Random = rng
        self.address = f"192.0.2.{number % 4 + 1}"
        self.token: str | None = None
        profile = None
        if world.swarm.bots and rng.random() < 0.3:
            profile = BotProfile("sim", None, rng.randint(1, 3), 0)
            if world.swarm.is_choosy:
                level, any_level = rng.choice([None, 1, 2]), rng.random() < 0.3
                profile = replace(profile, level=level, any_level=any_level, on_request=rng.random() < 0.3)
        self.is_bot = profile is not None
        self.profile = profile
        self.name: str = f"peer{number // 2 if world.swarm.is_contested else number}"
        self._is_guest = world.swarm.guests and profile is None and rng.random() < 0.5
        self.matches: dict[str, wire.Snapshot] = {}
        """Each match as its player believes it to be."""
        self.seeks: list[int] = []
        self.challenges: list[int] = []
        self.told: dict[str, int] = {}
        """The newest event of each match that this person has heard of, on whichever link."""
        self.lists: dict[type, wire.ServerMessage] = {}
        """The lists of the lobby, as they were told last on this link."""
        self.tournaments: dict[str, wire.TournamentReply] = {}
        """The tournaments that it follows, as they were told last on this link."""
        self._followed: set[str] = set()
        self.heard_lines: Counter[str] = Counter()
        """How often each line of chat was heard."""
        self.link: Link | None = None
        self._attempt = 0
        self._tick_s: float | None = None
        self.bot: SimulatedBot | None = None
        """One of our bots, who acts here in the place of a person."""
        self.is_at_home = True
        """Whether it comes back by itself when its link is gone."""
        self._chosen_token: str | None = None
        self._others_until = 0
        """The last number of a request of the player that this client was before its token was refused."""
        self._restart()

    def _restart(self) -> None:
        """Begin as a new process of the same person: what is kept is the token."""
        new_token = self._chosen_token or "".join(self.rng.choices(string.ascii_letters, k=43))
        self._chosen_token, self._others_until = None, 0
        self.session = ObservedSession(self, None if self._is_guest else self.name, new_token)
        self.matches.clear()
        self.seeks.clear()
        self.challenges.clear()
        if self.bot is not None:
            self.bot.stop()
            self.bot = None
        if self.profile is not None and self.world.swarm.has_house_bots:
            self.bot = SimulatedBot(self)

    # The link.

    def connect(self) -> None:
        """Open a link, if there is none and the server listens."""
        if self.link is not None or not self.is_at_home:
            return
        self.talk = Talk()
        self.lists.clear()
        self.tournaments.clear()
        self._followed.clear()
        self.link = self.world.link(self)
        if self.link is None:
            self._come_back()
            return
        self._protocol = ClientProtocol(_URL, self.session, self._now_ms())
        self._go_on(self.link)

    def heard(self, link: Link, data: bytes) -> None:
        """Take in bytes of the server."""
        if link is self.link:
            self._protocol.receive_data(data, self._now_ms())
            self._go_on(link)

    def lost(self, link: Link) -> None:
        """Take note that the link is gone; come back soon."""
        if link is self.link:
            self._protocol.receive_eof(self._now_ms())
            self._go_on(link)

    def _go_on(self, link: Link) -> None:
        """Send what is to be sent, take in what was received, and look again when it is time."""
        protocol = self._protocol
        while protocol.has_events and protocol is self._protocol:
            for event in protocol.events_received():
                self._take(event)
        for piece in protocol.data_to_send():
            if piece:
                link.say(piece)
        if protocol is not self._protocol or link is not self.link:
            return
        if protocol.rejected is not None:
            self.world.trace(self, "rejected", protocol.rejected)
            self._new_person()
        elif protocol.disconnect is not None:
            link.hang_up()
            self.link = None
            self._note(Lost(protocol.disconnect.reason))
            self._come_back()
        elif protocol.next_tick_ms is not None:
            self._look_again(protocol.next_tick_ms / 1000)

    def _look_again(self, at_s: float) -> None:
        if self._tick_s is None or at_s < self._tick_s:
            self._tick_s = at_s
            self.world.loop.call_at(at_s, self._tick, at_s)

    def _tick(self, at_s: float) -> None:
        """Let time pass for the protocol; of several of these, only the earliest counts."""
        if self._tick_s == at_s:
            self._tick_s = None
            if self.link is not None:
                self._protocol.tick(self._now_ms())
                self._go_on(self.link)

    def _now_ms(self) -> int:
        return round(self.world.loop.time() * 1000)

    def _come_back(self) -> None:
        self._attempt += 1
        wait_ms = delay_ms(self._attempt, is_live=self.session.has_live_match, jitter=self.rng.random())
        self.world.loop.call_later(wait_ms / 1000, self.connect)

    def leave(self) -> None:
        """Say goodbye, and stay away until `arrive`."""
        self.is_at_home = False
        if self.link is not None:
            self._protocol.close()
            self._go_on(self.link)

    def die(self) -> None:
        """Let the client's process be killed; it is started again by `arrive`."""
        self.is_at_home = False
        if self.link is not None:
            self.link.hang_up()
            self.link = None
        self._restart()

    def end(self) -> None:
        """Let nothing of the client go on, for the world ends."""
        self.is_at_home = False
        self.link = None
        if self.bot is not None:
            self.bot.stop()

    def come_twice(self) -> None:
        """Let the same player come from another device, while the link of this one is open still."""
        if self.link is not None:
            self.link = None
            self._chosen_token = None
            self._restart()
            self.connect()

    def arrive(self) -> None:
        """Come back after `leave` or `die`."""
        if not self.is_at_home:
            self.is_at_home = True
            if self.link is None:
                self.connect()

    # The talk.

    @property
    def is_welcome(self) -> bool:
        """Whether the server has let this client in on its present link."""
        return self.link is not None and self.session.is_welcome

    @property
    def is_idle(self) -> bool:
        """Whether the client is let in, has all its answers, and thinks about nothing."""
        is_thinking = self.bot is not None and self.bot.is_thinking
        return self.is_welcome and not self.talk.asked and not self.session.is_asking and not is_thinking

    def say(self, request: wire.Request) -> None:
        """Ask for something, as the product's client would."""
        try:
            self.ask(request)
        except Refusal as refusal:
            self.world.trace(self, f"not sent: {refusal.code}")

    def ask(self, request: wire.Request) -> None:
        """Ask for something. Raises `Refusal` as the SDK does."""
        if self.link is None:
            self.session.say(request)
        else:
            self._protocol.say(request)
            self._go_on(self.link)

    def sent(self, requests: list[wire.Request]) -> list[wire.Request]:
        """Take note of requests that go to the server."""
        for request in requests:
            self.world.trace(self, ">>", request)
            is_own = request.id > self._others_until or not isinstance(request, wire.PlayRequest | wire.ResignRequest)
            self.world.claim(is_own, f"{self.name} sends what the player asked for whose token was refused: {request}")
            self.talk.asked[request.id] = request
            self.world.causes.sent(self, request)
            self.world.asked(self, request)
        return requests

    def received(self, message: wire.AnyServerMessage) -> None:
        """Check a message, before the session takes it in."""
        self.world.trace(self, "<<", message)
        self._check(message)

    def _take(self, event: Any) -> None:
        match event:
            case FrameReceived():
                pass
            case TokenIssued(token):
                self.token = token
                self.matches.clear()  # a new player has none
            case Garbled(reason):
                self.world.claim(False, f"{self.name} cannot read what the server says: {reason}")
            case _:
                self._note(event)

    def _new_person(self) -> None:
        """Come back as somebody else: this name is taken, or this player was forgotten or banned.

        Some bring the token that they had before, which is known as that of somebody who was muted.
        """
        self._chosen_token = self.token if self.rng.random() < 0.3 else None
        self.token = None
        self.name = self.world.new_name()
        self.die()
        self.world.loop.call_later(1.0, self.arrive)

    def _check(self, message: wire.AnyServerMessage) -> None:
        """Hold the server to its word: one answer to each request, no gap in what is told on a link."""
        world, talk = self.world, self.talk
        match message:
            case wire.Ok() | wire.Refused():
                if message.id is not None:
                    request = talk.asked.pop(message.id, None)
                    if isinstance(message, wire.Refused) and message.code == "unknown_token":
                        self._others_until = message.id
                    world.claim(request is not None, f"{self.name} heard a second answer to {message.id}")
                    if request is not None:
                        world.causes.answered(self, request, message)
                        if isinstance(message, wire.Refused):
                            world.refused(self, request)
                    if isinstance(message, wire.Ok) and request is not None:
                        world.acknowledged(self, request)
                        if isinstance(request, wire.WatchRequest):
                            talk.seqs.pop(request.match, None)  # a snapshot follows
                        elif isinstance(request, wire.ResumeRequest) and request.seq:
                            talk.seqs[request.match] = request.seq  # what is missing follows, then a snapshot
            case wire.Chatted():
                self._check_heard(message)
            case wire.Challenged():
                talk.challenges.add(message.challenge)
            case wire.ChallengeOver() | wire.ChallengeAccepted():
                is_known = message.challenge in talk.challenges or world.hears_late_s > 0
                world.claim(
                    is_known, f"{self.name} hears the end of challenge {message.challenge}, which is not theirs"
                )
                talk.challenges.discard(message.challenge)
            case wire.Snapshot():
                world.claim(
                    talk.seqs.get(message.match, 0) <= message.seq, f"{self.name} is shown an older {message.match}"
                )
                talk.seqs[message.match] = message.seq
                if message.match not in world.started:
                    world.started.append(message.match)
                most = self.told.get(message.match, 0)
                world.claim(
                    most <= message.seq, f"{self.name} knows event {most} of {message.match}, and is shown less"
                )
                self.told[message.match] = message.seq
            case _ if isinstance(message, wire.MatchEvent):
                before = talk.seqs.get(message.match)
                if before is not None:
                    world.claim(
                        message.seq == before + 1,
                        f"{self.name} heard event {message.seq} of {message.match} after {before}",
                    )
                    talk.seqs[message.match] = message.seq
                self.told[message.match] = max(message.seq, self.told.get(message.match, 0))
                world.told(message)

    def signed(self) -> str:
        """Return a line of chat that says when it is said, and all that a mute of who says it may go by."""
        keys = self.world.chatter.keys_of(self.token, self.address)
        return " ".join([f"{self.world.loop.time():.6f}", *keys])

    def _check_heard(self, message: wire.Chatted) -> None:
        """Check that who was muted before they said it, and still is, was not heard."""
        self.heard_lines[message.text] += 1
        words = message.text.split()
        said_s, *keys = words if "." in words[0] else words[1:]
        self.world.chatter.check_heard(float(said_s), keys)

    def _note(self, event: Any) -> None:
        """Take in an event of the session, as a screen would."""
        if self.bot is not None:
            self.bot.hear(event)
        match event:
            case wire.Snapshot():
                self.matches[event.match] = event
                while len(self.matches) > 40:
                    del self.matches[next(iter(self.matches))]
            case _ if isinstance(event, wire.MatchEvent):
                if (seen := self.matches.get(event.match)) is not None:
                    self.matches[event.match] = follow(seen, event)
            case wire.Presence():
                if (seen := self.matches.get(event.match)) is not None:
                    first, second = seen.present
                    present = (event.online, second) if event.side == 0 else (first, event.online)
                    self.matches[event.match] = structs.replace(seen, present=present)
            case wire.PlayerRenamed():
                if (seen := self.matches.get(event.match)) is not None:
                    self.matches[event.match] = follow(seen, event)
            case wire.Watching():
                if (seen := self.matches.get(event.match)) is not None:
                    self.matches[event.match] = structs.replace(seen, watchers=event.watchers)
            case wire.SeekList():
                self.lists[wire.SeekList] = event
                self.seeks = [seek.seek for seek in event.seeks]
            case wire.PlayerList() | wire.LiveList():
                self.lists[type(event)] = event
            case wire.Challenged():
                self.challenges = [*self.challenges[-3:], event.challenge]
                is_asked = self.bot is None and event.to.name == self.name
                if self.world.swarm.is_choosy and is_asked and self.rng.random() < 0.5:
                    answer = wire.AnswerRequest(0, challenge=event.challenge, accept=True)
                    self.world.loop.call_later(self.rng.random(), self._answer, answer)
            case wire.InvitationReply():
                self.world.codes = [*self.world.codes[-5:], event.code]
            case wire.TournamentReply():
                if event.tournament not in self.world.tournaments:
                    self.world.tournaments.append(event.tournament)
                if event.tournament in self._followed:
                    self.tournaments[event.tournament] = event
            case wire.TournamentList():
                for row in event.tournaments:
                    if row.tournament not in self.world.tournaments:
                        self.world.tournaments.append(row.tournament)
            case wire.Renamed():
                self.name = event.you.name
            case wire.Welcome():
                self._attempt = 0
                self.name = event.you.name
                self.world.names[self.number] = self.name
            case Answered():
                self._answered(event)
            case _:
                pass

    def _answered(self, answered: Answered) -> None:
        request, answer = answered.request, answered.answer
        if isinstance(answer, wire.Refused) and answer.code == "unknown_match":
            self.matches.pop(getattr(request, "match", ""), None)
        if isinstance(request, wire.AttendRequest) and isinstance(answer, wire.Ok):
            self._followed.add(request.tournament)
        if isinstance(request, wire.UnwatchRequest):
            self.matches.pop(request.match, None)

    # The person.

    def act(self) -> None:
        """Do something: most often what makes a match go on."""
        if self.bot is not None or not self.is_welcome or len(self.talk.asked) >= _PATIENCE:
            return
        turns = self.turns()
        if turns and self.rng.random() < 0.75:
            self.play(self.rng.choice(turns))
        else:
            self.say(self._anything())

    def _answer(self, answer: wire.AnswerRequest) -> None:
        if self.is_welcome:
            self.say(answer)

    def turns(self) -> list[str]:
        """Return the matches in which this client is to move."""
        return [
            name
            for name, seen in self.matches.items()
            if seen.you is not None and seen.position.to_move == seen.you and seen.outcome is None
        ]

    def play(self, name: str) -> None:
        """Play any move that the client shows as legal."""
        position = self.matches[name].position
        self.say(wire.PlayRequest(0, match=name, ply=position.ply, move=self.rng.choice(position.legal)))

    def ply_of(self, match: str) -> int:
        """Return the ply that a match is at, as this client believes."""
        return self.matches[match].position.ply if match in self.matches else self.rng.randint(0, 9)

    def offer_in(self, match: str) -> wire.OfferInfo:
        """Return an offer of a match, most often the opponent's that stands, else some past event."""
        offers = self.matches[match].offers if match in self.matches else []
        theirs = [offer for offer in offers if offer.side != self.matches[match].you] or offers
        past = wire.OfferInfo(0, "draw", self.rng.randint(1, self.matches[match].seq if match in self.matches else 1))
        return self.rng.choice(theirs) if theirs and self.rng.random() < 0.9 else past

    def seeking(self) -> wire.SeekRequest:
        """Return a seek, as this client might make it."""
        return seek_of(self)

    def _anything(self) -> wire.Request:
        make: Callable[[Peer], wire.Request] = self.rng.choice(self.world.makers)
        return make(self)

    def any_match(self) -> str:
        """Return the id of a match, by preference one that this client knows."""
        rng = self.rng
        if self.matches and rng.random() < 0.9:
            return rng.choice(list(self.matches))
        return rng.choice(self.world.started or ["nomatch1"])

    def match_of_others(self) -> str:
        """Return the id of a match that this client does not know, by preference a new one."""
        rng, others = self.rng, [match for match in self.world.started[-8:] if match not in self.matches]
        return rng.choice(others) if others and rng.random() < 0.9 else self.any_match()
