"""When offsets expire: by Kafka's rule, for released coordinators, on a real broker; and commits that wait too long."""

import json
from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import IllegalEvent, KafkaLearnError
from kafkalearn.formats.disk import read_disk
from kafkalearn.offsets import decode, replay
from kafkalearn.offsets.replay import CONSUMER, STREAMS, Committed, Group, Member
from kafkalearn.offsets.store import (
    Commit,
    Elect,
    Fetch,
    LeaderCrashed,
    Load,
    LoadBuffer,
    Replicated,
    Resign,
    Settings,
    Sweep,
    TimeReached,
    check,
    simulate,
    start,
    step,
)
from kafkalearn.offsets.store.model import ANSWERS_FOR, MINUTE_MS, Entry, Store
from kafkalearn.offsets.store.requests import is_expired
from kafkalearn.offsets.store.simulator import entry_bytes, reloaded
from kafkalearn.releases import history
from kafkalearn.releases.lines import RELEASES
from tests.formats.disk import FOLDER
from tests.recorded import recorded
from tests.schedules import sensible_steps

RELEASES_THAT_DID = {
    "2.4.0": True,
    "2.8.1": True,
    "2.8.2": False,
    "3.0.0": True,
    "3.0.1": False,
    "3.1.0": True,
    "3.1.1": False,
    "3.2.0": False,
}


@pytest.mark.parametrize(("release", "is_gone"), RELEASES_THAT_DID.items())
def test_some_releases_expired_unsubscribed_offsets_during_a_rebalance(release, is_gone):
    group = Group("g", state="PreparingRebalance", protocol_type="consumer", members=(Member("m", subscribed=("a",)),))
    assert is_expired(group, Committed("b", 0, 1, commit_ms=0), 1000, 1000, release) == is_gone


@pytest.mark.parametrize("kind", [CONSUMER, STREAMS])
@pytest.mark.parametrize(("topic", "is_gone"), [("a", False), ("b", True)])
def test_a_group_of_a_newer_protocol_keeps_what_it_subscribes_to(kind, topic, is_gone):
    group = Group("g", kind, "Stable", kind, members=(Member("m", subscribed=("a",)),))
    assert is_expired(group, Committed(topic, 0, 1, commit_ms=0), 1000, 1000) == is_gone


def test_nothing_expires_while_a_subscription_cannot_be_read():
    group = Group("g", state="Stable", protocol_type="consumer", members=(Member("m", subscribed=None),))
    assert not is_expired(group, Committed("b", 0, 1, commit_ms=0), 10**12, 1000)


