"""All that a client may say and all that it may hear: two closed vocabularies, and how they are written.

A frame is one JSON object with a `type`. The types are the validators: what `decode_said` returns has been checked,
and all else raises `Refusal` with the place of the mistake. What is said is read strictly (no unknown fields);
what is heard is read leniently, so that an older client can talk to a newer server.

docs/protocol.md is generated from this file.
"""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from ttt_net.clock import Speed, TimeControl
from ttt_net.errors import Code, Refusal

PROTOCOL = 1
"""The version of the language; `hello` names the versions that a client speaks."""
MAX_MESSAGE_BYTES = 4096
"""The longest message that a client may send."""
MAX_NAME_CELLS = 20
"""The widest name, in cells of a terminal."""

RequestId = Annotated[int, Meta(ge=0, le=2**53 - 1)]
MatchId = Annotated[str, Meta(min_length=1, max_length=32)]
Seq = Annotated[int, Meta(ge=0, le=1_000_000)]
Ply = Annotated[int, Meta(ge=0, le=100_000)]
MoveNumber = Annotated[int, Meta(ge=0, le=100_000)]
PositionText = Annotated[str, Meta(min_length=1, max_length=500)]
ShortText = Annotated[str, Meta(max_length=80)]
GameName = Annotated[str, Meta(max_length=40)]
Page = Annotated[int, Meta(ge=1, le=10_000)]
Level = Annotated[int, Meta(ge=1, le=8)]
Rating = Annotated[int, Meta(ge=0, le=5000)]
Places = Annotated[int, Meta(ge=0, le=20)]
ChatText = Annotated[str, Meta(max_length=560)]
SeekNumber = Annotated[int, Meta(ge=0, le=2**53 - 1)]
Side = Literal[0, 1]
OfferKind = Literal["draw", "takeback", "rematch"]
Room = Literal["players", "watchers"]
Phrase = Literal["hello", "good_luck", "well_played", "good_game", "thanks", "sorry", "oops", "one_moment"]
ClaimKind = Literal["win", "draw", "adjourn"]
DeclineReason = Literal["later", "another_game", "another_time", "no_bots", "generic"]
ChallengeEnd = Literal["later", "another_game", "another_time", "no_bots", "generic", "expired", "gone"]
Opponents = Literal["any", "people", "bots"]


class Said(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag=str.lower):
    """What every request has: an `id` of the client's choosing, which its one answer repeats."""

    id: RequestId


class Hello(Said, frozen=True, omit_defaults=True):
    """Say who you are: a new player by `name`, or a known one by the `token` that an earlier `welcome` gave.

    With both, you are the one whom the token belongs to, or a new player who has chosen it: at least 32 characters, at
    random. So a `hello` whose answer was lost can be said again.

    With neither you are a guest, if `welcome.features` of this server has "guests": the server makes up a name, your
    matches are casual, and the token that you get is good as ever. A guest who says `rename` is a guest no more.

    `bot` is the label of a program that plays, such as its strategy; people leave it out. A bot may say at what
    `level` it plays, how many matches at once (`places`; 1 if it does not say), and how many of those places are
    `reserved` for people.
    """

    protocols: Annotated[list[int], Meta(min_length=1, max_length=16)]
    name: ShortText | None = None
    token: ShortText | None = None
    bot: ShortText | None = None
    client: ShortText | None = None
    level: Level | None = None
    places: Places | None = None
    reserved: Places = 0


class Seek(Said, frozen=True, omit_defaults=True):
    """Ask to be paired with whoever else is waiting. A new seek takes the place of the last.

    `games` in order of preference, none for whatever the other names (a rated seek names its games); `time` null for
    no clock; `opponents`, `min_rating` and `max_rating` say who is welcome. Whoever is closest in rating is found
    first, and who is further away the longer you wait. A seek outlives a lost link by 10 seconds.
    """

    games: Annotated[list[GameName], Meta(max_length=16)] = []
    time: TimeControl | None = None
    opponents: Opponents = "any"
    rated: bool = False
    min_rating: Rating | None = None
    max_rating: Rating | None = None


class Unseek(Said, frozen=True):
    """Take the seek back."""


class Accept(Said, frozen=True):
    """Be paired with the standing seek of that number, as `seeks` lists it, in the first of its games."""

    seek: SeekNumber


