"""The page's side of progress: the file, two files as one, and the table of a class, as JupyterLab's side has them."""

import csv
import io
import json
import os

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.exercises.kit.functions import Open
from kafkalearn.exercises.progress import grades
from kafkalearn.exercises.progress.judging import TOO_LONG, UNKNOWN
from kafkalearn.exercises.progress.record import VARIABLE, Entry, Record, write_file
from tests.exercises.every_exercise import ALL, mistaken, solved
from tools.page.functions import call
from tools.page.progress import class_table, judge, merge, progress_in_memory


def claiming(answers, name="Anna", outcome="right"):
    return Record(name, {each: Entry(outcome, 1, 0, False, answer) for each, answer in answers.items()}).text()


def to_the_end(file, text):
    """As the page does: what functions give is asked elsewhere until the judge wants to know no more."""
    gave, said = {}, {"outcomes": {}}
    while (said := judge({"file": file, "text": text, "gave": gave, "outcomes": said["outcomes"]}))["wanted"]:
        gave = {name: known for name, known in gave.items() if name in said["wanted"]}
        for exercise, wanted in said["wanted"].items():
            outcomes = json.loads(json.dumps(call(json.loads(json.dumps(wanted)))))
            gave.setdefault(exercise, []).extend(zip(wanted["calls"], outcomes, strict=True))
    return said


def judged(answers):
    return to_the_end("anna.json", claiming(answers))


def test_every_solution_is_right_again():
    outcomes = judged(solved())["outcomes"]

    assert outcomes == {name: "open" if isinstance(exercise.judge, Open) else "right" for name, exercise in ALL.items()}


def test_every_wrong_answer_that_claims_to_be_right_is_wrong():
    assert set(judged(mistaken())["outcomes"].values()) == {"wrong"}


def test_what_harms_takes_no_other_answer_with_it():
    never_ends = {"function": "f", "source": "def f(*arguments):\n    while True:\n        pass\n"}
    said = judged(
        {
            "00.leader_of": never_ends,
            "04.my_round_robin": {"function": "f"},
            "06.my_sink": {"made": "os.system", "of": {}},
            "07.read_key": solved()["07.read_key"],
            "99.no_such_exercise": 1,
            "08.which_remain": None,
        }
    )

    assert said["outcomes"] == {
        "00.leader_of": "error",
        "04.my_round_robin": "error",
        "06.my_sink": "error",
        "07.read_key": "right",
        "99.no_such_exercise": UNKNOWN,
        "08.which_remain": "not attempted",
    }


def test_no_code_of_a_file_runs_where_it_is_judged():
    source = "def f(*arguments):\n    raise SystemError('ran')\n"
    text = claiming({"00.leader_of": {"function": "f", "source": source}, "00.predict_coordinator": 1})

    said = judge({"file": "anna.json", "text": text})

    assert said["outcomes"]["00.predict_coordinator"] == "right"
    wanted = said["wanted"]["00.leader_of"]
    assert (wanted["name"], wanted["source"]) == ("f", source)
    assert len(wanted["calls"]) == len(ALL["00.leader_of"].judge.cases)
    assert {tuple(each["raised"]) for each in call(wanted)} == {("SystemError", "ran")}


@pytest.mark.parametrize("outcome", [None, 7, {"value": {"made": "os.system", "of": {}}}, {"raised": [1]}, {}])
def test_what_is_no_answer_of_a_call_is_an_error_of_that_answer(outcome):
    text = claiming({"00.leader_of": solved()["00.leader_of"]})
    calls = judge({"file": "a", "text": text})["wanted"]["00.leader_of"]["calls"]

    said = judge({"file": "a", "text": text, "gave": {"00.leader_of": [[each, outcome] for each in calls]}})

    assert (said["outcomes"], said["wanted"]) == ({"00.leader_of": "error"}, {})


def test_the_table_is_that_of_make_grades(tmp_path, capsys):
    files = {
        "anna.json": claiming({"01.same_partition": solved()["01.same_partition"], "00.predict_coordinator": 9}),
        "ben.json": claiming({"02.mask_step": solved()["02.mask_step"]}, "=Ben", "wrong"),
        "empty.json": "",
        "torn.json": '{"format": ',
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert grades.main([str(tmp_path)]) == 0
    printed = capsys.readouterr().out

    table = class_table({"judged": [to_the_end(name, text) for name, text in files.items()]})

    assert table["csv"] == (tmp_path / "grades.csv").read_bytes().decode()
    rows = [" ".join(row).split() for row in [table["columns"], *table["rows"]]]
    assert [line.split() for line in printed.splitlines()[:5]] == rows
    assert [remark.split(": ")[0] for remark in table["remarks"]][:2] == ["Anna", "torn.json"]
    assert all(remark in printed for remark in table["remarks"][:1])


def test_a_file_whose_judging_the_page_had_to_end():
    text = claiming({"00.leader_of": 1, "00.predict_coordinator": 1})
    table = class_table({"judged": [{"file": "anna.json", "text": text}]})

    rows = list(csv.DictReader(io.StringIO(table["csv"])))
    assert {row["outcome"] for row in rows} == {TOO_LONG}
    assert table["remarks"] == ["Anna: the file says done, and that is not so: 00.leader_of, 00.predict_coordinator"]


def test_two_files_as_one():
    one = Record("", {"01.a": Entry("wrong", 3, 1, True, "x"), "01.b": Entry("right", 1, 0, False, 2)})
    two = Record("", {"01.a": Entry("right", 1, 0, False, "y")})

    said = merge({"records": [one.text(), "", two.text()], "name": "Anna"})

    assert Record.read(said["record"]) == Record("Anna", (one | two).entries)
    assert said["summary"].startswith("01: 2 of ")
    assert merge({"records": []}) == {"record": Record().text(), "summary": "nothing was tried yet", "not_kept": []}


def test_what_is_no_file_of_progress_is_refused():
    with pytest.raises(KafkaLearnError, match='must have "format"'):
        merge({"records": ["{}"]})


def test_progress_is_kept_in_memory_and_nowhere_else(tmp_path, monkeypatch):
    mine = tmp_path / "mine.json"
    write_file(mine, Record("Anna"))
    monkeypatch.setenv(VARIABLE, str(mine))

    with progress_in_memory("") as progress:
        assert os.environ[VARIABLE] == str(progress.path)

    assert os.environ[VARIABLE] == str(mine)
    assert not progress.path.exists()
