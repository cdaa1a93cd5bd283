"""The jars of a release: which they are, and what happens where they cannot be had. No broker, no network."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from types import SimpleNamespace

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.java_runtime import JavaNotFound
from kafkalearn.live import Kafka, jars
from kafkalearn.live.errors import KafkaNotFetched, KafkaNotStarted
from kafkalearn.releases.lines import DEFAULT_RELEASE, RELEASES, at_least
from tests.project.nothing_skipped import SWITCH
from tools import live_releases
from tools.environment import ROOT
from tools.recordings import text_of

CONTENT = {"kafka_2.13-9.9.1.jar": b"of the broker", "kafka-clients-9.9.1.jar": b"of the clients, which is longer"}


def small_jar(name: str, data: bytes) -> jars.Jar:
    module = jars.Module("org.apache.kafka", name.removesuffix("-9.9.1.jar"), "9.9.1")
    return jars.Jar(module, len(data), hashlib.sha256(data).hexdigest())


SMALL = jars.Release("9.9", "9.9.1", tuple(small_jar(*each) for each in CONTENT.items()))


@pytest.fixture
def registry(monkeypatch, tmp_path):
    """An empty folder for jars, and a registry that has those of `SMALL`."""
    served = SimpleNamespace(content=dict(CONTENT), asked=[], error=None)

    def fetch_exactly(modules, folder, cache):
        served.asked.append([module.jar_name for module in modules])
        if served.error:
            raise jars.ProgramFailed(served.error)
        folder.mkdir(parents=True)
        for module in modules:
            (folder / module.jar_name).write_bytes(served.content[module.jar_name])

    monkeypatch.setenv("KAFKALEARN_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setattr(jars, "fetch_exactly", fetch_exactly)
    return served


def test_the_newest_patch_of_each_line_since_4_0_is_pinned_with_every_jar_by_its_hash():
    recorded = json.loads(jars.FILE.read_text(encoding="utf-8"))

    assert list(jars.releases()) == [line for line in RELEASES if at_least("4.0", line)]
    assert DEFAULT_RELEASE in jars.releases()
    assert all(release.version.startswith(f"{line}.") for line, release in jars.releases().items())
    assert all(
        len(jar.sha256) == 64 and jar.size_bytes > 1000 for release in jars.releases().values() for jar in release.jars
    )
    assert set(recorded["jars"]) == {name for each in recorded["releases"].values() for name in each["jars"]}
    for release in jars.releases().values():
        names = {jar.module.name for jar in release.jars}
        assert names >= {"kafka_2.13", "kafka-clients", "kafka-tools", "slf4j-simple", "log4j-slf4j-impl"}


def test_the_file_is_written_as_it_stands_byte_for_byte():
    text = live_releases.RECORDED.read_text(encoding="utf-8")
    assert text_of(json.loads(text), "jars") == text
    assert json.loads(text)["about"] == live_releases.ABOUT


def test_no_registry_is_named_anywhere():
    texts = [jars.FILE.read_text(encoding="utf-8"), jars.WITHOUT_DESCRIPTIONS]
    assert not any("://" in text or ".org/" in text for text in texts)


def test_jars_are_fetched_once_and_checked(registry):
    updates = []
    jars.fetch(SMALL, lambda *numbers: updates.append(numbers))
    jars.fetch(SMALL, lambda *numbers: updates.append(numbers))

    assert registry.asked == [list(CONTENT)]
    assert {path.name: path.read_bytes() for path in jars.jar_paths(SMALL)} == CONTENT
    assert updates[-1] == (sum(map(len, CONTENT.values())),) * 2
    assert updates.count(updates[-1]) == 1


def test_only_what_is_missing_or_cut_off_is_fetched(registry):
    jars.fetch(SMALL)
    jars.jar_paths(SMALL)[1].write_bytes(b"cut off")
    assert [jar.module.name for jar in jars.missing(SMALL)] == ["kafka-clients"]

    jars.fetch(SMALL)

    assert registry.asked[1:] == [["kafka-clients-9.9.1.jar"]]
    assert jars.missing(SMALL) == []


def test_a_jar_that_is_another_is_refused_and_nothing_of_it_is_kept(registry, tmp_path):
    registry.content["kafka-clients-9.9.1.jar"] = b"of somebody else, as long  abcd"
    with pytest.raises(KafkaNotFetched, match=r"kafka-clients-9\.9\.1\.jar is not the file that was released"):
        jars.fetch(SMALL)
    assert [path.name for path in (tmp_path / "data").rglob("*") if path.is_file()] == ["lock"]


def test_without_a_registry_the_message_says_what_to_do(registry, monkeypatch, tmp_path):
    registry.error = "unknown host"
    with pytest.raises(KafkaNotFetched) as caught:
        jars.fetch(SMALL)

    said = str(caught.value)
    for words in (
        "Kafka 9.9.1",
        "works without",
        "make live",
        "KAFKALEARN_IVY_SETTINGS",
        str(tmp_path),
        "unknown host",
    ):
        assert words in said


@pytest.fixture
def silent_registry(tmp_path):
    """Ivy's settings that name a registry which nobody serves."""
    path = tmp_path / "ivysettings.xml"
    where = 'root="http://127.0.0.1:1/"'  # no program listens at port 1
    resolver = f'<resolvers><ibiblio name="mirror" m2compatible="true" {where}/></resolvers>'
    path.write_text(f'<ivysettings><settings defaultResolver="mirror"/>{resolver}</ivysettings>', encoding="utf-8")
    return path


