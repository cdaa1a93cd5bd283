"""A log that is cut under its readers, in words: a sentence or two about a frame, and the whole of it as text."""

from __future__ import annotations

from kafkalearn.consuming.truncation import GroupRead, Settings
from kafkalearn.consuming.truncation.effects import (
    Assigned,
    Committed,
    Effect,
    ExceptionThrown,
    Fetched,
    MetadataLearnt,
    NoLeaderKnown,
    OffsetReset,
    OffsetsForLeaderEpochAnswered,
    TruncationFound,
)
from kafkalearn.consuming.truncation.events import Assign, Commit, Event, Poll, RefreshMetadata
from kafkalearn.consuming.truncation.promises import broken
from kafkalearn.consuming.truncation.state import Consumer, Position
from kafkalearn.phrases import capitalised
from kafkalearn.replication.effects import NONE
from kafkalearn.replication.state import Partition
from kafkalearn.trace import Frame
from kafkalearn.views.replication.effects import effects_in_words, event_in_words, falls_in_words, offsets_in_words
from kafkalearn.views.replication.words import log_in_words

OF_CONSUMERS = (Assign, Commit, Poll, RefreshMetadata)


def describe_truncation(
    settings: Settings,
    frame: Frame[GroupRead, Event],
    before: Frame[GroupRead, Event] | None = None,
) -> str:
    """What happened, what brokers answered, and which hope is broken now.

    >>> from kafkalearn.consuming.truncation import Assign, Commit, Poll, simulate
    >>> from kafkalearn.replication import Fetch, Produce
    >>> settings = Settings()
    >>> trace = simulate(settings, [Produce(1, acks=1), Fetch(2), Fetch(3), Fetch(2), Fetch(3), Assign("A"), Poll()])
    >>> describe_truncation(settings, trace[7], trace[6])
    'A polls. A begins at offset 0.'
    """
    said = [event_words(frame, before)]
    if frame.event is not None:
        said += [each for each in map(_effect_words, frame.state.effects) if each]
    if frame.event is not None and not isinstance(frame.event, OF_CONSUMERS):
        partition, earlier = _of_partition(frame), None if before is None else before.state.partition
        said += [*effects_in_words(partition), *falls_in_words(partition.state, earlier)]
    known = () if before is None else broken(settings, before.state)
    said += [f"broken: {name}" for name in broken(settings, frame.state) if name not in known]
    return " ".join(f"{capitalised(each)}." for each in said)


def truncation_text(
    settings: Settings,
    frame: Frame[GroupRead, Event],
    before: Frame[GroupRead, Event] | None = None,
) -> str:
    """A frame as plain text: what happened, each log, each consumer, and what is committed.

    >>> from kafkalearn.consuming.truncation import simulate
    >>> print(truncation_text(Settings(), simulate(Settings(), [])[0]).splitlines()[-1])
    committed: nothing
    """
    state = frame.state
    logs = [
        f"broker {broker_id} ({replica.broker.status}): {log_in_words(replica.log)}"
        for broker_id, replica in enumerate(state.partition.replicas, 1)
    ]
    consumers = [f"consumer {each.name}: {_stands(each)}; takes for the leader {consumer_words(each)}"
                 for each in state.consumers]  # fmt: skip
    committed = "nothing" if state.committed is None else position_words(state.committed)
    return "\n".join([describe_truncation(settings, frame, before), *logs, *consumers, f"committed: {committed}"])


def event_words(frame: Frame[GroupRead, Event], before: Frame[GroupRead, Event] | None = None) -> str:
    """The event, without its end.

    >>> from kafkalearn.consuming.truncation import RefreshMetadata, simulate
    >>> event_words(simulate(Settings(), [RefreshMetadata("B", 2)])[1])
    'B asks broker 2 who leads'
    """
    state = frame.state
    match frame.event:
        case Assign(consumer):
            return f"{consumer} is given the partition"
        case Poll():
            return f"{_owner(state)} polls"
        case Commit():
            return f"{_owner(state)} commits"
        case RefreshMetadata(consumer, broker_id):
            return f"{consumer} asks broker {broker_id} who leads"
    return event_in_words(_of_partition(frame), None if before is None else before.state.partition)


def consumer_words(consumer: Consumer) -> str:
    """Whom a consumer takes for the leader; in front the epoch that it has heard of, if that is newer."""
    if consumer.leader is None:
        return "nobody"
    known = f"broker {consumer.leader}" + (f", epoch {consumer.leader_epoch}" if consumer.leader_epoch >= 0 else "")
    return known if consumer.knows_leader else f"nobody in epoch {consumer.newest_epoch}"


def position_words(position: Position) -> str:
    """Where to read on, and what is known of the record before.

    >>> position_words(Position(3, 1)), position_words(Position(3))
    ('3, epoch 1', '3, no epoch')
    """
    return f"{position.offset}, " + ("no epoch" if position.epoch is None else f"epoch {position.epoch}")


def _stands(consumer: Consumer) -> str:
    if consumer.position is None:
        return "the partition is not its own"
    begins = "has to look up where to begin" if consumer.position.offset < 0 else position_words(consumer.position)
    return f"{begins}, {consumer.doing}"


def _owner(state: GroupRead) -> str:
    return "nobody" if state.owner is None else state.owner.name


def _of_partition(frame: Frame[GroupRead, Event]) -> Frame[Partition, Event]:
    return Frame(frame.index, frame.event, frame.state.partition)


def _effect_words(effect: Effect) -> str:
    match effect:
        case Assigned(offset=None):
            return "nothing is committed: it has to look up where to begin"
        case Assigned(_, offset, epoch):
            return f"it starts from what is committed: {position_words(Position(offset, epoch))}"
        case MetadataLearnt(_, leader, leader_epoch, is_used):
            heard = f"the answer: {'nobody' if leader is None else f'broker {leader}'} leads in epoch {leader_epoch}"
            return heard if is_used else f"{heard}, older than what it has heard of, so it does not use it"
        case NoLeaderKnown(consumer):
            return f"{consumer} has nobody to ask"
        case OffsetsForLeaderEpochAnswered(_, asked, epoch, end_offset, error):
            if error != NONE:
                return f"asked where epoch {asked} ends, the broker answers {error}"
            return f"asked where epoch {asked} ends, the leader answers: epoch {epoch} ends at {end_offset}"
        case Fetched(consumer, offsets, error):
            if error != NONE:
                return f"the broker answers {error}"
            return f"{consumer} gets {offsets_in_words([*offsets])}" if offsets else f"{consumer} gets nothing"
        case TruncationFound(consumer, from_offset, to_offset):
            return f"{consumer} finds the log cut, and goes on at {to_offset} in place of {from_offset}"
        case OffsetReset(consumer, None, to_offset):
            return f"{consumer} begins at offset {to_offset}"
        case OffsetReset(consumer, from_offset, to_offset):
            return f"{consumer} was at {from_offset} and begins anew at {to_offset}"
        case ExceptionThrown(consumer, name):
            return f"{consumer} gets a {name}"
        case Committed(offset, epoch):
            return f"committed: {position_words(Position(offset, epoch))}"
    return ""
