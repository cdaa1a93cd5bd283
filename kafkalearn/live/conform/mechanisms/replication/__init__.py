"""A partition on three brokers that are frozen, killed, stopped, cut from power and started again."""

from kafkalearn.live.conform.mechanisms.replication.failures import LAGGARDS, WITH_ELR, WITHOUT_ELR

__all__ = ["LAGGARDS", "WITHOUT_ELR", "WITH_ELR"]
