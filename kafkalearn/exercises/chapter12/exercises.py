"""The exercises of chapter 12: how did a group agree before there was a coordinator?"""

from __future__ import annotations

from kafkalearn.assignor import Member, OldConsumer, assign
from kafkalearn.exercises.chapter12.fetching import block_the_finder, stand_still
from kafkalearn.exercises.chapter12.offsets import move_the_group, which_offset, worse_about_the_topic
from kafkalearn.exercises.chapter12.sessions import patient_settings
from kafkalearn.exercises.kit.exercise import Chapter, Exercise, Misconception
from kafkalearn.exercises.kit.values import Value
from kafkalearn.zookeeper.contents import WHITE_LIST
from kafkalearn.zookeeper.filters import TopicFilter

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
    solve=_lets_through,
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
    solve=_dealt,
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

_CHAPTER = Chapter(
    "12 zookeeper consumer",
    (
        no_glob,
        who_owns,
        stand_still,
        which_offset,
        move_the_group,
        patient_settings,
        block_the_finder,
        worse_about_the_topic,
    ),
)
all_exercises = _CHAPTER.all_exercises
score = _CHAPTER.score
