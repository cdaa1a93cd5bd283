"""The ledger is held to the files it names: a rule cannot claim a check that nobody makes."""

from __future__ import annotations

import ast
import dataclasses
import json
import re
import zipfile
from functools import cache
from importlib import import_module
from pathlib import Path

import pandas as pd
import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.live.jars import jar_paths, releases
from kafkalearn.releases.ledger import (
    CHECKED_LIVE,
    WAYS,
    WORDS,
    is_asked,
    ledger,
    live_checks,
    live_text,
    rows,
    table,
    word_of,
)
from kafkalearn.releases.lines import DEFAULT_RELEASE, RELEASES
from tests.contract.simulator import PARTS
from tests.contract.test_contract import SIMULATORS
from tests.every import every_case
from tools import checked_live, cited_lines, evidence

ROOT = Path(__file__).resolve().parents[2]
RULES = ledger()
CHECKS = [(rule, check) for rule in RULES for check in rule.checks]
WITH_VECTORS = [(rule, check) for rule, check in CHECKS if check.vectors]


def name_of(value):
    return getattr(value, "name", "") or getattr(value, "test", "").partition("::")[2]


@cache
def functions_of(path: Path) -> set[str]:
    """The names of the functions of a file."""
    return {node.name for node in ast.parse(path.read_text(encoding="utf-8")).body if isinstance(node, ast.FunctionDef)}


def defined(function: str) -> object:
    """What a full name stands for."""
    module, _, name = function.rpartition(".")
    return getattr(import_module(module), name)


@every_case("rule", RULES, ids=name_of)
def test_every_rule_is_where_it_says_and_was_checked(rule):
    assert defined(rule.function)
    assert rule.checks
    assert rule.versions
    assert rule.source


@every_case(("rule", "check"), CHECKS, ids=name_of)
def test_every_check_is_a_test_that_exists(rule, check):
    path, _, test = check.test.partition("::")

    assert check.way in WAYS
    assert test in functions_of(ROOT / path)


@every_case(("rule", "check"), WITH_VECTORS, ids=name_of)
def test_every_stated_number_of_cases_is_that_of_the_recorded_file(rule, check):
    recorded = json.loads((ROOT / check.vectors).read_text(encoding="utf-8"))

    found = recorded
    for name in check.part.split("."):
        found = found[name]
    assert len(found) == check.case_count


@every_case(("rule", "check"), CHECKS, ids=name_of)
def test_a_check_has_recorded_cases_exactly_if_its_way_is_a_recording(rule, check):
    assert bool(check.vectors) == (check.way in ("recording", "vectors", "own tests"))
    assert bool(check.vectors) == bool(check.part) == bool(check.case_count)


ON_SPARK = "kafkalearn.spark."
"""Rules that are another's, as a query: held equal to the rule, which has a word."""


@every_case("rule", RULES, ids=name_of)
def test_every_rule_has_a_word_and_says_why_where_kafka_was_not_asked(rule):
    if rule.function.startswith(ON_SPARK) and not rule.word:
        assert is_asked(rule) or any(check.way == "equality" for check in rule.checks)
        return
    assert word_of(rule) in WORDS, "ask Kafka and name the check, or say word = 'ours' or 'withdrawn', and because"
    assert bool(rule.word) == bool(rule.because)
    if rule.word:
        assert not is_asked(rule), f"it is asked, and says that it is {rule.word}"
    assert (rule.word == "withdrawn") <= rule.versions.startswith("none"), "it speaks for no release"


def test_the_page_of_evidence_has_every_rule_once_with_its_word():
    page = evidence.text()
    for rule in RULES:
        name, at = rule.name.replace("|", "\\|"), evidence.where_in_kafkalearn(rule)
        assert page.count(f"| {name} | {at} | {word_of(rule) or 'as its rule'} |") == 1, rule.name


def test_a_rule_is_linked_to_the_file_that_has_it():
    linked = {rule.function: evidence.where_in_kafkalearn(rule) for rule in RULES}
    folder = "../kafkalearn"

    assert linked["kafkalearn.log.step"] == f"[`log.step`]({folder}/log/simulator.py)"
    assert linked["kafkalearn.delivery.simulate"] == f"[`delivery.simulate`]({folder}/delivery/simulator.py)"
    assert linked["kafkalearn.coordinator.FORMULAS"] == f"[`coordinator.FORMULAS`]({folder}/coordinator/__init__.py)"


