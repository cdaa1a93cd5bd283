"""From answers to a table: handed in, judged again, and nothing believed."""

import csv
import json
import linecache
import os
import shutil
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from kafkalearn.exercises.kit.functions import Open
from kafkalearn.exercises.progress import grades, judging, processes, report, sandbox
from kafkalearn.exercises.progress.judging import TOO_LONG, UNKNOWN, all_exercises, judge_apart, outcome_of
from kafkalearn.exercises.progress.record import FILE_NAME, VARIABLE, Entry, Record, encoded, read_file, write_file
from kafkalearn.lab.__main__ import COPIES
from tests.every import every_case
from tests.exercises.every_exercise import ALL, mistaken, solved
from tests.exercises.progress.test_sandbox import UNKNOWN_SYSTEM
from tests.project.modules import ROOT


def claiming(answers, outcome="right"):
    return Record("Anna", {name: Entry(outcome, 1, 0, False, answer) for name, answer in answers.items()})


@pytest.fixture(scope="module")
def outcomes():
    return judge_apart(claiming(solved()))


@every_case("name", ALL)
def test_a_solution_is_right_again_in_another_process(outcomes, name):
    assert outcomes[name] == ("open" if isinstance(ALL[name].judge, Open) else "right")


def run_here(source):
    """As in a page, which has no processes: functions run where the judge does."""
    namespace = {"__name__": "__main__"}
    exec(source.source, namespace)
    return namespace[source.name]


@every_case("name", [name for name, exercise in ALL.items() if exercise.misconceptions])
def test_a_wrong_answer_that_claims_to_be_right_is_wrong(name):
    assert outcome_of(name, mistaken()[name], run_here) == "wrong"


NEVER_ENDS = {"function": "f", "source": "def f(*arguments):\n    while True:\n        pass\n"}
OUTSIDE = {"function": "f", "source": "import os\ndef f(*arguments):\n    os.remove('x')\n"}
STOPS = {"function": "f", "source": "import os\ndef f(*arguments):\n    os._exit(0)\n"}


def test_what_does_not_end_takes_no_other_line_with_it():
    answers = {
        "00.leader_of": NEVER_ENDS,
        "02.mask_step": STOPS,
        "03.my_lags": OUTSIDE,
        "04.my_round_robin": {"function": "f"},
        "06.my_sink": {"made": "os.system", "of": {}},
        "07.read_key": solved()["07.read_key"],
        "99.no_such_exercise": 1,
        "08.which_remain": None,
    }

    assert judge_apart(claiming(answers)) == {
        "00.leader_of": "error",
        "02.mask_step": "error",
        "03.my_lags": "error",
        "04.my_round_robin": "error",
        "06.my_sink": "error",
        "07.read_key": "right",
        "99.no_such_exercise": UNKNOWN,
        "08.which_remain": "not attempted",
    }


def test_a_judge_that_says_nothing_is_replaced(monkeypatch):
    asked = []

    class Silent:
        def __init__(self, module, arguments, *, is_leader):
            self.left = 1

        def send(self, message):
            asked.append(message[0])

        def receive(self, within_s):
            self.left -= 1
            return "right" if self.left >= 0 else None

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

    monkeypatch.setattr(judging, "Process", Silent)

    outcomes = judge_apart(claiming({"a": 1, "b": 2, "c": 3}))

    assert outcomes == {"a": "right", "b": TOO_LONG, "c": "right"}
    assert asked == ["a", "b", "c"]


def test_the_judge_needs_no_process_of_its_own():
    assert outcome_of("00.leader_of", solved()["00.leader_of"], run_here) == "right"
    assert outcome_of("00.leader_of", NEVER_ENDS, run_here) == "error"


def test_the_judge_is_free_of_jupyter():
    code = (
        "import sys, json; sys.path.insert(0, sys.argv[1])\n"
        "from kafkalearn.exercises.progress.judging import all_exercises, outcome_of\n"
        "print(outcome_of('00.predict_coordinator', '1', None), len(all_exercises()))\n"
        "print(sorted({'IPython', 'ipykernel', 'numpy', 'pandas'} & set(sys.modules)))"
    )
    run = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code, str(ROOT)], capture_output=True, text=True, check=True
    )

    assert run.stdout.split("\n")[:2] == [f"right {len(all_exercises())}", "[]"]


