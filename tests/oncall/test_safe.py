"""Safe: the verdicts are those of the matrix that all schedules were searched for, and each run can be played."""

import errno
import json
import os

import pytest

from kafkalearn.base import files
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.files import data_directory
from kafkalearn.delivery.matrix_search import matrix, witnesses_of
from kafkalearn.delivery.search import FAILURES, PRODUCERS
from kafkalearn.delivery.simulator import NO_REJECTED_IN_LOG, PROMISES, broken
from kafkalearn.oncall import durability, safe
from kafkalearn.oncall.answer import Outcome
from kafkalearn.oncall.durability import ALL_LOSE_POWER, HARM, PartitionNow, failures_of, troubles
from tests.oncall.examples import asked

OWN = data_directory("own-cluster")


@pytest.mark.parametrize(
    ("producer", "min_isr", "unclean"),
    [
        ("acks=0", 1, False),
        ("acks=1", 2, False),
        ("acks=all", 1, True),
        ("acks=all, idempotent", 1, False),
        ("acks=all, idempotent", 2, True),
        ("acks=all, idempotent", 2, False),
    ],
)
def test_what_harms_with_three_replicas_is_what_the_matrix_has(producer, min_isr, unclean):
    own = PRODUCERS[producer]
    answer = safe(
        acks=own.acks,
        is_idempotent=own.is_idempotent,
        replication_factor=3,
        min_insync_replicas=min_isr,
        is_unclean_election_enabled=unclean,
        has_eligible_leader_replicas=True,  # as the matrix has it
    )
    found = {(each.failure, each.result) for each in (*answer.harms, *answer.beyond)}
    cells = matrix([producer], tuple(FAILURES), [unclean], [min_isr])

    assert found == {(cell.failure, result) for cell in cells for result in cell.results if result in HARM}
    assert (answer.outcome is Outcome.FOUND) == any(failure != ALL_LOSE_POWER for failure, _ in found)


@pytest.mark.parametrize("producer", ["acks=0", "acks=1"])
@pytest.mark.parametrize("failure", ["the connection breaks", "the time for a batch is over"])
def test_a_search_that_leaves_the_followers_out_finds_the_runs_of_one_with_them(producer, failure):
    settings = durability.settings_of(
        durability.gather({"acks": PRODUCERS[producer].acks, "replication factor": 3}, [], {}, "4.3"), "4.3"
    )
    without = witnesses_of(settings, durability.searched_failure(settings, failure))
    with_all = witnesses_of(settings, failure)
    assert without[0] == with_all[0]
    assert without[1] < with_all[1]


@pytest.mark.parametrize(
    "settings",
    [
        {"acks": 1, "replication_factor": 3},
        {"replication_factor": 2},
        {"replication_factor": 1},
        {"acks": 0, "replication_factor": 2},
        {"replication_factor": 3, "release": "0.10.2"},
    ],
    ids=str,
)
def test_every_run_breaks_a_promise_at_its_end_and_the_remedy_leaves_none(settings):
    answer = safe(**settings)

    for each in answer.harms:
        assert {*broken(answer.settings, each.run[-1].state)} & {*PROMISES} - {NO_REJECTED_IN_LOG}
        assert len(each.steps) == len(each.run) - 1
        assert all(each.steps)
    names = {
        "acks": "acks",
        "enable.idempotence": "is_idempotent",
        "unclean.leader.election.enable": "is_unclean_election_enabled",
        "min.insync.replicas": "min_insync_replicas",
        "replication factor": "replication_factor",
    }
    if answer.remedy:
        changed = {**settings, **{names[name]: value for name, value in answer.remedy}}
        may_have = settings.get("release") is None
        assert not safe(**changed, has_eligible_leader_replicas=may_have or None).harms
        assert ("with eligible leader replicas on" in " ".join(str(answer).split())) == may_have


