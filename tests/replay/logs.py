"""Plays recorded cases of a log on one broker, and of its leader epochs."""

from __future__ import annotations

from dataclasses import replace

from kafkalearn.log import check as check_log
from kafkalearn.log import start as empty_log
from kafkalearn.log import step as log_step
from kafkalearn.log.index import index_of, list_offset
from kafkalearn.log.model import AppendRefused, DeleteRecordsRefused, SegmentsDeleted
from kafkalearn.log.model import Settings as LogSettings
from kafkalearn.replication.state import assign, cut_from_end, cut_from_start, end_offset_for
from tests.log import scripts as log_scripts
from tests.log.schedules import last_effect


class ALog:
    """A log on one broker."""

    def __init__(self, case, release):
        self.settings = LogSettings(release=release, **case["settings"])
        self.log = empty_log(self.settings)

    def play(self, event):
        batches = [
            {**each, "records": [[key, value and value.format(number), at_ms] for key, value, at_ms in each["records"]]}
            for number in range(event.get("count", 1))
            for each in event.get("batches", ())
        ]
        whole = {**event, "batches": batches}
        if event.get("offset") == "end":
            whole["offset"] = self.log.log_end_offset
        # The tests have no broker before the class, which asks for the policy first.
        is_past_broker = event["op"] == "delete_records" and not event.get("asks_for_policy")
        policy = "delete" if is_past_broker else self.settings.cleanup_policy
        for each in log_scripts.events_of(whole, self.log):
            before = self.log
            self.log = log_step(replace(self.settings, cleanup_policy=policy), before, each)
            check_log(self.settings, self.log, before)

    def seen(self, name, form):
        log = self.log
        bases = [each.base_offset for each in log.segments]
        match name:
            case "error":
                refused = last_effect(log, (AppendRefused, DeleteRecordsRefused))
                return refused and refused.error
            case "segment_count":
                return len(bases)
            case "some_deleted":
                return last_effect(log, (SegmentsDeleted,)) is not None
            case "starts_beyond_high_watermark":
                return log.log_start_offset > log.high_watermark
            case "only_the_first_segment_begins_at_most_at_the_high_watermark":
                return [base <= log.high_watermark for base in bases] == [True] + [False] * (len(bases) - 1)
            case "size_bytes":
                return sum(each.size_bytes for each in log.segments)
            case "active_bytes":
                return log.active.size_bytes
            case "active_base_offset":
                return log.active.base_offset
            case "aborted":
                ended = [each for each in log.transactions if each.is_aborted]
                return [[each.producer_id, each.first_offset, each.last_offset] for each in ended]
            case "open":
                return {
                    str(each.producer_id): each.first_offset for each in log.transactions if each.last_offset is None
                }
            case "producers":
                return {str(each.producer_id): [each.epoch, each.entry.last_sequence] for each in log.producers}
            case "producer_ids":
                return sorted(each.producer_id for each in log.producers)
            case "time_index_entries":
                indexes = [index_of(self.settings, each, each is not log.active) for each in log.segments]
                return sum(len(each.times) for each in indexes)
            case "found":
                return {time: list(list_offset(log, int(time) if time.isdigit() else time)) for time in form}
            case "high_watermark" | "last_stable_offset" | "first_unstable_offset":
                return getattr(log, name)
            case "segments":
                return [{name: each[name] for name in form[0]} for each in log_scripts.segments_of(self.settings, log)]
        return log_scripts.observed(self.settings, log, [name])[name]


class AnEpochCache:
    """The leader epoch cache of a log."""

    def __init__(self, case, release):
        self.epochs, self.answer = tuple(map(tuple, case.get("begin", ()))), None

    def play(self, event):
        match event["op"]:
            case "assign":
                self.epochs = assign(self.epochs, event["epoch"], event["start_offset"])
            case "truncate_from_end":
                self.epochs = cut_from_end(self.epochs, event["offset"])
            case "truncate_from_start":
                self.epochs = cut_from_start(self.epochs, event["offset"])
            case "end_offset_for":
                self.answer = end_offset_for(self.epochs, event["epoch"], event["log_end_offset"])

    def seen(self, name, form):
        match name:
            case "count":
                return len(self.epochs)
            case "answer":
                return list(self.answer)
        return [list(each) for each in self.epochs]
