"""The messages of the server: replies, the numbered events of a match, lists, and notices.

An event of a match is decided, journaled, applied and sent, in this order. Clients ignore unknown fields, so that older
clients work with newer servers.
"""

from ttt_net.clock import Speed, TimeControl
from ttt_net.messages.types import (
    UNSCORED,
    AddedGame,
    AnalysedMove,
    AwayInfo,
    ChallengeEnd,
    ClockInfo,
    ExplanationInfo,
    FinishedMatch,
    GameInfo,
    HeadToHead,
    HintKind,
    Leader,
    Level,
    ListedPlayer,
    ListedTournament,
    LiveMatch,
    MatchLesson,
    Number,
    OfferInfo,
    OfferKind,
    OutcomeInfo,
    OwnMistake,
    OwnPuzzle,
    Phrase,
    PlayedTournament,
    PlayerInfo,
    Position,
    PuzzleKind,
    RatingChange,
    RatingInfo,
    Room,
    RuleExample,
    SanctionAct,
    SeekInfo,
    ServerMessage,
    Side,
    TournamentBoard,
    TournamentKind,
    TournamentPlace,
    TournamentStanding,
    TournamentState,
)


class Started(ServerMessage, frozen=True, omit_defaults=True):
    """Event: the match began. The fields are those of `snapshot`.

    `previous` is the match of which this is the rematch. `rules` is the version of the rules, which games of other
    packages may raise.
    """

    match: str
    seq: Number
    at_ms: Number
    game: str
    players: tuple[PlayerInfo, PlayerInfo]
    time: TimeControl | None = None
    previous: str | None = None
    private: bool = False
    rated: bool = False
    score: tuple[float, float] = UNSCORED
    code: str | None = None
    start: str | None = None
    tournament: TournamentPlace | None = None
    rules: Number = 1


class Played(ServerMessage, frozen=True, omit_defaults=True):
    """Event: `side` made `move`, number `ply` of the match. `position` is the new one and always sent.

    `refunded_ms` of the player's time were refunded for time on the network.
    """

    match: str
    seq: Number
    at_ms: Number
    side: Number
    ply: Number
    move: Number
    refunded_ms: Number = 0
    clock: ClockInfo | None = None
    position: Position | None = None


class Tookback(ServerMessage, frozen=True, omit_defaults=True):
    """Event: moves were taken back for `side`, to `ply` moves. `position` is always sent."""

    match: str
    seq: Number
    at_ms: Number
    side: Number
    ply: Number
    clock: ClockInfo | None = None
    position: Position | None = None


class Offered(ServerMessage, frozen=True):
    """Event: `side` makes an offer. Accept or decline it by its `seq`. A move ends all offers."""

    match: str
    seq: Number
    at_ms: Number
    side: Number
    kind: OfferKind


class Declined(ServerMessage, frozen=True):
    """Event: `side` declined the offer, or withdrew its own."""

    match: str
    seq: Number
    at_ms: Number
    side: Number
    kind: OfferKind


class Adjourned(ServerMessage, frozen=True, omit_defaults=True):
    """Event: `side` adjourned the match, because the opponent is away. It continues when both are here."""

    match: str
    seq: Number
    at_ms: Number
    side: Number
    clock: ClockInfo | None = None


class Ended(ServerMessage, frozen=True, omit_defaults=True):
    """Event: the match is over. `winner` is null after a draw or an abort.

    `fault` describes how the rules of the game failed, if the server aborted the match for that.
    """

    match: str
    seq: Number
    at_ms: Number
    winner: Number | None
    reason: str
    clock: ClockInfo | None = None
    fault: str | None = None


class Rematched(ServerMessage, frozen=True):
    """Event: the series continues in match `next`, with the sides swapped."""

    match: str
    seq: Number
    at_ms: Number
    next: str


MatchEvent = Started | Played | Tookback | Offered | Declined | Adjourned | Ended | Rematched
"""Any event of a match. A match is its list of events."""


class Ok(ServerMessage, frozen=True):
    """Your request `id` was carried out. Resulting events follow."""

    id: Number


class Refused(ServerMessage, frozen=True, omit_defaults=True):
    """Your request `id` was not carried out, and nothing has changed. `id` is null if it was unreadable."""

    id: Number | None
    code: str
    message: str
    retry_after_ms: Number | None = None


