"""Unpack gzip up to a size, and tell a file's suffix with and without ``.gz``."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


GZIP_MAGIC = b"\x1f\x8b"
"""The first two bytes of every gzip file, and of no text in UTF-8."""


class GzipError(ValueError):
    """Data that cannot be unpacked; its text says why, to follow the name of the file."""


def gunzip(data: bytes, limit: int) -> bytes:
    """Unpack gzip data. Raises GzipError for damaged data, and for more than `limit` bytes of it."""
    import gzip  # noqa: PLC0415 - few files are packed
    import io  # noqa: PLC0415 - as above
    import zlib  # noqa: PLC0415 - as above

    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            unpacked = file.read(limit + 1)
    except (OSError, EOFError, zlib.error):
        raise GzipError("its gzip data is cut short or damaged") from None
    if len(unpacked) > limit:
        raise GzipError(f"it is larger than {limit // 1_000_000} MB, once it is unpacked")
    return unpacked


def gunzip_start(data: bytes, size: int) -> bytes:
    """Unpack the first bytes, at most `size`, of gzip data that may go on; return data of another kind as it is."""
    import zlib  # noqa: PLC0415 - as above

    if not data.startswith(GZIP_MAGIC):
        return data
    try:
        return zlib.decompressobj(wbits=31).decompress(data, size)
    except zlib.error:
        return b""


def pack(data: bytes) -> bytes:
    """Compress data with gzip; the same data always gives the same bytes."""
    import gzip  # noqa: PLC0415 - as above

    return gzip.compress(data, mtime=0)


def is_packed(path: Path) -> bool:
    """Say whether a path is named as a gzip file is."""
    return path.suffix.lower() == ".gz"


def without_gz(path: Path) -> Path:
    """Return a path without the suffix ``.gz``: ``faq.qrels`` for ``faq.qrels.gz``."""
    return path.with_suffix("") if is_packed(path) and path.stem else path
