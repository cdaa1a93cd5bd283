"""ZooKeeper and the offsets topic under one load: the rule, and where its costs are from."""

from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.zookeeper.commits.simulator import MEASURED, Costs, backlogs, commit_times
from tests.recorded import recorded

STORES = recorded("offset-stores")
RUNS = STORES["runs"]


def two_digits(value: float) -> int:
    return int(float(f"{value:.2g}"))


def test_the_costs_are_the_measured_ones():
    assert len(STORES["runs"]) == 3
    one, hundred = (median(run[name]["p10_us"] for run in RUNS) for name in ("commit_of_1", "commit_of_100"))
    assert (
        Costs(
            znode_write_us=two_digits(median(run["znode_write"]["p10_us"] for run in RUNS)),
            znode_writes_per_second=two_digits(median(run["znode_writes_per_second"]["p90"] for run in RUNS)),
            request_us=two_digits(one),
            record_us=round((hundred - one) / 99),
            requests_per_second=two_digits(median(run["commits_of_1_per_second"]["p90"] for run in RUNS)),
        )
        == MEASURED
    )


def test_ten_partitions_lie_between_one_and_a_hundred_as_the_rule_has_it():
    ten = median(run["commit_of_10"]["p10_us"] for run in RUNS)
    assert commit_times(10).topic_us == pytest.approx(ten, rel=0.25)


@given(st.integers(1, 5000))
def test_a_commit_of_more_partitions_takes_longer_and_the_nodes_always_longest(count):
    few, more = commit_times(count), commit_times(count + 1)
    assert few.zookeeper_us < more.zookeeper_us
    assert few.topic_us < more.topic_us
    assert few.zookeeper_us / count == commit_times(1).zookeeper_us
    assert few.topic_us / count >= more.topic_us / (count + 1)


@given(st.lists(st.integers(0, 50), max_size=30), st.integers(1, 40))
def test_what_came_was_done_or_waits(asked, done):
    waiting = backlogs(asked, done)
    assert len(waiting) == len(asked)
    for at in range(len(asked)):
        before = waiting[at - 1] if at else 0
        assert 0 <= before + asked[at] - waiting[at] <= done
        assert waiting[at] == 0 or before + asked[at] - waiting[at] == done


def test_what_is_no_number_of_writes_is_refused():
    with pytest.raises(KafkaLearnError, match="asked must be at least 0"):
        backlogs([-1], 5)
    with pytest.raises(KafkaLearnError, match="done_per_second"):
        backlogs([1], 0)
    with pytest.raises(KafkaLearnError, match="partition_count"):
        commit_times(0)
    with pytest.raises(KafkaLearnError, match="request_us"):
        Costs(1, 1, 0, 1, 1)
