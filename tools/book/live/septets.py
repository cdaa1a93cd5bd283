"""Bytes as the letters of a script, seven bits a letter: the same in whatever character set the script is read.

Base64 has six bits a letter. A letter for each byte would be shorter still, but a server that says ``charset=utf-8`` of
all scripts, as those of static pages do, changes the letters above 127.
"""

from __future__ import annotations

import gzip
import json

import numpy as np

_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r"})
_WEIGHTS = 1 << np.arange(7)[::-1]
_IN_A_PAGE = str.maketrans({"\0": "\\x00", "<": "\\x3c"})


def packed(data: bytes) -> str:
    """The letters of the bytes, compressed; the worker of a page unpacks them."""
    return letters_of(gzip.compress(data, 9, mtime=0))


def letters_of(data: bytes) -> str:
    r"""The bytes as letters below 128.

    >>> letters_of(b"\xff\xff")
    '\x7f\x7f`'
    """
    bits = np.unpackbits(np.frombuffer(data, np.uint8))
    rows = np.pad(bits, (0, -len(bits) % 7)).reshape(-1, 7)
    return (rows @ _WEIGHTS).astype(np.uint8).tobytes().decode("ascii")


def bytes_of(letters: str) -> bytes:
    """The bytes that `letters_of` was given; ``worker.js`` has the same for a page.

    >>> bytes_of(letters_of(b"kafkalearn"))
    b'kafkalearn'
    """
    bits = np.unpackbits(np.frombuffer(letters.encode("ascii"), np.uint8).reshape(-1, 1), axis=1)[:, 1:].ravel()
    return np.packbits(bits[: len(bits) // 8 * 8]).tobytes()


def literal(letters: str) -> str:
    """Letters as a string of a script, with the escapes that it cannot do without; `object_in` reads it, too.

    >>> print(literal('say "hi"'))
    "say \\"hi\\""
    """
    return f'"{letters.translate(_ESCAPES)}"'


def object_in(text: str) -> dict:
    """An object of JSON, in which a string may have letters that JSON has escaped.

    >>> object_in('{"of": "one", "packed": "a\\tb"}')
    {'of': 'one', 'packed': 'a\\tb'}
    """
    return json.loads(text, strict=False)


def in_page(script: str) -> str:
    """A script of such strings as a page may have it between its tags: there no letter is NUL, and none opens a tag.

    >>> in_page('packed = "<";')
    'packed = "\\\\x3c";'
    """
    return script.translate(_IN_A_PAGE)
