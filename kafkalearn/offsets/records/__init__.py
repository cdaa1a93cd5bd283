"""The records of ``__consumer_offsets``: their types and layouts, to and from bytes, and as text."""
