"""Upgrade: what it refuses is what the clients of each release refuse, and what it says of a file is in the file."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.oncall import upgrade
from kafkalearn.oncall.answer import Outcome
from kafkalearn.oncall.command import main
from kafkalearn.oncall.settings import MASK, is_secret, parse_properties, read_properties
from kafkalearn.oncall.upgrade import BEGINS, DANGERS, SEEN_IN_SETTINGS, Finding, Upgrade, of_line, refusals
from kafkalearn.releases.lines import DEFAULT_RELEASE, RELEASES, at_least
from kafkalearn.releases.settings import ABSENT, REQUIRED, all_facts, all_settings, deprecations, settings_named
from kafkalearn.releases.upgrade import changes
from tests.every import every_case
from tests.recorded import recorded

RECORDED = recorded("client-settings")

NOT_KNOWN = {
    ("enable.auto.commit", "true"): "the program may set group.id itself",
    ("isolation.level", "READ_COMMITTED"): "whether case matters is not recorded",
    ("bootstrap.servers", ""): "the program may set it itself",
    ("compression.type", "zstd"): "before 3.1 no class states what is allowed",
    ("compression.type", "brotli"): "before 3.1 no class states what is allowed",
    (
        "partitioner.class",
        "org.apache.kafka.clients.producer.UniformStickyPartitioner",
    ): "classes that are not there yet",
    ("partitioner.class", "org.apache.kafka.clients.producer.RoundRobinPartitioner"): "classes that are not there yet",
}
"""What a client refuses and is not known here, with the reason; what is refused here, a client refuses."""


@every_case("release", RECORDED["asked"])
@every_case("case", RECORDED["cases"], ids=lambda case: f"{case['side']} {case['settings']}"[:80])
def test_what_a_client_of_a_release_refuses_is_refused_here(case, release):
    found = refusals(case["settings"], case["side"], release)
    is_refused = release in case["refused"]

    if is_refused and {*case["settings"].items()} & NOT_KNOWN.keys():
        return
    assert bool(found) == is_refused, (found, case["refused"].get(release))


def properties(tmp_path, text, name="a.properties"):
    path = tmp_path / name
    path.write_text(text, encoding="latin-1")
    return path


def named(answer, danger):
    return [finding.name for finding in answer.findings if finding.danger == danger and finding.file]


def test_kip_848_refuses_the_classic_settings_of_a_consumer(tmp_path):
    path = properties(
        tmp_path,
        "group.id=g\ngroup.protocol=consumer\nsession.timeout.ms=45000\nheartbeat.interval.ms=3000\n"
        "partition.assignment.strategy=org.apache.kafka.clients.consumer.RangeAssignor\n",
    )
    answer = upgrade("3.9", "4.0", path)

    assert sorted(named(answer, "refused")) == [
        "heartbeat.interval.ms", "partition.assignment.strategy", "session.timeout.ms",
    ]  # fmt: skip
    assert named(upgrade("3.8", "3.9", path), "refused") == []


def test_a_consumer_that_has_not_asked_for_kip_848_is_prepared_for_it(tmp_path):
    answer = upgrade("3.9", "4.3", properties(tmp_path, "group.id=g\nsession.timeout.ms=45000\n"))

    assert named(answer, "refused") == []
    assert "session.timeout.ms" in named(answer, "noted")


def test_a_zookeeper_broker_meets_what_4_0_asks_of_it(tmp_path):
    text = "broker.id=1\nzookeeper.connect=zk:2181\nlog.dirs=/d\nlog.message.format.version=2.8\nnum.partitions=3\n"
    answer = upgrade("3.9", "4.0", properties(tmp_path, text))

    assert {"zookeeper.connect", "log.message.format.version"} <= {*named(answer, "gone")}
    assert "process.roles" in named(answer, "refused")
    assert "node.id" not in named(answer, "refused")  # broker.id stands for it
    assert "num.recovery.threads.per.data.dir" in named(answer, "behaves")
    assert answer.outcome is Outcome.FOUND


ZOOKEEPER = "broker.id=1\nzookeeper.connect=zk:2181\nlog.dirs=/d\n"


def test_what_begins_to_hold_is_said_of_a_setting_that_is_younger_than_the_file(tmp_path):
    """log.message.timestamp.after.max.ms came with 3.6, and refuses records since 4.0 only."""
    path = properties(tmp_path, ZOOKEEPER)
    for old, new, is_said in (
        ("0.10.2", "4.4", True),
        ("2.8", "4.0", True),
        ("2.8", "3.9", False),
        ("4.0", "4.4", False),
    ):
        said = [
            each.text for each in upgrade(old, new, path).findings if each.name == "log.message.timestamp.after.max.ms"
        ]
        assert bool(said) == is_said
        assert all("3600000 (1 h) holds since 4.0: records dated farther ahead" in each for each in said)
    path = properties(tmp_path, f"{ZOOKEEPER}log.message.timestamp.after.max.ms=5\n", "set.properties")
    assert "is new and not set" not in str([each for each in upgrade("2.8", "4.0", path).findings if each.line is None
                                            and each.name == "log.message.timestamp.after.max.ms"])  # fmt: skip


@every_case("side_and_name", [*BEGINS])
def test_what_begins_is_a_setting_that_some_upgrade_brings(side_and_name):
    side, name = side_and_name
    (setting,) = [each for each in settings_named(name) if each.side == side]
    assert setting.in_release("0.10.0") is ABSENT
    assert setting.in_release(DEFAULT_RELEASE) not in (ABSENT, None, -1, False)


def test_a_zookeeper_file_hears_nothing_of_defaults_that_only_kraft_has(tmp_path):
    files = {
        "zookeeper": ZOOKEEPER,
        "kraft": "process.roles=broker\nnode.id=1\ncontroller.quorum.voters=1@a:1\nlog.dirs=/d\n",
    }
    said = {
        name: {each.name for each in upgrade("3.3", "3.9", properties(tmp_path, text, f"{name}.properties")).findings}
        for name, text in files.items()
    }
    assert said["kraft"] - said["zookeeper"] == {"metadata.max.retention.bytes"}


def test_a_map_in_another_order_is_no_change(tmp_path):
    """listener.security.protocol.map has the same four pairs in 3.3 and 3.9."""
    change = next(each for each in changes("3.3", "3.9", "broker") if each.setting == "listener.security.protocol.map")
    assert change.old != change.new
    answer = upgrade("3.3", "3.9", properties(tmp_path, ZOOKEEPER))
    assert "listener.security.protocol.map" not in {each.name for each in answer.findings}
    assert "inter.broker.protocol.version" in {each.name for each in answer.findings}


def test_what_authorizers_read_has_an_effect_where_there_is_one(tmp_path):
    own = f"{ZOOKEEPER}super.users=User:a\n"
    with_one = properties(
        tmp_path, f"{own}authorizer.class.name=kafka.security.authorizer.AclAuthorizer\n", "a.properties"
    )
    assert "super.users" not in {each.name for each in upgrade("2.8", "3.9", with_one).findings}
    (said,) = [each for each in upgrade("2.8", "3.9", properties(tmp_path, own)).findings if each.name == "super.users"]
    assert (said.danger, said.line) == ("noted", 4)
    assert "authorizer.class.name is not set" in said.text


@pytest.mark.parametrize("name", ["internal.key.converter", "rest.port", "config.storage.topic"])
def test_a_worker_of_connect_is_no_consumer(name, tmp_path):
    text = f"bootstrap.servers=h:1\ngroup.id=connect\nsession.timeout.ms=10000\n{name}=1\n"
    with pytest.raises(KafkaLearnError, match=rf"worker of Kafka Connect \({name}\)"):
        upgrade("1.1", "4.0", properties(tmp_path, text))
    with pytest.raises(KafkaLearnError, match="is Kafka Connect's, and sets nothing for a consumer"):
        upgrade("1.1", "4.0", properties(tmp_path, text), side="consumer")


@pytest.mark.parametrize(
    ("fact", "text", "is_said"),
    [
        ("lists that are empty", "acks=all\nlinger.ms=5\n", False),
        ("lists that are empty", "acks=all\ninterceptor.classes=\n", True),
        ("lists that are empty", "acks=all\nbootstrap.servers=a:1,b:1,a:1\n", True),
        ("lists that are empty", "acks=all\nbootstrap.servers=a:1,ba:1\n", False),
        ("transactions", "acks=all\n", False),
        ("transactions", "acks=all\ntransactional.id=t\n", True),
    ],
)
def test_a_sentence_about_settings_needs_a_line_of_the_file(fact, text, is_said, tmp_path):
    answer = upgrade("3.9", "4.4", properties(tmp_path, text), side="producer")
    assert (fact in {each.name for each in answer.findings}) == is_said


def test_a_consumer_without_a_group_is_warned_and_one_with_a_group_is_not(tmp_path):
    for text, is_said in (("fetch.min.bytes=1\n", True), ("fetch.min.bytes=1\ngroup.id=g\n", False)):
        answer = upgrade("2.1", "2.2", properties(tmp_path, text), side="consumer")
        assert ("no group.id" in {each.name for each in answer.findings}) == is_said


def test_kafka_s_defects_between_two_releases_are_those_of_the_table(tmp_path):
    kraft = properties(tmp_path, "process.roles=broker\nnode.id=1\nlog.dirs=/d\n")
    answer = upgrade("3.9", "4.3", kraft)
    assert [each.name for each in answer.findings if each.danger == "fixed"] == [
        "KAFKA-15332", "KAFKA-17803", "a commit is missing for a moment",
    ]  # fmt: skip
    assert [each.name for each in answer.findings if each.danger == "begun"] == [
        "KAFKA-15665", "KAFKA-20785", "KAFKA-20734",
    ]  # fmt: skip
    whole = answer.in_words(12, has_general=True)
    assert "an upgrade alone does not turn them on" in whole.replace("\n    ", " ")
    same = upgrade("4.3", "4.3", kraft)
    assert not {"fixed", "begun"} & {each.danger for each in same.findings}


def test_a_defect_is_that_of_a_side_and_one_that_goes_is_no_worry(tmp_path):
    consumer = properties(tmp_path, "group.id=g\nauto.offset.reset=latest\n", "c.properties")
    assert not [each for each in upgrade("0.8.2", "4.4", consumer).findings if each.danger in ("fixed", "begun")]
    found = Upgrade("3.9", "4.0", (), (Finding("fixed", None, None, "x", "y", "z"),))
    assert found.outcome is Outcome.FINE


def test_a_limit_that_a_value_is_below_is_a_refusal_in_the_new_release_only(tmp_path):
    path = properties(tmp_path, "log.dirs=/d\nprocess.roles=broker\nnode.id=1\nlog.segment.bytes=10240\n")

    assert "log.segment.bytes" in named(upgrade("3.9", "4.0", path), "refused")
    assert "log.segment.bytes" not in named(upgrade("3.8", "3.9", path), "refused")


def test_a_misspelt_name_gets_the_nearest_and_another_sides_name_its_side(tmp_path):
    answer = upgrade(
        "4.0", "4.3", properties(tmp_path, "acks=all\nlinger.msec=3\nfetch.min.bytes=1\nx.y=1\n"), side="producer"
    )
    words = {finding.name: finding.text for finding in answer.findings if finding.danger == "unknown"}

    assert "did you mean linger.ms" in words["linger.msec"]
    assert "setting of the consumer" in words["fetch.min.bytes"]
    assert "plug-in" in words["x.y"]


def test_a_default_matters_only_where_nothing_is_set(tmp_path):
    without = upgrade("3.9", "4.0", properties(tmp_path, "acks=all\n"))
    with_it = upgrade("3.9", "4.0", properties(tmp_path, "acks=all\nlinger.ms=0\n", "b.properties"))

    assert "linger.ms" in named(without, "behaves")
    assert "linger.ms" not in named(with_it, "behaves")


def test_findings_are_in_the_order_of_danger_and_each_has_its_source(tmp_path):
    answer = upgrade(
        "2.8", "4.3", [properties(tmp_path, "acks=1\nenable.idempotence=true\nxyz=1\nretries=5\nretries=6\n")]
    )
    order = [[*DANGERS].index(finding.danger) for finding in answer.findings]

    assert order == sorted(order)
    assert all(finding.source for finding in answer.findings)


def test_a_secret_is_shown_nowhere(tmp_path):
    text = (
        'acks=all\nssl.key.password=hunter2\nsasl.jaas.config=x required password="hunter2";\n'
        "my.token=hunter2\nssl.keystore.pasword=hunter2\nssl.key.password=hunter2\n"
    )
    answer = upgrade("3.9", "4.0", properties(tmp_path, text), side="producer")

    assert "hunter2" not in str(answer)
    assert "hunter2" not in json.dumps(answer.as_data())
    assert "hunter2" not in repr(answer)


def test_a_placeholder_is_held_to_no_limit(tmp_path):
    path = properties(tmp_path, "acks=${env:ACKS}\nlinger.ms=${file:/x:linger}\nclient.id=a\n")

    assert named(upgrade("3.9", "4.0", path, side="producer"), "refused") == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "sets nothing"),
        ("# nothing\n", "sets nothing"),
        ("hello=1\n", "knows one of them"),
        ("bootstrap.servers=a:1\n", "say which"),
        ("a=\\u12\n", "four hexadecimal digits"),
    ],
)
def test_a_file_that_is_nobodys_is_a_sentence(tmp_path, text, words):
    with pytest.raises(KafkaLearnError, match=words):
        upgrade("3.9", "4.0", properties(tmp_path, text))


def test_what_makes_no_sense_is_a_sentence(tmp_path):
    path = properties(tmp_path, "acks=all\n")
    for arguments in (("4.0", "3.9", path), ("5.0", "5.1", path), ("3.9", "4.0", ()), ("3.9", "4.0", ("broke", path))):
        with pytest.raises(KafkaLearnError):
            upgrade(
                *arguments[:2], [arguments[2]] if isinstance(arguments[2], tuple) and arguments[2] else arguments[2]
            )


SIDES = ("broker", "topic", "producer", "consumer", "admin")
DEFAULTS = [
    each
    for each in all_settings()
    if each.side in SIDES and not each.is_internal and each.type in ("INT", "LONG", "BOOLEAN", "DOUBLE", "SHORT")
]


@given(st.sampled_from(DEFAULTS), st.sampled_from(RELEASES))
def test_no_release_refuses_its_own_default(setting, release):
    default = setting.in_release(release)
    if default in (ABSENT, REQUIRED, None):
        return
    written = str(default).lower() if isinstance(default, bool) else str(default)

    found = refusals({setting.name: written}, setting.side, release)

    assert not [each for each in found if each.names == (setting.name,)]


@given(st.sampled_from(DEFAULTS), st.sampled_from(RELEASES), st.sampled_from(RELEASES))
def test_a_line_is_gone_exactly_if_the_old_release_knows_it_and_the_new_one_does_not(setting, one, other):
    old, new = sorted((one, other), key=RELEASES.index)
    (line,) = parse_properties(f"{setting.name}=1").lines
    found = [each.danger for each in of_line(old, new, "f", setting.side, line, None)]
    was, is_there = setting.in_release(old) is not ABSENT, setting.in_release(new) is not ABSENT

    assert found == {(True, False): ["gone"], (False, True): ["behaves"], (False, False): ["unknown"]}.get(
        (was, is_there), []
    )


def test_a_fact_that_shows_in_settings_is_said_only_where_it_does(tmp_path):
    kraft = upgrade("3.9", "4.0", properties(tmp_path, "process.roles=broker\nnode.id=1\nlog.dirs=/d\n"))
    zookeeper = upgrade(
        "3.9", "4.0", properties(tmp_path, "broker.id=1\nzookeeper.connect=zk:1\nlog.dirs=/d\n", "z.properties")
    )
    facts = [{finding.name for finding in answer.findings if finding.file is None} for answer in (kraft, zookeeper)]

    assert "ZooKeeper" not in facts[0]
    assert "ZooKeeper" in facts[1]
    assert all("Java" in each for each in facts)


def test_what_no_line_has_to_do_with_is_counted_and_told_on_request(tmp_path, capsys):
    path = properties(tmp_path, "broker.id=1\nzookeeper.connect=zk:1\nlog.dirs=/d\nnum.partitions=3\n")
    assert main(["upgrade", "3.9", "4.0", "--broker", str(path)]) == Outcome.FOUND
    words = " ".join(capsys.readouterr().out.split())
    assert "ZooKeeper (cluster, 4.0)" in words  # a line of this file is about it
    assert "Java (broker, 4.0)" not in words
    assert "for every broker, whatever its file says: " in words
    assert re.search(r"whatever its file says: \d required \([^)]*Java[^)]*\)", words)
    assert words.endswith("--all has them.")
    assert main(["upgrade", "3.9", "4.0", "--broker", str(path), "--all"]) == Outcome.FOUND
    words = " ".join(capsys.readouterr().out.split())
    assert "Java (broker, 4.0)" in words
    assert "--all has them" not in words


def test_a_default_that_says_the_same_is_no_change(tmp_path):
    answer = upgrade("3.9", "4.3", properties(tmp_path, "acks=all\n"))
    assert {"ssl.cipher.suites", "metric.reporters"}.isdisjoint({each.name for each in answer.findings})


def test_every_fact_that_shows_in_settings_is_a_fact():
    assert SEEN_IN_SETTINGS.keys() <= {fact.what for fact in all_facts()}


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
PAIRS = st.lists(st.tuples(TEXTS.filter(bool), TEXTS), max_size=8)


def escaped(text):
    """A name or value as Java's `store` writes it."""
    plain = {"\t": "\\t", "\n": "\\n", "\r": "\\r", "\f": "\\f"}
    units = [text.encode("utf-16-be")[at : at + 2] for at in range(0, len(text.encode("utf-16-be")), 2)]
    letters = [unit.decode("utf-16-be", "surrogatepass") for unit in units]
    return "".join(
        plain.get(each) or (f"\\{each}" if each in " \\=:#!" else each if " " < each <= "~" else f"\\u{ord(each):04x}")
        for each in letters
    )


