"""The jars of released brokers: which ones they are, where they lie, how they are fetched and run.

A release is a line, ``4.3``, with the one patch of it that is recorded here, and every jar of it by its hash. Its jars
are fetched once on a machine, by the Ivy that lies in PySpark; Spark's Kafka connector is fetched in the same way.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import IO, NamedTuple
from xml.etree import ElementTree

from kafkalearn.base.errors import unknown_name
from kafkalearn.base.files import FOLDER_VARIABLE, data_folder, one_at_a_time
from kafkalearn.base.java_runtime import Java, JavaNotFound, find_java
from kafkalearn.live.errors import KafkaNotFetched, KafkaNotStarted

# Java programs that end by themselves: run, and what they print.

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
        options = {"check": True, "timeout": timeout_s, "input": said}
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
    return run_java(*_source_words(source, jars, arguments, options))


def start_source(
    source: Path,
    jars: Iterable[Path],
    *arguments: str,
    options: Iterable[str] = (),
    errors: IO[str] | int | None = None,
    has_own_session: bool = False,
) -> subprocess.Popen[str]:
    """A Java class that runs from its source, as `run_source` runs it, to be talked to; who starts it ends it.

    What it reads and prints is text; `errors` is where its complaints go, this Python's own if not said. With a session
    of its own it does not hear of an interrupt at the keyboard.
    """
    command = [str(java_here().executable), *_source_words(source, jars, arguments, options)]
    pipe = subprocess.PIPE
    return subprocess.Popen(
        command, stdin=pipe, stdout=pipe, stderr=errors, encoding="utf-8", start_new_session=has_own_session
    )


def _source_words(source: Path, jars: Iterable[Path], arguments: Iterable[str], options: Iterable[str]) -> list[str]:
    """The words after ``java`` that run a class from its source."""
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


# Jars from wherever Ivy is set up to ask: the one place that fetches any.
#
# Ivy lies among the jars of PySpark, which is installed anyway. Who must ask a mirror names an ``ivysettings.xml`` of
# their own in KAFKALEARN_IVY_SETTINGS, the file that Spark calls ``spark.jars.ivySettings``.

SETTINGS_VARIABLE = "KAFKALEARN_IVY_SETTINGS"

# What each module needs is not asked for: the list of jars is known, and reading their descriptions takes longer.
WITHOUT_DESCRIPTIONS = """<ivysettings>
  <settings defaultResolver="registry"/>
  <resolvers><ibiblio name="registry" m2compatible="true" usepoms="false"/></resolvers>
