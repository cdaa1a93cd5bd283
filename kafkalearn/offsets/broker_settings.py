"""The broker's settings of the group coordinator: meaning, default by release, and what another value changes.

>>> coordinator_settings(["2.2", "2.3"])[11]["setting"], coordinator_settings(["2.2", "2.3"])[11]["2.3"]
('group.max.session.timeout.ms', 1800000)
>>> effect_of("group.max.size")[0]
{'group.max.size': 2, 'three members join': 'the third: GROUP_MAX_SIZE_REACHED'}
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from kafkalearn import log
from kafkalearn.base.checks import iterable, one_of
from kafkalearn.base.errors import counted
from kafkalearn.base.trace import Trace
from kafkalearn.coordinator.rule import offsets_partition
from kafkalearn.groups import classic, consumer
from kafkalearn.groups.classic.model import ClassicEvent, Group, JoinAnswered
from kafkalearn.groups.consumer.events import HeartbeatAnswered
from kafkalearn.offsets import store
from kafkalearn.offsets.records import encode_key, encode_value
from kafkalearn.offsets.replay import Member
from kafkalearn.offsets.store.model import LOADING, MINUTE_MS
from kafkalearn.releases import ABSENT, at_least, history
from kafkalearn.releases.lines import DEFAULT_RELEASE

__all__ = [
    "coordinator_settings",
    "effect_of",
    "effects",
]


# Each run has one setting changed, and answers how it ends, in a few words. First the two coordinators of groups.

WITHOUT_ID = 3  # of JoinGroup: the last version whose sender becomes a member at once, as all did up to 2.1


def short_session(group_min_session_timeout_ms: int) -> str:
    """The answer to a member that asks for a session of three seconds."""
    return _answer_to(classic.Settings(group_min_session_timeout_ms=group_min_session_timeout_ms), 3000)


def long_session(group_max_session_timeout_ms: int) -> str:
    """The answer to a member that asks for a session of an hour."""
    return _answer_to(classic.Settings(group_max_session_timeout_ms=group_max_session_timeout_ms), 3_600_000)


def _answer_to(settings: classic.Settings, session_timeout_ms: int) -> str:
    events = [_join("c1", session_timeout_ms=session_timeout_ms), classic.TimePassed(3000)]
    return _answers(classic.simulate(settings, events))[0].error


def generations_of_three(group_initial_rebalance_delay_ms: int) -> str:
    """How many generations it takes until three members that join a second apart are all in."""
    settings = classic.Settings(group_initial_rebalance_delay_ms=group_initial_rebalance_delay_ms)
    events = [_join("c1"), classic.TimePassed(1000)]
    for number in (2, 3):
        events += [_join(f"c{number}")]
        if group_initial_rebalance_delay_ms == 0:  # who was answered comes again when the next one joins
            events += [_join(f"c{each}", f"c{each}-{each}") for each in range(1, number)]
        events += [classic.TimePassed(1000)]
    group = classic.simulate(settings, [*events, classic.TimePassed(4000)])[-1].state
    return f"generation {group.generation} has {len(group.members)} members"


def third_member(group_max_size: int) -> str:
    """The answer to the third that joins."""
    events = [_join("c1"), _join("c2"), _join("c3"), classic.TimePassed(10_000)]
    answers = _answers(classic.simulate(classic.Settings(group_max_size=group_max_size), events))
    return f"the third: {next(each.error for each in answers if each.client == 'c3')}"


def _join(client: str, member_id: str = "", session_timeout_ms: int = 10_000) -> classic.JoinGroup:
    return classic.JoinGroup(client, member_id, session_timeout_ms, version=WITHOUT_ID)


def _answers(trace: Trace[Group, ClassicEvent]) -> list[JoinAnswered]:
    return [each for moment in trace for each in moment.state.effects if isinstance(each, JoinAnswered)]


def silent_member(session_timeout_ms: int) -> str:
    """After how many seconds a silent member of a KIP-848 group is out."""
    settings = consumer.Settings(session_timeout_ms=session_timeout_ms)
    steps = [consumer.join("A", ("orders",)), *[consumer.TimePassed(1000)] * 100]
    for moment in consumer.simulate(settings, steps)[1:]:
        if not moment.state.members:
            return f"out after {moment.state.now_ms // 1000} s"
    return "still in after 100 s"


def third_consumer(max_size: int) -> str:
    """The answer to the third that joins a KIP-848 group."""
    joins = [consumer.join(name, ("orders",)) for name in "ABC"]
    last = consumer.simulate(consumer.Settings(max_size=max_size), joins)[-1].state
    return f"the third: {next(each.error for each in last.effects if isinstance(each, HeartbeatAnswered))}"


# The coordinator's store.

HOUR_MS = 60 * MINUTE_MS


def metadata_of_5000_letters(metadata_max_bytes: int) -> str:
    """The answer to a commit that brings 5,000 letters."""
    event = store.Commit("billing", "orders", 0, 7, 0, metadata="m" * 5000)
    return store.simulate(store.Settings(metadata_max_bytes=metadata_max_bytes), [event])[-1].state.effects[0].error


def load_of_1000_commits(load_buffer_bytes: int) -> str:
    """In how many reads a log of 1,000 commits is loaded."""
    settings = store.Settings(load_buffer_bytes=load_buffer_bytes)
    commits = [store.Commit("billing", "orders", 0, offset, offset) for offset in range(1000)]
    state = store.simulate(settings, [*commits, store.Resign(), store.Elect()])[-1].state
    reads = 0
    while state.status == LOADING:
        state, reads = store.step(settings, state, store.LoadBuffer()), reads + 1
    return counted(reads, "read")


def weekend(retention_minutes: int) -> str:
    """What a classic group finds after 62 hours."""
    events = [
        store.StoreGroup("billing", 1, 0, (Member("billing-1", subscribed=("orders",)),)),
        store.Commit("billing", "orders", 0, 410, 0, member_id="billing-1", generation=1),
        store.StoreGroup("billing", 2, 0),
        store.Sweep(62 * HOUR_MS),
        store.Fetch("billing", "orders", 0),
    ]
    offset = store.simulate(store.Settings(retention_minutes=retention_minutes), events)[-1].state.effects[0].offset
    return f"it finds {offset}" if offset is not None and offset >= 0 else "it finds -1: nothing"


def first_sweep_after_expiry(check_interval_ms: int) -> str:
    """When the tombstone of an offset comes, which expires after 61 minutes; sweeps begin with the broker, at 0."""
    settings = store.Settings(retention_minutes=61)
    state = store.step(settings, store.start(settings), store.Commit("billing", "orders", 0, 7, 0))
    now_ms = 0
    while state.groups:
        now_ms += check_interval_ms
        state = store.step(settings, state, store.Sweep(now_ms))
    return f"its tombstone comes after {now_ms // MINUTE_MS} minutes"


def commit_without_replicas(commit_timeout_ms: int) -> str:
    """What the sender of a commit is answered, and when; the follower stands still for six seconds."""
    settings = store.Settings(commit_timeout_ms=commit_timeout_ms)
    state = store.step(settings, store.start(settings), store.Commit("billing", "orders", 0, 7, 0, is_in_flight=True))
    for now_ms in range(0, 6000, 500):
        state = store.step(settings, state, store.TimeReached(now_ms))
        if state.effects:
            return f"{state.effects[0].error} after {now_ms / 1000:.0f} s; the offset counts after 6 s all the same"
    return "NONE after 6 s"


def crash_after_commit(required_acks: int) -> str:
    """What is left of two commits on 3.9, the second not replicated yet when the leader dies."""
    settings = store.Settings("3.9", required_acks=required_acks)
    first, second = (store.Commit("billing", "orders", 0, offset, 0, is_in_flight=offset == 8) for offset in (7, 8))
    sent = store.simulate(settings, [first, second])[-1].state
    answered = "it was acknowledged" if sent.effects else "it was not acknowledged"
    events = [store.LeaderCrashed(), store.Load(), store.Fetch("billing", "orders", 0)]
    (answer,) = store.simulate(settings, events, sent)[-1].state.effects
    return f"8 is gone, {answered}; billing reads from {answer.offset}"


# The topic itself.

BATCH_BYTES: Mapping[int, int] = MappingProxyType({0: 7397, 1: 925, 2: 1553, 3: 1556, 4: 587})
"""By codec: how large a broker of 4.3.1 wrote a commit of `billing` for 100 partitions of `orders`, with topic ids."""


def partition_of_billing(partition_count: int) -> str:
    """The partition of the offsets topic that billing belongs to."""
    return f"partition {offsets_partition('billing', partition_count)}"


def cleaned(segment_bytes: int) -> str:
    """How many of 500 commits for one partition are left when the cleaner has run."""
    key = encode_key(1, {"group": "billing", "topic": "orders", "partition": 0})
    value = encode_value(1, 4, {"offset": 7, "metadata": "", "commitTimestamp": 0})
    settings = log.Settings("compact", segment_bytes=segment_bytes, min_cleanable_dirty_ratio=0.0)
    events = [log.Append((log.NewBatch(((key, value, at_ms),)),)) for at_ms in range(500)]
    state = log.simulate(settings, [*events, log.Clean(1000)])[-1].state
    left = sum(len(batch.records) for segment in state.segments for batch in segment.batches)
    return f"{counted(len(state.segments), 'segment')}, {counted(left, 'record')} left"


def created_on_two_brokers(replication_factor: int) -> str:
    """What the first group is answered while two brokers live, since 0.11 (KIP-115): all replicas, or no topic."""
    if replication_factor > 2:
        return "no topic is created; COORDINATOR_NOT_AVAILABLE"
    return f"the topic, with {counted(replication_factor, 'replica')}"


def batch_of_100_partitions(codec: int) -> str:
    """How large the batch of one commit for 100 partitions is."""
    return counted(BATCH_BYTES[codec], "byte")


# The sixteen settings as data: what each means, with which values it is tried, and the run that shows its effect.

RELEASES = ("0.8.2", "0.9.0", "0.10.0", "0.11.0", "2.0", "2.3", "3.9", DEFAULT_RELEASE)
"""Releases in which at least one of the settings came, changed or went, and the newest."""


@dataclass(frozen=True, slots=True)
class CoordinatorSetting:
    """One setting of the broker."""

    name: str
    meaning: str
    tried: str  # what happens in the run
    values: tuple[int, ...]  # two that end differently
    run: Callable[[int], str]  # how it ends with a value


SETTINGS = (
    CoordinatorSetting(
        "offset.metadata.max.bytes",
        "the longest text a commit may bring, counted in UTF-16 units",
        "a commit with 5,000 letters",
        (4096, 8192),
        metadata_of_5000_letters,
    ),
    CoordinatorSetting(
        "offsets.load.buffer.size",
        "how much of the log one read brings while a new coordinator loads",
        "a log of 1,000 commits is loaded",
        (5_242_880, 16_384),
        load_of_1000_commits,
    ),
    CoordinatorSetting(
        "offsets.retention.minutes",
        "how long an offset stays without a group that uses it",
        "a classic group is away for 62 hours",
        (1440, 10080),
        weekend,
    ),
    CoordinatorSetting(
        "offsets.retention.check.interval.ms",
        "how often the coordinator looks for expired offsets",
        "an offset expires after 61 minutes",
        (600_000, 3_600_000),
        first_sweep_after_expiry,
    ),
    CoordinatorSetting(
        "offsets.topic.num.partitions",
        "partitions of the topic when it is created",
        "billing looks for its partition",
        (50, 64),
        partition_of_billing,
    ),
    CoordinatorSetting(
        "offsets.topic.segment.bytes",
        "size of the topic's segments; the newest one is not cleaned",
        "500 commits of one key, then the cleaner",
        (104_857_600, 16_384),
        cleaned,
    ),
    CoordinatorSetting(
        "offsets.topic.replication.factor",
        "replicas of the topic when it is created",
        "the first group comes, two brokers live",
        (3, 2),
        created_on_two_brokers,
    ),
    CoordinatorSetting(
        "offsets.topic.compression.codec",
        "codec of what the coordinator writes: 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd",
        "one commit for 100 partitions",
        (0, 4),
        batch_of_100_partitions,
    ),
    CoordinatorSetting(
        "offsets.commit.timeout.ms",
        "how long a commit may wait for the replicas",
        "a follower stands still for six seconds",
        (5000, 10_000),
        commit_without_replicas,
    ),
    CoordinatorSetting(
        "offsets.commit.required.acks",
        "-1: a commit waits for all in-sync replicas; gone in 4.0, where it always does",
        "3.9: 8 is committed after 7, then the leader dies",
        (-1, 1),
        crash_after_commit,
    ),
    CoordinatorSetting(
        "group.min.session.timeout.ms",
        "the shortest session that a member may ask for",
        "a member asks for 3,000 ms",
        (6000, 1000),
        short_session,
    ),
    CoordinatorSetting(
        "group.max.session.timeout.ms",
        "the longest session that a member may ask for",
        "a member asks for an hour",
        (1_800_000, 3_600_000),
        long_session,
    ),
    CoordinatorSetting(
        "group.initial.rebalance.delay.ms",
        "how long a group that was empty waits for more members",
        "three members join, a second apart",
        (0, 3000),
        generations_of_three,
    ),
    CoordinatorSetting("group.max.size", "most members of a classic group", "three members join", (2, 3), third_member),
    CoordinatorSetting(
        "group.consumer.session.timeout.ms",
        "KIP-848: how long a member may be silent; the broker decides, not the client",
        "a member falls silent",
        (45_000, 60_000),
        silent_member,
    ),
    CoordinatorSetting(
        "group.consumer.max.size",
        "KIP-848: most members of a group",
        "three members join",
        (2, 3),
        third_consumer,
    ),
)


def coordinator_settings(releases: Iterable[str] = RELEASES) -> list[dict[str, object]]:
    """A row for each setting: its meaning, and its default in each of the releases; "-" where it does not exist.

    Ten are Kafka's ``OffsetConfig``, four its ``GroupConfig``; the last two are what stands for them in groups of the
    new protocol (KIP-848), which is for production since 4.0.

    >>> coordinator_settings(["1.1", "2.0"])[2]["1.1"], coordinator_settings(["1.1", "2.0"])[2]["2.0"]
    (1440, 10080)

    References
    ----------
    The defaults are those of the released classes, `kafkalearn.releases`.
    """
    chosen = list(iterable("releases", releases, of="releases"))
    return [
        {"setting": each.name, "meaning": each.meaning} | {release: _default(each.name, release) for release in chosen}
        for each in SETTINGS
    ]


def _default(name: str, release: str) -> object:
    changes = [value for since, value in history(name, "broker") if at_least(since, release)]
    return "-" if not changes or changes[-1] is ABSENT else changes[-1]


def effect_of(setting: str) -> list[dict[str, object]]:
    """What happens with each of two values of a setting, computed by the simulators.

    Parameters
    ----------
    setting : str
        A name of `coordinator_settings`.

    Raises
    ------
    KafkaLearnError
        If there is no such setting.

    Examples
    --------
    >>> effect_of("offset.metadata.max.bytes")[0]
    {'offset.metadata.max.bytes': 4096, 'a commit with 5,000 letters': 'OFFSET_METADATA_TOO_LARGE'}
    """
    by_name = {each.name: each for each in SETTINGS}
    one = by_name[one_of("setting of the coordinator", setting, by_name)]
    return [{one.name: value, one.tried: one.run(value)} for value in one.values]


def effects() -> list[dict[str, object]]:
    """A row for each setting: what is tried, and how it ends with each of two values."""
    found: list[dict[str, object]] = []
    for each in SETTINGS:
        one, other = (f"{value:,}: {each.run(value)}" for value in each.values)
        found.append({"setting": each.name, "what is tried": each.tried, "one value": one, "another": other})
    return found
