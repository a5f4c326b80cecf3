"""Carry out the commands of a board, and show what matters beside it: offers, claims, chat, the next opponent.

Moves are found by cell, by digit or by name in any game that a server lists.
"""

from dataclasses import replace

from ttt_net.client import words
from ttt_net.client.display import AnyCommand, Choose, Command, Display, Entry, Move, Overlay, Point, Quick, claims_in
from ttt_net.client.screens.advice import hint_told, lesson_told
from ttt_net.client.screens.offers import free_bots, waiting_people
from ttt_net.client.screens.screen import Effect, default_prompt
from ttt_net.client.words import (
    FINISH_FIRST,
    OPENING_PLIES,
    cell_name,
    is_called_off,
    move_name,
    name_of,
    opponent_of,
)
from ttt_net.client.world import LinkState
from ttt_net.messages import (
    MAX_NAME_CELLS,
    AbortRequest,
    AgreeRequest,
    ChallengeRequest,
    ChatRequest,
    ClaimRequest,
    DeclineRequest,
    MuteRequest,
    OfferKind,
    OfferRequest,
    Phrase,
    PlayerInfo,
    PlayRequest,
    Rematched,
    Request,
    ResignRequest,
    SeekRequest,
    Snapshot,
    UnwatchRequest,
    WatchRequest,
)
from ttt_net.text import clean


def layers_of(match: Snapshot) -> int:
    """Return how many boards lie side by side."""
    return match.game.shape[0] if len(match.game.shape) == 3 else 1


def legal_at(match: Snapshot, cell: int) -> tuple[int, ...]:
    """Return the legal moves that mark a cell, or, where marks fall, those of its column or peg."""
    cells = match.game.move_cells
    if not match.game.gravity:
        return tuple(move for move in match.position.legal if cells[move] == cell)
    height, width = match.game.shape[-2:]
    column = width if layers_of(match) == 1 else width * height
    return tuple(m for m in match.position.legal if cells[m] >= 0 and cells[m] % column == cell % column)


def quick_moves(match: Snapshot) -> dict[int, tuple[int, ...]]:
    """Return the legal moves of each digit that stands for a cell or column; empty if digits stand for none."""
    game = match.game
    names = {name for cell, name in zip(game.move_cells, game.move_names, strict=True) if cell >= 0}
    if game.gravity and all(name.isdecimal() and len(name) == 1 for name in names):
        digits = sorted(map(int, names))
        return {digit: tuple(m for m in match.position.legal if game.move_names[m] == str(digit)) for digit in digits}
    if len(game.shape) == 2 and game.shape[0] * game.shape[1] <= 9 and not game.gravity:
        return {cell + 1: legal_at(match, cell) for cell in range(game.shape[0] * game.shape[1])}
    return {}


