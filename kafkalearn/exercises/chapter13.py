"""The exercises of chapter 13: ending a full-disk incident on __consumer_offsets."""

from __future__ import annotations

from kafkalearn.base.internal_topics import OFFSETS_TOPIC
from kafkalearn.exercises.chapter10b import bare_offsets
from kafkalearn.exercises.chapter13b import third_replica, who_inherits
from kafkalearn.exercises.chapter13c import my_cluster, where_it_goes_on, who_is_ill
from kafkalearn.exercises.kit.compare import Value
from kafkalearn.exercises.kit.exercise import Chapter, Exercise, Misconception
from kafkalearn.exercises.kit.game import Game, moves_of
from kafkalearn.operations import failover, incident
from kafkalearn.operations.offsets_topic import (
    BrokerCrashed,
    BrokerStarted,
    FindCoordinator,
    OffsetsTopic,
    Reassigned,
    ReassignmentStuck,
    Settings,
    broken,
    create_offsets_topic,
    simulate,
    step,
)
from kafkalearn.operations.placement import Broker, place_shifted
from kafkalearn.operations.reassignment import Cluster, generate

ONCE_HERE = (bare_offsets, my_cluster, third_replica, where_it_goes_on, who_inherits, who_is_ill)
"""The exercises of 13 when it was one lesson: a copy of that time looks for them here."""

_BROKERS = (1, 2, 3)


def _night() -> OffsetsTopic:
    """The topic with one replica, broker 2 dead."""
    settings = Settings(_BROKERS, replication_factor=1)
    events = [*map(BrokerStarted, _BROKERS), FindCoordinator("billing"), BrokerCrashed(2)]
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
    restarts = [event for each in _BROKERS for event in (BrokerCrashed(each), BrokerStarted(each))]
    events = [BrokerStarted(2), *restarts, FindCoordinator("billing")]
    after = simulate(Settings(_BROKERS, replication_factor=3), events, _night())[-1].state
    return max(map(len, after.replicas))


