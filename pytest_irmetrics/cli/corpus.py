"""Read the titles and texts of documents, for those who judge or look at them: from JSON reports, and from a corpus."""

from __future__ import annotations

import csv
import gzip
import json
import zlib
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_irmetrics.base.files import without_gz
from pytest_irmetrics.base.wording import plural, printable
from pytest_irmetrics.cli.inputs import readable_file
from pytest_irmetrics.cli.shared import CommandError, print_note
from pytest_irmetrics.retrieval.passages import document_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

CORPUS_HELP = (
    "the documents, to show their titles and texts: JSON Lines, or CSV or TSV with a header, with docid (or _id, id), title, "
    "text; may be packed (.gz); - is JSON Lines on standard input"
)
_IDS = ("docid", "doc_id", "_id", "id")
_LONGEST_TEXT, _LONGEST_TITLE = 50_000, 200


class Documents(NamedTuple):
    """What is known of documents besides their ids."""

    titles: Mapping[str, str]
    texts: Mapping[str, str]

    def title(self, doc_id: str) -> str | None:
        """Return the title of a document, or of the one that a chunk is of; None where it is unknown."""
        return self.titles.get(doc_id) or self.titles.get(document_of(doc_id))


def load_documents(runs: Iterable[str], corpus: str | None, wanted: Collection[str]) -> Documents:
    """Return what the JSON reports among some files of runs say of documents, and what a corpus says of those wanted.

    `wanted` are ids as rankings have them. Raises CommandError for a corpus that cannot be read.
    """
    titles, texts = titles_of_reports(runs), dict[str, str]()
    if corpus is None or not wanted:
        return Documents(titles, texts)
    ids, found = {*wanted, *map(document_of, wanted)}, False
    for row in _rows(corpus):
        doc_id = next((str(row[name]) for name in _IDS if row.get(name) not in (None, "")), None)
        if doc_id in ids:
            found = True
            title, text = str(row.get("title") or ""), str(row.get("text") or "")
            if title:
                titles.setdefault(doc_id, " ".join(title.split())[:_LONGEST_TITLE])
            if text.strip():
                texts.setdefault(doc_id, text[:_LONGEST_TEXT])
    if not found:
        print_note(
            f"{corpus}: holds none of the {plural(len(wanted), 'document')} at hand. Check that it has a `docid`, and spells the "
            "ids as the rankings do."
        )
    return Documents(titles, texts)


def titles_of_reports(paths: Iterable[str]) -> dict[str, str]:
    """Return the titles of documents that the JSON reports among some files of runs have."""
    titles: dict[str, str] = {}
    for path in paths:
        # Any other file is a run without titles, or has been refused as one.
        with suppress(OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            for test in json.loads(Path(path).read_bytes())["tests"]:
                titles.update((doc_id, str(title)) for doc_id, title in test["titles"].items())
    return titles


def _rows(corpus: str) -> Iterator[Mapping[str, Any]]:
    """Yield the documents of a corpus, each as a mapping of its fields. Raises CommandError."""
    number = 1  # of the line at hand
    try:
        with readable_file(corpus) as path:
            opened = gzip.open if path.suffix == ".gz" else open
            delimiter = {".csv": ",", ".tsv": "\t"}.get(without_gz(path).suffix.lower())
            with opened(path, "rt", encoding="utf-8-sig", newline="") as lines:
                if delimiter is not None:
                    table = csv.DictReader(lines, delimiter=delimiter)
                    table.fieldnames = [name.strip().lower() for name in table.fieldnames or ()]
                    yield from table
                else:
                    for number, line in enumerate(lines, 1):  # noqa: B007 - for the error
                        row = json.loads(line) if line.strip() else {}
                        yield row if isinstance(row, dict) else {}
    except (OSError, EOFError, zlib.error, csv.Error, ValueError, RecursionError) as error:
        reason = getattr(error, "strerror", None) or error
        raise CommandError(
            f"{printable(corpus)}:{number}: cannot be read: {reason}. Give JSON Lines, or a table with a header (.csv, .tsv), of "
            "docid, title and text, in UTF-8."
        ) from None
