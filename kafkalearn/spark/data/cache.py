"""Cache generated data as Parquet: written atomically, and generated again when it is damaged.

A dataset is written into a folder beside its place and then renamed, so that an interrupted one leaves nothing behind
that could be taken for data. One process makes it; another one that wants it meanwhile waits, and reads it then. Its
manifest says which files belong to it; what is not as it says is made again. What cannot be written is said with the
folder and what to do.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from zlib import crc32

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.files import FOLDER_VARIABLE, data_folder, one_at_a_time
from kafkalearn.spark.session.gateway import is_connect
from kafkalearn.spark.session.interrupts import Update, job_progress
from kafkalearn.spark.session.spark_session import is_this_machine
from kafkalearn.spark.session.start import new_folder, remove_folder

# What belongs to a dataset on disk: each of its files, how long it is, when it was written, and its checksum.
#
# It is written last. A dataset without a manifest, or with one of another form, counts as damaged, and so does one with
# a file too few, too many, or not as it was written. A file whose time is the noted one is taken for what was written;
# of one with another time, as after a copy, the content is looked at.

MANIFEST = "_kafkalearn.json"  # Spark does not read files that begin with an underscore
VERSION = 1
CHUNK_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class File:
    """A file as it was written."""

    size: int
    modified_ns: int
    crc32: int

    def is_at(self, path: Path) -> bool:
        """Whether it is there, as it was written."""
        found = path.stat()
        if found.st_size != self.size:
            return False
        return found.st_mtime_ns == self.modified_ns or _checksum(path) == self.crc32


def write_manifest(folder: Path) -> None:
    """Write down what a folder holds now; nothing may be added after that."""
    files = {path.name: asdict(_noted(path)) for path in sorted(folder.iterdir())}
    text = json.dumps({"version": VERSION, "dataset": folder.name, "files": files}, indent=1)
    (folder / MANIFEST).write_text(text, encoding="utf-8")


def is_whole(folder: Path) -> bool:
    """Whether a folder holds the dataset of its name, every file of it and nothing else that Spark would read."""
    try:
        files = _files_of(folder)
        seen = {path.name for path in folder.iterdir() if not path.name.startswith(("_", "."))}
        return bool(seen) and seen <= files.keys() and all(file.is_at(folder / name) for name, file in files.items())
    except (OSError, ValueError, RecursionError):
        return False


def _files_of(folder: Path) -> dict[str, File]:
    """The files of the manifest; ValueError if it is not what `write_manifest` writes."""
    manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    if not isinstance(manifest, dict) or manifest.get("version") != VERSION or manifest.get("dataset") != folder.name:
        raise ValueError("of another version or dataset")
    files = manifest.get("files")
    if not isinstance(files, dict) or not all(Path(name).name == name for name in files):
        raise ValueError("no list of files")
    return {name: _file(each) for name, each in files.items()}


def _file(given: object) -> File:
    if not isinstance(given, dict) or given.keys() != set(File.__slots__):
        raise ValueError("no file")
    if not all(type(value) is int for value in given.values()):
        raise ValueError("no numbers")
    return File(**given)


def _noted(path: Path) -> File:
    found = path.stat()
    return File(found.st_size, found.st_mtime_ns, _checksum(path))


def _checksum(path: Path) -> int:
    checksum = 0
    with path.open("rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            checksum = crc32(chunk, checksum)
    return checksum


WRITE_ERRORS = {
    errno.ENOSPC: "No space left on device",
    errno.EDQUOT: "Disk quota exceeded",
    errno.EROFS: "Read-only file system",
    errno.EACCES: "Permission denied",
    errno.EIO: "Input/output error",
}
"""What the system says when it cannot write; Java passes it on in these words."""

NO_ROOM = (errno.ENOSPC, errno.EDQUOT)


@dataclass(frozen=True, slots=True)
class Recipe:
    """What a dataset is made from, which is all that decides its rows, and how much room it takes."""

    name: str
    row_count: int
    parameters: tuple[tuple[str, object], ...]  # seed and version of the generator among them
    bytes_per_row: float  # as Parquet, measured
    sorted_bytes_per_row: float = 0  # in Spark's temporary folder while it sorts

    @property
    def folder_name(self) -> str:
        """One folder for each recipe: ``keys-100000-key_count=10000-exponent=1.0-seed=42-v=1``."""
        return "-".join([self.name, str(self.row_count), *(f"{name}={value}" for name, value in self.parameters)])


class _Asks(SparkSession):
    """Stands in for a session where only the recipe is asked for."""

    def __init__(self) -> None:
        """No session, and no Java."""


class _Found(Exception):  # noqa: N818  (an answer, and no error)
    """Ends what would make a dataset, as soon as its recipe is known."""


def recipe_of(make: Callable[[SparkSession], object]) -> Recipe:
    """The recipe that a function asks `kept` for; it is called without Spark, and ended there."""
    try:
        make(_Asks())
    except _Found as found:
        return found.args[0]
    raise KafkaLearnError("this makes nothing that is kept")


def folder_of(recipe: Recipe) -> Path:
    """Where a dataset is kept."""
    return data_folder() / recipe.folder_name


def kept(spark: SparkSession, recipe: Recipe, make: Callable[[], DataFrame], update: Update | None) -> DataFrame:
    """The dataset of a recipe, read from its place; made and put there first if it is not there, or damaged.

    Where Spark's workers are other machines they cannot read this one's files: the rows are then made in each
    query, unless KAFKALEARN_DATA_DIR names a folder that all of them see. While another process makes the same dataset,
    ``update(0, 0)`` is called.

    Raises
    ------
    KafkaLearnError
        If it cannot be written: there is no room on the disk, or no right to write; the message has the folder, the
        reason and what to do.
    """
    if isinstance(spark, _Asks):
        raise _Found(recipe)
    if not (_is_on_this_machine(spark) or os.environ.get(FOLDER_VARIABLE)):
        return make()
    folder = folder_of(recipe)
    try:
        if not is_whole(folder):
            require_room(recipe, folder.parent)
            with _alone(folder, update):
                if not is_whole(folder):  # else another process has made it meanwhile
                    _write(spark, recipe, make(), update)
    except (OSError, PySparkException, Py4JJavaError) as error:
        number = _number_of(error)
        if number is None:
            raise  # the rows could not be made, which has other reasons
        raise KafkaLearnError(_not_written(recipe, folder, error, number)) from None
    return spark.read.schema(make().schema).parquet(str(folder))


@contextmanager
def _alone(folder: Path, update: Update | None) -> Iterator[None]:
    """While the block runs no other process makes this dataset; the lock's file goes, for whoever waited makes none."""
    lock = folder.with_name(f".{folder.name}.lock")
    with one_at_a_time(lock, partial(update, 0, 0) if update else lambda: None):
        try:
            yield
        finally:
            with suppress(OSError):  # Windows removes no file that is open
                lock.unlink()


