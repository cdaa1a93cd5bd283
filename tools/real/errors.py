"""What a consumer does about each error of its coordinator: tests/vectors/operations/heard-errors.json."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from kafkalearn.live import Kafka
from kafkalearn.live.errors import wait_for
from kafkalearn.live.proxy import Proxy
from kafkalearn.live.requests import request_of
from tools.real.told import Clients, config_text

FILE = "operations/heard-errors.json"
ABOUT = (
    "A Java consumer, one of each kind, and a proxy that puts an error into the answer to one of its requests, or cuts "
    "the connection in its place (no connection): the requests about the group that it sent within a second and a half "
    "after it, in order, each with the epoch if it is a heartbeat of KIP-848; heartbeats that follow each other are "
    "given once. Kinds: classic member, KIP-848 member, committer (a consumer without a group that commits), newcomer "
    "(its first JoinGroup). Written by python3 -m tools.real errors."
)
CLASSIC, NEW, COMMITTER, NEWCOMER = "classic member", "KIP-848 member", "committer", "newcomer"
CUT = "no connection"
OF_ALL = (CUT, "NOT_COORDINATOR", "COORDINATOR_NOT_AVAILABLE", "COORDINATOR_LOAD_IN_PROGRESS", "UNKNOWN_MEMBER_ID")
ASKED = (
    *((CLASSIC, "Heartbeat", error) for error in (*OF_ALL, "REBALANCE_IN_PROGRESS")),
    *((NEW, "ConsumerGroupHeartbeat", error) for error in (*OF_ALL, "FENCED_MEMBER_EPOCH")),
    *((COMMITTER, "OffsetCommit", error) for error in OF_ALL[:-1]),
    *((NEWCOMER, "JoinGroup", error) for error in OF_ALL),
)
ABOUT_GROUPS = (
    "FindCoordinator", "JoinGroup", "SyncGroup", "Heartbeat", "LeaveGroup", "OffsetCommit", "ConsumerGroupHeartbeat",
)  # fmt: skip
REPEATED = ("Heartbeat", "ConsumerGroupHeartbeat", "FindCoordinator")
SECONDS, LONG_S = 1.5, 3.0
CONFIG = {
    "group.consumer.min.heartbeat.interval.ms": 50,
    "group.consumer.heartbeat.interval.ms": 200,
    "offsets.topic.num.partitions": 1,
}


class Ear:
    """What one client has asked about its group."""

    def __init__(self) -> None:
        """Nobody is listened to."""
        self.client = ""
        self.heard: list[tuple[int, list[Any]]] = []  # after how many broken answers, and what
        self.broken: Callable[[], int] = lambda: 0

    def hear(self, name: str, _: int, message: bytes) -> None:
        """Keep a request of the client."""
        if name not in ABOUT_GROUPS:
            return
        request = request_of(message)
        if request[2] == self.client:
            kept = [name, request[3]["memberEpoch"]] if name == "ConsumerGroupHeartbeat" else [name]
            self.heard.append((self.broken(), kept))


def recorded(version: str, line: str) -> list[dict[str, Any]]:
    """Every kind and error, by a broker and clients of a release."""
    ear, cases = Ear(), list[dict[str, Any]]()
    with Proxy(heard=ear.hear) as proxy, Kafka(release=line, config={**CONFIG, **proxy.config}) as kafka:
        proxy.forward_to(kafka)
        kafka.create_topic("orders", 1)
        with Clients(f"127.0.0.1:{proxy.port}", version) as clients:
            for number, (kind, api, error) in enumerate(ASKED):
                then = _heard(proxy, clients, ear, f"{api}-{number}", kind, api, error)
                cases.append(
                    {"name": f"{kind}, {api}: {error}", "client": kind, "api": api, "error": error, "then": then}
                )
                print(cases[-1], flush=True)
    return cases


def _heard(proxy: Proxy, clients: Clients, ear: Ear, name: str, kind: str, api: str, error: str) -> list[list[Any]]:
    before = proxy.broken[api]
    ear.client, ear.broken = name, lambda: proxy.broken[api]
    ear.heard.clear()
    config = {"group.id": name, "enable.auto.commit": False, "auto.offset.reset": "earliest"}
    own = {"group.protocol": "consumer"} if kind == NEW else {"heartbeat.interval.ms": 200}
    clients.ask(name, "consumer", config_text({**config, **own}))
    if kind == COMMITTER:
        clients.ask(name, "assign", "orders-0")
        clients.ask(name, "commit", "orders-0", 0)
    else:
        if kind == NEWCOMER:
            _break(proxy, api, error)
        clients.ask(name, "subscribe", "orders")
        clients.ask(name, "run", "silently")
        if kind != NEWCOMER:
            time.sleep(LONG_S)
    if kind != NEWCOMER:
        _break(proxy, api, error)
    if kind == COMMITTER:
        clients.ask(name, "commit", "orders-0", 1)
    wait_for(lambda: proxy.broken[api] > before, True, f"{name} is answered {error}")
    time.sleep(SECONDS)
    then = [kept for broken, kept in list(ear.heard) if broken > before]
    ear.client = ""
    clients.ask(name, "close")
    return _without_repeats(then)


def _break(proxy: Proxy, api: str, error: str) -> None:
    if error == CUT:
        proxy.swallow(api, count=1)
    else:
        proxy.answer_with(api, error)


def _without_repeats(heard: Sequence[list[Any]]) -> list[list[Any]]:
    kept: list[list[Any]] = []
    for each in heard:
        if not (kept and kept[-1] == each and each[0] in REPEATED):
            kept.append(each)
    return kept
