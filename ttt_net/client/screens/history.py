"""List the finished matches of a player, newest first."""

from ttt_net.client import labels
from ttt_net.client.commands import More, Open, Reopen
from ttt_net.client.display import Display
from ttt_net.client.pages import Page
from ttt_net.client.screens.game_terms import page_about
from ttt_net.client.screens.screen import (
    BACK,
    CHOOSE,
    WAITING,
    Entrance,
    Row,
    Screen,
    day,
    list_hints,
    page_before,
)
from ttt_net.messages import FinishedMatch, HistoryReply, HistoryRequest, PlayerInfo


def _title(display: Display) -> str:
    history = display.world.reply(HistoryReply)
    return f"Matches of {labels.name_of(history.player)}" if history is not None else "Matches"


def _rows(display: Display, now_ms: int) -> list[Row]:
    """Return the finished matches of a player, and how to come to the older ones."""
    told = display.world.reply(HistoryReply)
    if told is None:
        return WAITING
    rows = [_finished(match, told.player.name, display.world.you) for match in told.matches]
    if told.before is not None:
        older = HistoryRequest(0, name=told.player.name, before=told.before)
        rows.append(Row(("Older ones",), "older", More(Page("history", about=told.player.name), older)))
    return rows or [Row(("No match has ended yet.",))]


def _finished(match: FinishedMatch, name: str, you: PlayerInfo | None) -> Row:
    side = 0 if match.players[0].name == name else 1
    if match.winner is None:
        result = "called off" if match.reason == "abort" else "drawn"
    else:
        result = "won" if match.winner == side else "lost"
    kind = ", ".join(["rated"] * match.rated + ["private"] * match.private)
    against = f"against {labels.full_label(match.players[1 - side])}"
    is_ours = you is not None and you.name in (player.name for player in match.players)
    cells = (day(match.at_ms), result, labels.title_of(match.game), against, kind)
    return Row(cells, f"match:{match.match}", Reopen(match.match, is_ours))


SCREEN = Screen(
    name="history",
    title=_title,
    rows=_rows,
    requests=lambda page: (HistoryRequest(0, name=page.about or None),),
    replies=(HistoryReply,),
    refused=page_before,
    hints=lambda display: list_hints([CHOOSE, BACK], _rows(display, 0)),
    entrance=Entrance("h", "history", "your matches", lambda display: Open(Page("history"))),
    words={"history": page_about("history")},
    usage="history NAME",
)
