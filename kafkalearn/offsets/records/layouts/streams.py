"""Streams groups (KIP-1071): record types 17 and 19 to 23.

References
----------
Apache Kafka 4.3, ``StreamsGroup*Key`` and ``StreamsGroup*Value``.
"""

from __future__ import annotations

from kafkalearn.offsets.records.layouts.consumer import GROUP_KEY, MEMBER_KEY, TARGET_METADATA
from kafkalearn.wire.fields import INT8, INT16, INT32, INT64, STRING, UINT16, Array, Field, layout, structure

_KEY_VALUE = structure(
    Field("key", STRING),
    Field("value", STRING),
)

STREAMS_GROUP_METADATA_KEY = layout("StreamsGroupMetadataKey", *GROUP_KEY)
STREAMS_GROUP_METADATA_VALUE = layout(
    "StreamsGroupMetadataValue",
    Field("epoch", INT32),
    Field("metadataHash", INT64),
    Field("validatedTopologyEpoch", INT32, default=-1, tag=0),
    Field("lastAssignmentConfigs", Array(_KEY_VALUE), default=[], is_nullable=True, tag=1),
    flexible_since=0,
)

_ENDPOINT = structure(
    Field("host", STRING),
    Field("port", UINT16),
)
STREAMS_GROUP_MEMBER_METADATA_KEY = layout("StreamsGroupMemberMetadataKey", *MEMBER_KEY)
STREAMS_GROUP_MEMBER_METADATA_VALUE = layout(
    "StreamsGroupMemberMetadataValue",
    Field("instanceId", STRING, is_nullable=True),
    Field("rackId", STRING, is_nullable=True),
    Field("clientId", STRING),
    Field("clientHost", STRING),
    Field("rebalanceTimeoutMs", INT32, default=-1),
    Field("topologyEpoch", INT32),
    Field("processId", STRING),
    Field("userEndpoint", _ENDPOINT, default=None, is_nullable=True),
    Field("clientTags", Array(_KEY_VALUE)),
    flexible_since=0,
)

STREAMS_GROUP_TARGET_ASSIGNMENT_METADATA_KEY = layout("StreamsGroupTargetAssignmentMetadataKey", *GROUP_KEY)
STREAMS_GROUP_TARGET_ASSIGNMENT_METADATA_VALUE = layout(
    "StreamsGroupTargetAssignmentMetadataValue", *TARGET_METADATA, flexible_since=0
)

_TASKS = structure(
    Field("subtopologyId", STRING),
    Field("partitions", Array(INT32)),
)
STREAMS_GROUP_TARGET_ASSIGNMENT_MEMBER_KEY = layout("StreamsGroupTargetAssignmentMemberKey", *MEMBER_KEY)
STREAMS_GROUP_TARGET_ASSIGNMENT_MEMBER_VALUE = layout(
    "StreamsGroupTargetAssignmentMemberValue",
    Field("activeTasks", Array(_TASKS)),
    Field("standbyTasks", Array(_TASKS)),
    Field("warmupTasks", Array(_TASKS)),
    flexible_since=0,
)

_OWNED_TASKS = Array(
    structure(
        *_TASKS.fields,
        Field("assignmentEpochs", Array(INT32), default=[], is_nullable=True, tag=0),
    )
)
STREAMS_GROUP_CURRENT_MEMBER_ASSIGNMENT_KEY = layout("StreamsGroupCurrentMemberAssignmentKey", *MEMBER_KEY)
STREAMS_GROUP_CURRENT_MEMBER_ASSIGNMENT_VALUE = layout(
    "StreamsGroupCurrentMemberAssignmentValue",
    Field("memberEpoch", INT32),
    Field("previousMemberEpoch", INT32),
    Field("state", INT8),
    Field("activeTasks", _OWNED_TASKS),
    Field("standbyTasks", _OWNED_TASKS),
    Field("warmupTasks", _OWNED_TASKS),
    Field("activeTasksPendingRevocation", _OWNED_TASKS),
    Field("standbyTasksPendingRevocation", _OWNED_TASKS),
    Field("warmupTasksPendingRevocation", _OWNED_TASKS),
    flexible_since=0,
)

_TOPIC_INFO = structure(
    Field("name", STRING),
    Field("partitions", INT32),
    Field("replicationFactor", INT16),
    Field("topicConfigs", Array(_KEY_VALUE)),
)
_COPARTITION_GROUP = structure(  # of indexes into the subtopology's arrays of the same names
    Field("sourceTopics", Array(INT16)),
    Field("sourceTopicRegex", Array(INT16)),
    Field("repartitionSourceTopics", Array(INT16)),
)
_SUBTOPOLOGY = structure(
    Field("subtopologyId", STRING),
    Field("sourceTopics", Array(STRING)),
    Field("sourceTopicRegex", Array(STRING)),
    Field("stateChangelogTopics", Array(_TOPIC_INFO)),
    Field("repartitionSinkTopics", Array(STRING)),
    Field("repartitionSourceTopics", Array(_TOPIC_INFO)),
    Field("copartitionGroups", Array(_COPARTITION_GROUP)),
)
STREAMS_GROUP_TOPOLOGY_KEY = layout("StreamsGroupTopologyKey", *GROUP_KEY)
STREAMS_GROUP_TOPOLOGY_VALUE = layout(
    "StreamsGroupTopologyValue",
    Field("epoch", INT32),
    Field("subtopologies", Array(_SUBTOPOLOGY)),
    flexible_since=0,
)
