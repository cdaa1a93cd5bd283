"""The exercises of chapter 16: can a group change its protocol while it runs?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import permutations

from kafkalearn.base.errors import KafkaLearnError, shown
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.consuming.nearest import zone_traffic
from kafkalearn.exercises.kit.compare import Value
from kafkalearn.exercises.kit.exercise import Chapter, Exercise, Misconception
from kafkalearn.exercises.kit.functions import Having, Open, Property
from kafkalearn.exercises.kit.result import say
from kafkalearn.groups.described import CONSUMER_GROUP_DESCRIBE, DESCRIBE_GROUPS, described
from kafkalearn.groups.patterns import matching
from kafkalearn.releases.group_protocols import moves


def _shown() -> dict[str, str]:
    return {
        "all five classic, DescribeGroups": described("classic", DESCRIBE_GROUPS, 5).state,
        "one of five new, DescribeGroups": described("consumer", DESCRIBE_GROUPS, 5).state,
        "one of five new, ConsumerGroupDescribe": described("consumer", CONSUMER_GROUP_DESCRIBE).state,
        "all five classic, ConsumerGroupDescribe": described("classic", CONSUMER_GROUP_DESCRIBE).error,
    }


dead_or_alive = Exercise(
    name="dead_or_alive",
    asks=(
        "Predict. All five members of `billing` read. A dashboard asks with DescribeGroups, version 5; another one "
        "with ConsumerGroupDescribe. Which state is shown (`Stable` or `Dead`), before the rollout and with one new "
        "member; and, in the last case, which error comes instead?"
    ),
    start=(
        "answer = {\n"
        '    "all five classic, DescribeGroups": ...,\n'
        '    "one of five new, DescribeGroups": ...,\n'
        '    "one of five new, ConsumerGroupDescribe": ...,\n'
        '    "all five classic, ConsumerGroupDescribe": ...,\n'
        "}\n"
        "exercises.dead_or_alive.check(answer)"
    ),
    judge=Value(_shown),
    hints=(
        "A group has one type, and one new member is enough for the new one.",
        "Each of the two requests knows groups of its own type only.",
        "The newer request says so with an error, the older one up to version 5 with a state.",
    ),
    reasoning=(
        "With the first new member the group is a consumer group. DescribeGroups then finds no classic group of that "
        "name, and answers as for a name that was never there: *Dead*, without an error. ConsumerGroupDescribe finds "
        "it, and refuses a classic group with `GROUP_ID_NOT_FOUND`. A tool that must be right asks with both."
    ),
    misconceptions=(
        Misconception(
            {"one of five new, DescribeGroups": "Stable"},
            "The group goes on reading; but the old request looks for a classic group, and there is none any more.",
        ),
        Misconception(
            {"all five classic, ConsumerGroupDescribe": "Dead"},
            "That is what the old request says of a group that it does not find. The new one has an error for it.",
        ),
    ),
    moral="Before a rollout, try your dashboards on a group of the new protocol.",
)

_POD = {
    "group.id": "billing",
    "group.instance.id": "billing-3",
    "session.timeout.ms": "30000",
    "heartbeat.interval.ms": "10000",
    "max.poll.interval.ms": "600000",
    "partition.assignment.strategy": "org.apache.kafka.clients.consumer.CooperativeStickyAssignor",
    "client.rack": "a",
    "auto.offset.reset": "earliest",
}


what_stops_it = Exercise(
    name="what_stops_it",
    asks=(
        "**Find the bug.** A pod has these settings, and does not start once `group.protocol=consumer` is added: "
        + ", ".join(f"`{name}={value.rpartition('.')[2]}`" for name, value in _POD.items())
        + ". Which of them must go? Give a set of names."
    ),
    start="names = {...}\nexercises.what_stops_it.check(names)",
    judge=Value(lambda: {move.name for move in moves("refused")} & _POD.keys()),
    hints=(
        "Three of them are about what the coordinator does now: who assigns, and how long it waits.",
        "`max.poll.interval.ms` is about the application's own thread, and stays.",
    ),
    reasoning=(
        "`partition.assignment.strategy`: the coordinator assigns. `session.timeout.ms` and `heartbeat.interval.ms`: "
        "they are the broker's, or the group's. The client refuses all three with a ConfigException. The rest stays; "
        "but a second pod with the same `group.instance.id` is now refused while the first is there."
    ),
    misconceptions=(
        Misconception(
            {"session.timeout.ms", "heartbeat.interval.ms"},
            "Two of three: who assigns, when no member leads the group any more?",
        ),
        Misconception(
            {"session.timeout.ms", "heartbeat.interval.ms", "partition.assignment.strategy", "max.poll.interval.ms"},
            "`max.poll.interval.ms` stays: the client still watches its own poll thread.",
        ),
    ),
)

_TOPICS = ("orders-eu", "orders-us", "orders-eu-retry", "orders-test", "clicks-eu", "__consumer_offsets", "orders")
_WANTED = {"orders-eu", "orders-us"}


def _matched(pattern: str) -> frozenset[str]:
    return matching(pattern, _TOPICS)


one_pattern = Exercise(
    name="one_pattern",
    asks=(
        "The cluster has the topics "
        + ", ".join(f"`{name}`" for name in _TOPICS)
        + ". The classic client used the Java pattern `orders-(?!test).{2}`. Write a pattern that the **broker** "
        "takes, and that matches `orders-eu`, `orders-us` and nothing else of these; a new `orders-ap` is to match."
    ),
    start="pattern = ...\nexercises.one_pattern.check(pattern)",
    judge=Having(
        "",
        (
            Property(
                lambda pattern: _matched(pattern) >= _WANTED,
                lambda pattern: say("It does not match {}.", min(_WANTED - _matched(pattern))),
            ),
            Property(
                lambda pattern: not _matched(pattern) - _WANTED,
                lambda pattern: say("It matches {}, too.", min(_matched(pattern) - _WANTED)),
            ),
            Property(
                lambda pattern: bool(matching(pattern, ["orders-ap"])),
                lambda pattern: say("It would not match {}.", "orders-ap"),
            ),
        ),
    ),
    solve=lambda: "orders-[a-z]{2}",
    hints=(
        "The whole name has to match, so the length of what follows the dash decides here.",
        "`[a-z]{2}`: two small letters.",
    ),
    reasoning=(
        "`orders-[a-z]{2}`. The broker matches whole names, so `test` does not fit two letters, and no lookahead is "
        "needed. RE2J has none: the heartbeat would be answered INVALID_REGULAR_EXPRESSION."
    ),
    misconceptions=(
        Misconception("orders-.*", "The pattern takes the retries and the tests along."),
        Misconception("orders-(eu|us)", "That is right for today's topics. The next region is to match, too."),
    ),
)

BATCH_S = {"c1": 50, "c2": 70, "c3": 90, "c4": 110, "c5": 130}
RESTARTS_S = (60, 120, 180, 240, 300)
A_SECOND = 100


def read_twice(order: Sequence[str]) -> int:
    """The records that are read twice if the pods are killed in this order.

    >>> read_twice(["c1", "c2", "c3", "c4", "c5"])
    12000
    """
    pairs = zip(order, RESTARTS_S, strict=True)
    return sum(at_s % BATCH_S[pod] * A_SECOND for pod, at_s in pairs)


@cache
def _least() -> int:
    return min(map(read_twice, permutations(BATCH_S)))


def _is_an_order(order: Sequence[str]) -> bool:
    return sorted(order) == sorted(BATCH_S)


def _as_names(answer: object) -> object:
    if isinstance(answer, str):
        return [each.strip() for each in answer.replace(",", ">").split(">") if each.strip()]
    return list(answer) if isinstance(answer, tuple) else answer


least_twice = Exercise(
    name="least_twice",
    asks=(
        "A game. The pods of `billing` do not close when they are replaced: they are killed. Each works in batches, "
        "begun at 0 s, and commits at the end of each: "
        + ", ".join(f"{pod} every {seconds} s" for pod, seconds in BATCH_S.items())
        + f". Each reads {A_SECOND} records a second. One is killed at each of "
        + ", ".join(map(str, RESTARTS_S[:-1]))
        + f" and {RESTARTS_S[-1]} s; what it has not committed is read twice. In which order is least read twice? "
        "**Par is the least that any of the 120 orders reads twice.** Give a line with `>` between the names."
    ),
    start="order = ...  # names with > between them\nexercises.least_twice.check(order)",
    judge=Having(
        [""],
        (
            Property(_is_an_order, lambda order: say("{} is not each of c1 to c5 once.", order)),
            Property(
                lambda order: read_twice(order) == _least(),
                lambda order: say("It reads {} records twice; par is {}.", read_twice(order), _least()),
            ),
        ),
        _as_names,
    ),
    solve=lambda: " > ".join(min(permutations(BATCH_S), key=read_twice)),
    hints=(
        "What counts is how long ago the last commit is: the time of the restart modulo the length of a batch.",
        "c3 at 180 s has just committed. So has c1 at 300 s: but who else would be good there?",
        "Write the five by five numbers down; c5 is good at 60, 180 and 300 s only.",
    ),
    reasoning=(
        "The seconds since the last commit, for each pod and each restart, are a table of five by five; the best order "
        "takes one of each row and column with the least sum. Five pods have 120 orders: `min(permutations(...))` "
        "tries them all. A pod that is **closed** commits before it goes, and nothing is read twice in any order: give "
        "it the time (`terminationGracePeriodSeconds` above the longest batch), and the game is won before it begins."
    ),
    misconceptions=(
        Misconception(["c1", "c2", "c3", "c4", "c5"], "In the order of their names each is killed late in its batch."),
        Misconception(["c5", "c4", "c3", "c2", "c1"], "The longest batch first is near, but look at what c4 has then."),
    ),
    moral="A rollout that kills pays for each second since the last commit, in whichever protocol.",
)

ZONES = {"m1": "a", "m2": "b", "m3": "c"}
RACKS = (("a", "b"), ("a", "b"), ("a", "c"), ("b", "a"), ("b", "c"), ("a", "c"))


def crossing_count(owned: Mapping[str, Sequence[int]]) -> int:
    """How many of the six partitions are read from another zone, with every member reading from the nearest replica."""
    places = {member: [TopicPartition("orders", number) for number in numbers] for member, numbers in owned.items()}
    return zone_traffic(places, ZONES, {"orders": RACKS}, 1, reads_nearest=True).crossing_bytes


def _holds_all(owned: Mapping[str, Sequence[int]]) -> bool:
    return sorted(number for numbers in owned.values() for number in numbers) == list(range(len(RACKS)))


def _is_known(owned: Mapping[str, Sequence[int]]) -> bool:
    if owned.keys() != ZONES.keys():
        raise KafkaLearnError(f"the members are {', '.join(ZONES)}, got {shown(list(owned))}")
    return True


share_by_zone = Exercise(
    name="share_by_zone",
    asks=(
        "You are the assignor. m1 runs in zone a, m2 in b, m3 in c. The replicas of the six partitions of `orders` are "
        "in the zones "
        + ", ".join(f"{number}: {' and '.join(racks)}" for number, racks in enumerate(RACKS))
        + ". Give each member two partitions, so that nobody reads from another zone."
    ),
    start='owned = {"m1": [..., ...], "m2": [..., ...], "m3": [..., ...]}\nexercises.share_by_zone.check(owned)',
    judge=Having(
        {"m1": [0]},
        (
            Property(_is_known, lambda owned: "The members are m1, m2 and m3."),
            Property(_holds_all, lambda owned: "Each of the partitions 0 to 5 belongs to one member."),
            Property(
                lambda owned: all(len(numbers) == 2 for numbers in owned.values()),
                lambda owned: "Not each has two: balance comes first, zones after it.",
            ),
            Property(
                lambda owned: not crossing_count(owned),
                lambda owned: say("{} of six are read from another zone.", crossing_count(owned)),
            ),
        ),
    ),
    solve=lambda: {"m1": [0, 1], "m2": [3, 4], "m3": [2, 5]},
    hints=(
        "Begin with the member that has the least choice: who can take what in zone c?",
        "m3 can have 2, 4 or 5; m2 can have 0, 1, 3 or 4.",
    ),
    reasoning=(
        "m3 fits 2, 4 and 5 only, so it takes two of these, for example 2 and 5; m2 takes two of 0, 1, 3 and 4, and m1 "
        "what is left, if that has a replica in a. Kafka's range cuts consecutive pieces first by match and then by "
        "order; it finds such a sharing here, if members name their racks, and does not look for the best one."
    ),
    misconceptions=(
        Misconception(
            {"m1": [0, 1], "m2": [2, 3], "m3": [4, 5]}, "That is range without racks: partition 2 is not in zone b."
        ),
    ),
)

rollout_plan = Exercise(
    name="rollout_plan",
    asks=(
        "Open. `search` has 300 pods, static members, librdkafka in half of them and Java in the others, and a "
        "dashboard from 2019. Brokers are 4.4, three zones. Write the plan for its move to the new protocol: what you "
        "look at before, the order, what tells you to stop, how you go back, and what you do about zones."
    ),
    start='plan = """\n"""\nexercises.rollout_plan.check(plan)',
    judge=Open(),
    solve=lambda: "Settings and dashboards first; one pod; a day; the rest; zones stay with the nearest replica.",
    hints=(
        "`kafkalearn upgrade --group-protocol consumer` reads your own settings.",
        "What does the group do when the first new pod comes, and when the last one goes?",
        "Which assignor of the broker knows zones?",
    ),
    reasoning=(
        "Before: each pod's settings (three are refused), listeners that expect all partitions, the dashboards' "
        "request, `group.consumer.migration.policy` of the brokers, and the classic assignors' user data. Static ids: "
        "a pod must be gone before its successor comes, or it gets UNRELEASED_INSTANCE_ID. Then one pod, and a day: "
        "the group is a consumer group from then on, and the other 299 stay in it. Stop if lag grows or a pod does "
        "not start; not because a tool says Dead. Back: take the new pods away; when the last has left, the group is "
        "classic again, with one rebalance. Zones: no assignor of the broker knows them up to 4.4, so traffic grows "
        "where range or sticky matched racks before; three replicas in three zones and fetching from the nearest "
        "make it nothing again, or an assignor of one's own in the broker."
    ),
)

_CHAPTER = Chapter(
    "16 migration", (dead_or_alive, what_stops_it, one_pattern, least_twice, share_by_zone, rollout_plan)
)
all_exercises = _CHAPTER.all_exercises
score = _CHAPTER.score
__all__ = _CHAPTER.public_names()
