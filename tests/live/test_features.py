"""The features of a cluster, as its brokers answer and as its tool prints; and what safe makes of them."""

from __future__ import annotations

import json

import pytest

from kafkalearn.live import Kafka, connect
from kafkalearn.oncall.command import main

pytestmark = pytest.mark.live


@pytest.mark.parametrize("is_on", [False, True])
def test_safe_reads_whether_eligible_leader_replicas_are_on(release, capsys, is_on):
    with Kafka(3, release, has_eligible_leader_replicas=is_on) as kafka:
        kafka.create_topic("orders", 1, 3, config={"min.insync.replicas": 2})
        printed = kafka.tool("features", "describe")
        with connect(kafka.bootstrap) as cluster:
            assert cluster.features().get("eligible.leader.replicas.version", 0) == int(is_on)
        code = main(["safe", "--topic-name", "orders", "--bootstrap", kafka.bootstrap, "--release", release, "--json"])
    (line,) = [each for each in printed.splitlines() if "eligible.leader.replicas.version" in each]

    assert f"FinalizedVersionLevel: {int(is_on)}" in line
    assert code == (0 if is_on else 1)
    assert bool(json.loads(capsys.readouterr().out)["harms"]) is not is_on
