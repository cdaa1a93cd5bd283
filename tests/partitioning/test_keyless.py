from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import IllegalEvent, KafkaLearnError
from kafkalearn.formats.records import BATCH_HEADER_BYTES, length_of, record_bytes
from kafkalearn.partitioning.keyed import partition_for_key
from kafkalearn.partitioning.keyless import (
    BatchesSent,
    CounterStarted,
    Drain,
    PartitionDrawn,
    Producer,
    QueuesWeighed,
    RecordAppended,
    Send,
    SenderLooks,
    SendToOtherTopic,
    Settings,
    all_full,
    append,
    appended,
    broken,
    check,
    has_room,
    queue_weights,
    rule_of,
    seeded,
    sends,
    simulate,
    start,
    step,
)
from kafkalearn.releases.lines import RELEASES
from tests.recorded import recorded

RECORDED = recorded("groups-partitioner")


def counting(index: int) -> int:
    return index


@pytest.mark.parametrize(
    "case",
    RECORDED["batch_switching"],
    ids=lambda case: f"{case['batch_size']}-{case['value_bytes']}-{case['drain_every']}",
)
def test_the_uniform_sticky_rule_switches_where_the_real_producer_did(case):
    settings = Settings(3, batch_size=case["batch_size"], is_adaptive=False, draw=counting)
    placed = appended(simulate(settings, sends(len(case["partitions"]), case["value_bytes"], case["drain_every"])))

    assert [each.partition for each in placed] == case["partitions"]
    assert [each.appended_bytes for each in placed] == case["appended_bytes"]


@pytest.mark.parametrize("case", RECORDED["adaptive_weights"], ids=lambda case: str(case["queue_sizes"]))
def test_the_weights_are_those_the_real_partitioner_computed(case):
    weights = queue_weights(tuple(case["queue_sizes"]))
    assert weights == (case["cft"] and tuple(case["cft"]))
    assert case["range_end"] == (weights and weights[-1])


def test_the_sender_weighs_the_partitions_by_their_waiting_batches():
    big = Send(value_bytes=5000)  # a batch of its own each
    settings = Settings(3, batch_size=1000, draw=counting)
    events = [Send(partition=0), Send(partition=1), Send(partition=2), Drain((0, 2))]
    events += [replace_partition(big, 1), replace_partition(big, 1), replace_partition(big, 2), SenderLooks()]
    load = simulate(settings, events)[-1].state.load

    assert (load.running_sums, load.partitions) == ((4, 5, 8), (0, 1, 2))


def replace_partition(send: Send, partition: int) -> Send:
    return Send(send.value_bytes, partition=partition)


def test_a_stalled_broker_s_partition_is_not_drawn_even_if_the_others_are_equal():
    settings = Settings(3, draw=counting)
    events = [Send(partition=0), Send(partition=1), Send(partition=2), SenderLooks(stalled=(1,))]
    load = simulate(settings, events)[-1].state.load

    assert load.partitions == (0, 2)


def test_no_weights_are_used_before_every_partition_was_written_to():
    settings = Settings(3, draw=counting)
    events = [Send(partition=0), Send(partition=0), Send(partition=1), SenderLooks()]
    assert simulate(settings, events)[-1].state.load is None


def test_the_rules_follow_the_releases():
    switches = [(after, rule_of(after)) for before, after in pairwise(RELEASES) if rule_of(before) != rule_of(after)]
    assert rule_of(RELEASES[0]) == "round robin, one counter"
    assert switches == [
        ("0.10.2", "round robin, a counter a topic"),
        ("2.4", "sticky"),
        ("3.3", "uniform sticky"),
    ]


@pytest.mark.parametrize("release", ["0.8.2", "0.10.1", "0.10.2", "2.3"])
def test_round_robin_deals_sixty_records_evenly_over_five_partitions(release):
    assert simulate(Settings(5, release), [Send()] * 60)[-1].state.record_counts == (12, 12, 12, 12, 12)


