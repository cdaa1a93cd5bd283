"""Kafka in one sitting: the way of a record from a producer to a committed offset, and what a dead broker changes.

Read it from top to bottom, like a chapter. Each section begins with a question, answers it in a few lines, and shows
them working; the last one is a story that needs them all. It is Kafka 4.4 on the straight path, in Kafka's own words;
racks, transactions, retries, settings and clocks are left to the large simulators beside this file.
"""

from dataclasses import dataclass, field
from typing import NamedTuple


# 1. Which partition does a key go to?
# A topic is cut into partitions, so that many brokers can share it. The producer picks the partition by a hash of the
# key's bytes: the same key always gives the same hash, so all records of one customer lie in one partition, in order.
# The hash is murmur2: multiply, shift, mix, four bytes at a time, in 32 bits.
def murmur2(key: bytes) -> int:
    """The hash of a record's key."""
    m, mixed, whole = 0x5BD1E995, 0x9747B28C ^ len(key), len(key) // 4 * 4
    for start in range(0, whole, 4):
        block = int.from_bytes(key[start : start + 4], "little") * m & 0xFFFFFFFF
        block = (block ^ block >> 24) * m & 0xFFFFFFFF
        mixed = mixed * m & 0xFFFFFFFF ^ block
    if key[whole:]:
        mixed = (mixed ^ int.from_bytes(key[whole:], "little")) * m & 0xFFFFFFFF
    mixed = (mixed ^ mixed >> 13) * m & 0xFFFFFFFF
    return mixed ^ mixed >> 15


def partition_for_key(key: bytes, partition_count: int) -> int:
    """The partition of a key. The highest bit is masked away, since Java would take it for a minus.

    >>> partition_for_key(b"user-42", 6)
    4
    >>> partition_for_key(b"user-42", 7)  # one more partition, and the key moves
    1
    """
    return (murmur2(key) & 0x7FFFFFFF) % partition_count


# 2. Which broker looks after a group?
# Consumers share a topic by forming a group, and a group has one broker that it turns to: its coordinator. Nobody
# elects it. What a group commits is written to one partition of the topic __consumer_offsets, and whoever leads that
# partition is the coordinator. Here the broker hashes text, by the rule of Java's String.hashCode.
def string_hash(text: str) -> int:
    """Java's hash of a text: 31 times what there was, plus the next 16 bits, in a signed number of 32 bits."""
    units, mixed = text.encode("utf-16-be"), 0
    for place in range(0, len(units), 2):
        mixed = (31 * mixed + int.from_bytes(units[place : place + 2], "big")) & 0xFFFFFFFF
    return mixed - 2**32 if mixed >= 2**31 else mixed


def offsets_partition(group_id: str, partition_count: int = 50) -> int:
    """The partition that holds what a group commits. The one number without an absolute value in Java counts as 0.

    >>> offsets_partition("billing"), offsets_partition("polygenelubricants")
    (9, 0)
    """
    mixed = string_hash(group_id)
    return 0 if mixed == -(2**31) else abs(mixed) % partition_count


# 3. What is a log?
# A partition is a log: records in the order in which they came, each with a number that never changes, its offset. The
# offset behind the last one is the log end offset, the LEO. Nobody may read behind a second mark, the high watermark
# (HW); section 4 moves it. The log also notes where each new leader began to write, its epochs: section 6 needs them.

Key = bytes | tuple[str, str, int] | None
Value = str | int | None
TopicPartition = tuple[str, int]
Assignment = dict[str, list[TopicPartition]]


class Record(NamedTuple):
    """One record as it lies in a log. A value of None is a tombstone: this key is gone."""

    offset: int
    key: Key
    value: Value
    epoch: int  # of the leader who wrote it
    delete_horizon_ms: int | None = None  # until then a tombstone stays; section 9


