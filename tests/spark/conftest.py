"""What tests of several rules on Spark share: both ways to Java's functions, and five minutes of a cluster's logs."""

from types import SimpleNamespace

import pytest

from kafkalearn.spark import columns, coordinator, partitioning
from kafkalearn.spark.data.logs import UNTIL_MS, generate_appends, generate_fetches
from kafkalearn.spark.replication import isr_changes, replayed

SEED, PARTITION_COUNT = 23, 12


@pytest.fixture(params=["compiled", "public"])
def route(request, monkeypatch):
    """Java's functions compiled into the query, and the public way, which Spark Connect takes."""
    if request.param == "public":
        for module in (columns, coordinator, partitioning):
            monkeypatch.setattr(module, "static_call", lambda *arguments: None)


@pytest.fixture(scope="session")
def logs(spark):
    """Twelve partitions: some with a follower on the broker that stalls, one with a laggard, one that stops."""
    fetches = generate_fetches(spark, PARTITION_COUNT, SEED).cache()
    appends = generate_appends(spark, PARTITION_COUNT, SEED).cache()
    changes = isr_changes(fetches, appends, UNTIL_MS).cache()
    return SimpleNamespace(fetches=fetches, appends=appends, changes=changes)


@pytest.fixture(scope="session")
def played(logs):
    """What the simulator makes of each partition."""
    return {at: replayed(logs.fetches, logs.appends, "orders", at, UNTIL_MS) for at in range(PARTITION_COUNT)}
