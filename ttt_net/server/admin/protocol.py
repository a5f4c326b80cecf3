"""The requests of admins and their replies: one JSON object each, one reply to each request."""

from collections.abc import Callable
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from ttt_net.errors import Refusal, StorageError
from ttt_net.server.cluster.membership import NodeFigures
from ttt_net.server.metrics import Histogram

Text = Annotated[str, Meta(max_length=200)]
Name = Annotated[str, Meta(min_length=1, max_length=80)]
Seconds = Annotated[int, Meta(ge=1, le=10 * 365 * 86_400)]


class AdminRequest(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, tag_field="ask", tag=str.lower):
    """The base of requests."""


class Stats(AdminRequest, frozen=True):
    """Ask for the server's figures: a `Report`."""


class ListPlayers(AdminRequest, frozen=True, tag="players"):
    """Ask who is connected: `PlayerRows`."""


class ListMatches(AdminRequest, frozen=True, tag="matches"):
    """Ask for the live matches, private ones too: `MatchRows`."""


class Kick(AdminRequest, frozen=True):
    """Close a player's connection; they may come back when they like."""

    name: Name
    reason: Text = ""


class Ban(AdminRequest, frozen=True):
    """Keep a player, an address, an IPv6 /64 or a network out, for so long or (null) for good; close open connections.

    `whom` is an address or network where it can be read as one; `name:` before it says that it is a name. With a name,
    `with_address` holds the address that the player comes from, too, for everybody who comes from there.
    """

    whom: Name
    reason: Text = ""
    for_s: Seconds | None = None
    with_address: bool = False


class Unban(AdminRequest, frozen=True):
    """Let them in again; `#` and a number stand for a player who is forgotten."""

    whom: Name


class MutePlayer(AdminRequest, frozen=True, tag="mute"):
    """Let nobody hear what a player, or all of a network, write, for so long or (null) for good; as `Ban` is said."""

    whom: Name
    reason: Text = ""
    for_s: Seconds | None = None
    with_address: bool = False


class Unmute(AdminRequest, frozen=True):
    """Let them be heard again; said as `Unban`."""

    whom: Name


class ListReports(AdminRequest, frozen=True, tag="reports"):
    """Ask for the reports of players that are open, and with `closed` for those that are not: `PlayerReportRows`."""

    closed: bool = False


class ShowReport(AdminRequest, frozen=True, tag="report"):
    """Ask for one report with its lines of chat: `PlayerReportDetail`. It is noted who has read it."""

    number: int


class SettleReport(AdminRequest, frozen=True, tag="close"):
    """Close a report with what was found; and first do something about the player, with the report as its reason."""

    number: int
    text: Text = ""
    act: Literal["kick", "mute", "ban"] | None = None
    reason: Text = ""
    for_s: Seconds | None = None
    with_address: bool = False


class ListModerators(AdminRequest, frozen=True, tag="moderators"):
    """Ask who moderates: `ModeratorRows`."""


class AddModerator(AdminRequest, frozen=True, tag="appoint"):
    """Let somebody moderate; the reply has their token, which nobody sees again."""

    name: Name


class RemoveModerator(AdminRequest, frozen=True, tag="dismiss"):
    """Let a moderator do nothing any more."""

    name: Name


class Backup(AdminRequest, frozen=True):
    """Copy the journal to a file that does not exist yet; the server writes it, as the user that it runs as."""

    file: Annotated[str, Meta(min_length=1, max_length=1_000)]


class Bans(AdminRequest, frozen=True):
    """Ask who is banned or muted: `SanctionRows`."""


class Audit(AdminRequest, frozen=True):
    """Ask what admins did: `AuditRows`, the last so many."""

    last: Annotated[int, Meta(ge=1, le=1_000)] = 50


class Announce(AdminRequest, frozen=True):
    """Show a line to everybody who is connected."""

    text: Annotated[str, Meta(min_length=1, max_length=200)]


class Drain(AdminRequest, frozen=True):
    """Begin no more matches, count down for everybody to see, and end the server; null calls it off."""

    in_s: Annotated[int, Meta(ge=0, le=86_400)] | None


AnyAdminRequest = (
    Stats
    | ListPlayers
    | ListMatches
    | Bans
    | Audit
    | Kick
    | Ban
    | Unban
    | MutePlayer
    | Unmute
    | Announce
    | Drain
    | Backup
    | ListReports
    | ShowReport
    | SettleReport
    | ListModerators
    | AddModerator
    | RemoveModerator
)


class AdminReply(Struct, frozen=True, tag_field="answer", tag=str.lower):
    """The base of replies."""


class Done(AdminReply, frozen=True):
    """It was done, as `text` says."""

    text: str


class Failed(AdminReply, frozen=True):
    """It was not done, for the reason that `text` says."""

    text: str