@dataclass
class Log:
    """One copy of a partition, on the disk of one broker.

    >>> log = Log()
    >>> log.append(b"ann", "tea", epoch=0), log.append(b"bob", "jam", epoch=0)
    (0, 1)
    >>> log.end_offset, log.high_watermark, [record.value for record in log.read(1, before=2)]
    (2, 0, ['jam'])
    """

    records: list[Record] = field(default_factory=list)
    end_offset: int = 0
    high_watermark: int = 0
    epochs: list[tuple[int, int]] = field(default_factory=list)  # (epoch, the offset where it began)

    def append(self, key: Key, value: Value, epoch: int) -> int:
        """Write a record at the end, as a leader does; its offset."""
        self.copy([Record(self.end_offset, key, value, epoch)])
        return self.end_offset - 1

    def copy(self, records: list[Record]) -> None:
        """Write records as they came from the leader, offsets and all."""
        for record in records:
            self.begin_epoch(record.epoch, record.offset)
            self.records.append(record)
            self.end_offset = record.offset + 1

    def read(self, offset: int, before: int) -> list[Record]:
        """The records from one offset on that lie before another."""
        return [record for record in self.records if offset <= record.offset < before]

    def begin_epoch(self, epoch: int, offset: int) -> None:
        """Note where an epoch begins, if it is new. One that began at the same place has written nothing, and goes."""
        if not self.epochs or self.epochs[-1][0] != epoch:
            self.epochs = [each for each in self.epochs if each[1] < offset] + [(epoch, offset)]

    def end_of_epoch(self, epoch: int) -> tuple[int, int]:
        """Where an epoch ends in this log: the newest one up to it that is known here, and the offset behind it."""
        known = [each for each, _ in self.epochs if each <= epoch]
        later = [start for each, start in self.epochs if each > epoch]
        return max(known, default=epoch), min(later, default=self.end_offset)

    def truncate(self, end: int) -> None:
        """Cut off everything from an offset on."""
        self.records = [record for record in self.records if record.offset < end]
        self.epochs = [each for each in self.epochs if each[1] < end]
        self.end_offset = min(self.end_offset, end)
        self.high_watermark = min(self.high_watermark, end)


# 4. How does a record get to the other brokers, and when is it safe?
# Several brokers hold a copy. One of them leads: it alone takes records. The others, its followers, fetch from it all
# day long. A fetch says "give me what comes at my offset", and so tells the leader that the follower has all below.
# What all replicas in sync (the ISR) have is safe, and that is the high watermark: the smallest LEO in the ISR. The
# answer carries the high watermark of before the fetch was counted, so a follower hears one round later that what it
# copied is safe.
class Answer(NamedTuple):
    """What a leader answers to a fetch."""

    high_watermark: int
    records: list[Record]
    diverging: tuple[int, int] | None = None  # section 6: an epoch, and where it ends at the leader


