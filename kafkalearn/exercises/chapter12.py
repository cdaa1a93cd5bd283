"""The exercises of chapter 12: how did a group agree before there was a coordinator?"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from kafkalearn.assignors import Member, OldConsumer, assign
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.exercises.chapter12b import (
    block_the_finder,
    move_the_group,
    stand_still,
    which_offset,
    worse_about_the_topic,
)
from kafkalearn.exercises.kit.compare import Value, as_settings
from kafkalearn.exercises.kit.exercise import Chapter, Exercise, Misconception
from kafkalearn.exercises.kit.functions import Having, Property
from kafkalearn.scenarios.text import scenario
from kafkalearn.zookeeper import connector
from kafkalearn.zookeeper.eras import play_old_consumers
from kafkalearn.zookeeper.layout import WHITE_LIST
from kafkalearn.zookeeper.search import herd_costs
from kafkalearn.zookeeper.subscriptions import TopicFilter

ONCE_HERE = (block_the_finder, move_the_group, stand_still, which_offset, worse_about_the_topic)
"""The exercises of 12 when it was one lesson: a copy of that time looks for them here."""

_REGEX, _TOPICS = "orders-*,refund.", ("orders", "orders-eu", "my-orders", "refund", "refunds")


def _lets_through() -> dict[str, bool]:
    white_list = TopicFilter(WHITE_LIST, _REGEX)
    return {topic: white_list.covers(topic) for topic in _TOPICS}


no_glob = Exercise(
    name="no_glob",
    asks=(
        f"A prediction. An old consumer gets the white list `{_REGEX}`. Which of these topics does it let through? "
        "Answer yes or no for each."
    ),
    start=(
        "lets_through = {\n" + "".join(f'    "{topic}": ...,\n' for topic in _TOPICS) + "}\n"
        "exercises.no_glob.check(lets_through)"
    ),
    judge=Value(_lets_through),
    hints=(
        "A comma becomes `|`. What does `*` repeat in a regular expression, and what does a dot stand for?",
        "The expression has to fit the whole name, from its first to its last letter.",
        "`orders-*` is `orders` and any number of hyphens, none included.",
    ),
    reasoning=(
        "`orders-*|refund.`: either `orders` followed by hyphens only, or `refund` followed by exactly one more "
        "character. So `orders` and `refunds` pass. `orders-eu` has letters behind its hyphen, `my-orders` something "
        "in front, and `refund` lacks the one more character. Meant was probably `orders-.*,refund.*`."
    ),
    misconceptions=(
        Misconception(
            {"orders-eu": True},
            "In a glob the star stands for anything; in a regular expression it repeats what is before it, here the "
            "hyphen.",
        ),
        Misconception({"orders": False}, "Any number of hyphens may also be none at all."),
        Misconception({"my-orders": True}, "The whole name must fit; it is not enough that a part of it does."),
        Misconception({"refund": True}, "A dot stands for one character, and one has to be there."),
    ),
    moral="Write `.*` where you mean anything, and try a filter on the real names before a group gets it.",
)

_COUNTS = {"orders": 3, "refunds": 3}
_THREADS = ("c1-0", "c2-0")


def _dealt(assignor: str = "roundrobin") -> dict[str, set[str]]:
    """What each thread gets in a group of old consumers."""
    group = [OldConsumer(name, dict.fromkeys(_COUNTS, 1)) for name in ("c1", "c2")]
    assignment = assign(assignor, _COUNTS, group, side="old-consumer")
    return {thread: {str(each) for each in assignment[thread]} for thread in _THREADS}


def _dealt_by_the_new() -> dict[str, set[str]]:
    """What members of these names get by the round robin of the classic protocol."""
    assignment = assign("roundrobin", _COUNTS, [Member(thread, tuple(_COUNTS)) for thread in _THREADS])
    return {thread: {str(each) for each in assignment[thread]} for thread in _THREADS}


who_owns = Exercise(
    name="who_owns",
    asks=(
        "c1 and c2 are old consumers of Kafka 1.1, each with one stream of `orders` and one of `refunds`; both topics "
        "have three partitions. `partition.assignment.strategy` is `roundrobin`. It puts the partitions into the order "
        "of the Java hash codes of their texts (`orders-0`, ...; `kafkalearn.java_string_hash` computes them), "
        "smallest first, and deals them to the threads in turn, `c1-0` first. Who owns what? Give a set of texts for "
        "each thread."
    ),
    start=(
        "from kafkalearn import java_string_hash\n\n"
        'owned = {"c1-0": ..., "c2-0": ...}  # as {"orders-0", "refunds-1"}\n'
        "exercises.who_owns.check(owned)"
    ),
    judge=Value(_dealt),
    hints=(
        '`sorted(["orders-0", ...], key=java_string_hash)` is the row that is dealt.',
        "Hash codes are ints with a sign: some are below zero, and come first.",
        "Which topic comes first in the row? Then count off: one for c1, one for c2.",
    ),
    reasoning=(
        "The hash codes of `refunds-0` to `refunds-2` are below zero, so they are dealt first: to c1, c2, c1; then the "
        "three of `orders`, to c2, c1, c2. So c1 owns `refunds-0`, `refunds-2` and `orders-1`, and c2 the others.\n\n"
        "The order has no meaning; it was chosen so that not all partitions of one topic go to one consumer. What "
        "counts is that everybody computes the same row: with 1.0 the text became another, so two releases in a group "
        "disagree."
    ),
    misconceptions=(
        Misconception(
            _dealt_by_the_new(),
            "That deals topic by topic in the order of their names, as the round robin of the classic protocol does.",
        ),
        Misconception(_dealt("range"), "That cuts each topic into pieces, which is what the default, range, does."),
    ),
)

_HERDS = (2, 16)


def _herds() -> dict[str, int]:
    few, many = herd_costs(_HERDS)
    return {
        "rebalances when 2 become 3": few.rebalances,
        "rebalances when 16 become 17": many.rebalances,
        "consumers that are called by 16 becoming 17": many.notified,
    }


called_by_one = Exercise(
    name="called_by_one",
    asks=(
        "A prediction. An old group of 2 consumers is at rest, and one more joins; then a group of 16, and one more "
        "joins. How many rebalances does each of the two joins cause, those of the newcomer and of everybody else "
        "together? And how many consumers are called by a watch in the second case?"
    ),
    start=(
        "called = {\n" + "".join(f'    "{name}": ...,\n' for name in _herds()) + "}\n"
        "exercises.called_by_one.check(called)"
    ),
    judge=Value(_herds),
    hints=(
        "Who has a watch on the children of `/consumers/billing/ids`?",
        "Everybody who is called rebalances, and so does the newcomer itself.",
        "A watch is left by whoever is there already.",
    ),
    reasoning=(
        "Every consumer watches the list of consumers, so every one is called, and every one rebalances: 3 in the "
        "small group, 17 in the large one. Each works out the assignment of the whole group, and for that it reads "
        "the registration of each of the seventeen, its own too. 17 times 17 reads for one newcomer: that is the "
        "square in the herd."
    ),
    misconceptions=(
        Misconception(
            {"rebalances when 16 become 17": 1},
            "One rebalance of the group is a coordinator's word. Here each consumer makes its own.",
        ),
        Misconception(
            {"rebalances when 16 become 17": 16},
            "The sixteen are called by their watches; the newcomer rebalances too, inside `createMessageStreams`.",
        ),
        Misconception(
            {"consumers that are called by 16 becoming 17": 1},
            "Nobody is chosen to be called: each of them has left a watch on the same list.",
        ),
    ),
    moral="Where nobody decides, everybody reads everything.",
)

LATENCY_MS = 2
SOON_MS = 30_000
PAUSE = """
topic orders has 6 partitions
at 0 s: c1, c2, c3 join
at 60 s: c3 pauses for 12 s
at 61 s: a1 joins
the end is at 150 s
"""
CRASH = """
topic orders has 6 partitions
at 0 s: c1, c2 join
at 60 s: c2 crashes and returns after 2 s
the end is at 150 s
"""
_NAMES = {
    "zookeeper.session.timeout.ms": "zookeeper_session_timeout_ms",
    "rebalance.max.retries": "rebalance_max_retries",
    "rebalance.backoff.ms": "rebalance_backoff_ms",
}
Chosen = dict[str, int]


def settings_of(chosen: Chosen) -> connector.Settings:
    """The settings of the group.

    Raises
    ------
    KafkaLearnError
        If one of the three is missing, or another is there, or Kafka refuses one.
    """
    if set(chosen) != set(_NAMES):
        raise KafkaLearnError(f"the settings are {', '.join(_NAMES)}, all three of them and no other")
    fields: dict[str, Any] = {_NAMES[name]: value for name, value in chosen.items()}
    return connector.Settings(**fields)


@lru_cache(maxsize=64)
def _played(story: str, settings: connector.Settings) -> tuple[int, bool, int | None]:
    """How many consumers gave up, whether a session expired, and when the group came to rest for the last time.

    None: at the end of the story it is not at rest.
    """
    outcome, protocol = play_old_consumers(scenario(story), settings, LATENCY_MS)
    causes = " ".join(row["cause"] for row in outcome.rebalances)
    return protocol.given_up_count, "expires" in causes, outcome.rebalances[-1]["to_ms"]


def survives_pause(chosen: Chosen) -> bool:
    """Whether a pause of twelve seconds ends no session.

    >>> survives_pause({"zookeeper.session.timeout.ms": 6000, "rebalance.max.retries": 4, "rebalance.backoff.ms": 2000})
    False
    """
    return not _played(PAUSE, settings_of(chosen))[1]


def nobody_gives_up(chosen: Chosen) -> bool:
    """Whether in both stories every consumer reads in the end."""
    settings = settings_of(chosen)
    return not any(_played(story, settings)[0] for story in (PAUSE, CRASH))


def is_soon_replaced(chosen: Chosen) -> bool:
    """Whether the group is at rest again soon after a consumer crashed."""
    at_rest_ms = _played(CRASH, settings_of(chosen))[2]
    return at_rest_ms is not None and at_rest_ms - 60_000 <= SOON_MS


def _has_too_few_tries(chosen: object) -> bool:
    """Whether all tries are over before a session can be; of settings that can be played."""
    formed = as_settings(chosen)
    tries_ms = formed["rebalance.max.retries"] * formed["rebalance.backoff.ms"]
    return tries_ms <= formed["zookeeper.session.timeout.ms"] and not nobody_gives_up(formed)


patient_settings = Exercise(
    name="patient_settings",
    asks=(
        "**Find the bug.** The shop's old group runs with `zookeeper.session.timeout.ms=30000`, "
        "`rebalance.max.retries=4`, `rebalance.backoff.ms=2000`. Give better values for the three, so that\n\n"
        "1. a consumer may stand still for 12 seconds, while another one joins, and its session does not end,\n"
        "2. nobody gives up, neither then nor when a consumer crashes and is started again two seconds later,\n"
        "3. after such a crash the whole group reads again within 30 seconds.\n\n"
        "Six partitions, three consumers. (Both stories are played; ZooKeeper's tick is 2 s, a third of the timeout "
        "lies between two signs of life.)"
    ),
    start=(
        "values = {\n" + "".join(f'    "{name}": ...,\n' for name in _NAMES) + "}\n"
        "exercises.patient_settings.check(values)"
    ),
    judge=Having(
        {},
        (
            Property(
                survives_pause, lambda chosen: "A pause of twelve seconds ends a session: two consumers read the same."
            ),
            Property(nobody_gives_up, lambda chosen: "A consumer gives up, and lives on without reading anything."),
            Property(
                is_soon_replaced, lambda chosen: "After a crash it takes longer than half a minute until all is read."
            ),
        ),
        form=as_settings,
    ),
    solve=lambda: {
        "zookeeper.session.timeout.ms": 20_000,
        "rebalance.max.retries": 15,
        "rebalance.backoff.ms": 2_000,
    },
    hints=(
        "Three clocks: the pause, the session, and all tries with their pauses. In which order must they run out?",
        "The last sign of life may be a third of the timeout old when the pause begins.",
        "Tries times backoff must be longer than the session and a tick; and the session shorter than half a minute.",
    ),
    reasoning=(
        "The pause must fit into the session, also when the last sign of life is a third of it old: 12 s and 6.7 s are "
        "less than 20 s. A crashed consumer's nodes stay until its session is over, up to 22 s later; whoever is to "
        "get its partitions must still be trying then: 15 tries of 2 s are 30 s. And 22 s, with the try after it, is "
        "within half a minute.\n\n"
        "The bug was 4 × 2 s = 8 s of tries against 30 s of session. Kafka's FAQ had the rule: `rebalance.max.retries "
        "* rebalance.backoff.ms` must be larger than `zookeeper.session.timeout.ms`."
    ),
    misconceptions=(
        Misconception(
            {
                "zookeeper.session.timeout.ms": 25_000,
                "rebalance.max.retries": 4,
                "rebalance.backoff.ms": 2000,
            },
            "All tries are over before the session is: who waits for somebody dead or asleep gives up too early.",
            _has_too_few_tries,
        ),
        Misconception(
            {
                "zookeeper.session.timeout.ms": 10_000,
                "rebalance.max.retries": 15,
                "rebalance.backoff.ms": 2000,
            },
            "The session counts from the last sign of life, and that may be some seconds old when the pause begins.",
            lambda chosen: not survives_pause(as_settings(chosen)),
        ),
        Misconception(
            {
                "zookeeper.session.timeout.ms": 40_000,
                "rebalance.max.retries": 40,
                "rebalance.backoff.ms": 2000,
            },
            "A long session keeps the nodes of the dead as well: nobody can have their partitions until it ends.",
            lambda chosen: not is_soon_replaced(as_settings(chosen)),
        ),
    ),
    moral="Settings that are compared with each other by nobody have to be compared by you.",
)

_CHAPTER = Chapter("12 zookeeper consumer", (no_glob, who_owns, called_by_one, patient_settings))
all_exercises = _CHAPTER.all_exercises
score = _CHAPTER.score
__all__ = _CHAPTER.public_names()
