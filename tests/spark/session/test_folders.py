"""A temporary folder goes with its process, or with the next start after it."""

import os
import signal
import subprocess
import sys
import time

import pytest

from kafkalearn.spark.session.gateway import SparkNotStarted
from kafkalearn.spark.session.start import new_folder, remove_folder, temporary_folder
from tests.spark.processes import ROOT

MAKE_ONE = """
import sys, time
from pathlib import Path
from kafkalearn.spark.session.start import new_folder

folder = new_folder(Path(sys.argv[1]), sys.argv[2])
(folder / "zip").mkdir()
(folder / "zip" / "code").write_text("much")
print(folder.name, flush=True)
time.sleep(600)
"""


@pytest.fixture
def other(tmp_path):
    """Another process with a folder, and the folder."""
    command = [sys.executable, "-c", MAKE_ONE, str(tmp_path), "core"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        yield process, tmp_path / process.stdout.readline().strip()
        process.kill()


def test_a_folder_is_there_until_it_is_removed(tmp_path):
    folder = new_folder(tmp_path, "spark")
    (folder / "java.log").write_text("said")
    assert list(tmp_path.iterdir()) == [folder]

    remove_folder(folder)
    remove_folder(folder)  # whoever comes second finds nothing to do
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_left_goes_with_the_next_start_and_what_a_living_one_has_stays(tmp_path, other):
    process, folder = other
    mine = new_folder(tmp_path, "spark")
    assert (folder / "zip" / "code").exists()

    process.send_signal(signal.SIGKILL)
    process.wait()
    another = new_folder(tmp_path, "spark")

    assert set(tmp_path.iterdir()) == {mine, another}
    for each in (mine, another):
        remove_folder(each)


def test_what_was_removed_while_something_still_wrote_goes_when_it_is_old_and_what_is_not_ours_stays(tmp_path):
    day_ago = time.time() - 25 * 3600
    old, *others = names = ["kafkalearn-core-0123abcd", "kafkalearn-my-clone", "kafkalearn-core-young_00"]
    for name in names:
        (tmp_path / name).mkdir()
        if "young" not in name:
            os.utime(tmp_path / name, (day_ago, day_ago))
    (tmp_path / "kafkalearn-core-linked00").symlink_to(tmp_path / "kafkalearn-my-clone")

    remove_folder(new_folder(tmp_path, "core"))

    assert {path.name for path in tmp_path.iterdir()} == {*others, "kafkalearn-core-linked00"}
    assert not (tmp_path / old).exists()


def test_a_forked_child_removes_nothing_of_its_parent(tmp_path):
    folder = new_folder(tmp_path, "core")
    if (child := os.fork()) == 0:
        remove_folder(folder)
        os._exit(0)
    os.waitpid(child, 0)

    assert folder.exists()
    remove_folder(folder)


def test_without_a_place_for_temporary_files_a_sentence_says_so(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "file"))
    with pytest.raises(SparkNotStarted, match=r"no temporary folder can be made .* or set TMPDIR to a folder"):
        temporary_folder("spark")
