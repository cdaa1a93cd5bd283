"""What the clients of a story asked their coordinator for: see tests/vectors/group/client-stories.json."""

import pytest

from kafkalearn.groups.classic import model as classic
from kafkalearn.groups.consumer.events import ConsumerGroupHeartbeat
from kafkalearn.scenarios.consumers import Network
from kafkalearn.scenarios.playing import simulate
from tests.recorded import recorded

CASES = recorded("client-stories")["cases"]
TAKEN_BACK = "a target is taken back"
"""The one story that ours tells otherwise; it ends alike."""

TOLD_ALIKE = [case for case in CASES if case["name"] != TAKEN_BACK]
POLL_MS = 50  # the recorded applications are in poll() nearly always
REST_MS = 2000  # so long after something has happened all is at rest, on a slow machine too


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
            if request.member_epoch < 0:
                return ["ConsumerGroupHeartbeat", request.member_epoch, request.instance_id]
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


def compared(requests, is_mixed):
    """What is compared: of who leaves no more than that, and of what it gets bit by bit the first and the last.

    A real one says too that it has nothing when it leaves, which no coordinator looks at; and when others give up what
    it is to have is a matter of a few ms. Who leads a group that has become a classic one again is drawn.
    """
    kept = []
    for request in requests:
        name, *_ = request
        if name == "SyncGroup" and is_mixed:
            request = request[:2]
        if name == "ConsumerGroupHeartbeat":
            _, epoch, *rest = request
            if epoch < 0 and len(rest) > 1:
                request = [name, epoch, rest[2]]
            elif kept and is_more_than(kept[-1], request):
                kept.pop()
        kept.append(request)
    return kept


def is_more_than(before, request):
    """Whether a confirmation only says that there are more partitions now than there were, and were some."""
    if before[:3] != [*request[:2], None] or request[2] is not None or len(before) < 4:
        return False
    return 0 < before[3] < request[3]


@pytest.mark.parametrize("case", TOLD_ALIKE, ids=lambda case: case["name"])
def test_every_process_sends_the_same_requests_in_the_same_order(case, played):
    requests, outcome = played(case)
    is_mixed = outcome.scenario.is_mixed
    ours, theirs = (
        {label: compared(each, is_mixed) for label, each in some.items()} for some in (requests, case["requests"])
    )
    assert ours == theirs


def test_without_auto_commit_what_is_taken_back_is_taken_up_first_with_the_next_poll(played):
    """With it, which is the default, a member at work confirms at once that it keeps what it has, as ours does."""
    (case,) = (case for case in CASES if case["name"] == TAKEN_BACK)
    requests, _ = played(case)
    ours, theirs = ([each[3] for each in some["c1.1"]] for some in (requests, case["requests"]))
    assert (ours, theirs) == ([0, 2, 1, 1], [0, 2, 1, 2, 1])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_at_rest_every_process_owns_as_many_partitions(case, played):
    _, outcome = played(case)
    before_ms = 0
    for at_ms, owned in case["rests"]:
        before_ms, passed_ms = at_ms, at_ms - before_ms
        if passed_ms < REST_MS:
            continue
        members = outcome.at(at_ms - 1).state.members
        theirs = {label.partition(".")[0]: count for label, count in owned.items()}
        ours = {each.name: len(each.owned) for each in members if each.doing not in ("gone", "working")}
        assert ours == theirs, at_ms


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_between_two_heartbeats_passes_the_interval(case):
    """Of the broker's setting with the new protocol, of the client's with the classic one: both are 200 ms here."""
    (interval_ms,) = {case["settings"][f"{side}heartbeat.interval.ms"] for side in ("", "group.consumer.")}
    for label, beat_ms in case["beats"].items():
        assert beat_ms is None or interval_ms <= beat_ms <= 1.5 * interval_ms, label
