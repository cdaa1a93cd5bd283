"""The incidents of chapter 09: when a follower that stands still leaves the ISR, an ISR that flaps, a tighter lag."""

from __future__ import annotations

from kafkalearn.exercises.chapter09.runs import end_of
from kafkalearn.exercises.kit.exercise import Exercise, Misconception
from kafkalearn.exercises.kit.properties import Open
from kafkalearn.exercises.kit.values import Value
from kafkalearn.replication.events import (
    AlterPartitionAnswered,
    Fetch,
    IsrChecked,
    Produce,
    ReplicationEvent,
    TimePassed,
)
from kafkalearn.replication.settings import Settings
from kafkalearn.replication.simulator import simulate

LAG_S, CHECK_S = 30, 15
_LAST_FETCHES_S = (7, 15, 29)


def leaves_at_s(last_fetch_s: int) -> int:
    """The second in which a follower leaves the ISR, whose last fetch, of everything, was at `last_fetch_s`.

    The leader looks every 15 s; a record comes right after that last fetch.

    >>> leaves_at_s(7)
    45
    """
    settings = Settings(2, replica_lag_time_max_ms=1000 * LAG_S, fetch_wait_max_ms=0)
    events: list[ReplicationEvent] = [TimePassed(1000 * last_fetch_s), Fetch(2), Produce(acks=1)]
    state = simulate(settings, events)[-1].state
    while state.controller.isr == (1, 2):
        to_next_ms = 1000 * CHECK_S - state.now_ms % (1000 * CHECK_S)
        state = simulate(settings, [TimePassed(to_next_ms), IsrChecked()], state)[-1].state
        if state.leader.leading.proposal is not None:
            state = simulate(settings, [AlterPartitionAnswered()], state)[-1].state
    return state.now_ms // 1000


def _leaves() -> dict[str, int]:
    return {f"last fetch at {second} s": leaves_at_s(second) for second in _LAST_FETCHES_S}


when_it_leaves = Exercise(
    name="when_it_leaves",
    asks=(
        "`replica.lag.time.max.ms` is 30 s, so the leader looks for laggards every 15 s: at second 15, 30, 45, 60 and "
        "so on. A follower has everything, fetches once more, and then its disk hangs. Right afterwards a record "
        "comes. In which second does the follower leave the ISR, if that last fetch was in second 7, exactly in second "
        "15, or in second 29? The controller answers at once."
    ),
    start=(
        "leaves = {" + ", ".join(f'"last fetch at {second} s": ...' for second in _LAST_FETCHES_S) + "}\n"
        "exercises.when_it_leaves.check(leaves)"
    ),
    judge=Value(_leaves),
    solve=_leaves,
    hints=(
        "The follower may lag for 30 s, but it goes only when the leader looks.",
        "Being exactly at the limit is still good enough.",
        "For second 7: the limit is passed after second 37; when does the leader look next?",
    ),
    reasoning=(
        "7 s: the limit is passed after 37 s, the next look is at 45 s. 15 s: at 45 s it lags by 30.000 s, which is "
        "not *more* than 30; at 60 s it goes. 29 s: after 59 s, so at 60 s too.\n\n"
        "So it takes from just above 30 s to 45 s, one and a half times the setting. For so long an acks=all request "
        "waits, and consumers see nothing new: the HW stands at what the follower last asked for."
    ),
    misconceptions=(
        Misconception(
            {"last fetch at 7 s": 37}, "The limit is passed then, but nobody looks: the leader checks every 15 seconds."
        ),
        Misconception(
            {"last fetch at 15 s": 45},
            "At the limit, to the millisecond, is not beyond it: the time has to be exceeded.",
        ),
        Misconception(
            {"last fetch at 29 s": 75}, "The limit is passed just before a look, so this one takes hardly longer."
        ),
    ),
    moral="Plan for one and a half times replica.lag.time.max.ms.",
)

_BURSTS = (4000, 4001, 20_000)


def _is_removed(release: str, record_count: int) -> bool:
    """Whether a follower that fetches all the time leaves the ISR over one burst."""
    settings = Settings(2, release=release, fetch_wait_max_ms=0)
    events = [Produce(acks=1), Fetch(2), Fetch(2), Produce(record_count, acks=1), TimePassed(50), IsrChecked()]
    return end_of(events, settings).replica(1).leading.maximal_isr == (1,)


