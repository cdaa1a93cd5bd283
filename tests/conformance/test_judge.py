"""How a cluster of somebody else's is asked: with its own limits and timers, and with what it takes alone."""

import json
from dataclasses import replace

import pytest

from conformance.judge import judging
from conformance.judge.judging import AGREES, DIFFERS, NOT_ASKED, Report, Verdict, judge, main
from conformance.mechanism import OWN, CannotBeAsked, TooSlow, limits_of
from conformance.mechanisms import classic_groups as classic
from conformance.mechanisms import consumer_groups as consumer
from conformance.mechanisms.classic_groups import CLASSIC
from conformance.mechanisms.consumer_groups import CONSUMER
from conformance.search import Difference, find_difference
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.groups.classic import Settings
from kafkalearn.live.errors import Refused
from tests.conformance.planted import right, summing, wrong_above_the_limit

DEFAULTS = {
    "group.initial.rebalance.delay.ms": "3000",
    "group.min.session.timeout.ms": "6000",
    "group.consumer.session.timeout.ms": "45000",
    "group.consumer.assignors": "uniform,range",
}


class StandIn:
    """A cluster that tells settings and versions, and is asked nothing else."""

    prefix, unreadable = "judged", {}
    release = type("Release", (), {"line": "4.3"})

    def __init__(self, settings=DEFAULTS, versions=OWN.versions, error=None):
        self.settings, self.versions, self.error = settings, versions, error

    def metadata(self):
        return type("Metadata", (), {"addresses": {4: ("host", 1)}})

    def knows(self, broker_id, name):
        return name in self.versions

    def version(self, broker_id, name, at_most):
        return min(at_most, self.versions[name])

    def broker_settings(self, broker_id):
        if self.error:
            raise self.error
        return self.settings

    def new_name(self, kind):
        return f"judged-{kind}"

    def remove_all(self):
        return []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


def steps_of(mechanism, count=40):
    cases = []
    find_difference(mechanism, "4.3", cases.append, 3, count)
    return [(case, step) for case in cases for step in case["steps"]]


def test_a_broker_with_defaults_is_asked_with_its_own_timers_and_no_others():
    drawn = steps_of(CLASSIC.fitted(StandIn()))
    sleeps = {step["ms"] for _, step in drawn if step["op"] == "sleep"}
    assert sleeps == {*classic.SLEEPS_MS, 3000 + classic.SPARE_MS, 6000 + classic.SPARE_MS}
    assert {case["session_ms"] for case, _ in drawn} == {6000, 5999}
    opened = [case["steps"] for case, _ in drawn if case["steps"][0]["op"] == "join"]
    assert any({"op": "sleep", "ms": 3200} in steps[:5] for steps in opened)


def test_brokers_of_our_own_are_asked_what_they_always_were():
    whole = steps_of(CLASSIC)
    assert {step["ms"] for _, step in whole if step["op"] == "sleep"} <= set(classic.SLEEPS_MS)
    assert {case["session_ms"] for case, _ in whole} == {5000, 1500, classic.SHORTEST_SESSION_MS - 1}
    assert classic.settings_of("4.3", classic.OWN).group_max_size == classic.MOST_MEMBERS
    assert consumer.limits_in_fields(consumer.OWN)["assignment_interval_ms"] == 0


def test_what_a_broker_does_not_tell_has_the_default_of_the_release():
    for cluster in (StandIn({}), StandIn(error=Refused("no", "CLUSTER_AUTHORIZATION_FAILED"))):
        assert classic.settings_of("4.3", limits_of(cluster)) == Settings("4.3.1")
    without = {name: version for name, version in OWN.versions.items() if name != "DescribeConfigs"}
    assert limits_of(StandIn(versions=without)).settings == {}


def test_only_what_a_broker_takes_is_drawn():
    older = {**OWN.versions, "SyncGroup": 4, "OffsetCommit": 7, "ListGroups": 4}
    del older["DeleteGroups"]
    steps = [step for _, step in steps_of(CLASSIC.fitted(StandIn(versions=older)))]
    assert not [step for step in steps if step["op"] in ("list", "delete") or "protocol" in step]
    assert {step["version"] for step in steps if step["op"] == "commit"} == {7}
    first_heartbeats = {**OWN.versions, "ConsumerGroupHeartbeat": 0, "OffsetCommit": 9}
    steps = [step for _, step in steps_of(CONSUMER.fitted(StandIn(versions=first_heartbeats)))]
    assert {step["version"] for step in steps if step["op"] == "join" and "version" in step} == {0}
    assert {step["version"] for step in steps if step["op"] == "commit"} == {8, 9}


