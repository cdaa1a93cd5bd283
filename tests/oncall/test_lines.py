"""Lines as people have them: from containers, collectors and shells, of any zone, torn, in other languages."""

import gzip
import io
import json
import re

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.oncall.logs import read, read_files, reader
from kafkalearn.oncall.logs.files import LONGEST_LINE, NotText
from kafkalearn.oncall.logs.lines import ANY_CLIENT, EVENTS, LIBRDKAFKA, PYTHON, WRITERS
from kafkalearn.oncall.logs.patterns import FAMILIES, NUMBERS, Template, patterns, says_nothing
from kafkalearn.releases.lines import parse_release

MESSAGE = "[GroupCoordinator id=1 topic=__consumer_offsets partition=1] Group billing with generation 7 is now empty."
LOGGER = "org.apache.kafka.coordinator.group.GroupMetadataManager"
PLAIN = f"[2026-11-22 15:46:13,448] INFO {MESSAGE} ({LOGGER})"
AT_MS = 1795362373448
POD = "[pod/kafka-0/kafka]"
JOINING = "[Consumer clientId=c1, groupId=billing] (Re-)joining group"

LINES = {
    "log4j": PLAIN,
    "iso": PLAIN.replace(" 15", "T15"),
    "zone": PLAIN.replace("[2026-11-22 15:46:13,448]", "[2026-11-22T16:46:13.448+01:00]"),
    "offset without colon": PLAIN.replace("[2026-11-22 15:46:13,448]", "2026-11-22T23:46:13.448+0800"),
    "thread": PLAIN.replace("INFO", "[data-plane-kafka-request-handler-3] INFO"),
    "named month": PLAIN.replace("2026-11-22", "22 Nov 2026"),
    "no level": f"[2026-11-22 15:46:13,448] {MESSAGE} ({LOGGER})",
    "line of code": f"[2026-11-22 15:46:13,448] INFO {MESSAGE} ({LOGGER}:123)",
    "spring": f"2026-11-22T15:46:13.448Z  INFO 1 --- [main] o.a.k.c.g.GroupMetadataManager : {MESSAGE}",
    "logback": f"2026-11-22 15:46:13.448 [main] INFO  o.a.k.c.g.GroupMetadataManager - {MESSAGE}",
    "colours": f"\x1b[32m{PLAIN}\x1b[0m",
    "kubectl --prefix": f"{POD} {PLAIN}",
    "kubectl --timestamps": f"2026-11-22T15:46:13.449123456Z {PLAIN}",
    "both": f"{POD} 2026-11-22T15:46:13.449123456Z {PLAIN}",
    "its clock is in Shanghai": f"2026-11-22T15:46:13.949123456Z {PLAIN.replace('22 15', '22 23')}",
    "container runtime": f"2026-11-22T15:46:13.449123456Z stdout F {PLAIN}",
    "compose": f"kafka-1  | {PLAIN}",
    "stern": f"kafka-0 kafka {PLAIN}",
    "syslog": f"Nov 22 15:46:14 node1 kafka[77]: {PLAIN}",
    "docker's JSON": json.dumps({"log": f"{PLAIN}\n", "stream": "stdout", "time": "2026-11-22T15:46:13.449Z"}),
    "elastic": json.dumps({"@timestamp": "2026-11-22T15:46:13.448Z", "message": MESSAGE, "log": {"logger": LOGGER}}),
    "log4j's JSON": json.dumps(
        {"instant": {"epochSecond": 1795362373, "nanoOfSecond": 448000000}, "loggerName": LOGGER, "message": MESSAGE}
    ),
    "milliseconds": json.dumps({"timestamp": AT_MS, "msg": MESSAGE, "logger": LOGGER}),
    "seconds": json.dumps({"ts": AT_MS / 1000, "msg": MESSAGE}),
    "JSON in a pod": f"{POD} {json.dumps({'time': '2026-11-22T15:46:13.448Z', 'message': MESSAGE})}",
    "CRLF": f"{PLAIN}\r\n",
}


