"""The metrics of a broker, read through JMX as an operator's tools do; it needs a Java with the module jdk.attach."""

from __future__ import annotations

import re
from pathlib import Path
from types import TracebackType

from kafkalearn.live import Kafka
from kafkalearn.live.jars import start_source

PROGRAM = Path(__file__).resolve().parent / "ReadMetrics.java"
OPTIONS = ("-Xmx64m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "--add-modules", "jdk.attach")
NAME = re.compile(r"(\w+)=(\"[^\"]*\"|[^,]*)")


class Metrics:
    """The metrics of one broker; to be used in a ``with`` block."""

    def __init__(self, kafka: Kafka, broker_id: int = 1) -> None:
        """Attach to the broker's process."""
        self._process = start_source(PROGRAM, [], str(kafka.process_id(broker_id)), options=OPTIONS)
        assert self._process.stdout is not None
        if self._process.stdout.readline().strip() != "ready":
            raise TimeoutError("the broker's metrics cannot be read")

    def __enter__(self) -> Metrics:
        """The metrics themselves."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Detach."""
        self._process.kill()
        self._process.communicate()

    def read(self, pattern: str, *keys: str) -> dict[str, float]:
        """The values of the MBeans of a pattern, each by these of its properties with spaces between."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(pattern + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline().rstrip("\n")
        words = line.split("\t") if line else []
        found = {}
        for name, value in zip(words[::2], words[1::2], strict=True):
            properties = dict(NAME.findall(name))
            found[" ".join(properties[key] for key in keys)] = float(value)
        return found
