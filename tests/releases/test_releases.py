"""Releases and their order, the defaults of each, and what an upgrade and a change of protocol alter in settings."""

import dataclasses
import re
import subprocess
import sys
from itertools import pairwise

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.oncall.upgrade import NOT_WITH_CONSUMER_PROTOCOL, refusals
from kafkalearn.releases import group_protocols
from kafkalearn.releases.defaults import default, describe, find_settings, history
from kafkalearn.releases.group_protocols import all_moves, moves
from kafkalearn.releases.lines import DEFAULT_RELEASE, RELEASES, Release, at_least, parse_release, release_line
from kafkalearn.releases.settings import ABSENT, REQUIRED, SIDES, provenance, settings_named, value_text
from kafkalearn.releases.upgrade import KINDS, changes, rows, table
from tests.recorded import recorded

NEWEST = RELEASES[-1]
lines = st.sampled_from(RELEASES)
patches = st.integers(0, 30)


def test_the_lines_are_listed_in_the_order_of_their_release():
    assert (RELEASES[0], RELEASES[-1], DEFAULT_RELEASE) == ("0.8.2", *[RELEASES[-1]] * 2)
    assert {"3.9", "4.3", "4.4"} < set(RELEASES)
    assert all(parse_release(before) < parse_release(after) for before, after in pairwise(RELEASES))


@given(lines, patches)
def test_a_patch_belongs_to_its_line_and_reads_back_as_it_was_written(line, patch):
    release = parse_release(f"{line}.{patch}")
    assert (release.line, str(release)) == (line, f"{line}.{patch}")
    assert parse_release(release) is release


@given(lines, patches, lines, patches)
def test_a_patch_comes_after_all_of_an_older_line(line, patch, other, other_patch):
    mine, its = parse_release(f"{line}.{patch}"), parse_release(f"{other}.{other_patch}")
    assert (mine < its) == ((RELEASES.index(line), patch) < (RELEASES.index(other), other_patch))


@given(lines, lines)
def test_a_line_has_what_came_with_it_and_with_every_older_one(since, release):
    assert at_least(since, release) == (RELEASES.index(since) <= RELEASES.index(release))


@given(lines, patches)
def test_a_line_stands_for_its_newest_patch_and_a_patch_only_for_itself(line, patch):
    came_with = f"{line}.{patch}"
    assert at_least(came_with, line)
    assert at_least(came_with, came_with)
    assert not at_least(f"{line}.{patch + 1}", came_with)


def test_without_a_release_the_newest_line_is_asked():
    assert at_least(NEWEST)
    assert at_least(f"{NEWEST}.9")


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("4.99", r"unknown release '4.99'; .*\(known: 0.8.2 to {newest}"),
        ("3.10", "unknown release '3.10'; did you mean '3.1'"),
        ("0.10", r"'0.10.2' or '0.10.1'\? \(known: 0.8.2 to {newest} and their patches\)"),
        ("v4.3", "did you mean '4.3'"),
        (" 4.3", "did you mean '4.3'"),
        ("4.3.", "did you mean '4.3'"),
        ("4.3.x", "did you mean '4.3'"),
        ("4.3.0.1", "did you mean '4.3'"),
        ("4.3.\u0663", "did you mean '4.3'"),
        ("trunk", "unknown release 'trunk'"),
        ("", "unknown release ''"),
        (4.3, "release must be a str, got float 4.3; put it in quotes"),
        (None, "release must be a str, got NoneType None"),
    ],
)
def test_what_is_no_release_is_refused_with_the_nearest_ones(asked, said):
    for ask in (parse_release, release_line, at_least):
        with pytest.raises(KafkaLearnError, match=said.replace("{newest}", NEWEST)):
            ask(asked)


def test_a_release_can_be_kept_in_a_state():
    assert {parse_release("4.3"): 1}[Release((4, 3))] == 1


RECORDED = recorded("settings-by-release")
SETTINGS = find_settings()

settings = st.sampled_from(SETTINGS)


LINES_READ_TWICE = tuple(RECORDED["releases"])
"""Up to 4.3: the recorded file is a reading of its own, which no command makes again."""


