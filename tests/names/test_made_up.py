"""The made-up names of guests can be shown everywhere, and nobody can register one."""

import random

from ttt_net.messages import MAX_NAME_CELLS
from ttt_net.names import ANIMALS, KINDS, TRIES, fitting_name, made_up_name
from ttt_net.text import clean


def test_made_up_names_fit_are_not_registered_by_others_and_get_rarer_after_each_miss() -> None:
    longest = f"guest-{max(KINDS, key=len)}-{max(ANIMALS, key=len)}-99"
    assert clean(longest, MAX_NAME_CELLS) == longest
    dice = random.Random(1)
    for misses in range(TRIES):
        names = {made_up_name(dice, misses) for _ in range(300)}
        assert all(clean(name, MAX_NAME_CELLS) == name and fitting_name(name) is None for name in names)
        assert len(names) >= 280
    assert len(set(KINDS)) * len(set(ANIMALS)) == len(KINDS) * len(ANIMALS) > 3_500
