"""The whole protocol, walked through: a few seeds here, many with `make fuzz`."""

import pytest

from tests.hostile.walk import UNREACHED, Walk
from ttt_net.errors import Code


@pytest.mark.parametrize("seed", range(4))
def test_a_walk_has_one_answer_to_each_request_and_reaches_every_code(seed: int) -> None:
    walk = Walk(seed)
    walk.run()
    assert set(Code) - set(walk.codes) == set(UNREACHED), "a code needs a situation, or a reason why none leads to it"


def test_a_walk_of_one_seed_is_always_the_same() -> None:
    walks = [Walk(7), Walk(7)]
    for walk in walks:
        walk.run()
    assert walks[0].codes == walks[1].codes
