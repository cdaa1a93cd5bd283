"""Opens the chapters: ``python -m kafkalearn.lab``, from a checkout or an installed package.

python -m kafkalearn.lab                 JupyterLab on the reader's own copies; further words go to JupyterLab
python -m kafkalearn.lab copies          makes and renews the copies and starts nothing (JupyterHub, Binder)
python -m kafkalearn.lab reset 05 07     fresh copies of these chapters; the old ones stay beside them
python -m kafkalearn.lab edit            JupyterLab on the committed chapters, for authors
kafkalearn lab DIR                       the first, with the copies in DIR
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from kafkalearn.base.errors import KafkaLearnError, require
from kafkalearn.base.files import REPOSITORY, chapters_folder
from kafkalearn.lab.server import lab_options
from kafkalearn.lab.working_copies import reset_copies, update_copies

COPIES = "my-chapters"  # ignored by git: no autosave touches a committed chapter


def course() -> Path:
    """The folder of the committed chapters."""
    found = chapters_folder()
    if found is None:
        raise KafkaLearnError("the chapters are not here: use a checkout, or install kafkalearn from its wheel")
    return found


def copies_folder(chapters: Path) -> Path:
    """Where the reader's copies are: beside the chapters of a checkout, else in the working directory."""
    return (chapters.parent if chapters.parent == REPOSITORY else Path.cwd()) / COPIES


def main(words: Sequence[str]) -> int:
    """Run the command line; errors are one sentence."""
    try:
        return _run(words)
    except KafkaLearnError as error:
        print(f"kafkalearn: {error}", file=sys.stderr)
        return 1


def open_in(folder: str | None, words: Sequence[str] = ()) -> int:
    """JupyterLab on the reader's copies in a folder, which is made; None: where `copies_folder` has them."""
    return _run(words, None if folder is None else Path(folder).absolute())


def _run(words: Sequence[str], to: Path | None = None) -> int:
    folder = course()
    chapters, copies = sorted(folder.glob("*.ipynb")), to or copies_folder(folder)
    match words:
        case ["reset", *names] if names:
            for new, old in reset_copies(chapters, copies, names):
                print(f"{new.name} is fresh" + (f"; yours is now {old.name}" if old else ""))
            return 0
        case ["reset"]:
            raise KafkaLearnError("say which chapters: make reset ARGS=05, or python -m kafkalearn.lab reset 05")
        case ["edit", *options]:
            return _open(folder, options, is_author=True)
    for copy in update_copies(chapters, copies):
        if copy.change == "behind":
            number = copy.name.split("_")[0]
            print(
                f"{copy.name}: the course has a newer one; yours has your changes and stays. `reset {number}` keeps "
                "it beside a fresh copy."
            )
    if words == ["copies"]:
        print(f"the chapters are in {copies}")
        return 0
    return _open(copies, words, is_author=False)


def _open(folder: Path, words: Sequence[str], is_author: bool) -> int:
    """JupyterLab in place of this process where the system allows it, so that Ctrl-C reaches it and nothing else."""
    require("kafkalearn.lab", "jupyterlab")
    if is_author:
        _trust(sorted(folder.glob("*.ipynb")))
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    options = lab_options(folder, words, os.environ, sys.platform, is_root, is_author)
    command = [sys.executable, "-m", "jupyterlab", *options]
    if os.name == "posix":
        os.execv(sys.executable, command)
    return subprocess.call(command)


def _trust(notebooks: Sequence[Path]) -> None:
    """Sign the chapters; unsigned, JupyterLab hides their committed pictures until each cell has run."""
    words = [sys.executable, "-m", "nbformat.sign", *map(str, notebooks)]
    subprocess.call(words, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
