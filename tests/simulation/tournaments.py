"""Tournaments of a simulated world, by laws of its own: read from the tables, and counted in another way.

Nobody has two matches of a round, no round begins over another, each result counts once, nobody is paired who is gone
or, in a Swiss that could do without, has met the same opponent. A server knows nothing before it is written down, tells
the scores that follow from the tables, and ends the matches of people who are gone.
"""

import json
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, get_args

from ttt_net import messages as wire
from ttt_net.clock import TimeControl

if TYPE_CHECKING:
    from tests.simulation.peer import Peer
    from tests.simulation.server import SimulatedServer
    from tests.simulation.stage import Stage

_TIMES = (TimeControl(1_000), TimeControl(60_000, 1_000))
_KINDS: tuple[wire.TournamentKind, ...] = ("swiss", "round_robin", "knockout")
"""Those with rounds: worlds with an arena come to rest only when its time is up."""
_ACTS: dict[wire.TournamentAct, int] = {
    "start": 6,
    "next": 4,
    "pause": 1,
    "resume": 1,
    "remove": 1,
    "correct": 2,
    "end": 1,
}
"""How often an organiser does what."""
_MOST_TRIES = 2
"""How often a board begins again after a fault, or in a knockout after a draw."""
_SMALL = 10
"""Players of a round up to which all pairings are tried."""
_POINTS: dict[str, tuple[int, int]] = {"1-0": (2, 0), "0-1": (0, 2), "1/2-1/2": (1, 1), "0-0": (0, 0)}


def organise(peer: "Peer") -> wire.Request:
    """Return a tournament that somebody makes; where there is one already, they enter that more often."""
    rng = peer.rng
    if peer.world.tournaments and rng.random() < 0.7:
        return wire.EnterRequest(0, any_code(peer))
    kind: wire.TournamentKind = rng.choice(_KINDS)
    rounds = rng.choice([1, 2] if kind == "round_robin" else [1, 2, 3])
    pause_s = rng.choice([0, 0, 1, None])
    full = rng.choice([None, 2, 2, 3, 3])
    time = rng.choice(_TIMES)
    return wire.OrganiseRequest(0, "Friday", kind, time, "tictactoe", rounds, begin_s=5, pause_s=pause_s, full=full)


def any_code(peer: "Peer") -> str:
    """Return the code of a tournament, by preference a new one."""
    return str(peer.rng.choice(peer.world.tournaments[-2:] or ["BCDFG"]))


def direct(peer: "Peer") -> wire.DirectRequest:
    """Return an act of an organiser, who may be another."""
    rng, code = peer.rng, any_code(peer)
    (act,) = rng.choices(list(_ACTS), list(_ACTS.values()))
    result: wire.TournamentResult = rng.choice(get_args(wire.TournamentResult))
    name = rng.choice([*peer.world.names.values(), "nobody"])
    return wire.DirectRequest(0, code, act, name, rng.choice([1, 2]), rng.choice([1, 2]), result, "seen")


MAKERS: list[Any] = [
    organise,
    *[lambda peer: wire.EnterRequest(0, any_code(peer))] * 8,
    lambda peer: wire.WithdrawRequest(0, any_code(peer)),
    *[lambda peer: wire.AttendRequest(0, any_code(peer))] * 3,
    lambda peer: wire.TournamentsRequest(0, on=True),
    *[direct] * 3,
]
"""The requests about tournaments, each as often as its weight."""


