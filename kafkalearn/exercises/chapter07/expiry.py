"""Exercises with the retention of offsets: when they go, by release and by kind of group."""

from __future__ import annotations

from itertools import count

from kafkalearn.exercises.kit.exercise import Exercise, Misconception
from kafkalearn.exercises.kit.properties import Open
from kafkalearn.exercises.kit.values import Value
from kafkalearn.offsets import Member
from kafkalearn.offsets.groups import CLASSIC, CONSUMER
from kafkalearn.offsets.store import Commit, Settings, StoreGroup, Sweep, start, step
from kafkalearn.offsets.store.events import StoreEvent

_HOUR_MS = 3_600_000

_COMMIT_H, _STOP_H = 9, 9 * 24 + 18
_ASKED = {
    "1.1": ("1.1", CLASSIC),
    "2.0": ("2.0", CLASSIC),
    "4.3": ("4.3", CLASSIC),
    "4.3, KIP-848": ("4.3", CONSUMER),
    "4.3, assign": ("4.3", None),
}


def _when_gone() -> dict[str, int]:
    return {name: _hour_of_expiry(*asked) for name, asked in _ASKED.items()}


def _hour_of_expiry(release: str, kind: str | None) -> int:
    """The hour after which a sweep takes the offset; without a kind, of a consumer in no group."""
    who = {} if kind is None else {"member_id": "billing-1", "generation": 1}
    events: list[StoreEvent] = [Commit("billing", "orders", 3, 7, _COMMIT_H * _HOUR_MS, **who)]
    if kind is not None:
        member = Member("billing-1", subscribed=("orders",))
        joined = StoreGroup("billing", 1, 0, (member,), kind=kind)
        events = [joined, *events, StoreGroup("billing", 2, _STOP_H * _HOUR_MS, kind=kind)]
    store, settings = start(Settings(release)), Settings(release)
    for hour in count():
        while events and events[0].now_ms <= hour * _HOUR_MS:
            store = step(settings, store, events.pop(0))
        store = step(settings, store, Sweep(hour * _HOUR_MS + 1))
        if hour >= _COMMIT_H and not any(group.offsets for group in store.groups):
            return hour


when_gone = Exercise(
    name="when_gone",
    asks=(
        "A prediction. `billing` commits by hand, and partition 3 of `orders` is quiet: one offset is committed for it "
        "on Wednesday at 09:00, and never again. The consumers run and poll until Friday of the next week, 18:00, "
        "hour 234 after Wednesday 00:00; then they stop. No retention is configured, and sweeps come every few "
        "minutes. After how many hours has the offset expired: of `billing`, a classic group, on brokers of 1.1, 2.0 "
        "and 4.3; and on 4.3 if `billing` is a KIP-848 group (`group.protocol=consumer`), or a single consumer that "
        "uses `assign`?"
    ),
    start=(
        'hours = {"1.1": ..., "2.0": ..., "4.3": ..., "4.3, KIP-848": ..., "4.3, assign": ...}\n'
        "exercises.when_gone.check(hours)"
    ),
    judge=Value(_when_gone),
    solve=_when_gone,
    hints=(
        "Three things count: the default retention (another one since 2.0), from when it runs, and since 2.1 who "
        "subscribes.",
        "Up to 2.0 the clock starts with the commit, whoever is there. Since 2.1 nothing expires while a member "
        "subscribes to the topic; then a classic group's clock starts when it has become Empty, a KIP-848 group's has "
        "run since the commit.",
        "A consumer that uses `assign` is no member of a group and subscribes to nothing.",
    ),
    reasoning=(
        "1.1: one day after the commit, Thursday 09:00, hour 33, while the group is consuming. 2.0: seven days after "
        "the commit, hour 9 + 168 = 177. 4.3, classic: seven days after the group became Empty, hour 234 + 168 = 402. "
        "4.3, KIP-848: as long as a member subscribes, the offset stays; but its clock has run since the commit, and "
        "the seven days are over since hour 177. So it goes with the first sweep after the last member has left, hour "
        "234. 4.3, `assign`: hour 177, though the consumer polls all the time. (With auto commit there would be a "
        "commit every five seconds, and each starts the clock again.)\n\n"
        "The old rule was reported again and again, first as KAFKA-3806 and KAFKA-4682; KIP-186 and KIP-211 are the "
        "answer. That a KIP-848 group counts otherwise than a classic one is in `offsetExpirationCondition` of "
        "`ConsumerGroup` and `ClassicGroup`."
    ),
    misconceptions=(
        Misconception(
            {"4.3": 177},
            "Since 2.1 nothing expires while a member subscribes to the topic, and a classic group's clock starts when "
            "it becomes Empty, for all its offsets.",
        ),
        Misconception(
            {"4.3, KIP-848": 402},
            "From when it became Empty: that is the classic group's clock. A KIP-848 group's runs since the commit.",
        ),
        Misconception(
            {"4.3, KIP-848": 177}, "A member still subscribes to the topic then; until it leaves, the offset stays."
        ),
        Misconception(
            {"4.3, assign": 234}, "A consumer that uses `assign` is no member: nobody knows that it is there or gone."
        ),
        Misconception({"4.3, assign": 402}, "Without members a group has no moment at which it becomes Empty."),
        Misconception({"1.1": 24}, "The day begins with the commit, not at midnight."),
        Misconception({"2.0": 168}, "The seven days begin with the commit, not at midnight."),
        Misconception(
            {"4.3": 234}, "That is when the group becomes Empty; the retention of a classic group begins then."
        ),
        Misconception({"1.1": 258}, "Up to 2.0 the sweep did not look at the group, only at the time of the commit."),
        Misconception({"2.0": 33}, "One day was the default up to 1.1 only (KIP-186)."),
        Misconception({"2.0": 402}, "The longer default came one release before the new rule (KIP-211)."),
    ),
    moral="An upgrade changes when offsets expire, twice; so does another group protocol.",
)

