"""The messages of the server: answers, the numbered events of a match, lists, and passing notices.

Events of a match are decided, journaled, applied and sent, in this order. Clients ignore unknown fields, so that an
older client can talk to a newer server.
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
    LiveMatch,
    MatchLesson,
    OfferInfo,
    OfferKind,
    OutcomeInfo,
    Phrase,
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
)


class Started(ServerMessage, frozen=True, omit_defaults=True):
    """Event: the match began. `previous` is the match that it is the rematch of, `score` that of the series so far.

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
    score: tuple[float, float] = UNSCORED
    code: str | None = None
    start: str | None = None


class Played(ServerMessage, frozen=True, omit_defaults=True):
    """Event: `side` made `move`, the `ply`-th of the match; `position`, which is always told, is what came of it.

    `refunded_ms` of the mover's time were given back for what the move spent on the network.
    """

    match: str
    seq: int
    at_ms: int
    side: int
    ply: int
    move: int
    refunded_ms: int = 0
    clock: ClockInfo | None = None
    position: Position | None = None


class Tookback(ServerMessage, frozen=True, omit_defaults=True):
    """Event: moves were taken back, so that `ply` moves are made, as `side` had asked; `position` is always told."""

    match: str
    seq: int
    at_ms: int
    side: int
    ply: int
    clock: ClockInfo | None = None
    position: Position | None = None


class Offered(ServerMessage, frozen=True):
    """Event: `side` makes an offer: name its `seq` to accept or decline it. A move ends all offers."""

    match: str
    seq: int
    at_ms: int
    side: int
    kind: OfferKind


class Declined(ServerMessage, frozen=True):
    """Event: `side` turned the offer down, or took its own back."""

    match: str
    seq: int
    at_ms: int
    side: int
    kind: OfferKind


class Adjourned(ServerMessage, frozen=True, omit_defaults=True):
    """Event: `side` adjourned the match, because the other player is away. It goes on when both are here."""

    match: str
    seq: int
    at_ms: int
    side: int
    clock: ClockInfo | None = None


class Ended(ServerMessage, frozen=True, omit_defaults=True):
    """Event: the match is over. `winner` is null for a draw or an abort.

    `fault` is there if the server aborted the match because the rules of its game failed; it says how.
    """

    match: str
    seq: int
    at_ms: int
    winner: int | None
    reason: str
    clock: ClockInfo | None = None
    fault: str | None = None


class Rematched(ServerMessage, frozen=True):
    """Event: the match goes on in match `next`, with the sides swapped."""

    match: str
    seq: int
    at_ms: int
    next: str


MatchEvent = Started | Played | Tookback | Offered | Declined | Adjourned | Ended | Rematched
"""Any event of a match. A match is its list of events."""


class Ok(ServerMessage, frozen=True):
    """Your request `id` was carried out; what it led to follows as events."""

    id: int


class Refused(ServerMessage, frozen=True, omit_defaults=True):
    """Your request `id` was not carried out, and nothing has changed. `id` is null if it could not be read."""

    id: int | None
    code: str
    message: str
    retry_after_ms: int | None = None


