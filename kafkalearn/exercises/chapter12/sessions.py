"""Chapter 12's bug that has to be found: a session that is longer than all tries of a rebalance."""

from __future__ import annotations

from functools import lru_cache

from kafkalearn.errors import KafkaLearnError
from kafkalearn.exercises.kit.exercise import Exercise, Misconception
from kafkalearn.exercises.kit.forms import as_settings
from kafkalearn.exercises.kit.properties import Having, Property
from kafkalearn.group.scenario.parse import scenario
from kafkalearn.zookeeper.connector import Settings
from kafkalearn.zookeeper.eras.playing import play_old_consumers

LATENCY_MS = 2
SOON_MS = 30_000
PAUSE = """
topic orders has 6 partitions
at 0 s: c1, c2, c3 join
at 60 s: c3 pauses for 12 s
at 61 s: a1 joins
the end is at 150 s
"""
CRASH = """
topic orders has 6 partitions
at 0 s: c1, c2 join
at 60 s: c2 crashes and returns after 2 s
the end is at 150 s
"""
_NAMES = {
    "zookeeper.session.timeout.ms": "zookeeper_session_timeout_ms",
    "rebalance.max.retries": "rebalance_max_retries",
    "rebalance.backoff.ms": "rebalance_backoff_ms",
}
Chosen = dict[str, int]


def settings_of(chosen: Chosen) -> Settings:
    """The settings of the group.

    Raises
    ------
    KafkaLearnError
        If one of the three is missing, or another is there, or Kafka refuses one.
    """
    if set(chosen) != set(_NAMES):
        raise KafkaLearnError(f"the settings are {', '.join(_NAMES)}, all three of them and no other")
    return Settings(**{_NAMES[name]: value for name, value in chosen.items()})


@lru_cache(maxsize=64)
def _played(story: str, settings: Settings) -> tuple[int, bool, int]:
    """How many consumers gave up, whether a session expired, and when the group came to rest for the last time."""
    outcome, protocol = play_old_consumers(scenario(story), settings, LATENCY_MS)
    causes = " ".join(row["cause"] for row in outcome.rebalances)
    return protocol.given_up_count, "expires" in causes, outcome.rebalances[-1]["to_ms"]


def survives_pause(chosen: Chosen) -> bool:
    """Whether a pause of twelve seconds ends no session.

    >>> survives_pause({"zookeeper.session.timeout.ms": 6000, "rebalance.max.retries": 4, "rebalance.backoff.ms": 2000})
    False
    """
    return not _played(PAUSE, settings_of(chosen))[1]


def nobody_gives_up(chosen: Chosen) -> bool:
    """Whether in both stories every consumer reads in the end."""
    settings = settings_of(chosen)
    return not any(_played(story, settings)[0] for story in (PAUSE, CRASH))


def is_soon_replaced(chosen: Chosen) -> bool:
    """Whether the group is at rest again soon after a consumer crashed."""
    return _played(CRASH, settings_of(chosen))[2] - 60_000 <= SOON_MS


def _has_too_few_tries(chosen: object) -> bool:
    """Whether all tries are over before a session can be; of settings that can be played."""
    formed = as_settings(chosen)
    tries_ms = formed["rebalance.max.retries"] * formed["rebalance.backoff.ms"]
    return tries_ms <= formed["zookeeper.session.timeout.ms"] and not nobody_gives_up(formed)


patient_settings = Exercise(
    name="patient_settings",
    asks=(
        "**Find the bug.** The shop's old group runs with `zookeeper.session.timeout.ms=30000`, "
        "`rebalance.max.retries=4`, `rebalance.backoff.ms=2000`. Give better values for the three, so that\n\n"
        "1. a consumer may stand still for 12 seconds, while another one joins, and its session does not end,\n"
        "2. nobody gives up, neither then nor when a consumer crashes and is started again two seconds later,\n"
        "3. after such a crash the whole group reads again within 30 seconds.\n\n"
        "Six partitions, three consumers. (Both stories are played; ZooKeeper's tick is 2 s, a third of the timeout "
        "lies between two signs of life.)"
    ),
    start=(
        "values = {\n" + "".join(f'    "{name}": ...,\n' for name in _NAMES) + "}\n"
        "exercises.patient_settings.check(values)"
    ),
    judge=Having(
        {},
        (
            Property(
                survives_pause, lambda chosen: "A pause of twelve seconds ends a session: two consumers read the same."
            ),
            Property(nobody_gives_up, lambda chosen: "A consumer gives up, and lives on without reading anything."),
            Property(
                is_soon_replaced, lambda chosen: "After a crash it takes longer than half a minute until all is read."
            ),
        ),
        form=as_settings,
    ),
    solve=lambda: {
        "zookeeper.session.timeout.ms": 20_000,
        "rebalance.max.retries": 15,
        "rebalance.backoff.ms": 2_000,
    },
    hints=(
        "Three clocks: the pause, the session, and all tries with their pauses. In which order must they run out?",
        "The last sign of life may be a third of the timeout old when the pause begins.",
        "Tries times backoff must be longer than the session and a tick; and the session shorter than half a minute.",
    ),
    reasoning=(
        "The pause must fit into the session, also when the last sign of life is a third of it old: 12 s and 6.7 s are "
        "less than 20 s. A crashed consumer's nodes stay until its session is over, up to 22 s later; whoever is to "
        "get its partitions must still be trying then: 15 tries of 2 s are 30 s. And 22 s, with the try after it, is "
        "within half a minute.\n\n"
        "The bug was 4 × 2 s = 8 s of tries against 30 s of session. Kafka's FAQ had the rule: `rebalance.max.retries "
        "* rebalance.backoff.ms` must be larger than `zookeeper.session.timeout.ms`."
    ),
    misconceptions=(
        Misconception(
            {
                "zookeeper.session.timeout.ms": 25_000,
                "rebalance.max.retries": 4,
                "rebalance.backoff.ms": 2000,
            },
            "All tries are over before the session is: who waits for somebody dead or asleep gives up too early.",
            _has_too_few_tries,
        ),
        Misconception(
            {
                "zookeeper.session.timeout.ms": 10_000,
                "rebalance.max.retries": 15,
                "rebalance.backoff.ms": 2000,
            },
            "The session counts from the last sign of life, and that may be some seconds old when the pause begins.",
            lambda chosen: not survives_pause(as_settings(chosen)),
        ),
        Misconception(
            {
                "zookeeper.session.timeout.ms": 40_000,
                "rebalance.max.retries": 40,
                "rebalance.backoff.ms": 2000,
            },
            "A long session keeps the nodes of the dead as well: nobody can have their partitions until it ends.",
            lambda chosen: not is_soon_replaced(as_settings(chosen)),
        ),
    ),
    moral="Settings that are compared with each other by nobody have to be compared by you.",
)
