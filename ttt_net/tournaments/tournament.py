"""The state of one tournament, which *is* its list of facts and the results of its matches.

Knows no socket and no disk. The invariants:

- Facts are numbered from 1 without a gap, and the first is `Opened`. Only the `director` makes them.
- `evolve` applies a journaled fact; it never refuses.
- Results are not facts: `settle` takes a result from the end of its match.
- An arena and a king of the table have no rounds: all their boards belong to round 1, and begin one by one.

::

    open --- Entered, Left, Returned --- Begun --- running --- BoardsBegan, Corrected, Paused, Resumed --- Closed
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal, assert_never

from msgspec import Meta, Struct

from ttt_net.clock import TimeControl
from ttt_net.tournaments.schedules import ArenaResult, Entrant, KnockoutBoard, TableQueue, arena_points, knockout_places
from ttt_net.tournaments.standings import (
    ORDERS,
    WIN,
    RoundOff,
    RoundResult,
    TournamentRow,
    early_leavers,
    standings,
)

Player = int
"""The number of a player on the server."""
TournamentKind = Literal["swiss", "round_robin", "knockout", "arena", "king"]
CONTINUOUS: tuple[TournamentKind, ...] = ("arena", "king")
"""The kinds without rounds."""
LeftReason = Literal["left", "removed", "absent"]
CloseReason = Literal["finished", "ended", "not_started", "nobody"]
Points = tuple[int, int]
"""Half points of both players of a board, by side."""
RESULTS: Mapping[str, Points] = {"1-0": (2, 0), "0-1": (0, 2), "1/2-1/2": (1, 1), "0-0": (0, 0)}
"""The notation of results. Nobody scores if neither player appeared."""
MAX_REPLAYS = 2
"""How often a drawn knockout board is replayed; after that, the player who moved second advances."""
MAX_ABORTED = 2
"""How often a board is replayed after an error of the server or of the game; after that, it is a draw."""
MAX_ROUNDS = 30
MAX_MINUTES = 240
MAX_ENTRANTS = 1_000
MAX_BOARDS = 5_000
"""The maximal number of matches of an arena or a king of the table, which then ends."""
MAX_PER_ADDRESS = 200
MAX_ROUND_ROBIN = 32
"""The maximal number of players of a round robin, which has about as many rounds."""


class Terms(Struct, frozen=True, omit_defaults=True):
    """The rules of one tournament, fixed at its creation."""

    name: str
    kind: TournamentKind
    game: str
    time: TimeControl
    rounds: Annotated[int, Meta(ge=1, le=MAX_ROUNDS)] = 5
    """The rounds of a Swiss; for a round robin, how often the players meet each other."""
    rated: bool = False
    private: bool = False
    """Whether it is found only by its code."""
    begin_s: Annotated[int, Meta(ge=5, le=3_600)] = 60
    """The time for a player's own first move; a player who does not appear in time forfeits."""
    pause_s: Annotated[int, Meta(ge=0, le=3_600)] | None = 15
    """The pause between two rounds; None: the organiser begins each. Without rounds, see `director.MAX_REST_S`."""
    legs: Annotated[int, Meta(ge=1, le=2)] = 1
    """The matches of one pairing; in the second, the sides are swapped. The sum of both is its result."""
    chat: bool = True
    """Whether players and watchers may write texts; otherwise only phrases."""
    minutes: Annotated[int, Meta(ge=1, le=MAX_MINUTES)] | None = None
    """The length of an arena, or of a king of the table; None: the organiser ends it."""
    full: Annotated[int, Meta(ge=2, le=MAX_ENTRANTS)] | None = None
    """It begins automatically with this many players; None: not by that."""
    starts_ms: int | None = None
    """It begins automatically at this time of day; None: the organiser begins it."""
    most: Annotated[int, Meta(ge=2, le=MAX_ENTRANTS)] = 200
    """The maximal number of players."""
    anonymous: bool = False
    """Whether only guests may enter, who have no name but one that the server made up."""
    per_address: Annotated[int, Meta(ge=2, le=MAX_PER_ADDRESS)] | None = None
    """How many players of one address may be connected, if that is more than the server's limits allow."""
    spare: str | None = None
    """The name of a bot that plays while the number of players is odd; None: one of them has a bye."""


