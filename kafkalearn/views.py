"""Traces and counts as pictures: what a notebook needs by name.

- `play` steps through a trace; `animate` draws a whole run of any simulator for it, and `animation` with a function of
  your own; `vary` adds controls to it or to a picture,
  `slider` is one of them whose values have words; `save` writes any of them as SVG, PNG or GIF.
- `touch` lets the reader play by hand: what is clicked in a picture happens; `board_named` has the pictures of the
  chapters for it, and their games (`kafkalearn.drawing.touching` makes others).
- `draw_lookup`, `draw_key`, `draw_keyless`, `draw_offsets_topic` draw; `describe_lookup` and `describe_keyless` say the
  same in a sentence, `lookup_text` and `keyless_text` in plain text.
- `figure` and `small_multiples` with `draw_counts`, `draw_broker_load`, `draw_share_moved`, `draw_skew` show
  statistics over many rows.
- `draw_replication`, `describe_replication` and `replication_text` show a partition on its brokers; `draw_hw_leo` and
  `draw_lag` its marks over a run, and how far followers lag.
- `draw_log`, `describe_log` and `log_text` show a log and its cleaner; `draw_crossing`, `describe_crossing` and
  `crossing_text` a reader on its way through one; `draw_survivors` what a pass has left of each part.
- `draw_wheels`, `draw_purgatory` and `draw_requests`, each with its `describe_` and its text, show timers, watch
  lists, and who waits for a partition; `draw_waiting` how many wait over time.
- `draw_commits`, `describe_commits` and `commits_text` show a group that reads a partition, what it commits and what a
  crash costs; `draw_commit_costs` commits against duplicates, by strategy.
- `draw_assignment` and `draw_rebalance` show who has which partition, and a rebalance moment by moment, each with its
  `describe_` and its text; `draw_measures` what a change costs by each assignor, `draw_shares` how often which share.
- `draw_group`, `describe_group` and `group_text` show a consumer group in a scenario, moment by moment; `draw_timeline`
  the whole scenario, `draw_group_states` the states of a classic group and every way between them; `draw_epochs` a
  KIP-848 group heartbeat by heartbeat, `draw_mixed` and `draw_pods` one that changes its protocol.
- `draw_consuming`, `describe_consuming` and `consuming_text` show a topic and what its groups have read of it;
  `draw_lag_by_partition` and `draw_lag_over_time` how far they are behind. `draw_push`, `describe_push` and
  `push_text` show the same records pulled from a log and pushed from queues.
- `draw_record_bytes` and `describe_record_bytes` show a record of the offsets topic byte by byte (`record_bytes` takes
  it apart, `record_bytes_text` is all of it); `draw_store`, `describe_store`, `store_text` its coordinator's store;
  `draw_commit_path`, `describe_commit_path` and `commit_path_text` the brokers of its partition.
- `draw_delivery`, `describe_delivery` and `delivery_text` show a producer in front of its partition; `draw_results`
  what can happen to a record under every setting.
- `draw_transactions`, `describe_transactions` and `transactions_text` show a transaction coordinator, partitions with
  their last stable offsets, and the offsets of groups.
- `draw_zookeeper`, `describe_zookeeper` and `zookeeper_text` show a group of old consumers and its ZooKeeper;
  `draw_fetching` and `describe_fetching` its fetch pipeline; `draw_offset_stores` and `describe_offset_stores` where it
  commits, and which store a start believes; `draw_simple_consumer` and `describe_simple_consumer` an application that
  does all this by hand; `draw_eras` one scenario in several eras.
- `draw_leadership` shows who leads in a cluster, `draw_truncation` a log that is cut under its readers, each with its
  `describe_` and its text; `draw_load` what dead brokers leave to others, `draw_moves` what a plan copies.
  `draw_failover` shows a coordinator's death second by second, `draw_coordinator_life` what each broker is to its
  partition, `draw_load_times` how long loads take.
- `progress_bar` is for jobs that take seconds.

This is the only place that imports matplotlib, ipywidgets and anywidget; each name loads only what it needs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from inspect import signature
from itertools import takewhile
from typing import Any, get_args, get_type_hints

from kafkalearn.base.errors import KafkaLearnError, listed, require, shown
from kafkalearn.base.trace import Frame
from kafkalearn.drawing import player

_NAMES_OF = {
    "boards": "board_named",
    "assignors.picture": (
        "assignment_text describe_assignment describe_rebalance draw_assignment draw_rebalance rebalance_text"
    ),
    "commits.picture": "commits_text describe_commits draw_commits",
    "consuming.picture": "consuming_text describe_consuming draw_consuming",
    "consuming.push_picture": "describe_push draw_push push_text",
    "consuming.truncation_picture": "describe_truncation draw_truncation truncation_text",
    "coordinator.picture": "draw_lookup draw_offsets_topic",
    "coordinator.words": "describe_lookup lookup_text",
    "delivery.picture": "delivery_text describe_delivery draw_delivery",
    "drawing.controls": "slider",
    "drawing.figures": "Drawing draw_broker_load draw_counts draw_share_moved draw_skew figure small_multiples",
    "drawing.group_figures": "draw_commit_costs draw_lag_by_partition draw_lag_over_time draw_measures draw_shares",
    "drawing.log_figures": "draw_hw_leo draw_lag draw_results draw_survivors draw_waiting",
    "drawing.player": "Animation Picture animation",
    "drawing.saving": "save",
    "drawing.widgets": "Player Varied play progress_bar touch vary",
    "groups.epochs_picture": "describe_epochs draw_epochs",
    "groups.mixed_picture": "describe_mixed describe_pods draw_mixed draw_pods",
    "groups.picture": "describe_group draw_group group_text",
    "groups.timeline_picture": "draw_group_states draw_timeline",
    "log.picture": "crossing_text describe_crossing draw_crossing draw_log",
    "log.words": "describe_log log_text",
    "offsets.record_picture": "describe_record_bytes draw_record_bytes record_bytes record_bytes_text",
    "offsets.replicated_picture": "commit_path_text describe_commit_path draw_commit_path",
    "offsets.store_picture": "describe_store draw_store store_text",
    "operations.coordinator_life.picture": "describe_coordinator_life draw_coordinator_life",
    "operations.failover_picture": "describe_failover draw_failover draw_load_times failover_text",
    "operations.leadership_picture": "describe_leadership draw_leadership draw_load draw_moves leadership_text",
    "partitioning.picture": "describe_keyless draw_key draw_keyless keyless_text",
    "purgatory.picture": (
        "describe_purgatory describe_requests draw_purgatory draw_requests purgatory_text requests_text"
    ),
    "purgatory.wheel_picture": "describe_wheels draw_wheels wheels_text",
    "replication.picture": "draw_replication",
    "replication.words": "describe_replication replication_text",
    "transactions.picture": "describe_transactions draw_transactions transactions_text",
    "zookeeper.commits_picture": "describe_offset_stores draw_offset_stores",
    "zookeeper.eras_picture": "draw_eras",
    "zookeeper.fetching_picture": "describe_fetching draw_fetching",
    "zookeeper.picture": "describe_zookeeper draw_zookeeper zookeeper_text",
    "zookeeper.simple_consumer_picture": "describe_simple_consumer draw_simple_consumer",
}
"""The names that a notebook needs, by the module that has them."""

_MODULE_OF = {name: module for module, names in _NAMES_OF.items() for name in names.split()}

__all__ = sorted([*_MODULE_OF, "animate"])


def __getattr__(name: str) -> Any:
    """The public name, from the module that defines it, loaded now: matplotlib alone takes a second."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if _MODULE_OF[name].endswith("figures"):
        require(f"{__name__}.{name}", "matplotlib")
    if name == "save":
        require(f"{__name__}.{name}", "matplotlib", "resvg_py")
    return getattr(import_module(f"kafkalearn.{_MODULE_OF[name]}"), name)


