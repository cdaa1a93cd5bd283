"""Lag on a running cluster: each cause of one scene is named, and the cluster is only read."""

from __future__ import annotations

import importlib
import json
import time
from types import SimpleNamespace

import pytest

from kafkalearn.live import Kafka, connect
from kafkalearn.live.proxy import Proxy
from kafkalearn.oncall.command import main
from kafkalearn.oncall.lag_looks import cluster_look, described_look
from tests.live.lagging import SETTINGS, Lagging
from tests.live.test_connect import READING

pytestmark = pytest.mark.live

CAUSES = {
    "marker": "markers", "open": "open transaction", "compacted": "not committing", "fresh": "empty",
    "before": "before the start", "beyond": "beyond the end", "unowned": "nobody owns it",
    "falling": "falls", "growing": "grows", "stuck": "not committing",
}  # fmt: skip


def test_a_cluster_is_looked_at_twice_and_each_cause_is_named(release, capsys, monkeypatch):
    with Proxy() as proxy, Kafka(1, release, {**proxy.config, **SETTINGS}) as kafka:
        proxy.forward_to(kafka)
        scene = Lagging(kafka)
        try:
            with connect(kafka.bootstrap) as cluster:
                seen = {each.at: (each.committed, each.end) for each in cluster_look(cluster).partitions}
            printed = {each.at: (each.committed, each.end) for each in described_look(scene.described()).partitions}
            assert seen == printed

            proxy.reset()
            with connect(f"127.0.0.1:{proxy.port}") as cluster:
                cluster_look(cluster)
            asked = set(proxy.counts)
            waits = SimpleNamespace(sleep=lambda _: scene.go_on(), monotonic=time.monotonic)
            monkeypatch.setattr(importlib.import_module("kafkalearn.oncall.lag"), "time", waits)
            code = main(["lag", "--bootstrap", kafka.bootstrap, "--apart", "5", "--json"])
            data = json.loads(capsys.readouterr().out)
        finally:
            scene.close()

    assert code == 1
    assert {each["topic"]: each["cause"] for each in data["partitions"]} == CAUSES
    (compacted,) = [each for each in data["partitions"] if each["topic"] == "compacted"]
    assert "hold records to read" in compacted["words"]
    assert asked <= READING | {"Heartbeat"}  # the scene's own consumer goes the same way
