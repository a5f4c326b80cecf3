"""Start a ttt_net server: `python server.py`, or `python server.py --help`."""

import sys

try:
    from ttt_net.server.main import main
except ImportError as missing:
    sys.exit(f"server.py: {missing}; needs Python 3.11 or later, `make install`, and then .venv/bin/python server.py")

if __name__ == "__main__":
    sys.exit(main())
