"""Requests that wait: delayed operations, and the timing wheels that end them.

- `kafkalearn.purgatory.requests`: a partition with the followers, consumers and producers that wait for it
- `kafkalearn.purgatory.operations`: the purgatory itself, its watch lists and its three ways to finish;
  `kinds` has the operations that brokers park, `conditions` what they wait for
- `kafkalearn.purgatory.wheel`: hierarchical timing wheels, bucket by bucket; `placing` is their arithmetic
- `kafkalearn.purgatory.wheel.counting`: what timers cost, in wheels and in a heap

Three simulators in one package: each has a `step`, so they are used by the names of their modules.
"""
