"""Hashes of whole Arrow columns are those of their keys one by one."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base import hashing
from kafkalearn.spark import partitioning

keys = st.lists(st.none() | st.binary(max_size=40), max_size=30)


@pytest.mark.parametrize("name", ["murmur2", "fnv1a"])
@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary()])
@given(keys=keys, start=st.integers(0, 5))
def test_a_column_hashes_as_its_keys_do_also_from_the_middle_of_a_buffer(name, kind, keys, start):
    column = partitioning.hashing(name)(pa.array(keys, kind).slice(start))

    one_by_one = getattr(hashing, name)
    assert column.to_pylist() == [None if key is None else one_by_one(key) % 2**32 for key in keys[start:]]
