"""The fixed questions of chapter 14: a real broker answers each as it was recorded."""

import json
from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.live import cluster
from kafkalearn.live import questions as live_questions
from kafkalearn.live.errors import NotReached, NotThere
from kafkalearn.live.questions import QUESTIONS, ask, ask_a_real_broker, ask_live
from kafkalearn.releases.real_answers import ask_with, questions, real_answer, recorded_answers

pytestmark = pytest.mark.live

CHEAP = ("coordinators", "partitions of keys", "uniform", "tombstone of a new key", "lost record", "poison order")
"""Those that the tests ask; `tools.real_answers` asks all."""


@pytest.fixture(autouse=True)
def nobody_is_asked_afterwards():
    yield
    ask_with(None)


def test_there_is_a_recorded_answer_to_each_question():
    assert questions() == tuple(QUESTIONS)


@pytest.mark.nightly  # chapter 14, which every push runs, asks them all
@pytest.mark.parametrize("name", CHEAP)
def test_a_real_broker_answers_as_it_was_recorded(release, name):
    assert json.loads(json.dumps(ask(name, release))) == recorded_answers()["answers"][name]


def test_a_live_answer_says_of_which_kafka_it_is_and_is_asked_for_once(release, monkeypatch):
    asked = []
    monkeypatch.setattr(live_questions, "QUESTIONS", {"uniform": lambda line: asked.append(line) or [line]})
    ask_live(release)

    first, second = real_answer("uniform"), real_answer("uniform")

    assert first == second
    assert (first.value, asked) == ([release], [release])
    assert first.asked.endswith("started on this machine for it.")


def test_where_the_machine_is_too_busy_three_times_the_recorded_answer_comes_and_says_why(monkeypatch):
    asked = []

    def too_busy(line):
        asked.append(line)
        raise NotReached("this machine is too busy")

    monkeypatch.setattr(live_questions, "QUESTIONS", {"uniform": too_busy})
    ask_live()

    answer = real_answer("uniform")

    assert len(asked) == live_questions.TRIES
    assert answer.value == recorded_answers()["answers"]["uniform"]
    assert answer.asked.endswith("here none can be asked: this machine is too busy")


def test_an_unknown_question_names_the_known_ones():
    with pytest.raises(KafkaLearnError, match="unknown question 'tombstones'; did you mean 'tombstone'"):
        ask("tombstones")
    with pytest.raises(KafkaLearnError, match="unknown question 'tombstones'; did you mean 'tombstone'"):
        real_answer("tombstones")


def test_one_line_asks_a_broker_and_says_so(release, monkeypatch, capsys):
    monkeypatch.setattr(live_questions, "QUESTIONS", {"uniform": lambda line: [line]})

    assert ask_a_real_broker("uniform") == [release]
    assert capsys.readouterr().out.endswith("started on this machine for it.\n")


def test_one_line_fetches_nothing_and_shows_what_was_recorded(monkeypatch, capsys):
    monkeypatch.setattr(live_questions, "missing", lambda release: list(release.jars))
    monkeypatch.setattr(live_questions, "prepare", lambda release: pytest.fail("it was fetched"))

    assert ask_a_real_broker("range") == recorded_answers()["answers"]["range"]
    assert capsys.readouterr().out.endswith(", and recorded.\n")


def test_one_line_refuses_what_is_no_question():
    with pytest.raises(KafkaLearnError, match="unknown question"):
        ask_a_real_broker("the weather")


# A machine so slow that the cleaner may have come twice gives no answer, rather than a wrong one.


def passes_that_take(seconds, monkeypatch):
    """The question, where each pass takes so long and sleeping takes none."""
    kafka = SimpleNamespace(create_topic=lambda *args, **given: None, send_records=lambda *args: None)
    clock = SimpleNamespace(now=0.0)

    def clean(kafka):
        clock.now += seconds

    monkeypatch.setattr(live_questions, "Kafka", lambda *args, **given: nullcontext(kafka))
    monkeypatch.setattr(
        live_questions, "time", SimpleNamespace(monotonic=lambda: clock.now, sleep=lambda seconds: None)
    )
    monkeypatch.setattr(live_questions, "_clean_once", clean)
    monkeypatch.setattr(live_questions, "_shown_log", lambda kafka: [[0, "anna", None]])
    return live_questions.tombstone("4.3")


def test_passes_in_time_are_an_answer(monkeypatch):
    assert [*passes_that_take(0.9, monkeypatch)] == ["before", "first pass", "later pass"]


def test_a_first_pass_that_is_late_is_none(monkeypatch):
    with pytest.raises(NotReached, match="the first pass was not over and looked at within 1000 ms"):
        passes_that_take(1.1, monkeypatch)


# A topic is created before its brokers have made the folder of each replica: the one without a record comes last.


@pytest.mark.parametrize("made", ["orders-4", "orders-3"])
def test_a_replica_that_the_broker_is_about_to_make_is_waited_for_five_seconds(monkeypatch, tmp_path, made):
    waited = []

    def sleep(seconds):
        waited.append(seconds)
        if len(waited) == 3:
            (tmp_path / made).mkdir()
            (tmp_path / made / f"{0:020}.log").touch()

    monkeypatch.setattr(cluster, "time", SimpleNamespace(sleep=sleep))
    disk = cluster.Disk(tmp_path)
    if made == "orders-4":
        assert (disk.log_end_offset("orders", 4), len(waited)) == (0, 3)
        return
    with pytest.raises(NotThere, match=r"no replica of orders-4 in .*; there is orders-3"):
        disk.records("orders", 4)
    assert sum(waited) == pytest.approx(5)
