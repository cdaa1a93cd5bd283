"""When a consumer commits, what it commits, and what the coordinator makes of it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkalearn.base.errors import IllegalEvent, KafkaLearnError
from kafkalearn.commits import (
    STRATEGIES,
    Answered,
    Assign,
    Checkpoint,
    Close,
    CommitAsync,
    CommitSync,
    Crash,
    Delete,
    NoStart,
    Poll,
    Process,
    Produce,
    Rebalance,
    Settings,
    Start,
    TimePassed,
    Workload,
    commit_bytes,
    doubled,
    idle_cost,
    lost,
    simulate,
    start_offset,
    sweep,
)
from kafkalearn.commits.model import CheckpointRefused, CommitRefused, Committed, Failed, Polled
from kafkalearn.commits.simulator import TOO_LARGE
from kafkalearn.offsets import decode
from kafkalearn.offsets import store as coordinator
from tests.formats.disk import segments

AUTO = Settings(6, is_auto=True)
THREE = Settings(6, max_poll_records=3)
AUTO_THREE = Settings(6, is_auto=True, max_poll_records=3)


def end_of(events, settings=THREE):
    return simulate(settings, events)[-1].state


def offsets_written(pipeline):
    return [each.offset for each in pipeline.written]


def test_a_position_moves_when_poll_returns_and_not_when_records_are_processed():
    pipeline = end_of([Start(), Poll()])
    assert (pipeline.consumer("A").position, pipeline.consumer("A").done) == (3, 0)
    assert end_of([Start(), Poll(), Process()]).consumer("A").position == 3


def test_a_commit_without_an_offset_is_the_position_whatever_was_processed():
    assert end_of([Start(), Poll(), Process(), CommitSync()]).committed == 3


def test_a_crash_while_record_60_is_processed_brings_40_to_59_again():
    settings = Settings(100, max_poll_records=40)
    first = [Start(), Poll(), *[Process()] * 40, CommitSync(), Poll(), *[Process()] * 20]
    again = [Crash(), Start("B"), Poll("B"), *[Process("B")] * 40, Poll("B"), *[Process("B")] * 20]
    pipeline = end_of([*first, *again], settings)

    assert doubled(pipeline) == tuple(range(40, 60))
    assert lost(pipeline) == ()


def test_auto_commit_happens_inside_a_poll_and_covers_what_earlier_polls_returned():
    events = [Start(), Poll(at_most=2), TimePassed(4999), Poll(at_most=2), TimePassed(1), Poll(at_most=2)]
    assert offsets_written(end_of(events, AUTO)) == [4]
    assert offsets_written(end_of([Start(), Poll(at_most=2), TimePassed(60_000)], AUTO)) == []


def test_the_next_auto_commit_is_due_an_interval_after_the_poll_that_committed():
    events = [
        Start(),
        Poll(at_most=1),
        TimePassed(7000),
        Poll(at_most=1),
        TimePassed(4999),
        Poll(at_most=1),
        TimePassed(1),
        Poll(),
    ]
    assert [(each.now_ms, each.offset) for each in end_of(events, AUTO).written] == [(7000, 1), (12_000, 3)]


@pytest.mark.parametrize("committed", [101, 100])
def test_an_idle_consumer_that_polls_writes_the_same_next_offset_every_five_seconds(committed):
    polls = [TimePassed(1000), Poll()] * 60
    pipeline = end_of([Start(), *polls], Settings(committed, committed=committed, is_auto=True))
    assert offsets_written(pipeline) == [committed] * 12


def test_a_consumer_that_began_at_the_end_and_got_nothing_commits_the_log_end():
    pipeline = end_of([Start(), Poll(), TimePassed(5000), Poll()], Settings(100, committed=None, is_auto=True))
    assert offsets_written(pipeline) == [100]


def test_close_commits_records_that_were_polled_and_never_processed():
    pipeline = end_of([Start(), Poll(), Process(), Close(), Start("B"), Poll("B")], AUTO_THREE)
    assert pipeline.committed == 3
    assert lost(pipeline) == (1, 2)


def test_close_without_auto_commit_commits_nothing_but_waits_for_what_is_on_its_way():
    assert end_of([Start(), Poll(), Process(), Close()]).committed == 0
    assert end_of([Start(), Poll(), Process(), CommitAsync(offset=1), Close()]).committed == 1
    assert end_of([Start(), Poll(), Process(), CommitAsync(offset=1), Crash()]).committed == 0


def test_a_rebalance_commits_the_position_first_where_auto_commit_is_on():
    events = [Start(), Poll(), Process(), Process(), Process(), Rebalance("B")]
    assert end_of(events, AUTO_THREE).consumer("B").position == 3
    assert end_of(events).consumer("B").position == 0


def test_a_retry_of_an_older_commit_takes_the_committed_offset_back():
    events = [Start(), Poll(), CommitAsync(offset=3), Poll(), CommitAsync(offset=6)]
    retried = [*events, Answered(is_retriable=True), CommitAsync(offset=3), Answered(), Answered()]
    assert offsets_written(end_of(retried)) == [6, 3]
    assert end_of(retried).committed == 3


def test_a_synchronous_commit_is_overtaken_by_none_that_was_sent_before_it():
    events = [Start(), Poll(), CommitAsync(offset=2), CommitSync(offset=3)]
    assert offsets_written(end_of(events)) == [2, 3]


def test_the_coordinator_compares_with_nothing_and_the_last_commit_wins():
    assert end_of([Start(), CommitSync(offset=5), CommitSync(offset=2)]).committed == 2
    assert end_of([Start(), CommitSync(offset=1000)]).committed == 1000


def test_a_zombie_may_process_but_not_commit():
    pipeline = end_of([Start(), Poll(), Start("B"), Process(), CommitSync(offset=1)])
    assert pipeline.effects == (CommitRefused(1, "UNKNOWN_MEMBER_ID"),)
    assert pipeline.committed == 0
    assert pipeline.sink.appliers(0) == ("A",)


def test_standalone_consumers_commit_while_the_group_has_no_members_and_overwrite_each_other():
    both = [Assign("A"), Assign("B"), Poll("A"), Poll("B"), CommitSync("A", 3), CommitSync("B", 1)]
    assert offsets_written(end_of(both)) == [3, 1]
    mixed = end_of([Assign("A"), Poll("A"), Start("B"), CommitSync("A", 3)])
    assert (mixed.effects, mixed.committed) == ((CommitRefused(3, "UNKNOWN_MEMBER_ID"),), 0)


def test_latest_passes_by_what_came_while_nothing_was_committed():
    events = [Start(), Produce(3), Poll(), Process(), Crash(), Produce(2), Start()]
    assert lost(end_of(events, Settings(committed=None, auto_offset_reset="latest"))) == (1, 2, 3, 4)
    assert lost(end_of(events, Settings(committed=None, auto_offset_reset="earliest"))) == ()


def test_a_consumer_that_retention_overtakes_goes_where_the_reset_says():
    events = [Start(), Poll(at_most=1), Delete(4), Poll(at_most=1)]
    assert end_of(events, Settings(6, auto_offset_reset="earliest")).consumer("A").position == 5
    assert end_of(events, Settings(6, auto_offset_reset="latest")).consumer("A").position == 6
    none = end_of(events, Settings(6, auto_offset_reset="none"))
    assert none.effects == (Failed("OffsetOutOfRangeException"),)


def test_without_an_offset_and_without_a_reset_nobody_starts():
    pipeline = end_of([Start()], Settings(6, committed=None, auto_offset_reset="none"))
    assert pipeline.effects == (Failed("NoOffsetForPartitionException"),)
    assert pipeline.consumers == ()


@pytest.mark.parametrize(
    ("events", "message"),
    [
        ([Poll("B")], "B does not run"),
        ([Start(), Start()], "A runs already"),
        ([Start(), Process()], "A has no unprocessed record"),
        ([Start(), Poll(), Process(offset=5)], "unprocessed records of A are \\[0, 1, 2\\]"),
        ([Start(), Answered()], "no asynchronous commit"),
        ([Start(), CommitSync(offset=-1)], "IllegalArgumentException"),
        ([Rebalance()], "nobody owns"),
        ([Delete(99)], "delete up to there"),
    ],
)
def test_what_makes_no_sense_is_refused(events, message):
    with pytest.raises(IllegalEvent, match=message):
        end_of(events)


def test_metadata_is_kept_with_its_offset_and_the_next_commit_wipes_it_out():
    settings = Settings(6, max_poll_records=2)
    events = [Start(), Poll(), CommitSync(offset=2, metadata="shelf 7"), Poll(), CommitSync()]
    trace = simulate(settings, events)

    assert [(frame.state.committed, frame.state.metadata) for frame in trace[2:]] == [
        (0, ""), (2, "shelf 7"), (2, "shelf 7"), (4, ""),
    ]  # fmt: skip


@pytest.mark.parametrize(("metadata", "error"), [("x" * 4096, None), ("x" * 4097, TOO_LARGE), ("😀" * 2049, TOO_LARGE)])
def test_metadata_that_is_too_large_is_refused_and_the_offset_with_it(metadata, error):
    end = simulate(Settings(6), [Start(), Poll(), CommitSync(metadata=metadata)])[-1].state

    assert end.effects[-1] == (Committed(6) if error is None else CommitRefused(6, error))
    assert end.committed == (6 if error is None else 0)


def test_a_stranger_is_told_so_before_his_metadata_is_looked_at():
    events = [Start(), Start("B"), CommitSync("A", metadata="x" * 5000)]

    assert simulate(Settings(6), events)[-1].state.effects == (CommitRefused(0, "UNKNOWN_MEMBER_ID"),)


def test_a_crash_goes_back_to_the_last_checkpoint_with_results_and_offset():
    settings = Settings(6, max_poll_records=2, sink="checkpoint")
    events = [Start(), Poll(), Process(), Process(), Checkpoint(), Poll(), Process(), Crash(), Start("B"), Poll("B")]
    trace = simulate(settings, events)

    assert [frame.state.committed for frame in trace] == [0] * 5 + [2] * 6
    assert [len(frame.state.sink.held) for frame in trace] == [0, 0, 0, 1, 2, 0, 0, 1, 0, 0, 0]
    assert trace[-1].state.effects == (Polled((2, 3)),)
    assert [each.offset for each in trace[-1].state.sink.writes] == [0, 1]


def test_a_zombies_checkpoint_is_refused_and_its_results_never_count():
    settings = Settings(4, max_poll_records=2, sink="checkpoint")
    by_b = [Start("B"), Poll("B"), Process("B"), Checkpoint("B")]
    end = simulate(settings, [Start(), Poll(), Process(), *by_b, Checkpoint("A")])[-1].state

    assert end.effects == (CheckpointRefused(1),)
    assert end.consumer("A") is None
    assert [each.by for each in end.sink.writes] == ["B"]


def test_spark_commits_nothing_and_auto_commit_shows_another_truth_than_the_checkpoint():
    settings = Settings(6, max_poll_records=3, sink="checkpoint", is_auto=True, auto_commit_interval_ms=0)
    events = [Start(), Poll(), *[Process()] * 3, Checkpoint(is_committed=False), Poll(), Poll()]
    end = simulate(settings, events)[-1].state

    assert (end.sink.stored, end.committed) == (3, 6)


def test_settings_that_no_consumer_can_have_are_refused():
    with pytest.raises(KafkaLearnError, match="did you mean 'earliest'"):
        Settings(auto_offset_reset="erliest")
    with pytest.raises(KafkaLearnError, match="unknown sink"):
        Settings(sink="database")
    with pytest.raises(KafkaLearnError, match="beyond the log end"):
        Settings(3, committed=4)


def test_what_is_not_given_is_the_default_of_kafka():
    settings = Settings()
    assert (settings.auto_commit_interval_ms, settings.auto_offset_reset) == (5000, "latest")
    assert settings.max_poll_records == 500


@pytest.mark.parametrize("reset", ["earliest", "latest", "none", "by_duration:PT1H"])
@pytest.mark.parametrize("committed", [10, 55, 100])
def test_a_committed_offset_that_is_still_there_or_the_log_end_wins_over_every_reset(committed, reset):
    assert start_offset(committed, 10, 100, reset) == committed


@pytest.mark.parametrize("committed", [None, 9, 101])
def test_without_one_or_out_of_range_the_reset_decides(committed):
    assert start_offset(committed, 10, 100, "earliest") == 10
    assert start_offset(committed, 10, 100, "latest") == 100
    with pytest.raises(NoStart) as caught:
        start_offset(committed, 10, 100, "none")
    no_offset = committed is None
    assert caught.value.exception == ("NoOffsetForPartitionException" if no_offset else "OffsetOutOfRangeException")


def test_by_duration_begins_at_the_first_record_that_is_young_enough():
    times = {"timestamps_ms": [1000, 2000, 3000], "now_ms": 4000}
    assert start_offset(None, 5, 8, "by_duration:PT2S", **times) == 6
    assert start_offset(None, 5, 8, "by_duration:PT1H", **times) == 5
    assert start_offset(None, 5, 8, "by_duration:PT0.5S", **times) == 8


def test_by_duration_is_not_known_to_older_releases_nor_are_misspelt_ones():
    with pytest.raises(KafkaLearnError, match=r"came with Kafka 4\.0"):
        start_offset(None, 0, 1, "by_duration:PT1H", release="3.9")
    with pytest.raises(KafkaLearnError, match="longer than any clock has run"):
        start_offset(None, 0, 1, f"by_duration:PT{'9' * 5000}S")
    for wrong in ("by_duration:", "by_duration:P", "by_duration:1h", "ealiest", 10**5000):
        with pytest.raises(KafkaLearnError, match="unknown auto_offset_reset"):
            start_offset(None, 0, 1, wrong)


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
    polls = [event for _ in range(3600) for event in (TimePassed(1000), Poll())]
    written = simulate(Settings(100, committed=100, is_auto=True), [Start(), *polls])[-1].state.written

    assert idle_cost(1, hours=1).commit_count == len(written)
    assert idle_cost(1, hours=1).byte_count == len(written) * commit_bytes()
    assert idle_cost(12, hours=1).byte_count == len(written) * (12 * (commit_bytes() - 61) + 61)
    assert idle_cost(12, hours=1, member_count=12).byte_count == 12 * len(written) * commit_bytes()
    assert idle_cost(12, hours=0).byte_count == idle_cost(0).byte_count == 0
