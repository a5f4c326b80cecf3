"""Keep the display of one player: events and commands change it, and requests go to the server."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Protocol

from msgspec import structs

from ttt_net import messages
from ttt_net.client.act import act, answered
from ttt_net.client.display import AnyCommand, Command, Display, Page, Send
from ttt_net.client.mailbox import WorldEvent
from ttt_net.client.remembered import Achievements
from ttt_net.client.screens.advice import due_requests
from ttt_net.client.screens.board_play import followed, leads_on
from ttt_net.client.screens.lobby_screen import featured_watched
from ttt_net.client.screens.offers import as_understood
from ttt_net.client.screens.puzzle import mistakes_wanted
from ttt_net.client.screens.registry import screen_of
from ttt_net.client.screens.rules_screen import opening
from ttt_net.client.screens.screen import has_room_for_picture
from ttt_net.client.screens.tournament_screen import FEATURE as TOURNAMENTS
from ttt_net.client.update import update
from ttt_net.client.words import OPENING_PLIES, invitation, title_of
from ttt_net.client.world import LinkState, World
from ttt_net.errors import Code, Refusal
from ttt_net.sdk.received import Answered, Farewell, Parting
from ttt_net.sdk.trust import Trust
from ttt_net.text import clean

Answer = Callable[[messages.Request], Sequence[messages.AnyServerMessage]]
"""Answers a request without a server. Raises `Refusal` if the request needs one."""


class RunnableConnection(Protocol):
    """A connection or a server search that a loop keeps running."""

    @property
    def is_asking(self) -> bool:
        """Whether a request has no answer yet."""

    async def run(self) -> None:
        """Keep the connection up until reconnecting is pointless."""


class PlayerConnection(RunnableConnection, Protocol):
    """A player's connection: to a server, or to the matches at this keyboard."""

    @property
    def url(self) -> str:
        """The address of the server; empty without one."""

    @property
    def trust(self) -> Trust:
        """How the server is trusted."""

    @property
    def latency_ms(self) -> int | None:
        """The round trip to the server; None if not known yet."""

    def say(self, request: messages.Request) -> None:
        """Send a request. Raises `Refusal` if too many requests are unanswered."""


class Controller(Protocol):
    """Keeps a display: that of a player, or that of a person who chooses a server."""

    @property
    def connection(self) -> RunnableConnection:
        """The connection, which has to run until the controller is done."""

    @property
    def display(self) -> Display:
        """The display to be shown."""

    @property
    def is_to_go_on(self) -> bool:
        """Whether another match is requested, so that typed moves may wait for it."""

    @property
    def wanted(self) -> messages.SeekRequest:
        """The latest seek, or the first one to send."""

    @property
    def is_done(self) -> bool:
        """Whether there is nothing left to wait for."""

    def hear(self, event: WorldEvent, now_ms: int) -> None:
        """Handle an event."""

    def do(self, command: AnyCommand) -> None:
        """Carry out a command."""

    def hold_search(self) -> None:
        """Do not seek opponents until the player asks for one."""

    def look_at_link(self) -> None:
        """Update the displayed latency."""

    def look_at_window(self, size: tuple[int, int], now_ms: int) -> None:
        """Get what only windows of this size (columns, rows) have room for."""

    def forget_notice(self) -> None:
        """Remove the notice."""


_IMPOSSIBLE = (Code.UNKNOWN_GAME, Code.ALWAYS_CASUAL)
"""Refusals of a seek that would be rejected again."""
_LATER = (Code.TOO_FAST, Code.RESTARTING, Code.STORAGE, Code.UNKNOWN_OUTCOME)
"""Refusals of a mistake that may be sent again."""
_CALM_MS = 10
"""A change of latency too small to display."""


def _is_unknown_game(answer: messages.Ok | messages.Refused) -> bool:
    return isinstance(answer, messages.Refused) and answer.code == Code.UNKNOWN_GAME