class Challenge(Said, frozen=True, omit_defaults=True):
    """Challenge a connected player by `name`. He hears `challenged`; you hear `challengeover` or a `snapshot`."""

    name: ShortText
    game: GameName = "tictactoe"
    time: TimeControl | None = None
    rated: bool = False


class Answer(Said, frozen=True, omit_defaults=True):
    """Accept a challenge or turn it down; who made it takes it back by turning it down."""

    challenge: Annotated[int, Meta(ge=0, le=2**53 - 1)]
    accept: bool
    reason: DeclineReason = "generic"


class Invite(Said, frozen=True, omit_defaults=True):
    """Ask for an `invitation`: a code for a friend, with which he joins a private match with you.

    `side` is the one that you take, null by lot; `start` is a position to begin from, as docs/games.md writes them.
    """

    game: GameName = "tictactoe"
    time: TimeControl | None = None
    side: Side | None = None
    start: PositionText | None = None


class Join(Said, frozen=True):
    """Join the private match of whoever gave you the code. Codes may be tried ten times a minute."""

    code: ShortText


class Lobby(Said, frozen=True):
    """Hear `seeks`, `players` and `live` now, and again whenever they change, until off or a match of yours starts.

    Changes are told together: those of `seeks` after 0.25 s, those of the others after 2 s, later in a crowd.
    """

    on: bool


class Matches(Said, frozen=True):
    """Ask for the list of live public matches."""


class Watch(Said, frozen=True, omit_defaults=True):
    """Hear the facts of a match that you do not play in, after a snapshot; of a private one with its `code`."""

    match: MatchId
    code: ShortText | None = None


class Chat(Said, frozen=True, omit_defaults=True):
    """Say something at a match that you hear, either a `text` of at most 140 cells or a `phrase`.

    Players are heard by the players, and those who watch by those who watch.
    """

    match: MatchId
    text: ChatText | None = None
    phrase: Phrase | None = None


class Mute(Said, frozen=True):
    """Hear no `chat` of that player any more, or again; with null, of nobody. It lasts as long as the connection."""

    name: ShortText | None
    on: bool


class Unwatch(Said, frozen=True):
    """Hear no more of a match that you watch."""

    match: MatchId


class Play(Said, frozen=True):
    """Make a move in the position with `ply` moves made. Sent twice, it is answered `ok` twice and made once."""

    match: MatchId
    ply: Ply
    move: MoveNumber


class Resign(Said, frozen=True):
    """Lose the match on purpose."""

    match: MatchId


class Abort(Said, frozen=True):
    """End the match without a result, before both players have moved."""

    match: MatchId


class Offer(Said, frozen=True):
    """Offer a draw or to take your last move back, or after the end a rematch; if the other has offered it, accept.

    A rematch has the sides swapped. A take-back goes to the position in which the one who asked was last to move; there
    are at most 50 in a match.
    """

    match: MatchId
    kind: OfferKind


class Decline(Said, frozen=True):
    """Turn down the other player's offer, or take back your own."""

    match: MatchId
    kind: OfferKind


class Claim(Said, frozen=True):
    """When the other player has been away for longer than his grace: win, call it a draw, or adjourn the match.

    An adjourned match waits, with its clock standing still, until both are back and the next move is made.
    """

    match: MatchId
    kind: ClaimKind


class Resume(Said, frozen=True):
    """Hear the facts of your match after number `seq`, then a snapshot; `seq` 0 asks for the snapshot alone.

    Of more than 32 missed facts none is told: the snapshot holds all that matters of them.
    """

    match: MatchId
    seq: Seq


class Who(Said, frozen=True):
    """Ask for the list of players that are connected."""


class Rename(Said, frozen=True):
    """Take another name; token, ratings and matches stay yours, and the old name is free for others."""

    name: ShortText


class Forget(Said, frozen=True):
    """Be forgotten: say your own `name` once more. Token, name and ratings are deleted, and the connection is closed.

    Your matches are kept, with "deleted" in place of your name. Finish or resign the unfinished ones first.
    """

    name: ShortText


class Profile(Said, frozen=True, omit_defaults=True):
    """Ask who the player called `name` is, or who you are: ratings, results, and how you two have fared."""

    name: ShortText | None = None


class History(Said, frozen=True, omit_defaults=True):
    """Ask for the finished matches of the player called `name`, or your own, newest first, 20 at a time.

    `game` leaves the others out; `before`, taken from the page before, asks for the next page.
    """

    name: ShortText | None = None
    game: GameName | None = None
    before: ShortText | None = None


