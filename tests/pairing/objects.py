"""Count what a thing keeps, to see that nothing is left of what is gone."""

import gc
from types import FunctionType


def count_objects(thing: object) -> int:
    """Return how many objects are reached from a thing, but for numbers, code and classes."""
    seen, pending = set[int](), [thing]
    while pending:
        each = pending.pop()
        if id(each) not in seen and not isinstance(each, (int, type, FunctionType)):
            seen.add(id(each))
            pending += gc.get_referents(each)
    return len(seen)
