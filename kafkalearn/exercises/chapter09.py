"""The exercises of chapter 09: what are HW and LEO, exactly?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import MappingProxyType

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.exercises.kit.compare import Value, as_events
from kafkalearn.exercises.kit.exercise import Chapter, Exercise, Misconception
from kafkalearn.exercises.kit.functions import Function, Having, Open, Property
from kafkalearn.exercises.kit.game import Game, moves_of
from kafkalearn.replication import (
    SURVIVE,
    AlterPartitionAnswered,
    BrokerCrashed,
    BrokerStarted,
    Fetch,
    PowerLost,
    Produce,
    SessionExpired,
    Settings,
    broken,
    start,
    step,
)
from kafkalearn.replication.events import (
    IsrChecked,
    ReplicationEvent,
    TimePassed,
)
from kafkalearn.replication.leader import high_watermark_of
from kafkalearn.replication.simulator import simulate
from kafkalearn.replication.state import Leadership, Log, Partition, Proposal, Remote

SETTINGS = Settings(fetch_wait_max_ms=0)


def end_of(events: Sequence[ReplicationEvent], settings: Settings = SETTINGS) -> Partition:
    """The last moment of a run.

    Raises
    ------
    KafkaLearnError
        If an event is none, or makes no sense where it comes.
    """
    try:
        return simulate(settings, events)[-1].state
    except (TypeError, AttributeError) as error:
        raise KafkaLearnError(f"these are no events that can happen one after the other: {error}") from error


_SCHEDULE = (Produce(4), Fetch(2), Fetch(3), Fetch(2), Produce(3), Fetch(3))


def _predicted() -> dict[str, int | None]:
    end = end_of(_SCHEDULE)
    leader, third = end.leader, end.replica(3)
    assert leader is not None, "nobody crashes"
    known = leader.remotes[2]
    assert known is not None, "it has fetched"
    return {
        "LEO": leader.log_end_offset,
        "HW": end.high_watermark,
        "LEO of 3": third.log_end_offset,
        "LEO of 3, as the leader knows it": known.log_end_offset,
        "HW of 3": third.high_watermark,
    }


predict_marks = Exercise(
    name="predict_marks",
    asks=(
        "A prediction, with a pencil. A new partition, broker 1 leads, 2 and 3 follow, all are in sync. Then:\n\n"
        "1. a producer sends 4 records,\n2. broker 2 fetches,\n3. broker 3 fetches,\n4. broker 2 fetches,\n"
        "5. a producer sends 3 records,\n6. broker 3 fetches.\n\n"
        "No fetch waits: each is answered at once. Where are the marks then?"
    ),
    start=(
        'marks = {\n    "LEO": ...,\n    "HW": ...,\n    "LEO of 3": ...,\n'
        '    "LEO of 3, as the leader knows it": ...,\n    "HW of 3": ...,\n}\n'
        "exercises.predict_marks.check(marks)"
    ),
    judge=Value(_predicted),
    hints=(
        "Draw a line for each broker, and for the leader two more numbers: what it knows of 2 and of 3.",
        "A fetch asks from the follower's own end. That number, and no other, is what the leader notes down.",
        "In step 6 broker 3 asks from 4. The answer was read before the leader noted that down.",
    ),
    reasoning=(
        "Seven records are in the leader's log: LEO 7. Broker 2 has asked from 0 and from 4, broker 3 from 0 and, in "
        "step 6, from 4. So the leader knows 4 and 4, and with step 6 the HW rises to 4.\n\n"
        "Broker 3 gets offsets 4 to 6 with that fetch: its own LEO is 7, its copy on the leader 4, until it asks "
        "again. And the answer carries the HW of before, 0."
    ),
    misconceptions=(
        Misconception(
            {"LEO of 3, as the leader knows it": 7},
            "The leader does not know what its answer has done: it learns that from the follower's next fetch.",
        ),
        Misconception(
            {"HW of 3": 4},
            "The fetch that raises the HW is answered with the HW of before; the follower learns it one round later.",
        ),
        Misconception(
            {"HW": 7}, "The HW is the smallest LEO that the leader knows of, and what it knows comes from fetches."
        ),
        Misconception({"LEO": 6}, "The LEO is the offset that the next record will get, not that of the last one."),
    ),
)


def marks_of(events: Sequence[ReplicationEvent], settings: Settings = SETTINGS) -> tuple[int, int, tuple[int, ...]]:
    """LEO, HW and ISR at the end of a run; -1 for both marks where nobody leads."""
    end = end_of(events, settings)
    if end.leader is None:
        return -1, -1, end.controller.isr
    return end.leader.log_end_offset, end.leader.high_watermark, end.controller.isr


def _says(events: list[ReplicationEvent]) -> str:
    leo, hw, isr = marks_of(events)
    return f"These events end with LEO {leo}, HW {hw}, and {len(isr)} replicas in the ISR."


def _is_copied(events: object) -> bool:
    """Whether every follower has everything, and the leader's HW has not moved."""
    if not isinstance(events, list):
        return False
    end = end_of(events)
    return end.high_watermark == 0 and all(each.log_end_offset == 5 for each in end.replicas)


