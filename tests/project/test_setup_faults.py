"""Where the set-up cannot go on it says why and what to do: no traceback, no wrong reason. The faults are real ones."""

import os
import shutil
import sys

import pytest

from tests.project import tiny_project
from tests.project.tiny_project import WITHOUT_UV
from tools import environment, reasons

BY_PIP = pytest.param(WITHOUT_UV, id="pip", marks=pytest.mark.nightly)  # a wrong hash is tried by pip at every push
MISMATCH = "a package is not the one that requirements.lock names, its hash is another"


def refusal(project, *words, **settings):
    """What a run says that cannot go on: nothing on its output, no traceback."""
    with tiny_project.start(project, *(words or ("bench",)), **settings) as process:
        printed, said = process.communicate(timeout=600)

    assert process.returncode != 0
    assert printed == ""
    assert "Traceback" not in said
    return said


def faulty_uv(folder, said):
    """A PATH with a uv that is new enough, and fails at all that it is asked for."""
    folder.mkdir()
    (folder / "uv").write_text(f"#!/bin/sh\n[ $1 = --version ] && echo uv 0.13.8 || {{ echo '{said}' >&2; exit 2; }}\n")
    (folder / "uv").chmod(0o755)
    return os.pathsep.join([str(folder), WITHOUT_UV])


@pytest.mark.parametrize("gone", ["locked.py", "locked-42.dist-info", "course.pth"])
def test_packages_that_are_gone_are_installed_again(project, gone):
    tiny_project.run(project, "bench")
    (path,) = (project / ".venv").rglob(gone)
    shutil.rmtree(path) if path.is_dir() else path.unlink()

    printed, said = tiny_project.run(project, "bench")

    assert printed == "42\n"
    assert f"packages of .venv are gone ({gone}), so it is made anew" in said
    assert tiny_project.run(project, "bench") == ("42\n", "")


def test_a_python_that_cannot_be_run_is_replaced(project):
    tiny_project.run(project, "bench")
    python = project / environment.VENV_PYTHON.relative_to(environment.ROOT)
    python.unlink()
    python.write_text("nothing")

    assert tiny_project.run(project, "bench")[0] == "42\n"


@pytest.mark.parametrize("name", [".boot", ".venv"])
def test_a_file_where_a_folder_should_be_is_named_and_left_alone(project, name):
    (project / name).write_text("of the reader")

    assert f"{project / name} is a file, where a folder should be: move it away" in refusal(project)
    assert (project / name).read_text() == "of the reader"


@pytest.mark.parametrize("name", [".boot/lock", ".venv/kafkalearn-stamp"])
def test_a_folder_where_a_file_should_be_is_named(project, name):
    (project / name).mkdir(parents=True)

    assert f"{project / name} is a folder, where a file should be: move it away" in refusal(project)


def test_a_project_folder_where_one_may_not_write_is_named(project):
    project.chmod(0o555)
    try:
        said = refusal(project, obeys_modes=True)
    finally:
        project.chmod(0o755)

    assert f"{project / '.boot'} cannot be written (Permission denied); make it yours, or clone" in said


@pytest.mark.parametrize("path", [pytest.param(tiny_project.WITH_UV, id="uv"), BY_PIP])
def test_a_venv_of_another_user_is_named_as_the_reason_and_not_the_registry(project, path):
    tiny_project.run(project, "bench")
    tiny_project.lock(project, answer=4300)
    (packages,) = (project / ".venv").rglob("site-packages")
    folders = [packages, packages.parent, packages.parents[1], project / ".venv" / "bin"]
    for folder in folders:
        folder.chmod(0o555)
    try:
        said = refusal(project, obeys_modes=True, PATH=path)
    finally:
        for folder in folders:
            folder.chmod(0o755)

    assert f"the installation failed: {project / '.venv'} cannot be written (see above); make it yours" in said
    assert "registry" not in said


@pytest.mark.skipif(not hasattr(os, "chown") or os.geteuid() != 0, reason="only root can give a folder away")
def test_the_owner_of_a_folder_is_named(tmp_path):
    (tmp_path / "theirs").mkdir()
    os.chown(tmp_path / "theirs", 4300, -1)
    refused = PermissionError(13, "Permission denied", str(tmp_path / "theirs" / "lock"))

    assert "lock cannot be written (Permission denied), and belongs to the user 4300; make it" in reasons.of(refused)


@pytest.mark.parametrize("name", ["requirements.lock", "pyproject.toml"])
@pytest.mark.parametrize("command", ["bench", "lock", "setup"])
def test_a_file_of_the_repository_that_is_missing_is_named(project, name, command):
    (project / name).unlink()

    said = refusal(project, command)

    assert (
        f"{project / name} is missing; it belongs to the repository, which still has it: git checkout -- {name}" in said
    )


