"""The features and faults of a seed: each world has some of both, so that rare combinations occur."""

import datetime
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace as replace_fields

from tests.simulation import tournaments
from ttt_net import messages as wire
from ttt_net.clock import TimeControl

if TYPE_CHECKING:
    from tests.simulation.peer import Peer

Maker = Callable[["Peer"], wire.Request]

GAMES = ["tictactoe", "tictactoe", "mnk:3x3,3+swap", "vanishing", "misere", "connect4"]
RATED = "connect4"
"""The small games above are never rated: perfect play is too well known."""
_STARTS = {"tictactoe": "X../.O./..X", "connect4": "......./......./......./......./...O.../...X..."}
"""Positions that a match against a bot may begin from."""
_LEAST: list[int | None] = [None, None, None, None, 1_400, 1_500, 1_550]
_MOST: list[int | None] = [None, None, None, None, 1_450, 1_500, 1_600]
"""Rating ranges that seeks ask for; players begin with 1500."""
_OFFERS: list[wire.OfferKind] = ["draw", "takeback"]
_CLAIMS: list[wire.ClaimKind] = ["win", "draw", "adjourn", "adjourn"]


def _time(peer: "Peer") -> TimeControl | None:
    return peer.rng.choice(peer.world.swarm.times)


def _game(peer: "Peer") -> str:
    return peer.rng.choice(GAMES)


def _terms(peer: "Peer", key: str) -> dict[str, Any]:
    """Return what a match is to be like: a rated one is of a game that can be."""
    is_rated = peer.world.swarm.rated and peer.rng.random() < 0.4
    game: Any = RATED if is_rated else _game(peer)
    return {key: [game] if key == "games" else game, "time": _time(peer), "rated": is_rated}


def _wishes(peer: "Peer", **others: Any) -> dict[str, Any]:
    """Return what else is asked of a match where people are choosy, beside those wishes."""
    rng = peer.rng
    if not peer.world.swarm.is_choosy:
        return {}
    level = rng.choice([None, None, None, None, None, None, 1, 2])
    return {"or_casual": rng.random() < 0.5, "level": level, **{key: rng.choice(of) for key, of in others.items()}}


def seek_of(peer: "Peer") -> wire.SeekRequest:
    """Return a seek."""
    terms: dict[str, Any] = _terms(peer, "games") | {"opponents": peer.rng.choice(["any", "people"])}
    wishes = _wishes(peer, min_rating=_LEAST, max_rating=_MOST, opponents=["any", "any", "people", "bots"])
    return wire.SeekRequest(0, **(terms | wishes))


def _challenge(peer: "Peer") -> wire.ChallengeRequest:
    asked = wire.ChallengeRequest(0, name=_someone(peer), **_terms(peer, "game"))
    bots = [other.name for other in peer.world.peers if other.is_bot and other is not peer]
    if bots and peer.world.swarm.is_choosy and peer.rng.random() < 0.5:
        wishes = _wishes(peer, name=bots, side=[None, 0, 1], start=[None, _STARTS.get(asked.game)])
        return replace_fields(asked, rated=False, **wishes)
    return replace_fields(asked, **_wishes(peer))


def _someone(peer: "Peer") -> str:
    return peer.rng.choice([*peer.world.names.values(), "nobody"])


def _seat(peer: "Peer", name: str) -> dict[str, Any]:
    """Return the newest match that the client knows, and a seat in it: the seat counts, whatever name goes with it."""
    match = next(reversed(peer.matches), None)
    return {} if match is None else {"match": match, "side": (peer.matches[match].seq + len(name)) % 2}


def _report(peer: "Peer") -> wire.ReportRequest:
    name, match = _someone(peer), peer.rng.choice([None, peer.any_match()])
    where = {"match": match} if match is None or match not in peer.matches else _seat(peer, name)
    return wire.ReportRequest(0, name=name, text="they did it", **where)


def _mute(peer: "Peer") -> wire.MuteRequest:
    name = _someone(peer)
    return wire.MuteRequest(0, name=name, on=peer.rng.random() < 0.5, **_seat(peer, name))


def _mistake(peer: "Peer") -> wire.OwnMistake:
    """Return one of a few mistakes, often known already, with more or less progress than before, of long ago."""
    puzzle = wire.OwnPuzzle("tictactoe", [4], [peer.rng.randrange(3)])
    due = datetime.date(2000, 1, 1) + datetime.timedelta(days=peer.rng.randrange(9))
    return wire.OwnMistake(puzzle, "why", peer.rng.choice(["", due.isoformat()]), peer.rng.randint(0, wire.LEARNED))


