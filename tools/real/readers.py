"""What a consumer gets of a partition with transactions: tests/vectors/transactions/readers.json.

Producers of librdkafka write transactions that are committed, aborted and left open, and records without one. Then
consumers of both isolation levels, of both protocols and with three values of ``max.poll.records`` read the partition
poll by poll; the broker is asked for its ends, for offsets of times, and the tool for the lag of a committed offset.
"""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from typing import Any

from confluent_kafka import Producer

from kafkalearn.live import Kafka
from kafkalearn.live.errors import wait_for
from tools.real.told import Clients, config_text

FILE = "transactions/readers.json"
ABOUT = (
    "What consumers got of partition 0 of a topic with LogAppendTime. Steps: send (id, records of one batch in its "
    "transaction), plain (records of one batch without one), commit and abort (id), wait (ms). Batches, as they lie on "
    "the disk: base offset, kind (data, COMMIT, ABORT), records, ms since the first. Ends: the end that each isolation "
    "level is told. Polls, by isolation level and max.poll.records: of each poll the offsets that were delivered, the "
    "position after it, and the lag that the client says then (-1: it does not know one yet); polls that gave nothing "
    "and moved nothing are left out. Both protocols gave the same. Times: ms since the first batch, and the offset for "
    "it by isolation level. Tool: the committed offset of a group, and what kafka-consumer-groups calls its lag."
)
READ_UNCOMMITTED, READ_COMMITTED = "read_uncommitted", "read_committed"
LEVELS = (READ_UNCOMMITTED, READ_COMMITTED)
MOST = (1, 2, 500)
PROTOCOLS = ("classic", "consumer")
SEED, RANDOM_COUNT = 53, 16
NEVER_MS = 900_000  # a transaction that is left open stays so

Step = list[Any]

TOLD: Sequence[tuple[str, list[Step]]] = (
    ("an open transaction holds back what comes after it", [["send", "x", 2], ["wait", 30], ["plain", 2]]),
    ("a marker at the end", [["send", "x", 2], ["wait", 20], ["commit", "x"]]),
    ("aborted records and their marker at the end", [["plain", 1], ["wait", 20], ["send", "x", 3], ["abort", "x"]]),
    ("nothing but an aborted transaction", [["send", "x", 2], ["wait", 20], ["abort", "x"]]),
    (
        "an aborted transaction around a committed one",
        [["send", "x", 1], ["send", "y", 2], ["wait", 20], ["commit", "y"], ["send", "x", 1], ["abort", "x"]],
    ),
    (
        "one producer aborts and then commits",
        [["send", "x", 2], ["abort", "x"], ["wait", 20], ["send", "x", 2], ["commit", "x"], ["plain", 1]],
    ),
    (
        "two are open, the later one ends",
        [["send", "x", 1], ["wait", 20], ["send", "y", 1], ["plain", 1], ["wait", 20], ["commit", "y"]],
    ),
)


def drawn(number: int) -> list[Step]:
    """A script by chance; with a third of the numbers somebody is left open at its end."""
    chance = random.Random(f"{SEED}/{number}")
    steps: list[Step] = []
    opened: set[str] = set()
    for _ in range(chance.randint(4, 12)):
        kind = chance.choice(("send", "send", "send", "plain", "end", "end", "wait"))
        if kind == "send":
            steps.append(["send", chance.choice("xy"), chance.randint(1, 3)])
            opened.add(steps[-1][1])
        elif kind == "plain":
            steps.append(["plain", chance.randint(1, 2)])
        elif kind == "wait":
            steps.append(["wait", chance.randint(5, 40)])
        elif opened:
            who = chance.choice(sorted(opened))
            steps.append([chance.choice(("commit", "abort")), who])
            opened.discard(who)
    if not any(each[0] in ("send", "plain") for each in steps):
        steps.append(["plain", 1])
    return steps


def written(kafka: Kafka, topic: str, steps: Sequence[Step]) -> None:
    """Have the producers write a topic."""
    producers: dict[str, Producer] = {}
    opened: set[str] = set()
    plain = Producer({"bootstrap.servers": kafka.bootstrap, "linger.ms": 5000})
    for kind, *rest in steps:
        end = kafka.high_watermark(topic, 0)
        if kind == "wait":
            time.sleep(rest[0] / 1000)
        elif kind == "plain":
            _send(plain, topic, rest[0])
        elif kind == "send":
            who, count = rest
            if who not in producers:
                own = {"transactional.id": f"{topic}-{who}", "transaction.timeout.ms": NEVER_MS, "linger.ms": 5000}
                producers[who] = Producer({"bootstrap.servers": kafka.bootstrap, **own})
                producers[who].init_transactions(30)
            if who not in opened:
                producers[who].begin_transaction()
                opened.add(who)
            _send(producers[who], topic, count)
        else:
            who = rest[0]
            opened.discard(who)
            end_it = producers[who].commit_transaction if kind == "commit" else producers[who].abort_transaction
            end_it(30)
            wait_for(lambda end=end: kafka.high_watermark(topic, 0) > end, True, "the marker")


