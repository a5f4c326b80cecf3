"""Describe a game, its page of rules, a position and a clock to a client that knows no rules. Knows no match."""

from functools import lru_cache
from typing import Any

from ttt_net.clock import Clock
from ttt_net.games import Game, find_game
from ttt_net.games.rules import draw_example, find_rules
from ttt_net.messages import ClockInfo, GameInfo, Position, RuleExample, RulesReply, TargetInfo


@lru_cache(maxsize=64)
def describe_game(name: str) -> GameInfo:
    """Return the description of the game of that name."""
    game = find_game(name)
    return GameInfo(
        name=game.name,
        title=game.title,
        rule=game.rule,
        shape=list(game.shape),
        gravity=game.gravity,
        move_cells=list(game.move_cells),
        move_names=list(game.move_names),
        block=None if game.block is None else list(game.block),
    )


@lru_cache(maxsize=64)
def describe_rules(name: str) -> RulesReply:
    """Return the page of rules of the game of that name. Raises `Refusal` if there is no such game."""
    game, page = find_game(name), find_rules(name)
    example = RuleExample(page.example.split(), list(draw_example(name)), page.caption) if page.example else None
    return RulesReply(game.name, game.title, game.rule, page.goal, page.special, list(page.tips), example)


def describe_position(game: Game[Any], ply: int, state: Any, *, is_over: bool) -> Position:  # noqa: ANN401 - of any game
    """Return the position after `ply` moves; once the match is over nobody is to move, whatever the rules say."""
    line = game.line(state)
    vanishing, target, takeover = (None, None, None) if is_over else game.special(state)
    return Position(
        ply=ply,
        board=game.board(state),
        to_move=None if is_over else game.to_move(state),
        legal=[] if is_over else list(game.actions(state)),
        line=list(line),
        marks=game.marks(state),
        blocks=game.blocks(state),
        line_by=game.line_side(state) if line else None,
        vanishing=vanishing,
        target=target and TargetInfo(target.block + 1, target.name),
        takeover=takeover,
    )


def describe_clock(clock: Clock | None, now_ms: int) -> ClockInfo | None:
    """Return the time left to both sides, and whose runs; None without a clock."""
    return None if clock is None else ClockInfo(clock.read(now_ms), clock.running)
