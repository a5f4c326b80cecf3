"""Decide requests to a match: return the resulting events, or refuse. These functions change nothing.

Repeating a request after a lost reply causes no second event: a move names its ply, an offer the ply at which it was
made, and its answer the number of the offer.
"""

from msgspec.structs import replace

from ttt_net import messages as wire
from ttt_net.clock import SIDES, Clock
from ttt_net.errors import Code, Refusal
from ttt_net.games import Outcome, Reason, Side
from ttt_net.matches.description import describe_clock
from ttt_net.matches.match import OPENING_PLIES, Match

Command = (
    wire.PlayRequest
    | wire.ResignRequest
    | wire.AbortRequest
    | wire.OfferRequest
    | wire.AgreeRequest
    | wire.DeclineRequest
    | wire.ClaimRequest
)
"""The requests that a match decides."""

_OFFERED = {"draw": "draw offer", "takeback": "wish to take a move back", "rematch": "rematch offer"}
_AGAIN = {"draw": "; offer again after the next move", "takeback": "; ask again after the next move", "rematch": ""}
MAX_TAKEBACKS = 50
"""The maximal number of take-backs in a match, so that two players cannot let it grow forever."""
MAX_OFFERS = 100
"""The maximal number of draws and take-backs that a player may offer.

With both bounds, a match has fewer than 1,500 events.
"""
RATED_PLIES = 4
"""Until both players have moved twice, nobody wins, loses or draws a rated match except on the board.

The match is aborted instead, so that throwaway players who resign or leave immediately cannot create results.
"""
FREE_AFTER_MS = 2_000
"""How long after the grace a bot may still claim or adjourn a match before the server frees its seat."""


def decide(
    match: Match, side: Side | None, command: Command, now_ms: int, lag_ms: int = 0, at_ms: int | None = None
) -> list[wire.MatchEvent]:
    """Return the events that result from `command` of `side` (None: not a player); possibly none.

    `now_ms` is the monotonic time for the clock; `at_ms` is the time of day for the events, if it differs; `lag_ms` is
    the command's time on the network. Raises `Refusal` if the command is not allowed.
    """
    if at_ms is None:
        at_ms = now_ms
    if side is None:
        raise Refusal(Code.NOT_SEATED, f"you are not a player of match {match.id}; nothing was changed")
    match command:
        case wire.PlayRequest():
            return _play(match, side, command, now_ms, at_ms, lag_ms)
        case wire.ResignRequest():
            _must_be_live(match)
            return [_ended(match, Outcome(1 - side, Reason.RESIGN), now_ms, at_ms)]
        case wire.AbortRequest():
            return _abort(match, now_ms, at_ms)
        case wire.OfferRequest():
            return _offer(match, side, command, now_ms, at_ms)
        case wire.AgreeRequest():
            return _agree(match, side, command.offer, now_ms, at_ms)
        case wire.DeclineRequest():
            return _decline(match, side, command, at_ms)
        case wire.ClaimRequest():
            return _claim(match, side, command.kind, now_ms, at_ms)


def flag_fall(match: Match, now_ms: int, at_ms: int | None = None) -> list[wire.MatchEvent]:
    """Return the end of the match if the running side's time has run out, else nothing."""
    if match.clock is None or match.clock.running is None or match.is_over:
        return []
    side = match.clock.running
    if match.clock.left_ms(side, now_ms) > 0:
        return []
    return [_ended(match, Outcome(1 - side, Reason.TIME), now_ms, now_ms if at_ms is None else at_ms)]


def no_show(match: Match, now_ms: int, at_ms: int | None = None) -> list[wire.MatchEvent]:
    """Return the forfeit of a tournament match whose first move is overdue, else nothing.

    Nobody wins if the other player is absent too and has not moved.
    """
    due_ms = match.first_move_due_ms
    if due_ms is None or due_ms > now_ms:
        return []
    late = match.game.to_move(match.state)
    is_nobody_here = not match.moves and match.absences.of(1 - late) is not None
    outcome = Outcome(None if is_nobody_here else 1 - late, Reason.FORFEIT)
    return [_end(match.id, match.seq + 1, outcome, now_ms, now_ms if at_ms is None else at_ms, match.clock)]


