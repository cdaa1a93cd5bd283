"""Writes the layouts of requests and their answers, and those of the records in which KRaft keeps a cluster's metadata.

    python3 -m tools.request_layouts            of the newest line, in the patch that is recorded
    python3 -m tools.request_layouts 4.3        of this line

They are Kafka's own: the jar of its clients has a definition of each message, that of its metadata one of each record,
from which Kafka's classes are made. Kept is what the bytes depend on, in the words of `kafkalearn.formats.wire.Field`:
kafkalearn/live/layouts.json has the messages that we send and what answers them, kafkalearn/formats/metadata.json every
record. The jars are those that kafkalearn.live starts brokers with. It prints which have changed; run again it writes
the same files.
"""

from __future__ import annotations

import json
import re
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.formats.wire import BOOLEAN, BYTES, STRING, UUID, ZERO_UUID
from kafkalearn.live.jars import Release, fetch, find_release, jar_paths
from kafkalearn.releases.lines import DEFAULT_RELEASE

PACKAGE = Path(__file__).resolve().parent.parent / "kafkalearn"
RECORDED = PACKAGE / "live" / "layouts.json"
METADATA = PACKAGE / "formats" / "metadata.json"
ABOUT = (
    "The layouts of the requests that kafkalearn.live sends, and of their answers: what the message definitions in the "
    "jar of Kafka's clients say. number: of the request. oldest, newest: the versions that a broker of this release "
    "knows. flexible_since: lengths are varints from this version on; without it, in none. fields: as "
    "kafkalearn.formats.wire.Field has them; without a default one must be given. Written by "
    "python3 -m tools.request_layouts."
)

ABOUT_METADATA = (
    "The layouts of the records in __cluster_metadata: what the definitions in the jar of Kafka's metadata say, in the "
    "words of kafkalearn/live/layouts.json; number: of the record. Written by python3 -m tools.request_layouts."
)

REQUESTS = (
    *("Produce", "Fetch", "ListOffsets", "Metadata", "OffsetCommit", "OffsetFetch", "FindCoordinator", "JoinGroup"),
    *("Heartbeat", "LeaveGroup", "SyncGroup", "DescribeGroups", "ListGroups", "SaslHandshake", "ApiVersions"),
    *("CreateTopics", "DeleteTopics", "DeleteRecords", "InitProducerId", "OffsetForLeaderEpoch"),
    *("AddPartitionsToTxn", "AddOffsetsToTxn", "EndTxn", "WriteTxnMarkers", "TxnOffsetCommit", "DescribeConfigs"),
    *("DescribeLogDirs", "SaslAuthenticate", "CreatePartitions", "DeleteGroups", "ElectLeaders"),
    "IncrementalAlterConfigs",
    *("AlterPartitionReassignments", "ListPartitionReassignments", "OffsetDelete", "DescribeProducers"),
    *("DescribeTransactions", "ConsumerGroupHeartbeat", "ConsumerGroupDescribe", "DescribeTopicPartitions"),
    *("ShareGroupHeartbeat", "ShareGroupDescribe", "ShareFetch", "ShareAcknowledge", "InitializeShareGroupState"),
    *("ReadShareGroupState", "WriteShareGroupState", "DeleteShareGroupState", "ReadShareGroupStateSummary"),
    *("DescribeShareGroupOffsets", "AlterShareGroupOffsets", "DeleteShareGroupOffsets"),
)
"""Which are read, by number."""

MAY_BE_LEFT_OUT = {
    "DescribeGroupsRequest": {"includeAuthorizedOperations": False},
    "ConsumerGroupDescribeRequest": {"includeAuthorizedOperations": False},
    "ShareGroupDescribeRequest": {"includeAuthorizedOperations": False},
    "MetadataRequest": {
        "includeClusterAuthorizedOperations": False,
        "includeTopicAuthorizedOperations": False,
        "topicId": ZERO_UUID,
    },
}
"""Defaults of fields to which Kafka's definition gives none: a request without them is the same in every version."""

KINDS = {"bool": BOOLEAN, "records": BYTES}
COMMENT = re.compile(r"^\s*//.*$|(?<=[\]},0-9\"])\s+//.*$", re.MULTILINE)


def main(words: list[str]) -> int:
    """Read the definitions of a line; write the file and print which messages have changed."""
    line, _, patch = (words or [DEFAULT_RELEASE])[0].partition("=")
    release = find_release(line)
    if patch not in ("", release.version):
        raise KafkaLearnError(f"of {line} the jars of {release.version} are recorded; take in those of {patch} first")
    fetch(release)
    for path, what, new in ((RECORDED, "messages", read(release)), (METADATA, "records", read_metadata(release))):
        old = json.loads(path.read_text(encoding="utf-8"))["messages"] if path.exists() else {}
        changed = [name for name, message in new["messages"].items() if old.get(name) != message]
        print(f"{what} of {release.title}: {len(new['messages'])}, changed: {', '.join(changed) or 'none'}")
        path.write_text(text_of(new), encoding="utf-8")
    return 0


def read(release: Release) -> dict[str, Any]:
    """What the file of messages says, read from the jar of a release that is there."""
    (jar,) = [path for path in jar_paths(release) if path.name.startswith("kafka-clients-")]
    with zipfile.ZipFile(jar) as archive:
        messages = {
            name: message_of(_definition(archive, f"common/message/{name}.json"))
            for request in REQUESTS
            for name in (f"{request}Request", f"{request}Response")
        }
    return {"about": ABOUT, "release": release.version, "messages": messages}


