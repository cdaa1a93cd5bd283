"""An archive of Java's classes is used where it fits, and costs no start where it is missing, broken or not ours."""

import os
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

from kafkalearn.base import class_archive
from kafkalearn.base.class_archive import ArchiveNotMade, ClassArchive, archive_of
from kafkalearn.base.files import FOLDER_VARIABLE
from kafkalearn.base.java_runtime import Java, find_java
from tests.spark.processes import java_script


def run_java(archive: ClassArchive, *options: str) -> subprocess.CompletedProcess:
    """What Java says that does nothing, with these options."""
    command = [archive.java.executable, *options, "-cp", archive.class_path, "-version"]
    return subprocess.run(command, capture_output=True, text=True, cwd=archive.folder, check=False)


def train(archive: ClassArchive):
    return lambda class_list: run_java(archive, archive.training_option(class_list)).check_returncode()


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> ClassArchive:
    """An archive of the classes that a Java loads which does nothing: of this Java, on a class path of one jar."""
    place = tmp_path_factory.mktemp("archive")
    jar = place / "one.jar"
    with zipfile.ZipFile(jar, "w") as file:
        file.writestr("empty", "")
    archive = ClassArchive(find_java(), str(jar), (jar,), place / "classes")
    assert archive.options() == []
    assert archive.make(train(archive))
    return archive


@pytest.fixture
def own(made, tmp_path) -> ClassArchive:
    """A copy of it, to be harmed."""
    shutil.copytree(made.folder, tmp_path / "classes")
    (tmp_path / "classes").chmod(0o700)
    return ClassArchive(made.java, made.class_path, made.jars, tmp_path / "classes")


def file_of(archive: ClassArchive) -> Path:
    (path,) = archive.folder.glob("*.jsa")
    return path


def test_java_uses_it(made):
    assert run_java(made, *made.options(), "-Xshare:on").returncode == 0  # Java ends where it cannot use it


def test_it_is_made_once(made):
    assert made.make(lambda class_list: pytest.fail("it is there"))


def test_one_that_was_cut_is_not_used(own):
    os.truncate(file_of(own), 1_000_000)
    assert own.options() == []


def test_one_with_other_bytes_costs_nothing_but_its_gain(own):
    path = file_of(own)
    with path.open("rb+") as file:
        file.seek(path.stat().st_size // 2)
        file.write(b"\xff" * 4096)
    assert own.options()
    assert run_java(own, *own.options(), "-Xshare:on").returncode != 0
    answer = run_java(own, *own.options())
    assert answer.returncode == 0
    assert "fatal error" not in answer.stdout + answer.stderr


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="Windows has other rights")
@pytest.mark.parametrize("of_folder", [False, True])
@pytest.mark.parametrize("rights", [0o020, 0o002])
def test_one_that_others_may_write_is_not_used(own, of_folder, rights):
    path = own.folder if of_folder else file_of(own)
    path.chmod(path.stat().st_mode | rights)
    assert own.options() == []


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="Windows has other rights")
def test_one_of_another_user_is_not_used(own, monkeypatch):
    real = Path.stat
    monkeypatch.setattr(Path, "stat", lambda path, **how: _of_another(real(path, **how)))
    assert own.options() == []


def _of_another(status: os.stat_result) -> os.stat_result:
    return os.stat_result((*status[:4], os.getuid() + 1, *status[5:]), {"st_mtime_ns": status.st_mtime_ns})


def test_another_jar_or_another_java_has_another_archive(own, tmp_path):
    assert ClassArchive(own.java, own.class_path, (tmp_path / "none.jar",), own.folder).options() == []
    newer = Java(own.java.executable, own.java.version + ".1", own.java.source)
    assert not ClassArchive(newer, own.class_path, own.jars, own.folder).is_tried
    jar = tmp_path / "changed.jar"
    shutil.copy(own.jars[0], jar)
    before = ClassArchive(own.java, str(jar), (jar,), own.folder)
    key = before._key()
    os.utime(jar, (1, 1))
    assert before._key() != key


def test_without_room_it_says_so_and_runs_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(class_archive.shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(10**12, 10**12, 5 << 20))
    archive = ClassArchive(find_java(), "x.jar", (), tmp_path / "classes")
    with pytest.raises(ArchiveNotMade, match=r"takes up to 200 MB, and .* has 5 MB free; .* or do without"):
        archive.make(lambda class_list: pytest.fail("nothing is to be run"))
    assert archive.options() == []


def test_a_java_that_can_write_none_is_not_asked_again(tmp_path):
    java = Java(java_script(tmp_path / "java", "17.0.1"), "17.0.1", "PATH")
    archive = ClassArchive(java, "x.jar", (), tmp_path / "classes")
    assert not archive.make(lambda class_list: class_list.write_text("java/lang/Object"))
    assert archive.is_tried
    assert not archive.make(lambda class_list: pytest.fail("it was tried"))
    assert archive.options() == []


def test_where_none_is_used_none_is_made(tmp_path, monkeypatch):
    monkeypatch.setattr(class_archive, "KNOWS_OWNERS", False)  # as on Windows
    archive = ClassArchive(find_java(), "x.jar", (), tmp_path / "classes")
    assert archive.is_tried
    assert not archive.make(lambda class_list: pytest.fail("nothing is to be run"))
    assert not archive.folder.exists()


def test_a_training_that_fails_leaves_nothing(tmp_path):
    archive = ClassArchive(find_java(), "x.jar", (), tmp_path / "classes")
    with pytest.raises(ZeroDivisionError):
        archive.make(lambda class_list: 1 / 0)
    assert [path.name for path in archive.folder.iterdir()] == ["lock"]


def test_those_that_nothing_used_for_long_go_and_what_was_begun(tmp_path):
    (tmp_path / ".making-1").mkdir()
    (tmp_path / ".making-1" / "classes.jsa").write_text("half")
    archive = ClassArchive(Java(Path("none"), "17.0.1", "PATH"), "x.jar", (), tmp_path)
    old, young = tmp_path / "a-1.jsa", tmp_path / "b-1.jsa"
    old.write_text("a")
    young.write_text("b")
    os.utime(old, (1, 1))
    archive.make(lambda class_list: None)
    assert young.exists()
    assert not old.exists()
    assert list(tmp_path.glob(".making-*")) == []


def test_all_kernels_of_a_user_look_in_the_folder_of_made_data(tmp_path, monkeypatch):
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    assert archive_of(find_java(), "x.jar", []).folder == tmp_path / "classes"