def forsaken_at_ms(match: Match) -> int | None:
    """Return when to free the seat of a bot whose opponent is away; None if no bot waits."""
    if match.is_over or match.is_adjourned or match.tournament is not None:
        return None
    waited_for = (match.absences.of(side) for side in SIDES if match.players[1 - side].bot is not None)
    claims_ms = (absence.claim_at_ms for absence in waited_for if absence is not None)
    return next((claim_ms + FREE_AFTER_MS for claim_ms in claims_ms if claim_ms is not None), None)


def forsaken(match: Match, now_ms: int, at_ms: int | None = None) -> list[wire.MatchEvent]:
    """Return the end of a match in which a bot has waited for `FREE_AFTER_MS` after the grace, else nothing.

    The match is aborted if one player has not moved yet. After that the absent player loses a rated match, and a
    casual one is a draw.
    """
    free_ms = forsaken_at_ms(match)
    if free_ms is None or free_ms > now_ms:
        return []
    at_ms = now_ms if at_ms is None else at_ms
    if len(match.moves) < OPENING_PLIES:
        return [_ended(match, Outcome(None, Reason.ABORT), now_ms, at_ms)]
    waiting = next(side for side in SIDES if match.absences.of(side) is None)
    return [_ended(match, Outcome(waiting if match.is_rated else None, Reason.ABANDON), now_ms, at_ms)]


def rematch(match: Match, now_ms: int) -> wire.Started:
    """Return the first event of the next match of the series: the same game, the sides swapped."""
    first, second = match.players
    return wire.Started(
        match=_next_id(match),
        seq=1,
        at_ms=now_ms,
        game=match.game.name,
        players=(second, first),
        time=match.time,
        previous=match.id,
        private=match.is_private,
        rated=match.is_rated,
        score=score_after(match),
        code=match.code,
        start=match.start,
        rules=match.game.face.version,
    )


def score_after(match: Match) -> tuple[float, float]:
    """Return the score of the series including this match, with swapped sides for the next match."""
    first, second = match.score
    if match.outcome is None or match.outcome.reason is Reason.ABORT:
        return second, first
    won = 0.5 if match.outcome.winner is None else 1.0 - match.outcome.winner
    return second + 1 - won, first + won


def _next_id(match: Match) -> str:
    series, _, number = match.id.partition("-")
    return f"{series}-{int(number or 1) + 1}"


def _play(
    match: Match, side: Side, command: wire.PlayRequest, now_ms: int, at_ms: int, lag_ms: int
) -> list[wire.MatchEvent]:
    ply = len(match.moves)
    if command.ply < ply and match.moves[command.ply] == (side, command.move):
        return []
    _must_be_live(match)
    if command.ply != ply:
        raise Refusal(Code.STALE_PLY, "the position has changed, so your move was not made; look at the board first")
    if side != match.game.to_move(match.state):
        raise Refusal(Code.NOT_YOUR_TURN, f"it is {match.players[1 - side].name}'s turn")
    _must_not_wait_for(match, 1 - side)
    try:
        after = match.after(command.move)
    except Refusal as refusal:
        if refusal.code is not Code.GAME_FAULT:
            raise
        ended = _ended(match, Outcome(None, Reason.ABORT), now_ms, at_ms)
        return [replace(ended, fault=str(refusal))]
    outcome = match.game.outcome(after)
    refund_ms = match.clock.refund_ms(side, now_ms, lag_ms) if match.clock else 0
    clock = match.clock and match.clock.pressed(side, now_ms, refund_ms)
    if clock and outcome is None and ply + 1 >= OPENING_PLIES:
        clock = clock.started(match.game.to_move(after), now_ms)
    played = wire.Played(
        match=match.id,
        seq=match.seq + 1,
        at_ms=at_ms,
        side=side,
        ply=ply + 1,
        move=command.move,
        refunded_ms=refund_ms,
        clock=describe_clock(clock, now_ms),
    )
    return [played] if outcome is None else [played, _end(match.id, match.seq + 2, outcome, now_ms, at_ms, clock)]


def _abort(match: Match, now_ms: int, at_ms: int) -> list[wire.MatchEvent]:
    _must_be_live(match)
    _must_be_free(match)
    if len(match.moves) >= (RATED_PLIES if match.is_rated else OPENING_PLIES):
        raise Refusal(Code.TOO_LATE, "it is too late to abort the match; you can resign or offer a draw")
    return [_ended(match, Outcome(None, Reason.ABORT), now_ms, at_ms)]