def test_what_hangs_on_eligible_leader_replicas_is_asked_and_not_guessed():
    """An upgraded 4.3 has the feature off; by our own model the last in sync may then lose what was acknowledged."""
    settings = {"min_insync_replicas": 2, "replication_factor": 3}
    unknown, on, off = (safe(**settings, has_eligible_leader_replicas=each) for each in (None, True, False))

    assert (unknown.outcome, on.outcome, off.outcome) == (Outcome.CANNOT_TELL, Outcome.FINE, Outcome.FOUND)
    assert "Are eligible leader replicas on" in str(unknown)
    assert unknown.harms == off.harms
    with pytest.raises(KafkaLearnError, match=r"came with 4\.0"):
        safe(**settings, has_eligible_leader_replicas=True, release="3.9")


def test_strimzi_4694_a_minimum_above_the_replicas_is_said():
    """One replica with min.insync.replicas=2: it counts as 1 since 3.7; before, every write is refused."""
    new, old = (safe(replication_factor=1, min_insync_replicas=2, release=release) for release in ("4.0", "3.6"))

    assert any("counts as 1" in note for note in new.notes)
    assert any("refuses every write" in note for note in old.notes)


def test_the_settings_come_from_flags_then_the_topic_then_files_then_the_release(tmp_path):
    topic = tmp_path / "topic.properties"
    topic.write_text("min.insync.replicas=2\ncleanup.policy=delete\n")
    answer = safe(
        [("topic", topic), OWN / "server.properties", OWN / "producer.properties"],
        release="3.9",
        is_unclean_election_enabled=True,
    )
    found = {each.name: (each.value, each.origin) for each in answer.given}

    assert found["replication factor"] == (3, "server.properties, line 10")
    assert found["min.insync.replicas"] == (2, "topic.properties, line 1")
    assert found["acks"] == ("all", "producer.properties, line 4")
    assert found["unclean.leader.election.enable"] == (True, "given")
    assert found["retries"] == (2147483647, "default of 3.9")


def test_a_description_of_the_topic_says_its_replicas_and_its_own_settings():
    answer = safe(describe=(OWN / "orders.txt").read_text())
    found = {each.name: (each.value, each.origin) for each in answer.given}

    assert found["replication factor"] == (3, "the topic itself")
    assert found["min.insync.replicas"] == (1, "the topic itself")


def test_more_replicas_than_are_searched_is_said():
    answer = safe(replication_factor=5, min_insync_replicas=3)

    assert any("5 replicas were searched as 3" in note for note in answer.notes)


def test_a_minimum_of_four_of_five_is_searched_as_all_of_three_and_not_as_more_than_there_are():
    answer = safe(replication_factor=5, min_insync_replicas=4, release="3.6")

    assert answer.settings.topic.min_insync_replicas == 3
    assert not any("refuses every write" in note for note in answer.notes)


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_failures_name_only_brokers_that_there_are(count):
    for failure in failures_of(count).values():
        named = {each.broker_id for each in failure.before} | {*failure.absent}
        assert named <= set(range(1, min(count, 3) + 1))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({}, "how many replicas"),
        ({"replication_factor": 0}, "replica_count"),
        ({"replication_factor": 3, "acks": 2}, "acks"),
        ({"replication_factor": 3, "min_insync_replicas": 0}, "min_insync_replicas"),
        ({"replication_factor": 3, "acks": 1, "is_idempotent": True}, "idempotent producer needs"),
        ({"replication_factor": 3, "release": "9.9"}, "release"),
        ({"describe": "nothing of Kafka's"}, "no topic"),
    ],
)
def test_what_makes_no_sense_is_a_sentence(settings, words):
    with pytest.raises(KafkaLearnError, match=words):
        safe(**settings)


def test_a_value_that_is_none_is_refused_with_its_line(tmp_path):
    path = tmp_path / "server.properties"
    path.write_text("log.dirs=/d\ndefault.replication.factor=three\n")

    with pytest.raises(KafkaLearnError, match=r"server\.properties, line 2 must be a whole number"):
        safe(path)


