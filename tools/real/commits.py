"""What a consumer is told of its commits and its position: tests/vectors/commits/calls.json."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kafkalearn.live import Kafka
from tools.real.told import Clients, Threw, config_text

FILE = "commits/calls.json"
LONGEST = 20
ABOUT = (
    "Calls of one consumer after the other, all of one group and assigned the one partition of a topic by hand, and "
    "what each call came to: start (a consumer with these settings, assigned), poll (the offsets), position, commit "
    "(of the position, or of an offset, with or without metadata), committed (offset and metadata, or none), close. "
    f"Threw: the class of the exception. offset.metadata.max.bytes is {LONGEST}, max.poll.records 3. Both protocols "
    "gave the same. Written by python3 -m tools.real commits."
)
PROTOCOLS = ("classic", "consumer")
EARLIEST = {"auto.offset.reset": "earliest"}
NONE = {"auto.offset.reset": "none"}
AUTO = {**EARLIEST, "enable.auto.commit": True}
Call = list[Any]

CASES: Sequence[tuple[str, int, list[Call]]] = (
    (
        "metadata is kept with its offset, and the next commit wipes it out", 6,
        [
            ["start", EARLIEST], ["poll"], ["commit", 3, "note"], ["committed"], ["commit", 3], ["committed"],
            ["commit", 3, "again"], ["poll"], ["commit"], ["committed"],
        ],
    ),
    (
        "metadata that is too large is refused, and the offset with it", 6,
        [
            ["start", EARLIEST], ["poll"], ["commit", 1, "m" * LONGEST], ["committed"],
            ["commit", 2, "m" * (LONGEST + 1)], ["committed"], ["commit", 3, "é" * LONGEST], ["committed"],
            ["commit", 2, "é" * (LONGEST + 1)], ["committed"], ["position"],
        ],
    ),
    (
        "the last commit wins, whichever offset it names", 6,
        [
            ["start", EARLIEST], ["poll"], ["poll"], ["commit"], ["committed"], ["commit", 2, "back"], ["committed"],
            ["commit", 100], ["committed"], ["close"], ["start", EARLIEST], ["poll"], ["position"],
        ],
    ),
    (
        "a negative offset is none", 2,
        [["start", EARLIEST], ["commit", -1], ["committed"], ["poll"], ["commit"], ["committed"]],
    ),
    (
        "who closes without auto commit has committed nothing", 4,
        [["start", EARLIEST], ["poll"], ["close"], ["start", EARLIEST], ["committed"], ["poll"]],
    ),
    (
        "who closes with it has committed the position", 4,
        [["start", AUTO], ["poll"], ["close"], ["start", AUTO], ["committed"], ["poll"], ["position"]],
    ),
    (
        "auto commit wipes metadata out, too", 4,
        [
            ["start", AUTO], ["poll"], ["commit", 1, "mine"], ["committed"], ["close"], ["start", EARLIEST],
            ["committed"],
        ],
    ),
    ("with none nobody begins without an offset", 4, [["start", NONE], ["poll"], ["committed"]]),
    (
        "with none nobody goes on beyond the end", 4,
        [["start", EARLIEST], ["commit", 9], ["close"], ["start", NONE], ["poll"], ["committed"]],
    ),
    (
        "with latest it begins at the end", 4,
        [["start", {"auto.offset.reset": "latest"}], ["position"], ["commit"], ["committed"]],
    ),
    (
        "beyond the end it begins by auto.offset.reset", 4,
        [["start", EARLIEST], ["commit", 9, "beyond"], ["close"], ["start", EARLIEST], ["poll"], ["position"]],
    ),
)  # fmt: skip


def recorded(version: str, line: str) -> list[dict[str, Any]]:
    """Every case, by a broker and clients of a release."""
    cases = []
    config = {"offset.metadata.max.bytes": LONGEST}
    with Kafka(release=line, config=config) as kafka, Clients(kafka.bootstrap, version) as clients:
        for number, (name, records, calls) in enumerate(CASES):
            both = [_played(kafka, clients, f"{each}-{number}", each, records, calls) for each in PROTOCOLS]
            if both[0] != both[1]:
                raise AssertionError(f"{name}: the protocols differ: {both}")
            cases.append({"name": name, "records": records, "calls": calls, "outcomes": both[0]})
            print(name, flush=True)
    return cases


def _played(
    kafka: Kafka, clients: Clients, name: str, protocol: str, records: int, calls: Sequence[Call]
) -> list[dict[str, Any]]:
    topic = f"calls-{name}"
    kafka.create_topic(topic, 1)
    kafka.send(topic, [b"record"] * records, partition=0)
    place, number = f"{topic}-0", 0
    outcomes: list[dict[str, Any]] = []
    for call, *rest in calls:
        number += call == "start"
        own = f"{name}-{number}"
        try:
            outcomes.append(_told(clients, own, place, protocol, name, call, rest))
        except Threw as error:
            outcomes.append({"threw": error.error})
    return outcomes


def _told(
    clients: Clients, own: str, place: str, protocol: str, group: str, call: str, rest: Sequence[Any]
) -> dict[str, Any]:
    match call, rest:
        case "start", [settings]:
            config = {"enable.auto.commit": False, "max.poll.records": 3, "group.id": group, **settings}
            clients.ask(own, "consumer", config_text({**config, "group.protocol": protocol}))
            clients.ask(own, "assign", place)
            return {}
        case "poll", []:
            return {"offsets": _polled(clients, own, place)}
        case "position", []:
            return {"position": int(clients.ask(own, "position", place)[0].rpartition("=")[2])}
        case "committed", []:
            offset, *metadata = clients.ask(own, "committed", place)
            return {"committed": None if offset == "none" else [int(offset), metadata[0]]}
        case "commit", []:
            clients.ask(own, "commit")
        case "commit", [*words]:
            clients.ask(own, "commit", place, *words)
        case _:
            clients.ask(own, call)
    return {}


def _polled(clients: Clients, own: str, place: str) -> list[int]:
    """Polls until records come, or the consumer stands at the end."""
    while True:
        (records,) = clients.ask(own, "poll", 1000)
        position, end = clients.ask(own, "position", place)[0].rpartition("=")[2], clients.ask(own, "ends", place)[0]
        if records or position == end:
            return [int(each.rpartition(":")[2]) for each in records.split(",") if each]
