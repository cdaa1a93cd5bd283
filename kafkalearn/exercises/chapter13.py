"""The exercises of chapter 13: what do I do about it?"""

from __future__ import annotations

from types import MappingProxyType

from kafkalearn.base.errors import KafkaLearnError, counted
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.exercises.kit.compare import Value
from kafkalearn.exercises.kit.exercise import Chapter, Exercise, Misconception
from kafkalearn.exercises.kit.functions import FaultyCode, Function, Having, Property
from kafkalearn.exercises.kit.game import Game, moves_of
from kafkalearn.exercises.kit.result import Said, Sentence, as_words, say
from kafkalearn.offsets.replay import Committed, Group, Member
from kafkalearn.operations import incident
from kafkalearn.operations.faults import Finding, Judgement, cluster_logs, find_faults, judge, plant
from kafkalearn.operations.faults import findings as kind
from kafkalearn.operations.faults.findings import ABANDONED, START_MS
from kafkalearn.operations.faults.planting import BatchRow, CommitRow, MemberRow, ReplicaRow
from kafkalearn.operations.faults.rules import frozen_followers, hanging_consumers, progress
from kafkalearn.operations.groups import PartitionLog, reset_offsets
from kafkalearn.operations.offsets_topic import (
    BrokerDied,
    BrokerStarted,
    FindCoordinator,
    OffsetsTopic,
    Reassigned,
    ReassignmentStuck,
    Settings,
    broken,
    simulate,
    step,
)
from kafkalearn.operations.placement import Placement, heirs, place_rotated, place_shifted, preferred_counts
from kafkalearn.operations.reassignment import Cluster, generate, plan_of, read_plan, refusal
from kafkalearn.operations.topic_description import (
    UNAVAILABLE,
    UNDER_REPLICATED,
    PartitionInfo,
    TopicInfo,
    describe_topics,
)

__all__ = [
    "all_exercises",
    "bare_offsets",
    "four_proposals",
    "my_cluster",
    "nobody_answers",
    "score",
    "third_replica",
    "where_it_goes_on",
    "who_inherits",
    "who_is_ill",
]

_BROKERS = (1, 2, 3)
_TOPIC = "__consumer_offsets"


def _night() -> OffsetsTopic:
    """The topic with one replica, broker 2 dead."""
    settings = Settings(_BROKERS, replication_factor=1)
    events = [*map(BrokerStarted, _BROKERS), FindCoordinator("billing"), BrokerDied(2)]
    return simulate(settings, events)[-1].state


def _cleaned_by_the_start() -> int:
    stages = {stage.name: stage for stage in incident.play()}
    return stages[incident.FULL].record_count - stages[incident.BACK].record_count


def _moved_while_dead() -> int:
    """How many partitions of the dead broker a plan brings to others."""
    night = _night()
    plan = Reassigned(place_shifted(night.live, len(night.replicas), 2))
    after = simulate(Settings(_BROKERS, replication_factor=1), [plan], night)[-1].state
    stuck = sum(isinstance(each, ReassignmentStuck) for each in after.effects)
    return len(night.leaderless) - stuck


def _replicas_after_the_restart() -> int:
    """The same topic once its brokers have restarted with another factor in their settings."""
    restarts = [event for each in _BROKERS for event in (BrokerDied(each), BrokerStarted(each))]
    events = [BrokerStarted(2), *restarts, FindCoordinator("billing")]
    after = simulate(Settings(_BROKERS, replication_factor=3), events, _night())[-1].state
    return max(map(len, after.replicas))


def _answers() -> dict[str, int]:
    cluster = Cluster(_BROKERS, {_TOPIC: place_shifted(_BROKERS, 50, 1)})
    return {
        "records cleaned by the start": _cleaned_by_the_start(),
        "replicas after all restarts": _replicas_after_the_restart(),
        "replicas in the proposal": max(len(each.replicas) for each in generate([_TOPIC], _BROKERS, cluster)),
        "partitions moved off broker 2": _moved_while_dead(),
    }


