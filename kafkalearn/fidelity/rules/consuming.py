"""The ledger's entries on what a group reads, and its lag."""

from __future__ import annotations

from kafkalearn.fidelity.model import Rule

RULES: tuple[Rule, ...] = ()
