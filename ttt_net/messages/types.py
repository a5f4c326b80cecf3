"""The parts of messages: bounded numbers and texts, and structs that several share."""

import datetime
from typing import Annotated, Literal, Self

from msgspec import Meta, Struct, structs

from ttt_net.clock import Speed, TimeControl

PROTOCOL = 1
"""The version of the protocol; `hello` lists the versions that a client speaks."""
MAX_MESSAGE_BYTES = 4096
"""The longest message that a client may send."""
MAX_NAME_CELLS = 20
"""The widest name, in cells of a terminal."""
MAX_POSITION_LENGTH = 500
"""The longest text of a position that a match may begin from."""
MAX_OWN_MOVES, MAX_BETTER = 400, 60
"""The moves to a mistake of one's own that is asked as a puzzle, and the better moves, at most."""
RETURNS = (1, 3, 7, 21)
"""The days after which a solved mistake of one's own returns."""
LEARNED = len(RETURNS) + 1
"""How many times in a row a mistake is solved until it is learned, and returns no more."""
UNSCORED: tuple[float, float] = (0, 0)
"""The score of a new series. One shared object: msgspec omits a tuple only if it *is* the default."""
MAX_NUMBER = 2**53 - 1
"""The largest integer that every language reads exactly from JSON."""

Number = Annotated[int, Meta(ge=-MAX_NUMBER, le=MAX_NUMBER)]
RequestId = Annotated[int, Meta(ge=0, le=MAX_NUMBER)]
MatchId = Annotated[str, Meta(min_length=1, max_length=32)]
Seq = Annotated[int, Meta(ge=0, le=1_000_000)]
Ply = Annotated[int, Meta(ge=0, le=100_000)]
MoveNumber = Annotated[int, Meta(ge=0, le=100_000)]
PositionText = Annotated[str, Meta(min_length=1, max_length=MAX_POSITION_LENGTH)]
ShortText = Annotated[str, Meta(max_length=80)]
LessonText = Annotated[str, Meta(max_length=300)]
Day = Annotated[str, Meta(max_length=10)]
Times = Annotated[int, Meta(ge=0, le=LEARNED)]
GameName = Annotated[str, Meta(max_length=40)]
Page = Annotated[int, Meta(ge=1, le=10_000)]
Level = Annotated[int, Meta(ge=1, le=8)]
Rating = Annotated[int, Meta(ge=0, le=5000)]
Places = Annotated[int, Meta(ge=0, le=20)]
ChatText = Annotated[str, Meta(max_length=560)]
SeekNumber = Annotated[int, Meta(ge=0, le=MAX_NUMBER)]
Side = Literal[0, 1]
OfferKind = Literal["draw", "takeback", "rematch"]
Room = Literal["players", "watchers"]
Phrase = Literal["hello", "good_luck", "well_played", "good_game", "thanks", "sorry", "oops", "one_moment"]
ClaimKind = Literal["win", "draw", "adjourn"]
HintKind = Literal["move", "warning"]
PuzzleKind = Literal["win", "save", "own"]
DeclineReason = Literal["later", "another_game", "another_time", "no_bots", "generic"]
ChallengeEnd = Literal["later", "another_game", "another_time", "no_bots", "generic", "expired", "gone"]
Opponents = Literal["any", "people", "bots"]
ReportReason = Literal["chat", "name", "cheating", "other"]
SanctionAct = Literal["ban", "mute"]
TournamentCode = Annotated[str, Meta(min_length=1, max_length=16)]
TournamentKind = Literal["swiss", "round_robin", "knockout", "arena", "king"]
WITHOUT_ROUNDS: tuple[TournamentKind, ...] = ("arena", "king")
"""The kinds of tournaments whose matches begin whenever two players are free."""
TournamentState = Literal["open", "running", "paused", "over"]
TournamentAct = Literal["start", "pause", "resume", "next", "add", "remove", "correct", "end"]
TournamentResult = Literal["1-0", "0-1", "1/2-1/2", "0-0"]
Rounds = Annotated[int, Meta(ge=1, le=30)]
RoundNumber = Annotated[int, Meta(ge=1, le=100)]
BoardNumber = Annotated[int, Meta(ge=1, le=5_000)]
Entrants = Annotated[int, Meta(ge=2, le=1_000)]
BeginSeconds = Annotated[int, Meta(ge=5, le=3_600)]
Legs = Annotated[int, Meta(ge=1, le=2)]
Minutes = Annotated[int, Meta(ge=1, le=240)]
PauseSeconds = Annotated[int, Meta(ge=0, le=3_600)]
StartSeconds = Annotated[int, Meta(ge=0, le=7 * 86_400)]


