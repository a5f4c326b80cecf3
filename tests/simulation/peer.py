"""A simulated client: the product's own side of the talk, on real frames, and somebody who presses keys at random.

It checks what it hears by itself: one answer to each request, and the events of a match in order, without a gap.
"""

import random
import string
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from websockets.client import ClientProtocol
from websockets.frames import Frame, Opcode
from websockets.http11 import Response
from websockets.protocol import State
from websockets.uri import parse_uri

from tests.server.peer import client_frame
from tests.simulation.network import Link
from tests.simulation.swarm import seek_of
from ttt_net import messages as wire
from ttt_net.errors import Refusal
from ttt_net.sdk.events import Answered
from ttt_net.sdk.session import BotProfile, ClientSession

if TYPE_CHECKING:
    from tests.simulation.stage import Stage

_RETRY_S = 0.25
_PATIENCE = 8
"""Requests without an answer after which a person presses no more keys."""


class Frames(ClientProtocol):
    """The client's side of WebSocket; its masks are zeros, for random ones would make two histories of one seed."""

    def send_frame(self, frame: Frame) -> None:
        """Write a frame."""
        self.writes.append(client_frame(frame.opcode, bytes(frame.data), fin=frame.fin))


@dataclass(slots=True)
class SeenMatch:
    """A match as a client knows it and would show it."""

    you: int | None
    seq: int
    ply: int
    to_move: int | None
    legal: list[int]
    is_over: bool
    next: str | None
    present: tuple[bool, bool]
    watchers: int


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
        self.name: str = f"peer{number // 2 if world.swarm.is_contested else number}"
        self._profile = profile
        self._is_guest = world.swarm.guests and profile is None and rng.random() < 0.5
        self.matches: dict[str, SeenMatch] = {}
        self.seeks: list[int] = []
        self.challenges: list[int] = []
        self.told: dict[str, int] = {}
        """The newest event of each match that this person has heard of, on whichever link."""
        self.lists: dict[type, wire.ServerMessage] = {}
        """The lists of the lobby, as they were told last on this link."""
        self.heard_lines: Counter[str] = Counter()
        """How often each line of chat was heard."""
        self.link: Link | None = None
        self.is_at_home = True
        """Whether it comes back by itself when its link is gone."""
        self._chosen_token: str | None = None
        self._restart()

    def _restart(self) -> None:
        """Begin as a new process of the same person: what is kept is the token."""
        new_token = self._chosen_token or "".join(self.rng.choices(string.ascii_letters, k=43))
        self._chosen_token = None
        self.session = ClientSession(None if self._is_guest else self.name, self.token, self._profile, new_token)
        self.matches.clear()
        self.seeks.clear()
        self.challenges.clear()

    # The link.

    def connect(self) -> None:
        """Open a link, if there is none and the server listens."""
        if self.link is not None or not self.is_at_home:
            return
        self._frames = Frames(parse_uri("ws://lobby.example/"), max_size=None)
        self.talk = Talk()
        self.lists.clear()
        self.link = self.world.link(self)
        if self.link is None:
            self._come_back()
            return
        self._frames.send_request(self._frames.connect())
        self._flush()

    def heard(self, link: Link, data: bytes) -> None:
        """Take in bytes of the server."""
        if link is not self.link:
            return
        self._frames.receive_data(data)
        for event in self._frames.events_received():
            if isinstance(event, Response):
                if self._frames.state is State.OPEN:
                    self._send(self.session.opened())
            elif isinstance(event, Frame) and event.opcode is Opcode.TEXT:
                self._hear(bytes(event.data))
        self._flush()

    def lost(self, link: Link) -> None:
        """Take note that the link is gone; come back soon."""
        if link is self.link:
            self.link = None
            self.session.closed()
            self._come_back()

    def _come_back(self) -> None:
        self.world.loop.call_later(_RETRY_S * (0.5 + self.rng.random()), self.connect)

    def leave(self) -> None:
        """Say goodbye, and stay away until `arrive`."""
        self.is_at_home = False
        if self.link is not None and self._frames.state is State.OPEN:
            self._frames.send_close(1000)
            self._flush()

    def die(self) -> None:
        """Let the client's process be killed; it is started again by `arrive`."""
        self.is_at_home = False
        if self.link is not None:
            self.link.hang_up()
            self.link = None
        self._restart()

    def arrive(self) -> None:
        """Come back after `leave` or `die`."""
        if not self.is_at_home:
            self.is_at_home = True
            if self.link is None:
                self.connect()

    def _flush(self) -> None:
        link = self.link
        for piece in self._frames.data_to_send():
            if link is not None and piece:
                link.say(piece)
            elif link is not None:
                link.hang_up()
                self.lost(link)

    # The talk.

    @property
    def is_welcome(self) -> bool:
        """Whether the server has let this client in on its present link."""
        return self.link is not None and self.session.is_welcome

    def say(self, request: wire.Request) -> None:
        """Ask for something, as the product's client would."""
        try:
            self._send(self.session.say(request))
        except Refusal:
            self.world.trace(self, "too many requests wait")
        self._flush()

    def _send(self, requests: list[wire.Request]) -> None:
        if self.link is None or self._frames.state is not State.OPEN:
            return
        for request in requests:
            self.world.trace(self, ">>", request)
            self.talk.asked[request.id] = request
            self.world.asked(self, request)
            self._frames.send_text(wire.encode(request))

    def _send_again(self, link: Link, request: wire.Request) -> None:
        if link is self.link and self.session.is_waiting(request):
            self._send([request])
            self._flush()

    def _hear(self, data: bytes) -> None:
        link, message = self.link, wire.decode_server_message(data)
        assert link is not None
        self.world.trace(self, "<<", message)
        self._check(message)
        reaction = self.session.heard(message)
        if reaction.token:
            self.token = reaction.token
            self.matches.clear()  # a new player has none
        self._send(reaction.say)
        is_given_up = isinstance(message, wire.Refused) and message.code == "storage" and self.rng.random() < 0.5
        for wait_ms, request in () if is_given_up else reaction.later:
            self.world.loop.call_later(wait_ms / 1000, self._send_again, link, request)
        for event in reaction.tell:
            self._note(event)
        if reaction.rejected:
            self.world.trace(self, "rejected", reaction.rejected)
            self._new_person()

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
                    world.claim(request is not None, f"{self.name} heard a second answer to {message.id}")
                    if isinstance(message, wire.Refused) and request is not None:
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
        """Take in what the dialogue tells, as a screen would."""
        match event:
            case wire.Snapshot():
                position = event.position
                is_over = event.outcome is not None
                self.matches[event.match] = SeenMatch(
                    event.you, event.seq, position.ply, position.to_move, position.legal, is_over, event.next,
                    event.present, event.watchers,
                )  # fmt: skip
                while len(self.matches) > 40:
                    del self.matches[next(iter(self.matches))]
            case wire.Played() | wire.Tookback():
                seen = self.matches.get(event.match)
                if seen is not None:
                    seen.seq = event.seq
                    if event.position is not None:
                        seen.ply, seen.to_move = event.position.ply, event.position.to_move
                        seen.legal = event.position.legal
            case wire.Ended():
                self._update(event.match, event.seq, is_over=True)
            case wire.Rematched():
                self._update(event.match, event.seq)
            case wire.Offered() | wire.Declined() | wire.Adjourned():
                self._update(event.match, event.seq)
            case wire.Presence():
                seen = self.matches.get(event.match)
                if seen is not None:
                    first, second = seen.present
                    seen.present = (event.online, second) if event.side == 0 else (first, event.online)
            case wire.Watching():
                seen = self.matches.get(event.match)
                if seen is not None:
                    seen.watchers = event.watchers
            case wire.SeekList():
                self.lists[wire.SeekList] = event
                self.seeks = [seek.seek for seek in event.seeks]
            case wire.PlayerList() | wire.LiveList():
                self.lists[type(event)] = event
            case wire.Challenged():
                self.challenges = [*self.challenges[-3:], event.challenge]
                if self.world.swarm.is_choosy and event.to.name == self.name and self.rng.random() < 0.5:
                    answer = wire.AnswerRequest(0, challenge=event.challenge, accept=True)
                    self.world.loop.call_later(self.rng.random(), self._answer, answer)
            case wire.InvitationReply():
                self.world.codes = [*self.world.codes[-5:], event.code]
            case wire.Renamed():
                self.name = event.you.name
            case wire.Welcome():
                self.name = event.you.name
                self.world.names[self.number] = self.name
            case Answered():
                self._answered(event)
            case _:
                pass

    def _update(self, match: str, seq: int, *, is_over: bool = False) -> None:
        seen = self.matches.get(match)
        if seen is not None:
            seen.seq = seq
            seen.is_over = seen.is_over or is_over

    def _answered(self, answered: Answered) -> None:
        request, answer = answered.request, answered.answer
        if isinstance(answer, wire.Refused) and answer.code == "unknown_match":
            self.matches.pop(getattr(request, "match", ""), None)
        if isinstance(request, wire.UnwatchRequest):
            self.matches.pop(request.match, None)

    # The person.

    def act(self) -> None:
        """Do something: most often what makes a match go on."""
        if not self.is_welcome or len(self.talk.asked) >= _PATIENCE:
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
            if seen.you is not None and seen.to_move == seen.you and not seen.is_over and seen.legal
        ]

    def play(self, name: str) -> None:
        """Play any move that the client shows as legal."""
        seen = self.matches[name]
        self.say(wire.PlayRequest(0, match=name, ply=seen.ply, move=self.rng.choice(seen.legal)))

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
