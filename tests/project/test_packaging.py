"""The wheel: what those get who install kafkalearn without this folder."""

from __future__ import annotations

import subprocess
import sys
import zipfile

import pytest

from kafkalearn.datafiles import DATA_DIRECTORIES, DATA_FILES
from tools.environment import ROOT

RECORDED = {f"kafkalearn/data/{name}" for name in DATA_FILES.values()}
RECORDED_DIRECTORIES = {f"kafkalearn/data/{name}" for name in DATA_DIRECTORIES.values()}
IN_DIRECTORIES = {
    f"kafkalearn/data/{path.relative_to(ROOT / 'data').as_posix()}"
    for name in DATA_DIRECTORIES.values()
    for path in (ROOT / "data" / name).rglob("*")
    if path.is_file()
}
# site-packages points back to this folder; the wheel's content goes before it.
QUESTION = """
import sys
sys.path.insert(0, sys.argv[1])
from kafkalearn import datafiles, versions
found = [datafiles.data_file(name) for name in datafiles.DATA_FILES]
found += [datafiles.data_directory(name) for name in datafiles.DATA_DIRECTORIES]
print(*(str(path.relative_to(sys.argv[1])) for path in found))
print(versions.__file__.startswith(sys.argv[1]), versions.default("session.timeout.ms"))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (path,) = folder.glob("*.whl")
    return zipfile.ZipFile(path)


def test_the_wheel_holds_every_file_of_the_package_and_nothing_else(wheel):
    files = {path for path in (ROOT / "kafkalearn").rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    expected = {path.relative_to(ROOT).as_posix() for path in files} | RECORDED | IN_DIRECTORIES

    assert {name for name in wheel.namelist() if ".dist-info/" not in name} == expected


def test_the_wheel_brings_the_licence_and_says_which(wheel):
    (metadata,) = [name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")]

    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in wheel.namelist())
    assert "License-Expression: Apache-2.0" in wheel.read(metadata).decode().splitlines()


def test_what_was_recorded_is_read_from_the_wheel(wheel, tmp_path):
    wheel.extractall(tmp_path)

    printed = subprocess.check_output([sys.executable, "-I", "-c", QUESTION, str(tmp_path)], cwd=tmp_path, text=True)

    files, settings = printed.splitlines()
    assert {path.replace("\\", "/") for path in files.split()} == RECORDED | RECORDED_DIRECTORIES
    assert settings == "True 45000"
