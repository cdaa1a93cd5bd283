"""The topics that brokers keep for themselves: where groups, transactional ids and share-partitions have their state.

References
----------
Apache Kafka 4.4, ``Topic.GROUP_METADATA_TOPIC_NAME``, ``TRANSACTION_STATE_TOPIC_NAME``,
``SHARE_GROUP_STATE_TOPIC_NAME``.
"""

OFFSETS_TOPIC = "__consumer_offsets"
TRANSACTIONS_TOPIC = "__transaction_state"
SHARE_STATE_TOPIC = "__share_group_state"

INTERNAL_TOPICS = (OFFSETS_TOPIC, TRANSACTIONS_TOPIC, SHARE_STATE_TOPIC)