class PlayerInfo(Struct, frozen=True, omit_defaults=True):
    """A player as others see it. `bot` is the label of a bot, absent for people; `level` is its strength.

    `rating` is that at the game and speed of the message, absent if there is none and in lists of players. It is
    `provisional` until enough matches back it.
    """

    name: str
    bot: str | None = None
    level: Level | None = None
    rating: Rating | None = None
    provisional: bool = False


class AddedGame(Struct, frozen=True, omit_defaults=True):
    """A game added to a server by another package. `title` and `rule` are for people.

    With `swap`, it can also be played under its name with `+swap` (the pie rule). With `rated`, the host allows rated
    matches.
    """

    name: str
    title: str
    rule: str
    swap: bool = False
    rated: bool = False


class GeometryInfo(Struct, frozen=True, omit_defaults=True):
    """The places of the cells on a board that is not made of rows and columns of squares.

    `runs` are rows of cells, each [layer, y, x of its first cell, number of cells]; cells are numbered run by run.
    `cell` is `square`, `hexagon` or `point`. Neighbours in a run are `step` apart in x. `edges` names the mark whose
    player owns an edge (`top`, `bottom`, `left`, `right`).
    """

    runs: list[tuple[Number, Number, Number, Number]]
    cell: str = "square"
    step: Number = 1
    edges: dict[str, str] = {}


class PieceInfo(Struct, frozen=True):
    """A mark of the board, its name for people, and its look: `cross`, `ring`, `stone` or `disc`.

    Stones are black for X and white for O.
    """

    mark: str
    name: str
    look: str


class GameInfo(Struct, frozen=True, omit_defaults=True):
    """Everything a client needs to draw an unknown game and to enter moves in it.

    `shape` is [height, width] or [layers, height, width]. Move n marks cell `move_cells[n]` (-1: no cell) and is
    written `move_names[n]`. `block` is the [height, width] of the small boards that make up a flat board, if any.

    Games of other packages may add three fields. `geometry` places the cells if `shape` does not, and `pieces` names
    the marks. `endings` has a sentence for each reason of the game's own: replace `{winner}`, `{loser}` and `{losers}`
    (the loser's) in it.
    """

    name: str
    title: str
    rule: str
    shape: list[Number]
    gravity: bool
    move_cells: list[Number]
    move_names: list[str]
    block: list[Number] | None = None
    geometry: GeometryInfo | None = None
    pieces: list[PieceInfo] | None = None
    endings: dict[str, str] | None = None


class NoteInfo(Struct, frozen=True, omit_defaults=True):
    """Something to show in a position: mark its cells, and show its text, if any.

    Four kinds have a look of their own. `win`: the cells decided the match. `leaves`: the next move empties them.
    `within`: the next move must be in one of them. `pass`: the side to move can only pass.
    """

    kind: str
    cells: list[Number] = []
    text: str = ""


class CounterInfo(Struct, frozen=True, omit_defaults=True):
    """A number to show beside the board, such as captured pairs, of a `side` or of both (null). `goal` wins."""

    name: str
    value: Number
    goal: Number | None = None
    side: Number | None = None


class TargetInfo(Struct, frozen=True):
    """The small board of the next move: its number from 1, row by row, and its place in words."""

    board: Number
    name: str


class Position(Struct, frozen=True, omit_defaults=True):
    """A position: one character per cell (`X`, `O`, `.`), the side to move, legal moves, completed line.

    When the match is over, `to_move` is null and `legal` is empty. `blocks`, on boards made of small ones, says who won
    each: `=` if nobody can, `.` while it is open. `notes` and `counters` occur in a few games.

    Four fields help to show the position, each only where it applies. `line_by` is the side that completed the line (in
    misère it has lost). `vanishing` is the cell whose mark the next move removes. `target` is the small board for the
    next move. `takeover` is the legal move that takes over the first move.
    """

    ply: Number
    board: str
    to_move: Number | None
    legal: list[Number]
    line: list[Number]
    marks: tuple[str, str]
    blocks: str = ""
    line_by: Number | None = None
    vanishing: Number | None = None
    target: TargetInfo | None = None
    takeover: Number | None = None
    notes: list[NoteInfo] | None = None
    counters: list[CounterInfo] | None = None


class OwnPuzzle(Struct, frozen=True, omit_defaults=True):
    """A position in which a player made a mistake: the `moves` to it from `start`, and the moves that were `better`."""

    game: GameName
    better: Annotated[list[MoveNumber], Meta(min_length=1, max_length=MAX_BETTER)]
    moves: Annotated[list[MoveNumber], Meta(max_length=MAX_OWN_MOVES)] = []
    start: PositionText | None = None


