#!/usr/bin/env python3
"""Everything there is to run, from a bare Python: ``python3 run.py lab``, ``test``, ``book`` and so on.

Only the standard library is imported here, because .venv, which holds all else, is made from here. This file
and tools/environment.py stay readable for Python 3.7: an old Python is to get a sentence that says what to do,
not a SyntaxError.
"""

import os
import subprocess
import sys

from tools import environment, reasons
from tools.environment import LOCK, OLDEST, ROOT, VENV_PYTHON, call, say


def hand_over(*command):
    """End as the command ends; where the system allows it, this process becomes the command."""
    words = [str(word) for word in (VENV_PYTHON, *command)]
    os.chdir(str(ROOT))
    try:
        if os.name == "posix":
            os.execve(words[0], words, environment.variables(os.environ))  # so that Ctrl-C reaches it and nothing else
        return subprocess.call(words, env=environment.variables(os.environ))
    except OSError as error:
        sys.exit("kafkalearn: %s does not run (%s); remove .venv and try again" % (VENV_PYTHON, error.strerror))


def lab(words):
    """Opens the chapters in JupyterLab: your own copies, without results; no screen: prints the address."""
    environment.require_home()
    return hand_over("-m", "kafkalearn.lab", *words)


def reset(words):
    """Makes fresh copies of chapters, ARGS='05 07'; yours stay beside them."""
    return hand_over("-m", "kafkalearn.lab", "reset", *words)


def edit(words):
    """Opens the committed chapters in JupyterLab, for authors."""
    environment.require_home()
    return hand_over("-m", "kafkalearn.lab", "edit", *words)


# What goes to one worker together is told by tests/running/together.py. What takes longest is named, and begun, first.
WORKERS = ["-n", "logical", "--maxprocesses", "4", "--dist", "loadfile", "--no-loadscope-reorder"]


def test(words):
    """Runs one of each kind: every rule's answers and laws, lint, two chapters strictly, Spark, a real Kafka."""
    environment.require_home()
    return hand_over("-m", "pytest", *words) if words else _tests("not long and not nightly")


def ci(words):
    """Runs what every push must hold: each chapter strictly, all rules on Spark and live, the book and the lab."""
    environment.require_home()
    return _tests("not nightly", *words, costs=ROOT / "data" / "generated" / "costs")


def nightly(words):
    """Runs what no push waits for: other Sparks and brokers, a second browser, fuzz; ARGS=--list, ARGS='fuzz page'."""
    environment.require_home()
    return hand_over("-m", "tools.nightly", *words)


def _tests(chosen, *words, costs=None):
    """All tests that are chosen, and then those that start a real Kafka: beside Spark it would answer too late.

    Its jars come while the others run. Where they cannot be had, it says so here, and those tests are skipped.
    """
    jars = subprocess.Popen(
        [str(VENV_PYTHON), "-m", "kafkalearn.live"],
        cwd=str(ROOT),
        env=environment.variables(os.environ),
        stdout=subprocess.DEVNULL,
    )

    def passed(kind, *places):
        kept = ["--costs", costs / (kind.replace(" ", "-") + ".json")] if costs else []
        return call(VENV_PYTHON, "-m", "pytest", *WORKERS, *kept, "-m", "%s and %s" % (kind, chosen), *words, *places)

    rest = passed("not live")
    jars.wait()
    return 0 if passed("live", "tests/live") and rest else 1


# Plugins by name: nbval and what it brings take seconds to load in each worker, for chapters that are not run here.
QUICK = ["--quick", "-p", "xdist", "-p", "hypothesispytest"]
QUICK += ["-o", "addopts=--doctest-modules --doctest-glob=README.md --strict-markers --strict-config"]
QUICK += ["-m", "not spark and not cluster and not browser and not live and not long"]


# What has examples in its docstrings stands beside the tests.
WITH_EXAMPLES = ["tests", "kafkalearn", "conformance", "tools/page", "tools/house.py", "tools/mutants.py"]


def quick(words):
    """Runs lint and what takes a minute together: no Spark, no browser, no chapter, few examples of each law."""
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    # A file is one worker's, so that what it makes is made once.
    spread = ["-n", "logical", "--maxprocesses", "4", "--dist", "loadfile"]
    return hand_over("-m", "pytest", *spread, *QUICK, *WITH_EXAMPLES, *words)


def fuzz(words):
    """Gives odd input to all that is public, each time other; ARGS=10 for ten minutes, five if not said."""
    return hand_over("-m", "tests.fuzz.search", *words)


def book(words):
    """Writes the chapters as pages, in which Python runs offline: book/index.html; ARGS=--run runs them first."""
    environment.require_home()
    return hand_over("-m", "tools.book", *words)


def chapters(words):
    """Runs the chapters in place, all or those named (ARGS=01), and keeps their outputs."""
    environment.require_home()
    return hand_over("-m", "tools.chapters", *words)


def minutes(words):
    """Counts how long each lesson takes; ARGS='05 06': section by section; ARGS=--write: where the course says it."""
    return hand_over("-m", *(["tools.timings"] if words == ["--write"] else ["tools.minutes", *words]))


