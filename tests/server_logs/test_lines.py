"""Lines as people have them: from containers, collectors and shells, of any zone, torn, in other languages."""

import gzip
import io
import json

import pytest

from kafkalearn.errors import KafkaLearnError
from kafkalearn.server_logs import read, read_files
from kafkalearn.server_logs import reading as reading_module
from kafkalearn.server_logs.files import NotText
from kafkalearn.server_logs.limits import LONGEST_LINE

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


# --- files


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
    with pytest.raises(NotText, match=r"is no text but binary data; .* `kafkalearn xray`"):
        read_files([tmp_path / "00000000000000000000.log"])
    with pytest.raises(KafkaLearnError, match="cannot be read: No such file"):
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
    monkeypatch.setattr(reading_module, "MOST_EVENTS", 3)
    with pytest.raises(KafkaLearnError, match="more than 3 events, as far as lines:4; give fewer files"):
        read([PLAIN] * 10)


def test_unknown_lines_kept_are_limited(monkeypatch):
    monkeypatch.setattr(reading_module, "MOST_UNKNOWN", 2)
    found = read(["[2026-11-22 15:46:13,448] INFO the group coordinator sings (a.B)"] * 5)
    assert (found.unknown_count, len(found.unknown)) == (5, 2)