@given(PAIRS, st.sampled_from(["=", ":", " = ", "\t:\t"]))
def test_what_is_written_is_read(pairs, separator):
    text = "\n".join(f"{escaped(name)}{separator}{escaped(value)}" for name, value in pairs)

    assert {utf_16(name): utf_16(value) for name, value in parse_properties(text).values.items()} == {
        utf_16(name): utf_16(value) for name, value in pairs
    }


def utf_16(text):
    """Java's units: what is written as two escapes is one character here."""
    return text.encode("utf-16", "surrogatepass")


def test_the_last_of_several_counts_and_the_lines_are_known():
    read = parse_properties("a=1\n! no\nb=2\\\n  3\na=4\n")

    assert read.values == {"a": "4", "b": "23"}
    assert read.repeated == {"a": (1, 5)}
    assert read.last["b"].number == 3


def test_every_setting_of_type_password_is_hidden_and_so_are_names_that_sound_like_it():
    assert all(is_secret(each.name) for each in all_settings() if each.type == "PASSWORD")
    for name in ("my.api.key", "db_password", "listener.name.a.scram-sha-256.sasl.jaas.config", "basic.auth.user.info"):
        assert is_secret(name)
    for name in ("acks", "key.serializer", "ssl.keystore.location", "sasl.mechanism", "log.dirs"):
        assert not is_secret(name)


