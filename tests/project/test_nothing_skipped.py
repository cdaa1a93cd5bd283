"""Where all must run, a skip is a failure, however it comes about; elsewhere it is a skip."""

import os
import subprocess
import sys

import pytest

from tools.environment import ROOT

TESTS = """
import pytest

def test_that_runs(): pass

@pytest.mark.skip(reason="no browser")
def test_marked(): pass

def test_that_finds_out(): pytest.skip("no Java")

@pytest.fixture
def cluster(): pytest.skip("no workers")

def test_whose_fixture_skips(cluster): pass

@pytest.mark.xfail(strict=True)
def test_that_must_fail(): assert 1 == 2

@pytest.mark.parametrize("x", [])
def test_without_cases(x): pass
"""
WHOLE_FILE = "import pytest\npytest.importorskip('no_such_module')\n"


def outcome(folder, *options):
    (folder / "test_some.py").write_text(TESTS)
    (folder / "test_file.py").write_text(WHOLE_FILE)
    environ = dict(os.environ, PYTEST_DISABLE_PLUGIN_AUTOLOAD="1", PYTHONPATH=str(ROOT))
    command = [sys.executable, "-m", "pytest", "-q", "--continue-on-collection-errors", *options, str(folder)]
    done = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True)
    return done.stdout.splitlines()[-1].split(" in ")[0], done.stdout


def test_a_skip_is_a_skip_as_a_rule(tmp_path):
    assert outcome(tmp_path)[0] == "1 passed, 5 skipped, 1 xfailed"


def test_a_skip_is_a_failure_where_all_must_run(tmp_path):
    closing_line, printed = outcome(tmp_path, "-p", "tests.project.nothing_skipped")

    # Skipped before the test's own first line, it counts as an error.
    assert closing_line == "1 failed, 1 passed, 1 xfailed, 4 errors"
    for reason in ("no browser", "no Java", "no workers", "no_such_module"):
        assert reason in printed


@pytest.mark.parametrize(("value", "expected"), [("1", True), ("", False)])
def test_the_switch_puts_the_rule_to_work_for_the_whole_run(value, expected):
    environ = dict(os.environ, KAFKALEARN_REQUIRE_ALL=value)
    command = [sys.executable, "-m", "pytest", "-q", "--collect-only", "--trace-config", "tests/project/test_types.py"]
    listed = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True).stdout

    assert ("tests.project.nothing_skipped" in listed) == expected
