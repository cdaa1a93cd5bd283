"""Whether a record can be lost: from which settings, by which failures, with which remedy."""
