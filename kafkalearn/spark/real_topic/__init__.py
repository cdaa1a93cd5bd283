"""Spark on topics of a real Kafka, with the project's own queries unchanged; and on topics that were recorded."""

from kafkalearn.spark.real_topic.topics import PLAIN, SUBSCRIBED, KafkaTopics, run_to_the_end, topics_of

__all__ = ["PLAIN", "SUBSCRIBED", "KafkaTopics", "run_to_the_end", "topics_of"]