class Read:
    """One tournament, as the tables have it."""

    def __init__(self, tables: sqlite3.Connection, number: int) -> None:
        rows = tables.execute("SELECT fact FROM tournament_facts WHERE tournament = ? ORDER BY seq", (number,))
        self.facts: list[dict[str, Any]] = [json.loads(fact) for (fact,) in rows]
        self.terms = self.facts[0]["terms"]
        self.pairings = tables.execute(
            "SELECT match, round, board, first, second, is_over, winner, reason FROM pairings WHERE tournament = ?",
            (number,),
        ).fetchall()

    def faults(self) -> Iterable[str]:
        """Yield the laws that the facts and pairings break."""
        open_players = [
            player for _, _, _, *players, is_over, _, _ in self.pairings if not is_over for player in players
        ]
        if len(set(open_players)) < len(open_players):
            yield "somebody has two open matches"
        newest = max((row[1] for row in self.pairings), default=0)
        if any(not is_over and number < newest for _, number, _, _, _, is_over, _, _ in self.pairings):
            yield "a round began before the last was over"
        here: set[int] = set()
        met: set[frozenset[int]] = set()
        began: dict[int, set[int]] = {}
        for fact in self.facts:
            match fact["fact"]:
                case "entered" | "returned":
                    here.add(fact["entrant"])
                case "left":
                    here.discard(fact["entrant"])
                case "began":
                    yield from self._faults_of_round(fact, here, met, began)

    def _faults_of_round(
        self, fact: dict[str, Any], here: set[int], met: set[frozenset[int]], began: dict[int, set[int]]
    ) -> Iterable[str]:
        number, boards = fact["round"], fact["boards"]
        if number in began:  # boards that begin anew
            return
        seats = [each[side] for each in boards for side in ("first", "second") if each.get(side) is not None]
        pairs = [frozenset((each["first"], each["second"])) for each in boards if each.get("match")]
        playing = {entrant for pair in pairs for entrant in pair}
        began[number] = set(seats)
        if len(set(seats)) < len(seats):
            yield f"somebody is in round {number} twice"
        if playing - here:
            yield f"{sorted(playing - here)} are gone, and are paired in round {number}"
        if self.terms["kind"] == "swiss":
            if set(seats) != here:
                yield f"round {number} has not everybody who is there"
            if met & set(pairs) and len(here) <= _SMALL and can_avoid(sorted(here), met):
                yield f"a needless rematch in round {number}"
        met |= set(pairs)

    def results(self) -> Iterable[tuple[int, int | None, tuple[int, int], bool]]:
        """Yield the players, the half points and whether it was played, for each board that is over."""
        ends = {match: (winner, reason) for match, _, _, _, _, is_over, winner, reason in self.pairings if is_over}
        boards: dict[tuple[int, int], list[dict[str, Any]]] = defaultdict(list)
        corrected: dict[tuple[int, int], tuple[int, int]] = {}
        for fact in self.facts:
            if fact["fact"] == "began":
                for board in fact["boards"]:
                    boards[fact["round"], board["board"]].append(board)
            elif fact["fact"] == "corrected":
                corrected[fact["round"], fact["board"]] = tuple(fact["points"])
        for key, tries in boards.items():
            found = self._result(tries, ends)
            if found is not None:
                last, points, is_played = tries[-1], *found
                yield last["first"], last.get("second"), corrected.get(key, points), is_played

    def _result(
        self, tries: list[dict[str, Any]], ends: dict[str, tuple[int | None, str]]
    ) -> tuple[tuple[int, int], bool] | None:
        """Return the half points of a board, and whether it was played; None while it is open."""
        aborted = drawn = 0
        for each in tries:
            if each.get("match") is None:
                return (2, 0), False
            if each["match"] not in ends:
                return None
            winner, reason = ends[each["match"]]
            if reason == "abort" and aborted < _MOST_TRIES:
                aborted += 1
                continue
            points = (0, 0) if reason == "forfeit" else (1, 1)
            if winner is not None:
                points = (2, 0) if winner == 0 else (0, 2)
            if self.terms["kind"] == "knockout" and points == (1, 1) and drawn < _MOST_TRIES:
                drawn += 1
                continue
            return points, reason != "forfeit"
        return None

    def scores(self) -> dict[int, int]:
        """Return half points by entrant."""
        found: Counter[int] = Counter()
        here: set[int] = set()
        rounds = 0
        for fact in self.facts:
            if fact["fact"] in ("entered", "returned"):
                found[fact["entrant"]] += 0
                here.add(fact["entrant"])
            elif fact["fact"] == "left":
                here.discard(fact["entrant"])
            elif fact["fact"] == "begun":
                rounds = self.terms["rounds"] * (len(here) - 1 + len(here) % 2)
        results = list(self.results())
        played = Counter(each for first, second, _, is_played in results if is_played for each in (first, second))
        gone = {each for each in found if self.terms["kind"] == "round_robin" and each not in here}
        early = {each for each in gone if 2 * played[each] < rounds}
        for first, second, (one, other), _ in results:
            if not early & {first, second}:
                found[first] += one
                if second is not None:
                    found[second] += other
        return dict(found)