def as_recorded(value):
    """A value of ours as the recorded file writes it."""
    special = {ABSENT: "absent", REQUIRED: "(required)"}
    if isinstance(value, tuple):
        return list(value)
    return special.get(value, value)


CORRECTED = {("broker.id", "broker", "0.8.2"): "(required)"}
"""What the recorded file has wrong: KafkaConfig of 0.8.2.2 says "Missing required property 'broker.id'"."""


def recorded_defaults(each):
    key = each["name"], each["side"]
    return {line: CORRECTED.get((*key, line), value) for line, value in each["defaults"].items()}


def test_the_package_holds_every_default_of_the_recorded_file():
    ours = {
        (each.name, each.side, each.type): {line: as_recorded(each.in_release(line)) for line in LINES_READ_TWICE}
        for each in SETTINGS
    }
    real = {
        (each["name"], each["side"], each["type"]): recorded_defaults(each) for each in RECORDED["settings"].values()
    }

    assert len(real) == 371
    assert ours.keys() >= real.keys()
    found = {key: ours[key] for key in real}
    assert repr(found) == repr(real)  # as text, or 1, 1.0 and true would be equal


def test_the_changes_of_each_setting_are_the_recorded_ones():
    ours, real = {}, {}
    for each in SETTINGS:
        values = [(line, as_recorded(each.in_release(line))) for line in LINES_READ_TWICE]
        ours[each.name, each.side] = [[line, old, new] for (_, old), (line, new) in pairwise(values) if old != new]
    for each in RECORDED["settings"].values():
        values = recorded_defaults(each).items()
        real[each["name"], each["side"]] = [
            [line, old, new] for (_, old), (line, new) in pairwise(values) if old != new
        ]
        if all(name != each["name"] for name, _, _ in CORRECTED):
            assert real[each["name"], each["side"]] == each["changed"]

    assert {key: ours[key] for key in real} == real


def test_the_lines_and_the_releases_asked_are_the_recorded_ones_and_the_sides_are_more():
    assert RELEASES[: len(LINES_READ_TWICE)] == LINES_READ_TWICE
    assert set(SIDES) == {each["side"] for each in RECORDED["settings"].values()} | {"admin", "old-producer"}
    assert list(provenance()[1]) == list(RELEASES)
    later = {"4.2": "4.2.2"}  # than the second reading
    assert {line: provenance()[1][line] for line in LINES_READ_TWICE} == RECORDED["jar_versions"] | later


AT_4_3 = RELEASES.index("4.3")


@pytest.mark.parametrize(
    ("side", "first", "last", "setting_count"),
    [
        ("consumer", "0.8.2", NEWEST, 123),
        ("producer", "0.8.2", NEWEST, 118),
        ("admin", "0.11.0", NEWEST, 92),
        ("broker", "0.8.2", NEWEST, 422),
        ("topic", "0.8.2", NEWEST, 38),
        ("group", "4.0", NEWEST, 17),
        ("old-consumer", "0.8.2", "1.1", 29),
        ("old-producer", "0.8.2", "1.1", 18),
    ],
)
def test_every_side_is_read_in_each_release_that_has_it(side, first, last, setting_count):
    read_to_4_3 = [each for each in find_settings(side=side) if RELEASES.index(each.history[0][0]) <= AT_4_3]
    assert len(read_to_4_3) == setting_count
    having = [line for line in RELEASES if find_settings(release=line, side=side)]
    assert having == list(RELEASES[RELEASES.index(first) : RELEASES.index(last) + 1])