def _offer(peer: "Peer", kind: wire.OfferKind) -> wire.OfferRequest:
    match = peer.any_match()
    return wire.OfferRequest(0, match=match, kind=kind, ply=peer.ply_of(match))


def _agree(peer: "Peer") -> wire.AgreeRequest:
    match = peer.any_match()
    return wire.AgreeRequest(0, match=match, offer=peer.offer_in(match).seq)


def _decline(peer: "Peer") -> wire.DeclineRequest:
    match = peer.any_match()
    offer = peer.offer_in(match)
    return wire.DeclineRequest(0, match=match, kind=offer.kind, offer=offer.seq)


REQUESTS: dict[str, tuple[int, Maker]] = {
    "seek": (8, seek_of),
    "unseek": (1, lambda peer: wire.UnseekRequest(0)),
    "accept": (2, lambda peer: wire.AcceptRequest(0, seek=peer.rng.choice(peer.seeks or [1]))),
    "challenge": (3, _challenge),
    "answer": (
        3,
        lambda peer: wire.AnswerRequest(
            0, challenge=peer.rng.choice(peer.challenges or [1]), accept=peer.rng.random() < 0.8
        ),
    ),
    "invite": (
        1,
        lambda peer: wire.InviteRequest(0, game=_game(peer), time=_time(peer), side=peer.rng.choice([None, 0, 1])),
    ),
    "join": (2, lambda peer: wire.JoinRequest(0, code=peer.rng.choice(peer.world.codes or ["BCDFGH"]))),
    "resign": (1, lambda peer: wire.ResignRequest(0, match=peer.any_match())),
    "abort": (1, lambda peer: wire.AbortRequest(0, match=peer.any_match())),
    "offer": (3, lambda peer: _offer(peer, peer.rng.choice(_OFFERS))),
    "agree": (3, lambda peer: _agree(peer)),
    "rematch": (4, lambda peer: _offer(peer, "rematch")),
    "decline": (1, lambda peer: _decline(peer)),
    "claim": (2, lambda peer: wire.ClaimRequest(0, match=peer.any_match(), kind=peer.rng.choice(_CLAIMS))),
    "watch": (4, lambda peer: wire.WatchRequest(0, match=peer.match_of_others())),
    "unwatch": (1, lambda peer: wire.UnwatchRequest(0, match=peer.any_match())),
    "chat": (2, lambda peer: wire.ChatRequest(0, match=peer.any_match(), text=peer.signed())),
    "report": (1, _report),
    "mute": (1, _mute),
    "block": (1, lambda peer: wire.BlockRequest(0, name=_someone(peer), on=peer.rng.random() < 0.5)),
    "blocks": (1, lambda peer: wire.BlocksRequest(0)),
    "learn": (2, lambda peer: wire.LearnRequest(0, _mistake(peer))),
    "mistakes": (1, lambda peer: wire.MistakesRequest(0, all=peer.rng.random() < 0.5)),
    "lobby": (2, lambda peer: wire.LobbyRequest(0, on=peer.rng.random() < 0.7)),
    "who": (1, lambda peer: wire.WhoRequest(0)),
    "matches": (1, lambda peer: wire.MatchesRequest(0)),
    "profile": (1, lambda peer: wire.ProfileRequest(0, name=_someone(peer))),
    "history": (1, lambda peer: wire.HistoryRequest(0, name=_someone(peer))),
    "leaderboard": (1, lambda peer: wire.LeaderboardRequest(0, game="tictactoe")),
    "rules": (1, lambda peer: wire.RulesRequest(0, game=peer.rng.choice(_GAMES_OF_RULES))),
    "replay": (1, lambda peer: wire.ReplayRequest(0, match=peer.any_match())),
    "record": (1, lambda peer: wire.RecordRequest(0, match=peer.any_match())),
    "rename": (1, lambda peer: wire.RenameRequest(0, name=peer.world.new_name())),
    "forget": (1, lambda peer: wire.ForgetRequest(0, name=peer.name)),
    "ping": (1, lambda peer: wire.PingRequest(0)),
}
"""Every request that a person makes, how often, and how it is made up."""
_ALWAYS = ("seek", "resign")
_GAMES_OF_RULES: tuple[str, ...] = ("ultimate", "connect4+swap", "mnk:7x1,4", "nonesuch")
PEER_FAULTS = (
    "cut",
    "twice",
    "silence",
    "stall",
    "die",
    "leave",
    "set_clock",
    "kick",
    "ban",
    "mute",
    "judge",
    "announce",
)
"""Faults in every world: of links, clients and the time of day; and acts of an admin."""


