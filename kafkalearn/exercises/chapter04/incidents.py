"""The incidents of chapter 04: one reader gets it all, an assignor is changed, three services need one."""

from __future__ import annotations

from kafkalearn.assignor import Member, assign, load
from kafkalearn.exercises.kit.exercise import Exercise, Misconception
from kafkalearn.exercises.kit.properties import Open
from kafkalearn.exercises.kit.values import Value

_FEEDS = [f"router-{number:02}" for number in range(12)]


_READERS = [Member(f"reader-{number}", _FEEDS) for number in range(3)]


def _busiest(assignor: str) -> int:
    return load(assign(assignor, dict.fromkeys(_FEEDS, 1), _READERS)).most


def _many_small_topics() -> dict[str, object]:
    return {
        "range": _busiest("range"),
        "roundrobin": _busiest("roundrobin"),
        "idle with range": load(assign("range", dict.fromkeys(_FEEDS, 1), _READERS)).idle_count,
        "setting": "partition.assignment.strategy",
    }


many_small_topics = Exercise(
    name="many_small_topics",
    asks=(
        "**A real report** (CAIDA/libbgpstream#209, 2021). A project that records Internet routing writes a topic for "
        "each router, with *one* partition, so that the messages of a router stay in order. Users ran several readers "
        "in one group to share the work, and one reader got it all. Say 12 such topics and 3 readers that subscribe to "
        "all of them. How many partitions does the busiest reader have with `range`, how many with `roundrobin`, and "
        "how many readers are idle with `range`? Which client setting solves it?"
    ),
    start=(
        'answer = {"range": ..., "roundrobin": ..., "idle with range": ..., "setting": ...}\n'
        "exercises.many_small_topics.check(answer)"
    ),
    judge=Value(_many_small_topics),
    solve=_many_small_topics,
    hints=(
        "range divides each topic by itself: 1 partition among 3 readers.",
        "`load(assign(name, topics, members))` has `most` and `idle_count`.",
        "The setting holds the names of assignors; its default begins with range.",
    ),
    reasoning=(
        "Each topic: 1 partition, 3 readers, the first in order gets it. Twelve times the same first reader: 12, and "
        "two are idle. Round robin deals the twelve partitions out: 4 each. The setting is "
        "`partition.assignment.strategy`; the project put `roundrobin` into it (cooperative-sticky would do as well, "
        "and move less). More partitions would not help, they would cost the order."
    ),
    misconceptions=(
        Misconception(
            {"range": 4},
            "Range never looks at what a reader has of other topics; the first one gets the only partition of each.",
        ),
        Misconception(
            {"setting": "num.partitions"},
            "More partitions a topic would break the order of a router's messages, for which there is only one.",
        ),
        Misconception(
            {"setting": "group.id"},
            "Another group would read everything once more instead of sharing the work.",
        ),
    ),
    moral="With many small topics, the default assignor does not share the work.",
)


two_restarts = Exercise(
    name="two_restarts",
    asks=(
        "**Incident** (as in confluentinc/confluent-kafka-go#605). A team changes `partition.assignment.strategy` of a "
        "running group from `range` to `cooperative-sticky` and restarts its consumers one after the other. The first "
        "restarted one gets `INCONSISTENT_GROUP_PROTOCOL` and does not join: it shares no assignor with the others. "
        "With Java clients and no pause of the whole group: how many *rolling restarts* does it take, if the setting "
        "was left at its default and the clients are of 2.8; and of 3.6? And which protocol does a group follow whose "
        'members all list `range, cooperative-sticky`: `"eager"` or `"cooperative"`?'
    ),
    start=(
        'answer = {"from 2.8": ..., "from 3.6": ..., "range, cooperative-sticky": ...}\n'
        "exercises.two_restarts.check(answer)"
    ),
    judge=Value(lambda: {"from 2.8": 2, "from 3.6": 1, "range, cooperative-sticky": "eager"}),
    solve=lambda: {"from 2.8": 2, "from 3.6": 1, "range, cooperative-sticky": "eager"},
    hints=(
        "In every moment of a rolling restart, all members must have one assignor in common.",
        "`kafkalearn.versions.default('partition.assignment.strategy', '2.8')`, and the same for 3.6.",
        "A consumer can only follow the protocol that *all* its listed assignors support.",
    ),
    reasoning=(
        "2.8's default is `[range]`: a first restart adds cooperative-sticky beside it, a second takes range away. "
        "Since 3.0 the default is `[range, cooperative-sticky]`, so the first half is done: one restart takes range "
        "away. As long as range is in the list the group is eager: a consumer takes the highest protocol that all its "
        "assignors have in common, and range knows only eager. (Clients built on librdkafka refuse to mix the two "
        "kinds in one list; there the whole group has to stop.)"
    ),
    misconceptions=(
        Misconception(
            {"from 2.8": 1},
            "After half of the restarts old members know only range and new ones only cooperative-sticky.",
        ),
        Misconception(
            {"from 3.6": 2},
            "Look at the default since 3.0: the assignor that is wanted is in it already, behind range.",
        ),
        Misconception(
            {"range, cooperative-sticky": "cooperative"},
            "That an assignor is listed is not enough: range has to be gone before anybody may keep its partitions.",
        ),
    ),
    moral="The default of today is cooperative-ready, not cooperative.",
)


which_assignor = Exercise(
    name="which_assignor",
    asks=(
        "**Open question.** Three services of the shop. (a) `search` reads 40 topics of one partition each, with four "
        "consumers. (b) `billing` joins `orders` and `payments`, both with 12 partitions and the same keys, in memory. "
        "(c) `stock` keeps for each partition a cache that takes three minutes to build. Which assignor would you give "
        "each of them, and what is the price of it?"
    ),
    start="answer = ...\nexercises.which_assignor.check(answer)",
    judge=Open(),
    solve=lambda: (
        "(a) roundrobin or cooperative-sticky; (b) range; (c) cooperative-sticky, and static members beside it."
    ),
    hints=(
        "What does each of them lose when a partition moves? What when two topics are cut differently?",
        "There is one assignor that gives partition k of both topics to the same member.",
    ),
    reasoning=(
        "(a) Anything but range: with one partition a topic it gives all to the first consumer. (b) `range`, the "
        "reason why it is still there: topics with equal counts and the same subscribers are co-partitioned, a join "
        "needs partition k of both in one place. Its price is a shift of borders at each rebalance, and it holds "
        "only as long as both topics have the same number of partitions and *all* members subscribe to both. (c) "
        "`cooperative-sticky`: a cache is lost only when its partition really moves, and nobody stops for the others. "
        "For restarts, `group.instance.id` (chapter 05) is the better half of the answer. With the consumer protocol "
        "of 4.0 (KIP-848) the broker assigns: `uniform` for (a) and (c), `range` for (b)."
    ),
)
