"""The ledger's entries on settings by release."""

from __future__ import annotations

from kafkalearn.fidelity.model import Check, Rule

RULES = (
    Rule(
        name="defaults of settings by release",
        function="kafkalearn.versions.default",
        versions="0.8.2 to 4.3, the newest patch of each line",
        source="ConsumerConfig, ProducerConfig, KafkaConfig, LogConfig, GroupConfig of each release",
        checks=(
            Check(
                "recording",
                "tests/versions/test_versions.py::test_the_package_holds_every_default_of_the_recorded_file_and_no_other",
                "tests/vectors/versions/settings-by-release.json",
                "settings",
                371,
            ),
        ),
        left_out="settings of security, listeners, quotas, metrics, tiered storage and the KRaft quorum; "
        "what a distribution's own server.properties sets",
    ),
    Rule(
        name="what an upgrade changes",
        function="kafkalearn.versions.changes",
        versions="0.8.2 to 4.3",
        source="the recorded defaults of both releases",
        checks=(
            Check(
                "vectors",
                "tests/versions/test_versions.py::test_the_changes_of_each_setting_are_the_recorded_ones",
                "tests/vectors/versions/settings-by-release.json",
                "settings",
                371,
            ),
            Check(
                "law",
                "tests/versions/test_versions.py::test_changes_carry_the_defaults_of_one_release_over_into_those_of_another",
            ),
        ),
        left_out="in which patch of a line a change came; changed meanings and limits of a setting, except where "
        "a note says so",
    ),
)