class Partition:
    """A partition with all its replicas.

    >>> orders = Partition([1, 2, 3])
    >>> orders.produce(b"ann", "tea", acks="all")
    0
    >>> orders.fetch(2), orders.fetch(3), orders.marks()  # both have copied it; the leader cannot know yet
    (None, None, {1: (1, 0), 2: (1, 0), 3: (1, 0)})
    >>> orders.fetch(2), orders.fetch(3), orders.marks()  # by asking for offset 1 they say that they have 0
    (None, None, {1: (1, 1), 2: (1, 0), 3: (1, 0)})
    """

    def __init__(self, replicas: list[int], min_insync_replicas: int = 2) -> None:
        """Brokers that hold a copy; the first one leads."""
        self.replicas = replicas
        self.min_insync_replicas = min(min_insync_replicas, len(replicas))
        self.logs = {broker: Log() for broker in replicas}
        self.alive, self.isr = set(replicas), set(replicas)
        self.leader: int | None = None
        self.epoch = -1
        self.remote_ends: dict[int, int] = {}  # the LEO of each follower, as far as the leader knows
        self.waiting: list[int] = []  # offsets of records whose producer waits for an answer
        self.acknowledged: list[int] = []  # offsets that a producer was told are written
        self.elect(replicas[0])

    @property
    def leader_log(self) -> Log:
        """The log of the leader: what everybody else means by "the partition"."""
        if self.leader is None:
            raise ValueError("LEADER_NOT_AVAILABLE: no replica in sync is alive; restart one of the ISR")
        return self.logs[self.leader]

    def marks(self) -> dict[int, tuple[int, int]]:
        """LEO and high watermark of each replica."""
        return {broker: (log.end_offset, log.high_watermark) for broker, log in self.logs.items()}

    def fetch(self, follower: int) -> None:
        """One round of a follower, if it lives: it asks, the leader answers, it writes down what came."""
        if follower == self.leader or follower not in self.alive:
            return
        log = self.logs[follower]
        newest_epoch = log.epochs[-1][0] if log.epochs else -1
        self.take(follower, self.answer(follower, log.end_offset, newest_epoch))

    def answer(self, follower: int, offset: int, newest_epoch: int) -> Answer:
        """The leader's side of a fetch: read, then count the follower, then try the high watermark."""
        log = self.leader_log
        epoch, end = log.end_of_epoch(newest_epoch)
        if epoch < newest_epoch or end < offset:
            return Answer(log.high_watermark, [], diverging=(epoch, end))
        answer = Answer(log.high_watermark, log.read(offset, before=log.end_offset))
        self.remote_ends[follower] = offset
        if offset >= max(log.high_watermark, log.epochs[-1][1]):
            self.isr.add(follower)  # it has all that is safe, and all from before this leader
        self.raise_high_watermark()
        return answer

    def take(self, follower: int, answer: Answer) -> None:
        """The follower's side: cut what the leader does not have, or copy what is new."""
        log = self.logs[follower]
        if answer.diverging:
            epoch, end = answer.diverging
            own_epoch, own_end = log.end_of_epoch(epoch)
            log.truncate(min(own_end, end) if own_epoch == epoch else own_end)
        else:
            log.copy(answer.records)
            log.high_watermark = min(log.end_offset, answer.high_watermark)

    def raise_high_watermark(self) -> None:
        """Move the high watermark to what all in sync have; too few of them prove nothing. Who waited is answered."""
        log = self.leader_log
        if len(self.isr) >= self.min_insync_replicas:
            ends = [log.end_offset if each == self.leader else self.remote_ends.get(each, -1) for each in self.isr]
            log.high_watermark = max(log.high_watermark, min(ends))
        self.acknowledged += [offset for offset in self.waiting if offset < log.high_watermark]
        self.waiting = [offset for offset in self.waiting if offset >= log.high_watermark]

    def shrink_isr(self, follower: int) -> None:
        """A follower was not caught up for 30 seconds, or is dead: the others no longer wait for it."""
        self.isr.discard(follower)
        self.raise_high_watermark()

    # 5. What is the producer told?
    # It says with acks what it wants to know. 0: nothing. 1: that the leader wrote it; it may be lost with the leader.
    # all: that all in sync have it. If these are fewer than min.insync.replicas, the leader refuses such a record.

    def produce(self, key: Key, value: Value, acks: str | int = "all") -> int:
        """Write a record at the leader; its offset. Whether the producer is told so shows in `acknowledged`.

        >>> orders = Partition([1, 2, 3])
        >>> orders.produce(b"ann", "tea", acks=1), orders.produce(b"bob", "jam", acks="all")
        (0, 1)
        >>> orders.acknowledged, orders.waiting
        ([0], [1])
        """
        log = self.leader_log
        if acks == "all" and len(self.isr) < self.min_insync_replicas:
            raise ValueError(f"NOT_ENOUGH_REPLICAS: {len(self.isr)} in sync, {self.min_insync_replicas} needed")
        offset = log.append(key, value, self.epoch)
        if acks == 1:
            self.acknowledged.append(offset)
        elif acks == "all":
            self.waiting.append(offset)
        self.raise_high_watermark()
        return offset

    def read(self, offset: int) -> list[Record]:
        """What a consumer gets: records from its offset up to the high watermark, never what could still vanish."""
        return self.leader_log.read(offset, self.leader_log.high_watermark)

    # 6. Who leads when the leader dies, and what is cut?
    # The controller takes the first replica that lives and is in sync: it has all that was acknowledged to acks=all.
    # What only the dead one had is gone. Each leader has an epoch, one more than the last, and stamps it on what it
    # writes. An old leader that comes back to follow compares epochs with the new one, not lengths: where the newest
    # epoch that both know ends, their logs part. What lies behind is cut, and fetched anew.

    def elect(self, leader: int) -> None:
        """Make a replica the leader. It starts a new epoch, and knows nothing yet of its followers."""
        if leader != self.leader:
            self.remote_ends = {}
            self.waiting = []
        self.leader, self.epoch = leader, self.epoch + 1
        self.leader_log.begin_epoch(self.epoch, self.leader_log.end_offset)
        self.raise_high_watermark()

    def kill(self, broker: int) -> None:
        """A broker dies. The last replica in sync keeps its place in the ISR: only it has everything.

        >>> orders = Partition([1, 2, 3])
        >>> orders.produce(b"ann", "tea", acks=1)  # told as written, and nobody has copied it
        0
        >>> orders.kill(1)
        >>> orders.leader, orders.isr, orders.produce(b"bob", "jam", acks=1)
        (2, {2, 3}, 0)
        >>> orders.restart(1), orders.fetch(1), orders.fetch(1)  # the tea is cut, the jam is copied
        (None, None, None)
        >>> [record.value for record in orders.logs[1].records]
        ['jam']
        """
        self.alive.discard(broker)
        if self.isr == {broker}:
            self.leader, self.epoch = None, self.epoch + 1
        elif broker == self.leader:
            self.isr.discard(broker)
            self.elect(next(each for each in self.replicas if each in self.isr & self.alive))
        elif self.leader is not None:
            self.shrink_isr(broker)

    def restart(self, broker: int) -> None:
        """A broker comes back, with its disk. It leads only if nobody does and it is in sync."""
        self.alive.add(broker)
        self.logs[broker].truncate(self.logs[broker].end_offset)  # an epoch that wrote nothing is not found again
        if self.leader is None and broker in self.isr:
            self.elect(broker)


