"""Sessions beside a naive model of a server that judges all that they send and report.

Seeds draw requests and faults. The laws: each request gets one answer; nothing is sent twice, nothing that a newer
request cancelled, and nothing of another player; events are delivered once and in order; in the end the server has the
seek, the watched match and the matches that the session has.
"""

import random
from dataclasses import dataclass, field

import pytest
from msgspec.structs import replace

from tests.client.samples import ANN, snapshot, welcome
from ttt_net.errors import Code, Refusal
from ttt_net.messages import (
    AnyServerMessage,
    ChallengeRequest,
    Ended,
    HelloRequest,
    LobbyRequest,
    Notice,
    Offered,
    Ok,
    ProfileRequest,
    Refused,
    RenameRequest,
    Request,
    ResignRequest,
    ResumeRequest,
    SeekInfo,
    SeekRequest,
    Snapshot,
    UnseekRequest,
    UnwatchRequest,
    WatchRequest,
    Welcome,
)
from ttt_net.sdk.client_session import MAX_TRIES, ClientSession, Reaction
from ttt_net.sdk.received import Answered

OURS, SHOWN = snapshot(), snapshot(you=None)
ONCE = (ChallengeRequest, RenameRequest)
"""Requests that may be carried out once only."""
FOR_A_MOMENT = ((Code.TOO_FAST, 400), (Code.RESTARTING, 300), (Code.RESTARTING, None))
FOR_GOOD = ((Code.BUSY, 100), (Code.TOO_FAST, None), (Code.TOO_FAST, 3_000), (Code.STORAGE, None))
STEPS = 120


@dataclass(eq=False)
class Log:
    """A match as the server knows it."""

    name: str
    player: int
    """The number of its player; -1 if it is only watched."""
    events: list[Offered | Ended] = field(default_factory=list)
    is_live: bool = True
    is_forgotten: bool = False
    """Whether the server knows it no longer."""

    @property
    def seq(self) -> int:
        """The number of the latest event; the first is the beginning."""
        return 1 + len(self.events)


