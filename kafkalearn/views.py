"""Traces and counts as pictures: what a notebook needs by name.

- `play` steps through a trace; `animation` is the drawn trace itself; `vary` adds controls to it or to a picture,
  `slider` is one of them whose values have words; `save` writes any of them as SVG, PNG or GIF.
- `draw_lookup`, `draw_keyless`, `draw_offsets_topic` draw; `describe_lookup` and `describe_keyless` say the same in
  a sentence, `lookup_text` and `keyless_text` in plain text.
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
  the whole scenario, `draw_group_states` the states of a classic group and every way between them.
- `draw_consuming`, `describe_consuming` and `consuming_text` show a topic and what its groups have read of it;
  `draw_lag_by_partition` and `draw_lag_over_time` how far they are behind. `draw_push`, `describe_push` and
  `push_text` show the same records pulled from a log and pushed from queues.
- `animate_consuming`, `animate_failover`, `animate_fetching`, `animate_group`, `animate_keyless`,
  `animate_offset_stores`, `animate_push`, `animate_rebalance`, `animate_simple_consumer` and `animate_zookeeper` draw a
  whole run for `play`.
- `draw_record_bytes` and `describe_record_bytes` show a record of the offsets topic byte by byte (`record_bytes` takes
  it apart, `record_bytes_text` is all of it); `draw_store`, `describe_store`, `store_text` its coordinator's store;
  `draw_commit_path`, `describe_commit_path` and `commit_path_text` the brokers of its partition.
- `draw_delivery`, `describe_delivery` and `delivery_text` show a producer in front of its partition; `draw_results`
  what can happen to a record under every setting.
- `draw_zookeeper`, `describe_zookeeper` and `zookeeper_text` show a group of old consumers and its ZooKeeper;
  `draw_fetching` and `describe_fetching` its fetch pipeline; `draw_offset_stores` and `describe_offset_stores` where it
  commits, and which store a start believes; `draw_simple_consumer` and `describe_simple_consumer` an application that
  does all this by hand; `draw_eras` one scenario in several eras.
- `draw_leadership` shows who leads in a cluster, `draw_truncation` a log that is cut under its readers, each with its
  `describe_` and its text; `draw_load` what dead brokers leave to others, `draw_moves` what a plan copies.
  `describe_failover` and `failover_text` show a coordinator's death second by second, `draw_load_times` how long loads
  take.
- `progress_bar` is for jobs that take seconds.

This is the only place that imports matplotlib, ipywidgets and anywidget; each name loads only what it needs.
"""

from importlib import import_module
from typing import Any

from kafkalearn.base.errors import require

