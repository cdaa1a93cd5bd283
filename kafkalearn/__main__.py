"""``python -m kafkalearn``: the command of seven questions, see `kafkalearn.oncall.command`."""

import sys

from kafkalearn.oncall.command import main

if __name__ == "__main__":
    sys.exit(main())
