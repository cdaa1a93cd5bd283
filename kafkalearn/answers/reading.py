"""The text of a file that somebody has given, whole, or a sentence why not."""

from __future__ import annotations

from pathlib import Path

from kafkalearn.errors import KafkaLearnError
from kafkalearn.given_files import mark_of, name_of, opened

MOST_BYTES = 64 * 2**20  # of settings, keys or a pasted text


def text_of(path: str | Path, what: str) -> str:
    """The whole text of a file; ``-`` is standard input.

    A byte order mark decides the encoding (UTF-8, UTF-16); without one it is UTF-8. A gzipped file is unpacked.

    Parameters
    ----------
    path : str or Path
        Where it is.
    what : str
        What the file is, for the error: ``"a properties file"``.

    Raises
    ------
    KafkaLearnError
        If there is no such file, it is a folder, may not be read, is no text, or is larger than `MOST_BYTES`.

    Examples
    --------
    >>> text_of("/", "a properties file")
    Traceback (most recent call last):
    ...
    kafkalearn.errors.KafkaLearnError: '/' is a folder, and a properties file is wanted
    """
    name, data = bytes_of(path, what)
    mark, encoding = mark_of(data)
    if not mark and b"\0" in data:
        raise KafkaLearnError(f"{name} is no text: it has bytes of zero; {what} is wanted")
    return decoded(data[len(mark) :], encoding, name, what)


def bytes_of(path: str | Path, what: str) -> tuple[str, bytes]:
    """The name of a file as a message has it, and its bytes, unpacked if it is gzipped; as `text_of`."""
    name = name_of(path)
    with opened(path, what) as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise KafkaLearnError(f"{name} has more than {MOST_BYTES // 2**20} MiB; {what} is wanted, give a part of it")
    return name, data


def decoded(data: bytes, encoding: str, name: str, what: str) -> str:
    """Bytes as text, or the error that says where they are none."""
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise KafkaLearnError(
            f"{name} is no text in {encoding.upper()}: byte {error.start} does not fit; {what} is wanted"
        ) from None
