"""Builds what is published, sdist and wheel, and tries the wheel where nothing else is installed: ``make dist``.

    python3 run.py dist                       into dist/, tried on each Python that uv finds here
    python3 run.py dist --python PATH         tried on this one (may be said several times)

Both files are checked by twine and check-wheel-contents. What the wheel holds is printed by folder, so that what a user
of the core does not need is seen. In an environment of the wheel alone then run: ``kafkalearn --help``, the seven
questions on the examples that the wheel carries, and the snippets of README.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from tools.environment import OLDEST, ROOT, TOO_NEW, locked_uv, say

CHECKS = (
    ("twine==7.0.0", "twine", "check", "--strict"),
    ("check-wheel-contents==0.6.3", "check-wheel-contents", "--ignore", "W002"),
)
"""Run by uv in environments of their own: nobody but who publishes needs them, so they are not in the lock.

W002 is two equal files: JupyterLab's extension, less its fonts, is in the wheel for a JupyterHub and for the package.
"""
WANTED_BYTES = 3_000_000
"""A wheel may be larger; then it is said. Chapters are in it without results (`tools.wheel_chapters`)."""
IN_DATA = {"data": 3}
"""How many parts of a path name a folder of the list; 2 if not said."""
QUESTIONS = (
    ("where", "group", "billing", "--describe", "{}/own-cluster/offsets-topic.txt"),
    ("why", "{}/own-cluster/server.log"),
    ("lag", "--describe", "{}/lag/first.txt", "--describe", "{}/lag/second.txt", "--apart", "10"),
    ("xray", "{}/own-cluster/disk", "--now", "1795400000000"),
    ("upgrade", "3.9", "4.0", "--file", "{}/own-cluster/server.properties"),
    ("quorum", "--describe", "{}/own-cluster/quorum.txt"),
    ("safe", "--replicas", "3", "--acks", "1"),
)
"""A call of each question; ``{}`` is the folder of data in the installed package."""
WHERE = "import kafkalearn, pathlib; print(pathlib.Path(kafkalearn.__file__).parent)"
SNIPPETS = (
    "import doctest, sys; found = doctest.testfile(sys.argv[1], module_relative=False, encoding='utf-8', "
    "optionflags=doctest.NORMALIZE_WHITESPACE); print(found.attempted); "
    "sys.exit(found.failed > 0 or not found.attempted)"
)
OWN_VARIABLES = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "UV_PYTHON")


def main(words: Sequence[str]) -> int:
    """Build, check and try; the exit code says whether all of it went well."""
    parser = ArgumentParser("make dist", description=__doc__.splitlines()[0])
    parser.add_argument("--to", type=Path, default=ROOT / "dist", help="the folder; dist if not said")
    parser.add_argument("--python", action="append", default=[], help="an interpreter to try the wheel on")
    given = parser.parse_args(words)
    uv = locked_uv()
    if uv is None:
        sys.exit("kafkalearn: uv, which the lock names, cannot be had here")
    shutil.rmtree(given.to, ignore_errors=True)
    if not _ran(sys.executable, "-m", "hatchling", "build", "-d", given.to):
        return 1
    (wheel,), files = [*given.to.glob("*.whl")], sorted(given.to.iterdir())
    for line in contents(wheel):
        print(line)
    failed = [
        program for package, program, *more in CHECKS
        if not _ran(uv, "tool", "run", "--from", package, program, *more, *(files if program == "twine" else [wheel]))
    ]  # fmt: skip
    pythons = given.python or [*pythons_here(uv)]
    failed += [f"Python {each}" for each in pythons if not tried(uv, each, wheel)]
    missing = [] if given.python else [*not_here(pythons)]
    if missing:
        print(f"not tried: Python {', '.join(missing)}, of which there is none here")
    print(
        f"failed: {', '.join(failed)}" if failed else f"{wheel.name} and {len(files) - 1} sdist are ready in {given.to}"
    )
    return 1 if failed else 0


def contents(wheel: Path) -> Iterator[str]:
    """A line for each folder of a wheel, the largest first: kB as they lie in it, and how many files."""
    size, count = Counter[str](), Counter[str]()
    with zipfile.ZipFile(wheel) as archive:
        for each in archive.infolist():
            parts = each.filename.split("/")
            name = "/".join(parts[: min(IN_DATA.get(parts[1], 2), len(parts) - 1)])
            size[name] += each.compress_size
            count[name] += 1
    for name, compressed in size.most_common():
        yield f"{compressed // 1000:>6} kB  {count[name]:>4} files  {name}"
    whole = wheel.stat().st_size
    more = "" if whole <= WANTED_BYTES else f", more than the {WANTED_BYTES / 1e6:.1f} MB that are wanted"
    yield f"{wheel.name}: {whole / 1e6:.2f} MB{more}"


def pythons_here(uv: Path) -> Iterator[str]:
    """An interpreter of each line that is supported and installed here."""
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")  # uv sees only those it has on PATH
    path = os.pathsep.join([os.environ.get("PATH", ""), *map(str, sorted(pyenv.glob("versions/*/bin")))])
    listed = subprocess.run(
        [uv, "python", "list", "--only-installed", "--output-format", "json"],
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    seen = set()
    for each in json.loads(listed.stdout):
        line = (each["version_parts"]["major"], each["version_parts"]["minor"])
        is_plain = each["implementation"] == "cpython" and each.get("variant", "default") == "default"
        if OLDEST <= line < TOO_NEW and line not in seen and is_plain:
            seen.add(line)
            yield each["path"]


def not_here(pythons: Sequence[str]) -> Iterator[str]:
    """The lines that are supported and of which there is no interpreter."""
    ask = "import sys; print('%d.%d' % sys.version_info[:2])"
    have = {subprocess.check_output([each, "-c", ask], text=True).strip() for each in pythons}
    lines = (f"{OLDEST[0]}.{minor}" for minor in range(OLDEST[1], TOO_NEW[1]))
    return (line for line in lines if line not in have)


def tried(uv: Path, python: str, wheel: Path) -> bool:
    """Whether the wheel, alone in an environment of this Python, does what README says; without a network."""
    with tempfile.TemporaryDirectory(prefix="kafkalearn-dist-") as folder:
        here = Path(folder)
        if not _ran(uv, "venv", "--quiet", "--no-config", "--offline", "--python", python, here / "venv"):
            return False
        programs = here / "venv" / ("Scripts" if os.name == "nt" else "bin")
        own = programs / ("python.exe" if os.name == "nt" else "python")
        install = ("pip", "install", "--quiet", "--no-config", "--offline", "--no-index", "--python", own)
        if not _ran(uv, *install, wheel):
            return False
        package = Path(subprocess.check_output([own, "-I", "-c", WHERE], text=True, cwd=here).strip())
        shutil.copy(ROOT / "README.md", here)
        calls = [("--help",), *(tuple(word.format(package / "data") for word in words) for words in QUESTIONS)]
        answered = [_answers(programs / "kafkalearn", here, words) for words in calls]
        snippets = subprocess.run([own, "-I", "-c", SNIPPETS, "README.md"], cwd=here, capture_output=True, text=True)
        if snippets.returncode:
            print(snippets.stdout[-3000:], snippets.stderr[-1000:])
            return False
        version = re.sub(r"[^0-9.]", "", subprocess.check_output([own, "-V"], text=True))
        print(f"Python {version}: --help, {len(QUESTIONS)} questions, {snippets.stdout.split()[-1]} snippets of README")
        return all(answered)


def _answers(command: Path, where: Path, words: Sequence[str]) -> bool:
    """Whether a question is answered: 0 and 1 are answers, 2 is none."""
    variables = {name: value for name, value in os.environ.items() if name not in OWN_VARIABLES}
    run = subprocess.run([command, *words], cwd=where, env=variables, capture_output=True, text=True)
    if run.returncode not in (0, 1) or not run.stdout:
        print(f"kafkalearn {' '.join(words)}: exit code {run.returncode}\n{run.stdout[-500:]}{run.stderr[-2000:]}")
        return False
    return True


def _ran(*words: object) -> bool:
    say(" ".join(str(word) for word in words[:6]))
    variables = {name: value for name, value in os.environ.items() if name not in OWN_VARIABLES}
    return subprocess.call([str(word) for word in words], cwd=ROOT, env=variables) == 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
