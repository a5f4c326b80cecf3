"""What a player does on a list, and what comes of it."""

from dataclasses import replace

from ttt_net.client.changes.replaying import stepped
from ttt_net.client.commands import AnyCommand, Command, Pick, Step
from ttt_net.client.pages import SPEEDS, TIMES, Kind
from ttt_net.client.rows.page import asks, rows_of
from ttt_net.client.rows.row import Row, cursor_of, moved, next_section
from ttt_net.client.view import View
from ttt_net.messages import AnswerRequest, Request

_ALL = 100_000
_STEPS: dict[AnyCommand, int] = {
    **{Command.RIGHT: 1, Command.DOWN: 1, Command.PLACE: 1, Command.LEFT: -1, Command.UP: -1},
    **{Command.FIRST: -_ALL, Command.LAST: _ALL},
}
Then = tuple[View, AnyCommand | None, tuple[Request, ...]]
"""The view, and either another action that this one comes to, or what to say."""


def act_on_page(view: View, command: AnyCommand) -> Then:
    """Return the view after the action, and what it comes to."""
    if view.page.kind is Kind.REPLAY and command in _STEPS:
        view, requests = stepped(view, _STEPS[command])
        return view, None, requests
    if view.page.kind is Kind.REPLAY and isinstance(command, Step):
        view, requests = stepped(view, command.rows)
        return view, None, requests
    rows = rows_of(view, 0)
    at = cursor_of(rows, view.page.row, view.page.place)
    match command:
        case Command.UP | Command.DOWN:
            return _moved(view, rows, at, command.value[1]), None, ()
        case Step(by):
            return _moved(view, rows, at, by), None, ()
        case Command.SECTION if at is not None:
            return _at(view, rows, next_section(rows, at)), None, ()
        case Command.PLACE if at is not None:
            return _at(view, rows, at), rows[at].enter, ()
        case Pick(key):
            index = next((n for n, row in enumerate(rows) if row.key == key and row.enter is not None), None)
            return (view, None, ()) if index is None else (_at(view, rows, index), rows[index].enter, ())
        case Command.LEFT | Command.RIGHT | Command.TIME if view.page.kind is Kind.GAMES:
            by = -1 if command is Command.LEFT else 1
            return view.with_page(replace(view.page, time=(view.page.time + by) % len(TIMES))), None, ()
        case Command.LEFT | Command.RIGHT | Command.TIME if view.page.kind is Kind.LEADERS:
            return _other_leaders(view, -1 if command is Command.LEFT else 1)
        case Command.GAME if view.page.kind is Kind.LEADERS:
            return _other_game(view)
        case Command.RATED if view.page.kind is Kind.GAMES:
            return view.with_page(replace(view.page, is_rated=not view.page.is_rated)), None, ()
        case Command.ACCEPT | Command.DECLINE:
            return _answered(view, is_accepted=command is Command.ACCEPT)
        case Command.LEAVE:
            return replace(view, is_leaving=True, shown=None), None, ()
        case _:
            return view, None, ()


def _other_leaders(view: View, by: int) -> Then:
    page = replace(view.page, time=(view.page.time + by) % len(SPEEDS))
    return view.with_page(page), None, asks(page)


def _other_game(view: View) -> Then:
    from ttt_net.games.catalogue import NAMES  # no other page needs the rules' own list

    at = NAMES.index(view.page.about) if view.page.about in NAMES else -1
    page = replace(view.page, about=NAMES[(at + 1) % len(NAMES)])
    return view.with_page(page), None, asks(page)


def _moved(view: View, rows: list[Row], at: int | None, by: int) -> View:
    if at is None:  # where there is nothing to choose, what is read moves
        return view.with_page(replace(view.page, place=max(0, min(view.page.place + by, len(rows) - 1))))
    return _at(view, rows, moved(rows, at, by))


def _at(view: View, rows: list[Row], index: int) -> View:
    return view.with_page(replace(view.page, row=rows[index].key, place=index))


def _answered(view: View, *, is_accepted: bool) -> Then:
    """Answer the challenge that is chosen, or else the oldest one to us; what we have made ourselves is taken back."""
    ours = view.you.name if view.you is not None else None
    waiting = [each.challenge for each in view.lobby.challenges]
    chosen = next((each for each in waiting if f"challenge:{each.challenge}" == view.page.row), None)
    challenge = chosen or view.challenge
    if challenge is None or (is_accepted and challenge.by.name == ours):
        return replace(view, notice="Nobody challenges you at the moment."), None, ()
    return view, None, (AnswerRequest(0, challenge=challenge.challenge, accept=is_accepted),)