class Leaderboard(Said, frozen=True, omit_defaults=True):
    """Ask for the ratings at a game and speed, the best first, 20 on a page; `bots` false leaves bots out."""

    game: GameName
    speed: Speed = "untimed"
    bots: bool = True
    page: Page = 1


class Replay(Said, frozen=True, omit_defaults=True):
    """Ask for the positions of a finished match, or one that you hear, from `ply` on: at most 32 at a time."""

    match: MatchId
    ply: Ply = 0


class Record(Said, frozen=True):
    """Ask for a finished match as a text to keep, in the notation of docs/games.md."""

    match: MatchId


class Analyse(Said, frozen=True):
    """Have a finished match looked at by an engine, if `features` has `analyse`; the answer may take half a minute."""

    match: MatchId


class Ping(Said, frozen=True):
    """Ask for an answer, to measure the way."""


AnySaid = (
    Hello
    | Seek
    | Unseek
    | Accept
    | Challenge
    | Answer
    | Invite
    | Join
    | Play
    | Resign
    | Abort
    | Offer
    | Decline
    | Claim
    | Resume
    | Lobby
    | Matches
    | Watch
    | Unwatch
    | Chat
    | Mute
    | Who
    | Rename
    | Forget
    | Profile
    | History
    | Leaderboard
    | Replay
    | Record
    | Analyse
    | Ping
)


class PlayerInfo(Struct, frozen=True, omit_defaults=True):
    """A player as others see it; `bot` is the label of a bot and absent for people, `level` how strongly it plays.

    `rating` is the one at the game and speed that the message is about, `provisional` until enough matches stand
    behind it; absent where there is none, and in lists of players.
    """

    name: str
    bot: str | None = None
    level: Level | None = None
    rating: Rating | None = None
    provisional: bool = False


class GameInfo(Struct, frozen=True, omit_defaults=True):
    """All that a client needs to draw a game that it has never heard of, and to enter moves in it.

    `shape` is [height, width] or [layers, height, width]; cell = (z * height + y) * width + x, row 0 at the top.
    Move n marks cell `move_cells[n]` (-1: no cell) and is written `move_names[n]`. `block` is the [height, width] of
    the small boards that a flat board consists of, if it does.
    """

    name: str
    title: str
    rule: str
    shape: list[int]
    gravity: bool
    move_cells: list[int]
    move_names: list[str]
    block: list[int] | None = None


class Position(Struct, frozen=True, omit_defaults=True):
    """Where a match stands: one character per cell (`X`, `O`, `.`), whose turn, the legal moves, the completed line.

    `to_move` is null and `legal` empty when the match is over. `marks` is the mark that each side places.
    `blocks` is there where a board consists of small ones: who won each, `=` if nobody can, `.` while it is open.
    """

    ply: int
    board: str
    to_move: int | None
    legal: list[int]
    line: list[int]
    marks: tuple[str, str]
    blocks: str = ""


class ClockInfo(Struct, frozen=True):
    """What is left to each side at the moment of sending, and whose time runs."""

    remaining_ms: tuple[int, int]
    running: int | None


class OutcomeInfo(Struct, frozen=True):
    """Who won (null: nobody), and why."""

    winner: int | None
    reason: str


class OfferInfo(Struct, frozen=True):
    """An offer that stands."""

    side: int
    kind: OfferKind


class AwayInfo(Struct, frozen=True):
    """A player who is away: on purpose or by a lost link, and how long it is until the other may `claim`."""

    side: int
    on_purpose: bool
    claim_in_ms: int


class Heard(Struct, frozen=True, tag_field="type", tag=str.lower):
    """What every message from the server has: its `type`."""


class Ok(Heard, frozen=True):
    """Your request `id` was carried out; what it led to follows as facts."""

    id: int


class Refused(Heard, frozen=True, omit_defaults=True):
    """Your request `id` was not carried out, and nothing has changed. `id` is null if it could not be read."""

    id: int | None
    code: str
    message: str
    retry_after_ms: int | None = None


class SeekInfo(Struct, frozen=True, omit_defaults=True):
    """A standing seek: say `accept` with its number. No `games` means any that you name in a seek of yours."""

    seek: int
    by: PlayerInfo
    games: list[str]
    time: TimeControl | None = None
    rated: bool = False
    opponents: Opponents = "any"
    min_rating: Rating | None = None
    max_rating: Rating | None = None


