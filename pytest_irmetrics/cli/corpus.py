"""Read the titles and texts of documents, for those who judge or look at them: from JSON reports, and from a corpus."""

from __future__ import annotations

import csv
import gzip
import json
import zlib
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

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
    titles = titles_of_reports(runs)
    texts: dict[str, str] = {}
    ids = {*wanted, *map(document_of, wanted)}
    rows = _rows(corpus) if corpus is not None and wanted else ()
    found = False
    for row in rows:
        doc_id = next((str(row[name]) for name in _IDS if row.get(name) not in (None, "")), None)
        if doc_id in ids:
            found = True
            title, text = str(row.get("title") or ""), str(row.get("text") or "")
            if title:
                titles.setdefault(doc_id, " ".join(title.split())[:_LONGEST_TITLE])
            if text.strip():
                texts.setdefault(doc_id, text[:_LONGEST_TEXT])
    if rows and not found:
        print_note(
            f"{corpus}: holds none of the {plural(len(wanted), 'document')} at hand. Check that it spells the ids as the "
            "rankings do."
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


def _object(line: str) -> dict[str, Any]:
    """Read a line that is a JSON object. Raises ValueError for any other."""
    row = json.loads(line)
    if not isinstance(row, dict):
        raise ValueError(line)  # noqa: TRY004 - as for what is no JSON
    return row


def _rows(corpus: str) -> Iterator[Mapping[str, Any]]:
    """Yield the documents of a corpus, each as a mapping of its fields. Raises CommandError."""
    where = printable(corpus)
    number = 0
    try:
        with readable_file(corpus) as path:
            opened = gzip.open if path.suffix == ".gz" else open
            suffix = path.name.removesuffix(".gz")[-4:].lower()
            with opened(path, "rt", encoding="utf-8-sig", newline="") as lines:
                if suffix in (".csv", ".tsv"):
                    rows = csv.DictReader(lines, delimiter="\t" if suffix == ".tsv" else ",")
                    rows.fieldnames = [name.strip().lower() for name in rows.fieldnames or ()]
                    if not set(_IDS) & set(rows.fieldnames):
                        raise CommandError(
                            f"{where}:1: There is no column docid. The first line names the columns: docid,title,text."
                        )
                    yield from rows
                    return
                for line in lines:
                    number += 1
                    if line.strip():
                        yield _object(line)
    except UnicodeDecodeError:
        raise CommandError(f"{where}: is not UTF-8. Save it as UTF-8.") from None
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        raise CommandError(f"{where}: cannot be read: {reason}. Check the path.") from None
    except csv.Error as error:
        raise CommandError(f"{where}: This is no table: {error}. Save it again.") from None
    except (ValueError, RecursionError):
        raise CommandError(
            f"{where}:{number}: This is no JSON object. Write one a line, with docid, title and text, or give the file a name "
            "that ends in .csv or .tsv."
        ) from None
