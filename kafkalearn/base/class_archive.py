"""Java's archive of classes (CDS): when Spark or Kafka start, loading 6,000 to 15,000 of them takes longest.

Java maps such a file into memory in place of finding, reading and verifying each class. It fits one build of Java and
one class path, so each machine makes its own, once, and Java passes over one that does not fit without a word that a
reader sees. What Java does not notice is looked at here:

- It trusts the file as it trusts itself. One that others may write, or that is another user's, is not used.
- Java 17 does not see that a file was cut, and dies of it (SIGBUS). So its length is in its name, it is renamed when
  it is whole and on the disk, and Java is told to verify its contents (0.2 s of the 4 that it saves Spark).

How it is made: a program runs once with `ClassArchive.training_option`, which lists the classes that it loads; from the
list and the class path Java writes the file. ``-XX:ArchiveClassesAtExit`` would do both at once, but on top of an
archive of Java's own classes only, and the bundled runtime has none.

References
----------
JEP 310, Application class-data sharing (JDK 10); ``FileMapInfo::validate_header`` (JDK 17 and 21).
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.files import data_folder, one_at_a_time
from kafkalearn.base.java_runtime import Java

NEEDED_BYTES = 1 << 30  # Spark's has 200 MB, Kafka's 60; the disk is to have room after it
KNOWS_OWNERS = hasattr(os, "getuid")  # Windows does not say it this way
UNUSED_AFTER_S = 60 * 24 * 3600
TIMEOUT_S = 600


class ArchiveNotMade(KafkaLearnError):  # noqa: N818  (named for what it is, as IllegalEvent is)
    """There is no room, or no folder to write in; the message says what to do. All works without, only slower."""


@dataclass(frozen=True, slots=True)
class ClassArchive:
    """The archive for one Java and one class path; it need not be there."""

    java: Java
    class_path: str  # as Java's option -cp has it
    jars: tuple[Path, ...]  # what it means
    folder: Path  # of this user alone

    @property
    def is_tried(self) -> bool:
        """Whether there is nothing left to make: it was made here, or is not possible."""
        return not KNOWS_OWNERS or self._file() is not None

    def options(self) -> list[str]:
        """Java's options to use it; none where it is not there, not whole, or not to be trusted."""
        path = self._file()
        if path is None or not (_is_whole(path) and _is_ours_alone(path) and _is_ours_alone(self.folder)):
            return []
        with suppress(OSError):  # a folder of the system's, made for all
            os.utime(path)  # it is in use
        return ["-XX:+IgnoreUnrecognizedVMOptions", "-XX:+VerifySharedSpaces", f"-XX:SharedArchiveFile={path}"]

    @staticmethod
    def training_option(class_list: Path) -> str:
        """Java's option to write the names of all classes that it loads into a file."""
        return f"-XX:DumpLoadedClassList={class_list}"

    def make(self, train: Callable[[Path], None]) -> bool:
        """Make it, if nobody has; whether it is there now. On Windows none is made, as none would be used.

        Parameters
        ----------
        train : callable
            Runs the program once with `training_option` of the file that it is given.

        Raises
        ------
        ArchiveNotMade
            If the folder cannot be written, or the disk has less than 1 GB free.
        """
        if not KNOWS_OWNERS:
            return False
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with one_at_a_time(self.folder / "lock"):
                if not self.is_tried:
                    self._make(train)
        except OSError as error:
            raise ArchiveNotMade(
                f"an archive of Java's classes cannot be kept in {self.folder}: {error.strerror or error}; make it "
                "yours, or do without: it only makes starts quicker"
            ) from None
        return bool(self.options())

    def _make(self, train: Callable[[Path], None]) -> None:
        free = shutil.disk_usage(self.folder).free
        if free < NEEDED_BYTES:
            raise ArchiveNotMade(
                f"an archive of Java's classes takes up to 200 MB, and {self.folder} has {free >> 20:,} MB free; it is "
                f"made where {NEEDED_BYTES >> 20:,} MB are free: free some, or do without: it only makes starts quicker"
            )
        _remove_unused(self.folder)
        with tempfile.TemporaryDirectory(prefix=".making-", dir=self.folder) as place:
            draft, class_list = Path(place) / "classes.jsa", Path(place) / "classes.txt"
            train(class_list)
            if class_list.is_file():
                self._dump(class_list, draft)
            if not draft.is_file():
                draft.touch()  # this Java cannot: it is not tried again
            draft.chmod(0o600)
            with draft.open("rb+") as file:
                os.fsync(file.fileno())
            draft.rename(self.folder / f"{self._key()}-{draft.stat().st_size}.jsa")

    def _dump(self, class_list: Path, draft: Path) -> None:
        """Let Java write it; where it fails, no file is there."""
        files = [f"-XX:SharedClassListFile={class_list}", f"-XX:SharedArchiveFile={draft}"]
        command = [str(self.java.executable), "-Xlog:disable", "-XX:+UseSerialGC", "-Xshare:dump", *files]
        try:
            subprocess.run([*command, "-cp", self.class_path], timeout=TIMEOUT_S, check=True, capture_output=True)
        except (OSError, subprocess.SubprocessError):
            draft.unlink(missing_ok=True)

    def _file(self) -> Path | None:
        return next(self.folder.glob(f"{self._key()}-*.jsa"), None)

    def _key(self) -> str:
        """What the archive depends on: Java's build, the class path, and each jar as it is now."""
        executable = self.java.executable.resolve()
        parts = [self.java.version, self.class_path, *map(_identity, [executable, *sorted(self.jars)])]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def archive_of(java: Java, class_path: str, jars: Iterable[Path]) -> ClassArchive:
    """The archive of a class path, in the folder of all that are made on this machine."""
    return ClassArchive(java, class_path, tuple(jars), data_folder() / "classes")


def _identity(path: Path) -> str:
    try:
        status = path.stat()
    except OSError:
        return f"{path} is not there"
    return f"{path} {status.st_size} {status.st_mtime_ns}"


def _is_whole(path: Path) -> bool:
    """Whether a file has the length that its name says; an empty one stands for one that could not be made."""
    try:
        return 0 < path.stat().st_size == int(path.stem.rpartition("-")[2])
    except (OSError, ValueError):
        return False


def _is_ours_alone(path: Path) -> bool:
    """Whether nobody writes there but this user and root, to whom Java itself belongs; on Windows it is not known."""
    if not KNOWS_OWNERS:
        return False
    try:
        status = path.stat()
    except OSError:
        return False
    return status.st_uid in (0, os.getuid()) and not status.st_mode & 0o022


def _remove_unused(folder: Path) -> None:
    """Remove what nothing used for long, and what one that was killed has begun; the lock is ours."""
    for begun in folder.glob(".making-*"):
        shutil.rmtree(begun, ignore_errors=True)
    for path in folder.glob("*.jsa"):
        if time.time() - path.stat().st_mtime > UNUSED_AFTER_S:
            path.unlink(missing_ok=True)