class Welcome(Heard, frozen=True, omit_defaults=True):
    """Who you are here, and your unfinished matches. `token` is given once, to a new player: keep it.

    `seek` is one of yours that a lost link has not ended: it stands again. `features` names what not every server
    offers: "guests",
    "chat"; without `chat`, only phrases are said.
    """

    protocol: int
    server: str
    you: PlayerInfo
    matches: list[str]
    token: str | None = None
    seek: SeekInfo | None = None
    chat: bool = True
    features: list[str] = []


class Snapshot(Heard, frozen=True, omit_defaults=True):
    """A match, whole: how it stands after fact number `seq`. `you` is your side, absent if you only watch.

    `score` is the running score of the series before this match, by side. With the `code` of a private match others
    may watch it; only its players are told. `start` is the position that it began from, if not the usual one.
    """

    match: str
    seq: int
    game: GameInfo
    players: tuple[PlayerInfo, PlayerInfo]
    present: tuple[bool, bool]
    moves: list[int]
    position: Position
    offers: list[OfferInfo]
    you: int | None = None
    last: int | None = None
    time: TimeControl | None = None
    clock: ClockInfo | None = None
    outcome: OutcomeInfo | None = None
    adjourned: bool = False
    private: bool = False
    watchers: int = 0
    away: AwayInfo | None = None
    previous: str | None = None
    next: str | None = None
    rated: bool = False
    score: tuple[float, float] = (0, 0)
    code: str | None = None
    start: str | None = None


class Started(Heard, frozen=True, omit_defaults=True):
    """Fact: the match began. `previous` is the match that it is the rematch of, `score` that of the series so far.

    `start` is the position that it begins from, if not the usual one; ply 0 is there.
    """

    match: str
    seq: int
    at_ms: int
    game: str
    players: tuple[PlayerInfo, PlayerInfo]
    time: TimeControl | None = None
    previous: str | None = None
    private: bool = False
    rated: bool = False
    score: tuple[float, float] = (0, 0)
    code: str | None = None
    start: str | None = None


class Played(Heard, frozen=True, omit_defaults=True):
    """Fact: `side` made `move`, the `ply`-th of the match; `position` is what came of it."""

    match: str
    seq: int
    at_ms: int
    side: int
    ply: int
    move: int
    refunded_ms: int = 0
    """How much of the mover's time was given back for lag."""
    clock: ClockInfo | None = None
    position: Position | None = None


class Tookback(Heard, frozen=True, omit_defaults=True):
    """Fact: moves were taken back, so that `ply` moves are made, as `side` had asked."""

    match: str
    seq: int
    at_ms: int
    side: int
    ply: int
    clock: ClockInfo | None = None
    position: Position | None = None


class Offered(Heard, frozen=True):
    """Fact: `side` makes an offer. Those of a draw or a take-back lapse with the next move."""

    match: str
    seq: int
    at_ms: int
    side: int
    kind: OfferKind


class Declined(Heard, frozen=True):
    """Fact: `side` turned the offer down, or took its own back."""

    match: str
    seq: int
    at_ms: int
    side: int
    kind: OfferKind


class Adjourned(Heard, frozen=True, omit_defaults=True):
    """Fact: `side` adjourned the match, because the other player is away. The next move takes it up again."""

    match: str
    seq: int
    at_ms: int
    side: int
    clock: ClockInfo | None = None


class Ended(Heard, frozen=True, omit_defaults=True):
    """Fact: the match is over. `winner` is null for a draw or an abort."""

    match: str
    seq: int
    at_ms: int
    winner: int | None
    reason: str
    clock: ClockInfo | None = None


class Rematched(Heard, frozen=True):
    """Fact: the match goes on in match `next`, with the sides swapped."""

    match: str
    seq: int
    at_ms: int
    next: str


class Presence(Heard, frozen=True, omit_defaults=True):
    """The player of `side` came or went; of the moment, so it has no number. `away` tells how he went."""

    match: str
    side: int
    online: bool
    away: AwayInfo | None = None


class Watching(Heard, frozen=True):
    """How many watch the match; of the moment, so it has no number."""

    match: str
    watchers: int


