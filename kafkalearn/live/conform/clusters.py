"""The cluster that a mechanism is asked on: started for it, and started again when it is worn out or lost."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

from kafkalearn.live.conform.mechanism import Mechanism
from kafkalearn.live.jars.pinned import Release, find_release
from kafkalearn.live.kafka import Kafka

MOST_CASES = 200
"""After so many cases a cluster makes room for a new one: each case leaves topics and groups behind."""

Start = Callable[..., Any]
"""As `Kafka`, with ``release`` and the mechanism's settings: it has ``start`` and ``close``."""


class OwnCluster:
    """A real cluster for the questions of one mechanism; to be closed, or used in a ``with`` block.

    Parameters
    ----------
    mechanism : Mechanism
        Its settings are the cluster's.
    release : str
        A release line, such as ``"4.3"``.
    start : callable
        What makes the cluster.
    """

    def __init__(self, mechanism: Mechanism, release: str, start: Start = Kafka) -> None:
        """Nothing is started yet; the first case does it."""
        self.release: Release = find_release(release)
        self._settings, self._start = dict(mechanism.settings), start
        self._running: Any = None
        self._case_count = 0
        self._numbers = count(1)

    @property
    def needs_no_broker(self) -> bool:
        """Whether the classes of the release are all that is asked."""
        return self._settings.get("brokers") == 0

    def for_a_case(self) -> Any:
        """The cluster, running: what a mechanism's `ask` gets."""
        if self.needs_no_broker:
            return self.release
        if self._case_count >= MOST_CASES:
            self.close()
        if self._running is None:
            self._case_count = 0
            self._running = self._start(release=self.release.line, **self._settings).start()
        self._case_count += 1
        return self._running

    def new_name(self, kind: str) -> str:
        """A name that no other case of this run has."""
        return f"{kind}-{next(self._numbers)}"

    def close(self) -> None:
        """End the cluster; the next case starts another."""
        if self._running is not None:
            running, self._running = self._running, None
            running.close()

    def __enter__(self) -> OwnCluster:
        """The holder itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the cluster."""
        self.close()
