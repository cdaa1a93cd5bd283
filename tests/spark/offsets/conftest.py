"""Both routes of what is decoded on Spark."""

import pytest

from kafkalearn.spark import columns as big_endian


@pytest.fixture(params=["compiled", "public"])
def route(request, monkeypatch):
    """Both ways to the numbers: compiled into the query, and the one Spark Connect takes."""
    if request.param == "public":
        monkeypatch.setattr(big_endian, "static_call", lambda *arguments: None)
