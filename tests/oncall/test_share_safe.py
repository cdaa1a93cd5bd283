"""What can go wrong with a share group's settings."""

import json

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.oncall import safe
from kafkalearn.oncall.answer import Outcome
from kafkalearn.oncall.settings import parse_properties
from kafkalearn.oncall.share_safe import Share, share_troubles
from kafkalearn.oncall.why import why
from tests.oncall.examples import asked

LETTERS = {"errors.deadletterqueue.topic.name": "dlq.jobs"}


def found(settings=None, processing_ms=None, release="4.4", **files):
    read = [(side, f"{side}.properties", parse_properties(text)) for side, text in files.items()]
    troubles, _ = share_troubles(Share({**LETTERS, **(settings or {})}, processing_ms), read, release)
    return {each.setting: (each.value, each.remedy, each.origin) for each in troubles}


LOCK, LIMIT = "share.record.lock.duration.ms", "share.delivery.count.limit"


@pytest.mark.parametrize(
    ("settings", "processing_ms", "broker", "remedy"),
    [
        ({}, 29_999, "", None),
        ({}, 30_000, "", (30_000, 45_000, "the default")),
        ({}, 59_000, "", (30_000, 60_000, "the default")),
        ({}, 60_000, "", (30_000, 60_000, "the default")),
        ({LOCK: "60000"}, 59_000, "", None),
        ({LOCK: 15_000}, 20_000, "", (15_000, 30_000, "the group")),
        ({}, 40_000, "group.share.record.lock.duration.ms=50000", None),
        ({}, 70_000, "group.share.max.record.lock.duration.ms=120000", (30_000, 105_000, "the default")),
        ({LOCK: 90_000}, None, "", (90_000, 60_000, "the group")),
        ({LOCK: 1000}, None, "", (1000, 15_000, "the group")),
    ],
)
def test_a_lock_must_be_longer_than_the_work(settings, processing_ms, broker, remedy):
    assert found(settings, processing_ms, broker=broker).get(LOCK) == remedy


def test_work_that_no_lock_outlasts_needs_renewing():
    off = {"share.renew.acknowledge.enable": "false"}
    assert found(off, 90_000)["share.renew.acknowledge.enable"] == ("false", "true", "the group")
    (trouble,), _ = share_troubles(Share(LETTERS, 90_000), [], "4.4")
    assert "poll fewer records, or renew while they are worked on" in trouble.words


def test_what_fails_too_often_is_gone_without_dead_letters():
    none = {"errors.deadletterqueue.topic.name": ""}
    assert found(none)["errors.deadletterqueue.topic.name"] == ("", "dlq.TOPIC", "the default")
    assert found(none, release="4.3")[LIMIT][0] == 5
    assert found() == {}
    wrong = {"errors.deadletterqueue.topic.name": "dead"}
    assert found(wrong)["errors.deadletterqueue.topic.name"] == ("dead", "dlq.dead", "the group")
    assert found(wrong, broker="errors.deadletterqueue.topic.name.prefix=de") == {}


def test_transactions_want_read_committed():
    name = "share.isolation.level"
    assert found(producer="transactional.id=pay")[name] == ("read_uncommitted", "read_committed", "the default")
    assert found({name: "read_committed"}, producer="transactional.id=pay") == {}
    assert found(producer="acks=all") == {}


def test_the_state_must_outlive_a_broker():
    copies, least = (f"share.coordinator.state.topic.{each}" for each in ("replication.factor", "min.isr"))
    troubles = found(broker=f"{copies}=1\n{least}=2")
    assert troubles == {copies: (1, 3, "broker.properties"), least: (2, 1, "broker.properties")}


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"share.lock.duration.ms": 1}, "unknown setting of a share group that is looked at"),
        ({LOCK: "long"}, "share.record.lock.duration.ms is a number, and the group has 'long'"),
        ({"share.isolation.level": "committed"}, "did you mean 'read_committed'"),
    ],
)
def test_settings_that_no_group_has_are_refused(settings, words):
    with pytest.raises(KafkaLearnError, match=words):
        found(settings)


def test_releases_without_share_groups_for_production_are_refused():
    with pytest.raises(KafkaLearnError, match=r"for production since 4.2 \(KIP-932\); the release is 4.1"):
        found(release="4.1")
    with pytest.raises(KafkaLearnError, match="processing_ms must be at least 1"):
        Share({}, 0)


WORDS = ["safe", "--replicas", "3", "--min-isr", "2", "--elr", "yes"]


def test_the_command_says_it_and_a_group_in_trouble_is_found():
    code, out, _ = asked([*WORDS, "--share", "errors.deadletterqueue.topic.name=dlq.jobs", "--processing-ms", "45000"])
    assert code == Outcome.FOUND
    assert "Set\nshare.record.lock.duration.ms = 60000" in out or "share.record.lock.duration.ms = 60000" in out
    assert asked(WORDS)[0] == Outcome.FINE
    code, out, _ = asked([*WORDS, "--processing-ms", "10", "--json"])
    assert [each["setting"] for each in json.loads(out)["share"]] == ["errors.deadletterqueue.topic.name"]
    assert "--share takes NAME=VALUE" in asked([*WORDS, "--share", "x"])[2]


def test_the_answer_says_what_a_share_group_gives_up_in_any_case():
    answer = safe(replication_factor=3, min_insync_replicas=2, has_eligible_leader_replicas=True, share=Share(LETTERS))
    assert answer.outcome is Outcome.FINE
    assert any("gives up order" in each for each in answer.notes)
    assert any("a new group reads nothing that was written before its first fetch" in each for each in answer.notes)


def test_why_knows_a_share_group_by_its_lines():
    front = "[2026-11-28 14:40:{:02},000] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=0] "
    back = " (org.apache.kafka.coordinator.group.GroupMetadataManager)"
    said = (
        "[GroupId jobs] Member m1 joins the share group using the share protocol.",
        "[GroupId jobs] Bumped group epoch to 2 with metadata hash 5.",
        "[GroupId jobs] Member m2 joins the share group using the share protocol.",
        "[GroupId jobs] Bumped group epoch to 3 with metadata hash 5.",
        "[GroupId jobs] Member m1 left the share group.",
        "[GroupId jobs] Bumped group epoch to 4 with metadata hash 5.",
    )
    answer = why([f"{front.format(place // 2)}{each}{back}" for place, each in enumerate(said)])
    assert "jobs (a share group: several members may have a partition, nobody waits)" in str(answer)
    assert "m1 left" in str(answer)
    assert answer.groups[0].is_share
