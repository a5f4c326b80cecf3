"""The requests of clients. They are read strictly: an unknown field is refused."""

from typing import Annotated

from msgspec import Meta, Struct

from ttt_net.clock import Speed, TimeControl
from ttt_net.messages.types import (
    ChatText,
    ClaimKind,
    DeclineReason,
    GameName,
    HintKind,
    Level,
    MatchId,
    MoveNumber,
    OfferKind,
    Opponents,
    Page,
    Phrase,
    Places,
    Ply,
    PositionText,
    Rating,
    ReportReason,
    RequestId,
    SeekNumber,
    Seq,
    ShortText,
    Side,
)


def _type_of(class_name: str) -> str:
    """Return the `type` of a request on the wire: `PlayRequest` is written `play`."""
    return class_name.removesuffix("Request").lower()


class Request(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag=_type_of):
    """The base of requests: an `id` of the client's choosing, which its one answer repeats."""

    id: RequestId


class HelloRequest(Request, frozen=True, omit_defaults=True):
    """Say who you are: a new player by `name`, or a known one by the `token` that an earlier `welcome` gave.

    With both, you are the one whom the token belongs to, or a new player who has chosen it: at least 32 characters, at
    random. So a `hello` whose answer was lost can be said again.

    With neither you are a guest, if `welcome.features` of this server has "guests": the server makes up a name, your
    matches are casual, and the token that you get is good as ever. A guest who says `rename` is a guest no more.

    `bot` is the label of a program that plays, such as its strategy; people leave it out. A bot may give its `level`
    and set `any_level` if it plays at any requested level. `places` is how many matches it plays at once (default 1),
    `reserved` how many of these places are for people. A bot that plays `on_request` is paired only with seeks for
    bots, never in the place of a person; `about` is a line on how it plays. `client` may name the client program;
    nothing depends on it.
    """

    protocols: Annotated[list[int], Meta(min_length=1, max_length=16)]
    name: ShortText | None = None
    token: ShortText | None = None
    bot: ShortText | None = None
    client: ShortText | None = None
    level: Level | None = None
    places: Places | None = None
    reserved: Places = 0
    any_level: bool = False
    on_request: bool = False
    about: ShortText | None = None


class SeekRequest(Request, frozen=True, omit_defaults=True):
    """Ask to be paired with somebody who waits. A new seek takes the place of the last.

    `games` lists games in order of preference. An empty list accepts any game of the other seek, and `tictactoe` if
    both are empty; a rated seek must name its games. `time` is null for no clock. `opponents`, `min_rating` and
    `max_rating` limit the opponents. With `level`, only bots that play at that level fit; people still do.
    `rated` with `or_casual` asks for a rated match if the opponent wants one and it is allowed, else for a casual one.
    Such a seek fits both kinds and is never refused; clients for people send it by default.
    The server pairs the closest rating first, and widens the range while you wait. A seek survives a lost connection
    for 10 seconds.
    """

    games: Annotated[list[GameName], Meta(max_length=16)] = []
    time: TimeControl | None = None
    opponents: Opponents = "any"
    rated: bool = False
    min_rating: Rating | None = None
    max_rating: Rating | None = None
    level: Level | None = None
    or_casual: bool = False


class UnseekRequest(Request, frozen=True):
    """Take the seek back."""


class AcceptRequest(Request, frozen=True):
    """Be paired with the standing seek of that number, as `seeks` lists it, in the first of its games.

    A seek that names no games is for `tictactoe` then.
    """

    seek: SeekNumber


class ChallengeRequest(Request, frozen=True, omit_defaults=True):
    """Challenge a connected player by `name`. You both hear `challenged`, and then what becomes of it.

    It takes the place of an earlier one to the same player; at most five wait for their answers at a time. `level` is
    the one that a bot is to play at, if it plays at any (`any_level`); such a match is casual. The `level` of the bot
    in the match is the one that it plays at. With `rated` and `or_casual` the match is rated if it may be and the other
    one is a person, and else casual; `challenged` says which.

    A bot may be challenged to play on from a position: `start` is it, as docs/games.md writes them and `starts` of a
    `replay` has them; such a match is casual. `side` is the one that you take then, null by lot.
    """

    name: ShortText
    game: GameName = "tictactoe"
    time: TimeControl | None = None
    rated: bool = False
    level: Level | None = None
    start: PositionText | None = None
    side: Side | None = None
    or_casual: bool = False


class AnswerRequest(Request, frozen=True, omit_defaults=True):
    """Accept a challenge or turn it down; who made it takes it back by turning it down."""

    challenge: Annotated[int, Meta(ge=0, le=2**53 - 1)]
    accept: bool
    reason: DeclineReason = "generic"


class InviteRequest(Request, frozen=True, omit_defaults=True):
    """Ask for an `invitation`: a code for a friend, with which they join a private match with you.

    `side` is the one that you take, null by lot; `start` is a position to begin from, as docs/games.md writes them.
    """

    game: GameName = "tictactoe"
    time: TimeControl | None = None
    side: Side | None = None
    start: PositionText | None = None