four_proposals = Exercise(
    name="four_proposals",
    asks=(
        "**Incident.** Sunday, 04:30, as at the top of the chapter. `__consumer_offsets` has 50 partitions with one "
        "replica each; broker 2, dead, led 16 of them, and the cleaner had given up the largest, which has 2,080 "
        "records. What would each of four proposals have done?\n\n"
        "1. Somebody makes room, and broker 2 starts. How many of the 2,080 records does the *start* take away?\n"
        "2. All brokers restart with `offsets.topic.replication.factor=3`. How many replicas does each partition of "
        "the topic have then?\n"
        "3. `kafka-reassign-partitions --generate` over brokers 1, 2, 3. How many replicas has each partition in what "
        "it proposes?\n"
        "4. While broker 2 is dead, a plan gives every partition two replicas, on brokers 1 and 3. How many of the 16 "
        "get them before broker 2 is back?"
    ),
    start=(
        'answers = {\n    "records cleaned by the start": ...,\n    "replicas after all restarts": ...,\n'
        '    "replicas in the proposal": ...,\n    "partitions moved off broker 2": ...,\n}\n'
        "exercises.four_proposals.check(answers)"
    ),
    judge=Value(_answers),
    solve=_answers,
    hints=(
        "Who takes records away: a broker that starts, or its cleaner?",
        "A setting that is read when a topic is created: what does it mean for a topic that is there?",
        "From whom does a new replica copy, if nobody leads the partition?",
    ),
    reasoning=(
        "None of the four helps. A start cleans nothing: it only takes the *uncleanable* mark away, and the next pass "
        "of the cleaner does the work. The factor is read once, when the topic is created. `--generate` proposes other "
        "brokers and as many replicas as there are. And a partition without a leader has nobody to copy from: the plan "
        "is recorded, and stands still until broker 2 is back.\n\n"
        "What helps, in this order: make room, start broker 2, wait for the cleaner's pass, and then a plan with three "
        "replicas, written by hand."
    ),
    misconceptions=(
        Misconception(
            {"records cleaned by the start": 1920},
            "That is what the cleaner's next pass takes away. The start itself only lets it begin again.",
        ),
        Misconception(
            {"replicas after all restarts": 3},
            "The setting says how a new offsets topic is made. This one is there, and keeps what it has.",
        ),
        Misconception(
            {"replicas in the proposal": 3},
            "`--generate` keeps the number of replicas; more have to be written into the plan by hand.",
        ),
        Misconception(
            {"partitions moved off broker 2": 16},
            "New replicas copy from the leader, and the only copy lies on the dead broker's disk.",
        ),
    ),
    moral="Room, start, clean, copy: in this order.",
)

_SIX, _SIXTY, _DEAD = (1, 2, 3, 4, 5, 6), 60, 4


def _busiest(placement: Placement) -> int:
    """How many partitions the busiest broker leads once one is dead."""
    led = dict(preferred_counts(placement))
    del led[_DEAD]
    for broker, count in heirs(placement, _DEAD).items():
        led[broker] += count
    return max(led.values())


def _inherited() -> dict[str, int]:
    rotated, shifted = (place(_SIX, _SIXTY, 3) for place in (place_rotated, place_shifted))
    return {
        "rotated: heirs": len(heirs(rotated, _DEAD)),
        "rotated: the busiest leads": _busiest(rotated),
        "shifted: heirs": len(heirs(shifted, _DEAD)),
        "shifted: the busiest leads": _busiest(shifted),
    }


