"""What always holds of a coordinator's life, and what those hope for who ask it.

>>> from kafkalearn.operations.coordinator_life.simulator import simulate
>>> from kafkalearn.operations.coordinator_life.events import BrokerLost, OrderCarriedOut, LoadRead
>>> trace = simulate(Settings(), [BrokerLost(1), OrderCarriedOut(2, 1), LoadRead(2)])
>>> [broken(Settings(), frame.state) for frame in trace]
[(), (), (), ()]
"""

from __future__ import annotations

from types import MappingProxyType

from kafkalearn.offsets.store.loading import logged_groups
from kafkalearn.operations.coordinator_life.events import FETCH
from kafkalearn.operations.coordinator_life.requests import PARTITION, TOPIC, answers
from kafkalearn.operations.coordinator_life.settings import BY_EPOCH, Settings
from kafkalearn.operations.coordinator_life.state import Coordinator, Life
from kafkalearn.operations.leadership.promises import INVARIANTS as LEADERSHIP_INVARIANTS
from kafkalearn.promises import Promises, Since, judges, of_inner

ONE_ANSWERS = "when every order is carried out, at most one broker answers"
LEADER_ANSWERS = "when every order is carried out, the leader answers"
NONE_LOST = "when every order is carried out, who answers knows every answered commit"
NEVER_OLD = "not even for a moment does a broker answer with less than was answered"


def _answering(settings: Settings, life: Life) -> list[Coordinator]:
    """The brokers that answer an OffsetFetch from their memory."""
    return [each for each in life.coordinators if life.is_up(each.broker_id) and answers(settings, each, FETCH)]


def _is_settled(life: Life) -> bool:
    """Whether the brokers have done all that the controller asked of them."""
    return not any(each.orders or each.is_reading for each in life.coordinators)


def _one_answers(settings: Settings, life: Life) -> bool:
    return not _is_settled(life) or len(_answering(settings, life)) <= 1


def _leader_answers(settings: Settings, life: Life) -> bool:
    if life.leader is None or not _is_settled(life):
        return True
    leading = life.coordinator(life.leader)
    return leading.is_owned or not leading.is_active


def _none_lost(settings: Settings, life: Life) -> bool:
    return not _is_settled(life) or _never_old(settings, life)


def _never_old(settings: Settings, life: Life) -> bool:
    return all(
        _offset_in(coordinator, group_id) == offset
        for coordinator in _answering(settings, life)
        for group_id, offset in life.answered
    )


def _offset_in(coordinator: Coordinator, group_id: str) -> int | None:
    known = {group.group_id: group.offset(TOPIC, PARTITION) for group in coordinator.groups}
    found = known.get(group_id)
    return None if found is None else found.offset


def _dead_know_nothing(settings: Settings, life: Life) -> bool:
    return all(
        not (each.is_active or each.groups or each.orders or each.is_owned)
        for each in life.coordinators
        if not life.is_up(each.broker_id)
    )


def _epochs_rise(settings: Settings, before: Life, life: Life) -> bool:
    """Where the release remembers it for as long as the broker runs."""
    if settings.order_rule != BY_EPOCH:
        return True
    pairs = zip(before.coordinators, life.coordinators, strict=True)
    return all(now.known_epoch >= was.known_epoch or not life.is_up(now.broker_id) for was, now in pairs)


def _answered_is_logged(settings: Settings, life: Life) -> bool:
    logged = {group.group_id: group.offset(TOPIC, PARTITION) for group in logged_groups(life.log)}
    found = {group_id: each.offset for group_id, each in logged.items() if each is not None}
    return all(found.get(group_id) == offset for group_id, offset in life.answered)


INVARIANTS: Promises = MappingProxyType(
    {
        **of_inner(LEADERSHIP_INVARIANTS, lambda life: life.cluster, lambda settings: settings.leadership),
        "who is dead knows nothing": _dead_know_nothing,
        "who reads the log counts as loading": lambda settings, life: all(
            each.is_loading or not each.is_reading for each in life.coordinators
        ),
        "nobody has heard of an epoch that was never given": lambda settings, life: all(
            each.known_epoch <= life.partition.leader_epoch for each in life.coordinators
        ),
        "a broker that remembers epochs never goes back": Since(_epochs_rise),
        "every answered commit is in the log": _answered_is_logged,
    }
)
"""What holds in every state that can be reached; first those of the leaders."""

PROMISES: Promises = MappingProxyType(
    {ONE_ANSWERS: _one_answers, LEADER_ANSWERS: _leader_answers, NONE_LOST: _none_lost, NEVER_OLD: _never_old}
)
"""What users hope for.

Up to 2.8.0 an order that comes late breaks the first three, from 2.8.1 to 3.9 none does. Since 4.0 orders come in their
order; the third would break if they did not. A record that cannot be read breaks the second. The last one no release
keeps: until the old coordinator has carried out its order, it answers an OffsetFetch from its memory, while the new one
takes commits.
"""

check, broken = judges(INVARIANTS, PROMISES)