def _flaps() -> dict[str, object]:
    return {
        "smallest burst in 0.8.2": next(burst for burst in _BURSTS if _is_removed("0.8.2", burst)),
        "removed in 0.9 by a burst of 20,000": _is_removed("0.9.0", 20_000),
    }


flapping = Exercise(
    name="flapping",
    asks=(
        "**Incident.** December 2014, Kafka 0.8. A fast new producer sends in large bursts, and the ISR of its topic "
        "shrinks and grows all the time, at times down to one replica (IBM/sarama#233). Suppose that no broker is ill: "
        "each follower fetches every 50 ms and gets everything. The brokers run with the defaults of that time, among "
        "them `replica.lag.max.messages = 4000`.\n\n"
        "A follower has just fetched everything when a burst comes, and the leader looks for laggards before its next "
        "fetch. What is the smallest burst that removes it from the ISR? And would 20,000 records do it in Kafka 0.9, "
        "which no longer has that setting?"
    ),
    start=(
        'answers = {"smallest burst in 0.8.2": ..., "removed in 0.9 by a burst of 20,000": ...}\n'
        "exercises.flapping.check(answers)"
    ),
    judge=Value(_flaps),
    solve=_flaps,
    hints=(
        "A follower was removed when it was *more* than so many records behind.",
        "The second answer is yes or no. Since 0.9 only one of the two old limits is left: which?",
    ),
    reasoning=(
        "The old rule had two limits: silent for `replica.lag.time.max.ms`, or more than `replica.lag.max.messages` "
        "behind. 4,001 records at once are enough, although the follower is 50 ms behind and will have them with its "
        "next fetch; then it is back. No number is right for a busy and a quiet topic at the same time, so 0.9 took "
        "the setting out (KIP-16, KAFKA-1546) and asks for time alone: a burst, however large, removes nobody who "
        "catches up within the lag time."
    ),
    misconceptions=(
        Misconception({"smallest burst in 0.8.2": 4000}, "At the limit is not beyond it: it takes one record more."),
        Misconception(
            {"removed in 0.9 by a burst of 20,000": True},
            "Records are not counted any more; 50 ms after it had everything, the follower is well within its time.",
        ),
    ),
    moral="Lag in records says how busy a topic is; lag in time says how a follower is.",
)

tighter_lag = Exercise(
    name="tighter_lag",
    asks=(
        "**Open question.** Broker 3 has a slow disk. It is in the ISR of `orders-3`, and every order waits for it: "
        "producers with acks=all see 20 s. `min.insync.replicas` is 2, and brokers 1 and 2 have the records at once, "
        'so someone writes a ticket: "two are enough, answer when two have it" (as in apache/kafka#1146, closed: not a '
        "bug). Someone else wants `replica.lag.time.max.ms = 2000`. What do you answer the two?"
    ),
    start='advice = """\n"""\nexercises.tighter_lag.check(advice)',
    judge=Open(),
    solve=lambda: "min ISR is a condition, not a quorum; a tight limit trades waiting for shrinking.",
    hints=(
        "Who may be elected, if broker 1 fails now? What would consumers have been shown?",
        "What else makes a follower slow for three seconds, on every broker at the same time?",
    ),
    reasoning=(
        "To the first: acks=all waits for *all* of the ISR, because any member may be elected next. Were the request "
        "answered when two have it, broker 3 could become leader without the record, cleanly. `min.insync.replicas` "
        "only says below which size of the ISR a write is refused; it is no quorum.\n\n"
        "To the second: with 2 s broker 3 goes after 3 s at most, and orders are quick again, with one copy less. But "
        "a long GC pause, a roll of many segments or a busy network then shrinks hundreds of ISRs at once, each change "
        "a write of the controller, and with min ISR 2 a second slow broker stops the writes. 0.8 to 2.4 had 10 s; 2.5 "
        "went to 30 s for clusters in clouds (KIP-537). Better: find out why the disk is slow, or take broker 3 out."
    ),
)
