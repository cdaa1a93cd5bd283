"""A group with two stores of offsets in words: who looked where, what was written, what a start believed."""

from __future__ import annotations

from kafkalearn.offsets.replicated.effects import Appended, Deferred, Elected, Loaded
from kafkalearn.phrases import begun, counted
from kafkalearn.trace import Frame
from kafkalearn.views.drawing.names import cut_name
from kafkalearn.views.offsets.replicated_words import event_words as broker_words
from kafkalearn.views.zookeeper.fetching_words import span
from kafkalearn.zookeeper.commits import effects, events
from kafkalearn.zookeeper.commits.effects import CommittingEffect
from kafkalearn.zookeeper.commits.events import CommittingEvent
from kafkalearn.zookeeper.commits.state import Consumer, OldGroup
from kafkalearn.zookeeper.layout import last_name

LONGEST_NAME = 20  # characters of a consumer's name
MOST_SAID = 4  # effects that are named


def name_of(name: str) -> str:
    """A consumer's name, short enough for a sentence and for a card."""
    return cut_name(name, LONGEST_NAME)


def describe_offset_stores(
    frame: Frame[OldGroup, CommittingEvent], before: Frame[OldGroup, CommittingEvent] | None = None
) -> str:
    """What the last event did, in a sentence or a few; the frame before it is not needed.

    Examples
    --------
    >>> from kafkalearn.zookeeper.commits import Produce, Read, Settings, Shutdown, Start, simulate
    >>> run = [Start("old"), Produce(0, 8), Read("old", 0, 8), Shutdown("old"), Produce(0, 4), Start("new", "kafka")]
    >>> for frame in simulate(Settings(), run)[3:]:
    ...     print(describe_offset_stores(frame))
    old reads. The application gets 0 to 7 of partition 0.
    old is shut down. ZooKeeper's node of partition 0 gets 8. old has left.
    4 records come to partition 0.
    new starts: topic first, ZooKeeper too. Partition 0: the topic has nothing, ZooKeeper has 8. It begins at 8.
    """
    if frame.event is None:
        return "Nobody is in the group, and both stores are empty."
    said = [_event_words(frame.event), *_effects_words(frame.state)]
    return " ".join(f"{begun(each, _FIRST_WORDS)}." for each in said if each)


def storage_words(consumer: Consumer | events.Start) -> str:
    """Where a consumer commits and looks, in a few words.

    >>> storage_words(events.Start("c1")), storage_words(events.Start("c1", "kafka"))
    ('ZooKeeper alone', 'topic first, ZooKeeper too')
    """
    if consumer.offsets_storage == events.ZOOKEEPER:
        return "ZooKeeper alone"
    return "topic first, ZooKeeper too" if consumer.dual_commit_enabled else "topic alone"


def held(offset: int | None) -> str:
    """What a store has for a partition.

    >>> held(8), held(-1), held(None)
    ('8', 'nothing', 'nothing')
    """
    return "nothing" if offset is None or offset < 0 else str(offset)


_FIRST_WORDS = ("the", "partition", "it", "an", "broker", "and", "no", "members", "a")


def _event_words(event: CommittingEvent) -> str:
    match event:
        case events.Produce(partition, count):
            return f"{counted(count, 'record')} {'comes' if count == 1 else 'come'} to partition {partition}"
        case events.Start(name):
            return f"{name_of(name)} starts: {storage_words(event)}"
        case events.Read(name):
            return f"{name_of(name)} reads"
        case events.Rewind():
            return "an operator writes into ZooKeeper by hand"
        case events.CommitOffsets(name):
            return f"{name_of(name)} commits"
        case events.AutoCommit(name):
            return f"the timer of {name_of(name)} commits"
        case events.BackoffPassed(name):
            return f"{name_of(name)} has waited, and tries again"
        case events.Shutdown(name):
            return f"{name_of(name)} is shut down"
        case events.Crash(name):
            return f"{name_of(name)} crashes"
        case events.StoreGroup():
            return "members of the new kind join the group"
    return broker_words(event)


def _effects_words(group: OldGroup) -> list[str]:
    words = [each for each in map(_effect_words, group.effects) if each]
    appended = sum(len(each.offsets) for each in group.effects if isinstance(each, Appended))
    if appended:
        words.insert(0, f"the topic gets {counted(appended, 'record')}")
    hidden = len(words) - MOST_SAID
    return [*words[:MOST_SAID], *([f"and {hidden} more"] if hidden > 0 else [])]


def _effect_words(effect: CommittingEffect) -> str:
    match effect:
        case effects.Began():
            return _began_words(effect)
        case effects.RecordsRead(_, partition, offsets) if offsets:
            return f"the application gets {span(offsets)} of partition {partition}"
        case effects.ZnodeWritten(path, offset):
            return f"ZooKeeper's node of partition {last_name(path)} gets {offset}"
        case effects.ZnodeUnchanged(path, offset):
            return f"ZooKeeper's node of partition {last_name(path)} is not written: {offset} is no news"
        case Deferred():
            return "the answer waits for the replicas"
        case Elected(broker_id):
            return f"broker {broker_id} is elected, and has to load the topic"
        case Loaded(broker_id, count, status):
            return f"broker {broker_id} has read {counted(count, 'record')} of the topic, and is {status}"
        case effects.Disconnected(name, broker_id):
            return f"{name_of(name)} gives up its channel to broker {broker_id}"
        case effects.BackingOff(name, why, backoff_ms):
            return f"{name_of(name)} waits {backoff_ms} ms: {why}"
        case effects.CommitDropped(name, error):
            return f"the commit of {name_of(name)} is dropped, at log level debug: {error}"
        case effects.Gone(name):
            return f"{name_of(name)} has left"
    return ""


def _began_words(began: effects.Began) -> str:
    asked = {"the topic": began.in_topic, "ZooKeeper": began.in_zookeeper}
    found = ", ".join(f"{store} has {held(offset)}" for store, offset in asked.items() if offset is not None)
    reset = ", as auto.offset.reset says" if began.is_reset else ""
    return f"partition {began.partition}: {found}. It begins at {began.offset}{reset}"
