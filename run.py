#!/usr/bin/env python3
"""Everything there is to run, from a bare Python: ``python3 run.py lab``, ``test``, ``book`` and so on.

Only the standard library is imported here, because .venv, which holds all else, is made from here. This file
and tools/environment.py stay readable for Python 3.7: an old Python is to get a sentence that says what to do,
not a SyntaxError.
"""

import os
import subprocess
import sys

from tools import environment
from tools.environment import LOCK, OLDEST, ROOT, VENV_PYTHON, call, say


def hand_over(*command):
    """End as the command ends; where the system allows it, this process becomes the command."""
    words = [str(word) for word in (VENV_PYTHON, *command)]
    os.chdir(str(ROOT))
    if os.name == "posix":
        os.execve(words[0], words, environment.variables(os.environ))  # so that Ctrl-C reaches it and nothing else
    return subprocess.call(words, env=environment.variables(os.environ))


def lab_options(words, environ, platform, is_root):
    """JupyterLab's options: the chapters, this machine only, no outside address asked; then the reader's words."""
    seen = platform in ("darwin", "win32") or any(environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
    options = [
        "--ServerApp.root_dir=%s" % (ROOT / "notebooks"),
        "--ServerApp.ip=127.0.0.1",
        "--ServerApp.kernel_websocket_connection_class=kafkalearn.lab.connection.NoDelayConnection",
        "--KernelManager.transport_encryption=auto",  # else each kernel warns the reader that its loopback has none
        "--LabApp.app_settings_dir=%s" % (ROOT / "tools" / "lab"),  # no news, no look for updates
        *(["--no-browser"] if not seen or environ.get("SSH_CONNECTION") else []),  # the address is printed
        *(["--allow-root"] if is_root else []),  # containers
    ]
    given = {option_name(word) for word in words}
    return [option for option in options if option_name(option) not in given] + words


def option_name(word):
    """``ip`` for --ip, --ServerApp.ip=0.0.0.0 and the like: given twice, JupyterLab would take neither."""
    return word.split("=")[0].lstrip("-").split(".")[-1]


def trust(notebooks):
    """Sign the chapters; unsigned, JupyterLab hides their committed pictures until each cell has run."""
    if notebooks:
        words = [VENV_PYTHON, "-m", "nbformat.sign", *notebooks]
        subprocess.call([str(word) for word in words], stdout=subprocess.DEVNULL, env=environment.variables(os.environ))


def lab(words):
    """Opens JupyterLab on the chapters; without a screen it prints the address."""
    notebooks = ROOT / "notebooks"
    notebooks.mkdir(exist_ok=True)
    trust(sorted(notebooks.glob("*.ipynb")))
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    return hand_over("-m", "jupyterlab", *lab_options(words, os.environ, sys.platform, is_root))


def test(words):
    """Runs every test: units, doctests, lint, every chapter against its committed outputs."""
    # A chapter is one kernel, so one worker; chapters take longest and are begun first, as they are named first.
    workers = ["-n", "logical", "--maxprocesses", "4", "--dist", "loadfile", "--no-loadscope-reorder"]
    return hand_over("-m", "pytest", *(words or workers))


def book(words):
    """Runs the chapters and writes them as pages to read offline: book/index.html."""
    return hand_over("-m", "tools.book", *words)


def chapters(words):
    """Runs the chapters in place, all or those named (ARGS=01), and keeps their outputs."""
    return hand_over("-m", "tools.chapters", *words)


def bench(words):
    """Runs the benchmarks, all or those named, each a table of ratios."""
    scripts = sorted((ROOT / "benchmarks").glob("[!_]*.py"))
    chosen = [path for path in scripts if not words or any(word in path.stem for word in words)]
    if not chosen:
        say("no such benchmark; there are: " + (", ".join(path.stem for path in scripts) or "none"))
    failed = [path.name for path in chosen if not call(VENV_PYTHON, path)]
    return 1 if failed or not chosen else 0


def settings(words):
    """Reads every setting of each Kafka release from its classes anew; ARGS='3.9 4.3=4.3.2' for some lines."""
    return hand_over("-m", "tools.settings", *words)


def lock(words):
    """Writes requirements.lock anew from pyproject.toml; ARGS=--upgrade for newer versions."""
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


COMMANDS = {each.__name__: each for each in (lab, test, book, chapters, bench, settings, lock, setup)}


def overview():
    """What `make` alone prints."""
    lines = ["  {:<9} {}".format(name, each.__doc__.splitlines()[0]) for name, each in COMMANDS.items()]
    first = "kafkalearn: make COMMAND, or python3 run.py COMMAND (Windows: py run.py COMMAND)"
    last = "Further words are passed on: make lab ARGS='--port 9000', python3 run.py lab --port 9000."
    return "\n".join([first, "", *lines, "", last])


def main(argv):
    """Run one command; the exit code is its own."""
    name, words = (argv[0], argv[1:]) if argv else ("help", [])
    if name in ("help", "-h", "--help"):
        print(overview())
        return 0
    if name not in COMMANDS:
        print("unknown command {!r}; known are {}".format(name, ", ".join(COMMANDS)), file=sys.stderr)
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
