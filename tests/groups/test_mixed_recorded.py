"""What real brokers answered a group with members of both protocols, and the records that it left."""

from collections import Counter

import pytest

from kafkalearn.groups import classic, consumer
from kafkalearn.groups.mixed import Settings, Subscription, start, step
from tests.recorded import recorded

RECORDED = recorded("mixed-requests")


def name_of(case):
    return f"{case['id']}-{case['policy']}-{case['release']}"


def test_the_recording_has_every_request_and_both_changes_in_three_releases_and_one_trap_in_4_2():
    assert Counter(case["release"] for case in RECORDED["cases"]).keys() == {"4.0.2", "4.2.1", "4.3.1", "4.4.0"}
    steps = [(case, each) for case in RECORDED["cases"] for each in case["trace"]]
    ops = {each["step"]["op"] for _, each in steps}
    assert ops == {"join", "sync", "heartbeat", "leave", "beat", "commit", "fetch", "sleep", "move", "delete"}
    errors = {answer["error"] for _, each in steps for answer in each.get("responses", [])}
    assert errors >= {
        "REBALANCE_IN_PROGRESS", "ILLEGAL_GENERATION", "STALE_MEMBER_EPOCH", "UNKNOWN_MEMBER_ID", "FENCED_INSTANCE_ID",
        "GROUP_ID_NOT_FOUND", "GROUP_MAX_SIZE_REACHED", "INCONSISTENT_GROUP_PROTOCOL", "UNSUPPORTED_VERSION",
        "UNKNOWN_SERVER_ERROR", "MEMBER_ID_REQUIRED",
    }  # fmt: skip


ASKS_THEM_TO_JOIN = {"4.2.1": "REBALANCE_IN_PROGRESS", "4.3.1": "NONE", "4.4.0": "NONE"}


@pytest.mark.parametrize("case", [each for each in RECORDED["cases"] if each["id"].startswith("last-new")], ids=name_of)
def test_where_only_the_way_up_is_allowed_the_last_new_member_left_partitions_that_nobody_read_until_a_join(case):
    """Since 4.3 no heartbeat of a classic member asks it to join, whether others go meanwhile or time passes."""
    trace = iter(case["trace"])
    group = next(each["group"] for each in trace if each.get("group", {}).get("state") == "Assigning")
    answers = []
    for each in trace:
        if each["step"]["op"] == "join":
            break
        group = each.get("group", group)
        answers += [answer["error"] for answer in each["responses"] if answer["response"] == "heartbeat"]
        assert (group["type"], group["state"]) == ("consumer", "Assigning")
        assert sum(len(member["assigned"]["t"]) for member in group["members"].values()) == 2 * len(group["members"])
    assert answers == [ASKS_THEM_TO_JOIN[case["release"]]] * len(answers)
    assert len(answers) >= 3
    joined = [each["group"] for each in case["trace"] if "group" in each][-1]
    assert joined["state"] == ("Assigning" if case["id"] == "last-new-dies" else "Stable")


@pytest.mark.parametrize("release", ["4.0.2", "4.3.1", "4.4.0"])
def test_user_data_of_the_assignment_keeps_a_group_classic_and_that_of_a_subscription_does_not(release):
    types = {}
    for case in RECORDED["cases"]:
        if case["release"] == release and case["id"].startswith("user-data"):
            (types[case["id"]],) = [each["group"]["type"] for each in case["trace"] if "group" in each][-1:]
    assert types == {"user-data-of-assignment": "classic", "user-data-of-subscription": "consumer"}


@pytest.mark.parametrize(("release", "state"), [("4.2.1", "Stable"), ("4.3.1", "PreparingRebalance")])
def test_a_group_that_goes_back_with_an_old_target_begins_a_rebalance_since_4_3(release, state):
    """As 4.0 to 4.4 have it: until 4.2 a changed subscription alone leads to one, since 4.3 whatever made it old."""
    settings = Settings(release, "bidirectional", consumer=consumer.Settings(release, topics={"t": 4}))
    group = start(settings)
    for event in (
        consumer.join("n1", ("t",), instance_id="i"),
        consumer.join("n2", ("t",)),
        consumer.leave("n2"),  # the group epoch goes up, and no heartbeat has led to a new target yet
        classic.JoinGroup("c", protocols=(("range", Subscription(("t",))),), instance_id="i", drawn_id="c"),
    ):
        group = step(settings, group, event)
    answer = group.effects[-1]
    assert (group.group_type, group.state, group.member_ids) == ("Classic", state, ("c",))
    assert (answer.error, answer.generation) == ("NONE", 0 if state == "PreparingRebalance" else 2)
