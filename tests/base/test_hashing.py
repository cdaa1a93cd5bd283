import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base import hashing
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.java import JavaHashSet, hash_order, utf16_key

ints_of_java = st.integers(-(2**31), 2**31 - 1)
texts = st.text(st.characters(exclude_categories=["Cs"]))


def test_fnv1a_gives_the_values_its_authors_publish():
    assert [hashing.fnv1a(key) for key in (b"", b"a", b"foobar")] == [0x811C9DC5, 0xE40C292C, 0xBF9CF968]


@given(texts, texts)
def test_a_hash_of_two_texts_is_built_from_the_hash_of_the_first(first, second):
    unit_count = len(second.encode("utf-16-be")) // 2
    expected = hashing.java_string_hash(first) * 31**unit_count + hashing.java_string_hash(second)
    assert hashing.java_string_hash(first + second) == hashing.int32(expected)


@given(st.integers())
def test_int32_keeps_the_lowest_32_bits(value):
    assert -(2**31) <= hashing.int32(value) < 2**31
    assert (hashing.int32(value) - value) % 2**32 == 0


@given(ints_of_java)
def test_the_three_ways_to_lose_a_sign_agree_only_on_what_is_not_negative(value):
    ways = {hashing.kafka_abs(value), hashing.java_abs(value), hashing.to_positive(value)}
    assert (len(ways) == 1) == (value >= 0 or value == -(2**30))


@given(ints_of_java, st.integers(1, 2**31 - 1))
def test_javas_remainder_has_the_sign_of_the_dividend_and_completes_the_quotient(dividend, divisor):
    remainder = hashing.java_remainder(dividend, divisor)
    assert abs(remainder) < divisor
    assert remainder == 0 or (remainder < 0) == (dividend < 0)
    assert (dividend - remainder) % divisor == 0


@given(st.binary())
def test_every_hash_of_a_key_fits_its_32_bits(key):
    assert -(2**31) <= hashing.murmur2(key) < 2**31
    assert -(2**31) <= hashing.spark_hash(key) < 2**31
    assert 0 <= hashing.crc32(key) < 2**32
    assert 0 <= hashing.fnv1a(key) < 2**32


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "value must be a str, got NoneType None"),
        (b"orders", "decode it first"),
        ("half \ud83d", "lone surrogate at index 5"),
    ],
)
def test_what_is_no_text_is_refused_with_a_reason(value, said):
    with pytest.raises(KafkaLearnError, match=said):
        hashing.java_string_hash(value)


@pytest.mark.parametrize("hash_of", [hashing.murmur2, hashing.crc32, hashing.fnv1a, hashing.spark_hash])
@pytest.mark.parametrize("value", ["user-42", None, 42])
def test_what_is_not_bytes_is_refused_with_a_reason(hash_of, value):
    with pytest.raises(KafkaLearnError, match="key must be bytes, got"):
        hash_of(value)


def test_a_copy_is_made_large_enough_at_once_so_it_can_be_walked_in_another_order():
    one_by_one, numbers = JavaHashSet(), [*range(11), 32]
    for number in numbers:
        one_by_one.add(number)

    assert list(one_by_one) == [0, 32, *range(1, 11)]  # twelve keys: still 16 buckets, 32 shares that of 0
    assert list(JavaHashSet.copy_of(numbers)) == [0, 32, *range(1, 11)]  # 32 buckets: 32 again with 0
    assert list(JavaHashSet([*range(11), 16])) == [0, 16, *range(1, 11)]
    assert list(JavaHashSet.copy_of([*range(11), 16])) == [*range(11), 16]


def test_a_map_that_has_grown_stays_large():
    grown = JavaHashSet(range(13))
    for number in range(1, 13):
        grown.discard(number)
    grown.add(16)
    grown.add(1)

    assert list(grown) == [0, 1, 16]
    assert hash_order([0, 16, 1]) == [0, 16, 1]  # in one that never grew, 16 shares the bucket of 0


def test_a_surrogate_pair_sorts_before_the_last_characters_of_two_bytes():
    assert sorted(["a", "\uffff", "\U0001f600"], key=utf16_key) == ["a", "\U0001f600", "\uffff"]
    assert sorted(["a", "\uffff", "\U0001f600"]) == ["a", "\uffff", "\U0001f600"]
