"""Everything that is read from the journal, by name.

`AnyQuery` is what the server's own state is built from, and what its host looks up: `answer` answers it between the
writes, in the order in which both were asked for. `PastQuery` is what strangers ask: `archive.Archive` answers it
beside the writes.
"""

import sqlite3
from collections.abc import Callable
from typing import NamedTuple, assert_never

from ttt_net import messages as wire
from ttt_net.server.journal import lookups, moderation
from ttt_net.server.players import PlayerId


class MatchQuery(NamedTuple):
    """A match, as a `StoredMatch`. Refused with `UNKNOWN_MATCH` if there is none."""

    match: str


class TokenQuery(NamedTuple):
    """The `Player` that a token belongs to; None if it is unknown."""

    token_hash: bytes
    now_ms: int


class NameQuery(NamedTuple):
    """Number and name of the player who has a name. Refused with `UNKNOWN_PLAYER` if nobody has."""

    name: str


class InvitationsQuery(NamedTuple):
    """The invitations that are good still."""

    now_ms: int


class SpareQuery(NamedTuple):
    """How many bytes of the file are unused: left by what was deleted, they are written over before it grows."""


class SanctionsQuery(NamedTuple):
    """All bans and mutes."""


class NotesQuery(NamedTuple):
    """The last notes of the audit log, the oldest first."""

    last: int


class ReportsQuery(NamedTuple):
    """Reports of players, open ones first and the oldest first, then the newest that were closed."""

    has_closed: bool
    most: int


class ReportQuery(NamedTuple):
    """One report. Refused with `BAD_MESSAGE` if there is none."""

    number: int


class ReportedAddressQuery(NamedTuple):
    """The keyed hash of the address that a player came from at their newest report; None if there is none."""

    player: PlayerId


class ModeratorsQuery(NamedTuple):
    """All moderators, by their tokens."""


class ProfileQuery(NamedTuple):
    """Who a player is, and what they have won."""

    said: wire.ProfileRequest
    asker: PlayerId
    online: wire.PlayerInfo | None
    """As the server shows them; None if they are not connected."""
    live: list[str]
    """The ids of their public live matches."""
    now_ms: int


class HistoryQuery(NamedTuple):
    """A page of a player's finished matches."""

    name: str | None
    """None: the asker's own."""
    game: str | None
    """None: of all games."""
    before: str | None
    """Where the page before ended; None: the first page."""
    asker: PlayerId


class LeaderboardQuery(NamedTuple):
    """A page of the ratings at a game and speed."""

    said: wire.LeaderboardRequest
    game: str
    asker: PlayerId
    now_ms: int


class ReplayQuery(NamedTuple):
    """Positions of a match."""

    said: wire.ReplayRequest
    asker: PlayerId
    is_heard: bool
    """Whether the asker hears the match: then they may see it, private or not."""


class RecordQuery(NamedTuple):
    """A finished match as a text to keep."""

    said: wire.RecordRequest
    asker: PlayerId


PastQuery = ProfileQuery | HistoryQuery | LeaderboardQuery | ReplayQuery | RecordQuery
"""What players may ask; the answer is a message."""
ModerationQuery = SanctionsQuery | NotesQuery | ReportsQuery | ReportQuery | ReportedAddressQuery | ModeratorsQuery
"""What the host and moderators may ask."""


class Reading(NamedTuple):
    """A function that reads from the tables, where no other connection than the writer's can use them."""

    read: Callable[[sqlite3.Connection], object]


AnyQuery = MatchQuery | TokenQuery | NameQuery | InvitationsQuery | SpareQuery | ModerationQuery | Reading


def answer(connection: sqlite3.Connection, query: AnyQuery) -> object:
    """Return the answer to a query, which is documented there. Raises `Refusal` if there is none."""
    match query:
        case Reading():
            return query.read(connection)
        case MatchQuery():
            return lookups.read_match(connection, *query)
        case TokenQuery():
            return lookups.find_player(connection, *query)
        case NameQuery():
            return lookups.player_named(connection, *query)
        case InvitationsQuery():
            return lookups.read_invitations(connection, *query)
        case SpareQuery():
            return lookups.spare_bytes(connection)
        case SanctionsQuery():
            return moderation.read_sanctions(connection)
        case NotesQuery():
            return moderation.read_notes(connection, *query)
        case ReportsQuery():
            return moderation.read_reports(connection, *query)
        case ReportQuery():
            return moderation.read_report(connection, *query)
        case ReportedAddressQuery():
            return moderation.reported_address(connection, *query)
        case ModeratorsQuery():
            return moderation.read_moderators(connection)
        case _:
            assert_never(query)
