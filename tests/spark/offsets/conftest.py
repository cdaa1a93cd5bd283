"""Both routes of what is decoded on Spark."""

import pytest

from kafkalearn.spark import columns


@pytest.fixture(params=["compiled", "public"])
def route(request, monkeypatch):
    """Both ways to the numbers: compiled into the query, and the one Spark Connect takes."""
    if request.param == "public":
        monkeypatch.setattr(columns, "static_call", lambda *arguments: None)
