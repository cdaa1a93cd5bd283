"""Recorded histories, asked again: what stays byte for byte, what is written anew, and what no command makes again."""

from __future__ import annotations

import json
import re
import shutil
import sys
from contextlib import contextmanager

import pytest

from conformance.mechanism import TooSlow
from kafkalearn.assignors import Member, assign
from kafkalearn.base.hashing import murmur2
from kafkalearn.coordinator import offsets_partition
from kafkalearn.formats.wire import Layout
from kafkalearn.live.jars import find_release
from kafkalearn.offsets.records import RECORD_TYPES
from kafkalearn.partitioning import partition_for_key
from kafkalearn.releases.lines import RELEASES, at_least
from tests.recorded import ROOT, recorded
from tools import release, released_classes
from tools.histories.__main__ import RECORDINGS
from tools.histories.left import NOT_MADE_AGAIN, is_left
from tools.histories.recording import Recording, taken_in
from tools.release import NotTaken, Step, chosen_steps, difference_of, main

NEWEST, BEFORE = (find_release(line).version for line in reversed(RELEASES[-2:]))
HISTORIES = [
    {"id": "sum", "release": NEWEST, "asked": [1, 2], "answer": 3, "at_ms": 7},
    {"id": "sum", "release": BEFORE, "asked": [1, 2], "answer": 3, "at_ms": 8},
    {"id": "later", "release": NEWEST, "asked": [5], "answer": 5, "at_ms": 9},
]


def sums(answer, is_said=lambda history: history["answer"] == sum(history["asked"])):
    """A recording of sums, with the clock of the run beside them; a broker answers as it is told to."""

    @contextmanager
    def asking(line):
        yield answer

    return Recording("sums.json", ("cases",), asking, is_said, lambda each: "it takes long" * (each["id"] == "later"))


def adds(history, more=0):
    return {**history, "answer": sum(history["asked"]) + more, "at_ms": history["at_ms"] + 100}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "sums.json").write_text(json.dumps({"about": "sums", "cases": HISTORIES}))
    return tmp_path


def cases(folder):
    return json.loads((folder / "sums.json").read_text())["cases"]


def test_answers_that_differ_in_what_was_drawn_alone_leave_the_file_as_it_was(folder):
    before = (folder / "sums.json").read_bytes()
    assert taken_in(sums(adds), RELEASES[-1], folder) == [
        "cases: 1 as recorded, 0 new", "cases: not asked, it takes long: later",
    ]  # fmt: skip
    assert (folder / "sums.json").read_bytes() == before


def test_an_answer_that_is_another_one_is_written_anew_and_those_of_other_lines_stay(folder):
    told = taken_in(sums(lambda each: adds(each, more=1)), RELEASES[-1], folder)
    assert told == [
        "cases: 0 as recorded, 0 new", "cases: answered otherwise: sum", "cases: not asked, it takes long: later",
    ]  # fmt: skip
    assert [each["answer"] for each in cases(folder)] == [4, 3, 5]


def test_one_strange_answer_and_a_slow_one_are_asked_again(folder):
    answers = iter([1, None, 0])

    def ask(history):
        more = next(answers)
        if more is None:
            raise TooSlow("this machine")
        return adds(history, more)

    assert taken_in(sums(ask), RELEASES[-1], folder)[0] == "cases: 1 as recorded, 0 new"
    assert cases(folder) == HISTORIES


def test_a_machine_that_is_too_slow_each_time_leaves_the_history_as_it_was(folder):
    def ask(history):
        raise TooSlow("this machine")

    assert taken_in(sums(ask), RELEASES[-1], folder)[1] == "cases: not answered in time, 3 times: sum"
    assert cases(folder) == HISTORIES


def test_a_line_without_histories_gets_those_of_the_newest_asked_of_it(folder):
    (folder / "sums.json").write_text(json.dumps({"about": "sums", "cases": HISTORIES[1:2]}))
    assert taken_in(sums(adds), RELEASES[-1], folder) == ["cases: 1 as recorded, 1 new"]
    old, new = cases(folder)
    assert old == HISTORIES[1]
    assert (new["release"], new["answer"], new["at_ms"]) == (NEWEST, 3, 108)


