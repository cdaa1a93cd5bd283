"""The log cleaner: what it may take, which record of a key is the last, and what it copies."""
