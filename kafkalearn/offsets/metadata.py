"""The text that a commit may carry beside its offset."""

from __future__ import annotations

from kafkalearn.java_collections import utf16_key

MOST_METADATA = 4096  # offset.metadata.max.bytes, the default of every release


def metadata_fits(metadata: str, most: int = MOST_METADATA) -> bool:
    """Whether a coordinator takes a commit with this text; else it answers OFFSET_METADATA_TOO_LARGE.

    Parameters
    ----------
    metadata : str
        Of the application's own.
    most : int
        ``offset.metadata.max.bytes``, which in spite of its name counts Java's characters, UTF-16 units.

    Examples
    --------
    >>> metadata_fits("é" * 4096), metadata_fits("x" * 4097)
    (True, False)

    References
    ----------
    Apache Kafka: ``GroupMetadataManager.validateOffsetMetadataLength`` (0.9 to 3.9), since 4.0
    ``OffsetMetadataManager.isMetadataInvalid``.
    """
    return len(utf16_key(metadata)) <= 2 * most
