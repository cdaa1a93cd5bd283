"""Coordinators that are known to be wrong: `mutants.toml` has each as a change of the reference."""

import linecache
import tomllib
from itertools import count
from pathlib import Path

HERE = Path(__file__).parent
SOURCE = (HERE / "reference.py").read_text(encoding="utf-8")
MUTANTS = {
    each["wrong"]: each for each in tomllib.loads((HERE / "mutants.toml").read_text(encoding="utf-8"))["mutants"]
}
NUMBERS = count()


def made(source):
    """The class of a text, as a notebook's cell makes it."""
    name = f"<coordinator {next(NUMBERS)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    namespace = {"__name__": "__main__"}
    exec(compile(source, name, "exec"), namespace)
    return namespace["Coordinator"]


def mutant(name):
    """The class that has this mistake."""
    old = MUTANTS[name]["old"]
    assert SOURCE.count(old) == 1, f"{name}: the text is there {SOURCE.count(old)} times"
    return made(SOURCE.replace(old, MUTANTS[name]["new"]))