who_inherits = Exercise(
    name="who_inherits",
    asks=(
        "A prediction, with a pencil. 60 partitions, three replicas each, on brokers 1 to 6; every broker leads ten. "
        "In one cluster the replicas are rotated by hand (1, 2, 3, then 2, 3, 4, and so on); in another Kafka has "
        "placed them with its growing shift, from `start` 0 and `shift` 0. In both **broker 4 dies**. Among how many "
        "brokers do its ten partitions spread, and how many does the busiest broker lead then?"
    ),
    start=(
        'answer = {\n    "rotated: heirs": ...,\n    "rotated: the busiest leads": ...,\n    "shifted: heirs": ...,\n'
        '    "shifted: the busiest leads": ...,\n}\nexercises.who_inherits.check(answer)'
    ),
    judge=Value(_inherited),
    solve=_inherited,
    hints=(
        "The heir of a partition is its second replica. Write these down for the ten partitions of broker 4.",
        "In the rotation broker 4 leads 4, 5, 6 each time. With the shift the second replica is another one each "
        "round.",
        "Sixty partitions over six brokers are ten rounds; the shift takes five values, and each comes twice.",
    ),
    reasoning=(
        "In the rotation broker 5 is the second replica of all ten: it inherits everything, and leads twice what it "
        "led. With the growing shift the second replica walks over all five others, twice in ten rounds: each gets "
        "two. The rotation is as even as Kafka's placement on every day but the one it was made for."
    ),
    misconceptions=(
        Misconception(
            {"rotated: heirs": 5},
            "Where broker 4 leads, the next in the list is always the same broker, and it takes over.",
        ),
        Misconception(
            {"rotated: heirs": 2},
            "There are two other replicas of each partition, but the first of them that lives is elected.",
        ),
        Misconception(
            {"rotated: the busiest leads": 10},
            "Somebody has to lead the ten partitions of broker 4 on top of its own.",
        ),
        Misconception({"shifted: the busiest leads": 20}, "The shift grows from round to round, so the heirs change."),
    ),
    moral="Judge a placement by the day a broker dies.",
)

MINUTE_MS = 60_000
_START, _END, _COMMITTED = 100, 125, 120
_LOGS = {"orders": [PartitionLog(_END, _START, [(offset, offset * MINUTE_MS) for offset in range(_START, _END)])]}
_STOPPED = Group("shipping", offsets=(Committed("orders", 0, _COMMITTED),))
_RUNNING = Group(
    "shipping",
    state="Stable",
    members=(Member("shipping-1", "shipping", "/10.0.0.7", assigned=(TopicPartition("orders", 0),)),),
    offsets=_STOPPED.offsets,
)
_ASKED = {
    "to-offset 90": ("to-offset", 90),
    "shift-by 1000": ("shift-by", 1000),
    "by-duration PT10M": ("by-duration", "PT10M"),
    "to-datetime in 2100": ("to-datetime", "2100-01-01T00:00:00.000"),
}


def _resets() -> dict[str, object]:
    found: dict[str, object] = {}
    for name, (scenario, value) in _ASKED.items():
        reset = reset_offsets(_STOPPED, _LOGS, scenario, value, now_ms=_END * MINUTE_MS)
        found[name] = reset.offsets[0][1]
    found["done while a consumer runs"] = not reset_offsets(_RUNNING, _LOGS, "to-earliest").is_refused
    return found


