"""A real Kafka for tests: one broker for all that share it, clusters of their own for scenarios."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count

import pytest

from conformance.mechanisms.log import HOUSEKEEPING
from kafkalearn.live import Kafka
from kafkalearn.live.errors import KafkaNotFetched, KafkaNotStarted
from kafkalearn.live.jars import find_release
from kafkalearn.live.nodes import prepare
from tests.live.checked import PROPERTY, asked_release
from tests.running.long import KEPT

SHARED = {
    "group.consumer.min.heartbeat.interval.ms": 50,
    "group.consumer.heartbeat.interval.ms": 50,
    "group.consumer.min.session.timeout.ms": 1000,
    "group.consumer.session.timeout.ms": 6000,
    "group.consumer.max.size": 14,  # what the recorded histories have
    "group.min.session.timeout.ms": 500,
    "group.consumer.assignment.interval.ms": 0,  # 4.3: else joins within a second are taken together
    "group.consumer.assignor.offload.enable": False,
    "offsets.topic.num.partitions": 1,  # all groups in one file
    **HOUSEKEEPING,
}
"""What the one broker has beside `kafkalearn.live.nodes.QUICK`, so that nothing is waited for."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave to the night what holds a rule to a broker, but for the files of `make test`.

    The broker is a pinned release, so that no push changes what it answers; whether our rule still answers the same,
    its recorded answers say at each push. What starts, asks and ends a broker is held at each push.
    """
    for item in items:
        if item.get_closest_marker("holds") and item.path.name not in KEPT["tests/live"]:
            item.add_marker("nightly")


@pytest.fixture(scope="session")
def release() -> str:
    """The release line that is asked, whose jars are there; the tests are skipped where it cannot be started."""
    try:
        prepare(find_release(asked_release()))
    except (KafkaNotFetched, KafkaNotStarted) as error:
        pytest.skip(f"no real Kafka here: {error}")
    return asked_release()


@pytest.fixture(autouse=True)
def noted_rules(request, record_property) -> None:
    """Note in a test's report which rules it holds; tools/checked_live.py collects them."""
    for mark in request.node.iter_markers("holds"):
        for rule in mark.args:
            record_property(PROPERTY, rule)


@pytest.fixture(scope="session")
def kafka(release) -> Iterator[Kafka]:
    """One broker for every test that brings topics and groups of its own."""
    with Kafka(release=release, config=SHARED) as running:
        yield running


@pytest.fixture
def cluster(release) -> Iterator[Callable[..., Kafka]]:
    """Starts clusters for one test, which are gone after it."""
    started = []

    def start(brokers: int = 3, **settings: object) -> Kafka:
        started.append(Kafka(brokers, release, **settings))
        return started[-1].start()

    yield start
    for each in started:
        each.close()


@pytest.fixture(scope="session")
def new_name() -> Callable[[str], str]:
    """Names for topics and groups that nothing else has."""
    numbers = count(1)
    return lambda kind: f"{kind}-{next(numbers)}"
