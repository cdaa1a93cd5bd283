"""The ledger's entries on acks, retries and idempotence."""

from __future__ import annotations

from kafkalearn.fidelity.model import Rule

RULES: tuple[Rule, ...] = ()