where_it_goes_on = Exercise(
    name="where_it_goes_on",
    asks=(
        f"`orders-0` begins at offset {_START}, as retention has taken the rest, and ends at {_END}. A record comes "
        f"every minute: that of offset 100 has the time 01:40, that of 124 has 02:04, and now it is 02:05. `shipping` "
        f"has committed {_COMMITTED}, and its consumers are stopped. At which offset does it go on after each of these "
        "scenarios of `kafka-consumer-groups --reset-offsets --execute`? And is a reset done while one of its "
        "consumers runs?"
    ),
    start=(
        "answer = {\n" + "".join(f'    "{name}": ...,\n' for name in (*_ASKED, "done while a consumer runs")) + "}\n"
        "exercises.where_it_goes_on.check(answer)"
    ),
    judge=Value(_resets),
    solve=_resets,
    hints=(
        "The tool never commits an offset outside the log. What does it do with one, instead of failing?",
        "`by-duration` asks for the first record that is not older than so long ago.",
        "Which record has a time in 2100 or after it? The last answer is yes or no.",
    ),
    reasoning=(
        "90 lies before the log, 1,120 behind it: each is moved to the nearer end. Ten minutes before 02:05 is 01:55, "
        "the time of offset 115. No record has reached 2100, so the log's end is taken. And while a member is there "
        "the group is *Stable*, and the tool refuses: a commit from outside would be overwritten by the next one from "
        "inside.\n\n"
        "None of this fails. Of the two that were moved a warning stands on standard error: *New offset (1120) is "
        "higher than latest offset for topic partition orders-0. Value will be set to 125*; a script that keeps only "
        "what is printed never sees it. Of the time in 2100 the tool prints that the partition *is empty*, which it "
        "is not. So look at the dry run first, and keep what `--export` prints."
    ),
    misconceptions=(
        Misconception(
            {"shift-by 1000": 1120}, "The log does not reach that far, and the tool does not fail: it goes to the end."
        ),
        Misconception({"to-offset 90": 90}, "Retention has taken that record; the tool moves the offset into the log."),
        Misconception(
            {"by-duration PT10M": 110}, "The duration counts back from the clock, not from what was committed."
        ),
        Misconception(
            {"to-datetime in 2100": 120}, "A time that no record has reached does not leave the offset as it was."
        ),
        Misconception(
            {"done while a consumer runs": True},
            "Only a group without members is reset; with one the tool prints an error and changes nothing.",
        ),
    ),
    moral="Dry run, look, execute: a reset past an end goes to the end, and only standard error warns of it.",
)

_PARTITIONS = (
    PartitionInfo((1, 2, 3), (1, 2, 3), 1),
    PartitionInfo((4, 2, 3, 1), (1, 2, 3), 1, adding=(4,), removing=(1,)),
    PartitionInfo((1, 2, 3), (1, 2), 1),
    PartitionInfo((5,), (5,), None),
    PartitionInfo((3, 4, 1), (3, 1), 3),
)
_LIVE = (1, 2, 3, 4)
_FROZEN_AT, _RESTARTED_AT = 2, 4  # partitions
_SAMPLE_MS, _SAMPLE_COUNT = 300_000, 25
_END_MS = _SAMPLE_MS * (_SAMPLE_COUNT - 1)
_LOG_END = 1000  # of every log that consumers read


def _listed(option: str) -> frozenset[int]:
    printed = describe_topics([TopicInfo("orders", _PARTITIONS)], _LIVE, only=option)
    return frozenset(int(line.split("Partition: ")[1].split()[0]) for line in printed.splitlines())


def _replica_rows() -> list[ReplicaRow]:
    """Broker 3 has stood still in one partition for 90 minutes; broker 4 was away for the last sample only."""
    rows = []
    for sample in range(_SAMPLE_COUNT):
        at_ms = sample * _SAMPLE_MS
        is_frozen = at_ms >= _END_MS - 90 * 60_000
        rows.append(ReplicaRow(at_ms, "orders", _FROZEN_AT, 1, 3, not is_frozen, 500 if is_frozen else 400, None, 0))
        is_away = sample == _SAMPLE_COUNT - 1
        rows.append(ReplicaRow(at_ms, "orders", _RESTARTED_AT, 3, 4, not is_away, 10 * sample, None, 0))
    return rows


def _faults() -> frozenset[int]:
    return frozenset(each.partition for each in frozen_followers(_replica_rows()) if each.partition is not None)


_COMMITS = {  # member: (offset, minutes ago) of each commit
    "a": [(_LOG_END, 100)],
    "b": [(600, 60), (700, 25)],
    "c": [(400, 95)],
    "d": [(400, ago) for ago in range(115, 0, -5)],
}


