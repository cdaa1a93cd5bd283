"""A log that is cut under its readers (KIP-320), in words and drawn: the brokers' logs, and what consumers know."""

from __future__ import annotations

from kafkalearn.base.errors import capitalised
from kafkalearn.base.facts import in_words
from kafkalearn.base.promises import broken_in_words
from kafkalearn.base.trace import Frame
from kafkalearn.consuming.truncation import GroupRead, Settings, model
from kafkalearn.consuming.truncation.model import Consumer, Effect, Event, Position
from kafkalearn.consuming.truncation.simulator import broken
from kafkalearn.drawing import svg
from kafkalearn.drawing.axes import Axis
from kafkalearn.drawing.kit import WIDE, Block, beside, free, label, panel, sheet, space, stack
from kafkalearn.drawing.player import Picture
from kafkalearn.replication.events import NONE, ReplicationEvent
from kafkalearn.replication.picture import LEFT, axis_of, fills_legend, log_lane
from kafkalearn.replication.state import DOWN, FROZEN, Partition
from kafkalearn.replication.words import (
    effects_in_words,
    event_in_words,
    falls_in_words,
    log_in_words,
    offsets_in_words,
)

OF_CONSUMERS = (model.Assign, model.Commit, model.Poll, model.RefreshMetadata)


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
    new = [name for name in broken(settings, frame.state) if name not in known]
    said += [broken_in_words(new)] if new else []
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
    consumers = [
        f"consumer {each.name}: {_stands(each)}; takes for the leader {consumer_words(each)}"
        for each in state.consumers
    ]
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
        case model.Assign() | model.RefreshMetadata():
            return in_words(frame.event)
        case model.Poll():
            return f"{_owner(state)} polls"
        case model.Commit():
            return f"{_owner(state)} commits"
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


def _of_partition(frame: Frame[GroupRead, Event]) -> Frame[Partition, ReplicationEvent]:
    """The partition alone: to it a consumer's event is none."""
    event = None if isinstance(frame.event, OF_CONSUMERS) else frame.event
    return Frame(frame.index, event, frame.state.partition)


def _effect_words(effect: Effect) -> str:
    match effect:
        case model.Assigned(_, offset, epoch):
            if offset is None:
                return "nothing is committed: it has to look up where to begin"
            return f"it starts from what is committed: {position_words(Position(offset, epoch))}"
        case model.MetadataLearnt(_, leader, leader_epoch, is_used):
            heard = f"the answer: {'nobody' if leader is None else f'broker {leader}'} leads in epoch {leader_epoch}"
            return heard if is_used else f"{heard}, older than what it has heard of, so it does not use it"
        case model.OffsetsForLeaderEpochAnswered(_, asked, epoch, end_offset, error):
            if error != NONE:
                return f"asked where epoch {asked} ends, the broker answers {error}"
            return f"asked where epoch {asked} ends, the leader answers: epoch {epoch} ends at {end_offset}"
        case model.Fetched(consumer, offsets, error):
            if error != NONE:
                return f"the broker answers {error}"
            return f"{consumer} gets {offsets_in_words([*offsets])}" if offsets else f"{consumer} gets nothing"
        case model.OffsetReset(consumer, None, to_offset):
            return f"{consumer} begins at offset {to_offset}"
        case model.OffsetReset(consumer, from_offset, to_offset):
            return f"{consumer} was at {from_offset} and begins anew at {to_offset}"
        case model.Committed(offset, epoch):
            return f"committed: {position_words(Position(offset, epoch))}"
    return in_words(effect)


ABOVE, BROKER_HEIGHT, CONSUMER_HEIGHT, APART, PAD, KNOWS = 48, 84, 54, 8, 14, 200  # the last: of what a consumer knows


