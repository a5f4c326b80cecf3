"""Run tournaments: carry out requests, journal the director's decisions, and seat the players of a round.

A round begins with one entry, and a result counts in the transaction of its match's end. So the whole state can be read
again from the journal at any time. Deadlines and pauses use the monotonic clock, and start again after a restart.

In a cluster every node has all tournaments in memory, and evolves them by the entries of all nodes. A request is
decided on the node of its player, and again if another node wrote first. Only the steward takes the next step.
"""

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import NamedTuple, assert_never

from msgspec import Struct

from ttt_net import messages as wire
from ttt_net.errors import Code, Overtaken, Refusal
from ttt_net.games import find_game, game_name
from ttt_net.games.rules import UNEVEN
from ttt_net.messages import PlayerInfo, TournamentPlace
from ttt_net.pairing.lobby import CODE_LETTERS
from ttt_net.server.admission.rate_limiter import MATCH_BYTES
from ttt_net.server.journal.entries import AppendTournament, BeginBoards
from ttt_net.server.journal.queries import StoredTournament, with_names
from ttt_net.server.matchmaking.eligibility import Eligibility
from ttt_net.server.matchmaking.lobby_feed import LobbyFeed
from ttt_net.server.matchmaking.match_registry import MatchRegistry, Start
from ttt_net.server.online_players import Session
from ttt_net.server.players import FORGOTTEN, PlayerId
from ttt_net.server.rooms.coach import answer_of
from ttt_net.server.services import Services
from ttt_net.text import clean, name_key
from ttt_net.tournaments import director, swiss
from ttt_net.tournaments.standings import ORDERS, TournamentRow, in_points
from ttt_net.tournaments.swiss import SwissRound, swiss_players
from ttt_net.tournaments.tournament import (
    AnyFact,
    BoardsBegan,
    BoardState,
    Opened,
    Terms,
    Tournament,
)

TournamentRequest = (
    wire.OrganiseRequest
    | wire.TournamentsRequest
    | wire.AttendRequest
    | wire.EnterRequest
    | wire.WithdrawRequest
    | wire.DirectRequest
)
"""The requests about tournaments."""
log = logging.getLogger(__name__)
CODE_LENGTH = 5
"""Shorter than the code of an invitation, to tell them apart."""
MAX_NAME_CELLS = 40
MAX_OF_ORGANISER = 3
"""The maximal number of unfinished tournaments of one player."""
MAX_ATTENDED = 10
"""The maximal number of tournaments to which a session subscribes."""
MAX_ENDED = 50
"""The number of finished tournaments kept in memory; others are read on request."""
MAX_QUEUED = 1_000
"""The maximal number of requests that wait for one tournament; each is a write."""
MAX_CROWDS = 8
"""The number of addresses for which a tournament may raise the limits: those whose players entered first."""
MAX_ROWS = 50
LATEST = 30
"""The latest results that are told of a tournament without rounds."""
PAGE_ROWS = 100
"""The rows of standings, and the boards, on one page."""
INLINE = 40
"""The maximal size of a Swiss round to pair on the event loop, in about 5 ms; larger rounds use a process."""
_PAIRING_S, _PAIRING_NICE = 30.0, 10
_MAX_TRIES = 3
"""How often to pair a round again because players changed meanwhile; after that, it is paired on the event loop."""
RETRY_S = 5.0
_RESULT_WORDS: dict[tuple[int, int], wire.TournamentResult] = {
    (2, 0): "1-0",
    (0, 2): "0-1",
    (1, 1): "1/2-1/2",
    (0, 0): "0-0",
}
_Decide = Callable[[], list[AnyFact]]


class _Asked(NamedTuple):
    """A request that waits for its turn."""

    decide: _Decide
    done: Callable[[], None]
    failed: Callable[[Refusal], None]


class TournamentPreview(Struct, frozen=True):
    """A tournament as shown to people who open its link, before they log in."""

    guests_only: bool = True


