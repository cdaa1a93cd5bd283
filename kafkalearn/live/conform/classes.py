"""Kafka's own classes, asked line by line: a Java process that answers each line of its input with one."""

from __future__ import annotations

import atexit
import subprocess
from functools import cache
from pathlib import Path
from threading import Lock

from kafkalearn.live.errors import NoAnswer
from kafkalearn.live.jars.fetching import fetch
from kafkalearn.live.jars.java import java_here, source_words
from kafkalearn.live.jars.pinned import Release
from kafkalearn.live.nodes.java_command import OPTIONS, class_jars

JAVA = Path(__file__).resolve().parent / "java"


class Answering:
    """A Java program NAME.java of this package, running with the jars of a release until this Python ends."""

    def __init__(self, release: Release, name: str) -> None:
        """Start it; its class is compiled as it starts, in about a second."""
        fetch(release)
        words = source_words(JAVA / f"{name}.java", class_jars(release), options=OPTIONS)
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(
            [str(java_here().executable), *words], stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL,
            text=True, encoding="utf-8", start_new_session=True,
        )  # fmt: skip
        self._one_at_a_time = Lock()
        atexit.register(self.close)

    def answer(self, line: str) -> str:
        """The answer to a line.

        Raises
        ------
        NoAnswer
            If the program has ended.
        """
        with self._one_at_a_time:
            try:
                self._process.stdin.write(line + "\n")
                self._process.stdin.flush()
            except OSError:
                pass  # it has ended, as the missing answer says
            answer = self._process.stdout.readline()
        if not answer:
            raise NoAnswer(f"the Java program has ended with code {self._process.wait()}; it was asked: {line[:200]}")
        return answer.rstrip("\n")

    def close(self) -> None:
        """End it; its input has ended, and it follows."""
        self._process.stdin.close()
        self._process.kill()
        self._process.wait()


@cache
def answering(line: str, release: Release, name: str) -> Answering:
    """The program for a release line, started at its first use."""
    return Answering(release, name)
