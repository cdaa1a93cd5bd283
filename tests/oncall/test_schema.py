"""The contract of ``--json``: every answer has its version, and is as the schema file says, which annotations make."""

import json
import random
from contextlib import suppress
from functools import partial
from importlib.resources import files
from itertools import pairwise

import pytest
from jsonschema import Draft202012Validator

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.files import data_directory
from kafkalearn.oncall import lag, quorum, safe, upgrade, where, why, xray
from kafkalearn.oncall.command import BUILD, FORMAT_VERSION, QUESTIONS, to_data
from kafkalearn.releases.lines import RELEASES
from tests.oncall.examples import QUESTIONS as EXAMPLES
from tests.oncall.examples import asked
from tests.oncall.runs import FOLDER, HELD_OUT, LEARNING, runs
from tests.oncall.test_mutated import mutated
from tests.recorded import recorded
from tools import answers_schema

SCHEMA = json.loads((files("kafkalearn.oncall") / "answers.schema.json").read_text(encoding="utf-8"))
MORE = {
    "lag of expired groups": ["lag", "--segments", str(data_directory("offsets-topic") / "expiry")],
    "lag, to catch up": [*EXAMPLES["lag"], "--to-catch-up", "10m"],
    "lag of a share group": ["lag", "--describe", str(data_directory("lag") / "share.txt")],
    "why, killed": ["why", *(str(path) for path in sorted(data_directory("server-logs").glob("killed/*.log")))],
    "why, late": ["why", *(str(path) for path in sorted(data_directory("server-logs").glob("kip-848-late/*.log")))],
    "xray, transactions": ["xray", str(data_directory("lag") / "disk")],
    "xray, cleaned": ["xray", str(data_directory("offsets-topic") / "cleaned" / "after-pass-2")],
    "xray, headers": ["xray", str(data_directory("lag") / "disk"), "--headers"],
    "safe, one replica": ["safe", "--replicas", "1"],
    "build, the tasks": ["build", "--task"],
    "safe, fine": ["safe", "--replicas", "3", "--min-isr", "2", "--elr", "yes"],
}