def _hanging() -> frozenset[str]:
    batches = [BatchRow("clicks", place, 1, _END_MS, 0, _LOG_END, 0) for place, _ in enumerate(_COMMITS)]
    commits = [
        CommitRow("search", "clicks", place, offset, _END_MS - 60_000 * ago)
        for place, of_member in enumerate(_COMMITS.values())
        for offset, ago in of_member
    ]
    members = [MemberRow(_END_MS, "search", name, "clicks", place) for place, name in enumerate(_COMMITS)]
    found = hanging_consumers(progress(batches, commits), members, _END_MS)
    return frozenset(str(each.member_id) for each in found)


def _ill() -> dict[str, frozenset]:
    return {
        "under-replicated": _listed(UNDER_REPLICATED),
        "unavailable": _listed(UNAVAILABLE),
        "faults": _faults(),
        "hang": _hanging(),
    }


def _lines() -> str:
    rows = []
    for number, each in enumerate(_PARTITIONS):
        lists = (",".join(map(str, ids)) for ids in (each.replicas, each.isr, each.adding))
        replicas, isr, adding = lists
        rows.append(f"| {number} | {each.leader or 'none'} | {replicas} | {isr} | {adding} |")
    return "\n".join(("| partition | leader | replicas | ISR | adding |", "| --- | --- | --- | --- | --- |", *rows))


who_is_ill = Exercise(
    name="who_is_ill",
    asks=(
        "Brokers 1 to 4 live, broker 5 is dead; the cluster is an old one, without eligible leader replicas. `orders` "
        f"looks like this:\n\n{_lines()}\n\n"
        "In partition 2 broker 3 has been out of the ISR for 90 minutes, its log's end standing still; in partition 4 "
        "broker 4 has been out for less than five, since its restart. Of the group `search`, each member of which owns "
        "one partition that ends at 1,000:\n\n"
        "- `a` has committed 1,000, and nothing for 100 minutes,\n"
        "- `b` has committed 700, 25 minutes ago, and nothing since,\n"
        "- `c` has committed 400, 95 minutes ago, and nothing since,\n"
        "- `d` has committed 400 every five minutes for two hours.\n\n"
        "Which partitions does `--under-replicated-partitions` list, and which `--unavailable-partitions`? In which "
        "is a follower at fault, if a sign counts after an hour? Which members hang?"
    ),
    start=(
        'answer = {\n    "under-replicated": ...,\n    "unavailable": ...,\n    "faults": ...,\n    "hang": ...,\n}\n'
        "exercises.who_is_ill.check(answer)"
    ),
    judge=Value(_ill),
    solve=_ill,
    hints=(
        "A replica that is only being added is not missed yet.",
        "The last in-sync replica stays in the ISR, even if its broker is dead: how many are missing then?",
        "To hang takes two things: no progress for an hour, and something to read.",
    ),
    reasoning=(
        "Under-replicated are 2 and 4: three replicas, two in sync. Partition 1 is being moved, and broker 4 is not "
        "missed before it has copied everything. Partition 3 has one replica and one in the ISR, dead: the list of the "
        "under-replicated is *silent* about the worst of them, and only `--unavailable-partitions` has it. (On a "
        "cluster with eligible leader replicas the ISR is empty then, and both lists have it.)\n\n"
        "A fault is partition 2. In 4 the follower catches up after a restart, as in every rolling restart. `a` has "
        "nothing to read, `b` may be in a long batch. `c` is silent and has 600 records to read; `d` commits as if all "
        "were well, and gets no further."
    ),
    misconceptions=(
        Misconception(
            {"under-replicated": frozenset({1, 2, 4})},
            "A partition that is being moved has more replicas than it will keep; those still to come do not count.",
        ),
        Misconception(
            {"under-replicated": frozenset({2, 3, 4})},
            "The dead broker is the last one in sync and stays in the ISR, so no replica is missing from it.",
        ),
        Misconception(
            {"faults": frozenset({2, 4})},
            "After a restart every follower is behind for a while. It is a fault if it stays so.",
        ),
        Misconception({"hang": frozenset("acd")}, "An idle consumer has nothing to read: its lag is zero."),
        Misconception(
            {"hang": frozenset("c")}, "A commit shows that a thread lives. Look whether the offset gets any further."
        ),
        Misconception({"hang": frozenset("bcd")}, "Half an hour may be one long batch; wait until the hour is over."),
    ),
    moral="One sign is no fault: ask how long, and whether there was work to do.",
)

