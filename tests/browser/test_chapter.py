"""Chapter 05 as a class uses it: opened in JupyterLab, run, stepped, played with; at the small size."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.conftest import NOTEBOOKS

CHAPTER = NOTEBOOKS / "05_rebalance.ipynb"
TEN_MINUTES_MS = 600_000

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not CHAPTER.exists(), reason=f"there is no {CHAPTER.name}"),
]


@pytest.fixture
def chapter(lab, watched):
    watched.open_notebook(lab, CHAPTER.name)
    watched.run_all(TEN_MINUTES_MS)
    yield watched.page
    assert watched.errors == []


def turn(controls: Locator) -> None:
    """Change the first control there is, whatever its kind."""
    texts, sliders = controls.locator("input[type=text]"), controls.locator("input[type=range]")
    if texts.count():
        texts.first.fill("another-group")
    elif sliders.count():
        sliders.first.press("ArrowRight")
    else:
        controls.locator("select").first.press("ArrowDown")


def test_a_chapter_runs_steps_and_answers_to_its_controls(chapter):
    player = chapter.locator(".kl-player:not(.kl-touched):has(.kl-bar:visible)").first
    label = player.locator(".kl-stage svg").get_attribute("aria-label")
    player.locator(".kl-bar input").focus()
    chapter.keyboard.press("ArrowRight")
    expect(player.locator("output")).to_contain_text("1 of ")
    expect(player.locator(".kl-stage svg")).not_to_have_attribute("aria-label", label)

    varied = chapter.locator(".kl-player:has(fieldset):not(.kl-touched)").first
    before = varied.locator(".kl-stage").inner_html()
    turn(varied.locator(".kl-controls"))
    chapter.wait_for_function(
        "([stage, before]) => stage.innerHTML !== before", arg=[varied.locator(".kl-stage").element_handle(), before]
    )

    prompts = chapter.locator(".jp-CodeCell .jp-InputPrompt")
    expect(prompts.last).not_to_have_text("[ ]:")  # an error would have stopped the run before it
