"""A TREC run: lines of ``query Q0 document rank score tag``, read with care and written."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NoReturn

from pytest_irmetrics.base.ids import ranked
from pytest_irmetrics.base.wording import quote
from pytest_irmetrics.run.answer import Answer
from pytest_irmetrics.run.faults import CONFLICT, RunError, decode

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_irmetrics.run.answer import Answers

__tracebackhide__ = True  # what passes through shows the user's lines, not ours


def lines(answers: Answers) -> Iterator[str]:
    """Yield a line for each document of the first repeats. Raises RunError for what no such line can hold."""
    for query_id in sorted(answers):
        ranking = answers[query_id].rankings[0]
        # A byte order mark at the start of a line may be at the start of the file, and is none of the id then.
        bad = query_id if query_id.startswith("\ufeff") else _unfit((query_id, *ranking))
        if bad is not None:
            cure = "Give the query an `id` of its own, or save" if bad == query_id else "Save"
            raise RunError(
                f"{quote(bad)} cannot be an id in a TREC run: {_why_unfit(bad)}. {cure} with the suffix .json."
            )
        for rank, doc in enumerate(ranking):
            # Scores that fall by one keep the order for every reader, also for those that compare floats.
            yield f"{query_id} Q0 {doc} {rank + 1} {len(ranking) - rank} pytest-irmetrics\n"


def read(data: bytes, where: str) -> Answers:
    """Read lines in any order; documents come in the order of trec_eval, and the rank is not read.

    Fields are split in bytes, at ASCII white space, as trec_eval does: an id may hold a no-break space.
    """
    if data.startswith(b"\x1f\x8b"):
        raise RunError(f"{where}:1: is compressed. Unpack it (`gunzip`).")
    data = data.removeprefix(b"\xef\xbb\xbf")
    scores: dict[bytes, dict[bytes, float]] = {}
    number = 0
    for number, line in enumerate(data.splitlines(), start=1):
        fields = line.split()
        if not fields:
            continue
        if len(fields) != 6:
            _refuse_line(line, len(fields), where, number)
        query_id, _, doc, _, written, _ = fields
        try:
            score = float(written)
        except ValueError:
            score = math.nan
        if math.isnan(score) or b"_" in written:
            shown = quote(written.decode("utf-8", "replace"))
            raise RunError(
                f"{where}:{number}: the score {shown} is not a number. Write `query Q0 document rank score tag`."
            )
        docs = scores.setdefault(query_id, {})
        if doc in docs:
            names = [quote(name.decode("utf-8", "replace")) for name in (doc, query_id)]
            raise RunError(
                f"{where}:{number}: the document {names[0]} comes twice for query {names[1]}. Keep one of the lines."
            )
        docs[doc] = score
    if not scores:
        raise RunError(
            f"{where}:1: the file is empty. Give a TREC run, of lines `query Q0 document rank score tag`."
        )
    decode(data, where)
    return {
        query_id.decode(): Answer((ranked([(doc.decode(), score) for doc, score in docs.items()]),))
        for query_id, docs in scores.items()
    }


def _refuse_line(line: bytes, fields: int, where: str, number: int) -> NoReturn:
    if CONFLICT.match(line.decode("utf-8", "replace")):
        raise RunError(
            f"{where}:{number}: a conflict's marker, left by a merge. Take one side whole (`git checkout --ours` or `--theirs`)."
        )
    if number == 1 and line.lstrip()[:1] in {b"{", b"["}:
        raise RunError(
            f"{where}:1: looks like JSON, and a run is read as JSON only if its name ends in `.json`. Rename the file."
        )
    found = f"{fields} {'field' if fields == 1 else 'fields'}, not 6"
    if fields == 4 and number == 1:
        found += "; judgments (qrels) have 4"
    raise RunError(f"{where}:{number}: {found}. Write `query Q0 document rank score tag`.")


def _unfit(names: Sequence[str]) -> str | None:
    """Return the first name that is empty, holds white space, or cannot be written as UTF-8."""
    for name in names if not _are_words(names) else ():
        if not _are_words((name,)):
            return name
    return None


def _why_unfit(name: str) -> str:
    if not name:
        return "it is empty"
    if name.startswith("\ufeff"):
        return "it begins with a byte order mark, which may be the file's"
    data = name.encode("utf-8", "surrogatepass")
    return "it holds white space, which parts the fields" if data.split() != [data] else "it has no UTF-8"


def _are_words(names: Sequence[str]) -> bool:
    try:
        data = "\n".join(names).encode("utf-8")
    except UnicodeEncodeError:
        return False
    words = data.split()
    return len(words) == len(names) and b"\n".join(words) == data
