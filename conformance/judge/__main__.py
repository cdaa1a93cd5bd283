"""``python -m conformance.judge host:port --may-write``: judges a cluster, and prints and writes the report."""

from __future__ import annotations

import sys

from conformance.judge.judging import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
