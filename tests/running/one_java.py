"""A pytest plugin: the chapters that a worker runs share one Java side of Spark, with a context of its own for each.

A chapter has a fresh kernel all the same. But Java starts once, and what it has loaded and compiled for one chapter is
not loaded and compiled again for the next: that is a third of a chapter's time. The kernel finds a Spark that was
started for it, as under ``spark-submit``: the third of the ways of `kafkalearn.spark.session.get_spark`.

Chapter 00 starts its own, as a reader's does.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

AS_A_READER = "00_start.ipynb"
VARIABLES = ("PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET", "PYSPARK_PYTHON")


class OneJava:
    """The Java side of this worker, from its first chapter to its first test that is none."""

    def __init__(self) -> None:
        """Nothing is started before a chapter is run."""
        self._jvm = None
        self._chapter: Path | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Before the kernel of a chapter is started: its Java side is there, is named, and has no context."""
        if item.path == self._chapter:
            return
        self._chapter = item.path
        if item.path.suffix != ".ipynb":
            self.end()  # it would keep gigabytes
        elif item.path.name == AS_A_READER:
            _hide()
        else:
            self._show()

    def pytest_unconfigure(self) -> None:
        """Java leaves with its worker."""
        self.end()

    def end(self) -> None:
        """Java leaves, and no variable names it."""
        if self._jvm is not None:
            from kafkalearn.spark.session.start import stop_jvm

            _hide()
            stop_jvm(self._jvm)
            self._jvm = None

    def _show(self) -> None:
        from kafkalearn.spark.session.start import shared_launch, start_jvm  # here: the other tests need no Spark

        if self._jvm is None:
            self._jvm = start_jvm(shared_launch())
        else:
            _end_context(self._jvm.port, self._jvm.secret)
        os.environ |= dict(zip(VARIABLES, (str(self._jvm.port), self._jvm.secret, sys.executable), strict=True))


def _hide() -> None:
    for name in VARIABLES:
        os.environ.pop(name, None)


def _end_context(port: int, secret: str) -> None:
    """Stop the context that the kernel before has left: it was ended, and Java with a context takes no second one."""
    from py4j.java_gateway import GatewayParameters, JavaGateway

    gateway = JavaGateway(gateway_parameters=GatewayParameters(port=port, auth_token=secret))
    context = getattr(getattr(gateway.jvm, "org.apache.spark.SparkContext$"), "MODULE$").getActive()
    if context.isDefined():
        context.get().stop()
    gateway.close()