long_weekend = Exercise(
    name="long_weekend",
    asks=(
        "**Incident.** On a 4.3 cluster somebody carried `offsets.retention.minutes=1440` over from an old "
        "`server.properties`. `billing`, a classic group, is stopped on Friday at 18:00 and started on Monday at "
        "08:00, and begins from the start of its topics. What is the smallest number of minutes that would have kept "
        "its offsets until exactly then?"
    ),
    start="minutes = ...\nexercises.long_weekend.check(minutes)",
    judge=Value(lambda: 62 * 60 + 1),
    solve=lambda: 62 * 60 + 1,
    hints=(
        "How long was the group Empty?",
        "Since 2.1 an offset has expired when *now - base >= retention*: what if they are equal?",
    ),
    reasoning=(
        "From Friday 18:00 to Monday 08:00 are 62 hours, 3720 minutes. With 3720 the condition is just met, and a "
        "sweep at 08:00 takes the offsets; one minute more keeps them. In practice leave more room: the default is "
        "a week."
    ),
    misconceptions=(
        Misconception(3720, "That is how long it stood still; at equality the offset has expired already."),
        Misconception(62, "These are the hours; the setting is in minutes."),
        Misconception(1440, "That is what somebody had set: one day, and the group was away for longer."),
        Misconception(
            86 * 60,
            "From Friday evening to Monday morning are two days and some hours, not three: count them again.",
            recognises=lambda minutes: minutes in (86 * 60, 86 * 60 + 1, 38 * 60, 38 * 60 + 1),
        ),
        Misconception(10080, "The default would have done, but it is not the smallest."),
    ),
)

a_year_of_retention = Exercise(
    name="a_year_of_retention",
    asks=(
        "**Open question.** After the incident somebody proposes `offsets.retention.minutes=525600`, a year. What does "
        "it cost, what does it not protect against, and what would you do instead or as well?"
    ),
    start="answer = ...\nexercises.a_year_of_retention.check(answer)",
    judge=Open(),
    solve=lambda: "A month at most, an alert on Empty groups, and a decision about auto.offset.reset for each group.",
    hints=(
        "Where do the offsets of groups live that will never come back, and who reads them at every failover?",
        "What remains of an offset if the records it points at were deleted meanwhile?",
    ),
    reasoning=(
        "*Cost:* every console consumer and every renamed group stays for a year, in the coordinator's memory and "
        "in the log that it reads when it takes over: slower failover.\n\n*No protection:* if the topic keeps its "
        "records for seven days, an offset of last month points at nothing, and `auto.offset.reset` decides all "
        "the same; nor against a deleted topic or group.\n\n*Instead:* at least as long as the longest planned "
        "stop; an alert when a group that should run is Empty; `auto.offset.reset=none` where starting anywhere is "
        "worse than not starting."
    ),
)
