"""What belongs to a dataset on disk: each of its files, how long it is, when it was written, and its checksum.

It is written last. A dataset without a manifest, or with one of another form, counts as damaged, and so does one with
a file too few, too many, or not as it was written. A file whose time is the noted one is taken for what was written;
of one with another time, as after a copy, the content is looked at.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from zlib import crc32

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
