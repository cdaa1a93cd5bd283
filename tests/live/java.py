"""Small Java programs beside the tests, run with the classes of a release."""

from __future__ import annotations

from pathlib import Path

from kafkalearn.live.jars import Release, run_source
from kafkalearn.live.processes import OPTIONS, class_jars

HERE = Path(__file__).resolve().parent


def run_java_class(release: Release, name: str, *arguments: str) -> str:
    """What NAME.java beside this file prints when it is run with the jars of a release."""
    return run_source(HERE / f"{name}.java", class_jars(release), *arguments, options=OPTIONS)
