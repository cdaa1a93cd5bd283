"""``python -m kafkalearn``: the command of five questions, see `kafkalearn.command`."""

import sys

from kafkalearn.command.main import main

if __name__ == "__main__":
    sys.exit(main())
