"""Append judgments to a golden set in YAML for `label`: those of the command line, of a CSV file, or of a whole list."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_irmetrics.analysis.labelling import is_judged_by_text
from pytest_irmetrics.base.atomic_write import write_whole
from pytest_irmetrics.base.escape import id_printed_as
from pytest_irmetrics.base.gzipped import without_gz
from pytest_irmetrics.base.numbers import MAX_GRADE
from pytest_irmetrics.base.wording import listed, plural, quote
from pytest_irmetrics.cli.command_line import OK, CommandError, print_escaped
from pytest_irmetrics.cli.inputs import unknown_query
from pytest_irmetrics.cli.judgment import Judgment, new_judgments, parse_grade
from pytest_irmetrics.cli.standard_streams import STANDARD, print_about, write_file
from pytest_irmetrics.golden.passage import normalize_text

if TYPE_CHECKING:
    import argparse
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from pytest_irmetrics.golden import GoldenSet, Query
    from pytest_irmetrics.metrics import Grade

_MAX_NAMED = 3
"""Ids that a note names."""
_EDITABLE_SUFFIXES = (".yaml", ".yml")


def why_not_editable(file: str) -> str | None:
    """Return why judgments cannot be appended to a file and what to do instead; None for YAML, where they can."""
    path = Path(file)
    if file == STANDARD or path.suffix.lower() in _EDITABLE_SUFFIXES:
        return None
    convert = shlex.join(["pytest-irmetrics", "convert", file, str(without_gz(path).with_suffix(".yaml"))])
    return (
        "Judgments are appended to YAML alone. Add them to this file with what wrote it, or make YAML of it: "
        f"`{convert}`."
    )


def find_query(golden: GoldenSet, query_id: str, file: str) -> Query:
    """Return a query of the golden set by id. Raises CommandError if there is none."""
    query = golden.find(query_id)
    if query is None:
        raise CommandError(unknown_query(file, query_id, golden))
    return query


def judgments_given(
    golden: GoldenSet, returned: Collection[str], texts: Mapping[str, str], options: argparse.Namespace
) -> Iterator[Judgment]:
    """Yield the judgments given with ``--judge``; an id may also be written as the list prints it, with escapes.

    `returned` are the documents that runs returned, and `texts` the known ones of them. Raises CommandError.
    """
    for query_id, doc_id, grade in options.judge:
        where = f"--judge {shlex.join([query_id, doc_id, grade])}"
        query = find_query(golden, query_id, options.file)
        number = _read_grade(grade, where)
        if not doc_id:
            raise CommandError(f"{where}: The document's id is empty. Write it.")
        known = doc_id in returned or doc_id in query.judgments
        printed = None if known else id_printed_as(doc_id, [*returned, *query.judgments])
        one = Judgment(where, query.id, doc_id if printed is None else printed, number)
        text = texts.get(one.doc_id)
        if is_judged_by_text(query, one.doc_id, number, text):
            if text is None:
                raise CommandError(
                    f"{where}: {quote(doc_id)} is a chunk, which is judged by its text: "
                    "--passage QUERY DOC TEXT GRADE."
                )
            one = one.by_text(text)
        yield one


def passages_given(golden: GoldenSet, options: argparse.Namespace) -> Iterator[Judgment]:
    """Yield the judgments given with ``--passage``. Raises CommandError."""
    for query_id, doc_id, text, grade in options.passage:
        where = f"--passage {shlex.join([query_id, doc_id, text, grade])}"
        query = find_query(golden, query_id, options.file)
        number = _read_grade(grade, where)
        if not doc_id or not normalize_text(text):
            raise CommandError(f"{where}: The document's id or the text is empty. Write it.")
        yield Judgment(where, query.id, doc_id, number, text)


def _read_grade(text: str, where: str) -> Grade:
    """Return a grade of the command line; `where` is its option, for the CommandError."""
    grade = parse_grade(text)
    if grade is None:
        raise CommandError(f"{where}: {quote(text)} is no grade. Write a number from 0 to {MAX_GRADE}.")
    return grade


def append(
    golden: GoldenSet,
    judgments: Sequence[Judgment],
    returned: Collection[str],
    options: argparse.Namespace,
) -> int:
    """Append judgments to the file, all of them or none, and print their places."""
    path = golden.path
    assert path is not None  # noqa: S101 - it was loaded
    refused = why_not_editable(options.file)
    if refused is not None:
        raise CommandError(f"{options.file}: {refused}")
    new = new_judgments(judgments, golden)
    after = golden
    if new.total:
        from pytest_irmetrics.golden.append import append_judgments  # noqa: PLC0415 - only who appends needs it

        data, after = append_judgments(
            path.read_bytes(), new.documents, path, options.file, options.metric, new.passages
        )
        write_whole(path, data)
    if options.file == STANDARD:
        write_file(STANDARD, path.read_bytes())
    for query_id, key, grade in new.written() if not options.quiet else ():
        print_about(options.file, f"{after.where_judged(query_id, key)}: {query_id}: {key} {grade:g}")
    also = (
        f", {new.known} there already"
        if new.known
        else ""
        if judgments
        else f": no row of {options.csv_file} has a rating"
    )
    if not options.quiet:
        print_about(options.file, f"{options.file}: {plural(new.total, 'judgment')} appended{also}.")
    unknown = [
        doc_id for documents in new.documents.values() for doc_id in documents if doc_id not in returned
    ]
    if returned and unknown:
        print_escaped(
            f"note: No run returned {listed(unknown, _MAX_NAMED)}, for any query. Check that the ids are spelt as the index "
            "spells them.",
            sys.stderr,
        )
    return OK
