"""The ledger's entries on delayed operations and timing wheels."""

from __future__ import annotations

from kafkalearn.fidelity.model import Rule

RULES: tuple[Rule, ...] = ()