# 7. Who in a group reads what?
# Every partition goes to one member of the group, so that its records are worked on in order. Two rules. Range cuts
# each topic into even ranges: simple, but one new member moves much. Sticky lets everybody keep what it has, up to its
# fair share, and deals out only the rest. The members and what they own go in, the assignment comes out.
def assign_range(partition_counts: dict[str, int], subscriptions: dict[str, list[str]]) -> Assignment:
    """Each topic cut into ranges, in the order of the member ids; the first ones get what is left over.

    >>> assign_range({"orders": 3, "returns": 1}, {"c1": ["orders", "returns"], "c2": ["orders"]})
    {'c1': [('orders', 0), ('orders', 1), ('returns', 0)], 'c2': [('orders', 2)]}
    """
    assignment: Assignment = {member: [] for member in subscriptions}
    for topic, count in sorted(partition_counts.items()):
        members = sorted(member for member in subscriptions if topic in subscriptions[member])
        numbers = iter(range(count))
        for place, member in enumerate(members):
            size = count // len(members) + (place < count % len(members))
            assignment[member] += [(topic, next(numbers)) for _ in range(size)]
    return assignment


def assign_sticky(partition_counts: dict[str, int], owned: Assignment) -> Assignment:
    """As even as can be, and then as few moves as can be; for members who subscribe to the same topics.

    >>> assign_sticky({"orders": 6}, {"c1": [("orders", 0), ("orders", 1), ("orders", 2), ("orders", 3)], "c2": []})
    {'c1': [('orders', 0), ('orders', 1), ('orders', 2)], 'c2': [('orders', 3), ('orders', 4), ('orders', 5)]}
    """
    free = [(topic, number) for topic, count in sorted(partition_counts.items()) for number in range(count)]
    share, extra = divmod(len(free), len(owned))
    held: Assignment = {}
    for member in owned:  # first everybody keeps its share, and a few may keep one more
        mine = sorted(set(owned[member]) & set(free), key=lambda each: (each[1], each[0]))
        keeps_more = extra > 0 and len(mine) > share
        held[member], extra = mine[: share + keeps_more], extra - keeps_more
        free = [each for each in free if each not in held[member]]
    full = sorted(member for member in held if len(held[member]) == share)
    hungry = sorted(member for member in held if len(held[member]) < share)
    while hungry:  # then those with less are filled up, one partition each in turn
        member = hungry.pop(0)
        held[member].append(free.pop(0))
        (full if len(held[member]) == share else hungry).append(member)
    for member, partition in zip(full, free, strict=False):  # and what is left goes round once
        held[member].append(partition)
    return held


