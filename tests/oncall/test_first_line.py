"""The first line of `why` and what follows it by harm; a log that goes on; lines of other parts of a broker."""

import io
import signal
import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.oncall import why
from kafkalearn.oncall.command import main
from kafkalearn.oncall.logs import read, transactions
from kafkalearn.oncall.logs.causes import CAUSES, DROPPED, HEARTBEATS, JOINED, LEFT, POLL, UNAUTHORIZED
from kafkalearn.oncall.logs.rebalances import histories
from kafkalearn.oncall.logs.transactions import MEANINGS
from kafkalearn.oncall.why_report import (
    _BRIEF,
    _OF_TRANSACTIONS,
    LONGEST_HEADLINE,
    by_harm,
    headline,
    middle_cut,
)
from kafkalearn.releases.lines import DEFAULT_RELEASE

MEMBER = "c{}-0b9f8b9e-6a47-4c2f-8d3c-2f6f0d1c9a11"


def lost(second, group="billing", client=2, generation=7):
    member = MEMBER.format(client)
    at = f"[2026-11-22 15:46:{second:02}"
    return [
        f"{at},000] INFO [GroupCoordinator 0]: Member {member} in group {group} has failed, removing it from the group "
        "(kafka.coordinator.group.GroupCoordinator)",
        f"{at},001] INFO [GroupCoordinator 0]: Preparing to rebalance group {group} in state PreparingRebalance with "
        f"old generation {generation} (__consumer_offsets-9) (reason: removing member {member} on heartbeat "
        "expiration.) (kafka.coordinator.group.GroupCoordinator)",
        f"{at},500] INFO [GroupCoordinator 0]: Stabilized group {group} generation {generation + 1} "
        "(__consumer_offsets-9) with 2 members (kafka.coordinator.group.GroupCoordinator)",
        f"{at},501] INFO [GroupCoordinator 0]: Assignment received from leader c1 for group {group} for generation "
        f"{generation + 1}. The group has 2 members, 0 of which are static. (kafka.coordinator.group.GroupCoordinator)",
    ]


def joined(second, group="billing", client=3, generation=8):
    line = lost(second, group, client, generation)
    reason = f"Adding new member {MEMBER.format(client)} with group instance id None"
    return [line[1].replace(f"removing member {MEMBER.format(client)} on heartbeat expiration.", reason), *line[2:]]


(ONE,) = histories(read(lost(20)).events)[0].rebalances


def test_the_first_line_says_what_to_whom_how_often_and_what_to_do():
    answer = why([*lost(20), *joined(30), *lost(40, generation=9)], has_advice=False)

    assert str(answer).splitlines()[0] == "billing: c2 was not heard of, 2 of 3 rebalances; see if it died or paused."
    assert answer.as_data()["headline"] == answer.headline


def test_every_cause_and_every_kind_of_transaction_has_its_words():
    assert set(_BRIEF) == set(CAUSES)
    assert set(_OF_TRANSACTIONS) == set(MEANINGS)


NAMES = st.text("abcdefghij-.", min_size=1, max_size=300)


@given(NAMES, st.none() | NAMES, st.sampled_from(sorted(CAUSES)), st.integers(1, 10_000))
def test_the_first_line_is_short_and_keeps_the_ends_of_names(group, client, cause, count):
    said = headline([(group, [replace(ONE, cause=cause, client=client)] * count)], [])

    assert len(said) <= LONGEST_HEADLINE
    assert said.startswith(group if len(group) < 8 else group[:3])
    assert said.endswith(".")
    assert f"{count:,} of {count:,} rebalance" in said


@given(NAMES, st.sampled_from(sorted(MEANINGS)), st.integers(1, 10**6))
def test_the_first_line_of_a_transaction_is_short(name, kind, count):
    found = transactions.TransactionFinding(kind, name, None, count, 0, 0, "", "", ())

    assert len(headline([], [found])) <= LONGEST_HEADLINE


@given(NAMES, st.integers(8, 200))
def test_a_cut_name_has_its_ends(name, longest):
    said = middle_cut(name, longest)

    assert len(said) == min(len(name), longest)
    assert said == name or (name.startswith(said.split("...")[0]) and name.endswith(said.rsplit("...")[-1]))


def test_a_lost_member_comes_before_a_planned_join_and_after_a_refusal():
    order = [JOINED, LEFT, HEARTBEATS, UNAUTHORIZED]
    found = by_harm([replace(ONE, cause=cause) for cause in order])

    assert [each.cause for each in found] == order[::-1]


def test_of_one_harm_the_longest_standstill_comes_first():
    short, long = replace(ONE, ended_ms=ONE.started_ms + 10), replace(ONE, ended_ms=ONE.started_ms + 900, cause=POLL)

    assert by_harm([short, long]) == [long, short]


