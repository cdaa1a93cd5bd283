"""The coordinator of KIP-848, held to a real broker: the same requests, drawn at random, to both."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor

import pytest

from kafkalearn.group.consumer import start, step
from tests.group.consumer.requests import answer_of, description_of, event_of, settings_of
from tests.live.checked import holds
from tests.live.consumer import LiveGroup, drawn_step

pytestmark = pytest.mark.live

AT_ONCE = 2
STEP_COUNT = 40
TOPICS = {"consumer-groups-A": 7, "consumer-groups-B": 5, "consumer-groups-C": 1}


@pytest.fixture(scope="module")
def topic_ids(kafka):
    for topic, count in TOPICS.items():
        kafka.create_topic(topic, count)
    return kafka.metadata(TOPICS).topic_ids


def difference(kafka, group_id: str, topic_ids: dict[str, str], seed: int) -> str | None:
    """Draw requests and send them to the broker and to the simulator; where they part first, or None."""
    real, draw = LiveGroup(kafka, group_id, TOPICS, topic_ids), random.Random(seed)
    settings = settings_of(real.case())
    ours, history = start(settings), []
    for number in range(STEP_COUNT):
        seen = real.play(drawn_step(draw, real, number))
        history.append(seen["step"])
        ours = step(settings, ours, event_of(seen["step"]))
        played = {"answer": answer_of(ours), "group": description_of(ours, kafka.release.version)}
        if played != {"answer": seen["answer"], "group": seen["group"]}:
            return f"seed {seed}, step {number}: the broker {seen}, we {played}, after {history}"
    return None


@holds("the consumer protocol, KIP-848", "what a KIP-848 heartbeat is refused with", "who gets which partition")
@pytest.mark.parametrize("first_seed", [100, 200])
def test_random_requests_to_a_consumer_group_are_answered_as_we_answer(kafka, new_name, topic_ids, first_seed):
    with ThreadPoolExecutor(AT_ONCE) as pool:
        seeds = range(first_seed, first_seed + 15)
        differences = pool.map(lambda seed: difference(kafka, new_name("consumers"), topic_ids, seed), seeds)
        found = [each for each in differences if each]

    assert not found, "\n".join(found)
