"""Report a player to the host: choose whom, where it is not plain, and what for."""

from ttt_net.client.commands import AnyCommand, Open, Send
from ttt_net.client.display import Display
from ttt_net.client.pages import Page
from ttt_net.client.screens.game_terms import MAX_NAME_CELLS
from ttt_net.client.screens.screen import BACK, CHOOSE, Meaning, Row, Screen, list_hints
from ttt_net.messages import ReportReason, ReportRequest, SeekRequest
from ttt_net.text import clean

THANKS = "Thank you. The host and the moderators of this server can see it now."
_REASONS: tuple[tuple[ReportReason, str], ...] = (
    ("chat", "What they write in the chat"),
    ("name", "Their name"),
    ("cheating", "They cheat"),
    ("other", "Something else"),
)


def report(display: Display) -> AnyCommand:
    """Return the command that opens the screen from a match: of the opponent, or where one watches, of nobody yet."""
    match = display.match
    about = match.players[1 - match.you].name if match is not None and match.you is not None else ""
    return Open(Page("report", about=about))


def _title(display: Display) -> str:
    name = clean(display.page.about, MAX_NAME_CELLS)
    return f"Report {name}" if name else "Report a player"


def _rows(display: Display, now_ms: int) -> list[Row]:
    name, match = display.page.about, display.match
    if not name:
        players = [player.name for player in match.players] if match is not None else []
        names = dict.fromkeys([*players, *display.talkers])
        return [Row((clean(each, MAX_NAME_CELLS),), f"who:{each}", Open(Page("report", about=each))) for each in names]
    heard = match.match if match is not None else None
    carried = "The last lines of the chat at this match go with it." if heard else "No chat goes with it."
    return [
        Row(("The host and the moderators of this server see who reports whom, and for what.",)),
        Row((carried,)),
        Row(("",)),
        *(Row((said,), reason, Send(ReportRequest(0, name, reason, heard))) for reason, said in _REASONS),
    ]


def _word(display: Display, wanted: SeekRequest, rest: str) -> Meaning:
    if rest:
        return Open(Page("report", about=clean(rest, MAX_NAME_CELLS)))
    return report(display) if display.match is not None else "Type report and a name."


SCREEN = Screen(
    name="report",
    title=_title,
    rows=_rows,
    hints=lambda display: list_hints([CHOOSE, BACK], _rows(display, 0)),
    is_form=True,
    words={"report": _word},
    usage="report NAME",
)
