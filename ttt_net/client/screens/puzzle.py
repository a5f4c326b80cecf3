"""Show the puzzle of the day, a position with a single good move, and then mistakes of the player's own as puzzles."""

from dataclasses import replace
from types import MappingProxyType

from msgspec import structs

from ttt_net.client.display import AnyCommand, Change, Choose, Command, Display, Open, Overlay, Page, Quick, Send, Type
from ttt_net.client.mailbox import WorldEvent
from ttt_net.client.screens.board_play import act_in_match, pressed, quick_moves
from ttt_net.client.screens.replay_screen import GUESSING
from ttt_net.client.screens.screen import (
    BACK,
    BOARD_HELP,
    LEAVE,
    LEAVING_HELP,
    RULES,
    Effect,
    Entrance,
    KeyHelp,
    KeyHint,
    Meaning,
    Screen,
    default_prompt,
)
from ttt_net.messages import (
    LEARNED,
    MistakeList,
    MistakesRequest,
    OwnMistake,
    OwnPuzzle,
    PlayerInfo,
    PlayRequest,
    PuzzleReply,
    PuzzleRequest,
    Request,
    SeekRequest,
    Snapshot,
)
from ttt_net.sdk.received import Tally
from ttt_net.text import clean, counted

_NAME = "puzzle"
_MAX_TEXT = 200
_MAX_DAY = 12
_GRADES = ("", "at a glance", "easy", "middling", "hard", "very hard")
_MOVES: dict[str, AnyCommand] = {
    **{"up": Command.UP, "down": Command.DOWN, "left": Command.LEFT, "right": Command.RIGHT},
    **{"k": Command.UP, "j": Command.DOWN, "h": Command.LEFT, "l": Command.RIGHT},
    "q": Command.LEAVE,
}


def _told(display: Display) -> PuzzleReply | None:
    return display.world.reply(PuzzleReply)


def seen_at(display: Display) -> Display:
    """Return the display with the puzzle as a match in which it is our turn."""
    puzzle = _told(display)
    if puzzle is None:
        return replace(display, shown=None)
    match = _as_match(puzzle, display.world.you or PlayerInfo("You"))
    world = replace(display.world, matches=MappingProxyType({match.match: match}), tally=Tally())
    cells = len(match.position.board)
    cursor = display.cursor if 0 <= display.cursor < cells else 0
    cursor = -1 if puzzle.solution is not None else cursor
    return replace(display, world=world, shown=match.match, pending=None, cursor=cursor)


def due_mistakes(display: Display, today: str) -> tuple[OwnMistake, ...]:
    """Return the mistakes of ours that return today or were to return before, the longest due first."""
    return display.achieved.due_mistakes(today, display.learns_at, _kept_there(display))


def with_answer(display: Display, own: OwnPuzzle, today: str, *, is_right: bool) -> Display:
    """Return the display after an answer to a mistake of ours."""
    account, there = display.learns_at, _kept_there(display)
    known: OwnMistake | None = display.achieved.mistake(own, account)
    for each in there.mistakes if there is not None else ():
        if each.puzzle == own:
            known = display.achieved.newest(each, account)
    if known is None:
        return display
    return replace(display, achieved=display.achieved.with_answer(known, today, account, is_right=is_right))


def mistakes_wanted(display: Display, event: WorldEvent) -> tuple[Request, ...]:
    """Return the request for our mistakes on the server: with each puzzle of a day, and after the listed ones."""
    if not display.learns_at or not isinstance(event, PuzzleReply):
        return ()
    there = _kept_there(display)
    has_more = there is not None and there.count > len(there.mistakes) and not due_mistakes(display, event.day)
    is_new = event.own is None and event.solution is None and event.right is None
    return (MistakesRequest(0),) if is_new or has_more else ()


def _kept_there(display: Display) -> MistakeList | None:
    return display.world.reply(MistakeList) if display.learns_at else None


def _as_match(puzzle: PuzzleReply, you: PlayerInfo) -> Snapshot:
    """Return a match at the puzzle's position, including the solution once the puzzle is solved."""
    side = puzzle.position.to_move or 0
    they = PlayerInfo("Opponent")
    players = (you, they) if side == 0 else (they, you)
    game, position, last = puzzle.game, puzzle.position, None
    if puzzle.ply:
        last, position = puzzle.last, structs.replace(position, legal=[])
    elif puzzle.solution is not None and 0 <= puzzle.solution < len(game.move_cells):
        last, cell = puzzle.solution, game.move_cells[puzzle.solution]
        board = position.board
        if 0 <= cell < len(board) and board[cell] == ".":
            board = board[:cell] + position.marks[side][:1] + board[cell + 1 :]
        position = structs.replace(position, board=board, to_move=None, legal=[])
    return Snapshot(_NAME, 0, game, players, (True, True), [], position, [], you=side, last=last)


