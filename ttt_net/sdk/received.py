"""Define the events of a connection, validate a server's numbers, and apply events to the snapshot of a match.

Knows no rules of play, no sockets and no clock.
"""

from dataclasses import dataclass, replace
from enum import Enum
from math import prod

from msgspec import structs

from ttt_net.errors import Code, Refusal
from ttt_net.messages import (
    Adjourned,
    AnyServerMessage,
    ClockInfo,
    Declined,
    Ended,
    GameInfo,
    GeometryInfo,
    MatchEvent,
    Offered,
    OfferInfo,
    Ok,
    OutcomeInfo,
    Played,
    PlayerRenamed,
    Position,
    Presence,
    PuzzleReply,
    Refused,
    Rematched,
    Request,
    Snapshot,
    StudyReply,
    Tookback,
)


@dataclass(frozen=True, slots=True)
class Answered:
    """The answer to a request of ours."""

    request: Request
    answer: Ok | Refused


@dataclass(frozen=True, slots=True)
class Garbled:
    """The server sent something invalid; it was ignored."""

    reason: str


@dataclass(frozen=True, slots=True)
class Lost:
    """The connection dropped, for this reason; the client is reconnecting."""

    reason: str


BROKE, NOT_LISTENING, NO_ANSWER = "the connection broke", "nothing listens there", "nothing answers there"
"""Reasons of attempts that found nobody, and so say nothing new about a server that has told us why it left."""


@dataclass(frozen=True, slots=True)
class Retrying:
    """The client will try to connect for the `attempt`-th time after `in_ms`."""

    attempt: int
    in_ms: int
    reason: str = ""
    """The reason of the last failure."""


@dataclass(frozen=True, slots=True)
class Back:
    """The connection is back; missed events follow."""

    url: str = ""
    """The new address, if it is another node than before."""


class Parting(Enum):
    """Why a client ends."""

    DONE = "done"
    UNREACHABLE = "unreachable"
    DISTRUSTED = "distrusted"
    REPLACED = "replaced"
    GIVEN_UP = "given up"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True)
class Farewell:
    """The last event: the reason of the end, and a sentence for people.

    `code` is the refusal's, when the server did not accept our login.
    """

    why: Parting
    sentence: str
    code: str | None = None


@dataclass(frozen=True, slots=True)
class Stop:
    """A signal or the user asks the program to end; this is not an event of the connection."""


ConnectionEvent = AnyServerMessage | Answered | Garbled | Lost | Retrying | Back | Farewell
"""All events of a connection."""


MAX_CELLS = 4096
MAX_MOVES = 65_536
MAX_ANNOTATIONS = 64
_SIDES = (0, 1)


def check_snapshot(snapshot: Snapshot) -> None:
    """Raise `Refusal` if the numbers of a snapshot are inconsistent."""
    game = snapshot.game
    check_game(game)
    _claim(all(0 <= move < len(game.move_cells) for move in snapshot.moves), "a move that the game does not have")
    _claim(snapshot.you in (None, *_SIDES), f"side {snapshot.you}")
    _claim(all(offer.side in _SIDES for offer in snapshot.offers), "an offer from nobody")
    _claim(snapshot.outcome is None or snapshot.outcome.winner in (None, *_SIDES), "a winner who does not play")
    _claim(snapshot.last is None or 0 <= snapshot.last < len(game.move_cells), "a last move that does not exist")
    _claim(snapshot.away is None or snapshot.away.side in _SIDES, "somebody away who does not play")
    check_clock(snapshot.clock)
    check_position(game, snapshot.position)


