"""The requests of clients. They are validated strictly: unknown fields are refused."""

from typing import Annotated

from msgspec import Meta, Struct

from ttt_net.clock import Speed, TimeControl
from ttt_net.messages.types import (
    BeginSeconds,
    BoardNumber,
    ChatText,
    ClaimKind,
    DeclineReason,
    Entrants,
    GameName,
    HintKind,
    Legs,
    Level,
    MatchId,
    Minutes,
    MoveNumber,
    OfferKind,
    Opponents,
    OwnMistake,
    OwnPuzzle,
    Page,
    PauseSeconds,
    Phrase,
    Places,
    Ply,
    PositionText,
    Rating,
    ReportReason,
    RequestId,
    RoundNumber,
    Rounds,
    SeekNumber,
    Seq,
    ShortText,
    Side,
    StartSeconds,
    TournamentAct,
    TournamentCode,
    TournamentKind,
    TournamentResult,
)


def _type_of(class_name: str) -> str:
    """Return the `type` of a request on the wire: `PlayRequest` is written `play`."""
    return class_name.removesuffix("Request").lower()


class Request(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag=_type_of):
    """The base of requests. The client chooses the `id`, and the reply repeats it."""

    id: RequestId


class HelloRequest(Request, frozen=True, omit_defaults=True):
    """Log in as a new player by `name`, or as a known one by the `token` of an earlier `welcome`.

    With both, you are the player of that token, or a new player with it: choose at least 32 random characters. Then a
    `hello` whose reply was lost can be sent again.

    With neither you are a guest, if `welcome.features` has "guests": the server makes up a name, all matches are
    casual, and `rename` turns the guest into a player.

    `bot` is the label of a program, such as its strategy; people omit it. A bot may give its `level`, a line `about`
    how it plays, and `any_level` if it plays at any requested level. `places` is how many matches it plays at once
    (default 1), and `reserved` how many of these are for people. A bot that plays `on_request` is paired only with
    seeks for bots. `client` may name the client program and has no effect.
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
    """Seek an opponent. A new seek replaces the last one.

    `games` lists games in order of preference. An empty list accepts any game of the other seek, and `tictactoe` if
    both are empty; a rated seek must name its games. Without `time` there is no clock. With `level`, bots must play at
    that level.

    With `rated` and `or_casual` the match is rated if that is possible; clients for people send both by default.
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
    """Withdraw the seek."""


class AcceptRequest(Request, frozen=True):
    """Accept a seek listed in `seeks`, in the first of its games (`tictactoe` if it names none)."""

    seek: SeekNumber


class ChallengeRequest(Request, frozen=True, omit_defaults=True):
    """Challenge a connected player by `name`. Both receive `challenged`, and later how it ended.

    It replaces an earlier challenge to the same player. At most five of yours may be open. `level` asks a bot with
    `any_level` to play at that level, casually. With `rated` and `or_casual` the match is rated if that is allowed and
    both are people or both bots; `challenged` says which.

    With `start`, a bot plays on from that position, casually. Positions are written as in docs/games.md, and as
    `starts` of a `replay`. `side` is the side that you then take, random if null.
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
    """Accept or decline a challenge. The challenger withdraws it with `accept` false."""

    challenge: Annotated[int, Meta(ge=0, le=2**53 - 1)]
    accept: bool
    reason: DeclineReason = "generic"


class InviteRequest(Request, frozen=True, omit_defaults=True):
    """Get an `invitation`: a code with which a friend joins a private match with you.

    `side` is yours, random if null. `start` is the first position, as in docs/games.md.
    """

    game: GameName = "tictactoe"
    time: TimeControl | None = None
    side: Side | None = None
    start: PositionText | None = None


class JoinRequest(Request, frozen=True):
    """Join the private match of an invitation; its `snapshot` follows. At most ten codes a minute."""

    code: ShortText


class LobbyRequest(Request, frozen=True):
    """Subscribe to `seeks`, `players` and `live`, or end that. It also ends when a match of yours starts.

    Lists are sent at once, and again after changes: `seeks` within 0.25 s, the others within 2 s, later if many are
    subscribed.
    """

    on: bool


class MatchesRequest(Request, frozen=True):
    """Get the live public matches as `live`."""


class WatchRequest(Request, frozen=True, omit_defaults=True):
    """Watch a match: receive its `snapshot`, then its events. A private match needs its `code`.

    A busy server may send another `snapshot` in place of some events.
    """

    match: MatchId
    code: ShortText | None = None


class ChatRequest(Request, frozen=True, omit_defaults=True):
    """Send a `text` of at most 140 cells, or a `phrase`, to a match that you play in or watch.

    Messages of players go to the players, and those of watchers to the watchers.
    """

    match: MatchId
    text: ChatText | None = None
    phrase: Phrase | None = None


class MuteRequest(Request, frozen=True, omit_defaults=True):
    """Stop or resume receiving the `chat` of a player, or of everybody (`name` null).

    A mute follows the player through renames, and lasts until you end it. You can mute and block 200 players together;
    beyond that, a new one replaces your oldest mute. With `match` and `side` (feature `seats`), it concerns the player
    of that seat, whatever their name.
    """

    name: ShortText | None
    on: bool
    match: MatchId | None = None
    side: Side | None = None


class BlockRequest(Request, frozen=True, omit_defaults=True):
    """Block a player, connected or not, or end that (feature `blocks`).

    A blocked player is not paired with you by seeks, and cannot challenge you, accept your seek or play a rematch with
    you; they are refused as `not_welcome`. You do not receive their `chat`. Your own requests to play them are refused
    as `blocked`. Private matches by code are still possible. A running match continues; open challenges between you
    end. A block lasts as long as a mute; `match` and `side` work as in `mute`.
    """

    name: ShortText
    on: bool
    match: MatchId | None = None
    side: Side | None = None


class BlocksRequest(Request, frozen=True):
    """Get the players whom you have blocked or muted as `blocks`."""


class ReportRequest(Request, frozen=True, omit_defaults=True):
    """Report a player, connected or not, to the host and moderators of this server.

    With `match`, the last 20 lines of its chat that you received are attached. Another report of the same player and
    match is added to the first. `side` works as in `mute`.
    """

    name: ShortText
    reason: ReportReason = "other"
    match: MatchId | None = None
    text: ChatText | None = None
    side: Side | None = None


class UnwatchRequest(Request, frozen=True):
    """Stop watching a match."""

    match: MatchId


class PlayRequest(Request, frozen=True):
    """Make a move in the position with `ply` moves made."""

    match: MatchId
    ply: Ply
    move: MoveNumber


class ResignRequest(Request, frozen=True):
    """Resign the match."""

    match: MatchId


class AbortRequest(Request, frozen=True):
    """End the match without a result, before both players have moved; if it is rated, before both have moved twice."""

    match: MatchId


class OfferRequest(Request, frozen=True, omit_defaults=True):
    """Offer a draw, a take-back of your last move, or, after the end, a rematch.

    `ply` is the position that you see. Without it, as old clients send it, the offer is for the current position, and
    accepts the opponent's offer of the same kind.

    If both players offer a draw or a rematch at the same time, they have agreed. A rematch swaps the sides. A take-back
    returns to the position in which the player who asked was last to move, at most 50 times in a match.
    """

    match: MatchId
    kind: OfferKind
    ply: Ply | None = None


class AgreeRequest(Request, frozen=True):
    """Accept the opponent's `offer`: the `seq` of `offered`."""

    match: MatchId
    offer: Seq


