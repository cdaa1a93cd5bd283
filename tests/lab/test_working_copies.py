"""The reader's copies: without results, following the course until they are touched, never overwritten."""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.lab import working_copies
from kafkalearn.lab.working_copies import RECORD, reset_copies, update_copies

ROOT = Path(__file__).parents[2]


def notebook(*sources):
    cells = [{"cell_type": "markdown", "id": "m", "metadata": {}, "source": "# Question"}]
    for number, source in enumerate(sources):
        output = {"output_type": "stream", "name": "stdout", "text": "the answer\n"}
        cells.append(
            {"cell_type": "code", "id": f"c{number}", "source": source, "outputs": [output], "execution_count": number}
        )
    return {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


@pytest.fixture
def course(tmp_path):
    folder = tmp_path / "notebooks"
    folder.mkdir()
    for name in ("05_rebalance", "05b_causes", "06_commits"):
        (folder / f"{name}.ipynb").write_text(json.dumps(notebook("1 + 1")))
    return folder


def chapters(course):
    return sorted(course.glob("*.ipynb"))


def changes(course, mine):
    return {copy.name: copy.change for copy in update_copies(chapters(course), mine)}


def edit(path, source, **more):
    content = json.loads(path.read_text())
    content["cells"][1] |= {"source": source} | more
    path.write_text(json.dumps(content))


def test_copies_hold_no_results_and_the_course_keeps_its_own(course, tmp_path):
    mine = tmp_path / "mine"

    assert set(changes(course, mine).values()) == {"new"}
    assert "the answer" not in (mine / "06_commits.ipynb").read_text()
    assert "the answer" in (course / "06_commits.ipynb").read_text()
    assert set(changes(course, mine).values()) == {"as it was"}


def test_an_untouched_copy_follows_the_course(course, tmp_path):
    mine = tmp_path / "mine"
    changes(course, mine)
    edit(course / "06_commits.ipynb", "2 + 2")

    assert changes(course, mine) == {"05_rebalance": "as it was", "05b_causes": "as it was", "06_commits": "updated"}
    assert "2 + 2" in (mine / "06_commits.ipynb").read_text()


@pytest.mark.parametrize("touch", [{"source": "3 + 3"}, {"source": "1 + 1", "execution_count": 1}])
def test_a_touched_copy_stays_and_it_is_said_that_the_course_is_ahead(course, tmp_path, touch):
    mine = tmp_path / "mine"
    changes(course, mine)
    edit(mine / "06_commits.ipynb", **touch)
    before = (mine / "06_commits.ipynb").read_bytes()

    assert changes(course, mine)["06_commits"] == "as it was"
    edit(course / "06_commits.ipynb", "2 + 2")
    assert changes(course, mine)["06_commits"] == "behind"
    assert changes(course, mine)["06_commits"] == "behind"
    assert (mine / "06_commits.ipynb").read_bytes() == before


def test_what_jupyterlab_changes_by_opening_a_copy_is_no_touch(course, tmp_path):
    mine = tmp_path / "mine"
    changes(course, mine)
    content = json.loads((mine / "06_commits.ipynb").read_text())
    content["metadata"] = {"kernelspec": {"name": "python3"}, "language_info": {"version": "3.13"}}
    content["cells"][1]["source"] = ["1 + ", "1"]
    (mine / "06_commits.ipynb").write_text(json.dumps(content))
    edit(course / "06_commits.ipynb", "2 + 2")

    assert changes(course, mine)["06_commits"] == "updated"


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"cells": [1]}', '{"cells": [{"cell_type": "code"}]}', "\0"])
def test_a_copy_that_is_no_notebook_any_more_is_left_alone(course, tmp_path, content):
    mine = tmp_path / "mine"
    changes(course, mine)
    (mine / "06_commits.ipynb").write_text(content)
    edit(course / "06_commits.ipynb", "2 + 2")

    assert changes(course, mine)["06_commits"] == "behind"
    assert (mine / "06_commits.ipynb").read_text() == content


@pytest.mark.parametrize("record", ["", "[]", "null", "{"])
def test_without_its_record_every_copy_is_the_readers(course, tmp_path, record):
    mine = tmp_path / "mine"
    changes(course, mine)
    (mine / RECORD).write_text(record)

    assert set(changes(course, mine).values()) == {"behind"}


def test_reset_makes_a_fresh_copy_and_keeps_the_old_ones(course, tmp_path):
    mine = tmp_path / "mine"
    changes(course, mine)
    for source in ("first try", "second try"):
        edit(mine / "05_rebalance.ipynb", source)
        made = reset_copies(chapters(course), mine, ["05_"])

    assert [(new.name, old.name) for new, old in made] == [("05_rebalance.ipynb", "05_rebalance.old-2.ipynb")]
    assert "first try" in (mine / "05_rebalance.old-1.ipynb").read_text()
    assert "second try" in (mine / "05_rebalance.old-2.ipynb").read_text()
    assert changes(course, mine)["05_rebalance"] == "as it was"
    edit(course / "05_rebalance.ipynb", "2 + 2")
    assert changes(course, mine)["05_rebalance"] == "updated"


