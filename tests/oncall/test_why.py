"""`why`: the words, the data and the exit code; files, lines, a cluster; and what would have avoided it."""

import gzip
import json
from dataclasses import dataclass

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.oncall import why
from kafkalearn.oncall.answer import WIDTH, Outcome
from kafkalearn.oncall.command import main
from kafkalearn.oncall.logs.avoiding import _WORTH_TRYING
from kafkalearn.releases.lines import DEFAULT_RELEASE
from kafkalearn.scenarios import find_change
from kafkalearn.scenarios.finder import CANDIDATES
from tests.oncall.runs import HELD_OUT, LEARNING, runs


def run_named(script, client="librdkafka", protocol="classic", release=None):
    return next(
        each
        for part in (LEARNING, HELD_OUT)
        for each in runs(part)
        if (each["script"], each["client"], each["protocol"]) == (script, client, protocol)
        and release in (None, each["release"])
    )


@pytest.fixture
def folder_of(tmp_path):
    def written(run):
        (tmp_path / "server.log").write_text("\n".join(run["broker"]) + "\n")
        for name, lines in run["clients"].items():
            (tmp_path / f"{name}.log").write_text("\n".join(lines) + "\n")
        return tmp_path

    return written


def test_a_late_poll_from_files(folder_of):
    run = run_named("slow_poll", release="4.0")
    answer = why(folder_of(run))
    causes = [each.cause for each in answer.rebalances]
    assert causes == ["poll interval exceeded", "member joined"]
    (advice,) = answer.advice[run["group"]]
    assert advice.cause == "poll interval exceeded"
    assert advice.settings["max.poll.interval.ms"] == 7000
    assert "max.poll.interval.ms: 7000 (7 s) -> " in str(advice)
    assert answer.outcome == Outcome.FOUND
    assert "did not call poll() within" in str(answer)
    assert f"defaults of Kafka {DEFAULT_RELEASE}" in str(answer)
    assert max(map(len, str(answer).splitlines())) <= WIDTH


def test_the_advice_is_what_find_change_says_about_the_scenario():
    run = run_named("pause", release="4.0")
    answer = why([*run["broker"]])
    (advice,) = answer.advice[run["group"]]
    tried = _WORTH_TRYING[advice.cause]
    candidates = {name: values for name, values in CANDIDATES["classic"].items() if name in tried}
    found = find_change(advice.scenario, settings=dict(advice.settings), candidates=candidates)
    assert advice.change == str(found.best) != "None"
    assert advice.settings["session.timeout.ms"] < 10_000  # the member was heard of so short a time before


@pytest.mark.parametrize("script", ["rolling", "static_restart", "crash", "join"])
def test_advice_is_only_for_what_can_be_avoided(script, folder_of):
    run = run_named(script, release="4.1" if script != "join" else None)
    found = [each.cause for each in why(folder_of(run)).advice[run["group"]]]
    assert found == (["member closed"] if script == "rolling" else [])
    assert why(run["broker"]).advice[run["group"]] == ()  # the broker does not say whether a member was closed


def test_static_members_are_told_of(folder_of):
    run = run_named("static_restart")
    answer = why(run["broker"], has_advice=False)
    assert answer.outcome == Outcome.FINE
    assert "came back as a static member: no rebalance" in " ".join(str(answer).split())


def test_only_one_group():
    one, other = run_named("close"), run_named("crash")
    answer = why([*one["broker"], *other["broker"]], group=one["group"], has_advice=False)
    assert [each.group for each in answer.groups] == [one["group"]]
    assert why(one["broker"], group="nobody").outcome == Outcome.CANNOT_TELL
    assert "say nothing about group 'nobody'" in str(why(one["broker"], group="nobody"))


def test_logs_that_say_nothing():
    answer = why(["[2026-11-22 15:46:13,448] INFO Created log for partition orders-0 (kafka.log.LogManager)"])
    assert answer.outcome == Outcome.CANNOT_TELL
    assert "Nothing about groups in 1 line" in str(answer)


def test_the_data_are_json_and_have_everything():
    run = run_named("crash")
    data = json.loads(json.dumps(why(run["broker"]).as_data()))
    (group,) = data["groups"]
    last = group["rebalances"][-1]
    assert (last["cause"], last["client"], last["may_be"]) == ("heartbeats lost", run["expected"][-1]["member"], [])
    assert last["evidence"][0]["place"].startswith("lines:")
    assert last["duration_ms"] == last["ended_ms"] - last["started_ms"]


