"""Draw docs/demo.svg, a film of `make demo` that any browser plays: `make docs`. A test compares its words.

It is the demo's own stage, with a match that is always the same. Each line that is ever seen is kept once; a frame
is a list of them, and is seen for its part of the time. Viewers who prefer reduced motion see the last frame.
"""

from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from rich.text import Text
from write_picture import BAR, CELL_HEIGHT, CELL_WIDTH, DOTS, FONT, MARGIN, THEMED, lines_of

from ttt_net import messages as wire
from ttt_net.client.drawing.board import without_targets
from ttt_net.client.drawing.themes import DARK, Depth
from ttt_net.commands.demo import WAYS_IN, DemoStage
from ttt_net.matches.match import Match
from ttt_net.matches.referee import decide

FILE = Path(__file__).parent / "demo.svg"
COLUMNS, ROWS, BOARD_ROWS = 74, 28, 15
MOVES = (5, 1, 4, 6, 5, 7, 4, 4, 6, 7, 3, 2, 3)
"""By column: two threats at once, of which O can stop one."""
BOTS = (wire.PlayerInfo("Mia", "alphabeta", level=6), wire.PlayerInfo("Leo", "alphabeta", level=4))
MOVE_S, FALL_S, HOLD_S = 0.55, 0.06, 4.0
"""How long a move is seen, a falling mark in each row, and the end."""
BACK_S = 0.6
"""How long the server of the film takes to start again, as it does on a quiet machine."""
TYPED = Text("$ make demo", style="bold")
OPENING = (
    "A server is listening on ws://127.0.0.1:8765.",
    "Two clients join it, each a process of its own: Mia and Leo.",
)


TITLE = "make demo: two bots play Connect Four, the server is killed and comes back, nothing is lost"


class Frame(NamedTuple):
    """A picture of the terminal, and how long it is seen."""

    picture: Text
    seconds: float


def main() -> None:
    """Write the film."""
    FILE.write_text(film(), encoding="utf-8")


def frames() -> list[Frame]:
    """Return the demo, from what is typed to how to join in."""
    opening = [Frame(TYPED, 1.0), *(Frame(_below(TYPED, *OPENING[:n]), 0.9) for n in (1, 2))]
    seen: list[Frame] = []
    times = iter((0.0, BACK_S))
    stage = DemoStage(
        *(lambda picture, seconds: seen.append(Frame(picture, seconds)), THEMED, BOARD_ROWS),
        is_moving=True,
        clock_s=lambda: next(times),
    )
    stage.play(_told(), lambda: None, lambda: None)
    above = _below(TYPED, *OPENING, "")
    shown = [Frame(_joined(above, each.picture), _seconds(each.seconds)) for each in seen]
    return [*opening, *shown, Frame(_below(shown[-1].picture, stage.proof, "", *WAYS_IN), HOLD_S)]


def _joined(above: Text, below: Text) -> Text:
    return Text("\n").join([above, below])


def _seconds(least: float) -> float:
    return MOVE_S if not least else FALL_S if least < 0.1 else 2 * least


def _below(picture: Text, *lines: str) -> Text:
    return Text("\n").join([picture, *map(Text, lines)])


def _told() -> list[str]:
    """Return what one of the bots hears of the match; the server is back after its sixth move."""
    match = Match(wire.Started("k3V9pQ7x", 1, 0, "connect4", BOTS, None))
    told = [wire.encode(match.snapshot(0, (True, True), 0))]
    for ply, column in enumerate(MOVES):
        cells = match.game.actions(match.state)
        move = next(cell for cell in cells if match.game.move_names[cell] == str(column))
        for event in decide(match, ply % 2, wire.PlayRequest(1, match.id, ply, move), 1_000 * ply):
            match.evolve(event)
            told.append(wire.encode(match.told(event)))
        if len(match.moves) == 6:
            told.append(wire.encode(match.snapshot(0, (True, True), 0)))
        if match.is_over:
            return [each if isinstance(each, str) else each.decode() for each in told]
    raise AssertionError("the match of the film has an end")


def film() -> str:
    """Return the film as SVG."""
    shown = frames()
    lines: dict[str, int] = {}
    groups: list[str] = []
    starts: list[float] = []
    at_s = 0.0
    for frame in shown:
        drawn = lines_of(without_targets(frame.picture), COLUMNS, Depth.TRUE)
        uses = [
            f'<use href="#l{lines.setdefault(line, len(lines))}" x="{MARGIN}" y="{BAR + MARGIN + row * CELL_HEIGHT}"/>'
            for row, line in enumerate(drawn[:ROWS])
            if line
        ]
        groups.append(f'<g class="f f{len(groups)}">{"".join(uses)}</g>')
        starts.append(at_s)
        at_s += frame.seconds
    width, height = COLUMNS * CELL_WIDTH + 2 * MARGIN, BAR + ROWS * CELL_HEIGHT + 2 * MARGIN
    kept = "".join(f'<g id="l{number}">{line}</g>' for line, number in lines.items())
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" role="img">',
            f"<title>{TITLE}</title>",
            f"<style>{_style([*starts, at_s])}</style>",
            f"<defs>{kept}</defs>",
            f'<rect width="{width:g}" height="{height:g}" rx="8" fill="{DARK.ground}"/>{DOTS}',
            *groups,
            "</svg>\n",
        ]
    )


def _style(starts: list[float]) -> str:
    """Return when each frame is seen, as percentages of one showing, which goes on for ever."""
    whole_s = starts[-1]
    last = len(starts) - 2
    rules = [
        FONT,
        f".f{{visibility:hidden;animation:{whole_s:.2f}s step-end infinite}}",
    ]
    for number, (since, until) in enumerate(pairwise(starts)):
        since_part, until_part = 100 * since / whole_s, 100 * until / whole_s
        hidden = "0%{visibility:hidden}" if number else ""
        gone = f"{until_part:.2f}%{{visibility:hidden}}" if number < last else "100%{visibility:visible}"
        rules.append(f"@keyframes k{number}{{{hidden}{since_part:.2f}%{{visibility:visible}}{gone}}}")
        rules.append(f".f{number}{{animation-name:k{number}}}")
    rules.append(f"@media (prefers-reduced-motion:reduce){{.f{{animation:none}}.f{last}{{visibility:visible}}}}")
    return "".join(rules)


if __name__ == "__main__":
    main()
