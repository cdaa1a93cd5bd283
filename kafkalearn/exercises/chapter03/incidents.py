"""The incidents of chapter 03: a group id that was copied, a lag to be read, one partition for five consumers."""

from __future__ import annotations

from kafkalearn.consuming import (
    DescribedPartition,
    Join,
    Produce,
    Settings,
    describe_group,
    drain,
    records_read,
    simulate,
)
from kafkalearn.exercises.kit.exercise import Exercise, Misconception
from kafkalearn.exercises.kit.properties import Open
from kafkalearn.exercises.kit.values import Value
from kafkalearn.partitioning.resizing import moved_share

_RECORDS, _OWN_MEMBERS = 1200, 3


def _wrong_group_id() -> dict[str, int]:
    settings = Settings(12)
    joins = [Join("billing", f"billing-{number}") for number in range(_OWN_MEMBERS)]
    written = [Produce(f"order {number}") for number in range(_RECORDS)]
    topic = simulate(settings, [*joins, Join("billing", "search-0"), *written])[-1].state
    topic = simulate(settings, drain(topic, "billing", most=100), topic)[-1].state
    by_search = len(records_read(topic, "billing", "search-0"))
    return {"search reads": by_search, "billing reads": _RECORDS - by_search, "search with its own id": _RECORDS}


