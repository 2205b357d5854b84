# This docstring is the --help: `make expected` renews the pages.
"""Say which documents to judge next, and append judgments.

Print the returned documents that the golden set does not judge, those on which
its mean hangs most first: a document counts for what its rank would be worth if
it were as good as the query's best, times the query's share of the weight. The
rankings are those of the baselines of this golden set, found from the current
folder down, and of the run that --run names; several that --run names stand for
themselves. Of several runs, what all return at one rank comes last, as it
settles nothing between them. With --interactive, --from, --judge or --passage
the judgments go into FILE, of which everything else stays as it is, comments
and layout too; a document that is judged already is never changed. As FILE, -
is YAML on standard input, which then goes to standard output.

examples:
  pytest-irmetrics label golden/faq.yaml
  pytest-irmetrics label golden/faq.yaml --run report.json --interactive
  pytest-irmetrics label golden/faq.yaml --run bm25.run --run dense.run --limit 50
  pytest-irmetrics label golden/faq.yaml --out todo.csv
  pytest-irmetrics label golden/faq.yaml --from todo.csv
  pytest-irmetrics label golden/faq.yaml --judge refund doc-77 2 --judge refund doc-5 0
  pytest-irmetrics label golden/faq.yaml --passage refund handbook "within thirty days" 2
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import json
import os
import shlex
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from pytest_irmetrics.analysis.labelling import Unjudged, pool
from pytest_irmetrics.base.files import without_gz
from pytest_irmetrics.base.numbers import score_text
from pytest_irmetrics.base.wording import listed, plural, printable, quote
from pytest_irmetrics.cli import shared
from pytest_irmetrics.cli.judgments import Interview, Texts, Titles, given_judgments, held_back_text
from pytest_irmetrics.comparison.stored_runs import under_todays_ids
from pytest_irmetrics.gates.verdict import USUAL
from pytest_irmetrics.golden import GoldenSet
from pytest_irmetrics.golden.edit_yaml import FileEdit, append_judgments
from pytest_irmetrics.golden.format_tables import guard_formula
from pytest_irmetrics.golden.query import folded
from pytest_irmetrics.reports.blocks import Column, Table, Text
from pytest_irmetrics.run import Run
from pytest_irmetrics.run.answer import document_of

_DOCUMENT_IDS = ("docid", "doc_id", "_id", "id")
"""The keys of a corpus that hold a document's id; the first that is there does."""
ARGUMENTS = (
    shared.TEST,
    shared.BASELINE_DIR,
    shared.CUSTOM_METRIC,
    shared.argument("file", metavar="FILE", help="a golden set; one in YAML to append to; - is standard input"),
    shared.argument("--run", dest="stored", action="append", default=[], metavar="RUN", help="a baseline, a JSON report, or a TREC run: one is pooled with the baselines, several stand for themselves"),
    shared.argument("--by", type=shared.ranking_metric, default=USUAL, metavar="METRIC", help=f"list documents by what they are worth to this metric, down to its cut-off (default: {USUAL})"),
    shared.argument("--query", dest="queries", action="append", default=[], metavar="ID", help="only documents of this query (repeatable)"),
    shared.limit_argument("at most so many documents"),
    shared.argument("--corpus", metavar="FILE", help=f"the documents, to show their titles and texts: JSON Lines with {_DOCUMENT_IDS[0]} (or {', '.join(_DOCUMENT_IDS[1:])}), title, text; may be packed (.gz); - is standard input"),
    shared.argument("-i", "--interactive", exclusive=True, action="store_true", help="show them one after the other and append the grade that is written for each; or s skip, u undo, q quit"),
    shared.argument("-o", "--out", exclusive=True, metavar="LIST.csv", help="write them to a new CSV file, or to -, with an empty column `rating`, for a spreadsheet"),
    shared.argument("--from", exclusive=True, dest="list", metavar="LIST.csv", help="append the judgments of the rows that have a rating; - is standard input"),
    shared.argument("--judge", exclusive=True, nargs=3, action="append", default=[], metavar=("QUERY", "DOC", "GRADE"), help="append this judgment (repeatable)"),
    shared.argument("--passage", exclusive=True, nargs=4, action="append", default=[], metavar=("QUERY", "DOC", "TEXT", "GRADE"), help="append this judgment by passage: whatever chunk of DOC holds TEXT (repeatable)"),
)  # fmt: skip
_FIRST_IDS = 3
"""How many ids a note shows, of the documents and of a corpus that has none of them."""
_HOW = "Add -i to this command, for one by one; or --out LIST.csv, for a spreadsheet that --from LIST.csv reads back. For one document: --judge QUERY DOC GRADE."