</ivysettings>
"""


class Module(NamedTuple):
    """What a registry calls a jar."""

    organisation: str
    name: str
    revision: str

    @property
    def jar_name(self) -> str:
        """The name of its file.

        >>> Module("org.apache.kafka", "kafka-clients", "4.3.1").jar_name
        'kafka-clients-4.3.1.jar'
        """
        return f"{self.name}-{self.revision}.jar"


def fetch_exactly(modules: Iterable[Module], folder: Path, cache: Path) -> None:
    """Put the jars of these modules, and no others, into a folder.

    Raises
    ------
    ProgramFailed
        If Ivy does not bring all of them; the message has what went wrong.
    """
    wanted = "".join(
        f'<dependency org="{each.organisation}" name="{each.name}" rev="{each.revision}" transitive="false"'
        ' conf="*->*"/>'
        for each in modules
    )
    description = f'<ivy-module version="2.0"><info organisation="kafkalearn" module="live"/><dependencies>{wanted}'
    with tempfile.TemporaryDirectory(prefix="kafkalearn-ivy-") as place:
        own, listed = Path(place) / "ivysettings.xml", Path(place) / "ivy.xml"
        own.write_text(WITHOUT_DESCRIPTIONS, encoding="utf-8")
        listed.write_text(f"{description}</dependencies></ivy-module>", encoding="utf-8")
        settings = os.environ.get(SETTINGS_VARIABLE) or str(own)
        _run_ivy("-settings", settings, "-cache", str(cache), "-ivy", str(listed), *_retrieve(folder))


def fetch_with_needs(module: Module, folder: Path, cache: Path) -> list[Module]:
    """Put the jar of a module and of all that it needs into a folder, and list them.

    Its revision may leave the end open: ``4.3.+`` is the newest patch of 4.3.

    Raises
    ------
    ProgramFailed
        As `fetch_exactly`.
    """
    own = os.environ.get(SETTINGS_VARIABLE)
    settings = ["-settings", own] if own else []
    wanted = ["-dependency", *module, "-confs", "default"]
    _run_ivy(*settings, "-cache", str(cache), *wanted, *_retrieve(folder))
    report = ElementTree.parse(cache / f"{module.organisation}-{module.name}-caller-default.xml")
    return [
        Module(each.get("organisation", ""), each.get("name", ""), revision.get("name", ""))
        for each in report.getroot().iter("module")
        for revision in each.findall("revision")
        if revision.get("evicted") is None and revision.findall("artifacts/artifact")
    ]


def _retrieve(folder: Path) -> list[str]:
    return ["-types", "jar", "bundle", "-retrieve", f"{folder}/[artifact]-[revision](-[classifier]).[ext]"]


def _run_ivy(*arguments: str) -> None:
    jar = next(spark_jars().glob("ivy-*.jar"), None)
    if jar is None:
        raise ProgramFailed(f"there is no Ivy among the jars of PySpark in {spark_jars()}; install PySpark 4.3")
    run_java(*trust_options(), "-jar", str(jar), *arguments, shown=cause_of)


_CAUSES = re.compile(
    r"^\s*(?:(Server access error at url .*)|:: (\S+#\S+: .*)|\[FAILED +\] (.*?):?\s*(?:\(\d+ms\))?"
    r"|(.*No space left.*))$",
    re.MULTILINE,
)


def cause_of(printed: str) -> str:
    """What went wrong, of all that Ivy has printed: what it could not ask, find or bring; else the end of it.

    Ivy ends with asides, such as resolvers that an older cache names, after the line that has the cause.

    >>> printed = '''
    ...     :: org.apache.kafka#kafka-clients;9.9.9: not found
    ... :::: ERRORS
    ...     Server access error at url https://mirror/kafka-clients-9.9.9.jar (java.net.ConnectException: refused)
    ...     unknown resolver public
    ... :: USE VERBOSE OR DEBUG MESSAGE LEVEL FOR MORE DETAILS'''
    >>> print(cause_of(printed))
    Server access error at url https://mirror/kafka-clients-9.9.9.jar (java.net.ConnectException: refused)
    org.apache.kafka#kafka-clients;9.9.9: not found
    """
    found = dict.fromkeys("".join(groups) for groups in _CAUSES.findall(printed))
    asked_first = sorted(found, key=lambda cause: not cause.startswith("Server access error"))
    return "\n".join(asked_first[:SHOWN_LINES]) or last_lines(printed)


# Which releases there are, and every jar of each by its hash: ``released.json``, from ``tools.live_releases``.

FILE = files("kafkalearn.live") / "released.json"


class Jar(NamedTuple):
    """One file, as its registry serves it to everybody."""

    module: Module
    size_bytes: int
    sha256: str


class Release(NamedTuple):
    """The newest patch of a release line that was tried here."""

    line: str  # "4.3"
    version: str  # "4.3.1"
    jars: tuple[Jar, ...]  # of the broker, all that it needs, and the command-line tools

    @property
    def title(self) -> str:
        """What messages call it."""
        return f"Kafka {self.version}"

    @property
    def way_back(self) -> str:
        """What to do, once online, if its jars could not be fetched."""
        return "run `make live`"


@cache
def releases() -> dict[str, Release]:
    """Every release by its line, oldest first.

    >>> list(releases())[:4]
    ['4.0', '4.1', '4.2', '4.3']
    """
    recorded = json.loads(FILE.read_text(encoding="utf-8"))
    jars = {name: Jar(Module(*name.split(":")), *rest) for name, rest in recorded["jars"].items()}
    return {
        line: Release(line, each["version"], tuple(jars[name] for name in each["jars"]))
        for line, each in recorded["releases"].items()
    }


def find_release(name: str) -> Release:
    """The release of a line, ``"4.3"``, or of the version that is recorded for it, ``"4.3.1"``.

    Raises
    ------
    KafkaLearnError
        If it is not one of `releases`.

    Examples
    --------
    >>> find_release("4.3")._replace(jars=())
    Release(line='4.3', version='4.3.1', jars=())
    """
    by_name = releases() | {each.version: each for each in releases().values()}
    if name not in by_name:
        raise unknown_name("release", name, releases())
    return by_name[name]


# The jars of a release on this machine: fetched once, each checked by its hash, and kept beside other generated data.
#
# All releases share one folder: their jars have their versions in their names, and half of them are the same files.

INTERVAL_S = 0.2

Update = Callable[[int, int], None]
"""``update(done, total)``: bytes that have come, of all bytes. Called from another thread."""


def kafka_folder() -> Path:
    """Where jars, and what is made from them once on a machine, are kept."""
    return data_folder() / "kafka"


def jar_paths(release: Release | Connector) -> list[Path]:
    """Where the jars of a release are, or will be."""
    return [kafka_folder() / "jars" / jar.module.jar_name for jar in release.jars]


def missing(release: Release | Connector) -> list[Jar]:
    """The jars of a release that are not there in their full length."""
    return [jar for jar, path in zip(release.jars, jar_paths(release), strict=True) if not _is_whole(jar, path)]


def fetch(release: Release | Connector, update: Update | None = None) -> None:
    """See to it that all jars of a release are there; without an `update` the progress is printed.

    Raises
    ------
    KafkaNotFetched
        If they cannot be fetched, are not what they should be, or have no room; the message says what to do.
    """
    if not missing(release):
        return
    try:
        with one_at_a_time(kafka_folder() / "lock"):
            wanted = missing(release)  # fewer, or none: another process has fetched them meanwhile
            if wanted:
                _require_room(wanted)
                _fetch(release, wanted, update or _printed(release.title))
    except OSError as error:
        raise KafkaNotFetched(
            f"the jars of {release.title} cannot be kept in {kafka_folder()}: {error.strerror or error}; make "
            f"it yours, or set {FOLDER_VARIABLE} to a folder where you may write"
        ) from None


def _fetch(release: Release | Connector, wanted: list[Jar], update: Update) -> None:
    folder = kafka_folder() / "jars"
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".fetch-", dir=kafka_folder()) as place:
        draft, cache = Path(place) / "jars", Path(place) / "cache"
        try:
            with _watched(cache, sum(jar.size_bytes for jar in wanted), update):
                fetch_exactly([jar.module for jar in wanted], draft, cache)
        except ProgramFailed as error:
            raise KafkaNotFetched(_advice(release, wanted, str(error))) from None
        for jar in wanted:
            path = draft / jar.module.jar_name
            if not path.is_file() or _sha256(path) != jar.sha256:
                raise KafkaNotFetched(
                    f"{path.name} is not the file that was released: its SHA-256 differs; nothing of it was kept. Ask "
                    "whoever runs the mirror that it came from"
                )
        for jar in wanted:
            (draft / jar.module.jar_name).replace(folder / jar.module.jar_name)  # at once, whole or not at all


def _advice(release: Release | Connector, wanted: list[Jar], reason: str) -> str:
    size_bytes = sum(jar.size_bytes for jar in wanted)
    return (
        f"the jars of {release.title} ({_megabytes(size_bytes)}) could not be fetched; what needs no real "
        f"Kafka works without them. Go online once and {release.way_back}; or name your company's Ivy "
        f"settings in {SETTINGS_VARIABLE}; or copy the folder {kafka_folder()} from a machine that has it. "
        f"What went wrong: {reason}"
    )


def _require_room(wanted: Iterable[Jar]) -> None:
    needed = 3 * sum(jar.size_bytes for jar in wanted)  # while they are fetched each is there twice
    place = kafka_folder()
    place.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(place).free
    if free < needed:
        raise KafkaNotFetched(
            f"the jars of Kafka need {_megabytes(needed)} in {place}, {_megabytes(free)} are free; free some, or set "
            f"{FOLDER_VARIABLE} to a folder with room"
        )


@contextmanager
def _watched(folder: Path, total_bytes: int, update: Update) -> Iterator[None]:
    """Call `update` with what has come into a folder so far while the block runs, and at its end."""
    done = threading.Event()

    def watch() -> None:
        while not done.wait(INTERVAL_S):
            update(min(total_bytes - 1, _jar_bytes(folder)), total_bytes)  # the end comes once, below

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
        done.set()
        watcher.join()
        update(total_bytes, total_bytes)
    finally:
        done.set()
        watcher.join()


def _jar_bytes(folder: Path) -> int:
    found = 0
    for path in folder.rglob("*.jar*"):  # those under way have another ending
        try:
            found += path.stat().st_size
        except OSError:  # it has just got its final name
            continue
    return found


def _printed(what: str) -> Update:
    """Progress on the screen: one line that grows on a terminal, else a line at the start and one at the end."""
    began, is_terminal, said = time.monotonic(), sys.stderr.isatty(), []

    def update(done_bytes: int, total_bytes: int) -> None:
        is_end = done_bytes == total_bytes
        text = f"kafkalearn: fetching {what}, once on this machine: {_megabytes(total_bytes)}"
        if is_terminal:
            print(f"\r{text}, {done_bytes * 100 // max(1, total_bytes):3} %", end="", file=sys.stderr, flush=True)
        elif not said:
            print(text, file=sys.stderr, flush=True)
        said.append(done_bytes)
        if is_end:
            took_s = time.monotonic() - began
            print(f"{chr(10) if is_terminal else ''}kafkalearn: fetched in {took_s:.0f} s", file=sys.stderr, flush=True)

    return update


def _is_whole(jar: Jar, path: Path) -> bool:
    """Whether a jar is the one that was published: others may write where it lies, so its hash says, once a process."""
    try:
        found = path.stat()
        return found.st_size == jar.size_bytes and _hash_of(path, found.st_mtime_ns, found.st_ino) == jar.sha256
    except OSError:
        return False


@cache
def _hash_of(path: Path, modified_ns: int, inode: int) -> str:
    """Of the file as it stands there since then."""
    return _sha256(path)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _megabytes(count: int) -> str:
    return f"{count / 1e6:,.0f} MB"


# Spark's Kafka connector, which PySpark does not bring: fetched when it is asked for, each jar checked by its hash.
#
# It is the newest that is published; `tools.spark_connector` writes ``connector.json``. One of an older minor version
# works with PySpark 4.3. On a cluster Spark fetches it itself: ``spark.jars.packages``.

CONNECTOR_FILE = files("kafkalearn.live") / "connector.json"


class Connector(NamedTuple):
    """The connector's jar and those that it needs and Spark does not have."""

    version: str
    jars: tuple[Jar, ...]

    @property
    def title(self) -> str:
        """What messages call it."""
        return f"Spark's Kafka connector {self.version}"

    @property
    def way_back(self) -> str:
        """What to do, once online, if its jars could not be fetched."""
        return "ask for it again"


@cache
def connector() -> Connector:
    """The connector that is recorded.

    >>> [jar.module.name for jar in connector().jars][:2]
    ['commons-pool2', 'kafka-clients']
    """
    recorded = json.loads(CONNECTOR_FILE.read_text(encoding="utf-8"))
    return Connector(
        recorded["version"],
        tuple(Jar(Module(*name.split(":")), *facts) for name, facts in recorded["jars"].items()),
    )


def connector_jars(update: Update | None = None) -> list[Path]:
    """The jars of the connector on this machine, for `kafkalearn.spark.real_topic.add_jars`; 10 MB, fetched once.

    Raises
    ------
    KafkaNotFetched
        If they cannot be fetched; the message says what to do.
    """
    fetch(connector(), update)
    return jar_paths(connector())
