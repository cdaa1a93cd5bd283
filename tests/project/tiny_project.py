"""A project that run.py can set up in a second without a network: its lock names one wheel of its own."""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import stat
import subprocess
import sys
import zipfile
from pathlib import Path

from tools.environment import PROGRAMS, ROOT

PYPROJECT = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]

[project]
name = "course"
version = "1"
"""

# As little of a build backend as an editable installation asks for.
BACKEND = """
import zipfile

def build_editable(folder, *_):
    with zipfile.ZipFile(f"{folder}/course-1-py3-none-any.whl", "w") as wheel:
        wheel.writestr("course.pth", "")
        wheel.writestr("course-1.dist-info/METADATA", "Metadata-Version: 2.1\\nName: course\\nVersion: 1\\n")
        wheel.writestr("course-1.dist-info/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr("course-1.dist-info/RECORD", "")
    return "course-1-py3-none-any.whl"

build_wheel = build_editable
"""

BENCHMARK = """
import locked

print(locked.ANSWER)
"""


PATH = os.environ.get("PATH", "")
WITH_UV = os.pathsep.join([str(PROGRAMS), PATH])
WITHOUT_UV = os.pathsep.join(folder for folder in PATH.split(os.pathsep) if not shutil.which("uv", path=folder))


def make(folder: Path, answer: int = 42) -> Path:
    """The project in `folder`; `answer` is what its locked package holds."""
    shutil.copytree(ROOT / "tools", folder / "tools", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copyfile(ROOT / "run.py", folder / "run.py")
    (folder / "pyproject.toml").write_text(PYPROJECT)
    (folder / "backend.py").write_text(BACKEND)
    (folder / "benchmarks").mkdir()
    (folder / "benchmarks" / "answer.py").write_text(BENCHMARK)
    lock(folder, answer)
    return folder


def lock(folder: Path, answer: int) -> None:
    """Write the lock anew: another answer is another version of the locked package."""
    line = write_wheel(folder / f"locked-{answer}-py3-none-any.whl", {"locked.py": f"ANSWER = {answer}\n"})
    (folder / "requirements.lock").write_text(line)


def write_wheel(path: Path, files: dict[str, str]) -> str:
    """Write a wheel with some files, whose name and version are those of its own name; its line in a lock."""
    name, version, *_ = path.name.split("-")
    about = f"{name}-{version}.dist-info/"
    whole = {
        **files,
        about + "METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        about + "WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    with zipfile.ZipFile(path, "w") as wheel:
        for each, text in whole.items():
            entry = zipfile.ZipInfo(each)
            entry.external_attr = (stat.S_IFREG | 0o755) << 16  # or pip makes no program of it
            wheel.writestr(entry, text)
        wheel.writestr(about + "RECORD", "".join(f"{each},,\n" for each in [*whole, about + "RECORD"]))
    return f"{name}=={version} --hash=sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}\n"


def _only(folder: Path) -> dict[str, str]:
    """Settings for pip and uv: the folder instead of a registry."""
    return {"NO_INDEX": "1", "FIND_LINKS": folder.as_uri()}  # pip splits plain paths at spaces


def start(folder: Path, *words: str, obeys_modes: bool = False, **environ: str) -> subprocess.Popen[str]:
    """``python run.py WORDS``, started in the project; without a PATH given it finds the uv of this environment.

    With `obeys_modes` it may not write what its modes forbid, also where root runs the tests.
    """
    offline = {f"{tool}_{name}": value for tool in ("PIP", "UV") for name, value in _only(folder).items()}
    offline |= {"UV_CACHE_DIR": str(folder / "cache"), "PATH": WITH_UV}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(
        [sys.executable, str(folder / "run.py"), *words],
        env={**os.environ, **offline, **environ},
        preexec_fn=_obey_modes if obeys_modes else None,
        **pipes,
    )


def _obey_modes() -> None:
    """Give up what lets root of Linux write everywhere; nobody else can."""
    if os.geteuid() == 0 and sys.platform == "linux":
        drop_from_bounding_set, may_override_modes = 24, 1  # PR_CAPBSET_DROP, CAP_DAC_OVERRIDE
        ctypes.CDLL(None).prctl(drop_from_bounding_set, may_override_modes, 0, 0, 0)


def run(folder: Path, *words: str, **environ: str) -> tuple[str, str]:
    """What it prints, and what it says besides; it must end well."""
    with start(folder, *words, **environ) as process:
        printed, said = process.communicate(timeout=600)
    assert process.returncode == 0, printed + said
    return printed, said
