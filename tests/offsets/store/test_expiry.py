import pytest

from kafkalearn.offsets.replay import CONSUMER, STREAMS, Committed, Group, Member
from kafkalearn.offsets.store.model import MINUTE_MS, Settings
from kafkalearn.offsets.store.requests import is_expired
from kafkalearn.releases.lines import RELEASES
from tests.every import every_case
from tests.offsets.store.released import sweeps, swept
from tests.recorded import recorded

ERAS = {
    "0.9-2.0": ["0.9.0", "1.1", "2.0"],
    "2.1+": ["2.1", "2.4", "3.0.0", "4.3"],
    "2.1-2.3": ["2.1", "2.2", "2.3"],
    "2.4+": ["2.4", "2.8.1", "3.0.0", "3.9", "4.3"],
    "2.8.2, 3.0.1+ (and 2.1-2.3)": ["2.1", "2.3", "2.8.2", "3.0.1", "4.3"],
}
RELEASES_THAT_DID = {
    "2.4.0": True,
    "2.8.1": True,
    "2.8.2": False,
    "3.0.0": True,
    "3.0.1": False,
    "3.1.0": True,
    "3.1.1": False,
    "3.2.0": False,
}


def group_of(case):
    topics = ("orders",) if case.get("subscribed") else ("other",)
    members = () if case["group_state"] == "Empty" else (Member("m", subscribed=topics),)
    protocol_type = case.get("protocol_type", "consumer")
    return Group(
        "g",
        state=case["group_state"],
        protocol_type=protocol_type,
        state_ms=case.get("current_state_ts"),
        members=members,
    )


def offset_of(case):
    asked_ms = case.get("request_retention_ms", -1)
    expire_ms = case.get("record_expire_ts") if asked_ms < 0 else case["commit_ts"] + asked_ms
    return Committed("orders", 0, 1, commit_ms=case["commit_ts"], expire_ms=expire_ms)


@every_case(
    ("case", "release"),
    [(case, release) for case in recorded("groups-expiry")["vectors"] for release in ERAS[case["era"]]],
    ids=lambda each: str(each.get("why") if isinstance(each, dict) else each),
)
def test_an_offset_expires_when_kafkas_rule_says_so(case, release):
    retention_ms = case["retention_minutes"] * MINUTE_MS
    pending = case.get("pending_commit", False)
    assert is_expired(group_of(case), offset_of(case), case["now"], retention_ms, release, pending) == case["expired"]


def test_every_recorded_case_is_asked():
    assert {case["era"] for case in recorded("groups-expiry")["vectors"]} == set(ERAS)


@pytest.mark.parametrize(("release", "is_gone"), RELEASES_THAT_DID.items())
def test_some_releases_expired_unsubscribed_offsets_during_a_rebalance(release, is_gone):
    group = Group("g", state="PreparingRebalance", protocol_type="consumer", members=(Member("m", subscribed=("a",)),))
    assert is_expired(group, Committed("b", 0, 1, commit_ms=0), 1000, 1000, release) == is_gone


@every_case("scenario", recorded("groups-expiry-released")["scenarios"], ids=lambda each: each["name"])
def test_a_sweep_writes_the_tombstones_that_the_coordinator_of_each_release_wrote(scenario):
    asked = sweeps(scenario)
    assert asked
    assert [(release, now_ms, swept(scenario, release, now_ms)) for release, now_ms, _ in asked] == asked


@pytest.mark.parametrize("kind", [CONSUMER, STREAMS])
@pytest.mark.parametrize(("topic", "is_gone"), [("a", False), ("b", True)])
def test_a_group_of_a_newer_protocol_keeps_what_it_subscribes_to(kind, topic, is_gone):
    group = Group("g", kind, "Stable", kind, members=(Member("m", subscribed=("a",)),))
    assert is_expired(group, Committed(topic, 0, 1, commit_ms=0), 1000, 1000) == is_gone


def test_nothing_expires_while_a_subscription_cannot_be_read():
    group = Group("g", state="Stable", protocol_type="consumer", members=(Member("m", subscribed=None),))
    assert not is_expired(group, Committed("b", 0, 1, commit_ms=0), 10**12, 1000)


def test_the_default_retention_is_a_day_up_to_1_1_and_a_week_since():
    days = {release: Settings(release).retention_ms // (1440 * MINUTE_MS) for release in RELEASES}
    assert [days[release] for release in ("0.8.2", "1.1", "2.0", "4.3")] == [1, 1, 7, 7]
