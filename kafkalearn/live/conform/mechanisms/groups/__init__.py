"""Groups: the two coordinators, their timers, what they write down, and when committed offsets expire."""

from kafkalearn.live.conform.mechanisms.groups.classic import CLASSIC
from kafkalearn.live.conform.mechanisms.groups.consumer import CONSUMER
from kafkalearn.live.conform.mechanisms.groups.expiry import EXPIRY
from kafkalearn.live.conform.mechanisms.groups.records import RECORDS
from kafkalearn.live.conform.mechanisms.groups.timers import TIMERS

__all__ = ["CLASSIC", "CONSUMER", "EXPIRY", "RECORDS", "TIMERS"]
