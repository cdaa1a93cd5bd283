"""What of somebody else's cluster decides how its groups can be asked: the settings it tells, the requests it takes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from kafkalearn.live.conform.mechanism import CannotBeAsked
from kafkalearn.live.errors import Refused
from kafkalearn.live.requests.apis import APIS
from kafkalearn.phrases import listed


@dataclass(frozen=True)
class Limits:
    """The limits and timers of a cluster, and what it can be asked.

    Parameters
    ----------
    settings : mapping of str to object
        The settings of its brokers by Kafka's names; what is not in it has its default.
    versions : mapping of str to int
        The newest version of each request that the cluster and we know; a request that is not in it is not taken.

    Examples
    --------
    >>> limits = Limits({"group.max.size": "3"}, {"JoinGroup": 6, "LeaveGroup": 2})
    >>> limits.numbers(["group.max.size", "group.min.session.timeout.ms"])
    {'group.max.size': 3}
    >>> limits.takes("JoinGroup", 9), limits.newest("JoinGroup", 9)
    (False, 6)
    """

    settings: Mapping[str, object] = field(default_factory=dict)
    versions: Mapping[str, int] = field(default_factory=lambda: {name: api.newest for name, api in APIS.items()})

    def numbers(self, names: Iterable[str]) -> dict[str, int]:
        """Those of the settings that are known, as numbers."""
        return {name: int(str(self.settings[name])) for name in names if name in self.settings}

    def takes(self, request: str, version: int = 0) -> bool:
        """Whether a request is taken in this version."""
        return self.versions.get(request, -1) >= version

    def newest(self, request: str, at_most: int) -> int:
        """The newest version of a request, but not above one."""
        return min(self.versions.get(request, -1), at_most)

    def require(self, versions: Mapping[str, int]) -> None:
        """Pass in silence if all of these requests are taken, each in this version at least.

        Raises
        ------
        CannotBeAsked
            Names those that are not.
        """
        missing = [
            f"{name} from version {version} on" for name, version in versions.items() if not self.takes(name, version)
        ]
        if missing:
            raise CannotBeAsked(f"it does not take {listed(missing, last='or')}")


OWN = Limits()
"""Of a broker that knows every request that we know, and whose settings are given another way."""


def limits_of(cluster: Any) -> Limits:
    """The limits of a cluster; where its brokers tell no settings, the defaults of the release have to do."""
    broker = min(cluster.metadata().addresses)
    versions = {
        name: cluster.version(broker, name, api.newest) for name, api in APIS.items() if cluster.knows(broker, name)
    }
    try:
        return Limits(cluster.broker_settings(broker) if cluster.knows(broker, "DescribeConfigs") else {}, versions)
    except Refused:  # who may write to topics may not always see settings
        return Limits({}, versions)
