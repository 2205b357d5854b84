"""Read the titles and texts of documents, for those who look at them or judge them: from JSON reports, and from a corpus."""

from __future__ import annotations

import csv
import io
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_irmetrics.base import strict_json
from pytest_irmetrics.base.gzipped import is_packed, without_gz
from pytest_irmetrics.base.read_file import MAX_RUN_BYTES, open_regular, read_regular
from pytest_irmetrics.base.wording import plural, printable
from pytest_irmetrics.cli.command_line import CommandError, print_escaped
from pytest_irmetrics.cli.standard_streams import STANDARD, readable_file
from pytest_irmetrics.retrieval.passages import document_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Collection, Iterable, Iterator, Mapping
    from typing import BinaryIO

_MAX_BYTES = 1_000_000_000_000
"""Of a corpus, which is read line by line; only what is wanted of it is kept."""
_LONGEST_TEXT = 50_000
_LONGEST_TITLE = 200
_IDS = ("docid", "doc_id", "_id", "id")


class Documents(NamedTuple):
    """What is known of documents besides their ids."""

    titles: Mapping[str, str]
    texts: Mapping[str, str]

    def title(self, doc_id: str) -> str | None:
        """Return the title of a document, or of the one that a chunk is of; None where it is unknown."""
        return self.titles.get(doc_id) or self.titles.get(document_of(doc_id))


def add_corpus_option(parser: argparse._ActionsContainer) -> None:
    """Add ``--corpus``, which says where the titles and texts of documents are."""
    parser.add_argument(
        "--corpus",
        metavar="FILE",
        help="the documents, to show their titles and texts: JSON Lines, or CSV or TSV with a header, with docid (or _id, id), "
        "title, text; may be packed (.gz); - is JSON Lines on standard input",
    )


def load_documents(runs: Iterable[str], corpus: str | None, wanted: Collection[str]) -> Documents:
    """Return what the JSON reports among some files of runs say of documents, and what a corpus says of those wanted.

    `wanted` are ids as rankings have them; without any nothing is read. Raises CommandError for a corpus that cannot be read.
    """
    if not wanted:
        return Documents({}, {})
    documents = _of_reports(runs)
    return documents if corpus is None else _with_corpus(documents, corpus, wanted)


def _with_corpus(documents: Documents, corpus: str, wanted: Collection[str]) -> Documents:
    """Return what is known of documents, and of those that are not known what a corpus says."""
    titles, texts = dict(documents.titles), dict(documents.texts)
    ids = {*wanted, *map(document_of, wanted)}
    found = False
    for row in _rows(corpus):
        doc_id = next((str(row[name]) for name in _IDS if row.get(name) not in (None, "")), None)
        if doc_id not in ids:
            continue
        found = True
        title, text = (row.get(name) for name in ("title", "text"))
        if isinstance(title, str) and title:
            titles.setdefault(doc_id, " ".join(title.split())[:_LONGEST_TITLE])
        if isinstance(text, str) and text.strip():
            texts.setdefault(doc_id, text[:_LONGEST_TEXT])
    if not found:
        print_escaped(
            f"note: {corpus}: holds none of the {plural(len(wanted), 'document')} at hand. Check that it spells the ids as the "
            "rankings do.",
            sys.stderr,
        )
    return Documents(titles, texts)


def _of_reports(paths: Iterable[str]) -> Documents:
    """Return the titles of documents that the JSON reports among some files of runs have."""
    titles: dict[str, str] = {}
    for path in paths:
        if path == STANDARD:  # it is read once, as a run
            continue
        try:
            report = strict_json.loads(read_regular(Path(path), MAX_RUN_BYTES).decode("utf-8"))
            for test in report["tests"]:
                titles.update({key: text for key, text in test["titles"].items() if isinstance(text, str)})
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            continue  # a run in another format, which has none
    return Documents(titles, {})


def _rows(corpus: str) -> Iterator[Mapping[str, Any]]:
    """Yield the documents of a corpus, each as a mapping of its fields. Raises CommandError."""
    where = printable(corpus)
    with readable_file(corpus, "") as path:
        suffix = without_gz(path).suffix.lower()
        try:
            with open_regular(path, _MAX_BYTES) as file:
                lines = io.TextIOWrapper(_unpacked(file, path), encoding="utf-8-sig", newline="")
                if suffix in (".csv", ".tsv"):
                    yield from _table_rows(lines, "\t" if suffix == ".tsv" else ",", where)
                else:
                    yield from _json_rows(lines, where)
        except (OSError, EOFError) as error:
            reason = getattr(error, "strerror", None) or error
            raise CommandError(f"{where}: cannot be read: {reason}. Check the path.") from None
        except UnicodeDecodeError:
            raise CommandError(f"{where}: is not UTF-8. Save it as UTF-8.") from None


def _unpacked(file: BinaryIO, path: Path) -> BinaryIO:
    if not is_packed(path):
        return file
    import gzip  # noqa: PLC0415 - few files are packed

    return gzip.GzipFile(fileobj=file)  # type: ignore[return-value]  # it reads, and no more is asked of it


def _json_rows(lines: Iterable[str], where: str) -> Iterator[Mapping[str, Any]]:
    """Yield the documents of JSON Lines. Raises CommandError for a line that is none."""
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict):
            raise CommandError(
                f"{where}:{number}: This is no JSON object. Write one a line, with docid, title and text, or give the file "
                "a name that ends in .csv or .tsv."
            )
        yield row


def _table_rows(lines: Iterable[str], delimiter: str, where: str) -> Iterator[Mapping[str, Any]]:
    """Yield the documents of CSV or TSV. Raises CommandError where it names no column of ids."""
    rows = csv.DictReader(lines, delimiter=delimiter)
    try:
        rows.fieldnames = [name.strip().lower() for name in rows.fieldnames or ()]
        if not set(_IDS) & set(rows.fieldnames):
            raise CommandError(
                f"{where}:1: There is no column docid. The first line names the columns: docid,title,text."
            )
        yield from rows
    except csv.Error as error:
        raise CommandError(f"{where}:{rows.line_num}: This is no table: {error}. Save it again.") from None