class Tournaments:
    """All unfinished and recently ended tournaments, by code."""

    def __init__(self, services: Services, registry: MatchRegistry, eligibility: Eligibility) -> None:
        self._services = services
        self._registry = registry
        self._eligibility = eligibility
        self.desks: dict[str, TournamentDesk] = {}
        self._opening: dict[str, PlayerId | None] = {}
        """The organisers of new tournaments that are being written, by code."""
        self._attended: dict[Session, set[str]] = {}
        """The codes of the tournaments to which each session subscribes."""
        self._list = LobbyFeed(services.loop, services.now_ms, services.guard, services.shares)
        self._list.publish({"tournaments": self.listed})
        self._is_read = False
        registry.on_ended = self._match_ended
        registry.on_renamed = self._renamed

    def recall(self) -> None:
        """Read the unfinished tournaments, and keep the rooms of their matches; retry until it succeeds."""

        def done(stored: list[StoredTournament]) -> None:
            for each in stored:
                desk = self._desk(each)
                self.desks[desk.now.id] = desk
                desk.take_up()
                if self._services.membership is None:
                    desk.go_on()
            self._is_read = True

        def failed(refusal: Refusal) -> None:
            log.error("tournaments of before the start do not go on: %s", refusal)
            self._services.loop.call_later(RETRY_S, self.recall)

        self._services.journal.tournaments(None, done, failed)

    def hear(self, entry: AppendTournament | BeginBoards, names: Mapping[PlayerId, str]) -> None:
        """Apply an entry of another node of the cluster, or one of this node whose outcome was unknown.

        `names` has the names of the players in it. Entries that arrive while the journal is being read are in what is
        read.
        """
        desk = self.desks.get(entry.tournament)
        if desk is not None:
            desk.hear(entry, names)
        elif self._is_read and isinstance(entry, AppendTournament) and isinstance(entry.facts[0], Opened):
            now = Tournament(entry.tournament, entry.facts[0])
            self.desks[entry.tournament] = self._desk_of(now, dict(names))
            self._list_changed()

    def take_over(self) -> None:
        """Go on with all tournaments as the new steward; deadlines of absent players begin again."""
        for desk in self.desks.values():
            desk.take_up()

    def _desk(self, stored: StoredTournament) -> "TournamentDesk":
        now = Tournament.from_facts(stored.code, stored.facts, stored.ends)
        return self._desk_of(now, dict(stored.names))

    def _desk_of(self, now: Tournament, names: dict[PlayerId, str]) -> "TournamentDesk":
        return TournamentDesk(now, names, self._services, self._registry, self._eligibility, self._list_changed)

    def _list_changed(self) -> None:
        self._list.changed("tournaments")

    def tick(self) -> None:
        """Take the next step of each tournament. Call this about once a second."""
        guard = self._services.guard
        for desk in list(self.desks.values()):
            guard.attempt("a tournament", desk.look)
        ended = [code for code, desk in self.desks.items() if desk.now.is_over and desk.now.is_between_rounds]
        for code in ended[:-MAX_ENDED]:
            del self.desks[code]
            for attended in self._attended.values():
                attended.discard(code)
        self._list.tick()
        self._services.rate_limiter.crowds_are(self._crowds())

    def _crowds(self) -> dict[str, int]:
        """Return the addresses from which players of a tournament are connected that lets more of them in."""
        found: dict[str, int] = {}
        for desk in self.desks.values():
            most = desk.now.terms.per_address
            if most is not None and not desk.now.is_over:
                for address in islice(desk.addresses(), MAX_CROWDS):
                    found[address] = max(most, found.get(address, 0))
        return found

    def left(self, session: Session) -> None:
        """Stop sending to a session."""
        self._list.unsubscribe(session)
        for code in self._attended.pop(session, ()):
            if code in self.desks:
                self.desks[code].unsubscribe(session)

    def has(self, code: str) -> bool:
        """Tell whether an unfinished tournament has a code, or, in a cluster, a new one may have it."""
        code = code.strip().upper()
        if self._may_miss(code):
            return len(code) == CODE_LENGTH
        return code in self.desks and not self.desks[code].now.is_over

    def preview(self, code: str, address: str | None) -> "TournamentPreview | None":
        """Return the preview of a tournament in which only guests play; None after too many wrong codes."""
        desk = self.desks.get(code.strip().upper())
        if desk is None or not desk.now.terms.anonymous:
            return None
        try:
            self._services.rate_limiter.check_of_address("wrong_codes", address)
        except Refusal:
            return None
        return TournamentPreview()

    def must_keep_name(self, session: Session) -> None:
        """Raise `Refusal` if a guest plays in an anonymous tournament, where everybody has a made-up name."""
        for desk in self.desks.values():
            if desk.now.terms.anonymous and not desk.now.is_over and desk.now.entrant_of(session.player) is not None:
                raise Refusal(Code.NOT_IN_TOURNAMENT, "in an anonymous tournament, players keep their made-up names")

    def is_quiet(self, code: str) -> bool:
        """Tell whether only phrases are said in the matches of a tournament."""
        desk = self.desks.get(code)
        return desk is not None and not desk.now.terms.chat

    def act(self, session: Session, request: TournamentRequest) -> None:
        """Carry out one request, which gets one answer. Raises `Refusal` if it is not allowed."""
        self.must_be_read()
        if isinstance(request, wire.OrganiseRequest | wire.TournamentsRequest) or not self._may_miss(
            request.tournament
        ):
            self._act(session, request)
        else:
            self._act_later(session, request.id, partial(self._act, session, request))

    def _may_miss(self, code: str) -> bool:
        """Tell whether a tournament may have been made on another node a moment ago."""
        return self._services.membership is not None and code.strip().upper() not in self.desks

    def _act_later(self, session: Session, request: int, act: Callable[[], None]) -> None:
        """Carry out a request about an unknown code once this node knows everything that was in the log."""
        self._spend(session, is_look=True)
        self._services.rate_limiter.check("codes", session.player)

        def known() -> None:
            try:
                act()
            except Refusal as refusal:
                session.refuse(request, refusal)

        self._services.journal.catch_up(known, partial(session.refuse, request))

    def _act(self, session: Session, request: TournamentRequest) -> None:
        match request:
            case wire.OrganiseRequest():
                self._organise(session, request)
            case wire.TournamentsRequest():
                self._spend(session, is_look=True)
                session.ok(request.id)
                self._tell_list(session, is_on=request.on)
            case wire.AttendRequest():
                self._attend(session, request)
            case wire.EnterRequest():
                self.enter(session, request.id, request.tournament)
            case wire.WithdrawRequest():
                self._spend(session)
                desk = self._found(session, request.tournament)
                at = partial(director.leave, desk.now, session.player)
                desk.ask(self._at(at), partial(session.ok, request.id), partial(session.refuse, request.id))
            case wire.DirectRequest():
                self._spend(session)
                desk = self._found(session, request.tournament)
                if desk.now.organiser != session.player:
                    raise Refusal(Code.NOT_ORGANISER, "another player has made that tournament")
                self.direct(desk, request, partial(session.ok, request.id), partial(session.refuse, request.id))
            case _:
                assert_never(request)

    def _tell_list(self, session: Session, *, is_on: bool | None) -> None:
        """Tell the list once, or now and whenever it changes, or no more."""
        if is_on is None:
            session.tell(self.listed())
        elif is_on:
            self._list.changed("tournaments", slightly=True)  # it may have a countdown
            self._list.subscribe(session)
        else:
            self._list.unsubscribe(session)

    def must_be_read(self) -> None:
        """Raise `Refusal` if this server has not read its tournaments yet."""
        if not self._is_read:
            raise Refusal(Code.RESTARTING, "the server has just started; try again in a moment", 1_000)

    def _spend(self, session: Session, *, is_look: bool = False) -> None:
        address = session.connection.metered_as
        self._services.rate_limiter.spend("inquiries" if is_look else "challenges", session.player, address)
        if not is_look:
            self._services.disk.may_write()
            self._services.rate_limiter.wrote(address, MATCH_BYTES)

    def _at(self, decide: Callable[[int], list[AnyFact]]) -> _Decide:
        return lambda: decide(self._services.wall_ms())

    def find(self, code: str) -> "TournamentDesk":
        """Return the desk of a tournament in memory. Raises `Refusal` if none has the code."""
        desk = self.desks.get(code.strip().upper())
        if desk is None:
            raise Refusal(Code.UNKNOWN_TOURNAMENT, "no tournament has that code, or it is long over")
        return desk

    def _found(self, session: Session, code: str) -> "TournamentDesk":
        """Return the desk of a tournament; a wrong code counts against the player, not against their address."""
        try:
            return self.find(code)
        except Refusal:
            self._services.rate_limiter.spend("codes", session.player, None)
            raise

    # Creating a tournament.

    def _organise(self, session: Session, request: wire.OrganiseRequest) -> None:
        limits = self._services.limits
        if not limits.allow_tournaments:
            raise Refusal(Code.NO_TOURNAMENTS, "on this server only the host makes tournaments")
        own = sum(desk.now.organiser == session.player for desk in self.desks.values() if not desk.now.is_over)
        own += list(self._opening.values()).count(session.player)
        if own >= MAX_OF_ORGANISER:
            raise Refusal(Code.BAD_TOURNAMENT, f"{own} tournaments of yours are not over; end one first")
        if request.rated:
            self._eligibility.must_be_ratable(session, (game_name(request.game),))
        opened = self.checked(request, session.player)
        self._services.rate_limiter.spend("tournaments", session.player, session.connection.metered_as)
        self._spend(session)

        def done(desk: TournamentDesk) -> None:
            session.ok(request.id)
            session.tell(desk.message(1))

        self.open(opened, {session.player: session.info.name}, done, partial(session.refuse, request.id))

    def checked(
        self,
        request: wire.OrganiseRequest,
        organiser: PlayerId | None,
        per_address: int | None = None,
        spare: str | None = None,
    ) -> Opened:
        """Return the first fact of a tournament. Raises `Refusal` if it is not allowed."""
        services = self._services
        wall_ms = services.wall_ms()
        is_open = sum(not desk.now.is_over for desk in self.desks.values()) + len(self._opening)
        if is_open >= services.limits.open_tournaments:
            raise Refusal(Code.BAD_TOURNAMENT, "there are as many tournaments as may be; one has to end first")
        name = clean(request.name, MAX_NAME_CELLS)
        if not name:
            raise Refusal(Code.BAD_NAME, "a tournament needs a name")
        services.words.check_name(name)
        bot = None if spare is None else services.players.find(spare)
        if spare is not None and (bot is None or not bot.is_bot):
            raise Refusal(Code.UNKNOWN_PLAYER, f"no bot called {spare} is here now")
        terms = Terms(
            name=name,
            kind=request.kind,
            game=game_name(request.game),
            time=request.time,
            rounds=request.rounds,
            rated=request.rated,
            private=request.private,
            begin_s=request.begin_s,
            pause_s=request.pause_s,
            minutes=request.minutes,
            chat=request.chat,
            legs=legs_of(request),
            full=request.full,
            starts_ms=None if request.starts_in_s is None else wall_ms + 1_000 * request.starts_in_s,
            most=services.limits.tournament_players,
            anonymous=request.anonymous,
            per_address=per_address,
            spare=None if bot is None else bot.info.name,
        )
        return director.opened(terms, organiser, wall_ms)

    def open(
        self,
        opened: Opened,
        names: dict[PlayerId, str],
        done: Callable[["TournamentDesk"], None],
        failed: Callable[[Refusal], None],
    ) -> None:
        """Journal a new tournament with a new code; `names` has that of its organiser, if it is a player."""
        code = ""
        while not code or code in self.desks or code in self._opening:
            code = "".join(self._services.rng.choices(CODE_LETTERS, k=CODE_LENGTH))
        desk = self._desk_of(Tournament(code, opened), names)

        def written() -> None:
            del self._opening[code]
            self.desks[code] = desk
            self._list_changed()
            done(desk)

        def refused(refusal: Refusal) -> None:
            del self._opening[code]
            failed(refusal)

        self._opening[code] = opened.organiser
        self._services.journal.direct(code, 1, [opened], written, refused)

    # Playing in a tournament.

    def join(self, session: Session, request: int, code: str) -> None:
        """Enter a player who typed a code without knowing whose it is, and tell them the tournament."""
        enter = partial(self.enter, session, request, code, lambda: session.tell(self.find(code).message(1)))
        if self._may_miss(code):
            self._act_later(session, request, enter)
        else:
            enter()

    def enter(self, session: Session, request: int, code: str, entered: Callable[[], None] = lambda: None) -> None:
        """Let a player enter by the code, and then call `entered`. Raises `Refusal` if they may not."""
        self._spend(session)
        desk = self._found(session, code)
        if desk.now.terms.rated:
            self._eligibility.must_be_ratable(session, (desk.now.terms.game,))
        if desk.now.terms.anonymous and not session.is_guest:
            raise Refusal(Code.GUESTS_ONLY, "in that tournament all players are guests, under made-up names")

        def decide() -> list[AnyFact]:
            facts = director.enter(desk.now, session.player, self._services.wall_ms())
            desk.names[session.player] = session.info.name
            return facts

        def done() -> None:
            session.ok(request)
            entered()

        desk.ask(decide, done, partial(session.refuse, request))

    def direct(
        self,
        desk: "TournamentDesk",
        asked: wire.DirectRequest,
        done: Callable[[], None],
        failed: Callable[[Refusal], None],
        *,
        is_host: bool = False,
    ) -> None:
        """Carry out an action of the organiser. Raises `Refusal` if it is not allowed."""
        now = desk.now
        match asked.act:
            case "start":
                desk.ask(desk.start, done, failed)
            case "pause":
                desk.ask(self._at(partial(director.pause, now)), done, failed)
            case "resume":
                desk.ask(self._at(partial(director.resume, now)), done, failed)
            case "end":
                desk.ask(self._at(partial(director.end, now)), done, failed)
            case "next":
                desk.ask(self._at(partial(director.want_round, now)), done, failed)
            case "correct":
                if asked.round is None or asked.board is None or asked.result is None:
                    raise Refusal(Code.BAD_TOURNAMENT, "name the round, the board and the result")
                note = clean(asked.note, director.MAX_CORRECTIONS_NOTE)
                parts = partial(director.correct, now, asked.round, asked.board, asked.result, note)
                desk.ask(self._at(parts), done, failed)
            case "add" | "remove":
                self._change_player(desk, asked, done, failed, is_host=is_host)
            case _:
                assert_never(asked.act)

    def _change_player(
        self,
        desk: "TournamentDesk",
        asked: wire.DirectRequest,
        done: Callable[[], None],
        failed: Callable[[Refusal], None],
        *,
        is_host: bool,
    ) -> None:
        decide, name = director.add if asked.act == "add" else director.remove, asked.name or ""
        player = desk.player_called(name)
        if player is not None:
            desk.ask(self._at(partial(decide, desk.now, player)), done, failed)
            return
        if not is_host or desk.now.terms.anonymous:
            raise Refusal(Code.UNKNOWN_PLAYER, "nobody of that name has entered; players enter by the code themselves")

        def found(known: tuple[PlayerId, str]) -> None:
            desk.names[known[0]] = known[1]
            desk.ask(self._at(partial(decide, desk.now, known[0])), done, failed)

        self._services.journal.player_named(name, found, failed)

    # Showing tournaments.

    def listed(self, *, has_private: bool = False) -> wire.TournamentList:
        """Return the list of tournaments: open and running ones, newest first, then recently ended ones."""
        desks = [desk for desk in self.desks.values() if has_private or not desk.now.terms.private]
        desks = sorted(desks, key=lambda desk: (desk.now.is_over, -desk.now.opened_ms))
        return wire.TournamentList(len(desks), [desk.row() for desk in desks[:MAX_ROWS]])

    def _attend(self, session: Session, request: wire.AttendRequest) -> None:
        self._spend(session, is_look=True)
        if self._services.players.get(session.player) is not session:
            return  # they have left before the log of the cluster answered
        code = request.tournament.strip().upper()
        desk, attended = self.desks.get(code), self._attended.setdefault(session, set())
        attended.discard(code)
        if desk is not None:
            desk.unsubscribe(session)
        if not request.on:
            session.ok(request.id)
        elif desk is None:
            self._read(session, request, code)
        elif len(attended) >= MAX_ATTENDED:
            raise Refusal(Code.BUSY, f"you follow {len(attended)} tournaments; leave one first")
        else:
            attended.add(code)
            session.ok(request.id)
            desk.subscribe(session, min(request.page, desk.pages))

    def _read(self, session: Session, request: wire.AttendRequest, code: str) -> None:
        """Send a tournament that ended long ago, once; an unknown code counts as an attempt."""
        self._services.rate_limiter.check("codes", session.player)

        def done(stored: list[StoredTournament]) -> None:
            if not stored:
                with contextlib.suppress(Refusal):
                    self._services.rate_limiter.spend("codes", session.player, None)
                session.refuse(request.id, Refusal(Code.UNKNOWN_TOURNAMENT, "no tournament has that code"))
                return
            desk = self._desk(stored[0])
            session.ok(request.id, desk.message(min(request.page, desk.pages)))

        self._services.journal.tournaments(code, done, partial(session.refuse, request.id))

    # Events from elsewhere.

    def _match_ended(self, match: str, ended: wire.Ended) -> None:
        for desk in self.desks.values():
            if desk.now.board_of(match) is not None:
                desk.settle(match, ended)
                return

    def _renamed(self, player: PlayerId, name: str) -> None:
        for desk in self.desks.values():
            if player in desk.names:
                desk.names[player] = name
                desk.changed()


