"""A seeded random walk through all entries that there are, and what a database has after them."""

import random
import sqlite3
from copy import copy
from typing import Any, Literal, Self, get_args

from tests.server.journal.jobs import committed
from ttt_net.clock import TimeControl
from ttt_net.messages import Ended, MatchEvent, OwnMistake, OwnPuzzle, Played, PlayerInfo, Rematched, Started, Tookback
from ttt_net.pairing.lobby import Invitation
from ttt_net.server.admission.sanctions import Act, Sanction, of_player
from ttt_net.server.journal import entries
from ttt_net.server.journal.database import Database
from ttt_net.server.journal.entries import AnyEntry, AuditNote, ChatLine
from ttt_net.server.journal.queries import unpacked
from ttt_net.tournaments.tournament import AnyFact, Board, BoardsBegan, Closed, Entered, Opened, Terms

_NAMES = [f"{first}{second}" for first in "ABCDEFGHIJ" for second in "abcdefghij"]
_GAMES = ["tictactoe", "connect4"]
_TIMES = [None, TimeControl(60_000), TimeControl(180_000, 2_000)]
_DAY_MS = 86_400_000
_NETWORK = "192.0.2.0/24"
_STEPS = (
    ["play"] * 30 + ["start"] * 6 + ["end"] * 6 + ["register"] * 3 + ["invite"] * 3 + ["rematch", "see", "label"] * 2
    + ["rename", "forget", "impose", "lift", "note", "old_matches", "old_guests", "stale", "probe", "pack"]
    + ["report", "block"] * 3 + ["close", "close_all"]
    + ["open", "enter", "round"] * 3
    + ["learn"] * 2 + ["appoint", "dismiss", "old_reports", "old_notes", "old_sanctions"]
)  # fmt: skip


