"""The ledger's entries on settings by release, and on what an upgrade changes."""

from __future__ import annotations

from kafkalearn.fidelity.model import Check, Rule

RULES = (
    Rule(
        name="defaults of settings by release",
        function="kafkalearn.versions.default",
        versions="0.8.2 to 4.3, the newest patch of each line",
        source="ConsumerConfig, ProducerConfig, AdminClientConfig, KafkaConfig, DynamicConfig, LogConfig, GroupConfig "
        "of each release, run by python3 run.py settings; the Scala classes of 0.8.2 and of the old clients, "
        "constructed",
        checks=(
            Check(
                "recording",
                "tests/versions/test_versions.py::test_the_package_holds_every_default_of_the_recorded_file",
                "tests/vectors/versions/settings-by-release.json",
                "settings",
                371,
            ),
        ),
        left_out="Connect, Streams, MirrorMaker and the command line tools; quotas of users, clients and addresses; "
        "which settings are deprecated, except where a note says so; what a distribution's own server.properties sets. "
        "The 484 settings that the recorded file does not have were read by the same command; nothing else was asked",
    ),
    Rule(
        name="limits of settings by release",
        function="kafkalearn.versions.find_settings",
        versions="0.8.2 to 4.3, the newest patch of each line",
        source="the validators in the ConfigDefs of the same classes; the ranges that the Scala classes ask for",
        checks=(
            Check("examples", "tests/versions/test_limits.py::test_limits_are_those_of_the_released_classes"),
            Check("law", "tests/versions/test_limits.py::test_every_default_is_within_its_limit"),
        ),
        left_out="what a program checks beyond its ConfigDef, also of two settings together; lists of releases "
        "(inter.broker.protocol.version); whether case matters; a value without a stated limit may still be refused",
    ),
    Rule(
        name="what an upgrade changes in settings",
        function="kafkalearn.versions.changes",
        versions="0.8.2 to 4.3",
        source="the recorded defaults and limits of both releases; what to set instead: upgrade notes",
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
        left_out="in which patch of a line a change came; changed meanings of a setting, except where a note says so",
    ),
    Rule(
        name="what an upgrade changes beyond settings",
        function="kafkalearn.versions.changes",
        versions="0.8.2 to 4.3",
        source="the upgrade notes of each release, KIPs, ApiKeys; each fact names its own",
        checks=(
            Check(
                "vectors",
                "tests/versions/test_facts.py::test_a_class_that_a_fact_says_is_gone_is_last_in_the_release_before",
                "tests/vectors/versions/released-jars.json",
                "classes",
                17,
            ),
            Check(
                "vectors",
                "tests/versions/test_facts.py::test_the_java_that_is_required_is_the_oldest_that_can_load_the_released_classes",
                "tests/vectors/versions/released-jars.json",
                "java",
                2,
            ),
            Check(
                "vectors",
                "tests/versions/test_facts.py::test_the_oldest_requests_that_are_left_are_those_of_the_released_classes",
                "tests/vectors/versions/released-jars.json",
                "apis",
                93,
            ),
        ),
        left_out="Connect, Streams and MirrorMaker 2; new features and fixes; facts without a class, a request or Java "
        "in them were read in the upgrade notes, not run",
    ),
)