@pytest.mark.parametrize("release", ["2.4", "3.2", "3.3", "4.3"])
def test_sticky_rules_put_sixty_small_records_in_one_batch_of_one_partition(release):
    end = simulate(Settings(5, release), [Send()] * 60)[-1].state
    assert sorted(end.record_counts) == [0, 0, 0, 0, 60]
    assert sum(len(queue or ()) for queue in end.queues) == 1


def test_one_counter_for_two_topics_leaves_every_other_partition_empty():
    alternating = [event for _ in range(60) for event in (Send(), SendToOtherTopic())]
    counts = {}
    for release in ("0.10.1", "0.10.2"):
        settings = Settings(6, release, draw=counting)
        counts[release] = simulate(settings, alternating)[-1].state.record_counts

    assert counts == {"0.10.1": (20, 0, 20, 0, 20, 0), "0.10.2": (10, 10, 10, 10, 10, 10)}


def test_the_sticky_rule_of_2_4_never_draws_the_partition_it_leaves():
    settings = Settings(4, "2.4", batch_size=200, draw=seeded(3))
    placed = [each.partition for each in appended(simulate(settings, [Send()] * 200))]  # each record fills a batch
    assert all(before != after for before, after in pairwise(placed))


def test_a_keyed_record_that_opens_a_batch_on_the_sticky_partition_moves_it():
    key = next(bytes([byte]) for byte in range(256) if partition_for_key(bytes([byte]), 3) == 0)
    settings = Settings(3, "2.4", batch_size=300, draw=(0, 1, 2, 0, 1, 2).__getitem__)
    trace = simulate(settings, [Send(), Send(key=key), Send()])

    # The first record draws 0, then its new batch draws 1; the keyed one opens a batch on 0 and moves nothing.
    assert [each.partition for each in appended(trace)] == [1, 0, 1]
    on_0 = Producer((None,) * 3, (0,) * 3, current=0)
    assert step(settings, on_0, Send(key=key)).effects[-1].partition == 0
    assert step(settings, on_0, Send(key=key)).current == 1


def test_partitions_without_a_leader_are_left_out_unless_all_are():
    some, none = (2, 4), ()
    for release in ("0.9.0", "2.3", "2.4", "4.3"):
        to_some = appended(simulate(Settings(6, release, some, batch_size=150), [Send()] * 100))
        to_any = appended(simulate(Settings(6, release, none, batch_size=150), [Send()] * 200))
        assert {each.partition for each in to_some} == {2, 4}
        assert {each.partition for each in to_any} == set(range(6))


events = st.lists(
    st.builds(Send, st.integers(0, 3000), st.none() | st.binary(max_size=8))
    | st.just(Drain())
    | st.builds(Drain, st.lists(st.integers(0, 4), max_size=2).map(tuple))
    | st.builds(SenderLooks, st.lists(st.integers(0, 4), max_size=2).map(tuple))
    | st.just(SendToOtherTopic()),
    max_size=40,
)


@given(events, st.sampled_from(RELEASES), st.integers(1, 2000), st.integers(0, 99))
def test_every_run_keeps_its_promises_and_loses_no_record(script, release, batch_size, seed):
    settings = Settings(5, release, batch_size=batch_size, draw=seeded(seed))
    trace = simulate(settings, script)
    for frame in trace:
        check(settings, frame.state)

    sent = [event for event in script if isinstance(event, Send)]
    assert sum(trace[-1].state.record_counts) == len(sent)
    for frame in trace:
        if isinstance(frame.event, Send) and frame.event.key is not None:
            (record,) = [each for each in frame.state.effects if isinstance(each, RecordAppended)]
            assert record.partition == partition_for_key(frame.event.key, 5)


@given(st.sampled_from(RELEASES), st.integers(1, 9), st.integers(0, 300))
def test_round_robin_is_even_to_one_record_and_sticky_is_not_meant_to_be(release, partition_count, record_count):
    counts = simulate(Settings(partition_count, release), [Send()] * record_count)[-1].state.record_counts
    if rule_of(release).startswith("round robin"):
        assert max(counts) - min(counts) <= 1
    assert sum(counts) == record_count


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"partition_count": 5, "release": "4.9"}, "unknown release '4.9'"),
        ({"partition_count": 5, "available": (5,)}, "available names partition 5; the topic has 0 to 4"),
    ],
)
def test_settings_no_producer_could_have_are_refused(arguments, said):
    with pytest.raises(KafkaLearnError, match=said):
        Settings(**arguments)


