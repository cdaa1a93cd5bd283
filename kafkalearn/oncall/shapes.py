"""The shapes of what ``--json`` prints: ``python -m tools.answers_schema`` writes ``answers.schema.json`` from these.

What an answer's ``as_data`` returns is held to its shape by the type checker. Where a row is a class of its own as a
dict, the place of the class is beside it (`Annotated`): what that is annotated with is the row's shape. Names that are
here stay.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, TypedDict

Row = Mapping[str, object]  # a class as a dict; which one stands beside it

# why.


class Evidence(TypedDict):
    """A line of a log."""

    place: str
    text: str


class RebalanceData(TypedDict):
    """One rebalance."""

    protocol: str
    started_ms: int | None
    ended_ms: int | None
    duration_ms: int | None
    standstill_ms: int | None
    cause: str
    may_be: list[str]
    words: str
    member: str | None
    client: str | None
    host: str | None
    generation: int | None
    is_interrupted: bool
    delayed_by: list[str]
    evidence: list[Evidence]


class Note(TypedDict):
    """What happened without a rebalance."""

    kind: str
    time_ms: int | None
    text: str


class AdviceData(TypedDict):
    """What would have avoided the rebalances of one cause."""

    cause: str
    count: int
    change: str | None
    alternatives: list[str]
    refused: str | None
    scenario: str
    settings: Mapping[str, object]


class GroupData(TypedDict):
    """What logs say of one group."""

    group: str | None
    protocol: str
    has_broker_log: bool
    is_rolling_restart: bool
    standstill_ms: int | None
    rebalances: list[RebalanceData]
    notes: list[Note]
    advice: list[AdviceData]
    now: str | None


class TransactionData(TypedDict):
    """What went wrong for one transactional id."""

    kind: str
    transactional_id: str | None
    producer_id: int | None
    count: int
    first_ms: int | None
    last_ms: int | None
    words: str
    advice: str
    evidence: list[Evidence]


class WhyData(TypedDict):
    """The answer to ``why``."""

    headline: str
    is_stopped: bool
    line_count: int
    event_count: int
    unknown_line_count: int
    events_without_time_count: int
    events_twice_count: int
    torn_files: list[str]
    skipped_files: list[str]
    clocks_back: list[Annotated[Row, "kafkalearn.oncall.logs.reader:ClockBack"]]
    unknown_lines: list[Annotated[Row, "kafkalearn.oncall.logs.reader:UnknownLine"]]
    groups: list[GroupData]
    transactions: list[TransactionData]
    now: Mapping[str, str]


# lag, safe, upgrade, where.


class LagRow(TypedDict):
    """Why the lag of one partition is what it is."""

    group: str
    topic: str
    partition: int
    cause: str
    outcome: str
    lag: int | None
    words: str
    rate: float | None
    gone_in_s: float | None


class UnevenData(TypedDict):
    """A partition with far more than an even share of the work."""

    topic: str
    partition: int
    share: float


class CatchUpData(TypedDict):
    """Whether a group catches up in a time, and how many members it needs for it."""

    group: str
    wanted_s: float
    outcome: str
    words: str
    why_not: str | None
    members: int
    now_s: float | None
    needed: int | None
    takes_s: float | None
    most_members: int
    speed: float | None
    lag: int
    written: float
    read: float
    uneven: list[UnevenData]


class LagData(TypedDict):
    """The answer to ``lag``."""

    source: str
    look_count: int
    apart_s: float | None
    partitions: list[LagRow]
    rebalancing: list[str]
    gone: list[str]
    catch_up: list[CatchUpData] | None


class Given(TypedDict):
    """A setting, and where it is from."""

    name: str
    value: object
    origin: str


class Seen(TypedDict):
    """What a failure comes to."""

    result: str
    failure: str


class HarmData(Seen):
    """A run that ends badly."""

    steps: list[str]


class Now(TypedDict):
    """What is wrong with partitions now."""

    words: str
    partitions: list[int]


class UnreadLine(TypedDict):
    """A line of a file that was not read."""

    file: str
    line: int
    name: str
    why: str
    near: str


class SafeData(TypedDict):
    """The answer to ``safe``."""

    release: str
    verdict: str
    hangs_on_elr: bool
    has_eligible_leader_replicas: bool | None
    settings: list[Given]
    harms: list[HarmData]
    beyond: list[HarmData]
    seen: list[Seen]
    remedy: Mapping[str, object]
    now: list[Now]
    transactions: list[Annotated[Row, "kafkalearn.oncall.transactional:Trouble"]]
    share: list[Annotated[Row, "kafkalearn.oncall.transactional:Trouble"]]
    notes: list[str]
    unread: list[UnreadLine]


class UpgradeFile(TypedDict):
    """A file that was read."""

    file: str
    side: str


class UpgradeData(TypedDict):
    """The answer to ``upgrade``."""

    old: str
    new: str
    is_released: bool
    files: list[UpgradeFile]
    findings: list[Annotated[Row, "kafkalearn.oncall.upgrade:Finding"]]


class WhereData(TypedDict):
    """The answer to ``where``."""

    kind: str
    topic: str | None
    partition_count: int
    places: list[Annotated[Row, "kafkalearn.oncall.where:Place"]]
    leaders_from: str | None
    notes: list[str]
    offline: list[int]
    disagreeing: list[str]


# build.


class StageData(TypedDict):
    """What one stage came to."""

    number: int
    name: str
    title: str
    chapter: str
    outcome: str
    request: int | None
    words: str
    came: object
    kafka: object


class BuildData(TypedDict):
    """The answer to ``build`` of a server."""

    address: str
    release: str
    stages: list[StageData]


class TextData(TypedDict):
    """A text that is printed as it is."""

    text: str


# xray.


class FileData(TypedDict):
    """One segment file."""

    path: str
    base_offset: int
    size_bytes: int
    readable_bytes: int
    batch_count: int
    unread: list[Annotated[Row, "kafkalearn.formats.segments:Unread"]]


class CleaningData(TypedDict):
    """What the cleaner would do to a log."""

    dirty_ratio: float
    first_dirty_offset: int
    first_uncleanable_offset: int
    clean_bytes: int
    cleanable_bytes: int
    must_clean: bool
    is_eligible: bool
    active_bytes: int
    next_ms: int | None
    missing_bytes: int | None
    is_simulated: bool
    reasons: Mapping[str, int]
    removed_count: int | None
    kept_count: int | None
    freed_bytes: int | None
    stopped: str | None


class LogData(TypedDict):
    """One log: a partition in one log dir."""

    topic: str
    partition: int
    log_dir: str
    files: list[FileData]
    size_bytes: int
    log_start_offset: int
    log_end_offset: int
    last_stable_offset: int
    batch_count: int
    magic_counts: Mapping[str, int]
    batches_by_codec: Mapping[str, int]
    bytes_by_codec: Mapping[str, int]
    transactional_batch_count: int
    control_records: Mapping[str, int]
    record_count: int
    null_key_count: int | None
    tombstone_count: int | None
    key_bytes: int | None
    value_bytes: int | None
    largest_keys: list[Annotated[Row, "kafkalearn.formats.census:Largest"]]
    largest_values: list[Annotated[Row, "kafkalearn.formats.census:Largest"]]
    oldest: Annotated[Row, "kafkalearn.formats.census:Stamp"] | None
    newest: Annotated[Row, "kafkalearn.formats.census:Stamp"] | None
    future_batch_count: int
    horizon_batch_count: int
    earliest_horizon_ms: int | None
    latest_horizon_ms: int | None
    producer_count: int
    open_transactions: list[Annotated[Row, "kafkalearn.formats.census:OpenTransaction"]]
    waiting: list[str]
    leader_epochs: list[list[int]]
    checkpoints: Mapping[str, int | None]
    leader_epoch_checkpoint: list[list[int]] | None
    cleanup_policy: str
    cleanup_policy_from: str | None
    cleaning: CleaningData | None
    retention: Annotated[Row, "kafkalearn.oncall.xray_logs:RetentionXray"] | None
    why: list[str]


class XrayGroup(TypedDict):
    """One group of the offsets topic."""

    group_id: str
    kind: str
    state: str
    members: list[Annotated[Row, "kafkalearn.oncall.xray_report:MemberXray"]]
    offsets: list[Annotated[Row, "kafkalearn.oncall.xray_report:OffsetXray"]]
    commit_count: int
    commits_an_hour: float | None
    last_commit_ms: int | None
    size_bytes: int
    share: float
    kept_until_ms: int | None
    first_expiry_ms: int | None
    kept_because: str
    member_count: int
    offset_count: int
    is_dead: bool


class Broker(TypedDict):
    """A broker as KRaft's metadata have it."""

    id: int
    is_fenced: bool