class Welcome(ServerMessage, frozen=True, omit_defaults=True):
    """Your player on this server, and your unfinished matches. New players get their `token` only here: keep it.

    `features` lists what not every server has:

    - `guests`, `analyse`, `hint`, `puzzle`, `study`, `blocks`, `mistakes`, `tournaments`: these requests, and guests
    - `organise`: players may make tournaments
    - `or_casual`: the field in `seek` and `challenge`
    - `seats`: `side` in `mute` and `report`
    - `chat`: texts; without it only phrases, and the field `chat` is false

    `seek` is your seek that has survived a dropped connection and stands again. `nodes` are the addresses of a cluster:
    if this node is gone, try another, but never go from an encrypted node to an unencrypted one. `games` are games of
    other packages.
    """

    protocol: Number
    server: str
    you: PlayerInfo
    matches: list[str]
    token: str | None = None
    seek: SeekInfo | None = None
    chat: bool = True
    features: list[str] = []  # noqa: RUF012 - a Struct: each message gets a list of its own
    nodes: list[str] = []  # noqa: RUF012
    games: list[AddedGame] = []  # noqa: RUF012


class Snapshot(ServerMessage, frozen=True, omit_defaults=True):
    """A whole match as it stands after event number `seq`. `you` is your side, absent if you watch.

    `present` says who is connected. `score` is that of the series before this match, by side: 1 for a win, 0.5 for a
    draw. `last` is the latest move. `previous` and `next` are the neighbouring matches of the series. `code`, sent only
    to players, lets others watch a private match. `start` is the first position, if not the usual one. A match with a
    `tournament` has no take-backs, aborts or rematches.
    """

    match: str
    seq: Number
    game: GameInfo
    players: tuple[PlayerInfo, PlayerInfo]
    present: tuple[bool, bool]
    moves: list[Number]
    position: Position
    offers: list[OfferInfo]
    you: Number | None = None
    last: Number | None = None
    time: TimeControl | None = None
    clock: ClockInfo | None = None
    outcome: OutcomeInfo | None = None
    adjourned: bool = False
    private: bool = False
    watchers: Number = 0
    away: AwayInfo | None = None
    previous: str | None = None
    next: str | None = None
    rated: bool = False
    score: tuple[float, float] = UNSCORED
    code: str | None = None
    start: str | None = None
    tournament: TournamentPlace | None = None


class Presence(ServerMessage, frozen=True, omit_defaults=True):
    """The player of `side` came or left; `away` says how."""

    match: str
    side: Number
    online: bool
    away: AwayInfo | None = None


class PlayerRenamed(ServerMessage, frozen=True):
    """The player of `side` is now called `name`, "deleted" after `forget`."""

    match: str
    side: Number
    name: str


class Watching(ServerMessage, frozen=True):
    """The number of watchers of the match."""

    match: str
    watchers: Number


class Chatted(ServerMessage, frozen=True, omit_defaults=True, tag="chat"):
    """A chat message in your room of the match. With a `phrase`, `text` is the English. It is not stored."""

    match: str
    room: Room
    by: PlayerInfo
    text: str
    phrase: Phrase | None = None


class Challenged(ServerMessage, frozen=True, omit_defaults=True):
    """A player challenges you: send `answer` before it expires. The challenger receives it too."""

    challenge: Number
    by: PlayerInfo
    to: PlayerInfo
    game: str
    expires_in_ms: Number
    time: TimeControl | None = None
    rated: bool = False
    level: Level | None = None
    start: str | None = None


class ChallengeAccepted(ServerMessage, frozen=True):
    """A challenge was accepted; the `snapshot` of its match follows. Both players receive it."""

    challenge: Number


class ChallengeOver(ServerMessage, frozen=True):
    """A challenge has ended without a match: declined with a reason, expired, or one of the players left."""

    challenge: Number
    reason: ChallengeEnd


class InvitationReply(ServerMessage, frozen=True, omit_defaults=True, tag="invitation"):
    """The code of your invitation. It can be used once, until it expires."""

    code: str
    game: str
    expires_in_ms: Number
    time: TimeControl | None = None


class SeekList(ServerMessage, frozen=True, tag="seeks"):
    """The open seeks: the oldest 100 of `count`."""

    count: Number
    seeks: list[SeekInfo]


class LiveList(ServerMessage, frozen=True, tag="live"):
    """The live public matches: the featured one and the most watched, 50 of `count`."""

    count: Number
    matches: list[LiveMatch]


