"""The incidents of chapter 01: the offsets topic was expanded; one broker coordinates all the heavy groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain, count
from types import MappingProxyType

from kafkalearn.coordinator.leaders import round_robin_leaders
from kafkalearn.coordinator.rule import find_coordinator, offsets_partition
from kafkalearn.exercises.kit.exercise import Exercise, Misconception
from kafkalearn.exercises.kit.properties import Having, Open, Property
from kafkalearn.exercises.kit.values import Value
from kafkalearn.partitioning.resizing import moved_share

_RESIZES = {"50 to 100": (50, 100), "50 to 51": (50, 51)}

expand_offsets_topic = Exercise(
    name="expand_offsets_topic",
    asks=(
        "**Incident.** Someone gave `__consumer_offsets` more partitions, and the brokers were restarted. Groups began "
        "to read their topics again from the start: their commits are not found. Which share of all groups is hit, if "
        "the topic went from 50 to 100 partitions, and which if it went from 50 to 51? Give two numbers between 0 and "
        "1; 0.01 off is near enough."
    ),
    start=(
        "share = {" + ", ".join(f'"{name}": ...' for name in _RESIZES) + "}\n"
        "exercises.expand_offsets_topic.check(share)"
    ),
    judge=Value(lambda: {name: moved_share(*counts) for name, counts in _RESIZES.items()}, within=0.01),
    solve=lambda: {name: float(moved_share(*counts)) for name, counts in _RESIZES.items()},
    hints=(
        "A group is hit when the formula gives it another partition than before. Commits do not move.",
        "Take 10,000 ids, compute both partitions of each, and count.",
        "With 100 partitions a group stays if its remainder by 100 is below 50.",
    ),
    reasoning=(
        "A group stays where it was if its hash leaves the same remainder by both counts. The remainders repeat every "
        "lcm(50, 100) = 100 hashes, and agree for 50 of them: half of the groups are hit. For 51 they repeat every "
        "2,550 hashes and agree for 50: 50 of 51 groups are hit, 98 %.\n\n"
        "Their records still lie in the old partition, but nobody looks there. Members get no committed offset and "
        "start where `auto.offset.reset` says. Brokers read the count once, when they start, so a rolling restart even "
        "has brokers that disagree (KAFKA-14418, apache/kafka#12911; KIP-895)."
    ),
    misconceptions=(
        Misconception(
            {"50 to 51": 1 / 51},
            "1 in 51 is what a consistent hash would move, to fill the new partition; a remainder moves nearly all.",
        ),
        Misconception({"50 to 100": 0}, "Kafka moves no records when partitions are added, not even its own commits."),
        Misconception(
            {"50 to 100": 1}, "Some remainders by 50 and by 100 are equal: those of hashes that end in 00 to 49."
        ),
    ),
    moral="The partition count of this topic is chosen once, before the first group.",
)

LEADERS = round_robin_leaders([1, 2, 3])
REQUESTS_PER_SECOND = MappingProxyType({"billing": 4000, "fraud-check": 3000, "tracking": 3000, "orders-audit": 2000})
LIMIT_PER_SECOND = 5000
_KEPT = "billing"  # its committed offsets must not be lost


def load_by_broker(new_ids: Mapping[str, str]) -> dict[int, int]:
    """Group requests a second that each broker would serve, if the groups had these ids.

    >>> load_by_broker({group_id: group_id for group_id in REQUESTS_PER_SECOND})
    {1: 12000, 2: 0, 3: 0}
    """
    loads: Counter[int] = Counter()
    for old_id, new_id in new_ids.items():
        loads[find_coordinator(new_id, LEADERS).broker_id] += REQUESTS_PER_SECOND[old_id]
    return {broker_id: loads[broker_id] for broker_id in sorted(set(LEADERS))}


def _spread() -> dict[str, str]:
    """Each group in turn gets the first id with which its broker stays within the limit."""
    new_ids = {_KEPT: _KEPT}
    for old_id in REQUESTS_PER_SECOND:
        if old_id != _KEPT:
            new_ids[old_id] = next(
                new_id for new_id in _candidates(old_id) if _is_within_limit({**new_ids, old_id: new_id})
            )
    return new_ids


def _candidates(old_id: str) -> Iterator[str]:
    return chain([old_id], (f"{old_id}-{number}" for number in count(2)))


def _is_within_limit(new_ids: Mapping[str, str]) -> bool:
    return max(load_by_broker(new_ids).values()) <= LIMIT_PER_SECOND


def _overload(new_ids: Mapping[str, str]) -> str:
    loads = load_by_broker(new_ids)
    broker_id = max(loads, key=loads.__getitem__)
    return f"Broker {broker_id} would still serve {loads[broker_id]:,} requests a second; the limit is 5,000."


_PROPERTIES = (
    Property(
        lambda ids: set(ids) == set(REQUESTS_PER_SECOND),
        lambda ids: f"The keys must be the four present ids, {', '.join(map(repr, REQUESTS_PER_SECOND))}.",
    ),
    Property(
        lambda ids: all(isinstance(new, str) and new.startswith(old) for old, new in ids.items()),
        lambda ids: "Each new id must be text that begins with the present one, or nobody will recognise it.",
    ),
    Property(
        lambda ids: len(set(ids.values())) == len(ids),
        lambda ids: "Two groups would have the same id: they would become one group and share out its partitions.",
    ),
    Property(
        lambda ids: ids[_KEPT] == _KEPT,
        lambda ids: f"{_KEPT!r} must keep its id: under another one it would not find its committed offsets.",
    ),
    Property(_is_within_limit, _overload),
)

hot_broker = Exercise(
    name="hot_broker",
    asks=(
        "**Incident.** Broker 1 is at 100 % CPU, brokers 2 and 3 are idle. The request log shows why: heartbeats and "
        "commits of four groups, all answered by broker 1.\n\n"
        "| group | requests a second |\n| --- | --- |\n"
        + "\n".join(f"| {group_id} | {rate:,} |" for group_id, rate in REQUESTS_PER_SECOND.items())
        + "\n\nThe 50 partitions of `__consumer_offsets` are led by brokers 1, 2, 3 in turn "
        "(`round_robin_leaders([1, 2, 3])`). Three of the four groups may be renamed; `billing` may not. Give a dict "
        "from each present id to its new id, so that no broker serves more than 5,000 of these requests a second. A "
        "new id begins with the present one; a group may keep its id."
    ),
    start=(
        "new_ids = {\n"
        + "".join(f'    "{group_id}": ...,\n' for group_id in REQUESTS_PER_SECOND)
        + "}\nexercises.hot_broker.check(new_ids)"
    ),
    judge=Having({}, _PROPERTIES),
    solve=_spread,
    hints=(
        "Where are the four groups? Compute not only their brokers but their partitions.",
        "4,000 + 3,000 is already too much for one broker: at least two of the three must move.",
        'Try suffixes in a loop: `find_coordinator(f"tracking-{n}", leaders).broker_id` for n = 2, 3, 4, ...',
    ),
    reasoning=(
        f"All four ids hash to partition {offsets_partition(_KEPT)}: not just the same broker, the same partition. So "
        "moving the leadership of partitions to other brokers cannot separate them: the leader of that partition "
        "serves all 12,000 requests. Their ids must differ in the hash.\n\n"
        "One spread that works is "
        + ", ".join(f"`{old}` as `{new}`" for old, new in _spread().items())
        + ", with the loads "
        + ", ".join(f"{load:,} on broker {broker_id}" for broker_id, load in load_by_broker(_spread()).items())
        + ".\n\nThe price: a group with a new id is a new group. It has no committed offsets and starts where "
        "`auto.offset.reset` says. Stop the old group, carry its offsets over (`kafka-consumer-groups "
        "--reset-offsets --from-file`), then start the new one."
    ),
    misconceptions=(
        Misconception(
            {group_id: group_id for group_id in REQUESTS_PER_SECOND},
            "The ids are unchanged: the same id hashes to the same partition, today and tomorrow.",
        ),
        Misconception(
            {**{group_id: f"{group_id}-2" for group_id in REQUESTS_PER_SECOND}, _KEPT: _KEPT},
            "One suffix for all spreads nothing by itself: the hash of the whole id decides, so look where each lands.",
        ),
    ),
    moral="In production, remember that a renamed group begins without committed offsets.",
)

at_three_in_the_morning = Exercise(
    name="at_three_in_the_morning",
    asks=(
        "**Open question.** The same incident, and it is 3 a.m. Three remedies are on the table: rename groups; move "
        "the leadership of the hot partition of `__consumer_offsets` to another broker; give that topic more "
        "partitions. Which would you take tonight, which tomorrow, and which never on a running cluster? Say what each "
        "one breaks."
    ),
    start="answer = ...\nexercises.at_three_in_the_morning.check(answer)",
    judge=Open(),
    solve=lambda: "Tonight I would move the leadership; tomorrow rename; more partitions never on a live cluster.",
    hints=(
        "Which of the three needs a change in somebody's application, and a release?",
        "Which of the three changes the answer of the formula for every group of the cluster?",
    ),
    reasoning=(
        "*Tonight:* move the leadership of the hot partition to the most idle broker. No group changes its partition, "
        "its commits stay where they are; its members get NOT_COORDINATOR once and look the coordinator up again. But "
        "groups of one partition stay together.\n\n"
        "*Tomorrow:* rename the heaviest groups, in a planned stop, and carry their offsets over.\n\n"
        "*Never on a running cluster:* more partitions. The formula's n changes, half of the groups (50 to 100) or "
        "nearly all (50 to 51) are looked for in another partition, where none of their commits are; and a broker "
        "reads the new count only when it starts, so until the last restart brokers disagree about who coordinates "
        "whom (KAFKA-14418, apache/kafka#12911; KIP-895 proposes to read it at once)."
    ),
)
