"""The film of chapter 00 in JupyterLab: its cell's output is enough, and a click breaks it without a kernel."""

import pytest
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import expect

from tools.chapters import KERNELSPEC

pytestmark = pytest.mark.browser
CELL = "from kafkalearn.views import whole_path\n\nwhole_path()"


def test_a_click_breaks_it_and_undo_brings_it_back_also_with_no_kernel(lab, watched):
    cell = new_code_cell(CELL, id="film")
    lab.put("film.ipynb", new_notebook(cells=[cell], metadata={"kernelspec": KERNELSPEC}))
    watched.open_notebook(lab, "film.ipynb")
    watched.run_all(timeout_ms=180_000)
    page = watched.page
    caption = page.locator(".kl-film .kl-caption")
    expect(caption).to_contain_text("ann sends A1.")
    page.evaluate("window.jupyterapp.shell.currentWidget.sessionContext.shutdown()")

    page.locator(".kl-break[data-broker='broker 3']").click()
    expect(caption).to_contain_text("Broker 3 dies.")
    page.locator(".kl-film").get_by_text("Undo").click()
    expect(page.locator(".kl-break:visible")).to_have_count(3)
    expect(page.locator(".kl-player")).to_have_count(1)
    assert watched.errors == []
