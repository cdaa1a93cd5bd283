"""How long a step takes from the key to the picture: our player beside a matplotlib redraw through the kernel.

The same look-up, 50 partitions and all, in JupyterLab in a headless Chromium: once in the player, once as what one
would write without it, a slider whose callback draws with matplotlib into an Image widget. Both get the same 200
presses of an arrow key. The clock starts at the key's event in the browser. It stops when the new picture is in the
page (for the Image widget: decoded), and again when the browser has painted the next frame, of which there are 60 a
second.

Run it with ``python benchmarks/player_latency.py [presses]``.
"""

from __future__ import annotations

import sys
from itertools import cycle, islice
from math import ceil
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import Locator, Page, sync_playwright

from kafkalearn.base.tables import text_table
from tests.browser.lab import launch, running_lab, watch
from tools.chapters import KERNELSPEC

FAST_SERVER = "--ServerApp.kernel_websocket_connection_class=kafkalearn.lab.server.NoDelayConnection"
STEPS = 13  # of this look-up

PLAYER = """
from kafkalearn.coordinator import look_up, round_robin_leaders
from kafkalearn.views import describe_lookup, draw_lookup, play
trace = look_up("test-group", round_robin_leaders([1, 2, 3]))
play(trace, draw_lookup, describe_lookup)
"""
REDRAW = """
from io import BytesIO
import ipywidgets
from matplotlib.figure import Figure
figure = Figure(figsize=(10, 4))
ax = figure.add_subplot()
image = ipywidgets.Image(format="png", layout={"width": "1000px"})
slider = ipywidgets.IntSlider(0, 0, len(trace) - 1)
def redraw(_=None):
    state = trace[slider.value].state
    ax.clear()
    ax.bar(range(50), [1] * 50, color=["C%d" % leader for leader in state.settings.leaders])
    if state.partition is not None:
        ax.bar([state.partition], [1], color="red")
    ax.set_title(describe_lookup(trace[slider.value]))
    png = BytesIO()
    figure.savefig(png, format="png")
    image.value = png.getvalue()
slider.observe(redraw, names="value")
redraw()
ipywidgets.VBox([slider, image])
"""

# Notes the time of each key, of the change it leads to, and of the frame in which that is painted.
CLOCK = """
element => {
  const times = window.times = [];
  let pressed = null;
  window.addEventListener("keydown", event => { pressed = event.timeStamp; }, true);
  const arrived = () => {
    if (pressed === null) return;
    const step = { arrived: performance.now() - pressed }, start = pressed;
    pressed = null;
    requestAnimationFrame(() => {
      const channel = new MessageChannel();  // its message comes right after the frame
      channel.port1.onmessage = () => { step.painted = performance.now() - start; times.push(step); };
      channel.port2.postMessage(null);
    });
  };
  if (element.localName === "img") element.addEventListener("load", arrived);
  else new MutationObserver(arrived).observe(element, { childList: true });
}
"""


def press_keys(page: Page, focus: Locator, picture: Locator, presses: int) -> list[dict[str, float]]:
    """Times in ms of each press, to and fro over all steps; a press waits until the one before is painted."""
    picture.evaluate(CLOCK)
    focus.focus()
    keys = cycle(["ArrowRight"] * STEPS + ["ArrowLeft"] * STEPS)
    for done, key in enumerate(islice(keys, presses), start=1):
        page.keyboard.press(key)
        page.wait_for_function("done => window.times.length === done", arg=done)
    return page.evaluate("window.times")


def measure(presses: int) -> dict[str, list[dict[str, float]]]:
    """The times of both, one after the other, each on a page of its own."""
    taken = {}
    with TemporaryDirectory() as home, sync_playwright() as playwright, running_lab(Path(home), FAST_SERVER) as lab:
        browser = launch(playwright)
        if browser is None:
            sys.exit("no Chromium: install one, or let Playwright do it: python -m playwright install chromium")
        cells = [new_code_cell(PLAYER), new_code_cell(REDRAW)]
        lab.put("latency.ipynb", new_notebook(cells=cells, metadata={"kernelspec": KERNELSPEC}))
        for name, focus, picture in (
            ("the player", ".kl-player input[type=range]", ".kl-stage"),
            ("matplotlib through the kernel", ".widget-slider .noUi-handle", "img.widget-image"),
        ):
            watched = watch(browser)
            watched.open_notebook(lab, "latency.ipynb")
            watched.run_all(timeout_ms=60_000)
            page = watched.page
            taken[name] = press_keys(page, page.locator(focus).first, page.locator(picture).first, presses)
            page.close()
        browser.close()
    return taken


def percentile(values: list[float], share: float) -> float:
    """The smallest value that at least this share of the values do not exceed."""
    return sorted(values)[ceil(share * len(values)) - 1]


def rows(taken: dict[str, list[dict[str, float]]]) -> list[dict[str, str]]:
    """One row for each way and each end of the clock; the ratio is to the player's median."""
    result = []
    for stop, meaning in (("arrived", "picture in the page"), ("painted", "next frame painted")):
        base = median(each[stop] for each in taken["the player"])
        for name, steps in taken.items():
            values = [each[stop] for each in steps]
            result.append(
                {
                    "key press to": meaning,
                    "with": name,
                    "median ms": f"{median(values):.1f}",
                    "p95 ms": f"{percentile(values, 0.95):.1f}",
                    "worst ms": f"{max(values):.1f}",
                    "median / the player's": f"{median(values) / base:.1f}",
                }
            )
    return result


def main(presses: int = 200) -> None:
    """Measure and print."""
    print(f"{presses} key presses each; goal: the player's picture is in the page within 16 ms")
    print(text_table(rows(measure(presses))))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
