"""What is done once on a machine before a release starts quickly: its jars, and an archive of the classes it loads."""

from __future__ import annotations

import contextlib
import sys
import tempfile
import time
from pathlib import Path

from kafkalearn.live.jars.fetching import Update, fetch, kafka_folder
from kafkalearn.live.jars.java import ProgramFailed, java_here, run_java
from kafkalearn.live.jars.lock import one_at_a_time
from kafkalearn.live.jars.pinned import Release
from kafkalearn.live.nodes.java_command import archive_path, node_class_path
from kafkalearn.live.nodes.processes import STOP, require_signals
from kafkalearn.live.nodes.starting import Nodes

TIMEOUT_S = 120.0


def prepare(release: Release, has_logs: bool = False, update: Update | None = None) -> None:
    """See to it that a release can be started quickly; what is there already is not made again.

    Parameters
    ----------
    release : Release
        Which one.
    has_logs : bool
        Whether its nodes will write server logs; both kinds are prepared apart.
    update : callable or None
        As `kafkalearn.live.jars.fetching.fetch` has it.

    Raises
    ------
    KafkaNotFetched, KafkaNotStarted
        If it cannot be fetched or started here; the message says what to do.
    """
    require_signals()
    java = java_here()
    fetch(release, update)
    archive = archive_path(release, java, has_logs)
    if archive.exists():
        return
    with one_at_a_time(kafka_folder() / "lock-archive"):
        if not archive.exists():
            print(f"kafkalearn: preparing Kafka {release.version}, once on this machine", file=sys.stderr, flush=True)
            _make_archive(release, archive, has_logs)


def _make_archive(release: Release, archive: Path, has_logs: bool) -> None:
    """Note which classes a node loads, and write them into an archive; empty, if this Java cannot write one.

    A Java that comes with an archive of its own adds to it when it ends. The bundled runtime comes without; there the
    list of classes is written first, and Java makes an archive from the list.
    """
    archive.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".archive-", dir=archive.parent) as place:
        draft, class_list = Path(place) / archive.name, Path(place) / "classes.txt"
        _run_once(release, has_logs, f"-XX:ArchiveClassesAtExit={draft}")
        if not draft.exists():
            _run_once(release, has_logs, "-Xshare:off", f"-XX:DumpLoadedClassList={class_list}")
            words = ["-Xshare:dump", f"-XX:SharedClassListFile={class_list}", f"-XX:SharedArchiveFile={draft}"]
            with contextlib.suppress(ProgramFailed):
                run_java("-Xlog:disable", *words, "-cp", node_class_path(release, has_logs))
        if not draft.exists():
            draft.touch()
        draft.rename(archive)


def _run_once(release: Release, has_logs: bool, *options: str) -> None:
    nodes = Nodes(release, 1, {}, {}, has_logs, options)
    try:
        nodes.start(TIMEOUT_S)
        (node,) = nodes.nodes
        time.sleep(1)  # what loads its classes a moment after the start comes in, too
        nodes.processes.send(node.name, STOP)
        nodes.processes.wait(node.name, TIMEOUT_S)
    finally:
        nodes.close()
