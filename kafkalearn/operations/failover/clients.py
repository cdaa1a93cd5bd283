"""What a client does in a second, and what it makes of an answer."""

from __future__ import annotations

from kafkalearn.operations.coordinator_life.effects import Answered
from kafkalearn.operations.coordinator_life.events import FIND, JOIN, Request
from kafkalearn.operations.coordinator_life.requests import (
    LOAD_IN_PROGRESS,
    NONE,
    NOT_AVAILABLE,
    NOT_COORDINATOR,
    REBALANCE_IN_PROGRESS,
    UNKNOWN_MEMBER_ID,
)
from kafkalearn.operations.coordinator_life.simulator import step as step_life
from kafkalearn.operations.failover.effects import Heard
from kafkalearn.operations.failover.settings import Settings
from kafkalearn.operations.failover.state import Client, Failover

NO_CONNECTION = "no connection"
GOES_ON, KNOWS, LOOKS, WAITS, REJOINS = (
    "goes on", "knows whom to ask", "looks for the coordinator", "waits, then asks the same broker", "joins again",
)  # fmt: skip

THEN = {
    NONE: GOES_ON,
    NO_CONNECTION: LOOKS,
    NOT_COORDINATOR: LOOKS,
    NOT_AVAILABLE: LOOKS,
    LOAD_IN_PROGRESS: WAITS,
    REBALANCE_IN_PROGRESS: REJOINS,
    UNKNOWN_MEMBER_ID: REJOINS,
}
"""What each error makes a client do: ``AbstractCoordinator``, ``ConsumerCoordinator``, ``CommitRequestManager``."""


def act(settings: Settings, state: Failover, name: str) -> Failover:
    """The state after a client has done what it does in this second.

    Who knows no coordinator asks any broker that lives; if it hears a name it asks there in the same second. What
    fails is tried again in the next one: in truth after ``retry.backoff.ms``, a tenth of that.
    """
    client = state.client(name)
    if client.due_s > state.second:
        return state
    if client.coordinator is None:
        state = _find(settings, state, client)
        client = state.client(name)
        if client.coordinator is None:
            return state
    return _ask(settings, state, client)


def _find(settings: Settings, state: Failover, client: Client) -> Failover:
    if not state.live:
        return _unserved(state, client, None)
    asked = state.live[0]
    life = step_life(settings.life, state.life, Request(asked, FIND, client.group_id))
    (answer,) = (each for each in life.effects if isinstance(each, Answered))
    then = KNOWS if answer.error == NONE else LOOKS
    heard = Heard(client.name, asked, FIND, answer.error, then)
    return (
        _unserved(state, client, answer.value, heard)
        if answer.value is None
        else state.with_client(client._replace(coordinator=answer.value), heard)
    )


def _ask(settings: Settings, state: Failover, client: Client) -> Failover:
    broker_id = client.coordinator
    assert broker_id is not None, "who asks knows a coordinator"
    error = NO_CONNECTION
    if state.is_up(broker_id):
        offset = client.asked_count
        request = Request(broker_id, client.api, client.group_id, client.member_id, offset)
        life = step_life(settings.life, state.life, request)
        (answer,) = (each for each in life.effects if isinstance(each, Answered))
        error, state = answer.error, state.with_life(life)
    heard = Heard(client.name, broker_id, client.api, error, THEN[error])
    client = client._replace(asked_count=client.asked_count + 1)
    if error == NONE:
        later = client._replace(due_s=_next_s(state, client), unserved_since_s=None)
        return state.with_client(later, heard)
    if THEN[error] == REJOINS:
        client = client._replace(api=JOIN)
    return _unserved(state, client, None if THEN[error] == LOOKS else broker_id, heard)


def _next_s(state: Failover, client: Client) -> int:
    return state.second + client.interval_s if client.interval_s is not None else NEVER_S


NEVER_S = 2**31


def _unserved(state: Failover, client: Client, coordinator: int | None, *heard: Heard) -> Failover:
    since = state.second if client.unserved_since_s is None else client.unserved_since_s
    again = client._replace(coordinator=coordinator, due_s=state.second + 1, unserved_since_s=since)
    return state.with_client(again, *heard)
