"""Fuzz what takes in bytes of strangers, guided by coverage: `make fuzz`, or `python -m tests.hostile.fuzz TARGET`.

Needs `atheris`, which is not installed by default. Every run of the tests has Hypothesis choose bytes for the targets.
"""

import sys


def main() -> int:
    """Fuzz one target until something fails; further arguments are libFuzzer's, such as -max_total_time=60."""
    try:
        import atheris
    except ImportError:
        print("fuzz: atheris is not installed; pip install atheris", file=sys.stderr)
        return 2
    with atheris.instrument_imports(include=["ttt_net"]):
        from tests.hostile.targets import TARGETS
    if len(sys.argv) < 2 or sys.argv[1] not in TARGETS:
        print(f"usage: python -m tests.hostile.fuzz {'|'.join(TARGETS)} [-max_total_time=60]", file=sys.stderr)
        return 2
    target = TARGETS[sys.argv.pop(1)]
    atheris.Setup(sys.argv, target)
    atheris.Fuzz()
    return 0


if __name__ == "__main__":
    sys.exit(main())
