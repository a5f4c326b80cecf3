"""Mistakes to learn from beside a plain list of them: entries that cross or come twice neither lose nor double one."""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from tests.server.journal.jobs import committed, register
from ttt_net.errors import Code, Refusal
from ttt_net.messages import LEARNED, MistakesRequest, OwnMistake, OwnPuzzle
from ttt_net.server.journal import past
from ttt_net.server.journal.database import Database
from ttt_net.server.journal.entries import ForgetPlayer, KeepMistake

PLAYERS = (1, 2)
MOST = 3
DAYS = ["", "2026-11-27", "2026-11-28", "2026-12-04"]
POSITIONS = [
    OwnPuzzle("tictactoe", [4], [0]),
    OwnPuzzle("tictactoe", [4], [0, 1]),
    OwnPuzzle("tictactoe", [4], [0], "X../.../..."),
    OwnPuzzle("misere", [4], [0]),
    OwnPuzzle("misere", [4, 8], [1]),
]
STATES = st.builds(
    OwnMistake, st.sampled_from(POSITIONS), st.sampled_from(["", "why"]), st.sampled_from(DAYS), st.integers(0, LEARNED)
)


class Lessons(RuleBasedStateMachine):
    """The mistakes of a journal, and the lists, oldest first, that they are compared with."""

    def __init__(self) -> None:
        super().__init__()
        self.database = Database(None)
        committed(self.database, *(register(f"p{each}") for each in PLAYERS))
        self.model: dict[int, list[OwnMistake]] = {each: [] for each in PLAYERS}

    def teardown(self) -> None:
        self.database.close()

    @rule(player=st.sampled_from(PLAYERS), mistake=STATES)
    def keep(self, player: int, mistake: OwnMistake) -> None:
        (answer,) = committed(self.database, KeepMistake(player, mistake, MOST))
        if player not in self.model:
            assert isinstance(answer, Refusal)
            assert answer.code is Code.UNKNOWN_PLAYER
            return
        assert answer is None
        own = self.model[player]
        places = [place for place, each in enumerate(own) if each.position == mistake.position]
        if not places:
            own.append(mistake)
        elif mistake.progress > own[places[0]].progress:
            known = own[places[0]]
            own[places[0]] = OwnMistake(known.puzzle, known.text, mistake.due, mistake.times)
        if len(own) > MOST:
            learned = [each for each in own if each.times == LEARNED]
            own.remove((learned or own)[0])

    @rule()
    def forget(self) -> None:
        committed(self.database, ForgetPlayer(2))
        self.model.pop(2, None)

    def listed(self, player: int, today: str, *, has_all: bool) -> list[OwnMistake]:
        return past.mistakes(self.database.connection, MistakesRequest(0, all=has_all), player, today).mistakes

    @invariant()
    def each_player_has_the_mistakes_of_the_model(self) -> None:
        for player in PLAYERS:
            own = self.model.get(player, [])
            assert self.listed(player, "", has_all=True) == own
            for today in DAYS[1:]:
                due = sorted((each for each in own if each.is_due(today)), key=lambda each: each.due)
                assert self.listed(player, today, has_all=False) == due


Lessons.TestCase.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
TestLessons = Lessons.TestCase