def __dir__() -> list[str]:
    """The public names, for completion."""
    return __all__


# A whole run of any simulator: which picture it has is known by the class of its states.

_STATES = {
    "commit_path": "offsets.replicated.ReplicatedStore",
    "commits": "commits.model.Pipeline",
    "consuming": "consuming.simulator.Topic",
    "coordinator_life": "operations.coordinator_life.model.Life",
    "crossing": "log.reader.Crossing",
    "delivery": "delivery.model.Delivery",
    "epochs": "groups.consumer.state.Group",
    "failover": "operations.failover.Failover",
    "fetching": "zookeeper.fetching.model.Pipeline",
    "group": "scenarios.consumers.Moment",
    "keyless": "partitioning.keyless.Producer",
    "leadership": "operations.leadership.Cluster",
    "log": "log.model.Log",
    "lookup": "coordinator.lookup.Lookup",
    "mixed": "groups.mixed.model.Group",
    "offset_stores": "zookeeper.commits.model.OldGroup",
    "pods": "groups.mixed.pods.Rollout",
    "purgatory": "purgatory.operations.Purgatory",
    "push": "consuming.push.Brokers",
    "rebalance": "assignors.carrying_out.Group",
    "record_bytes": "offsets.record_picture.RecordBytes",
    "replication": "replication.state.Partition",
    "requests": "purgatory.requests.Broker",
    "simple_consumer": "zookeeper.simple_consumer.Reader",
    "store": "offsets.store.model.Store",
    "transactions": "transactions.model.Cluster transactions.client.Application transactions.processing.Processing",
    "truncation": "consuming.truncation.model.GroupRead",
    "wheels": "purgatory.wheel.Wheels",
    "zookeeper": "zookeeper.connector.model.Group",
}
"""The states of each picture: ``draw_`` and ``describe_`` are in front of its name."""

