"""Tables: the same rows and the same look with pandas and without."""

import re
from importlib import import_module

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.frame import as_frame
from kafkalearn.base.marked import Marked
from kafkalearn.base.tables import MOST_ROWS, PlainTable, html_table, table, text_table

ROWS = [{"group": "billing", "lag": 12000, "is dead": False}, {"group": "<audit>", "lag": 7, "is dead": True}]
values = st.one_of(st.integers(-(10**9), 10**9), st.text(max_size=8), st.booleans())


@pytest.fixture
def without_pandas(monkeypatch):
    module = import_module("kafkalearn.base.tables")
    monkeypatch.setattr(module, "find_spec", lambda name: None)


def test_with_pandas_it_is_a_dataframe_with_all_its_methods():
    shown = table(ROWS, label="group")

    assert isinstance(shown, pd.DataFrame)
    assert shown["lag"].sum() == 12007
    assert shown.index.name == "group"
    assert type(shown[["lag"]]) is type(shown)  # what is chosen from it looks the same


@given(st.lists(st.fixed_dictionaries({"a": values, "b": values}), min_size=1, max_size=5))
def test_both_look_the_same(rows):
    plain = PlainTable(("a", "b"), tuple((row["a"], row["b"]) for row in rows))

    assert as_frame(plain)._repr_html_() == plain._repr_html_()


def test_without_pandas_the_same_call_gives_the_same_page(without_pandas):
    shown = table(ROWS, label="group", columns={"lag": "records behind"})

    assert isinstance(shown, PlainTable)
    assert repr(shown) == "         records behind\nbilling  12,000\n<audit>  7"
    assert len(shown) == 2


def test_words_go_left_numbers_right_and_long_numbers_have_separators():
    page = table(ROWS)._repr_html_()

    assert '<td style="text-align:right">12,000</td>' in page
    assert '<td style="text-align:left">billing</td>' in page
    assert '<td style="text-align:left">yes</td>' in page


@pytest.mark.parametrize("pandas_is_there", [True, False])
def test_words_of_ours_are_shown_with_their_marks_and_printed_without(pandas_is_there, monkeypatch):
    if not pandas_is_there:
        monkeypatch.setattr(import_module("kafkalearn.base.tables"), "find_spec", lambda name: None)
    shown = table([{"claim": Marked("`a_b < 2 * c` is *not* 2 * 3"), "said": "`so` *it* is"}])

    assert "<code>a_b &lt; 2 * c</code> is <em>not</em> 2 * 3</td>" in shown._repr_html_()
    assert ">`so` *it* is</td>" in shown._repr_html_(), "what is no word of ours stays as it is"
    assert "a_b < 2 * c is not 2 * 3  `so` *it* is" in repr(shown)


def test_values_cannot_bring_markup_or_mathematics():
    page = table([{"<b>": "<img onerror=x>", "c": "$x$"}], label="<b>")._repr_html_()

    assert "<img" not in page
    assert "<b>" not in page
    assert "$" not in page


def test_a_number_that_python_does_not_write_out_is_told_by_its_size():
    assert "a whole number of about 5,001 digits" in table([{"n": 10**5000}])._repr_html_()


def test_a_table_in_a_terminal_needs_the_same_columns_in_every_row():
    with pytest.raises(KafkaLearnError, match="row 1 has the columns b; those of row 0 are a"):
        text_table([{"a": 1}, {"b": 2}])


def test_a_mapping_names_its_rows():
    shown = table({"now": {"lag": 1}, "then": {"lag": 2, "late": 3}})

    assert list(shown.index) == ["now", "then"]
    assert list(shown.columns) == ["lag", "late"]


@pytest.mark.parametrize("has_names", [False, True])
def test_a_dataframe_keeps_its_rows_and_names(has_names):
    given = pd.DataFrame({"name": ["a", "b"], "count": [1, 20000]})
    given = given.set_index("name") if has_names else given

    assert table(given).to_dict() == given.to_dict()


def test_what_spark_gives_is_collected():
    class Collected:
        def toPandas(self):  # noqa: N802  (Spark's name)
            return pd.DataFrame({"count": [5]})

    assert table(Collected()).to_dict("list") == {"count": [5]}


def test_a_missing_value_is_an_empty_cell():
    page = table([{"a": 1, "b": None}, {"a": 2, "b": 4.0}])._repr_html_()

    assert re.findall(r"<td[^>]*>([^<]*)</td>", page) == ["1", "", "2", "4"]


def test_a_long_table_shows_its_ends_and_says_how_long_it_is():
    page = html_table(["n"], None, [[number] for number in range(100_000)])

    assert page.count("<tr>") == MOST_ROWS + 2
    assert "99,999" in page
    assert page.endswith("<p>100,000 rows</p>")


def test_an_empty_table_is_one():
    assert table([])._repr_html_().count("<td") == 0
    assert repr(PlainTable((), ())) == "nothing"


@pytest.mark.parametrize(
    ("rows", "options", "words"),
    [
        ("text", {}, "a table is made of rows"),
        (5, {}, "a table is made of rows"),
        ([1, 2], {}, "a row is a mapping from column to value; got int"),
        (ROWS, {"label": "grup"}, "unknown column 'grup'; did you mean 'group'"),
        (ROWS, {"columns": ["lags"]}, "unknown column 'lags'"),
        (ROWS, {"label": ["one"]}, "1 names for 2 rows"),
        (ROWS, {"columns": 7}, "columns must be a collection of names, got int 7"),
        (ROWS, {"columns": "lag"}, "columns must be a collection of names, got str 'lag'"),
    ],
)
def test_what_is_no_table_is_refused(rows, options, words):
    with pytest.raises(KafkaLearnError, match=words):
        table(rows, **options)
