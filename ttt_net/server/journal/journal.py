"""Turn the server's calls into entries and queries; a callback answers each one later."""

import hashlib
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from msgspec.structs import replace as restruct

from ttt_net.errors import Refusal
from ttt_net.messages import UNSCORED, MatchEvent, Started
from ttt_net.names import looks
from ttt_net.pairing.lobby import Invitation
from ttt_net.server.admission.fair_shares import FairShares, Payer
from ttt_net.server.admission.sanctions import Sanction, Subject
from ttt_net.server.journal import entries, queries
from ttt_net.server.journal.database import Done, unheard
from ttt_net.server.journal.entries import AuditNote, Changes, MaintenanceEntry
from ttt_net.server.journal.ledger import Ledger, LedgerHealth, Read, Tell
from ttt_net.server.journal.queries import Moderator, PlayerReport, StoredMatch, StoredTournament, with_names
from ttt_net.server.players import Blocks, Player, PlayerId
from ttt_net.text import name_key
from ttt_net.tournaments.tournament import AnyFact, BoardsBegan

Failed = Callable[[Refusal], None]
"""The callback instead of `done` if nothing changed: the request was refused, or the disk failed."""


class Journal:
    """The append-only list of events of each match, the players, and the host's decisions.

    Every call ends with `done` or `failed`, in the order of the calls. A `Refusal` with the code `STORAGE` means that
    the disk failed.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger: Ledger | _ChargedLedger = ledger
        self._plain = ledger

    def charge_to(self, shares: FairShares) -> None:
        """Charge each call and its consequences to the connection whose request it is part of."""
        self._ledger = _ChargedLedger(self._plain, shares)

    # Matches.

    def append(
        self,
        events: Sequence[MatchEvent],
        done: Callable[[Changes | None], None],
        failed: Failed,
        seats: tuple[PlayerId, PlayerId] | None = None,
    ) -> None:
        """Append events to their matches, all or none. An event that is not the next of its match is rejected.

        `seats` are needed with the first event of a match. In the same transaction, the start of a match spends its
        invitation, and the end of a rated match changes both ratings; `done` gets the changes.
        """
        if seats is not None:
            events = [_as_kept(each) if isinstance(each, Started) else each for each in events]
        self._ledger.append(entries.AppendEvents(tuple(events), seats), done, failed)

    def read(self, match: str, done: Callable[[StoredMatch], None], failed: Failed) -> None:
        """Read a match; an unknown id is refused with `UNKNOWN_MATCH`."""
        self._ledger.ask(queries.MatchQuery(match), done, failed)

    # Tournaments.

    def direct(
        self, tournament: str, seq: int, facts: Sequence[AnyFact], done: Callable[[], None], failed: Failed
    ) -> None:
        """Append facts to a tournament; refused as `Overtaken` if `seq` is not its next number."""
        entry = entries.AppendTournament(tournament, seq, tuple(facts))
        self._ledger.append(entry, lambda _: done(), failed)

    def begin_boards(
        self,
        tournament: str,
        seq: int,
        began: BoardsBegan,
        starts: Sequence[tuple[Started, tuple[PlayerId, PlayerId]]],
        done: Callable[[], None],
        failed: Failed,
    ) -> None:
        """Begin a round of a tournament, or some boards again, with all matches; see `BeginBoards`."""
        appends = tuple(entries.AppendEvents((_as_kept(started),), seats) for started, seats in starts)
        entry = entries.BeginBoards(tournament, seq, began, appends)
        self._ledger.append(entry, lambda _: done(), failed)

    def catch_up(self, done: Callable[[], None], failed: Failed) -> None:
        """Call `done` once everything that was written before, also by other nodes, is applied here."""
        self._ledger.append(entries.Probe(), lambda _: done(), failed)

    def tournaments(self, code: str | None, done: Callable[[list[StoredTournament]], None], failed: Failed) -> None:
        """Read the unfinished tournaments, or the one with a code."""
        self._ledger.ask(queries.TournamentsQuery(code), done, failed)

    # Players.

    def register(
        self,
        name: str,
        token: str,
        bot: str | None,
        now_ms: int,
        done: Callable[[Player], None],
        failed: Failed,
        *,
        is_guest: bool = False,
    ) -> None:
        """Register a new player with a name and a token; a bot has a label.

        If the token exists, its player is returned instead: the client has repeated the request.
        """
        alike = () if is_guest else _looks(name)
        entry = entries.RegisterPlayer(name, name_key(name), alike, token_hash(token), now_ms, bot, is_guest)
        self._ledger.append(entry, done, failed)

    def find(
        self, token: str, bot: str | None, now_ms: int, done: Callable[[Player | None], None], failed: Failed
    ) -> None:
        """Find the player of a token, None if it is unknown; `label` is set for bots."""
        query = queries.TokenQuery(token_hash(token), now_ms)

        def found(player: Player | None) -> None:
            if player is None or bot in (None, player.bot):
                done(player)
            else:
                assert bot is not None
                self._ledger.append(entries.LabelBot(player.id, bot), labelled, failed)

        def labelled(_: None) -> None:
            self._ledger.ask(query, done, failed)  # query again: a match of theirs may have ended meanwhile

        self._ledger.ask(query, found, failed)

    def rename(self, player: PlayerId, name: str, done: Callable[[], None], failed: Failed) -> None:
        """Change the player's name, also in all their matches."""
        entry = entries.RenamePlayer(player, name, name_key(name), _looks(name))
        self._ledger.append(entry, lambda _: done(), failed)

    def forget(self, subject: Subject, done: Callable[[], None], failed: Failed) -> None:
        """Delete the player's name, token and ratings, unless they have an unfinished match.

        The number stays, and a keyed hash of the token if they are banned or muted.
        """
        self._ledger.append(entries.ForgetPlayer(subject.player, subject.token_key), lambda _: done(), failed)

    def seen(self, guest: PlayerId, now_ms: int) -> None:
        """Record a visit of a guest, unless that was done recently; nobody waits for it."""
        self._ledger.append(entries.SeeGuest(guest, now_ms), unheard, unheard)

    def player_named(self, name: str, done: Callable[[tuple[PlayerId, str]], None], failed: Failed) -> None:
        """Find the number and name of a player by name; refused with `UNKNOWN_PLAYER` if there is none."""
        self._ledger.ask(queries.NameQuery(name), done, failed)

    # Invitations, and the past.

    def invite(self, invitation: Invitation, now_ms: int, done: Callable[[], None], failed: Failed) -> None:
        """Store an invitation, replacing the player's previous one."""
        self._ledger.append(entries.KeepInvitation(invitation, now_ms), lambda _: done(), failed)

    def invitations(self, now_ms: int, done: Callable[[list[Invitation]], None], failed: Failed) -> None:
        """Read the valid invitations."""
        self._ledger.ask(queries.InvitationsQuery(now_ms), done, failed)

    @property
    def has_past(self) -> bool:
        """Whether all finished matches can be read; see `Ledger`."""
        return self._plain.has_past

    def look(self, read: Read, tell: Tell) -> None:
        """Read beside the writes; see `Ledger.look`. Questions from strangers go through an `Archive`."""
        self._plain.look(read, tell)

    def block(self, entry: entries.SetBlock, done: Callable[[Blocks], None], failed: Failed) -> None:
        """Mute or block a player for another, or end that; `done` gets all muted and blocked players of the latter."""
        self._ledger.append(entry, done, failed)

    def report(self, report: entries.FileReport, done: Callable[[int], None], failed: Failed) -> None:
        """Store a player's report of another; `done` gets its number."""
        self._ledger.append(report, done, failed)

    def keep_mistake(self, entry: entries.KeepMistake, done: Callable[[], None], failed: Failed) -> None:
        """Store a mistake of a player, or their progress with one."""
        self._ledger.append(entry, lambda _: done(), failed)

    # The acts of the host and of moderators.

    def sanctions(self, done: Callable[[list[Sanction]], None], failed: Failed) -> None:
        """Read all bans and mutes."""
        self._ledger.ask(queries.SanctionsQuery(), done, failed)

    def impose(self, sanctions: Sequence[Sanction], note: AuditNote, done: Callable[[], None], failed: Failed) -> None:
        """Store a ban or mute, and a note."""
        self._ledger.append(entries.ImposeSanction(tuple(sanctions), note), lambda _: done(), failed)

    def lift(self, sanction: Sanction, note: AuditNote, done: Callable[[], None], failed: Failed) -> None:
        """Delete a ban or mute, and store a note."""
        entry = entries.LiftSanction(sanction.act, sanction.whom, sanction.player, note)
        self._ledger.append(entry, lambda _: done(), failed)

    def note(self, note: AuditNote) -> None:
        """Store a note in the audit log; nobody waits for it."""
        self._ledger.append(entries.WriteNote(note), unheard, unheard)

    def notes(self, last: int, done: Callable[[list[AuditNote]], None], failed: Failed) -> None:
        """Read the last notes of the audit log, the oldest first."""
        self._ledger.ask(queries.NotesQuery(last), done, failed)

    def reports(
        self, done: Callable[[list[PlayerReport]], None], failed: Failed, *, has_closed: bool, most: int
    ) -> None:
        """Read reports, the open ones first."""
        self._ledger.ask(queries.ReportsQuery(has_closed, most), done, failed)

    def read_report(self, number: int, done: Callable[[PlayerReport], None], failed: Failed) -> None:
        """Read one report with its lines; refused if there is none."""
        self._ledger.ask(queries.ReportQuery(number), done, failed)

    def reported_address(self, player: PlayerId, done: Callable[[str | None], None], failed: Failed) -> None:
        """Read the keyed hash of a player's address at their latest report."""
        self._ledger.ask(queries.ReportedAddressQuery(player), done, failed)

    def close_report(self, number: int, text: str, note: AuditNote, done: Callable[[], None], failed: Failed) -> None:
        """Close a report with its outcome and a note."""
        self._ledger.append(entries.CloseReport(number, text, note), lambda _: done(), failed)

    def close_reports(self, entry: entries.CloseReports, done: Callable[[list[int]], None], failed: Failed) -> None:
        """Close all open reports of a player, or by one; `done` gets their numbers."""
        self._ledger.append(entry, done, failed)

    def moderators(self, done: Callable[[list[Moderator]], None], failed: Failed) -> None:
        """Read all moderators."""
        self._ledger.ask(queries.ModeratorsQuery(), done, failed)

    def appoint(self, name: str, token: str, note: AuditNote, done: Callable[[], None], failed: Failed) -> None:
        """Appoint the bearer of the token as a moderator with this name, and store a note."""
        entry = entries.AppointModerator(name, name_key(name), token_hash(token), note)
        self._ledger.append(entry, lambda _: done(), failed)

    def dismiss(self, name: str, note: AuditNote, done: Callable[[], None], failed: Failed) -> None:
        """Dismiss a moderator, and store a note."""
        self._ledger.append(entries.DismissModerator(name_key(name), note), lambda _: done(), failed)

    # Its own maintenance.

    def spare(self, done: Callable[[int], None]) -> None:
        """Report how many bytes of the file are unused; `done` is not called if the disk does not answer."""
        self._ledger.ask(queries.SpareQuery(), done, unheard)

    def maintain(self, entry: MaintenanceEntry, done: Callable[[list[Any]], None], failed: Failed) -> None:
        """Delete or unsettle a few rows; `done` gets which."""
        self._ledger.append(entry, done, failed)

    def snapshot(self, file: Path, is_wanted: Callable[[], bool]) -> int:
        """Copy the journal to a new file, and return the size in bytes. Call this on another thread.

        Raises `ConfigurationError` if it fails.
        """
        return self._plain.snapshot(file, is_wanted)

    def health(self) -> LedgerHealth:
        """Return the state of the ledger."""
        return self._plain.health()


