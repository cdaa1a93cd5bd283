"""Replicas that move and leadership that is given back on a real cluster: after each step all stands as we say."""

import pytest

from kafkalearn.live import Kafka
from kafkalearn.releases.lines import at_least
from tests.live.checked import holds
from tests.live.reassigning import BROKERS, CONFIG, play
from tests.replay.operators import played

pytestmark = pytest.mark.live

QUICK = (
    "to brokers of which none had a replica",
    "fewer, more, in another order",
    "asked for the old replicas again",
    "asked for fewer of the old replicas",
    "min ISR counts against all replicas",
    "fewer than min ISR",
)


@pytest.fixture(scope="module")
def four_brokers(release):
    with Kafka(len(BROKERS), release, config=CONFIG, has_eligible_leader_replicas=at_least("4.1", release)) as kafka:
        yield kafka


@holds(
    "reassignment of replicas: adding, removing, cancelling",
    "leadership given back to preferred replicas",
    "LEO, HW, remote LEO and ISR of a partition",
)
@pytest.mark.parametrize("name", QUICK)
def test_a_script_comes_to_the_same_replicas_leaders_logs_and_answers(four_brokers, name):
    has_elr = at_least("4.1", four_brokers.release.version)
    now = play(four_brokers, name, f"moved-{QUICK.index(name)}", has_elr)
    assert played(now, four_brokers.release.version) == {part: now[part] for part in ("begin", "steps")}
