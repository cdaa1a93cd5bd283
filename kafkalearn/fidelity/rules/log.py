"""The ledger's entries on segments, retention and the cleaner."""

from __future__ import annotations

from kafkalearn.fidelity.model import Rule

RULES: tuple[Rule, ...] = ()
