"""Give kernels access to memory by address, instructions that count and pick bits, and vectors of eight words.

A compiled function that calls itself pays for each array argument: seven words, and a check at every access.
One address costs a register. (Measured on Connect Four: 1.4 times faster.) So a kernel keeps all its memory in one
block of 64-bit words, whose owner is an array on the Python side.

Eight words side by side form one value of compiled code: an operation acts on every lane at once. It has the operators
of words (`& | ^ ~ + - << >> *`), between two such values, or one and a word, which then stands in every lane. Written
as vectors, they become the widest instructions that a processor has, even where a compiler by itself would choose
half that width. Numba has no such type, so this module defines it.
"""

import operator
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import ConcreteTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model

U = np.uint64
ZERO, ONE = U(0), U(1)
WORD = ir.IntType(64)


@intrinsic
def peek(typing_context: Any, address: Any, index: Any) -> Any:
    """Return the word number `index` of the block at `address`."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load(_pointer(builder, *arguments))

    return types.uint64(types.uint64, types.int64), generate


@intrinsic
def poke(typing_context: Any, address: Any, index: Any, value: Any) -> Any:
    """Write the word number `index` of the block at `address`."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        address, index, value = arguments
        builder.store(value, _pointer(builder, address, index))
        return context.get_dummy_value()

    return types.void(types.uint64, types.int64, types.uint64), generate


@intrinsic
def nth_bit(typing_context: Any, bits: Any, number: Any) -> Any:
    """Return a word with only one of the set bits: number 0 is the lowest."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if "+bmi2" not in context.codegen().magic_tuple()[2].split(","):
            return context.compile_internal(builder, nth_bit_by_steps, signature, arguments)
        bits, number = arguments
        deposit = builder.module.declare_intrinsic("llvm.x86.bmi.pdep.64", (), ir.FunctionType(WORD, [WORD, WORD]))
        return builder.call(deposit, [builder.shl(ir.Constant(WORD, 1), number), bits])

    return types.uint64(types.uint64, types.uint64), generate


def nth_bit_by_steps(bits: Any, number: Any) -> Any:
    """Return the same as `nth_bit` on processors that have no instruction for it."""
    one = np.uint64(1)
    for _ in range(number):
        bits &= bits - one
    return bits & ~(bits - one)


def _pointer(builder: Any, address: Any, index: Any) -> Any:
    return builder.gep(builder.inttoptr(address, WORD.as_pointer()), [index])


@intrinsic
def count_ones(typing_context: Any, bits: Any) -> Any:
    """Return how many bits are set."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


@intrinsic
def leading_zeros(typing_context: Any, bits: Any) -> Any:
    """Return how many zeros there are above the highest bit that is set; 64 if none is."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctlz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.uint64(types.uint64), generate


@intrinsic
def trailing_zeros(typing_context: Any, bits: Any) -> Any:
    """Return how many zeros there are below the lowest bit that is set; 64 if none is."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.uint64(types.uint64), generate


COUNT = 8
INDEX = ir.IntType(32)
VECTOR = ir.VectorType(WORD, COUNT)
NONE = ir.Constant(VECTOR, [0] * COUNT)
HALF = ir.IntType(16)
HALVES = ir.VectorType(HALF, COUNT)


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
    """How numba stores such a value: as a vector of LLVM."""

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
    """Return each lane's number in the lane, from 0."""

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        return ir.Constant(VECTOR, list(range(COUNT)))

    return LANES(), generate


@intrinsic
def lanes_of(typing_context: Any, a: Any, b: Any, c: Any, d: Any, e: Any, f: Any, g: Any, h: Any) -> Any:
    """Return a vector of eight words."""

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        lanes = ir.Constant(VECTOR, ir.Undefined)
        for number, word in enumerate(arguments):
            lanes = builder.insert_element(lanes, word, ir.Constant(INDEX, number))
        return lanes

    return LANES(*[types.uint64] * COUNT), generate


@intrinsic
def count_each(typing_context: Any, lanes: Any) -> Any:
    """Return the number of set bits of each lane in the lane."""

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        function = ir.FunctionType(VECTOR, [VECTOR])
        return builder.call(cgutils.get_or_insert_function(builder.module, function, "llvm.ctpop.v8i64"), arguments)

    return LANES(LANES), generate


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
def poke_lanes(typing_context: Any, address: Any, index: Any, lanes: Any) -> Any:
    """Write all lanes into the words from number `index` on of the block at `address`."""

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        place = builder.gep(builder.inttoptr(arguments[0], WORD.as_pointer()), [arguments[1]])
        builder.store(arguments[2], builder.bitcast(place, VECTOR.as_pointer()), align=8)
        return context.get_dummy_value()

    return types.void(types.uint64, types.int64, LANES), generate


@intrinsic
def largest_half(typing_context: Any, lanes: Any) -> Any:
    """Return the largest of the lowest 16 bits of all lanes."""

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        return _largest(builder, builder.trunc(arguments[0], HALVES))

    return types.uint64(LANES), generate


@intrinsic
def poke_halves(typing_context: Any, address: Any, index: Any, lanes: Any) -> Any:
    """Write the lowest 16 bits of all lanes into the two words from number `index` on of the block at `address`."""

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        place = _halves(builder, *arguments[:2])
        builder.store(builder.trunc(arguments[2], HALVES), builder.bitcast(place, HALVES.as_pointer()), align=8)
        return context.get_dummy_value()

    return types.void(types.uint64, types.int64, LANES), generate


@intrinsic
def peek_largest_half(typing_context: Any, address: Any, index: Any) -> Any:
    """Return the largest of the eight 16-bit numbers in the two words from number `index` on of the block."""

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        place = builder.bitcast(_halves(builder, *arguments), HALVES.as_pointer())
        return _largest(builder, builder.load(place, align=8))

    return types.uint64(types.uint64, types.int64), generate


@intrinsic
def poke_half(typing_context: Any, address: Any, index: Any, number: Any, value: Any) -> Any:
    """Write one of the 16-bit numbers of such two words."""

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        place = builder.gep(_halves(builder, *arguments[:2]), [arguments[2]])
        builder.store(builder.trunc(arguments[3], HALF), place)
        return context.get_dummy_value()

    return types.void(types.uint64, types.int64, types.int64, types.uint64), generate


def _halves(builder: Any, address: Any, index: Any) -> Any:
    place = builder.gep(builder.inttoptr(address, WORD.as_pointer()), [index])
    return builder.bitcast(place, HALF.as_pointer())


def _largest(builder: Any, halves: Any) -> Any:
    name = "llvm.vector.reduce.umax.v8i16"
    function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(HALF, [HALVES]), name)
    return builder.zext(builder.call(function, [halves]), WORD)
