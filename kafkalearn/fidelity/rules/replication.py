"""The ledger's entries on replication."""

from __future__ import annotations

from kafkalearn.fidelity.model import Rule

RULES: tuple[Rule, ...] = ()