make_marks = Exercise(
    name="make_marks",
    asks=(
        "Make a run of a new partition with three replicas that ends with **LEO 5 and HW 3**, all three in the ISR. "
        "Give a list of `Produce(...)` and `Fetch(...)` events; broker 1 leads. A fetch that finds nothing is answered "
        "at once."
    ),
    start=("from kafkalearn.replication import Fetch, Produce\n\nevents = [...]\nexercises.make_marks.check(events)"),
    judge=Having(
        [],
        (Property(lambda events: marks_of(events) == (5, 3, (1, 2, 3)), _says),),
        form=as_events,
    ),
    solve=lambda: [Produce(3), Fetch(2), Fetch(3), Fetch(2), Fetch(3), Produce(2)],
    hints=(
        "First bring LEO and HW to 3, then let the LEO go on alone.",
        "How many times must each follower fetch before the leader knows that it has three records?",
        "Twice: once to get them, once to ask for what comes next.",
    ),
    reasoning=(
        "Three records; both followers fetch, get them, and fetch again, from 3: now the leader knows, HW 3. Two more "
        "records that nobody fetches move only the LEO. There are other ways: with five records at once, each "
        "follower would have to ask from 3 at some time, and no answer stops there."
    ),
    misconceptions=(
        Misconception(
            [Produce(5), Fetch(2), Fetch(3)],
            "All logs are equal, and yet nothing is committed: the leader learns what an answer brought only when the "
            "follower asks for more.",
            _is_copied,
        ),
        Misconception(
            [Produce(5), Fetch(2), Fetch(3), Fetch(2), Fetch(3)],
            "That commits everything. Stop the followers earlier, or let the leader go on without them.",
            lambda events: isinstance(events, list) and marks_of(events)[:2] == (5, 5),
        ),
    ),
)


# The rule of the high watermark, and the ways people get it wrong.
Isr = tuple[int, ...]

HIGH_WATERMARK_CASES: tuple[tuple[int, int, Isr, Isr | None, Isr, dict[int, int]], ...] = (
    (0, 0, (1,), None, (), {}),
    (5, 0, (1,), None, (), {}),
    (5, 0, (1, 2), None, (2,), {2: 5}),
    (5, 0, (1, 2), None, (2,), {2: 3}),
    (5, 0, (1, 2), None, (), {2: -1}),
    (5, 4, (1, 2), None, (2,), {2: 3}),
    (5, 2, (1, 2, 3), None, (2, 3), {2: 5, 3: -1}),
    (10, 4, (1, 2, 3), None, (2, 3), {2: 8, 3: 6}),
    (10, 4, (1, 2, 3), None, (2,), {2: 10, 3: 5}),
    (10, 4, (1, 2), None, (2,), {2: 9, 3: 1}),
    (10, 4, (1, 2), None, (2,), {2: 9, 3: -1}),
    (10, 4, (1, 2), None, (2, 3), {2: 9, 3: 8}),
    (10, 6, (1, 2), (1, 2, 3), (2, 3), {2: 9, 3: 7}),
    (10, 6, (1, 2), (1, 2, 3), (2,), {2: 9, 3: 7}),
    (10, 6, (1, 2, 3), (1, 2), (2,), {2: 9, 3: 6}),
    (10, 6, (1, 2, 3), (1, 2), (2, 3), {2: 9, 3: 8}),
    (14, 7, (1, 2, 3), None, (2, 3), {2: 14, 3: 7}),
    (20, 3, (1, 2, 3, 4), None, (2, 3, 4), {2: 20, 3: 20, 4: 9}),
)
"""Arguments, the smallest first."""


def high_watermark(
    leader_end: int, high_watermark: int, isr: Isr, asked: Isr | None, caught_up: Isr, remote_ends: dict[int, int]
) -> int:
    """The leader's high watermark by the rules of Kafka 4.3, broker 1 being the leader.

    >>> high_watermark(10, 6, (1, 2), (1, 2, 3), (), {2: 9, 3: 7})
    7
    """
    count = max([1, *remote_ends])
    remotes = tuple(
        Remote(remote_ends[broker_id], last_caught_up_ms=0 if broker_id in caught_up else None)
        if broker_id in remote_ends
        else None
        for broker_id in range(1, count + 1)
    )
    leading = Leadership(0, isr, 0, None if asked is None else Proposal(asked))
    log = Log(first_offset=leader_end, high_watermark=high_watermark)
    return high_watermark_of(Settings(count), 0, lambda broker_id: True, log, leading, remotes)


