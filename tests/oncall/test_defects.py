"""Kafka's named defects: each is shown in the releases that have it, and in no other."""

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.oncall.defects import DEFECTS, between, find_defect
from kafkalearn.releases.lines import RELEASES

PATCHES = {
    "2.8.1": "2.8.0",
    "2.4.1": "2.4.0",
    "4.0.2": "4.0.1",
    "4.1.2": "4.1.1",
    "3.0.1": "3.0.0",
    "3.1.1": "3.1.0",
    "4.0.1": "4.0.0",
    "4.3.1": "4.3.0",
}
"""The patch before one that took a fault away."""


def asked(defect):
    """The first and the newest release, and those on both sides of each of the defect's ends, 0.11 and 1.1."""
    found = {RELEASES[0], "0.11.0", "1.1", RELEASES[-1]}
    for end in (end for span in defect.spans for end in span if end):
        line = ".".join(end.split(".")[:2]) if not end.startswith("0.") else end
        at = RELEASES.index(line)
        found |= {*RELEASES[max(0, at - 1) : at + 2], PATCHES.get(end, line)}
    return sorted(found, key=lambda each: [int(part) for part in each.split(".")])


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda each: each.name)
def test_it_is_shown_where_it_is_and_nowhere_else(defect):
    shown = {release: defect.run(release) is not None for release in asked(defect)}

    assert shown == {release: defect.is_shown(release) for release in shown}
    assert any(shown.values())


def test_all_are_named_once():
    assert len({each.name for each in DEFECTS}) == len(DEFECTS) >= 20
    assert all(str(each).startswith(each.name) and each.what.endswith(".") for each in DEFECTS)


def test_a_partition_that_forgot_its_producer_lets_the_coordinator_s_epoch_fall():
    log = find_defect("KAFKA-9144").run("2.4.0")[-1].state.partition("t-0").batches

    assert [each.kind for each in log] == ["data", "ABORT", "ABORT"]
    assert log[1].coordinator_epoch > log[2].coordinator_epoch


def test_what_is_written_twice_is_not_what_the_error_was_about():
    trace = find_defect("KAFKA-14397").run("4.4")
    late = next(frame for frame in trace if type(frame.event).__name__ == "LateAnswerArrived")

    assert late.state.producer.callbacks[0].values == ("m1",)
    assert [record.value for record in trace[-1].state.partition.replicas[0].log.records] == ["m1", "m2", "m2"]


def test_an_upgrade_takes_some_away_and_may_bring_others():
    gone, new = between("0.10.2", "1.1")

    assert [each.name for each in gone] == ["KAFKA-1211"]
    assert [each.name for each in new] == ["KAFKA-6361", "KAFKA-17803", "hanging transaction", "KAFKA-9144"]
    assert between("4.3", "4.3") == ((), ())


def test_what_is_not_there_is_refused():
    with pytest.raises(KafkaLearnError, match="KAFKA-1546"):
        find_defect("KAFKA-1545")
    with pytest.raises(KafkaLearnError, match="unknown release"):
        between("3.9", "9.9")