@dataclass(frozen=True)
class Swarm:
    """The features and faults of one world: what `of` draws from a seed, and a shrink takes away again."""

    peers: int
    bots: bool
    guests: bool
    """Whether some people come without a name."""
    rated: bool
    times: tuple[TimeControl | None, ...]
    requests: tuple[str, ...]
    faults: tuple[str, ...]
    delay_s: float
    """The longest that bytes are on their way."""
    think_s: float
    """How long a person or bot thinks, on average."""
    is_played_out: bool
    """Whether every match is played to its end once faults are over."""
    is_contested: bool = False
    """Whether people want names that others have, or are about to have."""
    is_strict: bool = False
    """Whether people are held to the quotas that strangers are."""
    is_choosy: bool = False
    """Whether people say more of the match that they want: rated or casual, ranges of ratings, levels, positions."""
    has_house_bots: bool = False
    """Whether bots are the product's own, and not people with a label."""
    has_ladder: bool = False
    """Whether those bots seek rated matches with one another: for scenes, since such a world never comes to rest."""
    is_hot: bool = False
    """Whether something goes wrong three times as often."""
    has_tournaments: bool = False
    """Whether people make tournaments, and play in them."""
    kinds: tuple[wire.TournamentKind, ...] = tournaments.KINDS
    """The kinds of these."""
    life: float = 1.0
    """How long the world is troubled, as a share of the usual."""

    @property
    def is_timed(self) -> bool:
        """Whether there are clocks, so that a server has to tell when it stands still."""
        return self.times != (None,)

    @classmethod
    def of(cls, rng: random.Random, faults: Sequence[str], later_faults: Sequence[str] = ()) -> "Swarm":
        """Choose what a world has; `later_faults` are drawn aside, so that worlds without them stay as they were."""
        aside = random.Random(rng.getstate()[1][1])  # what came to be drawn later changes no world that has it not
        drawn = cls(
            peers=rng.choice([2, 2, 3, 4, 5, 6]),
            bots=rng.random() < 0.4,
            guests=rng.random() < 0.4,
            rated=rng.random() < 0.5,
            times=rng.choice([(None,), (None, TimeControl(1_000), TimeControl(60_000, 1_000))]),
            requests=tuple(name for name in REQUESTS if name in _ALWAYS or rng.random() < 0.5),
            faults=tuple(fault for fault in faults if rng.random() < 0.35),
            delay_s=rng.choice([0.0, 0.01, 0.2, 0.5]),
            think_s=rng.choice([0.02, 0.2]),
            is_played_out=rng.random() < 0.3,
            is_contested=rng.random() < 0.3,
            is_strict=rng.random() < 0.15,
            is_choosy=aside.random() < 0.4,
            has_house_bots=aside.random() < 0.5,
        )
        faults_of_all = drawn.faults + tuple(fault for fault in later_faults if aside.random() < 0.2)
        return replace(drawn, faults=faults_of_all, has_tournaments=aside.random() < 0.25)

    def heated(self, rng: random.Random, faults: Sequence[str]) -> "Swarm":
        """Return this world with three times the faults, and more kinds of them."""
        share = rng.choice([0.3, 0.6, 0.9])
        return replace(
            self,
            faults=tuple(fault for fault in faults if rng.random() < share),
            life=self.life * rng.choice([0.5, 1.0, 1.5]),
            is_contested=rng.random() < 0.5,
            is_hot=True,
        )

    def makers(self) -> list[Maker]:
        """Return what makes a request, each as often as its weight."""
        usual = [maker for name in self.requests for weight, maker in [REQUESTS[name]] for _ in range(weight)]
        return usual + (tournaments.MAKERS if self.has_tournaments else [])

    def smaller(self) -> Iterator["Swarm"]:
        """Yield worlds that have a little less each."""
        for fault in self.faults:
            yield replace(self, faults=tuple(each for each in self.faults if each != fault))
        if self.peers > 2:
            yield replace(self, peers=self.peers - 1)
        for name in self.requests:
            if name not in _ALWAYS:
                yield replace(self, requests=tuple(each for each in self.requests if each != name))
        for change in (
            {"bots": False},
            {"guests": False},
            {"rated": False},
            {"times": (None,)},
            {"delay_s": 0.0},
            {"is_played_out": False},
            {"is_contested": False},
            {"is_strict": False},
            {"is_choosy": False},
            {"has_house_bots": False},
            {"has_tournaments": False},
        ):
            if any(getattr(self, key) != value for key, value in change.items()):
                yield replace(self, **change)
        for share in (0.3, 0.6, 0.9):
            yield replace(self, life=self.life * share)