def read_metadata(release: Release) -> dict[str, Any]:
    """What the file of metadata's records says, by their numbers; as `read`."""
    (jar,) = [path for path in jar_paths(release) if path.name.startswith("kafka-metadata-")]
    with zipfile.ZipFile(jar) as archive:
        names = [name for name in archive.namelist() if name.startswith("common/metadata/") and name.endswith(".json")]
        found = [_definition(archive, name) for name in names]
    records = {each["name"]: message_of(each) for each in sorted(found, key=lambda each: each["apiKey"])}
    return {"about": ABOUT_METADATA, "release": release.version, "messages": records}


def _definition(archive: zipfile.ZipFile, name: str) -> dict[str, Any]:
    return json.loads(COMMENT.sub("", archive.read(name).decode()))


def message_of(definition: Mapping[str, Any]) -> dict[str, Any]:
    """What is kept of one of Kafka's definitions.

    >>> message_of({"apiKey": 12, "name": "HeartbeatResponse", "validVersions": "1-4", "flexibleVersions": "4+",
    ...             "fields": [{"name": "ThrottleTimeMs", "type": "int32", "versions": "2+", "about": "..."}]})
    {'number': 12, 'oldest': 1, 'newest': 4, 'flexible_since': 4,
     'fields': [{'name': 'throttleTimeMs', 'kind': 'int32', 'since': 2}]}
    """
    oldest, newest = versions_of(definition["validVersions"])
    flexible = definition["flexibleVersions"]
    shared = {each["name"]: each["fields"] for each in definition.get("commonStructs", [])}
    own_defaults = MAY_BE_LEFT_OUT.get(definition["name"], {})

    def fields_of(fields: list[Mapping[str, Any]]) -> list[dict[str, Any]]:
        return [field_of(each) for each in fields if is_known(each)]

    def is_known(field: Mapping[str, Any]) -> bool:
        if field["versions"] == "none":
            return False
        since, until = versions_of(field["versions"])
        return since <= newest and (until is None or until >= oldest)

    def field_of(field: Mapping[str, Any]) -> dict[str, Any]:
        name, kind = field["name"][0].lower() + field["name"][1:], field["type"]
        since, until = versions_of(field["versions"])
        inner = field.get("fields") or shared.get(kind.removeprefix("[]"))
        return {
            "name": name,
            "kind": KINDS.get(kind, kind),
            **({"since": since} if since > oldest else {}),
            **({"until": until} if until is not None else {}),
            **({"default": default_of(field)} if "default" in field or "tag" in field else {}),
            **({"default": own_defaults[name]} if name in own_defaults else {}),
            **({"is_nullable": True} if field.get("nullableVersions", "none") != "none" else {}),
            **({"tag": field["tag"]} if "tag" in field else {}),
            **({"fields": fields_of(inner)} if inner else {}),
        }

    return {
        "number": definition["apiKey"],
        "oldest": oldest,
        "newest": oldest if newest is None else newest,
        **({} if flexible == "none" else {"flexible_since": versions_of(flexible)[0]}),
        "fields": fields_of(definition["fields"]),
    }


def versions_of(text: str) -> tuple[int, int | None]:
    """The first and the last version of a range; None: it has no end.

    >>> versions_of("4-18"), versions_of("12+"), versions_of("0")
    ((4, 18), (12, None), (0, 0))
    """
    first, _, last = text.partition("-")
    return int(first.rstrip("+")), None if text.endswith("+") else int(last or first)


def default_of(field: Mapping[str, Any]) -> Any:
    """The default that a field is given, else the one that its type has.

    >>> default_of({"type": "int32", "default": "0x7fffffff"}), default_of({"type": "[]int32", "tag": 0})
    (2147483647, [])
    """
    kind, given = field["type"], field.get("default")
    if given == "null":
        return None
    if kind.startswith("[]"):
        return []
    if kind[0].isupper():
        return {}
    if given is None:
        return {STRING: "", "bool": False, UUID: ZERO_UUID}.get(kind, 0)
    if kind == "bool":
        return str(given).lower() == "true"
    return int(str(given), 0) if kind.startswith(("int", "uint")) else given


def text_of(recorded: Mapping[str, Any]) -> str:
    """The file as JSON, with a line for each field."""
    about = "".join(f' "{name}": {json.dumps(recorded[name])},\n' for name in ("about", "release"))
    messages = ",\n".join(f'  "{name}": {_lines(each, "  ")}' for name, each in recorded["messages"].items())
    return f'{{\n{about} "messages": {{\n{messages}\n }}\n}}\n'


def _lines(entry: Mapping[str, Any], indent: str) -> str:
    """A message or a field: a line, and below it those of its fields."""
    own = json.dumps({name: value for name, value in entry.items() if name != "fields"})
    if "fields" not in entry:
        return own
    inner = ",\n".join(f"{indent} {_lines(each, f'{indent} ')}" for each in entry["fields"])
    return f'{own[:-1]}, "fields": [\n{inner}\n{indent}]}}'


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KafkaLearnError as reason:
        sys.exit(f"kafkalearn: {reason}")
