"""The requests of each stage, in order, as `kafkalearn.exercises.build.playing` has them.

The classic requests are in the newest versions before KIP-482, whose encoding is plain; those of KIP-848 have no such.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from kafkalearn.exercises.build.playing import Step, as_json
from kafkalearn.live import request_values as values
from kafkalearn.offsets.protocol import Subscription, encode_subscription

BILLING, REFUNDS, SEARCH, ORDERS = "<group billing>", "<group refunds>", "<group search>", "<topic orders>"
VERSIONS = MappingProxyType(
    {
        "FindCoordinator": 2,
        "JoinGroup": 5,
        "SyncGroup": 3,
        "Heartbeat": 3,
        "LeaveGroup": 3,
        "OffsetCommit": 7,
        "OffsetFetch": 5,
        "DeleteGroups": 1,
        "ConsumerGroupHeartbeat": 1,
    }
)
LONG_MS, SHORT_MS = 60_000, 4000
INITIAL_MS, TWICE_MS = 1300, 2500
"""Longer than group.initial.rebalance.delay.ms, which is 1000; and longer than two of it."""
SUBSCRIPTION = encode_subscription(Subscription(("orders",), version=0))

Stage = list[Step]


def member(client: str) -> str:
    """The id that a client was given."""
    return f"<member {client}>"


def asked(client: str, request: str, fields: Mapping[str, Any], version: int | None = None) -> Step:
    """A request of a client."""
    chosen = VERSIONS[request] if version is None else version
    return {"client": client, "request": request, "version": chosen, "fields": as_json(dict(fields))}


def wait(ms: int) -> Step:
    """Time that passes."""
    return {"wait_ms": ms}


def find(group_id: str) -> Step:
    """FindCoordinator."""
    return asked("a", "FindCoordinator", {"key": group_id, "keyType": 0})


def join(
    client: str,
    member_id: str | None = None,
    protocols: Sequence[str] = ("range",),
    session_ms: int = LONG_MS,
    rebalance_ms: int = LONG_MS,
    instance: str | None = None,
    group_id: str = BILLING,
    kind: str = "consumer",
    metadata: bytes = SUBSCRIPTION,
) -> Step:
    """JoinGroup; with the id that the client was given, unless another is said."""
    fields = values.join_group(
        group_id,
        member(client) if member_id is None else member_id,
        dict.fromkeys(protocols, metadata),
        session_ms,
        rebalance_ms,
        instance,
        kind,
    )
    return asked(client, "JoinGroup", {"groupInstanceId": None, **fields})


def sync(
    client: str,
    generation: int,
    parts: Mapping[str, str] = MappingProxyType({}),
    member_id: str | None = None,
    instance: str | None = None,
    group_id: str = BILLING,
) -> Step:
    """SyncGroup; the leader has the parts of all, by client."""
    given = {member(each): part.encode() for each, part in parts.items()}
    fields = values.sync_group(
        group_id, member(client) if member_id is None else member_id, generation, given, instance
    )
    return asked(client, "SyncGroup", {"groupInstanceId": None, **fields})


def beat(
    client: str,
    generation: int,
    member_id: str | None = None,
    instance: str | None = None,
    group_id: str = BILLING,
) -> Step:
    """Heartbeat."""
    fields = values.heartbeat(group_id, member(client) if member_id is None else member_id, generation, instance)
    return asked(client, "Heartbeat", {"groupInstanceId": None, **fields})


def leave(client: str, *members: tuple[str, str | None]) -> Step:
    """LeaveGroup; of the client itself if nobody is named, else of each (id, instance id)."""
    left = [{"memberId": each, "groupInstanceId": instance} for each, instance in members or ((member(client), None),)]
    return asked(client, "LeaveGroup", {"groupId": BILLING, "members": left})


def commit(
    client: str,
    offsets: Mapping[tuple[str, int], int],
    member_id: str = "",
    generation: int = -1,
    metadata: str = "",
    group_id: str = BILLING,
    instance: str | None = None,
    version: int | None = None,
) -> Step:
    """OffsetCommit, of nobody in particular unless a member is named."""
    topics: dict[str, list[dict[str, Any]]] = {}
    for (topic, partition), offset in offsets.items():
        one = {"partitionIndex": partition, "committedOffset": offset, "committedLeaderEpoch": -1}
        topics.setdefault(topic, []).append({**one, "committedMetadata": metadata})
    fields = {
        "groupId": group_id,
        "generationIdOrMemberEpoch": generation,
        "memberId": member_id,
        "groupInstanceId": instance,
        "topics": [{"name": topic, "partitions": partitions} for topic, partitions in topics.items()],
    }
    return asked(client, "OffsetCommit", fields, version)


def fetch(partitions: Iterable[int] | None = (0,), group_id: str = BILLING) -> Step:
    """OffsetFetch, of some partitions of orders; None: of all that is committed."""
    topics = None if partitions is None else [{"name": "orders", "partitionIndexes": list(partitions)}]
    return asked("tool", "OffsetFetch", {"groupId": group_id, "topics": topics})


def delete(group_id: str = BILLING) -> Step:
    """DeleteGroups."""
    return asked("tool", "DeleteGroups", {"groupsNames": [group_id]})


def joined(*clients: str, session_ms: Mapping[str, int] = MappingProxyType({}), **more: Any) -> Stage:
    """A new group whose members come at once, the first of them as its leader; nobody has an assignment yet."""
    ids = [join(each, "", session_ms=session_ms.get(each, LONG_MS), **more) for each in clients]
    joins = [join(each, session_ms=session_ms.get(each, LONG_MS), **more) for each in clients]
    return [*ids, *joins, wait(INITIAL_MS if len(clients) == 1 else TWICE_MS)]


def stable(*clients: str, **more: Any) -> Stage:
    """The same with an assignment for each: generation 1."""
    parts = {each: f"orders-{number}" for number, each in enumerate(clients)}
    return [*joined(*clients, **more), sync(clients[0], 1, parts), *(sync(each, 1) for each in clients[1:])]


def epoch(client: str, number: int, **more: Any) -> Step:
    """ConsumerGroupHeartbeat; 0 joins, -1 leaves."""
    owned = more.pop("owned", None)
    fields = values.consumer_heartbeat(
        more.pop("group_id", BILLING),
        more.pop("member_id", f"member-{client}"),
        number,
        owned=None if owned is None else ({ORDERS: owned} if owned else {}),
        **more,
    )
    return asked(client, "ConsumerGroupHeartbeat", fields)


def comes(client: str, **more: Any) -> Step:
    """A new member of KIP-848."""
    given = {"topics": ["orders"], "owned": [], "assignor": "range", "rebalance_timeout_ms": LONG_MS, **more}
    return epoch(client, 0, **given)


OF_OTHERS = ("shipping", "订单-7")
"""Groups that broker 3 and broker 2 coordinate."""

SCRIPTS: Mapping[str, Stage] = MappingProxyType(
    {
        "which_broker": [
            find(each)
            for each in ("billing", "shipping", "订单-7", "console-consumer-77682", "polygenelubricants", "search")
        ],
        "not_mine": [
            beat("a", 1, "nobody", group_id=OF_OTHERS[0]),
            join("a", "", group_id=OF_OTHERS[0]),
            sync("a", 1, member_id="nobody", group_id=OF_OTHERS[1]),
            commit("a", {("orders", 0): 7}, group_id=OF_OTHERS[1]),
            fetch(group_id=OF_OTHERS[0]),
            join("a", "", group_id=""),
            beat("a", 1, "nobody", group_id=""),
            beat("a", 1, "nobody"),
        ],
        "an_id_first": [
            join("a", ""),
            join("b", ""),
            join("c", "nobody"),
            join("c", "", session_ms=999),
            join("c", "", session_ms=1_800_001),
            join("c", "", protocols=()),
            join("c", "", kind=""),
            beat("a", 0),
            join("c", "", session_ms=1000),
        ],
        "alone": [
            join("a", ""),
            join("a"),
            wait(INITIAL_MS),
        ],
        "wait_for_others": [
            join("a", ""),
            join("b", ""),
            join("a"),
            wait(200),
            join("b"),
            wait(900),
            wait(1500),
        ],
        "hand_out": [
            *joined("a"),
            sync("a", 2, {"a": "orders-0"}),
            sync("x", 1, {"a": "orders-0"}, member_id="nobody"),
            sync("a", 1, {"a": "orders-0, orders-1, orders-2"}),
            sync("a", 1),
            sync("a", 0),
            join("b", ""),
        ],
        "followers_wait": [
            *joined("a", "b"),
            sync("b", 1),
            beat("b", 1),
            beat("a", 1),
            sync("a", 1, {"a": "orders-0, orders-1", "b": "orders-2"}),
            sync("b", 1),
            beat("b", 1),
        ],
        "heartbeat": [
            beat("a", 1, "nobody"),
            *stable("a"),
            beat("a", 1),
            beat("a", 0),
            beat("a", 2),
            beat("x", 1, "nobody"),
            beat("x", 1, ""),
            beat("x", 1, "nobody", group_id=REFUNDS),
        ],
        "a_second_member": [
            *stable("a"),
            join("b", ""),
            beat("a", 1),
            join("b"),
            beat("a", 1),
            sync("a", 1),
            join("a"),
            beat("a", 1),
            sync("b", 2),
            sync("a", 2, {"a": "orders-0", "b": "orders-1, orders-2"}),
            beat("a", 2),
            join("b"),
            join("a"),
            beat("b", 2),
            join("b"),
        ],
        "one_protocol": [
            join("a", "", protocols=("sticky", "range")),
            join("b", "", protocols=("roundrobin", "range", "sticky")),
            join("c", "", protocols=("range", "roundrobin", "sticky")),
            join("a", protocols=("sticky", "range")),
            join("b", protocols=("roundrobin", "range", "sticky")),
            join("c", protocols=("range", "roundrobin", "sticky")),
            join("d", "", protocols=("roundrobin",)),
            join("d", "", protocols=("range",), kind="connect"),
            wait(TWICE_MS),
            join("d", "", protocols=("roundrobin", "cooperative-sticky")),
        ],
        "leave": [
            *stable("a", "b"),
            leave("x", ("nobody", None)),
            leave("b"),
            beat("b", 1),
            beat("a", 1),
            join("a"),
            sync("a", 2, {"a": "orders-0, orders-1"}),
            leave("a"),
            beat("a", 2),
        ],
        "session": [
            *stable("a", "b", session_ms={"b": SHORT_MS}),
            wait(2000),
            beat("b", 1),
            wait(2500),
            beat("b", 1),
            beat("a", 1),
            wait(5000),
            beat("b", 1),
            beat("a", 1),
            join("a"),
            sync("a", 2, {"a": "orders-0, orders-1"}),
            join("e", "", session_ms=SHORT_MS),
            join("a"),
            wait(5000),
            join("e", session_ms=SHORT_MS),
        ],
        "rebalance_timeout": [
            *stable("a", "b", rebalance_ms=SHORT_MS),
            join("c", "", rebalance_ms=SHORT_MS),
            join("c", rebalance_ms=SHORT_MS),
            join("a", rebalance_ms=SHORT_MS),
            beat("b", 1),
            wait(5000),
            beat("b", 1),
            sync("c", 2),
            wait(4000),
            beat("a", 2),
            beat("c", 2),
        ],
        "static": [
            join("a", "", instance="pod-1"),
            join("b", "", instance="pod-2"),
            wait(TWICE_MS),
            sync("a", 1, {"a": "orders-0, orders-1", "b": "orders-2"}, instance="pod-1"),
            sync("b", 1, instance="pod-2"),
            join("b2", "", instance="pod-2"),
            beat("a", 1, instance="pod-1"),
            sync("b2", 1, instance="pod-2"),
            beat("b2", 1, instance="pod-2"),
        ],
        "fenced": [
            join("a", "", instance="pod-1"),
            wait(INITIAL_MS),
            sync("a", 1, {"a": "orders-0"}, instance="pod-1"),
            join("a2", "", instance="pod-1"),
            beat("a", 1, instance="pod-1"),
            sync("a", 1, instance="pod-1"),
            join("a", instance="pod-1"),
            commit("a", {("orders", 0): 3}, member("a"), 1, instance="pod-1"),
            beat("a", 1),
            beat("a", 1, instance="pod-9"),
            leave("a", (member("a"), "pod-1"), ("nobody", "pod-9")),
            beat("a2", 1, instance="pod-1"),
            leave("tool", ("", "pod-1")),
            beat("a2", 1, instance="pod-1"),
        ],
        "commit": [
            commit("tool", {("orders", 0): 5}),
            fetch((0, 1)),
            *stable("a"),
            commit("a", {("orders", 0): 7, ("orders", 1): 9}, member("a"), 1, "by a"),
            fetch((0, 1, 2)),
            commit("a", {("orders", 0): 8}, member("a"), 2),
            commit("x", {("orders", 0): 8}, "nobody", 1),
            commit("tool", {("orders", 0): 8}),
            commit("a", {("orders", 3): 1, ("orders", 2): 4, ("invoices", 0): 1}, member("a"), 1),
            commit("a", {("orders", 1): 10}, member("a"), 1, "x" * 4097),
            commit("a", {("orders", 0): 2}, member("a"), 1),
            fetch((0, 1, 2)),
        ],
        "fetch": [
            fetch((0,)),
            fetch(None),
            commit("tool", {("orders", 2): 11, ("orders", 0): 0}, metadata="here"),
            fetch(None),
            fetch((0, 1)),
            fetch(None, group_id=REFUNDS),
            commit("x", {("orders", 0): 1}, "nobody", 1),
            commit("x", {("orders", 0): 1}, "nobody", 1, group_id=REFUNDS),
            fetch((0,), group_id=""),
        ],
        "commit_in_between": [
            *stable("a", "b"),
            join("c", ""),
            join("c"),
            commit("a", {("orders", 0): 4}, member("a"), 1),
            join("a"),
            commit("b", {("orders", 1): 6}, member("b"), 1),
            join("b"),
            commit("a", {("orders", 0): 5}, member("a"), 2),
            commit("b", {("orders", 1): 7}, member("b"), 1),
            sync("a", 2, {"a": "orders-0", "b": "orders-1", "c": "orders-2"}),
            commit("a", {("orders", 0): 5}, member("a"), 2),
            commit("b", {("orders", 1): 7}, member("b"), 1),
            fetch(None),
        ],
        "delete": [
            delete(),
            *stable("a"),
            commit("a", {("orders", 0): 4}, member("a"), 1),
            delete(),
            leave("a"),
            fetch(None),
            *joined("b"),
            leave("b"),
            delete(),
            fetch(None),
            delete(),
            *joined("c"),
        ],
        "expiry": [
            commit("tool", {("orders", 0): 4}, group_id=REFUNDS),
            join("a", "", instance="pod-1"),
            join("b", "", instance="pod-2", session_ms=10 * LONG_MS, group_id=SEARCH),
            wait(INITIAL_MS),
            sync("a", 1, {"a": "orders-0"}, instance="pod-1"),
            commit("a", {("orders", 0): 5}, member("a"), 1, instance="pod-1"),
            sync("b", 1, {"b": "orders-0"}, instance="pod-2", group_id=SEARCH),
            commit("b", {("orders", 0): 6}, member("b"), 1, instance="pod-2", group_id=SEARCH),
            wait(8000),
            leave("tool", ("", "pod-1")),
            fetch(None, group_id=REFUNDS),
            wait(53_000),
            fetch(None, group_id=REFUNDS),
            fetch(None),
            fetch(None, group_id=SEARCH),
            wait(9000),
            fetch(None),
            delete(),
            fetch(None, group_id=SEARCH),
        ],
        "one_heartbeat": [
            comes("a"),
            epoch("a", 2),
            epoch("a", 2, owned=[0, 1, 2]),
            epoch("a", 2, topics=["orders"], owned=[0, 1, 2], rebalance_timeout_ms=LONG_MS),
            epoch("a", 2, topics=["orders"]),
            epoch("a", -1),
            epoch("a", 2),
            comes("b"),
        ],
        "member_epochs": [
            epoch("x", 3),
            comes("a"),
            epoch("a", 3),
            epoch("a", 1),
            epoch("a", 2),
            epoch("x", 2),
            comes("b", topics=None),
            comes("b", rebalance_timeout_ms=-1),
            comes("b", owned=[0]),
            comes("b", assignor="sticky"),
            comes("b", member_id=""),
            comes("b", group_id=""),
            comes("a"),
            epoch("a", 2),
            epoch("b", -1),
        ],
        "reconciliation": [
            comes("a"),
            epoch("a", 2, owned=[0, 1, 2]),
            comes("b"),
            epoch("b", 3),
            epoch("a", 2),
            epoch("a", 2),
            epoch("b", 3),
            epoch("a", 2, owned=[0, 1, 2]),
            epoch("a", 2, owned=[0, 1]),
            epoch("b", 3),
            epoch("b", 3, owned=[2]),
            epoch("a", 2),
            epoch("a", 2, owned=[0, 1]),
            epoch("a", 3),
            epoch("b", 3, topics=[]),
            epoch("a", 3),
            epoch("b", 3, owned=[]),
            epoch("a", 4),
        ],
        "members_come_and_go": [
            comes("a"),
            epoch("a", 2, owned=[0, 1, 2]),
            comes("b"),
            comes("c"),
            epoch("a", 2),
            epoch("a", 2, owned=[0]),
            epoch("b", 3),
            epoch("c", 4),
            epoch("b", 4, owned=[1]),
            epoch("c", 4, owned=[2]),
            epoch("a", -1),
            epoch("a", 4),
            epoch("b", 4),
            epoch("c", 4),
            epoch("b", 5, owned=[0, 1]),
        ],
        "silent_member": [
            comes("a"),
            epoch("a", 2, owned=[0, 1, 2]),
            comes("b"),
            epoch("a", 2),
            epoch("a", 2, owned=[0, 1]),
            epoch("b", 3),
            wait(2500),
            epoch("a", 3, owned=[0, 1]),
            wait(3000),
            epoch("b", 3),
            epoch("a", 3),
            epoch("a", 4, owned=[0, 1, 2]),
            wait(2500),
            epoch("a", 4),
        ],
        "epochs_of_commits": [
            comes("a"),
            commit("a", {("orders", 0): 5}, "member-a", 2, version=9),
            commit("a", {("orders", 0): 6}, "member-a", 1, version=9),
            commit("a", {("orders", 0): 6}, "member-a", 3, version=9),
            commit("x", {("orders", 0): 6}, "member-x", 2, version=9),
            commit("tool", {("orders", 0): 6}, version=9),
            fetch(None),
            epoch("a", -1),
            commit("tool", {("orders", 0): 7}, version=9),
            fetch(None),
        ],
    }
)
"""The requests of each stage by its name, in the order of the stages."""