def test_what_has_no_release_is_of_the_newest_line_alone(folder):
    (folder / "sums.json").write_text(json.dumps({"about": "", "cases": [{"id": "sum", "asked": [1], "answer": 1}]}))
    told = taken_in(sums(lambda history: {**history, "answer": 9}), RELEASES[-2], folder)
    assert told == [f"cases: nothing to ask of {RELEASES[-2]}, it is of the newest line alone"]


def test_every_recorded_file_is_made_again_by_a_step_or_named_with_the_reason():
    by_steps = {name for step in release.STEPS for name in step.files}
    files = [
        path.relative_to(ROOT).as_posix()
        for place in ("tests/vectors", "data")
        for path in (ROOT / place).rglob("*")
        if path.is_file() and path.suffix not in (".md", ".py") and "generated" not in path.parts
    ]
    loose = [each for each in files if not is_left(each) and each not in by_steps]
    assert {each for each in loose if not each.startswith("data/real-kafka/topics/")} == set()  # the step answers
    assert not [each for each in by_steps if is_left(each)]
    named = [name for names in NOT_MADE_AGAIN.values() for name in names]
    assert [name for name in named if not any(each.startswith(name) for each in files)] == []


def test_the_step_has_the_files_of_all_histories():
    (step,) = (each for each in release.STEPS if each.name == "histories")
    vectors = {each for each in step.files if each != "kafkalearn/releases/ledger.toml"}  # which says how many they are
    assert vectors == {f"tests/vectors/{each.file}" for each in RECORDINGS.values()}


def test_each_line_since_4_4_has_the_histories_of_kip_848_groups_that_can_be_asked_again():
    cases = recorded("kip848-requests")["cases"]
    later = {case["id"] for case in cases if RECORDINGS["kip848-requests"].not_asked(case)}
    asked = {case["id"] for case in cases} - later
    assert len(asked) > 20
    for line in (line for line in RELEASES if at_least("4.4", line)):
        version = find_release(line).version
        assert {case["id"] for case in cases if case["release"] == version} == asked


RECORDED = recorded("released-classes")
LINES = tuple(RECORDED["asked"])
NAMES = {"Range": "range", "RoundRobin": "roundrobin", "Sticky": "sticky", "CooperativeSticky": "cooperative-sticky"}


def answers(line):
    """What a line answers, by question."""
    found = {}
    for name, by_line in RECORDED["answers"].items():
        known = [by_line[each] for each in LINES[: LINES.index(line) + 1] if each in by_line]
        if known and known[-1] is not None:
            found[name] = known[-1]
    return found


def of_kind(line, kind):
    return {name.removeprefix(f"{kind} "): each for name, each in answers(line).items() if name.startswith(f"{kind} ")}


@pytest.mark.parametrize("line", LINES)
def test_keys_and_groups_are_hashed_as_we_hash_them(line):
    keys, groups = of_kind(line, "key"), of_kind(line, "group")
    assert (len(keys), len(groups)) == (61, 61)
    for key, answer in keys.items():
        data = b"" if key == "-" else bytes.fromhex(key)
        hash_, positive = map(int, answer.split())
        assert murmur2(data) == hash_
        assert partition_for_key(data, 7) == positive % 7
    for group, answer in groups.items():
        assert offsets_partition(group) == int(answer) % 50


@pytest.mark.parametrize("line", LINES)
def test_the_clients_assignors_give_new_groups_what_we_give(line):
    found = of_kind(line, "assign")
    assert len(found) == 4 * 40
    for question, answer in found.items():
        topics, members, assignor = question.split(" ")
        counts = {name: int(count) for name, count in (each.split("=") for each in topics.split(","))}
        group = [Member(name, names.split(";")) for name, names in (each.split(":") for each in members.split(","))]
        owners = assign(NAMES[assignor], counts, group)
        ours = {name: {f"{topic}-{number}" for topic, number in owners[name]} for name in owners}
        real = {
            name: set(filter(None, places.split(";")))
            for name, places in (each.split(":") for each in answer.split(","))
        }
        assert ours == real, question