def test_a_secret_is_in_no_text_of_a_line():
    line = parse_properties("ssl.key.password=hunter2").lines[0]

    assert line.shown_value == MASK
    assert "hunter2" not in repr(line)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"\xef\xbb\xbfacks=all\n", "byte order mark"),
        ("acks=all\n".encode("utf-16"), "byte order mark"),
        ("client.id=Grüße\n".encode(), "ISO-8859-1"),
        (b"acks=all\n", None),
    ],
)
def test_what_kafka_reads_otherwise_is_said(tmp_path, data, words):
    path = tmp_path / "a.properties"
    path.write_bytes(data)
    read = read_properties(path)

    assert bool(read.notes) == (words is not None)
    assert words is None or words in read.notes[0]
    assert next(iter(read.values)) in ("acks", "client.id")


def test_a_move_to_the_consumer_protocol_says_what_becomes_of_each_line(tmp_path):
    text = "group.id=g\nsession.timeout.ms=30000\nclient.rack=a\nenable.auto.commit=false\nfetch.min.bytes=1\n"
    path = properties(tmp_path, text)
    moved = upgrade("4.4", "4.4", [("consumer", path)], group_protocol="consumer")
    assert named(moved, "refused") == ["session.timeout.ms"]
    assert named(moved, "behaves") == ["client.rack"]
    assert {"enable.auto.commit"} <= set(named(moved, "noted"))
    assert "enforceRebalance" in [each.name for each in moved.findings]
    stays = upgrade("4.4", "4.4", [("consumer", path)])
    assert named(stays, "refused") == []
    assert "enforceRebalance" not in [each.name for each in stays.findings]


