"""The inside of Apache Kafka, stepped by hand and run over millions of rows.

Where things are
----------------
Rules, as pure functions:

- `kafkalearn.coordinator`: group id -> partition of ``__consumer_offsets`` -> the broker that coordinates it, at once
  and step by step
- `kafkalearn.partitioning`: the partition of a record, with a key and without; the producer's batches; how even it
  is; what another number of partitions changes; `kafkalearn.hashing` below it
- `kafkalearn.assignor`: which member of a group gets which partitions, by each assignor, and a rebalance carried out
  moment by moment; `kafkalearn.java_collections`: the order of Java's maps, on which some assignors depend
- `kafkalearn.segments`: segment files, record batches and records; `kafkalearn.wire`: Kafka's binary layouts
- `kafkalearn.offsets`: the records of ``__consumer_offsets``, to the byte, and the coordinator's store of them
- `kafkalearn.transaction_log`: the records of ``__transaction_state``, and the transactions that they describe
- `kafkalearn.server_logs`: lines of brokers' and clients' logs -> events -> the rebalances of each group, and why
- `kafkalearn.topic_partition`: one partition of a topic; `kafkalearn.group_states`: the states of a group: the nouns
  that all share

Simulators, one event at a time:

- `kafkalearn.trace`: the shape they all have, a run as a tuple of whole moments
- `kafkalearn.promises`: what holds in them, and what a user hopes for
- `kafkalearn.explore`: the search through all runs for the shortest that breaks a promise
- `kafkalearn.group`: the coordinator of a group, classic and KIP-848; scenarios, and what a rebalance costs
- `kafkalearn.consuming`: what groups read of a topic, and their lag
- `kafkalearn.commits`: positions, commits, and what a crash loses or doubles
- `kafkalearn.log`: segments, retention, the cleaner, tombstones
- `kafkalearn.replication`: leader, followers, log ends, high watermark, ISR, epochs
- `kafkalearn.delivery`: acks, retries, the idempotent producer, and where a record ends
- `kafkalearn.purgatory`: delayed operations and timing wheels
- `kafkalearn.zookeeper`: the consumer before the coordinator: who owned what, how it fetched, where it committed
- `kafkalearn.operations`: plans for replicas, leadership, a coordinator's life, what the tools print, faults in a
  cluster's logs

What to know before believing or upgrading:

- `kafkalearn.versions`: the order of releases, the defaults of 855 settings in 31 of them, and what an upgrade changes
- `kafkalearn.fidelity`: for each rule, what it was checked against and what it leaves out
- `kafkalearn.claims`: what is often written about Kafka, what is true, and the chapter that shows it
- `kafkalearn.real_answers`: what a real Kafka answered to fixed questions, now or as it was recorded
- `kafkalearn.datafiles`: where the recorded data files lie
- `kafkalearn.given_files`: files that somebody hands over, plain or gzipped

Around this core, never imported by it:

- `kafkalearn.spark`: the same rules as DataFrame -> DataFrame (imports pyspark)
- `kafkalearn.views`: moments and results as text, SVG, figures and a player (imports matplotlib, ipywidgets)
- `kafkalearn.exercises`: questions that check themselves
- `kafkalearn.lab`: JupyterLab's side of the course
- `kafkalearn.page`: the same in a page of the book: cells, controls, exercises, a playground, in the reader's browser
- `kafkalearn.answers`: five questions about your own Kafka, each one function; `kafkalearn.command`: the same as the
  command ``kafkalearn``
- `kafkalearn.live`: a real Kafka, started on this machine or your own, to hold the rules to (imports confluent_kafka)

``import kafkalearn`` loads none of this. The helpers asked for first are here by name, and load what they need
when they are used; so do the modules of the core:

>>> import kafkalearn
>>> kafkalearn.offsets_partition("test-group")
12
>>> kafkalearn.partition_for_key(b"user-42", 6)
4
>>> kafkalearn.versions.default("session.timeout.ms", "2.8"), kafkalearn.versions.at_least("3.0", "2.8")
(10000, False)
"""

from importlib import import_module

TYPE_CHECKING = False  # as in `typing`, which is not loaded for it
if TYPE_CHECKING:
    from kafkalearn.coordinator import find_coordinator as find_coordinator
    from kafkalearn.coordinator import offsets_partition as offsets_partition
    from kafkalearn.coordinator import round_robin_leaders as round_robin_leaders
    from kafkalearn.errors import KafkaLearnError as KafkaLearnError
    from kafkalearn.fidelity import ledger as ledger
    from kafkalearn.hashing import java_string_hash as java_string_hash
    from kafkalearn.hashing import murmur2 as murmur2
    from kafkalearn.partitioning import partition_for_key as partition_for_key
del TYPE_CHECKING

__version__ = "0.1.0"

_HELPERS = {
    "KafkaLearnError": "errors",
    "find_coordinator": "coordinator",
    "java_string_hash": "hashing",
    "ledger": "fidelity",
    "murmur2": "hashing",
    "offsets_partition": "coordinator",
    "partition_for_key": "partitioning",
    "round_robin_leaders": "coordinator",
}

_MODULES = (
    "assignor",
    "claims",
    "commits",
    "consuming",
    "coordinator",
    "datafiles",
    "delivery",
    "errors",
    "explore",
    "fidelity",
    "given_files",
    "group",
    "group_states",
    "hashing",
    "java_collections",
    "log",
    "offsets",
    "operations",
    "partitioning",
    "promises",
    "purgatory",
    "real_answers",
    "replication",
    "segments",
    "server_logs",
    "topic_partition",
    "trace",
    "transaction_log",
    "versions",
    "wire",
    "zookeeper",
)

__all__ = ["__version__", *_HELPERS]


def __getattr__(name: str) -> object:
    """The helper or module of that name, imported at its first use."""
    if name in _MODULES:
        return import_module(f"kafkalearn.{name}")
    if name in _HELPERS:
        return getattr(import_module(f"kafkalearn.{_HELPERS[name]}"), name)
    raise AttributeError(f"module 'kafkalearn' has no attribute {name!r}; it has {', '.join(_HELPERS)}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_HELPERS, *_MODULES})
