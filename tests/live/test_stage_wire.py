"""``kafkalearn build``: a running server is asked the stages over the wire."""

import json
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.exercises.build import stages
from kafkalearn.exercises.kit.result import RIGHT, WRONG
from kafkalearn.live.errors import wait_for
from kafkalearn.live.nodes import HOST, free_ports
from kafkalearn.live.stage_server import Server
from kafkalearn.oncall.answer import Outcome
from kafkalearn.oncall.build import NOT_ASKED, asked, build, place_of
from tests.exercises.build.mutants import MUTANTS, mutant
from tests.exercises.build.reference import Coordinator
from tests.oncall.examples import asked as command
from tools.book.live.packages import node

SLOW = "expiry"
"""The stage in which a minute and more must pass."""
SCHEMA = json.loads((files("kafkalearn.oncall") / "answers.schema.json").read_text(encoding="utf-8"))
JAVASCRIPT = Path(__file__).with_name("stages.mjs")
STARTER = files("kafkalearn.exercises.build") / "starter.py"


@contextmanager
def served(kind):
    """The port of a server of this class."""
    with Server(kind) as server:
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        yield server.port
        server.is_ended = True
        thread.join()


def verdict(kind, stage):
    with served(kind) as port:
        return asked(HOST, port, stage)


def number_of(name):
    return next(each.number for each in stages() if each.name == name)


def test_the_reference_answers_as_kafka_in_all_stages_over_the_wire_too():
    quick = [each for each in stages() if each.name != SLOW]
    with ThreadPoolExecutor(len(quick)) as pool:
        verdicts = list(pool.map(lambda stage: verdict(Coordinator, stage), quick))

    assert [str(each.said) for each in verdicts if each.outcome != RIGHT] == []


@pytest.mark.nightly
def test_its_offsets_expire_in_real_time_too():
    assert verdict(Coordinator, stages()[number_of(SLOW) - 1]).outcome == RIGHT


@pytest.mark.parametrize(
    "wrong",
    [
        "abs of the smallest number stays negative", "it answers for every group",
        "an unknown id is taken as a new member's",
        "null topics mean none", "joining again raises the epoch", "a partition is given before it is given up",
        "commits take any epoch",
    ],
)  # fmt: skip
def test_a_wrong_one_is_refused_at_its_stage_over_the_wire_too(wrong):
    number = MUTANTS[wrong]["stage"]
    with served(mutant(wrong)) as port:
        found = build(f"{HOST}:{port}", [number])

    (only,) = found.asked
    assert (only.outcome, found.outcome) == (WRONG, Outcome.FOUND)
    assert "and Kafka answers" in " ".join(str(found).split())
    assert f"kafkalearn build --task --stage {number}" in " ".join(str(found).split())


def test_who_answers_too_early_is_seen():
    with served(mutant("no wait for others")) as port:
        found = build(f"{HOST}:{port}", [number_of("alone")])

    assert "it is answered at once, and Kafka answers it while 1300 ms pass" in " ".join(str(found).split())


def test_after_a_wrong_stage_none_is_asked_unless_that_is_wanted():
    with served(mutant("it answers for every group")) as port:
        found = build(f"{HOST}:{port}", [1, 2, 3, 17])
        assert [each.outcome for each in found.asked] == [RIGHT, WRONG, NOT_ASKED, NOT_ASKED]
        found = build(f"{HOST}:{port}", [2, 3, 17], goes_on=True)
        assert [each.outcome for each in found.asked] == [WRONG, RIGHT, RIGHT]