def test_a_move_to_the_consumer_protocol_needs_4_0(tmp_path):
    path = properties(tmp_path, "group.id=g\n")
    with pytest.raises(KafkaLearnError, match=r"4\.0 or later, got 3\.9"):
        upgrade("3.8", "3.9", [("consumer", path)], group_protocol="consumer")
    with pytest.raises(KafkaLearnError, match="group_protocol"):
        upgrade("4.4", "4.4", [("consumer", path)], group_protocol="classic")


def test_without_releases_a_move_is_one_on_the_newest_and_an_upgrade_is_asked_from_where(tmp_path, capsys):
    path = properties(tmp_path, "group.id=g\nheartbeat.interval.ms=1000\n")
    assert main(["upgrade", "--group-protocol", "consumer", "--consumer", str(path)]) == Outcome.FOUND
    assert "Kafka 4.4 to 4.4" in capsys.readouterr().out
    assert main(["upgrade", "--consumer", str(path)]) == Outcome.CANNOT_TELL
    assert "from which release?" in capsys.readouterr().err


IN_FLIGHT = "max.in.flight.requests.per.connection"


@pytest.mark.parametrize(
    ("lines", "is_refused"),
    [
        (f"{IN_FLIGHT}=1\n", False),
        (f"{IN_FLIGHT}=5\n", False),
        (f"{IN_FLIGHT}=6\n", True),
        (f"{IN_FLIGHT} = 10\n", True),
        (f"{IN_FLIGHT}=6\nenable.idempotence=false\n", False),
    ],
)
def test_a_fact_about_a_setting_looks_at_its_value(lines, is_refused, tmp_path):
    answer = upgrade("3.9", "4.0", properties(tmp_path, f"acks=all\n{lines}"))
    refused = {each.name for each in answer.findings if each.danger == "refused"}
    assert ({"more than 5 requests in flight", IN_FLIGHT} & refused) == (
        {"more than 5 requests in flight", IN_FLIGHT} if is_refused else set()
    )