@pytest.mark.parametrize("path", [tiny_project.WITH_UV, WITHOUT_UV], ids=["uv", "pip"])
def test_a_wrong_hash_is_named_as_the_reason_and_nothing_else_is_tried(project, path):
    lock = project / "requirements.lock"
    lock.write_text(lock.read_text()[:-5] + "0000\n")

    said = refusal(project, PATH=path)

    assert f"kafkalearn: the installation failed: {MISMATCH}" in said
    assert said.count("DO NOT MATCH") == (path == WITHOUT_UV)  # pip is not asked for what uv has refused
    assert "registry, or a mirror named" not in said


@pytest.mark.parametrize(
    "printed", ["error: failed to write: No space left on device (os error 28)", "os error 122", "os error 112"]
)
def test_a_full_disk_is_named_with_what_is_free_and_nothing_else_is_tried(project, tmp_path, printed):
    said = refusal(project, PATH=faulty_uv(tmp_path / "bin", printed))

    assert printed in said
    assert f"the installation failed: the disk is full ({project / '.venv'}; free: " in said
    assert f" MB in {project}, " in said
    assert "with pip" not in said


def test_another_failure_of_uv_is_passed_on_to_pip(project, tmp_path):
    with tiny_project.start(project, "bench", PATH=faulty_uv(tmp_path / "bin", "odd")) as process:
        said = [process.stderr.readline() for _ in range(3)]
        process.kill()

    assert said[1:] == [
        "odd\n",
        "kafkalearn: this cannot be done with uv here; going on with pip, which takes some minutes\n",
    ]


STRICT_C = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}  # Python takes it at its word


@pytest.mark.parametrize(
    ("locale", "path"),
    [
        pytest.param({"LC_ALL": "C"}, tiny_project.WITH_UV, id="C, uv"),
        pytest.param(STRICT_C, tiny_project.WITH_UV, id="strict C, uv"),
        pytest.param(STRICT_C, WITHOUT_UV, id="strict C, pip", marks=pytest.mark.nightly),
    ],
)
def test_a_path_that_is_not_ascii_is_no_matter_where_the_locale_is_c(tmp_path, locale, path):
    folder = tmp_path / "курс übung"
    folder.mkdir()
    tiny_project.make(folder)

    assert tiny_project.run(folder, "bench", PATH=path, **locale)[0] == "42\n"
    assert tiny_project.run(folder, "bench", PATH=path, **locale) == ("42\n", "")


def test_in_such_a_place_a_refusal_is_a_sentence_too(tmp_path):
    folder = tmp_path / "курс übung"
    folder.mkdir()
    (tiny_project.make(folder) / ".boot").write_text("of the reader")

    assert "is a file, where a folder should be" in refusal(folder, **STRICT_C)


@pytest.mark.parametrize("home", ["/dev/null/home", "/proc/no-such-home"])
def test_without_a_home_folder_the_set_up_keeps_its_cache_beside_venv(project, home):
    assert tiny_project.run(project, "bench", HOME=home, UV_CACHE_DIR="") == (
        "42\n",
        "kafkalearn: installing the locked packages into .venv: about 700 MB to fetch, 1.5 GB on disk\n",
    )
    assert (project / ".boot" / "cache").is_dir()


@pytest.mark.parametrize("command", ["lab", "edit", "book", "chapters", "test"])
def test_without_a_home_folder_jupyter_is_not_begun(project, command):
    tiny_project.run(project, "setup")

    said = refusal(project, command, HOME="/dev/null/home")

    assert said.startswith("kafkalearn: nothing can be written into your home folder (/dev/null/home: Not a directory)")
    assert "Name another folder: HOME=/path/to/a/folder make lab" in said


def test_where_jupyter_has_folders_of_its_own_no_home_is_needed(monkeypatch):
    monkeypatch.setenv("HOME", "/dev/null/home")
    with pytest.raises(SystemExit):
        environment.require_home()

    for kind in ("CONFIG", "DATA", "RUNTIME"):
        monkeypatch.setenv(f"JUPYTER_{kind}_DIR", "/srv/jupyter")
    environment.require_home()


def test_a_disk_without_locks_does_not_look_like_another_run(project, monkeypatch, capsys):
    if sys.platform == "win32":
        pytest.skip("Windows locks otherwise")

    def no_locks(*arguments):
        raise OSError(37, "No locks available")

    monkeypatch.setattr("fcntl.flock", no_locks)
    monkeypatch.setattr(environment, "BOOT", project / ".boot")
    with environment.one_at_a_time():
        assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(28, "No space left on device", "/"), "the disk is full (/; free: "),
        (OSError(30, "Read-only file system", "/x/.venv"), "/x/.venv cannot be written (Read-only file system)"),
        (OSError(5, "Input/output error", "/x/lock"), "/x/lock: Input/output error"),
        (OSError(32, "Broken pipe"), "Broken pipe; nothing more is known"),
    ],
)
def test_every_error_of_the_system_has_its_sentence(error, said):
    assert reasons.of(error).startswith(said)
