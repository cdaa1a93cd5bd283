"""The game of chapter 07: an offset goes while its group is consuming, as up to 2.0."""

from __future__ import annotations

from kafkalearn.exercises.kit.exercise import Exercise, Misconception
from kafkalearn.exercises.kit.game import Game
from kafkalearn.offsets import Member
from kafkalearn.offsets.store import Commit, DeleteOffset, Settings, StoreGroup, Sweep, start, step
from kafkalearn.offsets.store.promises import OFFSET_KEPT, broken

_DAY_MS = 86_400_000
_STORE = Settings("2.0")
_MEMBER = Member("billing-1", subscribed=("orders",))
_GAME = Game(
    step,
    broken,
    _STORE,
    start(_STORE),
    OFFSET_KEPT,
    {
        "billing joins": StoreGroup("billing", 1, 0, (_MEMBER,), protocol="range", leader="billing-1"),
        "billing commits": Commit("billing", "orders", 0, 7, 0, member_id="billing-1", generation=1),
        "a sweep after 1 day": Sweep(_DAY_MS),
        "billing leaves": StoreGroup("billing", 2, 0),
        "a sweep after 8 days": Sweep(8 * _DAY_MS),
        "somebody deletes the offset": DeleteOffset("billing", "orders", 0),
    },
    "billing joins > billing commits > a sweep after 8 days",
)

gone_while_consuming = Exercise(
    name="gone_while_consuming",
    asks=(
        f"A game with a coordinator of Kafka 2.0. Users hope that *{_GAME.promise}*. Break that promise; **par "
        f"{_GAME.par}**. The moves: {_GAME.table()}. All but the sweeps happen at time 0. Give a line with `>` between "
        "the moves."
    ),
    start='run = ""  # moves with > between them\nexercises.gone_while_consuming.check(run)',
    judge=_GAME,
    solve=lambda: _GAME.best,
    hints=(
        "The promise is about a group that is still there: who must not leave?",
        "In 2.0 the retention is seven days, and it counts from the commit.",
    ),
    reasoning=(
        f"`{_GAME.best}`. Up to 2.0 a sweep compared only the time of the commit with the retention. A partition into "
        "which nothing is written for a week gets no new commits from a consumer that commits by hand, so its offset "
        "went, though the consumer was there all the time. Since 2.1 (KIP-211) the same moves break nothing."
    ),
    misconceptions=(
        Misconception(
            "billing joins > billing commits > a sweep after 1 day",
            "One day was the default up to 1.1; here it is more.",
        ),
        Misconception(
            "billing joins > billing commits > billing leaves > a sweep after 8 days",
            "A group that has left does not consume any more, so this is no broken promise. Let it stay.",
        ),
    ),
    moral="A quiet partition is what old brokers forgot first.",
)