@pytest.mark.parametrize("line", LINES.values(), ids=LINES)
def test_one_line_says_the_same_everywhere(line):
    (event,) = read([line]).events
    assert (event.kind, event.group, event.generation, event.time_ms) == ("Empty", "billing", 7, AT_MS)


def test_a_pod_is_the_host_of_a_client():
    (event,) = read([f"[pod/billing-7d9f/app] [2026-11-22 15:46:13,448] INFO {JOINING} (a.B)"]).events
    assert (event.fields["host"], event.fields["client"], event.group) == ("billing-7d9f", "c1", "billing")


def test_a_clock_without_a_date_has_no_time():
    found = read([f"15:46:13.448 [main] INFO  a.B - {JOINING}"])
    assert found.events[0].time_ms is None
    assert found.without_time_count == 1


def test_a_message_alone_is_known():
    assert read(["Group billing with generation 7 is now empty"]).events[0].generation == 7


def test_librdkafka_by_its_own_logger_and_through_python():
    said = "[thrd:main]: Application maximum poll interval (300000ms) exceeded by 288ms (x)"
    own = f"%4|1795362373.448|MAXPOLL|c1#consumer-1| {said}"
    through = f"2026-11-22 15:46:13,448 WARNING app: MAXPOLL [c1#consumer-1] {said}"
    for line in (own, through):
        (event,) = read([line]).events
        assert (event.kind, event.time_ms, event.fields["client"]) == ("PollExpired", AT_MS, "c1#consumer-1")
        assert event.fields["max_poll_interval_ms"] == 300_000


def test_the_zone_of_lines_that_say_none():
    assert read([PLAIN], zone="+08:00").events[0].time_ms == AT_MS - 8 * 3_600_000
    assert read([PLAIN], zone="Europe/Berlin").events[0].time_ms == AT_MS - 3_600_000
    with pytest.raises(KafkaLearnError, match=r"no time zone 'Mars'; it is UTC"):
        read([], zone="Mars")


def test_groups_of_any_language():
    for name in ("заказы", "注文 in Stable state", "a b", "ö\u202e", "x" * 249, "{group}", "%s"):
        line = f"[2026-11-22 15:46:13,448] INFO Group {name} with generation 7 is now empty (a.B)"
        assert read([line]).events[0].group == name


def test_torn_lines_are_counted():
    found = read([PLAIN[:90], PLAIN[40:], "\tat java.lang.Thread.run(Thread.java:840)", ""])
    assert (found.events, found.line_count) == ((), 4)
    assert [each.line for each in found.unknown] == [1, 2]


def test_settings_of_a_java_client():
    lines = [
        "[2026-11-22 15:46:13,448] INFO ConsumerConfig values: (a.ConsumerConfig)",
        *("\tclient.id = c1", "\tgroup.id = billing", "\tsession.timeout.ms = 45000", "\tgroup.instance.id = null"),
        "[2026-11-22 15:46:13,500] INFO something else (a.B)",
    ]
    (event,) = read(lines).events
    assert (event.kind, event.group, event.time_ms) == ("ClientConfig", "billing", AT_MS)
    assert event.fields["session.timeout.ms"] == "45000"
    assert "group.instance.id" not in event.fields


# Files.


@pytest.fixture
def folder(tmp_path):
    second = PLAIN.replace("13,448", "14,448").replace("generation 7", "generation 8")
    third = PLAIN.replace("13,448", "15,448").replace("generation 7", "generation 9")
    (tmp_path / "server.log").write_text(f"{third}\n")
    (tmp_path / "server.log.1").write_bytes(f"{second}\r\n".encode())
    (tmp_path / "server.log.2.gz").write_bytes(gzip.compress(f"{PLAIN}\n".encode()))
    return tmp_path


