"""Which release follows which rule of replication: the whole history, as data.

Twelve years have changed nearly every rule of the protocol, most of them after a record was lost somewhere. `Rules`
has a field for each change, `rules_of` reads the table below it. To see what one change is good for, take the rules of
a release and turn back that one: ``replace(rules_of("4.3"), truncation="high watermark")``.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cache
from types import MappingProxyType
from typing import Any

from kafkalearn.arguments import one_of
from kafkalearn.fields import Checked
from kafkalearn.versions.releases import DEFAULT_RELEASE, Release, at_least, release_line

TRUNCATIONS: MappingProxyType[str, str] = MappingProxyType(
    {
        "high watermark": "0.8.2 to 0.10.2: a new follower cuts its log to its own high watermark",
        "epoch, asked once": "0.11 and 1.x, KIP-101: it asks the leader where its newest epoch ends, and cuts there",
        "epoch, asked again": "2.0 to 2.7, KIP-279: it asks until leader and follower speak of the same epoch",
        "epoch, in the fetch": "since 2.8, KIP-595: a fetch carries its newest epoch, the leader says where they part",
    }
)
"""How a follower finds where its log parts from the leader's, by name."""

LAG_TESTS: MappingProxyType[str, str] = MappingProxyType(
    {
        "time or records": "0.8.2: silent for replica.lag.time.max.ms, or replica.lag.max.messages records behind",
        "time": "0.9 to 2.0: not caught up for replica.lag.time.max.ms",
        "time, unless at the end": "since 2.1: the same, but one that has all the leader has is never removed",
    }
)
"""What takes a follower out of the ISR, by name."""

REASSIGNMENT_ENDS: MappingProxyType[str, str] = MappingProxyType(
    {
        "new in sync": "up to 3.7: every replica that is added is in sync",
        "all in sync": "3.8 to 4.2, KAFKA-15665: every replica there is to be is in sync, new and old",
        "new in sync, all if fewer": "since 4.3: as up to 3.7; where more replicas go than come, all are to be in sync",
    }
)
"""Who has to be in sync for a reassignment to end, by name; one that stays has to be, in any case."""


@dataclass(frozen=True, slots=True)
class Rules(Checked):
    """How one release replicates; each field is one change in the protocol's history."""

    truncation: str  # a name in TRUNCATIONS
    lag_test: str  # a name in LAG_TESTS
    has_leader_epochs: bool  # batches carry the epoch of their leader, and replicas keep a cache of epochs
    fences_fetches: bool  # a fetch carries the epoch its sender knows, and an old or new one is refused
    counts_previous_fetch: bool  # one append behind is caught up too, as of the fetch before
    high_watermark_waits_for_caught_up: bool  # also for replicas outside the ISR
    high_watermark_ignores_ineligible: bool  # but not for one that is fenced
    is_frozen_under_min_isr: bool  # the high watermark stands while the ISR is too small
    asks_controller: bool  # ISR changes are proposed to the controller; before, the leader wrote them itself
    joins_from_epoch_start: bool  # a follower must have reached the start of the leader's epoch to join the ISR
    joins_only_eligible: bool  # a fenced follower may not join
    answers_new_high_watermark: bool  # an empty fetch is answered as soon as the high watermark has moved
    halts_beyond_leader: bool  # a follower ahead of its leader stops its broker, unless unclean election is allowed
    notices_restarts: bool  # a follower that was gone too shortly to be missed leaves the ISR all the same
    has_eligible_leader_replicas: bool  # for new clusters; 4.0 has them switched off
    reassignment_end: str  # a name in REASSIGNMENT_ENDS

    @property
    def cuts_before_fetching(self) -> bool:
        """Whether a new follower first asks its leader where to cut its log (0.11 to 2.7)."""
        return self.truncation in ("epoch, asked once", "epoch, asked again")


