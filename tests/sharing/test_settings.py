"""What a share group is set to, and what it may be set to, is what the released classes say."""

import pytest

from kafkalearn.releases.defaults import default
from kafkalearn.sharing import Settings
from kafkalearn.sharing.group_settings import SETTINGS, refusal
from tests.every import every_case

BROKER_NAMES = {
    "record_lock_duration_ms": "group.share.record.lock.duration.ms",
    "delivery_count_limit": "group.share.delivery.count.limit",
    "max_record_locks": "group.share.partition.max.record.locks",
    "session_timeout_ms": "group.share.session.timeout.ms",
    "heartbeat_interval_ms": "group.share.heartbeat.interval.ms",
    "assignment_interval_ms": "group.share.assignment.interval.ms",
    "max_share_sessions": "group.share.max.share.sessions",
    "max_group_size": "group.share.max.size",
    "min_record_lock_duration_ms": "group.share.min.record.lock.duration.ms",
    "min_session_timeout_ms": "group.share.min.session.timeout.ms",
    "min_heartbeat_interval_ms": "group.share.min.heartbeat.interval.ms",
    "dead_letter_prefix": "errors.deadletterqueue.topic.name.prefix",
    "creates_dead_letter_topics": "errors.deadletterqueue.auto.create.topics.enable",
    "snapshot_update_records": "share.coordinator.snapshot.update.records.per.snapshot",
    "cold_snapshot_interval_ms": "share.coordinator.cold.partition.snapshot.interval.ms",
}
NEW = {"assignment_interval_ms": "4.3", "dead_letter_prefix": "4.4", "creates_dead_letter_topics": "4.4"}
RELEASES = ("4.2", "4.3", "4.4")


@every_case("release, name", [(release, name) for name in BROKER_NAMES for release in RELEASES])
def test_every_default_is_the_broker_s(release, name):
    if release >= NEW.get(name, "4.2"):
        assert getattr(Settings(release), name) == default(BROKER_NAMES[name], release, "broker")


def bounded():
    """The settings of a group whose numbers a broker bounds."""
    return [(name, each) for name, each in SETTINGS.items() if each.bounds is not None]


@every_case("name, setting", bounded(), ids=lambda value: value if isinstance(value, str) else value.since)
def test_a_number_is_taken_up_to_the_broker_s_bounds_and_no_further(name, setting):
    settings = Settings()
    low, high = (default(f"group.share.{end}.{name.removeprefix('share.')}", "4.4", "broker") for end in ("min", "max"))
    assert setting.bounds(settings) == (low, high)
    assert [refusal(settings, name, str(each)) for each in (low, high)] == ["", ""]
    assert f"in the range {low} to {high}" in refusal(settings, name, str(high + 1))
    assert refusal(settings, name, str(low - 1))
    assert refusal(settings, name, "soon").endswith("Not a number of type INT")


@pytest.mark.parametrize("name", [name for name, each in SETTINGS.items() if each.bounds is None])
def test_what_is_no_number_has_no_bounds(name):
    value = SETTINGS[name].allowed[0] if SETTINGS[name].allowed else "latest"
    assert refusal(Settings(), name, value) == ""