def test_rotated_and_gzipped_files_in_the_order_of_time(folder):
    for paths in ([folder], sorted(folder.iterdir()), sorted(folder.iterdir(), reverse=True)):
        assert [each.generation for each in read_files(paths).events] == [7, 8, 9]


def test_the_zone_of_each_file(folder):
    found = read_files([folder], zone={"server.log.1": "+01:00"})
    assert [each.generation for each in found.events] == [8, 7, 9]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le"])
def test_the_encodings_of_shells(tmp_path, encoding):
    mark = "\ufeff" if encoding == "utf-16-le" else ""
    (tmp_path / "a.log").write_bytes(f"{mark}{PLAIN}\r\n{PLAIN}\r\n".encode(encoding))
    assert len(read_files([tmp_path / "a.log"]).events) == 2


def test_a_torn_gzip_file_is_read_as_far_as_it_goes(tmp_path):
    data = gzip.compress((f"{PLAIN}\n" * 20_000).encode())
    (tmp_path / "a.log.gz").write_bytes(data[: len(data) // 2])
    assert 100 < len(read_files([tmp_path / "a.log.gz"]).events) < 20_000


def test_a_file_that_is_torn_is_named(tmp_path):
    data = gzip.compress(f"{PLAIN}\n".encode() * 3, compresslevel=0)
    faults = {"cut.gz": data[:-30], "tail.gz": data[:-8], "crc.gz": data[:-8] + bytes(8), "more.gz": data + b"more"}
    for name, content in {**faults, "whole.gz": data}.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "none.gz").write_bytes(b"\x1f\x8b and nothing of gzip")
    found = read_files(sorted(tmp_path.iterdir()))
    assert sorted(found.torn) == sorted(str(tmp_path / name) for name in [*faults, "none.gz"])
    assert found.line_counts[str(tmp_path / "whole.gz")] == found.line_counts[str(tmp_path / "crc.gz")] == 3


def test_a_pipe_gives_a_byte_at_a_time(monkeypatch):
    class Slow(io.RawIOBase):
        def __init__(self, data):
            self.left = data

        def readable(self):
            return True

        def readinto(self, buffer):
            byte, self.left = self.left[:1], self.left[1:]
            buffer[: len(byte)] = byte
            return len(byte)

    for content in (gzip.compress(f"{PLAIN}\n".encode()), f"\ufeff{PLAIN}\r\n".encode(), PLAIN.encode("utf-16")):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BufferedReader(Slow(content))))
        (event,) = read_files(["-"]).events
        assert (event.generation, event.place) == (7, "-:1")


def test_a_file_counts_once_by_whatever_path(tmp_path, monkeypatch):
    (tmp_path / "server.log").write_text(f"{PLAIN}\n")
    (tmp_path / "link.log").symlink_to(tmp_path / "server.log")
    monkeypatch.chdir(tmp_path)
    assert len(read_files(["server.log", "./server.log", tmp_path / "server.log", tmp_path / "link.log"]).events) == 1


def test_what_a_broker_wrote_counts_once_though_a_copy_has_it_too(tmp_path):
    joined = "[2026-11-22 15:46:13,448] INFO [Consumer clientId=c1, groupId=billing] (Re-)joining group (a.B)"
    for name in ("a.log", "b.log"):
        (tmp_path / name).write_text(f"{PLAIN}\n{PLAIN}\n{joined}\n")
    found = read_files([tmp_path])
    assert [each.source[-5:] for each in found.events if each.writer == "broker"] == ["a.log"] * 2
    assert (len(found.events), found.doubled_count) == (4, 2)  # two clients may write the same


@pytest.mark.parametrize("source", [{"a": None}, None, b"a.log"])
def test_a_source_that_is_no_text_is_refused(source):
    with pytest.raises(KafkaLearnError, match="source must be a str, got"):
        read([PLAIN], source=source)


