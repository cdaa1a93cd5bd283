"""Why the set-up cannot go on, in one sentence: what the system or an installer said, and what to do then.

Only the standard library is imported, and the syntax stays that of Python 3.7, for the reason given in run.py.
"""

import errno
import os
import re
import shutil
import tempfile
from pathlib import Path

NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
NO_RIGHT = (errno.EACCES, errno.EPERM, errno.EROFS)
IN_THE_WAY = (errno.EEXIST, errno.ENOTDIR, errno.EISDIR)

# What uv, pip and the system write, and what it means; the first that is found counts.
SIGNS = (
    ("hash", r"[Hh]ash mismatch|DO NOT MATCH THE HASHES"),
    ("room", r"No space left on device|not enough space on the disk|Disk quota exceeded|os error (28|112|122)\b"),
    (
        "right",
        r"Permission denied|Operation not permitted|Read-only file system|Access is denied|os error (1|13|30|5)\b",
    ),
)


def of(error):
    """The sentence for an OSError."""
    path = Path(error.filename) if isinstance(error.filename, str) else None
    if path is None:
        return f"{error.strerror or error}; nothing more is known"
    if error.errno in NO_ROOM:
        return _no_room(path)
    if error.errno in NO_RIGHT:
        return _no_right(path, error.strerror)
    if error.errno in IN_THE_WAY:
        file = next((each for each in (path, *path.parents) if each.is_file()), None)
        if file is not None:
            return f"{file} is a file, where a folder should be: move it away"
        return f"{path} is a folder, where a file should be: move it away"
    return f"{path}: {error.strerror or error}"


def in_output(text, folder):
    """The sentence for what an installer wrote while it worked for a folder, None where no reason is known."""
    kind = next((name for name, sign in SIGNS if re.search(sign, text)), None)
    if kind == "hash":
        return (
            "a package is not the one that requirements.lock names, its hash is another (see above); it was not "
            "installed. Fetch it from another registry or mirror; or, if the lock was changed: "
            "git checkout -- requirements.lock"
        )
    if kind == "room":
        return _no_room(folder)
    return _no_right(folder, "see above") if kind else None


def missing(path):
    """The sentence for a file of the repository that is gone."""
    return f"{path} is missing; it belongs to the repository, which still has it: git checkout -- {path.name}"


def _no_room(path):
    places = (_folder_of(path), Path(tempfile.gettempdir()))
    free = ", ".join(f"{shutil.disk_usage(str(each)).free / 1e6:,.0f} MB in {each}" for each in places)
    return f"the disk is full ({path}; free: {free}); 2,500 MB are needed, and TMPDIR names another temporary folder"


def _no_right(path, why):
    remedy = "make it yours, or clone the repository into a folder where you may write"
    return "{} cannot be written ({}){}; {}".format(path, why, _owner(_folder_of(path)), remedy)


def _owner(folder):
    """ " and belongs to root", where it is another's; Windows does not say."""
    if not hasattr(os, "geteuid") or folder.stat().st_uid == os.geteuid():
        return ""
    try:
        return f", and belongs to {folder.owner()}"
    except KeyError:
        return f", and belongs to the user {folder.stat().st_uid}"


def _folder_of(path):
    """The folder itself, or the one above that is there."""
    return next(each for each in (path, *path.parents) if each.is_dir())