class JoinRequest(Request, frozen=True):
    """Join the private match that the code is for; you hear its `snapshot`.

    Codes may be tried ten times a minute.
    """

    code: ShortText


class LobbyRequest(Request, frozen=True):
    """Hear `seeks`, `players` and `live` now, and again whenever they change, until off or a match of yours starts.

    Changes are told together: those of `seeks` after 0.25 s, those of the others after 2 s, later in a crowd.
    """

    on: bool


class MatchesRequest(Request, frozen=True):
    """Ask for the list of live public matches: `live`."""


class WatchRequest(Request, frozen=True, omit_defaults=True):
    """Hear the events of a match that you do not play in, after a snapshot; of a private one with its `code`."""

    match: MatchId
    code: ShortText | None = None


class ChatRequest(Request, frozen=True, omit_defaults=True):
    """Say something at a match that you hear, either a `text` of at most 140 cells or a `phrase`.

    Players are heard by the players, and those who watch by those who watch.
    """

    match: MatchId
    text: ChatText | None = None
    phrase: Phrase | None = None


class MuteRequest(Request, frozen=True, omit_defaults=True):
    """Stop receiving `chat` of that player, or receive it again; with null instead of a name, of everybody.

    A mute follows the player through renames, and lasts until you end it. You can mute and block 200 players together;
    beyond that, a new mute or block replaces your oldest mute. With `match` and `side` (on servers with the feature
    `seats`), it concerns the player of that seat in a match that you hear, whatever they are called by now.
    """

    name: ShortText | None
    on: bool
    match: MatchId | None = None
    side: Side | None = None


class BlockRequest(Request, frozen=True, omit_defaults=True):
    """Block a player, connected or not, or end that, on servers with the feature `blocks`.

    The server does not pair you with a blocked player by your seeks. They cannot challenge you, accept your seek or
    play a rematch with you, and you do not receive their `chat`. They are not notified, and are refused as
    `not_welcome`. Your own requests to play a player whom you have blocked are refused as `blocked`. A private match by
    code is still possible, because both players chose it. A running match continues, and challenges between you end.

    A block follows the player through renames, and lasts until you end it. With `match` and `side` it concerns the
    player of that seat in a match that you hear.
    """

    name: ShortText
    on: bool
    match: MatchId | None = None
    side: Side | None = None


class BlocksRequest(Request, frozen=True):
    """Ask for the players whom you have blocked or muted: `blocks`."""


class ReportRequest(Request, frozen=True, omit_defaults=True):
    """Tell the host and moderators of this server that a player, here or not, does what they should not.

    With a `match` that you hear, the last 20 lines of its chat that you could hear go with it; they are kept for that
    alone, and for as long as the host says. A further report of the same player and match is added to the first. With
    `side` (the feature `seats`), it concerns the player of that seat, whatever they are called by now.
    """

    name: ShortText
    reason: ReportReason = "other"
    match: MatchId | None = None
    text: ChatText | None = None
    side: Side | None = None


class UnwatchRequest(Request, frozen=True):
    """Hear no more of a match that you watch."""

    match: MatchId


class PlayRequest(Request, frozen=True):
    """Make a move in the position with `ply` moves made. Sent twice, it is answered `ok` twice and made once."""

    match: MatchId
    ply: Ply
    move: MoveNumber


class ResignRequest(Request, frozen=True):
    """Lose the match on purpose."""

    match: MatchId


class AbortRequest(Request, frozen=True):
    """End the match without a result, before both players have moved."""

    match: MatchId


class OfferRequest(Request, frozen=True, omit_defaults=True):
    """Offer a draw, a rematch after the end, or to take back your last move.

    Name the `ply` that you see, as `play` does. Then an offer that crosses a move is refused as `stale_offer`, and one
    that is sent again after a lost answer is never a second offer. Without `ply` the offer is for the position in which
    it arrives, and accepts the opponent's offer of the same kind; older clients do that.

    If both players offer a draw or a rematch at the same time, they have agreed. A rematch swaps the sides. A take-back
    returns to the position in which the player who asked was last to move. A match has at most 50 take-backs.
    """

    match: MatchId
    kind: OfferKind
    ply: Ply | None = None


class AgreeRequest(Request, frozen=True):
    """Accept the opponent's offer that was event number `offer` of the match: the `seq` of `offered`.

    Refused as `stale_offer` if that offer no longer stands. Accepting the same offer again changes nothing.
    """

    match: MatchId
    offer: Seq


class DeclineRequest(Request, frozen=True, omit_defaults=True):
    """Decline the opponent's offer, or withdraw your own.

    Name the `offer`, the `seq` of `offered`. Then the request is refused as `stale_offer` if that offer no longer
    stands, and sending it again changes nothing. An offer of another `kind` is refused. Without `offer` it is for any
    offer of this kind.
    """

    match: MatchId
    kind: OfferKind
    offer: Seq | None = None