@pytest.fixture
def class_(tmp_path):
    some = {name: solved()[name] for name in ("00.predict_coordinator", "00.leader_of", "00.my_question")}
    write_file(tmp_path / "anna.json", claiming(some))
    write_file(
        tmp_path / "bo.json",
        Record("=HYPERLINK()", {"00.leader_of": Entry("right", 3, 2, True, mistaken()["00.leader_of"])}),
    )
    (tmp_path / "c.json").write_text("no JSON", encoding="utf-8")
    return tmp_path


def test_the_table_of_a_class(class_, capsys):
    assert grades.main([str(class_)]) == 0

    lines = capsys.readouterr().out.splitlines()
    chapters = sorted({name.partition(".")[0] for name in all_exercises()})
    assert lines[0].split() == ["name", *chapters, "done", "tries", "hints"]
    assert lines[1].split() == ["Anna", "3", *["0"] * (len(chapters) - 1), "3", "3", "0"]
    assert lines[2].split() == ["=HYPERLINK()", *["0"] * len(chapters), "0", "3", "2"]
    assert lines[3].split() == ["c.json", "trouble"]
    assert lines[4] == "=HYPERLINK(): the file says done, and that is not so: 00.leader_of"
    assert lines[5].startswith("c.json: not a progress file: invalid JSON")
    assert lines[6] == "functions that were handed in ran, of Anna (1), =HYPERLINK() (1)"
    assert lines[7].startswith(f"every answer is in {class_ / 'grades.csv'}, every wrong prediction in ")

    rows = list(csv.DictReader((class_ / "grades.csv").open(encoding="utf-8")))
    assert [(row["name"], row["exercise"], row["outcome"], row["the file says"], row["tries"]) for row in rows] == [
        ("Anna", "00.leader_of", "right", "right", "1"),
        ("Anna", "00.my_question", "open", "right", "1"),
        ("Anna", "00.predict_coordinator", "right", "right", "1"),
        ("'=HYPERLINK()", "00.leader_of", "wrong", "right", "3"),
        ("", "", "trouble", "", ""),
    ]
    assert rows[1]["text"] == solved()["00.my_question"]
    assert {row["text"] for row in rows if row["outcome"] not in ("open", "trouble")} == {""}


def test_a_folder_without_files_is_said(tmp_path, capsys):
    assert grades.main([str(tmp_path)]) == 1
    assert capsys.readouterr().err == f"kafkalearn: no file ends in .json in {tmp_path}\n"


def test_a_report_is_the_file_of_progress_with_a_name(tmp_path, monkeypatch, capsys):
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / COPIES).mkdir()
    kept = Record("", {"01.same_partition": Entry("right", 2, 1, False, "billing-47")})
    write_file(tmp_path / COPIES / FILE_NAME, kept)

    assert report.main(["--name", "Anna"]) == 0

    written = tmp_path / COPIES / "report-Anna.json"
    assert read_file(written) == Record("Anna", kept.entries)
    assert capsys.readouterr().out.splitlines() == [
        "01: 1 of 8 done, 2 tries, 1 hint",
        f"{written} is the file to hand in",
    ]


def test_several_files_make_one_report(tmp_path, capsys):
    one, two = tmp_path / "one.json", tmp_path / "two.json"
    write_file(one, Record("Anna", {"01.hot_broker": Entry("wrong", 1, 0, False, {"dict": []})}))
    write_file(two, Record("", {"01.hot_broker": Entry("right", 1, 0, False, solved()["01.hot_broker"])}))

    assert report.main([str(one), str(two), "--to", str(tmp_path / "both.json")]) == 0
    assert read_file(tmp_path / "both.json").entry("01.hot_broker").outcome == "right"


def test_a_function_that_is_not_in_the_file_is_said(tmp_path, capsys):
    write_file(tmp_path / FILE_NAME, Record("Anna", {"00.leader_of": Entry("right", 1, 0, False, encoded(len))}))

    assert report.main([str(tmp_path / FILE_NAME)]) == 0
    assert "not in the file, for it could not be kept as text: 00.leader_of" in capsys.readouterr().out