def legs_of(request: wire.OrganiseRequest) -> int:
    """Return how many matches a pairing has: by the game, if that is not said."""
    if request.legs is not None:
        return request.legs
    return 2 if request.kind not in wire.WITHOUT_ROUNDS and game_name(request.game) in UNEVEN else 1


class TournamentDesk:
    """One tournament: its state, the requests that wait for a write, and its subscribers."""

    def __init__(
        self,
        now: Tournament,
        names: dict[PlayerId, str],
        services: Services,
        registry: MatchRegistry,
        eligibility: Eligibility,
        on_changed: Callable[[], None],
    ) -> None:
        """`on_changed` is called when the row of the list may differ."""
        self.now = now
        self.names = names
        """The current names of the players."""
        self._services = services
        self._registry = registry
        self._eligibility = eligibility
        self._on_changed = on_changed
        self._queue: deque[_Asked] = deque()
        self._is_busy = False
        self._pairing: asyncio.Task[None] | None = None
        self._tries = 0
        self._rests_since_ms = services.now_ms()
        self._feeds: dict[int, LobbyFeed] = {}
        self._table: tuple[int, list[TournamentRow], dict[int, int]] = (-1, [], {})
        """The `seq` of the standings, their rows, and the wins in a row; all pages and viewers share them."""
        self._presence: dict[int, director.Availability] = {}
        """Without rounds, which players are free for the next match, and since when."""

    def take_up(self) -> None:
        """Keep the rooms of the open matches; the time for first moves begins again."""
        matches = [board.matches[-1] for board in self.now.open_boards() if board.awaits is None]
        self._registry.hold_boards(matches, 1_000 * self.now.terms.begin_s)

    def go_on(self) -> None:
        """Give back the time in which no server ran."""
        self.ask(
            lambda: director.stood_still(self.now, self._services.wall_ms()),
            lambda: None,
            lambda refusal: log.warning("tournament %s: %s", self.now.id, refusal),
        )

    def hear(self, entry: AppendTournament | BeginBoards, names: Mapping[PlayerId, str]) -> None:
        """Apply an entry that was written elsewhere, unless it is known already."""
        if entry.seq <= self.now.seq:
            return
        self.names.update(names)
        match entry:
            case AppendTournament():
                for fact in entry.facts:
                    self.now.evolve(fact)
            case BeginBoards():
                starts = list[Start]()
                for start in entry.starts:
                    (started,) = start.events
                    assert isinstance(started, wire.Started), "a board begins with the start of its match"
                    assert start.seats is not None, "a match starts with its seats"
                    starts.append((started, start.seats))
                self._begun(entry.began, starts)
            case _:
                assert_never(entry)
        self._went_on()

    # Writing.

    def ask(self, decide: _Decide, done: Callable[[], None], failed: Callable[[Refusal], None]) -> None:
        """Decide and journal facts in turn; call `done`, or `failed` if they are not allowed or too many wait."""
        if len(self._queue) >= MAX_QUEUED:
            failed(Refusal(Code.TOO_FAST, f"{len(self._queue)} requests wait for that tournament; try again", 1_000))
            return
        self._queue.append(_Asked(decide, done, failed))
        self._serve()

    def _serve(self) -> None:
        while self._queue and not self._is_busy:
            asked = self._queue.popleft()
            try:
                facts = asked.decide()
            except Refusal as refusal:
                asked.failed(refusal)
                continue
            if facts:
                self._write(facts, asked)
            else:
                asked.done()

    def _write(self, facts: list[AnyFact], asked: _Asked | None = None) -> None:
        """Journal facts and apply them; `asked` is the request that they carry out, if any."""
        self._is_busy = True

        def written() -> None:
            self._is_busy = False
            for fact in facts:
                self.now.evolve(fact)
            if asked is not None:
                asked.done()
            self._went_on()

        failed = partial(self._failed, self.now.seq, asked)
        self._services.journal.direct(self.now.id, self.now.seq + 1, facts, written, failed)

    def _failed(self, seq: int, asked: _Asked | None, refusal: Refusal) -> None:
        """Decide again if another node has written first; each time, that one's request was carried out instead."""
        self._is_busy = False
        if isinstance(refusal, Overtaken) and self.now.seq > seq:
            if asked is not None:
                self._queue.appendleft(asked)
            self._serve()
            self._services.guard.attempt("a tournament", self.look)
            return
        if asked is not None:
            asked.failed(refusal)
        else:
            log.warning("tournament %s will try again: %s", self.now.id, refusal)
        self._serve()

    def _went_on(self) -> None:
        self.changed()
        self._serve()
        self._services.guard.attempt("a tournament", self.look)

    def settle(self, match: str, ended: wire.Ended) -> None:
        """Count the end of a match, which is already in the tables."""
        if self.now.settle(match, ended.winner, ended.reason):
            self._rests_since_ms = self._services.now_ms()
        at_ms = self._services.wall_ms()
        self.changed()
        if not self._services.keeps_lobby:
            return
        self.ask(
            lambda: director.absent(self.now, match, ended.winner, ended.reason, at_ms),
            lambda: None,
            lambda refusal: log.warning("tournament %s: %s", self.now.id, refusal),  # they are paired once more
        )
        self.look()

    # The next step.

    def look(self) -> None:
        """Take the next step, if one is due, no write is pending, and this server directs tournaments."""
        for feed in self._feeds.values():
            feed.tick()
        services, now = self._services, self.now
        if self._is_busy or self._pairing is not None:
            return
        if not services.shutdown.lets_begin or not services.keeps_lobby:
            return
        at_ms, rested_ms = services.wall_ms(), services.now_ms() - self._rests_since_ms
        due = director.due(now, at_ms, rested_ms)
        try:
            services.disk.may_write()
        except Refusal:
            return  # rounds wait until the disk has room
        match due:
            case None:
                pass
            case "begin":
                self._write(self.start())
            case "close":
                self._write(director.closed(now, at_ms))
            case "replay":
                self._begin(director.replay_of(now, self._registry.new_id, at_ms))
            case "pair":
                changed = director.seat_spare(now, at_ms, self._spare())
                if changed:
                    self._write(changed)
                else:
                    self._pair()
            case _:
                assert_never(due)

    def start(self) -> list[AnyFact]:
        """Return the start of the tournament. Raises `Refusal` if it cannot begin."""
        return director.start(self.now, self._services.wall_ms(), self._spare())

    def _spare(self) -> PlayerId | None:
        """Return the bot that plays while the number of players is odd, if there is one and it is connected."""
        name = self.now.terms.spare
        session = None if name is None else self._services.players.find(name)
        if session is None or not session.is_bot:
            return None
        self.names[session.player] = session.info.name
        return session.player

    def addresses(self) -> Iterable[str]:
        """Return the addresses of connected players, each once, in the order in which their first player entered."""
        sessions = (self._services.players.get(self.now.entrants[entrant].player) for entrant in self.now.present)
        found = (session.connection.metered_as for session in sessions if session is not None)
        return dict.fromkeys(address for address in found if address is not None)

    def _pair(self) -> None:
        now = self.now
        if now.is_continuous:
            self._seat_free()
            return
        if not director.needs_matching(now) or len(now.present) <= INLINE or self._tries >= _MAX_TRIES:
            self._begin_round(director.pairing(now, swiss.matched))
        else:
            self._pairing = self._services.loop.create_task(self._pair_outside())

    def _seat_free(self) -> None:
        """Begin the matches of free players in a tournament without rounds, or let an absent one wait."""
        services, now = self._services, self.now
        at_ms, now_ms = services.wall_ms(), services.now_ms()
        self._look_around(now_ms)
        facts = director.seating(now, self._presence, self.standings, self._registry.new_id, now_ms, at_ms)
        match facts:
            case []:
                pass
            case [BoardsBegan() as began]:
                self._begin(began)
            case _:
                self._write(facts)

    def _look_around(self, now_ms: int) -> None:
        """Note who is free: connected, and in no match. A bot plays other matches beside."""
        playing = {entrant for board in self.now.open_boards() for entrant in board.entrants}
        before, self._presence = self._presence, {}
        for entrant in self.now.present:
            if entrant in playing:
                continue
            session = self._services.players.get(self.now.entrants[entrant].player)
            is_free = session is not None and (session.is_bot or not self._eligibility.occupied(session))
            last = before.get(entrant)
            if last is None or last.is_free != is_free:
                last = director.Availability(is_free, now_ms)
            self._presence[entrant] = last

    async def _pair_outside(self) -> None:
        """Pair a large round in a process; if players change meanwhile, or it fails, try again."""
        now, seq = self.now, self.now.seq
        players = swiss_players(now.present, now.results(), now.offs())
        played = len(now.rounds)
        is_last = played + 1 == now.total_rounds
        asked = swiss.question(players, is_last=is_last, rounds_played=played)
        self._tries += 1
        proposal: SwissRound | None = None
        try:
            proposal = swiss.answered(await answer_of(swiss.COMMAND, _PAIRING_NICE, asked, _PAIRING_S))
        except (TimeoutError, OSError, ValueError) as error:
            log.warning("tournament %s: the process that pairs gave no round: %s", now.id, error or "it took too long")
        finally:
            self._pairing = None
        if proposal is not None and seq == now.seq and not self._is_busy:
            try:
                director.check(now, proposal)
            except ValueError as error:
                log.error("tournament %s: %s", now.id, error)
            else:
                self._begin_round(director.swiss_pairing(proposal))
                return
        self._services.guard.attempt("a tournament", self.look)

    def _begin_round(self, plan: director.RoundPlan) -> None:
        self._tries = 0
        self._begin(director.round_of(self.now, plan, self._registry.new_id, self._services.wall_ms()))

    def _begin(self, began: BoardsBegan) -> None:
        """Journal a round with all its matches in one entry, and then seat the players."""
        self._is_busy = True
        starts = list(self._starts(began))

        def written() -> None:
            self._is_busy = False
            self._begun(began, starts)
            self._went_on()

        failed = partial(self._failed, self.now.seq, None)
        self._services.journal.begin_boards(self.now.id, self.now.seq + 1, began, starts, written, failed)

    def _begun(self, began: BoardsBegan, starts: Sequence[Start]) -> None:
        """Apply a round that was journaled, and seat its players."""
        self._rests_since_ms = self._services.now_ms()
        self.now.evolve(began)
        named = [
            (with_names(started, *(self.names.get(player, FORGOTTEN) for player in seats)), seats)
            for started, seats in starts
        ]  # a player may have been renamed while the round was written
        self._registry.begin_boards(named, 1_000 * self.now.terms.begin_s)

    def _starts(self, began: BoardsBegan) -> Iterable[Start]:
        terms, entrants = self.now.terms, self.now.entrants
        for board in began.boards:
            if board.match is None:
                continue
            assert board.second is not None, "a match has two players"
            seats = entrants[board.first].player, entrants[board.second].player
            started = wire.Started(
                match=board.match,
                seq=1,
                at_ms=began.at_ms,
                game=terms.game,
                players=(self._info(seats[0]), self._info(seats[1])),
                time=terms.time,
                private=terms.private,
                rated=terms.rated and self._may_rate(seats),
                code=self.now.id if terms.private else None,
                tournament=TournamentPlace(self.now.id, began.round, board.board),
                rules=find_game(terms.game).face.version,
            )
            yield started, seats

    def _info(self, player: PlayerId) -> PlayerInfo:
        session = self._services.players.get(player)
        if session is None:
            return PlayerInfo(self.names.get(player, FORGOTTEN))
        return session.info_for(self.now.terms.game, self.now.terms.time, None)

    def _may_rate(self, seats: tuple[PlayerId, PlayerId]) -> bool:
        """Tell whether a match may be rated, by the rules of all matches, as far as players are connected."""
        first, second = (self._services.players.get(player) for player in seats)
        if first is None or second is None:
            return False
        return self._eligibility.may_be_rated((first, second), (self.now.terms.game,))

    # Sending.

    def changed(self) -> None:
        """Schedule sending to subscribers."""
        self._on_changed()
        for feed in self._feeds.values():
            feed.changed("tournament")

    def subscribe(self, session: Session, page: int) -> None:
        """Send a page to a session now, and whenever it changes."""
        if page not in self._feeds:
            services = self._services
            feed = LobbyFeed(services.loop, services.now_ms, services.guard, services.shares)
            feed.publish({"tournament": partial(self.message, page)})
            self._feeds[page] = feed
        self._feeds[page].changed("tournament", slightly=True)  # it may have a countdown
        self._feeds[page].subscribe(session)

    def unsubscribe(self, session: Session) -> None:
        """Stop sending to a session, and drop pages without readers."""
        for feed in self._feeds.values():
            feed.unsubscribe(session)
        self._feeds = {page: feed for page, feed in self._feeds.items() if feed.readers}

    @property
    def pages(self) -> int:
        """The number of pages of the standings."""
        return max(1, -(-len(self.now.entrants) // PAGE_ROWS))

    @property
    def _state(self) -> wire.TournamentState:
        now = self.now
        return "over" if now.is_over else "paused" if now.is_paused else "running" if now.is_begun else "open"

    def player_called(self, name: str) -> PlayerId | None:
        """Return the present or past entrant with a name; None if nobody has it."""
        key = name_key(name)
        players = (state.player for state in self.now.entrants.values())
        return next((player for player in players if name_key(self.names.get(player, "")) == key), None)

    def name_of(self, entrant: int) -> str:
        """Return the current name of an entrant."""
        return self.names.get(self.now.entrants[entrant].player, FORGOTTEN)

    def _organiser(self) -> str | None:
        return None if self.now.organiser is None else self.names.get(self.now.organiser, FORGOTTEN)

    def _starts_in_ms(self) -> int | None:
        starts_ms = self.now.terms.starts_ms
        if starts_ms is None or self.now.is_begun or self.now.is_over:
            return None
        return max(0, starts_ms - self._services.wall_ms())

    def row(self) -> wire.ListedTournament:
        """Return the row of the list of tournaments."""
        now, terms = self.now, self.now.terms
        return wire.ListedTournament(
            tournament=now.id,
            name=terms.name,
            kind=terms.kind,
            game=terms.game,
            time=terms.time,
            state=self._state,
            round=len(now.rounds),
            rounds=now.total_rounds,
            players=len(now.present),
            organiser=self._organiser(),
            rated=terms.rated,
            starts_in_ms=self._starts_in_ms(),
        )

    def message(self, page: int | None) -> wire.TournamentReply:
        """Return the state of the tournament, with one page of its rows; None: all rows."""
        now, terms = self.now, self.now.terms
        shown = slice(None) if page is None else slice((page - 1) * PAGE_ROWS, page * PAGE_ROWS)
        breaks = ORDERS.get(terms.kind, ())
        boards = self._boards()
        rows = self.standings()[shown]
        streaks = self._table[2]
        return wire.TournamentReply(
            tournament=now.id,
            seq=self.seq,
            name=terms.name,
            kind=terms.kind,
            game=terms.game,
            time=terms.time,
            state=self._state,
            round=len(now.rounds),
            rounds=now.total_rounds,
            players=len(now.entrants),
            page=page or 1,
            pages=self.pages,
            tie_breaks=list(breaks),
            standings=[
                wire.TournamentStanding(
                    place=row.place,
                    player=self.name_of(row.entrant),
                    score=row.score,
                    breaks=[in_points(name, value) for name, value in zip(breaks, row.breaks, strict=True)],
                    gone=not now.entrants[row.entrant].is_here,
                    streak=streaks[row.entrant],
                )
                for row in rows
            ],
            boards=self.boards(boards[shown]),
            open_boards=len(now.open_boards()),
            organiser=self._organiser(),
            rated=terms.rated,
            private=terms.private,
            ended=now.closed,
            starts_in_ms=self._starts_in_ms(),
            next_in_ms=self._next_in_ms(),
            ends_in_ms=None if now.is_over else now.left_ms(self._services.wall_ms()),
            waiting=[self.name_of(each) for each in now.tables.waiting[:PAGE_ROWS]] or None,
            full=None if now.is_begun else terms.full,
            anonymous=terms.anonymous,
        )

    @property
    def seq(self) -> int:
        """The number of changes: facts and results."""
        return self.now.seq + self.now.settled

    def standings(self) -> list[TournamentRow]:
        """Return the standings, computed once after each change."""
        if self._table[0] != self.seq:
            self._table = (self.seq, self.now.standings(), self.now.streaks())
        return self._table[1]

    def _boards(self) -> list[BoardState]:
        """Return the boards of the current round; without rounds, the open ones and then the latest results."""
        now = self.now
        if now.is_continuous:
            newest = reversed(now.rounds[0].values()) if now.rounds else ()
            return [*now.open_boards(), *islice((board for board in newest if board.is_settled), LATEST)]
        return [now.rounds[-1][number] for number in sorted(now.rounds[-1])] if now.rounds else []

    def _next_in_ms(self) -> int | None:
        now = self.now
        is_waiting = now.is_between_rounds and not (now.is_continuous or now.is_paused or now.is_over)
        if not is_waiting or now.terms.pause_s is None or not now.rounds or director.is_finished(now):
            return None
        return max(0, self._rests_since_ms + 1_000 * now.terms.pause_s - self._services.now_ms())

    def boards(self, boards: Iterable[BoardState]) -> list[wire.TournamentBoard]:
        """Return boards in the form for clients."""
        uncounted = self.now.uncounted()
        return [self._board(board, is_void=not uncounted.isdisjoint(board.entrants)) for board in boards]

    def _board(self, board: BoardState, *, is_void: bool) -> wire.TournamentBoard:
        return wire.TournamentBoard(
            board=board.board,
            first=self.name_of(board.first),
            second=None if board.second is None else self.name_of(board.second),
            match=board.matches[-1] if board.matches else None,
            result=None if board.points is None else _RESULT_WORDS[board.points],
            corrected=board.is_corrected,
            forfeit=board.second is not None and not board.is_played,
            void=not board.is_counted or (is_void and board.is_settled),
            legs=list(board.sums) if board.legs else None,
        )