def check_game(game: GameInfo) -> None:
    """Raise `Refusal` if the board of a game is inconsistent, or too large."""
    cells = prod(game.shape) if 2 <= len(game.shape) <= 3 and min(game.shape) >= 1 else 0
    _claim(0 < cells <= MAX_CELLS, f"shape {game.shape[:4]}")
    _claim(len(game.move_cells) == len(game.move_names) <= MAX_MOVES, "moves without names, or too many")
    _claim(all(-1 <= cell < cells for cell in game.move_cells), "a move outside the board")
    _claim(_is_block(game), f"blocks of {(game.block or [])[:4]}")
    _claim(game.geometry is None or _is_geometry(game.geometry, cells), "a geometry of another board")


def check_puzzle(puzzle: PuzzleReply) -> None:
    """Raise `Refusal` if a puzzle has no such position or moves."""
    check_game(puzzle.game)
    check_position(puzzle.game, puzzle.position)
    moves = len(puzzle.game.move_cells)
    found = (puzzle.move, puzzle.solution, puzzle.last)
    _claim(all(move is None or 0 <= move < moves for move in found), "a move that does not exist")
    _claim(0 <= puzzle.plies <= MAX_MOVES and 0 <= puzzle.ply <= MAX_MOVES, "a puzzle without end")


def check_study(study: StudyReply) -> None:
    """Raise `Refusal` if a match for guessing moves is inconsistent."""
    check_snapshot(study.snapshot)
    for position in study.positions:
        check_position(study.snapshot.game, position)


def _is_block(game: GameInfo) -> bool:
    """Tell whether the small boards, if any, fill the board."""
    if game.block is None:
        return True
    sizes = zip(game.shape, game.block, strict=False)
    return len(game.block) == len(game.shape) == 2 and all(part >= 1 and size % part == 0 for size, part in sizes)


def _is_geometry(geometry: GeometryInfo, cells: int) -> bool:
    """Tell whether the runs of cells fill the board, and are small enough to draw."""
    counts = [count for _, _, _, count in geometry.runs]
    is_near = all(0 <= number <= MAX_CELLS for run in geometry.runs for number in run)
    return is_near and min(counts, default=0) >= 1 and sum(counts) == cells and geometry.step in (1, 2)


def _blocks_of(game: GameInfo) -> int:
    """Return the number of small boards in the board; 0 without small boards."""
    return 0 if game.block is None else prod(game.shape) // prod(game.block)


def check_position(game: GameInfo, position: Position) -> None:
    """Raise `Refusal` if a position does not fit the game's board."""
    cells = prod(game.shape)
    _claim(len(position.board) == cells, f"a board of {len(position.board)} cells instead of {cells}")
    _claim(position.to_move in (None, *_SIDES), f"side {position.to_move} to move")
    _claim(all(0 <= move < len(game.move_cells) for move in position.legal), "a legal move that does not exist")
    _claim(all(0 <= cell < cells for cell in position.line), "a line outside the board")
    _claim(position.line_by in (None, *_SIDES), f"a line of side {position.line_by}")
    _claim(position.vanishing is None or 0 <= position.vanishing < cells, "a vanishing mark outside the board")
    _claim(position.takeover is None or position.takeover in position.legal, "a takeover that is no legal move")
    _claim(position.target is None or 1 <= position.target.board <= _blocks_of(game), "a target that is no small board")
    noted = (cell for note in position.notes or () for cell in note.cells)
    _claim(all(0 <= cell < cells for cell in noted), "a note outside the board")
    _claim(len(position.notes or ()) + len(position.counters or ()) <= MAX_ANNOTATIONS, "too many notes and counters")
    _claim(all(each.side in (None, *_SIDES) for each in position.counters or ()), "a counter of nobody")


def check_event(game: GameInfo, event: MatchEvent) -> None:
    """Raise `Refusal` if an event does not fit the game of its match, or names a side that does not exist."""
    _claim(event.seq <= MAX_MOVES, "a match without end")
    match event:
        case Played() | Tookback():
            _claim(event.side in _SIDES, f"side {event.side}")
            _claim(isinstance(event, Tookback) or 0 <= event.move < len(game.move_cells), "a move that does not exist")
            check_clock(event.clock)
            if event.position is not None:
                _claim(event.position.ply == event.ply, f"ply {event.ply} with the position of another")
                check_position(game, event.position)
        case Offered():
            _claim(event.side in _SIDES, "an offer from nobody")
        case Adjourned():
            check_clock(event.clock)
        case Ended():
            _claim(event.winner in (None, *_SIDES), "a winner who does not play")
            check_clock(event.clock)
        case _:
            pass