class Chatted(Heard, frozen=True, omit_defaults=True, tag="chat"):
    """Somebody said something in your room of the match; of a `phrase`, `text` is the English. It is not kept."""

    match: str
    room: Room
    by: PlayerInfo
    text: str
    phrase: Phrase | None = None


class Challenged(Heard, frozen=True, omit_defaults=True):
    """A player wants to play you: say `answer` before it expires. Its maker hears it too, with the same number."""

    challenge: int
    by: PlayerInfo
    to: PlayerInfo
    game: str
    expires_in_ms: int
    time: TimeControl | None = None
    rated: bool = False


class ChallengeOver(Heard, frozen=True):
    """A challenge that led to no match: it was declined (with a reason), expired, or one of the two has gone."""

    challenge: int
    reason: ChallengeEnd


class Invitation(Heard, frozen=True, omit_defaults=True):
    """The code of your invitation: good once, for as long as it says."""

    code: str
    game: str
    expires_in_ms: int
    time: TimeControl | None = None


class Seeks(Heard, frozen=True):
    """The standing seeks, the oldest 100 of `count`."""

    count: int
    seeks: list[SeekInfo]


class LiveMatch(Struct, frozen=True, omit_defaults=True):
    """One row of the list of live matches; featured is the strongest rated one, else the most watched."""

    match: str
    game: str
    players: tuple[PlayerInfo, PlayerInfo]
    ply: int
    watchers: int
    time: TimeControl | None = None
    rated: bool = False
    featured: bool = False


class Live(Heard, frozen=True):
    """The live public matches: the featured one and the most watched, 50 of `count`."""

    count: int
    matches: list[LiveMatch]


class Listed(Struct, frozen=True, omit_defaults=True):
    """One row of the list of players; `seeking` names the games of a standing seek.

    A bot plays so many matches at once (`places`), of which a person could have so many now (`free`).
    """

    name: str
    bot: str | None = None
    playing: int = 0
    seeking: list[str] | None = None
    level: Level | None = None
    places: int | None = None
    free: int | None = None


class Players(Heard, frozen=True):
    """Who is connected, up to 100 in the order of their names; `online` counts all.

    Of more than 100, people who play no match are listed first, whoever came or ended one last before the others; then
    bots, then people who play. Anybody who is connected can be challenged by name, listed or not.
    """

    online: int
    players: list[Listed]


class RatingChange(Struct, frozen=True, omit_defaults=True):
    """A rating before and after a match; `provisional` while little stands behind it."""

    before: int
    after: int
    provisional: bool = False


class RatingInfo(Struct, frozen=True, omit_defaults=True):
    """How strong a player is at one game and speed: two times out of three within one `deviation`."""

    game: str
    speed: Speed
    rating: int
    deviation: int
    games: int
    provisional: bool = False


class HeadToHead(Struct, frozen=True):
    """How often you have won, drawn and lost against another, in all games together; aborted matches left out."""

    won: int
    drawn: int
    lost: int


class FinishedMatch(Struct, frozen=True, omit_defaults=True):
    """One row of a history: a match that ended `at_ms`; the players as they were when it began."""

    match: str
    game: str
    at_ms: int
    players: tuple[PlayerInfo, PlayerInfo]
    winner: int | None
    reason: str
    plies: int
    time: TimeControl | None = None
    rated: bool = False
    private: bool = False


class Leader(Struct, frozen=True):
    """One row of a list of ratings; settled ratings come before provisional ones."""

    rank: int
    player: PlayerInfo
    games: int
    deviation: int


class Rated(Heard, frozen=True):
    """What the end of a rated match did to the ratings, by side; of the moment, so it has no number."""

    match: str
    ratings: tuple[RatingChange, RatingChange]


class Renamed(Heard, frozen=True):
    """Your name from now on."""

    you: PlayerInfo


class ProfileTold(Heard, frozen=True, tag="profile"):
    """Who a player is: since when he is known here, his results, his most played ratings, his public live matches.

    `against` is how you have fared against him, null in your own profile.
    """

    player: PlayerInfo
    since_ms: int
    online: bool
    won: int
    drawn: int
    lost: int
    ratings: list[RatingInfo]
    against: HeadToHead | None
    live: list[str]


class HistoryTold(Heard, frozen=True, tag="history"):
    """A page of finished matches, newest first; private ones only in your own. `before` asks for the next page."""

    player: PlayerInfo
    matches: list[FinishedMatch]
    before: str | None


