"""Follow a match: a snapshot and an event give the next snapshot. Knows no rules of play."""

from dataclasses import dataclass

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
    PlayerRenamed,
    Rematched,
    Snapshot,
    Tookback,
)


@dataclass(frozen=True, slots=True)
class Tally:
    """The matches that ended while we looked on as a player, without the aborted ones."""

    won: int = 0
    drawn: int = 0
    lost: int = 0

    @property
    def games(self) -> int:
        """How many there were."""
        return self.won + self.drawn + self.lost


def follow(match: Snapshot, event: MatchEvent | PlayerRenamed) -> Snapshot:
    """Return the snapshot of the match as it is after the event, or after a player of it has taken another name."""
    match event:
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
            offers = [*match.offers, OfferInfo(event.side, event.kind, event.seq)]
            return structs.replace(match, seq=event.seq, offers=offers)
        case Declined():
            # An offer that is turned down is gone, whichever of the two players ended it.
            offers = [offer for offer in match.offers if offer.kind != event.kind]
            return structs.replace(match, seq=event.seq, offers=offers)
        case Ended():
            position = structs.replace(match.position, to_move=None, legal=[])
            return structs.replace(
                match,
                seq=event.seq,
                outcome=OutcomeInfo(event.winner, event.reason),
                clock=event.clock or match.clock,
                position=position,
                offers=[],
                away=None,
            )
        case Rematched():
            return structs.replace(match, seq=event.seq, next=event.next, offers=[])
        case _:
            return structs.replace(match, seq=event.seq)
