import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.releases import settings as versions_settings
from kafkalearn.releases.lines import RELEASES
from kafkalearn.releases.settings import ABSENT, SIDES, TOUCHED, all_facts, facts_between, replacements, settings_named
from kafkalearn.releases.upgrade import FACTS, KINDS, changes
from tests.recorded import recorded

JARS = recorded("released-jars")

lines = st.sampled_from(RELEASES)


def found(old, new, kind, what, side=None):
    return [change for change in changes(old, new, side) if (change.kind, change.setting) == (kind, what)]


# What the issue names: removed, renamed, newly refused, new minimum, ZooKeeper gone, message formats and old protocol
# versions gone, Java.
@pytest.mark.parametrize(
    ("old", "new", "kind", "what", "source"),
    [
        ("3.9", "4.0", "removed", "offsets.commit.required.acks", "its class in 3.9 and 4.0"),
        ("3.9", "4.0", "renamed", "delegation.token.master.key", "upgrade notes of 4.0"),
        ("2.8", "3.0", "renamed", "advertised.host.name", "upgrade notes of 3.0"),
        ("2.8", "3.0", "limited", "client.dns.lookup", "its class in 2.8 and 3.0"),
        ("3.9", "4.0", "refused", "more than 5 requests in flight", "upgrade notes of 4.0"),
        ("3.9", "4.0", "limited", "log.segment.bytes", "its class in 3.9 and 4.0"),
        ("4.1", "4.2", "limited", "num.replica.fetchers", "its class in 4.1 and 4.2"),
        ("3.9", "4.0", "gone", "ZooKeeper", "KIP-500"),
        ("3.9", "4.0", "gone", "conversion to message formats v0 and v1", "KIP-724"),
        ("2.8", "3.0", "gone", "message formats v0 and v1", "KIP-724"),
        ("3.9", "4.0", "gone", "old requests", "KIP-896"),
        ("3.9", "4.0", "required", "Java", "KIP-1013"),
        ("1.1", "2.0", "required", "Java", "upgrade notes of 2.0"),
        ("1.1", "2.0", "gone", "Scala consumer", "upgrade notes of 2.0"),
        ("3.9", "4.0", "gone", "MirrorMaker 1", "upgrade notes of 4.0"),
        ("2.8", "3.0", "gone", "--zookeeper", "upgrade notes of 3.0"),
        ("3.6", "3.7", "deprecated", "Java 11", "KIP-1013"),
    ],
)
def test_what_an_upgrade_changes_beyond_defaults_is_in_the_changes_with_its_source(old, new, kind, what, source):
    matching = found(old, new, kind, what)
    assert matching
    assert all(source in change.source and change.since == new for change in matching)


def test_each_fact_is_one_sentence_about_somebody_with_a_source():
    for fact in all_facts():
        assert fact.since in RELEASES[1:]
        assert fact.until in ("", *RELEASES)
        assert fact.kind in FACTS
        assert fact.kind in KINDS
        assert fact.who in TOUCHED
        assert fact.what
        assert fact.source
        assert fact.text == " ".join(fact.text.split())
        assert not fact.text.endswith(".")
        assert ". " not in fact.text
    assert {fact.kind for fact in all_facts()} == set(FACTS)
    since = [RELEASES.index(fact.since) for fact in all_facts()]
    assert since == sorted(since)


def test_nothing_is_recorded_twice():
    facts = [(fact.since, fact.kind, fact.who, fact.what) for fact in all_facts()]
    assert len(facts) == len(set(facts)) == 117


def test_whoever_a_fact_touches_has_settings():
    assert {side for sides in TOUCHED.values() for side in sides} <= set(SIDES)


@pytest.mark.parametrize("who", ["client", "broker"])
def test_the_java_that_is_required_is_the_oldest_that_can_load_the_released_classes(who):
    needed = {fact.since: int(fact.new) for fact in all_facts() if (fact.what, fact.who) == ("Java", who)}
    assert {"0.8.2": 6} | needed == JARS["java"][who]
    assert [int(fact.old) for fact in all_facts() if (fact.what, fact.who) == ("Java", who)] == [6, 7, 8]


CLASSES = {row["class"]: row["since"] for row in versions_settings.recorded("upgrades")["facts"] if "class" in row}


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_that_a_fact_says_is_gone_is_last_in_the_release_before(name):
    _, last = JARS["classes"][name]
    assert RELEASES[RELEASES.index(last) + 1] == CLASSES[name]


