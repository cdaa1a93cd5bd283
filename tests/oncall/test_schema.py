"""The contract of ``--json``: every answer has its version, and is as the schema file says."""

import json
from importlib.resources import files

import pytest
from jsonschema import Draft202012Validator

from kafkalearn.base.files import data_directory
from kafkalearn.oncall.command import BUILD, FORMAT_VERSION, QUESTIONS
from tests.oncall.examples import QUESTIONS as EXAMPLES
from tests.oncall.examples import asked

SCHEMA = json.loads((files("kafkalearn.oncall") / "answers.schema.json").read_text(encoding="utf-8"))
MORE = {
    "lag of expired groups": ["lag", "--segments", str(data_directory("offsets-topic") / "expiry")],
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


def faults(words):
    data = json.loads(asked([*words, "--json"])[1])
    own = {"$defs": SCHEMA["$defs"], "$ref": f"#/$defs/{data['question']}"}
    return [
        f"{'.'.join(map(str, each.path))}: {each.message[:200]}" for each in Draft202012Validator(own).iter_errors(data)
    ]


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
