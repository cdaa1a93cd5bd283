"""Scripts recorded on Kafka's own classes, as events of the simulator, and its states as the scripts have them."""

from dataclasses import replace

from kafkalearn import replication
from kafkalearn.replication import events
from kafkalearn.replication.state import DOWN

SHOW = "show"


def settings_of(config: dict, release: str = "4.0") -> replication.Settings:
    """The settings of a script; its driver had no controller that would notice a restart."""
    truncation = {"hw": "high watermark", "epoch": "epoch, in the fetch"}[config.get("truncation", "epoch")]
    return replication.Settings(
        replica_count=config.get("replicas", 3),
        release=release,
        min_insync_replicas=config.get("min_insync_replicas", 1),
        rules=replace(replication.rules_of(release), truncation=truncation, notices_restarts=False),
    )


def lines_of(case: dict) -> list[dict]:
    """The lines of a script: each event with what is expected after it."""
    return [
        {**step.get("event", {"op": SHOW}), "expect": {**step["expect"].get("answer", {}), **step["expect"]}}
        for step in case["steps"]
    ]


def event_of(entry: dict):
    """The event that a line of a script stands for; None where it only shows the state."""
    match entry["op"]:
        case "elect":
            return replication.LeaderElected(entry["leader"], tuple(entry["isr"]))
        case "fetch":
            return replication.Fetch(entry["from"])
        case "produce":
            acks = "all" if entry["acks"] == -1 else entry["acks"]
            values = tuple(entry.get("values", ()))
            timeout_ms = entry.get("timeout_ms", 30_000)
            return replication.Produce(entry.get("n", 1), acks, values, timeout_ms, entry.get("to"))
        case "consume":
            return replication.Consume(entry["offset"])
        case "tick":
            return replication.TimePassed(entry["ms"])
        case "isr_check":
            return replication.IsrChecked()
        case "alter_partition":
            return replication.AlterPartitionAnswered(entry.get("error"))
        case "controller_isr":
            return replication.IsrSet(tuple(entry["isr"]))
        case "crash" if "truncate_unflushed_to" in entry:
            return replication.PowerLost(entry["broker"], entry["truncate_unflushed_to"])
        case "crash":
            return replication.BrokerCrashed(entry["broker"])
        case "restart":
            return replication.BrokerStarted(entry["broker"])
        case "checkpoint_hw":
            return replication.HighWatermarkCheckpointed(entry["broker"])
        case "delete_records":
            return replication.DeleteRecords(entry["offset"])
        case "fence":
            return replication.BrokerFenced(entry["broker"])
    assert entry["op"] == SHOW, f"unknown line {entry}"
    return None


def effects_as_recorded(partition: replication.Partition, op: str) -> list[dict]:
    """The effects as scripts have them: a proposal only where the periodic check has made it."""
    return [line for effect in partition.effects for line in _lines(effect, op)]


def _lines(effect, op: str) -> list[dict]:
    match effect:
        case events.FetchHandled(by, broker, offset, is_parked):
            outcome = "parked" if is_parked else "immediate"
            return [{"event": "fetch_handled", "by": by, "from": broker, "fetch_offset": offset, "outcome": outcome}]
        case events.FetchAnswered(broker, error="OFFSET_OUT_OF_RANGE", truncated_to=cut):
            error = {"error": "OFFSET_OUT_OF_RANGE", "truncated_to_leader_leo": cut}
            return [{"event": "fetch_response", "to": broker, **error}]
        case events.FetchAnswered(broker, hw, diverging=(epoch, end), truncated_to=cut):
            diverging = {"diverging_epoch": epoch, "diverging_end_offset": end, "truncated_to": cut}
            return [{"event": "fetch_response", "to": broker, "leader_hw_in_response": hw, **diverging}]
        case events.FetchAnswered(broker, hw, records):
            return [{"event": "fetch_response", "to": broker, "leader_hw_in_response": hw, "records": _texts(records)}]
        case events.ProduceParked(request):
            return [{"event": "produce_parked", "request": f"p{request}"}]
        case events.ProduceAnswered(request, error, base_offset):
            base = {} if base_offset is None else {"base_offset": base_offset}
            return [{"event": "produce_response", "request": f"p{request}", "error": error, **base}]
        case events.LogTruncated(broker, before, after) if effect.was_cut:  # scripts tell of records that went
            return [{"event": "truncated_to_own_hw", "broker": broker, "from": before, "to": after}]
        case events.AlterPartitionSent(isr):
            return [{"event": "alter_partition_sent", "isr": list(isr)}] if op == "isr_check" else []
    return []


def answer(before: replication.Partition, after: replication.Partition, op: str) -> dict:
    """The answer to the request of this line, or where its records were written."""
    match op:
        case "consume":
            (read,) = [each for each in after.effects if isinstance(each, events.ConsumerRead)]
            return {"records": _texts(read.records)}
        case "delete_records":
            (deleted,) = [each for each in after.effects if isinstance(each, events.RecordsDeleted)]
            return {} if deleted.error == events.NONE else {"error": deleted.error}
        case "produce":
            return {"request": f"p{after.ledger.requests.request_count}", **_appended(before, after)}
    return {}


def _appended(before: replication.Partition, after: replication.Partition) -> dict:
    grown = [
        {"base_offset": old.log_end_offset, "last_offset": new.log_end_offset - 1}
        for old, new in zip(before.replicas, after.replicas, strict=True)
        if new.leading is not None and new.log_end_offset > old.log_end_offset
    ]
    return grown[0] if grown else {}


def _texts(records: tuple) -> list[str]:
    return [f"{offset}:{value}" for offset, value in records]


def shown(settings: replication.Settings, partition: replication.Partition, leader: int, is_whole: bool) -> dict:
    """The state as scripts have it; `leader` is the leader by the script, -1 after its crash."""
    leading = None if partition.leader is None else partition.leader.leading
    isr = [] if leading is None else list(leading.isr)
    return {
        "t_ms": partition.now_ms,
        "leader": leader,
        "leader_epoch": partition.controller.leader_epoch,
        "isr": isr,
        "maximal_isr": [] if leading is None else list(leading.maximal_isr),
        "under_min_isr": leading is not None and len(isr) < settings.effective_min_isr,
        "replicas": {str(id_): _replica(partition, id_, is_whole) for id_ in settings.broker_ids},
    }


def _replica(partition: replication.Partition, broker_id: int, is_whole: bool) -> dict | str:
    log, broker, _, remotes, _ = partition.replica(broker_id)
    if broker.status == DOWN:
        return "down"
    lines = {"leo": log.log_end_offset, "hw": log.high_watermark}
    if log.log_start_offset:
        lines["log_start"] = log.log_start_offset
    if remotes:
        known = {str(id_): each for id_, each in enumerate(remotes, start=1) if each is not None}
        lines["remote_leo"] = {id_: each.log_end_offset for id_, each in known.items()}
        caught_up = {id_: each.last_caught_up_ms for id_, each in known.items()}
        lines["last_caught_up_ms"] = {id_: -1 if ms is None else ms for id_, ms in caught_up.items()}
    if broker_id in _waiting(partition):
        lines["fetch_parked"] = True
    if is_whole:
        lines["log"] = [f"{log.first_offset + index}:{record.value}" for index, record in enumerate(log.records)]
        lines["epochs"] = [list(entry) for entry in log.epochs]
    return lines


def _waiting(partition: replication.Partition) -> list[int]:
    """The brokers whose fetch is parked on a leader."""
    return [parked.broker_id for replica in partition.replicas for parked in replica.waiting.fetches]
