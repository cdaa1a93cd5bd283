"""A client's channel to its group's coordinator: found by asking any broker, used, and given up when it errs."""

from __future__ import annotations

from dataclasses import replace

from kafkalearn.offsets.replicated import simulator as topic_simulator
from kafkalearn.offsets.replicated.effects import Answered, NotReached
from kafkalearn.offsets.replicated.events import SentTo
from kafkalearn.offsets.store.events import Commit, Fetch
from kafkalearn.zookeeper.commits.effects import BackingOff, Connected, Disconnected
from kafkalearn.zookeeper.commits.settings import Settings
from kafkalearn.zookeeper.commits.state import OldGroup, with_consumer, with_effect

NOT_AVAILABLE, NO_CONNECTION = "COORDINATOR_NOT_AVAILABLE", "no connection"
NOT_COORDINATOR = "NOT_COORDINATOR"


def connected(settings: Settings, state: OldGroup, name: str) -> OldGroup:
    """The state once a consumer has a channel, if it can have one; else it has none, and waits to ask again."""
    consumer = state.consumer(name)
    if consumer.channel is not None:
        return state
    leader = state.topic.partition.controller.leader
    if leader is None:
        return backing_off(settings, state, name, NOT_AVAILABLE)
    if not state.topic.partition.replica(leader).is_running:
        return backing_off(settings, state, name, NO_CONNECTION)
    return with_effect(with_consumer(state, consumer._replace(channel=leader)), Connected(name, leader))


def disconnected(state: OldGroup, name: str) -> OldGroup:
    """The state once a consumer has given its channel up."""
    consumer = state.consumer(name)
    if consumer.channel is None:
        return state
    return with_effect(with_consumer(state, consumer._replace(channel=None)), Disconnected(name, consumer.channel))


def backing_off(settings: Settings, state: OldGroup, name: str, why: str) -> OldGroup:
    """The state while a consumer's thread sleeps for offsets.channel.backoff.ms."""
    return with_effect(state, BackingOff(name, why, settings.offsets_channel_backoff_ms))


def send_commit(settings: Settings, state: OldGroup, channel: int, partition: int, offset: int) -> OldGroup:
    """The state once a commit of one partition has come to the broker at the other end of the channel."""
    commit = Commit(settings.group, settings.topic, partition, offset, now_ms=state.topic.partition.now_ms)
    return _sent(settings, state, SentTo(channel, commit))


def fetch_offset(settings: Settings, state: OldGroup, channel: int, partition: int) -> tuple[OldGroup, str, int]:
    """What the broker at the other end answers: an error, and the offset, -1 if nothing is committed."""
    request = Fetch(settings.group, settings.topic, partition)
    state = _sent(settings, state, SentTo(channel, request))
    last = next(each for each in reversed(state.effects) if isinstance(each, Answered | NotReached))
    if isinstance(last, NotReached):
        return state, NO_CONNECTION, -1
    return state, last.answer.error, -1 if last.answer.offset is None else last.answer.offset


def _sent(settings: Settings, state: OldGroup, request: SentTo) -> OldGroup:
    topic = topic_simulator.step(settings.coordinator, state.topic, request)
    return with_effect(replace(state, topic=topic), *topic.effects)