wrong_group_id = Exercise(
    name="wrong_group_id",
    asks=(
        f"**Incident.** `billing` has {_OWN_MEMBERS} consumers on a topic with 12 partitions. A consumer of `search` "
        f"is started with `group.id=billing`, copied from there. Then {_RECORDS:,} records are written, the same "
        "number to "
        "each partition. How many of them does search see, and how many do billing's own three? How many would search "
        "see with a group id of its own?"
    ),
    start=(
        'answer = {"search reads": ..., "billing reads": ..., "search with its own id": ...}\n'
        "exercises.wrong_group_id.check(answer)"
    ),
    judge=Value(_wrong_group_id),
    solve=_wrong_group_id,
    hints=(
        "Kafka does not know what a program is for. Who is in the group?",
        "Four members, 12 partitions: how many has each, and how many records are in them?",
        "Between groups nothing is shared out.",
    ),
    reasoning=(
        "The group has four members with three partitions each, so search sees 300 records and billing's own three see "
        "900: *both* services miss orders, and no error is logged anywhere, because each record was read by the group. "
        "With its own group id search reads all 1,200, and so does billing. (zendesk/ruby-kafka#338, 2017: two "
        "environments with the same group name on one cluster, and now and then a consumer that had nothing to read.)"
    ),
    misconceptions=(
        Misconception(
            {"search reads": _RECORDS},
            "All with one group id share the records; Kafka cannot know that they are different programs.",
        ),
        Misconception(
            {"search reads": 0},
            "The new consumer is a member like the others, and gets its part of the partitions.",
        ),
        Misconception(
            {"search reads": _RECORDS // _OWN_MEMBERS},
            "Count the members again: the consumer of search is one of them, beside billing's own three.",
        ),
        Misconception(
            {"search reads": _RECORDS // 2},
            "Two programs, but not two halves: partitions are shared between members, and billing has three of them.",
        ),
        Misconception(
            {"billing reads": _RECORDS},
            "What search has read is committed for the whole group: billing's own consumers never see it.",
        ),
        Misconception(
            {"search with its own id": 300}, "Another group id is another group, and a group reads everything."
        ),
    ),
    moral="The group id says who shares the work. One service, one id.",
)


_DESCRIBED = (
    DescribedPartition("orders", 0, 41_200, 41_230, "shipping-0-5f1e", "/10.0.0.11", "shipping-0"),
    DescribedPartition("orders", 1, 38_000, 38_010, "shipping-0-5f1e", "/10.0.0.11", "shipping-0"),
    DescribedPartition("orders", 2, 40_115, 52_115, "shipping-1-09ab", "/10.0.0.12", "shipping-1"),
    DescribedPartition("orders", 3, 39_900, 39_960, "shipping-1-09ab", "/10.0.0.12", "shipping-1"),
    DescribedPartition("orders-eu", 0, 900, 1_300),
)


def _read_describe() -> dict[str, object]:
    owned = [each for each in _DESCRIBED if each.client_id]
    slowest = max(owned, key=lambda each: each.lag)
    return {
        "lag of the group": sum(each.lag for each in _DESCRIBED),
        "who is behind": slowest.client_id,
        "next offset of orders-2": slowest.current_offset,
        "lag that nobody works on": sum(each.lag for each in _DESCRIBED if not each.client_id),
    }


read_describe = Exercise(
    name="read_describe",
    asks=(
        "Read what `kafka-consumer-groups --describe --group shipping` prints:\n\n"
        f"```{describe_group('shipping', _DESCRIBED)}```\n\n"
        "How many records does the group lag behind in all? Which client is behind? Which offset of partition 2 of "
        "`orders` is read next? And how many records wait that *nobody* works on?"
    ),
    start=(
        'answer = {"lag of the group": ..., "who is behind": ..., "next offset of orders-2": ..., '
        '"lag that nobody works on": ...}\n'
        "exercises.read_describe.check(answer)"
    ),
    judge=Value(_read_describe),
    solve=_read_describe,
    hints=(
        "LAG is LOG-END-OFFSET minus CURRENT-OFFSET; the sum is yours to make.",
        "CURRENT-OFFSET is what the group has committed: the *next* offset to read.",
        "A `-` under CONSUMER-ID: the group has committed there once, and nobody owns the partition now.",
    ),
    reasoning=(
        "30 + 10 + 12,000 + 60 + 400 = 12,500 records. `shipping-1` is behind, and only in one of its two "
        "partitions, so it is not the machine: look for a record that is retried for ever, or for one heavy key. The "
        "next offset is 40,115, the committed one: 40,114 was the last that was read. And `orders-eu` was subscribed "
        "to once; 400 records wait there, and will wait for ever. An alarm on the group's total lag would never have "
        "shown it."
    ),
    misconceptions=(
        Misconception(
            {"next offset of orders-2": 40_116}, "What is committed is the next offset already, not the last one read."
        ),
        Misconception(
            {"next offset of orders-2": 52_115},
            "That is the log end: the offset of the record that the next producer will write, not of the next to read.",
        ),
        Misconception(
            {"lag of the group": 12_100}, "The rows without a consumer belong to the group too: it has committed there."
        ),
        Misconception({"lag of the group": 12_000}, "That is its worst partition; the group has five."),
        Misconception(
            {"who is behind": "shipping-1-09ab"},
            "That is the member id, which is another one after each restart; the name of the client is in the last "
            "column.",
        ),
        Misconception(
            {"who is behind": "shipping-0"}, "Compare the LAG of their partitions: one of them has hardly any."
        ),
        Misconception(
            {"lag that nobody works on": 0}, "Look for a row without a consumer: LAG is counted there all the same."
        ),
        Misconception(
            {"lag that nobody works on": 12_000}, "Somebody owns that partition, and is slow; which one has no owner?"
        ),
    ),
    moral="Read lag by partition; a total hides both kinds of trouble.",
)


_INSTANCES = 5


def _one_partition() -> dict[str, object]:
    return {
        "instances that work": 1,
        "partitions needed": _INSTANCES,
        "share of keys that move": float(moved_share(1, _INSTANCES)),
    }


one_partition = Exercise(
    name="one_partition",
    asks=(
        "**A real report** (confluentinc/confluent-kafka-dotnet#975, 2019). Somebody starts a second instance of a "
        "service; its log says `Assigned partitions: []`. Stop the first, and the second gets to work. The topic has "
        "one "
        f"partition. Say {_INSTANCES} instances are started: how many of them work today? How many partitions must the "
        "topic have at least so that all of them do? And what does that cost: which share of the *keys* is written to "
        "another partition from then on (0.01 off is near enough)?"
    ),
    start=(
        'answer = {\n    "instances that work": ...,\n    "partitions needed": ...,\n'
        '    "share of keys that move": ...,\n}\n'
        "exercises.one_partition.check(answer)"
    ),
    judge=Value(_one_partition, within=0.01),
    solve=_one_partition,
    hints=(
        "One partition, one reader, whatever else is started.",
        "`kafkalearn.partitioning.resizing.moved_share(before, after)` knows the share; try by hand first: with one "
        "partition all keys are in partition 0.",
    ),
    reasoning=(
        "One works, four wait for it to fail. Five partitions are needed. With one partition every key lies in "
        "partition 0; of five, one in five keys stays there, so 0.8 of the keys move, and for them order is broken "
        "once: their old records are in partition 0, the new ones elsewhere. Choose the number of partitions for the "
        "consumers you may need one day, not for those of today."
    ),
    misconceptions=(
        Misconception(
            {"instances that work": _INSTANCES}, "One partition has one reader in a group; the others are in reserve."
        ),
        Misconception({"instances that work": 0}, "The first instance works; it is only the others that get nothing."),
        Misconception(
            {"partitions needed": _INSTANCES - 1},
            "That many must be added to the one that is there; the question is how many the topic has in the end.",
        ),
        Misconception(
            {"partitions needed": 2 * _INSTANCES},
            "More will do as well, but the question is how many are needed: one for each instance.",
        ),
        Misconception(
            {"share of keys that move": 1 / _INSTANCES},
            "That share of the keys stays where it is; all others are written to another partition.",
        ),
        Misconception(
            {"share of keys that move": 1.0}, "Some keys stay: those whose hash leaves the remainder 0 by five as well."
        ),
        Misconception(
            {"share of keys that move": 0.0},
            "New partitions are not only for new keys: the rule is a remainder by their number, for every key.",
        ),
    ),
    moral="Partitions are the parallelism you can never have more of without moving keys.",
)


twice_as_fast = Exercise(
    name="twice_as_fast",
    asks=(
        "**Open question.** `orders` has 12 partitions, `shipping` has 12 consumers, and its lag grows by a thousand "
        "records a minute in *all* partitions. A colleague suggests a thirteenth consumer; another one 24 "
        "partitions; a third a second group that takes half of the orders. What is wrong with each of them, and what "
        "would you do?"
    ),
    start="answer = ...\nexercises.twice_as_fast.check(answer)",
    judge=Open(),
    solve=lambda: "Make the work on a record cheaper or parallel inside each consumer; 24 partitions with a plan.",
    hints=(
        "Which of the three changes how many records one consumer has to read?",
        "What may be done at the same time without breaking the order of one key?",
    ),
    reasoning=(
        "The thirteenth consumer would be idle. A second group would read *everything* once more; to take half, each "
        "would have to skip the other half itself, and both read all. 24 partitions with 24 consumers do double the "
        "speed, but most keys move: drain the topic first, or accept that order breaks once (chapter 02). Before that: "
        "why does a record take so long? Write to the database in batches, larger `max.poll.records`; inside a "
        "consumer give records to workers *by key*, so that each key keeps its order, and commit only what all of "
        "them have finished (chapter 06). A share group (KIP-932, 4.2) lets many consumers read one partition, and "
        "gives the order up."
    ),
)