def _smallest(counts: set[int], leader_end: int, remote_ends: dict[int, int]) -> int:
    return min([leader_end, *(end for broker, end in remote_ends.items() if broker in counts)])


def _all_replicas(leader_end, high_watermark, isr, asked, caught_up, remote_ends):
    return max(high_watermark, _smallest(set(remote_ends), leader_end, remote_ends))


def _majority(leader_end, high_watermark, isr, asked, caught_up, remote_ends):
    ends = sorted([leader_end, *remote_ends.values()], reverse=True)
    return max(high_watermark, ends[len(ends) // 2])


def _isr_alone(leader_end, high_watermark, isr, asked, caught_up, remote_ends):
    return max(high_watermark, _smallest(set(isr), leader_end, remote_ends))


def _without_the_asked(leader_end, high_watermark, isr, asked, caught_up, remote_ends):
    return max(high_watermark, _smallest({*isr, *caught_up}, leader_end, remote_ends))


def _asked_instead(leader_end, high_watermark, isr, asked, caught_up, remote_ends):
    return max(high_watermark, _smallest({*(asked or isr)}, leader_end, remote_ends))


def _may_fall(leader_end, high_watermark, isr, asked, caught_up, remote_ends):
    return max(0, _smallest({*isr, *(asked or ()), *caught_up}, leader_end, remote_ends))


def _skips_the_unknown(leader_end, high_watermark, isr, asked, caught_up, remote_ends):
    known = {broker: end for broker, end in remote_ends.items() if end >= 0}
    return max(high_watermark, _smallest({*isr, *(asked or ()), *caught_up}, leader_end, known))


wrong_by_name: MappingProxyType[str, Callable[..., int]] = MappingProxyType(
    {
        "all replicas": _all_replicas,
        "majority": _majority,
        "ISR alone": _isr_alone,
        "without the asked": _without_the_asked,
        "asked instead": _asked_instead,
        "may fall": _may_fall,
        "skips the unknown": _skips_the_unknown,
    }
)
"""What students answer, by the mistake."""

write_high_watermark = Exercise(
    name="write_high_watermark",
    asks=(
        "Write `my_high_watermark(...)`: the leader's HW after it has tried to raise it. Broker 1 leads; it gets\n\n"
        "- `leader_end`, its LEO, and `high_watermark`, its HW so far,\n"
        "- `isr`, the ISR as committed, a tuple of broker ids,\n"
        "- `asked`, the ISR it has asked the controller for and not got yet, or None,\n"
        "- `caught_up`, the followers that were caught up within the lag time, in the ISR or not,\n"
        "- `remote_ends`, a dict from follower to the LEO of its last fetch, -1 before the first.\n\n"
        "All brokers are alive, and the ISR is large enough."
    ),
    start=(
        "def my_high_watermark(leader_end, high_watermark, isr, asked, caught_up, remote_ends):\n    return ...\n\n\n"
        "exercises.write_high_watermark.check(my_high_watermark)"
    ),
    judge=Function(
        high_watermark,
        ("leader_end", "high_watermark", "isr", "asked", "caught_up", "remote_ends"),
        HIGH_WATERMARK_CASES,
    ),
    hints=(
        "Whose LEO counts? Collect the smallest, beginning with the leader's own.",
        "A replica that is asked for counts already; one that is to go still counts.",
        "A replica outside the ISR counts too if it is caught up: else the HW would run away from it for ever.",
        "And whatever comes out: a leader's HW does not fall.",
    ),
    reasoning=(
        "```python\ndef my_high_watermark(leader_end, high_watermark, isr, asked, caught_up, remote_ends):\n"
        "    counts = set(isr) | set(asked or ()) | set(caught_up)\n"
        "    ends = [end for broker, end in remote_ends.items() if broker in counts]\n"
        "    return max(high_watermark, min([leader_end, *ends]))\n```\n\n"
        "The union of the ISR and the one asked for is the *maximal ISR* (since 2.7). The third set is there since "
        "0.10.2: a replica that is catching up could otherwise never reach a HW that does not wait for it."
    ),
    misconceptions=tuple(
        Misconception(function, cure)
        for function, cure in (
            (
                wrong_by_name["all replicas"],
                "A replica that is neither in the ISR nor near it holds nothing back: else one dead broker would stop "
                "the partition.",
            ),
            (
                wrong_by_name["majority"],
                "Kafka counts no majority: the slowest member of the ISR decides, and the ISR is what shrinks.",
            ),
            (wrong_by_name["ISR alone"], "So it was up to 0.10.1. Who else counts today, although not in the ISR yet?"),
            (
                wrong_by_name["without the asked"],
                "A replica that the leader has asked for may be a member already, for all it knows: it has to count.",
            ),
            (
                wrong_by_name["asked instead"],
                "A removal takes effect when the controller has answered; asking is not enough.",
            ),
            (wrong_by_name["may fall"], "Within its term a leader's HW stands or rises; it never goes back."),
            (
                wrong_by_name["skips the unknown"],
                "A member of the ISR that has not fetched yet may have nothing at all: until it asks, the HW waits.",
            ),
        )
    ),
)

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
        leading = state.replica(1).leading
        if leading is not None and leading.proposal is not None:
            state = simulate(settings, [AlterPartitionAnswered()], state)[-1].state
    return state.now_ms // 1000


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
    judge=Value(lambda: {f"last fetch at {second} s": leaves_at_s(second) for second in _LAST_FETCHES_S}),
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
    events = [
        Produce(acks=1),
        Fetch(2),
        Fetch(2),
        Produce(record_count, acks=1),
        TimePassed(50),
        IsrChecked(),
    ]
    leading = end_of(events, settings).replica(1).leading
    return leading is not None and leading.maximal_isr == (1,)


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
    judge=Value(
        lambda: {
            "smallest burst in 0.8.2": next(burst for burst in _BURSTS if _is_removed("0.8.2", burst)),
            "removed in 0.9 by a burst of 20,000": _is_removed("0.9.0", 20_000),
        }
    ),
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

_PARTITION = Settings(2, fetch_wait_max_ms=0)
_GAME = Game(
    step,
    broken,
    _PARTITION,
    start(_PARTITION),
    SURVIVE,
    moves_of(
        Produce(acks="all"),
        Fetch(2),
        *(each(broker) for each in (BrokerCrashed, PowerLost, SessionExpired, BrokerStarted) for broker in (1, 2)),
        AlterPartitionAnswered(),
    ),
    "Produce > BrokerCrashed(2) > SessionExpired(2) > PowerLost(1) > BrokerStarted(1)",
)

lose_a_committed_record = Exercise(
    name="lose_a_committed_record",
    asks=(
        "A game. Two replicas, broker 1 leads, `min.insync.replicas` is 1, and every request is sent with `acks=all`. "
        f"Users hope that *{_GAME.promise}*, which are all below the HW. Break that promise; **par {_GAME.par}**. The "
        f"moves: {_GAME.table()}. A crash keeps what is in a broker's page cache, a power cut does not. Give a line "
        "with `>` between the moves."
    ),
    start='run = ""  # moves with > between them\nexercises.lose_a_committed_record.check(run)',
    judge=_GAME,
    hints=(
        "As long as a record is on two disks, no single accident takes it away. When is one copy enough to commit it?",
        "An ISR of one commits alone. How do you make it that small?",
        "Then the last one in the ISR loses its power, and comes back with less than it had.",
    ),
    reasoning=(
        f"`{_GAME.best}`. Broker 2 crashes and leaves the ISR; what the leader has is then committed, with one copy, "
        "in its page cache. The power cut takes it away, and broker 1, the only one in the ISR, is elected again "
        "without it. A minimum ISR of 2 would have refused the record; eligible leader replicas (KIP-966) help only "
        "together with that."
    ),
    misconceptions=(
        Misconception(
            "Produce > PowerLost(1) > SessionExpired(1)",
            "That record was never committed: broker 2 was in the ISR and had not fetched it.",
        ),
        Misconception(
            "Produce > BrokerCrashed(2) > SessionExpired(2) > BrokerCrashed(1) > BrokerStarted(1)",
            "After a crash the page cache is still there: the operating system writes it to the disk.",
        ),
        Misconception(
            "Produce > Fetch(2) > Fetch(2) > PowerLost(1) > SessionExpired(1)",
            "Broker 2 has the record and leads. While both are in the ISR, one power cut takes nothing away.",
        ),
    ),
    moral="Committed means: in all logs of the ISR. It does not say how many these are.",
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

_CHAPTER = Chapter(
    "09 replication",
    (predict_marks, make_marks, write_high_watermark, when_it_leaves, flapping, lose_a_committed_record, tighter_lag),
)
all_exercises = _CHAPTER.all_exercises
score = _CHAPTER.score
__all__ = _CHAPTER.public_names()