class OwnMistake(Struct, frozen=True, omit_defaults=True):
    """A mistake of a match of one's own, as a puzzle that returns on the day `due` (UTC; empty: at once).

    `text` is the lesson of the match. `times` is how many times in a row it was solved; after 5 it is learned.
    """

    puzzle: OwnPuzzle
    text: LessonText = ""
    due: Day = ""
    times: Times = 0

    @property
    def position(self) -> tuple[str, str | None, list[int]]:
        """The position that it is about: two mistakes in one position are the same."""
        return self.puzzle.game, self.puzzle.start, self.puzzle.moves

    @property
    def progress(self) -> tuple[str, int]:
        """The progress, to be compared: of two states of a mistake, the greater one counts, whichever comes first.

        An answer only counts on or after the due day and sets a later one, so no answer is counted twice.
        """
        return self.due, self.times

    def is_due(self, today: str) -> bool:
        """Tell whether it returns on that day, or was to return before."""
        return self.times < LEARNED and self.due <= today

    def answered(self, today: str, *, is_right: bool) -> Self:
        """Return it after an answer on that day. Unless it was due, the answer changes nothing.

        Solved, it returns after 1, 3, 7 and 21 days, and is then learned. Otherwise it begins again the next day.
        """
        if not self.is_due(today):
            return self
        times = self.times + 1 if is_right else 0
        wait = RETURNS[times - 1] if 0 < times < LEARNED else 1
        return structs.replace(self, due=_day_after(today, wait), times=times)

    def made_again(self) -> Self:
        """Return it after it was made again: a learned one begins anew, two days after it was learned."""
        is_learned = self.times == LEARNED and self.due
        return structs.replace(self, due=_day_after(self.due, 1), times=0) if is_learned else self


def _day_after(day: str, days: int) -> str:
    return (datetime.date.fromisoformat(day) + datetime.timedelta(days=days)).isoformat()


class ClockInfo(Struct, frozen=True):
    """The time left to each side when this was sent, and the side whose clock runs."""

    remaining_ms: tuple[Number, Number]
    running: Number | None


class OutcomeInfo(Struct, frozen=True, omit_defaults=True):
    """The winner (null: nobody) and the reason; `fault` as in `ended`."""

    winner: Number | None
    reason: str
    fault: str | None = None


class OfferInfo(Struct, frozen=True):
    """An open offer. `seq` is its number for `agree` and `decline`."""

    side: Number
    kind: OfferKind
    seq: Number = 0


class AwayInfo(Struct, frozen=True):
    """An absent player: whether they left on purpose, and when the opponent may `claim`."""

    side: Number
    on_purpose: bool
    claim_in_ms: Number


class ServerMessage(Struct, frozen=True, tag_field="type", tag=str.lower):
    """The base of messages of the server, with their `type`."""


class SeekInfo(Struct, frozen=True, omit_defaults=True):
    """An open seek: send `accept` with its number. No `games` means any that your own seek names."""

    seek: Number
    by: PlayerInfo
    games: list[str]
    time: TimeControl | None = None
    rated: bool = False
    opponents: Opponents = "any"
    min_rating: Rating | None = None
    max_rating: Rating | None = None
    level: Level | None = None
    or_casual: bool = False


class TournamentPlace(Struct, frozen=True):
    """The place of a match: the code of its tournament, the round and the board."""

    tournament: str
    round: Number
    board: Number


class ListedTournament(Struct, frozen=True, omit_defaults=True):
    """One row of the list of tournaments; `organiser` is null for the host, `rounds` 0 while it is not known."""

    tournament: str
    name: str
    kind: TournamentKind
    game: str
    time: TimeControl
    state: TournamentState
    round: Number
    rounds: Number
    players: Number
    organiser: str | None = None
    rated: bool = False
    starts_in_ms: Number | None = None


class PlayedTournament(Struct, frozen=True, omit_defaults=True):
    """A tournament in a profile: the player's `place`, so far if it is not `over`.

    `at_ms` is when it was over, or else created.
    """

    tournament: str
    name: str
    kind: TournamentKind
    game: str
    at_ms: Number
    place: Number
    players: Number
    over: bool = True
    private: bool = False


class TournamentStanding(Struct, frozen=True, omit_defaults=True):
    """One row of the standings: `score` in half points; `breaks`, the tie-breaks in their order, in points.

    `gone`: they are not paired any more. `streak`: without rounds, how many matches they have won in a row.
    """

    place: Number
    player: str
    score: Number
    breaks: list[float] = []
    gone: bool = False
    streak: Number = 0


class TournamentBoard(Struct, frozen=True, omit_defaults=True):
    """One board of a round: `first` moved first. Without a `second` it is a bye; without a `match`, nobody played.

    `result` is null while the board is open. `corrected`: the organiser has set it. `void`: it does not count. If a
    pairing has two matches, `legs` has the half points of both players from the finished ones.
    """

    board: Number
    first: str
    second: str | None = None
    match: str | None = None
    result: TournamentResult | None = None
    corrected: bool = False
    forfeit: bool = False
    void: bool = False
    legs: list[Number] | None = None