class LeaderboardTold(Heard, frozen=True, tag="leaderboard"):
    """A page of the ratings at a game and speed; `you` is your own rank, null if you have none."""

    game: str
    speed: Speed
    page: int
    pages: int
    leaders: list[Leader]
    you: int | None


class ReplayTold(Heard, frozen=True, tag="replay"):
    """Positions of a match, from `ply` on (each without its legal moves); `last` is the ply of the final one."""

    match: str
    ply: int
    positions: list[Position]
    last: int


class AnalysedMove(Struct, frozen=True, omit_defaults=True):
    """A move that was made, as an engine sees it: what it made of the game for who made it, and what was best.

    `value` is 1 for a game that is won from there on, -1 for a lost one, 0 for a drawn one or when it is not known:
    then `score` is an estimate from -1 to 1. `turning` marks a move that gave a win or a draw away.
    """

    ply: int
    move: int
    value: int
    best: list[str]
    turning: bool = False
    score: float | None = None
    side: int = 0


class AnalysisTold(Heard, frozen=True, tag="analysis"):
    """A finished match, move by move; with fewer moves than it had when the time was up. `exact`: nothing estimated."""

    match: str
    moves: list[AnalysedMove]
    exact: bool


class RecordTold(Heard, frozen=True, tag="record"):
    """A finished match as a text to keep."""

    match: str
    text: str


class Suggestion(Heard, frozen=True):
    """You have waited alone for some seconds; these bots would play your game: say `challenge` if you like.

    A choice, never forced: your seek stands on. It is told once for a seek.
    """

    bots: list[Listed]


class Restarting(Heard, frozen=True):
    """The server is about to close; matches wait as they are. Come back after `retry_after_ms` and resume."""

    retry_after_ms: int


class Notice(Heard, frozen=True, omit_defaults=True):
    """A line from the host to everybody. With `restart_in_ms`, no match begins any more until the server is back."""

    text: str
    restart_in_ms: int | None = None


Fact = Started | Played | Tookback | Offered | Declined | Adjourned | Ended | Rematched
"""What is journaled: the numbered facts of a match. A match is its list of facts."""
AnyHeard = (
    Ok
    | Refused
    | Welcome
    | Snapshot
    | Fact
    | Presence
    | Watching
    | Chatted
    | Challenged
    | ChallengeOver
    | Invitation
    | Seeks
    | Live
    | Players
    | Rated
    | Suggestion
    | Renamed
    | ProfileTold
    | HistoryTold
    | LeaderboardTold
    | ReplayTold
    | RecordTold
    | AnalysisTold
    | Restarting
    | Notice
)

_said_decoder: msgspec.json.Decoder[AnySaid] = msgspec.json.Decoder(AnySaid)
_heard_decoder: msgspec.json.Decoder[AnyHeard] = msgspec.json.Decoder(AnyHeard)
_fact_decoder: msgspec.json.Decoder[Fact] = msgspec.json.Decoder(Fact)
_encoder = msgspec.json.Encoder()

encode = _encoder.encode
"""Write a message as the UTF-8 bytes of one JSON object."""


class _Envelope(Struct):
    id: RequestId | None = None
    type: Any = None


_envelope_decoder = msgspec.json.Decoder(_Envelope)


def decode_said(data: bytes | str) -> AnySaid:
    """Return the request in a frame, checked; all else raises `Refusal(BAD_MESSAGE)` with the place."""
    try:
        return _said_decoder.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise Refusal(Code.BAD_MESSAGE, str(error)) from None


def request_id(data: bytes | str) -> int | None:
    """Return the `id` of a frame that may not be a request at all, so that even its refusal can name it."""
    try:
        return _envelope_decoder.decode(data).id
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def refused(request: int | None, refusal: Refusal) -> Refused:
    """Return the answer that a refusal is written as."""
    return Refused(request, refusal.code.value, str(refusal), refusal.retry_after_ms)


def decode_heard(data: bytes | str) -> AnyHeard:
    """Return what the server told; a message that this client does not know raises `Refusal(BAD_MESSAGE)`."""
    try:
        return _heard_decoder.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise Refusal(Code.BAD_MESSAGE, str(error)) from None


def decode_fact(data: bytes) -> Fact:
    """Return a fact as the journal kept it."""
    return _fact_decoder.decode(data)
