"""The ledger's entries on the coordinator of a group, classic and KIP-848."""

from __future__ import annotations

from kafkalearn.fidelity.model import Rule

RULES: tuple[Rule, ...] = ()
