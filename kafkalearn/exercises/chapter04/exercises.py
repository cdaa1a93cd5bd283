"""The exercises of chapter 04: who moves when one leaves?"""

from __future__ import annotations

from kafkalearn.assignor import Member, assign, compare, load
from kafkalearn.exercises.chapter04.assignor_functions import KeepsLaws
from kafkalearn.exercises.chapter04.games import needless_moves
from kafkalearn.exercises.chapter04.incidents import many_small_topics, two_restarts, which_assignor
from kafkalearn.exercises.kit.exercise import Chapter, Exercise, Misconception
from kafkalearn.exercises.kit.properties import Having, Property
from kafkalearn.exercises.kit.sentences import say
from kafkalearn.exercises.kit.values import Value

_FOUR = [Member(name, ["orders"]) for name in ("C0", "C1", "C2", "C3")]


def _who_moves() -> dict[str, int]:
    rows = compare(["range", "roundrobin", "sticky"], {"orders": 12}, _FOUR, _FOUR[:-1])
    return {**{row["assignor"]: row["moved"] for row in rows}, "revoked when eager": rows[0]["revoked, eager"]}


who_moves = Exercise(
    name="who_moves",
    asks=(
        "Predict, with pen and paper. `orders` has 12 partitions; C0, C1, C2 and C3 read three each. C3, the *last* "
        "one, leaves. How many partitions have another owner afterwards, by each assignor? And how many are revoked, "
        "by any of them, in an eager rebalance (those of C3 counted)?"
    ),
    start=(
        'moved = {"range": ..., "roundrobin": ..., "sticky": ..., "revoked when eager": ...}\n'
        "exercises.who_moves.check(moved)"
    ),
    judge=Value(_who_moves),
    solve=_who_moves,
    hints=(
        "Write the twelve numbers in a row, under them the owner with four members, under that the owner with three.",
        "range cuts the row into pieces of three, then of four; roundrobin deals: number % 4, then number % 3.",
        "For which numbers below 12 is `number % 4 == number % 3`?",
    ),
    reasoning=(
        "- **sticky**: the three of C3 need a new owner, one for each of the others: 3, and less is impossible.\n"
        "- **range**: pieces 0-2, 3-5, 6-8, 9-11 become 0-3, 4-7, 8-11. Number 3 goes from C1 to C0; 6 and 7 from C2 "
        "to C1; 9, 10, 11 from C3 to C2: 6. The borders shift, and members that have nothing to do with C3 lose some.\n"
        "- **roundrobin**: `n % 4 == n % 3` only for 0, 1, 2, so 9 of 12 move.\n"
        "- **eager** revokes all 12 whatever the assignor says: who keeps a partition gets it back afterwards."
    ),
    misconceptions=(
        Misconception(
            {"range": 3}, "range remembers nothing: it cuts the row again, and every border of the pieces shifts."
        ),
        Misconception(
            {"roundrobin": 3},
            "Round robin deals all partitions again, from the first one, to one member fewer: few come back to their "
            "owner.",
        ),
        Misconception(
            {"revoked when eager": 3},
            "An eager group gives everything up before it asks; moved is counted afterwards, revoked before.",
        ),
    ),
    moral="Moved depends on the assignor, revoked on the protocol.",
)

_THREE = ("C0", "C1", "C2")
_MOST_IN_ALL, _APART = 12, 4


def _range_load(partition_counts: dict[str, int]):
    return load(assign("range", partition_counts, [Member(name, list(partition_counts)) for name in _THREE]))


range_pile = Exercise(
    name="range_pile",
    asks=(
        "Find topics for which `range` is uneven. Three members C0, C1, C2 subscribe to all topics; give "
        f"`partition_counts`, a dict of topic to number of partitions, at most {_MOST_IN_ALL} partitions in all, so "
        f"that the busiest member has at least {_APART} partitions more than the least busy one."
    ),
    start="partition_counts = ...\nexercises.range_pile.check(partition_counts)",
    judge=Having(
        {"orders": 3},
        (
            Property(
                lambda counts: sum(counts.values()) <= _MOST_IN_ALL,
                lambda counts: say("These are {} partitions; give {} at most.", sum(counts.values()), _MOST_IN_ALL),
            ),
            Property(
                lambda counts: _range_load(counts).spread >= _APART,
                lambda counts: (
                    f"range gives {_range_load(counts).most} to the busiest member and {_range_load(counts).fewest} to "
                    f"the least busy one: {_range_load(counts).spread} apart."
                ),
            ),
        ),
    ),
    solve=lambda: {"a": 1, "b": 1, "c": 1, "d": 1},
    hints=(
        "range looks at one topic at a time. How far apart can it leave two members in *one* topic?",
        "One partition apart in each topic, and always in favour of the same members. So: how many topics?",
        "Topics whose number of partitions leaves a remainder when divided by three.",
    ),
    reasoning=(
        "In one topic two members are at most one partition apart. But the remainder of *every* topic goes to the same "
        "first members, so four topics of one partition already give C0 four and C1, C2 nothing. Three topics of four "
        "partitions (12 in all) leave C0 only 3 ahead; topics of one or two partitions are the worst.\n\n"
        "Round robin, sticky and uniform look at all topics together and stay within one."
    ),
    misconceptions=(
        Misconception(
            {"orders": 12},
            "One topic, however large, is cut into equal pieces: it takes several topics to pile up.",
            recognises=lambda answer: isinstance(answer, dict) and len(answer) == 1,
        ),
        Misconception(
            {"a": 3, "b": 3, "c": 3},
            "Where the number of partitions is a multiple of the number of members, range leaves no remainder at all.",
            recognises=lambda answer: (
                isinstance(answer, dict)
                and len(answer) > 1
                and all(isinstance(count, int) and count % 3 == 0 for count in answer.values())
            ),
        ),
    ),
    moral="A small unfairness, repeated in every topic, for the same member.",
)