def test_the_default_retention_is_a_day_up_to_1_1_and_a_week_since():
    answered = [release for release in RELEASES if release in ANSWERS_FOR]
    days = {release: Settings(release).retention_ms // (1440 * MINUTE_MS) for release in answered}
    assert [days[release] for release in ("0.11.0", "1.1", "2.0", "4.3")] == [1, 1, 7, 7]


BRIEF = Settings("4.3.1", retention_minutes=1)
SAID = json.loads((FOLDER / "expiry.json").read_text("utf-8"))
RECORDS = [record for segment in read_disk(FOLDER / "expiry") for batch in segment.batches for record in batch.records]
START_MS = RECORDS[0].timestamp_ms

SWEPT_S = {"own-time": [4], "leaves": [62, 82], "late": [62, 73, 133], "standalone": [62], "stays": [62]}
"""In which seconds of the run the broker swept something of such groups."""


def is_swept(record):
    return record.value is None and decode(record.key, None).type.number == 1


def sweeps():
    """The times at which the broker wrote tombstones of offsets, and the index of the first of them."""
    marked = [(record.timestamp_ms, index) for index, record in enumerate(RECORDS) if is_swept(record)]
    return [(at_ms, next(group)[1]) for at_ms, group in groupby(marked, key=lambda each: each[0])]


def store_of(records):
    return reloaded(BRIEF, Store(log=tuple(Entry(record.key, record.value) for record in records)))


def written(store, now_ms):
    return [entry.key for entry in step(BRIEF, store, Sweep(now_ms)).log[len(store.log) :]]


@pytest.mark.parametrize(("at_ms", "first"), sweeps())
def test_a_sweep_writes_what_the_broker_wrote_and_nothing_a_second_before(at_ms, first):
    of_sweep = [record.key for record in RECORDS[first:] if record.timestamp_ms == at_ms]
    before_ms = at_ms - 1000

    assert sorted(written(store_of(RECORDS[:first]), at_ms)) == sorted(of_sweep)
    assert written(store_of([record for record in RECORDS if record.timestamp_ms <= before_ms]), before_ms) == []


def test_what_the_broker_kept_to_the_end_stays():
    store = store_of(RECORDS)
    assert written(store, SAID["end_ms"]) == []
    kept = {group.group_id: [str(each.at) for each in group.offsets] for group in store.groups}
    stay = [f"{kind}-stays" for kind in ("classic", "kip848", "streams")]
    own_time = [f"own-time-{kind}" for kind in ("classic", "kip848", "streams")]
    assert kept == {group: ["orders-0"] for group in (*stay, *own_time)}


@pytest.mark.parametrize("listed", SAID["listed"], ids=lambda each: each["at_ms"])
def test_the_groups_are_those_the_broker_listed_of_their_kinds_and_in_their_states(listed):
    groups = replay((each.key, each.value) for each in RECORDS if each.timestamp_ms <= listed["at_ms"]).groups
    assert [
        {
            "group": group.group_id,
            "type": group.kind.capitalize(),
            "protocol": group.protocol_type or "",
            "state": group.state,
        }
        for group in groups
    ] == listed["groups"]


def test_the_run_holds_every_kind_and_every_time():
    found = {}
    for at_ms, first in sweeps():
        for record in RECORDS[first:]:
            if record.timestamp_ms == at_ms and is_swept(record):
                group = decode(record.key, None).group
                name = next(each for each in ("own-time", "late", "leaves", "stays", "standalone") if each in group)
                found.setdefault(name, set()).add(round((at_ms - START_MS) / 1000))
    assert {name: sorted(seconds) for name, seconds in found.items()} == SWEPT_S


RECORDED = recorded("coordinator-settings")
FETCH = Fetch("billing", "orders", 0)


def commit(offset, now_ms=0, is_in_flight=False, metadata=""):
    return Commit("billing", "orders", 0, offset, now_ms, metadata=metadata, is_in_flight=is_in_flight)


def answers(settings, *events):
    return [moment.state.effects for moment in simulate(settings, events)[1:]]


def fetched(settings, *events):
    return simulate(settings, [*events, FETCH])[-1].state.effects[0].offset


@pytest.mark.parametrize("case", RECORDED["cases"], ids=lambda case: case["name"])
def test_commits_with_a_follower_that_stands_still_end_as_on_a_broker(case):
    settings = Settings(case["release"], commit_timeout_ms=case["timeout_ms"], required_acks=case["required_acks"])
    events = [commit(case["before"]), commit(case["then"], 100, is_in_flight=True)]
    waited = TimeReached(100 + case["timeout_ms"])

    (answer,) = [each for effects in answers(settings, *events, waited)[1:] for each in effects]

    assert answer.error == case["error"]
    assert fetched(settings, *events, waited) == case["fetched_meanwhile"]
    assert fetched(settings, *events, waited, Replicated()) == case["fetched_afterwards"]


@pytest.mark.parametrize("case", RECORDED["metadata"], ids=lambda case: str(case["length"]))
def test_metadata_are_refused_as_by_a_broker(case):
    settings = Settings(metadata_max_bytes=case["metadata_max_bytes"])

    assert answers(settings, commit(1, metadata="x" * case["length"]))[-1][0].error == case["error"]


def test_before_its_time_nobody_is_answered_and_nobody_twice():
    events = [commit(7), commit(8, 100, is_in_flight=True), TimeReached(5099), TimeReached(5100), TimeReached(9999)]
    found = answers(Settings(), *events)

    assert [len(each) for each in found] == [1, 0, 0, 1, 0]
    assert answers(Settings(), *events, Replicated())[-1] == ()


def test_up_to_3_9_a_commit_that_was_given_up_is_found_by_the_next_load_only():
    events = [commit(7), commit(8, is_in_flight=True), TimeReached(5000), Replicated()]

    assert answers(Settings("3.9"), *events)[2][0].error == "REQUEST_TIMED_OUT"
    assert fetched(Settings("3.9"), *events) == 7
    assert fetched(Settings("3.9"), *events, Resign(), Elect(), Load()) == 8


def test_with_acks_1_a_commit_counts_at_once_and_dies_with_the_leader():
    settings, events = Settings("3.9", required_acks=1), [commit(7), commit(8, is_in_flight=True)]

    assert answers(settings, *events)[-1][0].error == "NONE"
    assert fetched(settings, *events) == 8
    assert fetched(settings, *events, LeaderCrashed(), Load()) == 7
    assert fetched(settings, *events, Replicated(), LeaderCrashed(), Load()) == 8


def test_since_4_0_the_setting_changes_nothing():
    assert answers(Settings("4.0", required_acks=1), commit(8, is_in_flight=True)) == [()]


@pytest.mark.parametrize("acks", [-2, 2, 3])
def test_acks_that_no_commit_passes_with_are_refused(acks):
    with pytest.raises(KafkaLearnError, match="required_acks must be -1, 0 or 1"):
        Settings("3.9", required_acks=acks)


def test_nothing_is_in_memory_after_a_crash_before_the_load():
    store = simulate(Settings(), [commit(7), LeaderCrashed()])[-1].state

    assert (store.status, store.groups, len(store.log)) == ("loading", (), 1)
    with pytest.raises(IllegalEvent, match="the partition is loading"):
        step(Settings(), store, LeaderCrashed())


@given(buffer_bytes=st.integers(1, 2000), count=st.integers(0, 30))
def test_reads_of_any_size_load_what_one_read_loads(buffer_bytes, count):
    settings = Settings(load_buffer_bytes=buffer_bytes)
    store = simulate(settings, [*(commit(offset, offset) for offset in range(count)), Resign(), Elect()])[-1].state
    whole = step(settings, store, Load())
    while store.status == "loading":
        before, store = store.read_count, step(settings, store, LoadBuffer())
        read = store.log[before : store.read_count]
        assert len(read) <= 1 or sum(map(entry_bytes, read)) <= buffer_bytes
        assert len(read) >= 1 or count == 0

    assert store == whole


def test_what_fills_the_buffer_to_its_last_byte_is_one_read():
    log = simulate(Settings(), [commit(offset, offset) for offset in range(4)])[-1].state.log
    two = sum(map(entry_bytes, log[:2]))
    begun = [*(commit(offset, offset) for offset in range(4)), Resign(), Elect(), LoadBuffer()]
    assert [simulate(Settings(load_buffer_bytes=size), begun)[-1].state.read_count for size in (two - 1, two)] == [1, 2]


EVENTS = st.lists(
    st.one_of(
        st.builds(commit, st.integers(0, 9), st.integers(0, 9999), st.booleans()),
        st.builds(TimeReached, st.integers(0, 20_000)),
        st.builds(Sweep, st.integers(0, 10**9)),
        st.sampled_from([Replicated(), LeaderCrashed(), Load(), FETCH]),
    ),
    max_size=12,
)


@given(events=EVENTS, release=st.sampled_from(["2.0", "3.9", "4.0", "4.3"]), acks=st.sampled_from([-1, 0, 1]))
def test_whatever_waits_and_dies_the_store_keeps_its_invariants(events, release, acks):
    settings = Settings(release, required_acks=acks)
    for _, _, after in sensible_steps(step, settings, start(settings), events):
        check(settings, after)


def test_the_defaults_are_those_of_the_released_classes():
    names = {
        "metadata_max_bytes": "offset.metadata.max.bytes",
        "commit_timeout_ms": "offsets.commit.timeout.ms",
        "required_acks": "offsets.commit.required.acks",
        "load_buffer_bytes": "offsets.load.buffer.size",
    }
    for name, setting in names.items():
        assert history(setting, "broker")[0] == ("0.8.2", getattr(Settings("0.11.0"), name))
        assert {value for _, value in history(setting, "broker") if isinstance(value, int)} == {
            getattr(Settings(), name)
        }