def test_a_zone_of_no_file_or_of_two_is_refused(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "server.log").write_text(f"{PLAIN}\n")
    paths = [tmp_path / "one" / "server.log", tmp_path / "two" / "server.log"]
    for zone in ({"sever.log": "+01:00"}, {"server.log": "+01:00"}, {str(paths[0]): "Mars"}):
        with pytest.raises(KafkaLearnError, match=r"sever\.log|whole path|Mars"):
            read_files(paths, zone)
    assert [each.source for each in read_files(paths, {str(paths[1]): "+01:00"}).events] == [*map(str, paths[::-1])]


def test_the_hour_that_comes_twice_is_told_apart_by_the_times_before():
    def line(clock):
        return f"[2026-10-25 {clock}] INFO Stabilized group billing generation 7 with 3 members. (a.B)"

    clocks = ["01:59:00,000", "02:10:00,000", "02:50:00,000", "02:05:00,000", "02:49:59,000", "03:01:00,000"]
    found = read(map(line, clocks), zone="Europe/Berlin")
    minutes = [(each.time_ms - found.events[0].time_ms) // 60_000 for each in found.events]
    assert [each.line for each in found.events] == [1, 2, 3, 4, 5, 6]
    assert minutes == [0, 11, 51, 66, 110, 122]
    assert found.clocks_back == ()


def test_a_clock_that_is_set_back_is_told_of():
    later = PLAIN.replace("15:46:13", "15:56:13")
    shuffled = PLAIN.replace("15:46:13", "15:55:14")
    (back,) = read([later, shuffled, PLAIN, PLAIN]).clocks_back
    assert back == ("lines", 3, 600_000)


def test_what_was_collected_days_later_keeps_its_time():
    late = f'{{"time": "2026-11-25T15:46:13Z", "log": "{PLAIN}"}}'
    assert read([late]).events[0].time_ms == AT_MS


def test_settings_end_with_their_file(tmp_path):
    title = "[2026-11-22 15:46:13,448] INFO ConsumerConfig values: (a.ConsumerConfig)"
    for name in ("a.log", "b.log"):
        (tmp_path / name).write_text(f"x\n{title}\n\tclient.id = {name[0]}\n\tgroup.id = billing\n")
    places = [(each.place, each.fields["client"]) for each in read_files([tmp_path]).events]
    assert places == [(f"{tmp_path / 'a.log'}:2", "a"), (f"{tmp_path / 'b.log'}:2", "b")]


def test_a_line_that_never_ends_takes_no_memory(tmp_path):
    (tmp_path / "a.log").write_text("x" * 5_000_000 + f"\n{PLAIN}\n" + "y" * 3_000_000)
    found = read_files([tmp_path / "a.log"])
    assert (len(found.events), found.line_count) == (1, 3)
    assert read(["x" * (2 * LONGEST_LINE)]).events == ()


def test_standard_input(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(f"{PLAIN}\n".encode())))
    assert read_files(["-"]).sources == ("-",)


