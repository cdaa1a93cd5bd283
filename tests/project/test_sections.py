"""Each heading begins a cell and a slide, and no word is lost."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from tools.chapters import chapter_paths
from tools.sections import in_sections

TEXT = "Told.\n\n## 2 Next\n\nMore.\n\n### Below\n\n**Predict:** what?"


def test_a_heading_inside_a_cell_begins_one_and_a_slide():
    cut = in_sections(new_notebook(cells=[new_markdown_cell(TEXT, id="a"), new_code_cell("1", id="b")]))

    shown = [
        (cell.id, cell.source.split("\n")[0], cell.metadata.get("slideshow", {}).get("slide_type"))
        for cell in cut.cells
    ]
    assert shown == [
        ("a", "Told.", None),
        ("a-2", "## 2 Next", "slide"),
        ("a-3", "### Below", "subslide"),
        ("b", "1", None),
    ]


@pytest.mark.parametrize("source", ["```\n# no heading\n```\n\n# Heading", "<details>\n\n# Notes\n\n</details>"])
def test_what_may_be_no_heading_is_not_cut(source):
    assert [cell.source for cell in in_sections(new_notebook(cells=[new_markdown_cell(source)])).cells] == [source]


@pytest.mark.parametrize("path", chapter_paths(), ids=lambda path: path.stem)
def test_a_chapter_keeps_every_word_and_every_cell_its_own_id(path):
    notebook = nbformat.read(path, as_version=4)
    before = nbformat.writes(notebook)
    cut = in_sections(notebook)

    assert "".join("".join(cell.source.split()) for cell in cut.cells) == "".join(
        "".join(cell.source.split()) for cell in notebook.cells
    )
    assert len({cell.id for cell in cut.cells}) == len(cut.cells)
    assert nbformat.writes(notebook) == before
    assert nbformat.writes(in_sections(cut)) == nbformat.writes(cut)
    nbformat.validate(cut)
