"""A producer that retries: what is acknowledged, lost, doubled or rejected."""