class TopicData(TypedDict):
    """A topic as KRaft's metadata have it."""

    name: str
    topic_id: str
    partition_count: int
    settings: Mapping[str, str]


class ClusterData(TypedDict):
    """What KRaft's metadata say."""

    folder: str
    snapshot: str | None
    end_offset: int
    record_counts: Mapping[str, int]
    features: Mapping[str, int]
    brokers: list[Broker]
    broker_settings: Mapping[str, Mapping[str, str]]
    topics: list[TopicData]


class RecordData(TypedDict):
    """One record."""

    log: str
    offset: int
    timestamp_ms: int
    codec: str
    producer_id: int
    is_transactional: bool
    control: str | None
    headers: list[list[str | None]]
    key: str | None
    value: str | None
    decoded: Mapping[str, object] | None


class ShareData(TypedDict):
    """One share-partition."""

    group: str
    topic: str
    topic_id: str
    partition: int
    start_offset: int | None
    complete_count: int | None
    snapshot_epoch: int
    state_epoch: int
    leader_epoch: int
    written_ms: int
    batches: list[list[int | str]]
    end_offset: int | None
    lag: int | None


class TransactionalIdData(TypedDict):
    """One transactional id, as the transactions' topic has it."""

    transactional_id: str
    producer_id: int
    producer_epoch: int
    state: str
    partitions: list[str]
    timeout_ms: int
    updated_ms: int
    started_ms: int | None


