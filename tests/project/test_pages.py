"""Pages of which a command writes a part: that part is new, the words around it stay."""

import pytest

from tools.pages import part_of, write_part

OTHER = "<!-- written by make other -->\n<!-- end -->\n"
PAGE = f"# Title\n\n<!-- written by make it -->\n\nold\n\n<!-- end -->\nafter\n\n{OTHER}"


def test_the_part_of_one_command_is_written_anew(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(PAGE)

    write_part(page, "make it", "new")
    write_part(page, "make it", "newer")

    assert page.read_text() == PAGE.replace("old", "newer")
    assert (part_of(page, "make it"), part_of(page, "make other")) == ("newer", "")


@pytest.mark.parametrize("text", ["", "<!-- written by make it -->\nold\n", "old\n<!-- end -->\n"])
def test_a_page_without_its_place_is_left_as_it_was(tmp_path, text):
    page = tmp_path / "page.md"
    page.write_text(text)

    with pytest.raises(ValueError, match=r"page\.md must have the lines <!-- written by make it --> and <!-- end -->"):
        write_part(page, "make it", "new")

    assert page.read_text() == text
