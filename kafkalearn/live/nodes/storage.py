"""The folder of a new node, formatted: what ``kafka-storage format`` leaves, without starting Java for each node.

Java writes one ``bootstrap.checkpoint`` for each release and set of features, once on a machine; it names no cluster
and fits all of them. The rest of a formatted folder is a few lines of text.

References
----------
Apache Kafka 4.3, ``StorageTool``, ``MetaProperties``; ``Uuid.randomUuid``.
"""

from __future__ import annotations

import base64
import re
import shutil
import tempfile
import uuid
from collections.abc import Mapping
from pathlib import Path

from kafkalearn.live.errors import KafkaNotStarted
from kafkalearn.live.jars.fetching import kafka_folder
from kafkalearn.live.jars.java import ProgramFailed, run_java
from kafkalearn.live.jars.lock import one_at_a_time
from kafkalearn.live.jars.pinned import Release
from kafkalearn.live.nodes.java_command import OPTIONS, node_class_path
from kafkalearn.live.nodes.layout import Node

CHECKPOINT = "bootstrap.checkpoint"


def new_uuid() -> str:
    """A random id as Kafka writes it: 22 characters, the first no "-", which a command would take for an option."""
    while (text := base64.urlsafe_b64encode(uuid.uuid4().bytes).rstrip(b"=").decode()).startswith("-"):
        pass
    return text


def format_node(node: Node, cluster_id: str, checkpoint: Path) -> None:
    """Make a node's log folder as if it had been formatted for a cluster."""
    node.log_folder.mkdir(parents=True)
    shutil.copyfile(checkpoint, node.log_folder / CHECKPOINT)
    lines = ("version=1", f"cluster.id={cluster_id}", f"node.id={node.id}", f"directory.id={new_uuid()}")
    (node.log_folder / "meta.properties").write_text("\n".join(lines) + "\n", encoding="utf-8")


def bootstrap_checkpoint(release: Release, features: Mapping[str, int]) -> Path:
    """The file with a release's feature levels, made by Java if it is not there yet.

    Parameters
    ----------
    release : Release
        Whose defaults count for features that are not given.
    features : mapping of str to int
        Levels by name: ``{"eligible.leader.replicas.version": 0}``.

    Raises
    ------
    KafkaNotStarted
        If the release does not know a feature or the level; the message is Kafka's.
    """
    name = "-".join(["bootstrap", *(f"{feature}={level}" for feature, level in sorted(features.items()))])
    path = kafka_folder() / release.version / f"{name}.checkpoint"
    if not path.exists():
        with one_at_a_time(kafka_folder() / "lock"):
            if not path.exists():
                _make(release, features, path)
    return path


def _make(release: Release, features: Mapping[str, int], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="kafkalearn-format-") as place:
        folder = Path(place) / "log"
        properties = Path(place) / "server.properties"
        properties.write_text(
            "process.roles=broker,controller\nnode.id=1\ncontroller.quorum.voters=1@127.0.0.1:9093\n"
            "listeners=PLAINTEXT://127.0.0.1:9092,CONTROLLER://127.0.0.1:9093\n"
            f"controller.listener.names=CONTROLLER\nlog.dirs={folder}\n",
            encoding="utf-8",
        )
        words = ["format", "--cluster-id", new_uuid(), "--config", str(properties)]
        for feature, level in features.items():
            words += ["--feature", f"{feature}={level}"]
        try:
            run_java(*OPTIONS, "-cp", node_class_path(release, False), "kafka.tools.StorageTool", *words)
        except ProgramFailed as error:
            reason = re.sub(r"^SLF4J.*\n", "", str(error), flags=re.MULTILINE)
            raise KafkaNotStarted(
                f"Kafka {release.version} cannot be formatted with {dict(features)}: {reason}"
            ) from None
        draft = path.with_suffix(f".{new_uuid()}")
        shutil.copyfile(folder / CHECKPOINT, draft)
        draft.rename(path)
