"""All replicas fail one after the other, without eligible leader replicas: who may lead then, and what is lost."""

import pytest

from conformance.mechanisms.replication import THE_DEAD_ARE_MISSED, Topic
from kafkalearn.live import Kafka
from tests.live.checked import holds
from tests.live.scripts import REPLICATION, check

pytestmark = pytest.mark.live


@pytest.fixture(scope="module")
def cluster(release):
    with Kafka(3, release, config=THE_DEAD_ARE_MISSED, has_eligible_leader_replicas=False) as kafka:
        yield kafka


def all_die_and_the_one_that_lacks_records_returns_first(run):
    run.produce(2, "all")
    run.kill(3)
    run.wait(isr=[1, 2])
    run.produce(1, "all")
    run.kill(2)
    run.wait(isr=[1])
    run.produce(2, "all")
    run.stop(1)
    run.restart(3)
    run.wait(leader=3, only=[name for name in run.topics if name.startswith("unclean")])
    run.produce(1, "all")
    run.restart(2, 1)
    run.wait(isr=[1, 2, 3])


@holds(
    *REPLICATION, "truncation by high watermark and by leader epoch", "the promises of replication",
    "acks, failures and the result of a record",
)  # fmt: skip
def test_an_unclean_election_loses_what_was_confirmed_a_clean_one_waits_and_too_small_an_isr_refuses(cluster):
    topics = {"clean": Topic(1), "clean-min-2": Topic(2), "unclean": Topic(1, is_unclean=True)}
    check(cluster, all_die_and_the_one_that_lacks_records_returns_first, topics, has_elr=False)
