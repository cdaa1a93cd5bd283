"""The coordinator's settings: every row runs, and its two values end differently."""

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.formats.records import batch_bytes
from kafkalearn.offsets.broker_settings import BATCH_BYTES, SETTINGS, coordinator_settings, effect_of, effects
from kafkalearn.offsets.records import encode_key, encode_value
from kafkalearn.releases import RELEASES, default
from tests.every import every_case
from tests.recorded import recorded

RECORDED = recorded("coordinator-settings")
NAMES = [each.name for each in SETTINGS]


def test_there_are_sixteen_settings_each_once():
    assert len(NAMES) == len(set(NAMES)) == 16
    assert [row["setting"] for row in coordinator_settings()] == NAMES
    assert [row["setting"] for row in effects()] == NAMES


@every_case("release", RELEASES)
def test_a_default_is_what_the_release_has(release):
    for row in coordinator_settings([release]):
        if row[release] == "-":
            with pytest.raises(KafkaLearnError, match=row["setting"]):
                default(row["setting"], release=release, side="broker")
        else:
            assert row[release] == default(row["setting"], release=release, side="broker")


@pytest.mark.parametrize("name", NAMES)
def test_two_values_of_a_setting_end_differently(name):
    first, second = effect_of(name)
    (tried,) = first.keys() - {name}

    assert first[name] != second[name]
    assert first[tried] != second[tried]


def test_an_unknown_setting_is_refused():
    with pytest.raises(KafkaLearnError, match=r"group\.max\.size"):
        effect_of("group.max.sise")


def test_the_sizes_by_codec_are_the_recorded_ones_and_without_codec_those_of_the_layout():
    assert {int(codec): size for codec, size in RECORDED["batch_bytes_by_codec"].items()} == BATCH_BYTES
    value = encode_value(1, 4, {"offset": 1, "metadata": "", "commitTimestamp": 0, "topicId": "AAAAAAAAAAEAAAAAAAAAAQ"})
    keys = [encode_key(1, {"group": "billing", "topic": "orders", "partition": number}) for number in range(100)]

    assert batch_bytes(0, 0, [(number, 0, key, value) for number, key in enumerate(keys)]) == BATCH_BYTES[0]
