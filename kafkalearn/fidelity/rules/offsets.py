"""The ledger's entries on the records of __consumer_offsets."""

from __future__ import annotations

from kafkalearn.fidelity.model import Rule

RULES: tuple[Rule, ...] = ()
