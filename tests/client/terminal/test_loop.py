import pytest
from prompt_toolkit.input.vt100_parser import Vt100Parser
from prompt_toolkit.key_binding import KeyPress

from ttt_net.client.mailbox import Clicked, Focused, Key, Pasted, TerminalEvent
from ttt_net.client.terminal.loop import event_of


def events(data: str) -> list[TerminalEvent | None]:
    presses: list[KeyPress] = []
    parser = Vt100Parser(presses.append)
    parser.feed_and_flush(data)
    return [event_of(press) for press in presses]


@pytest.mark.parametrize(
    ("data", "event"),
    [
        ("a", Key("a")),
        ("\r", Key("c-m")),
        ("\x1b[A", Key("up")),
        ("\x1b", Key("escape")),
        ("\x1b[<0;40;12M", Clicked(39, 11)),
        ("\x1b[<0;40;12m", None),
        ("\x1b[<2;40;12M", None),
        ("\x1b[<64;1;1M", Key("up")),
        ("\x1b[<65;1;1M", Key("down")),
        ("\x1b[<99999999999;1;1M", None),
        ("\x1b[I", Focused(True)),
        ("\x1b[O", Focused(False)),
        ("\x1b[200~b2\x1b[A\r\x1b[201~", Pasted("b2\x1b[A\r")),
    ],
)
def test_what_a_terminal_sends_becomes_one_event(data: str, event: TerminalEvent | None) -> None:
    assert events(data) == [event]
