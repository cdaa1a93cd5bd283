"""Bytes are letters of a script and come back, whatever they are."""

from __future__ import annotations

import re

from hypothesis import example, given
from hypothesis import strategies as st

from tools.book.live.septets import bytes_of, in_page, letters_of, literal, object_in


@given(st.binary())
def test_bytes_come_back_from_their_letters(data):
    letters = letters_of(data)

    assert bytes_of(letters) == data
    assert letters.isascii()
    assert len(letters) == -(-len(data) * 8 // 7)


@given(st.binary())
@example(b"\xb9\xe0")
def test_a_script_holds_any_letters_and_a_page_holds_the_script(data):
    letters = letters_of(data)
    script = f'{{"packed": {literal(letters)}}}'

    assert object_in(script) == {"packed": letters}
    assert not {"\n", "\r"} & set(script)
    written = in_page(script)
    assert not {"\0", "<"} & set(written)
    assert object_in(re.sub(r"\\(x(..)|.)", with_u, written)) == {"packed": letters}


def with_u(escape: re.Match[str]) -> str:
    """An escape as JSON knows it: it has no ``\\x``."""
    return f"\\u00{escape[2]}" if escape[2] else escape[0]
