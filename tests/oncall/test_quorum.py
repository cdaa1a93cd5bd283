"""`quorum`: what kafka-metadata-quorum prints, of several releases; who lives, and what is configured."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.files import data_directory
from kafkalearn.oncall import quorum
from kafkalearn.oncall.answer import Outcome
from kafkalearn.oncall.command import main
from tests.recorded import recorded

# Printed by 4.4.0: three nodes that are brokers and controllers; then one of them was killed.
KILLED = (data_directory("own-cluster") / "quorum.txt").read_text(encoding="utf-8")
STATUS, REPLICATION = KILLED.split("\n\n")
HUMAN = """NodeId\tDirectoryId           \tLogEndOffset\tLag\tLastFetchTimestamp\tLastCaughtUpTimestamp\tStatus  \t
3     \tAAAAAAAAAAAAAAAAAAAAAA\t512         \t0  \t109 ms ago        \t110 ms ago           \tLeader  \t
1     \tAAAAAAAAAAAAAAAAAAAAAA\t240         \t272\t44934 ms ago      \t45390 ms ago         \tFollower\t
2     \tAAAAAAAAAAAAAAAAAAAAAA\t512         \t0  \t316 ms ago        \t342 ms ago           \tFollower\t
"""
WELL = """ClusterId:              4jIOqOOsTWaFov-C9K5zsQ
LeaderId:               3
LeaderEpoch:            1
HighWatermark:          207
MaxFollowerLag:         0
MaxFollowerLagTimeMs:   351
CurrentVoters:          [{"id": 1, "endpoints": ["CONTROLLER://127.0.0.1:59769"]}, {"id": 2, "endpoints": \
["CONTROLLER://127.0.0.1:56371"]}, {"id": 3, "endpoints": ["CONTROLLER://127.0.0.1:33255"]}]
CurrentObservers:       []
"""


RECORDED = recorded("quorum-tool")["cases"]


@pytest.mark.parametrize("case", RECORDED, ids=lambda each: f"{each['release']}, {each['name']}")
def test_what_each_release_prints_is_read(case):
    """Who was killed stands in no text: the answer names those that the tool shows to ask no more."""
    status, plain, human = (quorum(case[form]) for form in ("status", "replication", "human readable"))
    both = quorum(case["status"] + "\n" + case["replication"])
    voters = [each.id for each in status.voters]
    killed = {"all alive": 0, "a follower was killed": 1}.get(case["name"], 2)

    assert sorted(voters) == sorted(each.id for each in plain.voters) == sorted(each.id for each in human.voters)
    assert status.described.leader == plain.described.leader == human.described.leader == both.described.leader
    for answer in (plain, human, both):
        assert len(answer.silent) == killed
        assert answer.may_fail == len(voters) - killed - len(voters) // 2 - 1
        assert answer.outcome is (Outcome.FOUND if killed else Outcome.FINE)
    assert status.outcome is (Outcome.CANNOT_TELL if killed else Outcome.FINE)
    assert {each.id for each in plain.silent} == {each.id for each in human.silent}


def test_a_killed_voter_is_named_and_no_more_may_die():
    answer = quorum(KILLED)

    assert [(each.id, each.lag, each.fetched_ago_ms) for each in answer.silent] == [(1, 253, 35147)]
    assert (answer.majority, answer.may_fail, answer.outcome) == (2, 0, Outcome.FOUND)
    assert str(answer).startswith("3 leads 3 voters, of which 1 is silent; no more may die.\n")


def test_one_that_is_well_is_fine():
    answer = quorum(WELL)

    assert (answer.described.leader, answer.may_fail, answer.findings, answer.outcome) == (3, 1, (), Outcome.FINE)


def test_the_readable_times_say_the_same():
    plain, human = quorum(REPLICATION), quorum(HUMAN)

    assert [each.id for each in plain.silent] == [each.id for each in human.silent] == [1]
    assert plain.may_fail == human.may_fail == 0
    assert human.described.leader == 3


def test_status_alone_cannot_say_who_is_behind():
    answer = quorum(STATUS)

    assert (answer.may_fail, answer.outcome) == (None, Outcome.CANNOT_TELL)
    assert "paste --replication to see who" in " ".join(str(answer).split())


def test_the_lists_up_to_3_8_and_spaces_in_place_of_tabs_are_read():
    status = "LeaderId: 2\nMaxFollowerLag: 0\nMaxFollowerLagTimeMs: 10\nCurrentVoters: [1,2,3]\nCurrentObservers: [4]\n"
    answer = quorum(status + REPLICATION.replace("\t", "   ").replace("3  ", "2  ", 1).replace("\n2   ", "\n3   ", 1))

    assert [(each.id, each.is_voter) for each in answer.described.nodes] == [
        (1, True),
        (2, True),
        (3, True),
        (4, False),
    ]


def test_nobody_leads():
    answer = quorum(WELL.replace("LeaderId:               3", "LeaderId:               -1"))

    assert answer.described.leader is None
    assert "there is no leader" in answer.findings[0]
    assert "Nobody leads these 3 voters." in str(answer)


def test_two_looks_that_do_not_go_together_are_told_of():
    said = quorum(WELL.replace("LeaderId:               3", "LeaderId:               2") + REPLICATION).findings

    assert any("--status names 2 as the leader and --replication 3" in each for each in said)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ("controller.quorum.voters=1@127.0.0.1:59769,2@127.0.0.1:56371,3@127.0.0.1:33255", None),
        (
            "controller.quorum.voters=1@127.0.0.1:59769,2@127.0.0.1:56371,4@127.0.0.1:33255",
            "names 4, which is no voter",
        ),
        ("controller.quorum.voters=1@127.0.0.1:59769,2@127.0.0.1:56371", "lacks 3, which votes"),
        (
            "controller.quorum.voters=1@127.0.0.1:9093,2@127.0.0.1:56371,3@127.0.0.1:33255",
            "has 1 at 127.0.0.1:9093, and it votes at 127.0.0.1:59769",
        ),
        ("controller.quorum.bootstrap.servers=127.0.0.1:59769", None),
        ("controller.quorum.bootstrap.servers=127.0.0.1:59769,127.0.0.1:1", "has 127.0.0.1:1, where no voter is"),
    ],
)
def test_the_voters_are_compared_with_what_a_node_names(settings, words, tmp_path):
    path = tmp_path / "server.properties"
    path.write_text(f"process.roles=controller\nnode.id=1\n{settings}\n")
    answer = quorum(WELL, config=[path])

    assert (answer.differences == ()) == (words is None)
    assert words is None or words in " ".join(answer.differences)
    assert answer.outcome == (Outcome.FINE if words is None else Outcome.FOUND)


def test_a_voter_that_never_asked_this_leader_does_not_live():
    said = REPLICATION.replace("1795891869856", "-1").replace("1795891869400", "-1")

    for text in (said, HUMAN.replace("44934 ms ago", "-1").replace("45390 ms ago", "-1")):
        answer = quorum(text)
        assert [each.id for each in answer.silent] == [1]
        assert answer.may_fail == 0
        assert "voter 1 has never asked this leader" in " ".join(answer.findings)


def test_a_broker_that_tells_no_times_is_judged_by_the_lag():
    """As before KIP-836 (apache/kafka#12469), there of two clusters."""
    header = "ReplicaId\tLogEndOffset\tLag\tLastFetchTimeMs\tLastCaughtUpTimeMs\tStatus"
    rows = [f"{id_}\t10\t{{lag}}\t-1\t-1\t{'Follower' if id_ else 'Leader'}" for id_ in range(3)]
    table = "\n".join([header, *rows])
    status = "LeaderId: 3002\nMaxFollowerLag: 0\nMaxFollowerLagTimeMs: -1\nCurrentVoters: [3000,3001,3002]\n"
    both = quorum(status + "CurrentObservers: [0,1,2]\n\n" + table.format(lag=0))

    assert (quorum(table.format(lag=0)).may_fail, quorum(table.format(lag=7)).may_fail) == (1, None)
    assert (both.may_fail, both.outcome) == (1, Outcome.FOUND)
    assert [each for each in both.findings if "observer" in each] == []
    assert "--status names 3002 as the leader and --replication 0" in both.findings[0]


def test_a_table_that_lacks_a_voter_is_no_all_clear():
    answer = quorum(WELL + "\n" + "\n".join(REPLICATION.splitlines()[:2]))

    assert (answer.may_fail, answer.outcome) == (None, Outcome.CANNOT_TELL)


def test_a_voter_whose_disk_was_formatted_anew_is_no_other_observer():
    header, leader, _, other = REPLICATION.strip().splitlines()
    rows = [row.replace("A" * 22, f"{'xyz'[at]}{'B' * 21}") for at, row in enumerate((leader, other))]
    old = f"1\tz{'B' * 21}\t-1\t494\t-1\t-1\tFollower"
    new = f"1\tn{'B' * 21}\t493\t0\t1795891904921\t1795891904921\tObserver"
    answer = quorum("\n".join([header, *rows, old, new]))

    assert [(each.id, each.is_voter, each.has_asked) for each in answer.described.nodes if each.id == 1] == [
        (1, True, False),
        (1, False, True),
    ]
    assert answer.may_fail == 0
    assert f"1 votes with the folder z{'B' * 21} and asks with n{'B' * 21}" in " ".join(answer.findings)


@given(st.integers(1, 9), st.data())
def test_a_majority_lives_as_long_as_so_many_may_die(count, data):
    silent = data.draw(st.sets(st.integers(2, count), max_size=count - 1)) if count > 1 else set()
    stamps = [1_795_891_905_000 - 60_000 * (id_ in silent) for id_ in range(1, count + 1)]
    rows = [f"{at} AAAA 10 0 {stamp} 0 {'Leader' if at == 1 else 'Follower'}" for at, stamp in enumerate(stamps, 1)]
    header = "NodeId DirectoryId LogEndOffset Lag LastFetchTimestamp LastCaughtUpTimestamp Status"
    answer = quorum("\n".join([header, *rows]))
    alive = count - len(silent)

    assert {each.id for each in answer.silent} == silent
    assert 2 * (alive - answer.may_fail) > count
    assert 2 * (alive - answer.may_fail - 1) <= count


@pytest.mark.parametrize(
    "said",
    ["", "nothing of it", "LeaderId: 3\nCurrentVoters: [1,2", 'LeaderId: 3\nCurrentVoters: [{"endpoints": []}]'],
)
def test_what_is_not_the_tools_is_a_sentence(said):
    with pytest.raises(KafkaLearnError, match=r"paste|without an id"):
        quorum(said)


def test_the_command_refuses_in_a_sentence(tmp_path, capsys):
    path = tmp_path / "server.properties"
    path.write_text("process.roles=broker\nnode.id=4\nlog.dirs=/d\n")
    said = tmp_path / "quorum.txt"
    said.write_text(WELL)

    assert main(["quorum"]) == 2
    assert main(["quorum", "--describe", str(said), "--settings", str(path)]) == 2
    assert main(["quorum", "--describe", "-", "--describe", "-"]) == 2
    errors = capsys.readouterr().err
    assert "which quorum?" in errors
    assert "it names no quorum" in errors
    assert "standard input is read once" in errors
