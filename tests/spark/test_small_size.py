"""Every chapter on a weak machine: it runs through at the small size, and what it asserts holds there too."""

import pytest

from tools.chapters import chapter_paths, execute


@pytest.mark.long
@pytest.mark.spark
@pytest.mark.parametrize("path", chapter_paths(), ids=lambda path: path.stem)
def test_a_chapter_holds_at_the_small_size(path):
    notebook = execute(path, "small")

    assert [cell.id for cell in notebook.cells if cell.cell_type == "code" and cell.execution_count is None] == []
