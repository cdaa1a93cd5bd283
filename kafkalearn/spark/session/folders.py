"""Temporary folders that do not stay for good: each belongs to a process, and the next start removes what is left.

A process that ends in order removes its folders itself. One that was killed cannot; but the system gives back the
locks of a process however it ends. So each folder has a file that its owner keeps locked, and a folder whose file
can be locked by another has no owner any more.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import IO

from kafkalearn.spark.session.start_errors import SparkNotStarted

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

NAME = re.compile(r"kafkalearn-(spark|core|draft)-[a-z0-9_]{8}")
OWNER = ".kafkalearn-owner"  # the file that is kept locked
ABANDONED_AFTER_S = 24 * 3600

_held: dict[Path, tuple[IO[bytes], int]] = {}  # folder -> its locked file, and the process that made it


def temporary_folder(kind: str) -> Path:
    """A `new_folder` where the system has its temporary files.

    Raises
    ------
    SparkNotStarted
        If there is no place for it; the message says what to do.
    """
    try:
        return new_folder(Path(tempfile.gettempdir()), kind)
    except OSError as error:
        raise SparkNotStarted(
            f"no temporary folder can be made ({error}); free some room on the disk, "
            "or set TMPDIR to a folder with room where you may write, and restart the kernel"
        ) from None


def new_folder(place: Path, kind: str) -> Path:
    """An empty folder of this process in `place`, ``kafkalearn-KIND-...``, for `remove_folder` to remove.

    Before that, those of processes that are gone are removed: of any kind (spark, core, draft), of this user only.

    Raises
    ------
    OSError
        If it cannot be made.
    """
    _remove_ownerless(place)
    while True:
        folder = Path(tempfile.mkdtemp(prefix=f"kafkalearn-{kind}-", dir=place))
        if _hold(folder):
            return folder


def remove_folder(folder: Path) -> None:
    """Remove a folder of `new_folder`; in a forked child, whose parent still needs it, nothing happens."""
    file, process_id = _held.get(folder, (None, None))
    if process_id == os.getpid():
        del _held[folder]
        _remove(folder, file)


def _hold(folder: Path) -> bool:
    """Keep a folder's file locked; False where a start elsewhere took the young folder for one without owner."""
    try:
        file = (folder / OWNER).open("xb")
    except FileNotFoundError:
        return False
    if _lock(file) and (folder / OWNER).exists():
        _held[folder] = (file, os.getpid())
        return True
    file.close()
    return False


def _remove_ownerless(place: Path) -> None:
    for folder in place.glob("kafkalearn-*-*"):
        if NAME.fullmatch(folder.name) and folder.is_dir() and not folder.is_symlink() and _is_ours(folder):
            _remove_if_ownerless(folder)


def _remove_if_ownerless(folder: Path) -> None:
    try:
        file = (folder / OWNER).open("r+b")
    except OSError:  # it was removed while something still wrote into it; a young one is being made, or removed
        if _age_s(folder) > ABANDONED_AFTER_S:
            shutil.rmtree(folder, ignore_errors=True)
        return
    if _lock(file):
        _remove(folder, file)
    file.close()


def _age_s(folder: Path) -> float:
    try:
        return time.time() - folder.stat().st_mtime
    except OSError:
        return 0


def _remove(folder: Path, file: IO[bytes]) -> None:
    """Remove a folder whose file we hold: the file last, so that what is cut off here goes on at the next start."""
    for path in sorted(folder.glob("*")):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        elif path.name != OWNER:
            with contextlib.suppress(OSError):
                path.unlink()
    file.close()  # Windows removes no file that is open
    shutil.rmtree(folder, ignore_errors=True)


def _is_ours(folder: Path) -> bool:
    try:
        return not hasattr(os, "getuid") or folder.stat().st_uid == os.getuid()
    except OSError:
        return False


def _lock(file: IO[bytes]) -> bool:
    """Whether an open file could be locked; where the disk knows no locks, as on some networks, it never can."""
    try:
        if sys.platform == "win32":
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
