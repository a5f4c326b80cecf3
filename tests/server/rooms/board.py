"""A server whose matches are played on simulated time, alone or as a node of a cluster."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from tests.server.house import Caller, Members, elsewhere
from tests.server.matchmaking.parlour import Parlour, number_of
from ttt_net import messages as wire
from ttt_net.clock import TimeControl
from ttt_net.errors import Refusal
from ttt_net.server.cluster.log import Came
from ttt_net.server.journal.entries import AppendEvents
from ttt_net.server.online_players import Session
from ttt_net.server.players import Player
from ttt_net.server.rooms.room import MatchRoom

MINUTE = TimeControl(60_000)
BOT: dict[str, Any] = {"bot": "alpha", "places": 9}
Write = tuple[Sequence[wire.MatchEvent], Callable[[Any], None], Callable[[Refusal], None]]


class Board(Parlour):
    """A parlour on the time of its loop, which notes what rooms read and what the lists of the lobby are told."""

    def __init__(self, **limits: Any) -> None:
        super().__init__(**limits)
        self._gone_ms = 0.0
        self.registry = self.hub.registry
        self.reads: list[str] = []
        """By which way each match was read: beside the writes, or in order with them."""
        self.changed: Counter[tuple[str, bool]] = Counter()
        """How often each list was said to have changed, by name and whether only slightly."""
        read, ask, changed = self.services.journal.read, self.services.archive.ask, self.services.feed.changed

        def in_order(*question: Any) -> None:
            self.reads.append("in order")
            read(*question)

        def beside(question: Any) -> None:
            self.reads.append("beside")
            ask(question)

        def note(*subjects: Any, slightly: bool = False) -> None:
            self.changed.update((subject, slightly) for subject in subjects)
            changed(*subjects, slightly=slightly)

        self.services.journal.read = in_order  # type: ignore[method-assign,assignment]
        self.services.archive.ask = beside  # type: ignore[method-assign]
        self.services.feed.changed = note  # type: ignore[method-assign]

    @property
    def now_ms(self) -> int:
        return self._began_ms + round(self.loop.time() * 1_000)

    @now_ms.setter
    def now_ms(self, now_ms: int) -> None:
        self._began_ms = now_ms - round(self.loop.time() * 1_000)

    def pass_by(self, ms: int) -> int:
        """Let time pass; return how many timers were due, which are few."""
        self._gone_ms += ms + 0.001  # with a microsecond for each time, so that sums of fractions are reached
        due = self.loop.run_until(self._gone_ms / 1_000, 1_000)
        assert due < 20
        return due

    def go(self, ms: int) -> None:
        """Let time pass, and let the journal answer at its end."""
        self.pass_by(ms)
        self.deliver()
        assert self.loop.errors == []
        assert self.services.metrics.faults == 0

    def room(self, match: str) -> MatchRoom:
        return self.registry.rooms[match]

    def hold_writes(self) -> list[Write]:
        """Let the test answer what is written from now on."""
        held: list[Write] = []
        self.services.journal.append = lambda events, done, failed, seats=None: held.append(  # type: ignore[method-assign]
            (events, done, failed)
        )
        return held

    def depart(self, link: Caller, match: str | None = None) -> Session:
        """Let a player change to another node, and resume a match there."""
        session = elsewhere(self, number_of(link), link.known_as.info.name)
        if match is not None:
            self.registry.room(match).seat_elsewhere(session)
            self.deliver()
        return session

    def hear(self, *events: wire.MatchEvent, ratings: Any = None) -> None:
        self.registry.hear(AppendEvents(events), {}, ratings)

    def is_over(self, match: str) -> tuple[str, int | None] | None:
        """Return the reason and the winner of a match in the journal; None if it goes on."""
        query = "SELECT reason, winner FROM matches WHERE id = ? AND is_over"
        row: tuple[str, int | None] | None = self.ledger.database.connection.execute(query, (match,)).fetchone()
        return row

    def break_disk(self, is_broken: bool = True) -> None:
        self.ledger.database.connection.execute(f"PRAGMA query_only = {'ON' if is_broken else 'OFF'}")

    def begin_board(self, *links: Caller, begin_ms: int = 60_000) -> str:
        """Begin a match of a tournament, in which the first of two players moves first."""
        players = (number_of(links[0]), number_of(links[1]))
        infos = wire.PlayerInfo(""), wire.PlayerInfo("")
        place = wire.TournamentPlace("ABCDE", 1, 1)
        started = wire.Started("board", 1, self.now_ms, "tictactoe", infos, time=MINUTE, tournament=place)
        self.services.journal.append([started], lambda _: None, lambda _: None, players)
        self.deliver()
        self.registry.begin_boards([(started, players)], begin_ms)
        return "board"


class Node(Members):
    """A cluster that lets players of the journal come to this node at once."""

    def __init__(self, board: Board) -> None:
        super().__init__()
        self._board = board

    def came(self, came: Came, done: Callable[[Player], None], failed: Callable[[Refusal], None]) -> None:
        query = "SELECT name, bot FROM players WHERE id = ?"
        name, bot = self._board.ledger.database.connection.execute(query, (came.player,)).fetchone()
        done(Player(came.player, name, bot=bot))


def presences(link: Caller) -> list[tuple[int, bool]]:
    told = [(each.side, each.online) for each in link.heard if isinstance(each, wire.Presence)]
    link.heard.clear()
    return told


def refusals(link: Caller) -> list[wire.Refused]:
    return [each for each in link.heard if isinstance(each, wire.Refused)]
