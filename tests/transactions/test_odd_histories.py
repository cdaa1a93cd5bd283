"""A history with something of a wrong type is refused in words, wherever that stands."""

import json
from contextlib import suppress
from copy import deepcopy

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.transactions.history import replay
from tests.every import every_case

HISTORY = {
    "kafka": "4.4.0",
    "transaction.version": 2,
    "config": {"transaction.max.timeout.ms": 900_000},
    "ids": ["x"],
    "groups": ["g"],
    "partitions": 2,
    "steps": [
        {"do": "InitProducerId", "v": 5, "q": {"id": "x", "timeout": 60_000, "pid": -1, "epoch": -1}},
        {"do": "InitProducerIdRepeated", "v": 5, "q": {"id": "y", "times": 2}},
        {"do": "AddPartitionsToTxn", "v": 3, "q": {"id": "x", "pid": "P0", "epoch": 0, "partitions": ["t-0"]}},
        {
            "do": "Produce",
            "v": 12,
            "q": {
                "id": "x", "partition": "t-0", "pid": "P0", "epoch": 0, "sequence": 0, "records": 2,
                "transactional": True,
            },
        },
        {"do": "AddOffsetsToTxn", "v": 4, "q": {"id": "x", "pid": "P0", "epoch": 0, "group": "g"}},
        {"do": "Join", "v": None, "q": {"group": "g"}},
        {"do": "TxnOffsetCommit", "v": 4, "q": {
            "id": "x", "pid": "P0", "epoch": 0, "group": "g", "offsets": {"t-0": 2}}},
        {"do": "OffsetCommit", "v": 8, "q": {"group": "h", "offsets": {"t-1": 3}, "generation": -1, "member": ""}},
        {"do": "EndTxn", "v": 4, "q": {"id": "x", "pid": "P0", "epoch": 0, "commit": True},
         "now": {"producers t-0": [["P0", 0, 1, 0, -1]]}},
        {"do": "WriteTxnMarkers", "v": 1, "q": {
            "pid": "U0", "epoch": 0, "commit": False, "partitions": ["t-1"], "coordinatorEpoch": 0}},
        {"do": "Wait", "v": None, "q": {"ms": 10}},
        {"do": "Restart", "v": None, "q": {}},
    ],
    "logs": {"__consumer_offsets": [{"coordinatorEpoch": 0}]},
}  # fmt: skip
ODD = (
    None,
    3,
    -1,
    "",
    "Pä",
    "P",
    "U",
    "P" + "9" * 5000,
    [],
    [3],
    [[]],
    {},
    {"a": None},
    {3: 3},
    True,
    1.5,
    2**31,
    2**70,
    object(),
)


def places(value, path=()):
    """Where something stands, from the whole to its smallest parts."""
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inner:
        yield from places(each, (*path, key))


def with_odd(path, odd):
    """The history with another thing in one place."""
    if not path:
        return odd
    history = deepcopy(HISTORY)
    inside = history
    for key in path[:-1]:
        inside = inside[key]
    inside[path[-1]] = odd
    return history


def test_the_history_itself_is_answered():
    assert {each["a"].get("error", "NONE") for each in replay(HISTORY)["steps"]} == {"NONE"}


@every_case("path", places(HISTORY), ids=lambda path: ".".join(map(str, path)) or "the whole")
def test_what_is_odd_in_any_place_of_a_history_is_answered_or_refused_in_words(path):
    for odd in ODD:
        try:
            json.dumps(replay(with_odd(path, odd)), default=str)
        except KafkaLearnError as error:
            if not str(error):
                raise


@every_case("path", [each for each in places(HISTORY) if each], ids=lambda path: ".".join(map(str, path)))
def test_what_is_left_out_is_answered_or_refused_in_words(path):
    history = deepcopy(HISTORY)
    inside = history
    for key in path[:-1]:
        inside = inside[key]
    del inside[path[-1]]
    with suppress(KafkaLearnError):
        replay(history)


@every_case(
    "path, odd, says",
    [
        (("steps",), None, "steps must be a list or tuple of steps, got NoneType None"),
        (("steps", 0), {"v": 5}, "a step has do and q, and step 0 has no do and q"),
        (("steps", 0, "q"), 3, "q of a step InitProducerId must be a dict from field to value"),
        (("steps", 8, "q"), {"id": "x"}, "a step EndTxn has a field 'pid', and this one has 'id'"),
        (("steps", 2, "q", "pid"), "Pä", "pid must be a name as 'P0' or 'U0', or a whole number, got 'Pä'"),
        (("steps", 3, "q", "records"), 10**9, "records of a step Produce must be at most 100,000"),
        (
            ("steps", 6, "q", "offsets"),
            [1],
            "offsets of a step TxnOffsetCommit must be a dict from partition to offset",
        ),
        (("kafka",), 4, "kafka must be a str, got int 4"),
        (("partitions",), "2", "partitions must be a whole number of at least 1, got str '2'"),
        (("partitions",), 2**31, "partitions must be at most 1,000"),
        (("ids",), [7], "ids must be a str, got int 7"),
        ((), 3, "a history must be a dict from part to value"),
    ],
)
def test_the_words_say_what_came_where_and_what_is_allowed(path, odd, says):
    with pytest.raises(KafkaLearnError) as refused:
        replay(with_odd(path, odd))
    assert says in str(refused.value)
