"""A real Kafka beside the simulators: fetched, started on loopback, frozen, killed, read; the only importer of clients.

`Kafka` starts one, `connect` reads from your own. Both answer the same questions: partitions with leader, ISR and
epochs, high watermarks, records with their batches, groups and their offsets. `Kafka` also opens the disks of its
brokers, and does to them what happens in real life. Nothing of it is left when the block, or this Python, has ended.

::

    with Kafka() as kafka:
        kafka.create_topic("orders", partitions=2)
        kafka.send("orders", ["first", "second"])  # [0, 1]: the offset of each
        kafka.high_watermark("orders", 0)  # 2

It needs ``kafkalearn[live]``; the jars of a release are fetched at its first use, or by ``make live``.
"""

from kafkalearn.base.errors import require

require(__name__, "confluent_kafka")

from kafkalearn.live.cluster import connect  # noqa: E402
from kafkalearn.live.kafka import Kafka  # noqa: E402

__all__ = ["Kafka", "connect"]
