"""No run of a benchmark loses what it has measured, and a way that cannot is a line of its table."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"

RUN = """
import os, signal, sys
sys.path.insert(0, {benchmarks!r})
from _measure import Way, WrongAnswer, measure, parser


def overflows():
    raise OverflowError("offset overflow while concatenating arrays")


def differs():
    raise WrongAnswer("leaves 3, adding: 4")


def ends(how):
    if not os.path.exists({mark!r}):
        open({mark!r}, "w").close()
        how()


def interrupted():
    raise KeyboardInterrupt


ways = [
    Way("adding", lambda: sum(range(1000))),
    Way("concatenating", overflows),
    {way}
    Way("once", lambda: None, is_slow=True),
]
options = parser("a benchmark", rows=10, rounds=2, warm_up=1).parse_args(sys.argv[1:])
measure("of_a_test", "adding numbers", "a machine", ways, options)
"""


@pytest.fixture
def run(tmp_path):
    def run(way: str, *options: str) -> subprocess.CompletedProcess:
        script = tmp_path / "script.py"
        script.write_text(RUN.format(benchmarks=str(BENCHMARKS), mark=str(tmp_path / "mark"), way=way))
        variables = {**os.environ, "KAFKALEARN_DATA_DIR": str(tmp_path / "data")}
        command = [sys.executable, str(script), *options]
        return subprocess.run(command, env=variables, capture_output=True, text=True, check=False)

    return run


def lines_of(table: str) -> dict[str, list[str]]:
    """The cells of each way's line."""
    rows = [[cell.strip() for cell in line.strip("| ").split("  ") if cell.strip()] for line in table.splitlines()]
    return {cells[0]: cells[1:] for cells in rows if len(cells) > 3}


def test_a_way_that_cannot_is_a_line_of_the_table_and_the_others_go_on(run):
    done = run("")
    assert done.returncode == 0, done.stderr
    rows = lines_of(done.stdout)
    assert rows["adding"][0] == "2"
    assert rows["once"][0] == "1"
    assert "cannot: OverflowError: offset overflow while concatenating arrays" in rows["concatenating"]


def test_a_way_with_another_answer_is_a_line_of_the_table_and_the_run_ends_with_an_error(run):
    done = run('Way("differing", differs),')
    assert done.returncode == 1
    assert "cannot: WrongAnswer: leaves 3, adding: 4" in lines_of(done.stdout)["differing"]
    assert lines_of(done.stdout)["once"][0] == "1"


def test_it_shows_what_it_works_on_before_it_has_a_figure(run):
    said = run("").stderr
    assert (
        said.index("adding, warm-up ...") < said.index("adding, turn 1 of 2 ...") < said.index("once, turn 1 of 1 ...")
    )


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
def test_a_killed_run_goes_on_with_its_figures_and_not_with_the_way_that_killed_it(run):
    way = 'Way("growing", lambda: ends(lambda: os.kill(os.getpid(), signal.SIGKILL)), is_slow=True),'
    killed = run(way)
    assert killed.returncode == -signal.SIGKILL
    assert not killed.stdout

    done = run(way, "--go-on")
    assert "going on from" in done.stderr
    assert "adding, turn 1 of 2" not in done.stderr  # that figure was there
    rows = lines_of(done.stdout)
    assert rows["adding"][0] == "2"
    assert rows["once"][0] == "1"
    assert "cannot: the run was killed while it worked" in rows["growing"]


def test_an_interrupted_run_prints_its_table_and_tries_again_what_was_interrupted(run):
    way = 'Way("waiting", lambda: ends(interrupted), is_slow=True),'
    stopped = run(way)
    assert stopped.returncode != 0
    assert lines_of(stopped.stdout)["adding"][0] == "1"
    assert "not measured" in lines_of(stopped.stdout)["waiting"]

    assert lines_of(run(way, "--go-on").stdout)["waiting"][0] == "1"


def test_figures_of_something_else_are_not_taken_over(run, tmp_path):
    run("")
    path = tmp_path / "data" / "benchmarks" / "of_a_test.jsonl"
    first, *others = path.read_text().splitlines()
    path.write_text("\n".join([first.replace("a machine", "another machine"), *others]))
    again = run("", "--go-on")
    assert "nothing to go on from" in again.stderr
    assert lines_of(again.stdout)["adding"][0] == "2"