def test_without_a_file_a_report_says_where_it_would_be(tmp_path, monkeypatch, capsys):
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr(report, "REPOSITORY", tmp_path)
    monkeypatch.chdir(tmp_path)

    assert report.main([]) == 1
    assert "kafkalearn: no progress.json is in this folder or in my-chapters" in capsys.readouterr().err


def test_the_folder_of_the_copies_has_one_name():
    assert report.COPIES == COPIES


def test_both_are_commands():
    said = subprocess.run([sys.executable, "run.py"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert "\n  report " in said
    assert "\n  grades " in said
    assert {"report", "grades"} <= set((ROOT / "Makefile").read_text(encoding="utf-8").split())


def test_what_a_class_believed_is_counted_by_share_and_judged_again(tmp_path, capsys):
    billing, twins = "c01-002", "c01-006"
    said = {
        "anna": {billing: "positive", twins: "neither: both are the same"},
        "ben": {billing: "positive", twins: "`BB`, its letters come later"},
        "cleo": {billing: "negative", twins: None},
        "dan": {billing: "positive", "no such cell": "x"},
    }
    for name, made in said.items():
        predictions = {cell: {"said": text, "right": True} if text else {"shown": True} for cell, text in made.items()}
        whole = {
            "format": "kafkalearn progress",
            "version": 1,
            "name": name,
            "exercises": {},
            "predictions": predictions,
        }
        (tmp_path / f"{name}.json").write_text(json.dumps(whole))

    assert grades.main([str(tmp_path)]) == 0
    rows = list(csv.reader((tmp_path / "beliefs.csv").open(encoding="utf-8")))
    assert [row[1:5] + row[6:] for row in rows[1:]] == [
        ["positive", "75%", "3", "4", billing],
        ["`BB`, its letters come later", "50%", "1", "2", twins],
    ]
    asked = "is it positive or negative after the sixth? Then step through it (press `p`, then the arrow keys)."
    assert rows[0][0] == "asked"
    assert rows[1][0].endswith(asked)
    printed = capsys.readouterr().out
    assert f"75% (3) believed: positive. Asked in {billing}: {rows[1][0]} Negative: 31 x 93,740,354" in printed


# A class of five, as it hands in: each does the exercises with the checks of the chapters, in a file of its own.

OWN_WORDS = "Is the coordinator of my group also the leader of a partition that the group reads, and would it matter?"
OWN_WAY = """
def leader_of(partition, brokers):
    # my own way: go round the brokers one by one until the partition is reached
    at = 0
    for _ in range(partition):
        at = (at + 1) % len(brokers)
    return brokers[at]
"""
STUDENTS = {
    "anna": {"00.my_question": [OWN_WORDS], "02.mask_step": ["wrong", "right"], "01.same_partition": ["right"]},
    "ben": {"00.my_question": [OWN_WORDS.replace(" ", "  ")], "02.mask_step": ["wrong"], "00.leader_of": [OWN_WAY]},
    "cleo": {"02.mask_step": ["right"], "00.my_question": ["Why is a group on one partition and not on all?"]},
    "dan": {"01.same_partition": ["wrong", "wrong"], "00.leader_of": [OWN_WAY]},
    "eve": {"00.predict_coordinator": ["right"], "00.leader_of": ["right"]},
}


@pytest.fixture
def five(tmp_path, monkeypatch):
    """The folder of what they hand in, an essay among it."""
    for name, done in STUDENTS.items():
        monkeypatch.setenv(VARIABLE, str(tmp_path / f"{name}.json"))
        for exercise, answers in done.items():
            ALL[exercise].progress.forget()
            for each in answers:
                ALL[exercise].check(answer_of(exercise, each))
        write_file(tmp_path / f"{name}.json", replace(read_file(tmp_path / f"{name}.json"), name=name.title()))
    monkeypatch.delenv(VARIABLE)
    for exercise in {each for done in STUDENTS.values() for each in done}:
        ALL[exercise].progress.forget()
    (tmp_path / "frank.docx").write_bytes(b"PK")
    return tmp_path


def answer_of(exercise, said):
    if said == "right":
        return ALL[exercise].solve()
    if said == "wrong":
        return ALL[exercise].misconceptions[0].wrong
    if said == OWN_WAY:
        linecache.cache["<own way>"] = (len(said), None, said.splitlines(keepends=True), "<own way>")
        names = {"__name__": "__main__"}
        exec(compile(said, "<own way>", "exec"), names)
        return names["leader_of"]
    return said


def test_a_class_of_five_is_graded_and_what_it_got_wrong_on_the_way_is_counted(five, capsys):
    assert grades.main([str(five)]) == 0

    said = capsys.readouterr().out.splitlines()
    assert [(line.split()[0], *line.split()[-3:]) for line in said[1:6]] == [
        ("Anna", "3", "4", "0"),
        ("Ben", "2", "3", "0"),
        ("Cleo", "2", "2", "0"),
        ("Dan", "1", "2", "0"),
        ("Eve", "2", "2", "0"),
    ]
    assert said[6:10] == [
        "anna.json and ben.json: the same, letter by letter, in 00.my_question",
        "ben.json and dan.json: the same, letter by letter, in 00.leader_of",
        "functions that were handed in ran, of Anna (1), Ben (2), Cleo (1), Dan (1), Eve (1)",
        "frank.docx is a file that ends in .docx, and not judged: a hand-in is the .json that `make report` writes",
    ]
    rows = list(csv.reader((five / "mistakes.csv").open(encoding="utf-8")))
    mask, (written, leader, *_) = ALL["02.mask_step"].misconceptions[0], ALL["01.same_partition"].misconceptions
    assert rows[1:] == [  # of three who tried the mask, two; Anna got it right afterwards
        [mask.cure, "67%", "2", "3", "02.mask_step"],
        *([each.cure, "50%", "1", "2", "01.same_partition"] for each in (written, leader)),
    ]
    assert f"67% (2) went wrong in 02.mask_step: {mask.cure}" in said
    assert grades.main([str(five)]) == 0  # its own tables are no hand-ins
    assert "grades.csv is" not in capsys.readouterr().out


def handed_in(folder, name, exercises, said="Anna"):
    whole = {"format": "kafkalearn progress", "version": 1, "name": said, "exercises": exercises}
    (folder / name).write_text(json.dumps(whole), encoding="utf-8")


ONE_RIGHT = {"00.predict_coordinator": {"outcome": "right", "tries": 1, "answer": 1}}


@pytest.fixture
def odd(tmp_path):
    """A folder with one hand-in that is all right, and what an archive of a stranger may have beside it."""
    outside, folder = tmp_path / "secret", tmp_path / "reports"
    outside.write_text('{"password": "HUNTER2"}', encoding="utf-8")
    folder.mkdir()
    handed_in(folder, "anna.json", ONE_RIGHT)
    handed_in(folder, "half.json", {"00.my_question": {"outcome": "open", "answer": "x \ud800 y"}}, "Half \udc80")
    handed_in(folder, "escape.json", {"\x1b]0;owned\x07\x1b[2J": {"outcome": "nope"}})
    (folder / "grades.csv").symlink_to(outside)
    for name, target in (("link.json", outside), ("zero.json", Path("/dev/zero")), ("loop.json", Path("loop.json"))):
        (folder / name).symlink_to(target)
    os.mkfifo(folder / "pipe.json")
    (folder / "folder.json").mkdir()
    with suppress(OSError):  # a system whose names are UTF-8
        shutil.copy(folder / "anna.json", os.fsencode(folder) + b"/caf\xe9\x1b[2J.json")
    return folder


@pytest.mark.skipif(os.name != "posix", reason="pipes, links and names of bytes")
def test_no_file_takes_the_table_of_the_others_away(odd, capsys):
    assert grades.main([str(odd)]) == 0

    said = capsys.readouterr().out
    assert all(letter == "\n" or letter.isprintable() for letter in said)
    troubled = [line.split()[0] for line in said.splitlines() if line.endswith(" trouble")]
    assert troubled == ["escape.json", "folder.json", "link.json", "loop.json", "pipe.json", "zero.json"]
    assert [line.split()[1] for line in said.splitlines() if line.startswith("Anna ")] == ["1"] * said.count("Anna  ")
    assert "HUNTER2" not in said
    assert (odd.parent / "secret").read_text(encoding="utf-8") == '{"password": "HUNTER2"}'  # the link was replaced
    rows = list(csv.DictReader((odd / "grades.csv").open(encoding="utf-8")))
    assert [row["text"] for row in rows if row["file"] == "half.json"] == ["x \\ud800 y"]


@pytest.mark.skipif(os.name != "posix", reason="a folder that nobody may write in")
def test_three_tables_are_written_or_none(class_, monkeypatch, capsys):
    (class_ / "mistakes.csv").mkdir()
    before = sorted(path.name for path in class_.iterdir())

    assert grades.main([str(class_)]) == 1

    assert "mistakes.csv cannot be written" in capsys.readouterr().err
    assert sorted(path.name for path in class_.iterdir()) == before


def test_a_judge_that_breaks_is_the_trouble_of_one_file(class_, monkeypatch, capsys):
    def breaks(record, *, is_free):
        raise MemoryError if record.name == "Anna" else ZeroDivisionError("by zero")

    monkeypatch.setattr(grades, "judge_apart", breaks)

    assert grades.main([str(class_)]) == 0

    said = capsys.readouterr().out.splitlines()
    assert [line.split()[-1] for line in said[1:4]] == ["trouble"] * 3
    assert "anna.json: judging it ended with MemoryError: " in said


def test_where_nothing_confines_a_function_it_is_not_run(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(processes, "_BEGIN", UNKNOWN_SYSTEM)
    for each in (grades, judging):
        monkeypatch.setattr(each, "why_none_runs", lambda: "Darwin has no filter")
    write_file(tmp_path / "anna.json", claiming({name: solved()[name] for name in ("00.leader_of", "07.read_key")}))

    assert grades.main([str(tmp_path)]) == 0

    said = capsys.readouterr().out
    assert "Anna: 1 function not run: 00.leader_of" in said
    assert "functions were not run: Darwin has no filter" in said
    rows = list(csv.DictReader((tmp_path / "grades.csv").open(encoding="utf-8")))
    assert {row["exercise"]: row["outcome"] for row in rows} == {"00.leader_of": "not run", "07.read_key": "right"}

    monkeypatch.setattr(grades, "is_root", lambda: False)
    assert grades.main([str(tmp_path), grades.RUN_CODE]) == 0
    rows = list(csv.DictReader((tmp_path / "grades.csv").open(encoding="utf-8")))
    assert {row["outcome"] for row in rows} == {"right"}


def test_root_runs_no_code_of_others_by_name(class_, monkeypatch, capsys):
    monkeypatch.setattr(grades, "is_root", lambda: True)

    assert grades.main([str(class_), grades.RUN_CODE]) == 1

    assert "you are root" in capsys.readouterr().err
    assert not (class_ / "grades.csv").exists()


def test_what_the_course_itself_says_is_nobodys_own(tmp_path):
    solution = ALL["00.leader_of"].reasoning
    source = solution[solution.index("def ") : solution.rindex("```")]
    for name in ("anna", "ben"):
        entry = Entry("right", 1, 0, True, {"function": "leader_of", "source": source})
        write_file(tmp_path / f"{name}.json", Record(name, {"00.leader_of": entry}))

    class_ = [grades.graded(path) for path in sorted(tmp_path.iterdir())]
    assert list(grades.same_texts(class_)) == []


def test_a_folder_of_essays_is_named_as_such(tmp_path, capsys):
    (tmp_path / "essay.docx").write_bytes(b"PK")

    assert grades.main([str(tmp_path)]) == 1
    assert "essay.docx is a file that ends in .docx" in capsys.readouterr().err
    assert grades.main([str(tmp_path / "nowhere")]) == 1
    assert capsys.readouterr().err.endswith("nowhere is not a folder\n")


def test_whether_functions_can_be_confined_is_found_out_once_a_run(tmp_path, monkeypatch, capsys):
    probed = []
    sandbox._probed.cache_clear()
    monkeypatch.setattr(sandbox, "Process", lambda name: probed.append(name) or processes.Process(name))
    for who in ("anna", "ben"):
        write_file(tmp_path / f"{who}.json", claiming({"00.leader_of": solved()["00.leader_of"]}))

    assert grades.main([str(tmp_path)]) == 0

    capsys.readouterr()
    assert probed == [sandbox.__name__]