class PlayerList(ServerMessage, frozen=True, tag="players"):
    """Up to 100 of the `online` connected players, by name.

    If there are more, people who are not playing come first, the latest in front; then bots; then people who play. You
    can challenge any connected player, listed or not.
    """

    online: Number
    players: list[ListedPlayer]


class Rated(ServerMessage, frozen=True):
    """The changes of both ratings after a rated match, by side."""

    match: str
    ratings: tuple[RatingChange, RatingChange]


class Renamed(ServerMessage, frozen=True):
    """Your new name."""

    you: PlayerInfo


class ProfileReply(ServerMessage, frozen=True, tag="profile"):
    """A player: first seen, results, most played ratings, and public live matches.

    `against` is your record against them, null in your own profile. `blocked`: you have blocked them. `tournaments` are
    the latest 10; private ones only in your own profile.
    """

    player: PlayerInfo
    since_ms: Number
    online: bool
    won: Number
    drawn: Number
    lost: Number
    ratings: list[RatingInfo]
    against: HeadToHead | None
    live: list[str]
    blocked: bool = False
    tournaments: list[PlayedTournament] = []  # noqa: RUF012


class HistoryReply(ServerMessage, frozen=True, tag="history"):
    """A page of finished matches, newest first; private ones only in your own. `before` asks for the next page."""

    player: PlayerInfo
    matches: list[FinishedMatch]
    before: str | None


class LeaderboardReply(ServerMessage, frozen=True, tag="leaderboard"):
    """A page of the ratings at a game and speed. `you` is your own rank, null if you have none."""

    game: str
    speed: Speed
    page: Number
    pages: Number
    leaders: list[Leader]
    you: Number | None


class RulesReply(ServerMessage, frozen=True, tag="rules"):
    """The rules of a game for people: in short (`rule`), the `goal`, peculiarities (`special`) and `tips`."""

    game: str
    title: str
    rule: str
    goal: str
    special: str
    tips: list[str]
    example: RuleExample | None


class ReplayReply(ServerMessage, frozen=True, tag="replay", omit_defaults=True):
    """Positions of a match from `ply` on, without legal moves. `last` is the ply of the final one.

    `starts` are the same positions in the form that `challenge` accepts, empty where play cannot go on.
    """

    match: str
    ply: Number
    positions: list[Position]
    last: Number
    starts: list[str] = []  # noqa: RUF012 - a Struct: each gets a list of its own


class AnalysisReply(ServerMessage, frozen=True, tag="analysis", omit_defaults=True):
    """A finished match, move by move. It has fewer moves than the match if time was up. `exact`: nothing is estimated.

    `lesson` is the move that decided it, if found in time. A `partial` analysis has only a lesson; the whole one
    follows.
    """

    match: str
    moves: list[AnalysedMove]
    exact: bool
    lesson: MatchLesson | None = None
    partial: bool = False


class HintReply(ServerMessage, frozen=True, tag="hint", omit_defaults=True):
    """A hint for the position with `ply` moves made, and a sentence.

    With kind `move`, `moves` are good moves for you, best first; with kind `warning`, moves of the opponent.
    """

    match: str
    ply: Number
    kind: HintKind
    moves: list[Number] = []  # noqa: RUF012 - a Struct: each gets a list of its own
    text: str = ""
    why: ExplanationInfo | None = None


class PuzzleReply(ServerMessage, frozen=True, tag="puzzle", omit_defaults=True):
    """The puzzle of a `day`: find the one move that wins (`win`), or the only one that does not lose (`save`).

    The win is complete after `plies`, or the loss after any other move. `grade` is the difficulty from 1 to 5. `start`
    is the position in the form that `challenge` accepts. After a `move`, `right` says whether it is the solution.
    `solution` and the reason in `text` are sent once it was found or revealed. Kind `own` is a mistake of the player's
    own: any of its better moves is right. `ply` is as requested, at most the length of the play: `position` is then the
    one after that many moves, of which `last` is the latest.
    """

    day: str
    game: GameInfo
    position: Position
    start: str
    kind: PuzzleKind
    plies: Number
    grade: Number
    move: Number | None = None
    right: bool | None = None
    solution: Number | None = None
    text: str = ""
    why: ExplanationInfo | None = None
    own: OwnPuzzle | None = None
    ply: Number = 0
    last: Number | None = None


class MistakeList(ServerMessage, frozen=True, tag="mistakes"):
    """A page of your mistakes on `day`, 20 of `count`: those that are due, the longest due first, or all."""

    day: str
    mistakes: list[OwnMistake]
    count: Number
    page: Number


