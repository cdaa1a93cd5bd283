"""The exercises of chapter 04: who moves when one leaves?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import starmap
from typing import Any

from kafkalearn.assignors import Assignment, Member, assign, compare, judge_assignor, load
from kafkalearn.assignors.judging import judged_groups
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.consuming import Join, Leave, Settings, Topic, start, step
from kafkalearn.exercises.kit.compare import Value, is_blank
from kafkalearn.exercises.kit.exercise import Chapter, Exercise, Misconception
from kafkalearn.exercises.kit.functions import Having, Open, Property, is_stub
from kafkalearn.exercises.kit.game import Game, moves_of
from kafkalearn.exercises.kit.given import GivenFunction, taken
from kafkalearn.exercises.kit.result import ERROR, NOT_ATTEMPTED, RIGHT, WRONG, Block, Result, as_words, kind_of, say

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


@dataclass(frozen=True, slots=True)
class KeepsLaws:
    """Judges an assignor by `kafkalearn.assignors.judge_assignor`.

    Parameters
    ----------
    promise : str
        How even it is to be: a name in `kafkalearn.assignors.laws.BALANCES`.
    is_sticky : bool
        Whether no more may move than must.

    Examples
    --------
    >>> KeepsLaws("if alike").judge(lambda partition_counts, members: {})
    Not right yet. It breaks a law in group 1, the smallest that fails: not complete: a-0 has no owner.
    topics: a with 1 partition
    m0 subscribes to a
    it gives nothing to anybody
    """

    promise: str
    is_sticky: bool = False

    @property
    def cases(self) -> tuple[tuple[object, ...], ...]:
        """What the assignor is called with first, as `Function` has it."""
        return tuple((counts, list(members)) for counts, members in judged_groups())

    def judge(self, answer: object) -> Result:
        """The result of an assignor, explained by the smallest group that fails."""
        answer = taken(answer)
        if is_blank(answer) or is_stub(answer):
            return Result(NOT_ATTEMPTED)
        if not isinstance(answer, GivenFunction):
            return Result(ERROR, (say(f"{{}} is {kind_of(answer)}, and a function is wanted.", answer),))
        judgement = judge_assignor(answer, self.promise, self.is_sticky)
        if answer.spent:
            return Result(ERROR, (f"It {answer.spent}.",))
        first, *group = str(judgement).splitlines()
        return Result(RIGHT) if judgement else Result(WRONG, (as_words(first[:300]), Block("\n".join(group))))

    def matches(self, answer: object, wrong: Callable[..., Any]) -> bool:
        """Whether the answer assigns as the assignor `wrong` does."""
        answer = taken(answer)
        if not isinstance(answer, GivenFunction):
            return False
        return all(_assigned(answer, *group) == _assigned(wrong, *group) for group in judged_groups())


def _assigned(assignor: Callable[..., Any], partition_counts: Mapping[str, int], members: Sequence[Member]) -> object:
    try:
        answer = assignor(dict(partition_counts), list(members))
        pairs = {member_id: sorted(starmap(TopicPartition, owned)) for member_id, owned in answer.items() if owned}
        return Assignment(pairs)
    except Exception as error:  # two functions that fail alike make the same mistake
        return type(error).__name__


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
    hints=(
        "In every moment of a rolling restart, all members must have one assignor in common.",
        "`kafkalearn.releases.default('partition.assignment.strategy', '2.8')`, and the same for 3.6.",
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

_PODS = tuple(f"pod-{number}" for number in range(10))
_TAKEN_AWAY = _PODS[-1]


def _moved(client_ids: Mapping[str, str]) -> int:
    """How many of 50 partitions range moves when that pod leaves; the coordinator's part of the ids is alike here."""
    pods = [Member(f"{client_ids[pod]}-", ["orders"]) for pod in _PODS]
    return compare(["range"], {"orders": 50}, pods, pods[:-1])[0]["moved"]


def _in_place(place: int) -> dict[str, str]:
    names = {pod: f"billing-{at}" for at, pod in enumerate(_PODS)}
    return names | {_TAKEN_AWAY: f"billing-{place - 1}b" if place else "a"}