def test_the_layouts_of_the_newest_line_are_ours():
    real = of_kind(LINES[-1], "layout")
    layouts = {
        each.name: each for kind in RECORD_TYPES.values() for each in (kind.key, kind.value) if kind.until is None
    }
    for name, layout in layouts.items():
        versions = {int(each.partition(" ")[2]) for each in real if each.partition(" ")[0] == name}
        assert max(versions) == layout.newest, name
        for version in versions:
            assert fields_of(layout, version) == parsed(real[f"{name} {version}"]), (name, version)


def fields_of(layout: Layout, version: int) -> tuple[list[str], dict[int, str]]:
    """Names of the fields of a version, in the order of their bytes, and those with tags."""
    there = [each for each in layout.body.fields if each.since <= version <= each.until]
    plain = [snake(each.name) for each in there if each.tag is None]
    return plain, {each.tag: snake(each.name) for each in there if each.tag is not None}


def parsed(text: str) -> tuple[list[str], dict[int, str]]:
    """The same of a recorded layout; what is inside arrays is left out."""
    while "[" in text or "{" in text:
        text = re.sub(r"\[[^\[\]{}]*\]|\{[^\[\]{}]*\}", "ARRAY", inner_tags_removed(text))
    tagged = re.search(r"_tagged_fields:tagged\((.*?)\)", text)
    plain = text[: tagged.start()] if tagged else text
    tags = re.findall(r"(\d+)=(\w+):", tagged[1]) if tagged else []
    return re.findall(r"(\w+):", plain), {int(number): name for number, name in tags}


def inner_tags_removed(text: str) -> str:
    """Without the tagged fields inside arrays, whose own brackets would be in the way."""
    return re.sub(r",_tagged_fields:tagged\([^()\[\]{}]*\)\}", "}", text)


def snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower()


@pytest.mark.parametrize("line", LINES)
def test_a_line_that_is_left_out_and_taken_in_again_makes_the_same_file(line):
    left_out = released_classes.without(RECORDED, line)

    again = released_classes.taken_in(left_out, {line: answers(line)}, {line: RECORDED["asked"][line]})

    assert line not in left_out["asked"]
    assert again == RECORDED
    assert list(again["answers"]) == list(RECORDED["answers"])


def test_the_questions_are_those_that_are_recorded():
    asked = {each for each in released_classes.questions() if each.split(" ")[0] in ("key", "group")}
    assert asked <= set(RECORDED["answers"])


def writing(folder, monkeypatch, line):
    """A step whose tool writes one line into its file."""
    (folder / "tool_of_a_step.py").write_text(f"open('a.json', 'w').write({line!r})")
    monkeypatch.setattr(release, "ROOT", folder)
    return Step("jars", "tool_of_a_step", ("a.json",))


def test_the_files_of_every_step_are_there():
    for step in release.STEPS:
        assert step.files or step.name == "held"
        assert all(release.texts_of(step).values()), step.name


def test_a_step_says_what_has_changed_and_that_nothing_has(tmp_path, monkeypatch, capfd):
    step = writing(tmp_path, monkeypatch, "new\n")
    (tmp_path / "a.json").write_text("old\n")

    assert release.taken_in(step, "4.3=4.3.2")
    assert "a.json: 1 line gone, 1 line new\n  -old\n  +new\n" in capfd.readouterr().out
    assert release.taken_in(step, "4.3=4.3.2")
    assert "a.json: as it was" in capfd.readouterr().out


def test_a_step_that_fails_is_named(tmp_path, monkeypatch, capfd):
    step = writing(tmp_path, monkeypatch, "new\n")
    (tmp_path / "tool_of_a_step.py").write_text("raise SystemExit(3)")
    monkeypatch.setattr(release, "STEPS", (step,))

    assert main(["4.3"]) == 1
    assert "failed: jars of 4.3" in capfd.readouterr().out


def test_what_only_the_newest_line_has_is_left_alone_for_others(monkeypatch, capfd):
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    (answers,) = chosen_steps(["answers"])
    assert release.taken_in(answers, "4.0")
    assert "left as it is, as 4.0 is not the newest line" in capfd.readouterr().out


