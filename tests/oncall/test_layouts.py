"""The same lines in every layout that loggers, collectors and consoles put around them; and lines cut by a screen."""

import json

import pytest

from kafkalearn.oncall import why
from kafkalearn.oncall.answer import Outcome
from kafkalearn.oncall.logs import read

DAY, CLOCK, MS = "2026-11-22", "15:46:13", "448"
AT_MS = 1795362373448
GONE = "billing-1-0b9f8b9e-6a47-4c2f-8d3c-2f6f0d1c9a11"
COORDINATOR = "kafka.coordinator.group.GroupCoordinator"
CONSUMER = "org.apache.kafka.clients.consumer.internals.ConsumerCoordinator"
BROKER_SAYS = (
    f"[GroupCoordinator 1]: Member {GONE} in group billing has failed, removing it from the group",
    "[GroupCoordinator 1]: Preparing to rebalance group billing in state PreparingRebalance with old generation 12 "
    f"(__consumer_offsets-9) (reason: removing member {GONE} on heartbeat expiration)",
    "[GroupCoordinator 1]: Stabilized group billing generation 13 (__consumer_offsets-9) with 1 members",
)
CLIENT_SAYS = (
    "[Consumer clientId=billing-1, groupId=billing] consumer poll timeout has expired. This means the time between "
    "subsequent calls to poll() was longer than the configured max.poll.interval.ms, which typically implies that the "
    "poll loop is spending too much time processing messages.",
    f"[Consumer clientId=billing-1, groupId=billing] Member {GONE} sending LeaveGroup request to coordinator "
    "kafka-1:9092 (id: 2147483646 rack: null) due to consumer poll timeout has expired.",
)


def kafka(logger, message):
    return f"[{DAY} {CLOCK},{MS}] INFO {message} ({logger})"


def short(logger):
    *packages, name = logger.split(".")
    return ".".join([*(each[0] for each in packages), name])


