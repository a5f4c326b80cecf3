"""What a player does at a board, and what comes of it: his own part of the view changes, or there are requests."""

from dataclasses import replace

from ttt_net.client.changes.moves import layers_of, legal_at, quick_moves
from ttt_net.client.changes.replaying import begun
from ttt_net.client.changes.update import on_screen, without
from ttt_net.client.commands import CLAIMS, AnyCommand, Choose, Command, Move, Point, Quick
from ttt_net.client.view import LinkState, Overlay, View
from ttt_net.client.words import FINISH_FIRST, move_name
from ttt_net.messages import (
    AbortRequest,
    AnalyseRequest,
    ClaimRequest,
    DeclineRequest,
    OfferKind,
    OfferRequest,
    PlayRequest,
    RecordRequest,
    Request,
    ResignRequest,
    SeekRequest,
    Snapshot,
    UnwatchRequest,
)

Effect = tuple[View, tuple[Request, ...]]
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
"""What only one who has a seat at the match may do."""
_OFFERS: dict[Command, OfferKind] = {Command.REMATCH: "rematch", Command.DRAW: "draw", Command.TAKE_BACK: "takeback"}


def act_in_match(view: View, command: AnyCommand, seek: SeekRequest) -> Effect:
    """Return the view after the action and what to say to the server; `seek` is what `Command.NEW` asks for."""
    if view.is_watched and (command in _OF_PLAYERS or isinstance(command, Move | Quick | Point)):
        return replace(view, notice="You look on; only the two who play can do that.", typed=""), ()
    match command:
        case Command.UP | Command.DOWN | Command.LEFT | Command.RIGHT:
            return _moved_cursor(view, *command.value), ()
        case Command.PLACE:
            return _leave(view) if view.overlay is Overlay.LEAVE else _place(view)
        case Command.MOVES:
            return _list_moves(view), ()
        case Command.REMATCH | Command.DRAW | Command.TAKE_BACK:
            return _offer(view, _OFFERS[command])
        case Command.CLAIM:
            return _ask_claim(view), ()
        case Command.DECLINE:
            return _decline(view)
        case Command.RESIGN:
            return _resign(view)
        case Command.NEW:
            return _new(view, seek)
        case Command.LEAVE:
            return _leave(view)
        case Command.REPLAY:
            return begun(view)
        case Command.ANALYSE:
            return _analyse(view)
        case Command.SAVE:
            return _save(view)
        case Command.SIDE_PANEL:
            return replace(view, overlay=Overlay.NONE if view.overlay is Overlay.SIDE_PANEL else Overlay.SIDE_PANEL), ()
        case Choose(index):
            return _choose(view, index)
        case Move(name):
            return _play_named(view, name)
        case Quick(digit):
            return _play_quick(view, digit)
        case Point(cell):
            return _place(replace(view, cursor=cell, typed="", overlay=Overlay.NONE))
        case _:
            return view, ()


