"""`kafkalearn.tiny` does as the large simulators do: the same schedule, and the same comes of it."""

from dataclasses import replace

from hypothesis import example, given
from hypothesis import strategies as st

from kafkalearn import log, replication, tiny
from kafkalearn.assignors import assign
from kafkalearn.base.hashing import java_string_hash, murmur2
from kafkalearn.base.java import JavaHashMap
from kafkalearn.coordinator import offsets_partition
from kafkalearn.offsets import encode_key, encode_value, replay
from kafkalearn.partitioning.keyed import partition_for_key
from tests.assignors.groups import as_sets, changes, fresh_groups

texts = st.text(st.characters(exclude_categories=["Cs"]))


@given(st.binary(), texts, st.integers(1, 1000))
def test_keys_and_groups_go_where_the_large_rules_say(key, group_id, partition_count):
    assert tiny.murmur2(key) == murmur2(key) % 2**32
    assert tiny.string_hash(group_id) == java_string_hash(group_id)
    assert tiny.partition_for_key(key, partition_count) == partition_for_key(key, partition_count)
    assert tiny.offsets_partition(group_id, partition_count) == offsets_partition(group_id, partition_count)


@given(fresh_groups())
def test_range_cuts_as_the_large_assignor_does(group):
    counts, members = group
    said = tiny.assign_range(counts, {each.member_id: each.topics for each in members})
    assert as_sets(said) == as_sets(assign("range", counts, members))


@given(st.data())
def test_sticky_deals_as_the_large_assignor_does_after_any_changes(data):
    counts, members = data.draw(fresh_groups(alike=True))
    for _ in range(4):
        used = {topic: count for topic, count in counts.items() if topic in members[0].topics}
        large = assign("sticky", counts, members)
        owned = JavaHashMap()  # who of several may keep one more follows from the order of the members, which is given
        owned.update({each.member_id: [tuple(pair) for pair in each.owned] for each in members})
        said = tiny.assign_sticky(used, dict(owned.items()))
        assert as_sets(said) == as_sets(large)
        members = [replace(each, owned=large[each.member_id], generation=1) for each in members]
        counts, members = data.draw(changes(counts, members))


SETTINGS = replication.Settings(
    4, broker_count=4, min_insync_replicas=1, fetch_wait_max_ms=0, has_eligible_leader_replicas=False
)
acts = st.one_of(
    st.tuples(st.just("produce"), st.sampled_from([1, "all"])),
    st.tuples(st.sampled_from(["fetch", "fetch", "kill", "restart"]), st.integers(1, 4)),
)


class Both:
    """A partition of tiny and one of the large simulator, led through the same acts."""

    def __init__(self):
        self.small = tiny.Partition([1, 2, 3, 4], 1)
        self.large = replication.start(SETTINGS)
        self.value = 0

    def act(self, name, word):
        """Do it to both, if it makes sense."""
        small = self.small
        self.step(replication.TimePassed(SETTINGS.replica_lag_time_max_ms + 1))  # tiny has no "caught up just now"
        if name == "produce" and small.leader is not None:
            self.value += 1
            small.produce(None, f"v{self.value}", word)
            self.step(replication.Produce(1, word, (f"v{self.value}",)))
        elif name == "fetch" and small.leader not in (None, word) and word in small.alive:
            small.fetch(word)
            self.step(replication.Fetch(word))
        elif name == "kill" and word in small.alive:
            small.kill(word)
            self.step(replication.BrokerCrashed(word))
            self.step(replication.SessionExpired(word))
        elif name == "restart" and word not in small.alive:
            small.logs[word].high_watermark = 0  # no checkpoint was written
            small.restart(word)
            self.step(replication.BrokerStarted(word))

    def step(self, event):
        """One event of the large simulator; its controller agrees at once to an ISR that grows."""
        self.large = replication.step(SETTINGS, self.large, event)
        leader = self.large.leader
        if leader is not None and leader.leading is not None and leader.leading.proposal is not None:
            self.step(replication.AlterPartitionAnswered())

    def mark(self, broker, log):
        """The high watermark of a broker that lives: it is in memory."""
        return log.high_watermark if broker in self.small.alive else None

    def of_small(self):
        logs = {
            broker: ([(each.value, each.epoch) for each in log.records], log.epochs, self.mark(broker, log))
            for broker, log in self.small.logs.items()
        }
        return self.small.leader, self.small.epoch, self.small.isr, logs

    def of_large(self):
        controller, logs = self.large.controller, {}
        for broker in (1, 2, 3, 4):
            log = self.large.replica(broker).log
            records = [(each.value, each.leader_epoch) for each in log.records]
            logs[broker] = records, list(log.epochs), self.mark(broker, log)
        return controller.leader, controller.leader_epoch, set(controller.isr), logs


