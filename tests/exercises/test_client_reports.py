"""Every report is reproduced: the partition that surprised, and the one that was expected."""

import pytest

from kafkalearn.exercises.chapter02 import KAFKA_PYTHON, KAFKAJS, REPORTS, SINEK, kafkajs_partition
from kafkalearn.partitioning.keyed import partition_for_key
from tests.recorded import recorded

KEYS = [bytes.fromhex(key) for key in recorded("keys")["keys"]]
JAVA = recorded("keys")["cases"][0]["partitions"]


@pytest.mark.parametrize("report", REPORTS, ids=lambda report: report.thread)
def test_a_report_is_reproduced_to_the_digit(report):
    assert report.reproduce(report.key, report.partition_count) == report.seen
    assert partition_for_key(report.key.encode(), report.partition_count, report.expected_rule) == report.expected
    assert report.seen != report.expected


def test_the_floats_give_the_very_hash_that_was_reported():
    assert kafkajs_partition(b"100:48069", 2**31) == 1713501762
    assert KAFKAJS.repaired()(b"100:48069", 2**31) == 1009543857


@pytest.mark.parametrize("code", [KAFKA_PYTHON, KAFKAJS], ids=lambda code: code.function.__name__)
def test_repaired_code_places_every_recorded_key_as_the_java_producer_did(code):
    repaired = code.repaired()

    assert recorded("keys")["cases"][0]["partitioner"] == "java_default"
    for partition_count, observed in JAVA.items():
        assert [repaired(key, int(partition_count)) for key in KEYS] == observed


def test_repaired_code_that_takes_text_places_every_recorded_text_as_the_java_producer_did():
    repaired = SINEK.repaired()
    texts = {index: key.decode(errors="replace") for index, key in enumerate(KEYS)}
    placed = {index: repaired(text, 50) for index, text in texts.items() if text.encode() == KEYS[index]}

    assert len(placed) > 500
    assert placed == {index: JAVA["50"][index] for index in placed}


@pytest.mark.parametrize("code", [KAFKA_PYTHON, SINEK, KAFKAJS], ids=lambda code: code.function.__name__)
def test_each_repair_changes_one_place_of_the_faulty_source(code):
    for faulty, fixed in code.repairs:
        assert code.source.count(faulty) == 1
        assert faulty.strip() in code.diff()
        assert fixed.strip() in code.diff()