def _moved_cursor(view: View, dx: int, dy: int) -> View:
    """Move over the board as it is drawn: right of a layer comes the next, unless marks fall from layer to layer."""
    match = view.match
    if match is None:
        return view
    height, width = match.game.shape[-2:]
    layers = 1 if match.game.gravity else layers_of(match)
    z, rest = divmod(view.cursor, height * width)
    y, x = divmod(rest, width)
    column = (z * width + x + dx) % (layers * width)
    y = (y + dy) % height
    return replace(view, cursor=(column // width * height + y) * width + column % width, typed="")


def _place(view: View) -> Effect:
    if view.typed:
        return _play_named(replace(view, typed=""), view.typed)
    if view.match is None:
        return view, ()
    return _one_of(view, legal_at(view.match, view.cursor), "That cell is not free.")


def _one_of(view: View, moves: tuple[int, ...], otherwise: str) -> Effect:
    if not view.may_move:
        return _not_now(view), ()
    if not moves:
        return replace(view, notice=otherwise), ()
    if len(moves) == 1:
        return _play(view, moves[0])
    return replace(view, overlay=Overlay.CHOICE, choices=moves), ()


def _list_moves(view: View) -> View:
    """Show the moves that have no cell, or all of the few that there are."""
    if view.match is None or not view.may_move:
        return _not_now(view)
    legal = view.match.position.legal
    free = tuple(move for move in legal if view.match.game.move_cells[move] < 0)
    if not free and (digits := quick_moves(view.match)):  # a list would give them other digits
        return replace(view, notice=f"Press a digit, 1 to {max(digits)}, or go there with the arrows and press Enter.")
    choices = free or tuple(legal)[:9]
    return replace(view, overlay=Overlay.CHOICE, choices=choices)


def _play(view: View, move: int) -> Effect:
    match = view.match
    if match is None or not view.may_move:
        return _not_now(view), ()
    play = PlayRequest(0, match=match.match, ply=match.position.ply, move=move)
    cell = match.game.move_cells[move]
    view = replace(view, cursor=cell if cell >= 0 else view.cursor)
    return replace(view, pending=play, typed="", overlay=Overlay.NONE, choices=()), (play,)


def _play_named(view: View, name: str) -> Effect:
    match = view.match
    if match is None or not view.may_move:
        return _not_now(view), ()
    moves = tuple(move for move in match.position.legal if match.game.move_names[move].lower() == name.lower())
    if moves:
        return _one_of(view, moves, "")
    if name.isdecimal() and len(name) == 1 and quick_moves(match):
        return _play_quick(view, int(name))
    known = name.lower() in (written.lower() for written in match.game.move_names)
    why = "is not possible now" if known else "is no move here"
    some = ", ".join(move_name(match, move) for move in match.position.legal[:9])
    return replace(view, notice=f"{name} {why}; possible: {some}{' ...' if len(match.position.legal) > 9 else ''}"), ()


def _play_quick(view: View, digit: int) -> Effect:
    if view.match is None:
        return view, ()
    moves = quick_moves(view.match)
    if digit not in moves:
        return replace(view, notice=f"{digit} is no place here."), ()
    return _one_of(view, moves[digit], f"{digit} is not free.")


def _not_now(view: View) -> View:
    if view.match is None:
        return view
    if view.match.outcome is not None:
        return replace(view, notice="The match is over.")
    return replace(view, notice="Your last move is on its way." if view.under_way else "It is not your turn.")


def _offer(view: View, kind: OfferKind) -> Effect:
    match = view.match
    if match is None:
        return view, ()
    if kind == "rematch" and match.outcome is None:
        return replace(view, notice="A rematch can be offered when the match is over."), ()
    if kind != "rematch" and match.outcome is not None:
        return replace(view, notice="The match is over."), ()
    return view, (OfferRequest(0, match=match.match, kind=kind),)


def _ask_claim(view: View) -> View:
    match = view.match
    if match is None or match.outcome is not None:
        return _not_now(view)
    if match.away is None or match.away.side == match.you:
        return replace(view, notice="Your opponent is here; there is nothing to claim.")
    return replace(view, overlay=Overlay.CLAIM)


def _choose(view: View, index: int) -> Effect:
    if view.match is not None and view.overlay is Overlay.CLAIM and index < len(CLAIMS):
        return replace(view, overlay=Overlay.NONE), (ClaimRequest(0, match=view.match.match, kind=CLAIMS[index]),)
    if view.overlay is Overlay.CHOICE and index < len(view.choices):
        return _play(view, view.choices[index])
    return view, ()


def _analyse(view: View) -> Effect:
    """Have a finished match looked at by the server's engine, if it has one."""
    match = view.match
    if match is None or match.outcome is None:
        return replace(view, notice="Only a match that is over can be analysed."), ()
    if "analyse" not in view.features:
        return replace(view, notice="This server has no engine; save the match to analyse it yourself."), ()
    view = replace(view, notice="An engine looks at every move; this may take half a minute.")
    return view, (AnalyseRequest(0, match=match.match),)


def _save(view: View) -> Effect:
    """Ask for the record of a finished match; whoever keeps the screen writes it down when it comes."""
    if view.match is None or view.match.outcome is None:
        return replace(view, notice="Only a match that is over can be saved."), ()
    return view, (RecordRequest(0, match=view.match.match),)


def _decline(view: View) -> Effect:
    match = view.match
    if match is None or not match.offers:
        return replace(view, notice="There is no offer."), ()
    return view, tuple(DeclineRequest(0, match=match.match, kind=offer.kind) for offer in match.offers[:1])


def _resign(view: View) -> Effect:
    match = view.match
    if match is None or not view.is_live:
        return replace(view, notice="There is no match to resign."), ()
    is_asked = view.overlay is Overlay.LEAVE  # whether to leave: then a match that has hardly begun is called off
    end = _end_of(match) if is_asked else ResignRequest(0, match=match.match)
    return replace(view, overlay=Overlay.NONE, is_going_back=False), (end,)


def _new(view: View, seek: SeekRequest) -> Effect:
    unfinished = (match for name, match in view.matches.items() if view.has_seat(name) and match.outcome is None)
    waiting = view.elsewhere if view.is_live else next(unfinished, None)
    if waiting is not None:
        return gone_on(view, waiting)
    if view.is_live:
        return replace(view, notice=FINISH_FIRST), ()
    if view.seeking is not None:
        return view, ()
    return replace(view, seeking=seek, overlay=Overlay.NONE), (seek,)


def gone_on(view: View, match: Snapshot) -> Effect:
    """Put a match of ours on the screen, on the lobby alone; whoever goes on with his own looks on no more."""
    watched = view.watching
    requests: tuple[Request, ...] = ()
    if watched is not None and not view.has_seat(watched):
        view, requests = without(view, watched), (UnwatchRequest(0, match=watched),)
    return on_screen(replace(view, pages=view.pages[:1]), match), requests


def _leave(view: View) -> Effect:
    match = view.match
    if match is None or not view.is_live:
        return replace(view, is_leaving=True), ()
    if view.overlay is not Overlay.LEAVE:
        return replace(view, overlay=Overlay.LEAVE, typed=""), ()
    if view.link is not LinkState.ONLINE:
        return replace(view, is_leaving=True), ()
    return replace(view, is_leaving=True, overlay=Overlay.NONE), (_end_of(match),)


def _end_of(match: Snapshot) -> AbortRequest | ResignRequest:
    return AbortRequest(0, match=match.match) if match.position.ply < 2 else ResignRequest(0, match=match.match)
