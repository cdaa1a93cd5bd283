"""The inside of Apache Kafka, stepped by hand and run over millions of rows.

Where things are
----------------
Each mechanism is one or two files that are read from top to bottom: what it is called, what it does, what holds; its
picture and its words stand beside it.

- `kafkalearn.coordinator`: group id -> partition of ``__consumer_offsets`` -> the broker that coordinates it, at once
  and step by step
- `kafkalearn.partitioning`: the partition of a record, with a key and without; the producer's batches; how even it
  is; what another number of partitions changes
- `kafkalearn.assignors`: which member of a group gets which partitions, by each assignor, and a rebalance carried out
  moment by moment
- `kafkalearn.groups`: the coordinator of a group, classic and KIP-848
- `kafkalearn.scenarios`: what happens to a group, in a few lines of text, played, judged and improved
- `kafkalearn.consuming`: what groups read of a topic, and their lag
- `kafkalearn.commits`: positions, commits, and what a crash loses or doubles
- `kafkalearn.offsets`: the records of ``__consumer_offsets``, to the byte, and the coordinator's store of them
- `kafkalearn.log`: segments, retention, the cleaner, tombstones
- `kafkalearn.replication`: leader, followers, log ends, high watermark, ISR, epochs
- `kafkalearn.delivery`: acks, retries, the idempotent producer, and where a record ends
- `kafkalearn.transactions`: the transaction coordinator, the partitions' side, the offsets of a transaction
- `kafkalearn.sharing`: share groups: who has a record, for how long, how often it is delivered
- `kafkalearn.purgatory`: delayed operations and timing wheels
- `kafkalearn.zookeeper`: the consumer before the coordinator: who owned what, how it fetched, where it committed
- `kafkalearn.operations`: plans for replicas, leadership, a coordinator's life, what the tools print, faults in a
  cluster's logs

What they stand on:

- `kafkalearn.base`: a run as a tuple of whole moments, what holds in it, the search through all runs for the shortest
  that breaks a promise; hashes, Java's collections, checks of what is given, errors, tables
- `kafkalearn.formats`: Kafka's bytes: layouts of messages, records, batches, segment files, ``__transaction_state``
- `kafkalearn.releases`: the order of releases, the defaults of all settings in each of them, what an upgrade changes;
  the ledger of what each rule was checked against; what is often written about Kafka, and what is true

Around this core, never imported by it:

- `kafkalearn.tiny`: Kafka in one sitting: one file to read, from a key's hash to what a dead broker changes
- `kafkalearn.journey`: the whole path of a record, played by tiny, in one picture that can be broken
- `kafkalearn.spark`: the same rules as DataFrame -> DataFrame (imports pyspark)
- `kafkalearn.views`: moments and results as text, SVG, figures and a player, by name; `kafkalearn.drawing`: what they
  are drawn with (imports matplotlib, ipywidgets)
- `kafkalearn.boards`: the pictures of the chapters, and the games of the exercises, that can be touched
- `kafkalearn.predictions`: the questions of the chapters, and what is closed until they are answered
- `kafkalearn.exercises`: questions that check themselves
- `kafkalearn.oncall`: seven questions about your own Kafka, each one function, and the command ``kafkalearn``
- `kafkalearn.live`: a real Kafka, started on this machine or your own, to hold the rules to (imports confluent_kafka)
- `kafkalearn.lab`: JupyterLab's side of the course

``import kafkalearn`` loads none of this. Four helpers are here by name, and each loads what it needs at its first use;
so do the packages of the core:

- a hash-partition calculator: `partition_for_key`, `offsets_partition`, `find_coordinator`
- a rebalance simulator, range against sticky: `rebalance`, `assign`, `Member`
- replication stepped by LEO and HW: ``kafkalearn.replication``
- a visualiser of tombstones and compaction: ``kafkalearn.log``

`render_text` prints a run of any simulator, `animate` draws it.

>>> import kafkalearn
>>> kafkalearn.offsets_partition("test-group")
12
>>> kafkalearn.partition_for_key(b"user-42", 6)
4
>>> three = [kafkalearn.Member(name, ["orders"]) for name in ("c1", "c2", "c3")]
>>> print(kafkalearn.render_text(kafkalearn.rebalance("sticky", {"orders": 6}, three, three[1:])[-1:]))
All are assigned anew. 2 partitions have another owner than at the start, 4 have the one they had.
c2 (3): orders-1 orders-4 orders-0*
c3 (3): orders-2 orders-5 orders-3*
nobody reads: nothing
>>> kafkalearn.releases.default("session.timeout.ms", "2.8"), kafkalearn.releases.at_least("3.0", "2.8")
(10000, False)
"""

from importlib import import_module

TYPE_CHECKING = False  # as in `typing`, which is not loaded for it
if TYPE_CHECKING:
    from kafkalearn.assignors import Member as Member
    from kafkalearn.assignors import assign as assign
    from kafkalearn.assignors import rebalance as rebalance
    from kafkalearn.base.errors import KafkaLearnError as KafkaLearnError
    from kafkalearn.base.hashing import java_string_hash as java_string_hash
    from kafkalearn.base.hashing import murmur2 as murmur2
    from kafkalearn.coordinator import find_coordinator as find_coordinator
    from kafkalearn.coordinator import offsets_partition as offsets_partition
    from kafkalearn.coordinator import round_robin_leaders as round_robin_leaders
    from kafkalearn.partitioning import partition_for_key as partition_for_key
    from kafkalearn.releases.ledger import ledger as ledger
    from kafkalearn.views import animate as animate
    from kafkalearn.views import render_text as render_text
del TYPE_CHECKING

__version__ = "0.1.0"

_HELPERS = {
    "KafkaLearnError": "base.errors",
    "Member": "assignors",
    "animate": "views",
    "assign": "assignors",
    "find_coordinator": "coordinator",
    "java_string_hash": "base.hashing",
    "ledger": "releases.ledger",
    "murmur2": "base.hashing",
    "offsets_partition": "coordinator",
    "partition_for_key": "partitioning",
    "rebalance": "assignors",
    "render_text": "views",
    "round_robin_leaders": "coordinator",
}

_PARTS = (
    "assignors",
    "base",
    "commits",
    "consuming",
    "coordinator",
    "delivery",
    "formats",
    "groups",
    "log",
    "offsets",
    "operations",
    "partitioning",
    "predictions",
    "purgatory",
    "releases",
    "replication",
    "scenarios",
    "sharing",
    "transactions",
    "zookeeper",
)

__all__ = ["__version__", *_HELPERS]


def __getattr__(name: str) -> object:
    """The helper or package of that name, imported at its first use."""
    if name in _PARTS:
        return import_module(f"kafkalearn.{name}")
    if name in _HELPERS:
        return getattr(import_module(f"kafkalearn.{_HELPERS[name]}"), name)
    raise AttributeError(f"module 'kafkalearn' has no attribute {name!r}; it has {', '.join(_HELPERS)}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_HELPERS, *_PARTS})
