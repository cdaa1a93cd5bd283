"""Java's properties format, against `java.util.Properties` itself, and what is never shown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.oncall.settings import MASK, is_secret, parse_properties, read_properties
from kafkalearn.releases.settings import all_settings
from tests.every import every_case
from tests.recorded import recorded

RECORDED = recorded("java-properties")


@every_case("case", RECORDED["cases"], ids=lambda case: repr(case["text"])[:40])
def test_a_text_has_the_settings_that_java_reads(case):
    if case["settings"] is None:
        with pytest.raises(KafkaLearnError, match="four hexadecimal digits"):
            parse_properties(case["text"])
    else:
        assert parse_properties(case["text"]).values == case["settings"]


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
