"""The stages: the reference is as Kafka in all of them, and each coordinator that is known to be wrong is refused."""

import re

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.exercises import build
from kafkalearn.exercises.build.comparing import Comparison
from kafkalearn.exercises.build.playing import SETTINGS, names_in_python, played
from kafkalearn.exercises.kit.result import ERROR, NOT_ATTEMPTED, RIGHT, WRONG
from tests.every import every_case
from tests.exercises.build.mutants import MUTANTS, mutant
from tests.exercises.build.reference import Coordinator
from tests.project.modules import ROOT

STAGES = build.stages()


def first_wrong(kind):
    """The first stage that is not right, and its result, without a note of progress."""
    for stage in STAGES:
        result = build.Answers(stage).judge(build.as_function(kind))
        if not result:
            return stage, result
    return None, result


def test_the_reference_answers_as_kafka_in_all_stages():
    result = build.check(Coordinator)

    assert result, result
    assert repr(result) == f"Right. All {len(STAGES)} stages are answered as Kafka answered them."


@every_case("wrong", MUTANTS)
def test_a_coordinator_that_is_known_to_be_wrong_is_refused_at_its_stage(wrong):
    stage, result = first_wrong(mutant(wrong))

    assert stage is not None, "no stage refuses it"
    assert (stage.number, result.outcome) == (MUTANTS[wrong]["stage"], WRONG), result


def test_thirty_and_more_are_refused_and_each_stage_refuses_one():
    assert len(MUTANTS) > 30
    assert {each["stage"] for each in MUTANTS.values()} == {each.number for each in STAGES}


def test_every_answer_stands_once_at_its_request_or_later():
    for stage in STAGES:
        answered = [each["step"] for step in stage.steps for each in step["answers"]]
        assert len(answered) == len(set(answered)), stage
        for number, step in enumerate(stage.steps):
            assert all(each["step"] <= number for each in step["answers"]), stage


def test_every_setting_that_a_task_names_is_one_of_the_broker():
    named = {name for stage in STAGES for name in re.findall(r"`((?:group|offsets?)\.[a-z.]+)`", stage.task)}
    assert named <= set(SETTINGS)


def test_every_stage_leads_to_a_chapter_and_has_hints_and_a_rule():
    chapters = {path.name.partition("_")[0] for path in (ROOT / "notebooks").glob("*.ipynb")}
    for stage in STAGES:
        assert stage.chapter in chapters
        assert stage.hints
        assert stage.rule
        assert len(stage.task) > 100


# What is said.


class Beginner:
    def __init__(self, broker):
        self.broker = broker

    def find_coordinator(self, request, reply):
        reply({"errorCode": "NONE", "nodeId": self.broker.broker_ids[0]})


def test_it_says_which_request_what_came_what_kafka_answered_and_where_to_read():
    result = build.check(Beginner)

    assert result.outcome == WRONG
    assert repr(result) == (
        "Not right yet. Stage 1, *FindCoordinator: which of three brokers?*, request 2, `FindCoordinator` of a: nodeId "
        "is 1, and Kafka answers 3.\n"
        " 1  a: FindCoordinator key=billing\n"
        "      answered: errorCode=NONE, nodeId=1\n"
        " 2  a: FindCoordinator key=shipping\n"
        "      answered: errorCode=NONE, nodeId=1\n"
        "Asked was Kafka 4.4.0. Chapter 01 explains the rule; build.hint(1) helps."
    )


def test_a_method_that_is_not_there_is_not_attempted():
    result = build.check(Beginner, stage=8)

    assert result.outcome == NOT_ATTEMPTED
    assert "there is no method heartbeat yet" in repr(result)


def test_what_a_method_raises_is_said_with_its_line():
    class Raises(Beginner):
        def heartbeat(self, request, reply):
            raise KeyError(request["groupId"])

    result = build.check(Raises, stage=8)

    assert result.outcome == ERROR
    assert "KeyError was raised: 'billing' (heartbeat, line " in repr(result)


def test_what_a_timer_raises_is_said_too():
    class RaisesLater(Coordinator):
        def end_of_delay(self, *_):
            return 1 // 0

    assert "request 3, while time passes: ZeroDivisionError was raised" in repr(build.check(RaisesLater, stage=4))


def test_a_loop_that_never_ends_is_ended():
    class Never(Beginner):
        def heartbeat(self, request, reply):
            while True:
                pass

    assert "was stopped after 3,000,000 lines" in repr(build.check(Never, stage=8))


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (7, "the answer is 7, and Kafka answers"),
        (None, "the answer is null, and Kafka answers"),
        ({"errorCode": 25}, "Right."),
        ({"errorCode": "UNKNOWN_MEMBER"}, "errorCode is UNKNOWN_MEMBER, and Kafka answers UNKNOWN_MEMBER_ID"),
        ({}, "errorCode is NONE, and Kafka answers UNKNOWN_MEMBER_ID"),
        (object, "the answer is"),
    ],
)
def test_any_answer_is_compared(answer, said):
    class Says:
        def __init__(self, broker):
            pass

        def heartbeat(self, request, reply):
            reply(answer)

    stage = build.stage_of(8)
    came = played(Says, stage.script()[:1])
    difference = Comparison(stage.steps, names_in_python()).take(0, came[0])

    assert said in ("Right." if difference is None else difference.sentence.plain)


def test_a_second_answer_is_one_too_many():
    class Twice(Coordinator):
        def find_coordinator(self, request, reply):
            super().find_coordinator(request, reply)
            super().find_coordinator(request, reply)

    assert "it is answered a second time" in repr(build.check(Twice, stage=1))


def test_two_members_with_one_id_are_seen_at_once():
    class SameId(Beginner):
        def join_group(self, request, reply):
            reply({"errorCode": "MEMBER_ID_REQUIRED", "memberId": "the-same"})

    assert "it gives b the id that a has" in repr(build.check(SameId, stage=3))


@pytest.mark.parametrize("nothing", [..., None])
def test_nothing_is_not_attempted(nothing):
    assert build.check(nothing).outcome == NOT_ATTEMPTED


def test_an_instance_in_place_of_a_class_says_what_to_give():
    assert "give your class itself: build.check(MyCoordinator)" in repr(build.check(7))


@pytest.mark.parametrize("number", [0, len(STAGES) + 1, "7", True])
def test_a_stage_that_is_not_there(number):
    with pytest.raises(KafkaLearnError, match=f"there are 1 to {len(STAGES)}"):
        build.check(Coordinator, stage=number)


def test_a_hint_is_one_further_each_time_and_the_rule_comes_last():
    hints = build.stage_of(5).hints

    assert [repr(build.hint(5))[:11] for _ in range(3)] == ["Hint 1 of 2", "Hint 2 of 2", "Hint 2 of 2"]
    assert hints[1] in repr(build.hint(5))
    assert repr(build.solution(5)) == build.stage_of(5).rule
    assert "Stage 5: JoinGroup" in repr(build.question(5))
    assert RIGHT in repr(build.score())


@pytest.mark.parametrize("came", [7, [7], [[{}]], [[{"step": 99, "answer": {}}]], [[{"step": 0, "raised": 7}]], None])
def test_a_run_that_is_none_says_so(came):
    result = build.Answers(STAGES[0]).compared(came)

    assert result.outcome == ERROR
    assert "is no run of its requests" in repr(result)