def test_what_a_release_deprecates_is_said_with_the_line_that_takes_it(tmp_path):
    path = properties(
        tmp_path, "node.id=1\nprocess.roles=broker\nlog.dirs=/d\ngroup.coordinator.rebalance.protocols=classic\n"
    )
    name = "group.coordinator.rebalance.protocols"
    for old, new, is_said in (("4.1", "4.2", False), ("4.2", "4.3", True), ("4.4", "4.4", True)):
        assert (name in named(upgrade(old, new, path), "deprecated")) is is_said
    (said,) = [each for each in upgrade("4.2", "4.3", path).findings if each.name == name]
    assert "deprecated since 4.3 and goes with 5.0" in said.text
    assert (said.line, "KIP-1237" in said.source) == (4, True)


def test_deprecated_is_what_the_released_classes_call_so():
    """Their documentation was asked; of an older line nothing is claimed here."""
    answers = recorded("released-classes")["answers"]
    asked = {name: by_line for name, by_line in answers.items() if name.startswith("deprecated ")}
    said = {
        f"deprecated {each.side} {each.name}": {each.since: each.until or "-"}
        for each in deprecations()
        if at_least("4.0", each.since)
    }
    assert said == asked


def test_a_release_that_is_announced_takes_what_is_deprecated_now(tmp_path):
    path = properties(tmp_path, "broker.id=1\nprocess.roles=broker\nlog.dirs=/d\nlog.cleaner.enable=true\n")
    answer = upgrade("4.4", "5.0", path)
    to_go = {each.name for each in answer.findings if each.danger == "deprecated"}
    assert {"broker.id", "log.cleaner.enable", "ClientQuotaCallback.updateClusterMetadata"} <= to_go
    assert (answer.new, answer.outcome) == ("5.0", Outcome.FOUND)
    assert "5.0 is not released" in str(answer)
    nothing = upgrade("4.4", "5.0", properties(tmp_path, "acks=all\n", "p.properties"))
    assert (named(nothing, "deprecated"), nothing.outcome) == ([], Outcome.CANNOT_TELL)
    with pytest.raises(KafkaLearnError, match=r"unknown release '4\.5'"):
        upgrade("4.4", "4.5", path)
    with pytest.raises(KafkaLearnError, match=r"new must be a str, got int a whole number of about 5,001 digits"):
        upgrade("4.4", 10**5000, path)