PLAIN = {
    "log4j, as Kafka": lambda c, m: kafka(c, m),
    "log4j with a line of code": lambda c, m: f"[{DAY} {CLOCK},{MS}] INFO {m} ({c}:590)",
    "operator": lambda c, m: f"{DAY} {CLOCK},{MS} INFO {m} ({c}) [executor-Heartbeat]",
    "operator's Connect": lambda c, m: f"{DAY} {CLOCK},{MS} INFO [sink|task-0] {m} ({c}) [task-thread-sink-0]",
    "Connect": lambda c, m: f"[{DAY} {CLOCK},{MS}] INFO [sink|task-0] {m} ({c}:1048)",
    "pairs behind": lambda c, m: f"[{DAY} {CLOCK},{MS}] INFO {m} ({c}:1048) - app=shop, cluster=eu, server=0",
    "Spring Boot 2": lambda c, m: f"{DAY} {CLOCK}.{MS}  INFO 1 --- [ntainer#0-0-C-1] {short(c)}  : {m}",
    "Spring Boot 3": lambda c, m: f"{DAY}T{CLOCK}.{MS}Z  INFO 1 --- [shop] [ntainer#0-0-C-1] {short(c)}  : {m}",
    "log4j2": lambda c, m: f"{DAY} {CLOCK},{MS} [main] INFO  {c} - {m}",
    "level first": lambda c, m: f"INFO  [{DAY} {CLOCK},{MS}] {c}: {m}",
    "level, then thread": lambda c, m: f"{DAY}T{CLOCK},{MS} INFO [main] {c} - {m}",
    "stream processor": lambda c, m: f"{DAY} {CLOCK},{MS} INFO  {c} [] - {m}",
    "two digits of a year": lambda c, m: f"{DAY[2:].replace('-', '/')} {CLOCK} INFO {c.rpartition('.')[2]}: {m}",
    "native image": lambda c, m: f"{DAY} {CLOCK},{MS} INFO  [{short(c)}] (vert.x-0) {m}",
    "offset without colon": lambda c, m: f"{DAY}T{CLOCK}.{MS}+0000 WARN  [{short(c)}] (vert.x-0) {m}",
    "all in brackets": lambda c, m: f"[{DAY}T{CLOCK},{MS}][INFO ][{c}][main][abc] {m}",
    "actors": lambda c, m: f"[{DAY} {CLOCK},{MS}] [INFO] [{c}] [main] [] - {m}",
    "thread, then class": lambda c, m: f"{DAY} {CLOCK},{MS} INFO [Timer-Driven] {short(c)} {m}",
    "java.util.logging": lambda c, m: f"Nov 22, 2026 3:46:13 PM {c} info\nINFO: {m}",
    "java.util.logging, one line": lambda c, m: f"{DAY}T{CLOCK}.{MS}+0000 INFO {c} info {m}",
    "American": lambda c, m: f"11/22/2026 {CLOCK}.{MS} INFO {c} - {m}",
    "console of Kibana": lambda c, m: f"Nov 22, 2026 @ {CLOCK}.{MS}\t{c}\t{m}",
    "year, named month": lambda c, m: f"2026 Nov 22 {CLOCK}  | {c} | {m}",
    "kubectl --timestamps": lambda c, m: f"{DAY}T{CLOCK}.{MS}000000Z {kafka(c, m)}",
    "kubectl --prefix": lambda c, m: f"[pod/kafka-0/kafka] {kafka(c, m)}",
    "kubectl with both": lambda c, m: f"[pod/kafka-0/kafka] {DAY}T{CLOCK}.{MS}000000Z {kafka(c, m)}",
    "stern": lambda c, m: f"kafka-0 kafka {kafka(c, m)}",
    "container runtime": lambda c, m: f"{DAY}T{CLOCK}.{MS}000000Z stdout F {kafka(c, m)}",
    "compose": lambda c, m: f"kafka-1  | {kafka(c, m)}",
    "journald": lambda c, m: f"Nov 22 {CLOCK} k1 kafka-server-start.sh[71]: {kafka(c, m)}",
    "journald, ISO": lambda c, m: f"{DAY}T{CLOCK}+0000 k1 kafka-server-start.sh[71]: {kafka(c, m)}",
    "RFC 5424": lambda c, m: f"<14>1 {DAY}T{CLOCK}.{MS}Z k1 kafka 71 - - {kafka(c, m)}",
    "hosted syslog": lambda c, m: f"Nov 22 {CLOCK} k1 kafka:  {kafka(c, m)}",
    "grep -r": lambda c, m: f"logs/server.log:{kafka(c, m)}",
    "grep -rn": lambda c, m: f"logs/server.log:123:{kafka(c, m)}",
    "quoted": lambda c, m: f"> {kafka(c, m)}",
    "quoted twice": lambda c, m: f">> > {kafka(c, m)}",
    "in a comment": lambda c, m: f"     * {kafka(c, m)}",
    "indented": lambda c, m: f"    {kafka(c, m)}",
    "a box on a screen": lambda c, m: f"│ {kafka(c, m)} │",
    "CRLF": lambda c, m: f"{kafka(c, m)}\r",
    "colours": lambda c, m: f"\x1b[32m{kafka(c, m)}\x1b[0m",
    "aws logs tail": lambda c, m: f"{DAY}T{CLOCK}.{MS}000+00:00 kafka/broker-1 {kafka(c, m)}",
    "CloudWatch as text": lambda c, m: f"EVENTS\t36710\t{AT_MS}\t{kafka(c, m)}\t{AT_MS + 9}\tBroker-1",
    "CSV": lambda c, m: f'"{DAY}T{CLOCK}.{MS}Z","{kafka(c, m)}"',
    "tab": lambda c, m: f"{DAY}T{CLOCK}.{MS}Z\t{kafka(c, m)}",
    "labels": lambda c, m: f'{DAY}T{CLOCK}.{MS}Z {{pod="kafka-0"}} {kafka(c, m)}',
    "logfmt": lambda c, m: f'time="{DAY}T{CLOCK}.{MS}Z" level=info logger={c} msg="{m}"',
}
JSON = {
    "logstash": lambda c, m: {"@timestamp": f"{DAY}T{CLOCK}.{MS}Z", "@version": "1", "message": m, "logger_name": c},
    "ECS": lambda c, m: {"@timestamp": f"{DAY}T{CLOCK}.{MS}Z", "log.level": "INFO", "message": m, "log.logger": c},
    "log4j2": lambda c, m: {
        "instant": {"epochSecond": AT_MS // 1000, "nanoOfSecond": 448000000},
        "loggerName": c,
        "message": m,
    },
    "native image": lambda c, m: {"timestamp": f"{DAY}T{CLOCK}.{MS}Z", "loggerName": c, "level": "INFO", "message": m},
    "docker": lambda c, m: {"log": f"{kafka(c, m)}\n", "stream": "stdout", "time": f"{DAY}T{CLOCK}.{MS}Z"},
    "textPayload": lambda c, m: {"insertId": "a", "textPayload": kafka(c, m), "timestamp": f"{DAY}T{CLOCK}.{MS}Z"},
    "jsonPayload": lambda c, m: {"jsonPayload": {"message": m, "logger": c}, "timestamp": f"{DAY}T{CLOCK}.{MS}Z"},
    "LogEntry": lambda c, m: {"TimeGenerated": f"{DAY}T{CLOCK}.{MS}Z", "LogEntry": kafka(c, m)},
    "_raw": lambda c, m: {"preview": False, "result": {"_raw": kafka(c, m), "host": "k1"}},
    "_source": lambda c, m: {"_index": "logs", "_source": {"@timestamp": f"{DAY}T{CLOCK}.{MS}Z", "message": m}},
    "journald": lambda c, m: {"MESSAGE": kafka(c, m), "__REALTIME_TIMESTAMP": f"{AT_MS}000", "_HOSTNAME": "k1"},
    "a line in a line": lambda c, m: {"log": json.dumps({"message": m, "timestamp": f"{DAY}T{CLOCK}.{MS}Z"})},
}
WITHOUT_TIME = {
    "logback 1.5": lambda c, m: f"{CLOCK}.{MS} [main] INFO {c} -- {m}",
    "logback": lambda c, m: f"{CLOCK}.{MS} [main] INFO  {short(c)} - {m}",
    "milliseconds of a process": lambda c, m: f"1234 [main] INFO {c}  - {m}",
    "slf4j-simple": lambda c, m: f"[main] INFO {c} - {m}",
    "time cut off": lambda c, m: f"[INFO ][{c}] {m}",
    "message alone": lambda c, m: m,
}
LAYOUTS = {
    **PLAIN,
    **{f"JSON of {name}": lambda c, m, form=form: json.dumps(form(c, m)) for name, form in JSON.items()},
    **{
        f"JSON of {name}, printed": lambda c, m, form=form: json.dumps(form(c, m), indent=2)
        for name, form in JSON.items()
    },
}


def lines_of(layout, logger, messages):
    return "\n".join(layout(logger, each) for each in messages).split("\n")


def test_sixty_layouts_are_here():
    assert len(LAYOUTS) - len(JSON) + len(WITHOUT_TIME) >= 60


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_broker_says_the_same_in_every_layout(name):
    answer = why(lines_of(LAYOUTS[name], COORDINATOR, BROKER_SAYS), has_advice=False)
    (one,) = answer.rebalances
    assert (one.group, one.cause, one.client) == ("billing", "heartbeats lost", "billing-1")
    assert (one.started_ms // 1000, answer.outcome) == (AT_MS // 1000, Outcome.FOUND)
    assert answer.reading.unknown_count == 0


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_client_says_the_same_in_every_layout(name):
    answer = why(lines_of(LAYOUTS[name], CONSUMER, CLIENT_SAYS), has_advice=False)
    (one,) = answer.rebalances
    assert (one.group, one.cause, one.client) == ("billing", "poll interval exceeded", "billing-1")
    assert (one.started_ms // 1000, answer.outcome) == (AT_MS // 1000, Outcome.FOUND)


@pytest.mark.parametrize("name", WITHOUT_TIME)
def test_without_a_time_the_order_remains(name):
    layout = WITHOUT_TIME[name]
    for logger, messages, cause in (
        (COORDINATOR, BROKER_SAYS, "heartbeats lost"),
        (CONSUMER, CLIENT_SAYS, "poll interval exceeded"),
    ):
        (one,) = why(lines_of(layout, logger, messages), has_advice=False).rebalances
        assert (one.cause, one.started_ms, one.ended_ms) == (cause, None, None)


@pytest.mark.parametrize(
    ("end", "cause"),
    [
        ("the consumer is be", "member closed"),
        ("consumer poll time", "poll interval exceeded"),
        ("the cons", "member left"),
    ],
)
def test_a_screen_cuts_lines_at_its_edge(end, cause):
    left = f"[Group billing] Member {GONE} has left group through explicit `LeaveGroup` request; client reason: {end}"
    line = f"│ [{DAY} {CLOCK},{MS}] INFO [GroupCoordinator id=0 topic=__consumer_offsets partition=9] {left} │"
    (one,) = why([line], has_advice=False).rebalances
    assert (one.group, one.cause, one.client) == ("billing", cause, "billing-1")


def test_a_cut_json_line_is_understood():
    whole = json.dumps({"@timestamp": f"{DAY}T{CLOCK}.{MS}Z", "message": CLIENT_SAYS[0], "level": "WARN"})
    (event,) = read([whole[:200]]).events
    assert (event.kind, event.group, event.time_ms) == ("PollExpired", "billing", AT_MS)


SAID = (
    "Application maximum poll interval (300000ms) exceeded by 55ms (adjust max.poll.interval.ms for x): leaving group"
)
LIBRDKAFKA = {
    "its own": f"%4|1795362373.448|MAXPOLL|billing-1#consumer-1| [thrd:main]: {SAID}",
    "in compose": f"billing-1  | %4|1795362373.448|MAXPOLL|billing-1#consumer-1| [thrd:main]: {SAID}",
    "without level and time": f"MAXPOLL|billing-1#consumer-1| [thrd:main]: {SAID}",
    "Python's logging": f"{DAY} {CLOCK},{MS} WARNING app: MAXPOLL [billing-1#consumer-1] [thrd:main]: {SAID}",
    ".NET": f"Handle: billing-1#consumer-1\tLevel: Warning\tMessage:[thrd:main]: {SAID}",
    "Rust": f"{DAY}T{CLOCK}.{MS}000Z  WARN librdkafka: librdkafka: MAXPOLL [thrd:main]: {SAID}",
    "key and value": f"lvl=4, facility=MAXPOLL, msg=[thrd:main]: {SAID}",
    "an error of Python": 'KafkaError{code=_MAX_POLL_EXCEEDED,val=-147,str="Application maximum poll interval '
    '(300000ms) exceeded by 55ms"}',
    "the error's own words": "Local: Maximum application poll interval (max.poll.interval.ms) exceeded",
    "an error of Rust": "consumer failed: KafkaError (Message consumption error: PollExceeded (Local: x))",
}


@pytest.mark.parametrize("name", LIBRDKAFKA)
def test_the_loudest_line_of_librdkafka_names_no_group(name):
    answer = why([LIBRDKAFKA[name]], has_advice=False)
    (one,) = answer.rebalances
    assert (one.group, one.cause, answer.outcome) == (None, "poll interval exceeded", Outcome.FOUND)
    assert "a group that no line names" in str(answer)
    assert json.dumps(answer.as_data())


def test_a_broker_knows_the_group_of_a_client_that_does_not_say_it():
    broker = [
        kafka(
            COORDINATOR,
            f"[GroupCoordinator 1]: Preparing to rebalance group billing in state PreparingRebalance with old "
            f"generation 12 (__consumer_offsets-9) (reason: Removing member {GONE} on LeaveGroup; client reason: "
            f"not provided)",
        ),
        kafka(COORDINATOR, BROKER_SAYS[2]),
    ]
    (one,) = why([*broker, LIBRDKAFKA["its own"]], has_advice=False).rebalances
    assert (one.group, one.cause) == ("billing", "poll interval exceeded")
    (one,) = why(broker, has_advice=False).rebalances
    assert one.cause == "member left"
