import nbformat
import pytest
from nbclient import NotebookClient

from kafkalearn.drawing.widgets import ProgressBar
from kafkalearn.views import progress_bar

CELL = """
from kafkalearn.views import progress_bar
with progress_bar("hash the ids") as update:
    for done in range(5):
        update(done, 4)
"""


def test_outside_a_notebook_nothing_is_shown(capsys):
    with progress_bar("hash the ids") as update:
        update(1, 4)

    assert capsys.readouterr() == ("", "")


def test_in_a_notebook_only_the_words_stay():
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(CELL)])

    outputs = NotebookClient(notebook).execute().cells[0].outputs

    assert [each.data["text/plain"] for each in outputs] == ["hash the ids"]
    assert set(outputs[0].data) == {"text/plain", "application/vnd.jupyter.widget-view+json"}


def test_a_bar_follows_a_total_that_grows():
    bar = ProgressBar("hash the ids")
    bar.update(3, 4)
    bar.update(5, 12)

    progress, count = bar.children
    assert (progress.value, progress.max) == (5, 12)
    assert count.value.startswith("5 of 12, ")


@pytest.mark.parametrize(("style", "value"), [("success", 4), ("danger", 1)])
def test_a_bar_that_is_done_is_full_and_one_that_failed_stays_where_it_was(style, value):
    bar = ProgressBar("hash the ids")
    bar.update(1, 4)

    bar.finish(style)

    assert (bar.children[0].value, bar.children[0].bar_style) == (value, style)


def test_the_output_of_a_bar_does_not_tell_how_far_it_came():
    bar = ProgressBar("hash the ids")
    before = bar._repr_mimebundle_()
    bar.update(3, 4)

    assert bar._repr_mimebundle_() == before
    assert repr(bar) == "hash the ids"
