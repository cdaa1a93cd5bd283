"""The recorded histories of transactions, unpacked, and where a replay differs from one."""

import base64
import json
import zlib
from functools import cache

from kafkalearn.transactions.history import replay
from tests.recorded import recorded

FOREIGN_GROUP_RECORDS = {
    "overflow_ongoing_at_the_last tv0",
    "overflow_ongoing_at_the_last tv1",
    "overflow_ongoing_at_the_last tv2",
    "random 18 tv1",
    "random 19 tv1",
}
"""While these were recorded, a member of another history's group expired: one record more in ``__consumer_offsets``."""


@cache
def histories() -> dict[str, dict]:
    """Each history by its name."""
    packed = recorded("transaction-histories")
    unpacked = json.loads(zlib.decompress(base64.b85decode(packed["packed"])))
    assert [each["name"] for each in unpacked] == packed["names"]
    return {each["name"]: each for each in unpacked}


def differences(history: dict) -> list[object]:
    """The first step, and the first entry of each log, where the simulator says other than the broker; none: equal."""
    played = replay(history)
    if played["start"] != history["start"]:
        return ["start"]
    for number, (real, ours) in enumerate(zip(history["steps"], played["steps"], strict=True)):
        if (real["a"], real["now"]) != (ours["a"], ours["now"]):
            return [number, real, ours["a"], ours["now"]]
    return [
        (name, number, real, ours)
        for name, entries in history["logs"].items()
        for number, (real, ours) in enumerate(_pairs(entries, _without_foreign(history, name, played["logs"][name])))
        if real != ours
    ]


def _without_foreign(history: dict, name: str, entries: list) -> list:
    """The simulator's log with a hole where only the record of somebody else's group can have been."""
    if name != "__consumer_offsets" or history["name"] not in FOREIGN_GROUP_RECORDS:
        return entries
    found = list(entries)
    for number, real in enumerate(history["logs"][name]):
        if real.get("records") == [[2, 3]]:
            found.insert(number, real)
            found[number + 1 :] = [
                {**each, "offset": each["offset"] + 1, "last": each["last"] + 1} for each in found[number + 1 :]
            ]
    return found


def _pairs(real: list, ours: list) -> list:
    longest = max(len(real), len(ours))
    return list(zip([*real, *[None] * (longest - len(real))], [*ours, *[None] * (longest - len(ours))], strict=True))
