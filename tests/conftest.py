"""What all tests share: one Spark, Hypothesis' profiles, ways of running, a switch that lets nothing be skipped."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.project import nothing_skipped
from tests.project.launcher_java import make_java_home
from tests.running import any_order, costs, examples_only, long, quick, together
from tests.running.costs import Costs
from tests.running.one_java import OneJava

# The same examples in every run, so that a failure is there again the next time; to look for new ones:
# pytest --hypothesis-profile=search
# The law that a search leaves out nothing that matters, over ten thousand small models (a minute and a half each):
# pytest --hypothesis-profile=ten-thousand tests/base/test_search.py tests/base/test_liveness.py
settings.register_profile("repeatable", derandomize=True, deadline=None, database=None)
settings.register_profile("search", deadline=None, max_examples=5000, print_blob=True)
settings.register_profile("ten-thousand", deadline=None, max_examples=10_000, database=None, print_blob=True)
settings.load_profile("repeatable")

# A reader's own Spark (its home, its master, its Python) is for the chapters; the tests bring theirs.
for name in [name for name in os.environ if name.startswith(("SPARK_", "PYSPARK_")) or name == "MASTER"]:
    del os.environ[name]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Ways of running: `make quick`, any order, and with what each file costs."""
    ours = parser.getgroup("kafkalearn")
    ours.addoption("--quick", action="store_true", help="only what takes a minute: tests/running/quick.py")
    ours.addoption(any_order.OPTION, metavar="SEED", help="files, and tests of a file, in the order of this seed")
    ours.addoption(costs.OPTION, metavar="FILE", type=Path, help="write how many seconds each file's tests took")


def pytest_configure(config: pytest.Config) -> None:
    """Put to work what is asked for; the switch lets no test be skipped, no doctest and no chapter."""
    config.pluginmanager.register(examples_only)
    config.pluginmanager.register(long)
    config.pluginmanager.register(together)
    config.pluginmanager.register(OneJava())
    if config.getoption("--quick"):
        config.pluginmanager.register(quick)
    if config.getoption(any_order.OPTION):
        config.pluginmanager.register(any_order)
    if config.getoption(costs.OPTION) and "PYTEST_XDIST_WORKER" not in os.environ:
        config.pluginmanager.register(Costs(config.getoption(costs.OPTION)))
    if os.environ.get(nothing_skipped.SWITCH):
        config.pluginmanager.register(nothing_skipped)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """What is collected stays to the end: Python need not look through it again and again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as ``spark`` what asks for the shared Spark."""
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker("spark")


@pytest.fixture(scope="session")
def spark():
    """A local Spark for small data, one for all tests of this process."""
    from kafkalearn.spark.session.spark_session import get_spark  # here, so that the other tests need no Spark

    with pytest.MonkeyPatch.context() as patch:  # only now: chapters that run later start Spark as a reader does
        patch.setenv("KAFKALEARN_SPARK_FAST_START", "1")
        session = get_spark("kafkalearn-tests", **{"spark.sql.shuffle.partitions": "4"})
    yield session
    session.stop()


@pytest.fixture(scope="session")
def launcher_java_home(tmp_path_factory) -> Path:
    """A JAVA_HOME for what Spark's own launcher starts (workers, servers), whether the machine has a Java or not."""
    return make_java_home(tmp_path_factory.mktemp("java"))
