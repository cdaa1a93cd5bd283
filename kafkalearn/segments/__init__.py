"""Segment files of any topic: record batches, records, compression, checksums, transactions."""
