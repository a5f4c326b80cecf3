"""Mutes and blocks beside a plain list of them: any sequence of requests leaves the same people muted and blocked."""

from typing import Literal

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from tests.server.journal.jobs import committed, register
from ttt_net.errors import Code, Refusal
from ttt_net.messages import BlockList
from ttt_net.server.journal import past
from ttt_net.server.journal.database import Database
from ttt_net.server.journal.entries import ForgetPlayer, RenamePlayer, SetBlock
from ttt_net.server.journal.queries import TokenQuery

PLAYERS = range(1, 7)
MOST = 3
EVERY_PLAYER = st.sampled_from(PLAYERS)


class Grudges(RuleBasedStateMachine):
    """The blocks of a journal, and the list that they are compared with: who, whom, and whether it is a block."""

    def __init__(self) -> None:
        super().__init__()
        self.database = Database(None)
        committed(self.database, *(register(f"p{each}") for each in PLAYERS))
        self.model: list[tuple[int, int | None, bool]] = []
        self.names = {each: f"p{each}" for each in PLAYERS}

    def teardown(self) -> None:
        self.database.close()

    def of(self, player: int) -> dict[int | None, bool]:
        return {whom: is_block for who, whom, is_block in self.model if who == player}

    def drop(self, player: int, other: int | None) -> None:
        self.model = [each for each in self.model if each[:2] != (player, other)]

    def expected(self, player: int, other: int | None, *, is_block: bool, on: bool) -> Code | None:
        own = self.of(player)
        if player not in self.names or (on and other is not None and other not in self.names):
            return Code.UNKNOWN_PLAYER
        if not on:
            if own.get(other) and not is_block:
                return Code.BLOCKED
            if other in own and own[other] == is_block:
                self.drop(player, other)
        elif other in own:
            place = [each[:2] for each in self.model].index((player, other))
            self.model[place] = (player, other, own[other] or is_block)
        else:
            if len(own) == MOST:
                mutes = [whom for whom, blocked in own.items() if not blocked and whom is not None]
                if not mutes:
                    return Code.TOO_MANY_BLOCKED
                self.drop(player, mutes[0])
            self.model.append((player, other, is_block))
        return None

    @rule(player=EVERY_PLAYER, other=EVERY_PLAYER, act=st.sampled_from(["mute", "block"]), on=st.booleans())
    def set(self, player: int, other: int, act: Literal["mute", "block"], *, on: bool) -> None:
        self.ask(player, other, act, on=on)

    @rule(player=EVERY_PLAYER, on=st.booleans())
    def mute_everybody(self, player: int, *, on: bool) -> None:
        self.ask(player, None, "mute", on=on)

    def ask(self, player: int, other: int | None, act: Literal["mute", "block"], *, on: bool) -> None:
        (answer,) = committed(self.database, SetBlock(player, other, act, on, MOST))
        code = self.expected(player, other, is_block=act == "block", on=on)
        if code is None:
            assert answer == self.of(player)
            assert list(answer) == list(self.of(player)), "the oldest first"
        else:
            assert isinstance(answer, Refusal)
            assert answer.code is code

    @rule(player=EVERY_PLAYER, name=st.sampled_from(["x", "y", "z"]))
    def rename(self, player: int, name: str) -> None:
        (answer,) = committed(self.database, RenamePlayer(player, name, name, (name,)))
        if answer is None:
            self.names[player] = name

    @rule(player=EVERY_PLAYER)
    def forget(self, player: int) -> None:
        if len(self.names) > len(PLAYERS) - 2:
            committed(self.database, ForgetPlayer(player))
            self.names.pop(player, None)
            self.model = [each for each in self.model if player not in each[:2]]

    @invariant()
    def each_player_has_the_list_of_the_model(self) -> None:
        for player in self.names:
            (found,) = committed(self.database, TokenQuery(f"p{player}".encode(), 0))
            assert found.blocks == self.of(player)
            own = [(whom, is_block) for whom, is_block in self.of(player).items() if whom is not None]
            blocked = [self.names[whom] for whom, is_block in own if is_block]
            muted = [self.names[whom] for whom, is_block in own if not is_block]
            listed = past.blocks(self.database.connection, player)
            assert listed == BlockList(blocked, muted, None in self.of(player))


Grudges.TestCase.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)
TestGrudges = Grudges.TestCase
