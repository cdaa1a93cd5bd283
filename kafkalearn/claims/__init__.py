"""Right or dated: what is often written about Kafka, what is true, since when, and the chapter that shows it."""

from kafkalearn.claims.claim import Claim, claims

__all__ = ["Claim", "claims"]
