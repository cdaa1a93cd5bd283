"""The byte layouts of what is kept in ``__consumer_offsets``, as data: one file for each kind of group."""
