"""Build your own coordinator: a real Kafka of the recorded release passes all stages."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from kafkalearn.exercises.build import Stage, stages
from kafkalearn.exercises.kit.result import RIGHT
from kafkalearn.live import Kafka
from kafkalearn.oncall.build import asked
from kafkalearn.releases.lines import release_line
from tools.stages.__main__ import SWEPT, address_of, cluster

pytestmark = pytest.mark.live

LINE = release_line(stages()[0].release)
AT_ONCE = 6
"""So many stages at a time: most of them wait most of the time."""


def wrong_ones(kafka: Kafka, chosen: list[Stage]) -> list[str]:
    """What is said of each stage that is not answered as it was recorded."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        verdicts = list(pool.map(lambda stage: asked(*address_of(kafka), stage), chosen))
    return [str(each.said) for each in verdicts if each.outcome != RIGHT]


def test_a_real_kafka_passes_all_stages_but_the_one_that_waits_for_the_sweep(release):
    with cluster(is_swept=False, release=LINE) as kafka:
        assert wrong_ones(kafka, [each for each in stages() if each.name != SWEPT]) == []


@pytest.mark.nightly
def test_a_real_kafka_passes_the_stage_of_the_sweep(release):
    with cluster(is_swept=True, release=LINE) as kafka:
        assert wrong_ones(kafka, [each for each in stages() if each.name == SWEPT]) == []