class Welcome(ServerMessage, frozen=True, omit_defaults=True):
    """Your player on this server, and your unfinished matches. `token` is given once, to a new player: keep it.

    `seek` is one of yours that a lost link has not ended: it stands again. `features` names what not every server
    offers: "guests", "analyse", "hint", "puzzle", "or_casual" (in a seek and a challenge), "seats" (`side` in a mute
    and a report), "blocks", and "chat". Without "chat", players can send only phrases, and the field `chat` is false.
    `nodes` are the addresses of a server of several nodes, if it is one: where this one is gone, go to another, but
    never from an encrypted one to one in clear. `games` are those of this server that other packages have added.
    """

    protocol: int
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
    """A match, whole: how it stands after event number `seq`. `you` is your side, absent if you only watch.

    `players` and `present` (who is connected) are by side, and so is `score`, that of the series before this match: 1
    for a win, 0.5 for a draw. `moves` are all that were made, `last` is the last of them. `outcome` is there once the
    match is over; `previous` and `next` are the matches of the series around this one. With the `code` of a private
    match others may watch it; only its players are told. `start` is the position that it began from, if not the usual
    one.
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
    score: tuple[float, float] = UNSCORED
    code: str | None = None
    start: str | None = None


class Presence(ServerMessage, frozen=True, omit_defaults=True):
    """The player of `side` came or went; it passes, so it has no number. `away` tells how they went."""

    match: str
    side: int
    online: bool
    away: AwayInfo | None = None


class PlayerRenamed(ServerMessage, frozen=True):
    """The player of `side` is called `name` from now on. It is sent to players and watchers and has no number.

    Chat and lists show the new name, too, and somebody else may take the old one. The name is "deleted" after `forget`.
    """

    match: str
    side: int
    name: str


class Watching(ServerMessage, frozen=True):
    """The number of those who watch the match; it passes, so it has no number."""

    match: str
    watchers: int


class Chatted(ServerMessage, frozen=True, omit_defaults=True, tag="chat"):
    """Somebody said something in your room of the match; of a `phrase`, `text` is the English. It is not kept."""

    match: str
    room: Room
    by: PlayerInfo
    text: str
    phrase: Phrase | None = None


class Challenged(ServerMessage, frozen=True, omit_defaults=True):
    """A player wants to play you: say `answer` before it expires. Its maker hears it too, with the same number.

    `level` is the one that the bot among you is to play at, if it was asked for; `start` is the position to begin from,
    if not the usual one.
    """

    challenge: int
    by: PlayerInfo
    to: PlayerInfo
    game: str
    expires_in_ms: int
    time: TimeControl | None = None
    rated: bool = False
    level: Level | None = None
    start: str | None = None


class ChallengeAccepted(ServerMessage, frozen=True):
    """A challenge is over because it was accepted: the `snapshot` of its match follows. Both of its players hear it."""

    challenge: int


class ChallengeOver(ServerMessage, frozen=True):
    """A challenge that led to no match: it was declined (with a reason), expired, or one of the two has gone."""

    challenge: int
    reason: ChallengeEnd


class InvitationReply(ServerMessage, frozen=True, omit_defaults=True, tag="invitation"):
    """The code of your invitation: good once, for as long as it says."""

    code: str
    game: str
    expires_in_ms: int
    time: TimeControl | None = None


class SeekList(ServerMessage, frozen=True, tag="seeks"):
    """The standing seeks, the oldest 100 of `count`."""

    count: int
    seeks: list[SeekInfo]


class LiveList(ServerMessage, frozen=True, tag="live"):
    """The live public matches: the featured one and the most watched, 50 of `count`."""

    count: int
    matches: list[LiveMatch]


class PlayerList(ServerMessage, frozen=True, tag="players"):
    """Connected players, up to 100 in the order of their names; `online` counts all.

    Of more than 100, people who play no match are listed first, the latest to come or to end one in front; then bots,
    then people who play. Anybody who is connected can be challenged by name, listed or not.
    """

    online: int
    players: list[ListedPlayer]


class Rated(ServerMessage, frozen=True):
    """The changes of both ratings after a rated match, by side; it passes, so it has no number."""

    match: str
    ratings: tuple[RatingChange, RatingChange]


class Renamed(ServerMessage, frozen=True):
    """Your name from now on."""

    you: PlayerInfo


class ProfileReply(ServerMessage, frozen=True, tag="profile"):
    """A player: since when they are known here, their results, their most played ratings, their public live matches.

    `against` is how you have fared against them, null in your own profile. `blocked`: you have blocked them.
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
    blocked: bool = False


class HistoryReply(ServerMessage, frozen=True, tag="history"):
    """A page of finished matches, newest first; private ones only in your own. `before` asks for the next page."""

    player: PlayerInfo
    matches: list[FinishedMatch]
    before: str | None


class LeaderboardReply(ServerMessage, frozen=True, tag="leaderboard"):
    """A page of the ratings at a game and speed; `you` is your own rank, null if you have none."""

    game: str
    speed: Speed
    page: int
    pages: int
    leaders: list[Leader]
    you: int | None