def draw_truncation(
    settings: Settings,
    frame: Frame[GroupRead, Event],
    before: Frame[GroupRead, Event] | None = None,
) -> Picture:
    """One moment: a row for each broker with its log, then one for each consumer, and what the group has committed.

    A stripe is a record's leader epoch. What was cut just now is a ghost; a pointer stands where a consumer reads on.

    Examples
    --------
    >>> from kafkalearn.consuming.truncation import Assign, simulate
    >>> settings = Settings()
    >>> trace = simulate(settings, [Assign("A")])
    >>> draw_truncation(settings, trace[1], trace[0]).label
    'A is given the partition. Nothing is committed: it has to look up where to begin.'
    """
    state, old = frame.state, frame.state if before is None else before.state
    axis = axis_of(state.partition, old.partition)
    page = stack(
        label(capitalised(event_words(frame, before)), svg.TITLE, bold=True, width=WIDE),
        free(WIDE, ABOVE, fills_legend(state.partition).at(axis.left - LEFT, 0), lambda _, y: [axis.numbers(y + 40)]),
        *(_broker(state, old, each, axis) for each in range(1, len(state.partition.replicas) + 1)),
        *(_consumer(each, was, axis) for each, was in zip(state.consumers, old.consumers, strict=True)),
        _committed(state.committed, old.committed),
    )
    return sheet(page, describe_truncation(settings, frame, before), top=10)


def _broker(state: GroupRead, old: GroupRead, broker_id: int, axis: Axis) -> Block:
    """A broker with its log; the leader's name is blue."""
    replica, was = (each.partition.replicas[broker_id - 1] for each in (state, old))
    controller = state.partition.controller
    is_leader, is_off = controller.leader == broker_id, replica.broker.status in (DOWN, FROZEN)
    name = stack(
        label(f"broker {broker_id}", svg.BODY, svg.LEADER if is_leader else svg.INK, bold=True),
        label(_role(replica.broker.status, is_leader, replica.leading is not None)),
        *([label(f"epoch {controller.leader_epoch}")] if is_leader else []),
    )
    log = free(WIDE, BROKER_HEIGHT, name.at(0, 9), lambda _, y: log_lane(replica.log, was.log, axis, y))
    return stack(panel(log, width=WIDE, height=BROKER_HEIGHT, is_on=not is_off), space(height=APART))


def _role(status: str, is_leader: bool, believes_to_lead: bool) -> str:
    if status in (DOWN, FROZEN):
        return status
    if is_leader:
        return "leader"
    return "thinks that it leads" if believes_to_lead else "follower"


def _consumer(consumer: Consumer, was: Consumer, axis: Axis) -> Block:
    """A consumer: where it reads on, below a pointer, and whom it takes for the leader."""
    reads, left = [], axis.left - LEFT - PAD
    match consumer.position:
        case Position(offset) as position if offset >= 0:
            colour, x = svg.MARK if position != was.position else svg.INK, axis.x(offset)
            reads = [label(position_words(position), bold=True).at(x - axis.left + left - 9, 24)]
            reads.append(lambda _, y: [svg.pointer(x, y + 18, colour)])
        case Position():
            reads = [label("has to look up where to begin").at(left, 17)]
    name = label(f"consumer {consumer.name}", svg.BODY, bold=consumer.position is not None)
    knows = stack(label("takes for the leader", colour=svg.MUTED), label(consumer_words(consumer), bold=True))
    row = free(WIDE - 2 * PAD, CONSUMER_HEIGHT, name.at(0, 15), *reads, knows.at(WIDE - 2 * PAD - KNOWS, 7))
    whole = panel(row, width=WIDE, height=CONSUMER_HEIGHT, pad=PAD, is_new=consumer != was)
    return stack(whole, space(height=APART))


def _committed(committed: Position | None, was: Position | None) -> Block:
    words = "nothing" if committed is None else position_words(committed)
    return beside(
        space(PAD),
        label("the group has committed", colour=svg.MUTED),
        space(12),
        label(words, svg.BODY, svg.MARK if committed != was else svg.INK, bold=True),
    )
