"""What names the newest release as today's follows it: the chapters' outputs and prose, README, what was recorded."""

import json
import re
from base64 import b64decode

import pytest

from kafkalearn import find_coordinator, offsets_partition
from kafkalearn.live.jars import find_release
from kafkalearn.releases.lines import DEFAULT_RELEASE, RELEASES
from kafkalearn.releases.real_answers import NobodyAnswers, ask_with, questions, real_answer, recorded_answers
from tests.recorded import ROOT
from tools import release

NEWEST = find_release(DEFAULT_RELEASE).version
ANSWERS = json.loads((ROOT / "data" / "real-kafka" / "answers.json").read_text(encoding="utf-8"))
CHAPTERS = sorted((ROOT / "notebooks").glob("*.ipynb"))
ASKED = re.compile(r"Asked of Kafka ([\d.]+), started on this machine")
PICTURE = re.compile(r"data:image/svg\+xml;base64,([A-Za-z0-9+/]+={0,2})")
BY_DEFAULT = (
    re.compile(r"(?:A producer of|Records without a key:) Kafka ([\d.]+),? \(?uniform sticky"),
    re.compile(r"\d rebalances?: Kafka ([\d.]+), (?:classic|consumer) protocol"),
    re.compile(r"protocol, Kafka ([\d.]+); [\d,]+ records were not read"),
    re.compile(r"defaults of Kafka ([\d.]+); --set changes that"),
)
"""What pictures and commands print of runs for which a chapter names no release."""


@pytest.mark.parametrize(("name", "said"), release.SAID_OF_THE_NEWEST)
def test_the_newest_line_is_named_where_it_is_said_to_be(name, said):
    assert said.format(DEFAULT_RELEASE) in (ROOT / name).read_text(encoding="utf-8")


def test_what_a_real_broker_answered_is_of_the_newest_release_and_its_page_says_so():
    page = (ROOT / "data" / "real-kafka" / "README.md").read_text(encoding="utf-8")
    assert ANSWERS["version"] == NEWEST
    assert f"on {ANSWERS['recorded']} from Apache Kafka {NEWEST} (" in page
    assert list(ANSWERS["answers"]["releases"]) == ["4.0", DEFAULT_RELEASE]


def test_the_outputs_of_chapters_are_of_the_newest_release():
    older = {}
    for path in CHAPTERS:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        text = json.dumps([each.get("outputs", []) for each in cells])
        text += "".join(b64decode(each).decode("utf-8", "replace") for each in PICTURE.findall(text))
        named = {(NEWEST, found) for found in ASKED.findall(text)}
        named |= {(DEFAULT_RELEASE, found) for each in BY_DEFAULT for found in each.findall(text)}
        older[path.stem[:3].rstrip("_")] = sorted(found for wanted, found in named if found != wanted)
    late = {chapter: found for chapter, found in older.items() if found}
    assert not late, f"run: python3 run.py chapters {' '.join(late)}"
    assert sum(ASKED.search(path.read_text(encoding="utf-8")) is not None for path in CHAPTERS) >= 7


def test_no_docstring_says_which_release_is_meant_where_none_is_given():
    said = re.compile(r"without one, Kafka [\d.]+")
    places = [path for path in (ROOT / "kafkalearn").rglob("*.py") if said.search(path.read_text(encoding="utf-8"))]
    assert places == [], f"say 'the newest line', which is {RELEASES[-1]} today"


# Answers of a real Kafka: the recorded ones, and whom is asked first.


@pytest.fixture(autouse=True)
def nobody_is_asked_afterwards():
    yield
    ask_with(None)


def test_without_anybody_to_ask_every_answer_is_the_recorded_one():
    for name in questions():
        answer = real_answer(name)
        assert answer.value == recorded_answers()["answers"][name]
        assert answer.asked == (
            f"Asked of Kafka {recorded_answers()['version']} on {recorded_answers()['recorded']}, and recorded."
        )


def test_the_coordinators_are_those_of_the_rule():
    leaders = [number % 3 + 1 for number in range(50)]
    for group, found in real_answer("coordinators").value.items():
        broker = find_coordinator(group, leaders=leaders).broker_id
        assert found == {"partition": offsets_partition(group), "broker": broker}
    assert all(offsets_partition(group) == each for group, each in real_answer("short group ids").value.items())


def test_who_is_asked_answers_and_where_nobody_does_the_reason_is_said():
    ask_with(lambda name: f"live: {name}", "4.3.1")
    assert real_answer("range") == ("live: range", "Asked of Kafka 4.3.1, started on this machine for it.")

    def nobody(name):
        raise NobodyAnswers("there is no Java")

    ask_with(nobody, "4.3.1")
    answer = real_answer("range")
    assert answer.value == recorded_answers()["answers"]["range"]
    assert answer.asked.endswith("and recorded; here none can be asked: there is no Java")
