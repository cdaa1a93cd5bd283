"""The incident of chapter 13: what each of four proposals would do, in the night of the full disk."""

from __future__ import annotations

from kafkalearn.exercises.kit.exercise import Exercise, Misconception
from kafkalearn.exercises.kit.values import Value
from kafkalearn.operations import incident
from kafkalearn.operations.offsets_topic import (
    BrokerDied,
    BrokerStarted,
    FindCoordinator,
    OffsetsTopic,
    Reassigned,
    Settings,
    simulate,
)
from kafkalearn.operations.offsets_topic.effects import ReassignmentStuck
from kafkalearn.operations.placement import place_shifted
from kafkalearn.operations.reassignment import Cluster, generate

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