@pytest.mark.parametrize(
    ("setting", "side", "release", "value"),
    [
        ("zookeeper.connect", "broker", "0.8.2", REQUIRED),
        ("zookeeper.connect", "broker", "2.8", None),  # not required: 2.8 can run with KRaft
        ("listeners", "broker", "4.3", ("PLAINTEXT://:9092",)),
        ("sasl.mechanism", "consumer", "4.3", "GSSAPI"),
        ("log.message.format.version", "broker", "2.8", "2.8-IV1"),
        ("remote.log.storage.system.enable", "broker", "4.3", False),
        ("controller.quorum.voters", "broker", "3.9", ()),
        ("metrics.num.samples", "producer", "4.3", 2),
        ("quota.window.num", "broker", "4.3", 11),
        ("leader.replication.throttled.rate", "broker", "4.3", 2**63 - 1),  # only while the broker runs
        ("retries", "admin", "4.3", 2**31 - 1),
        ("request.required.acks", "old-producer", "1.1", 0),
        ("broker.id", "broker", "0.8.2", REQUIRED),
    ],
)
def test_security_listeners_quotas_metrics_tiered_storage_and_kraft_are_in_the_list(setting, side, release, value):
    assert default(setting, release, side) == value


def test_internal_settings_are_kept_and_recognisable():
    internal = {each.name for each in SETTINGS if each.is_internal}
    came_later = {each.name for each in SETTINGS if RELEASES.index(each.history[0][0]) > AT_4_3}
    assert len(internal - came_later) == 31
    assert {"internal.segment.bytes", "unstable.api.versions.enable"} < internal
    assert all(each.is_internal for each in SETTINGS if each.name.startswith(("internal.", "unstable.")))
    assert describe("internal.segment.bytes").startswith("internal.segment.bytes (topic, INT, internal)")


def test_no_default_depends_on_the_java_that_ran_the_class_without_a_note_that_says_so():
    for name in ("ssl.protocol", "ssl.enabled.protocols", "ssl.keymanager.algorithm", "ssl.trustmanager.algorithm"):
        for each in find_settings(name):
            assert each.name != name or any("Java" in note.text for note in each.notes)


@given(settings, lines)
def test_a_setting_exists_in_one_stretch_of_releases_and_the_error_names_it(setting, line):
    exists = [each for each in RELEASES if setting.in_release(each) is not ABSENT]
    first, last = RELEASES.index(exists[0]), RELEASES.index(exists[-1])
    assert exists == list(RELEASES[first : last + 1])

    if line in exists:
        assert default(setting.name, line, setting.side) == setting.in_release(line)
    else:
        span = f"{exists[0]} has it" if len(exists) == 1 else f"{exists[0]} to {exists[-1]} have it"
        said = re.escape(f"Kafka {line} has no {setting.side} setting {setting.name}; {span}")
        with pytest.raises(KafkaLearnError, match=said):
            default(setting.name, line, setting.side)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (
            ("zookeeper.connect", "4.0", "broker"),
            "Kafka 4.0 has no broker setting zookeeper.connect; 0.8.2 to 3.9 have it",
        ),
        (
            ("zookeeper.connect", "4.0"),
            "Kafka 4.0 has no setting zookeeper.connect; 0.8.2 to 3.9 have it (broker), 0.8.2 to 1.1 have it "
            "(old-consumer)",
        ),
        (("retries", "0.10.2", "admin"), "Kafka 0.10.2 has no admin setting retries; 0.11.0 to {newest} have it"),
        (
            ("delegation.token.master.key", "4.1"),
            "Kafka 4.1 has no broker setting delegation.token.master.key; 1.1 to 3.9 have it; set "
            "delegation.token.secret.key instead",
        ),
        (
            ("zookeeper.conect", "2.8"),
            "unknown setting 'zookeeper.conect'; did you mean 'zookeeper.connect' or 'zookeeper.set.acl' or "
            "'zookeeper.sync.time.ms'? No class that was read has it: consumer, producer, admin, broker, topic, "
            "old-consumer, old-producer, group from 0.8.2 to {newest} were read; Connect, Streams and the command line "
            "tools were not",
        ),
        (
            ("tickTime",),
            f"unknown setting 'tickTime'; {len({each.name for each in SETTINGS})} are known, none is spelt like it. "
            "No class that was read has it: ",
        ),
    ],
)
def test_what_is_not_in_the_list_is_said_to_be_so_and_what_another_release_has_is_said_to_be_there(asked, said):
    with pytest.raises(KafkaLearnError) as error:
        default(*asked)
    assert str(error.value).startswith(said.replace("{newest}", NEWEST))


