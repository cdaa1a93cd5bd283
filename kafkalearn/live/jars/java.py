"""Java programs that end by themselves: run, and what they print."""

from __future__ import annotations

import os
import subprocess
import zipfile
from collections.abc import Callable, Iterable
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from kafkalearn.java_runtime import Java, JavaNotFound, find_java
from kafkalearn.live.errors import KafkaNotFetched, KafkaNotStarted

TIMEOUT_S = 1800
SHOWN_LINES = 12

TRUST_STORES = ("/etc/ssl/certs/java/cacerts", "/etc/pki/java/cacerts")
"""Where Debian and Red Hat keep the certificates that the system's Java trusts, a company's own among them."""


class ProgramFailed(KafkaNotStarted):
    """There is no Java, or a Java program has failed; the message has the end of what it printed."""


def java_here() -> Java:
    """The Java that runs Kafka, the one that Spark uses; it is asked for its version once.

    Raises
    ------
    ProgramFailed
        If there is none; the message says what was looked at, and what to do.
    """
    return _java_of(os.environ.get("JAVA_HOME"), os.environ.get("PATH"))


@cache
def _java_of(home: str | None, path: str | None) -> Java:
    try:
        return find_java()
    except JavaNotFound as error:
        raise ProgramFailed(str(error)) from None


def last_lines(text: str, count: int = SHOWN_LINES) -> str:
    """The end of what a program has printed.

    >>> last_lines("one\\ntwo\\nthree\\n", 2)
    'two\\nthree'
    """
    return "\n".join(text.strip().split("\n")[-count:])


def run_java(
    *arguments: str,
    timeout_s: float = TIMEOUT_S,
    folder: Path | None = None,
    said: str | None = None,
    shown: Callable[[str], str] = last_lines,
) -> str:
    """What a Java program prints.

    Parameters
    ----------
    *arguments : str
        Options, class or jar, and its arguments.
    timeout_s : float
        After which it is ended.
    folder : Path or None
        To work in.
    said : str or None
        What it reads on its standard input.
    shown : callable
        What the error shows of all that a program printed which has failed.

    Raises
    ------
    ProgramFailed
        If there is no Java, the program ends with an error, or does not end.
    """
    try:
        command = [str(java_here().executable), *arguments]
        options = {"check": True, "timeout": timeout_s, "cwd": folder, "input": said}
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", **options)
    except OSError as error:
        raise ProgramFailed(f"Java could not be run: {error}") from None
    except subprocess.TimeoutExpired:
        raise ProgramFailed(f"it has not ended after {timeout_s:.0f} s: java {' '.join(arguments[-4:])}") from None
    except subprocess.CalledProcessError as error:
        raise ProgramFailed(shown(error.stdout + error.stderr)) from None
    return done.stdout


def run_source(source: Path, jars: Iterable[Path], *arguments: str, options: Iterable[str] = ()) -> str:
    """What a Java class prints whose source is compiled as it starts, by the Janino that lies among Spark's jars.

    A Java runtime is enough for it. Janino knows the Java of 2004: no lambdas, and generics are not looked at.

    Parameters
    ----------
    source : Path
        A file ``NAME.java`` with the class NAME.
    jars : iterable of Path
        What it is run with.
    *arguments : str
        Its own.
    options : iterable of str
        Of Java.

    Raises
    ------
    ProgramFailed
        As `run_java`.
    """
    return run_java(*source_words(source, jars, *arguments, options=options))


def source_words(source: Path, jars: Iterable[Path], *arguments: str, options: Iterable[str] = ()) -> list[str]:
    """The words after ``java`` that run a class from its source, as `run_source` does."""
    compiler = [*spark_jars().glob("janino-*.jar"), *spark_jars().glob("commons-compiler-*.jar")]
    words = ["org.codehaus.janino.SimpleCompiler", str(source), source.stem, *arguments]
    return [*options, "-cp", class_path([*compiler, *jars]), *words]


def spark_jars() -> Path:
    """The folder of PySpark's jars.

    Raises
    ------
    KafkaNotFetched
        If PySpark is not installed.
    """
    spec = find_spec("pyspark")
    folder = Path(spec.origin).parent / "jars" if spec and spec.origin else Path()
    if not (spec and folder.is_dir()):
        raise KafkaNotFetched(
            "jars are fetched by the Ivy in PySpark, which is not installed: pip install 'kafkalearn[live]'"
        )
    return folder


def classes_in(jar: Path) -> set[str]:
    """The names of the classes in a jar."""
    with zipfile.ZipFile(jar) as archive:
        return {entry[:-6].replace("/", ".") for entry in archive.namelist() if entry.endswith(".class")}


def class_path(jars: Iterable[Path]) -> str:
    """Jars as Java's option -cp wants them."""
    return os.pathsep.join(map(str, jars))


def trust_options() -> list[str]:
    """Options that make the bundled Java trust whom the system's Java trusts, as behind a company's proxy."""
    stores = [store for store in TRUST_STORES if os.path.exists(store)]
    if not stores or java_here().source != "bundled":
        return []
    return [f"-Djavax.net.ssl.trustStore={stores[0]}"]