def test_the_words_are_ordered_so():
    words = str(why([*joined(10, generation=6), *lost(20)], has_advice=False)).splitlines()

    assert "15:46:20" in words[2]
    assert "15:46:10" in words[-1] + words[-2]


def test_a_line_that_is_not_understood_is_printed_as_it_stands(monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    line = f"[2026-11-22 15:46:13,448] INFO The group coordinator sings {'la ' * 40}(a.B)"

    assert f"  lines:1: {line}" in str(why([line], shows_unknown=True)).splitlines()


def test_the_width_of_the_terminal_is_used(monkeypatch):
    lines = lost(20)
    monkeypatch.setenv("COLUMNS", "140")
    wide = str(why(lines, has_advice=False))
    monkeypatch.setenv("COLUMNS", "60")

    assert max(map(len, str(why(lines, has_advice=False)).splitlines())) <= 60
    assert "see if it died or paused" in str(why(lines, has_advice=False)).replace("\n", " ")
    assert 80 < max(map(len, wide.splitlines())) <= 140


# A log that goes on: kubectl logs -f ... | kafkalearn why - --follow


def started(*words):
    return subprocess.Popen(
        [sys.executable, "-m", "kafkalearn", "why", "-", "--no-advice", *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # what is started behind "&" ignores it
    )


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signal")
def test_a_log_that_goes_on_is_answered_as_it_goes_and_when_it_is_stopped():
    with started("--follow") as run:
        for place, second in enumerate((20, 40)):
            run.stdin.write("\n".join(lost(second, generation=7 + place)) + "\n")
            run.stdin.flush()
            for line in iter(run.stdout.readline, ""):  # the cause at once, then how long it was
                assert line.startswith(f"billing: 2026-11-22 15:46:{second}")
                if ", 0.5 s: " in line:
                    break
                run.stdout.readline()
            run.stdout.readline()  # the rest of the sentence
        run.send_signal(signal.SIGINT)
        said, errors = run.communicate()

    assert run.returncode == 1, errors
    assert said.startswith("billing: c2 was not heard of, 2 of 2 rebalances; see if it died or paused.\n")
    assert "You have stopped the reading: this is from the 8 lines until then." in " ".join(said.split())


def test_what_is_stopped_before_a_line_came_is_no_answer(monkeypatch, capsys):
    class Stopped(io.BytesIO):
        def read(self, *_):
            raise KeyboardInterrupt

        read1 = read

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(Stopped()))

    assert main(["why", "-"]) == 130
    assert capsys.readouterr().err == "kafkalearn: interrupted\n"


def test_what_is_told_is_each_rebalance_once_it_is_known(tmp_path):
    log = tmp_path / "server.log"
    log.write_text("\n".join([*lost(20), *joined(30), *lost(40, group="shipping")]) + "\n")
    told = []
    why(log, has_advice=False, told=told.append)
    only = []
    why(log, has_advice=False, told=only.append, group="shipping")

    assert [each.split(": ")[0] for each in told] == ["billing", "billing", "shipping"]
    assert only == told[2:]


def test_lines_as_they_come_and_one_object_are_not_both_printed(capsys):
    assert main(["why", "-", "--follow", "--json"]) == 2
    assert "give one of them" in capsys.readouterr().err


# Lines that Kafka 4.4 writes about heartbeats, groups and coordinators of its own; recorded on three brokers that are
# controllers, too, on 2026-11-28.

OF_OTHERS = [
    "[NodeToControllerChannelManager id=1 name=heartbeat] Disconnecting from node 3 due to request timeout. "
    "(org.apache.kafka.clients.NetworkClient)",
    "[BrokerLifecycleManager id=1] Unable to send a heartbeat because the RPC got timed out before it could be sent. "
    "(org.apache.kafka.server.BrokerLifecycleManager)",
    "[QuorumController id=3] processExpiredBrokerHeartbeat: controller event queue overloaded. Timed out heartbeat "
    "from broker 1. (org.apache.kafka.controller.ReplicationControlManager)",
    "[group-coordinator-event-processor-0]: Starting "
    "(org.apache.kafka.coordinator.common.runtime.MultiThreadedEventProcessor$EventProcessorThread)",
    "[share-group-lock-timeout-reaper]: Starting (org.apache.kafka.server.util.timer.SystemTimerReaper$Reaper)",
    "[ShareCoordinator id=1] Startup complete. (org.apache.kafka.coordinator.share.ShareCoordinatorService)",
    "Starting ShareGroupDLQStateManager (org.apache.kafka.server.share.dlq.ShareGroupDLQStateManager)",
    "[QuorumController id=1] Replayed a FeatureLevelRecord setting feature group.version to 1 "
    "(org.apache.kafka.controller.FeatureControlManager)",
    "Creating new marker queue for txn partition 10 to destination broker 2 "
    "(org.apache.kafka.coordinator.transaction.TxnMarkerQueue)",
    "[BrokerLifecycleManager id=1] Broker 1 sent a heartbeat request but received error REQUEST_TIMED_OUT. "
    "(org.apache.kafka.server.BrokerLifecycleManager)",
]


@pytest.mark.parametrize("line", OF_OTHERS)
def test_what_other_parts_of_a_broker_write_is_no_line_that_was_not_understood(line):
    answer = why([f"[2026-11-28 18:50:35,960] INFO {line}", *lost(55)], has_advice=False)

    assert answer.reading.unknown_count == 0
    assert [each.cause for each in answer.rebalances] == [HEARTBEATS]


def test_a_new_line_about_a_group_still_counts():
    line = "[2026-11-28 18:50:35,960] INFO [GroupCoordinator id=1] Group billing sings. (a.B)"

    assert why([line], has_advice=False).reading.unknown_count == 1
    with pytest.raises(KafkaLearnError, match="no logs were given"):
        why([])


# The release that a client names when it starts decides the defaults.

POLL_EXPIRED = (
    "[2019-11-22 15:46:13,000] WARN [Consumer clientId=c1, groupId=billing] This member will leave the group because "
    "consumer poll timeout has expired. This means the time between subsequent calls to poll() was longer than the "
    "configured max.poll.interval.ms, which typically implies that the poll loop is spending too much time processing "
    "messages. You can address this either by increasing max.poll.interval.ms or by reducing the maximum size of "
    "batches returned in poll() with max.poll.records. "
    "(org.apache.kafka.clients.consumer.internals.AbstractCoordinator)"
)


def named(version):
    return f"[2019-11-22 15:46:12,000] INFO Kafka version: {version} (org.apache.kafka.common.utils.AppInfoParser)"


@pytest.mark.parametrize(("version", "release"), [("3.7.2", "3.7"), ("7.6.1-ccs", "3.6"), ("5.5.0-ce", "2.5")])
def test_the_defaults_are_those_of_the_release_that_the_log_names(version, release):
    answer = why([named(version), POLL_EXPIRED])

    assert answer.release == release
    assert f"the defaults of Kafka {release}, which the log names" in " ".join(str(answer).split())
    assert why([named(version), POLL_EXPIRED], release="4.0", has_advice=False).release == "4.0"


def test_two_releases_in_the_logs_of_consumers_name_none(tmp_path):
    for name, version in (("a.log", "3.7.2"), ("b.log", "2.8.1")):
        (tmp_path / name).write_text(f"{named(version)}\n{POLL_EXPIRED}\n")

    assert why(tmp_path, has_advice=False).release == DEFAULT_RELEASE
    assert why(tmp_path / "b.log", has_advice=False).release == "2.8"


def test_a_brokers_release_is_not_that_of_the_consumers():
    assert why([named("3.7.2"), *lost(20)], has_advice=False).release == DEFAULT_RELEASE


def test_a_refused_commit_is_no_late_poll_only_because_its_sentence_says_so():
    """A member that an admin has removed gets the same CommitFailedException."""
    line = (
        "org.apache.kafka.clients.consumer.CommitFailedException: Commit cannot be completed since the group has "
        "already rebalanced and assigned the partitions to another member. This means that the time between subsequent "
        "calls to poll() was longer than the configured max.poll.interval.ms"
    )
    (one,) = why([line], has_advice=False).rebalances

    assert one.cause == DROPPED
    assert POLL in CAUSES[one.cause].covers


def test_a_client_that_writes_states_of_kip_848_is_of_such_a_group():
    line = (
        "[2026-11-22 15:46:13,000] INFO [Consumer clientId=c1, groupId=billing] Member abc with epoch 3 transitioned "
        "from RECONCILING to FATAL. (org.apache.kafka.clients.consumer.internals.ConsumerMembershipManager)"
    )
    (group,) = why([line], has_advice=False).groups

    assert group.protocol == "consumer"


def test_a_transaction_that_librdkafka_gives_up_has_its_error():
    line = (
        "%1|1795362373.448|TXNERR|pay#producer-1| [thrd:main]: Fatal transaction error: Failed to add offsets to "
        "transaction: Broker: Producer attempted an operation with an old epoch (INVALID_PRODUCER_EPOCH)"
    )
    (found,) = why([line], has_advice=False).transactions

    assert found.kind == transactions.OLD_EPOCH