@given(settings, lines)
def test_the_last_entry_of_the_history_up_to_a_release_is_its_default(setting, line):
    entries = [
        value for since, value in history(setting.name, setting.side) if RELEASES.index(since) <= RELEASES.index(line)
    ]
    assert (entries or [ABSENT])[-1] == setting.in_release(line)


@given(lines, lines, st.sampled_from([None, *SIDES]))
def test_changes_carry_the_defaults_of_one_release_over_into_those_of_another(one, other, side):
    old, new = sorted((one, other), key=RELEASES.index)
    before = {(each.name, each.side): each.in_release(old) for each in find_settings(release=old, side=side)}
    after = {(each.name, each.side): each.in_release(new) for each in find_settings(release=new, side=side)}

    for change in changes(old, new, side):
        if change.kind not in ("changed", "renamed", "removed", "added"):
            continue
        assert before.pop((change.setting, change.side), ABSENT) == change.old != change.new
        if change.new is not ABSENT:
            before[change.setting, change.side] = change.new
        assert RELEASES.index(old) < RELEASES.index(change.since) <= RELEASES.index(new)
    assert before == after


@pytest.mark.parametrize(
    ("setting", "defaults"),
    [
        ("session.timeout.ms", {"0.10.0": 30000, "0.10.1": 10000, "2.8": 10000, "3.0": 45000, "4.3": 45000}),
        ("acks", {"2.8": "1", "3.0": "all"}),
        ("linger.ms", {"3.9.2": 0, "4.0.0": 5}),
        ("group.coordinator.threads", {"3.9": 1, "4.0": 4}),
        ("group.coordinator.append.linger.ms", {"3.8": 10, "4.0": 5, "4.1": 5, "4.2": -1}),
        ("offsets.retention.minutes", {"1.1": 1440, "2.0": 10080}),
        ("message.max.bytes", {"2.4": 1000012, "2.5": 1048588}),
        ("group.id", {"0.8.2": REQUIRED, "0.9.0": "", "2.2": None}),
    ],
)
def test_well_known_changes_come_with_the_release_that_made_them(setting, defaults):
    side = "consumer" if setting == "group.id" else None
    assert {release: default(setting, release, side) for release in defaults} == defaults


def test_without_a_release_the_default_is_that_of_the_newest_line():
    assert default("group.coordinator.append.linger.ms") == -1
    assert changes("4.2") == changes("4.2", NEWEST)


@pytest.mark.parametrize(
    ("asked", "value"),
    [
        ({"setting": "compression.type", "side": "topic"}, "producer"),
        ({"setting": "compression.type@producer"}, "none"),
        ({"setting": "request.timeout.ms"}, 30000),  # three sides, one default
        ({"setting": "auto.offset.reset"}, "latest"),  # the ZooKeeper consumer's is gone
        ({"setting": "socket.receive.buffer.bytes"}, 102400),  # only the broker still has it
    ],
)
def test_a_name_of_several_sides_is_answered_where_a_side_is_named_or_all_agree(asked, value):
    assert default(**asked) == value


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda: default("receive.buffer.bytes"), r"consumer 65536 \(64 KiB\); producer 32768 \(32 KiB\); admin 65536"),
        (lambda: default("auto.offset.reset", "0.9.0"), "consumer latest; old-consumer largest. Say which with side="),
        (lambda: history("retry.backoff.ms"), r"consumer 100 since 0.9.0; producer 100 since 0.8.2; admin"),
    ],
)
def test_where_the_sides_differ_nothing_is_guessed_and_the_error_says_what_each_has(ask, said):
    with pytest.raises(KafkaLearnError, match=said):
        ask()


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"setting": "session_timeout_ms"}, "unknown setting 'session_timeout_ms'; did you mean 'session.timeout.ms'"),
        ({"setting": "linger"}, "unknown setting 'linger'"),
        ({"setting": None}, "setting must be a str, got NoneType None"),
        ({"setting": "acks", "release": "3.O"}, "unknown release '3.O'"),
        ({"setting": "acks", "side": "client"}, "unknown side 'client'.*Known: 'consumer', 'producer'"),
        ({"setting": "acks", "side": "topic"}, "acks is not a topic setting; it is one of: producer"),
        ({"setting": "acks@topic"}, "acks is not a topic setting; it is one of: producer"),
        ({"setting": "linger.ms@topics"}, "unknown side 'topics'; did you mean 'topic'"),
    ],
)
def test_what_does_not_exist_is_refused_with_what_does(asked, said):
    with pytest.raises(KafkaLearnError, match=said):
        default(**asked)


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda: changes("4.3", "3.9"), "changes from 4.3 to 3.9 would go backwards; give the older release first"),
        (lambda: changes("3.9", "4.9"), "unknown release '4.9'"),
        (lambda: changes("3.9", side="brokers"), "unknown side 'brokers'; did you mean 'broker'"),
        (lambda: find_settings(side="brokers"), "unknown side 'brokers'"),
        (lambda: history("ack"), "unknown setting 'ack'; did you mean 'acks'"),
        (lambda: describe("ack"), "unknown setting 'ack'; did you mean 'acks'"),
    ],
)
def test_every_question_refuses_what_it_does_not_know(ask, said):
    with pytest.raises(KafkaLearnError, match=said):
        ask()


