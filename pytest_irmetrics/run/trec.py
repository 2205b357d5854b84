"""Read and write TREC runs: lines of ``query Q0 document rank score tag``."""

from __future__ import annotations

import math
import operator
import re
from array import array
from codecs import BOM_UTF8
from itertools import chain, islice
from typing import TYPE_CHECKING, NoReturn

from pytest_irmetrics.base.gzipped import GZIP_MAGIC, GzipError, gunzip
from pytest_irmetrics.base.ids import ranked
from pytest_irmetrics.base.read_file import MAX_RUN_BYTES, TooLargeError, open_regular
from pytest_irmetrics.base.wording import quote
from pytest_irmetrics.run.answer import CONFLICT, Answer, RunError, decode

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from pytest_irmetrics.run.answer import Answers

__tracebackhide__ = True  # pytest leaves these frames out: a traceback shows the user's own lines

_MAX_LINE = 1_000_000  # bytes; joining chunks to a line without an end takes ever longer
_NUMBER = re.compile(rb"[+-]?[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?")
_CHUNK = 1 << 16  # so small that its lines stay in the processor's cache


def lines(answers: Answers) -> Iterator[str]:
    """Yield a line for each document of the first repeats. Raises RunError for what no such line can hold."""
    for query_id in sorted(answers):
        ranking = answers[query_id].rankings[0]
        # A byte order mark at the start of a line may be at the start of the file, and is none of the id then.
        bad = query_id if query_id.startswith("\ufeff") or query_id == "#" else _unfit((query_id, *ranking))
        if bad is not None:
            cure = "Give the query an `id` of its own, or save" if bad == query_id else "Save"
            raise RunError(
                f"{quote(bad)} cannot be an id in a TREC run: {_why_unfit(bad)}. {cure} with the suffix .json."
            )
        for rank, doc in enumerate(ranking):
            # Scores that fall by one keep the order for every reader, also for those that compare floats.
            yield f"{query_id} Q0 {doc} {rank + 1} {len(ranking) - rank} pytest-irmetrics\n"


def read(file: Path, shown: str) -> Answers:
    """Read lines in any order; documents come in the order of trec_eval, and the rank is not read.

    Fields are split in bytes, at ASCII white space, as trec_eval does: an id may hold a no-break space. What follows the
    tag is not read, nor are comments. The file may be packed with gzip. `shown` is how errors call it. Raises RunError, and OSError where the file cannot be read.
    """
    # Documents and scores of a query are two flat arrays: a dictionary of them takes three times the memory.
    docs: dict[bytes, list[bytes]] = {}
    scores: dict[bytes, array[float]] = {}
    current = None
    for number, line in _numbered_lines(file, shown):
        fields = line.split()
        if len(fields) != 6:
            if not fields or _is_comment(fields):
                continue
            if not _has_further_fields(fields):
                _refuse_duplicate(file, shown, before=number)
                _refuse_fields(line, fields, shown, number)
        query_id, _, doc, _, written = fields[:5]
        try:
            score = float(written)
        except ValueError:
            score = math.nan
        if query_id[:1] == b"#" and (query_id == b"#" or math.isnan(score)):
            continue  # a comment of as many words
        if math.isnan(score) or b"_" in written:
            _refuse_duplicate(file, shown, before=number)
            raise RunError(
                f"{shown}:{number}: the score {_quote(written)} is not a number. Write `query Q0 document rank score tag`."
            )
        if query_id != current:
            current = query_id
            docs_of_query = docs.setdefault(query_id, [])
            scores_of_query = scores.setdefault(query_id, array("d"))
        docs_of_query.append(doc)
        scores_of_query.append(score)
    if not scores:
        raise RunError(
            f"{shown}:1: the file is empty. Give a TREC run, of lines `query Q0 document rank score tag`."
        )
    if any(len(set(ids)) != len(ids) for ids in docs.values()):
        _refuse_duplicate(file, shown)
    try:
        return {
            query_id.decode(): Answer((_ranking(docs.pop(query_id), of_query.tolist()),))
            for query_id, of_query in scores.items()
        }
    except UnicodeDecodeError:
        decode(
            b"\n".join(line for _, line in _numbered_lines(file, shown)), shown
        )  # raises RunError with the line
        raise


def _numbered_lines(file: Path, shown: str) -> Iterator[tuple[int, bytes]]:
    return enumerate(chain.from_iterable(_chunks_of_lines(file, shown)), start=1)


def _is_comment(fields: Sequence[bytes]) -> bool:
    """Say whether a line of another count of fields than six is a comment; a result of a query such as ``#9`` is none."""
    return fields[0][:1] == b"#" and (fields[0] == b"#" or len(fields) < 6)