class RulesReply(ServerMessage, frozen=True, tag="rules"):
    """The rules of a game for people: `rule` in half a sentence, all else in whole ones.

    `goal` says what to do to win, `special` what is peculiar to the game, `tips` what to look out for.
    """

    game: str
    title: str
    rule: str
    goal: str
    special: str
    tips: list[str]
    example: RuleExample | None


class ReplayReply(ServerMessage, frozen=True, tag="replay", omit_defaults=True):
    """Positions of a match, from `ply` on (each without its legal moves); `last` is the ply of the final one.

    `starts` are the same positions as `start` of a `challenge` takes them, empty where nobody could play on.
    """

    match: str
    ply: int
    positions: list[Position]
    last: int
    starts: list[str] = []  # noqa: RUF012 - a Struct: each gets a list of its own


class AnalysisReply(ServerMessage, frozen=True, tag="analysis", omit_defaults=True):
    """A finished match, move by move; with fewer moves than it had when the time was up. `exact`: nothing estimated.

    `lesson` is the move that decided it, if it was found in time. A `partial` one has a lesson alone, by what can be
    seen without a search; the whole analysis follows.
    """

    match: str
    moves: list[AnalysedMove]
    exact: bool
    lesson: MatchLesson | None = None
    partial: bool = False


class HintReply(ServerMessage, frozen=True, tag="hint", omit_defaults=True):
    """A hint in the position with `ply` moves made: the `moves` it is about, and a sentence for you.

    Of kind `move` these are good moves for you, the first as good as any; of kind `warning` moves of theirs that you
    should beware of.
    """

    match: str
    ply: int
    kind: HintKind
    moves: list[int] = []  # noqa: RUF012 - a Struct: each gets a list of its own
    text: str = ""
    why: ExplanationInfo | None = None


class PuzzleReply(ServerMessage, frozen=True, tag="puzzle", omit_defaults=True):
    """The puzzle of a `day`: find the one move that wins (`win`), or the only one that does not lose (`save`).

    It is the same for everybody. `plies` is after how many the win is complete, or else the loss after any other move;
    `grade` how hard it is, from 1 to 5. `start` is the position as a `challenge` takes it. Answered with a `move`,
    `right` tells whether that was it. `solution` is told to one who has found it or gives up, and `text` says why.
    """

    day: str
    game: GameInfo
    position: Position
    start: str
    kind: PuzzleKind
    plies: int
    grade: int
    move: int | None = None
    right: bool | None = None
    solution: int | None = None
    text: str = ""
    why: ExplanationInfo | None = None


class RecordReply(ServerMessage, frozen=True, tag="record"):
    """A finished match as a text to keep."""

    match: str
    text: str


class BlockList(ServerMessage, frozen=True, tag="blocks", omit_defaults=True):
    """The players whom you have blocked, and those whom you have only muted, by their present names, oldest first.

    `everybody`: you have muted everybody.
    """

    blocked: list[str]
    muted: list[str]
    everybody: bool = False


class Suggestion(ServerMessage, frozen=True):
    """You have waited alone for some seconds; these bots would play your game, the nearest in strength first.

    Say `challenge` if you like.

    A choice, never forced: your seek stands on. It is told once for a seek.
    """

    bots: list[ListedPlayer]


class Restarting(ServerMessage, frozen=True):
    """The server is about to close; matches wait as they are. Come back after `retry_after_ms` and resume."""

    retry_after_ms: int


class Sanctioned(ServerMessage, frozen=True, omit_defaults=True):
    """The host has muted you: nobody hears what you write. Or banned you: you are not let in, and it ends here.

    It is told when that happens, after each `welcome` while you are muted, and before a `hello` is refused as `banned`.
    `ends_in_ms` null: for good. `lifted`: it is over before its time; of one that runs out, nothing is told.
    """

    act: SanctionAct
    ends_in_ms: int | None = None
    reason: str = ""
    lifted: bool = False


class Notice(ServerMessage, frozen=True, omit_defaults=True):
    """A line from the host to everybody. With `restart_in_ms`, no match begins any more until the server is back.

    Without it no restart is ahead: one that was told of before has been called off.
    """

    text: str
    restart_in_ms: int | None = None


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
    | AnalysisReply
    | HintReply
    | PuzzleReply
    | Restarting
    | Sanctioned
    | Notice
)
