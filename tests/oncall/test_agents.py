"""The questions as tools: the server is started, and asked through the client of the protocol's own SDK."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.files import data_directory
from kafkalearn.oncall.agents import ask, input_schema, output_schema
from kafkalearn.oncall.command import QUESTIONS
from tests.oncall.examples import LAG, OWN, asked

ROOT = Path(__file__).parents[2]
TOOLS = {
    "where": ({"kind": "group", "names": ["billing"], "describe": str(OWN / "offsets-topic.txt")},
              ["where", "group", "billing", "--describe", str(OWN / "offsets-topic.txt")]),
    "why": ({"logs": [str(OWN / "server.log")]}, ["why", str(OWN / "server.log")]),
    "lag": ({"describe": [str(LAG / "first.txt"), (LAG / "second.txt").read_text(encoding="utf-8")], "apart": 10},
            ["lag", "--describe", str(LAG / "first.txt"), "--describe", str(LAG / "second.txt"), "--apart", "10"]),
    "xray": ({"paths": [str(OWN / "disk")], "now": 1795400000000},
             ["xray", str(OWN / "disk"), "--now", "1795400000000"]),
    "upgrade": ({"old": "3.9", "new": "4.0", "producer": [str(OWN / "producer.properties")]},
                ["upgrade", "3.9", "4.0", "--producer", str(OWN / "producer.properties")]),
    "safe": ({"replicas": 1, "acks": "1"}, ["safe", "--replicas", "1", "--acks", "1"]),
}  # fmt: skip
"""Each tool asked once, and the same as words of the command; of the two texts of lag one is pasted."""


async def answers_of(folder):
    """The tools that the server lists, and what each answers; then what it answers to mistakes."""
    command = StdioServerParameters(command=sys.executable, args=["-m", "kafkalearn", "mcp"], cwd=ROOT)
    async with Client(command) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        answers = {name: await client.call_tool(name, given) for name, (given, _) in TOOLS.items()}
        mistakes = [
            await client.call_tool(name, given)
            for name, given in (
                ("where", {"kind": "grup", "names": ["billing"]}),
                ("why", {"logs": ["-"]}),
                ("safe", {"replicas": 3, "film": str(folder / "a.svg")}),
                ("xray", {"paths": [str(folder / "nothing")]}),
                ("where", {"kind": "group"}),
            )
        ]
        again = await client.call_tool("where", TOOLS["where"][0])
        return tools, answers, mistakes, again


def test_every_tool_answers_as_the_command_does(tmp_path):
    tools, answers, mistakes, again = asyncio.run(answers_of(tmp_path))

    assert [*tools] == [*QUESTIONS] == [*TOOLS]
    assert all(tool.annotations.read_only_hint for tool in tools.values())
    for name, (_, words) in TOOLS.items():
        said = json.loads(asked([*words, "--json"])[1])
        assert (name, answers[name].is_error, answers[name].structured_content) == (name, False, said)
        assert answers[name].content[0].text == asked(words)[1].removesuffix("\n")
        assert [*Draft202012Validator(tools[name].output_schema).iter_errors(said)] == []
    wanted = ("'grup' is not one of", "standard input", "'film' was unexpected", "there is no file", "which group?")
    for each, words in zip(mistakes, wanted, strict=True):
        assert (each.is_error, each.structured_content) == (True, None)
        assert words in each.content[0].text
    assert again.structured_content == answers["where"].structured_content
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("question", QUESTIONS)
def test_what_a_tool_takes_is_what_the_command_takes(question):
    schema = input_schema(question)
    Draft202012Validator.check_schema(schema)
    assert not {"film", "json", "help"} & {*schema["properties"]}
    assert all(each["description"] for each in schema["properties"].values())
    assert output_schema(question)["properties"]["question"]["const"] == question


def test_settings_and_texts_are_taken_as_they_come():
    text = "acks=all\ndelivery.timeout.ms=30000\nlinger.ms=5\n"
    _, data = ask("upgrade", {"old": "3.9", "producer": [text, text.replace("30000", "200000")]})
    assert [each["file"] for each in data["files"]] == ["producer-0.txt", "producer-1.txt"]
    refused = [each["file"] for each in data["findings"] if each["danger"] == "refused" and each["file"]]
    assert refused == ["producer-0.txt"]
    with pytest.raises(KafkaLearnError, match=r"safe: replicas: 'three' is not of type 'integer'"):
        ask("safe", {"replicas": "three"})
    log = data_directory("cluster-metadata") / "disk" / "orders-0"
    assert ask("xray", {"paths": [str(log)], "records": 1})[1]["records"][0]["value"] == "order 0"


def test_without_the_sdk_the_extra_is_named():
    code = "import sys; sys.modules['mcp'] = None; from kafkalearn.oncall.command import main; sys.exit(main(['mcp']))"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, input="")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "kafkalearn mcp needs mcp, which is not installed: pip install 'kafkalearn[agents]'" in ended.stderr
