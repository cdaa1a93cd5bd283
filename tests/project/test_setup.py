"""run.py from a bare Python: .venv is made, kept, repaired. The real thing, on a project small enough for it."""

import ast
import os
import shutil
import sys
import time
from importlib.util import find_spec

import pytest

import run
from tests.project import tiny_project
from tests.project.tiny_project import WITHOUT_UV
from tools import environment
from tools.environment import ROOT, VENV_PYTHON

INSTALLING = "installing the locked packages"


def test_the_first_run_installs_and_the_next_one_goes_straight_on(project):
    first_printed, first_said = tiny_project.run(project, "bench")

    assert (first_printed, INSTALLING in first_said) == ("42\n", True)
    assert tiny_project.run(project, "bench") == ("42\n", "")


def test_another_lock_is_installed_at_the_next_run(project):
    tiny_project.run(project, "bench")

    tiny_project.lock(project, answer=4300)  # longer: within one second Python distinguishes files by size

    assert tiny_project.run(project, "bench")[0] == "4300\n"


def watched_uv(folder, offline="exec"):
    """A PATH with a uv that writes down what it is asked for, and what it does if it is to ask no network."""
    folder.mkdir()
    uv = shutil.which("uv", path=tiny_project.WITH_UV)
    lines = (
        f'echo "$@" >> "{folder}/asked"',
        f'case "$*" in *sync*--offline*) {offline} "{uv}" "$@";; esac',
        f'exec "{uv}" "$@"',
    )
    (folder / "uv").write_text("\n".join(["#!/bin/sh", *lines, ""]))
    (folder / "uv").chmod(0o755)
    return os.pathsep.join([str(folder), WITHOUT_UV])


def asked_of(folder):
    """What was asked for: the second word, and whether a network might be asked."""
    lines = [line.split() for line in (folder / "asked").read_text().splitlines()]
    return [(words[1], "--offline" in words) for words in lines if words[0] in ("pip",)]


@pytest.mark.skipif(os.name == "nt", reason="the uv that watches is a shell's script")
def test_what_uv_has_kept_is_installed_without_asking_a_network(project, tmp_path):
    path = watched_uv(tmp_path / "bin")

    assert tiny_project.run(project, "bench", PATH=path)[0] == "42\n"
    assert asked_of(tmp_path / "bin") == [("sync", True), ("install", False)]


@pytest.mark.skipif(os.name == "nt", reason="the uv that watches is a shell's script")
def test_what_uv_has_not_kept_is_fetched_and_nothing_is_said_of_the_first_try(project, tmp_path):
    path = watched_uv(tmp_path / "bin", offline="echo no cache >&2; exit 1; exec")
    printed, said = tiny_project.run(project, "bench", PATH=path)

    assert (printed, "no cache" in said) == ("42\n", False)
    assert asked_of(tmp_path / "bin") == [("sync", True), ("sync", False), ("install", False)]


@pytest.mark.skipif(os.name == "nt", reason="the uv that is fetched is a shell's script")
def test_the_uv_that_one_folder_has_fetched_is_the_next_one_s_without_a_network(tmp_path, monkeypatch):
    registry, wheel = tmp_path / "registry", "uv-0.13.8-py3-none-any.whl"
    registry.mkdir()
    lines = tiny_project.write_wheel(registry / wheel, {"uv-0.13.8.data/scripts/uv": "#!/bin/sh\necho uv 0.13.8\n"})
    (tmp_path / "lock").write_text(lines)
    monkeypatch.setattr(environment, "LOCK", tmp_path / "lock")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", registry.as_uri())

    def found(checkout):
        monkeypatch.setattr(environment, "BOOT", tmp_path / checkout)
        return environment.locked_uv()

    assert found("first") == tmp_path / "first" / "uv-0.13.8" / "bin" / "uv"
    (registry / wheel).unlink()
    assert found("second") == tmp_path / "second" / "uv-0.13.8" / "bin" / "uv"

    (tmp_path / "cache" / "kafkalearn-set-up" / wheel).write_bytes(b"another")  # its hash is not the lock's
    assert found("third") is None


@pytest.mark.parametrize("after_seconds", [0.05, 0.1, 0.15, 0.2, 0.3])
def test_an_installation_cut_off_at_any_moment_is_repaired_by_the_next_run(project, after_seconds):
    cut_off = tiny_project.start(project, "bench")
    time.sleep(after_seconds)
    cut_off.kill()
    cut_off.communicate()

    assert tiny_project.run(project, "bench")[0] == "42\n"


def test_what_an_installation_that_was_cut_off_left_behind_is_thrown_away(project):
    tiny_project.run(project, "bench")
    (project / ".venv" / "kafkalearn-stamp").unlink()
    (project / ".boot" / "unfinished").touch()
    (locked,) = (project / ".venv").rglob("locked.py")
    locked.unlink()

    assert tiny_project.run(project, "bench")[0] == "42\n"


