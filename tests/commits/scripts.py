"""The recorded scripts of what a crash costs, as events of the simulator."""

from kafkalearn.commits import CommitSync, Crash, Poll, Process, Settings, Start

SINK_OF = {"idempotent_sink": "idempotent", "offset_in_transaction": "transaction", "optimistic_offset": "lock"}


def script_of(case):
    """The settings and the events of a recorded case."""
    events = [event for op in case["events"] for event in events_of(op)]
    first = next(op["offsets"][0] for op in case["events"] if op["op"] == "poll")
    seen = [op for op in case["events"] if op["op"] in ("poll", "process")]
    record_count = 1 + max(offset for op in seen for offset in (*op.get("offsets", ()), op.get("offset", 0)))
    settings = Settings(
        record_count,
        committed=first,
        is_auto=has_auto(case),
        auto_commit_interval_ms=0,
        sink=SINK_OF.get(case["strategy"], "plain"),
    )
    return settings, [Start("A"), *events]


def has_auto(case):
    return any(op["op"] == "auto_commit" for op in case["events"])


def events_of(op):
    """What an operation of a script is here; a takeover brings the poll that the script leaves out."""
    by = op.get("by", "A")
    match op["op"]:
        case "poll":
            return [Poll(by, at_most=len(op["offsets"]))]
        case "process":
            return [Process(by, op["offset"])]
        case "commit":
            return [CommitSync(by, op["offset"])]
        case "auto_commit":
            return []  # inside the poll that follows
        case "crash":
            return [Crash(by)]
        case "restart":
            return [Start(by)]
        case "takeover":
            return [Start(by), Poll(by)]
        case "seek_to_stored":
            return []  # a consumer of such a sink starts there
    raise AssertionError(f"unknown operation {op}")