@pytest.mark.parametrize(
    ("mechanism", "cluster", "said"),
    [
        (CLASSIC, StandIn(versions={**OWN.versions, "LeaveGroup": 2}), "LeaveGroup from version 3 on"),
        (CONSUMER, StandIn(versions={"Metadata": 13}), "ConsumerGroupHeartbeat from version 0 on"),
        (CONSUMER, StandIn({consumer.ASSIGNORS: "uniform,org.example.Mine"}), "org.example.Mine"),
    ],
)
def test_what_cannot_be_asked_is_said_with_what_is_missing(mechanism, cluster, said):
    with pytest.raises(CannotBeAsked, match=said):
        mechanism.fitted(cluster)


def refuse(cluster):
    raise CannotBeAsked("it takes no such request")


def slow(cluster, case, new_name):
    raise TooSlow("a step has taken 900 ms")


def test_the_verdicts_on_a_stand_in(monkeypatch):
    monkeypatch.setattr(judging, "JudgedCluster", lambda *_: StandIn())
    wrong = summing(wrong_above_the_limit, settings={"brokers": 3})
    mechanisms = [
        replace(wrong, name="fitted", fit=lambda cluster: wrong),
        replace(wrong, name="fitted well", fit=lambda cluster: summing(right)),
        replace(wrong, name="not fitted", fit=refuse),
        replace(wrong, name="its own"),
        replace(summing(slow), name="slow", only_requests=True),
    ]
    report = judging.judge("host:1", may_write=True, seconds=0.2, fewest=20, mechanisms=mechanisms)
    found = {each.mechanism: each for each in report.verdicts}
    assert {name: each.status for name, each in found.items()} == {
        "fitted": DIFFERS, "fitted well": AGREES, "not fitted": NOT_ASKED, "its own": NOT_ASKED, "slow": NOT_ASKED,
    }  # fmt: skip
    assert found["fitted"].difference.case == [11]
    assert found["not fitted"].reasons == ("it takes no such request",)
    assert not found["its own"].is_for_any_cluster
    assert "too slow" in found["slow"].reasons[0]
    assert report.exit_code == 1


LAG = Verdict("sums", ("lag", "hash of a group id"), AGREES, 12, 1)
HASH = Verdict("hashes", ("hash of a group id",), DIFFERS, 3, 5, Difference([11], 10, 11))
DISK = Verdict("disks", ("segments",), NOT_ASKED, reasons=("it needs a disk",), is_for_any_cluster=False)
SILENT = Verdict("silent", ("segments",), NOT_ASKED, reasons=("no answer",))


def report_of(*verdicts, **words):
    return Report("localhost:9092", "4.3", "2026-11-22", "kafkalearn-judge-0", verdicts, **{"unreadable": {}, **words})


@pytest.mark.parametrize(
    ("report", "code"),
    [
        (report_of(LAG), 0),
        (report_of(LAG, DISK), 0),  # nobody can ask that over the network
        (report_of(LAG, SILENT), 2),
        (report_of(DISK), 2),
        (report_of(LAG, HASH, SILENT), 1),
        (report_of(LAG, unreadable={"Metadata version 13": "1 more byte follows"}), 1),
    ],
)
def test_the_exit_code_says_agrees_differs_or_cannot_tell(report, code):
    assert report.exit_code == code


def test_a_rule_differs_if_any_question_about_it_does():
    assert report_of(LAG, HASH, DISK).by_rule() == {"hash of a group id": DIFFERS, "lag": AGREES, "segments": NOT_ASKED}


def test_the_report_has_the_shortest_case_the_reasons_and_what_was_left_behind():
    report = report_of(LAG, HASH, SILENT, left_behind=("3 topics: they do not go",))
    text = str(report)
    for part in ("| lag | agrees |", "[11]", "no answer", "3 topics: they do not go", "1 agrees, 1 differs, 1 cannot"):
        assert part in text
    assert "nothing of it is left" in str(report_of(LAG))
    assert json.loads(report.as_json())["verdicts"][1]["difference"] == [[11], 10, 11]


def test_it_does_not_write_unless_it_may(capsys):
    with pytest.raises(KafkaLearnError, match="--may-write"):
        judge("localhost:1")
    assert main(["localhost:1"]) == 2
    assert "--may-write" in capsys.readouterr().err


def test_nobody_there_is_said_at_once(capsys):
    assert main(["localhost:1", "--may-write"]) == 2
    assert "nobody answers" in capsys.readouterr().err
