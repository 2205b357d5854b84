"""A TREC run read part by part, in columns: in less time than line by line, and in less than half the memory."""

from __future__ import annotations

import math
from array import array
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from pytest_irmetrics.base.gc_pause import pause_gc
from pytest_irmetrics.base.ids import ranked
from pytest_irmetrics.run.answer import make_answer

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_irmetrics.run.answer import Answer, Answers


_CHUNK = 1 << 16  # so small that its parts stay in the processor's cache
_END = b"\0"
# Where `str` splits and `bytes` does not, so that an id may hold it.
_ODD = (b"\x1c", b"\x1d", b"\x1e", b"\x1f")


class _Columns(NamedTuple):
    """The lines of a part of a TREC run."""

    queries: list[str]
    docs: list[str]
    scores: array[float]


def read(file: Path) -> Answers | None:
    """Read a file that is not empty; None for whatever is wrong in any way, to be read again with care."""
    docs: dict[str, list[str]] = {}
    scores: dict[str, array[float]] = {}
    with file.open("rb") as data, pause_gc():
        if data.read(3) != b"\xef\xbb\xbf":
            data.seek(0)
        left = b""
        while True:
            chunk = data.read(_CHUNK)
            whole, _, left = (left + chunk).rpartition(b"\n") if chunk else (left, b"", b"")
            try:
                part = _columns(whole)
            except ValueError:  # a score, UTF-8
                return None
            if part is None:
                return None
            start = 0
            for query_id, rows in groupby(part.queries):
                end = start + len(list(rows))
                docs.setdefault(query_id, []).extend(part.docs[start:end])
                scores.setdefault(query_id, array("d")).extend(part.scores[start:end])
                start = end
            if not chunk:
                break
    answers: dict[str, Answer] = {}
    for query_id, of_query in scores.items():
        ids = docs.pop(query_id)
        if len(set(ids)) != len(ids):
            return None
        values = of_query.tolist()
        # Most runs are written best first.
        falling = values == sorted(values, reverse=True) and len(set(values)) == len(values)
        ranking = tuple(ids) if falling else ranked(zip(ids, values, strict=True))
        answers[query_id] = make_answer((ranking,), None, {})
    return answers or None


def _columns(data: bytes) -> _Columns | None:
    """Split whole lines into columns; None where a line has not six fields, or a score is not a number."""
    lines = data.replace(b"\r\n", b"\n").strip(b"\n")
    if not lines:
        return _Columns([], [], array("d"))
    if b"\r" in lines or _END in lines:
        return None
    while b"\n\n" in lines:
        lines = lines.replace(b"\n\n", b"\n")
    ends = lines.count(b"\n") + 1
    marked = lines.replace(b"\n", b" \0 ") + b" \0"
    # As many marks as lines, each seventh field one: so six fields stand before each.
    if marked.isascii() and not any(odd in marked for odd in _ODD):
        words = marked.decode().split()
        if len(words) != 7 * ends or words[6::7].count("\0") != ends:
            return None
        queries, docs, written = words[0::7], words[2::7], words[4::7]
    else:
        fields = marked.split()
        if len(fields) != 7 * ends or fields[6::7].count(_END) != ends:
            return None
        queries, docs, written = (b"\n".join(fields[at::7]).decode().split("\n") for at in (0, 2, 4))
        if not "".join(written).isascii():  # digits of another script, which a str may be made of
            return None
    scores = array("d", map(float, written))
    if (b"_" in lines and "_" in "".join(written)) or (
        math.isnan(sum(scores)) and any(map(math.isnan, scores))
    ):
        return None
    return _Columns(queries, docs, scores)
