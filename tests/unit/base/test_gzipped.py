"""gzip: packing, unpacking up to a size, and the suffix."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from pytest_irmetrics.base.gzipped import GzipError, gunzip, gunzip_start, is_packed, pack, without_gz


def test_the_same_data_is_packed_to_the_same_bytes_that_gzip_reads():
    assert pack(b"abc") == pack(b"abc")
    assert gzip.decompress(pack(b"abc")) == gunzip(pack(b"abc"), 3) == b"abc"
    assert pack(b"abc")[4:8] == bytes(4)  # no time in its header


def test_what_is_damaged_or_too_large_once_unpacked_is_an_error():
    for damaged in (pack(b"abc")[:-9], b"\x1f\x8b", pack(b"abc")[:-5] + b"12345"):
        with pytest.raises(GzipError, match=r"^its gzip data is cut short or damaged$"):
            gunzip(damaged, 10)
    assert gunzip(pack(bytes(2_000_000)), 2_000_000) == bytes(2_000_000)
    with pytest.raises(GzipError, match=r"^it is larger than 2 MB, once it is unpacked$"):
        gunzip(pack(bytes(2_000_001)), 2_000_000)


def test_the_first_bytes_are_read_of_data_that_goes_on():
    packed = pack(b"0123456789" * 1000)
    assert gunzip_start(packed, 4) == b"0123"
    assert gunzip_start(packed[:-20], 4) == b"0123"
    assert gunzip_start(b"plain", 4) == b"plain"
    assert gunzip_start(b"\x1f\x8bxxxxxxxxxx", 4) == b""


@pytest.mark.parametrize(
    ("name", "without", "packed"),
    [
        ("faq.qrels.gz", "faq.qrels", True),
        ("faq.run.GZ", "faq.run", True),
        ("faq.qrels", "faq.qrels", False),
        ("a.gz/faq", "a.gz/faq", False),
        (".gz", ".gz", False),
    ],
)
def test_a_suffix_says_that_a_file_is_packed(name, without, packed):
    assert without_gz(Path(name)) == Path(without)
    assert is_packed(Path(name)) is packed
