"""What a student wrote is shown as it was written, in a terminal, in Markdown and in HTML, and is nowhere markup."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kafkalearn.exercises.kit.result import WRONG, Block, Result, as_words, ours, say
from tests.exercises.kit.hostile import MARKUP, ReprIsMarkup
from tests.exercises.kit.markup import elements, markdown2html_mistune, strangers

TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=5)


@given(TEXTS)
@example("`")
@example("``$x$``")
@example("<b>*x*</b>")
@example(" ` ")
def test_a_value_is_the_same_in_all_three_forms(text):
    result = Result(WRONG, (say("{} is *not* it.", text),))

    assert f"{text!r} is" in repr(result)
    assert strangers(result) == []
    for form in (result._repr_html_(), markdown2html_mistune(result._repr_markdown_())):
        # Markdown joins blanks at the edges of code; a value has its quotes there.
        assert repr(text) in elements(form).code


@pytest.mark.parametrize(
    "value", [MARKUP, [MARKUP], {MARKUP: MARKUP}, ReprIsMarkup()], ids=["text", "list", "dict", "repr"]
)
def test_markup_is_text(value):
    result = Result(WRONG, (say("{} is wrong.", value), as_words(MARKUP), Block(MARKUP)))

    assert strangers(result) == []
    assert "<img" not in result._repr_html_()
    assert "<img" in elements(result._repr_html_()).code
    assert "<img" in elements(markdown2html_mistune(result._repr_markdown_())).code


def test_our_own_words_keep_their_stress_and_their_code():
    result = Result(WRONG, ("The *sign* goes **first**; `a < b` stays, and so do 2**31 and 2**32, {1, 2}.",))

    assert result._repr_html_() == (
        "<p><strong>Not right yet.</strong> The <em>sign</em> goes <strong>first</strong>; <code>a &lt; b</code> "
        "stays, and so do 2**31 and 2**32, {1, 2}.</p>"
    )


def test_a_block_stands_alone_and_keeps_its_lines():
    result = Result(WRONG, ("It breaks a law.", Block("m0: a-0\nm1: ```")))

    assert repr(result) == "Not right yet. It breaks a law.\nm0: a-0\nm1: ```"
    assert result._repr_html_().endswith("<pre>m0: a-0\nm1: ```</pre>")
    assert "m0: a-0\nm1: ```" in elements(markdown2html_mistune(result._repr_markdown_())).code


def test_words_of_ours_may_have_braces():
    assert str(ours("{1, 2}")) == "{1, 2}"
    assert say("{}", ours("{}")).markdown == "{}"