CITED = json.loads(cited_lines.RECORDED.read_text(encoding="utf-8"))


def test_the_lines_that_rules_cite_are_those_of_methods_that_they_name():
    named = cited_lines.cited(RULES)
    assert set(CITED["rules"]) <= set(named), "run: python -m tools.cited_lines"
    for rule, places in CITED["rules"].items():
        assert {each["method"] for each in places} <= {".".join(each) for each in named[rule]}, rule
    assert sum(map(len, CITED["rules"].values())) > 100
    assert all(each["line"] > 0 and each["file"] for places in CITED["rules"].values() for each in places)


def test_a_method_that_was_looked_at_is_listed_no_more_until_it_is_another_again():
    method = cited_lines.Method("Utils.java", 9, 90, 7)
    place, other = ("Utils", "murmur2"), method._replace(size=91)
    words = "Utils.murmur2: other code since 4.4"
    asked = cited_lines.content_of({"4.3": {place: method}, "4.4": {place: other}}, {})
    assert asked["look"]["murmur2 of a key"] == [words]
    looked = cited_lines.content_of({"4.3": {place: method}, "4.4": {place: other}}, {words: "the same hash"})
    assert (looked["look"], looked["right"]) == ({}, {words: "the same hash"})
    gone = cited_lines.content_of({"4.3": {place: method}, "4.4": {}}, {words: "the same hash"})
    assert (gone["look"]["murmur2 of a key"], gone["right"]) == (["Utils.murmur2: gone since 4.4"], {})


def test_a_class_file_is_read_as_javap_reads_it():
    jar = next(each for each in jar_paths(releases()[DEFAULT_RELEASE]) if each.name.startswith("kafka-clients-"))
    if not jar.exists():
        pytest.skip("the jars are not fetched: make live")
    with zipfile.ZipFile(jar) as archive:
        found = cited_lines.methods_of(archive.read("org/apache/kafka/common/utils/Utils.class"))
    (written,) = CITED["rules"]["murmur2 of a key"]
    assert (found["murmur2"].file, found["murmur2"].line) == (written["file"], written["line"])


CITES = re.compile(r"References\n\s+-+\n\s+(?:Apache Kafka|librdkafka)")


BEING_WRITTEN: set[str] = set()
"""Parts whose entries are still to be written, from what their tests check; each leaves this set with its first."""


def test_every_module_that_cites_kafka_has_an_entry():
    files = [path.relative_to(ROOT / "kafkalearn") for path in (ROOT / "kafkalearn").rglob("*.py")]
    citing = {path.parts[0] for path in files if CITES.search((ROOT / "kafkalearn" / path).read_text(encoding="utf-8"))}
    entered = {rule.function.split(".")[1] for rule in RULES}
    assert {part.removesuffix(".py") for part in citing} <= entered | BEING_WRITTEN
    assert not entered & BEING_WRITTEN


ANSWERS = {
    module.ANSWERS_FOR.simulator: module.ANSWERS_FOR
    for module in (import_module(each.part("Settings").__module__) for each in SIMULATORS.values())
    if hasattr(module, "ANSWERS_FOR")
}
OF_A_SIMULATOR = [f"{module}{part}" for module in ("", "simulator.") for part in (*PARTS, "find")]
BEGINS = re.compile(r"(\d+(?:\.\d+)+) to ")


def test_no_rule_speaks_for_a_release_that_its_simulator_refuses():
    assert len(ANSWERS) > 15
    spoken = []
    for rule in RULES:
        begins = BEGINS.match(rule.versions)
        first = begins and next(each for each in (*RELEASES, begins[1]) if each.startswith(begins[1]))
        for simulator, answers in ANSWERS.items():
            if first and rule.function in {f"kafkalearn.{simulator}.{each}" for each in OF_A_SIMULATOR}:
                spoken.append(rule.name)
                assert first in answers, f"{rule.name}: {simulator} answers for {answers}, not {first}"
    assert len(spoken) > 25