def test_the_command_has_the_exit_codes_of_a_question_and_its_json():
    with served(mutant("it answers for every group")) as port:
        assert command(["build", f"{HOST}:{port}", "--stage", "1"])[:2] == (
            0,
            " 1 FindCoordinator: which of three brokers?: right\n1 of 1 stage answered as Kafka did\n",
        )
        code, out, _ = command(["build", f"{HOST}:{port}", "--stage", "1", "--stage", "2", "--json"])
    data = json.loads(out)
    assert code == 1
    assert list(Draft202012Validator({"$defs": SCHEMA["$defs"], "$ref": "#/$defs/build"}).iter_errors(data)) == []
    assert (data["outcome"], data["release"]) == ("found", "4.4.0")
    assert [each["outcome"] for each in data["stages"]] == ["right", "wrong"]
    wrong = data["stages"][1]
    assert (wrong["request"], wrong["came"], wrong["kafka"]) == (
        1, {"errorCode": "UNKNOWN_MEMBER_ID"}, {"errorCode": "NOT_COORDINATOR"},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["build"], "name the server"),
        (["build", "localhost"], "HOST:PORT"),
        (["build", "localhost:0"], "HOST:PORT"),
        (["build", "localhost:9092", "--stage", "99"], "there are 1 to 26"),
        (["build", "--task", "--stage", "0"], "there are 1 to 26"),
    ],
)
def test_what_cannot_be_asked_says_what_to_do(words, said):
    code, out, err = command(words)

    assert (code, out) == (2, "")
    assert said in err


def test_nobody_who_listens_is_no_answer():
    (port,) = free_ports(1)
    code, _, err = command(["build", f"{HOST}:{port}"])

    assert code == 2
    assert "nobody answers" in err


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        (b"", "has closed the connection"),
        (b"\0\0\0\4\0\0\0\1", "0 of 4 are left"),
        (b"HTTP/1.1 400 Bad Request\r\n", "does not speak"),
    ],
)
def test_a_server_that_answers_no_such_thing_is_wrong_and_nothing_breaks(sent, said):
    with socket.create_server((HOST, 0)) as listener:

        def answer():
            listener.accept()[0].close()
            connection = listener.accept()[0]
            connection.recv(1000)
            connection.sendall(sent)
            connection.close()

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        found = build(f"{HOST}:{listener.getsockname()[1]}", [1])
        thread.join()

    assert found.outcome == Outcome.FOUND
    assert "at request 1" in str(found)
    assert said in " ".join(str(found).split())


def test_an_address_may_be_of_the_sixth_version():
    assert place_of("[::1]:9092") == ("::1", 9092)
    with pytest.raises(KafkaLearnError, match="HOST:PORT"):
        place_of("::")


# In another language.


def test_a_server_in_javascript_passes_the_five_stages_that_it_was_written_for():
    (port,) = free_ports(1)
    with subprocess.Popen([str(node()), str(JAVASCRIPT), str(port)]) as process:
        try:
            found = wait_for(lambda: build(f"{HOST}:{port}", [1, 2, 3, 4, 5, 6]), lambda each: True, "the server")
        finally:
            process.terminate()

    assert [each.outcome for each in found.asked] == [RIGHT] * 5 + [WRONG]


# What to begin with.


def test_the_tasks_are_printed():
    code, out, _ = command(["build", "--task", "--stage", "9"])

    assert code == 0
    assert out.startswith("Stage 9: A second member comes (chapter 05)\n")


def test_the_starter_is_a_server_that_is_not_right_yet(tmp_path):
    code, text, _ = command(["build", "--starter"])
    (port,) = free_ports(1)
    path = tmp_path / "starter.py"
    path.write_text(text, encoding="utf-8")
    assert code == 0
    with subprocess.Popen([sys.executable, str(path), str(port)], stdout=subprocess.DEVNULL) as process:
        try:
            found = wait_for(lambda: build(f"{HOST}:{port}", [1, 2], goes_on=True), lambda each: True, "the starter")
        finally:
            process.terminate()

    assert [each.request for each in found.asked] == [2, 1]
    assert "nodeId is 1, and Kafka answers 3" in str(found)


def test_the_starter_is_short_and_needs_nothing_of_ours():
    lines = STARTER.read_text(encoding="utf-8").splitlines()

    assert len([line for line in lines if line.strip()]) <= 60
    assert not any("kafkalearn" in line for line in lines if line.startswith(("import", "from")))
