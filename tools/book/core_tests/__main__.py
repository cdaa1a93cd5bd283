"""``python -m tools.book.core_tests``."""

import sys

from tools.book.core_tests.command import main

sys.exit(main(sys.argv[1:]))
