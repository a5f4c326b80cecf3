"""The requests of admins and their replies: one JSON object each, one reply to each request."""

from typing import Annotated

import msgspec
from msgspec import Meta, Struct

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
    """Ask what is played, private matches too: `MatchRows`."""


class Kick(AdminRequest, frozen=True):
    """Close a player's connection; they may come back when they like."""

    name: Name
    reason: Text = ""


class Ban(AdminRequest, frozen=True):
    """Keep a player, an address, an IPv6 /64 or a network out, for so long or (null) for good, and close what is open.

    `whom` is an address or network where it can be read as one; `name:` before it says that it is a name.
    """

    whom: Name
    reason: Text = ""
    for_s: Seconds | None = None


class Unban(AdminRequest, frozen=True):
    """Let them in again."""

    whom: Name


class MutePlayer(AdminRequest, frozen=True, tag="mute"):
    """Let nobody hear what the player writes, for so long or (null) for good."""

    name: Name
    reason: Text = ""
    for_s: Seconds | None = None


class Unmute(AdminRequest, frozen=True):
    """Let them be heard again."""

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
    """What waits for the disk."""
    analyses: int
    """Matches that wait to be analysed, with the one that is."""
    free_bytes: int | None
    """What is free on the disk of the journal; None where it cannot be told."""
    journal_bytes: int | None
    """The files of the journal."""
    used_bytes: int | None
    """What is in them: the rest was left by what was forgotten, and is written over before they grow."""
    cap_bytes: int
    """What they may hold (`limits.journal_mb`); 0: any size."""
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
    """Who is connected, the first 1,000 of `count` by name."""

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
    """What is played, the first 1,000 of `count`."""

    count: int
    matches: list[MatchRow]


class SanctionRow(Struct, frozen=True):
    """One decision of the host; times in milliseconds since 1970, `until_ms` null for good."""

    act: str
    whom: str
    reason: str
    since_ms: int
    until_ms: int | None


class SanctionRows(AdminReply, frozen=True):
    """Who is banned or muted, the newest first."""

    sanctions: list[SanctionRow]


class AuditRow(Struct, frozen=True):
    """One act of an admin."""

    at_ms: int
    act: str
    what: str


class AuditRows(AdminReply, frozen=True):
    """What admins did, the oldest first."""

    acts: list[AuditRow]


AnyAdminReply = Done | Failed | Report | PlayerRows | MatchRows | SanctionRows | AuditRows

encode = msgspec.json.encode
decode_admin_request = msgspec.json.Decoder(AnyAdminRequest).decode
decode_admin_reply = msgspec.json.Decoder(AnyAdminReply).decode