class ClaimRequest(Request, frozen=True):
    """When the other player has been away for longer than their grace: win, call it a draw, or adjourn the match.

    An adjourned match waits, with its clock standing still, until both players are back.
    """

    match: MatchId
    kind: ClaimKind


class ResumeRequest(Request, frozen=True):
    """Hear the events of your match after number `seq`, then a snapshot; `seq` 0 asks for the snapshot alone.

    Of more than 32 missed events none is told: the snapshot holds all that matters of them. A match that you hear
    already may be resumed about twice a second.
    """

    match: MatchId
    seq: Seq


class WhoRequest(Request, frozen=True):
    """Ask for the list of those who are connected: `players`."""


class RenameRequest(Request, frozen=True):
    """Take another name; you hear `renamed`. Token, ratings and matches stay yours, the old name is free for others."""

    name: ShortText


class ForgetRequest(Request, frozen=True):
    """Be forgotten: say your own `name` once more. Token, name and ratings are deleted, and the connection is closed.

    Your matches are kept, with "deleted" in place of your name. Finish or resign the unfinished ones first.
    """

    name: ShortText


class ProfileRequest(Request, frozen=True, omit_defaults=True):
    """Ask who the player called `name` is, or who you are: ratings, results, and how you two have fared."""

    name: ShortText | None = None


class HistoryRequest(Request, frozen=True, omit_defaults=True):
    """Ask for the finished matches of the player called `name`, or your own, newest first, 20 at a time.

    `game` leaves the others out; `before`, taken from the page before, asks for the next page.
    """

    name: ShortText | None = None
    game: GameName | None = None
    before: ShortText | None = None


class LeaderboardRequest(Request, frozen=True, omit_defaults=True):
    """Ask for the ratings at a game and speed, the best first, 20 on a page; `bots` false leaves bots out."""

    game: GameName
    speed: Speed = "untimed"
    bots: bool = True
    page: Page = 1


class RulesRequest(Request, frozen=True):
    """Ask for the `rules` of a game: the page that explains it to people who have never played it."""

    game: GameName


class ReplayRequest(Request, frozen=True, omit_defaults=True):
    """Ask for the positions of a finished match, or one that you hear, from `ply` on: at most 32 at a time."""

    match: MatchId
    ply: Ply = 0


class RecordRequest(Request, frozen=True):
    """Ask for a finished match as a text to keep, in the notation of docs/games.md."""

    match: MatchId


class AnalyseRequest(Request, frozen=True, omit_defaults=True):
    """Have a finished match looked at by an engine, if `features` has "analyse".

    `ok` comes at once. A first `analysis`, `partial`, comes about then, too, where the server has a coach: it has the
    lesson that needs no search. The whole one comes within half a minute, or later when others wait; it is empty for a
    match of fewer than three moves. A player, and an address, has one match analysed at a time. With `brief` that first
    one is all, and costs next to nothing: ask for it after every match.
    """

    match: MatchId
    brief: bool = False


class HintRequest(Request, frozen=True, omit_defaults=True):
    """Ask for a `hint` in a casual match of yours against a bot, if `features` has "hint".

    Of kind `move`, when it is your turn: a good move and the reason for it. Of kind `warning`, at any time: what to
    beware of; it has no moves and no text if there is nothing that can be seen at a glance.
    """

    match: MatchId
    kind: HintKind = "move"


class PuzzleRequest(Request, frozen=True, omit_defaults=True):
    """Ask for the puzzle of a day, or answer it with a `move`; you hear a `puzzle`, if `features` has "puzzle".

    `day` is a date such as `2026-11-22` by UTC, null for today; there is none of a day that has not come. With `reveal`
    the solution is told. Nothing of it is kept here: whether a puzzle was solved is the client's to remember.
    """

    day: ShortText | None = None
    move: MoveNumber | None = None
    reveal: bool = False


class PingRequest(Request, frozen=True):
    """Ask for an `ok` and nothing else, to measure the way."""


AnyRequest = (
    HelloRequest
    | SeekRequest
    | UnseekRequest
    | AcceptRequest
    | ChallengeRequest
    | AnswerRequest
    | InviteRequest
    | JoinRequest
    | PlayRequest
    | ResignRequest
    | AbortRequest
    | OfferRequest
    | AgreeRequest
    | DeclineRequest
    | ClaimRequest
    | ResumeRequest
    | LobbyRequest
    | MatchesRequest
    | WatchRequest
    | UnwatchRequest
    | ChatRequest
    | MuteRequest
    | BlockRequest
    | BlocksRequest
    | ReportRequest
    | WhoRequest
    | RenameRequest
    | ForgetRequest
    | ProfileRequest
    | HistoryRequest
    | LeaderboardRequest
    | RulesRequest
    | ReplayRequest
    | RecordRequest
    | AnalyseRequest
    | HintRequest
    | PuzzleRequest
    | PingRequest
)
