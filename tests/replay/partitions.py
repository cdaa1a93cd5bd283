"""Plays recorded cases of a partition on its brokers, with and without a producer before it."""

from __future__ import annotations

from dataclasses import replace

from kafkalearn import replication
from kafkalearn.base.trace import Parts
from kafkalearn.delivery import Delivery, ProduceRequest, Settings, step
from kafkalearn.purgatory import requests
from kafkalearn.replication import leader as leaders_side
from kafkalearn.replication import replica_log
from kafkalearn.replication.events import NONE, ConsumerRead, ProduceAnswered
from kafkalearn.replication.processing import Processing, partition_of, parts_of
from kafkalearn.replication.state import Log as ReplicaLog
from kafkalearn.replication.state import Record, assign, blank
from tests.replication import scripts

LEADER, NOBODY = 1, -1


class APartition:
    """A partition on brokers 1, 2, ..., of which the test plays the controller, and all that followers ask."""

    def __init__(self, case, release):
        self.settings = replication.Settings(release=release, fetch_wait_max_ms=0, **case["settings"])
        begin = case["begin"]
        log, partition = ReplicaLog(), blank(self.settings)
        for epoch, count in begin.get("records", ()):
            epochs = assign(log.epochs, epoch, log.log_end_offset)
            log = log._replace(records=log.records + (Record("m", epoch),) * count, epochs=epochs)
        if "checkpointed" in begin:
            log = replica_log.found_again(log._replace(checkpointed_high_watermark=begin["checkpointed"]))
        first = partition.replicas[0]._replace(log=log)
        controller = partition.controller._replace(leader_epoch=begin.get("leader_epoch", 0) - 1, partition_epoch=0)
        self.partition = replace(partition, controller=controller, replicas=(first, *partition.replicas[1:]))
        self.answer = None
        if "isr" in begin:
            self.take(replication.LeaderElected(begin.get("leader", LEADER), tuple(begin["isr"])))

    def take(self, event):
        self.partition = replication.step(self.settings, self.partition, event)

    def play(self, event):
        match event["op"]:
            case "fetch":
                self.fetch(event)
            case "elect":
                self.take(replication.LeaderElected(event["leader"], tuple(event["isr"])))
            case "metadata":  # the same leader epoch, another partition epoch
                self.take(replication.IsrSet(tuple(event["isr"])))
            case "mark":  # what the metadata of the brokers says
                marked = {name: tuple(event.get(name, ())) for name in ("fenced", "stopping")}
                controller = self.partition.controller._replace(**marked)
                self.partition = replace(self.partition, controller=controller)
            case "produce":
                self.take(replication.Produce(event["count"], event.get("acks", "all"), to_broker=event.get("to")))
            case "consume":
                self.take(replication.Consume(event["offset"]))
            case "delete_records":
                self.take(replication.DeleteRecords(event["offset"]))
            case "isr_check":
                self.take(replication.IsrChecked())
            case "answer":
                self.take(replication.AlterPartitionAnswered(event.get("error")))
            case "sleep":
                self.take(replication.TimePassed(event["ms"]))
            case "high_watermark":
                partition, offset = self.partition, event["offset"]
                first = partition.replicas[0]
                first = first._replace(log=first.log._replace(high_watermark=offset))
                self.partition = replace(partition, replicas=(first, *partition.replicas[1:]))

    def fetch(self, event):
        """A follower's fetch of any offset, as the test sends it, whatever the follower has."""
        request = leaders_side.FetchRequest(
            event["from"], event["offset"], event.get("log_start", 0), event.get("epoch"), event.get("last_epoch")
        )
        processing = Processing(self.settings, Parts(parts_of(self.partition)))
        self.answer = leaders_side.handle(processing, event.get("to", LEADER), request)
        self.partition = partition_of(processing.parts.all(), tuple(processing.effects))

    def seen(self, name, form):
        partition, first = self.partition, self.partition.replica(LEADER)
        leading, min_isr = first.leading, self.settings.effective_min_isr
        proposal = leading and leading.proposal
        match name:
            case "error":
                return self.answer.error
            case "diverging":
                return self.answer.diverging and list(self.answer.diverging)
            case "record_count":
                return len(self.answer.records)
            case "answered_high_watermark":
                return self.answer.high_watermark
            case "produce_errors":
                return [each.error for each in partition.effects if isinstance(each, ProduceAnswered)]
            case "consumed":
                (read,) = [each for each in partition.effects if isinstance(each, ConsumerRead)]
                return [read.error, len(read.records)]
            case "leads":
                return leading is not None
            case "leader":
                return first.broker.leader
            case "isr":
                return [] if leading is None else sorted(leading.isr)
            case "maximal_isr":
                return sorted(leading.maximal_isr)
            case "proposed":
                return sorted(proposal.isr)
            case "is_in_flight":
                return proposal is not None
            case "waits_for_controller":
                return proposal is not None and not proposal.is_refused
            case "is_under_min_isr":
                return leading is not None and len(leading.isr) < min_isr
            case "is_at_min_isr":
                return leading is not None and len(leading.isr) == min_isr
            case "is_under_replicated":
                return len(leading.isr) < len(partition.controller.assignment.replicas)
            case "followers":
                known = enumerate(first.remotes, start=1)
                states = {str(other): each for other, each in known if each is not None}
                return {
                    other: [each.log_end_offset, each.log_start_offset, each.last_caught_up_ms][
                        : len(form.get(other, ()))
                    ]
                    for other, each in states.items()
                }
            case "epoch_end":
                return list(replication.state.end_offset_for(first.log.epochs, *form[:1], first.log_end_offset))
            case "leader_epoch":
                return first.broker.leader_epoch
            case "partition_epoch":
                return partition.controller.partition_epoch
            case "epoch_start_offset":
                return leading.epoch_start_offset
            case "newest_epoch":
                return list(first.log.epochs[-1])
            case "high_watermark" | "log_end_offset":
                return getattr(first, name)
        raise AssertionError(f"nothing is called {name!r}")


