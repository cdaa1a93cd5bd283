"""Jars from wherever Ivy is set up to ask: the one place that fetches any.

Ivy lies among the jars of PySpark, which is installed anyway. Who must ask a mirror names an ``ivysettings.xml`` of
their own in KAFKALEARN_IVY_SETTINGS, the file that Spark calls ``spark.jars.ivySettings``.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

from kafkalearn.live.jars.java import SHOWN_LINES, ProgramFailed, last_lines, run_java, spark_jars, trust_options

SETTINGS_VARIABLE = "KAFKALEARN_IVY_SETTINGS"
JAR_NAME = "[artifact]-[revision](-[classifier]).[ext]"

# What each module needs is not asked for: the list of jars is known, and reading their descriptions takes longer.
WITHOUT_DESCRIPTIONS = """<ivysettings>
  <settings defaultResolver="registry"/>
  <resolvers><ibiblio name="registry" m2compatible="true" usepoms="false"/></resolvers>
</ivysettings>
"""


class Module(NamedTuple):
    """What a registry calls a jar."""

    organisation: str
    name: str
    revision: str

    @property
    def jar_name(self) -> str:
        """The name of its file.

        >>> Module("org.apache.kafka", "kafka-clients", "4.3.1").jar_name
        'kafka-clients-4.3.1.jar'
        """
        return f"{self.name}-{self.revision}.jar"


def fetch_exactly(modules: Iterable[Module], folder: Path, cache: Path) -> None:
    """Put the jars of these modules, and no others, into a folder.

    Raises
    ------
    ProgramFailed
        If Ivy does not bring all of them; the message has what went wrong.
    """
    wanted = "".join(
        f'<dependency org="{each.organisation}" name="{each.name}" rev="{each.revision}" transitive="false"'
        ' conf="*->*"/>'
        for each in modules
    )
    description = f'<ivy-module version="2.0"><info organisation="kafkalearn" module="live"/><dependencies>{wanted}'
    with tempfile.TemporaryDirectory(prefix="kafkalearn-ivy-") as place:
        own, listed = Path(place) / "ivysettings.xml", Path(place) / "ivy.xml"
        own.write_text(WITHOUT_DESCRIPTIONS, encoding="utf-8")
        listed.write_text(f"{description}</dependencies></ivy-module>", encoding="utf-8")
        settings = os.environ.get(SETTINGS_VARIABLE) or str(own)
        _run_ivy("-settings", settings, "-cache", str(cache), "-ivy", str(listed), *_retrieve(folder))


def fetch_with_needs(module: Module, folder: Path, cache: Path) -> list[Module]:
    """Put the jar of a module and of all that it needs into a folder, and list them.

    Its revision may leave the end open: ``4.3.+`` is the newest patch of 4.3.

    Raises
    ------
    ProgramFailed
        As `fetch_exactly`.
    """
    own = os.environ.get(SETTINGS_VARIABLE)
    settings = ["-settings", own] if own else []
    wanted = ["-dependency", *module, "-confs", "default"]
    _run_ivy(*settings, "-cache", str(cache), *wanted, *_retrieve(folder))
    report = ElementTree.parse(cache / f"{module.organisation}-{module.name}-caller-default.xml")
    return [
        Module(each.get("organisation", ""), each.get("name", ""), revision.get("name", ""))
        for each in report.getroot().iter("module")
        for revision in each.findall("revision")
        if revision.get("evicted") is None and revision.findall("artifacts/artifact")
    ]


def _retrieve(folder: Path) -> list[str]:
    return ["-types", "jar", "bundle", "-retrieve", f"{folder}/{JAR_NAME}"]


def _run_ivy(*arguments: str) -> None:
    jar = next(spark_jars().glob("ivy-*.jar"), None)
    if jar is None:
        raise ProgramFailed(f"there is no Ivy among the jars of PySpark in {spark_jars()}; install PySpark 4.3")
    run_java(*trust_options(), "-jar", str(jar), *arguments, shown=cause_of)


_CAUSES = re.compile(
    r"^\s*(?:(Server access error at url .*)|:: (\S+#\S+: .*)|\[FAILED +\] (.*?):?\s*(?:\(\d+ms\))?"
    r"|(.*No space left.*))$",
    re.MULTILINE,
)


def cause_of(printed: str) -> str:
    """What went wrong, of all that Ivy has printed: what it could not ask, find or bring; else the end of it.

    Ivy ends with asides, such as resolvers that an older cache names, after the line that has the cause.

    >>> printed = '''
    ...     :: org.apache.kafka#kafka-clients;9.9.9: not found
    ... :::: ERRORS
    ...     Server access error at url https://mirror/kafka-clients-9.9.9.jar (java.net.ConnectException: refused)
    ...     unknown resolver public
    ... :: USE VERBOSE OR DEBUG MESSAGE LEVEL FOR MORE DETAILS'''
    >>> print(cause_of(printed))
    Server access error at url https://mirror/kafka-clients-9.9.9.jar (java.net.ConnectException: refused)
    org.apache.kafka#kafka-clients;9.9.9: not found
    """
    found = dict.fromkeys("".join(groups) for groups in _CAUSES.findall(printed))
    asked_first = sorted(found, key=lambda cause: not cause.startswith("Server access error"))
    return "\n".join(asked_first[:SHOWN_LINES]) or last_lines(printed)
