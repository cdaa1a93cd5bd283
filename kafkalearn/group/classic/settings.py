"""What stays the same while a broker coordinates a group: its settings, and the rules of its release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

from kafkalearn.arguments import LARGEST_INT, fill_in, one_of, whole_number
from kafkalearn.errors import KafkaLearnError
from kafkalearn.fields import NOT_GIVEN, FilledIn
from kafkalearn.group.defaults import default_of
from kafkalearn.versions.releases import DEFAULT_RELEASE, at_least, parse_release


@dataclass(frozen=True, slots=True)
class Rules:
    """What releases do differently. The Java coordinator took over in 4.0; before, it was Scala's."""

    is_java: bool
    has_empty: bool  # 0.9 and 0.10.0 drop a group without members
    has_initial_delay: bool
    has_static_members: bool
    needs_member_id: bool  # KIP-394
    new_members_expire: bool
    heartbeat_counts_in_completing: bool
    sync_expires: bool
    has_skip_assignment: bool


@cache
def rules_of(release: str) -> Rules:
    """The rules of a release.

    >>> rules_of("2.1").needs_member_id, rules_of("2.2").needs_member_id
    (False, True)
    """
    return Rules(
        is_java=at_least("4.0", release),
        has_empty=at_least("0.10.1", release),
        has_initial_delay=at_least("0.11.0", release),
        has_static_members=at_least("2.3", release),
        needs_member_id=at_least("2.2", release),
        new_members_expire=at_least("2.1", release),
        heartbeat_counts_in_completing=at_least("2.6.1", release),
        sync_expires=at_least("2.8.1", release),
        has_skip_assignment=at_least("3.2", release),
    )


NAMES = {
    "group_initial_rebalance_delay_ms": ("group.initial.rebalance.delay.ms", 0),
    "group_min_session_timeout_ms": ("group.min.session.timeout.ms", 0),
    "group_max_session_timeout_ms": ("group.max.session.timeout.ms", 1),
    "group_max_size": ("group.max.size", 1),
}
"""Each field of `Settings` with Kafka's name for it, and the least it can be."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The broker's side. Without a value, each is the release's default.

    Parameters
    ----------
    release : str
        Of the broker; without one, Kafka 4.3.
    group_initial_rebalance_delay_ms : int
        How long a group that was empty waits for more members; none before 0.11.
    group_min_session_timeout_ms, group_max_session_timeout_ms : int
        A member may ask for these and all between.
    group_max_size : int
        Most members (since 2.2).

    Examples
    --------
    >>> Settings().group_initial_rebalance_delay_ms, Settings("0.10.2").group_initial_rebalance_delay_ms
    (3000, 0)
    """

    release: str = DEFAULT_RELEASE
    group_initial_rebalance_delay_ms: FilledIn[int] = NOT_GIVEN
    group_min_session_timeout_ms: FilledIn[int] = NOT_GIVEN
    group_max_session_timeout_ms: FilledIn[int] = NOT_GIVEN
    group_max_size: FilledIn[int] = NOT_GIVEN
    rules: Rules = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Fill in the defaults, refuse what no broker starts with."""
        parse_release(self.release)
        object.__setattr__(self, "rules", rules_of(self.release))
        fill_in(self, **{name: default_of(setting, self.release, "broker") for name, (setting, _) in NAMES.items()})
        for name, (setting, least) in NAMES.items():
            whole_number(setting, getattr(self, name), at_least=least, at_most=LARGEST_INT)
        if self.group_min_session_timeout_ms > self.group_max_session_timeout_ms:
            raise KafkaLearnError(
                f"group.min.session.timeout.ms ({self.group_min_session_timeout_ms}) is above "
                f"group.max.session.timeout.ms ({self.group_max_session_timeout_ms}): no session would be allowed"
            )


def broker_settings(release: str = DEFAULT_RELEASE, values: Mapping[str, int] | None = None) -> Settings:
    """The settings of a broker from Kafka's own names.

    >>> broker_settings("3.9", {"group.initial.rebalance.delay.ms": 0}).group_initial_rebalance_delay_ms
    0
    """
    fields = {setting: name for name, (setting, _) in NAMES.items()}
    for setting in values or {}:
        one_of("setting of the coordinator", setting, fields)
    return Settings(release, **{fields[setting]: value for setting, value in (values or {}).items()})
