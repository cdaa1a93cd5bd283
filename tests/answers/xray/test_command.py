"""The command `kafkalearn xray`: what it takes, prints and ends with."""

import json
import sys

import pytest

from kafkalearn.oncall.command import main
from kafkalearn.oncall.xray import _Progress
from tests.answers.xray.folders import DAY_MS, NOW_MS, one, write

FIVE = b"".join(one(at) for at in range(5))


def asked(capsys, *words):
    code = main(["xray", *map(str, words)])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_a_healthy_folder_ends_with_0_and_a_torn_one_with_1(capsys, tmp_path):
    folder = write(tmp_path, {0: FIVE})
    assert asked(capsys, folder, "--now", NOW_MS)[0] == 0
    write(tmp_path, {0: FIVE[:-3]})
    code, out, _ = asked(capsys, folder, "--now", NOW_MS)
    assert (code, "torn tail, orders-0:" in out) == (1, True)


def test_json_has_the_same_for_a_program(capsys, tmp_path):
    code, out, _ = asked(capsys, write(tmp_path, {0: FIVE}), "--now", NOW_MS, "--json")
    data = json.loads(out)
    assert (code, data["question"], data["outcome"], data["logs"][0]["record_count"]) == (0, "xray", "fine", 5)


def test_settings_topic_and_partition_are_taken(capsys, tmp_path):
    write(tmp_path, {0: FIVE, 5: one(5)}, cleaner_offset=0)
    write(tmp_path, {0: FIVE}, partition=1)
    words = [tmp_path, "--now", NOW_MS + DAY_MS, "--topic", "orders", "--partition", 0, "--json"]
    data = json.loads(asked(capsys, *words, "--set", "min.cleanable.dirty.ratio=1")[1])
    (log,) = data["logs"]
    assert (log["partition"], log["cleaning"]["is_eligible"]) == (0, False)
    assert json.loads(asked(capsys, *words, "--release", "2.8")[1])["logs"][0]["cleaning"]["is_eligible"]
    assert json.loads(asked(capsys, *words, "--headers")[1])["logs"][0]["tombstone_count"] is None


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["/no/such"], "there is no file and no folder '/no/such'"),
        (["--set", "retention.ms"], "--set takes NAME=VALUE, got 'retention.ms'"),
        (["--release", "five"], "unknown release 'five'"),
    ],
)
def test_what_cannot_be_answered_ends_with_2_and_a_sentence(words, says, capsys, tmp_path):
    folder = write(tmp_path, {0: FIVE})
    code, out, err = asked(capsys, *([] if words[0].startswith("/") else [folder]), *words)
    assert (code, out) == (2, "")
    assert says in err
    assert "Traceback" not in err


def test_progress_says_how_long_it_takes_once_it_takes_longer_than_a_moment(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(
        sys.modules["kafkalearn.oncall.xray"], "monotonic", lambda: clock[0]
    )  # no function of that name
    said = []
    show = _Progress(said.append)
    show(10, 100)
    assert said == []
    clock[0] = 10.0
    show(25, 100)
    assert said[0].startswith("\r25 % read, about 30 s left")
    show(26, 100)  # not again so soon
    assert len(said) == 1
    show.clear()
    assert said[-1].strip() == ""