class LiveMatch(Struct, frozen=True, omit_defaults=True):
    """A row of the live matches. Featured is the strongest active rated match, or else the most watched."""

    match: str
    game: str
    players: tuple[PlayerInfo, PlayerInfo]
    ply: Number
    watchers: Number
    time: TimeControl | None = None
    rated: bool = False
    featured: bool = False


class ListedPlayer(Struct, frozen=True, omit_defaults=True):
    """A row of the list of players; `seeking` names the games of an open seek.

    A bot plays `places` matches at once, of which `free` are open to a person now. `rating` is the highest settled one.
    """

    name: str
    bot: str | None = None
    playing: Number = 0
    seeking: list[str] | None = None
    level: Level | None = None
    places: Number | None = None
    free: Number | None = None
    any_level: bool = False
    about: str | None = None
    rating: Rating | None = None


class RatingChange(Struct, frozen=True, omit_defaults=True):
    """A rating before and after a match; `provisional` while few matches back it."""

    before: Number
    after: Number
    provisional: bool = False


class RatingInfo(Struct, frozen=True, omit_defaults=True):
    """A player's rating at a game and speed. The true strength is within `deviation` two times out of three."""

    game: str
    speed: Speed
    rating: Number
    deviation: Number
    games: Number
    provisional: bool = False


class HeadToHead(Struct, frozen=True):
    """Your wins, draws and losses against a player in all games, without aborted matches."""

    won: Number
    drawn: Number
    lost: Number


class FinishedMatch(Struct, frozen=True, omit_defaults=True):
    """A row of a history: a match that ended `at_ms`, with the players as they were at its start."""

    match: str
    game: str
    at_ms: Number
    players: tuple[PlayerInfo, PlayerInfo]
    winner: Number | None
    reason: str
    plies: Number
    time: TimeControl | None = None
    rated: bool = False
    private: bool = False


class Leader(Struct, frozen=True):
    """A row of a leaderboard; settled ratings come before provisional ones."""

    rank: Number
    player: PlayerInfo
    games: Number
    deviation: Number


class RuleExample(Struct, frozen=True, omit_defaults=True):
    """A short game that ends with a win: its moves as written, the final board, and a sentence.

    `rows` are for a fixed-width font; `game` and `position` are the same board for clients that draw it.
    """

    moves: list[str]
    rows: list[str]
    caption: str
    game: GameInfo | None = None
    position: Position | None = None


class ThreatRow(Struct, frozen=True, omit_defaults=True):
    """Marks in a line that a side could complete: adjacent ones `run`, and an `open` line continues at both ends."""

    marks: Number
    run: bool = False
    open: bool = False
    cells: list[Number] = []


class ExplanationInfo(Struct, frozen=True, omit_defaults=True):
    """The meaning of the `text` beside it, for clients that use their own words.

    `kind` names the sentence; show the text if you do not know it. `moves` are moves of the addressed player (to make,
    to avoid, or that were better; empty for "another move"). `theirs` are the cells of the other side's moves. Both
    lists have at most four entries; `more` and `more_theirs` count the rest. `row` is the marks in the line that
    decides: theirs, or those of the addressed player who can complete it. The game ends after `plies` plies (`at_most`:
    or fewer), the move in question included; otherwise it would end after `instead`. Sentences name the moves of the
    winner: half of the plies, rounded up.
    """

    kind: str
    moves: list[str] = []
    more: Number = 0
    theirs: list[str] = []
    more_theirs: Number = 0
    row: ThreatRow | None = None
    plies: Number | None = None
    at_most: bool = False
    instead: Number | None = None


class AnalysedMove(Struct, frozen=True, omit_defaults=True):
    """A move as an engine sees it: its value for the player who made it, and the best moves.

    `value` is 1 for a won game, -1 for a lost one, and 0 for a drawn or unknown one; then `score` is an estimate from
    -1 to 1. `turning` marks a move that gave away a win or a draw. `more` counts the best moves that are not listed.
    `sign` is the grade (`!`, `?!`, `?`, `??` or empty).
    `keeping` lists the moves that did not give the result away, if another is known to give it away.
    """

    ply: Number
    move: Number
    value: Number
    best: list[str]
    turning: bool = False
    score: float | None = None
    side: Number = 0
    more: Number = 0
    sign: str = ""
    text: str = ""
    why: ExplanationInfo | None = None
    keeping: list[str] = []


class MatchLesson(Struct, frozen=True, tag_field="type", tag="lesson", omit_defaults=True):
    """The move that decided a match: its ply from 1, its side (both null: no move), and the moves that were best.

    `text` says what was wrong with it and what follows; `why` and `follows` have the parts.
    """

    ply: Number | None
    side: Number | None
    better: list[str]
    text: str
    why: ExplanationInfo | None = None
    follows: list[str] = []
