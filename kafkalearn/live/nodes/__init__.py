"""The Java processes of a cluster: configured, started, signalled, and ended with whoever started them."""
