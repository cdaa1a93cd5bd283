"""The jars of a released Kafka broker: fetched once, looked into, and run together with a Java class of ours.

They come with the Ivy that lies among Spark's jars, into data/generated/jars, from wherever Ivy is set up to ask. Our
class is compiled as it starts by Janino, from the same place: a Java runtime is enough.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import zipfile
from collections.abc import Iterable
from pathlib import Path

import pyspark

from kafkalearn.spark.session.java import JavaNotFound, find_java

HERE = Path(__file__).resolve().parent
JARS = HERE.parent / "data" / "generated" / "jars"
SPARK_JARS = Path(pyspark.__file__).parent / "jars"
SCALA = (((0, 9), "2.10"), ((2, 0), "2.11"), ((2, 8), "2.12"))
"""Before which release to take the jars for which Scala (1.0 and 1.1 for 2.12 need Java 8); later ones, 2.13."""


class NotRun(Exception):  # noqa: N818  (a state, not a fault)
    """The jars could not be fetched or a class not be run; the message says why."""


def broker_jars(release: str) -> list[Path]:
    """The broker's jar of a release with all that it needs, fetched if it is not there."""
    folder = JARS / f"kafka-{release}"
    if not folder.is_dir():
        part = JARS / f"kafka-{release}.part"
        shutil.rmtree(part, ignore_errors=True)
        artifact = f"kafka_{scala_of(release)}"
        wanted = ["-dependency", "org.apache.kafka", artifact, release, "-confs", "default", "-types", "jar", "bundle"]
        place = ["-cache", str(JARS / "cache"), "-retrieve", f"{part}/[artifact]-[revision](-[classifier]).[ext]"]
        run_java("-jar", str(next(SPARK_JARS.glob("ivy-*.jar"))), *wanted, *place)
        if not (part / f"{artifact}-{release}.jar").exists():
            raise NotRun(f"Ivy did not bring {artifact}-{release}.jar")
        part.rename(folder)  # only a whole one has this name
    return sorted(folder.glob("*.jar"))


def scala_of(release: str) -> str:
    """The Scala version in the name of a broker's jar.

    >>> [scala_of(release) for release in ("0.8.2.2", "1.0.2", "2.8.2", "4.3.1")]
    ['2.10', '2.11', '2.13', '2.13']
    """
    numbers = tuple(map(int, release.split(".")[:2]))
    return next((scala for before, scala in SCALA if numbers < before), "2.13")


def run_class(jars: Iterable[Path], name: str, *arguments: str) -> str:
    """What NAME.java beside this file prints when it is run with these jars."""
    janino = [*SPARK_JARS.glob("janino-*.jar"), *SPARK_JARS.glob("commons-compiler-*.jar")]
    class_path = os.pathsep.join(map(str, [*janino, *jars]))
    compile_and_run = ["org.codehaus.janino.SimpleCompiler", str(HERE / f"{name}.java"), name]
    return run_java("-cp", class_path, *compile_and_run, *arguments)


def run_java(*arguments: str) -> str:
    """What a Java program prints; NotRun if there is no Java or it fails."""
    try:
        command = [str(find_java().executable), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except JavaNotFound as error:
        raise NotRun(str(error)) from None
    except subprocess.CalledProcessError as error:
        raise NotRun("\n".join((error.stdout + error.stderr).strip().split("\n")[-12:])) from None


def java_needed(jars: Iterable[Path], name: str) -> int:
    """The oldest Java that can load every class of one of the jars, the one whose name begins with `name`.

    A class file says for which Java it was compiled: 50 is Java 6, 61 is Java 17.
    """
    jar = next(jar for jar in jars if re.match(rf"{name}-\d", jar.name))
    with zipfile.ZipFile(jar) as archive:
        newest = 0
        for entry in archive.namelist():
            if entry.endswith(".class") and not entry.startswith("META-INF/"):
                with archive.open(entry) as code:
                    newest = max(newest, int.from_bytes(code.read(8)[6:8], "big"))
    return newest - 44


def class_names(jars: Iterable[Path]) -> set[str]:
    """The names of all classes in the jars of Kafka itself."""
    names: set[str] = set()
    for jar in jars:
        if jar.name.startswith("kafka"):
            with zipfile.ZipFile(jar) as archive:
                names |= {entry[:-6].replace("/", ".") for entry in archive.namelist() if entry.endswith(".class")}
    return names