def test_of_runs_started_together_one_installs_and_the_others_wait_for_it(project):
    together = [tiny_project.start(project, "bench") for _ in range(4)]
    results = [process.communicate(timeout=600) for process in together]

    assert [printed for printed, _ in results] == ["42\n"] * 4
    assert sum(INSTALLING in said for _, said in results) == 1


def test_a_folder_that_was_moved_is_set_up_again(project):
    tiny_project.run(project, "bench")

    moved = shutil.move(project, project.parent / "elsewhere")

    assert INSTALLING in tiny_project.run(moved, "bench")[1]
    assert tiny_project.run(moved, "bench") == ("42\n", "")


def test_what_a_reader_has_set_for_other_work_does_not_get_in(project):
    (project / "other").mkdir()
    (project / "other" / "locked.py").write_text("ANSWER = 'of another package on PYTHONPATH'")
    other = {"PYTHONPATH": str(project / "other"), "VIRTUAL_ENV": str(project / "other")}
    strict = {"PIP_REQUIRE_VIRTUALENV": "1", "UV_SYSTEM_PYTHON": "1", "UV_PYTHON": "3.7"}

    assert tiny_project.run(project, "bench", **other, **strict)[0] == "42\n"


def test_where_uv_cannot_be_had_pip_installs_the_same_or_says_what_is_missing(project):
    with tiny_project.start(project, "bench", PATH=WITHOUT_UV, PIP_REQUIRE_VIRTUALENV="1") as process:
        printed, said = process.communicate(timeout=600)

    # Debian leaves ensurepip out of its python3.
    expected = ("42\n", False) if find_spec("ensurepip") else ("", True)
    assert (printed, "install it (Debian: python3-venv)" in said) == expected


def test_the_mirror_in_the_settings_of_pip_is_found(tmp_path, monkeypatch):
    settings = tmp_path / "pip.conf"
    settings.write_text("[global]\nindex-url = https://mirror.example/simple\n")
    monkeypatch.delenv("PIP_INDEX_URL", raising=False)

    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)  # to pip: no settings at all
    assert environment.pips_index() is None

    monkeypatch.setenv("PIP_CONFIG_FILE", str(settings))
    assert environment.pips_index() == "https://mirror.example/simple"

    monkeypatch.setenv("PIP_INDEX_URL", "https://other.example/simple")
    assert environment.pips_index() == "https://other.example/simple"


def test_a_benchmark_that_fails_fails_the_run(project):
    (project / "benchmarks" / "wrong.py").write_text("1 / 0")

    with tiny_project.start(project, "bench") as process:
        printed, _ = process.communicate()

    assert (process.returncode, printed) == (1, "42\n")


@pytest.mark.parametrize("path", ["run.py", "tools/environment.py", "tools/reasons.py"])
def test_an_old_python_can_read_the_files_that_refuse_it(path):
    ast.parse((ROOT / path).read_text(encoding="utf-8"), feature_version=(3, 7))


def test_an_old_python_without_a_newer_one_beside_it_gets_a_sentence_that_says_what_to_do(monkeypatch):
    monkeypatch.setattr(sys, "version_info", (3, 9, 2))
    monkeypatch.setenv("PATH", "")

    with pytest.raises(SystemExit, match=r"needs Python 3\.11.*this is 3\.9(?s:.*)make lab PYTHON=/path/to/python3"):
        environment.go_on_with_a_suitable_python(["lab"])


def test_the_version_of_a_python_that_does_not_run_is_nothing():
    assert environment.version_of(VENV_PYTHON.parent / "no-such-python") == ()
    assert environment.version_of(sys.executable) == sys.version_info[:2]


def test_a_command_finds_the_programs_of_the_environment_first():
    unwanted = {"PYTHONPATH": "/spark/python", "PYTHONDONTWRITEBYTECODE": "1"}
    found = environment.variables({"PATH": "/usr/bin", **unwanted, "HOME": "/home/ann"})

    assert found["PATH"].split(os.pathsep) == [str(VENV_PYTHON.parent), "/usr/bin"]
    assert found["VIRTUAL_ENV"] == str(ROOT / ".venv")
    assert (found["HOME"], "PYTHONPATH" in found) == ("/home/ann", False)


def test_an_unknown_command_names_the_known_ones(capsys):
    assert run.main(["tset"]) == 2
    assert "unknown command 'tset'; expected one of lab, book, report, reset, grades" in capsys.readouterr().err


def test_without_a_command_all_are_listed(capsys):
    assert run.main([]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines() if line.startswith("  ")] == list(
        run.COMMANDS
    )