class DeclineRequest(Request, frozen=True, omit_defaults=True):
    """Decline the opponent's offer, or withdraw your own.

    `offer` is the `seq` of `offered`. Without it, any offer of this `kind` is meant.
    """

    match: MatchId
    kind: OfferKind
    offer: Seq | None = None


class ClaimRequest(Request, frozen=True):
    """Claim a win or a draw, or adjourn the match, when the opponent has been away beyond their grace."""

    match: MatchId
    kind: ClaimKind


class ResumeRequest(Request, frozen=True):
    """Receive the events of your match after number `seq`, then a `snapshot`; with `seq` 0 only the snapshot.

    If more than 32 events were missed, only the snapshot is sent. A match whose events you already receive may be
    resumed about twice a second.
    """

    match: MatchId
    seq: Seq


class WhoRequest(Request, frozen=True):
    """Get the connected players as `players`."""


class RenameRequest(Request, frozen=True):
    """Change your name; `renamed` follows."""

    name: ShortText


class ForgetRequest(Request, frozen=True):
    """Delete your token, name and ratings, and close the connection. Confirm with your own `name`."""

    name: ShortText


class ProfileRequest(Request, frozen=True, omit_defaults=True):
    """Get the `profile` of a player, or your own: ratings, results, and your results against each other."""

    name: ShortText | None = None


class HistoryRequest(Request, frozen=True, omit_defaults=True):
    """Get a page of 20 finished matches of a player, or your own, newest first.

    `before`, from the last page, asks for the next one.
    """

    name: ShortText | None = None
    game: GameName | None = None
    before: ShortText | None = None


class LeaderboardRequest(Request, frozen=True, omit_defaults=True):
    """Get the ratings at a game and speed, best first, 20 a page.

    `bots` and `people` say whose; one of the two must be true.
    """

    game: GameName
    speed: Speed = "untimed"
    bots: bool = True
    page: Page = 1
    people: bool = True


class RulesRequest(Request, frozen=True):
    """Get the `rules` of a game, for people who have never played it."""

    game: GameName


class ReplayRequest(Request, frozen=True, omit_defaults=True):
    """Get the positions of a finished match, or one that you play in or watch, from `ply` on, at most 32 at a time.

    With `legal` (feature `study`), the positions of a finished match have their legal moves.
    """

    match: MatchId
    ply: Ply = 0
    legal: bool = False


class RecordRequest(Request, frozen=True):
    """Get a finished match as text, in the notation of docs/games.md."""

    match: MatchId


class AnalyseRequest(Request, frozen=True, omit_defaults=True):
    """Have an engine analyse a finished match (feature `analyse`).

    `ok` comes at once, and soon a first `partial` `analysis` with the lesson that needs no search. The whole one
    follows within half a minute, or later when others wait; it is empty for a match of fewer than three moves. Each
    player and each address may have one match analysed at a time. With `brief`, only the first one is sent, which is
    cheap after every match.
    """

    match: MatchId
    brief: bool = False