def exact(schema):
    """The schema without room for further names: what no annotation says is a fault here."""
    if isinstance(schema, list):
        return [exact(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {"additionalProperties": False} if schema.get("type") == "object" and "properties" in schema else {}
    return closed | {name: exact(each) for name, each in schema.items()}


JUDGES = {name: Draft202012Validator(exact(each)) for name, each in SCHEMA["$defs"].items()}
LOGS = sorted(data_directory("server-logs").glob("*/*.log"))


def faults(words):
    return faults_in(json.loads(asked([*words, "--json"])[1]))


def faults_in(data):
    found = JUDGES[data["question"]].iter_errors(data)
    return [f"{'.'.join(map(str, each.path))}: {each.message[:200]}" for each in found]


def as_read(question, answer):
    """What ``--json`` has of an answer, as whoever reads it has it."""
    return json.loads(json.dumps(to_data(question, answer)))


def answered(logs):
    return as_read("why", why(logs, has_advice=False))


def test_the_schema_is_what_the_annotations_say():
    assert answers_schema.PATH.read_text(encoding="utf-8") == answers_schema.text()


def test_the_schema_is_one_and_has_every_question():
    Draft202012Validator.check_schema(SCHEMA)
    assert sorted(SCHEMA["$defs"]) == sorted([*QUESTIONS, *BUILD])
    assert {each["properties"]["version"]["const"] for each in SCHEMA["$defs"].values()} == {FORMAT_VERSION}


@pytest.mark.parametrize("name", [*EXAMPLES, *MORE])
def test_an_answer_is_as_the_schema_says(name):
    assert faults({**EXAMPLES, **MORE}[name]) == []


def test_a_name_that_went_is_a_fault():
    data = json.loads(asked([*EXAMPLES["lag"], "--json"])[1])
    del data["partitions"][0]["cause"]

    assert not Draft202012Validator(SCHEMA).is_valid(data)


def test_a_name_that_no_annotation_says_is_a_fault():
    data = json.loads(asked([*EXAMPLES["lag"], "--json"])[1])
    data["partitions"][0]["more"] = 1

    assert Draft202012Validator(SCHEMA).is_valid(data)  # an answer may get further names
    assert faults_in(data) == [
        "partitions.0: Additional properties are not allowed ('more' was unexpected)",
    ]


@pytest.mark.parametrize("path", LOGS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_every_log_alone_has_an_answer_as_the_schema_says(path):
    assert faults_in(answered([path])) == []


@pytest.mark.parametrize("folder", sorted({path.parent for path in LOGS}), ids=lambda path: path.name)
def test_the_logs_of_a_run_together_have_an_answer_as_the_schema_says(folder):
    assert faults(["why", *map(str, sorted(folder.glob("*.log")))]) == []


@pytest.mark.parametrize("part", [LEARNING, HELD_OUT])
def test_every_run_has_answers_as_the_schema_says(part, tmp_path):
    for run in runs(part):
        logs = {"server": run["broker"], **run["clients"]}
        for name, lines in logs.items():
            (tmp_path / f"{name}.log").write_text("\n".join(lines), encoding="utf-8")
        paths = [tmp_path / f"{name}.log" for name in logs]
        for chosen in [*([each] for each in paths if each.stat().st_size), paths]:
            assert faults_in(answered(chosen)) == [], (run["run"], chosen)


def test_logs_with_faults_have_answers_as_the_schema_says():
    rng = random.Random(20261128)
    for _ in range(500):
        run = rng.choice(runs(LEARNING))
        lines = mutated(rng, rng.choice([run["broker"], *run["clients"].values()]) or [""])
        assert faults_in(answered(lines)) == []


# What tools printed and brokers wrote, as it was recorded.

TABLES = [each["stdout"] for cluster in recorded("group-tools")["clusters"] for each in cluster["cases"]]
TABLES += [text for case in recorded("share-tool")["cases"] for text in case["printed"].values()]
QUORUMS = [case[form] for case in recorded("quorum-tool")["cases"] for form in case if form not in ("release", "name")]
TOPICS = [case["text"] for case in recorded("topic-descriptions")["cases"]]
OF_TRANSACTIONS = json.loads((FOLDER / "transactions.json").read_text(encoding="utf-8"))["runs"].values()
WRITTEN = [case["lines"] for case in recorded("share-lines")["cases"]]
WRITTEN += [lines for run in OF_TRANSACTIONS for lines in run.values()]
FILES = sorted(data_directory("own-cluster").glob("*.properties"))
DISKS = sorted({path.parents[1] for path in data_directory("lag").parent.rglob("*.log") if path.stem.isdigit()})
OPTIONS = [{}, {"records": 3}, {"headers_only": True}]

RECORDED = {
    "lag": (30, [partial(lag, text, to_catch_up_s=seconds) for text in TABLES for seconds in (None, 600)]),
    "quorum": (len(QUORUMS), [partial(quorum, text) for text in QUORUMS]),
    "why": (len(WRITTEN), [partial(why, lines) for lines in WRITTEN]),
    "where": (len(TOPICS), [partial(where, ["billing", "shipping"], describe=text) for text in TOPICS]),
    "safe": (len(TOPICS), [partial(safe, describe=text) for text in TOPICS]),
    "upgrade": (10, [partial(upgrade, old, new, FILES) for old, new in pairwise(RELEASES)]),
    "xray": (len(DISKS), [partial(xray, disk, **options) for disk in DISKS for options in OPTIONS]),
}
"""By question: how many are answered at least, and the questions; not every text of a tool has what is asked for."""


@pytest.mark.parametrize("question", RECORDED)
def test_what_was_recorded_has_answers_as_the_schema_says(question):
    at_least, asking = RECORDED[question]
    answers = []
    for ask in asking:
        with suppress(KafkaLearnError):
            answers.append((ask, ask()))
    assert len(answers) >= at_least
    for ask, answer in answers:
        assert faults_in(as_read(question, answer)) == [], ask
