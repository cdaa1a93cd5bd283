"""What commits write: against a real broker's files, and against the simulator of the coordinator's store."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkalearn.commits import (
    STRATEGIES,
    Poll,
    Settings,
    Start,
    Wait,
    Workload,
    commit_bytes,
    idle_cost,
    simulate,
    sweep,
)
from kafkalearn.offsets import decode
from kafkalearn.offsets import store as coordinator
from tests.segments.disk import segments


def test_a_commit_takes_the_bytes_that_it_took_on_a_real_brokers_disk():
    alone = [batch for segment in segments("disk") for batch in segment.batches if len(batch.records) == 1]
    decoded = [(batch, decode(batch.records[0].key, batch.records[0].value)) for batch in alone if not batch.is_control]
    commits = [(batch, each) for batch, each in decoded if each.type.number == 1 and each.version == 4]

    assert len(commits) > 20
    for batch, commit in commits:
        named = commit.key["group"], commit.key["topic"], commit.key["partition"]
        assert batch.size_bytes == commit_bytes(*named, metadata=commit.value["metadata"])


@pytest.mark.parametrize("release", ["4.1", "4.2"])
def test_brokers_of_4_1_and_4_2_write_no_topic_id_for_a_topic_that_is_named(release):
    assert commit_bytes(release=release) == 115  # as a broker of 4.2.1 wrote it for a commit of version 9


@pytest.mark.parametrize("strategy", ["each batch", "auto", "async, retried", "last, not next"])
@given(record_count=st.integers(1, 7), refused=st.sets(st.integers(0, 2), max_size=1))
@settings(max_examples=10)
def test_the_coordinators_store_ends_with_the_same_committed_offset_and_as_many_records(
    strategy, record_count, refused
):
    for outcome in sweep(STRATEGIES[strategy], Workload(record_count, 2, refused=tuple(refused))):
        end = outcome.trace[-1].state
        commits = [coordinator.Commit("billing", "orders", 0, each.offset, each.now_ms) for each in end.written]
        fetch = coordinator.Fetch("billing", "orders", 0)
        store = coordinator.simulate(coordinator.Settings(), [*commits, fetch])[-1].state
        (answer,) = store.effects

        assert len(store.log) == len(end.written)
        assert answer.offset == (end.committed if end.written else -1)


def test_an_idle_hour_costs_what_an_idle_consumer_writes_in_the_simulator():
    polls = [event for _ in range(3600) for event in (Wait(1000), Poll())]
    written = simulate(Settings(100, committed=100, is_auto=True), [Start(), *polls])[-1].state.written

    assert idle_cost(1, hours=1).commit_count == len(written)
    assert idle_cost(1, hours=1).byte_count == len(written) * commit_bytes()
    assert idle_cost(12, hours=1).byte_count == len(written) * (12 * (commit_bytes() - 61) + 61)
    assert idle_cost(12, hours=1, member_count=12).byte_count == 12 * len(written) * commit_bytes()
    assert idle_cost(12, hours=0).byte_count == idle_cost(0).byte_count == 0
