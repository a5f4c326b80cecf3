"""Matches as a server tells them, for tests: real positions of real games, and of one that no rules here know."""

import dataclasses
from typing import Any

from msgspec.structs import replace

from ttt_net.client.display import Display
from ttt_net.clock import TimeControl
from ttt_net.games import find_game
from ttt_net.matches.description import describe_game, describe_position
from ttt_net.messages import (
    Challenged,
    ClockInfo,
    FinishedMatch,
    GameInfo,
    HeadToHead,
    HistoryReply,
    Leader,
    LeaderboardReply,
    ListedPlayer,
    LiveList,
    LiveMatch,
    OfferInfo,
    Ok,
    OutcomeInfo,
    Played,
    PlayerInfo,
    PlayerList,
    Position,
    ProfileReply,
    RatingInfo,
    SeekInfo,
    SeekList,
    Snapshot,
    Suggestion,
    TournamentBoard,
    TournamentReply,
    TournamentStanding,
    Welcome,
)

ANN = PlayerInfo("Ann")
BEN = PlayerInfo("Ben")
BOT = PlayerInfo("alphabeta", "alphabeta")
BLITZ = TimeControl(180_000, 2_000)
SEEKS = SeekList(2, [SeekInfo(7, BEN, ["connect4"], BLITZ), SeekInfo(8, ANN, ["tictactoe"])])
PLAYERS = PlayerList(
    4,
    [
        ListedPlayer("alphabeta", "alphabeta", 0, []),
        ListedPlayer("Ann"),
        ListedPlayer("Ben", None, 0, ["connect4"]),
        ListedPlayer("Cleo", None, 2),
    ],
)
BOTS = PlayerList(
    3,
    [
        ListedPlayer("alphabeta", "alphabeta", 0, [], 5, 4, 3),
        ListedPlayer("Ann"),
        ListedPlayer("tactics", "tactics", 0, ["tictactoe"]),
    ],
)
LIVE = LiveList(1, [LiveMatch("m9", "gomoku", (BEN, BOT), 12, 3, BLITZ)])
CHALLENGED = Challenged(5, BEN, ANN, "connect4", 30_000, BLITZ)
SUGGESTION = Suggestion([ListedPlayer("alphabeta", "alphabeta", 0, None, level=5), ListedPlayer("tactics", "tactics")])
FINISHED = FinishedMatch("m5", "connect4", 1_780_000_000_000, (ANN, BEN), 0, "line", 21, BLITZ, rated=True)
HISTORY = HistoryReply(
    ANN, [FINISHED, FinishedMatch("m4", "tictactoe", 1_770_000_000_000, (BEN, ANN), None, "abort", 1)], before="m4"
)
PROFILE = ProfileReply(
    player=BEN,
    since_ms=1_760_000_000_000,
    online=True,
    won=12,
    drawn=1,
    lost=7,
    ratings=[RatingInfo("connect4", "blitz", 1512, 60, 40), RatingInfo("gomoku", "untimed", 1390, 200, 2, True)],
    against=HeadToHead(won=2, drawn=0, lost=3),
    live=["m9"],
)
LEADERS = LeaderboardReply(
    game="connect4",
    speed="blitz",
    page=1,
    pages=2,
    leaders=[
        Leader(1, PlayerInfo("perfect", "alphabeta", 8, 2210), 812, 45),
        Leader(2, PlayerInfo("Cleo", None, None, 1710), 25, 80),
        Leader(3, PlayerInfo("Ben", None, None, 1512, True), 3, 200),
    ],
    you=31,
)
_TIE_BREAKS = ["buchholz_cut_1", "buchholz", "direct", "wins"]
OPENED = TournamentReply(
    "BCDFG", 3, "Friday", "swiss", "connect4", BLITZ, "open", 0, 5, 2, 1, 1, _TIE_BREAKS,
    [TournamentStanding(1, "Ben", 0, [0, 0, 0, 0]), TournamentStanding(1, "Cleo", 0, [0, 0, 0, 0])], [], 0,
)  # fmt: skip
RUNNING = replace(
    OPENED,
    seq=20,
    state="running",
    round=2,
    players=5,
    standings=[
        TournamentStanding(1, "Cleo", 4, [2, 3.5, 0, 2]),
        TournamentStanding(2, "Ann", 3, [1.5, 3, 0, 1]),
        TournamentStanding(3, "Ben", 2, [1, 2, 0, 1]),
        TournamentStanding(4, "Dan", 2, [0, 1, 0, 0]),
        TournamentStanding(5, "Eve", 0, [0, 1, 0, 0], gone=True),
    ],
    boards=[
        TournamentBoard(1, "Ann", "Ben", "m1"),
        TournamentBoard(2, "Cleo", "Dan", "m2"),
        TournamentBoard(3, "Eve", "Fay", "m3", "0-1", forfeit=True),
        TournamentBoard(4, "Gus"),
    ],
    open_boards=2,
)
"""A tournament before its start, and in its second round."""
KING = replace(
    RUNNING,
    kind="king",
    round=1,
    rounds=0,
    tie_breaks=["in_a_row", "fewer_games"],
    standings=[
        TournamentStanding(1, "Cleo", 6, [3, -4], streak=3),
        TournamentStanding(2, "Ben", 2, [1, -3]),
        TournamentStanding(3, "Ann", 0, [0, -2]),
    ],
    boards=[
        TournamentBoard(6, "Ben", "Cleo", "m6"),
        TournamentBoard(5, "Ann", "Cleo", "m5", "0-1"),
        TournamentBoard(4, "Dan", "Ann", "m4", "0-0", void=True),
    ],
    open_boards=1,
    ends_in_ms=90_000,
    waiting=["Dan", "Ann"],
)
"""A king of the table."""


