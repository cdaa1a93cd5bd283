"""A page that is busy while a player's module loads, as on a slow machine: the player still hears of its kernel."""

import pytest
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import expect

from tools.chapters import KERNELSPEC

pytestmark = pytest.mark.browser
PLAYER = """
from kafkalearn.coordinator import look_up, round_robin_leaders
from kafkalearn.views import describe_lookup, draw_lookup, play
player = play(look_up("test-group", round_robin_leaders([1, 2, 3])), draw_lookup, describe_lookup)
player
"""
# The next module that is made is loaded only once the page has been busy for longer than anywidget waits.
BUSY = """() => {
  const made = URL.createObjectURL.bind(URL);
  URL.createObjectURL = (blob) => {
    URL.createObjectURL = made;
    const waits = "await new Promise((then) => setTimeout(then, 4000));";
    return URL.createObjectURL(new Blob([waits, blob], { type: blob.type }));
  };
}"""


def test_a_player_whose_module_comes_late_steps_as_its_kernel_says(lab, watched):
    cells = [new_code_cell(PLAYER), new_code_cell("player.value = 2")]
    lab.put("busy.ipynb", new_notebook(cells=cells, metadata={"kernelspec": KERNELSPEC}))
    watched.open_notebook(lab, "busy.ipynb")
    watched.page.evaluate(BUSY)
    watched.run_all(timeout_ms=180_000)

    expect(watched.page.locator(".kl-player .kl-bar output")).to_have_text("2 of 13")
    assert watched.errors == []
