"""What reading logs may take of memory, however large the files are."""

MOST_EVENTS = 500_000  # kept at once; about 1 kB each
LONGEST_LINE = 64 * 1024  # characters; the rest of a longer line is passed over
MOST_UNKNOWN = 1000  # unknown lines that are kept to be shown
LONGEST_SHOWN = 500  # characters of such a line
CHUNK = 1 << 20  # characters read at once
MOST_FILES = 10_000
