"""Events of every simulator can be written into a recording, and are made of it again."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from kafkalearn.base.topic_partition import TopicPartition
from tests.contract.test_contract import SIMULATORS
from tests.replay.values import OP, decoded, given_fields, hints_of, is_record

OF_ANY_KIND = {"JoinGroup", "SyncGroup"}
"""Events that carry what clients told each other, of which the simulator of mixed groups alone knows the class."""


def written(value):
    """A value as JSON, with the class of each record."""
    if isinstance(value, TopicPartition):
        return str(value)
    if is_record(type(value)):
        return {OP: type(value).__name__, **{name: written(getattr(value, name)) for name in given_fields(type(value))}}
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, Mapping):
        return {str(name): written(each) for name, each in value.items()}
    return [written(each) for each in value] if isinstance(value, Sequence) and not isinstance(value, str) else value


def test_every_event_of_every_simulator_is_written_as_json_and_made_of_it_again():
    others, count = set(), 0
    for name, simulator in SIMULATORS.items():
        kinds = hints_of(simulator.part("step"))["event"]
        for event in (event for run in simulator.runs for event in run.events):
            if name == "mixed" and type(event).__name__ in OF_ANY_KIND:
                continue
            count += 1
            if decoded(json.loads(json.dumps(written(event))), kinds) != event:
                others.add(f"{name}: {event}")
    assert others == set()
    assert count > 1_000
