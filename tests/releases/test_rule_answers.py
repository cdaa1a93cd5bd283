"""Single rules, held to what released classes and producers answered: recorded by tools/rule_answers.py."""

from dataclasses import replace

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.hashing import murmur2
from kafkalearn.formats.disk import read_checkpoint
from kafkalearn.formats.share_state_log import StateBatch, combine_batches
from kafkalearn.formats.share_state_pairs import combine_pairs
from kafkalearn.log.index import nearest_position
from kafkalearn.operations.reassignment import Target, write_plan
from kafkalearn.partitioning import keyless
from kafkalearn.replication.settings import Assignment, completed, rules_of
from tests.every import every_case
from tests.recorded import recorded

RECORDED = recorded("rule-answers")
RELEASES = tuple(RECORDED["asked"])


def numbers(text):
    return tuple(map(int, text.split(","))) if text else ()


def lists(text):
    return [tuple(each.split(",")) for each in text.split(";")] if text else []


def of_release(answer, release):
    return answer[release] if isinstance(answer, dict) else answer


@every_case("case", RECORDED["index"], ids=lambda case: case[:2])
def test_an_index_gives_the_position_that_kafkas_class_gives(case):
    _, entries, asked, answer = case
    found = [
        nearest_position([numbers(",".join(each)) for each in lists(entries)], offset) for offset in numbers(asked)
    ]
    assert found == list(numbers(answer))


@pytest.mark.parametrize("release", RELEASES)
@every_case("case", RECORDED["reassignment"], ids=lambda case: case[:4])
def test_a_reassignment_ends_when_the_class_of_the_release_says(case, release):
    replicas, adding, removing, isr = map(numbers, case[:4])
    answer = of_release(case[4], release)
    given = Assignment(replicas, adding, removing)
    after, in_sync = completed(given, isr, rules_of(release).reassignment_end)
    if answer == "no":
        assert (after, in_sync) == (given, isr)
    else:
        said = [numbers(each.strip("[]").replace(" ", "")) for each in answer.split("\t")]
        assert [after.replicas, in_sync] == said
        assert not after.is_changing


@pytest.mark.parametrize("release", RELEASES)
@every_case("case", RECORDED["batches"], ids=lambda case: case[:3])
def test_batches_of_states_are_combined_as_by_the_class_of_the_release(case, release):
    there, more = ([StateBatch(*map(int, each)) for each in lists(text)] for text in case[:2])
    combine = combine_batches if release.startswith("4.4") else combine_pairs
    expected = tuple(StateBatch(*map(int, each)) for each in lists(of_release(case[3], release)))
    assert combine(there, more, int(case[2])) == expected


@every_case("case", RECORDED["checkpoint"])
def test_a_checkpoint_file_is_read_or_refused_as_by_kafkas_class(case, tmp_path_factory):
    path = tmp_path_factory.mktemp("checkpoint") / "cleaner-offset-checkpoint"
    path.write_text(case[0].replace("|", "\n"))
    try:
        found = read_checkpoint(path)
    except KafkaLearnError:
        found = "refused"
    wanted = case[1] if case[1] == "refused" else {(topic, int(at)): int(to) for topic, at, to in lists(case[1])}
    assert found == wanted


@every_case("case", RECORDED["plan"])
def test_the_json_of_a_plan_is_that_of_kafkas_tool(case):
    plan = [Target(topic, int(at), tuple(map(int, replicas))) for topic, at, *replicas in lists(case[0])]
    assert write_plan(plan) == case[1]


@every_case("case", RECORDED["murmur2"])
def test_long_keys_hash_as_in_java(case):
    first, size = numbers(case[0])
    assert murmur2(bytes((first + 7 * at) % 256 for at in range(size))) == int(case[1])


@every_case("case", RECORDED["dealt"], ids=lambda case: (case["release"], case["topics"]))
def test_records_without_a_key_are_dealt_out_as_by_the_released_partitioner(case):
    count, available = case["partition_count"], tuple(case["available"])
    for topic in {*case["topics"]}:
        events = [keyless.Send() if each == topic else keyless.SendToOtherTopic() for each in case["topics"]]
        wanted = [at for at, each in zip(case["partitions"], case["topics"], strict=True) if each == topic]
        settings = keyless.Settings(count, _line(case["release"]), available)
        dealt = [
            [each.partition for each in keyless.appended(keyless.simulate(begun, events))]
            for begun in (replace(settings, draw=lambda _, first=first: first) for first in range(count))
        ]
        assert wanted in dealt, (topic, wanted, dealt)


@every_case("case", RECORDED["sent"], ids=lambda case: (case["release"], case["batch_size"]))
def test_a_released_producer_stays_on_a_partition_and_leaves_it_as_its_rule_says(case):
    settings = keyless.Settings(
        case["partition_count"], _line(case["release"]), batch_size=case["batch_size"], is_adaptive=False
    )
    may_be, drained = {keyless.start(settings)}, 0
    for number, (size, partition) in enumerate(zip(case["sizes"], case["partitions"], strict=True)):
        after = {each for before in may_be for each in _after(settings, before, keyless.Send(size), partition)}
        if not after:  # the sender takes an open batch along where another one of that broker is full
            drained += 1
            sent = {keyless.step(settings, before, keyless.Drain()) for before in may_be}
            after = {each for before in sent for each in _after(settings, before, keyless.Send(size), partition)}
        assert after, f"record {number} of {size} bytes cannot go to {partition}"
        may_be = after
    assert drained <= 1


def _after(settings, before, event, partition):
    """The producers after a record that went to a partition, whatever was drawn."""
    for first in range(settings.partition_count):
        for second in range(settings.partition_count):
            draw = {before.draw_count: first, before.draw_count + 1: second}
            own = replace(settings, draw=lambda index, draw=draw: draw.get(index, index))
            after = keyless.step(own, before, event)
            if any(isinstance(each, keyless.RecordAppended) and each.partition == partition for each in after.effects):
                yield replace(after, draw_count=0)
            if after.draw_count - before.draw_count < 2:
                break


def _line(patch):
    """The line of a patch: 0.10.2.2 is of 0.10.2, 3.9.2 of 3.9."""
    return patch.rpartition(".")[0]


def test_the_recordings_hold_every_rule_and_both_answers():
    assert {keyless.rule_of(_line(each["release"])) for part in ("dealt", "sent") for each in RECORDED[part]} == {
        *keyless.RULES
    }
    assert {case[4] == "no" for case in RECORDED["reassignment"]} == {True, False}
    assert sum(isinstance(case[4], dict) for case in RECORDED["reassignment"]) >= 5, "releases differ"
    assert {case[1] == "refused" for case in RECORDED["checkpoint"]} == {True, False}
