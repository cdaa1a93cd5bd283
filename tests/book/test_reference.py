"""The reference of the book, made for a few modules: its links lead somewhere, and all that opens has a name."""

from __future__ import annotations

from html import unescape
from urllib.parse import unquote, urlsplit

import pytest

from tools.book.pages import Page
from tools.book.reference import FOLDER, pages

MODULES = ("kafkalearn", "kafkalearn.coordinator", "kafkalearn.coordinator.picture", "kafkalearn.exercises.chapter01")


@pytest.fixture(scope="module")
def made() -> dict[str, str]:
    return {name.removeprefix(f"{FOLDER}/"): html for name, html in pages(MODULES)}


def test_each_link_leads_to_a_page_of_the_book_and_to_a_name_on_it(made):
    read = {name: Page(html) for name, html in made.items()}
    ways = {"../index.html", "../search.html", "../live/page.js", "../live/page.css"}
    tried = 0
    for name, page in read.items():
        for link in {each for each in page.links if not urlsplit(each).scheme} - ways:
            parts = urlsplit(link)
            target = unquote(parts.path) or name
            assert target in read, (name, link)
            assert not parts.fragment or unquote(unescape(parts.fragment)) in read[target].anchors, (name, link)
            tried += target != name
    assert tried > 5


def test_what_opens_by_a_click_is_reached_by_key_and_says_what_it_opens(made):
    html = made["kafkalearn.coordinator.html"]

    assert 'aria-hidden="true"' not in html
    for said in ("Names on this page", "View Source of coordinator", "Value of FORMULAS"):
        assert f'type="checkbox" aria-label="{said}">' in html