class HintRequest(Request, frozen=True, omit_defaults=True):
    """Get a `hint` in your casual match against a bot (feature `hint`).

    With kind `move`, on your turn: a good move and the reason for it. With kind `warning`, at any time: what to look
    out for, or no moves and no text if nothing is visible at a glance.
    """

    match: MatchId
    kind: HintKind = "move"


class PuzzleRequest(Request, frozen=True, omit_defaults=True):
    """Get the `puzzle` of a day, or answer it with a `move` (feature `puzzle`).

    `day` is a date such as `2026-11-22` in UTC, by default today; future days have none. `reveal` asks for the
    solution, and `ply` for the position after that many moves of its play to the end. With `own`, the puzzle is a
    mistake of the player, which the client keeps.
    """

    day: ShortText | None = None
    move: MoveNumber | None = None
    reveal: bool = False
    own: OwnPuzzle | None = None
    ply: Ply | None = None


class LearnRequest(Request, frozen=True):
    """Keep a mistake of your own, or your progress with one (feature `mistakes`).

    Mistakes in one position are the same. Of two states of a mistake, the server keeps the one with the later `due`, or
    else with more `times`. So a request may be repeated, and those of several devices may cross.

    An answer counts on or after `due`. After a right one, `times` is one more and `due` is 1, 3, 7 or 21 days later.
    After a wrong one, `times` is 0 and `due` is the next day. With the fifth right answer in a row, the mistake is
    learned, and `due` is the next day.

    A `due` more than 21 days away is shortened. 200 mistakes are kept: learned ones make room first, then the oldest.
    """

    mistake: OwnMistake


class MistakesRequest(Request, frozen=True, omit_defaults=True):
    """Get a page of your mistakes that are due as `mistakes` (feature `mistakes`).

    With `all`, get all that are kept, with those that are learned.
    """

    all: bool = False
    page: Page = 1


class StudyRequest(Request, frozen=True, omit_defaults=True):
    """Get a `study`: a match of strong bots for guessing the moves of one side (feature `study`).

    Any `number` is one of the matches, since their list begins again at its end. By default it is that of the day.
    """

    number: Ply | None = None


class OrganiseRequest(Request, frozen=True, omit_defaults=True):
    """Create a tournament (feature `tournaments`); the reply is `tournament`, with its code.

    `rounds` is the number of rounds of a `swiss`, or how often the players of a `round_robin` meet each other (1 or 2).
    A player who does not make their first move within `begin_s` forfeits. The next round begins `pause_s` after the
    last result, or with null at your request.

    An `arena` and a `king` of the table have no rounds: a player rests for `pause_s` between two matches, 5 s at most.
    They last for `minutes`; by default an arena lasts an hour, and a king of the table until you end it.

    The tournament begins at your request, with `full` players, or `starts_in_s` from now. A `private` tournament is not
    listed. Without `chat`, only phrases can be sent in its matches. With 2 `legs`, a pairing is two matches with sides
    swapped, and their sum is its result; null means so only in games in which one side is better off. In an `anonymous`
    tournament all players are guests, and only phrases can be sent.
    """

    name: ShortText
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


class TournamentsRequest(Request, frozen=True, omit_defaults=True):
    """Get the open, running and recently ended tournaments as `tournaments`.

    With `on` you also get it when it changes, at most every 2 s.
    """

    on: bool | None = None


class AttendRequest(Request, frozen=True, omit_defaults=True):
    """Subscribe to a tournament: receive `tournament` now and after changes, at most once a second.

    A page has 100 rows of the standings and 100 boards. `on` false ends the subscription.
    """

    tournament: TournamentCode
    on: bool = True
    page: Page = 1


class EnterRequest(Request, frozen=True):
    """Enter a tournament by its code, or return to it; `join` does the same.

    After its `ok` you get the `tournament`. When a round begins, you are seated immediately and receive the `snapshot`
    of your match.
    """

    tournament: TournamentCode


class WithdrawRequest(Request, frozen=True):
    """Leave a tournament: you are not paired any more. Your match of the current round continues."""

    tournament: TournamentCode


class DirectRequest(Request, frozen=True, omit_defaults=True):
    """Direct your tournament: start it, pause and resume it, begin the `next` round, or end it.

    `add` and `remove` take the `name` of a player. `correct` replaces the `result` of a `board` in a `round`, with a
    `note`.
    """

    tournament: TournamentCode
    act: TournamentAct
    name: ShortText | None = None
    round: RoundNumber | None = None
    board: BoardNumber | None = None
    result: TournamentResult | None = None
    note: ShortText = ""


class PingRequest(Request, frozen=True):
    """Measure latency: the reply is `ok`."""


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
    | LearnRequest
    | MistakesRequest
    | StudyRequest
    | OrganiseRequest
    | TournamentsRequest
    | AttendRequest
    | EnterRequest
    | WithdrawRequest
    | DirectRequest
    | PingRequest
)
