"""Read the titles and texts of documents, for those who look at them or judge them: from JSON reports, and from a corpus."""

from __future__ import annotations

import csv
import io
import json
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_irmetrics.base import strict_json
from pytest_irmetrics.base.gzipped import is_packed, without_gz
from pytest_irmetrics.base.read_file import MAX_RUN_BYTES, open_regular, read_regular
from pytest_irmetrics.base.wording import plural, printable
from pytest_irmetrics.cli.command_line import CommandError, print_escaped
from pytest_irmetrics.cli.standard_streams import STANDARD, readable_file
from pytest_irmetrics.retrieval.chunks import SOURCE_NAMES, TEXT_NAMES
from pytest_irmetrics.retrieval.passages import Chunk, chunk_name, document_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Collection, Iterable, Iterator, Mapping
    from typing import BinaryIO

_MAX_BYTES = 1_000_000_000_000
"""Of a corpus, which is read line by line; only what is wanted of it is kept."""
_LONGEST_LINE = 50_000_000
_LONGEST_TEXT = 50_000
_LONGEST_TITLE = 200
_IDS = ("_id", "id", "docid", "doc_id")
_TEXTS = (*TEXT_NAMES, "contents", "body")


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
        help="the documents, to show their titles and texts: a BEIR corpus.jsonl or folder, JSON Lines, CSV or TSV with the "
        "columns docid, title, text, or a JSON object of id to title; may be packed (.gz); - is standard input",
    )


def load_documents(runs: Iterable[str], corpus: str | None, wanted: Collection[str]) -> Documents:
    """Return what the JSON reports among some files of runs say of documents, and what a corpus says of those wanted.

    `wanted` are ids as rankings have them, so of chunks, too; without any nothing is read. Raises CommandError for a
    corpus that cannot be read.
    """
    if not wanted:
        return Documents({}, {})
    documents = _of_reports(runs)
    return documents if corpus is None else _with_corpus(documents, corpus, wanted)


def _with_corpus(documents: Documents, corpus: str, wanted: Collection[str]) -> Documents:
    """Return what is known of documents, and of those that are not known what a corpus says."""
    titles, texts = dict(documents.titles), dict(documents.texts)
    plain = {*wanted, *map(document_of, wanted)}
    chunks: dict[str, list[str]] = {}
    for entry in wanted:
        if (name := chunk_name(entry)) is not None:
            chunks.setdefault(name, []).append(entry)
    found = False
    for row in _rows(corpus):
        own_id, source, text = (_field(row, names) for names in (_IDS, SOURCE_NAMES, _TEXTS))
        if own_id is None:
            continue
        entries = [own_id] if own_id in plain else []
        name = Chunk(source or "", own_id, text).name
        entries += [
            entry for entry in chunks.get(name or "", ()) if source in (None, own_id, document_of(entry))
        ]
        title = _field(row, ("title",))
        for entry in entries:
            found = True
            if title:
                titles.setdefault(entry, " ".join(title.split())[:_LONGEST_TITLE])
            if text and not text.isspace():
                texts.setdefault(entry, text[:_LONGEST_TEXT])
    if not found:
        print_escaped(
            f"note: {corpus}: holds none of the {plural(len(wanted), 'document')} at hand. Check that it spells the ids as the "
            "rankings do.",
            sys.stderr,
        )
    return Documents(titles, texts)


def _field(row: Mapping[str, Any], names: Iterable[str]) -> str | None:
    """Return the first of some fields that is a text or a whole number, as text."""
    for name in names:
        value = row.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        if isinstance(value, str) and value:
            return value
    return None


def _of_reports(paths: Iterable[str]) -> Documents:
    """Return the titles of documents and the texts of chunks that the JSON reports among some files of runs have."""
    titles: dict[str, str] = {}
    texts: dict[str, str] = {}
    for path in paths:
        if path == STANDARD:  # it is read once, as a run
            continue
        try:
            report = strict_json.loads(read_regular(Path(path), MAX_RUN_BYTES).decode("utf-8"))
            for test in report["tests"]:
                titles.update(_texts_in(test["titles"]))
                for entry, text in _texts_in(test.get("chunk_texts", {})).items():
                    # Two ways to cut a document may call two chunks the same.
                    if texts.setdefault(entry, text) != text:
                        texts[entry] = ""
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            continue  # a run in another format, which has none
    return Documents(titles, {entry: text for entry, text in texts.items() if text})


