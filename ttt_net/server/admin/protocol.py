"""The requests of admins and their replies: two closed unions, one JSON object each, one reply to each request.

Each request declares the role that it needs. `admin_commands.AdminCommands` carries all of them out.
"""

from collections.abc import Callable
from typing import Annotated, ClassVar, Literal

import msgspec
from msgspec import Meta, Struct

from ttt_net.clock import TimeControl
from ttt_net.errors import Refusal, StorageError
from ttt_net.messages import (
    BeginSeconds,
    BoardNumber,
    Entrants,
    GameName,
    Legs,
    ListedTournament,
    Minutes,
    PauseSeconds,
    RoundNumber,
    Rounds,
    StartSeconds,
    TournamentAct,
    TournamentBoard,
    TournamentCode,
    TournamentKind,
    TournamentReply,
    TournamentResult,
)
from ttt_net.server.cluster.replicated_ledger import NodeFigures
from ttt_net.server.metrics import Histogram

Text = Annotated[str, Meta(max_length=200)]
Name = Annotated[str, Meta(min_length=1, max_length=80)]
Seconds = Annotated[int, Meta(ge=1, le=10 * 365 * 86_400)]


Role = Literal["host", "moderator"]
"""The least role that may send a request."""


class AdminRequest(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, tag_field="ask", tag=str.lower):
    """The base of requests."""

    role: ClassVar[Role]
    """The role that the request needs."""


class Stats(AdminRequest, frozen=True):
    """Get the server's statistics as a `Report`."""

    role = "host"


class ListPlayers(AdminRequest, frozen=True, tag="players"):
    """Get the connected players as `PlayerRows`, without addresses for a moderator."""

    role = "moderator"


class ListMatches(AdminRequest, frozen=True, tag="matches"):
    """Get the live matches, including private ones, as `MatchRows`."""

    role = "host"


class Kick(AdminRequest, frozen=True):
    """Close a player's connection; they may reconnect immediately."""

    role = "moderator"

    name: Name
    reason: Text = ""


class Ban(AdminRequest, frozen=True):
    """Ban a player, an address, an IPv6 /64 or a network, for a time or (null) for good; close open connections.

    `whom` is an address or network if it reads as one; the prefix `name:` makes it a name. With a name, `with_address`
    also bans the player's current address, for everybody there. A moderator names players and a time.
    """

    role = "moderator"

    whom: Name
    reason: Text = ""
    for_s: Seconds | None = None
    with_address: bool = False


class Unban(AdminRequest, frozen=True):
    """End a ban; `#` and a number stand for a deleted player."""

    role = "moderator"

    whom: Name


class MutePlayer(AdminRequest, frozen=True, tag="mute"):
    """Hide the messages of a player, or of all of a network, for a time or (null) for good; fields as in `Ban`."""

    role = "moderator"

    whom: Name
    reason: Text = ""
    for_s: Seconds | None = None
    with_address: bool = False


class Unmute(AdminRequest, frozen=True):
    """End a mute; `whom` as in `Unban`."""

    role = "moderator"

    whom: Name


class ListReports(AdminRequest, frozen=True, tag="reports"):
    """Ask for the open reports of players, with `closed` for closed ones too: `PlayerReportRows`."""

    role = "moderator"

    closed: bool = False


class ShowReport(AdminRequest, frozen=True, tag="report"):
    """Ask for one report with its lines of chat: `PlayerReportDetail`. The audit log notes the reader."""

    role = "moderator"

    number: int


class SettleReport(AdminRequest, frozen=True, tag="close"):
    """Close a report with a finding, after an act against the player with the report as its reason."""

    role = "moderator"

    number: int
    text: Text = ""
    act: Literal["kick", "mute", "ban"] | None = None
    reason: Text = ""
    for_s: Seconds | None = None
    with_address: bool = False