class TournamentFact(Struct, frozen=True, tag_field="fact", omit_defaults=True):
    """The base of facts, which contain the time of day."""

    at_ms: int


class Opened(TournamentFact, frozen=True, tag="opened"):
    """The tournament was created; `organiser` is null for the host."""

    terms: Terms
    organiser: Player | None = None


class Entered(TournamentFact, frozen=True, tag="entered"):
    """A player entered, under the next number. After the start they are a late-comer."""

    entrant: Entrant
    player: Player


class EntrantLeft(TournamentFact, frozen=True, tag="left"):
    """A player left, was removed, or did not appear, and is not paired any more."""

    entrant: Entrant
    why: LeftReason = "left"


class EntrantReturned(TournamentFact, frozen=True, tag="returned"):
    """A player who left is paired again."""

    entrant: Entrant


class Begun(TournamentFact, frozen=True, tag="begun"):
    """The tournament has started; its first round is paired next."""


class Board(Struct, frozen=True, omit_defaults=True):
    """One board of a round. Without a `match`, `first` advances without play: a bye, or `second` has left."""

    board: int
    first: Entrant
    second: Entrant | None = None
    match: str | None = None


class BoardsBegan(TournamentFact, frozen=True, tag="began"):
    """A whole round began; or some of its boards began again, after a knockout draw or a match without a result."""

    round: int
    boards: tuple[Board, ...]
    waiting: tuple[Entrant, ...] = ()
    """The queue after these boards began, in a king of the table: the order in which matches end is not a fact."""


class PassedOver(TournamentFact, frozen=True, tag="passed_over"):
    """The first in the queue of a king of the table was away, and is behind the next player now."""

    entrant: Entrant


class Corrected(TournamentFact, frozen=True, tag="corrected"):
    """The organiser replaced the result of a board. The match itself stays unchanged."""

    round: int
    board: int
    points: Points
    note: str


class TournamentPaused(TournamentFact, frozen=True, tag="paused"):
    """No round begins until the tournament is resumed."""


class TournamentResumed(TournamentFact, frozen=True, tag="resumed"):
    """Rounds begin again."""


class RoundWanted(TournamentFact, frozen=True, tag="wanted"):
    """The organiser wants the next round immediately, even if the tournament is paused."""


class Closed(TournamentFact, frozen=True, tag="closed"):
    """The tournament is over."""

    why: CloseReason
    unfinished: tuple[int, ...] = ()
    """The boards of an arena that were still being played, and do not count."""


AnyFact = (
    Opened
    | Entered
    | EntrantLeft
    | EntrantReturned
    | Begun
    | BoardsBegan
    | PassedOver
    | Corrected
    | TournamentPaused
    | TournamentResumed
    | RoundWanted
    | Closed
)


@dataclass(slots=True)
class EntrantState:
    """One player of the tournament."""

    player: Player
    is_here: bool = True
    """Whether they are paired."""
    why: LeftReason | None = None
    """Why they are not."""


@dataclass(slots=True)
class BoardState:
    """One board: its players, by side of the latest match, and its state."""

    board: int
    first: Entrant
    second: Entrant | None
    matches: list[str] = field(default_factory=list)
    """The matches that began on it, newest last."""
    awaits: Literal["again", "swapped"] | None = None
    """Whether another match has to begin on it, and with which sides; None during a match or after it is settled."""
    drawn: int = 0
    aborted: int = 0
    legs: int = 0
    """How many matches of a pairing of several were finished."""
    sums: Points = (0, 0)
    """The half points from these, by side of the latest match."""
    points: Points | None = None
    """The result; None while it is open. Without a second player, the first has the points of a bye."""
    is_played: bool = True
    """False if it was decided without play."""
    is_corrected: bool = False
    reason: str = ""
    """How the match ended that settled it."""
    is_void: bool = False
    """Whether it counts for nobody: an error ended it, or the arena was over before it."""

    @property
    def is_settled(self) -> bool:
        """Whether the board has its result."""
        return self.points is not None

    @property
    def is_counted(self) -> bool:
        """Whether its result counts. Corrected results do."""
        return self.is_corrected or not self.is_void

    @property
    def entrants(self) -> tuple[Entrant, ...]:
        """The players, the one who moves first in the latest match first."""
        return (self.first,) if self.second is None else (self.first, self.second)

    @property
    def winner(self) -> Entrant | None:
        """The player who advances in a knockout; after a draw, or if both were absent, the one who moved second."""
        if self.points is None:
            return None
        return self.first if self.second is None or self.points[0] > self.points[1] else self.second


