"""Exported exercises in the real otter-grader and the real nbgrader, each fetched into an environment of its own."""

import json
import os
import shutil
import subprocess
import sys

import pytest

from kafkalearn.exercises import export
from kafkalearn.exercises.kit.functions import Open
from tools.environment import PROGRAMS, ROOT, locked_uv

pytestmark = pytest.mark.nightly
CHAPTER = "01"
JUDGED = [each.name for each in export.chapter(CHAPTER).exercises if not isinstance(each.judge, Open)]


def exported(form, folder):
    assert export.main([form, CHAPTER, "--to", str(folder)]) == 0


def environment(folder, *packages):
    """Where these packages are installed beside kafkalearn as it is here: its variables."""
    uv = locked_uv()
    for words in (
        ("venv", "--python", sys.executable, folder),
        ("pip", "install", "--python", folder, *packages, ROOT),
    ):
        subprocess.run([uv, *map(str, words)], check=True, capture_output=True)
    path = os.pathsep.join([str(folder / PROGRAMS.name), os.environ["PATH"]])
    return {**os.environ, "PATH": path, "HOME": str(folder), "VIRTUAL_ENV": str(folder)}


def test_otter_grader_passes_the_solution_and_fails_the_stub(tmp_path):
    variables = environment(tmp_path / "venv", "otter-grader==7.0.0", "ipykernel")
    exported("otter", tmp_path / "made")

    def run(*words, cwd):
        subprocess.run([shutil.which("otter", path=variables["PATH"]), *words], cwd=cwd, env=variables, check=True)

    home = tmp_path / "made" / CHAPTER
    run("generate", "-t", "tests", "-o", "autograder.zip", cwd=home)
    scores = {}
    for name in (f"{CHAPTER}.ipynb", f"../solved/{CHAPTER}.ipynb"):
        run("run", "-a", "autograder.zip", "-o", ".", "--no-logo", name, cwd=home)
        tests = json.loads((home / "results.json").read_text(encoding="utf-8"))["tests"]
        scores[name] = {each["name"]: each["score"] for each in tests if "score" in each}
    stub, solved = scores.values()

    assert stub == dict.fromkeys(JUDGED, 0)
    assert solved == dict.fromkeys(JUDGED, 1)


SCORES = """
import json
from nbgrader.api import Gradebook
found = Gradebook("sqlite:///gradebook.db").assignment_submissions({!r})
print(json.dumps({{each.student.id: each.score for each in found}}))
"""


def test_nbgrader_passes_the_solution_and_fails_the_stub(tmp_path):
    variables = environment(tmp_path / "venv", "nbgrader==0.9.6", "ipykernel")
    home = tmp_path / "course"
    exported("nbgrader", home)

    def run(program, *words):
        words = [shutil.which(program, path=variables["PATH"]), *words]
        return subprocess.run(words, cwd=home, env=variables, check=True, stdout=subprocess.PIPE, text=True).stdout

    run("nbgrader", "generate_assignment", CHAPTER)
    for student, part in (("stub", "release"), ("solved", "source")):
        shutil.copytree(home / part / CHAPTER, home / "submitted" / student / CHAPTER)
    run("nbgrader", "autograde", CHAPTER, "--create")

    assert json.loads(run("python", "-c", SCORES.format(CHAPTER))) == {"solved": len(JUDGED), "stub": 0}