class AScriptedPartition:
    """A partition whose controller is the script: it elects, and says who is in sync."""

    def __init__(self, case, release):
        self.settings = scripts.settings_of(case["settings"], release)
        self.before = self.partition = blank(self.settings)
        self.leader, self.event = NOBODY, {"op": scripts.SHOW}

    def play(self, event):
        made = self.made(event)
        self.event, self.before = event, self.partition
        self.take(made)
        if isinstance(made, replication.LeaderElected):
            self.leader = made.leader
        elif isinstance(made, replication.BrokerCrashed | replication.PowerLost) and made.broker_id == self.leader:
            self.leader = NOBODY

    def made(self, event):
        return scripts.event_of(event)

    def take(self, event):
        self.partition = replication.step(self.settings, self.partition, event)

    def seen(self, name, form):
        match name:
            case "state":
                is_whole = any("log" in replica for replica in form["replicas"].values())
                return scripts.shown(self.settings, self.partition, self.leader, is_whole)
            case "effects":
                return scripts.effects_as_recorded(self.partition, self.event["op"])
        return scripts.answer(self.before, self.partition, self.event["op"])


class ADelivery(AScriptedPartition):
    """The same with stamps of idempotent producers."""

    def __init__(self, case, release):
        super().__init__(case, release)
        self.whole = Settings(self.settings)
        self.delivery = Delivery(self.partition)

    def made(self, event):
        """What is produced is a request made by hand."""
        found = super().made(event)
        if event["op"] != "produce":
            return found
        stamp = (event.get("pid"), event.get("epoch", 0), event.get("seq", 0))
        return ProduceRequest(found.values, found.acks, *stamp, found.timeout_ms, found.to_broker)

    def take(self, event):
        partition = self.partition
        if isinstance(event, replication.BrokerStarted) and self.leader == NOBODY:  # it waits for the script to elect
            partition = replace(partition, controller=partition.controller._replace(leader=None))
        self.before = partition
        self.delivery = step(self.whole, replace(self.delivery, partition=partition), event)
        self.partition = self.delivery.partition

    def seen(self, name, form):
        """The answer is to the sender: of a batch that was written before, with its offsets."""
        said = super().seen(name, form)
        bases = [each.base_offset for each in self.partition.effects if isinstance(each, ProduceAnswered)]
        if name == "answer" and "pid" in self.event and "base_offset" not in said and bases[0] is not None:
            said |= {"base_offset": bases[0], "last_offset": bases[0] + len(self.event["values"]) - 1}
        return said


class ABroker(AScriptedPartition):
    """The same with consumers whose fetches wait."""

    def __init__(self, case, release):
        super().__init__(case, release)
        self.broker = requests.Broker(self.partition)

    def made(self, event):
        """Scripts give the size of a batch, which is that of its single record."""
        if event["op"] == "consumer_fetch":
            return requests.ConsumerFetch(event["id"], event["offset"], event["min_bytes"], event["max_wait_ms"])
        found = super().made(event)
        is_produced = isinstance(found, replication.Produce)
        return requests.SizedProduce(found, event.get("bytes", 100)) if is_produced else found

    def take(self, event):
        before = self.broker
        self.broker = requests.step(self.settings, before, event)
        requests.check(self.settings, self.broker, before)
        self.partition = self.broker.partition

    def seen(self, name, form):
        match name:
            case "outcome":
                return "parked" if isinstance(self.broker.effects[-1], requests.ConsumerParked) else "immediate"
            case "effects":
                return [line for each in self.broker.effects for line in self.lines_of(each)]
        return super().seen(name, form)

    def lines_of(self, effect):
        """An effect in the words of the scripts, where a consumer that waits is the outcome of its request."""
        match effect:
            case requests.ConsumerParked():
                return []
            case requests.ConsumerAnswered(name, error=error) if error != NONE:
                return [{"event": "consumer_response", "id": name, "error": error}]
            case requests.ConsumerAnswered(name, high_watermark, records):
                texts = [f"{offset}:{value}" for offset, value in records]
                return [{"event": "consumer_response", "id": name, "high_watermark": high_watermark, "records": texts}]
        return scripts.effects_as_recorded(replace(self.partition, effects=(effect,)), self.event["op"])
