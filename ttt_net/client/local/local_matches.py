"""Play matches at this keyboard: take a request and a time, and return the messages of a server. Knows no clock.

The referee is the server's. Between two people, offers are accepted immediately. A strategy allows take-backs, and
agrees to a draw under the same conditions as a server's bots. A new match keeps the sides.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import prod

from ttt_net import messages
from ttt_net.clock import TimeControl
from ttt_net.errors import Code, Refusal
from ttt_net.games.records import write_record
from ttt_net.matches import referee
from ttt_net.matches.analyses import describe_study
from ttt_net.matches.description import day_of, describe_puzzle, describe_rules
from ttt_net.matches.match import Match, record_of
from ttt_net.sdk.bots import is_drawable

MAX_POSITIONS = 32
"""The number of positions in one reply to a replay request."""
_HERE = (True, True)


@dataclass(frozen=True, slots=True)
class Seating:
    """The players at this keyboard by side, and the person who watches."""

    game: str
    players: tuple[messages.PlayerInfo, messages.PlayerInfo]
    """The players by side; a strategy is marked as a bot."""
    time: TimeControl | None = None
    start: str | None = None
    has_onlooker: bool = False
    """Whether a person watches two strategies, and has no side."""

    @property
    def people(self) -> tuple[int, ...]:
        """The sides of people."""
        return tuple(side for side in (0, 1) if self.players[side].bot is None)

    @property
    def is_shared(self) -> bool:
        """Whether two people play here."""
        return len(self.people) > 1


class LocalMatches:
    """The current match at this keyboard, and the next ones; methods return the messages that describe a change."""

    def __init__(self, seating: Seating, new_id: Callable[[], str], wall_ms: Callable[[], int]) -> None:
        self.seating = seating
        self.match: Match | None = None
        self.has_seen_win = [False, False]
        """Whether the strategy of each side, if any, found a win with its last move."""
        self._new_id, self._wall_ms = new_id, wall_ms

    @property
    def you(self) -> int | None:
        """The shown side: with two people, the side to move, and after the end the side that moved last."""
        match, people = self.match, self.seating.people
        if not self.seating.is_shared or match is None:
            return people[0] if people else None if self.seating.has_onlooker else 0
        to_move = match.to_move
        return to_move if to_move is not None else match.moves[-1][0] if match.moves else 0

    @property
    def flag_at_ms(self) -> int | None:
        """When the time of the side to move runs out; None if no clock runs."""
        match = self.match
        return match.clock.flag_at_ms() if match is not None and match.clock and not match.is_over else None

    def current(self, name: str) -> Match:
        """Return the match with the id. Raises `Refusal` if it no longer exists."""
        if self.match is None or self.match.id != name:
            raise Refusal(Code.UNKNOWN_MATCH, f"there is no match {name} at this keyboard any more")
        return self.match

    def begin(self, now_ms: int, start: str | None = None) -> list[messages.AnyServerMessage]:
        """Begin the next match; two people keep their score. Raises `Refusal` if it is impossible.

        `start` is the starting position; None for the usual one of matches here.
        """
        seating, before = self.seating, self.match
        if before is not None and not before.is_over:
            raise Refusal(Code.STILL_PLAYING, "finish this match first, or leave it")
        second, first = referee.score_after(before) if before is not None and seating.is_shared else (0.0, 0.0)
        started = messages.Started(
            match=self._new_id(),
            seq=1,
            at_ms=self._wall_ms(),
            game=seating.game,
            players=seating.players,
            time=seating.time,
            private=True,
            score=(first, second),  # in a rematch on a server the sides are swapped, here they stay
            start=start or seating.start,
        )
        self.match = Match(started)
        self.has_seen_win = [False, False]
        return [self._snapshot(self.match, now_ms)]

    def request(self, request: messages.Request, now_ms: int) -> list[messages.AnyServerMessage]:
        """Carry out a request, and return the messages after its `ok`. Raises `Refusal` if it is not allowed."""
        match request:
            case messages.SeekRequest():
                return self.begin(now_ms)
            case messages.OfferRequest(kind="rematch"):
                self.current(request.match)
                return self.begin(now_ms)
            case (
                messages.PlayRequest()
                | messages.ResignRequest()
                | messages.AbortRequest()
                | messages.ClaimRequest()
                | messages.AgreeRequest()
                | messages.DeclineRequest()
            ):
                match = self.current(request.match)
                return self._decide(match, self.you, request, now_ms)
            case messages.OfferRequest():
                return self._offer(self.current(request.match), request, now_ms)
            case messages.ResumeRequest() | messages.WatchRequest():
                return [self._snapshot(self.current(request.match), now_ms)]
            case messages.UnseekRequest() | messages.UnwatchRequest():
                return []
            case messages.InviteRequest():
                return self.begin(now_ms, request.start)
            case messages.PuzzleRequest() | messages.RulesRequest() | messages.StudyRequest():
                return answer_without_match(request, self._wall_ms())
            case messages.ReplayRequest():
                match = self.current(request.match)
                positions = match.positions(request.ply, MAX_POSITIONS, has_legal=request.legal and match.is_over)
                starts = match.starts(request.ply, MAX_POSITIONS)
                return [messages.ReplayReply(match.id, request.ply, positions, len(match.moves), starts)]
            case messages.RecordRequest():
                return [messages.RecordReply(request.match, self.record(request.match))]
            case _:
                raise Refusal(Code.NOT_PUBLIC, "that needs a server, and there is none at this keyboard")

    def to_coach(self, request: messages.HintRequest | messages.AnalyseRequest) -> Match:
        """Return the match that a coach may examine. Raises `Refusal` if no advice is allowed."""
        match = self.current(request.match)
        if isinstance(request, messages.AnalyseRequest):
            if not match.is_over:
                raise Refusal(Code.NOT_FINISHED, "the match is still being played")
        elif len(self.seating.people) != 1:
            raise Refusal(Code.NO_HINTS, "hints are for one person who plays a strategy")
        elif match.is_over:
            raise Refusal(Code.MATCH_OVER, "the match is over; have it analysed")
        elif request.kind == "move" and match.to_move != self.you:
            raise Refusal(Code.NOT_YOUR_TURN, "it is not your turn; a hint is for your next move")
        return match

    def play(self, side: int, move: int, now_ms: int) -> list[messages.AnyServerMessage]:
        """Make the move of a strategy, unless its time has run out."""
        assert self.match is not None
        command = messages.PlayRequest(0, self.match.id, len(self.match.moves), move)
        return self._decide(self.match, side, command, now_ms)

    def give_up(self, side: int, now_ms: int) -> list[messages.AnyServerMessage]:
        """End the match of a strategy that found no move."""
        assert self.match is not None
        return self._decide(self.match, side, messages.ResignRequest(0, self.match.id), now_ms)

    def look_at_clock(self, now_ms: int) -> list[messages.AnyServerMessage]:
        """End the match if the time has run out."""
        if self.match is None:
            return []
        at_ms = self.match.next_at_ms(self._wall_ms())
        return self._commit(self.match, referee.flag_fall(self.match, now_ms, at_ms), now_ms)

    def record(self, name: str) -> str:
        """Return the finished match as a record. Raises `Refusal` if there is none."""
        match = self.current(name)
        if not match.is_over:
            raise Refusal(Code.NOT_FINISHED, "the match is still being played")
        return write_record(record_of(match.events))

    def _decide(
        self, match: Match, side: int | None, command: referee.Command, now_ms: int
    ) -> list[messages.AnyServerMessage]:
        fallen = self.look_at_clock(now_ms)
        at_ms = match.next_at_ms(self._wall_ms())
        return fallen or self._commit(match, referee.decide(match, side, command, now_ms, at_ms=at_ms), now_ms)

    def _offer(self, match: Match, offer: messages.OfferRequest, now_ms: int) -> list[messages.AnyServerMessage]:
        """Make an offer, and answer it for the other side immediately."""
        side = self.you
        if offer.kind == "takeback" and self.seating.is_shared and match.moves:
            side = match.moves[-1][0]  # the player who moved last takes the move back
        told = self._decide(match, side, offer, now_ms)
        if side is None or match.is_over:
            return told
        accepts = self.seating.is_shared or offer.kind == "takeback" or self._agrees_to_draw(match, 1 - side)
        number = match.offers[side, offer.kind]
        answer: referee.Command = messages.DeclineRequest(0, offer.match, offer.kind, number)
        if accepts:
            answer = messages.AgreeRequest(0, offer.match, number)
        return [*told, *self._decide(match, 1 - side, answer, now_ms)]

    def _agrees_to_draw(self, match: Match, side: int) -> bool:
        return is_drawable(len(match.moves), prod(match.game.shape)) and not self.has_seen_win[side]

    def _commit(self, match: Match, events: list[messages.MatchEvent], now_ms: int) -> list[messages.AnyServerMessage]:
        """Apply the events, and start or stop the clock."""
        told: list[messages.AnyServerMessage] = []
        for event in events:
            match.evolve(event)
            if isinstance(event, messages.Played | messages.Tookback):
                match.count_from(now_ms)
            match.run_clock(now_ms)
            told.append(match.told(event))
        return told

    def _snapshot(self, match: Match, now_ms: int) -> messages.Snapshot:
        return match.snapshot(self.you, _HERE, now_ms)


_NEAR, _WIDE = 4, 40
"""With more legal moves than the second, only those beside the last moves are considered, as many as the first."""


def demonstration(game: str, luck: random.Random) -> Iterator[messages.Snapshot]:
    """Yield the positions of a match that plays itself: wins are taken and threats answered, all else is chance."""
    match = Match(
        messages.Started("demonstration", 1, 0, game, (messages.PlayerInfo("X"), messages.PlayerInfo("O")), None)
    )
    yield match.snapshot(None, _HERE, 0)
    while not match.is_over:
        play = messages.PlayRequest(0, match.id, len(match.moves), _sensible_move(match, luck))
        for event in referee.decide(match, match.to_move or 0, play, 0):
            match.evolve(event)
        yield match.snapshot(None, _HERE, 0)


def _sensible_move(match: Match, luck: random.Random) -> int:
    """Return a winning move, or else one after which the opponent has no winning move, where there is one."""
    rules, shape = match.game, match.snapshot(None, _HERE, 0).game
    recent = [shape.move_cells[move] for _, move in match.moves[-_NEAR:]]

    def considered(state: object) -> list[int]:
        moves = list(rules.actions(state))
        near = [move for move in moves if any(_is_beside(shape.move_cells[move], cell, shape.shape) for cell in recent)]
        return near if len(moves) > _WIDE and near else moves

    def wins(state: object) -> list[int]:
        ends = ((move, rules.outcome(rules.result(state, move))) for move in considered(state))
        return [move for move, outcome in ends if outcome is not None and outcome.winner == rules.to_move(state)]

    if won := wins(match.state):
        return won[0]
    moves = considered(match.state)
    luck.shuffle(moves)
    return next((move for move in moves if not wins(rules.result(match.state, move))), moves[0])


def _is_beside(cell: int, other: int, shape: Sequence[int]) -> bool:
    """Tell whether two cells of a board touch; passes and swaps have no cell."""
    width = shape[-1]
    return min(cell, other) >= 0 and max(abs(cell % width - other % width), abs(cell // width - other // width)) == 1


def answer_without_match(request: messages.Request, wall_ms: int) -> list[messages.AnyServerMessage]:
    """Return the replies to requests that need no match: rules, puzzles and studies.

    Raises `Refusal` if a request is about something else.
    """
    match request:
        case messages.PuzzleRequest():
            return [describe_puzzle(request, day_of(wall_ms))]
        case messages.RulesRequest():
            return [describe_rules(request.game)]
        case messages.StudyRequest():
            return [describe_study(request, day_of(wall_ms))]
        case _:
            raise Refusal(Code.NOT_PUBLIC, "that needs a server, and there is none here")
