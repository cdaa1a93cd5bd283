"""The core, its words, its drawn pictures and all exercises need Python alone: no package has to be installed."""

import json
import subprocess
import sys

import pytest

from tests.every import every_case
from tests.project.modules import MODULES, PACKAGE, ROOT, home_of

PLAIN = [module for module in MODULES if not home_of(module)]

IMPORT_ALL = """
import importlib, json, sys, traceback

sys.path.append(sys.argv[1])
failures = {}
for module in sys.argv[2:]:
    try:
        importlib.import_module(module)
    except Exception:
        failures[module] = traceback.format_exc(limit=-1)
foreign = {name.partition(".")[0] for name in sys.modules} - set(sys.stdlib_module_names) - {"__main__"}
print(json.dumps([failures, sorted(foreign)]))
"""


@pytest.fixture(scope="module")
def imported():
    """What failed when a bare Python imported all of them, and which packages it has then beside its own."""
    # -I: no variables, no user's packages; -S: no site-packages.
    run = [sys.executable, "-I", "-S", "-c", IMPORT_ALL, str(ROOT), *PLAIN]
    return json.loads(subprocess.run(run, capture_output=True, text=True, check=True, cwd=PACKAGE).stdout)


@every_case("module", PLAIN)
def test_a_bare_python_imports_it(imported, module):
    failures, _ = imported

    assert module not in failures, failures[module]


def test_nothing_else_is_loaded_by_them(imported):
    _, foreign = imported

    assert foreign == ["kafkalearn"]


def test_all_but_spark_figures_widgets_and_the_server_of_the_chapters_is_among_them():
    homes = {"spark", "figures", "pandas", "numpy", "widgets", "live", "lab", "agents"}
    assert {home_of(module) for module in set(MODULES) - set(PLAIN)} <= homes
    assert {"kafkalearn.base.search", "kafkalearn.drawing.player", "kafkalearn.exercises.chapter02"} <= set(PLAIN)
