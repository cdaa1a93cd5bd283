"""The questions as tools: the server is started, and asked through the client of the protocol's own SDK."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.files import REPOSITORY, data_directory
from kafkalearn.oncall import agents, tool_calls
from kafkalearn.oncall.command import QUESTIONS
from kafkalearn.oncall.tool_calls import Access, ask, input_schema, output_schema
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
    "quorum": ({"describe": [(OWN / "quorum.txt").read_text(encoding="utf-8")]},
               ["quorum", "--describe", str(OWN / "quorum.txt")]),
    "safe": ({"replicas": 1, "acks": "1"}, ["safe", "--replicas", "1", "--acks", "1"]),
}  # fmt: skip
"""Each tool asked once, and the same as words of the command; of the two texts of lag one is pasted."""


ALL_DATA = Access((str(REPOSITORY / "data"),))


def started(*words):
    return StdioServerParameters(command=sys.executable, args=["-m", "kafkalearn", "mcp", *words], cwd=ROOT)


def inside(said):
    """The words of an answer, without the two marks around them."""
    first, *words, last = said.content[0].text.split("\n")
    mark = first.removeprefix("[answer ").partition(";")[0]
    assert len(mark) == 16
    assert last == f"[end of answer {mark}]"
    return "\n".join(words)


async def answers_of(folder):
    """The tools that the server lists, and what each answers; then what it answers to mistakes."""
    async with Client(started("--folder", str(ROOT / "data"), "--folder", str(folder))) as client:
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
        assert inside(answers[name]) == asked(words)[1].removesuffix("\n")
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
    assert not {"film", "json", "help", "bootstrap", "config"} & {*schema["properties"]}
    assert ("cluster" in schema["properties"]) == (question in ("where", "why", "lag", "safe"))
    assert all(each["description"] for each in schema["properties"].values())
    assert output_schema(question)["properties"]["question"]["const"] == question


def test_settings_and_texts_are_taken_as_they_come():
    text = "acks=all\ndelivery.timeout.ms=30000\nlinger.ms=5\n"
    _, data = ask("upgrade", {"old": "3.9", "producer": [text, text.replace("30000", "200000")]}, Access())
    assert [each["file"] for each in data["files"]] == ["producer-0.txt", "producer-1.txt"]
    refused = [each["file"] for each in data["findings"] if each["danger"] == "refused" and each["file"]]
    assert refused == ["producer-0.txt"]
    with pytest.raises(KafkaLearnError, match=r"safe: replicas: 'three' is not of type 'integer'"):
        ask("safe", {"replicas": "three"}, Access())
    log = data_directory("cluster-metadata") / "disk" / "orders-0"
    assert ask("xray", {"paths": [str(log)], "records": 1}, ALL_DATA)[1]["records"][0]["value"] == "order 0"


@pytest.fixture
def folder(tmp_path):
    """A folder that may be read, with ways out of it, beside one that may not."""
    (tmp_path / "secret.txt").write_text("HUNTER2\n", encoding="utf-8")
    folder = tmp_path / "logs"
    (folder / "deep").mkdir(parents=True)
    (folder / "names.txt").write_text("billing\n\x1b[2Jpassword=HUNTER2\u202e\U000e0041\n", encoding="utf-8")
    return folder


@pytest.mark.parametrize("way", ["secret.txt", "logs/../secret.txt", "logs/link.txt", "logs/deep", "/etc/passwd", "."])
def test_only_what_the_server_was_started_for_is_read(folder, way, monkeypatch):
    monkeypatch.chdir(folder.parent)
    (folder / "link.txt").symlink_to(folder.parent / "secret.txt")
    (folder / "deep" / "more").symlink_to(folder.parent)
    question = {"paths": [way]} if way in ("logs/deep", ".") else {"kind": "group", "file": way}

    with pytest.raises(KafkaLearnError, match="is not read: this server reads") as refused:
        ask("xray" if "paths" in question else "where", question, Access((str(folder),)))

    assert "HUNTER2" not in str(refused.value)


def test_no_pipe_and_no_device_is_read(folder):
    os.mkfifo(folder / "deep" / "pipe.log")

    for given in (folder / "deep" / "pipe.log", folder):
        with pytest.raises(KafkaLearnError, match="is neither a regular file"):
            ask("why", {"logs": [str(given)]}, Access((str(folder),)))


def test_without_a_folder_only_texts_are_read():
    with pytest.raises(KafkaLearnError, match="this server reads no file; paste the text itself"):
        ask("where", {"kind": "group", "file": str(OWN / "server.log")}, Access())


def test_a_cluster_is_asked_only_if_the_server_was_started_for_one():
    with pytest.raises(KafkaLearnError, match="started for no cluster"):
        ask("where", {"kind": "group", "names": ["billing"], "cluster": True}, Access())
    with pytest.raises(KafkaLearnError, match="'bootstrap' was unexpected"):
        ask("where", {"kind": "group", "names": ["billing"], "bootstrap": "evil:9092"}, Access())


def test_what_is_quoted_has_no_secret_and_moves_no_cursor(folder):
    words, data = ask("where", {"kind": "group", "file": str(folder / "names.txt")}, Access((str(folder),)))

    for said in (words, json.dumps(data, ensure_ascii=False)):
        assert "HUNTER2" not in said
        assert "billing" in said
        assert all(letter == "\n" or letter.isprintable() for letter in said)


async def many(folder, count):
    """So many questions at once; one of three asks for far too much, one cannot be read."""
    (folder / "many.txt").write_text("".join(f"g{n}\n" for n in range(20_000)), encoding="utf-8")
    questions = [
        ("where", {"kind": "group", "names": ["billing"]}),
        ("where", {"kind": "group", "file": str(folder / "many.txt")}),
        ("lag", {"describe": ["no table\n"]}),
    ]
    async with Client(started("--folder", str(folder))) as client:
        asked = [client.call_tool(*questions[number % len(questions)]) for number in range(count)]
        return await asyncio.gather(*asked)


def test_many_questions_at_once_are_answered_each_within_its_size(folder):
    said = asyncio.run(many(folder, 12))

    assert [each.is_error for each in said] == [False, True, True] * 4
    assert all("narrow the question" in inside(each) for each in said[1::3])


def test_what_takes_too_long_is_ended(folder, monkeypatch):
    monkeypatch.setattr(agents, "SECONDS", 0.01)

    said = asyncio.run(agents._asked("where", {"kind": "group", "names": ["billing"]}, Access()))

    assert said == {"error": "where has not answered within 0.01 s: narrow the question"}


def test_what_validates_is_loaded_by_the_server_and_not_again_for_each_question():
    given = {"question": "where", "arguments": {"kind": "group", "names": ["billing"]}, "access": [[], None, None]}
    command = [sys.executable, "-X", "importtime", "-m", tool_calls.__name__]
    ended = subprocess.run(command, input=json.dumps(given), capture_output=True, text=True, cwd=ROOT, check=True)
    assert "partition 9" in json.loads(ended.stdout)["words"]
    assert "kafkalearn.partitioning.keyed" in ended.stderr
    assert "jsonschema" not in ended.stderr


def test_a_process_that_ends_is_an_error_in_words(monkeypatch):
    monkeypatch.setattr(tool_calls, "__name__", "kafkalearn.no_such_module")

    said = asyncio.run(agents._asked("where", {"kind": "group", "names": ["billing"]}, Access()))

    assert said == {"error": "where ended without an answer (code 1): narrow the question"}


def test_without_the_sdk_the_extra_is_named():
    code = "import sys; sys.modules['mcp'] = None; from kafkalearn.oncall.command import main; sys.exit(main(['mcp']))"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, input="")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "kafkalearn mcp needs mcp, which is not installed: pip install 'kafkalearn[agents]'" in ended.stderr


@pytest.mark.parametrize("question", ["", "nope", "command", 3])
def test_an_unknown_question_is_refused_by_its_name_and_no_module_is_looked_for(question):
    for asked_for in (lambda: ask(question, {}, Access()), lambda: input_schema(question)):
        with pytest.raises(KafkaLearnError, match=r"unknown question .*Known: 'lag', 'quorum', 'safe'"):
            asked_for()


def test_arguments_that_are_no_mapping_are_refused():
    with pytest.raises(KafkaLearnError, match="arguments must be a dict from name to value, got int 3"):
        ask("lag", 3, Access())