class SettleReports(AdminRequest, frozen=True, tag="close_all"):
    """Close all open reports of a player, or with `by` all that they made, with a finding."""

    role = "moderator"

    name: Name
    by: bool = False
    text: Text = ""


class ListModerators(AdminRequest, frozen=True, tag="moderators"):
    """Ask for the moderators: `ModeratorRows`."""

    role = "host"


class AddModerator(AdminRequest, frozen=True, tag="appoint"):
    """Appoint a moderator; the reply has their token, which is never shown again."""

    role = "host"

    name: Name


class RemoveModerator(AdminRequest, frozen=True, tag="dismiss"):
    """Dismiss a moderator."""

    role = "host"

    name: Name


class Backup(AdminRequest, frozen=True):
    """Copy the journal to a file that does not exist yet; the server writes it, as the user that it runs as."""

    role = "host"

    file: Annotated[str, Meta(min_length=1, max_length=1_000)]


class Bans(AdminRequest, frozen=True):
    """Ask for all bans and mutes: `SanctionRows`."""

    role = "moderator"


class Audit(AdminRequest, frozen=True):
    """Ask for the last acts of admins: `AuditRows`."""

    role = "host"

    last: Annotated[int, Meta(ge=1, le=1_000)] = 50


class Announce(AdminRequest, frozen=True):
    """Show a line to all connected players."""

    role = "host"

    text: Annotated[str, Meta(min_length=1, max_length=200)]


class Drain(AdminRequest, frozen=True):
    """Begin no more matches, count down for everybody to see, and end the server; null calls it off."""

    role = "host"

    in_s: Annotated[int, Meta(ge=0, le=86_400)] | None


class CreateTournament(AdminRequest, frozen=True, tag="create_tournament"):
    """Create a tournament of the host; the reply is a `TournamentSheet`. The fields are those of `organise`, and more.

    `per_address`: from an address where somebody has entered, this many players may connect, even if the limits of
    the server are lower. `spare`: a connected bot that plays while the number of players is odd.
    """

    role = "host"

    name: Name
    kind: TournamentKind
    time: TimeControl
    game: GameName = "tictactoe"
    rounds: Rounds = 5
    rated: bool = False
    private: bool = False
    begin_s: BeginSeconds = 60
    pause_s: PauseSeconds | None = 15
    full: Entrants | None = None
    starts_in_s: StartSeconds | None = None
    minutes: Minutes | None = None
    chat: bool = True
    legs: Legs | None = 1
    anonymous: bool = False
    per_address: Annotated[int, Meta(ge=2, le=200)] | None = None
    spare: Name | None = None


class ListTournaments(AdminRequest, frozen=True, tag="tournaments"):
    """Ask for the tournaments, private ones too: `TournamentRows`."""

    role = "host"


class ShowTournament(AdminRequest, frozen=True, tag="tournament"):
    """Ask for all rounds and standings of a tournament: a `TournamentSheet`."""

    role = "host"

    code: TournamentCode


class DirectTournament(AdminRequest, frozen=True, tag="direct_tournament"):
    """Direct any tournament, as its organiser does with `direct`; the host can also add players by name."""

    role = "host"

    code: TournamentCode
    act: TournamentAct
    name: Text | None = None
    round: RoundNumber | None = None
    board: BoardNumber | None = None
    result: TournamentResult | None = None
    note: Text = ""


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
    | SettleReports
    | ListModerators
    | AddModerator
    | RemoveModerator
    | CreateTournament
    | ListTournaments
    | ShowTournament
    | DirectTournament
)


class AdminReply(Struct, frozen=True, tag_field="answer", tag=str.lower):
    """The base of replies."""


class Done(AdminReply, frozen=True):
    """The request was carried out, as `text` says."""

    text: str


class Failed(AdminReply, frozen=True):
    """The request was not carried out, for the reason in `text`."""

    text: str


