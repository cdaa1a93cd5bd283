"""Requests that no client could send are refused where they are written down."""

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.groups.classic import Heartbeat, JoinGroup, LeaveGroup, Settings, SyncGroup, TimePassed

REFUSED = {
    "an assignor for the protocols": (lambda: JoinGroup("a", protocols="range"), "protocols must be a list or tuple"),
    "assignors without metadata": (
        lambda: JoinGroup("a", protocols=["range"]),
        r"protocols\[0\] must be a list or tup",
    ),
    "an assignor that is no text": (lambda: JoinGroup("a", protocols=[(1, ())]), r"protocols\[0\]\[0\] must be a str"),
    "metadata that cannot be hashed": (lambda: JoinGroup("a", protocols=[("range", [])]), "must be Hashable, got list"),
    "no client": (lambda: JoinGroup(None), "client must be a str, got NoneType None"),
    "an instance id of a number": (lambda: JoinGroup("a", instance_id=1), "instance_id must be a str, got int 1"),
    "a session of 2**31": (lambda: JoinGroup("a", session_timeout_ms=2**31), "session_timeout_ms must be at most"),
    "a rebalance timeout below 0": (lambda: JoinGroup("a", rebalance_timeout_ms=-1), "must be at least 0, got -1"),
    "a version that Kafka has not": (lambda: JoinGroup("a", version=10), "version must be at most 9, got 10"),
    "assignments as a text": (lambda: SyncGroup("a", "a-1", 1, "a-1"), "assignments must be a list or tuple"),
    "a generation of 5,000 digits": (lambda: Heartbeat("a", "a-1", 10**5000), "about 5,001 digits"),
    "a generation that is no number": (lambda: Heartbeat("a", "a-1", "1"), "generation must be a whole number"),
    "a member id of bytes": (lambda: LeaveGroup("a", b"a-1"), "member_id must be a str, got bytes"),
    "a time of 10**18 ms": (lambda: TimePassed(10**18), "ms must be at most 31,622,400,000"),
    "a time that runs backwards": (lambda: TimePassed(-1), "ms must be at least 0, got -1"),
    "a group of 2**31 members": (lambda: Settings(group_max_size=2**31), "group.max.size must be at most"),
}


@pytest.mark.parametrize(("make", "reason"), REFUSED.values(), ids=REFUSED)
def test_what_no_client_could_send_is_refused_with_the_reason(make, reason):
    with pytest.raises(KafkaLearnError, match=reason):
        make()


def test_a_list_will_do_where_a_tuple_is_kept():
    request = JoinGroup("a", protocols=[["range", ()]])
    assert request.protocols == (("range", ()),)
    assert hash(request)