def test_a_number_means_both_halves_of_a_chapter(course, tmp_path):
    made = reset_copies(chapters(course), tmp_path / "mine", ["05"])

    assert [(new.stem, old) for new, old in made] == [("05_rebalance", None), ("05b_causes", None)]


def test_a_chapter_that_is_not_there_is_refused_before_anything_moves(course, tmp_path):
    mine = tmp_path / "mine"
    changes(course, mine)

    with pytest.raises(KafkaLearnError, match=r"unknown chapter '99'.*05_rebalance"):
        reset_copies(chapters(course), mine, ["99"])
    assert not list(mine.glob("*.old-*"))


def test_a_file_in_place_of_the_folder_is_said(course, tmp_path):
    (tmp_path / "mine").write_text("")

    with pytest.raises(KafkaLearnError, match="cannot be made for the copies"):
        changes(course, tmp_path / "mine")


def test_a_copy_that_cannot_be_written_is_said_and_nothing_half_written_stays(course, tmp_path, monkeypatch):
    replace = os.replace

    def refuses_one(half, path):
        if path.name == "06_commits.ipynb":
            raise IsADirectoryError(errno.EISDIR, "Is a directory")
        replace(half, path)

    monkeypatch.setattr(os, "replace", refuses_one)
    mine = tmp_path / "mine"

    with pytest.raises(KafkaLearnError, match=r"06_commits\.ipynb cannot be written: Is a directory"):
        changes(course, mine)
    assert not (mine / "06_commits.ipynb").exists()
    assert [each.name for each in mine.iterdir() if "06_commits" in each.name] == []


def test_a_broken_chapter_of_the_course_is_named(course, tmp_path):
    (course / "06_commits.ipynb").write_text("{")

    with pytest.raises(KafkaLearnError, match=r"06_commits\.ipynb cannot be read as a notebook"):
        changes(course, tmp_path / "mine")


def test_a_copy_has_its_marks_where_it_stands_and_the_judge_of_each_exercise(course, tmp_path):
    mine, chapter = tmp_path / "mine", json.loads((course / "06_commits.ipynb").read_text())
    chapter["cells"][0]["source"] = "**Predict:** what is it?"
    chapter["cells"].append(chapter["cells"][1] | {"id": "e", "source": "x = ...\nexercises.one.check(x)"})
    (course / "06_commits.ipynb").write_text(json.dumps(chapter))
    changes(course, mine)
    copy = json.loads((mine / "06_commits.ipynb").read_text())

    assert copy["metadata"]["kafkalearn"] == {
        "chapter": "06_commits",
        "course": {"05_rebalance": [], "05b_causes": [], "06_commits": ["06.one"]},
    }
    assert copy["cells"][0]["metadata"]["kafkalearn"]["predict"]["id"] == "m"
    assert copy["cells"][1]["metadata"]["kafkalearn"] == {"after": "m", "closed": "outputs", "verdict": "m"}
    assert copy["cells"][2]["source"].startswith("from kafkalearn.exercises import chapter06 as exercises\nx = ...")
    assert json.loads((course / "06_commits.ipynb").read_text()) == chapter


def test_a_copy_follows_a_question_that_has_changed(course, tmp_path, monkeypatch):
    mine = tmp_path / "mine"
    edit(course / "06_commits.ipynb", "assert 1 == 1")
    changes(course, mine)
    monkeypatch.setattr(working_copies, "marked", lambda notebook: notebook)

    assert changes(course, mine)["06_commits"] == "updated"


START = """
import sys
from pathlib import Path
from kafkalearn.lab.working_copies import update_copies
chapters = sorted(Path("notebooks").glob("*.ipynb"))
print("ready", flush=True)
sys.stdin.readline()
print(*(copy.change for copy in update_copies(chapters, Path("mine"))))
"""


def test_several_first_starts_at_once_make_the_copies_once(course, tmp_path):
    for number in range(30):
        (course / f"20_{number}.ipynb").write_text(json.dumps(notebook("1 + 1")))
    starts = [
        subprocess.Popen(
            [sys.executable, "-c", START], cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )
        for _ in range(3)
    ]  # fmt: skip
    assert [each.stdout.readline() for each in starts] == ["ready\n"] * 3
    for each in starts:  # all of them are there, and none has begun
        each.stdin.write("\n")
        each.stdin.flush()
    said = [each.communicate() for each in starts]

    assert [error for _, error in said] == ["", "", ""]
    assert sorted(out for out, _ in said) == sorted(
        [" ".join(["new"] * 33) + "\n", *[" ".join(["as it was"] * 33) + "\n"] * 2]
    )
    edit(course / "06_commits.ipynb", "2 + 2")
    assert changes(course, tmp_path / "mine")["06_commits"] == "updated"  # nobody touched it