# 8. How does a group know where to go on?
# A consumer keeps a position in each of its partitions: the next offset to read. Now and then it commits it, and a
# commit is nothing new: a record whose key says group, topic and partition, and whose value is the position. It goes to
# the coordinator, with acks=all. Whoever takes a partition over begins there; what came after is read again.
class Cluster:
    """Brokers, their topics, and the offsets topic that every cluster has."""

    def __init__(self, brokers: list[int]) -> None:
        """A cluster that is up, with an empty offsets topic."""
        self.brokers = brokers
        self.topics: dict[str, list[Partition]] = {}
        self.partitions: list[Partition] = []  # of all topics
        self.create_topic("__consumer_offsets", 50)

    def create_topic(self, name: str, partition_count: int) -> None:
        """Deal the partitions out: each one begins at the next broker, and every broker has a copy."""
        turns = [number % len(self.brokers) for number in range(partition_count)]
        self.topics[name] = [Partition(self.brokers[turn:] + self.brokers[:turn]) for turn in turns]
        self.partitions += self.topics[name]

    def produce(self, topic: str, key: bytes, value: str, acks: str | int = "all") -> None:
        """Send a record to the partition of its key."""
        number = partition_for_key(key, len(self.topics[topic]))
        self.topics[topic][number].produce(key, value, acks)

    def replicate(self) -> None:
        """All followers fetch, until there is nothing left to hear."""
        for partition in self.partitions:
            for follower in self.brokers * 4:
                partition.fetch(follower)

    def kill(self, broker: int) -> None:
        """A broker dies, and with it a replica of every partition."""
        for partition in self.partitions:
            partition.kill(broker)

    def restart(self, broker: int) -> None:
        """A broker comes back."""
        for partition in self.partitions:
            partition.restart(broker)


class Group:
    """Consumers that share a topic.

    >>> cluster = Cluster([1, 2, 3])
    >>> cluster.create_topic("orders", 2)
    >>> group = Group(cluster, "billing", "orders")
    >>> group.rebalance("c1", "c2"), group.assignment, group.coordinator
    (None, {'c1': [('orders', 0)], 'c2': [('orders', 1)]}, 1)
    """

    def __init__(self, cluster: Cluster, group_id: str, topic: str) -> None:
        """A group that nobody has joined yet."""
        self.group_id, self.topic, self.partitions = group_id, topic, cluster.topics[topic]
        self.offsets_log = cluster.topics["__consumer_offsets"][offsets_partition(group_id)]
        self.assignment: Assignment = {}
        self.positions: dict[TopicPartition, int] = {}

    @property
    def coordinator(self) -> int | None:
        """The broker that a group turns to: whoever leads the partition of its commits."""
        return self.offsets_log.leader

    def rebalance(self, *members: str) -> None:
        """Somebody came or went. The members of now share the topic, and go on where it was committed."""
        count = len(self.partitions)
        owned = {member: self.assignment.get(member, []) for member in members}
        self.assignment = assign_sticky({self.topic: count}, owned) if members else {}
        self.positions = {(self.topic, number): self.committed(number) for number in range(count)}

    def poll(self, member: str) -> list[str | int | None]:
        """The values that a member has not read yet; its positions move behind them."""
        values: list[str | int | None] = []
        for topic, number in self.assignment[member]:
            records = self.partitions[number].read(self.positions[topic, number])
            values += [record.value for record in records]
            if records:
                self.positions[topic, number] = records[-1].offset + 1
        return values

    def commit(self, member: str) -> None:
        """Write the positions of a member down, at the coordinator."""
        for topic, number in self.assignment[member]:
            key = (self.group_id, topic, number)
            self.offsets_log.produce(key, self.positions[topic, number], acks="all")

    def committed(self, number: int) -> int:
        """Where to go on in a partition: at the last commit, or at the beginning."""
        key = (self.group_id, self.topic, number)
        commits = [record.value for record in self.offsets_log.read(0) if record.key == key]
        return int(commits[-1] or 0) if commits else 0