def test_what_was_wrong_with_the_logs_is_said(folder_of, tmp_path):
    run = run_named("close")
    ahead = "[2027-01-01 00:00:00,000] INFO Stabilized group other generation 7 with 3 members. (a.B)"
    lines = [ahead, *run["broker"]]  # a clock that is set back
    packed = gzip.compress("\n".join([*lines, *lines]).encode(), compresslevel=0)
    (tmp_path / "a.log.gz").write_bytes(packed[: len(packed) * 2 // 3])
    (tmp_path / "copy.log").write_text("\n".join(run["broker"]))
    answer = why([tmp_path], has_advice=False)
    words = " ".join(str(answer).split())
    assert f"{tmp_path / 'a.log.gz'} is damaged or cut off: " in words
    assert "events of brokers stand in two of the files; each counts once." in words
    assert "the time goes back by " in words
    assert answer.as_data()["torn_files"] == [str(tmp_path / "a.log.gz")]
    assert answer.as_data()["events_twice_count"] == answer.reading.doubled_count > 0


def test_unknown_lines_are_shown_on_request():
    lines = ["[2026-11-22 15:46:13,448] INFO The group coordinator sings (a.B)"]
    assert "sings" not in str(why(lines))
    said = " ".join(str(why(lines)).split())
    assert said == "Cannot tell: of 1 line, 1 may speak of groups, and none was understood. --unknown shows them."
    assert "lines:1: [2026-11-22 15:46:13,448] INFO The group coordinator sings" in str(why(lines, shows_unknown=True))


@dataclass
class Member:
    client_id: str


@dataclass
class Described:
    state: str
    assignor: str
    members: tuple


class Cluster:
    """What `kafkalearn.live.connect` gives, as far as it is asked."""

    def coordinator(self, group):
        if group == "gone":
            raise KafkaLearnError("there is no group 'gone'")
        return 2

    def group(self, group):
        return Described("Stable", "range", (Member("c1"), Member("c2")))


def test_what_a_cluster_says_now():
    run = run_named("close")
    answer = why(run["broker"], cluster=Cluster(), has_advice=False)
    words = " ".join(str(answer).split())
    assert "Now: Stable, 2 members (c1 and c2), assignor range; its coordinator is broker 2." in words
    assert "does not answer for it" in why(run["broker"], group="gone", cluster=Cluster()).now["gone"]


@pytest.mark.parametrize(
    "bad",
    [
        {"logs": 7},
        {"logs": []},
        {"logs": b"x"},
        {"logs": [7]},
        {"logs": ["x"], "group": 7},
        {"logs": ["x"], "zone": "Mars"},
        {"logs": ["x"], "zone": 7},
        {"logs": ["x"], "zone": {"a": "UTC"}},
        {"logs": ["x"], "release": "9.9"},
        {"logs": ["x"], "has_advice": [[]]},
        {"logs": ["x"], "shows_unknown": "no"},
        {"logs": "/nowhere/server.log"},
    ],
)
def test_what_cannot_be_meant_is_refused(bad):
    with pytest.raises(KafkaLearnError):
        why(**bad)


@pytest.mark.parametrize(
    "settings", [{"session.timeout.ms": -1}, {"sesion.timeout.ms": 1}, {"max.poll.interval.ms": "5s"}]
)
def test_settings_that_no_consumer_has_are_refused(settings):
    run = run_named("pause", release="4.0")
    with pytest.raises(KafkaLearnError, match=r"ses+ion\.timeout|max\.poll\.interval"):
        why(run["broker"], settings=settings)


def test_settings_in_a_log_that_do_not_go_together_are_told_of():
    run = run_named("pause", release="4.0")
    config = [
        "[2026-11-22 15:46:13,448] INFO ConsumerConfig values: (a.ConsumerConfig)",
        f"\tgroup.id = {run['group']}",
    ]
    config += ["\tsession.timeout.ms = 1000", "\theartbeat.interval.ms = 3000"]
    (advice,) = why([*config, *run["broker"]]).advice[run["group"]]
    assert advice.change is None
    assert "nothing could be tried: " in str(advice)
    assert "heartbeat.interval.ms" in advice.refused


def test_a_release_that_scenarios_were_never_asked_about_gets_its_answer_and_no_invented_advice():
    run = run_named("pause", release="4.0")
    told = why(run["broker"], release="1.1")
    (advice,) = told.advice[run["group"]]
    assert advice.change is None
    assert "groups.classic answers for 2.4 to" in str(advice)
    assert "not 1.1" in str(advice)


def test_a_name_of_a_file_that_is_not_there_is_no_line():
    for names in (["server.log"], ["logs/server.log.2026-11-22-10"], ["client.log.gz", "server.log"], [r"C:\kafka\x"]):
        with pytest.raises(KafkaLearnError, match="there is no file"):
            why(names)


def test_a_cluster_and_no_logs():
    answer = why([], group="billing", cluster=Cluster())
    words = " ".join(str(answer).split())
    assert answer.outcome == Outcome.CANNOT_TELL
    assert "No logs were given; why a group rebalanced stands in the log of its coordinator." in words
    assert "billing now: Stable, 2 members (c1 and c2), assignor range; its coordinator is broker 2." in words
    assert answer.as_data()["now"] == {"billing": answer.now["billing"]}
    with pytest.raises(KafkaLearnError, match="no logs were given"):
        why([], cluster=Cluster())


def test_a_group_that_the_logs_do_not_name_is_asked_for_all_the_same():
    words = " ".join(str(why(["nothing"], group="billing", cluster=Cluster())).split())
    assert "The logs say nothing about group 'billing'. billing now: Stable" in words


# The command.


def test_the_command(folder_of, capsys):
    folder = folder_of(run_named("close"))
    assert main(["why", str(folder), "--no-advice"]) == 1
    assert "was closed, as in a deployment" in capsys.readouterr().out
    assert main(["why", str(folder), "--json", "--set", "session.timeout.ms=10000", "--zone", "server.log=+01:00"]) == 1
    assert json.loads(capsys.readouterr().out)["groups"]


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["/nowhere/server.log"],
        ["-", "-"],
        ["--bootstrap", "x:1"],
        ["/", "--zone", "UTC", "--zone", "+01:00"],
        ["/", "--set", "x"],
    ],
)
def test_the_command_refuses_in_a_sentence(words, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert main(["why", *words]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("kafkalearn")
    assert said.err.count("\n") == 1
