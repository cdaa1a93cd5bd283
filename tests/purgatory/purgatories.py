"""Purgatories for tests: reached by events, with every state on the way checked."""

from kafkalearn.purgatory.operations import Operation, Reached, Settings, TryCompleteElseWatch, check, start, step

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
