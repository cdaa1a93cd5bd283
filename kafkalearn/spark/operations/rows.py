"""Findings as rows, one form for all kinds."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

TYPES = {"broker": "int", "topic": "string", "partition": "int", "group_id": "string", "member_id": "string"}
COLUMNS = ("kind", "at_ms", *TYPES)


def finding(rows: DataFrame, kind: str, *names: str) -> DataFrame:
    """Rows with ``at_ms`` and what names the fault, as findings of a kind: the other columns are null."""
    named = (sf.col(name) if name in names else sf.lit(None).cast(TYPES[name]).alias(name) for name in TYPES)
    return rows.select(sf.lit(kind).alias("kind"), "at_ms", *named)
