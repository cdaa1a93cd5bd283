"""Who has given up takes part again when the group changes next, and not before."""

import random

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.zookeeper.connector import Settings
from kafkalearn.zookeeper.eras import newcomer, simulate_zookeeper
from kafkalearn.zookeeper.month import ConsumerStarted, Stretch, stretches

PAUSES = (0, 0, 9_013, 15_011, 20_000)
PATIENT = Settings(zookeeper_session_timeout_ms=40_000, auto_commit_enable=False)


def drawn(seed):
    rng = random.Random(seed)
    pauses = [rng.choice(PAUSES) for _ in range(rng.randint(2, 5))]
    return pauses, len(pauses) + rng.randint(1, 5)


def unread(pauses, partition_count, *later):
    """The partitions without a reader at 170 s, after a newcomer at 60 s and what happens later."""
    names = [f"m{at}" for at in range(len(pauses))]
    story = [f"topic orders has {partition_count} partitions", f"at 0 s: {', '.join(names)} join"]
    story += [f"at 60 s: {name} pauses for {ms} ms" for name, ms in zip(names, pauses, strict=True) if ms]
    story += ["at 60 s: newcomer joins", *later, "the end is at 170 s"]
    owners = simulate_zookeeper("\n".join(story), PATIENT).trace[-1].state.owners()
    return partition_count - sum(map(bool, owners.values()))


@pytest.mark.parametrize("change", ["another joins", "m0 leaves", "newcomer leaves"])
def test_the_next_change_of_the_group_brings_all_readers_back_and_time_alone_does_not(change):
    gave_up = 0
    for seed in range(12):
        pauses, partition_count = drawn(seed)
        left = newcomer(pauses, partition_count).unread_count
        assert unread(pauses, partition_count) == left
        assert unread(pauses, partition_count, f"at 120 s: {change}") == 0
        gave_up += left > 0
    assert gave_up > 3


def test_with_more_tries_nobody_gives_up_and_nothing_is_left_unread():
    month = [ConsumerStarted(number * 3_600_000, [0, 15_001, 0], 8) for number in range(3)]
    few, many = stretches(month), stretches(month, max_retries=20)
    assert [each.ms for each in few if each.ms > 60_000] == [3_600_000] * 2 + [30 * 86_400_000 - 7_200_000]
    assert len(many) == 3
    assert max(each.ms for each in many) < 30_000
    assert stretches([], end_ms=5) == []
    assert stretches([ConsumerStarted(0, [0], 2)], end_ms=0) == [Stretch(80, 2)]


@pytest.mark.parametrize("times", [[5, 4], [0, 11]])
def test_changes_come_in_order_and_before_the_end(times):
    with pytest.raises(KafkaLearnError, match="in order of their times"):
        stretches([ConsumerStarted(at, [0], 2) for at in times], end_ms=10)
