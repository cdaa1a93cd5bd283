"""What the clients of a story asked their coordinator for: see tests/vectors/group/client-stories.json."""

import pytest

from kafkalearn.groups.classic import model as classic
from kafkalearn.groups.consumer.events import ConsumerGroupHeartbeat
from kafkalearn.scenarios.consumers import Network
from kafkalearn.scenarios.playing import simulate
from tests.recorded import recorded

CASES = recorded("client-stories")["cases"]
POLL_MS = 50  # the recorded applications are in poll() nearly always


@pytest.fixture
def played(monkeypatch):
    """Plays a story; gives the requests of each process, and the outcome."""
    requests = {}
    send = Network.send

    def heard(network, consumer, receive, *request):
        kept = kept_of(request[-1])
        if kept is not None:
            requests.setdefault(f"{consumer.name}.{consumer.incarnation}", []).append(kept)
        send(network, consumer, receive, *request)

    monkeypatch.setattr(Network, "send", heard)

    def play(case):
        settings = {**case["settings"], "processing.ms": POLL_MS}
        return requests, simulate(case["story"], case["protocol"], case["assignor"], settings=settings)

    return play


def kept_of(request):
    """A request in the form of the recording; None for one that says nothing."""
    match request:
        case classic.JoinGroup():
            assignors = [name for name, _ in request.protocols]
            timeouts = [request.session_timeout_ms, request.rebalance_timeout_ms]
            return ["JoinGroup", bool(request.member_id), assignors, request.instance_id, *timeouts]
        case classic.SyncGroup():
            return ["SyncGroup", request.generation, len(request.assignments)]
        case classic.LeaveGroup():
            return ["LeaveGroup"]
        case ConsumerGroupHeartbeat():
            if request.member_epoch > 0 and request.topics is request.owned is None:
                return None
            return [
                "ConsumerGroupHeartbeat",
                request.member_epoch,
                None if request.topics is None else sorted(request.topics),
                None if request.owned is None else len(request.owned),
                request.instance_id,
                -1 if request.rebalance_timeout_ms is None else request.rebalance_timeout_ms,
                request.assignor,
            ]
    return None


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_every_process_sends_the_same_requests_in_the_same_order(case, played):
    requests, _ = played(case)
    assert requests == case["requests"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_at_rest_every_process_owns_as_many_partitions(case, played):
    _, outcome = played(case)
    for at_ms, owned in case["rests"]:
        members = outcome.at(at_ms - 1).state.members
        theirs = {label.partition(".")[0]: count for label, count in owned.items()}
        assert {each.name: len(each.owned) for each in members if each.doing != "gone"} == theirs, at_ms


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_between_two_heartbeats_passes_the_interval(case):
    """Of the broker's setting with the new protocol, of the client's with the classic one: both are 200 ms here."""
    (interval_ms,) = {case["settings"][f"{side}heartbeat.interval.ms"] for side in ("", "group.consumer.")}
    for label, beat_ms in case["beats"].items():
        assert beat_ms is None or interval_ms <= beat_ms <= 1.5 * interval_ms, label