_FOUR, _EIGHT = (1, 2, 3, 4), 8
_BEFORE = place_shifted(_FOUR, _EIGHT, 2)
_CLUSTER = Cluster(_FOUR, {"orders": _BEFORE})


def _formed(answer: object) -> object:
    """Lists of brokers by partition, from these, or from the text of a plan that names every partition of orders."""
    if isinstance(answer, str):
        try:
            by_number = {each.partition: [*each.replicas] for each in read_plan(answer) if each.topic == "orders"}
        except KafkaLearnError:
            return answer
        return [by_number[number] for number in sorted(by_number)]
    if isinstance(answer, list | tuple):
        return [list(each) if isinstance(each, tuple) else each for each in answer]
    return answer


def _has_three_each(plan: list) -> bool:
    return len(plan) == _EIGHT and all(isinstance(each, list) and len(each) == 3 for each in plan)


def _refused(plan: list) -> str | None:
    return refusal(plan_of("orders", plan), _CLUSTER)


def _new_copies(plan: list) -> dict[int, int]:
    """How many new replicas each broker gets."""
    pairs = list(zip(_BEFORE, plan, strict=True))
    return {broker: sum(broker in new and broker not in old for old, new in pairs) for broker in _FOUR}


def _says_refused(plan: list) -> Sentence:
    return say("Kafka's tool answers: {}.", as_words(str(_refused(plan)).rstrip(".")))


def _says_copies(plan: list) -> str:
    return f"It copies {counted(sum(_new_copies(plan).values()), 'replica')}; {_EIGHT} are enough, one a partition."


def _says_uneven(plan: list) -> str:
    counts = ", ".join(f"{count} to broker {broker}" for broker, count in _new_copies(plan).items())
    return f"The new replicas are uneven: {counts}."


def _shares(plan: list) -> bool:
    """Whether no broker inherits all that a dead one led."""
    return all(len(heirs(plan, dead)) > 1 for dead in _FOUR)


def _heir_of_all(plan: list) -> str:
    dead = next(each for each in _FOUR if len(heirs(plan, each)) == 1)
    return f"If broker {dead} dies, one broker alone takes over all that it led."


def _solved() -> list[list[int]]:
    return [[*each] for each in place_shifted(_FOUR, _EIGHT, 3)]


