"""What a recorded history of requests begins with."""

from kafkalearn.groups.consumer import Settings

MAX_SIZE = 14  # of the brokers that were asked


def settings_of(case):
    interval_ms = case.get("assignment_interval_ms", 0)
    return Settings(
        release=case["release"],
        assignment_interval_ms=interval_ms,
        max_size=MAX_SIZE,
        topics={name: topic["partitions"] for name, topic in case["topics"].items()},
        topic_ids={name: topic["id"] for name, topic in case["topics"].items()},
    )