NEXT = f"{RELEASES[-1].partition('.')[0]}.{int(RELEASES[-1].partition('.')[2]) + 1}"
"""The line after the newest."""


@pytest.fixture
def copied(tmp_path, monkeypatch):
    """Copies of the files that name the newest line, in place of those of this folder."""
    for name, _ in release.SAID_OF_THE_NEWEST:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, tmp_path / name)
    monkeypatch.setattr(release, "ROOT", tmp_path)
    return tmp_path


def texts(folder):
    return {name: (folder / name).read_text(encoding="utf-8") for name, _ in release.SAID_OF_THE_NEWEST}


def test_a_new_line_is_put_wherever_the_newest_is_named(copied, monkeypatch):
    monkeypatch.setattr(release, "STEPS", ())
    assert main([f"{NEXT}={NEXT}.0"]) == 0

    names = {}
    exec(compile(texts(copied)[release.LINES], "lines", "exec"), names)
    assert names["RELEASES"] == (*RELEASES, NEXT)
    assert names["DEFAULT_RELEASE"] == NEXT
    for name, said in release.SAID_OF_THE_NEWEST:
        assert name == release.LINES or said.format(NEXT) in texts(copied)[name]


def test_a_new_line_whose_jars_cannot_be_had_is_taken_out_again_and_nothing_else_is_tried(copied, monkeypatch, capfd):
    before = texts(copied)
    tool = copied / "tool_that_fails.py"
    tool.write_text("raise SystemExit('the registry does not have it')")
    jars = Step("jars", tool.stem, ("README.md",))
    monkeypatch.setattr(release, "STEPS", (jars, Step("settings", "no_such_tool", ("README.md",))))

    assert main([f"{NEXT}={NEXT}.0"]) == 1

    assert texts(copied) == before
    told = capfd.readouterr()
    assert "the registry does not have it" in told.err
    assert "no_such_tool" not in told.out + told.err
    assert f"{NEXT} is taken out again" in told.out


def test_a_file_that_does_not_name_the_newest_line_where_it_should_is_told(copied):
    (copied / "README.md").write_text("nothing of releases")
    with pytest.raises(NotTaken, match=r"README\.md has not"):
        main([f"{NEXT}={NEXT}.0"])


@pytest.mark.parametrize("words", [[f"{NEXT}={NEXT}.0-rc1"], [f"{NEXT}={NEXT}.0", "--dry-run"]])
def test_a_dry_run_is_done_in_a_copy_with_jars_of_its_own(tmp_path, monkeypatch, capfd, words):
    folder = tmp_path / "project"
    (folder / "tools").mkdir(parents=True)
    (folder / "tools" / "release.py").write_text(
        "import os, sys, pathlib\n"
        "print(sys.argv[1:], pathlib.Path('a.txt').read_text(), os.environ['KAFKALEARN_DATA_DIR'])\n"
        "pathlib.Path('a.txt').write_text('changed')\n"
    )
    (folder / "a.txt").write_text("as it was")
    monkeypatch.setattr(release, "ROOT", folder)

    assert main(words) == 0

    said = capfd.readouterr().out
    assert f"['{NEXT}={NEXT}.0'] as it was" in said
    assert str(folder) not in said
    assert (folder / "a.txt").read_text() == "as it was"


def test_many_changes_are_cut():
    lines = difference_of("a.json", "", "".join(f"{number}\n" for number in range(100)))
    assert lines[0] == "a.json: 0 lines gone, 100 lines new"
    assert lines[-1] == "  and 88 more"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "name a release"),
        (["9.9=9.9.0"], "'9.9' is no line that there is, nor the next"),
        ([NEXT], f"{NEXT} is new; say which release to take in: {NEXT}={NEXT}.0"),
        (["4.3", "--dry"], "there is no option '--dry'; there are --only=STEP,STEP and --dry-run"),
        (
            ["4.3", "--only=jar"],
            "there is no step 'jar'; there are jars, layouts, settings, classes, errors, lines, evidence, answers, "
            "histories, words, held",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused(words, said):
    with pytest.raises(NotTaken, match=said):
        main(words)
