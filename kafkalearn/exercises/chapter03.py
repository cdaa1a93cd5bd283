"""The exercises of chapter 03: who reads what?"""

from __future__ import annotations

from kafkalearn.assignors import Member, assign, load
from kafkalearn.consuming import (
    DescribedPartition,
    Join,
    Leave,
    Poll,
    Produce,
    Settings,
    describe_group,
    drain,
    records_read,
    simulate,
    start,
    step,
)
from kafkalearn.consuming.simulator import IN_ORDER, broken
from kafkalearn.exercises.kit.compare import Value
from kafkalearn.exercises.kit.exercise import Chapter, Exercise, Misconception
from kafkalearn.exercises.kit.functions import Function, Open
from kafkalearn.exercises.kit.game import Game, moves_of
from kafkalearn.partitioning.keyed import moved_share

_PARTITIONS = 6


def _load_of(member_count: int):
    members = [Member(f"c{number}", ["orders"]) for number in range(member_count)]
    return load(assign("range", {"orders": _PARTITIONS}, members))


def _idle_members() -> dict[str, int]:
    return {
        "idle of 4": _load_of(4).idle_count,
        "idle of 6": _load_of(6).idle_count,
        "idle of 9": _load_of(9).idle_count,
        "most with 4": _load_of(4).most,
    }


idle_members = Exercise(
    name="idle_members",
    asks=(
        f"Predict. `orders` has {_PARTITIONS} partitions and one group reads it. How many members are idle when the "
        "group has 4, when it has 6, when it has 9? And with 4 members: how many partitions does the busiest have?"
    ),
    start=(
        'answer = {"idle of 4": ..., "idle of 6": ..., "idle of 9": ..., "most with 4": ...}\n'
        "exercises.idle_members.check(answer)"
    ),
    judge=Value(_idle_members),
    hints=(
        "A partition is read by one member of a group, never by two.",
        "6 = 2 + 2 + 1 + 1.",
    ),
    reasoning=(
        "With 4 members two have two partitions and two have one; with 6 each has one; with 9 three have none. They "
        "are not broken: they send heartbeats, and take over when another one goes. But they add no speed. With 4 "
        "members the group is as slow as those with *two* partitions: 4 are no faster than 3."
    ),
    misconceptions=(
        Misconception(
            {"idle of 9": 0},
            "Two members never share a partition, so beyond one member for each there is nothing to get.",
        ),
        Misconception({"most with 4": 1.5}, "A partition is not cut in halves: it belongs to one member as a whole."),
    ),
    moral="The number of partitions is the largest number of consumers that work.",
)

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

_IN_ORDER = {"1 before 2": True, "2 before 3": False, "1 before 2, no key": False, "1 before 2, more partitions": False}

whose_order = Exercise(
    name="whose_order",
    asks=(
        "`orders` has several partitions, and the Java producer chooses by key. Customer A does: order placed (1), "
        "order paid (2). Customer B: order placed (3), produced after (2). Which of these can be relied on, whatever "
        "the group, its members and their speed? Answer yes or no (or True or False): is 1 always read before 2, with "
        "the customer as key; 2 before 3, with the customer as key; 1 before 2 without keys; and 1 before 2 with the "
        "customer as key, if between them somebody adds partitions to the topic?"
    ),
    start=(
        'answer = {\n    "1 before 2": ...,\n    "2 before 3": ...,\n    "1 before 2, no key": ...,\n'
        '    "1 before 2, more partitions": ...,\n}\n'
        "exercises.whose_order.check(answer)"
    ),
    judge=Value(lambda: _IN_ORDER),
    hints=(
        "Order holds inside one partition, and nowhere else.",
        "For each pair: are both certainly in the same partition?",
        "Chapter 02: what does another number of partitions do to the partition of a key?",
    ),
    reasoning=(
        "1 and 2 have one key, one partition, one reader: yes. 2 and 3 have two keys; they may lie in two partitions, "
        "read by two members, one of which is slow: no. Without keys 1 and 2 may lie anywhere: no. And with more "
        "partitions the key is likely to go elsewhere from then on: 1 stays in the old partition, 2 lies in the new "
        "one: no."
    ),
    misconceptions=(
        Misconception(
            {"2 before 3": True},
            "Two customers are two keys, most likely in two partitions, and order ends where the partition ends.",
        ),
        Misconception(
            {"1 before 2, no key": True},
            "Without a key the producer puts each record, or each batch, where it likes.",
        ),
        Misconception(
            {"1 before 2, more partitions": True},
            "The partition of a key is a remainder by the number of partitions: change that, and most keys move.",
        ),
    ),
    moral="Ask of two records only this: are they in one partition?",
)

_DESCRIBED = (
    DescribedPartition("orders", 0, 41_200, 41_230, "shipping-0-5f1e", "/10.0.0.11", "shipping-0"),
    DescribedPartition("orders", 1, 38_000, 38_010, "shipping-0-5f1e", "/10.0.0.11", "shipping-0"),
    DescribedPartition("orders", 2, 40_115, 52_115, "shipping-1-09ab", "/10.0.0.12", "shipping-1"),
    DescribedPartition("orders", 3, 39_900, 39_960, "shipping-1-09ab", "/10.0.0.12", "shipping-1"),
    DescribedPartition("orders-eu", 0, 900, 1_300),
)


