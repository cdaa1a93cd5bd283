"""One step of a consumer of the old kinds: what a broker does, or what the consumer does by its rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Never, Protocol, TypeAlias, TypeVar

from kafkalearn.errors import no_event
from kafkalearn.zookeeper.fetching.cluster import BROKER_EVENTS, Cluster, after


class OnCluster(Protocol):
    """A state of which the brokers are a part."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def cluster(self) -> Cluster:
        """The partitions on their brokers."""
        ...


ItsSettings = TypeVar("ItsSettings")
State = TypeVar("State", bound=OnCluster)
Rules: TypeAlias = Mapping[type, Callable[[ItsSettings, State, Never], State]]  # each takes events of its class alone


def step_by(rules: Rules[ItsSettings, State], settings: ItsSettings, state: State, event: object) -> State:
    """The state after `event`: the cluster's own, or by that of the `rules` which is for its class.

    Raises
    ------
    IllegalEvent
        If there is no rule for it, or the rule refuses it.
    """
    if isinstance(event, BROKER_EVENTS):
        cluster, effects = after(state.cluster, event)
        return replace(state, cluster=cluster, effects=effects)
    rule: Callable[[ItsSettings, State, Any], State] | None = rules.get(type(event))
    if rule is None:
        raise no_event(event, (*rules, *BROKER_EVENTS))
    return rule(settings, replace(state, effects=()), event)
