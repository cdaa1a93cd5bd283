"""The wheel: what those get who install kafkalearn without this folder."""

import json
import re
import shutil
import subprocess
import sys
import zipfile

import pytest

import kafkalearn
from kafkalearn.base.files import DATA_DIRECTORIES, DATA_FILES
from kafkalearn.lab.working_copies import without_results
from tools import addresses
from tools.environment import PROGRAMS, ROOT

RECORDED = {f"kafkalearn/data/{name}" for name in DATA_FILES.values()}
RECORDED_DIRECTORIES = {f"kafkalearn/data/{name}" for name in DATA_DIRECTORIES.values()}
IN_DIRECTORIES = {
    f"kafkalearn/data/{path.relative_to(ROOT / 'data').as_posix()}"
    for name in DATA_DIRECTORIES.values()
    for path in (ROOT / "data" / name).rglob("*")
    if path.is_file()
}
# Without site-packages: these point back to this folder, and hold what the core must do without.
QUESTION = """
import sys
sys.path.insert(0, sys.argv[1])
import kafkalearn
from kafkalearn.base import files as datafiles
from kafkalearn import releases as versions
found = [datafiles.data_file(name) for name in datafiles.DATA_FILES]
found += [datafiles.data_directory(name) for name in datafiles.DATA_DIRECTORIES]
print(*(str(path.relative_to(sys.argv[1])) for path in found))
print(versions.__file__.startswith(sys.argv[1]), versions.default("session.timeout.ms"))
print(kafkalearn.offsets_partition("test-group"), kafkalearn.partition_for_key(b"user-42", 6))
try:
    import kafkalearn.spark
except ImportError as error:
    print(error)
"""


@pytest.fixture(scope="module")
def wheel_path(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def wheel(wheel_path):
    return zipfile.ZipFile(wheel_path)


def metadata(wheel):
    (name,) = [name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")]
    return wheel.read(name).decode().splitlines()


def test_the_wheel_holds_every_file_of_the_package_and_nothing_else(wheel):
    files = {path for path in (ROOT / "kafkalearn").rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    chapters = {f"kafkalearn/notebooks/{path.name}" for path in (ROOT / "notebooks").glob("*.ipynb")}
    expected = {path.relative_to(ROOT).as_posix() for path in files} | RECORDED | IN_DIRECTORIES | chapters
    extension = [*(ROOT / "kafkalearn" / "lab" / "kafkalearn-lab").iterdir()]
    fonts = {path.relative_to(ROOT).as_posix() for path in extension if path.suffix == ".woff2"}
    found_by_jupyterlab = f"kafkalearn-{kafkalearn.__version__}.data/data/share/jupyter/labextensions/kafkalearn-lab"
    expected |= {f"{found_by_jupyterlab}/{path.name}" for path in extension}

    assert fonts
    assert {name for name in wheel.namelist() if ".dist-info/" not in name} == expected - fonts


def test_a_package_index_shows_readme_without_a_dead_link(wheel):
    described = "\n".join(metadata(wheel))

    assert addresses.addresses() or "Project-URL" not in described
    for words, target in re.findall(r"\[([^\]]*)\]\(([^)\s]+)\)", described):
        assert re.match(r"https://|#", target), words


KNOWN = {"Repository": "https://example.org/us", "Documentation": "https://example.org/book"}


def test_readme_has_the_badges_of_the_addresses_that_are_known():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")

    assert addresses.with_badges(readme, addresses.addresses()) == readme
    named = addresses.with_badges(readme, KNOWN)
    assert "[![Tests](https://example.org/us/actions/workflows/test.yml/badge.svg)]" in named
    assert "(https://example.org/book)" in named
    assert addresses.with_badges(named, {}) == addresses.with_badges(readme, {})


def test_elsewhere_each_link_leads_to_a_file_of_the_repository():
    shown = addresses.elsewhere((ROOT / "README.md").read_text(encoding="utf-8"), KNOWN)
    paths = re.findall(r"\(https://example\.org/us/(?:blob|raw)/HEAD/([^)#]+)", shown)

    assert len(paths) > 20
    assert all((ROOT / path).exists() for path in paths)


def test_the_wheel_has_the_chapters_without_results(wheel):
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        carried = json.loads(wheel.read(f"kafkalearn/notebooks/{path.name}"))
        assert carried == without_results(json.loads(path.read_text(encoding="utf-8")))


def test_the_wheel_brings_the_licence_and_says_which_and_those_of_all_that_it_carries(wheel):
    for name in ("LICENSE", "NOTICES.txt"):
        assert any(each.endswith(f".dist-info/licenses/{name}") for each in wheel.namelist())
        assert f"License-File: {name}" in metadata(wheel)
    assert "License-Expression: Apache-2.0" in metadata(wheel)


def test_every_package_that_the_wheel_names_is_one_of_an_extra(wheel):
    named = [line for line in metadata(wheel) if line.startswith("Requires-Dist: ")]

    assert len(named) > 5
    assert all("; extra == '" in line for line in named)


def test_installed_where_no_other_package_can_be_had_its_helpers_answer_and_its_data_is_found(wheel_path, tmp_path):
    install = ["uv", "pip", "install", "--quiet", "--offline", "--no-index", "--no-cache", "--no-config"]
    uv = shutil.which(install[0], path=str(PROGRAMS)) or install[0]
    subprocess.run([uv, *install[1:], "--python", sys.executable, "--target", tmp_path, wheel_path], check=True)

    ask = [sys.executable, "-I", "-S", "-c", QUESTION, str(tmp_path)]
    files, settings, helpers, refusal = subprocess.check_output(ask, cwd=tmp_path, text=True).splitlines()
    assert {path.replace("\\", "/") for path in files.split()} == RECORDED | RECORDED_DIRECTORIES
    assert settings == "True 45000"
    assert helpers == "12 4"
    assert refusal == "kafkalearn.spark needs pyspark, which is not installed: pip install 'kafkalearn[spark]'"
