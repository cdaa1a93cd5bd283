"""The capstone of chapter 13: six faults in the logs of one's own cluster, and the first thing to do about each."""

from __future__ import annotations

from types import MappingProxyType

from kafkalearn.exercises.kit.exercise import Exercise, Misconception
from kafkalearn.exercises.kit.properties import Having, Property
from kafkalearn.exercises.kit.sentences import Said, say
from kafkalearn.operations.faults import Finding, Judgement, cluster_logs, find_faults, judge, plant
from kafkalearn.operations.faults import findings as kind
from kafkalearn.operations.faults.topology import ABANDONED, START_MS

TAKEN = (0, 1, 42)  # seeds of the chapter and its tests
PARTS = ("seed", "findings", "first")

FIRST: MappingProxyType[str, tuple[str, str]] = MappingProxyType(
    {
        kind.ONE_LEADER: (
            "A",
            "Have the preferred leaders elected (`kafka-leader-election.sh`), and look why "
            "`auto.leader.rebalance.enable` does not do it.",
        ),
        kind.HANGING_CONSUMER: ("B", "Take a thread dump of that member, then restart it: others take over its work."),
        kind.FUTURE_RECORD: (
            "C",
            "Bound what producers may send (`message.timestamp.after.max.ms`), and let size delete what time will not.",
        ),
        kind.DEAD_CLEANER: (
            "D",
            "Look for the error of the cleaner's thread, remove its cause, and have new threads: change "
            "`log.cleaner.threads`, or restart the broker.",
        ),
        kind.KEPT_GROUP: ("E", "Find the job that commits, stop it, then delete the group."),
        kind.FROZEN_FOLLOWER: ("F", "Look at that one broker's disk and its fetcher thread; the leader is well."),
        kind.UNCLEANABLE: (
            "G",
            "Look for what the cleaner could not read in this one log, repair it, and restart the broker: no new "
            "thread takes the mark away.",
        ),
        kind.HOT_PARTITION: ("H", "Count the keys of its newest records: one of them is most of the traffic."),
    }
)
"""For each kind of fault a letter, and what to do first."""


def _letters(found: tuple[Finding, ...]) -> dict[str, str]:
    return {each.kind: FIRST[each.kind][0] for each in found}


def _judged(answer: dict) -> Judgement:
    return judge(answer["findings"], plant(answer["seed"]))


def _wrong_letters(answer: dict) -> list[str]:
    wanted, given = _letters(plant(answer["seed"])), answer["first"]
    return [name for name, letter in wanted.items() if str(given.get(name, "")).strip().upper() != letter]


def _is_own_seed(answer: dict) -> bool:
    return type(answer["seed"]) is int and answer["seed"] not in TAKEN


def _of_seed(seed: int) -> dict[str, object]:
    found = find_faults(cluster_logs(seed))
    return {"seed": seed, "findings": list(found), "first": _letters(found)}


def _with_the_abandoned() -> dict[str, object]:
    whole = _of_seed(2026)
    return whole | {"findings": [*whole["findings"], Finding(kind.KEPT_GROUP, START_MS, group_id=ABANDONED)]}


def _with_letters_exchanged() -> dict[str, object]:
    whole = _of_seed(5)
    dead, one = whole["first"][kind.DEAD_CLEANER], whole["first"][kind.UNCLEANABLE]
    return whole | {"first": whole["first"] | {kind.DEAD_CLEANER: one, kind.UNCLEANABLE: dead}}


def _says_letters(answer: dict) -> Said:
    return say("All is found. The first thing to do is another for: {}.", ", ".join(_wrong_letters(answer)))


def _are_exchanged(answer: dict) -> bool:
    given = {name: str(letter).strip().upper() for name, letter in answer["first"].items()}
    dead, one = (FIRST[name][0] for name in (kind.DEAD_CLEANER, kind.UNCLEANABLE))
    return given.get(kind.DEAD_CLEANER) == one or given.get(kind.UNCLEANABLE) == dead


my_cluster = Exercise(
    name="my_cluster",
    asks=(
        "**The capstone, a game for a class.** Choose a **seed of your own**, your birthday for example: 20050412. It "
        "draws a cluster of six brokers with six faults, another for each of you. Find them, in the four tables of "
        "`cluster_logs(seed)` or, as in section 9, with Spark; who has all six and nothing else first, wins. A finding "
        "names the kind, the place and the time, as `Finding` does.\n\n"
        "And what do you do first about each? Give a dict from the kind to a letter.\n\n"
        + "\n".join(f"- **{letter}** {words}" for letter, words in FIRST.values())
    ),
    start=(
        'answer = {\n    "seed": ...,\n    "findings": ...,\n    "first": ...,\n}\nexercises.my_cluster.check(answer)'
    ),
    judge=Having(
        {},
        (
            Property(
                lambda answer: all(name in answer for name in PARTS),
                lambda answer: "Three parts are wanted: the seed, the findings, and what is first for each kind.",
            ),
            Property(
                _is_own_seed, lambda answer: say("{} is no seed of your own; take another number.", answer["seed"])
            ),
            Property(lambda answer: _judged(answer).is_perfect, lambda answer: f"{_judged(answer)}."),
            Property(lambda answer: not _wrong_letters(answer), _says_letters),
        ),
    ),
    solve=lambda: _of_seed(2026),
    hints=(
        "`find_faults(cluster_logs(seed))` does it at once. Before you use it, try one kind by hand: which log's line "
        "in the cleaner's checkpoint stands still?",
        "What lasts less than an hour is an ordinary day: a rolling restart, a follower that lags, a consumer that "
        "pauses.",
        "Of D and G one is about a whole broker, the other about one log.",
    ),
    reasoning=(
        "The rules of section 9 find all six, and none in a cluster without faults: each is sure only of what has "
        "lasted an hour. `judge(find_faults(cluster_logs(seed)), plant(seed))` compares.\n\n"
        + "\n".join(f"- {name}: {letter}." for name, (letter, _) in FIRST.items())
        + "\n\nA restart of the broker ends two of the eight, and takes the traces of most of them away: look first."
    ),
    misconceptions=(
        Misconception(
            _of_seed(2027) | {"seed": 2026},
            "None of these belongs to the cluster of your seed: were the tables made from another one?",
            lambda answer: bool(answer["findings"]) and not _judged(answer).right,
        ),
        Misconception(
            _with_the_abandoned(),
            f"Nobody reads for `{ABANDONED}`, and nobody commits for it: its offsets expire by themselves.",
            lambda answer: any(each.group_id == ABANDONED for each in answer["findings"]),
        ),
        Misconception(
            _with_letters_exchanged(),
            "A dead thread stops all compacted logs of a broker, and a new thread is enough; a mark stops a single "
            "log, and stays until a restart.",
            _are_exchanged,
        ),
    ),
    moral="Findings first, hands afterwards.",
)
