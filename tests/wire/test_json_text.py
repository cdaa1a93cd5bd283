"""JSON that somebody gives: what it holds is json's own answer, as deep as anybody writes."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.formats.wire import MOST_NESTED, read_json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(alphabet='[]{}"\\a'),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(alphabet='[{"\\'), inner),
)


@given(VALUES, st.integers(0, 3))
def test_what_json_reads_is_read(value, indent):
    text = json.dumps(value, indent=indent)

    assert read_json(text) == value


@pytest.mark.parametrize(
    ("opening", "closing", "depth"),
    [("[", "]", 1), ('{"a":', "}", 1), ('[{"[":', "}]", 2)],
    ids=["list", "dict", "both"],
)
def test_brackets_may_be_this_deep_and_no_deeper(opening, closing, depth):
    allowed = MOST_NESTED // depth

    assert read_json(opening * allowed + "1" + closing * allowed)
    for times in (allowed + 1, 100_000):
        with pytest.raises(ValueError, match="more than 200 deep"):
            read_json(opening * times)


def test_many_brackets_side_by_side_and_in_texts_are_not_deep():
    flat = [[]] * 5000
    assert read_json(json.dumps(flat)) == flat
    assert read_json(json.dumps({"text": "[" * 5000})) == {"text": "[" * 5000}


@pytest.mark.parametrize("text", ["", "{", '"' + "[" * 1000, "nonsense"])
def test_what_is_no_json_is_refused(text):
    with pytest.raises(ValueError, match=r"char|deep"):
        read_json(text)
