"""What axe-core finds in what a notebook shows in JupyterLab: nothing. Of the pages, tests/book asks it."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.browser.test_player import IMPORTS, PLAYER, VARIED, notebook, player_of

pytestmark = pytest.mark.browser


def findings(page, context=None):
    found = Axe().run(page, context=context).response["violations"]
    return [(each["id"], each["nodes"][0]["html"][:200]) for each in found]


def test_players_and_controls_in_jupyterlab(lab, watched):
    lab.put("axe.ipynb", notebook(IMPORTS, PLAYER, VARIED))
    watched.open_notebook(lab, "axe.ipynb")
    watched.run_all(timeout_ms=180_000)
    player_of(watched.page, 1).wait_for()

    assert findings(watched.page, {"include": [[".kl-player"]]}) == []