_WANTED = {
    "settings": "this run is drawn with what it was made with: animate(run, settings)",
    "outcome": "a scenario is drawn from all that came of it: animate(simulate(...)), not of its trace alone",
}

_PICTURE_OF = {f"kafkalearn.{state}": name for name, states in _STATES.items() for state in states.split()}


def animate(
    run: Any, settings: object = None, *, title: str = "", start: int = 0, stills: Sequence[int] | None = None
) -> player.Animation:
    """Every moment of a run drawn and said, for `play`: each simulator's runs have their own picture.

    Parameters
    ----------
    run : tuple of Frame
        What a simulator returns; of a scenario its whole outcome. What a search has found is given by its ``trace``.
    settings : object, optional
        What the run was made with, for the pictures that need it: the message says which.
    title, start, stills
        As in `animation`.

    Raises
    ------
    KafkaLearnError
        If no picture is known for such a run, settings are missing or of another simulator, or the picture has no room.

    Examples
    --------
    >>> from kafkalearn.consuming import Join, Settings, simulate
    >>> animate(simulate(Settings(partition_count=2), [Join("billing", "b0")])).captions[1]
    'b0 joins billing, which rebalances: b0 has 0 1.'
    >>> from kafkalearn.replication import Produce, Settings, simulate
    >>> animate(simulate(Settings(), [Produce()]), Settings()).captions[1]
    '1 record comes to broker 1, acks=all. Request 1 waits for HW 1.'
    """
    trace = getattr(run, "trace", run)
    draw, describe = _drawn_by(run, trace, settings)
    return player.animation(trace, draw, describe, title=title, start=start, stills=stills)


def _drawn_by(run: Any, trace: Any, settings: object) -> tuple[Any, Any]:
    """What draws a moment of this run, and what describes it: functions of a frame and the one before."""
    if trace is None or trace == ():
        return None, None  # `animation` says what is missing
    if not (isinstance(trace, tuple) and all(isinstance(each, Frame) for each in trace)):
        raise KafkaLearnError(f"a run is the tuple of moments that a simulator returns, got {shown(run)}")
    state = f"{type(trace[0].state).__module__}.{type(trace[0].state).__qualname__}"
    if state not in _PICTURE_OF:
        raise KafkaLearnError(f"no picture is known for states of {state}; bring your own: animation(run, draw)")
    name = _PICTURE_OF[state]
    given = {"trace": trace, "settings": settings, "outcome": run}
    return _bound(f"draw_{name}", given), _bound(f"describe_{name}", given)


def _bound(name: str, given: dict[str, object]) -> Callable[..., object]:
    """A function of a picture, with all that stands before the frame filled in."""
    whole = __getattr__(name)
    first = [*takewhile("frame".__ne__, signature(whole).parameters)]
    hints = get_type_hints(whole)
    for each in first:
        if each in _WANTED and not isinstance(given[each], hints[each]):
            kinds = get_args(hints[each]) or [hints[each]]
            wanted = listed((f"{kind.__module__}.{kind.__qualname__}" for kind in kinds), "or")
            raise KafkaLearnError(f"{_WANTED[each]}, of {wanted}; got {shown(given[each])}")
    return partial(whole, *(given[each] for each in first))
