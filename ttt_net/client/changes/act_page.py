"""What a player does on a list, and what comes of it."""

from dataclasses import replace

from ttt_net.client.changes.replaying import stepped
from ttt_net.client.commands import AnyCommand, Command, Pick, Step
from ttt_net.client.display import Display
from ttt_net.client.pages import SPEEDS, TIMES, Kind
from ttt_net.client.rows.page import asks, rows_of
from ttt_net.client.rows.row import Row, cursor_of, moved, next_section
from ttt_net.messages import AnswerRequest, Request

_ALL = 100_000
_STEPS: dict[AnyCommand, int] = {
    **{Command.RIGHT: 1, Command.DOWN: 1, Command.PLACE: 1, Command.LEFT: -1, Command.UP: -1},
    **{Command.FIRST: -_ALL, Command.LAST: _ALL},
}
Then = tuple[Display, AnyCommand | None, tuple[Request, ...]]
"""The display, and either another action that this one comes to, or what to say."""


def act_on_page(display: Display, command: AnyCommand) -> Then:
    """Return the display after the action, and what it comes to."""
    if display.page.kind is Kind.REPLAY and command in _STEPS:
        display, requests = stepped(display, _STEPS[command])
        return display, None, requests
    if display.page.kind is Kind.REPLAY and isinstance(command, Step):
        display, requests = stepped(display, command.rows)
        return display, None, requests
    rows = rows_of(display, 0)
    at = cursor_of(rows, display.page.row, display.page.place)
    match command:
        case Command.UP | Command.DOWN:
            return _moved(display, rows, at, command.value[1]), None, ()
        case Step(by):
            return _moved(display, rows, at, by), None, ()
        case Command.SECTION if at is not None:
            return _at(display, rows, next_section(rows, at)), None, ()
        case Command.PLACE if at is not None:
            return _at(display, rows, at), rows[at].enter, ()
        case Pick(key):
            index = next((n for n, row in enumerate(rows) if row.key == key and row.enter is not None), None)
            return (display, None, ()) if index is None else (_at(display, rows, index), rows[index].enter, ())
        case Command.LEFT | Command.RIGHT | Command.TIME if display.page.kind is Kind.GAMES:
            by = -1 if command is Command.LEFT else 1
            return display.with_page(replace(display.page, time=(display.page.time + by) % len(TIMES))), None, ()
        case Command.LEFT | Command.RIGHT | Command.TIME if display.page.kind is Kind.LEADERS:
            return _other_leaders(display, -1 if command is Command.LEFT else 1)
        case Command.GAME if display.page.kind is Kind.LEADERS:
            return _other_game(display)
        case Command.RATED if display.page.kind is Kind.GAMES:
            return display.with_page(replace(display.page, is_rated=not display.page.is_rated)), None, ()
        case Command.ACCEPT | Command.DECLINE:
            return _answered(display, is_accepted=command is Command.ACCEPT)
        case Command.LEAVE:
            return replace(display, is_leaving=True, shown=None), None, ()
        case _:
            return display, None, ()


def _other_leaders(display: Display, by: int) -> Then:
    page = replace(display.page, time=(display.page.time + by) % len(SPEEDS))
    return display.with_page(page), None, asks(page)


def _other_game(display: Display) -> Then:
    from ttt_net.games.catalogue import NAMES  # no other page needs the rules' own list

    at = NAMES.index(display.page.about) if display.page.about in NAMES else -1
    page = replace(display.page, about=NAMES[(at + 1) % len(NAMES)])
    return display.with_page(page), None, asks(page)


def _moved(display: Display, rows: list[Row], at: int | None, by: int) -> Display:
    if at is None:  # where there is nothing to choose, what is read moves
        return display.with_page(replace(display.page, place=max(0, min(display.page.place + by, len(rows) - 1))))
    return _at(display, rows, moved(rows, at, by))


def _at(display: Display, rows: list[Row], index: int) -> Display:
    return display.with_page(replace(display.page, row=rows[index].key, place=index))


def _answered(display: Display, *, is_accepted: bool) -> Then:
    """Answer the challenge that is chosen, or else the oldest one to us; what we have made ourselves is taken back."""
    ours = display.world.you.name if display.world.you is not None else None
    waiting = [each.challenge for each in display.world.lobby.challenges]
    chosen = next((each for each in waiting if f"challenge:{each.challenge}" == display.page.row), None)
    challenge = chosen or display.world.challenge
    if challenge is None or (is_accepted and challenge.by.name == ours):
        return replace(display, notice="Nobody challenges you at the moment."), None, ()
    return display, None, (AnswerRequest(0, challenge=challenge.challenge, accept=is_accepted),)
