"""Where progress is kept while a student works, and keeping it.

In `progress.json` beside the working copies of the chapters, which the folder of the kernel is known by; or in the file
that `KAFKALEARN_PROGRESS` names. Anywhere else, as in the folder of the committed chapters, progress lives as long as
the kernel, and nothing is written.
"""

from __future__ import annotations

import os
from pathlib import Path

from kafkalearn.errors import KafkaLearnError
from kafkalearn.exercises.progress.record import Entry, NoRecord, Record, read_file, write_file

VARIABLE = "KAFKALEARN_PROGRESS"
FILE_NAME = "progress.json"
BESIDE_COPIES = ".made-from.json"  # what `kafkalearn.lab.working_copies` leaves in the folder of the copies


def file_of_progress() -> Path | None:
    """The file in which progress is kept now; None: in none."""
    if named := os.environ.get(VARIABLE, "").strip():
        return Path(named).expanduser()
    here = Path.cwd()
    is_kept = any((here / name).is_file() for name in (FILE_NAME, BESIDE_COPIES))
    return here / FILE_NAME if is_kept else None


def kept(exercise: str) -> Entry:
    """What the file says of an exercise; nothing, if there is no file or none that can be read."""
    try:
        return _record(file_of_progress()).entry(exercise)
    except KafkaLearnError:
        return Entry()


def keep(exercise: str, entry: Entry) -> str:
    """Add an entry to the file; empty text, or a sentence why that was not possible.

    What the file has of this exercise stays where it is better: two notebooks may be open. A file that is damaged is
    put aside as ``progress.json.damaged``, and a new one begun.
    """
    path = file_of_progress()
    if path is None:
        return ""
    try:
        return _added(path, exercise, entry)
    except (KafkaLearnError, OSError) as error:
        return f"Progress is not kept: {error}."


def _added(path: Path, exercise: str, entry: Entry) -> str:
    sentence = ""
    try:
        record = _record(path)
    except NoRecord as error:
        aside = path.with_name(f"{path.name}.damaged")
        os.replace(path, aside)
        record, sentence = Record(), f"The progress so far could not be read and lies in {aside.name} now: {error}."
    write_file(path, record.having(exercise, record.entry(exercise) | entry))
    return sentence


def _record(path: Path | None) -> Record:
    return read_file(path) if path is not None and path.exists() else Record()