def can_avoid(entrants: list[int], met: set[frozenset[int]]) -> bool:
    """Tell whether all can be paired without a rematch; one of an odd number rests."""
    if len(entrants) < 2:
        return True
    if len(entrants) % 2:
        return any(can_avoid([each for each in entrants if each != rests], met) for rests in entrants)
    first, *others = entrants
    return any(
        frozenset((first, other)) not in met and can_avoid([each for each in others if each != other], met)
        for other in others
    )


def check(stage: "Stage") -> None:
    """Check the laws of all tournaments in the tables, and that each result is there with the end of its match."""
    tables = stage.truth
    for number, code in tables.execute("SELECT number, id FROM tournaments").fetchall():
        faults = list(Read(tables, number).faults())
        stage.claim(not faults, f"tournament {code}: {faults}")
    apart = tables.execute(
        "SELECT match FROM pairings JOIN matches ON matches.id = match WHERE pairings.is_over <> matches.is_over"
        " OR pairings.winner IS NOT matches.winner OR pairings.reason IS NOT matches.reason"
    ).fetchall()
    stage.claim(not apart, f"the results of {apart} are not those of their matches")
    counts = tables.execute(
        "SELECT id, count(*) FROM tournaments JOIN tournament_facts ON tournament = number GROUP BY id"
    )
    for code, count in counts.fetchall():
        for server in stage.running:
            desk = server.hub.tournaments.desks.get(code)
            is_written = desk is None or desk.now.seq <= count
            stage.claim(is_written, f"tournament {code} is ahead of the {count} facts that are written down")


def steps(stage: "Stage") -> int:
    """Return how much has happened in tournaments, which go on by themselves."""
    query = "SELECT (SELECT count(*) FROM tournament_facts) + (SELECT count(*) FROM pairings WHERE is_over)"
    return int(stage.truth.execute(query).fetchone()[0])


def running(stage: "Stage") -> list[str]:
    """Return the tournaments that end within a minute, even if nobody is here: they go on by themselves, and fast."""
    found = []
    rows = stage.truth.execute("SELECT number, id FROM tournaments WHERE closed_ms IS NULL").fetchall()
    for number, code in rows:
        read = Read(stage.truth, number)
        has_begun = any(fact["fact"] == "begun" for fact in read.facts)
        pauses = [fact["fact"] for fact in read.facts if fact["fact"] in ("paused", "resumed", "wanted")]
        is_paused = pauses[-1:] == ["paused"]
        is_fast = read.terms["time"]["initial_ms"] == _TIMES[0].initial_ms
        if is_fast and has_begun and not is_paused and read.terms.get("pause_s", 15) is not None:
            found.append(code)
    return found


def check_at_rest(stage: "Stage", server: "SimulatedServer") -> None:
    """Check that a server knows what the tables have, holds all open matches, and tells the right scores."""
    tables = stage.truth
    found = tables.execute("SELECT number, id FROM tournaments WHERE closed_ms IS NULL").fetchall()
    for number, code in found:
        desk = server.hub.tournaments.desks.get(code)
        stage.claim(desk is not None, f"tournament {code} is forgotten")
        if desk is None:
            continue
        read = Read(tables, number)
        is_same = desk.now.seq == len(read.facts)
        stage.claim(is_same, f"tournament {code} has {len(read.facts)} facts, and {desk.now.seq} in memory")
        playing = {match for match, _, _, _, _, is_over, *_ in read.pairings if not is_over}
        believed = {each.matches[-1] for each in desk.now.open_boards() if each.awaits is None}
        stage.claim(playing == believed, f"tournament {code} believes that {believed} are open, and not {playing}")
        unheld = [match for match in playing if match not in server.hub.registry.rooms]
        stage.claim(not unheld, f"nobody sees to it that {unheld} of tournament {code} end")
        told = {row.entrant: row.score for row in desk.now.standings()}
        stage.claim(told == read.scores(), f"tournament {code} tells {told}, and not {read.scores()}")
        for peer in stage.peers:
            session = server.hub.services.players.find(peer.name)
            shown = peer.tournaments.get(code)
            if shown is not None and session is not None and not session.is_elsewhere:
                newest = desk.message(shown.page).seq
                stage.claim(shown.seq == newest, f"{peer.name} is shown {code} at {shown.seq}, and it is at {newest}")
