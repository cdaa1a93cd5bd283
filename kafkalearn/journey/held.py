"""What real Kafka answered, asked of `kafkalearn.tiny` and of rules that a reader puts in its place."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from kafkalearn import tiny
from kafkalearn.base.errors import unknown_name

ANSWERS = files("kafkalearn.journey") / "answers.json"
"""A choice of the recordings that tiny is held to as a whole: tests/tiny/test_held.py says from which each comes."""
ROUNDS = 6  # of fetches, after which nobody hears anything new
MOST_LETTERS = 60  # of an answer that is shown


class Compared(NamedTuple):
    """One recorded answer, and what is said now."""

    where: str
    recorded: object
    said: object


def held(**changed: Any) -> list[dict[str, object]]:
    """How many recorded answers of real Kafka hold, by rule; and the first that breaks.

    Parameters
    ----------
    **changed : function or class
        What takes the place of tiny's, by its name: ``partition_for_key``, ``offsets_partition``, ``assign_sticky``,
        ``compact``, or ``Partition``, a class of which a method or two are another.

    Returns
    -------
    list of dict
        A row for each rule: how many answers are asked, how many hold, and the first that does not.

    Raises
    ------
    KafkaLearnError
        If there is no rule of this name.

    Examples
    --------
    >>> [(row["rule"], row["asked"] == row["hold"]) for row in held()][:2]
    [('partition_for_key', True), ('offsets_partition', True)]
    >>> held(partition_for_key=lambda key, count: 0)[0]["the first that breaks"]
    "the key b'' of 2 partitions: 1, yours 0"
    """
    for name in changed:
        if name not in _KINDS:
            raise unknown_name("rule", name, _KINDS)
    return [_row(name, changed.get(name, getattr(tiny, name))) for name in _KINDS]


def _row(name: str, rule: Any) -> dict[str, object]:
    asked = list(_KINDS[name](rule))
    broken = [each for each in asked if each.said != each.recorded]
    first = f"{broken[0].where}: {_difference(broken[0].recorded, broken[0].said)}" if broken else ""
    return {"rule": name, "asked": len(asked), "hold": len(asked) - len(broken), "the first that breaks": first}


def _difference(recorded: object, said: object) -> str:
    """The part in which two answers differ: of two tables the first such line, of two lists what only one has."""
    if isinstance(recorded, dict) and isinstance(said, dict):
        name = next(each for each in [*recorded, *said] if recorded.get(each) != said.get(each))
        return f"{name}: {_difference(recorded.get(name), said.get(name))}"
    if isinstance(recorded, list) and isinstance(said, list) and sorted(map(str, recorded)) != sorted(map(str, said)):
        only = [[each for each in one if each not in other] for one, other in ((recorded, said), (said, recorded))]
        return f"{_short(only[0]) if only[0] else 'nothing more'}, yours {_short(only[1]) if only[1] else 'not'}"
    return f"{_short(recorded)}, yours {_short(said)}"


def _short(value: object) -> str:
    words = str(value)
    return words if len(words) <= MOST_LETTERS else f"{words[: MOST_LETTERS - 1]}…"


@cache
def _answers() -> Mapping[str, Any]:
    return json.loads(ANSWERS.read_text(encoding="utf-8"))


def _called(function: Callable[..., object], *arguments: Any) -> object:
    """What a reader's function gives; an error is an answer, too."""
    try:
        return function(*arguments)
    except Exception as error:  # whatever it is, it is not what Kafka answered
        return f"{type(error).__name__}: {error}"


def _keys(rule: Callable[..., object]) -> Iterator[Compared]:
    for key_hex, by_count in _answers()["keys"].items():
        key = bytes.fromhex(key_hex)
        for count, partition in by_count.items():
            yield Compared(f"the key {key!r} of {count} partitions", partition, _called(rule, key, int(count)))


def _groups(rule: Callable[..., object]) -> Iterator[Compared]:
    for group_id, count, partition in _answers()["groups"]:
        yield Compared(f"the group {group_id!r} of {count} partitions", partition, _called(rule, group_id, count))


