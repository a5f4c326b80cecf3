"""Play on a ttt_net server: `python client.py HOST`, or `python client.py --help`."""

import sys

try:
    from ttt_net.client.main import main
except ImportError as missing:
    sys.exit(f"client.py: {missing}; needs Python 3.11 or later, `make install`, and then .venv/bin/python client.py")

if __name__ == "__main__":
    sys.exit(main())