def example_move(match: Snapshot) -> str:
    """Return the cleaned name of a move in the middle of the board, to show how moves are typed; `?` without cells."""
    names = [move_name(match, move) for move, cell in enumerate(match.game.move_cells) if cell >= 0]
    distinct = list(dict.fromkeys(names)) or ["?"]  # a column has one name, and a move for each of its cells
    return distinct[len(distinct) // 2]


PHRASES: tuple[Phrase, ...] = (
    *("hello", "good_luck", "well_played", "good_game"),
    *("thanks", "sorry", "oops", "one_moment"),
)
"""The phrases, in the order of their digits."""


def phrases() -> list[str]:
    """Return each phrase with its digit."""
    return [f"{number} {phrase_in_words(phrase)}" for number, phrase in enumerate(PHRASES, start=1)]


def phrase_in_words(phrase: Phrase) -> str:
    """Return a phrase as players type it."""
    return phrase.replace("_", " ")


def phrase_of(text: str) -> Phrase | None:
    """Return the phrase that was typed in full, ignoring case and final punctuation; None for other words."""
    typed = text.strip(" .!").lower()
    return next((phrase for phrase in PHRASES if phrase_in_words(phrase) == typed), None)


def whom_to_mute(display: Display) -> list[str]:
    """Return the players who can be muted, each with a digit: everybody, then the talkers."""
    names = [f"{number}: {clean(name, MAX_NAME_CELLS)}" for number, name in enumerate(display.talkers, start=2)]
    is_muted = [name in display.muted for name in display.talkers]
    said = [f"{name} (muted)" if mute else name for name, mute in zip(names, is_muted, strict=True)]
    return ["Mute", f"1: everybody{' (muted)' * display.is_deaf}", *said]


def chat(display: Display, *, text: str | None = None, phrase: Phrase | None = None) -> tuple[Request, ...]:
    """Return the chat request for the shown match; empty without one."""
    match = display.match
    return (ChatRequest(0, match=match.match, text=text, phrase=phrase),) if match is not None else ()


def ask_whom_to_mute(display: Display) -> Effect:
    """Mute or unmute the opponent; ask a watcher which of the talkers is meant."""
    match = display.match
    if match is None:
        return display, ()
    if match.you is not None:
        return _toggled(display, match.players[1 - match.you].name)
    if not display.talkers and not display.is_deaf:
        return replace(display, notice="No messages here yet."), ()
    return replace(display, overlay=Overlay.MUTE), ()


def muted(display: Display, index: int) -> Effect:
    """Mute or unmute the player at an index of the list: everybody comes first, then the talkers."""
    names = display.talkers
    if index > len(names):
        return display, ()
    display = replace(display, overlay=Overlay.NONE)
    if index > 0:
        return _toggled(display, names[index - 1])
    is_on = not display.is_deaf
    notice = "Chat is muted. Mute again to unmute it." if is_on else "Chat is no longer muted."
    return replace(display, is_deaf=is_on, notice=notice), (MuteRequest(0, name=None, on=is_on),)


def _toggled(display: Display, name: str) -> Effect:
    is_on = name not in display.muted
    notice = f"You have muted {name}. Mute again to unmute them." if is_on else f"{name} is no longer muted."
    side = display.seat_of(name)
    match = display.shown if side is not None else None
    request = MuteRequest(0, name=name, on=is_on, match=match, side=side)
    return replace(display, muted=display.muted ^ {name}, notice=notice), (request,)


_OF_PLAYERS = {
    Command.PLACE,
    Command.MOVES,
    Command.REMATCH,
    Command.DRAW,
    Command.TAKE_BACK,
    Command.CLAIM,
    Command.DECLINE,
    Command.RESIGN,
}
"""Commands that only the two players of a match have."""
_OFFERS: dict[Command, OfferKind] = {Command.REMATCH: "rematch", Command.DRAW: "draw", Command.TAKE_BACK: "takeback"}


def act_in_match(display: Display, command: AnyCommand, seek: SeekRequest) -> Effect:
    """Return the display after the action, and the requests to send; `seek` is the request of `Command.NEW`."""
    if display.is_watched and (command in _OF_PLAYERS or isinstance(command, Move | Quick | Point)):
        return replace(display, notice="You are watching; only the two players can do that.", typed=""), ()
    match command:
        case Command.UP | Command.DOWN | Command.LEFT | Command.RIGHT:
            return _moved_cursor(display, *command.value), ()
        case Command.PLACE:
            if display.overlay is Overlay.DRAW:
                return act_in_match(display, Command.DRAW, seek)
            return _leave(display) if display.overlay is Overlay.LEAVE else _place(display)
        case Command.MOVES:
            return _list_moves(display), ()
        case Command.DRAW if display.world.is_shared and display.is_live and display.overlay is not Overlay.DRAW:
            return replace(display, overlay=Overlay.DRAW, typed=""), ()
        case Command.REMATCH | Command.DRAW | Command.TAKE_BACK:
            display = replace(display, overlay=Overlay.NONE) if display.overlay is Overlay.DRAW else display
            return _offer(display, _OFFERS[command])
        case Command.CLAIM:
            return _ask_claim(display), ()
        case Command.DECLINE:
            return _decline(display)
        case Command.RESIGN:
            return _resign(display)
        case Command.NEW:
            return _new(display, seek)
        case Command.LEAVE:
            return _leave(display)
        case Command.LET_WAIT:
            return _let_wait(display), ()
        case Command.SIDE_PANEL:
            return replace(
                display, overlay=Overlay.NONE if display.overlay is Overlay.SIDE_PANEL else Overlay.SIDE_PANEL
            ), ()
        case Choose(index):
            return _choose(display, index)
        case Move(name):
            return _play_named(display, name)
        case Quick(digit):
            return _play_quick(display, digit)
        case Point(cell):
            return _place(replace(display, cursor=cell, typed="", overlay=Overlay.NONE))
        case _:
            return display, ()


def _moved_cursor(display: Display, dx: int, dy: int) -> Display:
    """Move over the board as drawn: to the right of a layer is the next, unless marks fall from layer to layer."""
    match = display.match
    if match is None:
        return display
    height, width = match.game.shape[-2:]
    layers = 1 if match.game.gravity else layers_of(match)
    z, rest = divmod(display.cursor, height * width)
    y, x = divmod(rest, width)
    column = (z * width + x + dx) % (layers * width)
    y = (y + dy) % height
    return replace(display, cursor=(column // width * height + y) * width + column % width, typed="")


def _place(display: Display) -> Effect:
    if display.typed:
        return _play_named(replace(display, typed=""), display.typed)
    if display.match is None:
        return display, ()
    return _one_of(display, legal_at(display.match, display.cursor), _why_not(display.match, display.cursor))


def _one_of(display: Display, moves: tuple[int, ...], otherwise: str) -> Effect:
    if not display.may_move:
        return _not_now(display), ()
    if not moves:
        return replace(display, notice=otherwise), ()
    if len(moves) == 1:
        return _play(display, moves[0])
    return replace(display, overlay=Overlay.CHOICE, choices=moves), ()


def _why_not(match: Snapshot, cell: int) -> str:
    """Return why a cell cannot be chosen now: it is taken, its column is full, or the rules forbid it."""
    name = cell_name(match, cell)
    if match.game.gravity:
        return f"Column {name} is full." if name.isdecimal() else f"{name} is full."
    is_taken = 0 <= cell < len(match.position.board) and match.position.board[cell] != "."
    return f"{name} is taken." if is_taken else f"{name} is not possible now."


def _list_moves(display: Display) -> Display:
    """Show the moves without a cell, or all if there are few."""
    if display.match is None or not display.may_move:
        return _not_now(display)
    legal = display.match.position.legal
    free = tuple(move for move in legal if display.match.game.move_cells[move] < 0)
    if not free and (digits := quick_moves(display.match)):  # the list would assign other digits
        return replace(
            display, notice=f"Press a digit, 1 to {max(digits)}, or go there with the arrows and press Enter."
        )
    choices = free or tuple(legal)[:9]
    return replace(display, overlay=Overlay.CHOICE, choices=choices)


def _play(display: Display, move: int) -> Effect:
    match = display.match
    if match is None or not display.may_move:
        return _not_now(display), ()
    play = PlayRequest(0, match=match.match, ply=match.position.ply, move=move)
    cell = match.game.move_cells[move]
    display = replace(display, cursor=cell if cell >= 0 else display.cursor)
    return replace(display, pending=play, typed="", overlay=Overlay.NONE, choices=()), (play,)


_MOST_NAMED = 9
"""The maximal number of legal moves to list after an invalid one."""


def _play_named(display: Display, name: str) -> Effect:
    match = display.match
    if match is None or not display.may_move:
        return _not_now(display), ()
    moves = tuple(move for move in match.position.legal if match.game.move_names[move].lower() == name.lower())
    if moves:
        return _one_of(display, moves, "")
    if name.isdecimal() and len(name) == 1 and quick_moves(match):
        return _play_quick(display, int(name))
    known = name.lower() in (written.lower() for written in match.game.move_names)
    legal = [move_name(match, move) for move in match.position.legal]
    named = sorted(legal, key=_by_number) if match.game.gravity else legal
    some = ", ".join(named[:_MOST_NAMED]) + " ..." * (len(named) > _MOST_NAMED)
    why = f"{name} is not possible now" if known else f'I don\'t know "{name}"'
    return replace(display, notice=f"{why}; possible: {some}"), ()


def _by_number(name: str) -> tuple[bool, int]:
    """Return the sort key of a column: its number, if it has one; others come last."""
    return not name.isdecimal(), int(name) if name.isdecimal() else 0


def _play_quick(display: Display, digit: int) -> Effect:
    if display.match is None:
        return display, ()
    moves = quick_moves(display.match)
    if digit not in moves:
        return replace(display, notice=f"{digit} is not on this board."), ()
    full = f"Column {digit} is full." if display.match.game.gravity else f"{digit} is taken."
    return _one_of(display, moves[digit], full)


def _not_now(display: Display) -> Display:
    if display.match is None:
        return display
    if display.match.outcome is not None:
        return replace(display, notice="The match is over.")
    return replace(display, notice="Your last move is on its way." if display.under_way else "It is not your turn.")


def _offer(display: Display, kind: OfferKind) -> Effect:
    match = display.match
    if match is None:
        return display, ()
    if kind == "rematch" and match.outcome is None:
        return replace(display, notice="A rematch can be offered when the match is over."), ()
    if kind != "rematch" and match.outcome is not None:
        return replace(display, notice="The match is over."), ()
    if kind == "rematch" and display.world.link is LinkState.LOST:
        return replace(display, notice="You can offer a rematch when the server is back."), ()
    if kind == "draw" and opponent_of(match).bot is not None and match.position.ply < OPENING_PLIES:
        return replace(display, notice="There is nothing to draw yet; a bot wants to see some moves first."), ()
    if kind == "rematch" and opponent_of(match).bot is not None and not match.present[1 - (match.you or 0)]:
        return _challenge_again(display, match)
    theirs = next((offer for offer in match.offers if offer.kind == kind and offer.side != match.you), None)
    if theirs is not None:
        return display, (AgreeRequest(0, match=match.match, offer=theirs.seq),)
    return display, (OfferRequest(0, match=match.match, kind=kind, ply=match.position.ply),)


def _challenge_again(display: Display, match: Snapshot) -> Effect:
    """Challenge the bot of a match again: a bot with many opponents leaves a finished match for the next one."""
    bot = opponent_of(match)
    level = None if match.rated else bot.level
    challenge = ChallengeRequest(0, bot.name, match.game.name, match.time, match.rated, level, match.start)
    return replace(display, notice=f"You asked {name_of(bot)} for another match."), (challenge,)


def _ask_claim(display: Display) -> Display:
    match = display.match
    if match is None or match.outcome is not None:
        return _not_now(display)
    if match.away is None or match.away.side == match.you:
        return replace(display, notice="Your opponent is here; there is nothing to claim.")
    return replace(display, overlay=Overlay.CLAIM)


def _choose(display: Display, index: int) -> Effect:
    match = display.match
    if match is not None and display.overlay is Overlay.CLAIM and index < len(claims_in(match)):
        claim = ClaimRequest(0, match=match.match, kind=claims_in(match)[index])
        return replace(display, overlay=Overlay.NONE), (claim,)
    if display.overlay is Overlay.CHOICE and index < len(display.choices):
        return _play(display, display.choices[index])
    return display, ()


def _decline(display: Display) -> Effect:
    match = display.match
    if match is None or not match.offers:
        return replace(display, notice="There is no offer."), ()
    offer = next((each for each in match.offers if each.side != match.you), match.offers[0])
    return display, (DeclineRequest(0, match=match.match, kind=offer.kind, offer=offer.seq),)


def _resign(display: Display) -> Effect:
    match = display.match
    if match is None or not display.is_live:
        return replace(display, notice="There is no match to resign."), ()
    is_asked = display.overlay is Overlay.LEAVE  # leaving aborts a match that has hardly begun
    end = _end_of(match) if is_asked else ResignRequest(0, match=match.match)
    return replace(display, overlay=Overlay.NONE, is_going_back=False), (end,)


def other_match(display: Display) -> Snapshot | None:
    """Return the match to which `n` goes: one in which it is our turn, or after the end any unfinished one."""
    unfinished = (
        match for name, match in display.world.matches.items() if display.world.has_seat(name) and match.outcome is None
    )
    return display.elsewhere if display.is_live else next(unfinished, None)


def _new(display: Display, seek: SeekRequest) -> Effect:
    waiting = other_match(display)
    if waiting is not None:
        return gone_on(display, waiting)
    if display.is_live:
        return replace(display, notice=FINISH_FIRST), ()
    match = display.match
    if match is not None and match.you is not None and match.tournament is not None:
        display = replace(display, left=match.match, pages=display.pages_under(match))
        return display.in_world(display.world.without_match(match.match)), ()
    if display.world.seeking is not None:
        return display, ()
    return replace(display, overlay=Overlay.NONE, world=replace(display.world, seeking=seek)), (seek,)


def gone_on(display: Display, match: Snapshot) -> Effect:
    """Show a match of ours on top of the lobby only, and stop watching another match."""
    watched = display.world.watching
    requests: tuple[Request, ...] = ()
    if watched is not None and not display.world.has_seat(watched):
        display, requests = display.in_world(display.world.without_match(watched)), (UnwatchRequest(0, match=watched),)
        display = replace(display, featured=None)
    return replace(display, pages=display.pages_under(match)).showing(match), requests


def _leave(display: Display) -> Effect:
    match = display.match
    if match is None or not display.is_live:
        return replace(display, is_leaving=True), ()
    if display.overlay is not Overlay.LEAVE:
        return replace(display, overlay=Overlay.LEAVE, typed=""), ()
    if display.world.link is not LinkState.ONLINE:
        return replace(display, is_leaving=True), ()
    return replace(display, is_leaving=True, overlay=Overlay.NONE), (_end_of(match),)


def _let_wait(display: Display) -> Display:
    """Leave without ending the match, if that was the question: it can be resumed later."""
    is_kept = display.overlay is Overlay.LEAVE and display.has_lobby
    return replace(display, is_leaving=is_kept, is_match_kept=is_kept, overlay=Overlay.NONE)


def _end_of(match: Snapshot) -> AbortRequest | ResignRequest:
    return (AbortRequest if is_called_off(match) else ResignRequest)(0, match=match.match)


def is_next_to_watch(display: Display) -> bool:
    """Tell whether the match that we watch has a successor."""
    return display.is_watched and display.match is not None and display.match.next is not None


def leads_on(display: Display, event: Rematched) -> bool:
    """Tell whether to switch to the next match automatically: not while the player reads or types."""
    is_seen = display.page.screen == "match" and display.overlay is Overlay.NONE and display.entry is Entry.MOVE
    return is_seen and display.world.watching == display.shown == event.match and is_next_to_watch(display)


def followed(display: Display) -> tuple[Display, tuple[Request, ...]]:
    """Watch the next match instead of the watched one; a private series keeps its code."""
    match = display.match
    if match is None or match.next is None:
        return display, ()
    heard = (UnwatchRequest(0, match=match.match),) if display.world.watching == match.match else ()
    display = replace(display, left=None, world=replace(display.world, watching=match.next))
    return display, (*heard, WatchRequest(0, match=match.next, code=display.world.watch_code))


_YES = {"rematch": "r", "draw": "d", "takeback": "t"}
"""The key that makes or accepts each kind of offer."""
_NO = "x"
_CLAIM, _NEW, _REPLAY = "c", "n", "v"


def title(display: Display) -> str:
    """Return the title of the game."""
    return clean(display.match.game.title, 40) if display.match is not None else ""


def rule(display: Display) -> str:
    """Return the rule of the game in one sentence."""
    return clean(display.match.game.rule, 120) if display.match is not None else ""


def prompt(display: Display, now_ms: int) -> str:
    """Return what the player has to answer, and the latest notice; if there is neither, the next possible opponent."""
    match = display.match
    if match is None:
        return default_prompt(display, now_ms)
    due = waiting(display, match, now_ms)  # first, so that no notice hides it
    said = " ".join(filter(None, [due, default_prompt(display, now_ms)]))
    taught = _taught(display, match)
    if match.outcome is not None and not due:  # after the end, other notices do not hide the lesson
        sought = _next_opponent(display, match) if display.world.seeking is not None else ""
        said = " ".join(filter(None, [said, sought, taught]))
    return said or taught or _next_opponent(display, match)


def _taught(display: Display, match: Snapshot) -> str:
    """Return the coach's advice for the shown position, or the lesson of a finished match."""
    back = f"{pressed(_YES['takeback'], display)} asks to take it back."
    return hint_told(display, match, back) or lesson_told(display, match, f"{_REPLAY} shows it.")


def _next_opponent(display: Display, match: Snapshot) -> str:
    """Return the suggestion of a next opponent at a board where we are not playing."""
    if display.is_live:
        return ""
    if display.world.seeking is not None:
        has_bots = free_bots(display, display.world.seeking) != []
        return _looking(display.world.seeking, has_bots=has_bots, is_ours=not display.is_watched)
    people = waiting_people(display) if match.outcome is not None else []
    return _somebody_waits(people[0].by) if people else ""


def _looking(seek: SeekRequest, *, has_bots: bool, is_ours: bool) -> str:
    """Return our seek in words, how to stop it at a board of ours, and how to play a bot instead if one is free."""
    ways = ["n stops"] * is_ours + ["b plays a bot"] * has_bots
    return f"Looking for {words.WELCOME_TO[seek.opponents]}{'; ' + ', '.join(ways) + '.' if ways else ' ...'}"


def _somebody_waits(player: PlayerInfo) -> str:
    """Return the sentence that a person is waiting in the lobby."""
    return f"Esc: {words.name_of(player)} waits for an opponent."


def waiting(display: Display, match: Snapshot, now_ms: int) -> str:
    """Return what the player can answer at the shown match, with its key: an offer, another match, a claim."""

    def answer(kind: str) -> str:
        return f"press {pressed(_YES[kind], display)} to accept, {pressed(_NO, display)} to decline"

    offers = words.offers(match, answer)
    other = words.elsewhere(display.elsewhere, pressed(_NEW, display))
    return (
        offers
        or other
        or words.absence(display.world, match, display.claim_in_ms(now_ms), f"press {pressed(_CLAIM, display)}")
    )


def pressed(key: str, display: Display) -> str:
    """Return the key to press: in upper case if moves begin with its letter."""
    return key.upper() if key in beginnings(display) else key


def may_name_move(display: Display) -> bool:
    """Tell whether the player may type a move here; elsewhere, it would swallow all further keys."""
    return display.match is not None and display.match.outcome is None and not display.is_watched


def beginnings(display: Display) -> set[str]:
    """Return the first letters of our moves in the shown match, while it is live."""
    if display.match is None or not may_name_move(display):
        return set()
    return {name[:1].lower() for name in display.match.game.move_names}
