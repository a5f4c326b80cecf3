"""Why each event of a match came about: for every one there is a request that was not refused, by somebody who saw it.

So a refusal has changed nothing, and an offer is accepted only by a player who names it: clients name those that they
show. Of two who offer the same draw or rematch at the same ply, each has accepted the other's.
"""

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from ttt_net import messages as wire
from ttt_net.matches.match import Match

if TYPE_CHECKING:
    from tests.simulation.peer import Peer
    from tests.simulation.stage import Stage

Key = tuple[str, str, object]
"""A match, what is asked for, and of what."""


class Causes:
    """Keeps all requests to matches with what became of each."""

    def __init__(self, stage: "Stage") -> None:
        self._stage = stage
        self._wanted: defaultdict[Key, Counter[int]] = defaultdict(Counter)
        """By what was asked for: how often each peer sent that, and was not refused."""
        self._matches: set[str] = set()
        """Matches in which anything was asked for; others are those of a journal that was there before."""

    def sent(self, peer: "Peer", request: wire.Request) -> None:
        """Take note of a request that is sent, perhaps once more."""
        if (key := _key(request)) is not None:
            self._wanted[key][peer.number] += 1
            self._matches.add(key[0])

    def answered(self, peer: "Peer", request: wire.Request, answer: wire.Ok | wire.Refused) -> None:
        """Take note of the answer: a request that was refused is no cause."""
        if isinstance(answer, wire.Refused) and (key := _key(request)) is not None:
            self._wanted[key][peer.number] -= 1

    def check(self, match: Match) -> None:
        """Check every event of a match, as it was written down."""
        if match.id not in self._matches:
            return
        standing: dict[tuple[int, str], wire.Offered] = {}
        plies = 0
        for event in match.events:
            match event:
                case wire.Played():
                    self._must_be_wanted(event, (match.id, "play", (event.ply - 1, event.move)))
                    plies, standing = event.ply, {}
                case wire.Offered():
                    self._must_be_wanted(event, (match.id, "offer", (event.kind, plies)))
                    standing[event.side, event.kind] = event
                case wire.Declined():
                    self._must_be_wanted(event, (match.id, "decline", event.kind))
                    standing = {key: each for key, each in standing.items() if key[1] != event.kind}
                case wire.Tookback():
                    self._must_be_agreed(event, standing.get((event.side, "takeback")), plies)
                    plies, standing = event.ply, {}
                case wire.Rematched():
                    offers = [standing.get((side, "rematch")) for side in (0, 1)]
                    self._must_be_agreed(event, offers[0] or offers[1], plies)
                case wire.Ended(reason="agreement"):
                    offers = [standing.get((side, "draw")) for side in (0, 1)]
                    self._must_be_agreed(event, offers[0] or offers[1], plies)
                case wire.Ended(reason="resign"):
                    self._must_be_wanted(event, (match.id, "resign", None))
                case _:
                    pass

    def _must_be_wanted(self, event: wire.MatchEvent, key: Key) -> None:
        self._stage.claim(bool(self._by(key)), f"{event} happened, and every such request was refused")

    def _must_be_agreed(self, event: wire.MatchEvent, offer: wire.Offered | None, ply: int) -> None:
        self._stage.claim(offer is not None, f"{event} happened, and nobody had offered it")
        assert offer is not None
        agreed = self._by((event.match, "agree", offer.seq))
        has_crossed = offer.kind != "takeback" and len(self._by((event.match, "offer", (offer.kind, ply)))) > 1
        self._stage.claim(bool(agreed) or has_crossed, f"{event} happened, and nobody accepted {offer}")

    def _by(self, key: Key) -> set[int]:
        return {number for number, times in self._wanted[key].items() if times > 0}


def _key(request: wire.Request) -> Key | None:
    match request:
        case wire.PlayRequest(match=match, ply=ply, move=move):
            return match, "play", (ply, move)
        case wire.OfferRequest(match=match, kind=kind, ply=ply):
            return match, "offer", (kind, ply)
        case wire.AgreeRequest(match=match, offer=offer):
            return match, "agree", offer
        case wire.DeclineRequest(match=match, kind=kind):
            return match, "decline", kind
        case wire.ResignRequest(match=match):
            return match, "resign", None
        case _:
            return None