def question(puzzle: PuzzleReply) -> str:
    """Return the question of a puzzle; once the solution is known, without the question itself."""
    mark, end = clean(puzzle.position.marks[puzzle.position.to_move or 0], 4), puzzle.solution is not None
    if puzzle.own is not None:
        return f"You are {mark}. You went wrong here{'.' if end else ': what is better?'}"
    if puzzle.kind == "win":
        own = (puzzle.plies + 1) // 2
        how = "at once" if own == 1 else f"in {counted(own, 'move')}"
        return f"You are {mark}, and can win {how}." if end else f"You are {mark}. Which move wins {how}?"
    return f"You are {mark}. {'Only one move does not lose.' if end else 'Which is the only move that does not lose?'}"


def heading(puzzle: PuzzleReply) -> str:
    """Return the heading of the puzzle: its day, game and difficulty."""
    if puzzle.own is not None:
        return f"A mistake of yours: {clean(puzzle.game.title, 30)}"
    grade = _GRADES[puzzle.grade] if 0 < puzzle.grade < len(_GRADES) else ""
    return f"Puzzle of {clean(puzzle.day, _MAX_DAY)}: {clean(puzzle.game.title, 30)}{f', {grade}' if grade else ''}"


def outcome(puzzle: PuzzleReply, display: Display) -> str:
    """Return the result of an answer, and the number of consecutive days with a solved puzzle."""
    text = clean(puzzle.text, _MAX_TEXT)
    if puzzle.ply and puzzle.last is not None and puzzle.last < len(puzzle.game.move_names):
        name = clean(puzzle.game.move_names[puzzle.last], 12)
        is_ours = puzzle.ply % 2 == 1
        whose = f"Your move {(puzzle.ply + 1) // 2} of {(puzzle.plies + 1) // 2}" if is_ours else "Their answer"
        return f"{whose}: {name}.{' You have won.' if puzzle.ply >= puzzle.plies else ''}"
    if puzzle.own is not None and (puzzle.right or puzzle.solution is not None):
        kept = display.achieved.mistake(puzzle.own, display.learns_at)
        name = clean(puzzle.game.move_names[puzzle.solution or 0], 12)
        said = "Right!" if puzzle.right else f"The solution is {name}."
        if kept is None or kept.times == LEARNED:
            return f"{said} You have learned it."
        return f"{said} {clean(kept.text, _MAX_TEXT)} It returns on {clean(kept.due, _MAX_DAY)}."
    if puzzle.right:
        days = display.achieved.streak(puzzle.day)
        in_a_row = f" {counted(days, 'day')} in a row!" if days > 1 else ""
        return f"Right! {text}{in_a_row}"
    if puzzle.solution is not None:
        name = clean(puzzle.game.move_names[puzzle.solution], 12)
        return f"The solution: {text}" if text.startswith(f"{name} ") else f"The solution is {name}. {text}"
    return text


def _plays_on(puzzle: PuzzleReply) -> bool:
    """Tell whether the play of a win can be followed further."""
    return (
        puzzle.solution is not None
        and puzzle.own is None
        and puzzle.kind == "win"
        and max(1, puzzle.ply) < puzzle.plies
    )


def _prompt(display: Display, now_ms: int) -> str:
    puzzle = _told(display)
    if puzzle is None:
        return default_prompt(display, now_ms)
    plays_on = " Right arrow: play on." if _plays_on(puzzle) else ""
    said = default_prompt(display, now_ms) or outcome(puzzle, display) + plays_on
    days = display.achieved.streak(puzzle.day)
    due = len(due_mistakes(display, puzzle.day)) if puzzle.own is None else 0
    told = f"Tab: {counted(due, 'mistake')} of yours to learn from." if due else ""
    in_a_row = f"You have solved the puzzles of {counted(days, 'day')} in a row." if days else ""
    return said or " ".join(filter(None, (in_a_row, told)))


def _command(key: str, display: Display) -> AnyCommand | None:
    seen = seen_at(display)
    if display.overlay is Overlay.CHOICE and key in "123456789":
        return Choose(int(key) - 1)
    if display.typed:
        return Type(key) if len(key) == 1 and key.isprintable() else None
    if seen.match is None or len(key) > 1:
        return _MEANINGS.get(key)
    if key.isdecimal() and key.isascii() and quick_moves(seen.match):
        return Quick(int(key))
    names, letter = {name[:1].lower() for name in seen.match.game.move_names}, key.lower()
    if letter in _MEANINGS and (key.isupper() or key not in names or key == "s"):
        return _MEANINGS[letter]
    return Type(key) if letter in names else None


def _act(display: Display, command: AnyCommand) -> Effect | None:
    """Answer the puzzle with a move."""
    puzzle = _told(display)
    if puzzle is None or command in (Command.BACK, Command.LEAVE):
        return None
    if _plays_on(puzzle) and command in (Command.RIGHT, Command.PLACE):
        return replace(display, typed="", notice=""), (PuzzleRequest(0, puzzle.day, ply=max(1, puzzle.ply) + 1),)
    if puzzle.solution is not None:
        is_more = bool(due_mistakes(display, puzzle.day))
        return replace(display, typed="", notice=_MISTAKES_LEFT if is_more else _TOMORROW), ()
    after, requests = act_in_match(seen_at(display), command, SeekRequest(0))
    display = replace(display, cursor=after.cursor, typed=after.typed, notice=after.notice)
    display = replace(display, overlay=after.overlay, choices=after.choices)
    own = puzzle.own
    answers = [PuzzleRequest(0, puzzle.day, each.move, own=own) for each in requests if isinstance(each, PlayRequest)]
    return display, tuple(answers[:1])


