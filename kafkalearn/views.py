"""Traces and counts as pictures: what a notebook needs by name.

- `play` steps through a trace; `animation` is the drawn trace itself; `vary` adds controls to it or to a picture,
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
  the whole scenario, `draw_group_states` the states of a classic group and every way between them; `animate_epochs` a
  KIP-848 group heartbeat by heartbeat, `animate_mixed` one that changes its protocol.
- `draw_consuming`, `describe_consuming` and `consuming_text` show a topic and what its groups have read of it;
  `draw_lag_by_partition` and `draw_lag_over_time` how far they are behind. `draw_push`, `describe_push` and
  `push_text` show the same records pulled from a log and pushed from queues.
- `animate_consuming`, `animate_coordinator_life`, `animate_failover`, `animate_fetching`, `animate_group`,
  `animate_keyless`, `animate_offset_stores`, `animate_push`, `animate_rebalance`, `animate_simple_consumer` and
  `animate_zookeeper` draw a whole run for `play`.
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
  `describe_failover` and `failover_text` show a coordinator's death second by second, `draw_load_times` how long loads
  take.
- `progress_bar` is for jobs that take seconds.

This is the only place that imports matplotlib, ipywidgets and anywidget; each name loads only what it needs.
"""

from importlib import import_module
from typing import Any

from kafkalearn.base.errors import require

_NAMES_OF = {
    "boards": "board_named",
    "assignors.picture": (
        "animate_rebalance assignment_text describe_assignment describe_rebalance draw_assignment "
        "draw_rebalance rebalance_text"
    ),
    "commits.picture": "commits_text describe_commits draw_commits",
    "consuming.picture": "animate_consuming consuming_text describe_consuming draw_consuming",
    "consuming.push_picture": "animate_push describe_push draw_push push_text",
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
    "groups.epochs_picture": "animate_epochs",
    "groups.mixed_picture": "animate_mixed",
    "groups.picture": "animate_group describe_group draw_group group_text",
    "groups.timeline_picture": "draw_group_states draw_timeline",
    "log.picture": "crossing_text describe_crossing draw_crossing draw_log",
    "log.words": "describe_log log_text",
    "offsets.record_picture": "describe_record_bytes draw_record_bytes record_bytes record_bytes_text",
    "offsets.replicated_picture": "commit_path_text describe_commit_path draw_commit_path",
    "offsets.store_picture": "describe_store draw_store store_text",
    "operations.coordinator_life.picture": "animate_coordinator_life",
    "operations.failover_picture": "animate_failover describe_failover draw_load_times failover_text",
    "operations.leadership_picture": "describe_leadership draw_leadership draw_load draw_moves leadership_text",
    "partitioning.picture": "animate_keyless describe_keyless draw_key draw_keyless keyless_text",
    "purgatory.picture": (
        "describe_purgatory describe_requests draw_purgatory draw_requests purgatory_text requests_text"
    ),
    "purgatory.wheel_picture": "describe_wheels draw_wheels wheels_text",
    "replication.picture": "draw_replication",
    "replication.words": "describe_replication replication_text",
    "transactions.picture": "describe_transactions draw_transactions transactions_text",
    "zookeeper.commits_picture": "animate_offset_stores describe_offset_stores draw_offset_stores",
    "zookeeper.eras_picture": "draw_eras",
    "zookeeper.fetching_picture": "animate_fetching describe_fetching draw_fetching",
    "zookeeper.picture": "animate_zookeeper describe_zookeeper draw_zookeeper zookeeper_text",
    "zookeeper.simple_consumer_picture": "animate_simple_consumer describe_simple_consumer draw_simple_consumer",
}
"""The names that a notebook needs, by the module that has them."""

_MODULE_OF = {name: module for module, names in _NAMES_OF.items() for name in names.split()}

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
