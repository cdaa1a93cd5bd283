"""A machine so slow that the cleaner may have come twice gives no answer, rather than a wrong one."""

from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from kafkalearn.live import questions
from kafkalearn.live.errors import NotReached


def passes_that_take(seconds, monkeypatch):
    """The question, where each pass takes so long and sleeping takes none."""
    kafka = SimpleNamespace(create_topic=lambda *args, **given: None, send_records=lambda *args: None)
    clock = SimpleNamespace(now=0.0)

    def clean(kafka):
        clock.now += seconds

    monkeypatch.setattr(questions, "Kafka", lambda *args, **given: nullcontext(kafka))
    monkeypatch.setattr(questions, "time", SimpleNamespace(monotonic=lambda: clock.now, sleep=lambda seconds: None))
    monkeypatch.setattr(questions, "_clean_once", clean)
    monkeypatch.setattr(questions, "_shown_log", lambda kafka: [[0, "anna", None]])
    return questions.tombstone("4.3")


def test_passes_in_time_are_an_answer(monkeypatch):
    assert [*passes_that_take(0.9, monkeypatch)] == ["before", "first pass", "later pass"]


def test_a_first_pass_that_is_late_is_none(monkeypatch):
    with pytest.raises(NotReached, match="the first pass was not over and looked at within 1000 ms"):
        passes_that_take(1.1, monkeypatch)