class ClientController:
    """Updates the display after events and commands, and sends the requests that follow.

    It subscribes to the lobby whenever the lobby is visible.
    """

    def __init__(
        self,
        connection: PlayerConnection,
        seek: messages.SeekRequest,
        address: str,
        opening: messages.JoinRequest | messages.InviteRequest | None = None,
        *,
        has_lobby: bool = False,
        is_in_lines: bool = False,
        is_seeking: bool = True,
        is_hosting: bool = False,
        is_shared: bool = False,
        count_guests: Callable[[], int] | None = None,
        is_first_match_of: Callable[[str], bool] | None = None,
        keep_achievements: Callable[[Achievements], None] | None = None,
        unfinished: Collection[str] = (),
        keep_unfinished: Callable[[Collection[str]], None] | None = None,
        end_server: Callable[[], None] | None = None,
        may_be_guest: bool = False,
    ) -> None:
        """If an `opening` is given, send it first instead of the seek; if it is rejected, the session ends.

        `is_shared`: two people play at this keyboard. `is_in_lines`: the lobby is not on screen, but printed on
        request. `count_guests` counts the other people on our own server. `is_first_match_of` returns whether to show a
        game's rules when a match begins, and remembers that they were shown; None: never. `keep_achievements` is called
        with changed achievements. `unfinished` are the matches that this player left last time; results of those that
        ended meanwhile are shown. `keep_unfinished` is called with the matches to remember whenever they change.
        `end_server` ends our own server before we leave it, so that its guests see that it closed, not that we
        disconnected. `may_be_guest`: if a tournament admits only guests, enter it as one, on another connection.
        """
        self.connection = connection
        world = World(address, is_hosting=is_hosting, is_shared=is_shared, server_goes_on=end_server is None)
        self.display = Display(world, has_lobby=has_lobby)
        self.display = replace(
            self.display,
            world=replace(self.display.world, is_secure=connection.url.startswith("wss:"), trust=connection.trust),
        )
        self._seek = self._first_seek = self._sought = seek
        """The current default seek, the first one, and the one before the latest."""
        self._opening = opening
        self._has_opened = False
        self._is_in_lines = is_in_lines
        self._count_guests = count_guests
        self._is_first_match_of = is_first_match_of
        self._keep_achievements = keep_achievements
        self._unfinished, self._keep_unfinished = frozenset(unfinished), keep_unfinished
        self._end_server = end_server
        self._may_be_guest = may_be_guest
        self._has_lobby = has_lobby and not is_in_lines
        self._is_seeking = is_seeking
        self._learning: messages.LearnRequest | None = None
        """The mistake of ours that is on its way to the server."""
        self._unlearned: list[messages.OwnPuzzle] = []
        """The mistakes that the server has rejected on this connection."""
        self._followed: set[str] = set()
        """The tournaments that the server was asked to tell on this connection."""

    @property
    def is_to_go_on(self) -> bool:
        """Whether a seek is open."""
        return self.display.world.seeking is not None

    @property
    def wanted(self) -> messages.SeekRequest:
        """The latest seek, or the first one to send."""
        return self._seek

    @property
    def is_done(self) -> bool:
        """Whether nothing is left to wait for: the server's farewell has arrived, or ours was sent."""
        is_online = self.display.world.link is LinkState.ONLINE
        is_server_due = self._end_server is not None and not self.display.is_serving_on and is_online
        return self.display.world.farewell is not None or (self._has_said_all and not is_server_due)

    @property
    def _has_said_all(self) -> bool:
        """Whether we are leaving and do not have to wait for the end of a match first."""
        is_end_due = self.display.is_live and self.display.world.link is LinkState.ONLINE
        return self.display.is_leaving and (self.display.is_match_kept or not is_end_due)

    def _end_with_server(self) -> None:
        """End our own server before we leave it."""
        if self._has_said_all and self._end_server is not None and not self.display.is_serving_on:
            self._end_server()

    def hear(self, event: WorldEvent, now_ms: int) -> None:
        """Handle an event."""
        watched, achieved, entered = self.display.world.watching, self.display.achieved, self.display.world.entered
        self.display = update(self.display, event, now_ms)
        match event:
            case messages.Snapshot():
                self._show(event, watched)
            case messages.InvitationReply():
                self.display = replace(self.display, is_arriving=False)
            case messages.Rematched() if leads_on(self.display, event):
                self.display, requests = followed(self.display)
                self._say(requests)
        world = self.display.world
        if world.entered not in (entered, "") and world.seeking is not None:
            self.do(Send(messages.UnseekRequest(0)))  # another match would keep us from the round
        self._say(due_requests(self.display, event))
        self._say(mistakes_wanted(self.display, event))
        if isinstance(event, messages.ServerMessage):
            self._say(screen_of(self.display).asks_next(self.display, event))
        self._keep_mistakes(event)
        if self._keep_achievements is not None and self.display.achieved is not achieved:
            self._keep_achievements(self.display.achieved)
        self._note_unfinished(event)
        match event:
            case messages.Welcome():
                self._followed.clear()
                self._begin(event)
            case messages.InvitationReply():
                self._wait_for_friend(event)
            case messages.TournamentReply():
                self._introduce_tournament(event)
            case Answered():
                self._take_answer(event)
        self._look_around()
        self._end_with_server()

    def _keep_mistakes(self, event: WorldEvent) -> None:
        """Send our mistakes to the server that keeps them, one after the other; they stay here until it has them."""
        match event:
            case messages.Welcome():
                self._learning, self._unlearned = None, []
            case Answered(messages.LearnRequest() as request, messages.Ok()):
                achieved = self.display.achieved.with_sent(request.mistake, self.display.account)
                self.display, self._learning = replace(self.display, achieved=achieved), None
            case Answered(messages.LearnRequest() as request, messages.Refused(code=code)):
                if code not in _LATER:  # otherwise it waits for the next connection
                    self._unlearned.append(request.mistake.puzzle)
                    self._learning = None
        account = self.display.learns_at
        if not account or self._learning is not None or self.display.world.link is not LinkState.ONLINE:
            return
        mistake = self.display.achieved.unsent(account, self._unlearned)
        if mistake is not None:
            self._learning = messages.LearnRequest(0, mistake)
            self._say((self._learning,))

    def _show(self, match: messages.Snapshot, watched: str | None) -> None:
        """Introduce a match; stop watching another match if one of ours has taken its place on the screen."""
        self.display = replace(self.display, is_arriving=False)
        if watched is not None and self.display.world.watching is None:
            self._say((messages.UnwatchRequest(0, match=watched),))
        self._introduce(match)

    def _wait_for_friend(self, told: messages.InvitationReply) -> None:
        """Stop seeking strangers. Without a lobby, show the invitation as a notice."""
        if self.display.world.seeking is not None:
            self.do(Send(messages.UnseekRequest(0)))
        if not self._has_lobby:
            pages = tuple(page for page in self.display.pages if page.screen != "invitation")
            self.display = replace(self.display, notice=invitation(self.display, told), pages=pages)

    def _take_answer(self, event: Answered) -> None:
        """Send the requests that follow from an answer; end or seek again if our main request was rejected."""
        match event:
            case Answered(
                messages.EnterRequest(tournament=code) | messages.JoinRequest(code=code),
                messages.Refused(code=Code.GUESTS_ONLY),
            ) if self._may_be_guest:
                self.display = self.display.as_guest_of(code)
                return
        self._say(answered(self.display, event))
        self._end_if_refused(event)
        match event:
            case Answered(messages.SeekRequest(), messages.Refused(code=code)) if code in _IMPOSSIBLE:
                self._seek = self._sought  # an impossible seek is not repeated
            case Answered(messages.ResumeRequest(match=name), messages.Refused()):
                if self.display.match is None and name not in self.display.world.missed:
                    self._look_for_match()

    def do(self, command: AnyCommand) -> None:
        """Carry out a command.

        Before a player leaves their own server while guests are connected, ask for confirmation.
        """
        if command is Command.LEAVE and self._count_guests is not None:
            self.display = replace(self.display, world=replace(self.display.world, guests=self._count_guests()))
        self.display, requests = act(self.display, command, self._seek)
        goes_on = self._end_server is None or self.display.is_serving_on
        self.display = replace(self.display, world=replace(self.display.world, server_goes_on=goes_on))
        for request in requests:
            if isinstance(request, messages.SeekRequest):
                self._sought, self._seek = self._seek, request
            if isinstance(request, messages.SeekRequest | messages.UnseekRequest):
                self._is_seeking = isinstance(
                    request, messages.SeekRequest
                )  # a player who has stopped does not seek again after a reconnect
        self._say(requests)
        self._look_around()
        self._end_with_server()

    def say(self, request: messages.Request) -> None:
        """Send a request that changes nothing here."""
        self._say((request,))

    def hold_search(self) -> None:
        """Do not seek opponents until the player asks for one."""
        self._is_seeking = False

    def look_at_link(self) -> None:
        """Update the displayed latency if it has changed noticeably."""
        now_ms, shown_ms = self.connection.latency_ms, self.display.world.latency_ms
        if now_ms is None or shown_ms is None or abs(now_ms - shown_ms) > max(_CALM_MS, shown_ms // 4):
            self.display = replace(self.display, world=replace(self.display.world, latency_ms=now_ms))

    def look_at_window(self, size: tuple[int, int], now_ms: int) -> None:
        """Watch the featured match while the lobby has room for its picture."""
        self.display, requests = featured_watched(self.display, has_room=has_room_for_picture(size))
        self._say(requests)

    def forget_notice(self) -> None:
        """Remove a printed notice in lines mode, where nothing stays on a screen."""
        self.display = replace(self.display, notice="")

    def _introduce(self, match: messages.Snapshot) -> None:
        """Show the rules of a game before a player's first match of it, but not over a running clock."""
        is_new = match.you is not None and match.outcome is None and match.position.ply < OPENING_PLIES
        is_seen = self.display.shown == match.match and self.display.page.screen == "match"
        if not (is_new and is_seen and self._is_first_match_of and self._is_first_match_of(match.game.name)):
            return
        if match.time is None or self._is_in_lines:
            self._explain(match.game.name)
        else:
            self.display = replace(self.display, notice=f"Is {title_of(match.game.name)} new to you? ? explains it.")

    def _introduce_tournament(self, told: messages.TournamentReply) -> None:
        """Show the rules of its game to a player who waits in a tournament, so that no clock runs meanwhile."""
        display = self.display
        is_waiting = told.tournament == display.world.entered and not display.is_live and told.state != "over"
        is_seen = self._is_in_lines or display.page == Page("tournament", about=told.tournament)
        if is_waiting and is_seen and self._is_first_match_of and self._is_first_match_of(told.game):
            self._explain(told.game)

    def _explain(self, game: str) -> None:
        if self._is_in_lines:
            self.say(messages.RulesRequest(0, game=game))
        else:
            self.do(opening(game))

    def _note_unfinished(self, event: WorldEvent) -> None:
        """Remember our unfinished matches, and request those that ended while we were away."""
        unfinished = self._unfinished
        match event:
            case messages.Welcome():
                missed = tuple(sorted(unfinished - {*event.matches, *self.display.world.matches}))
                self.display = replace(self.display, world=replace(self.display.world, missed=missed))
                unfinished = frozenset(event.matches)
                self._say(tuple(messages.ResumeRequest(0, match=match, seq=0) for match in missed))
            case messages.Snapshot(you=int()):
                unfinished = unfinished - {event.match} if event.outcome else unfinished | {event.match}
            case messages.Ended():
                unfinished -= {event.match}
        if unfinished != self._unfinished:
            self._unfinished = unfinished
            if self._keep_unfinished is not None:
                self._keep_unfinished(unfinished)

    def _begin(self, welcome: messages.Welcome) -> None:
        if self._opening is not None:
            self.display = replace(self.display, is_arriving=not self._has_opened)
            if not self._has_opened and not (isinstance(self._opening, messages.JoinRequest) and welcome.matches):
                self._has_opened = True
                self._say((self._opening,))
        elif self._is_seeking and not welcome.matches and not self.display.world.matches:
            self._look_for_match()

    def _end_if_refused(self, event: Answered) -> None:
        """Say farewell if the request that we came for is impossible."""
        request = structs.replace(event.request, id=0)
        features = self.display.world.features
        opening = self._opening and as_understood(self._opening, features)
        if request == opening and getattr(event.answer, "code", None) == Code.UNKNOWN_OUTCOME:
            self._has_opened = False  # it is sent again on the next connection, unless it led to a match
            return
        is_first_seek = request == as_understood(self._first_seek, features)
        is_opening = request == opening or (is_first_seek and _is_unknown_game(event.answer))
        if isinstance(event.answer, messages.Refused) and is_opening and self.display.match is None:
            farewell = Farewell(Parting.REJECTED, clean(event.answer.message, 400), event.answer.code)
            self.display = replace(self.display, world=replace(self.display.world, farewell=farewell))

    def _look_for_match(self) -> None:
        if self.display.world.seeking is None:
            self.display = replace(self.display, world=replace(self.display.world, seeking=self._seek))
            self._say((self._seek,))

    def _look_around(self) -> None:
        """Subscribe to the lists of the lobby if they are visible or needed to suggest an opponent."""
        display = self.display
        is_over = display.match is not None and display.match.outcome is not None
        is_wanted = display.page.screen == "lobby" or display.world.seeking is not None or is_over
        if (
            self._has_lobby
            and is_wanted
            and display.world.link is LinkState.ONLINE
            and not display.world.lobby.is_subscribed
        ):
            self.display = replace(
                display, world=replace(display.world, lobby=replace(display.world.lobby, is_subscribed=True))
            )
            self._say((messages.LobbyRequest(0, on=True),))
            if TOURNAMENTS in display.world.features:
                self._say((messages.TournamentsRequest(0, on=True),))
        if display.world.link is LinkState.ONLINE:
            self._follow_tournaments()

    def _follow_tournaments(self) -> None:
        """Ask for the state of our tournament and of those on open pages, and no more for any other."""
        display = self.display
        wanted = {page.about for page in display.pages if page.screen == "tournament"}
        wanted |= {display.world.entered} - {""}
        for code in sorted(self._followed - wanted):
            self._say((messages.AttendRequest(0, code, on=False),))
        for code in sorted(wanted - self._followed):
            self._say((messages.AttendRequest(0, code),))
        self._followed = wanted

    def _say(self, requests: tuple[messages.Request, ...]) -> None:
        for request in requests:
            if isinstance(request, messages.AttendRequest) and request.on:
                self._followed.add(request.tournament)
            try:
                self.connection.say(as_understood(request, self.display.world.features))
            except Refusal as refusal:
                self.display = replace(self.display, notice=str(refusal), pending=None)
