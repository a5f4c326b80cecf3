"""Run the source of kernels by the interpreter, without a compiler."""

from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from ttt_net.strategies.compiled.machine import nth_bit_by_steps


def uncompiled(*modules: ModuleType) -> dict[str, Any]:
    """Run the source of kernels without a compiler; return all their names. A block is then the array itself."""

    class Kind:
        """A type, as signatures have it; what is called with a number returns that number."""

        def __call__(self, *arguments: Any) -> Any:
            return (
                np.int64(arguments[0]) if len(arguments) == 1 and isinstance(arguments[0], int | np.integer) else None
            )

        def __getitem__(self, dimensions: Any) -> "Kind":
            return self

    def njit(*arguments: Any, **options: Any) -> Any:
        return lambda function: function

    def poke(block: Any, index: int, value: Any) -> None:
        block[index] = np.uint64(value & 0xFFFFFFFFFFFFFFFF if isinstance(value, int) else value)

    def halves_of(block: Any, index: int) -> Any:
        return block[index : index + 2].view(np.uint16)

    names: dict[str, Any] = {}
    ours: dict[str, Any] = {
        "njit": njit,
        "types": SimpleNamespace(
            **dict.fromkeys(("int16", "int64", "uint8", "uint64", "float64", "boolean", "void"), Kind())
        ),
        "from_dtype": lambda kind: Kind(),
        "peek": lambda block, index: block[index],
        "poke": poke,
        "count_ones": lambda bits: np.uint64(int(bits).bit_count()),
        "leading_zeros": lambda bits: np.uint64(64 - int(bits).bit_length()),
        "trailing_zeros": lambda bits: np.uint64((int(bits) & -int(bits)).bit_length() - 1 if bits else 64),
        "nth_bit": nth_bit_by_steps,
        "spread": lambda word: np.full(8, word, np.uint64),
        "lane_numbers": lambda: np.arange(8, dtype=np.uint64),
        "count_each": lambda lanes: np.array([int(lane).bit_count() for lane in lanes], np.uint64),
        "where_zero": lambda lanes, zero, other: np.where(lanes == 0, zero, other),
        "zero_lanes": lambda lanes: np.uint64(sum(1 << n for n, lane in enumerate(lanes) if lane == 0)),
        "poke_lanes": lambda block, index, lanes: block.__setitem__(slice(index, index + 8), lanes),
        "lanes_of": lambda *words: np.array(words, np.uint64),
        "largest_half": lambda lanes: np.uint64(max(int(lane) & 0xFFFF for lane in lanes)),
        "poke_halves": lambda block, index, lanes: halves_of(block, index).__setitem__(
            slice(8), lanes.astype(np.uint16)
        ),
        "poke_half": lambda block, index, number, value: halves_of(block, index).__setitem__(number, value),
        "peek_largest_half": lambda block, index: np.uint64(halves_of(block, index).max()),
    }
    for module in modules:
        path = Path(str(module.__file__))
        source = [line for line in path.read_text().splitlines() if not line.startswith("from numba")]
        names |= ours
        exec(compile("\n".join(source), path, "exec"), names)
        ours |= {name: value for name, value in names.items() if getattr(value, "__globals__", None) is names}
        names |= ours  # not what the module has imported compiled
    return names