def position_after(game_name: str, moves: list[int]) -> Position:
    """Return the position after the moves."""
    game = find_game(game_name)
    state = game.initial
    for move in moves:
        state = game.result(state, move)
    return describe_position(game, len(moves), state, is_over=game.is_terminal(state))


def snapshot(
    game_name: str = "tictactoe",
    moves: list[int] | None = None,
    *,
    you: int | None = 0,
    match: str = "m1",
    opponent: PlayerInfo = BOT,
    offers: list[OfferInfo] | None = None,
    clock: ClockInfo | None = None,
    outcome: OutcomeInfo | None = None,
    present: tuple[bool, bool] = (True, True),
) -> Snapshot:
    """Return the snapshot of a match of Ann's."""
    moves = moves or []
    position = position_after(game_name, moves)
    game = find_game(game_name)
    state = game.initial
    for move in moves:
        state = game.result(state, move)
    ended = game.outcome(state)
    if ended is not None:
        outcome = OutcomeInfo(ended.winner, str(ended.reason))
    if outcome is not None:
        position = replace(position, to_move=None, legal=[], vanishing=None, target=None, takeover=None)
    return Snapshot(
        match=match,
        seq=1 + len(moves) + (outcome is not None),
        game=describe_game(game_name),
        players=(ANN, opponent) if you in (0, None) else (opponent, ANN),
        present=present,
        moves=moves,
        position=position,
        offers=offers or [],
        you=you,
        last=moves[-1] if moves else None,
        clock=clock,
        outcome=outcome,
    )


def played(game_name: str, moves: list[int], *, seq: int | None = None, match: str = "m1") -> Played:
    """Return the event that the last of the moves was made."""
    return Played(
        match=match,
        seq=1 + len(moves) if seq is None else seq,
        at_ms=0,
        side=1 - len(moves) % 2,
        ply=len(moves),
        move=moves[-1],
        position=position_after(game_name, moves),
    )


def welcome(
    *matches: str, token: str | None = None, you: PlayerInfo = ANN, features: list[str] | None = None
) -> Welcome:
    """Return a welcome to Ann, with her unfinished matches."""
    features = features or []
    return Welcome(1, "the test", you=you, matches=list(matches), token=token, features=features)


def ok(request: int) -> Ok:
    """Return the good answer to a request."""
    return Ok(request)


def layered(size: int = 3) -> Snapshot:
    """Return a match on `size` boards of size by size, as a server may tell it whose rules nobody here knows."""
    cells = size**3
    names = [f"{n // size**2 + 1}:{chr(ord('a') + n % size)}{size - n // size % size}" for n in range(cells)]
    board = "X" + "." * (cells // 2 - 1) + "O" + "." * (cells - cells // 2 - 1)
    legal = [n for n in range(cells) if board[n] == "."]
    return Snapshot(
        match="m3",
        seq=3,
        game=GameInfo("cube", "Cube", "a line through space wins", [size] * 3, False, list(range(cells)), names),
        players=(ANN, BEN),
        present=(True, False),
        moves=[0, cells // 2],
        position=Position(2, board, 0, legal, [], ("X", "O")),
        offers=[],
        you=0,
        last=cells // 2,
    )


def swapping() -> Snapshot:
    """Return a match in which cells take several moves and one move has no cell."""
    game = GameInfo(
        name="wild",
        title="Wild",
        rule="either mark, and swap",
        shape=[1, 2],
        gravity=False,
        move_cells=[0, 1, 0, 1, -1],
        move_names=["Xa1", "Xb1", "Oa1", "Ob1", "swap"],
    )
    position = Position(0, "..", 0, [0, 1, 2, 3, 4], [], ("X", "X"))
    return Snapshot("m4", 1, game, (ANN, BEN), (True, True), [], position, [], you=0)


def knowing(display: Display, **known: Any) -> Display:
    """Return the display of a world with other fields."""
    return dataclasses.replace(display, world=dataclasses.replace(display.world, **known))
