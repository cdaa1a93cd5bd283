"""Generated data kept as Parquet: written once, whole or not at all, and generated again when it is damaged.

A dataset is written into a hidden folder beside its place and then renamed, so that two kernels may make the same
one at once, and an interrupted one leaves nothing behind that could be taken for data. Its manifest says which
files belong to it and how long each is; what does not match it is made again.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from kafkalearn.errors import KafkaLearnError
from kafkalearn.spark.session.gateway import is_connect
from kafkalearn.spark.session.progress import Update, job_progress
from kafkalearn.spark.session.spark_session import is_this_machine

FOLDER_VARIABLE = "KAFKALEARN_DATA_DIR"
MANIFEST = "_kafkalearn.json"  # Spark does not read files that begin with an underscore
ABANDONED_AFTER_S = 24 * 3600

REPOSITORY = Path(__file__).resolve().parents[3]


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


def kept(spark: SparkSession, recipe: Recipe, make: Callable[[], DataFrame], update: Update | None) -> DataFrame:
    """The dataset of a recipe, read from its place; made and put there first if it is not there, or damaged.

    Where Spark's workers are other machines they cannot read this one's files: the rows are then made in each
    query, unless KAFKALEARN_DATA_DIR names a folder that all of them see.

    Raises
    ------
    KafkaLearnError
        If there is no room on the disk; the message says how much is needed, how much is there, and where.
    """
    if not (_is_on_this_machine(spark) or os.environ.get(FOLDER_VARIABLE)):
        return make()
    folder = data_folder() / recipe.folder_name
    if not is_whole(folder):
        _require_room(recipe, folder.parent)
        _write(spark, folder, make(), update)
    return spark.read.schema(make().schema).parquet(str(folder))


def data_folder() -> Path:
    """Where datasets are kept: KAFKALEARN_DATA_DIR, else data/generated of a checkout, else the user's cache."""
    if named := os.environ.get(FOLDER_VARIABLE):
        return Path(named).expanduser()
    if (REPOSITORY / "pyproject.toml").is_file() and os.access(REPOSITORY / "data", os.W_OK):
        return REPOSITORY / "data" / "generated"
    return _user_cache() / "kafkalearn"


def is_whole(folder: Path) -> bool:
    """Whether every file that belongs to the dataset is there, in its full length."""
    try:
        sizes = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))["sizes"]
        return all((folder / name).stat().st_size == size for name, size in sizes.items())
    except (OSError, ValueError, KeyError):
        return False


def _write(spark: SparkSession, folder: Path, rows: DataFrame, update: Update | None) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    _remove_abandoned(folder)
    draft = folder.with_name(f".{folder.name}.{uuid.uuid4().hex[:8]}")
    try:
        with job_progress(spark, update):
            rows.write.parquet(str(draft))
        sizes = {path.name: path.stat().st_size for path in sorted(draft.glob("*.parquet"))}
        (draft / MANIFEST).write_text(json.dumps({"sizes": sizes}, indent=1), encoding="utf-8")
        _put_in_place(draft, folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _put_in_place(draft: Path, folder: Path) -> None:
    if folder.exists() and not is_whole(folder):
        damaged = folder.with_name(f".{folder.name}.{uuid.uuid4().hex[:8]}")
        folder.rename(damaged)  # at once, so that nobody reads half of it
        shutil.rmtree(damaged, ignore_errors=True)
    try:
        draft.rename(folder)
    except OSError:
        if not is_whole(folder):  # else another kernel was faster, with the same rows
            raise


def _remove_abandoned(folder: Path) -> None:
    """Drafts of processes that were killed; a young one may still be written."""
    for draft in folder.parent.glob(f".{folder.name}.*"):
        if time.time() - draft.stat().st_mtime > ABANDONED_AFTER_S:
            shutil.rmtree(draft, ignore_errors=True)


def _require_room(recipe: Recipe, folder: Path) -> None:
    needs = [(folder, recipe.bytes_per_row, FOLDER_VARIABLE)]
    if recipe.sorted_bytes_per_row:
        needs.append((Path(tempfile.gettempdir()), recipe.sorted_bytes_per_row, "TMPDIR"))
    for place, bytes_per_row, variable in needs:
        needed = round(1.2 * bytes_per_row * recipe.row_count)
        there = next(parent for parent in (place, *place.parents) if parent.exists())
        free = shutil.disk_usage(there).free
        if free < needed:
            raise KafkaLearnError(
                f"{recipe.row_count:,} rows of {recipe.name} need {_megabytes(needed)} in {place}, "
                f"{_megabytes(free)} are free; free some, take a smaller size, or set {variable} to a folder with room"
            )


def _megabytes(count: int) -> str:
    return f"{count / 1e6:,.0f} MB"


def _is_on_this_machine(spark: SparkSession) -> bool:
    return not is_connect(spark) and is_this_machine(spark.sparkContext.master)


def _user_cache() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
