"""Where a record lands: keyed and keyless, in batches, and what another number of partitions changes."""
