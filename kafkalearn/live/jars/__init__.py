"""The jars of released brokers: which ones they are, where they lie, how they are fetched and run."""