def bench(words):
    """Runs the benchmarks, all or those named, each a table of ratios."""
    scripts = sorted((ROOT / "benchmarks").glob("[!_]*.py"))
    chosen = [path for path in scripts if not words or any(word in path.stem for word in words)]
    if not chosen:
        say("no such benchmark; there are: " + (", ".join(path.stem for path in scripts) or "none"))
    failed = [path.name for path in chosen if not call(VENV_PYTHON, path)]
    return 1 if failed or not chosen else 0


def live(words):
    """Fetches the real Kafka that can be started here; ARGS=check asks it what the rules say; ARGS=4.1 for another."""
    is_check = words[:1] == ["check"]
    return hand_over("-m", "tools.checked_live" if is_check else "kafkalearn.live", *words[is_check:])


def conform(words):
    """Asks a real Kafka and the simulators the same random questions, 5 minutes each; ARGS='--minutes 20 --seed 7'."""
    return hand_over("-m", "conformance.command", *words)


def report(words):
    """Writes how far you are with the exercises into a file to hand in; ARGS='--name Anna' puts your name in it."""
    return hand_over("-m", "kafkalearn.exercises.progress.report", *words)


def grades(words):
    """Judges the reports in a folder again and makes the table of a class; ARGS=folder."""
    return hand_over("-m", "kafkalearn.exercises.progress.grades", *words)


def export(words):
    """Writes the exercises as assignments of another grader; ARGS='otter 01 04', ARGS=nbgrader: all chapters."""
    return hand_over("-m", "kafkalearn.exercises.export", *words)


def settings(words):
    """Reads every setting of each Kafka release from its classes anew; ARGS='3.9 4.3=4.3.2' for some lines."""
    return hand_over("-m", "tools.settings", *words)


def release(words):
    """Takes in a release of Kafka: remakes what is recorded or read from it; ARGS='4.4=4.4.1', prints what changed."""
    return hand_over("-m", "tools.release", *words)


def house(words):
    """Reports to a reviewer: sizes, long files, doubled names, what each lesson has."""
    return hand_over("-m", "tools.house", *words)


def mutants(words):
    """Puts small faults into the rules, one at a time, and says which the tests notice; hours; ARGS='--tries 20'."""
    return hand_over("-m", "tools.mutants", *words)


def dist(words):
    """Builds sdist and wheel, checks them, and tries the wheel alone on each Python that is here."""
    return hand_over("-m", "tools.dist", *words)


def lock(words):
    """Writes requirements.lock anew from pyproject.toml; ARGS=--upgrade for newer versions."""
    environment.require_the_repository()
    uv = environment.locked_uv()
    if uv is None:
        sys.exit("kafkalearn: the lock is written by the uv that it names, and pip cannot bring it, see above")
    shape = ["--universal", "--python-version", "%d.%d" % OLDEST, "--extra", "lab", "--group", "dev"]
    # No line names an address: each reader's own registry or mirror serves the same hashes.
    style = ["--generate-hashes", "--no-annotate", "--no-header", "--no-emit-index-url", "--no-emit-find-links"]
    return 0 if call(uv, "pip", "compile", "--quiet", *shape, *style, "pyproject.toml", "-o", LOCK, *words) else 1


def setup(words):
    """Makes .venv and nothing else."""
    say(".venv is as the lock has it")
    return 0


FOR_READERS = (lab, book, report, reset)
FOR_AUTHORS = (grades, export, edit, quick, test, ci, nightly, fuzz, chapters, minutes, bench, live, conform)
FOR_AUTHORS += (settings, release, dist, house, mutants, lock, setup)
COMMANDS = {each.__name__: each for each in FOR_READERS + FOR_AUTHORS}


def overview():
    """What `make` alone prints."""
    lines = ["kafkalearn: make COMMAND, or python3 run.py COMMAND (Windows: py run.py COMMAND)"]
    for heading, commands in (("for readers:", FOR_READERS), ("for teachers and authors:", FOR_AUTHORS)):
        lines += ["", heading]
        lines += ["  {:<9} {}".format(each.__name__, each.__doc__.splitlines()[0]) for each in commands]
    lines += ["", "Arguments are passed on: make lab ARGS='--port 9000', python3 run.py lab --port 9000."]
    return "\n".join(lines)


def main(argv):
    """Run one command; the exit code is its own."""
    name, words = (argv[0], argv[1:]) if argv else ("help", [])
    if name in ("help", "-h", "--help"):
        print(overview())
        return 0
    if name not in COMMANDS:
        print("unknown command {!r}; expected one of {}".format(name, ", ".join(COMMANDS)), file=sys.stderr)
        return 2
    environment.go_on_with_a_suitable_python(argv)
    if name != "lock":  # it must work just when .venv cannot be made
        environment.set_up()
    return COMMANDS[name](words)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit("\nkafkalearn: stopped; the same command goes on from here or starts afresh")
    except OSError as failure:
        sys.exit("kafkalearn: " + reasons.of(failure))
