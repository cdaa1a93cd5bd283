"""The requests that can be sent: the number of each, its layouts, and the versions that a broker and we both know."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

from kafkalearn.arguments import one_of
from kafkalearn.errors import KafkaLearnError
from kafkalearn.live.requests.layouts import (
    classic_groups,
    configs,
    connecting,
    consumer_groups,
    leadership,
    logs,
    offsets,
    records,
    topic_changes,
    topics,
)
from kafkalearn.wire.fields import Layout


@dataclass(frozen=True, slots=True)
class Api:
    """One kind of request."""

    number: int
    name: str
    oldest: int  # versions from this one to `newest` can be sent
    request: Layout
    response: Layout

    @property
    def newest(self) -> int:
        """The newest version that Kafka 4.3 and we know."""
        return self.request.newest

    @property
    def answers_with_a_plain_header(self) -> bool:
        """Whether the header of an answer never has tagged fields: who asks for versions cannot know them yet."""
        return self.name == "ApiVersions"

    def version_for(self, broker_oldest: int, broker_newest: int, wanted: int | None = None) -> int:
        """The version to send to a broker: the one that is wanted, else the newest that both know.

        Raises
        ------
        KafkaLearnError
            If there is none.
        """
        low, high = max(self.oldest, broker_oldest), min(self.newest, broker_newest)
        version = high if wanted is None else wanted
        if not low <= version <= high:
            asked = "" if wanted is None else f"version {wanted} is asked for; "
            raise KafkaLearnError(
                f"{self.name}: {asked}the broker knows versions {broker_oldest} to {broker_newest}, kafkalearn "
                f"{self.oldest} to {self.newest}"
            )
        return version


def _api(module: object, number: int, name: str, constant: str, oldest: int = 0) -> Api:
    return Api(number, name, oldest, getattr(module, f"{constant}_REQUEST"), getattr(module, f"{constant}_RESPONSE"))


_ALL = (
    _api(records, 0, "Produce", "PRODUCE", 3),
    _api(records, 1, "Fetch", "FETCH", 4),
    _api(logs, 2, "ListOffsets", "LIST_OFFSETS", 1),
    _api(topics, 3, "Metadata", "METADATA"),
    _api(offsets, 8, "OffsetCommit", "OFFSET_COMMIT", 2),
    _api(offsets, 9, "OffsetFetch", "OFFSET_FETCH", 1),
    _api(classic_groups, 10, "FindCoordinator", "FIND_COORDINATOR"),
    _api(classic_groups, 11, "JoinGroup", "JOIN_GROUP"),
    _api(classic_groups, 12, "Heartbeat", "HEARTBEAT"),
    _api(classic_groups, 13, "LeaveGroup", "LEAVE_GROUP"),
    _api(classic_groups, 14, "SyncGroup", "SYNC_GROUP"),
    _api(classic_groups, 15, "DescribeGroups", "DESCRIBE_GROUPS"),
    _api(classic_groups, 16, "ListGroups", "LIST_GROUPS"),
    _api(connecting, 17, "SaslHandshake", "SASL_HANDSHAKE"),
    _api(connecting, 18, "ApiVersions", "API_VERSIONS"),
    _api(topic_changes, 19, "CreateTopics", "CREATE_TOPICS", 2),
    _api(topic_changes, 20, "DeleteTopics", "DELETE_TOPICS", 1),
    _api(logs, 21, "DeleteRecords", "DELETE_RECORDS"),
    _api(records, 22, "InitProducerId", "INIT_PRODUCER_ID"),
    _api(logs, 23, "OffsetForLeaderEpoch", "OFFSET_FOR_LEADER_EPOCH", 2),
    _api(records, 27, "WriteTxnMarkers", "WRITE_TXN_MARKERS", 1),
    _api(configs, 32, "DescribeConfigs", "DESCRIBE_CONFIGS", 1),
    _api(logs, 35, "DescribeLogDirs", "DESCRIBE_LOG_DIRS", 1),
    _api(connecting, 36, "SaslAuthenticate", "SASL_AUTHENTICATE"),
    _api(topic_changes, 37, "CreatePartitions", "CREATE_PARTITIONS"),
    _api(classic_groups, 42, "DeleteGroups", "DELETE_GROUPS"),
    _api(leadership, 43, "ElectLeaders", "ELECT_LEADERS"),
    _api(leadership, 45, "AlterPartitionReassignments", "ALTER_PARTITION_REASSIGNMENTS"),
    _api(leadership, 46, "ListPartitionReassignments", "LIST_PARTITION_REASSIGNMENTS"),
    _api(offsets, 47, "OffsetDelete", "OFFSET_DELETE"),
    _api(consumer_groups, 68, "ConsumerGroupHeartbeat", "CONSUMER_GROUP_HEARTBEAT"),
    _api(consumer_groups, 69, "ConsumerGroupDescribe", "CONSUMER_GROUP_DESCRIBE"),
    _api(topics, 75, "DescribeTopicPartitions", "DESCRIBE_TOPIC_PARTITIONS"),
)

APIS: MappingProxyType[str, Api] = MappingProxyType({api.name: api for api in _ALL})
"""Every request by Kafka's name for it."""


def find_api(name: str) -> Api:
    """The request of a name.

    >>> find_api("JoinGroup").number, find_api("JoinGroup").newest
    (11, 9)
    """
    one_of("request", name, APIS)
    return APIS[name]
