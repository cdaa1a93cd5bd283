"""Settings that no consumer can have, and those that Kafka has by default."""

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.commits import Settings


def test_settings_that_no_consumer_can_have_are_refused():
    with pytest.raises(KafkaLearnError, match="did you mean 'earliest'"):
        Settings(auto_offset_reset="erliest")
    with pytest.raises(KafkaLearnError, match="max_poll_records must be at least 1"):
        Settings(max_poll_records=0)
    with pytest.raises(KafkaLearnError, match="unknown sink"):
        Settings(sink="database")
    with pytest.raises(KafkaLearnError, match="beyond the log end"):
        Settings(3, committed=4)


def test_what_is_not_given_is_the_default_of_kafka():
    settings = Settings()
    assert (settings.auto_commit_interval_ms, settings.auto_offset_reset) == (5000, "latest")
    assert settings.max_poll_records == 500