class Timing(Struct, frozen=True):
    """A histogram since the start: the number of values up to each bound; the last bucket has no bound."""

    bounds: tuple[float, ...]
    counts: list[int]
    total: float

    def since(self, before: "Timing | None") -> Histogram:
        """Return what was added after `before`."""
        histogram = Histogram(self.bounds)
        then = before.counts if before else [0] * len(self.counts)
        histogram.counts = [count - earlier for count, earlier in zip(self.counts, then, strict=True)]
        histogram.total = self.total - (before.total if before else 0)
        return histogram


class Report(AdminReply, frozen=True):
    """The current statistics, and counts since the start."""

    name: str
    version: str
    up_s: float
    unready: str | None
    """Why the server is not ready for new players; None if it is."""
    restart_in_s: float | None
    connections: int
    people: int
    bots: int
    tables: int
    """Matches in memory: live ones, and finished ones with players or watchers present."""
    live: int
    queue_bytes: int
    jobs: int
    """Entries that wait for the disk."""
    analyses: int
    """Matches that are being analysed or wait for it."""
    free_bytes: int | None
    """Free bytes on the disk of the journal; None if unknown."""
    journal_bytes: int | None
    """The files of the journal."""
    used_bytes: int | None
    """Used bytes of these; deleted data left the rest, which is reused before the files grow."""
    cap_bytes: int
    """Their size limit (`limits.journal_mb`); 0: none."""
    tasks: int
    """Tasks of the event loop; no task belongs to a single client, so the number is small and constant."""
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
    """The state of this node in its cluster; None without one."""
    questions: int = 0
    """Queries of past matches that wait for an answer, including the current one."""
    questions_refused: int = 0
    """Queries rejected because too many waited, or aborted because the answer cost too much."""
    answer_s: Timing | None = None
    """CPU time of their answers on the reading thread; None from a server of an older release."""


class PlayerRow(Struct, frozen=True, omit_defaults=True):
    """A connected player."""

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
    """A live match."""

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
    weight: int
    """The report's weight, 0 to 3: more if the reporter is not new, has played, and has met the reported player."""


class PlayerReportRows(AdminReply, frozen=True):
    """Reports of players, the open ones first and those that count most first, at most 200."""

    reports: list[PlayerReportRow]


class SpokenRow(Struct, frozen=True):
    """A line of chat that came with a report."""

    at_ms: int
    name: str
    text: str


class PlayerReportDetail(AdminReply, frozen=True):
    """One report, the chat before it, and other sanctions in force against the player."""

    report: PlayerReportRow
    lines: list[SpokenRow]
    sanctions: list[SanctionRow]


class ModeratorRow(Struct, frozen=True):
    """A moderator, and the time of their appointment."""

    name: str
    since_ms: int


class ModeratorRows(AdminReply, frozen=True):
    """Moderators, by name."""

    moderators: list[ModeratorRow]


class TournamentRows(AdminReply, frozen=True):
    """Tournaments: unfinished ones, newest first, then recently ended ones."""

    tournaments: list[ListedTournament]


class TournamentSheet(AdminReply, frozen=True):
    """A tournament with all of its standings, and the boards of each round."""

    tournament: TournamentReply
    rounds: list[list[TournamentBoard]]


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
    | TournamentRows
    | TournamentSheet
)

encode = msgspec.json.encode
decode_admin_request = msgspec.json.Decoder(AnyAdminRequest).decode
decode_admin_reply = msgspec.json.Decoder(AnyAdminReply).decode

ReplyTo = Callable[[AnyAdminReply], None]
"""Called once with the reply to a request."""


def fail(answer: ReplyTo, refusal: Refusal) -> None:
    """Answer with the reason of a refusal."""
    answer(Failed(reason_of(refusal)))


def reason_of(refusal: Refusal) -> str:
    """Return why a request was refused; for a failing disk, its exact error."""
    return refusal.cause if isinstance(refusal, StorageError) else str(refusal)
