"""What real brokers of 4.0 to 4.3 answered to requests with chosen ids, and what each group looked like after each."""

from itertools import groupby

import pytest

from conformance.mechanisms.consumer_groups import answer_of, by_topic, description_of, event_of
from kafkalearn.groups.consumer import start, step
from tests.every import every_case
from tests.group.consumer.requests import settings_of
from tests.recorded import recorded

RECORDED = recorded("kip848-requests")


def name_of(case):
    return f"{case['id']}-{case['release']}"


def assert_same(case):
    settings = settings_of(case)
    group = start(settings)
    description = {"error": "GROUP_ID_NOT_FOUND"}
    for place, each in enumerate(case["trace"]):
        group = step(settings, group, event_of(each["step"]))
        description = changed(description, each.get("group", {}))
        assert (place, answer_of(group)) == (place, each.get("answer"))
        assert (place, description_of(group, case["release"])) == (place, description)
    assert by_topic(group.committed) == case["committed"]


def changed(description, change):
    """The description of a group after a step, of which the recorder wrote down only what changed."""
    if "error" in change or not change:
        return change or description
    fields = {name: value for name, value in {**description, **change}.items() if name not in ("error", "gone")}
    members = {**description.get("members", {}), **change.get("members", {})}
    gone = change.get("gone", ())
    return fields | {"members": {name: value for name, value in members.items() if name not in gone}}


@every_case("case", RECORDED["cases"], ids=name_of)
def test_a_real_broker_answered_every_request_like_this(case):
    assert_same(case)


@pytest.mark.parametrize("case", RECORDED["random"], ids=name_of)
def test_it_did_so_in_histories_that_were_drawn_at_random(case):
    assert_same(case)


def test_the_recording_has_every_case_in_all_four_lines_and_every_error_that_a_group_can_answer():
    by_id = groupby(RECORDED["cases"], lambda case: case["id"])
    releases = {name: {case["release"] for case in cases} for name, cases in by_id}
    assert len(releases) == 31
    assert all(found >= {"4.0.2", "4.1.2", "4.2.1", "4.3.1"} for found in releases.values())
    assert releases["taken-back"] >= {"4.0.1", "4.1.1"}
    histories = RECORDED["cases"] + RECORDED["random"]
    answers = [each["answer"] for case in histories for each in case["trace"] if "answer" in each]
    told = {answer["error"] for answer in answers if "error" in answer}
    told |= {error for answer in answers for *_, error in answer.get("errors", ())}
    assert told == {
        "NONE",
        "FENCED_INSTANCE_ID",
        "FENCED_MEMBER_EPOCH",
        "GROUP_ID_NOT_FOUND",
        "GROUP_MAX_SIZE_REACHED",
        "ILLEGAL_GENERATION",
        "INVALID_REQUEST",
        "NON_EMPTY_GROUP",
        "STALE_MEMBER_EPOCH",
        "UNKNOWN_MEMBER_ID",
        "UNKNOWN_TOPIC_ID",
        "UNKNOWN_TOPIC_OR_PARTITION",
        "UNRELEASED_INSTANCE_ID",
        "UNSUPPORTED_ASSIGNOR",
        "UNSUPPORTED_VERSION",
    }
