"""A shift of work: records that come at certain times, members that share them, and every delivery that follows.

`work_off` drives `kafkalearn.sharing.work` by the clock: whoever is free polls for one record, works at it for as long
as it takes, and says what became of it. So the simulator decides who gets what, when a lock runs out, and which word
counts. `kafkalearn.spark.share_work` has the same shift as arithmetic over millions of records.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from kafkalearn.base.checks import Checked, Count, Millis, one_of, sequence, whole_number
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.sharing import work
from kafkalearn.sharing.events import RECORD_LIMIT

ACCEPTED, LATE, FAILED, CRASHED = "accepted", "late", "failed", "crashed"
"""How a delivery ends: the record is done by it; it is not, for the lock ran out first (the member may be answered no
error all the same, where the start has passed the record); the member gives the record back; the member dies."""

DONE, FAILS, DIES = "done", "fails", "dies"
"""What a member comes to when it has worked at a record: only the first is a result."""


@dataclass(frozen=True)
class Try(Checked):
    """One time that somebody works at a record: for how long, and what comes of it.

    >>> Try(500, "sleeps")
    Traceback (most recent call last):
        ...
    kafkalearn.base.errors.KafkaLearnError: unknown end 'sleeps'; Known: 'done', 'fails', 'dies'
    """

    work_ms: Millis
    end: str = DONE

    def __post_init__(self) -> None:
        """Refuse an end that there is none of, and work that takes no time."""
        super().__post_init__()
        one_of("end", self.end, (DONE, FAILS, DIES))
        whole_number("work_ms", self.work_ms, at_least=1)


@dataclass(frozen=True)
class Job(Checked):
    """A record: when it comes, and what each try at it would be; after the last one they are all like the last."""

    arrived_ms: Millis
    tries: tuple[Try, ...] = (Try(1000),)

    def __post_init__(self) -> None:
        """Refuse a record that nobody could work at."""
        super().__post_init__()
        if not self.tries:
            raise KafkaLearnError("tries must have at least one Try, got none")


@dataclass(frozen=True)
class Settings(Checked):
    """Members of one share-partition, and the limits that its group has.

    ``away_ms`` is how long a member that has died is away; it comes back by itself.
    """

    member_count: Count = 2
    lock_ms: Count = 30_000
    delivery_limit: Count = 5
    away_ms: Millis = 10_000


class Delivery(NamedTuple):
    """A record that was given to a member: the how manieth time, from when to when it was worked at, how that ended."""

    offset: int
    count: int
    began_ms: int
    ended_ms: int
    end: str


@dataclass(frozen=True)
class _Busy:
    """What a member works at."""

    offset: int
    count: int
    began_ms: int
    until_ms: int
    end: str


def work_off(settings: Settings, jobs: Iterable[Job]) -> tuple[Delivery, ...]:
    """Every delivery of a shift, in the order in which they began; of those of one moment, by offset.

    Parameters
    ----------
    settings : Settings
        Of the members.
    jobs : iterable of Job
        The records of one partition by offset; they come in this order, each as a batch of its own.

    Examples
    --------
    The lock is 30 s, and whoever works at record 0 takes 40: the record goes to somebody else meanwhile.

    >>> shift = Settings(member_count=2, lock_ms=30_000)
    >>> for each in work_off(shift, [Job(0, (Try(40_000), Try(1_000))), Job(0)]):
    ...     print(*each)
    0 1 0 40000 late
    1 1 0 1000 accepted
    0 2 30000 31000 accepted

    Notes
    -----
    What is done at one moment is done in this order: locks run out, records come, members end their work, members poll.
    """
    kept = sequence("jobs", jobs, of="Job")
    if any(later.arrived_ms < earlier.arrived_ms for earlier, later in pairwise(kept)):
        raise KafkaLearnError("jobs must come in the order of their offsets: none earlier than the one before it")
    return _Shift(settings, kept).run()


class _Shift:
    """The clock, and what each member does; all that a broker knows is in the simulator's state."""

    def __init__(self, settings: Settings, jobs: Sequence[Job]) -> None:
        self.jobs = jobs
        self.away_ms = settings.away_ms
        names = tuple(f"m{number:03}" for number in range(1, settings.member_count + 1))
        self.chosen = work.settings(
            lock_ms=settings.lock_ms, delivery_limit=settings.delivery_limit, programs=names, max_poll_records=1,
            acquire_mode=RECORD_LIMIT,
        )  # fmt: skip
        self.state = work.start(self.chosen)
        self.begun_ms = self.state.cluster.now_ms
        self.now_ms = 0
        self.come = 0
        self.busy: dict[str, _Busy] = {}
        self.back_ms = dict.fromkeys(names, 0)
        self.deliveries: list[Delivery] = []

    def run(self) -> tuple[Delivery, ...]:
        while (at_ms := self.next_ms()) is not None:
            if at_ms > self.now_ms:
                self.step(work.TimePassed(at_ms - self.now_ms))  # locks run out on the way
                self.now_ms = at_ms
            while self.come < len(self.jobs) and self.jobs[self.come].arrived_ms == at_ms:
                self.step(work.Arrive())
                self.come += 1
            for name in sorted(name for name, each in self.busy.items() if each.until_ms == at_ms):
                self.end(name, self.busy.pop(name))
            self.poll()
            if self.is_over():
                break
        return tuple(sorted(self.deliveries, key=lambda each: (each.began_ms, each.offset)))

    def step(self, event: work.Event) -> None:
        self.state = work.step(self.chosen, self.state, event)

    def next_ms(self) -> int | None:
        """The next moment in which anything may change."""
        times = [each.until_ms for each in self.busy.values()]
        times += [at_ms for name, at_ms in self.back_ms.items() if name not in self.busy and at_ms > self.now_ms]
        if self.come < len(self.jobs):
            times.append(self.jobs[self.come].arrived_ms)
        times += [
            held.lock_ms - self.begun_ms
            for share in self.state.cluster.share_partitions
            for batch in share.batches
            for _, held in batch.items()
            if held.lock_ms is not None
        ]
        return min(times, default=None)

    def is_over(self) -> bool:
        cluster = self.state.cluster
        return self.come == len(self.jobs) == len(cluster.accepted | cluster.given_up) and not self.busy

    def poll(self) -> None:
        for name, at_ms in self.back_ms.items():
            if name in self.busy or at_ms > self.now_ms:
                continue
            self.step(work.Poll(name))
            has = self.state.program(name).has
            if not has:
                break  # and so for all others
            offset = has[0][1]
            count = self.state.cluster.deliveries[-1].count
            tries = self.jobs[offset].tries
            this = tries[min(count, len(tries)) - 1]
            self.busy[name] = _Busy(offset, count, self.now_ms, self.now_ms + this.work_ms, this.end)

    def end(self, name: str, was: _Busy) -> None:
        offset = was.offset
        share = self.state.cluster.share_partition(work.GROUP, f"{work.TOPIC}-0")
        held = share.held(offset) if share is not None else None
        still_has = held is not None and (held.member, held.count) == (name, was.count)
        said = {DONE: ACCEPTED, FAILS: FAILED, DIES: CRASHED}[was.end] if still_has else LATE
        if was.end == DIES:
            said = CRASHED
            self.step(work.Crash(name))
            self.back_ms[name] = self.now_ms + self.away_ms
        else:
            self.step(work.Accept(name) if was.end == DONE else work.Release(name))
        self.deliveries.append(Delivery(offset, was.count, was.began_ms, self.now_ms, said))