@pytest.mark.parametrize("event", [Send(partition=5), Drain((9,)), SenderLooks((9,))])
def test_an_event_for_a_partition_that_does_not_exist_is_refused(event):
    settings = Settings(5)
    with pytest.raises(IllegalEvent, match="the topic has partitions 0 to 4"):
        step(settings, start(settings), event)


def test_a_random_source_that_never_varies_is_refused_where_the_rule_needs_another_partition():
    settings = Settings(5, "2.4", draw=lambda index: 3)
    with pytest.raises(KafkaLearnError, match="give Settings a draw function that varies"):
        simulate(settings, [Send()])


@pytest.mark.parametrize(
    ("release", "expected"),
    [
        ("2.3", {"only one batch is filling up"}),
        ("2.4", {"no partition is two records ahead of another"}),
        ("4.3", {"no partition is two records ahead of another"}),
    ],
)
def test_records_are_spread_evenly_or_batches_fill_up_but_not_both(release, expected):
    settings = Settings(5, release, batch_size=1000, draw=seeded(1))
    trace = simulate(settings, [Send()] * 60)
    assert {name for frame in trace for name in broken(settings, frame.state)} == expected


def test_the_effects_tell_what_was_drawn_written_sent_and_weighed():
    settings = Settings(3, "4.3", draw=(1, 2).__getitem__)
    trace = simulate(settings, [Send(), Send(partition=0), SenderLooks(), Drain(), Drain()])
    assert [frame.state.effects for frame in trace] == [
        (),
        (PartitionDrawn(1, previous=None), RecordAppended(1, 170, has_opened_batch=True)),
        (RecordAppended(0, 170, has_opened_batch=True),),
        (QueuesWeighed(is_uniform=True),),
        (BatchesSent(0, batch_count=1), BatchesSent(1, batch_count=1)),
        (),
    ]
    old = Settings(3, "2.3", draw=(7,).__getitem__)
    assert simulate(old, [Send()])[-1].state.effects[0] == CounterStarted(7)


keys = st.none() | st.binary(max_size=300)
records = st.tuples(keys, st.integers(0, 3000))


@given(st.lists(records, max_size=60), st.integers(1, 5000))
def test_batches_hold_every_record_and_only_the_last_is_open(added, batch_size):
    queue = ()
    for key, value_bytes in added:
        queue = append(queue, key, value_bytes, batch_size)

    assert sum(batch.record_count for batch in queue) == len(added)
    assert all(batch.is_closed for batch in queue[:-1])
    assert all(batch.byte_count <= batch.limit_bytes for batch in queue)
    assert all_full(queue) == (not queue or queue[-1].is_full)


@given(st.lists(records, min_size=1, max_size=30), st.integers(1, 5000))
def test_a_queue_grows_by_a_record_and_by_a_header_when_a_batch_opens(added, batch_size):
    queue = ()
    for key, value_bytes in added:
        before, fits = queue, has_room(queue, key, value_bytes)
        queue = append(queue, key, value_bytes, batch_size)
        growth = sum(each.byte_count for each in queue) - sum(each.byte_count for each in before)
        place = queue[-1].record_count - 1
        assert growth == record_bytes(length_of(key), value_bytes, place) + (0 if fits else BATCH_HEADER_BYTES)
        assert len(queue) == len(before) + (not fits)


@pytest.mark.parametrize(("value_bytes", "expected"), [(100, 109), (300, 309), (939, 948), (1000, 1009), (2000, 2009)])
def test_a_keyless_record_takes_the_bytes_the_real_producer_appended(value_bytes, expected):
    assert record_bytes(-1, value_bytes) == expected


@pytest.mark.parametrize(("arguments", "said"), [((-1,), "record_count"), ((3, 100, -1), "drain_every must be")])
def test_numbers_of_records_that_cannot_be_sent_are_refused(arguments, said):
    with pytest.raises(KafkaLearnError, match=said):
        sends(*arguments)