good_names = Exercise(
    name="good_names",
    asks=(
        "`billing` has ten pods with one consumer each, `pod-0` to `pod-9`. They share the 50 partitions of `orders` "
        "by `range`, without `group.instance.id`. `pod-9` runs on a machine that is taken away every evening and given "
        "back in the morning; the others stay. Each pod's `client.id` is its name. Give them other ones, a dict of pod "
        "to `client.id`, so that as few partitions as possible move when `pod-9` goes."
    ),
    start="client_ids = ...  # a dict of pod to client.id\nexercises.good_names.check(client_ids)",
    judge=Having(
        {"pod-0": "billing-0"},
        (
            Property(
                lambda names: set(names) == set(_PODS) and all(type(each) is str and each for each in names.values()),
                lambda names: "Give each pod, pod-0 to pod-9, a `client.id`: a string that is not empty.",
            ),
            Property(
                lambda names: len(set(names.values())) == len(_PODS),
                lambda names: "Two pods have the same `client.id`: then random characters say which comes first.",
            ),
            Property(
                lambda names: _moved(names) == min(_moved(_in_place(place)) for place in range(len(_PODS))),
                lambda names: say("With these names {} partitions move, and fewer could.", _moved(names)),
            ),
        ),
    ),
    solve=lambda: _in_place(2),
    hints=(
        "Section 2 has a row for range: how many move when which of ten leaves. In which places are they fewest?",
        "range sorts the members by their ids, and an id begins with the `client.id`.",
        "So `pod-9` needs a name that sorts behind those of two others, or of three.",
    ),
    reasoning=(
        "Ten members have five each; of nine the first five have six. So pieces grow at the front, and every border "
        "up to the one who left shifts: 15 partitions move when the first leaves, 35 when the last does, 9 when the "
        "third or the fourth does. `client.id` begins the member id, and range sorts by that: a name such as "
        "`billing-1b`, between `billing-1` and `billing-2`, makes `pod-9` the third. (`group.instance.id` sorts, too, "
        "and before all others. `cooperative-sticky` moves 5 whatever the names are: it is the better answer, where "
        "nobody needs range.)"
    ),
    misconceptions=(
        Misconception(
            {pod: pod for pod in _PODS},
            "So it is now: the pod that goes is the last by name, and every border before it shifts.",
        ),
        Misconception(
            _in_place(0),
            "As the first it is better than as the last, but each of those behind it hands partitions on.",
        ),
    ),
    moral="Where an assignor remembers nothing, names decide what a departure costs.",
)

_TOPIC = Settings(2)
_NAMES = ("C0", "C1", "C2")
FEWEST_MOVES = "a rebalance moves no more partitions than it must"


def _members(topic: Topic) -> list[Member]:
    return [Member(each, [topic.name]) for group in topic.groups for each in group.member_ids]


def _broken(settings: Settings, topic: Topic, before: Topic | None, names: Iterable[str]) -> tuple[str, ...]:
    """The promise, if the last rebalance moved more than was needed."""
    if before is None or not _members(before) or not _members(topic):
        return ()
    counts = {settings.topic: settings.partition_count}
    (row,) = compare([settings.assignor], counts, _members(before), _members(topic))
    return (FEWEST_MOVES,) if row["moved"] > row["fewest"] else ()


_GAME = Game(
    step,
    _broken,
    _TOPIC,
    start(_TOPIC),
    FEWEST_MOVES,
    moves_of(*(Join("billing", name) for name in _NAMES), *(Leave("billing", name) for name in _NAMES)),
    "Join('billing', 'C1') > Join('billing', 'C2') > Join('billing', 'C0')",
)

needless_moves = Exercise(
    name="needless_moves",
    asks=(
        "A game. `orders` has two partitions, the group `billing` shares them by `range`, and nobody is in it yet. "
        f"Users hope that *{_GAME.promise}*. Break that promise; **par {_GAME.par}**. The moves: {_GAME.table()}. "
        "Give a line with `>` between the moves, or a list of events."
    ),
    start='run = ""  # moves with > between them\nexercises.needless_moves.check(run)',
    judge=_GAME,
    hints=(
        "With three members and two partitions one is idle. Which one, by `range`?",
        "`range` sorts the members by their ids. What if the newcomer is the first of them?",
    ),
    reasoning=(
        f"`{_GAME.best}`. C1 and C2 have one partition each. C0 comes, and nobody needs it; but it is the first by "
        "name, so it gets partition 0, C1 gets partition 1, and C2 gets nothing: two partitions move where none had "
        "to. In Kafka a member's id begins with its `client.id`, so a name decides who is first; where all have the "
        "same name, the random characters behind it do."
    ),
    misconceptions=(
        Misconception(
            "Join('billing', 'C0') > Join('billing', 'C1') > Join('billing', 'C2') > Leave('billing', 'C0')",
            "It works: both partitions move where one would do. But a newcomer can do it as well, and nobody leaves.",
        ),
        Misconception(
            "Join('billing', 'C0') > Join('billing', 'C1') > Join('billing', 'C2')",
            "The third one comes last by name as well, and stays idle. In which other order can the three join?",
        ),
    ),
    moral="Range remembers nothing, so a newcomer that is not even needed can move everything.",
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

_CHAPTER = Chapter(
    "04 assignors",
    (
        who_moves,
        range_pile,
        many_small_topics,
        my_round_robin,
        two_restarts,
        good_names,
        needless_moves,
        which_assignor,
    ),
)
all_exercises = _CHAPTER.all_exercises
score = _CHAPTER.score
__all__ = _CHAPTER.public_names()