def _texts_in(mapping: Mapping[str, Any]) -> dict[str, str]:
    """Return the entries of a mapping whose values are text."""
    return {key: text for key, text in mapping.items() if isinstance(text, str)}


# Formats --------------------------------------------------------------------------------------------------------


def _rows(corpus: str) -> Iterator[Mapping[str, Any]]:
    """Yield the documents of a corpus, each as a mapping of its fields. Raises CommandError."""
    with readable_file(corpus, "") as named:
        in_folder = named.is_dir()
        path = named / "corpus.jsonl" if in_folder else named
        where = printable(path.as_posix() if in_folder else corpus)
        try:
            with _opened(path) as stream:
                kind = without_gz(path).suffix.lower() if corpus != STANDARD else ""
                if kind in (".csv", ".tsv"):
                    yield from _table_rows(stream, kind, where)
                elif kind == ".json":
                    yield from _json_rows(stream, where)
                else:
                    yield from _line_rows(stream, where)
        except (OSError, EOFError) as error:
            reason = getattr(error, "strerror", None) or error
            raise CommandError(f"{where}: cannot be read: {reason}. Check the path.") from None
        except UnicodeDecodeError:
            raise CommandError(f"{where}: is not UTF-8. Save it as UTF-8.") from None


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    """Open a file, unpacked if it is packed. Raises OSError and EOFError."""
    with open_regular(path, _MAX_BYTES) as file:
        if not is_packed(path):
            yield file
            return
        import gzip  # noqa: PLC0415 - few files are packed

        with gzip.GzipFile(fileobj=file) as unpacked:
            yield unpacked  # type: ignore[misc]  # it reads lines, and no more is asked of it


def _line_rows(stream: BinaryIO, where: str) -> Iterator[Mapping[str, Any]]:
    """Yield the documents of JSON Lines. Raises CommandError for a line that is none."""
    number = 0
    while line := stream.readline(_LONGEST_LINE + 1):
        number += 1
        if len(line) > _LONGEST_LINE:
            raise CommandError(f"{where}:{number}: This line is too long. Write a document a line.")
        text = line.decode("utf-8-sig" if number == 1 else "utf-8").strip()
        if not text:
            continue
        try:
            row = json.loads(text)
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict):
            raise CommandError(
                f"{where}:{number}: This is no JSON object. Write one a line, with _id, title and text, or give the file "
                "a name that ends in .csv, .tsv or .json."
            )
        yield row


def _json_rows(stream: BinaryIO, where: str) -> Iterator[Mapping[str, Any]]:
    """Yield the documents of a JSON list, or of an object of id to title. Raises CommandError for other content."""
    data = stream.read(MAX_RUN_BYTES + 1)
    if len(data) > MAX_RUN_BYTES:
        raise CommandError(
            f"{where}: is larger than 1 GB. Write a document a line, as .jsonl, which is read in pieces."
        )
    try:
        content = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError:  # a ValueError too, and worded by `_rows`
        raise
    except (ValueError, RecursionError) as error:
        line = f":{error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise CommandError(f"{where}{line}: This is not JSON. Check what wrote it.") from None
    if isinstance(content, list):
        yield from (row for row in content if isinstance(row, dict))
        return
    if not isinstance(content, dict):
        raise CommandError(f"{where}:1: is no JSON object of id to title, and no list of documents.")
    for doc_id, value in content.items():
        if isinstance(value, dict):
            yield {**value, "_id": doc_id}
        elif isinstance(value, str):
            yield {"_id": doc_id, "title": value}


def _table_rows(stream: BinaryIO, kind: str, where: str) -> Iterator[Mapping[str, Any]]:
    """Yield the documents of CSV or TSV, which `kind` says. Raises CommandError where it names no column of ids."""
    text = io.TextIOWrapper(stream, encoding="utf-8-sig", newline="")
    limit = csv.field_size_limit(_LONGEST_LINE)
    rows = csv.DictReader(text, delimiter="\t" if kind == ".tsv" else ",")
    try:
        names = [name.strip().lower() for name in rows.fieldnames or ()]
        rows.fieldnames = names
        if not set(_IDS) & set(names):
            raise CommandError(
                f"{where}:1: There is no column docid. The first line names the columns: docid,title,text."
            )
        yield from rows
    except csv.Error as error:
        raise CommandError(f"{where}:{rows.line_num}: This is no table: {error}. Save it again.") from None
    finally:
        csv.field_size_limit(limit)
        text.detach()
