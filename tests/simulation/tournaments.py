"""Tournaments of a simulated world, by laws of its own: read from the tables, and counted in another way.

Nobody has two matches at once, no round begins over another, each result counts once, and nobody is paired who is gone.
In a Swiss nobody meets the same opponent twice if that can be avoided, nor at once again in an arena with others. A
server knows nothing before it is written down, tells the scores that follow from the tables, and ends the matches of
people who are gone.
"""

import json
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import permutations
from typing import TYPE_CHECKING, Any, get_args

from ttt_net import messages as wire
from ttt_net.clock import TimeControl

if TYPE_CHECKING:
    from tests.simulation.peer import Peer
    from tests.simulation.server import SimulatedServer
    from tests.simulation.stage import Stage

_TIMES = (TimeControl(1_000), TimeControl(60_000, 1_000))
KINDS: tuple[wire.TournamentKind, ...] = ("swiss", "round_robin", "knockout", "arena", "king")
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
    kind: wire.TournamentKind = rng.choice(peer.world.swarm.kinds)
    rounds = rng.choice([1, 2] if kind == "round_robin" else [1, 2, 3])
    minutes = 1 if kind in wire.WITHOUT_ROUNDS else None  # only when its time is up a world comes to rest
    pause_s = rng.choice([0, 0, 1, None] if minutes is None else [0, 0, 0, 1])
    full = rng.choice([None, 2, 2, 3, 3])
    time = rng.choice(_TIMES)
    return wire.OrganiseRequest(
        0, "Friday", kind, time, "tictactoe", rounds, begin_s=5, pause_s=pause_s, full=full, minutes=minutes
    )


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
                case "began" if self.has_rounds:
                    yield from self._faults_of_round(fact, here, met, began)
                case "began":
                    yield from self._faults_of_start(fact, here)

    @property
    def has_rounds(self) -> bool:
        """Whether it has rounds; otherwise matches begin one by one."""
        return self.terms["kind"] not in wire.WITHOUT_ROUNDS

    def _faults_of_start(self, fact: dict[str, Any], here: set[int]) -> Iterable[str]:
        """Yield the faults of matches that begin in an arena, or at tables where the winner stays."""
        before = [board for each in self.facts[: self.facts.index(fact)] for board in each.get("boards", ())]
        numbers = [board["board"] for board in fact["boards"]]
        if fact["round"] != 1 or numbers != [*range(len(before) + 1, len(before) + 1 + len(numbers))]:
            yield f"the boards {numbers} are not the next"
        playing = [board[side] for board in fact["boards"] for side in ("first", "second")]
        waiting = fact.get("waiting", [])
        if len({*playing, *waiting}) < len(playing) + len(waiting):
            yield f"of {playing} and {waiting} somebody is twice there"
        if {*playing, *waiting} - here:
            yield f"of {playing} and {waiting} somebody is gone"
        if self.terms["kind"] == "arena" and len(fact["boards"]) > 1:  # else nobody else may be connected
            latest = {one: other for board in before for one, other in permutations((board["first"], board["second"]))}
            for board in fact["boards"]:
                one, other = board["first"], board["second"]
                if latest.get(one) == other or latest.get(other) == one:
                    yield f"{one} and {other} have just met, and others wait beside them"

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

    def _scores_without_rounds(self) -> dict[int, int]:
        """Return half points by entrant: of an arena, as lichess has them, and of tables, two for a win."""
        found = {fact["entrant"]: 0 for fact in self.facts if fact["fact"] == "entered"}
        wins, was_drawn = Counter[int](), set[int]()
        for first, second, points, is_early in self._in_order():
            for entrant, own in ((first, points[0]), (second, points[1])):
                worth = 2 * own if self.terms["kind"] == "arena" else own if own == 2 else 0
                if self.terms["kind"] == "arena":
                    if own == 1 and (is_early or entrant in was_drawn):
                        worth = 0
                    worth *= 2 if wins[entrant] >= 2 else 1
                    wins[entrant] = wins[entrant] + 1 if own == 2 else 0
                    if own == 1:
                        was_drawn.add(entrant)
                    elif own == 2:
                        was_drawn.discard(entrant)
                found[entrant] += worth
        return found

    def _in_order(self) -> Iterable[tuple[int, int, tuple[int, int], bool]]:
        """Yield the players and half points of each match that counts, and whether they agreed on a draw."""
        ends = {match: (winner, reason) for match, _, _, _, _, is_over, winner, reason in self.pairings if is_over}
        corrected = {fact["board"]: tuple(fact["points"]) for fact in self.facts if fact["fact"] == "corrected"}
        unfinished = {board for fact in self.facts for board in fact.get("unfinished", ())}
        for board in (board for fact in self.facts for board in fact.get("boards", ())):
            winner, reason = ends.get(board["match"], (None, "open"))
            points = corrected.get(board["board"])
            if points is None and (reason in ("open", "abort") or board["board"] in unfinished):
                continue
            is_early = points is None and reason == "agreement"
            if points is None:
                points = ((2, 0), (0, 2))[winner] if winner is not None else (0, 0) if reason == "forfeit" else (1, 1)
            yield board["first"], board["second"], points, is_early

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
        if not self.has_rounds:
            return self._scores_without_rounds()
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


def lasting(stage: "Stage") -> bool:
    """Tell whether there is a tournament in which matches begin until its time is up."""
    rows = stage.truth.execute("SELECT number FROM tournaments WHERE closed_ms IS NULL").fetchall()
    reads = (Read(stage.truth, number) for (number,) in rows)
    return any(not read.has_rounds and any(fact["fact"] == "began" for fact in read.facts) for read in reads)


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
        goes_on = read.has_rounds and read.terms.get("pause_s", 15) is not None
        if is_fast and has_begun and not is_paused and goes_on:
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