def _arena_result(board: BoardState, own: int) -> ArenaResult:
    """Return the result of a settled board for a player who has these half points."""
    if not board.is_counted:
        return "void"
    if own == WIN:
        return "win"
    if own:
        return "early_draw" if board.reason == "agreement" and not board.is_corrected else "draw"
    return "loss"


def points_of(winner: int | None, reason: str) -> Points:
    """Return the half points of both sides for the end of a match that was not aborted."""
    if winner is None:
        return (0, 0) if reason == "forfeit" else (1, 1)
    return (2, 0) if winner == 0 else (0, 2)


class Tournament:
    """An open, running or finished tournament: its terms, entrants, rounds and results."""

    def __init__(self, code: str, opened: Opened) -> None:
        self.id = code
        """The code for entering."""
        self.terms = opened.terms
        self.organiser = opened.organiser
        self.opened_ms = self.changed_ms = opened.at_ms
        self.seq = 1
        self.entrants: dict[Entrant, EntrantState] = {}
        self.seeds: list[Entrant] = []
        """The entrants at the start, in order of entry."""
        self.rounds: list[dict[int, BoardState]] = []
        """The boards of each round, by number."""
        self.begun_ms: int | None = None
        self.is_paused = False
        self.is_round_wanted = False
        """Whether the organiser wants the next round immediately."""
        self.stood_ms = 0
        """How long it was paused, without the present pause."""
        self.closed: CloseReason | None = None
        self.settled = 0
        """The number of results that were counted."""
        self.tables = TableQueue()
        """The queue and the tables of a king of the table."""
        self.latest: dict[Entrant, BoardState] = {}
        """The latest board of each player in a tournament without rounds."""
        self.firsts: dict[Entrant, int] = {}
        """How many more matches each player moved first in than second, in a tournament without rounds."""
        self._paused_ms = 0
        self._open: dict[int, BoardState] = {}
        self._numbers: dict[Player, Entrant] = {}
        self._boards: dict[str, tuple[int, BoardState]] = {}

    @classmethod
    def from_facts(
        cls, code: str, facts: Iterable[AnyFact], ends: Mapping[str, tuple[int | None, str]]
    ) -> "Tournament":
        """Return the tournament with these facts, and the winner and reason of each finished match."""
        first, *others = facts
        assert isinstance(first, Opened), "the first fact of a tournament is Opened"
        tournament = cls(code, first)
        ended: list[str] = []  # as late as possible, because players who entered meanwhile are before the loser
        for fact in others:
            if isinstance(fact, BoardsBegan | Corrected):
                tournament._settle_all(ended, ends)
            tournament.evolve(fact)
            if isinstance(fact, BoardsBegan):
                ended += [board.match for board in fact.boards if board.match is not None and board.match in ends]
        tournament._settle_all(ended, ends)
        return tournament

    def _settle_all(self, ended: list[str], ends: Mapping[str, tuple[int | None, str]]) -> None:
        for match in ended:
            self.settle(match, *ends[match])
        ended.clear()

    @property
    def is_begun(self) -> bool:
        """Whether the tournament has started."""
        return self.begun_ms is not None

    @property
    def is_continuous(self) -> bool:
        """Whether it has no rounds: matches begin whenever two players are free."""
        return self.terms.kind in CONTINUOUS

    def left_ms(self, at_ms: int) -> int | None:
        """Return how long it still lasts at a time of day; None before the start, and without a length."""
        if self.begun_ms is None or self.terms.minutes is None:
            return None
        now_ms = self._paused_ms if self.is_paused else at_ms
        return max(0, self.begun_ms + 60_000 * self.terms.minutes + self.stood_ms - now_ms)

    @property
    def is_over(self) -> bool:
        """Whether the tournament has ended."""
        return self.closed is not None

    @property
    def is_between_rounds(self) -> bool:
        """Whether all boards of the rounds that began are settled."""
        return not self._open

    @property
    def present(self) -> list[Entrant]:
        """The entrants who are paired, in order of entry."""
        return [entrant for entrant, state in self.entrants.items() if state.is_here]

    @property
    def total_rounds(self) -> int:
        """The number of rounds, if known: before the start, by the entrants so far."""
        count = len(self.seeds) if self.is_begun else len(self.present)
        match self.terms.kind:
            case "swiss":
                return self.terms.rounds
            case "round_robin":
                return self.terms.rounds * (count - 1 + count % 2) if count > 1 else 0
            case "knockout":
                return (count - 1).bit_length() if count else 0
            case "arena" | "king":
                return 0

    def entrant_of(self, player: Player) -> Entrant | None:
        """Return the number of a player in this tournament; None if they never entered."""
        return self._numbers.get(player)

    def board_of(self, match: str) -> tuple[int, BoardState] | None:
        """Return the round and the board of a match; None if it does not belong to this tournament."""
        return self._boards.get(match)

    def open_boards(self) -> list[BoardState]:
        """Return the boards of the current round that have no result yet."""
        return list(self._open.values())

    def evolve(self, fact: AnyFact) -> None:
        """Apply the next journaled fact."""
        self.seq += 1
        self.changed_ms = fact.at_ms
        match fact:
            case Opened():
                raise AssertionError("a tournament is opened once")
            case Entered():
                self.entrants[fact.entrant] = EntrantState(fact.player)
                self._numbers[fact.player] = fact.entrant
                self._queue(fact.entrant)
            case EntrantLeft():
                self.entrants[fact.entrant].is_here, self.entrants[fact.entrant].why = False, fact.why
                self.tables = self.tables.without_absent([fact.entrant])
            case EntrantReturned():
                self.entrants[fact.entrant].is_here, self.entrants[fact.entrant].why = True, None
                self._queue(fact.entrant)
            case PassedOver():
                if fact.entrant in self.tables.waiting:
                    self.tables = self.tables.passed_over(fact.entrant)
            case Begun():
                self.begun_ms = fact.at_ms
                self.seeds = self.present
            case BoardsBegan():
                self.is_round_wanted = False
                self._begin(fact)
            case Corrected():
                board = self.rounds[fact.round - 1][fact.board]
                board.points, board.is_corrected = fact.points, True
            case TournamentPaused():
                self.is_paused, self._paused_ms, self.is_round_wanted = True, fact.at_ms, False
            case TournamentResumed():
                self._resume(fact.at_ms)
            case RoundWanted():
                self._resume(fact.at_ms)
                self.is_round_wanted = True
            case Closed():
                self.closed = fact.why
                for number in fact.unfinished:
                    self.rounds[0][number].is_void = True
            case _:
                assert_never(fact)

    def _resume(self, at_ms: int) -> None:
        if self.is_paused:
            self.stood_ms += max(0, at_ms - self._paused_ms)
        self.is_paused = False

    def _begin(self, began: BoardsBegan) -> None:
        if began.round > len(self.rounds):
            self.rounds.append({})
        boards = self.rounds[began.round - 1]
        for each in began.boards:
            state = boards.get(each.board)
            if state is None:
                state = boards[each.board] = BoardState(each.board, each.first, each.second)
            self._open[each.board] = state
            if state.first != each.first:
                state.sums = state.sums[1], state.sums[0]
            state.first, state.second, state.awaits = each.first, each.second, None
            if each.match is None:
                state.points, state.is_played = (WIN, 0), False
                del self._open[each.board]
            else:
                state.matches.append(each.match)
                self._boards[each.match] = began.round, state
                if self.is_continuous:
                    self._follow(state)
        if self.terms.kind == "king":
            pairs = [(each.first, each.second) for each in began.boards if each.second is not None]
            self.tables = self.tables.seated(pairs, began.waiting)

    def _queue(self, entrant: Entrant) -> None:
        if self.terms.kind == "king" and entrant not in self.tables.entrants:
            self.tables = self.tables.joined(entrant)

    def _follow(self, board: BoardState) -> None:
        for entrant, step in zip(board.entrants, (1, -1), strict=True):
            self.latest[entrant] = board
            self.firsts[entrant] = self.firsts.get(entrant, 0) + step

    def settle(self, match: str, winner: int | None, reason: str) -> bool:
        """Count the end of a match; return whether it settles its board.

        Each match counts once, and only the latest of its board; corrections stay.
        """
        found = self._boards.get(match)
        if found is None:
            return False
        _, board = found
        if board.matches[-1] != match or board.is_settled or board.awaits is not None:
            return False
        if self.is_continuous:
            return self._settle_alone(board, winner, reason)
        if reason == "abort" and board.aborted < MAX_ABORTED:
            board.aborted += 1
            board.awaits = "again"
            return False
        points = (1, 1) if reason == "abort" else points_of(winner, reason)
        if self.terms.legs > 1 and (reason != "forfeit" or board.legs):
            board.legs += 1
            board.sums = board.sums[0] + points[0], board.sums[1] + points[1]
            if board.legs < self.terms.legs:
                board.awaits, board.aborted = "swapped", 0
                return False
            first, second = board.sums
            points, reason = (1, 1) if first == second else (2, 0) if first > second else (0, 2), "legs"
        if self.terms.kind == "knockout" and points == (1, 1) and board.drawn < MAX_REPLAYS:
            board.drawn += 1
            board.awaits = "swapped"
            return False
        self._settle(board, points, reason)
        return True

    def _settle(self, board: BoardState, points: Points, reason: str) -> None:
        board.points, board.is_played, board.reason = points, reason != "forfeit", reason
        self.settled += 1
        del self._open[board.board]

    def _settle_alone(self, board: BoardState, winner: int | None, reason: str) -> bool:
        """Settle a board of a tournament without rounds; a match that an error ended counts for nobody."""
        is_aborted = reason == "abort"
        board.is_void = board.is_void or is_aborted
        self._settle(board, (0, 0) if is_aborted else points_of(winner, reason), reason)
        if self.terms.kind == "king":
            won = None if winner is None or is_aborted else board.entrants[winner]
            self.tables = self.tables.ended((board.entrants[0], board.entrants[1]), won)
            self.tables = self.tables.without_absent(each for each in board.entrants if not self.entrants[each].is_here)
        return True

    def replays(self) -> list[Board]:
        """Return the boards of the current round that have to be replayed, without their matches."""
        found = []
        for board in self.open_boards():
            assert board.second is not None, "a board with a bye is settled"
            if board.awaits == "again":
                found.append(Board(board.board, board.first, board.second))
            elif board.awaits == "swapped":
                found.append(Board(board.board, board.second, board.first))
        return found

    # Standings.

    def results(self) -> list[RoundResult]:
        """Return the results of all settled boards with two players, in the order of rounds, or else of boards."""
        return [
            RoundResult(
                board.board if self.is_continuous else number,
                board.first,
                board.second,
                board.points,
                board.is_played,
            )
            for number, boards in enumerate(self.rounds, 1)
            for board in boards.values()
            if board.points is not None and board.second is not None and board.is_counted
        ]

    def arena_results(self) -> dict[Entrant, list[ArenaResult]]:
        """Return how the matches of each player of an arena ended, in their order."""
        found: dict[Entrant, list[ArenaResult]] = {entrant: [] for entrant in self.entrants}
        for boards in self.rounds:
            for board in boards.values():
                if board.points is not None:
                    for entrant, own in zip(board.entrants, board.points, strict=True):
                        found[entrant].append(_arena_result(board, own))
        return found

    def streaks(self) -> dict[Entrant, int]:
        """Return how many matches each player has won in a row now, in a tournament without rounds."""
        found = dict.fromkeys(self.entrants, 0)
        for result in self.results() if self.is_continuous else ():
            for entrant, points in zip((result.first, result.second), result.points, strict=True):
                found[entrant] = found[entrant] + 1 if points == WIN else 0
        return found

    def offs(self) -> list[RoundOff]:
        """Return the byes and absences of all rounds that began."""
        found: list[RoundOff] = []
        if self.is_continuous:
            return found
        is_round_robin = self.terms.kind == "round_robin"
        for number, boards in enumerate(self.rounds, 1):
            seated: set[Entrant] = set()
            for board in boards.values():
                seated |= {board.first} | ({board.second} if board.second is not None else set())
                if board.second is None and board.points is not None:
                    found.append(RoundOff(number, board.first, board.points[0]))
            for entrant, state in self.entrants.items():
                if entrant not in seated:
                    found.append(RoundOff(number, entrant, 0, is_voluntary=not (is_round_robin and state.is_here)))
        return found

    def uncounted(self) -> set[Entrant]:
        """Return the players of a round robin whose results do not count, because they left before half of it."""
        gone = [entrant for entrant, state in self.entrants.items() if not state.is_here]
        if self.terms.kind != "round_robin" or not gone:
            return set()
        return early_leavers(self.results(), gone, self.total_rounds)

    def standings(self) -> list[TournamentRow]:
        """Return the current table: places, scores and tie-breaks of all entrants, best first."""
        entrants, uncounted, offs = list(self.entrants), self.uncounted(), self.offs()
        if self.terms.kind == "knockout":
            return self._knockout_table()
        results = [result for result in self.results() if uncounted.isdisjoint((result.first, result.second))]
        return standings(entrants, results, offs, ORDERS[self.terms.kind], self._points())

    def _points(self) -> dict[Entrant, int] | None:
        """Return the scores if they are not the sum of the results: in half points, like all scores."""
        match self.terms.kind:
            case "arena":
                return {entrant: 2 * sum(arena_points(each)) for entrant, each in self.arena_results().items()}
            case "king":
                wins = dict.fromkeys(self.entrants, 0)
                for result in self.results():
                    for entrant, points in zip((result.first, result.second), result.points, strict=True):
                        wins[entrant] += WIN if points == WIN else 0
                return wins
            case _:
                return None

    def bracket(self) -> tuple[list[list[KnockoutBoard]], list[dict[int, Entrant]]]:
        """Return the boards of the rounds of a knockout, without the match for third place, and their winners."""
        rounds: list[list[KnockoutBoard]] = []
        winners: list[dict[int, Entrant]] = []
        for boards in self.rounds:
            ordered = [boards[number] for number in sorted(boards)]
            if rounds and len(rounds[-1]) == 2:
                ordered = ordered[:1]
            rounds.append([KnockoutBoard(board.first, board.second) for board in ordered])
            pairs = ((index, board.winner) for index, board in enumerate(ordered))
            winners.append({index: winner for index, winner in pairs if winner is not None})
        return rounds, winners

    def _knockout_table(self) -> list[TournamentRow]:
        rounds, winners = self.bracket()
        final = self.rounds[-1] if rounds and len(rounds[-1]) == 1 else {}
        third = final[2].winner if 2 in final else None
        places = knockout_places(rounds, winners, third)
        scores = dict.fromkeys(self.entrants, 0)
        for boards in self.rounds:
            for board in boards.values():
                for entrant, points in zip((board.first, board.second), board.points or (0, 0), strict=True):
                    if entrant is not None:
                        scores[entrant] += points
        last = len(self.seeds) + 1
        started = dict.fromkeys(self.seeds, 1)
        rows = [
            TournamentRow(places.get(each, started.get(each, last)), each, scores[each], ()) for each in self.entrants
        ]
        return sorted(rows, key=lambda row: (row.place, -row.score, row.entrant))
