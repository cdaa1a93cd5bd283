"""A load: what it reads and keeps, and what the cleaner does to it meanwhile."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import IllegalEvent, KafkaLearnError
from kafkalearn.log import Append, Clean, NewBatch, Roll
from kafkalearn.log import Settings as LogSettings
from kafkalearn.log import simulate as simulate_log
from kafkalearn.offsets.store import Commit, DeleteGroup, StoreGroup
from kafkalearn.offsets.store import Settings as StoreSettings
from kafkalearn.offsets.store import simulate as simulate_store
from kafkalearn.operations import coordinator_life
from kafkalearn.operations.coordinator_life.model import BrokerFenced, LoadEnded, OrderCarriedOut, Request
from kafkalearn.operations.loading import (
    LOADS,
    MEASURED,
    LoadBegun,
    LoadRead,
    MemberAssignment,
    OverwroteOwner,
    Rate,
    Removed,
    Settings,
    Written,
    broken,
    check,
    load_seconds,
    load_size,
    logged,
    simulate,
    start,
    step,
)
from kafkalearn.operations.loading_search import find
from tests.recorded import recorded

STRICT, FIXED = ("4.0.0", "4.0.1", "4.1.0", "4.1.1"), ("4.0.2", "4.1.2", "4.2", "4.3")
ONCE_READ = recorded("load-beside-cleaner")["cases"][0]["read"]
HISTORY = (Written("A", 1, (0,)), Written("A", 2), Written("B", 2, (0,)), Written("A", 3, (1,)), Roll())


@pytest.mark.parametrize("case", recorded("load-beside-cleaner")["cases"], ids=lambda case: case["release"])
def test_each_release_ends_the_load_of_these_records_as_its_broker_did(case):
    history = [Written(member, epoch, tuple(partitions)) for member, epoch, partitions in ONCE_READ]
    is_cleaned = len(case["read"]) < len(history)
    meanwhile = [LoadRead(1), Clean(0)] if is_cleaned else []
    trace = simulate(Settings(case["release"]), [*history, Roll(), LoadBegun(), *meanwhile, LoadRead(9)])
    assert (trace[-1].state.status == "owned") == (case["answers"][-1] == "NONE")
    assert trace[-1].state.status == "owned" or broken(Settings(case["release"]), trace[-1].state) == (LOADS,)


@pytest.mark.parametrize("release", STRICT)
def test_the_search_finds_the_load_that_the_cleaner_makes_fail(release):
    found = find(Settings(release))
    assert found.broken == (LOADS,)
    assert [type(frame.event).__name__ for frame in found.trace[-4:]] == ["LoadBegun", "LoadRead", "Clean", "LoadRead"]
    (failed,) = found.trace[-1].state.effects
    assert failed.message == "Cannot set the epoch of 0 to 2 because the partition is still owned at epoch 1"


def test_in_fixed_releases_no_schedule_of_that_length_makes_a_load_fail():
    assert find(Settings("4.3")).outcome == "depth"


@pytest.mark.parametrize("release", FIXED)
def test_fixed_loaders_let_the_higher_epoch_win_and_end_with_what_the_log_says(release):
    trace = simulate(Settings(release), [*HISTORY, LoadBegun(), LoadRead(1), Clean(0), LoadRead(9)])
    assert trace[-2].state.effects == (Removed((0, 1)),)
    assert OverwroteOwner("B", 0, 1, 2) in trace[-1].state.effects
    assert trace[-1].state.status == "owned"
    assert dict(trace[-1].state.members) == {"A": MemberAssignment(3, (1,)), "B": MemberAssignment(2, (0,))}


def test_the_cure_of_a_strict_loader_is_another_election_once_the_cleaner_is_done():
    events = [*HISTORY, LoadBegun(), LoadRead(1), Clean(0), LoadRead(1), LoadBegun(), LoadRead(9)]
    trace = simulate(Settings("4.1.1"), events)
    assert [trace[-3].state.status, trace[-1].state.status] == ["failed", "owned"]


def test_a_strict_loader_takes_a_log_that_is_cleaned_before_or_not_at_all():
    for events in ([*HISTORY, Clean(0), LoadBegun(), LoadRead(9)], [*HISTORY, LoadBegun(), LoadRead(9)]):
        assert simulate(Settings("4.1.1"), events)[-1].state.status == "owned"


def test_older_releases_are_refused():
    with pytest.raises(KafkaLearnError, match=r"operations\.loading answers for 4\.0 to .*, not 3\.9"):
        Settings("3.9")


def test_a_member_has_each_partition_once():
    with pytest.raises(KafkaLearnError, match=r"partitions must be different numbers, got \(1, 0, 1\)"):
        Written("A", 1, (1, 0, 1))


@pytest.mark.parametrize(
    "events",
    [
        [LoadRead()],
        [LoadBegun(), LoadBegun()],
        [Written("A", 1, (0,)), Written("B", 2, (0,))],
        [Written("A", 2), Written("A", 1)],
        [LoadBegun(), Written("A", 1)],
    ],
)
def test_what_no_coordinator_does_is_refused(events):
    with pytest.raises(IllegalEvent):
        simulate(Settings(), events)


EVENTS = st.one_of(
    st.builds(
        Written,
        st.sampled_from("ABC"),
        st.integers(1, 12),
        st.lists(st.integers(0, 2), unique=True, max_size=2).map(tuple),
    ),
    st.just(Roll()),
    st.just(Clean(0)),
    st.just(LoadBegun()),
    st.builds(LoadRead, st.integers(1, 3)),
)


@given(st.lists(EVENTS, max_size=40), st.sampled_from(["4.1.1", "4.3"]))
def test_whatever_is_cleaned_a_load_that_ends_knows_what_the_log_says(events, release):
    settings = Settings(release)
    state, highest = start(settings), 0
    for event in events:
        if isinstance(event, Written):
            highest += 1  # epochs of a group rise: nobody gets a partition in an epoch that was before
            event = Written(event.member, highest, event.partitions)
        try:
            after = step(settings, state, event)
        except IllegalEvent:
            continue
        check(settings, after, state)
        assert release == "4.1.1" or broken(settings, after) == ()
        state = after
    assert set(logged(state.log)) <= set("ABC")


def records_of(commit_count):
    events = [Commit("billing", "orders", each % 3, each, each) for each in range(commit_count)]
    events += [Commit("copies", "orders", 0, 9, 5000), StoreGroup("search", 3, 6000), DeleteGroup("copies")]
    return [(entry.key, entry.value) for entry in simulate_store(StoreSettings(), events)[-1].state.log]


def test_a_load_reads_all_and_keeps_the_last_of_each_key():
    records = records_of(30)
    size = load_size(records)
    assert (size.record_count, size.offset_count, size.group_count, size.unreadable_count) == (34, 3, 2, 0)
    assert size.byte_count == sum(len(key) + len(value or b"") for key, value in records)
    assert load_size([(b"no record", b"")]).unreadable_count == 1
    assert load_size([(None, b"")]).unreadable_count == 1


def test_the_cleaner_changes_what_is_read_and_not_what_is_kept():
    records = records_of(30)
    texts = tuple((key, value, place) for place, (key, value) in enumerate(records))
    batches = tuple(NewBatch((each,)) for each in texts)
    log = simulate_log(LogSettings(cleanup_policy="compact"), [Append(batches), Roll(), Clean(1000)])[-1].state
    cleaned = load_size([(record.key, record.value) for record in log.records])
    grown = load_size(records)
    assert (cleaned.offset_count, cleaned.group_count) == (grown.offset_count, grown.group_count)
    assert cleaned.record_count < grown.record_count


def test_the_load_of_the_simulator_reads_as_many():
    commits = [Request(1, "OffsetCommit", offset=each) for each in range(12)]
    events = [*commits, BrokerFenced(1), OrderCarriedOut(2, 1), coordinator_life.LoadRead(2)]
    life = coordinator_life.simulate(coordinator_life.Settings(), events)[-1].state
    size = load_size([(entry.key, entry.value) for entry in life.log])
    assert life.effects == (LoadEnded(2, size.record_count, size.group_count),)


def test_the_measured_rate_is_one_of_those_that_were_recorded():
    rates = [1000 * each["record_count"] / each["ms"] for each in recorded("coordinator-moves")["loads"]]
    assert min(rates) < MEASURED.records_per_s < max(rates)
    slowest = Rate(int(min(rates)))
    assert load_seconds(1_000_000, slowest) > load_seconds(1_000_000)
    with pytest.raises(KafkaLearnError):
        Rate(0)


def test_a_load_is_over_with_the_read_of_the_last_record():
    run = simulate(Settings(), [Written("A", 1, (0,)), Written("A", 2), LoadBegun(), LoadRead(1), LoadRead(1)])
    assert [frame.state.status for frame in run[3:]] == ["loading", "loading", "owned"]