def _answers() -> dict[str, int]:
    cluster = Cluster(tuple(map(Broker, _BROKERS)), {OFFSETS_TOPIC: place_shifted(_BROKERS, 50, 1)})
    return {
        "records cleaned by the start": _cleaned_by_the_start(),
        "replicas after all restarts": _replicas_after_the_restart(),
        "replicas in the proposal": max(len(each.replicas) for each in generate([OFFSETS_TOPIC], _BROKERS, cluster)),
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

_STARTS = {
    "0.10.2, two up": ("0.10.2", [1, 2], True),
    "3.9 with ZooKeeper, two up": ("3.9", [1, 2], True),
    "4.3, three up": ("4.3", [1, 2, 3], False),
}


def _created() -> dict[str, int]:
    found = {
        name: create_offsets_topic(live, 3, release, has_zookeeper=has_zookeeper).replica_count or 0
        for name, (release, live, has_zookeeper) in _STARTS.items()
    }
    settings = Settings(_BROKERS, replication_factor=1)
    alone = simulate(settings, [BrokerStarted(1), FindCoordinator("billing"), *map(BrokerStarted, (2, 3))])[-1].state
    return found | {"made with one, then two more brokers come": max(map(len, alone.replicas))}


came_too_early = Exercise(
    name="came_too_early",
    asks=(
        "A prediction. `offsets.topic.replication.factor` is 3. A cluster of three brokers is started for the first "
        "time, and a consumer comes before all of them are up. How many replicas does each partition of "
        "`__consumer_offsets` get, 0 if it is not created yet? And a topic that was made with one replica while broker "
        "1 was alone: how many has it once the two others have come?"
    ),
    start=(
        "made = {\n" + "".join(f'    "{name}": ...,\n' for name in _created()) + "}\n"
        "exercises.came_too_early.check(made)"
    ),
    judge=Value(_created),
    hints=(
        "Old brokers took what was there. Since 0.11 the factor is a condition.",
        "With too few brokers a client hears COORDINATOR_NOT_AVAILABLE, and nothing is created.",
        "The number of replicas is decided once, when a topic is made.",
    ),
    reasoning=(
        "0.10.2 gives the topic two replicas, without a word, and it keeps two. 3.9 does not create it before three "
        "brokers are up: 0. With three up there are three. And a topic with one replica keeps one, whoever comes: "
        "only a reassignment changes that (chapter 13b)."
    ),
    misconceptions=(
        Misconception(
            {"0.10.2, two up": 3}, "Two brokers cannot hold three replicas, and this release did not wait for more."
        ),
        Misconception(
            {"3.9 with ZooKeeper, two up": 2},
            "Since 0.11 the factor is enforced: the topic is not created before enough brokers are there.",
        ),
        Misconception(
            {"made with one, then two more brokers come": 3},
            "Nothing adds replicas by itself; brokers that come get no share of a topic that is there.",
        ),
    ),
    moral="Look at the replicas of `__consumer_offsets` on the first day, not in the first night.",
)

_LOAD_S = 4
_DEATHS = {
    "killed": ((1, 2), failover.BrokerCrashed(1)),
    "shut down in order": ((1, 2), failover.BrokerStopped(1)),
}


def _unserved() -> dict[str, int]:
    found = {}
    for name, (replicas, event) in _DEATHS.items():
        settings = failover.Settings(load_s=_LOAD_S, replicas=replicas)
        lost = failover.unserved_seconds(failover.simulate(settings, [event, *[failover.SecondPassed()] * 18]))
        found |= {f"{name}: a commit": lost["committer"], f"{name}: a classic heartbeat": lost["classic member"]}
    return found


seconds_unserved = Exercise(
    name="seconds_unserved",
    asks=(
        f"A prediction. Broker 1 coordinates `billing`; broker 2 has the other replica, and its load takes {_LOAD_S} "
        "seconds. `broker.session.timeout.ms` is 9 s. A job tries to commit in every second, a classic member sends a "
        "heartbeat in every second. In how many seconds is each *not* served, if broker 1 is killed, and if it is shut "
        "down in order?"
    ),
    start=(
        "seconds = {\n" + "".join(f'    "{name}": ...,\n' for name in _unserved()) + "}\n"
        "exercises.seconds_unserved.check(seconds)"
    ),
    judge=Value(_unserved),
    hints=(
        "Three times add up: until the cluster notices, until the order is carried out, and the load.",
        "Broker 2 leads in the ninth second. What does a commit hear while it loads, and what a heartbeat?",
        "Who is shut down in order gives its leadership away before it ends: what is left of the three times?",
    ),
    reasoning=(
        "Killed: for eight seconds nobody is there; then the load, in which a commit hears "
        "`COORDINATOR_LOAD_IN_PROGRESS` while a heartbeat is accepted blindly. So 12 seconds for the commit, 8 for "
        "the heartbeat. In order: leadership has moved before the broker ends, and only the load is left; the "
        "heartbeat fails once, when the member hears `NOT_COORDINATOR` and looks for the new one."
    ),
    misconceptions=(
        Misconception(
            {"killed: a commit": 8}, "Then somebody leads the partition, but it has not read the groups' log yet."
        ),
        Misconception(
            {"killed: a classic heartbeat": 12},
            "A coordinator that loads accepts classic heartbeats blindly: nobody is thrown out for its load.",
        ),
        Misconception(
            {"shut down in order: a commit": 12},
            "A controlled shutdown moves leadership first: there is no time in which nobody notices.",
        ),
    ),
    moral="The session finds the dead; the load is paid for each time.",
)

_SETTINGS = Settings(_BROKERS, replication_factor=3)
_BEGUN = simulate(_SETTINGS, [*map(BrokerStarted, _BROKERS), FindCoordinator("billing")])[-1].state
_GAME = Game(
    step,
    broken,
    _SETTINGS,
    _BEGUN,
    "every group has a coordinator while a broker lives",
    moves_of(*map(BrokerCrashed, _BROKERS), *map(BrokerStarted, _BROKERS)),
    "BrokerCrashed(1) > BrokerCrashed(2) > BrokerCrashed(3) > BrokerStarted(1)",
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
            "BrokerCrashed(1) > BrokerCrashed(2)",
            "Broker 3 has everything and is in the ISR: it leads all fifty partitions.",
        ),
        Misconception(
            "BrokerCrashed(1) > BrokerCrashed(2) > BrokerCrashed(3)",
            "Now no broker lives at all. The promise speaks of the time while one does.",
        ),
        Misconception(
            "BrokerCrashed(1) > BrokerCrashed(2) > BrokerCrashed(3) > BrokerStarted(3)",
            "That is the one broker that may lead: it died last, and is in the ISR.",
        ),
    ),
    moral="After an outage of all brokers start the one first that died last.",
)

_CHAPTER = Chapter("13 operations", (four_proposals, came_too_early, seconds_unserved, nobody_answers))
all_exercises = _CHAPTER.all_exercises
score = _CHAPTER.score
__all__ = _CHAPTER.public_names()
