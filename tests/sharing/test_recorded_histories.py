"""Real brokers and the simulator of share groups: the same requests, the same answers, observations and records."""

import base64
import copy
import json
import zlib
from functools import cache

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.sharing import check
from kafkalearn.sharing import history as replaying
from kafkalearn.sharing.history import Replay, replay, settings_of
from tests.every import every_case
from tests.recorded import recorded

PACKED, FURTHER = recorded("share-histories"), recorded("share-further-histories")
EPOCHS = ("epoch", "assignmentEpoch", "memberEpoch", "stateEpoch")


@cache
def histories() -> dict[str, dict]:
    """Each history by its name."""
    found = {}
    for file in (PACKED, FURTHER):
        unpacked = json.loads(zlib.decompress(base64.b85decode(file["packed"])))
        assert [each["name"] for each in unpacked] == file["names"]
        found.update({each["name"]: each for each in unpacked})
    return found


def differences(history: dict, release: str | None = None) -> list:
    """Where the simulator says other than the broker did, but for what varied between two plays of the broker."""
    played = replay(history, release)
    varies = {tuple(each) for each in history.get("varies", ())}
    found = [] if played["start"] == history["start"] else ["start"]
    for number, (real, ours) in enumerate(zip(history["steps"], played["steps"], strict=True)):
        shown = [{**each["a"]} for each in (real, ours)]
        if (number, "waited") in varies:
            for each in shown:
                each.pop("waited", None)
        if shown[0] != shown[1]:
            found.append((number, "answer", *shown))
        for key in sorted({*real["now"], *ours["now"]}):
            pair = real["now"].get(key), ours["now"].get(key)
            if (number, key) not in varies and pair[0] != pair[1]:
                found.append((number, key, *pair))
    return found if played["logs"] == history["logs"] else [*found, ("logs", history["logs"], played["logs"])]


def with_earlier_epochs(history: dict) -> dict:
    """The same history as 4.2 tells it, which counts the epochs of groups from one less."""
    history = copy.deepcopy(history)
    for step in history["steps"]:
        if step["do"] == "ShareGroupHeartbeat":
            for side in (step["q"], step["a"]):
                side["epoch"] = side.get("epoch", 0) - (side.get("epoch", 0) > 0)
                if side["epoch"] == 0 and side is step["a"] and side["error"] != "NONE":
                    del side["epoch"]
        for key, value in step["now"].items():
            if key.startswith("group ") and isinstance(value, list):
                value[1:3] = [value[1] - 1, value[2] - 1]
                for member in value[3].values():
                    member[0] -= 1
            elif key.startswith("state ") and value:
                value[1] -= 1
            elif key.startswith("wrote "):
                for fields in filter(None, (each["value"] for each in value)):
                    fields.update({name: fields[name] - 1 for name in EPOCHS if name in fields})
                    if fields.get("previousMemberEpoch"):
                        fields["previousMemberEpoch"] -= 1
    return history


def test_no_history_is_left_out():
    assert len(PACKED["names"]) == 177
    assert sum(len(histories()[name]["steps"]) for name in PACKED["names"]) == 2432
    assert len(histories()) == 177 + len(FURTHER["names"])


@every_case("name", PACKED["names"])
def test_every_answer_observation_and_record_is_what_the_broker_gave(name):
    assert differences(histories()[name]) == []


@every_case("name", FURTHER["names"])
def test_what_was_asked_afterwards_is_answered_as_by_the_brokers(name):
    assert differences(histories()[name]) == []


ALSO_ON = [(name, release) for name in PACKED["names"] for release in histories()[name].get("alsoOn") or ()]


@every_case("case", ALSO_ON, ids=lambda case: " on ".join(case))
def test_the_other_releases_that_gave_the_same_give_the_same(case):
    name, release = case
    history = histories()[name]
    history = with_earlier_epochs(history) if release.endswith("*") else history
    assert differences(history, release[:3]) == []


def test_the_other_releases_are_as_many_as_were_asked():
    assert len(ALSO_ON) == 258


def test_what_always_holds_held_after_each_recorded_step(monkeypatch):
    step = replaying.step

    def watched(settings, state, event):
        after = step(settings, state, event)
        check(settings, after, state)
        for batch in (one for share in after.share_partitions for one in share.batches):
            assert len(batch.each) == (len(batch) if batch.is_split else 0)
        return after

    monkeypatch.setattr(replaying, "step", watched)
    for history in histories().values():
        played = Replay(settings_of(history), list(history["groups"]))
        for each in history["steps"]:
            played.play(each["do"], each.get("v"), each["q"])


@pytest.mark.parametrize(
    "change",
    [
        lambda each: each["steps"][3]["a"]["partitions"]["t-0"].update(acquired=[[0, 1, 1]]),
        lambda each: each["steps"][4]["now"].pop("state g1 t-0"),
        lambda each: each["steps"][4]["now"]["wrote __share_group_state"][0]["value"].update(deliveryCompleteCount=2),
        lambda each: each["steps"][1]["now"]["wrote __consumer_offsets"].pop(),
        lambda each: each["steps"][5]["a"].pop("waited"),
        lambda each: each["logs"]["t-0"].pop(),
        lambda each: each["start"].pop("group g1"),
    ],
)
def test_the_comparison_sees_one_changed_answer_observation_and_record(change):
    changed = copy.deepcopy(histories()["ack_all"])
    change(changed)
    assert differences(changed) != []


def test_a_history_without_its_topics_is_refused():
    history = {key: value for key, value in histories()["ack_all"].items() if key != "topics"}
    with pytest.raises(KafkaLearnError, match="a history has topics, and this one has not"):
        replay(history)


def test_a_step_that_nobody_knows_is_refused():
    history = copy.deepcopy(histories()["ack_all"])
    history["steps"][0]["do"] = "ShareProduce"
    with pytest.raises(KafkaLearnError, match="ShareProduce"):
        replay(history)