def _offer(match: Match, side: Side, offer: wire.OfferRequest, now_ms: int, at_ms: int) -> list[wire.MatchEvent]:
    kind = offer.kind
    if kind != "draw":
        _must_be_free(match)
    if kind != "rematch":
        _must_be_live(match)
    elif not match.is_over:
        raise Refusal(Code.MATCH_NOT_OVER, "a rematch can be offered once the match has ended")
    elif match.next is not None:
        return []
    if offer.ply not in (None, len(match.moves)):
        raise Refusal(Code.STALE_OFFER, f"the position has changed, so your {_OFFERED[kind]} was not sent; ask again")
    if (side, kind) in match.offers:
        return []
    if kind == "takeback":
        _must_not_wait_for(match, 1 - side)
    if (1 - side, kind) in match.offers:
        if kind == "takeback" and offer.ply is not None:
            raise Refusal(Code.STALE_OFFER, "your opponent has asked to take back a move; answer that first")
        return [_agreed(match, 1 - side, kind, now_ms, at_ms)]
    if (side, kind) in match.turned_down:
        raise Refusal(Code.TURNED_DOWN, f"your {_OFFERED[kind]} was declined or taken back{_AGAIN[kind]}")
    if kind != "rematch" and match.offered[side] >= MAX_OFFERS:
        sentence = f"you have made {MAX_OFFERS} offers in this match, which is the most; play on, or resign"
        raise Refusal(Code.TOO_MANY_OFFERS, sentence)
    if kind == "takeback":
        _ply_before_last_move(match, side)
        if match.takebacks >= MAX_TAKEBACKS:
            sentence = f"a match has at most {MAX_TAKEBACKS} take-backs, and this one has had them"
            raise Refusal(Code.TOO_MANY_TAKEBACKS, sentence)
    return [wire.Offered(match=match.id, seq=match.seq + 1, at_ms=at_ms, side=side, kind=kind)]


def _agree(match: Match, side: Side, number: int, now_ms: int, at_ms: int) -> list[wire.MatchEvent]:
    offer = _offer_of(match, number)
    if offer.side == side:
        raise Refusal(Code.NO_OFFER, "that offer is your own; your opponent can accept it")
    if match.offers.get((offer.side, offer.kind)) == number:
        if offer.kind == "takeback":
            _must_not_wait_for(match, 1 - side)
        return [_agreed(match, offer.side, offer.kind, now_ms, at_ms)]
    match offer.kind, _end_of(match, offer):
        case ("takeback", wire.Tookback()) | ("rematch", wire.Rematched()):
            return []
        case "draw", wire.Ended(reason=Reason.AGREEMENT):
            return []
        case _:
            raise _is_stale(offer)


def _offer_of(match: Match, number: int) -> wire.Offered:
    offer = match.events[number - 1] if 0 < number <= match.seq else None
    if not isinstance(offer, wire.Offered):
        raise Refusal(Code.NO_OFFER, f"event {number} of this match is no offer")
    return offer


def _end_of(match: Match, offer: wire.Offered) -> wire.MatchEvent | None:
    """Return the event that ended an offer: a move, an acceptance or a decline. None if it is open."""
    for event in match.events[offer.seq :]:
        match event:
            case wire.Offered():
                pass
            case wire.Declined() if event.kind != offer.kind:
                pass
            case _:
                return event
    return None


def _is_stale(offer: wire.Offered) -> Refusal:
    return Refusal(Code.STALE_OFFER, f"the {_OFFERED[offer.kind]} no longer stands")


def _agreed(match: Match, side: Side, kind: wire.OfferKind, now_ms: int, at_ms: int) -> wire.MatchEvent:
    """Return the event that accepts the offer of `side`."""
    if kind == "draw":
        return _ended(match, Outcome(None, Reason.AGREEMENT), now_ms, at_ms)
    if kind == "rematch":
        return wire.Rematched(match=match.id, seq=match.seq + 1, at_ms=at_ms, next=_next_id(match))
    ply = _ply_before_last_move(match, side)
    clock = match.clock and match.clock.stopped(now_ms)
    if clock and clock.time.per_move:
        clock = Clock.fresh(clock.time)  # the next move has its full time, as every move does
    if clock and ply >= OPENING_PLIES:
        clock = clock.started(side, now_ms)
    return wire.Tookback(
        match=match.id,
        seq=match.seq + 1,
        at_ms=at_ms,
        side=side,
        ply=ply,
        clock=describe_clock(clock, now_ms),
    )