third_replica = Exercise(
    name="third_replica",
    asks=(
        "`orders` has two replicas of each of its eight partitions, on brokers 1 to 4:\n\n"
        + "\n".join(f"- {number}: {', '.join(map(str, each))}" for number, each in enumerate(_BEFORE))
        + "\n\nWrite the plan for **three replicas**: eight lists of brokers, the preferred leader first (or the text "
        "of the JSON). Nothing that is there may be copied again, the preferred leaders stay, every broker gets as "
        "many new replicas as the others, and when a broker dies no single one may inherit all that it led."
    ),
    start="plan = [...]  # eight lists\nexercises.third_replica.check(plan)",
    judge=Having(
        [],
        (
            Property(
                _has_three_each,
                lambda plan: f"{_EIGHT} partitions with three replicas each are wanted; these are {len(plan)} lists.",
            ),
            Property(lambda plan: _refused(plan) is None, _says_refused),
            Property(
                lambda plan: [each[0] for each in plan] == [each[0] for each in _BEFORE],
                lambda plan: (
                    "Another broker is preferred as leader of some partitions now; leave the first in its place."
                ),
            ),
            Property(lambda plan: sum(_new_copies(plan).values()) == _EIGHT, _says_copies),
            Property(lambda plan: {*_new_copies(plan).values()} == {2}, _says_uneven),
            Property(_shares, _heir_of_all),
        ),
        form=_formed,
    ),
    solve=_solved,
    hints=(
        "Keep both brokers of each line, and put a third behind them.",
        "Eight new replicas on four brokers: two for each. For each line two brokers come into question.",
        "Kafka's own placement with factor three begins with the same two brokers: `place_shifted`.",
    ),
    reasoning=(
        "`place_shifted([1, 2, 3, 4], 8, 3)` begins each list as it was with two replicas, and the third walks on by "
        "one each round; there are other ways. `--generate` would have kept two, and a rotation begun anew would have "
        "moved the second replica of four partitions: logs that are there already, copied once more."
    ),
    misconceptions=(
        Misconception(
            [[*each] for each in place_rotated(_FOUR, _EIGHT, 3)],
            "A rotation by hand throws copies away that are there already. Compare each line with what it was.",
            lambda plan: _formed(plan) == [[*each] for each in place_rotated(_FOUR, _EIGHT, 3)],
        ),
        Misconception(
            [[*each] for each in _BEFORE],
            "That is what `--generate` would keep: as many replicas as before.",
            lambda plan: all(len(each) == 2 for each in plan),
        ),
        Misconception(
            [[*each, each[0]] for each in _BEFORE],
            "A broker holds one replica of a partition; twice on the same disk is no second copy.",
            lambda plan: any(len({*each}) < len(each) for each in plan),
        ),
    ),
    moral="A plan is good if it copies little, and spreads what a dead broker led.",
)


def offsets_to_commit(processed, leader_epochs):
    to_commit = {}
    for partition, offset, _ in processed:
        to_commit[partition] = (offset + 1, None)
    return to_commit


CODE = FaultyCode(
    offsets_to_commit,
    (("partition, offset, _ in", "partition, offset, epoch in"), ("(offset + 1, None)", "(offset + 1, epoch)")),
)

CASES: tuple[tuple[list[tuple[int, int, int | None]], dict[int, int]], ...] = (
    ([], {}),
    ([(0, 0, 0)], {0: 0}),
    ([(0, 2, 1)], {0: 1}),
    ([(0, 1, 0), (0, 2, 1)], {0: 1}),
    ([(0, 1, 0), (0, 2, 0)], {0: 3}),
    ([(0, 7, 4), (1, 3, 2), (0, 8, 4)], {0: 5, 1: 2}),
    ([(2, 9, None)], {2: 6}),
)
"""Records as (partition, offset, leader epoch), and the epochs in which today's leaders lead."""


def _of_the_leader(processed, leader_epochs):
    return {partition: (offset + 1, leader_epochs[partition]) for partition, offset, _ in processed}


def _of_the_first(processed, leader_epochs):
    first = {}
    for partition, _, epoch in processed:
        first.setdefault(partition, epoch)
    return {partition: (offset + 1, first[partition]) for partition, offset, _ in processed}


def _last_not_next(processed, leader_epochs):
    return {partition: (offset, epoch) for partition, offset, epoch in processed}