@pytest.mark.parametrize("asked", [lambda one, *to: jars.fetch_exactly([one], *to), jars.fetch_with_needs])
def test_what_ivy_could_not_do_is_said_with_its_cause(silent_registry, tmp_path, monkeypatch, asked):
    monkeypatch.setenv(jars.SETTINGS_VARIABLE, str(silent_registry))
    module = jars.Module("org.apache.kafka", "kafka-clients", "9.9.9")
    with pytest.raises(jars.ProgramFailed) as caught:
        asked(module, tmp_path / "jars", tmp_path / "cache")

    lines = str(caught.value).splitlines()
    assert lines[0].startswith("Server access error at url http://127.0.0.1:1/org/apache/kafka/kafka-clients/9.9.9/")
    assert "Connection refused" in lines[0]
    assert "org.apache.kafka#kafka-clients;9.9.9: not found" in lines


def test_where_the_jars_cannot_be_had_live_tests_are_skipped_with_the_reason_and_all_ends_well(
    silent_registry, tmp_path
):
    environ = dict(os.environ, KAFKALEARN_DATA_DIR=str(tmp_path / "data"))
    environ[jars.SETTINGS_VARIABLE] = str(silent_registry)
    environ.pop(SWITCH, None)
    tests = ("tests/live/test_groups.py", "tests/live/test_old_consumers.py")
    command = [sys.executable, "-m", "pytest", "-q", "-m", "live", "-p", "no:cacheprovider", *tests]
    done = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True)

    assert done.returncode == 0, done.stdout
    assert "passed" not in done.stdout.splitlines()[-1]
    for kind in ("no real Kafka here: ", "no Kafka of the ZooKeeper era here: "):
        told = [line for line in done.stdout.splitlines() if kind in line]
        assert told
        assert all("could not be fetched" in line for line in told)


def test_a_full_disk_is_noticed_before_anything_is_fetched(registry, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda place: SimpleNamespace(free=10))
    with pytest.raises(KafkaNotFetched, match="0 MB are free; free some, or set KAFKALEARN_DATA_DIR"):
        jars.fetch(SMALL)
    assert registry.asked == []


def test_a_folder_that_cannot_be_written_is_named_with_what_to_do(registry, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("KAFKALEARN_DATA_DIR", str(tmp_path / "file"))
    with pytest.raises(KafkaNotFetched, match=r"cannot be kept in .*kafka: Not a directory; .*DATA_DIR"):
        jars.fetch(SMALL)


def test_the_progress_says_the_size_at_once_and_the_end_once(registry, capsys):
    jars.fetch(SMALL)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "kafkalearn: fetching Kafka 9.9.1, once on this machine: 0 MB"
    assert [line for line in lines if "fetched in" in line] == lines[-1:]


def test_without_java_the_message_is_that_of_the_search_for_it(monkeypatch):
    def nothing():
        raise JavaNotFound("Java 17 to 25 is needed; looked at nothing; install one")

    monkeypatch.setattr(jars, "find_java", nothing)
    monkeypatch.setenv("JAVA_HOME", "/no/java/here")  # it was not looked for there before
    with pytest.raises(KafkaNotStarted, match="Java 17 to 25 is needed"):
        Kafka().start()


def test_without_pyspark_the_message_names_the_extra(monkeypatch):
    monkeypatch.setattr(jars, "find_spec", lambda name: None)
    with pytest.raises(KafkaNotFetched, match=r"pip install 'kafkalearn\[live\]'"):
        jars.spark_jars()


def test_a_java_program_that_fails_or_hangs_is_an_error_with_its_last_words():
    with pytest.raises(jars.ProgramFailed, match="NoSuchClass"):
        jars.run_java("-cp", ".", "NoSuchClass")
    with pytest.raises(jars.ProgramFailed, match="it has not ended after 0 s"):
        jars.run_java("-version", timeout_s=0.001)


@pytest.mark.parametrize(("name", "line"), [("4.3", "4.3"), (jars.releases()["4.1"].version, "4.1")])
def test_a_release_is_found_by_its_line_or_its_patch(name, line):
    assert jars.find_release(name).line == line


def test_an_unknown_release_names_the_known_ones():
    with pytest.raises(KafkaLearnError, match=r"unknown release '5\.0'.*'4\.0', '4\.1', '4\.2', '4\.3'"):
        Kafka(release="5.0")


def test_what_a_new_release_changes_is_printed():
    old = {"releases": {"4.3": {"version": "4.3.0"}}, "jars": {"a:b:1": [1, "x"], "a:c:1": [1, "x"]}}
    new = {"releases": {"4.3": {"version": "4.3.1"}}, "jars": {"a:b:1": [1, "y"], "a:d:1": [1, "x"]}}
    assert live_releases.changes(old, new) == [
        '4.3: "4.3.0" -> "4.3.1"', 'jar a:b:1: [1, "x"] -> [1, "y"]', "jar a:d:1: new", "jar a:c:1: gone",
    ]  # fmt: skip
