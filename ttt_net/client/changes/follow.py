"""How a match changes with its facts: a snapshot and a fact give the next snapshot. Knows no rules of play."""

from msgspec import structs

from ttt_net.messages import (
    Adjourned,
    Declined,
    Ended,
    MatchEvent,
    Offered,
    OfferInfo,
    OutcomeInfo,
    Played,
    Rematched,
    Snapshot,
    Tookback,
)


def follow(match: Snapshot, fact: MatchEvent) -> Snapshot:
    """Return the snapshot of the match as it is after the fact."""
    match fact:
        case Played():
            return structs.replace(
                match,
                seq=fact.seq,
                moves=[*match.moves, fact.move],
                last=fact.move,
                position=fact.position or match.position,
                clock=fact.clock or match.clock,
                offers=[],
                adjourned=False,
            )
        case Tookback():
            moves = match.moves[: fact.ply]
            return structs.replace(
                match,
                seq=fact.seq,
                moves=moves,
                last=moves[-1] if moves else None,
                position=fact.position or match.position,
                clock=fact.clock or match.clock,
                offers=[],
                adjourned=False,
            )
        case Adjourned():
            return structs.replace(match, seq=fact.seq, adjourned=True, clock=fact.clock or match.clock, offers=[])
        case Offered():
            offers = [*match.offers, OfferInfo(fact.side, fact.kind)]
            return structs.replace(match, seq=fact.seq, offers=offers)
        case Declined():
            # An offer that is turned down is gone, whichever of the two players ended it.
            offers = [offer for offer in match.offers if offer.kind != fact.kind]
            return structs.replace(match, seq=fact.seq, offers=offers)
        case Ended():
            position = structs.replace(match.position, to_move=None, legal=[])
            return structs.replace(
                match,
                seq=fact.seq,
                outcome=OutcomeInfo(fact.winner, fact.reason),
                clock=fact.clock or match.clock,
                position=position,
                offers=[],
                away=None,
            )
        case Rematched():
            return structs.replace(match, seq=fact.seq, next=fact.next, offers=[])
        case _:
            return structs.replace(match, seq=fact.seq)