def _write(spark: SparkSession, recipe: Recipe, rows: DataFrame, update: Update | None) -> None:
    folder = folder_of(recipe)
    folder.parent.mkdir(parents=True, exist_ok=True)
    beside = new_folder(folder.parent, "draft")
    try:
        draft = beside / folder.name
        with job_progress(spark, update, recipe.row_count):
            rows.write.parquet(str(draft))
        write_manifest(draft)
        _put_in_place(draft, folder)
    finally:
        remove_folder(beside)


def _put_in_place(draft: Path, folder: Path) -> None:
    if folder.is_file():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder))
    if folder.exists() and not is_whole(folder):
        folder.rename(draft.with_name("damaged"))  # at once, so that nobody reads half of it
    try:
        draft.rename(folder)
    except OSError:
        if not is_whole(folder):  # else another kernel was faster, with the same rows
            raise


def require_room(recipe: Recipe, folder: Path, spared_bytes: int = 0) -> None:
    """Raise KafkaLearnError if there is not room for a dataset, and so many bytes beside it."""
    needs = [(folder, recipe.bytes_per_row, FOLDER_VARIABLE)]
    if recipe.sorted_bytes_per_row:
        needs.append((Path(tempfile.gettempdir()), recipe.sorted_bytes_per_row, "TMPDIR"))
    for place, bytes_per_row, variable in needs:
        needed = round(1.2 * bytes_per_row * recipe.row_count) + spared_bytes
        free = _free_bytes(place)
        if free < needed:
            raise KafkaLearnError(
                f"{recipe.row_count:,} rows of {recipe.name} need {_megabytes(needed)} in {place}, "
                f"{_megabytes(free)} are free; free some, take a smaller size, or set {variable} to a folder with room"
            )


def _number_of(error: Exception) -> int | None:
    """The system's number for why something could not be written; None if that is not what the error is about."""
    if isinstance(error, OSError):
        return error.errno or errno.EIO
    text = str(error)
    return next((number for number, words in WRITE_ERRORS.items() if words in text), None)


def _not_written(recipe: Recipe, folder: Path, error: Exception, number: int) -> str:
    why = error.strerror if isinstance(error, OSError) else WRITE_ERRORS[number]
    at = f" ({error.filename})" if isinstance(error, OSError) and error.filename else ""
    said = f"{recipe.row_count:,} rows of {recipe.name} cannot be written to {folder.parent}: {why}{at}"
    if number in NO_ROOM:
        temporary = Path(tempfile.gettempdir())
        there, here = _megabytes(_free_bytes(folder.parent)), _megabytes(_free_bytes(temporary))
        return (
            f"{said}; {there} are free there, {here} in {temporary}, where Spark sorts; free some, take a smaller "
            f"size, or set {FOLDER_VARIABLE} and TMPDIR to folders with room"
        )
    if file := next((path for path in (folder, *folder.parents) if path.is_file()), None):
        return f"{said}; {file} is a file, where a folder should be: move it away"
    return f"{said}; set {FOLDER_VARIABLE} to a folder where you may write"


def _free_bytes(place: Path) -> int:
    """On the disk of a folder that may not be there yet."""
    return shutil.disk_usage(next(parent for parent in (place, *place.parents) if os.path.isdir(parent))).free


def _megabytes(count: int) -> str:
    return f"{count / 1e6:,.0f} MB"


def _is_on_this_machine(spark: SparkSession) -> bool:
    return not is_connect(spark) and is_this_machine(spark.sparkContext.master or "")