def test_the_film_has_a_frame_for_each_step_and_none_where_nothing_harms():
    answer = safe(acks=1, replication_factor=3)

    assert len(answer.film().pictures) == len(answer.harms[0].steps) + 1
    json.dumps(answer.as_data())


@pytest.mark.parametrize("name", ["run.html", "run.svg"])
def test_a_film_that_cannot_be_written_leaves_the_one_before_it(name, monkeypatch, tmp_path):
    words = ["safe", "--replicas", "3", "--acks", "1", "--film", str(tmp_path / name)]
    assert asked(words)[0] == Outcome.FOUND
    before = (tmp_path / name).read_text(encoding="utf-8")

    def full(descriptor, *words, **options):
        os.write(descriptor, b"<!doc")
        os.close(descriptor)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(files, "open", full, raising=False)
    code, _, said = asked(words)
    assert (code, said) == (2, f"kafkalearn: {tmp_path / name} cannot be written: No space left on device\n")
    assert [each.name for each in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text(encoding="utf-8") == before


def test_no_line_is_wider_than_a_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "70")

    assert max(map(len, str(safe(acks=1, replication_factor=3)).splitlines())) <= 70


# How the partitions stand now.

SAFE = {"min_insync_replicas": 2, "has_eligible_leader_replicas": True}


def described(*partitions):
    head = "Topic: orders\tTopicId: x\tPartitionCount: 3\tReplicationFactor: 3\tConfigs: min.insync.replicas=2\n"
    return head + "".join(
        f"\tTopic: orders\tPartition: {number}\tLeader: {leader}\tReplicas: 1,2,3\tIsr: {isr}\tElr: \n"
        for number, (leader, isr) in enumerate(partitions)
    )


@pytest.mark.parametrize(
    ("partition", "words"),
    [
        (("none", "2"), "no leader: nobody can write there or read, until broker 2 is back"),
        (("-1", ""), "no leader: nobody can write there or read, and no replica in sync is known"),
        ((2, "2"), "only broker 2 of 3 replicas is in sync: writes are refused until another one is"),
        ((2, "2,3"), None),
        ((1, "1,2,3"), None),
    ],
)
def test_a_partition_in_trouble_is_said_and_no_safe_topic_is_fine_with_it(partition, words):
    answer = safe(describe=described((1, "1,2,3"), partition), **SAFE)
    assert [*answer.now.values()] == ([] if words is None else [(1,)])
    assert answer.outcome == (Outcome.FINE if words is None else Outcome.FOUND)
    assert words is None or words in next(iter(answer.now))
    assert words is None or words in " ".join(str(answer).split())


def test_what_one_replica_in_sync_means_hangs_on_the_minimum_and_acks():
    one = [PartitionNow(0, 1, (1, 2, 3), (1,))]
    minimum_1, no_all, unclean = (
        next(iter(troubles(one, *rest))) for rest in ((1, True, False), (2, False, False), (3, True, True))
    )
    assert "what it acknowledges now nobody else has" in minimum_1
    assert minimum_1 == no_all
    assert "writes are refused" in unclean
    assert "which loses" in next(iter(troubles([PartitionNow(0, None, (1, 2), (2,))], 1, True, True)))
    assert troubles([PartitionNow(0, 1, (1,), (1,))], 1, True, False) == {}
    assert "2 of 3 replicas are in sync: writes are refused, 3 are asked for" in troubles(
        [PartitionNow(0, 1, (1, 2, 3), (1, 2))], 3, True, False
    )


def test_partitions_with_one_trouble_are_one_sentence():
    answer = safe(describe=described(("none", "2"), ("none", "2"), (1, "1,2,3")), **SAFE)
    assert "Now, partitions 0 and 1: no leader" in str(answer)
    assert answer.as_data()["now"][0]["partitions"] == [0, 1]