class Server:
    """A server as one session knows it."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.session = ClientSession("Ann", None)
        self.is_kind = False
        """Whether nothing is refused or lost any more."""
        self.player = 0
        """The number of the player whom our token names; a deleted one is followed by the next."""
        self.token: str | None = None
        self.hello: HelloRequest | None = None
        """The login that waits for its answer."""
        self.is_in = False
        self.logs: dict[str, Log] = {f"w{number}": Log(f"w{number}", -1) for number in range(2)}
        self.seek: SeekRequest | None = None
        self.watched: str | None = None
        self.wish: SeekRequest | None = None
        """The seek that has to stand in the end."""
        self.wanted: WatchRequest | None = None
        """The request for the match that has to be watched in the end."""
        self.lobby = 0
        """The number of the latest request for the lobby."""
        self.asked: dict[int, Request] = {}
        """Requests that have no answer yet, by number."""
        self.by: dict[int, int] = {}
        """The players of all requests, by number."""
        self.outstanding: dict[int, Request] = {}
        """Requests that were sent on this connection, and not answered or refused."""
        self.tries: dict[int, int] = {}
        """How often each request was sent on this connection."""
        self.early: set[int] = set()
        """Requests from before this connection was open."""
        self.resuming: set[str] = set()
        """Matches whose snapshot is on its way since the welcome."""
        self.later: list[Request] = []
        self.shown: dict[str, tuple[int, bool]] = {}
        """The number of the latest event that was delivered of each followed match, and whether the match is live."""
        self.granted: set[int] = set()
        """Numbers of the requests that were answered with `ok`."""
        self.begun = 0
        self.take(self.session.opened())

    # What the session sends and reports.

    def take(self, requests: list[Request]) -> None:
        """Check and keep what the session sends."""
        for request in requests:
            assert request.id not in self.outstanding, "it is sent once"
            if isinstance(request, HelloRequest):
                assert not self.is_in
                assert self.hello is None
                assert (request.name is None) == (self.token is not None)
                assert self.token in (None, request.token)
                self.hello = request
                continue
            assert self.is_in
            self.tries[request.id] = self.tries.get(request.id, 0) + 1
            assert self.tries[request.id] <= MAX_TRIES or isinstance(request, ResumeRequest)
            if isinstance(request, ONCE):
                assert request.id not in self.early, "nobody knows whether it was carried out"
            if isinstance(request, ResignRequest):
                assert self.by[request.id] == self.player, "it is another player's"
                assert request.id not in self.early or request.match not in self.resuming
            if isinstance(request, SeekRequest):
                assert self.wish is not None
                assert request.id == self.wish.id
            if isinstance(request, WatchRequest):
                assert self.wanted is not None
                assert request.match == self.wanted.match
                self.wanted = request  # the session gives it a new number for each connection
            if isinstance(request, LobbyRequest):
                assert request.id == self.lobby or request.id in self.early
            if isinstance(request, ResumeRequest):
                log = self.logs[request.match]
                assert log.player in (self.player, -1)
                known = self.shown.get(request.match, (0, True))[0]
                assert request.seq == known or self.tries[request.id] > 1
            self.outstanding[request.id] = request

    def judge(self, reaction: Reaction, heard: AnyServerMessage | None = None) -> None:
        """Check what the session reports after a message or a wait."""
        told = list(reaction.tell)
        if isinstance(heard, Snapshot | Offered | Ended):
            is_news = heard in told
            if is_news:
                told.remove(heard)
            self._note(heard, is_news=is_news)
        elif isinstance(heard, Notice | Welcome):
            assert told.pop(0) == (heard if isinstance(heard, Notice) else replace(heard, token=None))
        for event in told:
            assert isinstance(event, Answered), event
            self._answered(event)
        self.later += [request for _, request in reaction.later]
        assert all(wait_ms >= 50 for wait_ms, _ in reaction.later)
        self.take(reaction.say)
        assert self.session.is_asking or not self.asked
        for log in self.logs.values():
            assert self.session.is_following(log.name) == (log.name in self.shown), log.name
        live = [name for name, (_, is_live) in self.shown.items() if is_live and self.logs[name].player >= 0]
        assert self.session.has_live_match == bool(live)

    def _note(self, event: Snapshot | Offered | Ended, *, is_news: bool) -> None:
        """Check that an event is delivered once, and in order."""
        shown = self.shown.get(event.match)
        if isinstance(event, Snapshot):
            assert is_news
            was_announced = event.match in self.resuming
            self.resuming.discard(event.match)
            if event.you is None and not self.is_wanted(event.match):
                return
            is_live = event.outcome is None
            if event.you is not None and is_live and shown is None and not was_announced:
                self.wish = None
            self.shown = {name: known for name, known in self.shown.items() if known[1]}
            self.shown[event.match] = (event.seq, is_live)
            return
        assert is_news == (shown is not None and event.seq == shown[0] + 1)
        if shown is not None and is_news:
            self.shown[event.match] = (event.seq, shown[1] and not isinstance(event, Ended))

    def _answered(self, answered: Answered) -> None:
        """Check an answer that the session gives by itself."""
        request, answer = answered.request, answered.answer
        if request.id not in self.asked:  # the session made it by itself, or had restored a seek
            assert isinstance(request, SeekRequest | UnseekRequest | WatchRequest)
            assert isinstance(request, SeekRequest) == (request.id in self.by)
            return
        assert self.asked.pop(request.id) == request
        assert answer.id == request.id
        match request:
            case SeekRequest() if isinstance(answer, Ok):
                assert self.seek is not None
                assert self.wish == request
                self.granted.add(self.seek.id)
            case SeekRequest():
                assert isinstance(answer, Refused)
                assert answer.code == Code.NOT_SEEKING
                assert self.wish is None or self.wish.id != request.id
            case UnseekRequest() | UnwatchRequest() if isinstance(answer, Ok):
                assert self.is_in
            case UnseekRequest():
                assert isinstance(answer, Refused)
                assert answer.code == Code.NOT_SEEKING
                assert self.wish is not None
            case WatchRequest() | UnwatchRequest() | LobbyRequest():
                assert isinstance(answer, Refused)
                assert answer.code == Code.NOT_WATCHING
                assert not self._is_latest(request)
            case ResignRequest():
                assert isinstance(answer, Refused)
                assert answer.code == Code.NOT_SEATED
                assert self.by[request.id] != self.player
            case _:
                assert isinstance(request, ONCE)
                assert isinstance(answer, Refused)
                assert answer.code == Code.UNKNOWN_OUTCOME
                assert not self.is_in

    def is_wanted(self, match: str) -> bool:
        """Tell whether the match has to be watched in the end."""
        return self.wanted is not None and self.wanted.match == match

    def stop_watching(self) -> None:
        """Forget what is watched."""
        if self.wanted is not None:
            self.shown.pop(self.wanted.match, None)
        self.wanted = None

    # What the program and the server do.

    def hear(self, message: AnyServerMessage) -> None:
        """Send a message to the session."""
        self.judge(self.session.heard(message), message)

    def say(self) -> None:
        """Make any request."""
        rng, ours = self.rng, [log.name for log in self.logs.values() if log.player == self.player]
        request: Request = rng.choice(
            [
                ResignRequest(0, rng.choice([*ours, "gone"])),
                ProfileRequest(0),
                LobbyRequest(0, on=rng.random() < 0.5),
                SeekRequest(0, [rng.choice(["hex", "gomoku"])], rated=rng.random() < 0.5),
                SeekRequest(0, ["hex"]),
                UnseekRequest(0),
                WatchRequest(0, rng.choice(["w0", "w1"])),
                UnwatchRequest(0, self.wanted.match if self.wanted else "w0"),
                rng.choice([ChallengeRequest(0, "Ben"), RenameRequest(0, "Anna")]),
            ]
        )
        if isinstance(request, ONCE) and not self.is_in:
            with pytest.raises(Refusal) as raised:
                self.session.say(request)
            assert raised.value.code is Code.NO_CONNECTION
            return
        sent = self.session.say(request)
        request = replace(request, id=self.session.last_id)
        assert sent == [request] * self.is_in
        self.asked[request.id], self.by[request.id] = request, self.player
        if not self.is_in:
            self.early.add(request.id)
        if isinstance(request, SeekRequest):
            self.wish = request
        elif isinstance(request, UnseekRequest):
            self.wish = None
        elif isinstance(request, LobbyRequest):
            self.lobby = request.id
        elif isinstance(request, WatchRequest | UnwatchRequest):
            self.stop_watching()
            self.wanted = request if isinstance(request, WatchRequest) else None
        self.take(sent)

    def answer(self) -> None:
        """Carry out or refuse the oldest request that was sent."""
        if not self.outstanding:
            return
        request = self.outstanding.pop(next(iter(self.outstanding)))
        if not self.is_kind and self.rng.random() < 0.35 and self.refuse(request):
            return
        if isinstance(request, ResumeRequest) and self.logs[request.match].is_forgotten:
            self.refuse_for_good(request, Refused(request.id, Code.UNKNOWN_MATCH, "no such match"))
        else:
            self.carry_out(request)
            self.grant(request)

    def carry_out(self, request: Request) -> None:
        """Change what the request changes."""
        match request:
            case SeekRequest():
                self.seek = request
            case UnseekRequest():
                self.seek = None
            case WatchRequest():
                self.watched = request.match
            case UnwatchRequest():
                self.watched = None
            case _:
                pass

    def grant(self, request: Request) -> None:
        """Answer `ok`, and send what the request asks for."""
        was_asked = self.asked.pop(request.id, None)
        self.granted.add(request.id)
        reaction = self.session.heard(Ok(request.id))
        assert reaction.tell == [Answered(request, Ok(request.id))], was_asked
        self.judge(replace_told(reaction))
        if isinstance(request, ResumeRequest | WatchRequest):
            log = self.logs[request.match]
            if isinstance(request, ResumeRequest) and request.seq:
                for event in log.events[request.seq - 1 :]:
                    self.hear(event)
            self.hear(self.shot(log))

    def refuse(self, request: Request) -> bool:
        """Refuse a request for a moment or for good; return False if no server does."""
        code, wait_ms = self.rng.choice(FOR_A_MOMENT + FOR_GOOD)
        refused = Refused(request.id, code, "no", wait_ms)
        is_resume = isinstance(request, ResumeRequest)
        if isinstance(request, ResumeRequest):
            code = self.rng.choice([Code.TOO_FAST, Code.STORAGE])
            wait_ms = self.rng.choice([100, 3_000, None]) if request.match in self.shown else 100
            refused = Refused(request.id, code, "no", wait_ms)
        is_moment = wait_ms is not None if is_resume else (code, wait_ms) in FOR_A_MOMENT
        if isinstance(request, ONCE) and code == Code.RESTARTING:
            is_moment = False
        is_late = not self._is_latest(request) or self.tries[request.id] == MAX_TRIES
        if is_late and code != Code.RESTARTING and not is_resume:
            is_moment = False
        if not is_moment and isinstance(request, UnseekRequest | UnwatchRequest):
            return False
        if not is_moment:
            self.refuse_for_good(request, refused)
            return True
        reaction = self.session.heard(refused)
        assert reaction.tell == []
        self.judge(reaction)
        return True

    def _is_latest(self, request: Request) -> bool:
        """Tell whether no request of the program has replaced this one."""
        match request:
            case SeekRequest():
                return self.wish is not None and self.wish.id == request.id
            case UnseekRequest():
                return self.wish is None
            case WatchRequest():
                return self.wanted == request
            case UnwatchRequest():
                return self.wanted is None
            case LobbyRequest():
                return self.lobby == request.id
            case _:
                return True

    def refuse_for_good(self, request: Request, refused: Refused) -> None:
        """Refuse a request so that it is reported."""
        was_asked = self.asked.pop(request.id, None)
        if isinstance(request, SeekRequest) and self._is_latest(request):
            if self.seek is not None and self.seek.id not in self.granted:
                self.seek = None  # its answer was lost, so we know nothing of it
            self.wish = self.seek
        if isinstance(request, WatchRequest):
            self.watched = None
            if self.wanted == request:
                self.stop_watching()
        if isinstance(request, ResumeRequest):
            self.resuming.discard(request.match)
            if refused.code == Code.UNKNOWN_MATCH:
                self.shown.pop(request.match, None)
        reaction = self.session.heard(refused)
        assert reaction.tell == [Answered(request, refused)], was_asked
        self.judge(replace_told(reaction))

    def shot(self, log: Log) -> Snapshot:
        """Return the snapshot of a match."""
        over = None if log.is_live else snapshot(moves=[0, 1, 3, 4, 6]).outcome
        return replace(OURS if log.player >= 0 else SHOWN, match=log.name, seq=log.seq, outcome=over)

    def happen(self) -> None:
        """Go on with a match; what is sent of it may be lost, or come twice."""
        log = self.rng.choice(list(self.logs.values()))
        if log.is_forgotten or (not log.is_live and self.rng.random() < 0.8):
            return
        if log.player >= 0 and log.is_live and self.rng.random() < 0.15:
            log.is_live = False
            self.go_on(log, Ended(log.name, log.seq + 1, 0, 0, "resign"))
        else:
            self.go_on(log, Offered(log.name, log.seq + 1, 0, 1, "draw"), self.rng.choice([0, 1, 1, 1, 2]))

    def go_on(self, log: Log, event: Offered | Ended, copies: int = 1) -> None:
        """Send so many copies of the next event of a match, if we play or watch it."""
        log.events.append(event)
        if self.is_in and (log.player == self.player or self.watched == log.name):
            for _ in range(copies):
                self.hear(event)

    def ours(self) -> list[Log]:
        """Return our unfinished matches."""
        return [log for log in self.logs.values() if log.player == self.player and log.is_live]

    def begin(self) -> None:
        """Begin a match of ours; its snapshot may get lost with the connection."""
        if len(self.logs) > 6:
            return
        while any(isinstance(request, SeekRequest) for request in self.outstanding.values()):
            self.answer()  # nobody can tell whether a seek on its way led to the match
        self.begun += 1
        log = self.logs[f"m{self.begun}"] = Log(f"m{self.begun}", self.player)
        self.seek = None
        if self.is_in:
            self.hear(self.shot(log))

    def forget(self) -> None:
        """Forget all finished matches."""
        for log in self.logs.values():
            log.is_forgotten = not log.is_live

    def wait(self) -> None:
        """Let the wait of a request that was put off be over."""
        if self.later:
            request = self.later.pop(self.rng.randrange(len(self.later)))
            self.judge(self.session.due(request))

    def call_off(self) -> None:
        """Call a restart off."""
        if self.is_in:
            self.early.clear()
            self.hear(Notice("The restart was called off."))

    def link(self) -> None:
        """Drop the connection, or open one, or answer its login."""
        if self.hello is None and not self.is_in:
            self.take(self.session.opened())
        elif self.hello is not None and self.rng.random() < 0.8:
            self.log_in()
        else:
            self.drop()

    def drop(self) -> None:
        """Drop the connection. Of what was sent last, any may have been carried out."""
        for request in self.outstanding.values():
            if self.rng.random() < 0.5:
                self.carry_out(request)
        self.hello, self.is_in, self.watched = None, False, None
        self.outstanding.clear()
        self.tries.clear()
        self.resuming.clear()
        told = self.session.closed()
        for event in told:
            assert isinstance(event, Answered)
            self._answered(event)
        self.early = set(self.asked)
        if self.wish is not None and self.rng.random() < 0.3:
            self.seek = None

    def log_in(self) -> None:
        """Answer a login: let the player in, or not now, or as somebody new."""
        hello, self.hello = self.hello, None
        assert hello is not None
        draw = 1.0 if self.is_kind else self.rng.random()
        if draw < 0.15:
            reaction = self.session.heard(Refused(hello.id, Code.TOO_FAST, "wait", 700))
            ((wait_ms, again),) = reaction.later
            assert (wait_ms, reaction.say, reaction.tell) == (700, [], [])
            self.take(self.session.due(again).say)
            assert self.hello == again
        elif draw < 0.3 and self.token is not None:
            self.token = None
            self.player += 1
            self.seek = None
            self.shown = {name: known for name, known in self.shown.items() if self.logs[name].player == -1}
            self.judge(self.session.heard(Refused(hello.id, Code.UNKNOWN_TOKEN, "unknown")))
            assert self.hello is not None
        else:
            self.let_in(hello)

    def let_in(self, hello: HelloRequest) -> None:
        """Welcome the player."""
        proposed = hello.token
        self.judge(self.session.heard(Ok(hello.id)))
        self.is_in = True
        is_new = self.token is None
        token = f"of {self.player}" if is_new and self.rng.random() < 0.5 else None
        self.token = token or self.token or proposed
        live = [log.name for log in self.ours()]
        if any(name not in self.shown for name in live):
            self.wish = None
        standing = self.seek and SeekInfo(7, ANN, list(self.seek.games), rated=self.seek.rated)
        message = replace(welcome(*live, token=token), seek=standing)
        ours = [name for name in self.shown if self.logs[name].player == self.player]
        going_on = [name for name in ours if self.shown[name][1]]
        self.resuming = set(live)
        reaction = self.session.heard(message)
        assert reaction.token == (self.token if is_new else None)
        self.judge(reaction, message)
        asked = {request.match for request in self.outstanding.values() if isinstance(request, ResumeRequest)}
        assert asked == {*live, *going_on, *ours[-1:]}, "all unfinished matches are resumed, and the newest"

    def act(self) -> None:
        """Do anything."""
        acts = [self.say, self.answer, self.happen, self.wait, self.link, self.call_off, self.begin, self.forget]
        self.rng.choices(acts, [5, 6, 4, 2, 1.5, 0.2, 0.5, 0.1])[0]()

    def settle(self) -> None:
        """Check what holds once nothing goes wrong any more, on this connection and on the next."""
        self.is_kind = True
        for _ in range(2):
            while not self.is_in:
                self.log_in() if self.hello is not None else self.take(self.session.opened())
            self.call_off()
            self.finish()
            for log in self.ours():
                self.go_on(log, Offered(log.name, log.seq + 1, 0, 1, "draw"))
            self.finish()
            assert not self.asked, "each request has its answer"
            assert not self.session.is_asking
            assert self.watched == (self.wanted and self.wanted.match)
            assert (self.seek and replace(self.seek, id=0)) == (self.wish and replace(self.wish, id=0))
            for log in self.ours():
                assert self.shown[log.name] == (log.seq, True)
            self.drop()

    def finish(self) -> None:
        """Answer all requests."""
        while self.outstanding or self.later:
            self.wait()
            self.answer()


def replace_told(reaction: Reaction) -> Reaction:
    """Return a reaction without what it reports."""
    return Reaction(reaction.say, reaction.later)


@pytest.mark.parametrize("first", range(0, 300, 100))
def test_a_session_keeps_its_promises_whatever_the_server_and_the_network_do(first: int) -> None:
    for seed in range(first, first + 100):
        server = Server(seed)
        for _ in range(STEPS):
            server.act()
        server.settle()
