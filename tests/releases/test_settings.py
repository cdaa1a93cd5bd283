"""`python3 run.py settings` without its Java half: what is printed becomes the recorded files, and they stay so."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.releases import settings
from kafkalearn.releases.defaults import describe, find_settings
from kafkalearn.releases.lines import RELEASES
from kafkalearn.releases.settings import (
    ABSENT,
    SIDES,
    TOUCHED,
    Limit,
    all_facts,
    facts_between,
    limit_text,
    replacements,
    settings_named,
)
from kafkalearn.releases.upgrade import FACTS, KINDS, changes, rows
from tests.recorded import recorded
from tools.settings import rows as recorded_rows
from tools.settings.__main__ import wanted_releases
from tools.settings.files import ABOUT, ABOUT_EVIDENCE, EVIDENCE, OBTAINED, RECORDED, differences, text_of
from tools.settings.released import NotRun, Reading, Released
from tools.settings.rows import evidence_of, expanded, limit_of, lines_between, settings_of, states_of

JARS = recorded("released-jars")

lines = st.sampled_from(RELEASES)


def found(old, new, kind, what, side=None):
    return [change for change in changes(old, new, side) if (change.kind, change.setting) == (kind, what)]


# What the issue names: removed, renamed, newly refused, new minimum, ZooKeeper gone, message formats and old protocol
# versions gone, Java.
@pytest.mark.parametrize(
    ("old", "new", "kind", "what", "source"),
    [
        ("3.9", "4.0", "removed", "offsets.commit.required.acks", "its class in 3.9 and 4.0"),
        ("3.9", "4.0", "renamed", "delegation.token.master.key", "upgrade notes of 4.0"),
        ("2.8", "3.0", "renamed", "advertised.host.name", "upgrade notes of 3.0"),
        ("2.8", "3.0", "limited", "client.dns.lookup", "its class in 2.8 and 3.0"),
        ("3.9", "4.0", "refused", "more than 5 requests in flight", "upgrade notes of 4.0"),
        ("3.9", "4.0", "limited", "log.segment.bytes", "its class in 3.9 and 4.0"),
        ("4.1", "4.2", "limited", "num.replica.fetchers", "its class in 4.1 and 4.2"),
        ("3.9", "4.0", "gone", "ZooKeeper", "KIP-500"),
        ("3.9", "4.0", "gone", "conversion to message formats v0 and v1", "KIP-724"),
        ("2.8", "3.0", "gone", "message formats v0 and v1", "KIP-724"),
        ("3.9", "4.0", "gone", "old requests", "KIP-896"),
        ("3.9", "4.0", "required", "Java", "KIP-1013"),
        ("1.1", "2.0", "required", "Java", "upgrade notes of 2.0"),
        ("1.1", "2.0", "gone", "Scala consumer", "upgrade notes of 2.0"),
        ("3.9", "4.0", "gone", "MirrorMaker 1", "upgrade notes of 4.0"),
        ("2.8", "3.0", "gone", "--zookeeper", "upgrade notes of 3.0"),
        ("3.6", "3.7", "deprecated", "Java 11", "KIP-1013"),
    ],
)
def test_what_an_upgrade_changes_beyond_defaults_is_in_the_changes_with_its_source(old, new, kind, what, source):
    matching = found(old, new, kind, what)
    assert matching
    assert all(source in change.source and change.since == new for change in matching)


def test_each_fact_is_one_sentence_about_somebody_with_a_source():
    for fact in all_facts():
        assert fact.since in RELEASES[1:]
        assert fact.until in ("", *RELEASES, *settings.announced_lines())
        assert fact.kind in FACTS
        assert fact.kind in KINDS
        assert fact.who in TOUCHED
        assert fact.what
        assert fact.source
        assert fact.text == " ".join(fact.text.split())
        assert not fact.text.endswith(".")
        assert ". " not in fact.text
    assert {fact.kind for fact in all_facts()} == set(FACTS)
    since = [RELEASES.index(fact.since) for fact in all_facts()]
    assert since == sorted(since)


def test_nothing_is_recorded_twice():
    facts = [(fact.since, fact.kind, fact.who, fact.what) for fact in all_facts()]
    assert len(facts) == len(set(facts)) == 145


def test_whoever_a_fact_touches_has_settings():
    assert {side for sides in TOUCHED.values() for side in sides} <= set(SIDES)


@pytest.mark.parametrize("who", ["client", "broker"])
def test_the_java_that_is_required_is_the_oldest_that_can_load_the_released_classes(who):
    needed = {fact.since: int(fact.new) for fact in all_facts() if (fact.what, fact.who) == ("Java", who)}
    assert {"0.8.2": 6} | needed == JARS["java"][who]
    assert [int(fact.old) for fact in all_facts() if (fact.what, fact.who) == ("Java", who)] == [6, 7, 8]


CLASSES = {row["class"]: row["since"] for row in settings.recorded("upgrades")["facts"] if "class" in row}


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_that_a_fact_says_is_gone_is_last_in_the_release_before(name):
    _, last = JARS["classes"][name]
    assert RELEASES[RELEASES.index(last) + 1] == CLASSES[name]


def test_every_class_that_was_looked_for_belongs_to_a_fact():
    assert set(JARS["classes"]) == set(CLASSES)


def test_the_oldest_requests_that_are_left_are_those_of_the_released_classes():
    oldest = {name: by_line for name, _, by_line in JARS["apis"]}
    (fact,) = [fact for fact in all_facts() if fact.what == "old requests" and fact.kind == "gone"]
    named = dict(words.rsplit(" ", 1) for words in fact.text.partition(": ")[2].split(", "))

    assert {name: oldest[name][fact.since] for name in named} == {name: int(version) for name, version in named.items()}
    raised = {line for by_line in oldest.values() for line in list(by_line)[1:]}
    assert raised == {"0.10.0", "1.0", "4.0", "4.1"}  # 0.10.0 to 1.0: ControlledShutdown, which had no version 0
    assert [line for line in ("0.10.0", "1.0") for by_line in oldest.values() if line in list(by_line)[1:]] == [
        "0.10.0",
        "1.0",
    ]
    (early,) = [fact for fact in all_facts() if fact.what == "share groups of the early access"]
    assert {name for name, by_line in oldest.items() if by_line.get(early.since) == 1} == {
        "ShareGroupHeartbeat",
        "ShareGroupDescribe",
        "ShareFetch",
        "ShareAcknowledge",
    }


def test_the_requests_that_are_gone_are_those_of_the_released_classes():
    gone = {
        name: next(line for line, version in by_line.items() if version is None)
        for name, _, by_line in JARS["apis"]
        if None in by_line.values()
    }
    (fact,) = [fact for fact in all_facts() if "controller and brokers" in fact.what]

    assert set(gone.values()) == {fact.since}
    assert all(name in fact.text for name in gone)
    assert len(gone) == 4


def test_a_renamed_setting_is_gone_and_what_to_set_instead_was_there_by_then():
    for (name, side), (instead, source) in replacements().items():
        (old,) = [each for each in settings_named(name) if each.side == side]
        gone_in, value = old.history[-1]
        assert value is ABSENT
        assert old.is_gone
        assert source
        for new in instead:
            (other,) = [each for each in settings_named(new) if each.side == side]
            assert other.in_release(gone_in) is not ABSENT


def test_a_renaming_says_what_to_set_instead():
    (change,) = found("3.9", "4.0", "renamed", "log.message.timestamp.difference.max.ms")
    assert change.note.startswith("set log.message.timestamp.before.max.ms and log.message.timestamp.after.max.ms")


@given(lines, lines, lines)
def test_an_upgrade_in_two_steps_meets_what_an_upgrade_in_one_does_but_what_was_only_on_the_way(one, two, three):
    first, middle, last = sorted((one, two, three), key=RELEASES.index)
    at_once = {(fact.kind, fact.who, fact.what) for fact in facts_between(first, last)}
    in_steps = [*facts_between(first, middle), *facts_between(middle, last)]

    assert at_once <= {(fact.kind, fact.who, fact.what) for fact in in_steps}
    left_out = {(fact.kind, fact.who, fact.what): fact for fact in in_steps}.items()
    assert all(fact.kind == "deprecated" and fact.until for key, fact in left_out if key not in at_once)


def test_of_several_facts_on_the_same_thing_the_last_counts_and_the_first_says_what_was():
    (java,) = [fact for fact in facts_between("0.8.2", "4.3") if (fact.what, fact.who) == ("Java", "broker")]
    assert (java.since, java.old, java.new) == ("4.0", "6", "17")
    (brokers,) = [fact for fact in facts_between("0.8.2", "4.3") if (fact.what, fact.who) == ("brokers", "client")]
    assert (brokers.old, brokers.new) == ("not older than the client", "2.1 or newer")


def test_a_side_meets_the_facts_that_touch_it():
    assert found("3.9", "4.0", "gone", "ZooKeeper", "broker")
    assert not found("3.9", "4.0", "gone", "ZooKeeper", "producer")
    assert [change.side for change in found("3.9", "4.0", "required", "Java", "producer")] == ["client"]
    assert found("3.9", "4.0", "gone", "MirrorMaker 1")
    assert not any(found("3.9", "4.0", "gone", "MirrorMaker 1", side) for side in SIDES)


NUMBERS = range(-3, 4)
VALUES = ("none", "gzip", "zstd")

bounds = st.none() | st.sampled_from(NUMBERS)
number_limits = st.builds(Limit, bounds, bounds)
value_limits = st.builds(Limit, values=st.lists(st.sampled_from(VALUES), unique=True).map(tuple))


def accepted(limit, among):
    return {
        value
        for value in among
        if limit is None
        or (
            (limit.minimum is None or value >= limit.minimum)
            and (limit.maximum is None or value <= limit.maximum)
            and (not limit.values or value in limit.values)
        )
    }


@given(st.none() | number_limits, number_limits)
def test_a_range_that_admits_another_accepts_all_that_it_accepts(other, limit):
    if limit.admits(other):
        assert accepted(other, NUMBERS) <= accepted(limit, NUMBERS)
    elif other is not None and accepted(other, NUMBERS):
        wider = range(-9, 10)
        assert not accepted(other, wider) <= accepted(limit, wider)


@given(value_limits, value_limits)
def test_a_list_of_values_admits_another_if_it_has_them_all(other, limit):
    assert limit.admits(other) == (accepted(other, (*VALUES, "lz4")) <= accepted(limit, (*VALUES, "lz4")))


def test_no_limit_is_admitted_only_by_none_and_not_empty_by_itself():
    assert Limit().admits(None)
    assert not Limit(is_empty_refused=True).admits(None)
    assert Limit(is_empty_refused=True).admits(Limit(values=("a",), is_empty_refused=True))
    assert not Limit(form="[1,...,9] or -1").admits(Limit())


def limit(name, side, release):
    (setting,) = [each for each in settings_named(name) if each.side == side]
    return limit_text(setting.limit_in(release))


@pytest.mark.parametrize(
    ("name", "side", "by_release"),
    [
        ("segment.bytes", "topic", {"0.8.2": "no limit stated", "4.0": "at least 14", "4.1": "at least 1048576"}),
        ("log.segment.bytes", "broker", {"0.8.2": "at least 14", "3.9": "at least 14", "4.0": "at least 1048576"}),
        ("num.partitions", "broker", {"0.8.2": "at least 1", "4.3": "at least 1"}),
        ("log.cleaner.min.cleanable.ratio", "broker", {"3.2": "no limit stated", "3.3": "0 to 1"}),
        ("acks", "producer", {"0.8.2": "one of all, -1, 0, 1", "4.3": "one of all, -1, 0, 1"}),
        (
            "client.dns.lookup",
            "consumer",
            {
                "2.8": "one of default, use_all_dns_ips, resolve_canonical_bootstrap_servers_only",
                "3.0": "one of use_all_dns_ips, resolve_canonical_bootstrap_servers_only",
            },
        ),
        (
            "compression.type",
            "topic",
            {
                "2.0": "one of uncompressed, snappy, lz4, gzip, producer",
                "2.1": "one of uncompressed, zstd, lz4, snappy, gzip, producer",
            },
        ),
        (
            "auto.offset.reset",
            "consumer",
            {
                "3.9": "one of latest, earliest, none",
                "4.0": "one of latest, earliest, none, by_duration:PnDTnHnMn.nS",
            },
        ),
        ("compression.gzip.level", "producer", {"4.3": "[1,...,9] or -1"}),
        ("log.dirs", "broker", {"4.1": "no limit stated", "4.2": "not empty"}),
        ("num.replica.fetchers", "broker", {"4.1": "no limit stated", "4.2": "at least 1"}),
        ("remote.log.manager.copier.thread.pool.size", "broker", {"3.9": "no limit stated", "4.0": "at least 1"}),
        ("process.roles", "broker", {"4.3": "one of broker, controller; not empty"}),
    ],
)
def test_limits_are_those_of_the_released_classes(name, side, by_release):
    assert {release: limit(name, side, release) for release in by_release} == by_release


def test_every_default_is_within_its_limit():
    special = ("none", "unset")
    for setting in find_settings():
        for line in RELEASES:
            limit, value = setting.limit_in(line), setting.in_release(line)
            if limit is None or value is ABSENT:
                continue
            if isinstance(value, int | float) and not isinstance(value, bool) and not limit.form:
                assert accepted(limit, {value}), (setting.name, line)
            if isinstance(value, str) and limit.values:
                assert {value.lower(), *special} & {each.lower() for each in limit.values}, (setting.name, line)


def test_a_release_that_does_not_know_a_setting_states_no_limit():
    for setting in find_settings():
        assert all(setting.limit_in(line) is None for line in RELEASES if setting.in_release(line) is ABSENT)


def test_no_text_of_a_limit_is_an_address_or_a_list_of_releases():
    texts = {limit_text(limit) for setting in find_settings() for _, limit in setting.limits}
    assert not [text for text in texts if "@" in text or "-IV" in text or "ambda" in text]
    assert len(texts) > 60


def test_a_new_minimum_comes_out_of_the_classes():
    changed = [change for change in changes("3.9", "4.1") if change.setting.endswith("segment.bytes")]
    text = {(row["setting"], row["since"]): (row["kind"], row["old"], row["new"]) for row in rows(changed)}

    assert text["log.segment.bytes", "4.0"] == ("limited", "at least 14", "at least 1048576 (1 MiB)")
    assert text["segment.bytes", "4.1"] == ("limited", "at least 14", "at least 1048576 (1 MiB)")


@pytest.mark.parametrize(
    ("old", "new", "kind", "name"),
    [
        ("2.8", "3.0", "limited", "client.dns.lookup"),
        ("2.0", "2.1", "widened", "compression.type"),
        ("3.9", "4.0", "widened", "auto.offset.reset"),
        ("1.1", "2.0", "widened", "max.connections.per.ip"),
        ("1.1", "2.0", "limited", "segment.ms"),
        ("4.2", "4.3", "limited", "share.coordinator.snapshot.update.records.per.snapshot"),
    ],
)
def test_values_that_are_newly_refused_or_accepted_come_out_of_the_classes(old, new, kind, name):
    assert kind in {change.kind for change in changes(old, new) if change.setting == name}


def test_that_a_class_states_a_limit_no_longer_is_no_change():
    assert limit("replica.fetch.max.bytes", "broker", "0.8.2") == "at least 1000012"
    assert limit("replica.fetch.max.bytes", "broker", "0.9.0") == "no limit stated"
    assert not [
        change
        for change in changes("0.8.2", "0.9.0", "broker")
        if change.setting == "replica.fetch.max.bytes" and change.kind in ("limited", "widened")
    ]


def test_limits_are_in_the_description_in_readable_units():
    assert "\n  limit since 4.1: at least 1048576 (1 MiB)\n" in describe("segment.bytes")


SETTINGS = json.loads(RECORDED.read_text(encoding="utf-8"))
READING_JARS = json.loads(EVIDENCE.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", [RECORDED, EVIDENCE], ids=lambda path: path.name)
def test_a_recorded_file_is_written_as_it_stands_byte_for_byte(path):
    assert text_of(json.loads(path.read_text(encoding="utf-8"))) == path.read_text(encoding="utf-8")


def test_the_files_say_what_the_tool_says_of_them():
    assert (SETTINGS["about"], SETTINGS["obtained"]) == (ABOUT, OBTAINED)
    assert READING_JARS["about"] == ABOUT_EVIDENCE
    assert SETTINGS["asked"] == READING_JARS["asked"]
    assert list(SETTINGS["asked"]) == list(RELEASES)


def printed(line):
    """What the Java programs print of a release, as far as the recorded file tells."""
    readings = []
    for (name, side), by_line in states_of(SETTINGS["settings"]).items():
        if line in by_line:
            state = by_line[line]
            kind = "unset" if state.default is None else "required" if state.default == "(required)" else "value"
            limit = state.limit or {}
            bounds = f"range {limit.get('min', 'null')} {limit.get('max', 'null')}"
            values = f"in {','.join(limit['in'])}" if "in" in limit else ""
            form = f"text {limit['text']}" if "text" in limit else ""
            stated = bounds if {"min", "max"} & set(limit) else values or form
            internal, empty = "internal" * state.is_internal, "not empty" * limit.get("not empty", False)
            text = java_text(state.default) if kind == "value" else ""
            readings.append(Reading(side, name, state.type, kind, text, stated, empty, internal))
    return readings


def java_text(value):
    if isinstance(value, list):
        return ",".join(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def released(line):
    java = {who: expanded(READING_JARS["java"][who])[line] for who in ("client", "broker")}
    classes = {name for name, (first, last) in READING_JARS["classes"].items() if line in lines_between(first, last)}
    apis = {
        number: (name, oldest)
        for name, number, by_line in READING_JARS["apis"]
        if (oldest := expanded(by_line).get(line)) is not None
    }
    return Released(printed(line), java, classes, apis)


@pytest.mark.parametrize("lines", [["0.8.2"], ["2.8", "3.9"], ["4.3"], list(RELEASES)], ids="+".join)
def test_reading_lines_again_changes_nothing(lines):
    read = {line: released(line) for line in lines}

    assert settings_of(SETTINGS, read) == {"settings": SETTINGS["settings"]}
    assert evidence_of(READING_JARS, read) == {part: READING_JARS[part] for part in ("java", "classes", "apis")}


def test_all_lines_read_from_nothing_make_the_same_file():
    read = {line: released(line) for line in RELEASES}

    assert settings_of({"settings": []}, read) == {"settings": SETTINGS["settings"]}
    assert evidence_of({"java": {}, "classes": {}, "apis": []}, read) == {
        part: READING_JARS[part] for part in ("java", "classes", "apis")
    }


def test_a_setting_that_a_newer_patch_has_dropped_changed_or_brought_is_printed():
    newest = RELEASES[-1]
    line = released(newest)
    readings = [each for each in line.readings if each.name != "linger.ms"]
    readings = [each._replace(default="2") if each.name == "num.partitions" else each for each in readings]
    readings.append(Reading("topic", "shiny.new", "INT", "value", "7", "range 1 2147483647", "", ""))
    new = SETTINGS | settings_of(SETTINGS, {newest: line._replace(readings=readings)})

    assert list(differences(SETTINGS, new)) == [
        'settings linger.ms (producer): ["LONG", {"0.8.2": 0, "4.0": 5}, {"0.8.2": {"min": 0}}] -> '
        f'["LONG", {{"0.8.2": 0, "4.0": 5, "{newest}": "absent"}}, {{"0.8.2": {{"min": 0}}}}]',
        'settings num.partitions (broker): ["INT", {"0.8.2": 1}, {"0.8.2": {"min": 1}}] -> '
        f'["INT", {{"0.8.2": 1, "{newest}": 2}}, {{"0.8.2": {{"min": 1}}}}]',
        f'settings shiny.new (topic): null -> ["INT", {{"{newest}": 7}}, {{"{newest}": {{"min": 1}}}}]',
    ]


def test_the_newest_type_is_the_type_in_all_lines_so_that_no_change_appears_where_only_the_type_changed():
    policy = Reading("topic", "cleanup.policy", "STRING", "value", "delete", "in compact,delete", "", "")
    newer = policy._replace(type="LIST", default="delete", limit="in delete,compact")
    read = {line: Released([each], {}, set(), {}) for line, each in (("0.9.0", policy), ("0.10.0", newer))}

    assert settings_of({"settings": []}, read)["settings"] == [
        [
            "cleanup.policy",
            "topic",
            "LIST",
            {"0.9.0": ["delete"], "0.10.1": "absent"},
            {"0.9.0": {"in": ["compact", "delete"]}},
        ]
    ]


@pytest.mark.parametrize(
    ("printed_limit", "kind", "limit"),
    [
        ("range 14 null", "INT", {"min": 14}),
        ("range null 0.8", "DOUBLE", {"max": 0.8}),
        ("range -32768 32767", "SHORT", None),
        ("range 0 9223372036854775807", "LONG", {"min": 0}),
        ("in none,gzip", "STRING", {"in": ["none", "gzip"]}),
        ("in any case ZSTD,GZIP", "STRING", {"in": ["GZIP", "ZSTD"]}),
        ("text [latest, earliest]", "STRING", {"in": ["latest", "earliest"]}),
        ("text [1,...,9] or -1", "INT", {"text": "[1,...,9] or -1"}),
        ("text [partitionId]:[brokerId],[partitionId]:[brokerId],...", "LIST", None),
        ("text [" + ", ".join(f"{number}-IV0" for number in range(60)) + "]", "STRING", None),
        ("", "INT", None),
    ],
)
def test_only_limits_that_read_the_same_each_time_are_kept(printed_limit, kind, limit):
    assert limit_of(Reading("topic", "x", kind, "value", "", printed_limit, "", "")) == limit


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["4.9"], "4.9 is not recorded yet; say which release to ask: 4.9=4.9.0"),
        (["4.3=4.2.1"], "4.2.1 is not a release of 4.3"),
    ],
)
def test_what_cannot_be_read_is_refused(words, said):
    with pytest.raises(NotRun, match=said):
        wanted_releases(words, SETTINGS["asked"])


def test_without_words_every_recorded_line_is_read():
    assert wanted_releases([], SETTINGS["asked"]) == SETTINGS["asked"]


def test_a_fact_that_names_a_class_no_release_has_is_refused(monkeypatch):
    monkeypatch.setattr(recorded_rows, "classes_looked_for", lambda: ["kafka.NoSuchClass"])
    with pytest.raises(
        NotRun, match=r"upgrades.json names the class kafka.NoSuchClass, which none of the releases has"
    ):
        evidence_of(READING_JARS, {})
