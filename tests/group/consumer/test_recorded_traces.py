"""The traces that real coordinators gave, step by step and field by field."""

import pytest

from kafkalearn.groups.consumer.simulator import step
from tests.group.consumer.replay import Replay, recorded_outcome
from tests.recorded import recorded

FIRST = recorded("groups-kip848")
SINCE = recorded("groups-kip848-since")


def name_of(trace):
    return trace["id"]


def assert_same(trace, release, outcomes=lambda outcome: outcome):
    replay = Replay.of(step, trace, release)
    for recorded_step in trace["trace"]:
        assert replay.play(recorded_step["step"]) == outcomes(recorded_outcome(recorded_step)), recorded_step["step"]


@pytest.mark.parametrize("trace", FIRST["vectors"], ids=name_of)
def test_the_coordinator_of_4_0_answers_and_writes_what_the_real_one_did(trace):
    assert_same(trace, release="4.0")


@pytest.mark.parametrize("release", ["4.1", "4.2"])
@pytest.mark.parametrize("trace", FIRST["vectors"], ids=name_of)
def test_since_4_1_only_the_record_of_the_topics_partitions_is_gone(trace, release):
    def without_topics(outcome):
        records = [record for record in outcome["records"] if record != "consumer-group-partition-metadata"]
        return outcome | {"records": records}

    assert_same(trace, release, without_topics)


@pytest.mark.parametrize("trace", SINCE["vectors"], ids=name_of)
def test_the_coordinator_of_4_3_answers_and_writes_what_the_real_one_did(trace):
    assert_same(trace, release="4.3")