def test_a_change_that_matters_comes_with_its_note():
    notes = {change.setting: change.note for change in changes("2.8", "3.0", side="producer")}
    assert "KAFKA-13598" in notes["enable.idempotence"]
    assert "KAFKA-13598" in describe("enable.idempotence")
    assert {change.setting: change.note for change in changes("3.3", "3.4")}["producer.id.expiration.ms"]


def test_every_note_is_about_releases_in_which_its_setting_lived_or_died():
    for setting in SETTINGS:
        for note in setting.notes:
            first, last = RELEASES.index(note.first), RELEASES.index(note.last)
            lived = [setting.in_release(line) is not ABSENT for line in RELEASES[max(first - 1, 0) : last + 1]]
            assert first <= last
            assert any(lived), (setting.name, note)


def test_the_upgrade_table_is_in_the_order_of_the_kinds_and_fits_a_data_frame_and_a_terminal():
    found = changes("3.9", "4.0")
    kinds = [change.kind for change in found]
    frame = pd.DataFrame(rows(found))

    assert kinds == sorted(kinds, key=list(KINDS).index)
    assert list(frame.columns) == [field.name for field in dataclasses.fields(found[0])]
    assert frame.set_index("setting").loc["linger.ms", ["old", "new"]].tolist() == ["0", "5"]
    assert table(changes(NEWEST)) == "nothing"


@given(lines, lines, st.sampled_from([None, *SIDES]))
def test_the_table_says_all_that_the_rows_say_and_no_line_is_wider_than_a_terminal(one, other, side):
    found = changes(*sorted((one, other), key=RELEASES.index), side)
    text = table(found)
    squeezed = "".join(text.split())

    assert all(len(line) <= 120 and line == line.rstrip() for line in text.splitlines())
    for row in rows(found):
        assert "".join(row["note"].split()) in squeezed
    assert len(text.splitlines()) > len(found) or not found


def test_the_same_release_and_its_patches_change_nothing():
    assert changes("3.9", "3.9.2") == changes("3.9.1", "3.9.0") == ()


@pytest.mark.parametrize(
    ("setting", "value", "text"),
    [
        ("session.timeout.ms", 45000, "45000 (45 s)"),
        ("linger.ms", 0, "0"),
        ("max.poll.interval.ms", 300000, "300000 (5 min)"),
        ("request.timeout.ms", 305000, "305000 (305 s)"),
        ("log.retention.hours", 168, "168 (7 d)"),
        ("leader.imbalance.check.interval.seconds", 300, "300 (5 min)"),
        ("replication.quota.window.size.seconds", 1, "1"),
        ("segment.bytes", 1073741824, "1073741824 (1 GiB)"),
        ("batch.size", 16384, "16384 (16 KiB)"),
        ("message.max.bytes", 1048588, "1048588"),
        ("group.max.size", 2147483647, "2147483647 (Int.MAX)"),
        ("flush.ms", 2**63 - 1, "9223372036854775807 (Long.MAX)"),
        ("retention.ms", -1, "-1"),
        ("log.cleaner.min.cleanable.ratio", 0.5, "0.5"),
        ("client.rack", "", "empty"),
        ("bootstrap.servers", (), "empty"),
        ("bootstrap.servers", REQUIRED, "required"),
        ("acks", ABSENT, "absent"),
        ("partitioner.class", None, "unset"),
    ],
)
def test_a_value_reads_as_in_a_properties_file_with_larger_units_where_they_are_whole(setting, value, text):
    assert value_text(setting, value) == text