def test_no_rule_is_entered_twice():
    assert len({rule.name for rule in RULES}) == len(RULES)


@pytest.mark.parametrize(
    "module", ["keyless", "kafkalearn.partitioning.keyless", "hashing", "kafkalearn.releases.default"]
)
def test_a_module_finds_its_own_rules_and_no_others(module):
    inner = module.removeprefix("kafkalearn.")
    found = ledger(module)
    assert found
    assert all(f".{inner}." in f"{rule.function}." for rule in found)


def test_all_modules_together_are_the_whole_ledger():
    modules = dict.fromkeys(rule.function.rpartition(".")[0] for rule in RULES)
    # A package's rules include those of its modules, so some are found twice.
    assert {rule.name for module in modules for rule in ledger(module)} == {rule.name for rule in ledger()}


@pytest.mark.parametrize(
    ("module", "words"),
    [
        ("keyles", "did you mean 'keyless'"),
        ("hash", "did you mean 'hashing'"),
        ("xyz", "none is spelt"),
        (7, "none"),
    ],
)
def test_a_module_without_rules_is_refused_and_the_nearest_are_named(module, words):
    with pytest.raises(KafkaLearnError, match=f"unknown module {module!r}.*{words}"):
        ledger(module)


def test_the_ledger_fits_a_data_frame_and_a_terminal():
    frame = pd.DataFrame(rows(ledger()))
    own = [field.name for field in dataclasses.fields(RULES[0]) if field.name not in ("word", "because")]
    assert list(frame.columns) == [*own[:-1], "checked_live", own[-1]]
    assert len(table(ledger()).splitlines()) == len(RULES) + 1


RECORDED = json.loads(CHECKED_LIVE.read_text(encoding="utf-8"))
FEWEST = 45  # rules that live tests hold
NEWEST = releases()[DEFAULT_RELEASE].version


@cache
def held() -> dict[str, set[str]]:
    """For each rule the live tests that say that they hold it."""
    found: dict[str, set[str]] = {}
    for path in sorted((ROOT / "tests" / "live").rglob("test_*.py")):
        file = path.relative_to(ROOT).as_posix()
        module = import_module(file.removesuffix(".py").replace("/", "."))
        for name, test in vars(module).items():
            for mark in getattr(test, "pytestmark", ()) if name.startswith("test_") else ():
                for rule in mark.args if mark.name == "holds" else ():
                    found.setdefault(rule, set()).add(f"{file}::{name}")
    return found


def test_every_rule_that_a_live_test_holds_is_in_the_ledger():
    assert set(held()) <= {rule.name for rule in ledger()}
    assert len(held()) >= FEWEST


def test_the_column_of_the_newest_release_names_exactly_the_tests_that_hold_the_rule():
    written = {
        rule: set(check.tests) for rule in RECORDED["rules"] for check in live_checks(rule) if check.release == NEWEST
    }
    assert written == held(), "run: python3 run.py live check"


@every_case("rule", RECORDED["rules"])
def test_an_entry_names_a_release_that_can_be_started_and_a_day(rule):
    for check in live_checks(rule):
        assert check.release in {release.version for release in releases().values()}
        assert re.fullmatch(r"20\d\d-\d\d-\d\d", check.date)


def test_a_rule_that_was_held_to_the_newest_release_speaks_for_it():
    text = (ROOT / "kafkalearn" / "releases" / "ledger.toml").read_text(encoding="utf-8")
    assert checked_live.spoken_for(text, held(), RELEASES[-1]) == text, "run: python3 run.py live check"


def test_a_rule_shows_the_releases_it_was_held_to_the_newest_first():
    name = "group id to offsets partition"
    (row,) = [row for row in rows(ledger("coordinator")) if row["name"] == name]
    assert row["checked_live"] == live_text(name)
    assert row["checked_live"].startswith(f"{NEWEST} on 20")
    assert live_text("timing wheels") == ""


def test_the_file_is_written_as_it_stands_byte_for_byte():
    text = CHECKED_LIVE.read_text(encoding="utf-8")
    assert checked_live.text_of(json.loads(text)) == text
    assert RECORDED["about"] == checked_live.ABOUT