# 9. Why does the offsets log not grow for ever?
# Only the last commit of each partition counts. So a cleaner keeps the last record of each key, at the offset it always
# had, below the newest part of the log, which is still written to. A tombstone stays for a day, so that a reader on its
# way hears that the key is gone: the cleaner that meets it first writes that moment into it, a later one drops it.
def compact(log: Log, end: int, now_ms: int, delete_retention_ms: int = 86_400_000) -> None:
    """Clean a log below an offset.

    >>> log = Log()
    >>> for key, value in [(b"a", 1), (b"b", 2), (b"a", 3), (b"b", None), (b"c", 4)]:
    ...     offset = log.append(key, value, epoch=0)
    >>> compact(log, 4, now_ms=0), [(record.offset, record.key, record.value) for record in log.records]
    (None, [(2, b'a', 3), (3, b'b', None), (4, b'c', 4)])
    >>> compact(log, 4, now_ms=86_400_000), [record.offset for record in log.records]
    (None, [2, 4])
    """
    last = {record.key: record.offset for record in log.read(0, end)}
    kept = []
    for record in log.read(0, end):
        if record.key is None or record.offset < last[record.key]:
            continue
        if record.value is None:
            if record.delete_horizon_ms is None:
                record = record._replace(delete_horizon_ms=now_ms + delete_retention_ms)
            elif now_ms >= record.delete_horizon_ms:
                continue
        kept.append(record)
    log.records = kept + log.read(end, log.end_offset)


def story() -> None:
    """10. And all of it at once? Three brokers, a topic, two consumers, and a broker that dies in between.

    >>> story()
    broker 2 has it: {2: (1, 0), 3: (0, 0), 1: (0, 0)} acknowledged: []
    everybody has it: {2: (1, 1), 3: (1, 1), 1: (1, 1)} acknowledged: [0]
    c1 reads [] c2 reads ['tea'] and commits at 2
    c2 reads ['jam'] and does not commit
    broker 2 and c2 die; broker 3 leads: {2: (3, 2), 3: (2, 2), 1: (2, 2)} acknowledged: [0, 1, 2]
    c1 asks 3 and reads again: ['jam']
    broker 2 is back: ['tea', 'jam', 'pie'] and c1 reads ['pie']
    """
    cluster = Cluster([1, 2, 3])
    cluster.create_topic("orders", 2)
    group, orders = Group(cluster, "alerts", "orders"), cluster.topics["orders"][1]
    group.rebalance("c1", "c2")
    cluster.produce("orders", b"dan", "tea")
    print("broker", orders.leader, "has it:", orders.marks(), "acknowledged:", orders.acknowledged)
    cluster.replicate()
    print("everybody has it:", orders.marks(), "acknowledged:", orders.acknowledged)
    print("c1 reads", group.poll("c1"), "c2 reads", group.poll("c2"), "and commits at", group.coordinator)
    group.commit("c2"), cluster.produce("orders", b"dan", "jam"), cluster.replicate()
    print("c2 reads", group.poll("c2"), "and does not commit")
    cluster.produce("orders", b"dan", "ham", acks=1)
    cluster.kill(2), group.rebalance("c1")
    print("broker 2 and c2 die; broker", orders.leader, "leads:", orders.marks(), "acknowledged:", orders.acknowledged)
    print("c1 asks", group.coordinator, "and reads again:", group.poll("c1"))
    cluster.produce("orders", b"dan", "pie"), cluster.restart(2), cluster.replicate()
    print("broker 2 is back:", [record.value for record in orders.logs[2].records], "and c1 reads", group.poll("c1"))