class Walk:
    """Makes entries that suit the database as it is, and one time out of ten some that do not."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.database = Database(None)
        self.asked: list[AnyEntry] = []
        """All entries, in order."""
        self.answers: list[object] = []
        """The result of each."""
        self._now_ms = 1_000
        self._number = 0

    def go(self, steps: int) -> None:
        """Ask for so many entries more."""
        for _ in range(steps):
            self._now_ms += self.rng.choice([1, 1_000, 1_000_000, 3 * _DAY_MS] if self.rng.random() < 0.05 else [1, 50])
            entry = getattr(self, f"_{self.rng.choice(_STEPS)}")()
            if entry is not None:
                (answer,) = committed(self.database, entry)
                self.asked.append(entry)
                self.answers.append(answer)

    def copy(self, database: Database) -> Self:
        """Return the same walk in a copy of its database, in which it goes on as this one would."""
        self.database.connection.backup(database.connection)
        other = copy(self)
        other.database, other.rng = database, copy(self.rng)
        other.asked, other.answers = [*self.asked], [*self.answers]
        return other

    # Entries, or None where there is nobody and nothing for one.

    def _register(self) -> AnyEntry:
        name, is_guest = self.rng.choice(_NAMES), self.rng.random() < 0.4
        token = self.rng.choice([b"a token of before", self.rng.randbytes(8)])
        alike = () if is_guest else (name.lower(), name.lower()[::-1])
        bot = self.rng.choice([None, None, "random"])
        return entries.RegisterPlayer(name, name.lower(), alike, token, self._now_ms, bot, is_guest)

    def _label(self) -> AnyEntry:
        return entries.LabelBot(self._player(), self.rng.choice(["random", "mcts"]))

    def _rename(self) -> AnyEntry:
        name = self.rng.choice(_NAMES)
        return entries.RenamePlayer(self._player(), name, name.lower(), (name.lower(), name.lower()[::-1]))

    def _forget(self) -> AnyEntry:
        return entries.ForgetPlayer(self._player(), self.rng.choice([None, "token:99"]))

    def _see(self) -> AnyEntry:
        return entries.SeeGuest(self._player(), self._now_ms)

    def _invite(self) -> AnyEntry:
        number = self._next_number()
        expires_ms = self._now_ms + 3_600_000
        time, side = self.rng.choice(_TIMES), self.rng.choice([None, 0])
        invitation = Invitation(f"CODE{number}", self._player(), self.rng.choice(_GAMES), time, expires_ms, side)  # type: ignore[arg-type]
        return entries.KeepInvitation(invitation, self._now_ms)

    def _start(self) -> AnyEntry:
        codes = [code for (code,) in self._rows("SELECT code FROM invitations")]
        code = self.rng.choice(codes) if codes and self.rng.random() < 0.3 else None
        started = self._started(f"m{self._next_number()}", 1, code=code)
        return entries.AppendEvents((started,), (self._player(), self._player()))

    def _play(self) -> AnyEntry | None:
        found = self._live()
        if found is None:
            return None
        match, seq = found
        events: list[MatchEvent] = [Played(match, seq, self._now_ms, seq % 2, seq - 1, self.rng.randrange(9))]
        if self.rng.random() < 0.1:
            events.append(Tookback(match, seq + 1, self._now_ms, seq % 2, seq - 2))
        return entries.AppendEvents(tuple(events))

    def _end(self) -> AnyEntry | None:
        found = self._live()
        if found is None:
            return None
        match, seq = found
        reason = self.rng.choice(["line", "time", "abort"])
        winner = None if reason == "abort" else self.rng.choice([0, 1, None])
        return entries.AppendEvents((Ended(match, seq, self._now_ms, winner, reason),))

    def _rematch(self) -> AnyEntry | None:
        over = self._rows("SELECT id, first, second FROM matches WHERE is_over ORDER BY number DESC LIMIT 5")
        if not over:
            return None
        match, first, second = self.rng.choice(over)
        new = f"m{self._next_number()}"
        rematched = Rematched(match, self._next_seq(match), self._now_ms, new)
        return entries.AppendEvents((rematched, self._started(new, 1, previous=match)), (second, first))

    def _impose(self) -> AnyEntry:
        player = self._player()
        whom = self.rng.choice([of_player(player), _NETWORK])
        until_ms = self.rng.choice([None, self._now_ms + 5_000])
        about = None if whom == _NETWORK else player
        sanction = Sanction(self.rng.choice(get_args(Act)), whom, "shown", "why", self._now_ms, until_ms, about, "anna")
        with_address = [sanction._replace(whom="address:77")] if about and self.rng.random() < 0.3 else []
        note = AuditNote(self._now_ms, sanction.act, ": why", sanction.player, "anna")
        return entries.ImposeSanction((sanction, *with_address), note)

    def _lift(self) -> AnyEntry:
        player = self._player()
        whom, about = self.rng.choice([(of_player(player), player), (_NETWORK, None)])
        return entries.LiftSanction(self.rng.choice(get_args(Act)), whom, about, AuditNote(self._now_ms, "unban", ""))

    def _block(self) -> AnyEntry:
        other = self.rng.choice([None, self._player(), self._player()])
        act: Literal["mute", "block"] = "mute" if other is None else self.rng.choice(["mute", "block"])
        return entries.SetBlock(self._player(), other, act, self.rng.random() < 0.8, 3)

    def _learn(self) -> AnyEntry:
        due, times = self.rng.choice(["", "2026-11-27", "2026-11-28", "2026-12-04"]), self.rng.randint(0, 5)
        puzzle = OwnPuzzle(self.rng.choice(_GAMES), [self.rng.randrange(9)], [self.rng.randrange(7)])
        return entries.KeepMistake(self._player(), OwnMistake(puzzle, "why", due, times), 3)

    def _report(self) -> AnyEntry:
        reporter, reported = self._player(), self._player()
        lines = (ChatLine(self._now_ms, reported, "rude"), ChatLine(self._now_ms, reporter, "no"))
        match, address = self.rng.choice([None, "m1"]), self.rng.choice(["", "address:77"])
        network = self.rng.choice([None, "", "network:1"])
        return entries.FileReport(self._now_ms, reporter, reported, "chat", "see", match, lines, address, 4, network)

    def _close(self) -> AnyEntry:
        ((last,),) = self._rows("SELECT coalesce(max(number), 1) FROM reports")
        number = self.rng.randint(1, last)
        return entries.CloseReport(number, "done", AuditNote(self._now_ms, "close", ": done", None, "anna"))

    def _close_all(self) -> AnyEntry:
        note = AuditNote(self._now_ms, "close", ": all", None, "anna")
        return entries.CloseReports(self._player(), self.rng.random() < 0.5, "done", note)

    def _open(self) -> AnyEntry:
        terms = Terms("Friday", "swiss", "tictactoe", TimeControl(60_000))
        code = self.rng.choice(["BCDFG", f"t{self._next_number()}"])
        return entries.AppendTournament(code, 1, (Opened(self._now_ms, terms, self._player()),))

    def _enter(self) -> AnyEntry | None:
        tournament = self._tournament()
        if tournament is None:
            return None
        code, seq = tournament
        facts: list[AnyFact] = [Entered(self._now_ms, seq, self._player())]
        if self.rng.random() < 0.1:
            facts.append(Closed(self._now_ms, "ended"))
        return entries.AppendTournament(code, seq + self.rng.choice([0, 0, 0, 1]), tuple(facts))

    def _round(self) -> AnyEntry | None:
        tournament = self._tournament()
        if tournament is None:
            return None
        code, seq = tournament
        seats = self._player(), self._player()
        match = f"m{self._next_number()}"
        board = Board(1, 1, 2, match)
        started = self._started(match, 1, previous="unspent")
        began = BoardsBegan(self._now_ms, self.rng.choice([1, seq]), (board,))
        return entries.BeginBoards(code, seq, began, (entries.AppendEvents((started,), seats),))

    def _tournament(self) -> tuple[str, int] | None:
        """Return the code of a tournament, and the next number of its facts."""
        query = "SELECT id, (SELECT max(seq) FROM tournament_facts WHERE tournament = number) FROM tournaments"
        known = self._rows(query)
        if not known:
            return None
        code, last = self.rng.choice(known)
        return code, last + 1

    def _appoint(self) -> AnyEntry:
        name = self.rng.choice(["anna", "ben"])
        return entries.AppointModerator(name, name, self.rng.randbytes(8), AuditNote(self._now_ms, "appoint", name))

    def _dismiss(self) -> AnyEntry:
        name = self.rng.choice(["anna", "ben"])
        return entries.DismissModerator(name, AuditNote(self._now_ms, "dismiss", name))

    def _old_reports(self) -> AnyEntry:
        return entries.ForgetReports(self._now_ms - self.rng.choice([1, _DAY_MS]), self.rng.choice([1, 20]))

    def _old_sanctions(self) -> AnyEntry:
        return entries.ForgetSanctions(self._now_ms, self.rng.choice([1, 20]))

    def _old_notes(self) -> AnyEntry:
        return entries.ForgetNotes(self._now_ms - self.rng.choice([1, _DAY_MS]), self.rng.choice([1, 20]))

    def _note(self) -> AnyEntry:
        return entries.WriteNote(AuditNote(self._now_ms, "announce", "hello"))

    def _old_matches(self) -> AnyEntry:
        kept = tuple(match for (match,) in self._rows("SELECT id FROM matches WHERE is_over LIMIT 2"))
        return entries.ForgetMatches(self._now_ms - self.rng.choice([1, _DAY_MS]), kept, self.rng.choice([1, 20]))

    def _pack(self) -> AnyEntry:
        return entries.PackMatches(self._now_ms - self.rng.choice([0, _DAY_MS]), self.rng.choice([1, 20, 500]))

    def _old_guests(self) -> AnyEntry:
        return entries.ForgetGuests(self._now_ms - 2 * _DAY_MS, self._now_ms, (self._player(),), (), 2)

    def _stale(self) -> AnyEntry:
        return entries.UnsettleRatings(self._now_ms + self.rng.choice([0, 10**12]), self.rng.choice([1, 20]))

    def _probe(self) -> AnyEntry:
        return entries.Probe()

    # What the entries are about.

    def _next_number(self) -> int:
        self._number += 1
        return self._number

    def _started(self, match: str, seq: int, code: str | None = None, previous: str | None = None) -> Started:
        nobody = (PlayerInfo(""), PlayerInfo(""))
        game, time = self.rng.choice(_GAMES), self.rng.choice(_TIMES)
        is_rated = code is None and self.rng.random() < 0.7
        return Started(
            match, seq, self._now_ms, game, nobody, time, previous, code is not None, is_rated, code=code
        )  # fmt: skip

    def _player(self) -> int:
        """Return the number of a player, forgotten or not; sometimes of nobody."""
        (last,) = self._rows("SELECT coalesce(max(id), 0) FROM players")[0]
        return self.rng.randint(1, int(last) + (self.rng.random() < 0.1) or 1)

    def _live(self) -> tuple[str, int] | None:
        """Return an unfinished match with the number of its next event; sometimes with another number."""
        live = self._rows("SELECT id FROM matches WHERE NOT is_over ORDER BY number DESC LIMIT 8")
        if not live:
            return None
        (match,) = self.rng.choice(live)
        return match, self._next_seq(match) + (self.rng.choice([-1, 1]) if self.rng.random() < 0.05 else 0)

    def _next_seq(self, match: str) -> int:
        query = "SELECT 1 + max(seq) FROM facts WHERE match = (SELECT number FROM matches WHERE id = ?)"
        (seq,) = self.database.connection.execute(query, (match,)).fetchone()
        return int(seq)

    def _rows(self, query: str) -> list[tuple[Any, ...]]:
        return self.database.connection.execute(query).fetchall()


def know_events(connection: sqlite3.Connection) -> None:
    """Let queries ask for `events(fact)`: the events in a row of `facts`, packed or not, as a JSON array."""
    connection.create_function("events", 1, lambda fact: (b"[%s]" % b",".join(unpacked(fact))).decode())


def canonical(connection: sqlite3.Connection) -> str:
    """Return all that is in the tables as text: equal databases have equal texts, whatever their files look like.

    Without the hashes of segments, which a node knows or not.
    """
    query = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'segments' ORDER BY 1"
    tables = [name for (name,) in connection.execute(query)]
    lines = []
    for table in tables:
        rows = sorted(map(repr, connection.execute(f"SELECT * FROM {table}")))
        lines += [f"{table} {row}" for row in rows]
    return "\n".join(lines)
