"""Purgatories for tests: reached by events, with every state on the way checked."""

from kafkalearn.purgatory.operations.conditions import Reached
from kafkalearn.purgatory.operations.events import TryCompleteElseWatch
from kafkalearn.purgatory.operations.kinds import Operation
from kafkalearn.purgatory.operations.promises import check
from kafkalearn.purgatory.operations.settings import Settings
from kafkalearn.purgatory.operations.simulator import step
from kafkalearn.purgatory.operations.state import start

SETTINGS = Settings()


def after(*events, purgatory=None, settings=SETTINGS):
    """The purgatory after some events, from a given one or from an empty one."""
    purgatory = start(settings) if purgatory is None else purgatory
    for event in events:
        before, purgatory = purgatory, step(settings, purgatory, event)
        check(settings, purgatory, before)
    return purgatory


def waits(name, *keys, fact=None, timeout_ms=1000):
    """An operation comes that waits until a fact, of its own name by default, is 1."""
    return TryCompleteElseWatch(Operation(name, keys, Reached(((fact or name, 1),)), timeout_ms))
