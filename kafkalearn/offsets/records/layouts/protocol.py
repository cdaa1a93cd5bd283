"""The consumer protocol: what consumers of a classic group put into the subscription and assignment blobs.

References
----------
Apache Kafka 4.3, ``ConsumerProtocolSubscription``, ``ConsumerProtocolAssignment``; the user data of
``StickyAssignor`` and ``CooperativeStickyAssignor``.
"""

from __future__ import annotations

from kafkalearn.wire.fields import BYTES, INT32, STRING, Array, Field, layout, structure

TOPIC_PARTITIONS = Array(structure(Field("topic", STRING), Field("partitions", Array(INT32))))

SUBSCRIPTION = layout(
    "ConsumerProtocolSubscription",
    Field("topics", Array(STRING)),
    Field("userData", BYTES, default=None, is_nullable=True),
    Field("ownedPartitions", TOPIC_PARTITIONS, since=1),
    Field("generationId", INT32, since=2, default=-1),
    Field("rackId", STRING, since=3, default=None, is_nullable=True),
    newest=3,
)

ASSIGNMENT = layout(
    "ConsumerProtocolAssignment",
    Field("assignedPartitions", TOPIC_PARTITIONS),
    Field("userData", BYTES, default=None, is_nullable=True),
    newest=3,
)

STICKY_USER_DATA = layout(
    "StickyAssignor user data",
    Field("previousAssignment", TOPIC_PARTITIONS),
    Field("generation", INT32, since=1),
    newest=1,
)

COOPERATIVE_USER_DATA = layout("CooperativeStickyAssignor user data", Field("generation", INT32))
