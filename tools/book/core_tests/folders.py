"""Which folders of tests are the core's, and which of their tests no page can run."""

from __future__ import annotations

from types import MappingProxyType

from tools.environment import ROOT

NOT_THE_CORES: MappingProxyType[str, str] = MappingProxyType(
    {
        **dict.fromkeys(["book", "browser", "lab"], "a browser or JupyterLab"),
        **dict.fromkeys(["benchmarks", "project"], "our own tools, and the files of the project"),
        "fuzz": "other processes, minutes",
        **dict.fromkeys(["conformance", "live"], "a real Kafka"),
        "spark": "Spark",
    }
)
"""Folders of tests that are not run in a page's Python, and what they are about."""

_COMMAND, _JAVA = "tests/oncall/test_command.py::", "tests/base/test_java_runtime.py::"
LEFT_OUT: dict[str, str] = {
    f"{_COMMAND}test_bad_input_is_a_sentence_and_code_2[where group a --bootstrap": "a real Kafka",
    f"{_COMMAND}test_bad_input_is_a_sentence_and_code_2[safe --bootstrap": "a real Kafka",
    f"{_COMMAND}test_bad_input_is_a_sentence_and_code_2[lag --bootstrap": "a real Kafka",
    f"{_COMMAND}test_completion_knows_every_question_and_option": "other packages",
    f"{_COMMAND}test_bash_takes_the_completion": "other packages",
    "tests/base/test_files.py::test_the_readme_tells_the_checksum_of_each_file": "the files of the project",
    "tests/base/test_files.py::test_data_lies_in_the_checkout_or_else_in_the_users_cache": "the files of the project",
    "tests/exercises/progress/test_sandbox.py": "another process",
    "tests/oncall/test_settings_files.py": "other packages",  # YAML
    "tests/exercises/build/test_stages.py::test_every_stage_leads_to_a_chapter": "the files of the project",
    f"{_JAVA}test_the_first_suitable_java_is_taken": "another process",
    f"{_JAVA}test_a_java_that_does_not_run_is_passed_over": "another process",
    f"{_JAVA}test_where_no_java_fits": "another process",
    f"{_JAVA}test_of_each_java_that_will_not_do": "another process",
    f"{_JAVA}test_the_bundled_java": "another process",
    "tests/base/test_class_archive.py": "another process",
    "tests/base/test_facts.py::test_every_sentence_names_fields": "the files of the project",
}
"""Tests of the core that no page can run, by the beginning of their names, with the reason."""


def folders() -> list[str]:
    """The folders with tests of the core, ``"tests/base"``, by name.

    >>> "tests/base" in folders(), "tests/spark" in folders()
    (True, False)
    """
    found = sorted(path.name for path in (ROOT / "tests").iterdir() if any(path.rglob("test_*.py")))
    return [f"tests/{name}" for name in found if name not in NOT_THE_CORES]


def files_in(folder: str) -> list[str]:
    """The files of tests of a folder, from the project's root."""
    found = (ROOT / folder).rglob("test_*.py")
    return sorted(path.relative_to(ROOT).as_posix() for path in found)
