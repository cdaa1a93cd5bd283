"""What leaders have written: the share coordinator inside a cluster of share groups.

Its rules are `kafkalearn.coordinator.share_states`; here stands how a leader and the group coordinator ask it. It
knows a topic by its id; where no id was given the name stands for it.
"""

from __future__ import annotations

from collections import Counter

from kafkalearn.base.checks import LARGEST_INT
from kafkalearn.base.errors import KafkaLearnError, shown
from kafkalearn.coordinator import share_states
from kafkalearn.coordinator.share_model import Answer, Coordinator, Event, Kept
from kafkalearn.coordinator.share_model import Settings as CoordinatorSettings
from kafkalearn.formats.share_state_log import STATES, SharePartition, ShareState, StateBatch
from kafkalearn.sharing.events import StateWritten
from kafkalearn.sharing.model import Cluster, Settings, topic_of

STATE_NAMES = dict(STATES)
STATE_IDS = {name: number for number, name in STATE_NAMES.items()}

__all__ = ["STATE_IDS", "STATE_NAMES", "Answer", "Kept", "ShareState", "StateBatch", "asked", "state_of", "whose"]


def whose(settings: Settings, group: str, partition: str) -> SharePartition:
    """A share-partition as the coordinator names it; ``t--1`` is the partition -1 of t, which somebody may ask for.

    >>> whose(Settings(), "g", "t--1")
    SharePartition(group_id='g', topic_id='t', partition=-1)
    """
    topic, _, index = partition.rpartition("-")
    if not topic or not (index.isascii() and index.isdigit()) or len(index) > len(str(LARGEST_INT)):
        raise KafkaLearnError(f"partition must be a topic and an index such as 't-0', got {shown(partition)}")
    is_negative = topic.endswith("-") and len(topic) > 1
    name, number = (topic[:-1], -int(index)) if is_negative else (topic, int(index))
    return SharePartition(group, dict(settings.topic_ids).get(name, name), number)


def asked(settings: Settings, cluster: Cluster, event: Event) -> tuple[Cluster, Answer | None, list[StateWritten]]:
    """What the share coordinator has after a request, what it answered, and what it wrote."""
    ids = dict(settings.topic_ids)
    topics = [topic_of(log.name) for log in cluster.logs]
    counts = Counter(ids.get(topic, topic) for topic in topics)
    chosen = CoordinatorSettings(
        counts, settings.release, settings.snapshot_update_records, settings.cold_snapshot_interval_ms
    )
    after = share_states.step(chosen, Coordinator(cluster.stored), event)
    names = {identity: name for name, identity in ids.items()}
    written = []
    for effect in after.effects:
        found = effect.state.share_partition if isinstance(effect, share_states.Snapshot) else effect.share_partition
        name = f"{names.get(found.topic_id, found.topic_id)}-{found.partition}"
        written.append(StateWritten(found.group_id, name, effect))
    return cluster.with_stored(after.kept), after.answer, written


def state_of(settings: Settings, cluster: Cluster, group: str, partition: str) -> ShareState | None:
    """What the share coordinator has of a share-partition; None: nothing."""
    wanted = whose(settings, group, partition)
    return next((each.state for each in cluster.stored if each.state.share_partition == wanted), None)
