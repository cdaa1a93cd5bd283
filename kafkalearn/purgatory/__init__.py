"""Requests that wait: delayed operations, and the timing wheels that end them.

Three simulators, each a module with its own `Settings`, events, `step` and `simulate`:

- `kafkalearn.purgatory.requests`: a partition with the followers, consumers and producers that wait for it
- `kafkalearn.purgatory.operations`: the purgatory itself, its watch lists and its three ways to finish;
  with the operations that brokers really have (joins and heartbeats: up to 3.9), and the conditions they wait for
- `kafkalearn.purgatory.wheel`: hierarchical timing wheels, bucket by bucket; with their arithmetic, and what
  timers cost, in wheels and in a heap
"""

from kafkalearn.purgatory import operations, requests, wheel
from kafkalearn.purgatory.operations import delayed_fetch, delayed_heartbeat, delayed_join, delayed_produce
from kafkalearn.purgatory.requests import ConsumerFetch, DelayedDelete, SizedProduce
from kafkalearn.purgatory.wheel import Load, heap_cost, journey, wheel_cost

__all__ = [
    "ConsumerFetch",
    "DelayedDelete",
    "Load",
    "SizedProduce",
    "delayed_fetch",
    "delayed_heartbeat",
    "delayed_join",
    "delayed_produce",
    "heap_cost",
    "journey",
    "operations",
    "requests",
    "wheel",
    "wheel_cost",
]
