"""One event at work: the cluster as it is by now, what is still to be written, which fetches have been answered.

A request does not wait for the share coordinator in between: it changes what the leader has in memory, looks what else
can be done, and only then is a write answered, in the order in which they were asked for. `Turn` keeps that order.
It lives for one step; what it begins with and what it ends with are frozen.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace

from kafkalearn.coordinator.share_model import Answer as StateAnswer
from kafkalearn.coordinator.share_model import Event as StateEvent
from kafkalearn.coordinator.share_model import Write as StateWrite
from kafkalearn.releases.lines import at_least
from kafkalearn.sharing import acknowledging, dead_letters, in_flight, stored
from kafkalearn.sharing.acknowledging import GroupLimits, StateChange
from kafkalearn.sharing.events import AcknowledgedPartition, Configs, FetchedPartition
from kafkalearn.sharing.model import (
    ACKNOWLEDGED,
    ARCHIVED,
    ARCHIVING,
    DLQ_TOPIC_NAME,
    Cluster,
    Group,
    Key,
    Log,
    Session,
    Settings,
    SharePartition,
    Waiting,
)
from kafkalearn.sharing.stored import STATE_IDS, StateBatch

WRITE_ERRORS = {
    "FENCED_STATE_EPOCH": "NOT_LEADER_OR_FOLLOWER",
    "FENCED_LEADER_EPOCH": "NOT_LEADER_OR_FOLLOWER",
    "UNKNOWN_TOPIC_OR_PARTITION": "UNKNOWN_TOPIC_OR_PARTITION",
    "GROUP_ID_NOT_FOUND": "GROUP_ID_NOT_FOUND",
}
"""What a client is told of an error of the share coordinator; all others are UNKNOWN_SERVER_ERROR."""

FORGETS = ("NOT_LEADER_OR_FOLLOWER", "GROUP_ID_NOT_FOUND", "UNKNOWN_TOPIC_OR_PARTITION")
"""The errors by which a leader forgets what it has of a share-partition."""


CHANGE, LOCK, ARCHIVE = "change", "lock", "archive"


@dataclass(frozen=True)
class Write:
    """What a leader asks the share coordinator to write, as it was when it asked.

    `kind` says what became of them in memory: a CHANGE is taken back if it cannot be written; that a lock ran out
    (LOCK), or that a dead letter was sent (ARCHIVE), is not.
    """

    key: Key
    state_epoch: int
    leader_epoch: int
    start_offset: int
    done_count: int
    changes: tuple[StateChange, ...]
    kind: str = CHANGE


class Turn:
    """What a step has at hand."""

    def __init__(self, settings: Settings, cluster: Cluster) -> None:
        """Begin with the cluster as it is before the event."""
        self.settings, self.cluster = settings, cluster
        self.effects: list[object] = []
        self.writes: deque[tuple[Write, Callable[[str, str], None]]] = deque()
        self.letters: deque[tuple[Key, StateChange]] = deque()
        self.answered: list[tuple[Waiting, dict[str, FetchedPartition]]] = []
        self.look_again: Callable[[str, str], None] = lambda group, partition: None

    # What there is.

    def share(self, key: Key) -> SharePartition | None:
        """What the leader has of a share-partition."""
        return self.cluster.share_partition(*key)

    def log(self, partition: str) -> Log:
        """A partition that there is."""
        log = self.cluster.log(partition)
        assert log is not None
        return log

    def configs(self, group: str) -> dict[str, str]:
        """What was set for a group."""
        return self.cluster.configs_of(group)

    def lock_duration_ms(self, group: str | None) -> int:
        """How long a lock lasts that begins now."""
        return int(
            self.configs(group or "").get("share.record.lock.duration.ms", self.settings.record_lock_duration_ms)
        )

    def delivery_limit(self, group: str) -> int:
        """How often a record may be delivered."""
        return int(self.configs(group).get("share.delivery.count.limit", self.settings.delivery_count_limit))

    def max_locks(self, group: str) -> int:
        """How many records may be in flight."""
        return int(self.configs(group).get("share.partition.max.record.locks", self.settings.max_record_locks))

    def is_committed(self, group: str) -> bool:
        """Whether a group reads committed records alone."""
        return self.configs(group).get("share.isolation.level") == "read_committed"

    def rules(self, group: str) -> GroupLimits:
        """The settings of a group by which records are acknowledged now."""
        configs = self.configs(group)
        return GroupLimits(
            self.delivery_limit(group),
            self.cluster.now_ms + self.lock_duration_ms(group),
            configs.get("share.renew.acknowledge.enable", "true") == "true",
            self.settings.has_dead_letters and bool(configs.get(DLQ_TOPIC_NAME)),
        )

    # What changes.

    def change(self, **changed: object) -> None:
        """Replace parts of the cluster."""
        self.cluster = replace(self.cluster, **changed)  # type: ignore[arg-type]

    def put(self, share: SharePartition) -> None:
        """Keep what a leader has in memory now."""
        others = self.cluster.share_partitions
        if any(each.key == share.key for each in others):
            self.change(share_partitions=tuple(share if each.key == share.key else each for each in others))
        else:
            self.change(share_partitions=(*others, share))

    def forget(self, key: Key) -> None:
        """A leader forgets a share-partition."""
        if self.share(key) is not None:
            left = tuple(each for each in self.cluster.share_partitions if each.key != key)
            self.change(share_partitions=left)
            self.look_again(*key)

    def put_log(self, log: Log) -> None:
        """Keep a partition as it is now."""
        self.change(logs=tuple(log if each.name == log.name else each for each in self.cluster.logs))

    def ask(self, event: StateEvent) -> StateAnswer:
        """Ask the share coordinator; what it writes is an effect of the step."""
        self.cluster, answer, written = stored.asked(self.settings, self.cluster, event)
        self.effects += written
        return answer or StateAnswer()

    def put_group(self, group: Group) -> None:
        """Keep a group as it is now."""
        others = self.cluster.groups
        if any(each.id == group.id for each in others):
            self.change(groups=tuple(group if each.id == group.id else each for each in others))
        else:
            self.change(groups=(*others, group))

    def put_session(self, session: Session) -> None:
        """Keep a session as it is now."""
        name = (session.broker, session.group, session.member)
        others = tuple(each for each in self.cluster.sessions if (each.broker, each.group, each.member) != name)
        self.change(sessions=(*others, session))

    def put_configs(self, group: str, configs: Configs) -> None:
        """Set what is set for a group."""
        others = tuple(each for each in self.cluster.configs if each[0] != group)
        self.change(configs=tuple(sorted((*others, (group, configs)))))

    # What is written.

    def write(
        self,
        share: SharePartition,
        changes: tuple[StateChange, ...],
        then: Callable[[str, str], None] = lambda error, message: None,
        kind: str = CHANGE,
    ) -> None:
        """Keep a share-partition and ask the share coordinator to write what has changed in it."""
        self.put(share)
        write = Write(
            share.key, share.state_epoch, share.leader_epoch, share.start_offset, share.done_count, changes, kind
        )
        self.writes.append((write, then))

    def settle(self) -> None:
        """The share coordinator answers all that it was asked to write; then dead letters go, one after the other."""
        while self.writes or self.letters:
            if self.writes:
                write, then = self.writes.popleft()
                error, message = self._stored(write)
                then(error, message)
                self._after_write(write, error)
            else:
                key, change = self.letters.popleft()
                self.cluster = dead_letters.sent(self.settings, self.cluster, key, change)
                self._archive(key, change)

    def _stored(self, write: Write) -> tuple[str, str]:
        """What is stored after a write, and what the client is told."""
        batches = tuple(StateBatch(each.first, each.last, STATE_IDS[each.state], each.count) for each in write.changes)
        whose = stored.whose(self.settings, *write.key)
        answer = self.ask(StateWrite(
            whose, write.state_epoch, write.leader_epoch, write.start_offset, batches, write.done_count,
            self.cluster.now_ms,
        ))  # fmt: skip
        if answer.error != "NONE":
            words = f"Error in write state RPC. {answer.message}" if answer.message else ""
            return WRITE_ERRORS.get(answer.error, "UNKNOWN_SERVER_ERROR"), words
        self._tell_apart(write)
        return "NONE", ""

    def _tell_apart(self, write: Write) -> None:
        """Note which records were accepted, and which were given up though nobody had accepted them."""
        group, partition = write.key
        found: dict[str, set[tuple[str, str, int]]] = {ACKNOWLEDGED: set(), ARCHIVED: set()}
        for each in write.changes:
            found.get(each.state, set()).update(
                (group, partition, offset) for offset in range(each.first, each.last + 1)
            )
        self.change(
            accepted=self.cluster.accepted | found[ACKNOWLEDGED],
            given_up=self.cluster.given_up | (found[ARCHIVED] - self.cluster.accepted),
        )

    def _after_write(self, write: Write, error: str) -> None:
        share = self.share(write.key)
        if share is None:
            return
        if error != "NONE" and write.kind == CHANGE:
            self.put(acknowledging.undone(share, write.changes))
            if error in FORGETS:
                self.forget(write.key)
            return
        if write.kind == CHANGE:
            share = acknowledging.completed(share, write.changes)
        share, has_moved = self._moved(share)
        self.put(share)
        if has_moved and write.kind != LOCK:
            self.look_again(*write.key)
        self.letters.extend((write.key, each) for each in write.changes if each.state == ARCHIVING)

    def _moved(self, share: SharePartition) -> tuple[SharePartition, bool]:
        try:
            return in_flight.moved_start(share)
        except in_flight.BrokerFailedError:
            return share, False  # the client notices nothing

    def _archive(self, key: Key, change: StateChange) -> None:
        """What was ARCHIVING is ARCHIVED, and that is written."""
        share = self.share(key)
        if share is not None:
            share = acknowledging.dead_letter_written(share, change)
            self.write(share, (replace(change, state=ARCHIVED, reason=""),), kind=ARCHIVE)

    def resume_dead_letters(self, key: Key) -> None:
        """What was stored as ARCHIVING goes to the dead letters again."""
        share = self.share(key)
        limit = self.delivery_limit(key[0])
        for batch in share.batches if share is not None else ():
            if batch.whole is not None and batch.whole.state == ARCHIVING:
                reason = "limit" if batch.whole.count >= limit else "rejected"
                self.letters.append((key, StateChange(batch.first, batch.last, ARCHIVING, batch.whole.count, reason)))

    def leader_of(self, partition: str) -> tuple[int, int]:
        """Which broker leads a partition, and its epoch."""
        log = self.log(partition)
        return log.leader, log.leader_epoch

    def acknowledged(self, partition: str, error: str, message: str = "") -> AcknowledgedPartition:
        """What is answered for a partition; with the leader where the error is about it."""
        is_of_leader = error in ("NOT_LEADER_OR_FOLLOWER", "FENCED_LEADER_EPOCH")
        return AcknowledgedPartition(partition, error, message, self.leader_of(partition) if is_of_leader else None)

    @property
    def is_before_4_3(self) -> bool:
        """Whether the release is of the line 4.2."""
        return not at_least("4.3", self.settings.release)

    @property
    def is_since_4_4(self) -> bool:
        """Whether the release is of the line 4.4 or later."""
        return at_least("4.4", self.settings.release)