# For each field: the values it has had, each with the first release that has it.
_HISTORY: MappingProxyType[str, tuple[tuple[str, str | bool], ...]] = MappingProxyType(
    {
        "truncation": tuple(zip(("0.8.2", "0.11.0", "2.0", "2.8"), TRUNCATIONS, strict=True)),
        "lag_test": tuple(zip(("0.8.2", "0.9.0", "2.1"), LAG_TESTS, strict=True)),
        "has_leader_epochs": (("0.8.2", False), ("0.11.0", True)),
        "fences_fetches": (("0.8.2", False), ("2.1", True)),
        "counts_previous_fetch": (("0.8.2", False), ("0.10.2", True)),
        "high_watermark_waits_for_caught_up": (("0.8.2", False), ("0.10.2", True)),
        "high_watermark_ignores_ineligible": (("0.8.2", False), ("3.6", True)),
        "is_frozen_under_min_isr": (("0.8.2", False), ("3.7", True)),
        "asks_controller": (("0.8.2", False), ("2.7", True)),
        "joins_from_epoch_start": (("0.8.2", False), ("2.0", True)),
        "joins_only_eligible": (("0.8.2", False), ("3.3", True)),
        "answers_new_high_watermark": (("0.8.2", False), ("2.4", True), ("2.6", False)),
        "halts_beyond_leader": (("0.8.2", True), ("0.11.0", False)),
        "notices_restarts": (("0.8.2", False), ("2.2", True)),
        "has_eligible_leader_replicas": (("0.8.2", False), ("4.1", True)),
        "reassignment_end": tuple(zip(("0.8.2", "3.8", "4.3"), REASSIGNMENT_ENDS, strict=True)),
    }
)


def rules_of(release: str | Release = DEFAULT_RELEASE) -> Rules:
    """How the brokers and the controller of a release replicate.

    Parameters
    ----------
    release : str
        A release line or a patch of one; without one, Kafka 4.3.

    Returns
    -------
    Rules
        Made of plain values: ``dataclasses.replace`` mixes the eras.

    Raises
    ------
    KafkaLearnError
        If the release is not known.

    Examples
    --------
    >>> rules_of("0.10.2").truncation, rules_of("0.11.0").truncation, rules_of().truncation
    ('high watermark', 'epoch, asked once', 'epoch, in the fetch')

    References
    ----------
    KIP-16 (0.9), KIP-101 (0.11), KIP-279 (2.0), KIP-320 (2.1), KAFKA-1120 (2.2), KAFKA-8443 and KAFKA-9952 (2.4,
    2.6), KIP-497 (2.7), KIP-595 (2.8), KIP-841 (3.3), KAFKA-15583 (3.7), KAFKA-15665 (3.8), KIP-966 (4.1).
    """
    release_line(release)
    return _rules_of(release)


@cache
def _rules_of(release: str | Release) -> Rules:
    values: dict[str, Any] = {name: _value(history, release) for name, history in _HISTORY.items()}
    return Rules(**values)  # it checks them


def _value(history: tuple[tuple[str, str | bool], ...], release: str | Release) -> str | bool:
    return [value for since, value in history if at_least(since, release)][-1]


def changes_of_rules() -> tuple[tuple[str, str, str | bool], ...]:
    """Every change as (release, field of `Rules`, new value), oldest first; the rules of 0.8.2 are left out.

    >>> changes_of_rules()[-1]
    ('4.3', 'reassignment_end', 'new in sync, all if fewer')
    """
    named = [(since, name, value) for name, history in _HISTORY.items() for since, value in history[1:]]
    return tuple(sorted(named, key=lambda change: tuple(map(int, change[0].split(".")))))


def refuse_unknown_names(rules: Rules) -> None:
    """Pass in silence if `rules` names a truncation, a lag test and an end of reassignments that exist."""
    known_names = {"truncation": TRUNCATIONS, "lag_test": LAG_TESTS, "reassignment_end": REASSIGNMENT_ENDS}
    for name, known in known_names.items():
        one_of(name.replace("_", " "), getattr(rules, name), known)


assert set(_HISTORY) == {field.name for field in fields(Rules)}, "every rule has its history"