class XrayData(TypedDict):
    """The answer to ``xray``."""

    now_ms: int
    has_records: bool
    findings: list[Annotated[Row, "kafkalearn.oncall.xray_given:Finding"]]
    logs: list[LogData]
    groups: list[XrayGroup] | None
    gone_group_count: int | None
    clusters: list[ClusterData]
    records: list[RecordData]
    share_partitions: list[ShareData] | None
    transactional_ids: list[TransactionalIdData] | None


class QuorumNode(TypedDict):
    """A replica of the metadata log."""

    id: int
    is_voter: bool
    lag: int | None
    fetched_ago_ms: int | None
    endpoints: list[str]
    directory: str | None
    has_asked: bool | None
    is_silent: bool


class QuorumData(TypedDict):
    """The answer to ``quorum``."""

    leader: int | None
    epoch: int | None
    high_watermark: int | None
    majority: int
    may_fail: int | None
    nodes: list[QuorumNode]
    differences: list[str]
    findings: list[str]


ANSWERS: Mapping[str, tuple[type, ...]] = {
    "build": (BuildData, TextData), "lag": (LagData,), "quorum": (QuorumData,), "safe": (SafeData,),
    "upgrade": (UpgradeData,), "where": (WhereData,), "why": (WhyData,), "xray": (XrayData,),
}  # fmt: skip
"""The shapes that each question's answer may have, without the version, the question and the outcome that all have."""