def test_nothing_that_is_returned_can_be_changed_by_its_reader():
    assert default("partition.assignment.strategy", side="consumer") == (
        "org.apache.kafka.clients.consumer.RangeAssignor",
        "org.apache.kafka.clients.consumer.CooperativeStickyAssignor",
    )
    assert all(hash(setting) and hash(setting.history) for setting in SETTINGS)
    assert all(map(hash, changes("0.8.2")))
    with pytest.raises(TypeError):
        provenance()[1]["4.3"] = "4.4"


def test_importing_the_module_does_not_read_the_data():
    code = "import kafkalearn.releases, kafkalearn.releases.settings as s; print(s.all_settings.cache_info().currsize)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout == "0\n"


NOTES_OF_4_4 = {
    "KIP-1200": ("broker", "ClientQuotaCallback.updateClusterMetadata"),
    "limits of arrays, brokers": ("broker", "requests with long arrays"),
    "limits of arrays, clients": ("client", "answers with long arrays"),
    "KIP-1241, topic": ("topic", "remote.copy.lag.bytes", "remote.copy.lag.ms"),
    "KIP-1241, broker": ("broker", "log.remote.copy.lag.bytes", "log.remote.copy.lag.ms"),
    "PEM, brokers": ("broker", "certificates in PEM"),
    "PEM, clients": ("client", "certificates in PEM"),
    "formatted folders": ("tools", "a formatted folder"),
    "KIP-1220": ("tools", "kafka-broker-api-versions"),
}
"""What its upgrade notes name that is neither of Connect nor of Streams; Streams has KIP-1331 beside them."""


def test_an_upgrade_to_4_4_names_every_item_of_its_notes_and_every_setting_that_is_new():
    found = {(each.side, each.setting) for each in changes("4.3", "4.4")}
    for note, (side, *items) in NOTES_OF_4_4.items():
        assert {(side, each) for each in items} <= found, note
    new = {(each.side, each.name) for each in SETTINGS if each.history[0][0] == "4.4"}
    assert len(new) == 46
    assert new <= found
    for side in ("broker", "topic"):  # 4.2.2 has it, 4.3.1 has not
        assert (side, "max.decompressed.message.bytes") in found - new


# What becomes of the classic protocol's settings: each is one that exists, and what is refused a client refuses.


def test_every_entry_is_whole_and_every_setting_is_one_of_a_release():
    assert len({move.name for move in all_moves()}) == len(all_moves()) == len(moves()) == len(group_protocols.rows())
    for move in all_moves():
        assert (
            move.kind in group_protocols.KINDS,
            move.what in group_protocols.MEANINGS,
            bool(move.becomes and move.source),
        ) == (True, True, True)
        if move.kind in ("consumer", "broker"):
            own = [each for each in settings_named(move.name) if each.side == move.kind]
            assert any(each.in_release("4.0") is not ABSENT for each in own), move.name


def test_refused_is_what_the_client_refuses():
    names = [move.name for move in moves("refused")]
    assert set(names) == set(NOT_WITH_CONSUMER_PROTOCOL)
    for name in names:
        value = "org.apache.kafka.clients.consumer.RangeAssignor" if "strategy" in name else "5000"
        assert refusals({"group.protocol": "consumer", name: value}, "consumer", "4.4")
    cases = [
        case for case in recorded("client-settings")["cases"] if case["settings"].get("group.protocol") == "consumer"
    ]
    for case in cases:
        if {*case["settings"]} & {*names}:
            assert "4.0.2" in case["refused"], case
    assert len(cases) >= 3
