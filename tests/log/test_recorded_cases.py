"""Every recorded case of segments, retention and the cleaner, and the scripts that a real broker's cleaner ran."""

import pytest

from kafkalearn.log import Append, Clean, Cleaned, Log, NewBatch, Record, Settings, check, start, step
from kafkalearn.log.model import Appended, Batch, Segment
from tests.every import every_case
from tests.log.schedules import last_effect
from tests.log.scripts import headers_of, records_of
from tests.recorded import recorded


def case_id(case):
    return f"{case['id']}-{case.get('title', case.get('kind', ''))}"


@pytest.mark.parametrize("release", ["0.9.0", "0.10.2", "2.8.2", "3.0"])
@pytest.mark.parametrize("case", recorded("log-compaction-legacy")["cases"], ids=case_id)
def test_up_to_3_0_the_times_of_the_files_decide_about_tombstones(case, release):
    one_each = Settings("compact", release, segment_bytes=70, delete_retention_ms=case["delete_retention_ms"])
    log = step(one_each, legacy_log(case), Clean(10**15, is_forced=True))

    assert {
        "delete_horizon_ms": last_effect(log, Cleaned).legacy_horizon_ms,
        "records": records_of(log),
        "cleaner_checkpoint": log.checkpoint,
    } == case["expect"]


def legacy_log(case):
    segments = tuple(
        Segment(
            each["base_offset"],
            tuple(Batch(at, at, (Record(at, key, value, 0),), 70, 0) for at, key, value in each["records"]),
            each["last_modified_ms"],
        )
        for each in case["segments"]
    )
    last = segments[-1]
    end = last.batches[-1].last_offset + 1 if last.batches else last.base_offset
    return Log(segments, log_end_offset=end, checkpoint=case["first_dirty_offset"] or None)


SCRIPTS = recorded("compaction")["cases"]


def settings_of(script):
    topic = script["settings"]
    return Settings(
        topic["cleanup.policy"],
        "4.3",
        segment_bytes=int(topic.get("internal.segment.bytes", 1 << 30)),
        segment_ms=int(topic["segment.ms"]),
        delete_retention_ms=int(topic["delete.retention.ms"]),
        min_compaction_lag_ms=int(topic["min.compaction.lag.ms"]),
        min_cleanable_dirty_ratio=0.0,  # as it was altered before each pass
    )


def append_of(script, batch):
    producer_id = script["producers"].get(batch.get("producer"), -1)
    epoch = -1 if producer_id < 0 else 0
    records = tuple((key, value, batch["ts"]) for key, value in batch["records"])
    return Append((NewBatch(records, None, producer_id, epoch, batch.get("sequence", -1)),))


def clean_ms(settings, phase):
    """When the pass began: exactly if it set a horizon, else the clock just before."""
    horizons = [batch["delete_horizon"] for segment in phase["segments"] for batch in segment["batches"]]
    return max([horizon - settings.delete_retention_ms for horizon in horizons if horizon] + [phase["pass_ms"]])


def after_each_pass(script):
    """For each phase the phase, the log just before its pass, and the log after it."""
    settings = settings_of(script)
    log = start(settings)
    for phase in script["phases"]:
        for batch in phase["batches"]:
            log = step(settings, log, append_of(script, batch))
            appended = last_effect(log, Appended)
            assert (appended.first_offset, log.batches[-1].size_bytes) == (batch["base_offset"], batch["bytes"])
        before = log
        log = step(settings, log, Clean(clean_ms(settings, phase)))
        check(settings, log, before)
        yield phase, before, log


@every_case("script", recorded("compaction")["cases"], ids=case_id)
def test_the_same_offsets_survive_as_on_a_real_broker_s_disk(script):
    for phase, before, after in after_each_pass(script):
        assert [segment.base_offset for segment in before.segments] == phase["segments_before"]
        assert records_of(after) == phase["survivors"]
        assert after.checkpoint == phase["first_uncleaned_offset"]


@every_case("script", SCRIPTS, ids=case_id)
def test_the_files_are_grouped_and_every_header_is_written_as_on_a_real_broker_s_disk(script):
    for phase, _, after in after_each_pass(script):
        assert headers_of(after) == phase["segments"]


def test_all_seventy_five_passes_were_asked():
    assert sum(len(script["phases"]) for script in SCRIPTS) == 75