def check_clock(clock: ClockInfo | None) -> None:
    """Raise `Refusal` if the running side is not a side."""
    _claim(clock is None or clock.running in (None, *_SIDES), "a clock that runs for nobody")


def _claim(fits: bool, what: str) -> None:
    if not fits:
        raise Refusal(Code.BAD_MESSAGE, f"the server sent {what}")


@dataclass(frozen=True, slots=True)
class Tally:
    """Our matches that ended while we were connected, without aborted ones."""

    won: int = 0
    drawn: int = 0
    lost: int = 0

    @property
    def games(self) -> int:
        """The number of matches."""
        return self.won + self.drawn + self.lost

    def counting(self, before: Snapshot | None, after: Snapshot, side: int | None = None) -> "Tally":
        """Return the tally with our match that ended between two snapshots; `side` is ours if it is not `you`."""
        was_live, outcome = before is not None and before.outcome is None, after.outcome
        if not was_live or outcome is None or outcome.reason == "abort" or after.you is None:
            return self
        winner = outcome.winner
        if winner is None:
            return replace(self, drawn=self.drawn + 1)
        if winner == (after.you if side is None else side):
            return replace(self, won=self.won + 1)
        return replace(self, lost=self.lost + 1)


def follow(match: Snapshot, event: MatchEvent | Presence | PlayerRenamed) -> Snapshot:
    """Return the snapshot of the match after one of its events, or after a player's arrival, departure or rename."""
    match event:
        case Presence():
            present = (event.online, match.present[1]) if event.side == 0 else (match.present[0], event.online)
            away = match.away if event.side == match.you else event.away
            return structs.replace(match, present=present, away=away) if event.side in (0, 1) else match
        case PlayerRenamed():
            first, second = (
                structs.replace(player, name=event.name) if side == event.side else player
                for side, player in enumerate(match.players)
            )
            return structs.replace(match, players=(first, second))
        case Played():
            return structs.replace(
                match,
                seq=event.seq,
                moves=[*match.moves, event.move],
                last=event.move,
                position=event.position or match.position,
                clock=event.clock or match.clock,
                offers=[],
                adjourned=False,
            )
        case Tookback():
            moves = match.moves[: event.ply]
            return structs.replace(
                match,
                seq=event.seq,
                moves=moves,
                last=moves[-1] if moves else None,
                position=event.position or match.position,
                clock=event.clock or match.clock,
                offers=[],
                adjourned=False,
            )
        case Adjourned():
            return structs.replace(match, seq=event.seq, adjourned=True, clock=event.clock or match.clock, offers=[])
        case Offered():
            others = [offer for offer in match.offers if (offer.side, offer.kind) != (event.side, event.kind)]
            offers = [*others, OfferInfo(event.side, event.kind, event.seq)]
            return structs.replace(match, seq=event.seq, offers=offers)
        case Declined():
            # a declined or withdrawn offer is gone, whichever player ended it
            offers = [offer for offer in match.offers if offer.kind != event.kind]
            return structs.replace(match, seq=event.seq, offers=offers)
        case Ended():
            position = structs.replace(match.position, to_move=None, legal=[])
            return structs.replace(
                match,
                seq=event.seq,
                outcome=OutcomeInfo(event.winner, event.reason, event.fault),
                clock=event.clock or match.clock,
                position=position,
                offers=[],
                away=None,
            )
        case Rematched():
            return structs.replace(match, seq=event.seq, next=event.next, offers=[])
        case _:
            return structs.replace(match, seq=event.seq)
