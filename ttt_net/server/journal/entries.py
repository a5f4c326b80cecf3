"""The writes to the journal as values: a closed union, `AnyEntry`, that `apply` carries out.

An entry contains everything that its author knows and the database does not: times, ids, the look of a name, the hash
of a token. So the same entries, applied in the same order to the same tables, produce the same tables on any machine.
"""

from typing import Literal, NamedTuple

import msgspec

from ttt_net.messages import Ended, MatchEvent, OwnMistake, RatingChange, ReportReason, Started
from ttt_net.pairing.lobby import Invitation
from ttt_net.server.admission.sanctions import HOST, Act, Sanction
from ttt_net.server.players import PlayerId
from ttt_net.tournaments.tournament import AnyFact, BoardsBegan

Changes = tuple[RatingChange, RatingChange]
"""Changes of both players' ratings by a rated match, by side."""


class AuditNote(NamedTuple):
    """One action of an admin. If it was about a player, `what` follows their name, which is not stored."""

    at_ms: int
    act: str
    what: str
    player: PlayerId | None = None
    by: str = HOST
    """The moderator who did it, or `HOST`."""


class ChatLine(NamedTuple):
    """One line of chat, stored with a report."""

    at_ms: int
    player: PlayerId
    text: str


class JournalEntry(msgspec.Struct, frozen=True, tag_field="entry", omit_defaults=True):
    """The base of entries; each is applied completely, or rejected without any effect."""


class AppendEvents(JournalEntry, frozen=True, tag=True):
    """Append events to their matches. Result: `Changes` if a rated match ends with them, otherwise None.

    Names in a `Started` are empty: events identify players only by seat, so that a name can be changed and deleted. The
    start of a match by invitation spends it; the end of a rated match rates both.
    """

    events: tuple[MatchEvent, ...]
    seats: tuple[PlayerId, PlayerId] | None = None
    """The players by side; needed with a `Started`."""

    @property
    def is_plain(self) -> bool:
        """Whether this is a single event that neither starts nor ends its match, as a move is: one statement."""
        kind = type(self.events[0])  # `isinstance` asks the metaclass of structs, for half a microsecond
        return len(self.events) == 1 and kind is not Started and kind is not Ended


# Tournaments.


class AppendTournament(JournalEntry, frozen=True, tag=True):
    """Append facts to a tournament, the first of them as number `seq`; with `Opened`, begin it.

    Refused as `Overtaken` if that is not the next number.
    """

    tournament: str
    seq: int
    facts: tuple[AnyFact, ...]


class BeginBoards(JournalEntry, frozen=True, tag=True):
    """Begin a round, or some of its boards again: the fact as number `seq`, with the starts of all its matches.

    All or nothing. Refused as `Overtaken` if that is not the next number, if one of the players has an open match in
    the tournament, or if a round would begin while another is open. So a repeat changes nothing.
    """

    tournament: str
    seq: int
    began: BoardsBegan
    starts: tuple[AppendEvents, ...]


# Players.


class RegisterPlayer(JournalEntry, frozen=True, tag=True):
    """Register a player. Result: the new `Player`, or the existing one with this token.

    Refused with `NAME_TAKEN` if another player has this name, or one that looks like it.
    """

    name: str
    name_key: str
    looks: tuple[str, ...]
    """The name folded by look-alikes; empty for a guest, whose name is made up."""
    token_hash: bytes
    at_ms: int
    bot: str | None = None
    is_guest: bool = False


class LabelBot(JournalEntry, frozen=True, tag=True):
    """Label a player as a bot permanently. Refused if the player is deleted."""

    player: PlayerId
    bot: str


class RenamePlayer(JournalEntry, frozen=True, tag=True):
    """Rename a player, in all their matches too; a guest becomes a player.

    Refused with `NAME_TAKEN`, as in `RegisterPlayer`, and if they are deleted.
    """

    player: PlayerId
    name: str
    name_key: str
    looks: tuple[str, ...]


class ForgetPlayer(JournalEntry, frozen=True, tag=True):
    """Delete a player's name, token and ratings, keeping only the number. Refused during an unfinished match.

    Their sanctions are then kept under a keyed hash of their token; without a token they are deleted.
    """

    player: PlayerId
    token_key: str | None = None


class SeeGuest(JournalEntry, frozen=True, tag=True):
    """Record a visit of a guest, unless that was done within the last hour."""

    player: PlayerId
    at_ms: int


class KeepInvitation(JournalEntry, frozen=True, tag=True):
    """Store an invitation, replacing the player's previous one, and delete expired ones."""

    invitation: Invitation
    at_ms: int


class SetBlock(JournalEntry, frozen=True, tag=True):
    """Mute or block a player for another, or end that.

    Result: all muted and blocked players of the latter, as `Blocks`.

    A block includes a mute. Beyond `most`, the oldest mute is dropped. Refused with `TOO_MANY_BLOCKED` if there is no
    mute to drop, with `BLOCKED` if a mute would end that is part of a block, and if either player is deleted.
    """

    player: PlayerId
    other: PlayerId | None
    """The player concerned; None for everybody, who can only be muted."""
    act: Literal["mute", "block"]
    on: bool
    most: int


