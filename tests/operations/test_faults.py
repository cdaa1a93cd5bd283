"""Faults planted from a seed are all found, and in a cluster without faults there are none."""

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.operations.faults import KINDS, Finding, cluster_logs, find_faults, judge, plant

SEEDS = range(10)


@pytest.mark.parametrize("seed", SEEDS)
def test_everything_planted_is_found_and_nothing_else(seed):
    planted = plant(seed, fault_count=len(KINDS))
    verdict = judge(find_faults(cluster_logs(seed, planted)), planted)

    assert {each.kind for each in planted} == {*KINDS}
    assert verdict.is_perfect, [str(each) for each in (*verdict.missed, *verdict.wrong)]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_cluster_without_faults_gives_no_finding(seed):
    assert find_faults(cluster_logs(seed, faults=[])) == ()


@pytest.mark.parametrize("kind", KINDS)
def test_each_fault_alone_is_found_alone(kind):
    planted = plant(77, kinds=[kind])
    assert [each.kind for each in find_faults(cluster_logs(77, planted))] == [kind]


def test_seeds_give_other_faults_places_and_times():
    drawn = [plant(seed) for seed in SEEDS]
    assert all(len({each.kind for each in of_seed}) == 6 for of_seed in drawn)
    assert len({tuple(each.kind for each in of_seed) for of_seed in drawn}) > 4
    assert len({each.broker for of_seed in drawn for each in of_seed}) == 7  # six brokers, and faults without one
    assert plant(3) == plant(3)


def test_the_same_history_with_more_records():
    planted = plant(5)
    small, large = cluster_logs(5, planted), cluster_logs(5, planted, records_per_batch=400)
    assert judge(find_faults(large), planted).is_perfect
    assert len(large.batches) == len(small.batches)
    ratio = sum(row.record_count for row in large.batches) / sum(row.record_count for row in small.batches)
    assert 9.8 < ratio < 10.2


def test_the_judge_wants_kind_place_and_time():
    truth = Finding("frozen follower", 1_000_000, 3, "orders", 7)
    right = Finding("frozen follower", 1_300_000, 3, "orders", 7)
    elsewhere = Finding("frozen follower", 1_000_000, 3, "orders", 8)
    late = Finding("frozen follower", 9_000_000, 3, "orders", 7)

    assert judge([right], [truth]).is_perfect
    for wrong in (elsewhere, late):
        assert str(judge([wrong], [truth])) == "0 faults found, 1 missed, 1 wrong"
    assert str(judge([right, right], [truth])) == "1 fault found, 0 missed, 1 wrong"  # once is enough


def test_bad_input_is_refused():
    with pytest.raises(
        KafkaLearnError, match="a frozen follower is named by broker, topic and partition; partition is"
    ):
        Finding("frozen follower", 0, 3, "orders")
    with pytest.raises(KafkaLearnError, match="unknown kind 'dead cleaners'; did you mean 'dead cleaner'"):
        plant(1, kinds=["dead cleaners"])
    with pytest.raises(KafkaLearnError, match="find_faults looks at ClusterLogs"):
        find_faults([])
    with pytest.raises(KafkaLearnError, match=r"faults must be Finding"):
        cluster_logs(1, faults=["dead cleaner"])