def _ply_before_last_move(match: Match, side: Side) -> int:
    for ply in reversed(range(len(match.moves))):
        if match.moves[ply][0] == side:
            return ply
    raise Refusal(Code.NO_MOVE, "you have not moved yet, so there is nothing to take back")


def _decline(match: Match, side: Side, decline: wire.DeclineRequest, at_ms: int) -> list[wire.MatchEvent]:
    kind = decline.kind
    if decline.offer is not None:
        offer = _offer_of(match, decline.offer)
        if offer.kind != kind:
            raise Refusal(
                Code.NO_OFFER, f"event {offer.seq} of this match is the offer of a {offer.kind}, not of a {kind}"
            )
        if match.offers.get((offer.side, offer.kind)) != offer.seq:
            end = _end_of(match, offer)
            if isinstance(end, wire.Declined) and end.side == side:
                return []
            raise _is_stale(offer)
    elif not any(offered == kind for _, offered in match.offers):
        raise Refusal(Code.NO_OFFER, f"there is no offer of a {kind} to decline")
    return [wire.Declined(match=match.id, seq=match.seq + 1, at_ms=at_ms, side=side, kind=kind)]


def _claim(match: Match, side: Side, kind: wire.ClaimKind, now_ms: int, at_ms: int) -> list[wire.MatchEvent]:
    _must_be_live(match)
    if match.is_adjourned:
        if kind == "adjourn":
            return []
        raise Refusal(Code.ADJOURNED, "the match is adjourned; it continues when your opponent is back")
    absence = match.absences.of(1 - side)
    if absence is None:
        raise Refusal(Code.OPPONENT_HERE, "your opponent is here; there is nothing to claim")
    if absence.left_ms(now_ms):
        raise Refusal(Code.OPPONENT_HERE, "your opponent may still come back", absence.left_ms(now_ms))
    if kind != "win":
        _must_be_free(match)
    if kind == "adjourn":
        if match.is_rated:
            raise Refusal(Code.ONLY_CASUAL, "a rated match is not adjourned; claim the win or a draw, or wait")
        clock = describe_clock(match.clock and match.clock.stopped(now_ms), now_ms)
        return [wire.Adjourned(match=match.id, seq=match.seq + 1, at_ms=at_ms, side=side, clock=clock)]
    return [_ended(match, Outcome(side if kind == "win" else None, Reason.ABANDON), now_ms, at_ms)]


def _must_not_wait_for(match: Match, side: Side) -> None:
    if match.is_adjourned and match.absences.of(side):
        raise Refusal(Code.ADJOURNED, "the match is adjourned until your opponent is back")


def _must_be_free(match: Match) -> None:
    if match.tournament is not None:
        raise Refusal(Code.NOT_IN_TOURNAMENT, "in a tournament a match is played once, and to its end")


def _must_be_live(match: Match) -> None:
    if match.outcome is not None:
        raise Refusal(Code.MATCH_OVER, f"match {match.id} has ended ({match.outcome.reason})")


def _ended(match: Match, outcome: Outcome, now_ms: int, at_ms: int) -> wire.Ended:
    """Return an end that the board did not decide; before `RATED_PLIES`, a rated match is aborted.

    Tournament matches are not aborted, since they need a result.
    """
    if match.is_rated and len(match.moves) < RATED_PLIES and match.tournament is None:
        outcome = Outcome(None, Reason.ABORT)
    return _end(match.id, match.seq + 1, outcome, now_ms, at_ms, match.clock)


def _end(match_id: str, seq: int, outcome: Outcome, now_ms: int, at_ms: int, clock: Clock | None) -> wire.Ended:
    """Return the end as event number `seq`, with the clock stopped."""
    return wire.Ended(
        match=match_id,
        seq=seq,
        at_ms=at_ms,
        winner=outcome.winner,
        reason=str(outcome.reason),
        clock=describe_clock(clock and clock.stopped(now_ms), now_ms),
    )