class StudyReply(ServerMessage, frozen=True, tag="study", omit_defaults=True):
    """A finished match of strong bots for guessing the moves of `side`, the `number`-th from 0 of `count`.

    `positions` has the position before each move, with its legal moves, and the final one. `moves` judges the moves as
    an `analysis` does; their `keeping` is complete.
    """

    number: Number
    count: Number
    side: Side
    snapshot: Snapshot
    positions: list[Position]
    moves: list[AnalysedMove]


class RecordReply(ServerMessage, frozen=True, tag="record"):
    """A finished match as text."""

    match: str
    text: str


class BlockList(ServerMessage, frozen=True, tag="blocks", omit_defaults=True):
    """The players whom you have blocked, and those only muted, oldest first; `everybody`: all are muted."""

    blocked: list[str]
    muted: list[str]
    everybody: bool = False


class TournamentList(ServerMessage, frozen=True, tag="tournaments"):
    """Open and running tournaments, newest first, then recently ended ones: 50 of `count`."""

    count: Number
    tournaments: list[ListedTournament]


class TournamentReply(ServerMessage, frozen=True, tag="tournament", omit_defaults=True):
    """The state of a tournament: a page of its standings, and of the boards of the current round.

    `seq` counts changes, so a larger one is newer. `ended` says why it is over. `tie_breaks` names the `breaks` of the
    standings. `open_boards` counts the boards without a result, on all pages. `next_in_ms` is the time until the next
    round begins by itself. `organiser` is null for the host. The tournament starts by itself with `full` players.

    An `arena` and a `king` have no rounds: `boards` are the open ones, then the latest results, and a point of an arena
    is two half points. `ends_in_ms` is the time that they still last. `waiting` is the queue of a `king`, where the
    `second` of a board is the king of the table.
    """

    tournament: str
    seq: Number
    name: str
    kind: TournamentKind
    game: str
    time: TimeControl
    state: TournamentState
    round: Number
    rounds: Number
    players: Number
    page: Number
    pages: Number
    tie_breaks: list[str]
    standings: list[TournamentStanding]
    boards: list[TournamentBoard]
    open_boards: Number
    organiser: str | None = None
    rated: bool = False
    private: bool = False
    ended: str | None = None
    starts_in_ms: Number | None = None
    next_in_ms: Number | None = None
    ends_in_ms: Number | None = None
    waiting: list[str] | None = None
    full: Number | None = None
    anonymous: bool = False


class Suggestion(ServerMessage, frozen=True):
    """You have waited alone for some seconds: bots that would play your game, nearest in strength first.

    Send `challenge` to one if you like. Your seek still stands.
    """

    bots: list[ListedPlayer]


class Restarting(ServerMessage, frozen=True):
    """The server is about to close; matches are kept. Reconnect after `retry_after_ms` and resume."""

    retry_after_ms: Number


class Sanctioned(ServerMessage, frozen=True, omit_defaults=True):
    """The host has muted you (nobody receives your messages) or banned you (this connection ends).

    It is also sent after each `welcome` while you are muted, and before a `hello` is refused as `banned`. Without
    `ends_in_ms` it has no end. `lifted`: it was ended early; expiry is not announced.
    """

    act: SanctionAct
    ends_in_ms: Number | None = None
    reason: str = ""
    lifted: bool = False


class Notice(ServerMessage, frozen=True, omit_defaults=True):
    """A line from the host to everybody. With `restart_in_ms`, no match starts until the server is back.

    Without it no restart is planned; one announced before was called off.
    """

    text: str
    restart_in_ms: Number | None = None


AnyServerMessage = (
    Ok
    | Refused
    | Welcome
    | Snapshot
    | MatchEvent
    | Presence
    | PlayerRenamed
    | Watching
    | Chatted
    | Challenged
    | ChallengeAccepted
    | ChallengeOver
    | InvitationReply
    | SeekList
    | LiveList
    | PlayerList
    | Rated
    | Suggestion
    | Renamed
    | ProfileReply
    | HistoryReply
    | LeaderboardReply
    | RulesReply
    | ReplayReply
    | RecordReply
    | BlockList
    | TournamentList
    | TournamentReply
    | AnalysisReply
    | HintReply
    | PuzzleReply
    | MistakeList
    | StudyReply
    | Restarting
    | Sanctioned
    | Notice
)
