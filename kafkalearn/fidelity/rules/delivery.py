"""The ledger's entries on acks, retries and idempotence."""

from __future__ import annotations

from kafkalearn.fidelity.model import Check, Rule

RULES: tuple[Rule, ...] = (
    Rule(
        name="acks, failures and the result of a record",
        function="kafkalearn.delivery.step",
        versions="0.8.2 to 4.3; the scripts are of 3.6 and October 2024",
        source="ReplicaManager.appendRecords, Partition, DelayedProduce; KAFKA-15583",
        checks=(
            Check(
                "vectors",
                "tests/delivery/test_recorded_classes.py"
                "::test_every_event_of_a_recorded_script_leads_to_the_recorded_effects_answer_and_state",
                "tests/vectors/delivery/log-loss.json",
                "cases",
                17,
            ),
        ),
        left_out="transactions; several producers that retry; batches that fill up; quotas; L17 of the scripts was "
        "worked out by hand from the source of 3.6.2",
    ),
    Rule(
        name="sequence numbers and the window of five batches",
        function="kafkalearn.log.sequences.judge",
        versions="0.11 to 4.3; the scripts are of October 2024",
        source="UnifiedLog.analyzeAndValidateProducerState, ProducerAppendInfo, ProducerStateEntry; KIP-98, KIP-360",
        checks=(
            Check(
                "vectors",
                "tests/delivery/test_recorded_classes.py::test_a_broker_judges_every_batch_as_kafka_s_log_did",
                "tests/vectors/delivery/log-idempotence.json",
                "cases",
                6,
            ),
            Check(
                "law",
                "tests/delivery/test_laws.py"
                "::test_a_broker_remembers_five_batches_that_follow_on_and_answers_each_with_its_offset",
            ),
            Check("law", "tests/log/test_sequences.py::test_a_log_judges_as_the_shared_rule"),
        ),
        left_out="transactions and their markers; snapshots of the producer state: here it is always rebuilt from the "
        "log; the answers of 0.11 and 1.x are from the source alone",
    ),
    Rule(
        name="the producer's configuration",
        function="kafkalearn.delivery.ProducerSettings",
        versions="0.8.2 to 4.3",
        source="ProducerConfig.postProcessAndValidateIdempotenceConfigs; the defaults are those of kafkalearn.versions",
        checks=(
            Check("examples", "tests/delivery/test_producer.py::test_the_defaults_are_those_of_the_release"),
            Check(
                "examples",
                "tests/delivery/test_producer.py"
                "::test_idempotence_asked_for_is_refused_where_it_cannot_be_and_gives_way_where_it_is_the_default",
            ),
        ),
        left_out="3.0.0 and 3.1.0, whose default of idempotence did not take (KAFKA-13598); "
        "which conflicts 3.0 and 3.1 gave way to",
    ),
    Rule(
        name="the producer's retries",
        function="kafkalearn.delivery.simulate",
        versions="2.1 to 4.3",
        source="Sender.canRetry, RecordAccumulator.reenqueue, TransactionManager.canRetry, InFlightRequests.clearAll",
        checks=(
            Check(
                "examples",
                "tests/delivery/test_producer.py"
                "::test_a_lost_answer_doubles_a_record_unless_the_producer_is_idempotent",
            ),
            Check(
                "examples",
                "tests/delivery/test_producer.py"
                "::test_two_that_fail_together_change_places_unless_the_producer_is_idempotent",
            ),
        ),
        left_out="backoff takes no time; the leader is known at once; batches in flight get the numbers of a raised "
        "epoch when they are sent again; linger, splitting of batches that are too large",
    ),
    Rule(
        name="the errors of a produce request",
        function="kafkalearn.delivery.produce_errors.produce_errors",
        versions="0.8.2 to 4.3: names, classes and whether they are retriable; what the producer does: October 2024",
        source="Errors, RetriableException; Sender.completeBatch, TransactionManager.canRetry, DelayedProduce",
        checks=(
            Check(
                "vectors",
                "tests/delivery/test_produce_errors.py::test_every_error_is_what_the_released_client_has",
                "tests/vectors/delivery/produce-errors.json",
                "releases",
                31,
            ),
            Check(
                "examples",
                "tests/delivery/test_produce_errors.py"
                "::test_the_simulator_tries_again_after_the_retriable_errors_and_no_others",
            ),
        ),
        left_out="errors of transactions; whether the record was written is from reading the broker's source",
    ),
    Rule(
        name="records that are put aside and sent again",
        function="kafkalearn.delivery.SendAgain",
        versions="all",
        source="ours: an application's callback; KafkaProducer.send gives each record a new sequence number",
        checks=(
            Check(
                "examples",
                "tests/delivery/test_producer.py::test_what_fails_is_put_aside_and_sent_again_as_a_new_batch",
            ),
            Check("law", "tests/delivery/test_laws.py::test_a_record_that_failed_is_in_the_store_or_was_sent_again"),
            Check(
                "law",
                "tests/delivery/search/test_matrix.py"
                "::test_putting_aside_gives_up_nothing_and_writes_twice_where_a_batch_has_failed",
            ),
        ),
        left_out="a store that fails; a batch that is given up raises the epoch at once, in Kafka only when nothing of "
        "the partition is in flight any more: with several batches in flight an idempotent producer doubles here what "
        "it would not there",
    ),
    Rule(
        name="what acks and replicas cost",
        function="kafkalearn.delivery.cost.latency",
        versions="all",
        source="DelayedProduce, Partition.maybeIncrementLeaderHW, DelayedFetch",
        checks=(
            Check("equality", "tests/delivery/test_cost.py::test_a_run_calls_the_callback_when_the_formula_says"),
            Check(
                "law",
                "tests/delivery/test_cost.py"
                "::test_one_more_replica_never_makes_it_shorter_and_matters_to_acks_all_alone",
            ),
        ),
        left_out="queues, batches, linger.ms; a fetch of each follower is always waiting at the leader",
    ),
    Rule(
        name="on Spark: what acks and replicas cost",
        function="kafkalearn.spark.latency.with_latency",
        versions="as kafkalearn.delivery.cost",
        source="as kafkalearn.delivery.cost",
        checks=(
            Check(
                "equality", "tests/spark/test_latency.py::test_every_record_waits_as_long_as_in_a_run_of_the_simulator"
            ),
        ),
        left_out="as kafkalearn.delivery.cost; the records are made",
    ),
    Rule(
        name="on Spark: the result of a record",
        function="kafkalearn.spark.record_results.results_of",
        versions="all",
        source="as kafkalearn.delivery.record_results",
        checks=(
            Check(
                "equality",
                "tests/spark/test_record_results.py"
                "::test_the_query_finds_for_every_end_of_every_short_schedule_the_results_of_the_simulator",
            ),
        ),
        left_out="records on the wire: a run is judged when nothing is under way",
    ),
    Rule(
        name="the result of a record",
        function="kafkalearn.delivery.record_results.result_of",
        versions="all",
        source="ours: what the callback got against what the log holds",
        checks=(
            Check(
                "vectors",
                "tests/delivery/test_recorded_classes.py::test_the_result_of_each_record_is_the_recorded_verdict",
                "tests/vectors/delivery/log-loss.json",
                "cases",
                17,
            ),
            Check(
                "law",
                "tests/delivery/test_laws.py::test_a_result_is_the_callback_against_the_copies_in_the_leader_s_log",
            ),
        ),
        left_out="what consumers have read before a record was lost",
    ),
)