class _ChargedLedger:
    """A ledger that charges each answer to the connection that asked."""

    def __init__(self, ledger: Ledger, shares: FairShares) -> None:
        self._ledger = ledger
        self._shares = shares

    def append(self, entry: entries.AnyEntry, done: Done, failed: Done) -> None:
        """Append an entry."""
        payer = self._shares.payer
        if payer is None or payer.account is None:
            self._ledger.append(entry, done, failed)
        else:
            self._ledger.append(entry, partial(self._give, payer, done), partial(self._give, payer, failed))

    def ask(self, query: queries.AnyQuery, done: Done, failed: Done) -> None:
        """Ask a query."""
        self._ledger.ask(query, self._charged(done), self._charged(failed))

    def _charged(self, give: Done) -> Done:
        payer = self._shares.payer
        return give if payer is None or payer.account is None else partial(self._give, payer, give)

    def _give(self, payer: Payer, give: Done, answer: object) -> None:
        shares = self._shares
        payer_before, shares.payer, began_s = shares.payer, payer, shares.clock_s()
        try:
            give(answer)
        finally:
            shares.payer = payer_before
            payer.charge((shares.clock_s() - began_s) * 1000 + self._ledger.job_ms)


def token_hash(token: str) -> bytes:
    """Return the stored hash of a token; tokens have 256 random bits, so the hash cannot be inverted by guessing."""
    return hashlib.sha256(token.encode()).digest()


def _as_kept(started: Started) -> Started:
    """Return the start of a match without names, and with its score as floats.

    A score may consist of ints, but of floats after reading it from JSON, and their bytes differ.
    """
    one, other = started.score
    score = UNSCORED if started.score == UNSCORED else (float(one), float(other))
    return restruct(with_names(started, "", ""), score=score)


def _looks(name: str) -> tuple[str, ...]:
    return tuple(sorted(looks(name)))
