"""Python processes of their own: for sessions that must not be the one of the tests."""

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def run_python(code: str, **variables: str | None) -> tuple[object, str]:
    """What `code` gives to ``report(...)``, and all that was printed beside; None removes a variable."""
    environment = {"KAFKALEARN_SPARK_FAST_START": "1", **os.environ, **variables}
    head = "import json, os, sys\nreport = lambda answer: print('reported', json.dumps(answer), flush=True)\n"
    run = subprocess.run(
        [sys.executable, "-c", head + textwrap.dedent(code)],
        env={name: value for name, value in environment.items() if value is not None},
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=900,
    )
    lines = run.stdout.splitlines()
    answers = [json.loads(line.removeprefix("reported ")) for line in lines if line.startswith("reported ")]
    return (answers[-1] if answers else None), "\n".join(line for line in lines if not line.startswith("reported "))


def java_script(path: Path, version: str, exit_code: int = 0) -> Path:
    """A program that says it is Java of some version, and does nothing else."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2024-04-16' >&2\nexit {exit_code}\n")
    path.chmod(0o755)
    return path