def run(options: argparse.Namespace) -> int:
    """List the documents to judge, or write judgments."""
    is_given = options.list is not None or bool(options.judge or options.passage)
    refused = _why_not_appended(options.file)
    if refused and (is_given or options.interactive or options.out is not None):
        raise shared.CommandError(f"{options.file}: {refused}")
    with shared.readable_file(options.file, ".yaml") as path:
        golden = GoldenSet.load(path, custom_metrics=options.custom_metrics, shown=options.file)
        append = partial(append_judgments, path, shown=options.file, custom_metrics=options.custom_metrics)
        if is_given:
            runs = {} if options.list is None else _runs_at_hand(options)
            returned = {
                document_of(entry) for run in runs.values() for query_id in run for entry in run[query_id]
            }
            edit = append(given_judgments(golden, options))
            _print_edit(edit, options.file)
            unknown = [one for one in edit.new if one.doc_id not in golden.document_ids | returned]
            if returned and unknown:
                ids = listed([one.doc_id for one in unknown], word=quote)
                cause = "A spreadsheet makes 12 of the id 0012, and a date of 3-4: compare them."
                shared.print_note(f"{unknown[0].where}: No run at hand has {ids}. {cause}")
            if waiting := held_back_text(edit.golden, edit.held_back):
                shared.print_note(waiting)
                return shared.FAILED if options.list is None else shared.OK  # a list has them still
            return shared.OK
        items, heading = _items(golden, _runs(options), options)
        titles, texts = _read_documents(options, items)
        if options.interactive and items:
            Interview(items, golden, append, options.file, titles, texts).run()
        elif options.out is not None:
            _write_csv(items, titles, texts, options)
        else:
            _print_table(items, titles, texts, heading, refused or _HOW)
    return shared.OK


def _why_not_appended(file: str) -> str:
    """Say why no judgments can be written into a file, and what to do; empty for YAML."""
    path = Path(file)
    if file == shared.STANDARD or path.suffix.lower() in (".yaml", ".yml"):
        return ""
    convert = shlex.join(["pytest-irmetrics", "convert", file, str(without_gz(path).with_suffix(".yaml"))])
    return f"Judgments are appended to YAML alone. Add them to this file with what wrote it, or make YAML of it: `{convert}`."


def _print_edit(edit: FileEdit, file: str) -> None:
    """Print the places of the judgments that were appended; before them the golden set itself where that is ``-``."""
    if file == shared.STANDARD:
        shared.write_file(file, edit.after)
    for place in edit.places():
        shared.print_about(file, place)
    shared.print_about(file, f"{file}: {plural(len(edit.new), 'judgment')} appended.")


# Documents to judge


def _runs_at_hand(options: argparse.Namespace) -> dict[str, Run]:
    """Return the runs that were given, and with fewer than two the baselines of the golden set, by their names. Raises CommandError."""
    runs = dict(shared.load_runs(options.stored, options.tests, options.file))
    if len(runs) < 2:
        runs = dict(shared.baselines_of_golden_set(options.file, options.baseline_dir)) | runs
    return runs


def _runs(options: argparse.Namespace) -> dict[str, Run]:
    """Return the runs whose documents are pooled, by their names. Raises CommandError where there is none."""
    runs = _runs_at_hand(options)
    if not runs:
        text = f"{options.file}: No baseline of this golden set is in a folder {options.baseline_dir} from here on down. Store one (pytest --ir-baseline-update), or name a run: pytest --ir-report=json:run.json, and --run run.json."
        raise shared.CommandError(text)
    if len(options.stored) == len(runs) == 1:
        shared.print_note(
            f"{options.file}: No other run is at hand to pool with {options.stored[0]}. Name the one that it is compared with, too (--run): judging one run's documents alone favours that run."
        )
    return runs


def _items(
    golden: GoldenSet, runs: dict[str, Run], options: argparse.Namespace
) -> tuple[Sequence[Unjudged], str]:
    """Return the documents to judge, at most as many as are asked for, and a sentence that counts all of them."""
    wanted = [shared.find_query(golden, one, f"{options.file}:1").id for one in options.queries]
    named = [under_todays_ids(run, golden.queries, name) for name, run in runs.items()]
    for note in filter(None, [note for _, note in named]):
        shared.print_note(note)
    found, unpaired = pool(golden, [run for run, _ in named], options.by)
    for name, ids in zip(runs, unpaired, strict=True):
        if ids:
            were = plural(len(ids), "query was", "queries were")
            shared.print_note(f"{name}: {were} not asked, or in other words, and left out: {listed([*ids])}")
    unjudged = [one for one in found if not wanted or one.query.id in wanted]
    items = unjudged[: options.limit or None]
    heading = f"{options.file}: {plural(len(unjudged), 'unjudged document')} that {options.by} looks at"
    first = f", the {len(items)} to judge first (--limit 0 lists all)" if len(items) < len(unjudged) else ""
    return items, f"{heading}{first}."