JOINS_AT_THE_HIGH_WATERMARK = [("kill", 2), ("restart", 2), ("produce", 1), ("fetch", 2)]
WAITS_FOR_THE_START_OF_THE_EPOCH = [
    *[("kill", 1), ("restart", 1), ("produce", 1), ("fetch", 3), ("kill", 2)],
    *[("fetch", 1), ("fetch", 1), ("fetch", 4), ("fetch", 4)],
]


@example(JOINS_AT_THE_HIGH_WATERMARK)
@example(WAITS_FOR_THE_START_OF_THE_EPOCH)
@given(st.lists(acts, max_size=30))
def test_the_same_acts_leave_the_same_logs_high_watermarks_isr_and_leader(schedule):
    both = Both()
    assert both.of_small() == both.of_large()
    for name, word in schedule:
        both.act(name, word)
        assert both.of_small() == both.of_large(), (name, word)


rows = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["1", "2", None])), min_size=1, max_size=6)


@given(st.lists(st.tuples(rows, st.integers(1, 500)), min_size=1, max_size=6))
def test_the_cleaner_leaves_the_same_records(rounds):
    settings, now_ms, small = log.Settings("compact", delete_retention_ms=300), 1000, tiny.Log()
    large = log.start(settings)
    for written, passed_ms in rounds:
        now_ms += passed_ms
        for key, value in written:
            small.append(key.encode(), value, epoch=0)
            large = log.step(settings, large, log.Append((log.NewBatch(((key, value, now_ms),)),)))
        large = log.step(settings, large, log.Roll())
        large = log.step(settings, large, log.Clean(now_ms, is_forced=True))
        tiny.compact(small, small.end_offset, now_ms, delete_retention_ms=300)

        assert [each.offset for each in small.records] == [each.offset for each in large.records]
        assert small.end_offset == large.log_end_offset


positions = st.integers(0, 2**40) | st.none()
commits = st.lists(st.tuples(st.sampled_from(["billing", "shipping"]), st.integers(0, 2), positions), max_size=20)


@given(commits)
def test_a_group_goes_on_where_the_large_replay_of_its_records_says(written):
    cluster = tiny.Cluster([1, 2, 3])
    cluster.create_topic("orders", 3)
    groups = {name: tiny.Group(cluster, name, "orders") for name in ("billing", "shipping")}
    pairs = []
    for name, number, offset in written:
        groups[name].offsets_log.produce((name, "orders", number), offset)
        fields = {"offset": offset, "metadata": "", "commitTimestamp": 1000}
        key = encode_key("OFFSET_COMMIT", {"group": name, "topic": "orders", "partition": number})
        pairs.append((key, None if offset is None else encode_value("OFFSET_COMMIT", 3, fields)))
    cluster.replicate()
    replayed = replay(pairs)
    large = {(group.group_id, each.partition): each.offset for group in replayed.groups for each in group.offsets}
    small = {(name, number): groups[name].committed(number) for name in groups for number in range(3)}

    assert small == {place: large.get(place, 0) for place in small}
