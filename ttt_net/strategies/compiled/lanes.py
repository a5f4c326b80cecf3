"""Eight 64-bit words side by side, as one value of compiled code: an operation on it is done in every lane at once.

The operators are those of words (`& | ^ ~ + - << >> *`), between such values or one and a word, which then counts in
every lane. Written out as vectors they become the widest instructions that a processor has, also where a compiler left
to itself would take half of them. Numba knows no such type, so it is made known here.
"""

import operator
from collections.abc import Callable
from typing import Any, ClassVar

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import ConcreteTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model

COUNT = 8
WORD, INDEX = ir.IntType(64), ir.IntType(32)
VECTOR = ir.VectorType(WORD, COUNT)
NONE = ir.Constant(VECTOR, [0] * COUNT)


class LanesType(types.Type):
    """The type of such values, as numba infers it."""

    def __init__(self) -> None:
        super().__init__(name="Lanes")


LANES = LanesType()
OPERATIONS = (
    (operator.and_, "and_"),
    (operator.or_, "or_"),
    (operator.xor, "xor"),
    (operator.add, "add"),
    (operator.sub, "sub"),
    (operator.mul, "mul"),
    (operator.lshift, "shl"),
    (operator.rshift, "lshr"),
)
"""Each operator, and the instruction of LLVM for it."""


@register_model(LanesType)
class LanesModel(models.PrimitiveModel):
    """How numba holds such a value: as a vector of LLVM."""

    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, VECTOR)


def _in_every_lane(builder: Any, word: Any) -> Any:
    first = builder.insert_element(ir.Constant(VECTOR, ir.Undefined), word, ir.Constant(INDEX, 0))
    zeros = ir.Constant(ir.VectorType(INDEX, COUNT), [0] * COUNT)
    return builder.shuffle_vector(first, ir.Constant(VECTOR, ir.Undefined), zeros)


def _register(symbol: Callable[..., Any], instruction: str) -> None:
    pairs = ((LANES, LANES), (LANES, types.uint64), (types.uint64, LANES))

    @infer_global(symbol)
    class Typing(ConcreteTemplate):
        key = symbol
        cases: ClassVar = [signature(LANES, *pair) for pair in pairs]

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        both = (
            value if kind == LANES else _in_every_lane(builder, value)
            for value, kind in zip(arguments, sig.args, strict=True)
        )
        return getattr(builder, instruction)(*both)

    for pair in pairs:
        lower_builtin(symbol, *pair)(generate)


for _symbol, _instruction in OPERATIONS:
    _register(_symbol, _instruction)


@infer_global(operator.invert)
class InvertTyping(ConcreteTemplate):
    """Tell numba that `~` of lanes gives lanes."""

    key = operator.invert
    cases: ClassVar = [signature(LANES, LANES)]


@lower_builtin(operator.invert, LANES)
def _invert(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
    return builder.not_(arguments[0])


@intrinsic
def spread(typing_context: Any, word: Any) -> Any:
    """Return a word in every lane."""

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        return _in_every_lane(builder, arguments[0])

    return LANES(types.uint64), generate


@intrinsic
def lane_numbers(typing_context: Any) -> Any:
    """Return its own number in every lane, from 0."""

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        return ir.Constant(VECTOR, list(range(COUNT)))

    return LANES(), generate


@intrinsic
def count_each(typing_context: Any, lanes: Any) -> Any:
    """Return in every lane how many bits are set there."""

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        function = ir.FunctionType(VECTOR, [VECTOR])
        return builder.call(cgutils.get_or_insert_function(builder.module, function, "llvm.ctpop.v8i64"), arguments)

    return LANES(LANES), generate


@intrinsic
def least_each(typing_context: Any, lanes: Any, word: Any) -> Any:
    """Return in every lane the smaller of its value and a word."""

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        most = _in_every_lane(builder, arguments[1])
        return builder.select(builder.icmp_unsigned("<", arguments[0], most), arguments[0], most)

    return LANES(LANES, types.uint64), generate


@intrinsic
def where_zero(typing_context: Any, lanes: Any, zero: Any, other: Any) -> Any:
    """Return the lanes of `zero` where `lanes` are 0, and those of `other` elsewhere."""

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        return builder.select(builder.icmp_unsigned("==", arguments[0], NONE), arguments[1], arguments[2])

    return LANES(LANES, LANES, LANES), generate


@intrinsic
def zero_lanes(typing_context: Any, lanes: Any) -> Any:
    """Return a word with a bit for each lane that is 0, lane 0 lowest."""

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        found = builder.icmp_unsigned("==", arguments[0], NONE)
        return builder.zext(builder.bitcast(found, ir.IntType(COUNT)), WORD)

    return types.uint64(LANES), generate


@intrinsic
def pack_bytes(typing_context: Any, lanes: Any) -> Any:
    """Return a word of the lowest bytes of all lanes, that of lane 0 lowest."""

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        return builder.bitcast(builder.trunc(arguments[0], ir.VectorType(ir.IntType(8), COUNT)), WORD)

    return types.uint64(LANES), generate


@intrinsic
def poke_lanes(typing_context: Any, address: Any, index: Any, lanes: Any) -> Any:
    """Write all lanes into the words from number `index` on of the block at `address`."""

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        place = builder.gep(builder.inttoptr(arguments[0], WORD.as_pointer()), [arguments[1]])
        builder.store(arguments[2], builder.bitcast(place, VECTOR.as_pointer()), align=8)
        return context.get_dummy_value()

    return types.void(types.uint64, types.int64, LANES), generate
