"""The benchmark of instructions carries out each of its cases, between two marks."""

from benchmarks.instructions import CASES, carry_out


async def test_each_case_is_carried_out_between_two_marks() -> None:
    marks: list[None] = []
    times = await carry_out(lambda: marks.append(None))
    assert len(times) == len(CASES)
    assert min(times) > 0
    assert len(marks) == 2 * len(CASES)
