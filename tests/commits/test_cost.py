"""What commits write: against a real broker's files, and against the simulator of the coordinator's store."""

from functools import partial

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
    crash_everywhere,
    idle_cost,
    new_pipeline,
    step,
)
from kafkalearn.offsets import decode
from kafkalearn.offsets import store as coordinator
from kafkalearn.trace import run
from tests.segments.disk import segments


def test_a_commit_takes_the_bytes_that_it_took_on_a_real_brokers_disk():
    alone = [batch for segment in segments("disk") for batch in segment.batches if len(batch.records) == 1]
    told = [(batch, decode(batch.records[0].key, batch.records[0].value)) for batch in alone if not batch.is_control]
    commits = [(batch, each) for batch, each in told if each.type.number == 1 and each.version == 4]

    assert len(commits) > 20
    for batch, told in commits:
        named = told.key["group"], told.key["topic"], told.key["partition"]
        assert batch.size_bytes == commit_bytes(*named, metadata=told.value["metadata"])


@pytest.mark.parametrize("strategy", ["each batch", "auto", "async, retried", "last, not next"])
@given(record_count=st.integers(1, 7), refused=st.sets(st.integers(0, 2), max_size=1))
@settings(max_examples=10)
def test_the_coordinators_store_ends_with_the_same_committed_offset_and_as_many_records(
    strategy, record_count, refused
):
    for outcome in crash_everywhere(STRATEGIES[strategy], Workload(record_count, 2, refused=tuple(refused))):
        end = outcome.trace[-1].state
        store = coordinator.Store()
        for each in end.written:
            commit = coordinator.Commit("billing", "orders", 0, each.offset, each.now_ms)
            store = coordinator.step(coordinator.Settings(), store, commit)
        fetched = coordinator.step(coordinator.Settings(), store, coordinator.Fetch("billing", "orders", 0)).answer

        assert len(store.log) == len(end.written)
        assert fetched.offset == (end.committed if end.written else -1)


def test_an_idle_hour_costs_what_an_idle_consumer_writes_in_the_simulator():
    polls = [event for _ in range(3600) for event in (Wait(1000), Poll())]
    written = run(partial(step, Settings(is_auto=True)), new_pipeline(100, 100), [Start(), *polls])[-1].state.written

    assert idle_cost(1, hours=1).commit_count == len(written)
    assert idle_cost(1, hours=1).byte_count == len(written) * commit_bytes()
    assert idle_cost(12, hours=1).byte_count == len(written) * (12 * (commit_bytes() - 61) + 61)
    assert idle_cost(12, hours=1, member_count=12).byte_count == 12 * len(written) * commit_bytes()
    assert idle_cost(12, hours=0).byte_count == idle_cost(0).byte_count == 0
