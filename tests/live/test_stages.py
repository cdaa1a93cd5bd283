"""Build your own coordinator: a real Kafka of the recorded release passes all stages."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from kafkalearn.exercises.build import Stage, stages
from kafkalearn.exercises.build.comparing import ERRORS
from kafkalearn.exercises.kit.result import RIGHT
from kafkalearn.live import Kafka
from kafkalearn.live.request_values import ERROR_NAMES
from kafkalearn.oncall.build import asked
from kafkalearn.releases.lines import release_line
from tools.stages.__main__ import SWEPT, address_of, cluster
from tools.stages.page import PAGE, written
from tools.stages.scripts import SCRIPTS

LINE = release_line(stages()[0].release)
AT_ONCE = 6
"""So many stages at a time: most of them wait most of the time."""


def wrong_ones(kafka: Kafka, chosen: list[Stage]) -> list[str]:
    """What is said of each stage that is not answered as it was recorded."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        verdicts = list(pool.map(lambda stage: asked(*address_of(kafka), stage), chosen))
    return [str(each.said) for each in verdicts if each.outcome != RIGHT]


def test_what_was_recorded_are_the_requests_of_the_scripts():
    assert {each.name: each.script() for each in stages()} == dict(SCRIPTS)


def test_the_errors_have_kafkas_numbers():
    assert {number: ERROR_NAMES[number] for number in ERRORS} == ERRORS


def test_the_page_has_the_stages_as_they_are():
    text = PAGE.read_text(encoding="utf-8")
    assert written(text) == text, "run python3 -m tools.stages.page"


@pytest.mark.live
def test_a_real_kafka_passes_all_stages_but_the_one_that_waits_for_the_sweep(release):
    with cluster(is_swept=False, release=LINE) as kafka:
        assert wrong_ones(kafka, [each for each in stages() if each.name != SWEPT]) == []


@pytest.mark.live
@pytest.mark.nightly
def test_a_real_kafka_passes_the_stage_of_the_sweep(release):
    with cluster(is_swept=True, release=LINE) as kafka:
        assert wrong_ones(kafka, [each for each in stages() if each.name == SWEPT]) == []
