"""`python -m ttt_net VERB`: finds the verb's module and runs it; a verb costs no import until it is asked for."""

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module

from ttt_net.errors import ConfigurationError, Refusal

VERBS = {"analyse": "ttt_net.commands.analyse", "arena": "ttt_net.commands.arena"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the verb that the arguments name; return the exit status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    parser = argparse.ArgumentParser(prog="ttt_net")
    subparsers = parser.add_subparsers(dest="verb", required=True, metavar="{" + ",".join(VERBS) + "}")
    for module in [VERBS[given[0]]] if given and given[0] in VERBS else VERBS.values():
        import_module(module).add_parser(subparsers)
    args = parser.parse_args(given)
    try:
        return int(import_module(VERBS[args.verb]).run(args))
    except (ConfigurationError, Refusal) as refused:
        print(f"ttt_net {args.verb}: {refused}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
