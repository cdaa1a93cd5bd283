"""The simulator of an old consumer's fetch pipeline: which event leads to which rule."""

from __future__ import annotations

from collections.abc import Iterable

from kafkalearn.trace import Trace, run
from kafkalearn.zookeeper.fetching import connecting, events, fetcher_threads, iterating, leader_finding
from kafkalearn.zookeeper.fetching.events import FetchingEvent
from kafkalearn.zookeeper.fetching.settings import Settings
from kafkalearn.zookeeper.fetching.state import Pipeline, start
from kafkalearn.zookeeper.fetching.stepping import Rules, step_by

_RULES: Rules[Settings, Pipeline] = {
    events.StartConnections: connecting.start_connections,
    events.StopConnections: connecting.stop_connections,
    events.Shutdown: connecting.shut_down,
    events.CommitOffsets: connecting.commit_offsets,
    events.FindLeaders: leader_finding.find_leaders,
    events.Fetch: fetcher_threads.fetch,
    events.Next: iterating.next_record,
}


def step(settings: Settings, state: Pipeline, event: FetchingEvent) -> Pipeline:
    """The state after `event`; its ``effects`` are what happened, in order.

    Raises
    ------
    IllegalEvent
        If the event makes no sense here: a round of a fetcher that is blocked, connections that exist already. What
        Kafka would throw at the application is an effect, `Raised`.

    Examples
    --------
    >>> from kafkalearn.zookeeper.fetching.events import Next
    >>> step(Settings(), start(Settings()), Next()).effects
    (Waited(stream=0),)

    References
    ----------
    Apache Kafka 1.1.1: ``ConsumerFetcherManager``, ``ConsumerFetcherThread``, ``AbstractFetcherManager``,
    ``AbstractFetcherThread``, ``PartitionTopicInfo``, ``ConsumerIterator``, ``ZookeeperConsumerConnector``.
    """
    return step_by(_RULES, settings, state, event)


def simulate(
    settings: Settings, events: Iterable[FetchingEvent], initial: Pipeline | None = None
) -> Trace[Pipeline, FetchingEvent]:
    """A run of the pipeline from `initial`, or from a consumer that owns nothing yet.

    Examples
    --------
    >>> from kafkalearn.zookeeper.fetching.events import Append, Assigned, Fetch, FindLeaders, Next, StartConnections
    >>> owns = StartConnections([Assigned("orders", 0, offset=0)])
    >>> trace = simulate(Settings(), [Append("orders", 0, count=3), owns, FindLeaders(), Fetch(1), Next()])
    >>> info = trace[-1].state.registry[0]
    >>> info.fetched_offset, info.consumed_offset
    (3, 1)
    """
    return run(step, settings, start(settings) if initial is None else initial, events)
