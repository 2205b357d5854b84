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
  pytest-irmetrics label golden/faq.yaml --run report.json
  pytest-irmetrics label golden/faq.yaml --run report.json --interactive
  pytest-irmetrics label golden/faq.yaml --run bm25.run --run dense.run --limit 50
  pytest-irmetrics label golden/faq.yaml --out todo.csv
  pytest-irmetrics label golden/faq.yaml --from todo.csv
  pytest-irmetrics label golden/faq.yaml --judge refund doc-77 2 --judge refund doc-5 0
  pytest-irmetrics label golden/faq.yaml --passage refund handbook "within thirty days" 2
  pytest-irmetrics label golden/faq.yaml --out - | column -s, -t
"""

from __future__ import annotations

import csv
import io
import os
import shlex
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_irmetrics.analysis.labelling import pool
from pytest_irmetrics.base.files import without_gz
from pytest_irmetrics.base.numbers import score_text
from pytest_irmetrics.base.screen import table
from pytest_irmetrics.base.wording import listed, plural
from pytest_irmetrics.cli import inputs, shared
from pytest_irmetrics.cli.corpus import CORPUS_HELP, load_documents
from pytest_irmetrics.cli.judge import Session, given_judgments
from pytest_irmetrics.cli.shared import argument
from pytest_irmetrics.golden import GoldenSet
from pytest_irmetrics.golden.edit_yaml import append_judgments
from pytest_irmetrics.golden.format_tables import guard_formula

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from pytest_irmetrics.analysis.labelling import Unjudged
    from pytest_irmetrics.cli.corpus import Documents
    from pytest_irmetrics.golden.edit_yaml import FileEdit, Judgment
    from pytest_irmetrics.run import Run

_WHICH, _WHAT = "which documents", "what to do with them"
ARGUMENTS = (
    shared.TEST,
    shared.BASELINE_DIR,
    shared.QUIET,
    shared.METRIC,
    argument("file", metavar="FILE", help="a golden set; one in YAML to append to; - is standard input"),
    argument("--run", group=_WHICH, dest="stored", action="append", default=[], metavar="RUN", help="a baseline, a JSON report, or a TREC run: one is pooled with the baselines, several stand for themselves"),
    argument("--by", group=_WHICH, type=shared.ranking_metric, default="ndcg@10", metavar="METRIC", help="list documents by what they are worth to this metric, down to its cut-off (default: ndcg@10)"),
    argument("--query", group=_WHICH, dest="queries", action="append", default=[], metavar="ID", help="only documents of this query (repeatable)"),
    argument("--limit", group=_WHICH, type=shared.count_or_all, default=20, metavar="N", help="at most so many documents; 0: all (default: 20)"),
    argument("--corpus", group=_WHICH, metavar="FILE", help=CORPUS_HELP),
    argument("-i", "--interactive", group=_WHAT, alone=True, action="store_true", help="show them one after the other and append the grade that is written for each; or s skip, u undo, q quit"),
    argument("--json", group=_WHAT, alone=True, action="store_true", help="print them as one JSON list"),
    argument("-o", "--out", group=_WHAT, alone=True, metavar="LIST.csv", help="write them to a new CSV file, or to -, with an empty column `rating`, for a spreadsheet"),
    argument("--from", group=_WHAT, alone=True, dest="list", metavar="LIST.csv", help="append the judgments of the rows that have a rating; - is standard input"),
    argument("--judge", group=_WHAT, alone=True, nargs=3, action="append", default=[], metavar=("QUERY", "DOC", "GRADE"), help="append this judgment (repeatable)"),
    argument("--passage", group=_WHAT, alone=True, nargs=4, action="append", default=[], metavar=("QUERY", "DOC", "TEXT", "GRADE"), help="append this judgment by passage: whatever chunk of DOC holds TEXT (repeatable)"),
)  # fmt: skip
_COLUMNS = ("id", "query", "docid", "rating", "rank", "influence", "title", "text")
_MAX_NAMED = 3
"""Ids that a note names."""


def run(options: argparse.Namespace) -> int:
    """List the documents to judge, or write judgments."""
    read = [options.file, options.corpus, options.list, *options.stored]
    inputs.refuse_standard_input_twice(*read)
    if options.interactive and shared.STANDARD in read:
        raise shared.CommandError("-: --interactive takes grades from standard input. Name a file.")
    is_given = options.list is not None or bool(options.judge or options.passage)
    if (is_given or options.interactive) and (refused := _why_not_editable(options.file)):
        raise shared.CommandError(f"{options.file}: {refused}")
    with inputs.readable_file(options.file, ".yaml") as path:
        golden = GoldenSet.load(path, custom_metrics=options.metric, shown=options.file)
        runs = dict(inputs.load_runs(options.stored, options.tests))
        if len(runs) < 2:
            runs = dict(inputs.baselines_of_golden_set(options.file, options.baseline_dir)) | runs
        rankings = (
            ranking for run in runs.values() for answer in run.answers.values() for ranking in answer.rankings
        )
        returned = dict.fromkeys(doc_id for ranking in rankings for doc_id in ranking)
        documents = load_documents(options.stored, options.corpus, returned)
        append = partial(append_judgments, path, shown=options.file, custom_metrics=options.metric)
        if is_given:
            _append(append, given_judgments(golden, documents.texts, options), returned, options)
        elif runs:
            _list(golden, runs, documents, append, options)
        else:
            raise shared.CommandError(
                f"{options.file}: No baseline of this golden set is in a folder {options.baseline_dir} from here on down. Store "
                "one (pytest --ir-baseline-update), or name a run (--run RUN)."
            )
    return shared.OK


def _why_not_editable(file: str) -> str | None:
    """Return why judgments cannot be written into a file and what to do instead; None for YAML, where they can."""
    path = Path(file)
    if file == shared.STANDARD or path.suffix.lower() in (".yaml", ".yml"):
        return None
    convert = shlex.join(["pytest-irmetrics", "convert", file, str(without_gz(path).with_suffix(".yaml"))])
    return f"Judgments are appended to YAML alone. Add them to this file with what wrote it, or make YAML of it: `{convert}`."


def _append(
    append: Callable[[Sequence[Judgment]], FileEdit],
    given: Sequence[Judgment],
    returned: Collection[str],
    options: argparse.Namespace,
) -> None:
    """Append judgments to the file, all of them or none, and print their places."""
    edit = append(given)
    if options.file == shared.STANDARD:
        inputs.write_file(shared.STANDARD, edit.after)
    if not options.quiet:
        for place in edit.places():
            shared.print_about(options.file, place)
        known = len(given) - len(edit.new)
        also = f", {known} there already" if known else "" if given else ": no row has a rating"
        shared.print_about(
            options.file, f"{options.file}: {plural(len(edit.new), 'judgment')} appended{also}."
        )
    unknown = dict.fromkeys(one.doc_id for one in edit.new if one.text is None and one.doc_id not in returned)
    if returned and unknown:
        shared.print_note(
            f"No run returned {listed(list(unknown), _MAX_NAMED)}, for any query. Check that the ids are spelt as the index "
            "spells them."
        )


# Documents to judge -----------------------------------------------------------------------------------------------


def _list(
    golden: GoldenSet,
    runs: Mapping[str, Run],
    documents: Documents,
    append: Callable[[Sequence[Judgment]], FileEdit],
    options: argparse.Namespace,
) -> None:
    """List or judge the documents that runs returned and that are not judged; with ``--query``, those of some queries."""
    wanted = [inputs.find_query(golden, one, options.file).id for one in options.queries]
    if len(options.stored) == len(runs) == 1:
        shared.print_note(
            f"{options.file}: No other run is at hand to pool with {options.stored[0]}. Name the one that it is compared with, "
            "too (--run): judging one run's documents alone favours that run."
        )
    found = pool(golden, list(runs.values()), options.by)
    for name, ids in zip(runs, found.unpaired, strict=True):
        if ids:
            queries = plural(len(ids), "query was", "queries were")
            shared.print_note(f"{name}: {queries} not asked, or in other words, and left out: {listed(ids)}")
    unjudged = [one for one in found.unjudged if not wanted or one.query.id in wanted]
    top = unjudged[: options.limit]
    count, left = len(unjudged), len(unjudged) - len(top)
    records = [_record(one, documents, options.file) for one in top]
    if options.interactive and top:
        Session(top, golden, append, options.file, documents, list(runs), left).run()
    elif options.json:
        shared.print_json_list(records)
    elif options.out is not None:
        _write_csv(records, options)
    else:
        what = f"{count:,} of the {plural(found.returned, 'returned document')}"
        if wanted:
            what = f"{plural(count, 'returned document')} of {listed(wanted)}"
        heading = (
            f"{options.file}: {what} that {options.by} looks at {'is' if count == 1 else 'are'} not judged."
        )
        if left:
            more = min(count, 5 * len(top))
            heading += f" The {len(top)} to judge first (--limit {more} shows more):"
        for line in _lines(heading, records, list(runs), options.file):
            shared.print_line(line)


def _record(one: Unjudged, documents: Documents, file: str) -> dict[str, Any]:
    """Return what there is to judge of one document: a record of JSON, a row of CSV and of the table."""
    found: dict[str, object] = {
        "id": one.query.id,
        "query": one.query.text,
        "docid": one.doc_id,
        "rank": one.rank,
        "influence": one.influence,
        "ranks": one.ranks,
        "file": file,
        "line": one.query.line,
    }
    known = {"title": documents.title(one.doc_id), "text": documents.texts.get(one.doc_id)}
    return found | {name: value for name, value in known.items() if value is not None}


def _lines(
    heading: str, records: Sequence[Mapping[str, Any]], names: Sequence[str], file: str
) -> Iterator[str]:
    """Yield the lines of the list as a table, and how to judge the documents; `names` are those of the runs."""
    screen = shared.stdout_screen()
    yield from screen.wrapped(heading)
    if not records:
        return
    ranks = ["rank"]
    if len(names) > 1:
        ranks = [f"rank {number}" for number in range(1, len(names) + 1)]
        yield from (screen.cut(f"  {rank}: in {name}") for rank, name in zip(ranks, names, strict=True))
    titled = any("title" in record for record in records)
    rows = [["influence", *ranks, "document", "title" if titled else "", "query"]]
    for record in records:
        query_id, text = record["id"], record["query"]
        asks = query_id if text in (None, query_id) else f"{query_id}: {text}"
        places = ["-" if rank is None else str(rank) for rank in record["ranks"]]
        texts = [screen.line(cell) for cell in (record["docid"], record.get("title", ""), asks)]
        rows.append([score_text(record["influence"]), *places, *texts])
    align = ">" * (1 + len(ranks)) + "<<<"
    for lines in table(rows, align, screen.width - 2, ascii_only=screen.ascii_only):
        yield from (f"  {line}" for line in lines)
    yield from screen.wrapped(
        _why_not_editable(file)
        or f"To judge {'it' if len(records) == 1 else 'them'}: `pytest-irmetrics label {shlex.quote(file)} -i` one by one, "
        "--judge QUERY DOC GRADE, or --out LIST.csv and then --from LIST.csv in a spreadsheet.",
    )


def _write_csv(records: Sequence[Mapping[str, object]], options: argparse.Namespace) -> None:
    """Write what there is to judge as CSV, with an empty column `rating`, for a spreadsheet. Raises CommandError."""
    out = options.out
    if out != shared.STANDARD and not out.lower().endswith(".csv"):
        raise shared.CommandError(f"{out}: The list is CSV. Give it a name that ends in .csv.")
    if out != shared.STANDARD and os.path.lexists(out):
        raise shared.CommandError(
            f"{out}: is there already, perhaps with ratings in it. Append those (--from), then delete it, or give another name."
        )
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, _COLUMNS, extrasaction="ignore")
    writer.writeheader()
    for record in records:
        cells = {
            name: guard_formula(cell) if isinstance(cell, str) else cell for name, cell in record.items()
        }
        writer.writerow(cells | {"influence": f"{record['influence']:.6f}"})
    inputs.write_file(out, text.getvalue().encode("utf-8-sig"))  # by its first bytes Excel recognises UTF-8
    back = f"pytest-irmetrics label {shlex.quote(options.file)} --from {shlex.quote(out)}"
    how = _why_not_editable(options.file) or f"Fill in the column rating, and then: {back}"
    said = f"{out}: {plural(len(records), 'document')} to judge."
    shared.print_about(out, f"{said} {how}" if records else said)
