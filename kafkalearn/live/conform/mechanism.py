"""A kind of question that both a broker and a simulator can answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from kafkalearn.errors import KafkaLearnError

Case = Mapping[str, Any]
"""One question, whole: a dict of what JSON can hold, so that it can be kept and asked again."""

Answer = Any
"""What came of a case, of what JSON can hold; two answers are the same if they are equal."""


@dataclass(frozen=True)
class Mechanism:
    """A kind of question, and how a broker and the simulator are asked.

    Parameters
    ----------
    name : str
        In words, as ``"classic groups"``.
    rules : tuple of str
        The rules of the ledger that it holds to a broker, by their names.
    cases : callable
        ``cases(release)``: a Hypothesis strategy of cases, for ``"4.3"`` and the like.
    ask : callable
        ``ask(kafka, case, new_name)``: the broker's answer. `new_name(kind)` names topics and groups that nobody has
        had before; `kafka` is a `kafkalearn.live.Kafka` with the `settings` below, or, where `only_requests`, any
        cluster that may be written to.
    say : callable
        ``say(release, case, seen)``: the simulator's answer, of the same form. It may read from the broker's answer
        what only the broker can know (ids and times that it drew), and nothing else.
    settings : mapping
        What `kafkalearn.live.Kafka` is started with: ``brokers``, ``config``, ``has_eligible_leader_replicas``. With
        ``brokers`` 0 none is started: then `ask` gets the `Release` alone, whose classes it runs.
    only_requests : bool
        Whether requests over the network are all it needs: then any broker can be asked, one's disk cannot.
    tries : int
        How often a case is asked before a difference counts: more than once where timers of the broker may interfere.
    fit : callable or None
        ``fit(cluster)``: the same questions with the limits and timers of a cluster that somebody else has set up, for
        a mechanism that wants `settings` of its own otherwise. It raises `CannotBeAsked` where there are none.
    """

    name: str
    rules: tuple[str, ...]
    cases: Callable[[str], Any]
    ask: Callable[[Any, Case, Callable[[str], str]], Answer]
    say: Callable[[str, Case, Answer], Answer]
    settings: Mapping[str, Any] = field(default_factory=dict)
    only_requests: bool = False
    tries: int = 1
    fit: Callable[[Any], Mechanism] | None = None

    @property
    def is_for_any_cluster(self) -> bool:
        """Whether a cluster that somebody else has set up can be asked."""
        return self.only_requests or self.fit is not None

    def fitted(self, cluster: Any) -> Mechanism:
        """As a cluster that somebody else has set up can be asked."""
        return self if self.fit is None else self.fit(cluster)


class CannotBeAsked(KafkaLearnError):  # noqa: N818  (named for what it is, as IllegalEvent is)
    """This cluster cannot be asked such a question at all; the message says why."""


class TooSlow(KafkaLearnError):  # noqa: N818
    """The machine was too slow for a case to mean anything; it is passed over, and counted."""
