"""Every kind of file given to every question: a sentence or an answer, never a traceback, never another exit code."""

import gzip
import io
import os
import random
import sys

import pytest

from kafkalearn.base.files import data_directory
from kafkalearn.oncall.command import QUESTIONS
from tests.oncall.examples import asked

OWN = data_directory("own-cluster")
SEED = 17
MUTATIONS = 60  # of each file

GIVEN_A_FILE = {
    "where": [
        ["where", "group", "--file", "{}"],
        ["where", "key", "--partitions", "7", "--file", "{}"],
        ["where", "key", "--partitions", "7", "--format", "hex", "--file", "{}"],
        ["where", "group", "billing", "--describe", "{}"],
        ["where", "key", "a", "--describe", "{}"],
    ],
    "why": [["why", "{}"]],
    "lag": [
        ["lag", "--describe", "{}"],
        ["lag", "--describe", "{}", "--describe", "{}", "--apart", "60"],
        ["lag", "--describe", "{}", "--describe", "{}", "--apart", "60", "--to-catch-up", "10m"],
        ["lag", "--segments", "{}"],
    ],
    "xray": [["xray", "{}"]],
    "upgrade": [
        ["upgrade", "3.9", "4.0", "--file", "{}"],
        ["upgrade", "0.8.2", "4.3", "--broker", "{}", "--consumer", "{}"],
    ],
    "quorum": [["quorum", "--describe", "{}"], ["quorum", "--describe", "{}", "--settings", "{}"]],
    "safe": [
        ["safe", "--replicas", "1", "--file", "{}"],
        ["safe", "--replicas", "1", "--producer", "{}", "--topic", "{}"],
        ["safe", "--describe", "{}"],
    ],
}
COMMANDS = [words for each in GIVEN_A_FILE.values() for words in each]

KINDS = {
    "empty": b"",
    "a newline": b"\n",
    "binary": bytes(range(256)) * 40,
    "zeros": bytes(4096),
    "one huge line": b"x" * 3_000_000,
    "a huge value": b"acks=" + b"9" * 1_000_000 + b"\n",
    "many backslashes": b"a=" + b"\\" * 100_001,
    "utf-16": "acks=all\nlog.dirs=/d\n".encode("utf-16"),
    "utf-16 without a mark": "acks=all\n".encode("utf-16-le"),
    "utf-8 with a mark": b"\xef\xbb\xbfacks=all\n",
    "latin-1": "client.id=Gr\xfc\xdfe\nacks=all\n".encode("latin-1"),
    "lone surrogates": b"acks=\\ud800\nclient.id=\\udfff\n",
    "control characters": b"acks=\x1b[31mall\x07\nlog.dirs=\x9b\n",
    "gzip": gzip.compress(b"acks=all\nlog.dirs=/d\n"),
    "half a gzip": gzip.compress(bytes(random.Random(1).randbytes(5000)))[:700],
    "gzip of gzip": gzip.compress(gzip.compress(b"acks=all\n")),
    "only its magic": b"\x1f\x8b",
    "json": b'{"acks": "all", "a": [1, 2, {"b": null}]}',
    "a segment": (OWN / "disk" / "orders-0" / "00000000000000000000.log").read_bytes(),
    "a server log": (OWN / "server.log").read_bytes(),
    "a description": (OWN / "offsets-topic.txt").read_bytes(),
    "properties": (OWN / "server.properties").read_bytes(),
    "numbers out of range": b"retries=99999999999999999999\nacks=-0\nlinger.ms=1e5\nmin.insync.replicas=-1\n",
    "descriptions out of range": b"Topic: t\tPartitionCount: 99999999999\tReplicationFactor: 0\tConfigs: =,=\n",
}


@pytest.fixture
def given(tmp_path):
    def path(content, name="given"):
        where = tmp_path / name
        where.write_bytes(content)
        return str(where)

    return path


def check(words):
    code, out, err = asked(words)
    assert code in (0, 1, 2), words
    assert "Traceback" not in err, (words, err[-2000:])
    assert "mistake of kafkalearn's own" not in err
    assert out if code < 2 else out or err, "it says nothing"
    assert not any(ord(letter) < 32 and letter != "\n" for letter in out + err)


def with_path(words, path):
    return [word.replace("{}", path) for word in words]


def test_every_question_takes_part():
    assert GIVEN_A_FILE.keys() == {*QUESTIONS}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_any_kind_of_file_is_answered_with_a_sentence(words, kind, given):
    check(with_path(words, given(KINDS[kind])))


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_what_is_no_file_is_answered_with_a_sentence(words, given, tmp_path):
    locked = given(b"acks=all\n", "locked")
    os.chmod(locked, 0)
    folder = tmp_path / "folder"
    folder.mkdir()
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for path in (
        locked,
        str(folder),
        str(tmp_path / "loop"),
        str(tmp_path / "missing"),
        "",
        "a\0b",
        "x" * 5000,
        os.devnull,
    ):
        check(with_path(words, path))


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00", b"acks=all\n"], ids=repr)
def test_standard_input_is_answered_with_a_sentence(words, content, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    check(with_path(words, "-"))


@pytest.mark.parametrize("name", ["server.properties", "producer.properties", "offsets-topic.txt", "orders.txt"])
def test_a_file_with_bytes_changed_is_answered_with_a_sentence(name, given):
    whole, chance = (OWN / name).read_bytes(), random.Random(f"{SEED}/{name}")
    commands = [words for words in COMMANDS if words[0] in ("where", "upgrade")]
    for number in range(MUTATIONS):
        data = bytearray(whole)
        for _ in range(chance.randint(1, 12)):
            at = chance.randrange(len(data))
            data[at : at + chance.choice([0, 1, 1, 5])] = chance.choice(
                [b"", b"\\", b"\\u", b"=", b":", b"\n", b"\x00", b"99", b"\xff"]
            )
        for words in chance.sample(commands, 2):
            check(with_path(words, given(bytes(data), f"changed-{number}")))