class Timing(Struct, frozen=True):
    """A histogram since the start: how many values were at most each bound, the last class having none."""

    bounds: tuple[float, ...]
    counts: list[int]
    total: float

    def since(self, before: "Timing | None") -> Histogram:
        """Return what was added since `before`."""
        histogram = Histogram(self.bounds)
        then = before.counts if before else [0] * len(self.counts)
        histogram.counts = [count - earlier for count, earlier in zip(self.counts, then, strict=True)]
        histogram.total = self.total - (before.total if before else 0)
        return histogram


class Report(AdminReply, frozen=True):
    """The figures as they are now, and the counts since the start."""

    name: str
    version: str
    up_s: float
    unready: str | None
    """Why new players should rather go elsewhere, if they should."""
    restart_in_s: float | None
    connections: int
    people: int
    bots: int
    tables: int
    """Matches in memory: live ones, and finished ones that somebody hears."""
    live: int
    queue_bytes: int
    jobs: int
    """Entries that wait for the disk."""
    analyses: int
    """Matches that wait to be analysed, with the one that is."""
    free_bytes: int | None
    """Free bytes on the disk of the journal; None if unknown."""
    journal_bytes: int | None
    """The files of the journal."""
    used_bytes: int | None
    """Used bytes of these; deleted data left the rest, which is reused before the files grow."""
    cap_bytes: int
    """Their size limit (`limits.journal_mb`); 0: none."""
    tasks: int
    """Tasks of the event loop; none of them is one client's, so there are few and always as many."""
    accepted: int
    requests: int
    matches: int
    moves: int
    failures: int
    """Jobs that the disk refused."""
    faults: int
    """Exceptions that should not have been raised."""
    refusals: dict[str, int]
    endings: dict[str, int]
    move_s: Timing
    commit_s: Timing
    lag_s: Timing
    cluster: NodeFigures | None = None
    """How this node stands among the others; None for a server that stands alone."""


class PlayerRow(Struct, frozen=True, omit_defaults=True):
    """One who is connected."""

    name: str
    bot: str | None
    address: str
    connected_s: float
    matches: list[str]
    lag_ms: int
    unsent_bytes: int


class PlayerRows(AdminReply, frozen=True):
    """Connected players, the first 1,000 of `count` by name."""

    count: int
    players: list[PlayerRow]


class MatchRow(Struct, frozen=True):
    """One match that is played."""

    match: str
    game: str
    players: tuple[str, str]
    present: tuple[bool, bool]
    ply: int
    watchers: int
    is_private: bool


class MatchRows(AdminReply, frozen=True):
    """The live matches, the first 1,000 of `count`."""

    count: int
    matches: list[MatchRow]


class SanctionRow(Struct, frozen=True):
    """One decision of the host or a moderator; times in milliseconds since 1970, `until_ms` null for good."""

    act: str
    whom: str
    reason: str
    since_ms: int
    until_ms: int | None
    by: str


class SanctionRows(AdminReply, frozen=True):
    """Bans and mutes, newest first."""

    sanctions: list[SanctionRow]


class AuditRow(Struct, frozen=True):
    """One act of the host, or of the moderator that `by` names."""

    at_ms: int
    by: str
    act: str
    what: str


class AuditRows(AdminReply, frozen=True):
    """Acts of admins, oldest first."""

    acts: list[AuditRow]


class PlayerReportRow(Struct, frozen=True):
    """A report of a player; `closed_ms` null while it is open."""

    number: int
    at_ms: int
    reporter: str
    reported: str
    reason: str
    text: str
    match: str | None
    closed_ms: int | None
    closed_by: str
    note: str


class PlayerReportRows(AdminReply, frozen=True):
    """Reports of players, the open ones first, at most 200."""

    reports: list[PlayerReportRow]


class SpokenRow(Struct, frozen=True):
    """A line of chat that came with a report."""

    at_ms: int
    name: str
    text: str


class PlayerReportDetail(AdminReply, frozen=True):
    """One report, what was said before it, and what else is in force against the player."""

    report: PlayerReportRow
    lines: list[SpokenRow]
    sanctions: list[SanctionRow]


class ModeratorRow(Struct, frozen=True):
    """One who moderates, and since when."""

    name: str
    since_ms: int


class ModeratorRows(AdminReply, frozen=True):
    """Moderators, by name."""

    moderators: list[ModeratorRow]


AnyAdminReply = (
    Done
    | Failed
    | Report
    | PlayerRows
    | MatchRows
    | SanctionRows
    | AuditRows
    | PlayerReportRows
    | PlayerReportDetail
    | ModeratorRows
)

encode = msgspec.json.encode
decode_admin_request = msgspec.json.Decoder(AnyAdminRequest).decode
decode_admin_reply = msgspec.json.Decoder(AnyAdminReply).decode

ReplyTo = Callable[[AnyAdminReply], None]
"""Called with the only reply to a request."""


def fail(answer: ReplyTo, refusal: Refusal) -> None:
    """Answer that it was not done, and why."""
    answer(Failed(reason_of(refusal)))


def reason_of(refusal: Refusal) -> str:
    """Return why an act was refused; of a failing disk, what exactly is wrong with it."""
    return refusal.cause if isinstance(refusal, StorageError) else str(refusal)
