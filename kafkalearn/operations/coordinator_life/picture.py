"""A coordinator's life in words and drawn: what each broker is to the partition, remembers, and still has to do."""

from __future__ import annotations

from kafkalearn.base.errors import KafkaLearnError, capitalised, listed
from kafkalearn.base.facts import in_words
from kafkalearn.base.trace import Frame
from kafkalearn.drawing import kit, svg
from kafkalearn.drawing.player import Picture
from kafkalearn.operations.coordinator_life import model
from kafkalearn.operations.leadership import LeaderChanged

STATUS_WORDS = {
    "owned": "coordinates",
    "loading": "loads",
    "not owned": "is no coordinator",
    "failed": "could not load",
}


def describe_coordinator_life(
    frame: Frame[model.Life, model.Event], before: Frame[model.Life, model.Event] | None = None
) -> str:
    """What happened, and what it led to.

    >>> from kafkalearn.operations.coordinator_life import BrokerFenced, Settings, simulate
    >>> describe_coordinator_life(simulate(Settings(), [BrokerFenced(1)])[1])
    'Broker 1 is lost: broker 2 leads the partition, epoch 1; broker 2 is to take over (epoch 1).'
    """
    said = [words for words in map(_effect_words, frame.state.effects) if words]
    return f"{capitalised(_event_words(frame.event))}: {'; '.join(said) or 'nothing else'}."


def _event_words(event: model.Event | None) -> str:
    match event:
        case model.BrokerFenced(broker_id=broker_id):
            return f"broker {broker_id} is lost"
        case model.BrokerUnfenced(broker_id=broker_id):
            return f"broker {broker_id} is back"
        case model.LeaderImbalanceChecked():
            return "the controller looks who leads and who should"
        case model.Request(broker_id=broker_id, api=api, group_id=group_id):
            return f"{group_id} asks broker {broker_id}, {api}"
        case None:
            return "the start"
    return in_words(event) or type(event).__name__


def _effect_words(effect: object) -> str:
    match effect:
        case LeaderChanged(leader=leader, leader_epoch=epoch):
            return f"broker {leader} leads the partition, epoch {epoch}" if leader else "nobody can lead the partition"
        case model.OrderIssued(broker_id=broker_id, kind=kind, epoch=epoch):
            return f"broker {broker_id} is to {'take over' if kind == 'election' else 'resign'} (epoch {epoch})"
        case model.Answered(error="NONE", value=None):
            return "no error"
        case model.Answered(error="NONE", value=value):
            return f"the answer is {value}"
        case model.Answered(error=error):
            return error
    return in_words(effect)


def _lines(life: model.Life, coordinator: model.Coordinator) -> list[str]:
    """What a broker is to the partition, what it remembers, which orders wait, and when it looks for what expired."""
    if not life.is_up(coordinator.broker_id):
        return ["is down"]
    status = STATUS_WORDS[coordinator.status] if coordinator.is_active else "its coordinator has not started"
    remembered = [
        f"{group.group_id} {', '.join(str(each.offset) for each in group.offsets)}".strip()
        for group in coordinator.groups
    ]
    lines = [status, f"in memory: {listed(remembered) if remembered else 'nothing'}"]
    if coordinator.orders:
        orders = ("take over" if each.kind == "election" else "resign" for each in coordinator.orders)
        lines.append(f"still to do: {', '.join(orders)}")
    sweep = coordinator.next_sweep_ms
    due = "no task" if sweep is None else f"in {(sweep - life.now_ms) // 1000} s"
    return [*lines, f"its next look for expired offsets: {due}"]


# Drawn: a panel for each broker, its lines below each other; what is new is marked.

WIDTH, NAMES, PANEL_HEIGHT = svg.WIDTH - 40, 130, 98
MOST_BROKERS = 3


def draw_coordinator_life(
    frame: Frame[model.Life, model.Event], before: Frame[model.Life, model.Event] | None = None
) -> Picture:
    """A panel for each broker: what it is to the partition, what it remembers, and what it still has to do.

    >>> from kafkalearn.operations.coordinator_life import Settings, simulate
    >>> draw_coordinator_life(simulate(Settings(), [])[0]).label
    'The start: nothing else.'

    Raises
    ------
    KafkaLearnError
        If there are more than three brokers.
    """
    life, was = frame.state, (before or frame).state
    if len(life.coordinators) > MOST_BROKERS:
        raise KafkaLearnError(f"the picture has room for {MOST_BROKERS} brokers, got {len(life.coordinators)}")
    leads = f"broker {life.leader} leads the partition" if life.leader else "nobody leads the partition"
    page = kit.stack(
        kit.label(capitalised(_event_words(frame.event)), svg.TITLE, bold=True),
        kit.label(f"{leads}, epoch {life.partition.leader_epoch}", svg.BODY, svg.MUTED),
        kit.space(),
        *(_panel(life, was, each) for each in life.coordinators),
        gap=8,
    )
    return kit.sheet(page, describe_coordinator_life(frame, before), left=20)


def _panel(life: model.Life, was: model.Life, coordinator: model.Coordinator) -> kit.Block:
    """A broker with its lines; the name of who leads is blue."""
    lines, old = _lines(life, coordinator), _lines(was, was.coordinator(coordinator.broker_id))
    colour = svg.LEADER if life.leader == coordinator.broker_id else svg.INK
    name = kit.label(f"broker {coordinator.broker_id}", svg.BODY, colour, bold=True)
    said = kit.stack(*(kit.label(each, **svg.stress(each not in old)) for each in lines), gap=1)
    inside = kit.free(WIDTH, PANEL_HEIGHT, name.draw, lambda x, y: said.draw(x + NAMES, y + 2))
    padded = kit.stack(kit.space(height=5), inside)
    return kit.panel(padded, width=WIDTH, height=PANEL_HEIGHT, is_on=life.is_up(coordinator.broker_id))
