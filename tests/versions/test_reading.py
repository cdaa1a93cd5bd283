"""`python3 run.py settings` without its Java half: what is printed becomes the recorded files, and they stay so."""

import json

import pytest

from kafkalearn.releases.lines import RELEASES
from tools.settings import evidence
from tools.settings.__main__ import wanted_releases
from tools.settings.evidence import evidence_of
from tools.settings.files import ABOUT, ABOUT_EVIDENCE, EVIDENCE, OBTAINED, RECORDED, differences, text_of
from tools.settings.lines import expanded, lines_between
from tools.settings.released import NotRun, Reading, Released
from tools.settings.rows import settings_of, states_of
from tools.settings.values import limit_of

SETTINGS = json.loads(RECORDED.read_text(encoding="utf-8"))
JARS = json.loads(EVIDENCE.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", [RECORDED, EVIDENCE], ids=lambda path: path.name)
def test_a_recorded_file_is_written_as_it_stands_byte_for_byte(path):
    assert text_of(json.loads(path.read_text(encoding="utf-8"))) == path.read_text(encoding="utf-8")


def test_the_files_say_what_the_tool_says_of_them():
    assert (SETTINGS["about"], SETTINGS["obtained"]) == (ABOUT, OBTAINED)
    assert JARS["about"] == ABOUT_EVIDENCE
    assert SETTINGS["asked"] == JARS["asked"]
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
    java = {who: expanded(JARS["java"][who])[line] for who in ("client", "broker")}
    classes = {name for name, (first, last) in JARS["classes"].items() if line in lines_between(first, last)}
    apis = {
        number: (name, oldest)
        for name, number, by_line in JARS["apis"]
        if (oldest := expanded(by_line).get(line)) is not None
    }
    return Released(printed(line), java, classes, apis)


@pytest.mark.parametrize("lines", [["0.8.2"], ["2.8", "3.9"], ["4.3"], list(RELEASES)], ids="+".join)
def test_reading_lines_again_changes_nothing(lines):
    read = {line: released(line) for line in lines}

    assert settings_of(SETTINGS, read) == {"settings": SETTINGS["settings"]}
    assert evidence_of(JARS, read) == {part: JARS[part] for part in ("java", "classes", "apis")}


def test_all_lines_read_from_nothing_make_the_same_file():
    read = {line: released(line) for line in RELEASES}

    assert settings_of({"settings": []}, read) == {"settings": SETTINGS["settings"]}
    assert evidence_of({"java": {}, "classes": {}, "apis": []}, read) == {
        part: JARS[part] for part in ("java", "classes", "apis")
    }


def test_a_setting_that_a_newer_patch_has_dropped_changed_or_brought_is_printed():
    line = released("4.3")
    readings = [each for each in line.readings if each.name != "linger.ms"]
    readings = [each._replace(default="2") if each.name == "num.partitions" else each for each in readings]
    readings.append(Reading("topic", "shiny.new", "INT", "value", "7", "range 1 2147483647", "", ""))
    new = SETTINGS | settings_of(SETTINGS, {"4.3": line._replace(readings=readings)})

    assert list(differences(SETTINGS, new)) == [
        'settings linger.ms (producer): ["LONG", {"0.8.2": 0, "4.0": 5}, {"0.8.2": {"min": 0}}] -> '
        '["LONG", {"0.8.2": 0, "4.0": 5, "4.3": "absent"}, {"0.8.2": {"min": 0}}]',
        'settings num.partitions (broker): ["INT", {"0.8.2": 1}, {"0.8.2": {"min": 1}}] -> '
        '["INT", {"0.8.2": 1, "4.3": 2}, {"0.8.2": {"min": 1}}]',
        'settings shiny.new (topic): null -> ["INT", {"4.3": 7}, {"4.3": {"min": 1}}]',
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
        (["4.3=4.2.1"], "4.2.1 is no release of 4.3"),
    ],
)
def test_what_cannot_be_read_is_refused(words, said):
    with pytest.raises(NotRun, match=said):
        wanted_releases(words, SETTINGS["asked"])


def test_without_words_every_recorded_line_is_read():
    assert wanted_releases([], SETTINGS["asked"]) == SETTINGS["asked"]


def test_a_fact_that_names_a_class_no_release_has_is_refused(monkeypatch):
    monkeypatch.setattr(evidence, "classes_looked_for", lambda: ["kafka.NoSuchClass"])
    with pytest.raises(
        NotRun, match=r"upgrades.json names the class kafka.NoSuchClass, which none of the releases has"
    ):
        evidence_of(JARS, {})
