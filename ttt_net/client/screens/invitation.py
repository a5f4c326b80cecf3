"""Show the code of an invitation, and what a friend types or opens with it."""

from ttt_net.client import labels, sharing
from ttt_net.client.commands import Command
from ttt_net.client.display import Display
from ttt_net.client.screens.screen import (
    BACK,
    HELP,
    LEAVE,
    LEAVING_HELP,
    KeyHint,
    Row,
    Screen,
    default_status,
)
from ttt_net.text import clean


def _status(display: Display) -> str:
    return default_status(display) if display.world.lobby.invitation is None else "Waiting for your friend ..."


def _rows(display: Display, now_ms: int) -> list[Row]:
    invitation = display.world.lobby.invitation
    if invitation is None:
        return [Row(("The invitation has been used, or was taken back.",))]
    wanted = labels.terms(invitation.game, invitation.time, is_rated=False)
    return [
        *(Row((line,)) for line in _large_code(invitation.code)),
        Row(("A friend types:",)),
        Row((f"  {sharing.join_command(display, invitation.code)}",)),
        Row((f"or opens {sharing.join_link(display, invitation.code)}",)),
        Row(("or presses c in the lobby and types the code.",)),
        Row(("",)),
        Row((f"It is for one private match: {wanted}.",)),
    ]


def _large_code(code: str) -> list[str]:
    """Return an invitation code to be read out from across the room."""
    letters = clean(code, labels.MAX_CODE)
    rule = "+---" * len(letters) + "+"
    return [rule, "".join(f"| {letter} " for letter in letters) + "|", rule]


SCREEN = Screen(
    name="invitation",
    title=lambda display: "Invitation",
    status=_status,
    rows=_rows,
    keys={"y": Command.COPY},
    hints=lambda display: [KeyHint("y", "copy", "y"), BACK, LEAVE, HELP],
    help=lambda display: ["y            copy the line to send", *LEAVING_HELP],
)
