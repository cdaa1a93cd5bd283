"""Render traces and statistics: as SVG, plain text, figures, and players for a notebook.

- `animate` renders a run of any simulator frame by frame, as SVG with captions; `play` steps through it in a notebook;
  `render_text` gives the same run as plain text. `animation` takes a drawing function of your own; `vary` adds
  controls to an animation or a picture, `slider` is one whose values have labels; `save` writes SVG, PNG or GIF.
- `touch` is the interactive one: what is clicked in a picture happens; `board_named` returns the interactive pictures
  and games of the chapters (`kafkalearn.drawing.touching` makes others).
- `draw_X` renders one moment as SVG and `describe_X` says it in a sentence, for each X of lookup, keyless, replication,
  log, crossing (a reader on its way through a log), purgatory, requests, wheels, commits, assignment, rebalance, group,
  epochs (KIP-848), mixed and pods (a group that changes its protocol), consuming, push, record_bytes, store,
  commit_path, delivery, transactions, sharing (share groups), zookeeper, fetching, offset_stores, simple_consumer,
  leadership, truncation, failover and coordinator_life. `record_bytes` takes a record of the offsets topic apart,
  byte by byte.
- Pictures of other results: `draw_grid` of a small table; `draw_assignments` of several assignors; `draw_key`,
  `draw_offsets_topic`; `draw_timeline` of a scenario, `draw_group_states` of the states of a classic group;
  `draw_eras`; `draw_moves` of a plan, `draw_load_times` of brokers.
- `figure` and `small_multiples` with `draw_counts`, `draw_broker_load`, `draw_share_moved`, `draw_skew`, `draw_done`,
  `draw_hw_leo`, `draw_lag`, `draw_survivors`, `draw_uncommitted`, `draw_waiting`, `draw_results`, `draw_commit_costs`,
  `draw_commit_shares`, `draw_measures`, `draw_shares`, `draw_lag_by_partition` and `draw_lag_over_time` plot statistics
  over many rows.
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
        "describe_assignment describe_rebalance draw_assignment draw_assignments draw_rebalance rebalance_text"
    ),
    "commits.picture": "commits_text describe_commits draw_commits",
    "consuming.picture": "consuming_text describe_consuming draw_consuming",
    "consuming.push_picture": "describe_push draw_push push_text",
    "consuming.truncation_picture": "describe_truncation draw_truncation truncation_text",
    "coordinator.picture": "draw_lookup draw_offsets_topic",
    "coordinator.words": "describe_lookup lookup_text",
    "delivery.picture": "delivery_text describe_delivery draw_delivery",
    "drawing.controls": "slider",
    "drawing.figures": (
        "Drawing draw_broker_load draw_counts draw_done draw_share_moved draw_skew figure small_multiples"
    ),
    "drawing.grid": "draw_grid",
    "drawing.group_figures": (
        "draw_commit_costs draw_commit_shares draw_lag_by_partition draw_lag_over_time draw_measures draw_shares"
    ),
    "drawing.log_figures": "draw_hw_leo draw_lag draw_results draw_survivors draw_uncommitted draw_waiting",
    "drawing.player": "Animation Picture animation",
    "drawing.saving": "save",
    "drawing.widgets": "Player Varied play progress_bar touch vary",
    "groups.epochs_picture": "describe_epochs draw_epochs",
    "groups.mixed_picture": "describe_mixed describe_pods draw_mixed draw_pods",
    "groups.picture": "describe_group draw_group group_text",
    "groups.timeline_picture": "draw_group_states draw_timeline",
    "journey.film": "whole_path",
    "journey.picture": "describe_journey draw_journey",
    "log.picture": "crossing_text describe_crossing draw_crossing draw_log",
    "log.words": "describe_log log_text",
    "offsets.record_picture": "describe_record_bytes draw_record_bytes record_bytes",
    "offsets.replicated_picture": "commit_path_text describe_commit_path draw_commit_path",
    "offsets.store_picture": "describe_store draw_store store_text",
    "operations.coordinator_life.picture": "describe_coordinator_life draw_coordinator_life",
    "operations.failover_picture": "describe_failover draw_failover draw_load_times failover_text",
    "operations.leadership_picture": "describe_leadership draw_leadership draw_moves leadership_text",
    "partitioning.picture": "describe_keyless draw_key draw_keyless keyless_text",
    "purgatory.picture": (
        "describe_purgatory describe_requests draw_purgatory draw_requests purgatory_text requests_text"
    ),
    "purgatory.wheel_picture": "describe_wheels draw_wheels wheels_text",
    "replication.picture": "draw_replication",
    "replication.words": "describe_replication replication_text",
    "sharing.picture": "describe_sharing draw_sharing sharing_text",
    "transactions.picture": "describe_transactions draw_transactions transactions_text",
    "zookeeper.commits_picture": "describe_offset_stores draw_offset_stores",
    "zookeeper.eras_picture": "draw_eras",
    "zookeeper.fetching_picture": "describe_fetching draw_fetching",
    "zookeeper.picture": "describe_zookeeper draw_zookeeper zookeeper_text",
    "zookeeper.simple_consumer_picture": "describe_simple_consumer draw_simple_consumer",
}
"""The names that a notebook needs, by the module that has them."""

_MODULE_OF = {name: module for module, names in _NAMES_OF.items() for name in names.split()}

__all__ = sorted([*(name for name in _MODULE_OF if not name.endswith("_text")), "animate", "render_text"])


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
    "journey": "journey.model.Journey",
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
    "sharing": "sharing.model.Cluster sharing.work.Work",
    "simple_consumer": "zookeeper.simple_consumer.Reader",
    "store": "offsets.store.model.Store",
    "transactions": "transactions.model.Cluster transactions.client.Application transactions.processing.Processing",
    "truncation": "consuming.truncation.model.GroupRead",
    "wheels": "purgatory.wheel.Wheels",
    "zookeeper": "zookeeper.connector.model.Group",
}
"""The states of each picture: ``draw_`` and ``describe_`` are in front of its name."""

_WANTED = {
    "settings": "this run is rendered with what it was made with, animate(run, settings) or render_text(run, settings)",
    "outcome": "a scenario is rendered from all that came of it: animate(simulate(...)), not of its trace alone",
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


def render_text(run: Any, settings: object = None) -> str:
    """Every moment of a run as plain text, for a terminal: what happened, and the state that it left.

    Parameters
    ----------
    run, settings
        As in `animate`. A part of a run is one, too: ``run[-1:]`` is its last moment.

    Returns
    -------
    str
        The moments one below the other, an empty line between them. A simulator that has no text view gives the
        sentence of each moment alone.

    Raises
    ------
    KafkaLearnError
        If no text is known for such a run, or settings are missing or of another simulator.

    Examples
    --------
    >>> from kafkalearn.replication import Fetch, Produce, Settings, simulate
    >>> two = Settings(replica_count=2)
    >>> print(render_text(simulate(two, [Produce(), Fetch(2)])[-1:], two))
    Broker 2 fetches from 0. Broker 2 gets offset 0 and HW 0.
    leader 1, epoch 0, ISR 1, 2
      1 leader, epoch 0  LEO 1, HW 0           | 0:m1
      2 in the ISR       LEO 1, HW 0, known 0  | 0:m1
    waits: request 1 for HW 1
    """
    trace = getattr(run, "trace", run)
    name = _name_of(run, trace)
    render = _bound(f"{name}_text" if f"{name}_text" in _MODULE_OF else f"describe_{name}", run, trace, settings)
    moments = [render(frame, before) for frame, before in zip(trace, (None, *trace[:-1]), strict=True)]
    return "\n\n".join(moments)


def _drawn_by(run: Any, trace: Any, settings: object) -> tuple[Any, Any]:
    """What draws a moment of this run, and what describes it: functions of a frame and the one before."""
    if trace is None or trace == ():
        return None, None  # `animation` says what is missing
    name = _name_of(run, trace)
    return _bound(f"draw_{name}", run, trace, settings), _bound(f"describe_{name}", run, trace, settings)


def _name_of(run: Any, trace: Any) -> str:
    """The name of the picture that a run has."""
    if not (trace and isinstance(trace, tuple) and all(isinstance(each, Frame) for each in trace)):
        raise KafkaLearnError(f"a run is the tuple of moments that a simulator returns, got {shown(run)}")
    state = f"{type(trace[0].state).__module__}.{type(trace[0].state).__qualname__}"
    if state not in _PICTURE_OF:
        raise KafkaLearnError(f"no picture is known for states of {state}; bring your own: animation(run, draw)")
    return _PICTURE_OF[state]


def _bound(name: str, run: Any, trace: Any, settings: object) -> Callable[..., Any]:
    """A function of a picture, with all that stands before the frame filled in."""
    whole = __getattr__(name)
    given = {"trace": trace, "settings": settings, "outcome": run}
    first = [*takewhile("frame".__ne__, signature(whole).parameters)]
    hints = get_type_hints(whole)
    for each in first:
        if each in _WANTED and not isinstance(given[each], hints[each]):
            kinds = get_args(hints[each]) or [hints[each]]
            wanted = listed((f"{kind.__module__}.{kind.__qualname__}" for kind in kinds), "or")
            raise KafkaLearnError(f"{_WANTED[each]}, of {wanted}; got {shown(given[each])}")
    return partial(whole, *(given[each] for each in first))
