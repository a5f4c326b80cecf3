"""Track the session of a player across any number of links: identity, unanswered requests, missed events.

Knows no sockets and no clock. What it is told to `say` and what it is told it `heard` come out as messages to
send and events to show. Its laws:

- Every request has one id, and is kept until its one answer is there or it has lost its sense.
- A event is told once and in order: a repeat is left out, a gap is closed with `resume` before anything later is told.
- After every `welcome`, unfinished matches are resumed first; then what was unanswered is sent again, a move only
  if its match still stands at its ply, a seek that stood is sought again unless it stands still, and what was watched
  is watched again.
"""

import secrets
from dataclasses import dataclass, field

from msgspec.structs import replace

import ttt_net
from ttt_net.errors import Code, Refusal
from ttt_net.messages import (
    PROTOCOL,
    AbortRequest,
    AgreeRequest,
    AnyServerMessage,
    ClaimRequest,
    DeclineRequest,
    Ended,
    GameInfo,
    HelloRequest,
    MatchEvent,
    OfferRequest,
    Ok,
    Played,
    PlayRequest,
    Refused,
    Request,
    ResignRequest,
    ResumeRequest,
    SeekInfo,
    SeekRequest,
    Snapshot,
    Tookback,
    UnseekRequest,
    UnwatchRequest,
    WatchRequest,
    Welcome,
)
from ttt_net.sdk.events import Answered, ConnectionEvent, Garbled
from ttt_net.sdk.validation import check_clock, check_played, check_snapshot

MAX_PENDING = 64
"""Requests without an answer; one more is refused by ourselves."""
MAX_MATCHES = 32
"""Matches that are followed at once; of the finished ones only the newest is."""
_OF_A_MATCH = PlayRequest | ResignRequest | AbortRequest | OfferRequest | AgreeRequest | DeclineRequest | ClaimRequest
"""Requests that are kept while the link is down."""
_PASSING = (Code.TOO_FAST, Code.RESTARTING, Code.STORAGE)
"""Refusals of a `hello` that are worth waiting for."""


@dataclass(slots=True)
class TrackedMatch:
    """The newest event and ply of a match, whether it goes on and is ours, and whether a `resume` is on its way."""

    game: GameInfo
    seq: int
    ply: int
    is_live: bool
    is_ours: bool
    is_resuming: bool = False


@dataclass(slots=True)
class Reaction:
    """The consequences of a message: requests to send now, or after so many ms; events to tell; a token to keep."""

    say: list[Request] = field(default_factory=list)
    later: list[tuple[int, Request]] = field(default_factory=list)
    tell: list[ConnectionEvent] = field(default_factory=list)
    token: str | None = None
    rejected: Refused | None = None


@dataclass(frozen=True, slots=True)
class BotProfile:
    """Describe a bot to the server: its label, level, matches at once, and how many of these are for people."""

    label: str
    level: int | None = None
    places: int = 1
    reserved: int = 0
    any_level: bool = False
    """Whether it plays at any level that is asked for."""
    on_request: bool = False
    """Whether it is paired only with seeks for bots."""
    about: str | None = None
    """A line on how it plays."""


