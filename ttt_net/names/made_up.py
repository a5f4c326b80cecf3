"""Make up names for guests, such as guest-blue-fox, which nobody can register: `guest` is reserved."""

import random

_KINDS = (
    "agile amber azure blue bold brave brisk calm clear cool coral eager early fancy fast fine glad gold grand "
    "great green happy ivory jade jolly keen kind light lucky merry mild mint neat noble olive proud quick quiet "
    "rapid ready red royal ruby sandy sharp shiny smart snowy sunny swift teal tidy tiny vivid warm white wise "
    "witty "
)
_ANIMALS = (
    "bear bee bison camel cat cod crane crow deer dove duck eagle eland emu fawn finch fox frog gecko gnu goose "
    "hare hawk heron horse ibex ibis jay kiwi koala lark lemur lion llama lynx macaw mole moose mouse newt okapi "
    "orca otter owl panda puma quail raven robin seal shark sole stork swan swift tapir tiger trout tuna whale wolf "
    "wren zebra "
)
KINDS, ANIMALS = tuple(_KINDS.split()), tuple(_ANIMALS.split())
"""Words of five letters at most: with two digits, a name has the twenty cells that names may have."""
_DIGITS = (0, 1, 2, 7, 8, 9)
"""The digits of a name after so many names that were taken; from seven on, it has no words."""
_WITHOUT_WORDS = 7
TRIES = len(_DIGITS)
"""The number of names to try."""


def made_up_name(dice: random.Random, misses: int) -> str:
    """Return a name for a guest after `misses` names that were taken: rarer each time."""
    digits = _DIGITS[misses]
    words = [] if digits >= _WITHOUT_WORDS else [dice.choice(KINDS), dice.choice(ANIMALS)]
    number = [str(dice.randrange(10 ** (digits - 1), 10**digits))] if digits else []
    return "-".join(["guest", *words, *number])