_MODULE_OF = {
    **dict.fromkeys(["animate_consuming", "draw_consuming"], "consuming.picture"),
    **dict.fromkeys(["animate_push", "draw_push"], "consuming.push_picture"),
    **dict.fromkeys(["describe_push", "push_text"], "consuming.push_picture"),
    **dict.fromkeys(["draw_lag_by_partition", "draw_lag_over_time"], "drawing.group_figures"),
    **dict.fromkeys(["consuming_text", "describe_consuming"], "consuming.picture"),
    **dict.fromkeys(["animate_rebalance", "draw_assignment", "draw_rebalance"], "assignors.picture"),
    **dict.fromkeys(["draw_measures", "draw_shares"], "drawing.group_figures"),
    **dict.fromkeys(["assignment_text", "describe_assignment"], "assignors.picture"),
    **dict.fromkeys(["describe_rebalance", "rebalance_text"], "assignors.picture"),
    **dict.fromkeys(["progress_bar"], "drawing.widgets"),
    **dict.fromkeys(["draw_commits"], "commits.picture"),
    **dict.fromkeys(["draw_commit_costs"], "drawing.group_figures"),
    **dict.fromkeys(["commits_text", "describe_commits"], "commits.picture"),
    **dict.fromkeys(["Varied", "vary"], "drawing.widgets"),
    **dict.fromkeys(["slider"], "drawing.controls"),
    **dict.fromkeys(["save"], "drawing.saving"),
    **dict.fromkeys(["draw_lookup"], "coordinator.picture"),
    **dict.fromkeys(["Drawing", "figure", "small_multiples"], "drawing.figures"),
    **dict.fromkeys(["draw_broker_load", "draw_counts", "draw_share_moved", "draw_skew"], "drawing.figures"),
    **dict.fromkeys(["Animation", "animation"], "drawing.player"),
    **dict.fromkeys(["draw_delivery"], "delivery.picture"),
    **dict.fromkeys(["draw_results"], "drawing.log_figures"),
    **dict.fromkeys(["delivery_text", "describe_delivery"], "delivery.picture"),
    **dict.fromkeys(["animate_group", "draw_group"], "groups.picture"),
    **dict.fromkeys(["draw_timeline"], "groups.timeline_picture"),
    **dict.fromkeys(["draw_group_states"], "groups.timeline_picture"),
    **dict.fromkeys(["describe_group", "group_text"], "groups.picture"),
    **dict.fromkeys(["animate_keyless", "draw_keyless"], "partitioning.picture"),
    **dict.fromkeys(["draw_offsets_topic"], "coordinator.picture"),
    **dict.fromkeys(["describe_record_bytes", "draw_record_bytes"], "offsets.record_picture"),
    **dict.fromkeys(["record_bytes", "record_bytes_text"], "offsets.record_picture"),
    **dict.fromkeys(["describe_store", "draw_store", "store_text"], "offsets.store_picture"),
    **dict.fromkeys(["draw_commit_path"], "offsets.replicated_picture"),
    **dict.fromkeys(["commit_path_text", "describe_commit_path"], "offsets.replicated_picture"),
    **dict.fromkeys(["Player", "play"], "drawing.widgets"),
    **dict.fromkeys(["describe_keyless", "keyless_text"], "partitioning.picture"),
    **dict.fromkeys(["describe_lookup", "lookup_text"], "coordinator.words"),
    **dict.fromkeys(["Picture"], "drawing.player"),
    **dict.fromkeys(["describe_purgatory", "draw_purgatory", "purgatory_text"], "purgatory.picture"),
    **dict.fromkeys(["describe_requests", "draw_requests", "requests_text"], "purgatory.picture"),
    **dict.fromkeys(["draw_waiting"], "drawing.log_figures"),
    **dict.fromkeys(["describe_wheels", "draw_wheels", "wheels_text"], "purgatory.wheel_picture"),
    **dict.fromkeys(["draw_log"], "log.picture"),
    **dict.fromkeys(["crossing_text", "describe_crossing", "draw_crossing"], "log.picture"),
    **dict.fromkeys(["describe_log", "log_text"], "log.words"),
    **dict.fromkeys(["draw_survivors"], "drawing.log_figures"),
    **dict.fromkeys(["draw_replication"], "replication.picture"),
    **dict.fromkeys(["draw_hw_leo", "draw_lag"], "drawing.log_figures"),
    **dict.fromkeys(["describe_replication", "replication_text"], "replication.words"),
    **dict.fromkeys(["draw_leadership"], "operations.leadership_picture"),
    **dict.fromkeys(["describe_leadership", "leadership_text"], "operations.leadership_picture"),
    **dict.fromkeys(["draw_load", "draw_moves"], "operations.leadership_picture"),
    **dict.fromkeys(["animate_failover"], "operations.failover_picture"),
    **dict.fromkeys(["describe_failover", "failover_text"], "operations.failover_picture"),
    **dict.fromkeys(["draw_load_times"], "operations.failover_picture"),
    **dict.fromkeys(["draw_truncation"], "consuming.truncation_picture"),
    **dict.fromkeys(["describe_truncation", "truncation_text"], "consuming.truncation_picture"),
    **dict.fromkeys(["animate_zookeeper", "draw_zookeeper"], "zookeeper.picture"),
    **dict.fromkeys(["animate_fetching", "draw_fetching"], "zookeeper.fetching_picture"),
    **dict.fromkeys(["draw_eras"], "zookeeper.eras_picture"),
    **dict.fromkeys(["describe_zookeeper", "zookeeper_text"], "zookeeper.picture"),
    **dict.fromkeys(["describe_fetching"], "zookeeper.fetching_picture"),
    **dict.fromkeys(["animate_offset_stores", "draw_offset_stores"], "zookeeper.commits_picture"),
    **dict.fromkeys(["describe_offset_stores"], "zookeeper.commits_picture"),
    **dict.fromkeys(["animate_simple_consumer", "draw_simple_consumer"], "zookeeper.simple_consumer_picture"),
    **dict.fromkeys(["describe_simple_consumer"], "zookeeper.simple_consumer_picture"),
}

__all__ = sorted(_MODULE_OF)


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
