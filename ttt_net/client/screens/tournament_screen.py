"""Show tournaments: a list, and one with our next match first, the boards of the round, and the standings."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import get_args

from ttt_net.client import words
from ttt_net.client.display import (
    TIMES,
    AnyCommand,
    Begin,
    Change,
    Command,
    Display,
    Entry,
    More,
    Open,
    Page,
    Reopen,
    Send,
    Show,
)
from ttt_net.client.screens.screen import (
    BACK,
    CHOOSE,
    HELP,
    LEAVE,
    LEAVING_HELP,
    LISTS_HELP,
    WAITING,
    Entrance,
    KeyHelp,
    KeyHint,
    KeyMeaning,
    ListQuery,
    Meaning,
    Row,
    Screen,
    cursor_of,
    default_prompt,
    list_hints,
    page_before,
    section,
)
from ttt_net.client.world import World
from ttt_net.games.catalogue import NAMES
from ttt_net.messages import (
    WITHOUT_ROUNDS,
    AttendRequest,
    DirectRequest,
    EnterRequest,
    ListedTournament,
    OrganiseRequest,
    PlayedTournament,
    Request,
    SeekRequest,
    TournamentAct,
    TournamentBoard,
    TournamentKind,
    TournamentList,
    TournamentReply,
    TournamentResult,
    TournamentsRequest,
    TournamentStanding,
    WatchRequest,
    WithdrawRequest,
)
from ttt_net.text import clean, counted, date_of

FEATURE, ORGANISING = "tournaments", "organise"
_MAX_CODE = 16
_MAX_TITLE_CELLS = 40
_MAX_NAME_CELLS = 20
_MAX_NOTE_CELLS = 80
_MOST_WAITED_FOR = 3
_MOST_QUEUED = 12
_STREAK = 2
"""The number of wins in a row from which it is shown; in an arena, the next match counts double then."""
_TIE_BREAKS = {
    "buchholz_cut_1": ("Buchholz-1", "Buchholz without the lowest opponent"),
    "buchholz": ("Buchholz", "Buchholz, the points of all opponents"),
    "direct": ("direct", "the matches against each other"),
    "wins": ("wins", "wins"),
    "sonneborn_berger": ("Sonneborn", "Sonneborn-Berger, the points of beaten opponents"),
    "koya": ("Koya", "Koya, the points against the better half"),
    "opponents": ("opponents", "the mean points of the opponents"),
    "fewer_games": ("games", "fewer matches"),
    "in_a_row": ("best run", "most wins in a row"),
}
"""Of each tie-break the short name for a row, and the words for a sentence."""
_OF_ONE = ("tournament", "withdraw", "end", "remove", "correct")
"""The screens whose pages are about a tournament; what follows its code says more."""
_ENDINGS = {"finished": "", "ended": " The organiser ended it."}


def found(display: Display) -> TournamentReply | None:
    """Return the tournament of the page, or else the one that we entered, if it is here."""
    told = display.world.reply(TournamentReply)
    page = display.page
    wanted = page.about.partition(" ")[0] if page.screen in _OF_ONE else display.world.entered
    return told if told is not None and told.tournament == wanted else None


def _our_name(world: World) -> str | None:
    return world.you.name if world.you is not None else None


def is_entered(world: World, told: TournamentReply) -> bool:
    """Tell whether we are among the players who are paired."""
    ours = _our_name(world)
    if any(each.player == ours for each in told.standings):
        return any(each.player == ours and not each.gone for each in told.standings)
    return world.entered == told.tournament


def entered_name(world: World) -> str:
    """Return the name of the tournament that we play in; empty if there is none, or it is over."""
    told = world.reply(TournamentReply)
    is_ours = told is not None and told.tournament == world.entered and told.state != "over"
    return _title_of(told) if told is not None and is_ours and is_entered(world, told) else ""


def _own_board(world: World, told: TournamentReply) -> TournamentBoard | None:
    """Return our board of the round, or without rounds, our latest."""
    ours = _our_name(world)
    return next((each for each in told.boards if ours in (each.first, each.second)), None)


def _own_row(world: World, told: TournamentReply) -> TournamentStanding | None:
    return next((each for each in told.standings if each.player == _our_name(world)), None)


def _kind(kind: str) -> str:
    if kind == "king":
        return "king of the table"
    return "Swiss" if kind == "swiss" else clean(kind, 20).replace("_", " ")


def _name(name: str | None) -> str:
    return clean(name or "", _MAX_NAME_CELLS) or "?"


def _points(score: int) -> str:
    return "1 point" if score == 2 else f"{score / 2:g} points"


def _title_of(told: TournamentReply | ListedTournament) -> str:
    return clean(told.name, _MAX_TITLE_CELLS)


# What the tournament waits for.


def state(told: TournamentReply) -> str:
    """Return where the tournament stands, in one sentence."""
    number = f"Round {told.round}" + f" of {told.rounds}" * (told.rounds > 0)
    match told.state:
        case "open":
            return f"Open: {counted(told.players, 'player')}, code {clean(told.tournament, _MAX_CODE)}."
        case "over":
            after = "" if told.kind in WITHOUT_ROUNDS else f" after {counted(told.round, 'round')}"
            return f"Over{after}.{_ENDINGS.get(told.ended or '', '')}"
        case _ if told.kind in WITHOUT_ROUNDS:
            playing = f"{counted(told.open_boards, 'match', 'matches')} being played"
            return f"Paused: {playing}." if told.state == "paused" else f"{playing.capitalize()}."
        case "paused" if not told.open_boards:
            return f"{number} is over. The organiser has paused the tournament."
        case _ if told.round == 0:
            return "The first round is being made."
        case _:
            playing = f"{counted(told.open_boards, 'board')} still playing" if told.open_boards else "all boards done"
            return f"{number}: {playing}{', then a pause' if told.state == 'paused' else ''}."


def _countdown(left_ms: int) -> str:
    minutes, seconds = divmod(-(-left_ms // 1_000), 60)
    return f"{minutes}:{seconds:02}"


def _left_ms(world: World, in_ms: int | None, now_ms: int) -> int | None:
    return None if in_ms is None else max(0, in_ms - max(0, now_ms - world.tournament_at_ms))


def next_step(world: World, told: TournamentReply, now_ms: int) -> str:
    """Return what comes next, with a countdown where there is one; nothing where boards are being played."""
    starts_ms = _left_ms(world, told.starts_in_ms, now_ms)
    if told.state == "open":
        if starts_ms is None and told.full is not None:
            return f"It starts with {told.full} players."
        if starts_ms is None:
            return f"It starts when {_organiser(told)} says so."
        return f"It starts in {_countdown(starts_ms)}." if starts_ms else "It starts now."
    ends_ms = _left_ms(world, told.ends_in_ms, now_ms)
    if told.state == "running" and ends_ms is not None:
        return f"It lasts {_countdown(ends_ms)} more."
    if told.state != "running" or told.open_boards or told.round == 0 or told.kind in WITHOUT_ROUNDS:
        return ""
    next_ms = _left_ms(world, told.next_in_ms, now_ms)
    if next_ms is not None:
        return f"Round {told.round + 1} begins in {_countdown(next_ms)}."
    return "" if told.round == told.rounds else f"Round {told.round + 1} begins when {_organiser(told)} says so."


def _organiser(told: TournamentReply) -> str:
    return "the host" if told.organiser is None else _name(told.organiser)


def result_of(board: TournamentBoard, kind: TournamentKind) -> str:
    """Return how a board ended, or that it is being played."""
    if board.void:
        return "does not count"
    how = " (corrected)" if board.corrected else " by forfeit" if board.forfeit else ""
    if board.second is None:
        return "no opponent"
    if board.legs is not None:
        how = f" {board.legs[0] / 2:g}-{board.legs[1] / 2:g}{how}"
    if kind == "knockout" and board.result in ("1/2-1/2", "0-0"):
        how += f", {_name(board.second)} goes through"
    winners = {"1-0": board.first, "0-1": board.second}
    match board.result:
        case None:
            return f"playing{how}"
        case "1/2-1/2":
            return f"draw{how}"
        case "0-0":
            return f"no points{how}"
        case result:
            return f"{_name(winners.get(result))} won{how}"


def own_state(world: World, told: TournamentReply) -> str:
    """Return what the round is for us, in one sentence; nothing for somebody who only looks."""
    if told.state == "over":
        return _own_place(world, told)
    if told.state == "open":
        name = f" as {_name(_our_name(world))}" if told.anonymous else ""
        return f"You have entered{name}." if is_entered(world, told) else ""
    board = _own_board(world, told)
    if told.kind in WITHOUT_ROUNDS:
        return _own_state_without_rounds(world, told, board)
    if board is None or not told.round:
        return "You play from the next round on." if is_entered(world, told) and told.round else ""
    if board.second is None:
        return f"You have no opponent in round {told.round}: that counts as a win."
    is_first = board.first == _our_name(world)
    other = _name(board.second if is_first else board.first)
    if board.result is None:
        return f"You play {other} in round {told.round}, board {board.board}."
    if board.result == "1/2-1/2":
        said = f"You drew against {other}"
    elif board.result == "0-0":
        said = f"Neither you nor {other} scored"
    else:
        has_won = (board.result == "1-0") is is_first
        said = f"You {'won' if has_won else 'lost'} against {other}"
    forfeit = " by forfeit" if board.forfeit else ""
    return f"{said}{forfeit}. {_own_place(world, told)}".rstrip()


def _own_state_without_rounds(world: World, told: TournamentReply, board: TournamentBoard | None) -> str:
    """Return our match, or what we wait for, where matches begin one by one."""
    if board is not None and board.result is None:
        return f"You play {_name(board.second if board.first == _our_name(world) else board.first)}."
    if not is_entered(world, told):
        return ""
    return f"{_own_turn(world, told)} {_own_place(world, told)}".rstrip()


def _own_turn(world: World, told: TournamentReply) -> str:
    """Return when we play next, where matches begin one by one."""
    ours, waiting = _our_name(world) or "", told.waiting or []
    if ours not in waiting:
        return "Your next match begins by itself."
    before = waiting.index(ours)
    return f"{counted(before, 'player')} before you." if before else "You play next."


def _own_place(world: World, told: TournamentReply) -> str:
    row = _own_row(world, told)
    if row is None:
        return ""
    return f"You are number {row.place} of {told.players} with {_points(row.score)}."


def told_in_lines(display: Display) -> str:
    """Return where our tournament stands where there are only lines: it changes only with what matters to us."""
    world = display.world
    told = world.reply(TournamentReply)
    if told is None or told.tournament != world.entered or display.is_live:
        return ""
    name, number = _title_of(told), f"round {told.round}" + f" of {told.rounds}" * (told.rounds > 0)
    said = own_state(world, told)
    match told.state:
        case "over":
            return f"{name} is over. {said}".rstrip()
        case "open":
            is_by_itself = told.starts_in_ms is not None or told.full is not None
            how = "begins by itself" if is_by_itself else f"begins when {_organiser(told)} says so"
            return f"{name}, code {clean(told.tournament, _MAX_CODE)}, {how}. {said}".rstrip()
        case "paused" if not told.open_boards:
            return f"{name}: {number} is over, and the organiser has paused the tournament. {said}".rstrip()
    board = _own_board(world, told)
    if told.kind in WITHOUT_ROUNDS:
        is_waiting = is_entered(world, told) and (board is None or board.result is not None)
        return f"{name}: {_own_turn(world, told)}" if is_waiting else ""
    if told.round == 0 or (board is not None and board.result is None and board.second is not None):
        return ""  # the match itself is printed
    if told.open_boards:
        return f"{name}: {number}. {said} You wait for other boards; pairings lists them."
    return f"{name}: {number} is over. {said}".rstrip()


def waited_for(told: TournamentReply) -> str:
    """Return who has not finished, by name where these are few."""
    playing = [each for each in told.boards if each.result is None and each.second is not None]
    if told.state == "over" or not playing:
        return ""
    names = [f"{_name(each.first)} and {_name(each.second)}" for each in playing[:_MOST_WAITED_FOR]]
    more = max(told.open_boards, len(playing)) - len(names)
    return f"Not finished: {'; '.join(names)}{f'; {more} more' if more > 0 else ''}."


# One tournament.


def _title(display: Display) -> str:
    told = found(display)
    return _title_of(told) if told is not None else "Tournament"


def _subtitle(display: Display) -> str:
    told = found(display)
    if told is None:
        return ""
    return f"{_kind(told.kind)}, {words.terms(told.game, told.time, is_rated=told.rated)}"


def _status(display: Display) -> str:
    told = found(display)
    return state(told) if told is not None else ""


def _rows(display: Display, now_ms: int) -> list[Row]:
    """Return what we have to do, the boards that are still playing, the standings, and what else there is."""
    told, world = found(display), display.world
    if told is None:
        return WAITING
    playing = [each for each in told.boards if each.result is None and each.second is not None]
    done = [each for each in told.boards if each not in playing]
    has_rounds = told.kind not in WITHOUT_ROUNDS
    number = f"Round {told.round}" if has_rounds else "Latest results"
    title = f"Not finished: {told.open_boards}" if has_rounds else f"Being played: {told.open_boards}"
    return [
        *_ours(display, told, now_ms),
        *section(title, [_board(world, told, each) for each in playing]),
        *_queue(world, told),
        *section("Standings" if told.round else "Players", [_standing(world, told, each) for each in told.standings]),
        *_tie_breaks(told),
        *section(
            number if playing or told.state == "over" or not has_rounds else f"{number} is over",
            [_board(world, told, e) for e in done],
        ),
        *_further(told),
        *_directing(world, told),
        *_withdrawing(world, told),
    ]


def _ours(display: Display, told: TournamentReply, now_ms: int) -> Iterable[Row]:
    """Yield our match, or what we wait for, and how to enter."""
    world, board = display.world, _own_board(display.world, told)
    if board is not None and board.result is None and board.match is not None and told.state != "over":
        other = _name(board.second if board.first == _our_name(world) else board.first)
        known = world.matches.get(board.match)
        turn = "your turn" if known is not None and known.position.to_move == known.you else "go on"
        go_on: AnyCommand = Show(board.match) if world.has_seat(board.match) else Reopen(board.match, is_ours=True)
        yield Row(("Your match",), is_heading=True)
        yield Row((f"board {board.board}", f"against {other}", turn), f"own:{board.match}", go_on)
        return
    is_lone = len(told.boards) < 2 and told.kind not in WITHOUT_ROUNDS
    sentences = (own_state(world, told), waited_for(told) if is_lone else "")
    for sentence in (*sentences, next_step(world, told, now_ms)):
        if sentence:
            yield Row((sentence,), "now:")
    if may_enter(world, told):
        said = "Play as a guest, under a made-up name" if _is_for_others(world, told) else "Play in this tournament"
        yield Row((said,), "enter:", _entering(world, told))


def may_enter(world: World, told: TournamentReply) -> bool:
    """Tell whether we can enter now: before the start, or late where that is allowed."""
    is_late = told.state in ("running", "paused") and told.kind not in ("round_robin", "knockout")
    return (told.state == "open" or is_late) and not is_entered(world, told)


def _is_for_others(world: World, told: TournamentReply) -> bool:
    """Tell whether only guests enter, and we have a name. Names that begin as theirs do are reserved."""
    return told.anonymous and not (_our_name(world) or "").startswith("guest-")


def _entering(world: World, told: TournamentReply) -> AnyCommand:
    if not _is_for_others(world, told):
        return Send(EnterRequest(0, told.tournament))
    return Change(lambda display: (display.as_guest_of(told.tournament), ()))


def _queue(world: World, told: TournamentReply) -> Iterable[Row]:
    """Yield the queue of a king of the table."""
    if told.waiting:
        ours = _our_name(world)
        names = [f"{_name(each)}{' (you)' * (each == ours)}" for each in told.waiting[:_MOST_QUEUED]]
        more = f" and {len(told.waiting) - len(names)} more" if len(told.waiting) > len(names) else ""
        yield from section("Next at the table", [Row((f"{', '.join(names)}{more}",), "queue:")])


def _board(world: World, told: TournamentReply, board: TournamentBoard) -> Row:
    ours = _our_name(world)
    first, second = (f"{_name(each)}{' (you)' if each == ours else ''}" for each in (board.first, board.second))
    cells = (
        f"board {board.board}",
        f"{first} - {second}" if board.second is not None else first,
        result_of(board, told.kind),
    )
    return Row(cells, f"board:{board.board}", _look(told, board, is_ours=ours in (board.first, board.second)))


def _look(told: TournamentReply, board: TournamentBoard, *, is_ours: bool) -> AnyCommand:
    """Return how to see the match of a board; where nobody played, the profile of its player."""
    if board.match is None:
        return Open(Page("profile", about=board.first))
    if is_ours or (board.result is not None and not told.private):
        return Reopen(board.match, is_ours)
    return Send(WatchRequest(0, match=board.match, code=told.tournament if told.private else None))


def _standing(world: World, told: TournamentReply, row: TournamentStanding) -> Row:
    name = f"{_name(row.player)}{' (you)' * (row.player == _our_name(world))}{' (left)' * row.gone}"
    command = Open(Page("profile", about=row.player))
    key = f"standing:{row.player}"
    if not told.round:
        return Row((name,), key, command)
    streak = [f"{row.streak} in a row"] if row.streak >= _STREAK and told.state != "over" else []
    breaks = [f"{_label(each)} {abs(value):g}" for each, value in zip(told.tie_breaks, row.breaks, strict=False)]
    return Row((f"{row.place}.", name, _points(row.score), *breaks, *streak), key, command)


def _label(tie_break: str) -> str:
    return _TIE_BREAKS.get(tie_break, (clean(tie_break, _MAX_NAME_CELLS).replace("_", " "),))[0]


def _tie_breaks(told: TournamentReply) -> Iterable[Row]:
    """Yield what separates players with equal points."""
    if told.round and told.tie_breaks:
        named = [_TIE_BREAKS[each][1] if each in _TIE_BREAKS else _label(each) for each in told.tie_breaks]
        yield Row((f"Equal points are separated by: {'; '.join(named)}.",), "standing:")


def _further(told: TournamentReply) -> Iterable[Row]:
    if told.page < told.pages:
        page = Page("tournament", about=told.tournament)
        said = f"Further down (page {told.page} of {told.pages})"
        yield Row((said,), "further", More(page, AttendRequest(0, told.tournament, page=told.page + 1)))


def _directing(world: World, told: TournamentReply) -> Iterable[Row]:
    """Yield what the organiser can do now."""
    if told.state == "over" or told.organiser is None or told.organiser != _our_name(world):
        return
    acts: list[tuple[TournamentAct, str]] = []
    if told.state == "open":
        acts.append(("start", "Start it now"))
    elif told.kind not in WITHOUT_ROUNDS and not told.open_boards:
        acts.append(("next", "Begin the next round now"))
    if told.state == "paused":
        acts.append(("resume", "Go on"))
    elif told.state == "running":
        acts.append(("pause", "Pause it: matches continue, no new ones begin"))
    requests = [(act, said, DirectRequest(0, told.tournament, act)) for act, said in acts]
    rows = [Row((said,), f"direct:{act}", Send(request)) for act, said, request in requests]
    if _correctable(told):
        rows.append(Row(("Correct a result",), "direct:correct", Open(Page("correct", about=told.tournament))))
    if told.standings:
        rows.append(Row(("Remove a player",), "direct:remove", Open(Page("remove", about=told.tournament))))
    rows.append(Row(("End it",), "direct:end", Open(Page("end", about=told.tournament))))
    yield from section("You are the organiser", rows)


def _withdrawing(world: World, told: TournamentReply) -> Iterable[Row]:
    if told.state != "over" and is_entered(world, told):
        yield Row((" ",))
        yield Row(("Leave this tournament",), "withdraw:", Open(Page("withdraw", about=told.tournament)))


def _enter_key(display: Display) -> AnyCommand | None:
    told = found(display)
    return _entering(display.world, told) if told is not None and may_enter(display.world, told) else None


def _leave_key(display: Display) -> AnyCommand | None:
    told = found(display)
    if told is None or told.state == "over" or not is_entered(display.world, told):
        return None
    return Open(Page("withdraw", about=told.tournament))


_VERBS = {"own": "play", "enter": "play here", "board": "watch", "standing": "profile", "withdraw": "leave it"}


def _hints(display: Display) -> list[KeyHint]:
    rows = _rows(display, 0)
    at = cursor_of(rows, display.page.row, display.page.place)
    kind = rows[at].key.partition(":")[0] if at is not None else ""
    enter = [KeyHint("Enter", _VERBS.get(kind, "choose"), "c-m")] if at is not None else []
    play = [KeyHint("p", "play here", "p")] if _enter_key(display) is not None and kind != "enter" else []
    withdraw = [KeyHint("x", "leave it", "x")] if _leave_key(display) is not None else []
    return [*enter, *play, BACK, KeyHint("Tab", "next part", "c-i"), *withdraw, LEAVE, HELP]


_KEYS: dict[str, KeyMeaning] = {"p": _enter_key, "x": _leave_key}


def _named(display: Display) -> str:
    """Return the code of the tournament that is meant where none is named: ours, or the only one."""
    told = display.world.reply(TournamentList)
    running = [each.tournament for each in told.tournaments if each.state != "over"] if told is not None else []
    return display.world.entered or (running[0] if len(running) == 1 else "")


def _part(display: Display, wanted: SeekRequest, rest: str, *, kinds: tuple[str, ...], otherwise: str) -> Meaning:
    """Return the request for a part of a tournament: of the one that is named, or else ours."""
    code = clean(rest, _MAX_CODE).upper() or _named(display)
    if not code:
        return "Which tournament? Type its code after the word; tournaments lists them."
    return ListQuery(Page("tournament", about=code), kinds, otherwise=otherwise)


def _withdraw_word(display: Display, wanted: SeekRequest, rest: str) -> Meaning:
    code = clean(rest, _MAX_CODE).upper() or display.world.entered
    if not code:
        return "You are in no tournament."
    return Send(WithdrawRequest(0, code))


def _heading(display: Display) -> list[str]:
    told = found(display)
    return [f"{_title_of(told)}: {_subtitle(display)}. {state(told)}"] if told is not None else ["Tournament."]


TOURNAMENT = Screen(
    name="tournament",
    title=_title,
    subtitle=_subtitle,
    status=_status,
    rows=_rows,
    requests=lambda page: (AttendRequest(0, page.about),),
    replies=(TournamentReply,),
    refused=page_before,
    prompt=default_prompt,
    is_in_parts=True,
    keys=_KEYS,
    hints=_hints,
    help=lambda display: [
        *LISTS_HELP,
        KeyHelp("p", "Enter this tournament."),
        KeyHelp("x", "Withdraw from the tournament."),
        *LEAVING_HELP,
    ],
    words={
        "tournament": partial(_part, kinds=(), otherwise=""),
        "standings": partial(_part, kinds=("now", "standing"), otherwise="There are no players yet."),
        "pairings": partial(_part, kinds=("own", "now", "board"), otherwise="No round has begun yet."),
        "withdraw": _withdraw_word,
    },
    usage="tournament CODE, standings, pairings, withdraw",
    heading=_heading,
)


# Leaving one, after a question.


def _withdraw_rows(display: Display, now_ms: int) -> list[Row]:
    told = found(display)
    name = _title_of(told) if told is not None else "the tournament"
    return [
        Row((f"Leave {name}? You get no more opponents. A match that has begun goes on.",)),
        Row((" ",)),
        Row(("No, stay",), "stay", Command.BACK),
        Row(("Yes, leave it",), "leave", Send(WithdrawRequest(0, display.page.about))),
    ]


WITHDRAW = Screen(
    name="withdraw",
    title=_title,
    subtitle=_subtitle,
    rows=_withdraw_rows,
    keys={"y": lambda display: Send(WithdrawRequest(0, display.page.about)), "n": Command.BACK},
    hints=lambda display: list_hints(
        [KeyHint("y", "leave it", "y"), KeyHint("n", "stay", "n")], _withdraw_rows(display, 0)
    ),
    is_form=True,
)


# Ending one, after a question.


def _end_rows(display: Display, now_ms: int) -> list[Row]:
    told = found(display)
    name = _title_of(told) if told is not None else "the tournament"
    return [
        Row((f"End {name}? No further match begins. Matches that are being played still count.",)),
        Row((" ",)),
        Row(("No, go on",), "stay", Command.BACK),
        Row(("Yes, end it",), "end", Send(DirectRequest(0, display.page.about, "end"))),
    ]


END = Screen(
    name="end",
    title=_title,
    subtitle=_subtitle,
    rows=_end_rows,
    keys={"y": lambda display: Send(DirectRequest(0, display.page.about, "end")), "n": Command.BACK},
    hints=lambda display: list_hints([KeyHint("y", "end it", "y"), KeyHint("n", "go on", "n")], _end_rows(display, 0)),
    is_form=True,
)


# The organiser removes a player, and corrects a result.


def _remove_rows(display: Display, now_ms: int) -> list[Row]:
    """Return the players to choose from, or the question about one."""
    told = found(display)
    code, _, name = display.page.about.partition(" ")
    if name:
        return [
            Row((f"Remove {_name(name)}? They get no more opponents. A match that has begun goes on.",)),
            Row((" ",)),
            Row(("No, they stay",), "stay", Command.BACK),
            Row(("Yes, remove them",), "remove", Send(DirectRequest(0, code, "remove", name))),
        ]
    return [_removed(told, each) for each in told.standings] if told is not None else WAITING


def _removed(told: TournamentReply, row: TournamentStanding) -> Row:
    if row.gone:
        back = Send(DirectRequest(0, told.tournament, "add", row.player))
        return Row((_name(row.player), "has left: take them back"), f"player:{row.player}", back)
    return Row(
        (_name(row.player),), f"player:{row.player}", Open(Page("remove", about=f"{told.tournament} {row.player}"))
    )


def _remove_word(display: Display, wanted: SeekRequest, rest: str) -> Meaning:
    code, name = _directed(display), clean(rest, _MAX_NAME_CELLS)
    if not code or not name:
        return "Type remove and the name of a player of your tournament."
    return Send(DirectRequest(0, code, "remove", name))


REMOVE = Screen(
    name="remove",
    title=_title,
    subtitle=lambda display: "remove a player",
    rows=_remove_rows,
    hints=lambda display: list_hints([CHOOSE, BACK], _remove_rows(display, 0)),
    is_form=True,
    words={"remove": _remove_word},
    usage="remove NAME",
)


def _correctable(told: TournamentReply) -> list[TournamentBoard]:
    return [each for each in told.boards if each.result is not None and each.second is not None]


def _results_of(board: TournamentBoard) -> tuple[tuple[TournamentResult, str], ...]:
    return (
        ("1-0", f"{_name(board.first)} won"),
        ("1/2-1/2", "draw"),
        ("0-1", f"{_name(board.second)} won"),
        ("0-0", "neither of them scores"),
    )


def _correct_rows(display: Display, now_ms: int) -> list[Row]:
    """Return the finished boards of the round, or the results of one to choose from."""
    told = found(display)
    if told is None:
        return WAITING
    code, _, number = display.page.about.partition(" ")
    boards = _correctable(told)
    chosen = next((each for each in boards if str(each.board) == number), None)
    if chosen is None:
        pages = [Page("correct", about=f"{code} {each.board}") for each in boards]
        rows = [
            replace(_board(display.world, told, each), enter=Open(page))
            for each, page in zip(boards, pages, strict=True)
        ]
        return rows or [Row(("No match of this round has ended yet.",))]
    result = result_of(chosen, told.kind)
    said = f"Board {chosen.board}, {_name(chosen.first)} - {_name(chosen.second)}: {result}. Make it:"
    requests = [
        (name, DirectRequest(0, code, "correct", None, max(1, told.round), chosen.board, each))
        for each, name in _results_of(chosen)
        if each != chosen.result
    ]
    return [
        Row((said,)),
        Row((" ",)),
        *(Row((each,), f"result:{asked.result}", Send(asked)) for each, asked in requests),
    ]


def _correct_word(display: Display, wanted: SeekRequest, rest: str) -> Meaning:
    told = found(display)
    board, _, rest = rest.partition(" ")
    result, _, note = rest.strip().partition(" ")
    meant = next((each for each in get_args(TournamentResult) if each == result), None)
    if told is None or meant is None or not (board.isascii() and board.isdecimal()):
        return "Type correct, the board, the result and why: correct 2 1/2-1/2 both agreed. Or 1-0, 0-1, 0-0."
    note = clean(note, _MAX_NOTE_CELLS)
    return Send(DirectRequest(0, told.tournament, "correct", None, max(1, told.round), int(board[:6]), meant, note))


CORRECT = Screen(
    name="correct",
    title=_title,
    subtitle=lambda display: "correct a result",
    rows=_correct_rows,
    hints=lambda display: list_hints([CHOOSE, BACK], _correct_rows(display, 0)),
    is_form=True,
    words={"correct": _correct_word},
    usage="correct BOARD RESULT WHY",
)


def _directed(display: Display) -> str:
    """Return the code of the tournament that the organiser means: that of the page, or else the only one."""
    told = found(display)
    return told.tournament if told is not None else _named(display)


# Making one.

_FORMS: tuple[tuple[str, TournamentKind, int, int | None], ...] = (
    ("Swiss, 3 rounds", "swiss", 3, None),
    ("Swiss, 5 rounds", "swiss", 5, None),
    ("Swiss, 7 rounds", "swiss", 7, None),
    ("Round robin: everybody meets everybody", "round_robin", 1, None),
    ("Round robin, twice", "round_robin", 2, None),
    ("Knockout", "knockout", 1, None),
    ("Arena, 30 minutes: match after match", "arena", 1, 30),
    ("Arena, 60 minutes", "arena", 1, 60),
    ("King of the table: the winner stays", "king", 1, None),
)
"""The kinds to choose from: their words, rounds or cycles, and minutes."""
_ANONYMOUS = "guests only, under made-up names, without chat"
_CLOCKS = tuple(time for time in TIMES if time is not None)
_MAKE = Open(Page("organise"))


def _make(display: Display) -> AnyCommand | None:
    """Return the way to the form, if the host lets players make tournaments."""
    return _MAKE if ORGANISING in display.world.features else None


def _organise_rows(display: Display, now_ms: int) -> list[Row]:
    page = display.page
    game, time = _form_game(display), _CLOCKS[page.time % len(_CLOCKS)]
    ours = _our_name(display.world) or "Our"
    rows = [
        Row((f"Game: {words.title_of(game)}",), "game", Change(_next_game)),
        Row((f"Clock: {words.clock_name(time)}",), "clock", Change(partial(_next_clock, by=1))),
        Row((f"Players: {_ANONYMOUS if page.is_anonymous else 'everybody'}",), "players", Change(_anonymous)),
        Row(("Make it, as one of these:",), is_heading=True),
    ]
    for said, kind, rounds, minutes in _FORMS:
        name = clean(f"{ours}: {_kind(kind)}", _MAX_TITLE_CELLS)
        request = OrganiseRequest(
            0, name, kind, time, game, rounds, minutes=minutes, legs=None, anonymous=page.is_anonymous
        )
        rows.append(Row((said,), f"{kind}:{rounds}:{minutes}", Send(request)))
    return rows


def _form_game(display: Display) -> str:
    return display.page.about or NAMES[0]


def _next_game(display: Display) -> tuple[Display, tuple[Request, ...]]:
    at = NAMES.index(_form_game(display)) + 1
    return display.with_page(replace(display.page, about=NAMES[at % len(NAMES)])), ()


def _next_clock(display: Display, *, by: int) -> tuple[Display, tuple[Request, ...]]:
    return display.with_page(replace(display.page, time=(display.page.time + by) % len(_CLOCKS))), ()


def _anonymous(display: Display) -> tuple[Display, tuple[Request, ...]]:
    return display.with_page(replace(display.page, is_anonymous=not display.page.is_anonymous)), ()


ORGANISE = Screen(
    name="organise",
    title=lambda display: "Make a tournament",
    rows=_organise_rows,
    keys={"g": Change(_next_game), "t": Change(partial(_next_clock, by=1)), "p": Change(_anonymous)},
    hints=lambda display: list_hints(
        [CHOOSE, KeyHint("g", "game", "g"), KeyHint("t", "clock", "t"), KeyHint("p", "players", "p"), BACK],
        _organise_rows(display, 0),
    ),
    is_form=True,
)


# The list.


def tournament_rows(tournaments: Sequence[ListedTournament], *, has_ended: bool = True) -> list[Row]:
    """Return a row for each tournament; those that are over only if asked for."""
    return [_listed(each) for each in tournaments if has_ended or each.state != "over"]


def _listed(each: ListedTournament) -> Row:
    terms = f"{_kind(each.kind)}, {words.terms(each.game, each.time, is_rated=each.rated)}"
    of = f" of {each.rounds}" if each.rounds else ""
    stands = f"open, {counted(each.players, 'player')}" if each.state == "open" else each.state
    if each.state in ("running", "paused") and each.kind not in WITHOUT_ROUNDS:
        stands = f"round {each.round}{of}{', paused' if each.state == 'paused' else ''}"
    page = Page("tournament", about=each.tournament)
    return Row((_title_of(each), stands, terms), f"tournament:{each.tournament}", Open(page))


def played_tournament(each: PlayedTournament) -> Row:
    """Return the row of a tournament in the profile of one of its players."""
    said = f"number {each.place} of {each.players}{'' if each.over else ' so far'}"
    kind = f"{_kind(each.kind)}, {words.title_of(each.game)}{', private' if each.private else ''}"
    page = Page("tournament", about=each.tournament)
    cells = (date_of(each.at_ms), clean(each.name, _MAX_TITLE_CELLS), said, kind)
    return Row(cells, f"tournament:{each.tournament}", Open(page))


def _list_rows(display: Display, now_ms: int) -> list[Row]:
    told = display.world.reply(TournamentList)
    if FEATURE not in display.world.features:
        return [Row(("This server holds no tournaments.",))]
    if told is None:
        return WAITING
    rows = tournament_rows(told.tournaments)
    others = [Row(("Enter a code",), "code:", Begin(Entry.CODE))]
    if _make(display) is not None:
        others.append(Row(("Make a tournament",), "make:", _MAKE))
    return [*(rows or [Row(("There is no tournament now.",))]), *others]


def _from_lobby(display: Display) -> AnyCommand:
    """Return the way to our tournament, or the only one, or else to the list."""
    code = _named(display)
    return Open(Page("tournament", about=code) if code else Page("tournaments"))


def _list_requests(page: Page) -> tuple[Request, ...]:
    return (TournamentsRequest(0),)


TOURNAMENTS = Screen(
    name="tournaments",
    title=lambda display: "Tournaments",
    rows=_list_rows,
    requests=_list_requests,
    replies=(TournamentList,),
    refused=page_before,
    keys={"c": Begin(Entry.CODE), "m": _make},
    hints=lambda display: list_hints(
        [
            KeyHint("Enter", "open", "c-m"),
            KeyHint("c", "code", "c"),
            *([] if _make(display) is None else [KeyHint("m", "make one", "m")]),
            BACK,
        ],
        _list_rows(display, 0),
    ),
    entrance=Entrance("t", "tournaments", "Open your tournament, or the list of all.", _from_lobby),
    words={
        "tournaments": lambda display, wanted, rest: ListQuery(
            Page("tournaments"), ("tournament",), otherwise="There is no tournament now."
        )
    },
    usage="tournaments",
)