def _stickies(rule: Callable[..., object]) -> Iterator[Compared]:
    for case in _answers()["stickies"]:
        owned = {name: [tuple(each) for each in some] for name, some in case["owned"].items()}
        said = _called(rule, dict(case["topics"]), owned)
        if isinstance(said, dict):
            said = {name: [list(each) for each in some] for name, some in said.items()}
        yield Compared(case["id"], case["assignment"], said)


def _passes(rule: Callable[..., object]) -> Iterator[Compared]:
    for case in _answers()["passes"]:
        log = tiny.Log()
        for number, phase in enumerate(case["phases"], 1):
            for key, value in phase["written"]:
                log.append(None if key is None else key.encode(), value, epoch=0)
            error = None
            if phase["clean_to"] is not None:
                error = _called(rule, log, phase["clean_to"], phase["now_ms"], case["delete_retention_ms"])
            left = [
                [each.offset, each.key.decode() if isinstance(each.key, bytes) else None, each.value]
                for each in log.records
            ]
            yield Compared(f"{case['id']}, what pass {number} left", phase["left"], error or left)


def _runs(rule: Callable[..., object]) -> Iterator[Compared]:
    for case in _answers()["runs"]:
        run = _Run(rule, case)
        for number, event in enumerate(case["events"]):
            where = f"{case['name']}, event {number}, {event['op']}"
            said = _called(run.take, event)
            if isinstance(said, str):
                yield Compared(where, "no error", said)
                break
            if "answer" in event:
                yield Compared(f"{where}, answered", event["answer"], run.answer)
            for name, value in (event.get("state") or {}).items():
                yield Compared(f"{where}, {name}", value, run.state()[name])


class _Run:
    """A partition of three brokers that is led through what a real cluster went through."""

    def __init__(self, rule: Any, case: Mapping[str, Any]) -> None:
        self.partition: tiny.Partition = rule(case["replicas"], case["min_insync_replicas"])
        self.frozen: set[int] = set()
        self.answer: dict[str, object] = {}

    def take(self, event: Mapping[str, Any]) -> None:
        """Do what an event says, and let the followers fetch until they hear nothing new."""
        partition = self.partition
        for broker in event.get("brokers", []):
            {"freeze": self.frozen.add, "thaw": self.frozen.discard, "restart": partition.restart}.get(
                event["op"], partition.kill
            )(broker)
        if event["op"] == "wait":
            for broker in partition.isr & self.frozen - set(event.get("isr", partition.isr)):
                partition.shrink_isr(broker)  # the clock found it too slow
        if event["op"] == "produce":
            self.answer = self.produce(event)
        if partition.leader is not None:
            for broker in partition.replicas * ROUNDS:
                if broker not in self.frozen:
                    partition.fetch(broker)
        if event["op"] == "produce" and self.answer["error"] == "NONE" and event["acks"] == "all":
            is_told = partition.leader_log.end_offset - 1 in partition.acknowledged
            self.answer |= {} if is_told else {"error": "REQUEST_TIMED_OUT"}

    def produce(self, event: Mapping[str, Any]) -> dict[str, object]:
        """What a producer is answered."""
        leader = self.partition.leader
        try:
            offsets = [self.partition.produce(None, value, event["acks"]) for value in event["values"]]
        except ValueError as refused:
            if leader is None:
                return {"error": "no reachable leader", "base_offset": None}
            return {"error": str(refused).partition(":")[0], "base_offset": None}
        return {"error": "NONE", "base_offset": offsets[0]}

    def state(self) -> dict[str, object]:
        """What is compared: who leads, in which epoch, who is in sync, the high watermark, and every disk."""
        partition = self.partition
        return {
            "the leader": partition.leader,
            "the leader's epoch": partition.epoch,
            "the ISR": sorted(partition.isr),
            "the high watermark": None if partition.leader is None else partition.leader_log.high_watermark,
            "the disks": {
                str(broker): [[each.offset, each.value] for each in log.records]
                for broker, log in sorted(partition.logs.items())
            },
        }


_KINDS: Mapping[str, Callable[[Any], Iterator[Compared]]] = {
    "partition_for_key": _keys,
    "offsets_partition": _groups,
    "assign_sticky": _stickies,
    "Partition": _runs,
    "compact": _passes,
}
"""For each rule how it is asked."""