_TOMORROW = "That is all for today; the next puzzle comes tomorrow."
_MISTAKES_LEFT = "Tab shows a mistake of yours, as a puzzle."


def _reveal(display: Display) -> Effect:
    puzzle = _told(display)
    return display, () if puzzle is None else (PuzzleRequest(0, puzzle.day, reveal=True, own=puzzle.own),)


def _next_mistake(display: Display) -> Effect:
    """Ask for the mistake of ours that is due next."""
    puzzle = _told(display)
    if puzzle is None:
        return display, ()
    due = [each for each in due_mistakes(display, puzzle.day) if each.puzzle != puzzle.own]
    if not due:
        return replace(display, notice=_NO_MISTAKES), ()
    return replace(display, typed="", notice=""), (PuzzleRequest(0, own=due[0].puzzle),)


_NO_MISTAKES = "No mistake of yours is due today. They come from the lessons of matches that you lose."
_MEANINGS: dict[str, AnyCommand] = {
    **_MOVES,
    **{"s": Change(_reveal), "c-i": Change(_next_mistake), "g": Open(Page("guess"))},
}


def _hints(display: Display) -> list[KeyHint]:
    seen = seen_at(display)
    if seen.match is None:
        return [BACK, LEAVE, RULES]
    quick, puzzle = quick_moves(seen.match), _told(display)
    is_due = puzzle is not None and due_mistakes(display, puzzle.day)
    mistakes = [KeyHint("Tab", "mistakes", "c-i")] if is_due else []
    ends = [*mistakes, *_study_hint(display), LEAVE, RULES]
    if puzzle is not None and puzzle.solution is not None:
        return [*[KeyHint("right", "play on", "right")] * _plays_on(puzzle), BACK, *ends]
    found = [KeyHint("arrows Enter", ""), *([KeyHint(f"1-{max(quick)}", "")] if quick else [])]
    return [*found, BACK, KeyHint("s", "show the solution", "s"), *ends]


def _study_hint(display: Display) -> list[KeyHint]:
    """Return how to guess the moves of a match, where its matches come from."""
    return [KeyHint(pressed("g", seen_at(display)), "guess moves", "G")] if GUESSING in display.world.features else []


def _ask(display: Display, wanted: SeekRequest, rest: str) -> Meaning:
    return Send(PuzzleRequest(0))


def _answer(display: Display, wanted: SeekRequest, rest: str) -> Meaning:
    """Return the request that answers the current puzzle."""
    puzzle = _told(display)
    if puzzle is None:
        return "Type puzzle first."
    if rest.lower() in ("?", "solution"):
        return Send(PuzzleRequest(0, puzzle.day, reveal=True, own=puzzle.own))
    names = puzzle.game.move_names
    found = [move for move in puzzle.position.legal if move < len(names) and names[move].lower() == rest.lower()]
    if found:
        return Send(PuzzleRequest(0, puzzle.day, found[0], own=puzzle.own))
    some = ", ".join(clean(names[move], 12) for move in puzzle.position.legal[:9] if move < len(names))
    return f"Type solve and a move, such as {some}; or solve solution to see it."


def _ask_mistake(display: Display, wanted: SeekRequest, rest: str) -> Meaning:
    """Return the request for the mistake of ours that is due next."""
    if _told(display) is None:
        return "Type puzzle first."
    _, requests = _next_mistake(display)
    asked = next((each for each in requests if isinstance(each, PuzzleRequest)), None)
    return Send(asked) if asked is not None else _NO_MISTAKES


def _from_lobby(display: Display) -> AnyCommand:
    return Open(Page("puzzle"))


PUZZLE = Screen(
    name=_NAME,
    title=lambda display: heading(puzzle) if (puzzle := _told(display)) is not None else "Puzzle of the day",
    subtitle=lambda display: clean(puzzle.game.rule, 120) if (puzzle := _told(display)) is not None else "",
    status=lambda display: question(puzzle) if (puzzle := _told(display)) is not None else "One moment ...",
    prompt=_prompt,
    requests=lambda page: (PuzzleRequest(0),),
    replies=(PuzzleReply, MistakeList),
    seen=seen_at,
    match=lambda display: display.match,
    command=_command,
    act=_act,
    hints=_hints,
    help=lambda display: [
        BOARD_HELP,
        KeyHelp("Enter, click", "Play the move."),
        KeyHelp("s", "Show the solution."),
        KeyHelp("Tab", "Show a mistake of yours as a puzzle."),
        KeyHelp("g", "Guess the moves of a match of strong bots."),
        *LEAVING_HELP,
    ],
    entrance=Entrance("z", "puzzle", "Open the puzzle of the day.", _from_lobby),
    words={"puzzle": _ask, "solve": _answer, "mistakes": _ask_mistake},
    usage="puzzle, solve MOVE, mistakes",
)