def _read_documents(options: argparse.Namespace, items: Sequence[Unjudged]) -> tuple[Titles, Texts]:
    """Return what there is to show of the documents to judge, and the titles of judged ones beside them.

    JSON reports among the runs tell titles, and the texts of chunks that came back; a corpus in JSON Lines both of whole
    documents. Raises CommandError.
    """
    judged = [doc_id for one in items for doc_id in one.query.judgments]
    wanted = dict.fromkeys([*(one.doc_id for one in items), *judged])
    titles, chunks = shared.about_documents(options.stored)
    texts, first, number = dict[str, str](), list[str](), 1
    ids = {*wanted, *map(document_of, wanted)}
    try:
        with shared.readable_file(options.corpus or os.devnull) as path:
            opened = gzip.open if path.suffix == ".gz" else open
            with opened(path, "rt", encoding="utf-8-sig") as lines:
                for number, line in enumerate(lines, 1):  # noqa: B007 - for the error
                    row = json.loads(line) if line.strip() else {}
                    doc_id = next((str(row[name]) for name in _DOCUMENT_IDS if name in row), "")
                    if doc_id and len(first) < _FIRST_IDS:
                        first.append(doc_id)
                    if doc_id in ids:
                        titles.setdefault(doc_id, " ".join(str(row.get("title") or "").split()))
                        texts[doc_id] = str(row.get("text") or "")
    except Exception as error:  # noqa: BLE001 - of what is no corpus anything may come
        reason = getattr(error, "strerror", None) or error
        advice = "Give JSON Lines of docid, title and text, in UTF-8."
        where = f"{printable(options.corpus)}:{number}"
        raise shared.CommandError(f"{where}: cannot be read: {reason}. {advice}") from None
    if options.corpus and wanted and not texts:
        lacks = f"has none of the documents to show: {listed([*wanted], _FIRST_IDS, quote)}"
        keys = f"Its lines have no key {', '.join(_DOCUMENT_IDS)}"
        has = f"Its first ids are {listed(first, word=quote)}" if first else keys
        advice = "Give the documents that the search returns, by the same ids."
        shared.print_note(f"{options.corpus}: {lacks}. {has}. {advice}")
    if not chunks and any(document_of(one.doc_id) != one.doc_id for one in items):
        advice = "Give a JSON report (pytest --ir-report=json:run.json, and --run run.json), which has them."
        shared.print_note(f"{options.file}: chunks are shown without their texts. {advice}")
    # Of a document a corpus has more than the chunk for which it came back.
    known = {}
    for query, doc_id, *_ in items:
        found = chunks.get((folded(query.text or query.id), doc_id), {"": ""})
        known[query.id, doc_id] = texts.get(doc_id) or found.get(query.id) or [*found.values()][-1]
    return {one: titles.get(one) or titles.get(document_of(one), "") for one in wanted}, known


def _print_table(items: Sequence[Unjudged], titles: Titles, texts: Texts, heading: str, how: str) -> None:
    """Print the documents to judge as a table, and how to judge them."""
    shown = {one: " ".join(text.split()) for one, text in texts.items()}
    columns: list[Column[Unjudged]] = [
        ("influence", ">", lambda one: score_text(one.influence)),
        ("rank", ">", lambda one: str(one.rank)),
        ("document", "<", lambda one: one.doc_id),
        ("title", "<", lambda one: titles[one.doc_id]),
        ("text", "<", lambda one: "" if titles[one.doc_id] else shown[one.query.id, one.doc_id]),
        ("query", "<", lambda one: ": ".join(dict.fromkeys(filter(None, (one.query.id, one.query.text))))),
    ]
    shared.print_blocks([Text(heading)])
    if items:
        shared.print_blocks([Table.of(items, columns, whole=["document"]), Text(how)])


def _write_csv(items: Sequence[Unjudged], titles: Titles, texts: Texts, options: argparse.Namespace) -> None:
    """Write what there is to judge as CSV, with an empty column `rating`, for a spreadsheet. Raises CommandError."""
    out = options.out
    if out != shared.STANDARD and Path(out).exists():
        message = f"{out}: is there already, perhaps with ratings in it. Append those (--from), then delete it, or give another name."
        raise shared.CommandError(message)
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["id", "query", "docid", "rating", "rank", "influence", "title", "text"])
    for one in items:
        asked = one.query.id, one.query.text or "", one.doc_id
        about = titles[one.doc_id], texts[one.query.id, one.doc_id]
        numbers = "", one.rank, f"{one.influence:.6f}"
        writer.writerow([*map(guard_formula, asked), *numbers, *map(guard_formula, about)])
    shared.write_file(out, text.getvalue().encode("utf-8-sig"))  # by its first bytes Excel recognises UTF-8
    metrics = [word for name in options.custom_metrics for word in ("--metric", name)]
    runs = [word for path in options.stored for word in ("--run", path)]
    back = shlex.join(["pytest-irmetrics", "label", options.file, *metrics, *runs, "--from", out])
    next_step = f"{plural(len(items), 'document')} to judge. Fill in the column rating, and then: {back}"
    shared.print_about(out, f"{out}: {next_step}")