def _send(producer: Producer, topic: str, count: int) -> None:
    for number in range(count):
        producer.produce(topic, str(number), partition=0)
    if producer.flush(30):
        raise TimeoutError(f"records for {topic} are not taken")


def batches_of(kafka: Kafka, topic: str, steps: Sequence[Step]) -> tuple[list[list[Any]], int]:
    """The batches on the disk as they are kept, and when the first was written."""
    ends = iter(kind.upper() for kind, *_ in steps if kind in ("commit", "abort"))
    batches = kafka.disk(1).batches(topic, 0)
    first_ms = batches[0].max_timestamp_ms
    kept = [
        [
            each.base_offset,
            next(ends) if each.is_control else "data",
            1 if each.is_control else len(each.records),
            each.max_timestamp_ms - first_ms,
        ]
        for each in batches
    ]
    return kept, first_ms


def polls_of(clients: Clients, name: str, place: str, end: int) -> list[list[Any]]:
    """Poll after poll, until the end is reached and another poll has brought nothing."""
    clients.ask(name, "assign", place)
    clients.ask(name, "seek", place, 0)
    polls: list[list[Any]] = []
    position = 0
    for _ in range(100):
        (records,) = clients.ask(name, "poll", 300)
        (now,) = clients.ask(name, "position", place)
        (lag,) = clients.ask(name, "lag", place)
        offsets = [int(each.rpartition(":")[2]) for each in records.split(",") if each]
        after = int(now.rpartition("=")[2])
        if offsets or after != position:
            polls.append([offsets, after, int(lag)])
        elif after >= end:
            return polls
        position = after
    raise TimeoutError(f"{name} does not reach {end} of {place}")


def recorded(version: str, line: str) -> list[dict[str, Any]]:
    """Every case, by a broker and clients of a release."""
    cases: list[dict[str, Any]] = []
    scripts = [*TOLD, *((f"by chance, {number}", drawn(number)) for number in range(RANDOM_COUNT))]
    with Kafka(release=line) as kafka, Clients(kafka.bootstrap, version) as clients:
        readers = {
            (protocol, level, most): f"{protocol}-{level}-{most}"
            for protocol in PROTOCOLS
            for level in LEVELS
            for most in MOST
        }
        for (protocol, level, most), name in readers.items():
            own = {"group.protocol": protocol, "isolation.level": level, "max.poll.records": most}
            clients.ask(name, "consumer", config_text({**own, "group.id": name, "enable.auto.commit": False}))
        for number, (name, steps) in enumerate(scripts):
            topic = f"read-{number}"
            kafka.create_topic(topic, 1, config={"message.timestamp.type": "LogAppendTime"})
            written(kafka, topic, steps)
            cases.append({"name": name, "topic": topic, "steps": steps, **_read(kafka, clients, readers, topic, steps)})
            print(name, flush=True)
        lags = _lags_of_the_tool(kafka, "classic-read_committed-500")
    for case in cases:
        case["tool"] = [case["tool"], lags[case.pop("topic")]]
    return cases


def _read(
    kafka: Kafka, clients: Clients, readers: dict[tuple[str, str, int], str], topic: str, steps: Sequence[Step]
) -> dict[str, Any]:
    place = f"{topic}-0"
    batches, first_ms = batches_of(kafka, topic, steps)
    ends = {level: int(clients.ask(readers["classic", level, 500], "ends", place)[0]) for level in LEVELS}
    polls: dict[str, dict[str, Any]] = {level: {} for level in LEVELS}
    for level in LEVELS:
        for most in MOST:
            both = [polls_of(clients, readers[each, level, most], place, ends[level]) for each in PROTOCOLS]
            if both[0] != both[1]:
                raise AssertionError(f"{topic}, {level}, {most}: the protocols differ: {both}")
            polls[level][str(most)] = both[0]
    asked_ms = sorted({batch[3] + near for batch in batches for near in (-1, 0, 1)})
    words = ",".join(str(first_ms + each) for each in asked_ms)
    told = [clients.ask(readers["classic", level, 500], "times", place, words)[0].split(",") for level in LEVELS]
    times = [
        [ms, *(None if each == "none" else int(each) for each in pair)]
        for ms, *pair in zip(asked_ms, *told, strict=True)
    ]
    delivered = [offset for offsets, *_ in polls[READ_COMMITTED]["500"] for offset in offsets]
    committed = delivered[-1] + 1 if delivered else 0
    clients.ask(readers["classic", READ_COMMITTED, 500], "commit", place, committed)
    return {"batches": batches, "ends": ends, "polls": polls, "times": times, "tool": committed}


def _lags_of_the_tool(kafka: Kafka, group: str) -> dict[str, int]:
    printed = kafka.tool("consumer-groups", "--describe", "--group", group)
    lines = [line.split() for line in printed.splitlines() if line.startswith(group)]
    return {words[1]: int(words[5]) for words in lines}
