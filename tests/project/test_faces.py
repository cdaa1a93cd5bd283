"""The face of a package, its `__all__`, is what chapters, README and docs use, and what engineers are known to need.

All else is imported from the module that defines it. The rule stands in CONTRIBUTING.md.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from doctest import DocTestParser
from importlib import import_module
from pathlib import Path

import nbformat
import pytest

from kafkalearn import views
from tests.every import every_case
from tests.project.modules import FACES, MODULES, PACKAGES, ROOT, tree_of
from tools.chapters import chapter_paths

CONTRACT = {"Settings", "start", "step", "simulate", "INVARIANTS", "PROMISES", "check", "broken"}
"""What a simulator's face has in any case, beside its events."""

OF_A_CHAPTER = {"all_exercises", "score"}
"""What the exercises of a chapter have in any case."""

FOR_ENGINEERS: dict[str, dict[str, str]] = {
    "kafkalearn.oncall.why": {"the question, which kafkalearn.oncall has, too": "why"},
    "kafkalearn.oncall.xray": {"the question, which kafkalearn.oncall has, too": "xray"},
    "kafkalearn.formats.metadata_log": {
        "records of __cluster_metadata, as of the offsets topic": "ClusterMetadata decode_record encode_record "
        "read_metadata replay",
    },
    "kafkalearn.formats.transaction_log": {
        "records of __transaction_state, as of the offsets topic": "decode_key decode_value encode_key encode_value "
        "replay",
    },
    "kafkalearn": {
        "asked for first, at a prompt": "__version__ KafkaLearnError ledger round_robin_leaders",
        "the hash that Java clients use": "murmur2",
    },
    "kafkalearn.assignors": {
        "an assignment or an assignor of one's own": "Assignment broken_laws fewest_moves",
        "groups of other kinds": "cooperative_rounds",
    },
    "kafkalearn.releases.claims": {
        "what articles say, to look up": "Claim",
    },
    "kafkalearn.commits": {
        "deliveries or a strategy of one's own": "Delivery Strategy",
        "what a run has cost": "Pipeline doubled lost",
    },
    "kafkalearn.consuming": {"the state": "Topic"},
    "kafkalearn.consuming.truncation": {
        "whether one's own commits are safe": "GroupRead NONE_SKIPPED NONE_UNNOTICED",
    },
    "kafkalearn.zookeeper.connector": {"what is to come again": "PROGRESS"},
    "kafkalearn.transactions": {
        "requests of one's own": "AddOffsetsToTxn AddPartitionsToTxn BrokerRestarted Join LeaderCameBack "
        "LeaderWentAway OffsetCommit WriteTxnMarkers",
    },
    "kafkalearn.delivery": {
        "the promises by their names": "NO_REJECTED_IN_LOG ORDER_KEPT",
        "the state, and what is read from it": "Delivery Producer RecordResult",
        "a defect of one's own to look for": "LateAnswerArrived",
    },
    "kafkalearn.base.search": {
        "the search over a simulator of one's own": "Model Progress Relabelling Search Survey survey"
    },
    "kafkalearn.releases.ledger": {"the ledger in a terminal": "table"},
    "kafkalearn.scenarios": {
        "a scenario made of events": "Crashes CrashesAndReturns Created Deleted Disconnected Grows Joins Leaves "
        "Pauses Processing Restarts Scenario Speaks Subscribes Subscription",
    },
    "kafkalearn.groups.consumer": {"the last heartbeat of a member of one's own": "leave"},
    "kafkalearn.groups.mixed": {"a group of one's own": "Assigned Group Subscription next_deadline_ms"},
    "kafkalearn.live": {"a real Kafka on this machine, and one's own to read from": "Kafka connect"},
    "kafkalearn.live.questions": {"one question, of any release": "QUESTIONS ask"},
    "kafkalearn.log": {"when one's own log is cleaned next": "next_clean"},
    "kafkalearn.offsets": {
        "a record that looks strange": "RECORD_TYPES decode_value dissect",
    },
    "kafkalearn.operations.coordinator_life": {
        "brokers that fail and return": "ElectLeaders TimePassed",
        "what is answered when, by release": "Life answer_without_group",
    },
    "kafkalearn.operations.failover": {"every question of every client": "Failover timeline"},
    "kafkalearn.operations.faults": {"the classes of what is returned": "ClusterLogs Judgement"},
    "kafkalearn.operations.groups": {
        "what the tools do to one's own groups": "Reset delete_groups delete_offsets export_offsets offsets_warning",
    },
    "kafkalearn.operations.leadership": {"leaders of one's own cluster": "Cluster"},
    "kafkalearn.operations.loading": {"the rate of one's own brokers": "LoadSize Rate load_seconds"},
    "kafkalearn.operations.offsets_topic": {"the offsets topic of one's own cluster": "Creation OffsetsTopic"},
    "kafkalearn.operations.placement": {
        "replicas of one's own topics": "Broker Placement Replicas lost_with_rack preferred_counts",
    },
    "kafkalearn.operations.reassignment": {"a plan of one's own": "Move Target generate_text list_text"},
    "kafkalearn.operations.throttles": {"the state": "Throttled"},
    "kafkalearn.partitioning": {"how even a cluster is": "load_by_broker"},
    "kafkalearn.partitioning.keyless": {"the rule of one's own release": "RULES rule_of"},
    "kafkalearn.replication": {
        "what may never come, and where a search has no end, until a chapter shows it": "PROGRESS walk",
        "the promises by their names": "ACKNOWLEDGED_SURVIVE ISR_HOLDS SURVIVE",
        "the state of a run": "Partition",
        "any broker in place of one, in a search of one's own": "on_every_broker",
    },
    "kafkalearn.formats.disk": {"files that lie elsewhere": "parse_segment read_batch read_segment"},
    "kafkalearn.formats.columns": {"what the census loads where NumPy is there": "Odd column_block"},
    "kafkalearn.spark.offsets": {"the offsets topic of one's own cluster": "group_findings"},
    "kafkalearn.base.tables": {"rows of one's own": "PlainTable text_table"},
    "kafkalearn.releases": {
        "before an upgrade": "describe find_settings history rows table",
        "in code for several releases": "ABSENT DEFAULT_RELEASE RELEASES REQUIRED at_least provenance",
    },
    "kafkalearn.views": {
        "slides": "save",
        "the classes of what is returned": "Drawing Animation Picture Player Varied",
        "a frame or a run in a terminal": "assignment_text commit_path_text commits_text consuming_text "
        "crossing_text delivery_text failover_text group_text keyless_text leadership_text "
        "log_text lookup_text purgatory_text push_text rebalance_text "
        "record_bytes_text replication_text requests_text store_text transactions_text truncation_text wheels_text "
        "zookeeper_text",
        "a moment of a run, drawn or in a sentence": "describe_coordinator_life describe_epochs "
        "describe_failover describe_fetching describe_group describe_keyless describe_mixed describe_offset_stores "
        "describe_pods describe_push describe_rebalance describe_simple_consumer describe_zookeeper "
        "draw_coordinator_life draw_epochs draw_failover draw_fetching draw_group draw_keyless draw_mixed "
        "draw_offset_stores draw_pods draw_rebalance draw_simple_consumer draw_zookeeper",
        "one's own assignment in a sentence": "describe_assignment",
    },
    "kafkalearn.formats.wire": {"bytes that are not what they should be": "Undecodable"},
    "kafkalearn.zookeeper.eras": {"the releases that stand for the eras": "ERAS"},
    "kafkalearn.zookeeper.search": {"a search or a herd of one's own": "BEGINNINGS HerdCost find_stuck herd"},
    "kafkalearn.oncall.logs": {"the events in logs of one's own": "Reading read read_files"},
    "kafkalearn.oncall.logs.rebalances": {
        "the rebalances in logs of one's own": "CLASSIC CONSUMER GroupHistory Rebalance histories",
    },
}
"""Names that no chapter, README or doc uses: for each package reason -> names."""


