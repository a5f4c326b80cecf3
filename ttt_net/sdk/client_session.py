"""Track the session of a player across any number of connections: identity, unanswered requests, missed events.

Knows no sockets and no clock. `say` takes requests and `heard` takes messages; both return messages to send and events
to deliver. Its invariants:

- Every request gets one `Answered`, by the server or, if its answer can no longer arrive, by the session itself.
- Events are delivered once and in order: repeats are dropped, and a gap is closed with `resume` before anything later.
- After every `welcome` the session resumes unfinished matches. Then it repeats unanswered requests if that does no harm
  (`_KEPT`); a seek only if the server has not kept it. For any other request whose answer was lost, it reports that the
  outcome is unknown.
- The session repeats a request that the server rejects for a moment (`MAX_RETRY_MS`), at most `MAX_TRIES` times, and
  only until it is cancelled. A refusal with a longer wait is reported.
"""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

import ttt_net
from ttt_net import messages
from ttt_net.errors import Code, Refusal
from ttt_net.sdk.received import (
    Answered,
    ConnectionEvent,
    Garbled,
    check_event,
    check_puzzle,
    check_snapshot,
    check_study,
)

MAX_PENDING = 64
"""The maximal number of unanswered requests; the session itself rejects more."""
MAX_MATCHES = 32
"""The maximal number of matches that are followed; of finished ones, only the newest is."""
MAX_RETRY_MS = 2_000
"""A refusal with at most this wait is not reported: the request is repeated."""
MIN_RETRY_MS = 50
RESTART_RETRY_MS = 250
"""The minimal wait before repeating a request on the connection to a server that was about to restart."""
MAX_TRIES = 5
"""How often a request is sent on one connection; `resume` is repeated until it succeeds."""
_OF_A_MATCH = (
    messages.PlayRequest
    | messages.ResignRequest
    | messages.AbortRequest
    | messages.OfferRequest
    | messages.AgreeRequest
    | messages.DeclineRequest
    | messages.ClaimRequest
)
"""Requests that are kept while disconnected, and repeated once their match is resumed; none is carried out twice."""
_QUESTION = (
    messages.LobbyRequest
    | messages.MatchesRequest
    | messages.WhoRequest
    | messages.ProfileRequest
    | messages.HistoryRequest
    | messages.LeaderboardRequest
    | messages.RulesRequest
    | messages.ReplayRequest
    | messages.RecordRequest
    | messages.AnalyseRequest
    | messages.HintRequest
    | messages.PuzzleRequest
    | messages.LearnRequest
    | messages.MistakesRequest
    | messages.StudyRequest
    | messages.MuteRequest
    | messages.BlockRequest
    | messages.BlocksRequest
    | messages.PingRequest
    | messages.TournamentsRequest
    | messages.AttendRequest
    | messages.EnterRequest
    | messages.WithdrawRequest
)
"""Requests that may be carried out twice."""
_WISH = messages.SeekRequest | messages.UnseekRequest | messages.WatchRequest | messages.UnwatchRequest
"""Requests of which only the latest counts; the session restores it on a new connection."""
_KEPT = _OF_A_MATCH | _QUESTION | _WISH
"""Requests that may be repeated after a dropped connection. The outcome of any other is unknown then."""
_PASSING = (Code.TOO_FAST, Code.RESTARTING, Code.STORAGE)
"""Refusals of a `hello` after which waiting helps."""


@dataclass(slots=True)
class TrackedMatch:
    """The latest event of a match, whether it is live and ours, and whether a `resume` is pending."""

    game: messages.GameInfo
    seq: int
    is_live: bool
    is_ours: bool
    is_resuming: bool = False


@dataclass(slots=True)
class Reaction:
    """The consequences of a message: requests to send now or later, events to deliver, a token to store."""

    say: list[messages.Request] = field(default_factory=list)
    later: list[tuple[int, messages.Request]] = field(default_factory=list)
    tell: list[ConnectionEvent] = field(default_factory=list)
    token: str | None = None
    rejected: messages.Refused | None = None


@dataclass(frozen=True, slots=True)
class BotProfile:
    """Describe a bot to the server: its label, level, matches at once, and how many of these are for people."""

    label: str
    level: int | None = None
    places: int = 1
    reserved: int = 0
    any_level: bool = False
    """Whether it plays at any requested level."""
    on_request: bool = False
    """Whether it is paired only with seeks for bots."""
    about: str | None = None
    """A line about its style."""


