import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.releases.defaults import describe, find_settings
from kafkalearn.releases.lines import RELEASES
from kafkalearn.releases.settings import ABSENT, Limit, limit_text, settings_named
from kafkalearn.releases.upgrade import changes, rows

NUMBERS = range(-3, 4)
VALUES = ("none", "gzip", "zstd")

bounds = st.none() | st.sampled_from(NUMBERS)
number_limits = st.builds(Limit, bounds, bounds)
value_limits = st.builds(Limit, values=st.lists(st.sampled_from(VALUES), unique=True).map(tuple))


def accepted(limit, among):
    return {
        value
        for value in among
        if limit is None
        or (
            (limit.minimum is None or value >= limit.minimum)
            and (limit.maximum is None or value <= limit.maximum)
            and (not limit.values or value in limit.values)
        )
    }


@given(st.none() | number_limits, number_limits)
def test_a_range_that_admits_another_accepts_all_that_it_accepts(other, limit):
    if limit.admits(other):
        assert accepted(other, NUMBERS) <= accepted(limit, NUMBERS)
    elif other is not None and accepted(other, NUMBERS):
        wider = range(-9, 10)
        assert not accepted(other, wider) <= accepted(limit, wider)


@given(value_limits, value_limits)
def test_a_list_of_values_admits_another_if_it_has_them_all(other, limit):
    assert limit.admits(other) == (accepted(other, (*VALUES, "lz4")) <= accepted(limit, (*VALUES, "lz4")))


def test_no_limit_is_admitted_only_by_none_and_not_empty_by_itself():
    assert Limit().admits(None)
    assert not Limit(is_empty_refused=True).admits(None)
    assert Limit(is_empty_refused=True).admits(Limit(values=("a",), is_empty_refused=True))
    assert not Limit(form="[1,...,9] or -1").admits(Limit())


def limit(name, side, release):
    (setting,) = [each for each in settings_named(name) if each.side == side]
    return limit_text(setting.limit_in(release))


@pytest.mark.parametrize(
    ("name", "side", "by_release"),
    [
        ("segment.bytes", "topic", {"0.8.2": "no limit stated", "4.0": "at least 14", "4.1": "at least 1048576"}),
        ("log.segment.bytes", "broker", {"0.8.2": "at least 14", "3.9": "at least 14", "4.0": "at least 1048576"}),
        ("num.partitions", "broker", {"0.8.2": "at least 1", "4.3": "at least 1"}),
        ("log.cleaner.min.cleanable.ratio", "broker", {"3.2": "no limit stated", "3.3": "0 to 1"}),
        ("acks", "producer", {"0.8.2": "one of all, -1, 0, 1", "4.3": "one of all, -1, 0, 1"}),
        (
            "client.dns.lookup",
            "consumer",
            {
                "2.8": "one of default, use_all_dns_ips, resolve_canonical_bootstrap_servers_only",
                "3.0": "one of use_all_dns_ips, resolve_canonical_bootstrap_servers_only",
            },
        ),
        (
            "compression.type",
            "topic",
            {
                "2.0": "one of uncompressed, snappy, lz4, gzip, producer",
                "2.1": "one of uncompressed, zstd, lz4, snappy, gzip, producer",
            },
        ),
        (
            "auto.offset.reset",
            "consumer",
            {
                "3.9": "one of latest, earliest, none",
                "4.0": "one of latest, earliest, none, by_duration:PnDTnHnMn.nS",
            },
        ),
        ("compression.gzip.level", "producer", {"4.3": "[1,...,9] or -1"}),
        ("log.dirs", "broker", {"4.1": "no limit stated", "4.2": "not empty"}),
        ("num.replica.fetchers", "broker", {"4.1": "no limit stated", "4.2": "at least 1"}),
        ("remote.log.manager.copier.thread.pool.size", "broker", {"3.9": "no limit stated", "4.0": "at least 1"}),
        ("process.roles", "broker", {"4.3": "one of broker, controller; not empty"}),
    ],
)
def test_limits_are_those_of_the_released_classes(name, side, by_release):
    assert {release: limit(name, side, release) for release in by_release} == by_release


def test_every_default_is_within_its_limit():
    special = ("none", "unset")
    for setting in find_settings():
        for line in RELEASES:
            limit, value = setting.limit_in(line), setting.in_release(line)
            if limit is None or value is ABSENT:
                continue
            if isinstance(value, int | float) and not isinstance(value, bool) and not limit.form:
                assert accepted(limit, {value}), (setting.name, line)
            if isinstance(value, str) and limit.values:
                assert {value.lower(), *special} & {each.lower() for each in limit.values}, (setting.name, line)


def test_a_release_that_does_not_know_a_setting_states_no_limit():
    for setting in find_settings():
        assert all(setting.limit_in(line) is None for line in RELEASES if setting.in_release(line) is ABSENT)


def test_no_text_of_a_limit_is_an_address_or_a_list_of_releases():
    texts = {limit_text(limit) for setting in find_settings() for _, limit in setting.limits}
    assert not [text for text in texts if "@" in text or "-IV" in text or "ambda" in text]
    assert len(texts) > 60


def test_a_new_minimum_comes_out_of_the_classes():
    changed = [change for change in changes("3.9", "4.1") if change.setting.endswith("segment.bytes")]
    text = {(row["setting"], row["since"]): (row["kind"], row["old"], row["new"]) for row in rows(changed)}

    assert text["log.segment.bytes", "4.0"] == ("limited", "at least 14", "at least 1048576 (1 MiB)")
    assert text["segment.bytes", "4.1"] == ("limited", "at least 14", "at least 1048576 (1 MiB)")


@pytest.mark.parametrize(
    ("old", "new", "kind", "name"),
    [
        ("2.8", "3.0", "limited", "client.dns.lookup"),
        ("2.0", "2.1", "widened", "compression.type"),
        ("3.9", "4.0", "widened", "auto.offset.reset"),
        ("1.1", "2.0", "widened", "max.connections.per.ip"),
        ("1.1", "2.0", "limited", "segment.ms"),
        ("4.2", "4.3", "limited", "share.coordinator.snapshot.update.records.per.snapshot"),
    ],
)
def test_values_that_are_newly_refused_or_accepted_come_out_of_the_classes(old, new, kind, name):
    assert kind in {change.kind for change in changes(old, new) if change.setting == name}


def test_that_a_class_states_a_limit_no_longer_is_no_change():
    assert limit("replica.fetch.max.bytes", "broker", "0.8.2") == "at least 1000012"
    assert limit("replica.fetch.max.bytes", "broker", "0.9.0") == "no limit stated"
    assert not [
        change
        for change in changes("0.8.2", "0.9.0", "broker")
        if change.setting == "replica.fetch.max.bytes" and change.kind in ("limited", "widened")
    ]


def test_limits_are_in_the_description_in_readable_units():
    assert "\n  limit since 4.1: at least 1048576 (1 MiB)\n" in describe("segment.bytes")
