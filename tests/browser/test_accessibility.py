"""What axe-core finds in a chapter's page, and in what a notebook shows in JupyterLab: nothing."""

from __future__ import annotations

import nbformat
import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.browser.conftest import NOTEBOOKS
from tests.browser.test_player import IMPORTS, PLAYER, VARIED, notebook, player_of
from tools.book.chapter import Chapter, page

pytestmark = pytest.mark.browser
CHAPTER = NOTEBOOKS / "01_coordinator.ipynb"


def findings(page, context=None):
    found = Axe().run(page, context=context).response["violations"]
    return [(each["id"], each["nodes"][0]["html"][:200]) for each in found]


def test_a_chapters_page(browser, tmp_path):
    html = page(nbformat.read(CHAPTER, as_version=4), Chapter.read(CHAPTER), navigation="")
    (tmp_path / "page.html").write_text(html, encoding="utf-8")
    shown = browser.new_page()
    shown.goto((tmp_path / "page.html").as_uri())
    shown.wait_for_function("document.documentElement.dataset.predictions")
    assert findings(shown) == []

    shown.evaluate("document.querySelectorAll('.kl-show-me').forEach((each) => each.click())")
    shown.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    assert findings(shown) == []
    shown.close()


def test_players_and_controls_in_jupyterlab(lab, watched):
    lab.put("axe.ipynb", notebook(IMPORTS, PLAYER, VARIED))
    watched.open_notebook(lab, "axe.ipynb")
    watched.run_all(timeout_ms=180_000)
    player_of(watched.page, 1).wait_for()

    assert findings(watched.page, {"include": [[".kl-player"]]}) == []