def test_every_class_that_was_looked_for_belongs_to_a_fact():
    assert set(JARS["classes"]) == set(CLASSES)


def test_the_oldest_requests_that_are_left_are_those_of_the_released_classes():
    oldest = {name: by_line for name, _, by_line in JARS["apis"]}
    (fact,) = [fact for fact in all_facts() if fact.what == "old requests" and fact.kind == "gone"]
    named = dict(words.rsplit(" ", 1) for words in fact.text.partition(": ")[2].split(", "))

    assert {name: oldest[name][fact.since] for name in named} == {name: int(version) for name, version in named.items()}
    raised = {line for by_line in oldest.values() for line in list(by_line)[1:]}
    assert raised == {"0.10.0", "1.0", "4.0", "4.1"}  # 0.10.0 to 1.0: ControlledShutdown, which had no version 0
    assert [line for line in ("0.10.0", "1.0") for by_line in oldest.values() if line in list(by_line)[1:]] == [
        "0.10.0",
        "1.0",
    ]
    (early,) = [fact for fact in all_facts() if fact.what == "share groups of the early access"]
    assert {name for name, by_line in oldest.items() if by_line.get(early.since) == 1} == {
        "ShareGroupHeartbeat",
        "ShareGroupDescribe",
        "ShareFetch",
        "ShareAcknowledge",
    }


def test_the_requests_that_are_gone_are_those_of_the_released_classes():
    gone = {
        name: next(line for line, version in by_line.items() if version is None)
        for name, _, by_line in JARS["apis"]
        if None in by_line.values()
    }
    (fact,) = [fact for fact in all_facts() if "controller and brokers" in fact.what]

    assert set(gone.values()) == {fact.since}
    assert all(name in fact.text for name in gone)
    assert len(gone) == 4


def test_a_renamed_setting_is_gone_and_what_to_set_instead_was_there_by_then():
    for (name, side), (instead, source) in replacements().items():
        (old,) = [each for each in settings_named(name) if each.side == side]
        gone_in, value = old.history[-1]
        assert value is ABSENT
        assert old.is_gone
        assert source
        for new in instead:
            (other,) = [each for each in settings_named(new) if each.side == side]
            assert other.in_release(gone_in) is not ABSENT


def test_a_renaming_says_what_to_set_instead():
    (change,) = found("3.9", "4.0", "renamed", "log.message.timestamp.difference.max.ms")
    assert change.note.startswith("set log.message.timestamp.before.max.ms and log.message.timestamp.after.max.ms")


@given(lines, lines, lines)
def test_an_upgrade_in_two_steps_meets_what_an_upgrade_in_one_does_but_what_was_only_on_the_way(one, two, three):
    first, middle, last = sorted((one, two, three), key=RELEASES.index)
    at_once = {(fact.kind, fact.who, fact.what) for fact in facts_between(first, last)}
    in_steps = [*facts_between(first, middle), *facts_between(middle, last)]

    assert at_once <= {(fact.kind, fact.who, fact.what) for fact in in_steps}
    left_out = {(fact.kind, fact.who, fact.what): fact for fact in in_steps}.items()
    assert all(fact.kind == "deprecated" and fact.until for key, fact in left_out if key not in at_once)


def test_of_several_facts_on_the_same_thing_the_last_counts_and_the_first_says_what_was():
    (java,) = [fact for fact in facts_between("0.8.2", "4.3") if (fact.what, fact.who) == ("Java", "broker")]
    assert (java.since, java.old, java.new) == ("4.0", "6", "17")
    (brokers,) = [fact for fact in facts_between("0.8.2", "4.3") if (fact.what, fact.who) == ("brokers", "client")]
    assert (brokers.old, brokers.new) == ("not older than the client", "2.1 or newer")


def test_a_side_meets_the_facts_that_touch_it():
    assert found("3.9", "4.0", "gone", "ZooKeeper", "broker")
    assert not found("3.9", "4.0", "gone", "ZooKeeper", "producer")
    assert [change.side for change in found("3.9", "4.0", "required", "Java", "producer")] == ["client"]
    assert found("3.9", "4.0", "gone", "MirrorMaker 1")
    assert not any(found("3.9", "4.0", "gone", "MirrorMaker 1", side) for side in SIDES)