class ClientSession:
    """The session of one player with one server; `bot` is what a program that plays says of itself."""

    def __init__(
        self,
        name: str | None,
        token: str | None,
        bot: BotProfile | None = None,
        new_token: str | None = None,
        *,
        is_visiting: bool = False,
    ) -> None:
        """Without a `name` or a `token` we are a guest; one who `is_visiting` takes up none of their matches."""
        self.name, self.bot = name, bot
        self._is_visiting = is_visiting
        self.is_welcome = False
        self._token = token
        self._new_token = new_token or secrets.token_urlsafe(32)
        """Ours if we are new: chosen here, so that a `hello` whose answer is lost can be said again."""
        self._hello_id: int | None = None
        self._last_id = 0
        self._pending: dict[int, Request] = {}
        self._unsent: dict[int, Request] = {}
        self._seek: SeekRequest | None = None
        """What is sought, or about to be."""
        self._stood: SeekRequest | None = None
        """The seek that was answered with `ok` last: it goes on standing if another is refused."""
        self._matches: dict[str, TrackedMatch] = {}
        self._watched: WatchRequest | None = None
        """How the one match of others that is followed was asked for."""

    @property
    def has_live_match(self) -> bool:
        """Whether an unfinished match of ours is known."""
        return any(known.is_live for name, known in self._matches.items() if not self._is_watched(name))

    @property
    def is_asking(self) -> bool:
        """Whether something was asked that has no answer yet, or waits for the next link."""
        return bool(self._pending or self._unsent)

    def is_following(self, match: str) -> bool:
        """Tell whether the events of the match are told: of the finished ones, only the newest match's are."""
        return match in self._matches

    def opened(self) -> list[Request]:
        """Return what to say first on a new link."""
        hello = HelloRequest(
            self._new_id(),
            protocols=[PROTOCOL],
            name=None if self._token else self.name,
            token=self._token or (self._new_token if self.name is not None else None),
            client=f"ttt_net {ttt_net.__version__}",
        )
        if self.bot:
            bot = self.bot
            hello = replace(hello, bot=bot.label, level=bot.level, places=bot.places, reserved=bot.reserved)
            hello = replace(hello, any_level=bot.any_level, on_request=bot.on_request, about=bot.about)
        self._hello_id = hello.id
        return [hello]

    def closed(self) -> None:
        """Take note that the link is gone: what had no answer waits for the next one."""
        self.is_welcome = False
        self._hello_id = None
        self._unsent = {n: r for n, r in (self._unsent | self._pending).items() if isinstance(r, _OF_A_MATCH)}
        self._pending = {}
        for known in self._matches.values():
            known.is_resuming = False

    def say(self, request: Request) -> list[Request]:
        """Give the request an id and return what to send now: nothing while there is no link.

        Raises `Refusal` if too many requests wait for their answers.
        """
        if len(self._pending) + len(self._unsent) >= MAX_PENDING:
            raise Refusal(Code.TOO_FAST, "the server has not answered the last requests yet")
        request = replace(request, id=self._new_id())
        if isinstance(request, SeekRequest):
            self._seek = request
        elif isinstance(request, UnseekRequest):
            self._seek = self._stood = None
        elif isinstance(request, WatchRequest | UnwatchRequest):
            if self._watched is not None and self._is_watched(self._watched.match):
                self._matches.pop(self._watched.match, None)
            self._watched = request if isinstance(request, WatchRequest) else None
        if self.is_welcome:
            self._pending[request.id] = request
            return [request]
        if isinstance(request, _OF_A_MATCH):
            self._unsent[request.id] = request
        return []

    def _is_watched(self, name: str) -> bool:
        tracked = self._matches.get(name)  # to watch what we play ourselves is refused, and changes nothing
        return self._watched is not None and self._watched.match == name and not (tracked and tracked.is_ours)

    def is_waiting(self, request: Request) -> bool:
        """Tell whether the request was sent on this link and has no answer yet."""
        return request.id in self._pending or request.id == self._hello_id

    def heard(self, message: AnyServerMessage) -> Reaction:
        """Take in a message and return what follows from it."""
        try:
            return self._heard(message)
        except Refusal as refusal:
            return Reaction(tell=[Garbled(str(refusal))])

    def _heard(self, message: AnyServerMessage) -> Reaction:
        match message:
            case Ok() | Refused():
                return self._answered(message)
            case Welcome():
                return self._welcomed(message)
            case Snapshot():
                return self._resumed(message)
            case _ if isinstance(message, MatchEvent):
                return self._happened(message)
            case _:
                return Reaction(tell=[message])

    def _answered(self, answer: Ok | Refused) -> Reaction:
        if answer.id is not None and answer.id == self._hello_id:
            return self._hello_answered(answer)
        request = self._pending.get(answer.id) if answer.id is not None else None
        if request is None:
            return Reaction(tell=[answer] if isinstance(answer, Refused) and answer.id is None else [])
        passing = (Code.TOO_FAST, Code.STORAGE) if isinstance(request, ResumeRequest) else (Code.TOO_FAST,)
        if isinstance(answer, Refused) and answer.code in passing and answer.retry_after_ms is not None:
            return Reaction(later=[(answer.retry_after_ms, request)])
        del self._pending[request.id]
        if isinstance(answer, Refused) and answer.code == Code.RESTARTING:
            return self._put_off(request)
        if isinstance(request, ResumeRequest | WatchRequest) and (known := self._matches.get(request.match)):
            known.is_resuming = False
        if isinstance(answer, Refused):
            if isinstance(request, WatchRequest) and self._is_watched(request.match):
                self._watched = None
            if answer.code == Code.UNKNOWN_MATCH:
                self._matches.pop(getattr(request, "match", ""), None)
        if isinstance(request, SeekRequest | UnseekRequest):
            self._note_seek(request, answer)
        return Reaction(tell=[Answered(request, answer)])

    def _note_seek(self, request: SeekRequest | UnseekRequest, answer: Ok | Refused) -> None:
        """Take note of which seek stands: one that is refused leaves the last as it is."""
        if isinstance(request, UnseekRequest):
            self._stood = None
        elif isinstance(answer, Ok):
            self._stood = request if self._seek is not None else None
        else:
            if self._stood is not None and self._stood.id == request.id:
                self._stood = None
            if self._seek is not None and self._seek.id == request.id:
                self._seek = self._stood

    def _put_off(self, request: Request) -> Reaction:
        """Keep for the next link what a server that is about to restart does not take."""
        if isinstance(request, _OF_A_MATCH):
            self._unsent[request.id] = request
        return Reaction()

    def _hello_answered(self, answer: Ok | Refused) -> Reaction:
        if isinstance(answer, Ok):
            return Reaction()
        if answer.code == Code.UNKNOWN_TOKEN and self._token:
            self._token = None
            self._matches = {name: known for name, known in self._matches.items() if not known.is_ours}
            self._unsent = {}  # all of it was another player's
            return Reaction(say=self.opened())
        if answer.code in _PASSING and answer.retry_after_ms is not None:
            return Reaction(later=[(answer.retry_after_ms, hello) for hello in self.opened()])
        return Reaction(rejected=answer)

    def _welcomed(self, welcome: Welcome) -> Reaction:
        self.is_welcome = True
        if self._is_visiting:
            return Reaction(tell=[replace(welcome, token=None)])
        is_new = self._token is None
        self._token = welcome.token or self._token or self._new_token
        ours = {name: match for name, match in self._matches.items() if not self._is_watched(name)}
        known = [name for name, match in ours.items() if match.is_live]
        newest = list(ours)[-1:]
        unheard_of = [name for name in welcome.matches[:MAX_MATCHES] if name not in ours]
        watched = [self._watched.match] if self._watched is not None else []
        requests = [self._resume(name) for name in dict.fromkeys((*known, *newest, *unheard_of, *watched))]
        if unheard_of:
            self._seek = self._stood = None  # it led to a match just as the link went
        requests += self._seek_again(welcome.seek)
        self._pending |= {request.id: request for request in requests}
        return Reaction(say=requests, tell=[replace(welcome, token=None)], token=self._token if is_new else None)

    def _seek_again(self, standing: SeekInfo | None) -> list[Request]:
        """Return what to say so that on the server stands what was sought here last, and nothing else."""
        if self._seek is None:
            return [] if standing is None else [UnseekRequest(self._new_id())]
        seek = self._seek
        is_standing = standing is not None and (
            standing.games == seek.games
            and standing.time == seek.time
            and (
                (standing.rated, standing.or_casual) == (seek.rated, seek.rated and seek.or_casual)
                or (seek.or_casual and not standing.rated)  # it could not be rated
            )
            and (standing.opponents, standing.level) == (seek.opponents, seek.level)
            and (standing.min_rating, standing.max_rating) == (seek.min_rating, seek.max_rating)
        )
        return [] if is_standing else [seek]

    def _resumed(self, snapshot: Snapshot) -> Reaction:
        check_snapshot(snapshot)
        name, is_live = snapshot.match, snapshot.outcome is None
        if snapshot.you is not None or self._is_watched(name):
            if snapshot.you is not None and is_live and name not in self._matches:
                self._seek = self._stood = None
            self._forget_finished(name)
            self._matches[name] = TrackedMatch(
                snapshot.game, snapshot.seq, snapshot.position.ply, is_live, is_ours=snapshot.you is not None
            )
        return Reaction(say=self._sendable(name), tell=[snapshot])

    def _forget_finished(self, but: str) -> None:
        finished = [name for name, known in self._matches.items() if not known.is_live and name != but]
        for name in finished:
            del self._matches[name]
        if len(self._matches) >= MAX_MATCHES and but not in self._matches:
            raise Refusal(Code.TOO_MANY_MATCHES, "the server sent more matches than anyone can play")

    def _sendable(self, name: str) -> list[Request]:
        """Take what was unanswered in the match out of store: what still makes sense is to be sent again."""
        known = self._matches.get(name)
        again: list[Request] = []
        for request in list(self._unsent.values()):
            if isinstance(request, _OF_A_MATCH) and request.match == name:
                del self._unsent[request.id]
                if not isinstance(request, PlayRequest) or (known and known.is_live and known.ply == request.ply):
                    self._pending[request.id] = request
                    again.append(request)
        return again

    def _happened(self, event: MatchEvent) -> Reaction:
        known = self._matches.get(event.match)
        if known is None or event.seq <= known.seq:
            return Reaction()
        if event.seq > known.seq + 1:
            if known.is_resuming:
                return Reaction()
            request = self._resume(event.match)
            self._pending[request.id] = request
            return Reaction(say=[request])
        if isinstance(event, Played | Tookback):
            check_played(known.game, event)
            known.ply = event.ply
        elif isinstance(event, Ended):
            check_clock(event.clock)
            known.is_live = False
        known.seq = event.seq
        return Reaction(tell=[event])

    def _resume(self, name: str) -> Request:
        known = self._matches.get(name)
        if known is not None:
            known.is_resuming = True
        if self._watched is not None and self._is_watched(name):
            return replace(self._watched, id=self._new_id())
        return ResumeRequest(self._new_id(), match=name, seq=known.seq if known else 0)

    @property
    def last_id(self) -> int:
        """The number of the newest request."""
        return self._last_id

    def _new_id(self) -> int:
        self._last_id += 1
        return self._last_id
