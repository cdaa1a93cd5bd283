"""A chart in a page looks as in its notebook, and has fewer bytes."""

from __future__ import annotations

from base64 import b64decode
from io import BytesIO

import nbformat
import numpy as np
import pytest
from PIL import Image

from tools.book.chapter.charts import PNG, with_palettes
from tools.environment import ROOT


def charts(notebook):
    found = [out.data[PNG] for cell in notebook.cells for out in cell.get("outputs", ()) if PNG in out.get("data", {})]
    return [b64decode(each) for each in found]


def pixels(png):
    return np.asarray(Image.open(BytesIO(png)).convert("RGB"), np.int16)


@pytest.mark.parametrize("name", ["03_groups", "05b_rebalance_cost", "18_share_groups"])
def test_a_chart_looks_as_it_was_drawn_and_is_half_as_long(name):
    drawn = nbformat.read(ROOT / "notebooks" / f"{name}.ipynb", 4)
    before, after = charts(drawn), charts(with_palettes(drawn))
    assert len(before) == len(after) > 0
    for one, other in zip(before, after, strict=True):
        differences = np.abs(pixels(one) - pixels(other)).max(axis=2)
        assert len(other) < len(one) / 2
        assert np.quantile(differences, 0.999) <= 16  # of 255; a little more on edges of letters
        assert differences.mean() < 1
    assert charts(drawn) == before
