"""The rules on another Spark than the pinned one: its PySpark in a folder of its own, all else from .venv.

    python -m tools.spark_versions            # tests/spark on each line that is supported, beside the pinned one
    python -m tools.spark_versions 4.1 -- tests/spark/test_lag.py -k member

What lies behind ``--`` goes to pytest, in place of ``tests/spark``. A folder, ``.boot/spark-4.1``, is made once.
"""

from __future__ import annotations

import os
import subprocess
import sys

from kafkalearn.spark import SUPPORTED
from tools.environment import BOOT, PROGRAMS, ROOT, VENV_PYTHON, say


def tried_on(line: str, arguments: list[str]) -> int:
    """The exit code of pytest on a line of Spark's releases, ``"4.1"``: the newest release of it that the index has."""
    folder = BOOT / f"spark-{line}"
    if not (folder / "pyspark").is_dir():
        say(f"fetching PySpark {line} into {folder}")
        subprocess.run(
            [
                PROGRAMS / "uv",
                "pip",
                "install",
                "-q",
                "--python",
                VENV_PYTHON,
                "--target",
                folder,
                f"pyspark=={line}.*",
            ],
            check=True,
        )
    command = [VENV_PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider", *(arguments or ["tests/spark"])]
    say(f"pytest on Spark {line}")
    return subprocess.run(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(folder)}).returncode


def main(words: list[str]) -> int:
    """The worst exit code of all."""
    lines, arguments = words, []
    if "--" in words:
        at = words.index("--")
        lines, arguments = words[:at], words[at + 1 :]
    return max(tried_on(line, arguments) for line in lines or SUPPORTED[:-1])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