def test_what_is_no_log(tmp_path):
    (tmp_path / "00000000000000000000.log").write_bytes(bytes(range(256)) * 40 + bytes(4000))
    with pytest.raises(NotText, match=r"is not text but binary data; .* `kafkalearn xray`"):
        read_files([tmp_path / "00000000000000000000.log"])
    with pytest.raises(KafkaLearnError, match=r"there is no file .*; a log is wanted"):
        read_files([tmp_path / "missing.log"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(KafkaLearnError, match="has no files"):
        read_files([tmp_path / "empty"])
    for bad in ("server.log", b"x", 7, None, [7], ["a\0b"]):
        with pytest.raises(KafkaLearnError):
            read_files(bad)
    for bad in ("text", b"x", 7, None, [7]):
        with pytest.raises(KafkaLearnError):
            read(bad)


def test_more_events_than_are_kept(monkeypatch):
    monkeypatch.setattr(reader, "MOST_EVENTS", 3)
    with pytest.raises(KafkaLearnError, match="more than 3 events, as far as lines:4; give fewer files"):
        read([PLAIN] * 10)


def test_unknown_lines_kept_are_limited(monkeypatch):
    monkeypatch.setattr(reader, "MOST_UNKNOWN", 2)
    found = read(["[2026-11-22 15:46:13,448] INFO the group coordinator sings (a.B)"] * 5)
    assert (found.unknown_count, len(found.unknown)) == (5, 2)


ALL = patterns()


def name_of(pattern):
    return f"{pattern.family}-{pattern.event}-{pattern.template.text[:40]}"


@pytest.mark.parametrize("pattern", ALL, ids=name_of)
def test_its_example_is_its_event(pattern):
    example = pattern.example
    if pattern.recorded is None and pattern.writer == LIBRDKAFKA:
        example = f"%7|1795362371.931|{pattern.source}|c1#consumer-1| [thrd:main]: {example}"
    elif pattern.recorded is None and pattern.writer == PYTHON:
        example = f"2026-11-22 15:46:13,448 INFO {pattern.source}: {example}"
    (event,) = read([example]).events
    assert (event.kind, event.writer) == (pattern.event, pattern.writer)
    is_timed = pattern.recorded is not None or pattern.writer in (LIBRDKAFKA, PYTHON) or '"timestamp"' in example
    is_timed = is_timed or example.startswith("2026/")  # as Go's own logger writes
    assert (event.time_ms is not None) == is_timed


@pytest.mark.parametrize("pattern", ALL, ids=name_of)
def test_the_regular_expression_says_the_same(pattern):
    message = pattern.example
    if pattern.template.first not in message[: len(pattern.template.first)] or pattern.recorded or pattern.needs:
        (event,) = read([message]).events
        message = event.text
    if not pattern.template.text.endswith("."):
        message = message.removesuffix(".")
    found = re.fullmatch(pattern.template.regex, message)
    values = [
        int(value) if name in NUMBERS else value
        for name, value in zip(pattern.template.names, found.groups(), strict=True)
    ]
    assert dict(zip(pattern.template.names, values, strict=True)) == pattern.template.match(message)


def test_every_pattern_says_who_writes_it_and_since_when():
    assert {each.family for each in ALL} == set(FAMILIES)
    assert {each.writer for each in ALL} == set(WRITERS) - {ANY_CLIENT}
    assert {each.event for each in ALL} <= set(EVENTS)
    for each in ALL:
        assert each.source
        if each.writer in ("broker", "java") and each.family != "old_clients":  # no release so old has settings here
            assert parse_release(each.since) <= parse_release(each.until or "4.3")


def test_half_of_the_examples_were_recorded():
    recorded = [each for each in ALL if each.recorded]
    assert len(recorded) > 95
    assert {"1.1.1", "2.4.1", "2.8.2", "3.7.2", "4.3.1"} <= {each.recorded for each in recorded}


def test_forms_that_are_the_same_are_there_once():
    texts = [(each.writer, each.source, each.template.text) for each in ALL]
    assert len(set(texts)) == len(texts)


def test_facilities_that_say_nothing_are_names():
    assert all(re.fullmatch(r"\w+", each) for each in says_nothing())


@pytest.mark.parametrize(
    ("text", "message", "fields"),
    [
        ("all {a} of {b}", "all x of y of z", {"a": "x", "b": "y of z"}),
        ("all {a} of", "all x of", {"a": "x"}),
        ("all {a} of", "all x of it", None),
        ("{count} of", "7 of", {"count": 7}),
        ("{count} of", "-7 of", {"count": -7}),
        ("{count} of", f"{'9' * 19} of", None),
        ("{count} of", "٣ of", None),
        ("plain", "plain", {}),
        ("plain", "plainly", None),
    ],
)
def test_templates(text, message, fields):
    assert Template(text).match(message) == fields


def test_a_long_line_is_gone_through_once():
    form = Template("Preparing {a} in {b} with {c} and {d} end")
    assert form.match("Preparing " + " in " * 100_000) is None