class ClientSession:
    """The session of one player with one server; `bot` is what a program says about itself."""

    def __init__(
        self,
        name: str | None,
        token: str | None,
        bot: BotProfile | None = None,
        new_token: str | None = None,
        *,
        is_visiting: bool = False,
    ) -> None:
        """Without a `name` or a `token` we are a guest. With `is_visiting`, the session resumes no matches."""
        self.name, self.bot = name, bot
        self._is_visiting = is_visiting
        self.is_welcome = False
        self._token = token
        self._new_token = new_token or secrets.token_urlsafe(32)
        """The token of a new player, chosen here, so that a `hello` without a reply can be repeated."""
        self._hello_id: int | None = None
        self._last_id = 0
        self._pending: dict[int, messages.Request] = {}
        """Unanswered requests that were sent on this connection."""
        self._unsent: dict[int, messages.Request] = {}
        """Unanswered requests that wait for the next connection, or for their match to be resumed."""
        self._tries: dict[int, int] = {}
        """How often each pending request was rejected for a moment."""
        self._put_off: set[int] = set()
        """Requests that will be repeated on this connection after a wait."""
        self._lobby_id = 0
        """The latest `lobby` request."""
        self._seek: messages.SeekRequest | None = None
        """The open or requested seek."""
        self._stood: messages.SeekRequest | None = None
        """The seek that last got `ok`: it stays open if another is rejected."""
        self._matches: dict[str, TrackedMatch] = {}
        self._watched: messages.WatchRequest | None = None
        """The request for the one match that we watch."""
        self._announced: set[str] = set()
        """Matches of the last `welcome` that we had not heard of."""

    @property
    def has_live_match(self) -> bool:
        """Whether an unfinished match of ours is known."""
        return any(known.is_live for name, known in self._matches.items() if not self._is_watched(name))

    @property
    def is_asking(self) -> bool:
        """Whether a request has no answer yet, or waits for the next connection."""
        return bool(self._pending or self._unsent)

    def is_following(self, match: str) -> bool:
        """Tell whether events of a match are delivered: of finished matches, only the newest one's."""
        return match in self._matches

    def opened(self) -> list[messages.Request]:
        """Return what to send first on a new connection."""
        hello = messages.HelloRequest(
            self._new_id(),
            protocols=[messages.PROTOCOL],
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

    def closed(self) -> list[ConnectionEvent]:
        """Handle the end of the connection. Return the answers to requests whose outcome stays unknown."""
        self.is_welcome = False
        self._hello_id = None
        lost, self._pending = self._pending, {}
        self._tries, self._put_off = {}, set()
        self._unsent |= {number: request for number, request in lost.items() if isinstance(request, _KEPT)}
        once = [request for request in lost.values() if not isinstance(request, _KEPT | messages.ResumeRequest)]
        message = "the connection was lost before the server answered"
        return [_refused(request, Code.UNKNOWN_OUTCOME, message) for request in once]

    def say(self, request: messages.Request) -> list[messages.Request]:
        """Give the request an id and return the requests to send now: none without a connection.

        Raises `Refusal` if too many requests are pending, or if there is no connection and the request cannot wait for
        the next one.
        """
        if len(self._pending) + len(self._unsent) >= MAX_PENDING:
            raise Refusal(Code.TOO_FAST, "the server has not answered the last requests yet")
        if not self.is_welcome and not isinstance(request, _KEPT):
            raise Refusal(Code.NO_CONNECTION, "there is no connection to the server now; nothing was sent")
        request = replace(request, id=self._new_id())
        if isinstance(request, messages.SeekRequest):
            self._seek = request
        elif isinstance(request, messages.UnseekRequest):
            self._seek = self._stood = None
        elif isinstance(request, messages.LobbyRequest):
            self._lobby_id = request.id
        elif isinstance(request, messages.WatchRequest | messages.UnwatchRequest):
            self._stop_watching()
            self._watched = request if isinstance(request, messages.WatchRequest) else None
        if self.is_welcome:
            self._pending[request.id] = request
            return [request]
        self._unsent[request.id] = request
        return []

    def due(self, request: messages.Request) -> Reaction:
        """Repeat a postponed request, unless it was answered or cancelled meanwhile."""
        if request.id not in self._put_off:
            return Reaction()
        self._put_off.discard(request.id)
        if request.id == self._hello_id:
            return Reaction(say=[request])
        self._unsent.pop(request.id, None)
        self._pending.pop(request.id, None)
        if not self._is_wanted(request):
            return Reaction(tell=[_cancelled(request)])
        self._pending[request.id] = request
        return Reaction(say=[request])

    def _is_wanted(self, request: messages.Request) -> bool:
        """Tell whether no newer request has cancelled this one."""
        match request:
            case messages.SeekRequest():
                return self._seek is not None and self._seek.id == request.id
            case messages.UnseekRequest():
                return self._seek is None
            case messages.WatchRequest():
                return self._watched is not None and self._watched.id == request.id
            case messages.UnwatchRequest():
                return self._watched is None
            case messages.LobbyRequest():
                return self._lobby_id == request.id
            case _:
                return True

    def _is_watched(self, name: str) -> bool:
        tracked = self._matches.get(name)  # the server rejects watching a match that we play; nothing changes
        return self._watched is not None and self._watched.match == name and not (tracked and tracked.is_ours)

    def heard(self, message: messages.AnyServerMessage) -> Reaction:
        """Process a message and return its consequences."""
        try:
            return self._heard(message)
        except Refusal as refusal:
            return Reaction(tell=[Garbled(str(refusal))])

    def _heard(self, message: messages.AnyServerMessage) -> Reaction:
        match message:
            case messages.Ok() | messages.Refused():
                return self._answered(message)
            case messages.Welcome():
                return self._welcomed(message)
            case messages.Snapshot():
                return self._resumed(message)
            case messages.Notice(restart_in_ms=None):
                return self._called_off(message)
            case _ if isinstance(message, messages.MatchEvent):
                return self._happened(message)
            case messages.PuzzleReply():
                check_puzzle(message)
            case messages.StudyReply():
                check_study(message)
            case _:
                pass
        return Reaction(tell=[message])

    def _called_off(self, notice: messages.Notice) -> Reaction:
        """Repeat requests that the server rejected because of a restart that was called off."""
        kept, self._unsent = self._unsent, {}
        self._put_off -= kept.keys()
        again = [request for request in kept.values() if self._is_wanted(request)]
        self._pending |= {request.id: request for request in again}
        cancelled = [_cancelled(request) for request in kept.values() if not self._is_wanted(request)]
        return Reaction(say=again, tell=[notice, *cancelled])

    def _answered(self, answer: messages.Ok | messages.Refused) -> Reaction:
        if answer.id is None:
            return Reaction(tell=[answer])
        if answer.id in self._put_off:  # answered before, and not sent again yet
            return Reaction()
        if answer.id == self._hello_id:
            return self._hello_answered(answer)
        request = self._pending.get(answer.id)
        if request is None:
            return Reaction()
        put_off = self._put_off_refused(request, answer) if isinstance(answer, messages.Refused) else None
        if put_off is not None:
            return put_off
        del self._pending[request.id]
        self._tries.pop(request.id, None)
        kept: list[messages.Request] = []
        match request:
            case messages.ResumeRequest() | messages.WatchRequest():
                if isinstance(answer, messages.Refused):
                    kept = self._note_not_followed(request)
            case messages.SeekRequest() | messages.UnseekRequest():
                self._note_seek(request, answer)
            case _:
                pass
        if isinstance(answer, messages.Refused) and answer.code == Code.UNKNOWN_MATCH:
            self._matches.pop(getattr(request, "match", ""), None)
        return Reaction(say=kept, tell=[Answered(request, answer)])

    def _put_off_refused(self, request: messages.Request, refusal: messages.Refused) -> Reaction | None:
        """Postpone a request that is rejected for a moment; return None if the refusal must be reported."""
        if (wait_ms := self._wait_ms(request, refusal)) is not None:
            self._tries[request.id] = self._tries.get(request.id, 0) + 1
            self._put_off.add(request.id)
            return Reaction(later=[(wait_ms, request)])
        if refusal.code != Code.RESTARTING or not isinstance(request, _KEPT):
            return None
        del self._pending[request.id]
        self._unsent[request.id] = request
        if refusal.retry_after_ms is None:
            return Reaction()
        self._put_off.add(request.id)  # no restart: only another node takes over the lobby
        return Reaction(later=[(max(RESTART_RETRY_MS, refusal.retry_after_ms), request)])

    def _note_not_followed(self, request: messages.ResumeRequest | messages.WatchRequest) -> list[messages.Request]:
        """Record that a match is not resumed or watched. Return its kept requests, which wait for no snapshot."""
        if (known := self._matches.get(request.match)) is not None:
            known.is_resuming = False
        if isinstance(request, messages.ResumeRequest):
            return self._sendable(request.match)
        if self._is_wanted(request):
            self._stop_watching()
        return []

    def _stop_watching(self) -> None:
        if self._watched is not None and self._is_watched(self._watched.match):
            self._matches.pop(self._watched.match, None)
        self._watched = None

    def _note_seek(
        self, request: messages.SeekRequest | messages.UnseekRequest, answer: messages.Ok | messages.Refused
    ) -> None:
        """Record which seek is open: a rejected one leaves the previous one open."""
        if isinstance(request, messages.UnseekRequest):
            self._stood = None
        elif isinstance(answer, messages.Ok):
            self._stood = request
        elif self._is_wanted(request):
            self._seek = self._stood

    def _wait_ms(self, request: messages.Request, refusal: messages.Refused) -> int | None:
        """Return the delay before repeating a refused request; None if the refusal is to be reported."""
        is_resume = isinstance(request, messages.ResumeRequest)
        if refusal.retry_after_ms is None or not self._is_wanted(request):
            return None
        if refusal.code != Code.TOO_FAST and not (is_resume and refusal.code == Code.STORAGE):
            return None
        is_soon = refusal.retry_after_ms <= MAX_RETRY_MS and self._tries.get(request.id, 0) + 1 < MAX_TRIES
        return max(MIN_RETRY_MS, refusal.retry_after_ms) if is_resume or is_soon else None

    def _hello_answered(self, answer: messages.Ok | messages.Refused) -> Reaction:
        if isinstance(answer, messages.Ok):
            return Reaction()
        if answer.code == Code.UNKNOWN_TOKEN and self._token:
            self._token = None
            self._matches = {name: known for name, known in self._matches.items() if not known.is_ours}
            others = [request for request in self._unsent.values() if isinstance(request, _OF_A_MATCH)]
            self._unsent = {n: request for n, request in self._unsent.items() if not isinstance(request, _OF_A_MATCH)}
            return Reaction(
                say=self.opened(), tell=[_refused(request, Code.NOT_SEATED, answer.message) for request in others]
            )
        if answer.code in _PASSING and answer.retry_after_ms is not None:
            (hello,) = self.opened()
            self._put_off.add(hello.id)
            return Reaction(later=[(answer.retry_after_ms, hello)])
        return Reaction(rejected=answer)

    def _welcomed(self, welcome: messages.Welcome) -> Reaction:
        if self.is_welcome:
            raise Refusal(Code.BAD_MESSAGE, "the server sent a second welcome")
        self.is_welcome = True
        if self._is_visiting:
            requests, answers = self._say_again(None, ())
            self._pending |= {request.id: request for request in requests}
            return Reaction(say=requests, tell=[replace(welcome, token=None), *answers])
        is_new = self._token is None
        self._token = welcome.token or self._token or self._new_token
        ours = {name: match for name, match in self._matches.items() if not self._is_watched(name)}
        known = [name for name, match in ours.items() if match.is_live]
        newest = list(ours)[-1:]
        unheard_of = [name for name in welcome.matches[:MAX_MATCHES] if name not in ours]
        watched = [self._watched.match] if self._watched is not None else []
        requests = [self._resume(name) for name in dict.fromkeys((*known, *newest, *unheard_of, *watched))]
        self._announced = set(unheard_of)
        if unheard_of:
            self._seek = self._stood = None  # it started a match just as the connection dropped
        again, answers = self._say_again(welcome.seek, requests)
        requests += again
        self._pending |= {request.id: request for request in requests}
        told = [replace(welcome, token=None), *answers]
        return Reaction(say=requests, tell=told, token=self._token if is_new else None)

    def _say_again(
        self, standing: messages.SeekInfo | None, sent: Sequence[messages.Request]
    ) -> tuple[list[messages.Request], list[ConnectionEvent]]:
        """Return the kept requests to send after those in `sent`, and answers to those that need not be sent.

        Requests about resumed matches wait for the snapshot. `standing` is our seek that the server has kept.
        """
        again: list[messages.Request] = []
        answers: list[ConnectionEvent] = []
        sent_ids = {request.id for request in sent}
        resumed = {request.match for request in sent if isinstance(request, messages.ResumeRequest)}
        kept, self._unsent = self._unsent, {}
        is_standing = _is_same(self._seek, standing)
        if not _is_same(self._stood, standing):
            self._stood = None
        if self._seek is not None and not is_standing:
            again.append(self._seek)
        elif self._seek is None and standing is not None:
            again.append(messages.UnseekRequest(self._new_id()))
        for request in kept.values():
            match request:
                case messages.SeekRequest() if self._seek is not None and request.id == self._seek.id and is_standing:
                    self._stood = request
                    answers.append(Answered(request, messages.Ok(request.id)))
                case messages.SeekRequest() if self._seek is None or request.id != self._seek.id:
                    answers.append(_cancelled(request))
                case messages.UnseekRequest() | messages.UnwatchRequest():
                    answers.append(Answered(request, messages.Ok(request.id)))  # only a seek outlives its connection
                case messages.WatchRequest() if self._watched is None or request.id != self._watched.id:
                    answers.append(_cancelled(request))
                case messages.WatchRequest() if request.match in resumed:
                    answers.append(_refused(request, Code.NOT_WATCHING, "you play in that match"))
                case _ if isinstance(request, _OF_A_MATCH) and request.match in resumed:
                    self._unsent[request.id] = request
                case _ if request not in again and request.id not in sent_ids:
                    again.append(request)
                case _:
                    pass  # it is already sent
        return again, answers

    def _resumed(self, snapshot: messages.Snapshot) -> Reaction:
        check_snapshot(snapshot)
        name, is_live = snapshot.match, snapshot.outcome is None
        if snapshot.you is not None or self._is_watched(name):
            if snapshot.you is not None and is_live and name not in self._matches and name not in self._announced:
                self._seek = self._stood = None  # it has led to this match
            self._forget_finished(name)
            is_ours = snapshot.you is not None
            self._matches[name] = TrackedMatch(snapshot.game, snapshot.seq, is_live, is_ours)
        return Reaction(say=self._sendable(name), tell=[snapshot])

    def _forget_finished(self, but: str) -> None:
        finished = [name for name, known in self._matches.items() if not known.is_live]
        for name in finished:
            del self._matches[name]
        if len(self._matches) >= MAX_MATCHES and but not in self._matches:
            raise Refusal(Code.TOO_MANY_MATCHES, "the server sent more matches than anyone can play")

    def _sendable(self, name: str) -> list[messages.Request]:
        """Remove and return the stored unanswered requests of the match; the server carries out none twice."""
        kept = [request for request in self._unsent.values() if isinstance(request, _OF_A_MATCH)]
        again: list[messages.Request] = [request for request in kept if request.match == name]
        for request in again:
            del self._unsent[request.id]
            self._put_off.discard(request.id)
            self._pending[request.id] = request
        return again

    def _happened(self, event: messages.MatchEvent) -> Reaction:
        known = self._matches.get(event.match)
        if known is None or event.seq <= known.seq:
            return Reaction()
        if event.seq > known.seq + 1:
            if known.is_resuming:
                return Reaction()
            request = self._resume(event.match)
            self._pending[request.id] = request
            return Reaction(say=[request])
        check_event(known.game, event)
        known.is_live &= not isinstance(event, messages.Ended)
        known.seq = event.seq
        return Reaction(tell=[event])

    def _resume(self, name: str) -> messages.Request:
        known = self._matches.get(name)
        if known is not None:
            known.is_resuming = True
        if self._watched is not None and self._is_watched(name):
            if self._watched.id not in self._unsent:
                self._watched = replace(self._watched, id=self._new_id())
            return self._watched
        return messages.ResumeRequest(self._new_id(), match=name, seq=known.seq if known else 0)

    @property
    def last_id(self) -> int:
        """The number of the newest request."""
        return self._last_id

    def _new_id(self) -> int:
        self._last_id += 1
        return self._last_id


def _is_same(seek: messages.SeekRequest | None, standing: messages.SeekInfo | None) -> bool:
    """Tell whether there are an open seek and a requested one, and both are the same."""
    return (
        seek is not None
        and standing is not None
        and standing.games == seek.games
        and standing.time == seek.time
        and (
            (standing.rated, standing.or_casual) == (seek.rated, seek.or_casual)
            or (seek.or_casual and not standing.rated)  # it could not be rated
        )
        and (standing.opponents, standing.level) == (seek.opponents, seek.level)
        and (standing.min_rating, standing.max_rating) == (seek.min_rating, seek.max_rating)
    )


def _refused(request: messages.Request, code: Code, message: str) -> Answered:
    """Return an answer of the session itself."""
    return Answered(request, messages.Refused(request.id, code.value, message))


def _cancelled(request: messages.Request) -> Answered:
    is_seek = isinstance(request, messages.SeekRequest | messages.UnseekRequest)
    code = Code.NOT_SEEKING if is_seek else Code.NOT_WATCHING
    return _refused(request, code, "it was cancelled before the server took it")