class FileReport(JournalEntry, frozen=True, tag=True):
    """Store a player's report of another, merged with an open one of the same two and match. Result: its number.

    Refused if either player is deleted. Refused with `TOO_FAST` if as many reports are open as a reporter of that
    weight, or the players of their network, may have. If `most` are open, it replaces one of less weight, or is
    refused.
    """

    at_ms: int
    reporter: PlayerId
    reported: PlayerId
    reason: ReportReason
    text: str
    match: str | None
    lines: tuple[ChatLine, ...]
    address: str
    """A keyed hash of the address of the reported player; empty if they were not connected."""
    most: int
    network: str | None = None
    """A keyed hash of the network of the reporter; empty if many share it.

    None: the entry has form 1, in which reports had no weight.
    """


class KeepMistake(JournalEntry, frozen=True, tag=True):
    """Store a mistake of a player, or their progress with one.

    Of two states of a mistake, the one with more progress stays, so entries may be repeated, and their order does not
    matter. Beyond `most`, the oldest learned ones are dropped, then the oldest. Refused if the player is deleted.
    """

    player: PlayerId
    mistake: OwnMistake
    most: int


# The acts of the host and of moderators.


class ImposeSanction(JournalEntry, frozen=True, tag=True):
    """Store a ban or mute with a note, replacing all of its kind for the same player, and delete expired ones.

    There may be several sanctions: of a player, and of their address. Refused if the player is deleted.
    """

    sanctions: tuple[Sanction, ...]
    note: AuditNote


class LiftSanction(JournalEntry, frozen=True, tag=True):
    """Delete the ban or mute of a network, or all of a kind against a player, and store a note."""

    act: Act
    whom: str
    player: PlayerId | None
    note: AuditNote


class WriteNote(JournalEntry, frozen=True, tag=True):
    """Store a note in the audit log."""

    note: AuditNote


class CloseReport(JournalEntry, frozen=True, tag=True):
    """Close a report with its outcome and a note. Refused if no open report has that number."""

    number: int
    text: str
    note: AuditNote


class CloseReports(JournalEntry, frozen=True, tag=True):
    """Close all open reports of a player, or by a player, and store a note. Result: their numbers.

    Refused if there is none.
    """

    player: PlayerId
    is_by: bool
    """Whether `player` is the reporter."""
    text: str
    note: AuditNote


class AppointModerator(JournalEntry, frozen=True, tag=True):
    """Appoint the bearer of a token as a moderator with a name, and store a note.

    Refused if a moderator has the name.
    """

    name: str
    name_key: str
    token_hash: bytes
    note: AuditNote


class DismissModerator(JournalEntry, frozen=True, tag=True):
    """Dismiss a moderator, and store a note. Refused if no moderator has the name."""

    name_key: str
    note: AuditNote


# Periodic work: each entry handles at most `most` rows, so that no move waits long for it.


class ForgetMatches(JournalEntry, frozen=True, tag=True):
    """Delete the oldest matches that ended before a time, except for kept ones. Result: their ids."""

    before_ms: int
    kept: tuple[str, ...]
    most: int


class ForgetGuests(JournalEntry, frozen=True, tag=True):
    """Delete the guests who were last here before a time. Result: their numbers.

    Guests connected at `at_ms` count as seen. Their unfinished matches wait for the opponents; matches without any
    remaining player are deleted, except for kept ones.
    """

    before_ms: int
    at_ms: int
    here: tuple[PlayerId, ...]
    kept: tuple[str, ...]
    most: int


class ForgetSanctions(JournalEntry, frozen=True, tag=True):
    """Delete expired bans and mutes. Result: the kind, key and player of each."""

    at_ms: int
    most: int


class ForgetReports(JournalEntry, frozen=True, tag=True):
    """Delete the oldest reports that were made before a time, with their lines of chat. Result: their numbers."""

    before_ms: int
    most: int


class ForgetNotes(JournalEntry, frozen=True, tag=True):
    """Delete the oldest notes of the audit log that were made before a time. Result: their numbers."""

    before_ms: int
    most: int


class PackMatches(JournalEntry, frozen=True, tag=True):
    """Pack the events of the oldest matches that ended before a time. Result: the ids of the matches."""

    before_ms: int
    most: int
    """Once the packed matches have this many plies, the rest waits for the next entry."""


class UnsettleRatings(JournalEntry, frozen=True, tag=True):
    """Mark ratings in the lists that have become provisional with time. Result: player, game and speed of each."""

    at_ms: int
    most: int


class Probe(JournalEntry, frozen=True, tag=True):
    """Rewrite the current state to test whether the disk can be written again."""


ERASING = frozenset(
    (RenamePlayer, ForgetPlayer, ForgetMatches, ForgetGuests, ForgetSanctions, ForgetReports, ForgetNotes)
)
"""The classes of entries whose old values must not remain in the files.

A set, because each move asks: `isinstance` on a union of structs takes microseconds for each "no".
"""
MaintenanceEntry = (
    ForgetMatches | ForgetGuests | ForgetSanctions | ForgetReports | ForgetNotes | PackMatches | UnsettleRatings
)
AnyEntry = (
    AppendEvents
    | RegisterPlayer
    | LabelBot
    | RenamePlayer
    | ForgetPlayer
    | SeeGuest
    | KeepInvitation
    | ImposeSanction
    | LiftSanction
    | WriteNote
    | SetBlock
    | FileReport
    | KeepMistake
    | CloseReport
    | CloseReports
    | AppointModerator
    | DismissModerator
    | AppendTournament
    | BeginBoards
    | MaintenanceEntry
    | Probe
)
