"""How many states `explore` meets until it has looked so deep, how quickly, and what each thing it does spares.

The same search several ways, in turn: as it is; with what producers were answered kept in its states though no promise
asks for it; with states told apart by how many of the limited events are left, too; without relabelled brokers; and
with states that are not split, where each step is worked out anew. Run it with
``python benchmarks/explore.py [depth]``.

Where the time goes: half is the loop over states and events, a tenth the promises, the rest the steps that are worked
out. On a machine with other work only the column of processor time says anything, and only beside another run of the
same minute.

Why events that do not touch each other are tried in both orders all the same: a *partial-order reduction* goes on from
a state with some of its events alone, if no other event, now or later, meets them. Here nearly all meet: each reads who
leads, and each election, fetch and crash writes what others read. The last line of the figures says in how many states
the events that are possible fall apart at all into groups that commute with each other, two by two: in 40 % of
3,000 states drawn up to depth 7. That is only needed, and not enough: what comes later has to commute too, and a
shortest run may need an event of the group that was put off. To go on with the smallest group alone, which is not
sound, would meet 7,239 / 4,740 = 1.5 times fewer states at depth 7; so much is the most there is to gain, and it would
cost each promise its shortest run. *Sleep sets* are sound and meet every state as before; they spare events that are
tried, of which there are 6 a state left, and to know that two commute costs as much as to try one.

So what makes the states fewer here is none of these under another name: it is states that another one covers by what is
left of the limited events, parts that no promise looks at, and brokers that are interchangeable. That it changes no
answer is a law over 300 small models that are drawn, and over ten thousand with
``pytest --hypothesis-profile=ten-thousand tests/base/test_search.py -k changes_no_answer``.

Why one core: two worker processes that live as long as the search, each with half of every level, and the search that
merges what they find, were tried (130 lines). At depth 8, 9 and 10 the slower worker and the merging together took
0.60, 1.55 and 3.39 s of processor time, the search in one process 0.55, 1.33 and 2.90: 0.9 times as fast. Without any
merging it would be 1.2 times. What a search remembers of its steps is most of its speed, and each worker has to learn
nearly all of it for itself: the two together work 1.7 times as long as one. Worth its code would be 1.5 times as fast.

Why a fingerprint is the hash of a whole key: fingerprints that a step changes by the XOR of a mark for each part that
it replaces, so that a state that is known is never put together, were tried (30 lines). In four turns at depth 9 beside
other work they were 0.85, 0.99, 1.08 and 1.14 times as fast.

What is left: of 9,358 steps that are worked out to depth 8, 3,882 are fetches, and for 2,034 of these the first part
that was not seen before is what the leader knows of its followers. All followers are one part there, so that a fetch of
one is worked out again where another has fetched. If no fetch looked at it at all, 1,755 would be left.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from itertools import combinations
from time import perf_counter, process_time
from unittest.mock import patch

from kafkalearn.base.search import Model, Search, Steps, checked_steps, explore
from kafkalearn.base.tables import text_table
from kafkalearn.base.trace import Parts
from kafkalearn.replication import (
    ACKNOWLEDGED_SURVIVE,
    PROMISES,
    AlterPartitionAnswered,
    BrokerCrashed,
    BrokerStarted,
    Fetch,
    HighWatermarkCheckpointed,
    IsrChecked,
    Produce,
    SessionExpired,
    Settings,
    TimePassed,
    start,
)
from kafkalearn.replication.search import NORMALISER, alphabet, model, process_in_normal_form, split
from kafkalearn.replication.simulator import IN_ORDER, NEVER_FALLS

SETTINGS = Settings(replica_count=3, min_insync_replicas=2, fetch_wait_max_ms=0)
EVENTS = alphabet(
    SETTINGS,
    Produce(),
    Produce(acks=1),
    IsrChecked,
    AlterPartitionAnswered,
    TimePassed(30_001),
    Fetch,
    BrokerCrashed,
    BrokerStarted,
    SessionExpired,
    HighWatermarkCheckpointed,
)
LIMITS = {Produce: 3, BrokerCrashed: 2, TimePassed: 2}
# acks=1 is among the events, and loses records at once; the other promises are kept, so the search goes on.
KEPT = (IN_ORDER, NEVER_FALLS, *(name for name in PROMISES if name != ACKNOWLEDGED_SURVIVE))


def unsplit(whole: Model) -> Model:
    """The same model with one part only: the tuple of its parts."""

    def happen(parts: Parts, event: object) -> None:
        inner = Parts(parts.read(0))
        whole.happen(inner, event)
        parts.write(0, inner.all())

    promises = tuple((name, lambda parts, holds=holds: holds(Parts(parts.read(0)))) for name, holds in whole.promises)
    return Model(whole.settings, whole.step, lambda state: (whole.split(state),), happen, promises)


def with_answers(searched: Model) -> Model:
    """The same model with all that producers were answered in its states."""
    kept = searched.settings
    return replace(searched, split=partial(split, kept), happen=partial(process_in_normal_form, kept, NORMALISER))


def told_apart(steps: Steps, known_and_new: tuple[tuple[int, ...], int]) -> tuple[int, ...] | None:
    """In place of what lets a state cover another: each number of events left makes a state of its own."""
    known, new = known_and_new
    return None if new in known else (*known, new)


def fallen_apart(searched: Model, depth: int = 7, drawn: int = 3000) -> Counter[bool]:
    """In how many states the events that are possible fall apart into groups of which each two events commute."""
    steps = checked_steps(searched, start(SETTINGS), EVENTS, depth, 1, LIMITS)
    level, seen = [steps.start], {steps.start}
    for _ in range(depth):
        level = [new for key in level for _, new in steps.all_after(key) if new not in seen and not seen.add(new)]
    found: Counter[bool] = Counter()
    for key in random.Random(1).sample(sorted(seen), drawn):
        after = dict(steps.all_after(key))
        group = {index: index for index in after}
        for one, other in combinations(after, 2):
            both = steps.after_one(other, after[one])
            if both is None or both != steps.after_one(one, after[other]):
                merged = group[one]
                group = {index: group[other] if its == merged else its for index, its in group.items()}
        found[len({*group.values()}) > 1] += 1
    return found


def measured(searched: Model, depth: int, covers: bool = True) -> tuple[Search, float, float]:
    """A search, its wall time and its processor time."""
    wall, cpu = perf_counter(), process_time()
    with nullcontext() if covers else patch.object(Steps, "_cover", told_apart):
        search = explore(searched, start(SETTINGS), EVENTS, depth=depth, budget=10**7, at_most=LIMITS)
    return search, perf_counter() - wall, process_time() - cpu


def row(way: str, search: Search, wall: float, cpu: float) -> dict[str, str]:
    return {
        "way": way,
        "states": f"{search.state_count:,}",
        "events tried": f"{search.step_count:,}",
        "depth": str(search.depth),
        "seconds": f"{wall:.1f}",
        "of the processor": f"{cpu:.1f}",
        "states/s of processor time": f"{search.state_count / cpu:,.0f}",
    }


def main(depth: int = 9) -> None:
    """Measure and print."""
    searched = model(SETTINGS, KEPT)
    told = with_answers(searched)
    ways = {
        "as it is": (searched, depth),
        "with what producers were answered": (told, depth),
        "with numbers of events left, too": (told, depth, False),
        "as it is, without relabelling": (replace(searched, relabellings=()), depth),
        "as it is, every step worked out anew": (unsplit(searched), depth - 2),
    }
    print(f"three brokers, {len(EVENTS)} events, {len(KEPT)} promises, Python {sys.version.split()[0]}")
    print(text_table([row(way, *measured(*each)) for way, each in ways.items()]))
    apart = fallen_apart(searched)
    print(f"possible events fall apart into groups that commute: in {apart[True]:,} of {apart.total():,} states")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