def _has_further_fields(fields: Sequence[bytes]) -> bool:
    """Say whether a line holds a result and more, which trec_eval does not read.

    Not where an id with white space explains the fields as well: no rank is then in the place of the rank, or a number
    in the place of the tag.
    """
    return len(fields) > 6 and _NUMBER.fullmatch(fields[3]) is not None and not _NUMBER.fullmatch(fields[5])


def _chunks_of_lines(file: Path, shown: str) -> Iterator[list[bytes]]:
    with open_regular(file, MAX_RUN_BYTES) as data:
        start = data.read(3)
        left = MAX_RUN_BYTES
        if start.startswith(GZIP_MAGIC):
            data.seek(0)
            yield from _unpacked_chunks(data.read(MAX_RUN_BYTES), shown)
            return
        unfinished = start.removeprefix(BOM_UTF8)
        while chunk := data.read(_CHUNK):
            left -= len(chunk)
            if left < 0:  # it has grown since it was opened
                raise TooLargeError(MAX_RUN_BYTES)
            whole, end, unfinished = (unfinished + chunk).rpartition(b"\n")
            if len(unfinished) > _MAX_LINE:
                raise RunError(
                    f"{shown}: has a line of more than {_MAX_LINE // 1_000_000} MB, and is no TREC run. Write "
                    "`query Q0 document rank score tag`."
                )
            yield (whole + end).splitlines()
        yield unfinished.splitlines()


def _unpacked_chunks(packed: bytes, shown: str) -> Iterator[list[bytes]]:
    try:
        unpacked = gunzip(packed, MAX_RUN_BYTES)
    except GzipError as error:
        raise RunError(f"{shown}: cannot be read: {error}. Pack it again.") from None
    unpacked = unpacked.removeprefix(BOM_UTF8)
    start = 0
    while start < len(unpacked):
        end = unpacked.find(b"\n", start + _CHUNK) + 1 or len(unpacked)
        yield unpacked[start:end].splitlines()
        start = end


def _ranking(docs: list[bytes], scores: list[float]) -> tuple[str, ...]:
    ids = b"\n".join(docs).decode().split("\n")
    if all(map(operator.gt, scores, islice(scores, 1, None))):  # most runs are written best first
        return tuple(ids)
    return ranked(zip(ids, scores, strict=True))


def _refuse_duplicate(file: Path, shown: str, before: int | None = None) -> None:
    """Raise RunError where a document comes twice for a query, in lines up to the one that is wrong otherwise."""
    seen = set()
    for number, line in _numbered_lines(file, shown):
        if number == before:
            return
        fields = line.split()
        if fields and not _is_comment(fields):
            query_id, _, doc, *_ = fields
            if (query_id, doc) in seen:
                raise RunError(
                    f"{shown}:{number}: the document {_quote(doc)} comes twice for query {_quote(query_id)}. Keep one of the lines."
                )
            seen.add((query_id, doc))


def _refuse_fields(line: bytes, fields: Sequence[bytes], shown: str, number: int) -> NoReturn:
    """Raise RunError for a line that has not six fields."""
    if CONFLICT.match(line.decode("utf-8", "replace")):
        raise RunError(
            f"{shown}:{number}: is in a merge conflict. Take one side whole (`git checkout --ours` or `--theirs`)."
        )
    if number == 1 and line.lstrip()[:1] in {b"{", b"["}:
        raise RunError(
            f"{shown}:1: looks like JSON, and a run is read as JSON only if its name ends in `.json`. Rename the file."
        )
    found = f"{len(fields)} {'field' if len(fields) == 1 else 'fields'}, not 6"
    if len(fields) == 4 and number == 1:
        found += "; judgments (qrels) have 4"
    if len(fields) > 6:
        found = f"{len(fields)} fields, of which the fourth is no rank or the sixth no tag: an id holds white space"
    raise RunError(f"{shown}:{number}: {found}. Write `query Q0 document rank score tag`.")


def _quote(field: bytes) -> str:
    return quote(field.decode("utf-8", "replace"))


def _unfit(names: Sequence[str]) -> str | None:
    """Return the first name that is empty, holds white space, or cannot be written as UTF-8."""
    for name in names if not _are_words(names) else ():
        if not _are_words((name,)):
            return name
    return None


def _why_unfit(name: str) -> str:
    if not name:
        return "it is empty"
    if name == "#":
        return "a line that begins with it is a comment"
    if name.startswith("\ufeff"):
        return "it begins with a byte order mark, which may be the file's"
    data = name.encode("utf-8", "surrogatepass")
    return "it holds white space, which parts the fields" if data.split() != [data] else "it has no UTF-8"


def _are_words(names: Sequence[str]) -> bool:
    """Say whether each name is one field for a reader that splits at ASCII white space."""
    try:
        data = "\n".join(names).encode("utf-8")
    except UnicodeEncodeError:
        return False
    words = data.split()
    return len(words) == len(names) and b"\n".join(words) == data
