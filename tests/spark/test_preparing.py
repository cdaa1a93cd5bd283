"""The lessons' data are made beforehand: all of them, once, and what was begun goes on."""

import ast
import json
import os
import subprocess
import sys
from contextlib import ExitStack

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.files import FOLDER_VARIABLE, REPOSITORY, one_at_a_time
from kafkalearn.spark.data import datasets, preparing
from kafkalearn.spark.data.cache import folder_of, is_whole, recipe_of
from kafkalearn.spark.data.datasets import LESSON_SIZE

pytestmark = pytest.mark.spark


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    monkeypatch.setenv(LESSON_SIZE, "small")
    return tmp_path


def begun(*lessons):
    words = [sys.executable, "-m", "kafkalearn.spark.data.preparing", *lessons]
    return subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=dict(os.environ))


def test_every_function_that_keeps_data_is_made_beforehand():
    keeping = set()
    for path in (REPOSITORY / "kafkalearn" / "spark").rglob("*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            calls = [each.func for each in ast.walk(node) if isinstance(each, ast.Call)]
            if any(isinstance(each, ast.Name) and each.id == "kept" for each in calls):
                keeping.add(node.name)
    made = {recipe_of(make).name for makes in preparing.LESSONS.values() for make in makes}
    source = (REPOSITORY / "kafkalearn" / "spark" / "data" / "preparing.py").read_text(encoding="utf-8")
    assert {name for name in keeping if f"{name}(" not in source and f"({name}," not in source} == set()
    assert len(made) == len(keeping)


def test_what_is_missing_is_known_without_spark(folder, monkeypatch):
    monkeypatch.setattr(preparing, "get_spark", lambda *words, **settings: pytest.fail("Spark was started"))

    assert [lesson for lesson, _ in preparing.missing(["01", "02"])] == ["01", "02", "02"]
    preparing.make_all([], lambda line: pytest.fail("nothing is to be said"))
    with pytest.raises(KafkaLearnError, match="unknown lesson '99'"):
        preparing.missing(["99"])


def test_it_ends_with_its_input_and_goes_on_where_it_was(folder):
    first = begun("01", "02")
    lines = [json.loads(first.stdout.readline()) for _ in range(2)]
    first.stdin.close()  # as the lab's end does
    assert first.wait(60) == 0
    assert lines == [{"lesson": "01", "number": 1, "of": 3}, {"lesson": "02", "number": 2, "of": 3}]

    said, _ = _to_the_end(begun("01", "02"))
    assert said
    assert [json.loads(line)["lesson"] for line in said] == ["02"] * len(said)
    assert preparing.missing(["01", "02"]) == []
    assert _to_the_end(begun("01", "02")) == ([], 0)


def _to_the_end(process):
    said = process.stdout.readlines()
    code = process.wait(60)
    process.stdin.close()
    return said, code


def test_who_wants_what_another_process_makes_waits_and_is_told(folder, spark):
    recipe = recipe_of(lambda session: datasets.group_ids(session, 1000))
    said = []
    with ExitStack() as other:
        other.enter_context(one_at_a_time(folder / f".{recipe.folder_name}.lock"))

        def update(done, total):
            said.append((done, total))
            if len(said) == 1:
                assert not is_whole(folder_of(recipe))
                other.close()

        rows = datasets.group_ids(spark, 1000, update=update)

    assert said[0] == (0, 0)
    assert rows.count() == 1000


def test_it_stops_where_the_disk_has_no_room_to_spare(folder, monkeypatch):
    monkeypatch.setattr(preparing, "SPARED_BYTES", 10**18)
    with pytest.raises(KafkaLearnError, match="rows of group_ids need"):
        preparing.make_all(preparing.missing(["01"]), lambda line: None)


ALL_THERE = """
import sys
from kafkalearn.spark.data import preparing
preparing.missing = lambda lessons: []
preparing.make_archive = lambda: print("an archive is made")
sys.exit(preparing.main(sys.argv[1:]))
"""


@pytest.mark.parametrize(("lessons", "said"), [((), ["an archive is made\n"]), (("01",), [])])
def test_once_all_data_are_there_the_archive_of_classes_is_made(folder, lessons, said):
    words = [sys.executable, "-c", ALL_THERE, *lessons]
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=dict(os.environ))
    assert _to_the_end(process) == (said, 0)
