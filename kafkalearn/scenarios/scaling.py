"""What a scaler on Kubernetes does to a group: it counts pods by the lag, and each pod that comes or goes rebalances.

The scaler is the one that most groups have: KEDA's for Kafka, which gives the lag to the HorizontalPodAutoscaler (HPA).
Each look is played with what the looks before it have led to, so that the group's own standstill comes back as lag.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from types import MappingProxyType
from typing import Any

from kafkalearn.base.checks import Checked, one_of, whole_number
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.groups.defaults import MOST_CONSUMERS
from kafkalearn.scenarios.outcome import JOINING, Outcome
from kafkalearn.scenarios.playing import simulate

TOLERANCE = 0.1  # of the HPA: so near to what is wanted it leaves the number as it is
MOST_AT_ONCE = 4  # pods that are added in one look, or as many as there are if these are more
BEGINS_S = 60  # the group has come to rest

WAYS: Mapping[str, Mapping[str, object]] = MappingProxyType(
    {
        "eager": {"assignor": "range"},
        "cooperative": {"assignor": "cooperative-sticky"},
        "KIP-848": {"protocol": "consumer"},
    }
)
"""The ways in which the group rebalances, with what `simulate` takes for each."""


@dataclass(frozen=True, slots=True)
class Scaler(Checked):
    """How many pods there are to be, by the lag of the group.

    >>> scaler = Scaler(lag_per_pod=1500)
    >>> [scaler.wanted(lag, pods=6) for lag in (4000, 9500, 12_000)]
    [3, 6, 8]
    """

    lag_per_pod: int = 1500  # KEDA's lagThreshold
    every_s: int = 30  # from one look to the next, KEDA's pollingInterval
    down_window_s: int = 300  # HPA's stabilizationWindowSeconds for going down; going up it has none
    starts_in_s: int = 10  # a pod, until its consumer joins
    most: int = 12  # KEDA's limit: the partitions, as more would have nothing to do

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        for name in ("lag_per_pod", "every_s", "most"):
            whole_number(name, getattr(self, name), at_least=1)
        for name in ("down_window_s", "starts_in_s"):
            whole_number(name, getattr(self, name), at_least=0)
        if self.most > MOST_CONSUMERS:
            raise KafkaLearnError(f"most is the number of pods, at most {MOST_CONSUMERS}; got {self.most}")

    def wanted(self, lag: int, pods: int) -> int:
        """How many pods one look asks for: the lag by `lag_per_pod`, rounded up."""
        if abs(lag / (self.lag_per_pod * pods) - 1) <= TOLERANCE:
            return min(pods, self.most)
        return min(self.most, max(1, ceil(lag / self.lag_per_pod)))

    def decided(self, pods: int, recent: list[int]) -> int:
        """How many there will be: up at once, down only to the most that was wanted in the window; the last is now's.

        >>> scaler = Scaler()
        >>> scaler.decided(4, [2, 12]), scaler.decided(8, [7, 3]), scaler.decided(8, [9, 3])
        (8, 7, 8)
        """
        if recent[-1] > pods:
            return min(recent[-1], max(2 * pods, pods + MOST_AT_ONCE))
        return min(pods, max(recent))


@dataclass(frozen=True, slots=True)
class ScalerLook:
    """What the scaler saw, and did."""

    at_s: int
    lag: int
    pods: int  # before
    wanted: int
    decided: int


@dataclass(frozen=True, slots=True)
class Scaled:
    """A run of a group with its scaler."""

    outcome: Outcome
    looks: tuple[ScalerLook, ...]

    @property
    def row(self) -> dict[str, int]:
        """What the scaler did after its first look, and what that cost."""
        joining = [
            each for each in self.outcome.activity if each["doing"] == JOINING and each["to_ms"] > 1000 * BEGINS_S
        ]
        return {
            "pods changed": sum(each.decided != each.pods for each in self.looks),
            "rebalances": sum(each["from_ms"] >= 1000 * BEGINS_S for each in self.outcome.rebalances),
            "members waited, s": round(sum(each["to_ms"] - each["from_ms"] for each in joining) / 1000),
            "most lag": self.outcome.most_lag,
        }


def scale(
    way: str = "eager",
    scaler: Scaler = Scaler(),
    *,
    records_per_second: int = 1000,
    read_per_second: int = 150,
    poll_s: int = 10,
    pods: int = 6,
    until_s: int = 600,
) -> Scaled:
    """Play a group on as many partitions as the scaler's most, with the pods that the scaler gives it.

    Parameters
    ----------
    way : str
        How the group rebalances, a name in `WAYS`.
    scaler : Scaler
        It begins to look after a minute.
    records_per_second, read_per_second : int
        What is written in all, and what one pod reads at most.
    poll_s : int
        How long each poll of a pod takes.
    pods : int
        How many there are at the start.
    until_s : int
        When the run ends.

    Raises
    ------
    KafkaLearnError
        If the way is unknown, or a number makes no sense.

    Examples
    --------
    >>> hasty, patient = (scale("KIP-848", Scaler(down_window_s=each), until_s=300) for each in (0, 300))
    >>> hasty.row["pods changed"] > patient.row["pods changed"]
    True

    References
    ----------
    KEDA's scaler "Apache Kafka"; Kubernetes, HorizontalPodAutoscaler v2, its default behavior.
    """
    settings: Mapping[str, Any] = WAYS[one_of("way", way, WAYS)]
    whole_number("pods", pods, at_least=1, at_most=scaler.most)
    whole_number("until_s", until_s, at_least=BEGINS_S, at_most=3600)
    story = [
        f"topic orders has {scaler.most} partitions",
        f"records arrive at {records_per_second} a second",
        f"each member reads {read_per_second} a second",
        f"at 0 s: c1 to c{pods} join" if pods > 1 else "at 0 s: c1 joins",
    ]

    def played(lines: list[str], end_s: int) -> Outcome:
        return simulate("\n".join([*lines, f"the end is at {end_s} s"]), processing_ms=1000 * poll_s, **settings)

    looks: list[ScalerLook] = []
    for at_s in range(BEGINS_S, until_s, scaler.every_s):
        lag = played(story, at_s).lag_at_end
        wanted = scaler.wanted(lag, pods)
        recent = [each.wanted for each in looks if each.at_s >= at_s - scaler.down_window_s]
        decided = scaler.decided(pods, [*recent, wanted])
        looks.append(ScalerLook(at_s, lag, pods, wanted, decided))
        story += [f"at {at_s + scaler.starts_in_s} s: c{each} joins" for each in range(pods + 1, decided + 1)]
        story += [f"at {at_s} s: c{each} leaves" for each in range(decided + 1, pods + 1)]
        pods = decided
    return Scaled(played(story, until_s), tuple(looks))