def _round_robin(partition_counts, members):
    names = sorted(member.member_id for member in members)
    takes = {member.member_id: member.topics for member in members}
    owned = {name: [] for name in names}
    turn = 0
    for topic in sorted(partition_counts):
        for partition in range(partition_counts[topic]):
            while topic not in takes[names[turn % len(names)]]:
                turn += 1
            owned[names[turn % len(names)]].append((topic, partition))
            turn += 1
    return owned


def _anew_for_each_topic(partition_counts, members):
    owned = {member.member_id: [] for member in members}
    for topic in sorted(partition_counts):
        takers = sorted(member.member_id for member in members if topic in member.topics)
        for partition in range(partition_counts[topic]):
            owned[takers[partition % len(takers)]].append((topic, partition))
    return owned


def _to_strangers_too(partition_counts, members):
    names = sorted(member.member_id for member in members)
    everything = [(topic, number) for topic in sorted(partition_counts) for number in range(partition_counts[topic])]
    return {name: everything[at :: len(names)] for at, name in enumerate(names)}


def _skips_the_partition(partition_counts, members):
    dealt = _to_strangers_too(partition_counts, members)
    takes = {member.member_id: member.topics for member in members}
    return {name: [each for each in owned if each[0] in takes[name]] for name, owned in dealt.items()}


my_round_robin = Exercise(
    name="my_round_robin",
    asks=(
        "Write an assignor of your own, `my_round_robin(partition_counts, members)`: it deals the partitions of all "
        "topics out in a circle, and skips members that do not subscribe to the topic. `partition_counts` is a "
        "dict of topic to number of partitions; each member has `.member_id` and `.topics`. Give back a dict of member "
        "id to a list of `(topic, partition)`. It is judged by the laws on hundreds of groups: complete, exclusive, "
        "real, subscribed, and balanced where all subscribe alike."
    ),
    start=(
        "def my_round_robin(partition_counts, members):\n    return ...\n\n\n"
        "exercises.my_round_robin.check(my_round_robin)"
    ),
    judge=KeepsLaws("if alike"),
    solve=lambda: _round_robin,
    hints=(
        "Keep one counter for the whole circle; `names[turn % len(names)]` is whose turn it is.",
        "Before you give a partition away, move on while the member whose turn it is does not subscribe to its topic.",
        "The counter goes on from topic to topic. What happens if each topic begins with the first member again?",
    ),
    reasoning=(
        "```python\n"
        "def my_round_robin(partition_counts, members):\n"
        "    names = sorted(member.member_id for member in members)\n"
        "    takes = {member.member_id: member.topics for member in members}\n"
        "    owned = {name: [] for name in names}\n"
        "    turn = 0\n"
        "    for topic in sorted(partition_counts):\n"
        "        for partition in range(partition_counts[topic]):\n"
        "            while topic not in takes[names[turn % len(names)]]:\n"
        "                turn += 1\n"
        "            owned[names[turn % len(names)]].append((topic, partition))\n"
        "            turn += 1\n"
        "    return owned\n"
        "```\n\n"
        "Every group member knows the same members and topics, but only the *leader* of the group runs the assignor; a "
        "different order on two machines would not matter, as long as one of them decides. (In the ZooKeeper days each "
        "consumer ran it for itself, and then it did.)"
    ),
    misconceptions=(
        Misconception(
            _anew_for_each_topic,
            "Each topic begins with the first member again: the remainders pile up there, as range lets them.",
        ),
        Misconception(
            _to_strangers_too,
            "It deals to members that do not subscribe to the topic; their consumer would not know what to do with it.",
        ),
        Misconception(
            _skips_the_partition,
            "Where it is the turn of a member that does not subscribe, skip the *member*, not the partition.",
        ),
    ),
    moral="Kafka's own roundrobin promises no more than that, and with uneven subscriptions it is uneven as well.",
)


_CHAPTER = Chapter(
    "04 assignors",
    (who_moves, range_pile, many_small_topics, my_round_robin, two_restarts, needless_moves, which_assignor),
)
all_exercises = _CHAPTER.all_exercises
score = _CHAPTER.score