def texts() -> Iterator[str]:
    """The code of every chapter, and that in the texts for readers."""
    for path in chapter_paths():
        cells = nbformat.read(path, as_version=4).cells
        yield "\n".join(cell.source for cell in cells if cell.cell_type == "code")
    for path in documents():
        text = path.read_text(encoding="utf-8")
        yield "".join(example.source for example in DocTestParser().get_examples(text))
        yield "\n".join(block for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if ">>>" not in block)


def documents():
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


def used_by(code: str) -> Iterator[tuple[str, str]]:
    """(package, name) of everything of ours that some code imports, or reaches through a module."""
    tree = ast.parse(re.sub(r"^[%!].*$", "", code, flags=re.MULTILINE))
    modules = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules |= {alias.asname: alias.name for alias in node.names if alias.asname}
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from ((node.module, alias.name) for alias in node.names)
            inside = {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
            modules |= {name: module for name, module in inside.items() if module in MODULES}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            home, _, name = ast.unparse(node).rpartition(".")
            root, _, rest = home.partition(".")
            module = ".".join(filter(None, [modules.get(root, root), rest]))
            if module in MODULES:
                yield module, name


def spoken_of() -> Iterator[tuple[str, str]]:
    """(package, name) of what a text for readers names in full: `kafkalearn.replication.find`."""
    for path in documents():
        for dotted in re.findall(r"`(kafkalearn(?:\.\w+)+)", path.read_text(encoding="utf-8")):
            package, _, name = dotted.rpartition(".")
            yield package, name


@pytest.fixture(scope="module")
def used():
    return {each for text in texts() for each in used_by(text)} | set(spoken_of())


def face_of(package: str) -> set[str]:
    return set(getattr(import_module(package), "__all__", ()))


def in_any_case(package: str) -> set[str]:
    if re.fullmatch(r"kafkalearn\.exercises\.chapter\d\d[a-z]?", package):
        return OF_A_CHAPTER
    if "step" not in face_of(package):
        return set()
    return CONTRACT | events_of(package)


def events_of(package: str) -> set[str]:
    """What the module, or one of the package, says to be its events and requests: the unions that have names."""
    inside = [module for module in MODULES if module == package or module.rpartition(".")[0] == package]
    aliases = [
        node
        for module in inside
        for node in tree_of(module).body
        if isinstance(node, ast.AnnAssign) and ast.unparse(node.annotation) == "TypeAlias"
    ]
    return {name.id for alias in aliases for name in ast.walk(alias.value) if isinstance(name, ast.Name)}


def for_engineers(package: str) -> set[str]:
    return {name for names in FOR_ENGINEERS.get(package, {}).values() for name in names.split()}


@every_case("package", FACES)
def test_every_name_in_a_face_is_used_by_readers_or_kept_for_engineers(package, used):
    unused = {name for name in face_of(package) if (package, name) not in used}

    assert unused - in_any_case(package) - for_engineers(package) == set(), (
        "import these from their module, or say who needs them here"
    )


@every_case("package", FOR_ENGINEERS)
def test_every_name_kept_for_engineers_is_in_the_face_and_not_used_by_readers_already(package, used):
    kept = for_engineers(package)

    assert kept <= face_of(package)
    assert {name for name in kept if (package, name) in used} == set()


@every_case("package", PACKAGES)
def test_what_readers_import_from_a_package_is_in_its_face(package, used):
    imported = {name for home, name in used if home == package and f"{package}.{name}" not in MODULES}

    assert imported <= face_of(package)


@every_case("name", views.__all__)
def test_a_public_name_is_there_and_is_documented(name):
    assert getattr(views, name).__doc__


def test_no_public_name_is_that_of_a_file():
    files = {path.stem for path in Path(views.__file__).parent.glob("*.py")}

    assert files.isdisjoint(views.__all__)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match=r"'kafkalearn.views' has no attribute 'plot'"):
        views.plot  # noqa: B018


def test_the_words_of_a_frame_need_no_widget_and_no_figure():
    code = (
        "import sys; from kafkalearn.views import lookup_text, keyless_text, draw_lookup, animation;"
        "sys.exit(bool({'ipywidgets', 'anywidget', 'matplotlib'} & set(sys.modules)))"
    )

    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