bare_offsets = Exercise(
    name="bare_offsets",
    asks=(
        "**Find the bug.** A rebalance listener gets the records that were processed, as (partition, offset, leader "
        "epoch), and makes what is to be committed: for each partition the offset and the leader epoch that belongs to "
        "it. `leader_epochs` has the epoch in which each partition's leader leads now. After a rebalance in a night of "
        "failures the next owner read a whole partition again, although nothing was lost (KAFKA-19902, the run of "
        "section 8). Fix it. A record of an old format has no epoch: None."
    ),
    start=f"{CODE.source.replace('  # noqa: D103', '')}\n\nexercises.bare_offsets.check(offsets_to_commit)",
    judge=Function(CODE.repaired(), ("processed", "leader_epochs"), CASES, unrepaired=CODE.function),
    solve=CODE.repaired,
    hints=(
        "What did the next owner of section 8 not know, that would have kept it from asking an old leader?",
        "A position is an offset, and the epoch of the record *before* it.",
        'In Java: `new OffsetAndMetadata(record.offset() + 1, record.leaderEpoch(), "")`.',
    ),
    reasoning=(
        "The offset was right, the epoch was left out: `new OffsetAndMetadata(offset)` does that in Java. The next "
        "owner then cannot know that its leader is an old one: it asks there, hears that the offset is out of range, "
        "and begins anew. With the epoch of the last record it has heard of a newer leader, and looks for it first.\n\n"
        f"{CODE.diff()}\n\n"
        "`commitSync()` without arguments commits positions with their epochs, and cannot make this mistake."
    ),
    misconceptions=(
        Misconception(
            _of_the_leader,
            "The epoch belongs to the record before the position, not to whoever leads today: a cut of older records "
            "would go unnoticed.",
        ),
        Misconception(_last_not_next, "The epoch is right now; but what is committed is the *next* offset to read."),
        Misconception(_of_the_first, "Between two records the leader may change: take the epoch of the last one."),
    ),
    moral="Commit positions, not numbers.",
)

_SETTINGS = Settings(_BROKERS, replication_factor=3)
_BEGUN = simulate(_SETTINGS, [*map(BrokerStarted, _BROKERS), FindCoordinator("billing")])[-1].state
_GAME = Game(
    step,
    broken,
    _SETTINGS,
    _BEGUN,
    "every group has a coordinator while a broker lives",
    moves_of(*map(BrokerDied, _BROKERS), *map(BrokerStarted, _BROKERS)),
    "BrokerDied(1) > BrokerDied(2) > BrokerDied(3) > BrokerStarted(1)",
)

nobody_answers = Exercise(
    name="nobody_answers",
    asks=(
        "A game. The offsets topic has three replicas of each partition on brokers 1, 2, 3, all in sync. Operators "
        f"hope that *{_GAME.promise}*. Break that promise; **par {_GAME.par}**. The moves: {_GAME.table()}. Give a "
        "line with `>` between the moves."
    ),
    start='run = ""  # moves with > between them\nexercises.nobody_answers.check(run)',
    judge=_GAME,
    solve=lambda: _GAME.best,
    hints=(
        "With one of three alive, whoever it is leads everything. When may a live broker not lead?",
        "Only a member of the ISR is elected, and the last one stays in it when it dies.",
        "All three die, one after the other. Who is in the ISR then, and who may come back first?",
    ),
    reasoning=(
        f"`{_GAME.best}`. With each death the ISR shrinks; broker 3 is the last one in it, and stays. Broker 1 comes "
        "back with a log that may lack what came after its death: it must not lead, and no group has a coordinator "
        "until broker 3 is back. Unclean election would end the waiting and lose commits."
    ),
    misconceptions=(
        Misconception(
            "BrokerDied(1) > BrokerDied(2)", "Broker 3 has everything and is in the ISR: it leads all fifty partitions."
        ),
        Misconception(
            "BrokerDied(1) > BrokerDied(2) > BrokerDied(3)",
            "Now no broker lives at all. The promise speaks of the time while one does.",
        ),
        Misconception(
            "BrokerDied(1) > BrokerDied(2) > BrokerDied(3) > BrokerStarted(3)",
            "That is the one broker that may lead: it died last, and is in the ISR.",
        ),
    ),
    moral="After an outage of all brokers start the one first that died last.",
)

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

_CHAPTER = Chapter(
    "13 operations",
    (
        four_proposals,
        who_inherits,
        where_it_goes_on,
        who_is_ill,
        third_replica,
        bare_offsets,
        nobody_answers,
        my_cluster,
    ),
)
all_exercises = _CHAPTER.all_exercises
score = _CHAPTER.score