def _read_describe() -> dict[str, object]:
    behind = [(each, each.lag) for each in _DESCRIBED if each.lag is not None]
    slowest, _ = max(((each, lag) for each, lag in behind if each.client_id), key=lambda pair: pair[1])
    return {
        "lag of the group": sum(lag for _, lag in behind),
        "who is behind": slowest.client_id,
        "next offset of orders-2": slowest.current_offset,
        "lag that nobody works on": sum(lag for each, lag in behind if not each.client_id),
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


def _my_lags(log_ends, committed, reset):
    lags = {}
    for partition, log_end in log_ends.items():
        begin = 0 if reset == "earliest" else log_end
        lags[partition] = log_end - committed.get(partition, begin)
    return lags


_LAG_CASES = (
    ({}, {}, "latest"),
    ({0: 5}, {0: 5}, "latest"),
    ({0: 5}, {0: 3}, "latest"),
    ({0: 5}, {0: 0}, "latest"),
    ({0: 5}, {}, "earliest"),
    ({0: 5}, {}, "latest"),
    ({0: 5, 1: 7}, {1: 6}, "earliest"),
    ({0: 5, 1: 7}, {1: 6}, "latest"),
    ({0: 5, 1: 7}, {0: 9, 1: 0}, "latest"),
    ({0: 0, 1: 0}, {0: 0}, "earliest"),
)

my_lags = Exercise(
    name="my_lags",
    asks=(
        "Write `my_lags(log_ends, committed, reset)`: for each partition in `log_ends` how many records the group has "
        "before it. `log_ends` maps partitions to the offset the next record will get; `committed` maps *some* of them "
        'to the committed offset. Where nothing is committed, the group begins where `reset` says: `"earliest"` '
        '(offset 0 here) or `"latest"` (the log end). Give a dict. A lag may be negative: somebody may have '
        "committed too much."
    ),
    start=("def my_lags(log_ends, committed, reset):\n    return ...\n\n\nexercises.my_lags.check(my_lags)"),
    judge=Function(_my_lags, ("log_ends", "committed", "reset"), _LAG_CASES),
    hints=(
        "With a committed offset it is one subtraction.",
        "A committed offset of 0 is a committed offset. `committed.get(partition) or ...` would miss that.",
    ),
    reasoning=(
        "```python\n"
        "def my_lags(log_ends, committed, reset):\n"
        "    lags = {}\n"
        "    for partition, log_end in log_ends.items():\n"
        '        begin = 0 if reset == "earliest" else log_end\n'
        "        lags[partition] = log_end - committed.get(partition, begin)\n"
        "    return lags\n"
        "```\n\n"
        "No `- 1` anywhere: both numbers are *next* offsets. With `latest`, the default, a new group has no lag at "
        "all, although it will never read what is there already."
    ),
    misconceptions=(
        Misconception(
            lambda log_ends, committed, reset: {
                partition: end - 1 - committed.get(partition, 0 if reset == "earliest" else end)
                for partition, end in log_ends.items()
            },
            "One too few: log end and committed offset both name the *next* record, so the difference is the count.",
        ),
        Misconception(
            lambda log_ends, committed, reset: {
                partition: end - (committed.get(partition) or (0 if reset == "earliest" else end))
                for partition, end in log_ends.items()
            },
            "A group that has committed 0 has committed: `or` takes it for nothing.",
        ),
        Misconception(
            lambda log_ends, committed, reset: {
                partition: max(0, end - committed.get(partition, 0 if reset == "earliest" else end))
                for partition, end in log_ends.items()
            },
            "The tools show a negative lag as it is, and it is worth seeing: somebody reset offsets by hand.",
        ),
    ),
    moral="Two next-offsets, one subtraction.",
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
    hints=(
        "One partition, one reader, whatever else is started.",
        "`kafkalearn.partitioning.keyed.moved_share(before, after)` knows the share; try by hand first: with one "
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

_TOPIC = Settings(2)
_GAME = Game(
    step,
    broken,
    _TOPIC,
    start(_TOPIC),
    IN_ORDER,
    moves_of(
        Produce("order"),
        *(Join("billing", name) for name in ("b0", "b1")),
        *(Poll("billing", name) for name in ("b0", "b1")),
        *(Leave("billing", name) for name in ("b0", "b1")),
    ),
    "Produce('order') > Produce('order') > Join('billing', 'b0') > Join('billing', 'b1') > Poll('billing', 'b1') > "
    "Poll('billing', 'b0')",
)

out_of_order = Exercise(
    name="out_of_order",
    asks=(
        "A game. `orders` has two partitions; records without a key go to them in turn. Users hope that "
        f"*{_GAME.promise}*. Break that promise; **par {_GAME.par}**. A poll returns one record of one partition, and "
        f"commits it. The moves: {_GAME.table()}. Give a line with `>` between the moves, or a list of events."
    ),
    start='run = ""  # moves with > between them\nexercises.out_of_order.check(run)',
    judge=_GAME,
    hints=(
        "With two records in two partitions, who reads which?",
        "Let the member poll first whose partition has the second record.",
    ),
    reasoning=(
        f"`{_GAME.best}`. The first record is in partition 0, the second one in partition 1; two members have one "
        "each, "
        "and nothing makes them wait for each other. One member alone reads the two in turn and breaks nothing here; "
        "but which partition comes first is no promise of Kafka's either."
    ),
    misconceptions=(
        Misconception(
            "Produce('order') > Produce('order') > Join('billing', 'b0') > Join('billing', 'b1') > Poll('billing', "
            "'b0') > Poll('billing', 'b1')",
            "The member that has the first record reads it first. What if the other one is quicker?",
        ),
    ),
    moral="Order ends where the partition ends.",
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

_CHAPTER = Chapter(
    "03 groups",
    (idle_members, wrong_group_id, whose_order, read_describe, my_lags, one_partition, out_of_order, twice_as_fast),
)
all_exercises = _CHAPTER.all_exercises
score = _CHAPTER.score
__all__ = _CHAPTER.public_names()
